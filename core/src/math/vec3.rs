//! Three floats and the handful of operations a path tracer needs.
//!
//! Every function fixes one order of operations, since the counterpart `kernels/math/vec3.h` must round the
//! same way.

use bytemuck::{Pod, Zeroable};
use std::ops::{Add, Mul, Neg, Sub};

/// A point, direction or linear RGB triple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vec3 {
    /// First component; red.
    pub x: f32,
    /// Second component; green. Up, for points and directions.
    pub y: f32,
    /// Third component; blue.
    pub z: f32,
}

/// Shorthand for [`Vec3`]'s constructor.
#[inline(always)]
pub const fn vec3(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3 { x, y, z }
}

impl Vec3 {
    /// All components zero.
    pub const ZERO: Self = vec3(0.0, 0.0, 0.0);
    /// All components one.
    pub const ONE: Self = vec3(1.0, 1.0, 1.0);

    /// A vector whose components are all `s`.
    #[inline(always)]
    pub const fn splat(s: f32) -> Self {
        vec3(s, s, s)
    }

    /// The components as an array.
    #[inline(always)]
    pub const fn to_array(self) -> [f32; 3] {
        [self.x, self.y, self.z]
    }

    /// True when no component is infinite or NaN.
    #[inline(always)]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.z.is_finite()
    }
}

impl From<[f32; 3]> for Vec3 {
    #[inline(always)]
    fn from(a: [f32; 3]) -> Self {
        vec3(a[0], a[1], a[2])
    }
}

impl Add for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        vec3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        vec3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        vec3(self.x * o.x, self.y * o.y, self.z * o.z)
    }
}

impl Mul<f32> for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: f32) -> Self {
        vec3(self.x * s, self.y * s, self.z * s)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        vec3(-self.x, -self.y, -self.z)
    }
}

/// `(a.x b.x + a.y b.y) + a.z b.z`.
#[inline(always)]
pub fn dot(a: Vec3, b: Vec3) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// The right-handed cross product.
#[inline(always)]
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

/// Euclidean length.
#[inline(always)]
pub fn length(a: Vec3) -> f32 {
    dot(a, a).sqrt()
}

/// `a` scaled to unit length; the zero vector stays zero.
#[inline(always)]
pub fn normalize(a: Vec3) -> Vec3 {
    let squared = dot(a, a);
    if squared > 0.0 { a * (1.0 / squared.sqrt()) } else { Vec3::ZERO }
}

/// The largest component.
#[inline(always)]
pub fn max_component(a: Vec3) -> f32 {
    crate::math::max(a.x, crate::math::max(a.y, a.z))
}

/// The largest absolute component.
#[inline(always)]
pub fn max_abs_component(a: Vec3) -> f32 {
    crate::math::max(a.x.abs(), crate::math::max(a.y.abs(), a.z.abs()))
}

/// Relative luminance of linear Rec. 709 RGB (ITU-R BT.709).
#[inline(always)]
pub fn luminance(c: Vec3) -> f32 {
    0.2126 * c.x + 0.7152 * c.y + 0.0722 * c.z
}

/// `a (1 - t) + b t`.
#[inline(always)]
pub fn lerp(a: Vec3, b: Vec3, t: f32) -> Vec3 {
    a * (1.0 - t) + b * t
}
