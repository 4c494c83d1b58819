//! Padded bounding boxes of primitives, and clip boxes of split references.

use crate::math::vec3::{Vec3, max_abs_component, vec3};
use crate::math::{max, min};

/// Primitive boxes grow on all sides by this fraction of their largest coordinate.
pub const BOX_PADDING: f32 = 1.0 / 2_097_152.0;

/// The part of a triangle's bounding box that one split reference covers.
///
/// Stored as the fractions cut off at the lower and the upper end of each axis: 10 bits an axis, in 1024ths
/// of the box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClipBox {
    /// Fractions of the box cut off at the lower end of each axis, in 1024ths: 10 bits for each of x, y and z, x lowest.
    pub below: u32,
    /// Fractions of the box cut off at the upper end of each axis, in 1024ths: 10 bits for each of x, y and z, x lowest.
    pub above: u32,
}

impl ClipBox {
    /// The whole box.
    pub const NONE: Self = Self { below: 0, above: 0 };

    /// A clip box from the 1024ths cut off along each axis, each less than 1024.
    pub fn new(below: [u32; 3], above: [u32; 3]) -> Self {
        let pack = |[x, y, z]: [u32; 3]| x | y << 10 | z << 20;
        Self { below: pack(below), above: pack(above) }
    }
}

/// A fraction from 10 bits, as the mantissa of a number from one to two.
#[inline(always)]
fn fraction(steps: u32) -> f32 {
    f32::from_bits(0x3f80_0000 | (steps & 1023) << 13) - 1.0
}

/// The fractions of all axes from one field of a [`ClipBox`].
#[inline(always)]
fn fractions(bits: u32) -> Vec3 {
    vec3(fraction(bits), fraction(bits >> 10), fraction(bits >> 20))
}

/// Lowest and highest corner of a triangle's bounding box.
#[inline(always)]
pub fn box_of(p: [Vec3; 3]) -> (Vec3, Vec3) {
    let lo = |a: f32, b: f32, c: f32| min(min(a, b), c);
    let hi = |a: f32, b: f32, c: f32| max(max(a, b), c);
    (
        vec3(lo(p[0].x, p[1].x, p[2].x), lo(p[0].y, p[1].y, p[2].y), lo(p[0].z, p[1].z, p[2].z)),
        vec3(hi(p[0].x, p[1].x, p[2].x), hi(p[0].y, p[1].y, p[2].y), hi(p[0].z, p[1].z, p[2].z)),
    )
}

/// Clips a triangle's bounding box, without padding.
#[inline(always)]
pub fn clip_box((lo, hi): (Vec3, Vec3), clip: ClipBox) -> (Vec3, Vec3) {
    let extent = hi - lo;
    (lo + extent * fractions(clip.below), hi - extent * fractions(clip.above))
}

/// The padded bounding box of a triangle, or of a split reference to it.
///
/// A clipped box keeps the whole triangle's padding, since rounding is as large wherever on the triangle a
/// ray hits.
#[inline(always)]
pub fn clipped_box(p: [Vec3; 3], clip: ClipBox) -> (Vec3, Vec3) {
    let whole = box_of(p);
    let pad = padding(whole.0, whole.1);
    let (lo, hi) = if clip == ClipBox::NONE { whole } else { clip_box(whole, clip) };
    (lo - pad, hi + pad)
}

/// The padded bounding box of a triangle.
#[inline(always)]
pub fn triangle_box(p: [Vec3; 3]) -> (Vec3, Vec3) {
    clipped_box(p, ClipBox::NONE)
}

/// The amount by which a box grows: [`BOX_PADDING`] of its largest coordinate.
#[inline(always)]
fn padding(lo: Vec3, hi: Vec3) -> Vec3 {
    Vec3::splat(max(max_abs_component(lo), max_abs_component(hi)) * BOX_PADDING)
}

/// Pads a box on all sides.
#[inline(always)]
pub fn pad_box(lo: Vec3, hi: Vec3) -> (Vec3, Vec3) {
    let pad = padding(lo, hi);
    (lo - pad, hi + pad)
}
