//! Embree 4 as an intersector.

pub mod library;
