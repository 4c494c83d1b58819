//! Hits.

use crate::scene::NONE;
use bytemuck::{Pod, Zeroable};

/// The closest intersection of a ray, or a miss.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Hit {
    /// Distance in units of the ray direction's length; the ray's `t_max` for a miss.
    pub t: f32,
    /// Barycentric coordinate of the second vertex.
    pub u: f32,
    /// Barycentric coordinate of the third vertex.
    pub v: f32,
    /// Instance, or [`NONE`] for a miss.
    pub instance: u32,
    /// Primitive within the instance's mesh, or [`NONE`] for a miss.
    pub primitive: u32,
}

impl Hit {
    /// A miss up to the distance `t`.
    #[inline(always)]
    pub const fn none(t: f32) -> Self {
        Self { t, u: 0.0, v: 0.0, instance: NONE, primitive: NONE }
    }

    /// The answer of an any-hit query that found an occluder. Only [`Self::is_some`] is meaningful.
    pub const OCCLUDED: Self = Self { t: 0.0, u: 0.0, v: 0.0, instance: 0, primitive: 0 };

    /// True when a surface was hit.
    #[inline(always)]
    pub const fn is_some(&self) -> bool {
        self.instance != NONE
    }

    /// True when `other` is nearer, or at the same distance with the lower (instance, primitive).
    #[inline(always)]
    pub fn yields_to(&self, other: &Self) -> bool {
        other.t < self.t
            || (other.t == self.t
                && (other.instance < self.instance
                    || (other.instance == self.instance && other.primitive < self.primitive)))
    }
}
