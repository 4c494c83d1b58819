//! Embree 4's C interface, opened at run time.
//!
//! It builds on machines that have neither Embree nor libclang. Types and functions bear the names of
//! [Embree's own documentation](https://github.com/RenderKit/embree), which describes each one in full;
//! the comments here give the meaning in short, the units and the differences.
//!
//! A superset of the published `embree4-sys` 0.0.10 that `embree4-rs` 0.0.16 uses, so this workspace's
//! tests run `embree4-rs` over it.
//!
//! # Opening the library
//!
//! [`load`] opens Embree once for the whole process and resolves every function into one table.
//! Until it has succeeded, calling any `rtc*` function is harmless: handles come back null, counts
//! zero, identifiers [`RTC_INVALID_GEOMETRY_ID`], queries leave their ray as it was, and
//! [`rtcGetDeviceError`] answers [`RTCError::INVALID_OPERATION`].
//!
//! # Which Embree
//!
//! Any release 4.x whose `RTC_MAX_INSTANCE_LEVEL_COUNT` is 1, as it is by default. Release 4.3 made
//! three structures longer: a hit and the query context gained `instPrimID`. The structures here have
//! room for it, so one binary runs with releases on both sides of that change; [`load`] traces one
//! ray into a memory area with a guard behind it and refuses a library that writes elsewhere.
//!
//! # Differences from the generated bindings
//!
//! Enumerations are numbers with named constants, since a newer library may return values that a
//! Rust `enum` could not hold. Only what a triangle renderer needs is bound.

// The names are those of the C interface.
#![allow(non_camel_case_types, non_snake_case)]

mod device;
mod function_table;
mod functions;
mod geometry;
mod layout_check;
mod library;
mod load_error;
mod query;
mod ray;
mod scene;
mod symbols;
mod values;

pub use device::*;
pub use geometry::*;
pub use library::{Loaded, file_names, load, loaded};
pub use load_error::{Attempt, LoadError, Version};
pub use query::*;
pub use ray::*;
pub use scene::*;
pub use values::*;
