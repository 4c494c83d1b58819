//! Ray-primitive intersection. A hit is a function of the ray and the primitives alone, never of the BVH.
//!
//! * The triangle test is the watertight one of Woop, Benthin and Wald (JCGT 2(1), 2013): the ray is sheared
//!   onto an axis, and the signs of three edge functions decide. Rounding is monotonic, so a rounded edge
//!   function is never of the wrong sign, only possibly zero; then a fused multiply-add recovers its exact
//!   sign. Neighbours share the sheared vertices, so no ray slips between them.
//! * Boxes are tested by slabs, `(plane - origin) * inverse_direction`, with the exit distance widened (Ize,
//!   JCGT 2(2), 2013). The test is monotonic under rounding: a box that encloses another never reports a
//!   later entry.
//! * A candidate hit counts only if the ray also passes the slab test of the primitive's own box (and, in an
//!   instance, of the instance's world box). Its distance is raised to the entry of those boxes. Hence no
//!   enclosing box can be culled by a hit that is not nearer, and the closest hit does not depend on the
//!   acceleration structure.
//! * A large triangle may have several split references, each with a clip box. They share its edge functions
//!   and its distance, and depend on the mesh alone, not on the BVH. The triangle counts as the nearest of
//!   its references: their boxes cover the triangle.
//! * Equal distances go to the lower (instance, primitive).
//!
//! The counterpart is `kernels/geometry/intersect.h`.

mod alpha;
mod clip_box;
mod hit;
mod offset;
mod ray;
mod slab;
mod sphere;
mod triangle;

pub use alpha::{alpha, opacity, passes_alpha_test, triangle_alpha};
pub use clip_box::{BOX_PADDING, ClipBox, box_of, clip_box, clipped_box, pad_box, triangle_box};
pub use hit::Hit;
pub use offset::{ORIGIN_OFFSET, SHADOW_CLEARANCE, coordinate_scale, offset_origin, shadow_end};
pub use ray::{FAR, Ray};
pub use slab::{FAR_WIDENING, MISSED, SMALLEST_DIRECTION, Slabs, accept};
pub use sphere::sphere;
pub use triangle::{Shear, longest_axis, rotate_to, triangle, triangle_normal};

#[cfg(test)]
mod testing;
