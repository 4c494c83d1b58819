//! The hit rule: a hit is a function of the ray and the primitives alone.
//!
//! * The triangle test is Woop, Benthin and Wald's (JCGT 2(1), 2013): the ray is sheared onto an axis, and the signs of
//!   three edge functions decide. Rounding is monotonic, so a rounded edge function is never of the wrong sign, only
//!   possibly zero; then a fused multiply-add recovers its exact sign. Neighbours share the sheared vertices, so no ray
//!   slips between them.
//! * Boxes are tested by slabs, `(plane - origin) * inverse_direction`, with the far distance widened (Ize, JCGT 2(2),
//!   2013). The test is monotonic under rounding: a box that encloses another never reports a later entry.
//! * A primitive's hit counts only if the ray also passes the same slab test on the primitive's own box (and, in an
//!   instance, on the instance's world box); its distance is raised to the entry of those boxes. Hence no enclosing box
//!   can be cut off by a hit that is not nearer, and the closest hit does not depend on the acceleration structure.
//! * A large triangle may be in pieces (see [`lockstep_bvh::PreSplit`]), which share its edge functions and its distance but have
//!   boxes of their own. They depend on the mesh alone, not on the structure. The triangle counts as the nearest of its
//!   pieces: one lies wherever on the triangle a ray passes.
//! * Equal distances go to the lower (instance, primitive).
//!
//! The twin is `kernels/intersect.h`.

use crate::math::rng::{self, RayKey};
use crate::math::vec3::{Vec3, cross, dot, max_abs_component, vec3};
use crate::math::{max, min, with_sign_of};
use crate::scene::texture;
use crate::scene::{AlphaMode, Material, NONE, SPHERE_BIT, SceneData};
use bytemuck::{Pod, Zeroable};

/// Factor on the far distance of a slab test; covers the rounding of both distances and of the triangle test.
pub const FAR_WIDENING: f32 = 1.0 + 1.0 / 1_048_576.0;
/// Primitive boxes grow on all sides by this share of their largest coordinate.
pub const BOX_PADDING: f32 = 1.0 / 2_097_152.0;
/// Direction components smaller than this count as this in the slab test, which keeps it free of infinities.
pub const SMALLEST_DIRECTION: f32 = 5.421_011e-20;

/// The largest `t_max`: finite, so that an overflowing distance is never a hit.
pub const FAR: f32 = 3.0e38;

/// The entry into a box that a ray misses: beyond every distance, and finite, since a compiler that may take numbers for
/// finite takes `x < infinity` for true.
pub const MISSED: f32 = f32::MAX;

/// A ray. Distances above `t_min` and up to `t_max`, in units of the direction's length, count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Ray {
    /// Where it starts.
    pub origin: Vec3,
    /// Nothing at or before this distance, which is at least zero, counts.
    pub t_min: f32,
    /// Where it goes; need not be of unit length.
    pub direction: Vec3,
    /// Nothing beyond this distance counts; at most [`FAR`].
    pub t_max: f32,
}

/// What a ray found.
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
    /// Primitive within the instance's mesh, or [`NONE`].
    pub primitive: u32,
}

impl Hit {
    /// Nothing found yet before `t`.
    #[inline(always)]
    pub const fn none(t: f32) -> Self {
        Self { t, u: 0.0, v: 0.0, instance: NONE, primitive: NONE }
    }

    /// That something is in the way, without saying what: the answer of an any-hit query, of which only
    /// [`Self::is_some`] is meaningful.
    pub const OCCLUDED: Self = Self { t: 0.0, u: 0.0, v: 0.0, instance: 0, primitive: 0 };

    /// True when a surface was found.
    #[inline(always)]
    pub const fn is_some(&self) -> bool {
        self.instance != NONE
    }

    /// True when `other` is nearer, or as near with lower (instance, primitive).
    #[inline(always)]
    pub fn yields_to(&self, other: &Self) -> bool {
        other.t < self.t
            || (other.t == self.t
                && (other.instance < self.instance
                    || (other.instance == self.instance && other.primitive < self.primitive)))
    }
}

/// What slab tests need of a ray.
#[derive(Clone, Copy, Debug)]
pub struct Slabs {
    /// The ray's origin.
    pub origin: Vec3,
    /// One over the direction, finite.
    pub inverse: Vec3,
}

