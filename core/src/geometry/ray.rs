//! Rays.

use crate::math::vec3::Vec3;
use bytemuck::{Pod, Zeroable};

/// Upper limit of `t_max`: finite, so that an overflowing distance is never a hit.
pub const FAR: f32 = 3.0e38;

/// A ray with its parametric interval `(t_min, t_max]`, in units of the direction's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Ray {
    /// Origin.
    pub origin: Vec3,
    /// Start of the interval, exclusive; at least zero.
    pub t_min: f32,
    /// Direction; need not be of unit length.
    pub direction: Vec3,
    /// End of the interval, inclusive; at most [`FAR`].
    pub t_max: f32,
}