impl Slabs {
    /// Prepares a ray.
    #[inline(always)]
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        let inverse =
            |d: f32| 1.0 / if d.abs() < SMALLEST_DIRECTION { with_sign_of(SMALLEST_DIRECTION, d) } else { d };
        Self { origin, inverse: vec3(inverse(direction.x), inverse(direction.y), inverse(direction.z)) }
    }

    /// Entry and widened exit of the ray through a box. The ray meets the box between `a` and `b` when
    /// `max(entry, a) <= min(exit, b)`.
    #[inline(always)]
    pub fn interval(&self, lo: Vec3, hi: Vec3) -> (f32, f32) {
        let x0 = (lo.x - self.origin.x) * self.inverse.x;
        let x1 = (hi.x - self.origin.x) * self.inverse.x;
        let y0 = (lo.y - self.origin.y) * self.inverse.y;
        let y1 = (hi.y - self.origin.y) * self.inverse.y;
        let z0 = (lo.z - self.origin.z) * self.inverse.z;
        let z1 = (hi.z - self.origin.z) * self.inverse.z;
        let entry = max(max(min(x0, x1), min(y0, y1)), min(z0, z1));
        let exit = min(min(max(x0, x1), max(y0, y1)), max(z0, z1));
        (entry, exit * FAR_WIDENING)
    }
}

/// The axis along which a direction is longest, 0 to 2; of equal ones the last.
#[inline(always)]
pub fn longest_axis(direction: Vec3) -> u32 {
    let (x, y, z) = (direction.x.abs(), direction.y.abs(), direction.z.abs());
    if x > y {
        if x > z { 0 } else { 2 }
    } else if y > z {
        1
    } else {
        2
    }
}

/// The shear that turns a ray into the z axis.
#[derive(Clone, Copy, Debug)]
pub struct Shear {
    /// The axis along which the direction is longest, 0 to 2.
    axis: u32,
    /// Shear of the next axis.
    sx: f32,
    /// Shear of the one after.
    sy: f32,
    /// Scale of the longest axis.
    sz: f32,
}

/// The components of `v` in cyclic order, so that component `axis`, 0 to 2, comes last.
#[inline(always)]
pub fn rotate_to(v: Vec3, axis: u32) -> Vec3 {
    match axis {
        0 => vec3(v.y, v.z, v.x),
        1 => vec3(v.z, v.x, v.y),
        _ => v,
    }
}

impl Shear {
    /// Prepares a ray direction.
    #[inline(always)]
    pub fn new(direction: Vec3) -> Self {
        let axis = longest_axis(direction);
        let d = rotate_to(direction, axis);
        Self { axis, sx: d.x / d.z, sy: d.y / d.z, sz: 1.0 / d.z }
    }

    /// The axis that becomes z, and the shears of the next two with the scale, for testing several triangles at once.
    #[inline(always)]
    pub fn parts(&self) -> (usize, [f32; 3]) {
        (self.axis as usize, [self.sx, self.sy, self.sz])
    }
}

/// `a * b - c * d` with its exact sign: where the rounded products are equal, the rounding errors decide.
#[inline(always)]
fn edge_function(a: f32, b: f32, c: f32, d: f32) -> f32 {
    let p = a * b;
    let q = c * d;
    let difference = p - q;
    if difference == 0.0 { exact_difference(a, b, c, d, p, q) } else { difference }
}

#[cold]
#[inline(never)]
fn exact_difference(a: f32, b: f32, c: f32, d: f32, p: f32, q: f32) -> f32 {
    a.mul_add(b, -p) - c.mul_add(d, -q)
}

/// Distance and barycentrics where the ray's line meets the triangle, before any box or range test; `None` for a miss
/// or an edge-on triangle.
#[inline(always)]
pub fn triangle(origin: Vec3, shear: &Shear, p: [Vec3; 3]) -> Option<(f32, f32, f32)> {
    let a = rotate_to(p[0] - origin, shear.axis);
    let b = rotate_to(p[1] - origin, shear.axis);
    let c = rotate_to(p[2] - origin, shear.axis);
    let ax = a.x - shear.sx * a.z;
    let ay = a.y - shear.sy * a.z;
    let bx = b.x - shear.sx * b.z;
    let by = b.y - shear.sy * b.z;
    let cx = c.x - shear.sx * c.z;
    let cy = c.y - shear.sy * c.z;
    let u = edge_function(cx, by, cy, bx);
    let v = edge_function(ax, cy, ay, cx);
    let w = edge_function(bx, ay, by, ax);
    if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
        return None;
    }
    let determinant = u + v + w;
    if determinant == 0.0 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let depth = u * a.z + v * b.z + w * c.z;
    Some((depth * shear.sz * inverse, v * inverse, w * inverse))
}

/// Distances where the ray's line enters and leaves a sphere; `None` for a miss. (Haines et al., Ray Tracing Gems,
/// chapter 7: the discriminant from the distance vector keeps precision for far spheres.)
#[inline(always)]
pub fn sphere(origin: Vec3, direction: Vec3, center: Vec3, radius: f32) -> Option<(f32, f32)> {
    let to_center = center - origin;
    let a = dot(direction, direction);
    let half_b = dot(to_center, direction);
    let closest = to_center - direction * (half_b / a);
    let discriminant = radius * radius - dot(closest, closest);
    if discriminant < 0.0 {
        return None;
    }
    let c = dot(to_center, to_center) - radius * radius;
    let q = half_b + with_sign_of((a * discriminant).sqrt(), half_b);
    if q == 0.0 {
        return None;
    }
    let t0 = c / q;
    let t1 = q / a;
    Some((min(t0, t1), max(t0, t1)))
}

/// What the box of a piece of a triangle lacks of the triangle's, below and above along each axis: 10 bits an axis, in
/// 1024ths of the box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClipBox {
    /// What is cut off below.
    pub below: u32,
    /// What is cut off above.
    pub above: u32,
}

impl ClipBox {
    /// Nothing is cut off.
    pub const NONE: Self = Self { below: 0, above: 0 };

    /// A cut by its shares of 1024 along each axis, each less than 1024.
    pub fn new(below: [u32; 3], above: [u32; 3]) -> Self {
        let pack = |[x, y, z]: [u32; 3]| x | y << 10 | z << 20;
        Self { below: pack(below), above: pack(above) }
    }
}

/// A share of a box from 10 bits, by the bits of a number from one to two.
#[inline(always)]
fn share(steps: u32) -> f32 {
    f32::from_bits(0x3f80_0000 | (steps & 1023) << 13) - 1.0
}

/// Shares of a box by the bits of a [`ClipBox`].
#[inline(always)]
fn shares(bits: u32) -> Vec3 {
    vec3(share(bits), share(bits >> 10), share(bits >> 20))
}

/// Lowest and highest corner of the box of a triangle.
#[inline(always)]
pub fn box_of(p: [Vec3; 3]) -> (Vec3, Vec3) {
    let lo = |a: f32, b: f32, c: f32| min(min(a, b), c);
    let hi = |a: f32, b: f32, c: f32| max(max(a, b), c);
    (
        vec3(lo(p[0].x, p[1].x, p[2].x), lo(p[0].y, p[1].y, p[2].y), lo(p[0].z, p[1].z, p[2].z)),
        vec3(hi(p[0].x, p[1].x, p[2].x), hi(p[0].y, p[1].y, p[2].y), hi(p[0].z, p[1].z, p[2].z)),
    )
}

/// What a cut leaves of a triangle's box, without padding.
#[inline(always)]
pub fn clip_box((lo, hi): (Vec3, Vec3), cut: ClipBox) -> (Vec3, Vec3) {
    let extent = hi - lo;
    (lo + extent * shares(cut.below), hi - extent * shares(cut.above))
}

/// The padded box of a triangle, or of a piece of it: what a cut leaves of the triangle's box, with the triangle's padding,
/// since rounding moves what a ray passes by as much wherever on the triangle it is.
#[inline(always)]
pub fn clipped_box(p: [Vec3; 3], cut: ClipBox) -> (Vec3, Vec3) {
    let whole = box_of(p);
    let pad = padding(whole.0, whole.1);
    let (lo, hi) = if cut == ClipBox::NONE { whole } else { clip_box(whole, cut) };
    (lo - pad, hi + pad)
}

/// The padded box of a triangle.
#[inline(always)]
pub fn triangle_box(p: [Vec3; 3]) -> (Vec3, Vec3) {
    clipped_box(p, ClipBox::NONE)
}

/// By how much the box between two corners grows: [`BOX_PADDING`] of its largest coordinate.
#[inline(always)]
fn padding(lo: Vec3, hi: Vec3) -> Vec3 {
    Vec3::splat(max(max_abs_component(lo), max_abs_component(hi)) * BOX_PADDING)
}

/// A box grown on all sides by its padding.
#[inline(always)]
pub fn pad_box(lo: Vec3, hi: Vec3) -> (Vec3, Vec3) {
    let pad = padding(lo, hi);
    (lo - pad, hi + pad)
}

/// The distance a candidate at `t` counts with: raised to the entry of its own box. `None` when the distance is not
/// above `t_min` or the ray misses that box.
#[inline(always)]
pub fn accept(slabs: &Slabs, boxed: (Vec3, Vec3), t: f32, t_min: f32) -> Option<f32> {
    let (entry, exit) = slabs.interval(boxed.0, boxed.1);
    (t > t_min && max(entry, t_min) <= exit).then_some(max(t, entry))
}

/// Whether a ray sees the surface of a primitive with partial coverage. `key` identifies the ray.
#[inline(always)]
pub fn passes_alpha_test(
    scene: &SceneData,
    instance: u32,
    primitive: u32,
    u: f32,
    v: f32,
    key: RayKey,
) -> bool {
    let material = &scene.materials[scene.material_of(instance, primitive) as usize];
    if material.alpha_mode == AlphaMode::Opaque as u32 {
        return true;
    }
    let alpha = alpha(scene, material, instance, primitive, u, v);
    if material.alpha_mode == AlphaMode::Mask as u32 {
        return alpha >= material.alpha_cutoff;
    }
    rng::alpha_uniform(key, instance, primitive) < alpha
}

/// The coverage of a surface point.
#[inline(always)]
pub fn alpha(scene: &SceneData, material: &Material, instance: u32, primitive: u32, u: f32, v: f32) -> f32 {
    if primitive & SPHERE_BIT != 0 {
        return material.alpha;
    }
    let mesh = &scene.meshes[scene.instances[instance as usize].mesh as usize];
    let triangle = &scene.triangles[(mesh.first_triangle + primitive) as usize];
    let [i0, i1, i2] = triangle.vertices;
    let vertices = [&scene.vertices[i0 as usize], &scene.vertices[i1 as usize], &scene.vertices[i2 as usize]];
    let b = [1.0 - u - v, u, v];
    let of_vertices = vertex_alpha(vertices[0].color) * b[0]
        + vertex_alpha(vertices[1].color) * b[1]
        + vertex_alpha(vertices[2].color) * b[2];
    let mut alpha = material.alpha * of_vertices;
    if material.base_color_texture != NONE {
        let t = &scene.textures[material.base_color_texture as usize];
        alpha *= texture::sample(scene, t, texture::coordinates(t, vertices, b)).a;
    }
    alpha
}

#[inline(always)]
fn vertex_alpha(color: u32) -> f32 {
    (color >> 24) as f32 * (1.0 / 255.0)
}

/// Unnormalised geometric normal of a triangle, towards its front.
#[inline(always)]
pub fn triangle_normal(p: [Vec3; 3]) -> Vec3 {
    cross(p[1] - p[0], p[2] - p[0])
}

/// `p` moved off a surface of unit normal `n` to the side that `direction` leaves to, far enough that rounding cannot put
/// it behind the surface. `scale` bounds the coordinates that `p` was computed from.
#[inline(always)]
pub fn offset_origin(p: Vec3, n: Vec3, direction: Vec3, scale: f32) -> Vec3 {
    let distance = scale * ORIGIN_OFFSET;
    if dot(n, direction) < 0.0 { p - n * distance } else { p + n * distance }
}

/// Share of a hit's coordinate scale by which rays start off the surface: 32 units in the last place.
pub const ORIGIN_OFFSET: f32 = 1.0 / 262_144.0;

/// The coordinate scale of points, for [`offset_origin`].
#[inline(always)]
pub fn coordinate_scale(a: Vec3, b: Vec3) -> f32 {
    max(max_abs_component(a), max_abs_component(b))
}

#[cfg(test)]
mod tests;
