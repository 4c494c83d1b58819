//! Closest-hit and any-hit traversal of [`Bvh8`].
//!
//! Eight boxes or triangles are tested at a time, with the operations of the scalar intersection predicate in
//! each lane. [`ObjectRay::test`] decides the rest: spheres, and triangles with an edge function of zero.

use crate::STACK_SIZE;
use crate::layout::bvh2::{EMPTY, LEAF_BIT};
use crate::layout::bvh8::{Block8, Bvh8, Node8};
use crate::object_ray::ObjectRay;
use crate::traverse::triangles8::{Tested, boxes, corner};
use lockstep_core::geometry::{FAR_WIDENING, Hit, MISSED, Ray, Shear, Slabs};
use lockstep_core::math::min;
use lockstep_core::math::rng::RayKey;
#[cfg(target_arch = "x86_64")]
use lockstep_core::math::simd::Avx2F32x8;
use lockstep_core::math::simd::{Array8, F32x8, PortableF32x8};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Instance, SceneData};

/// Scratch memory of a traversal, kept from ray to ray: clearing it would cost as much as a short ray.
#[derive(Clone, Debug, Default)]
pub struct Scratch8 {
    top: Stack,
    bottom: Stack,
}

/// Up to seven children are pushed at each level.
const STACK8_SIZE: usize = 7 * STACK_SIZE + 1;

/// A traversal stack of subtrees.
///
/// An item holds the bits of the entry distance, which is not negative, above the child. So items are ordered
/// by distance.
#[derive(Clone, Debug)]
struct Stack {
    items: Box<[u64; STACK8_SIZE]>,
    len: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Self { items: Box::new([0; STACK8_SIZE]), len: 0 }
    }
}

#[inline(always)]
fn item(entry: f32, child: u32) -> u64 {
    u64::from(entry.to_bits()) << 32 | u64::from(child)
}

#[inline(always)]
fn entry_of(item: u64) -> f32 {
    f32::from_bits((item >> 32) as u32)
}

/// A ray prepared for eight slab tests at a time.
struct WideSlabs<L> {
    origin: [L; 3],
    inverse: [L; 3],
    t_min: L,
    /// Index in a node of the nearer and the farther plane of each axis.
    near: [usize; 3],
    far: [usize; 3],
}

/// Broadcasts a vector. Spelled out, since closures in `map` would be compiled without the target features of
/// the caller.
#[inline(always)]
pub(crate) fn splat<L: F32x8>(v: Vec3) -> [L; 3] {
    [L::splat(v.x), L::splat(v.y), L::splat(v.z)]
}

/// Index in a node of the nearer and the farther plane of an axis.
#[inline(always)]
fn planes(inverse: f32, axis: usize) -> (usize, usize) {
    if inverse < 0.0 { (axis + 3, axis) } else { (axis, axis + 3) }
}

impl<L: F32x8> WideSlabs<L> {
    #[inline(always)]
    fn new(slabs: &Slabs, t_min: f32) -> Self {
        let inverse = slabs.inverse;
        let (x, y, z) = (planes(inverse.x, 0), planes(inverse.y, 1), planes(inverse.z, 2));
        Self {
            origin: splat(slabs.origin),
            inverse: splat(inverse),
            t_min: L::splat(t_min),
            near: [x.0, y.0, z.0],
            far: [x.1, y.1, z.1],
        }
    }

    /// Distances to eight planes across an axis.
    #[inline(always)]
    fn at(&self, planes: L, axis: usize) -> L {
        planes.sub(self.origin[axis]).mul(self.inverse[axis])
    }

    /// Entry, not before `t_min`, and widened exit, from the nearer and farther planes of each axis.
    ///
    /// The operations are those of [`Slabs::interval`]: the nearer plane has the lesser distance, since
    /// rounding is monotonic.
    #[inline(always)]
    fn interval(&self, near: [L; 3], far: [L; 3]) -> (L, L) {
        let entry = self.at(near[0], 0).max(self.at(near[1], 1)).max(self.at(near[2], 2));
        let exit = self.at(far[0], 0).min(self.at(far[1], 1)).min(self.at(far[2], 2));
        (entry.max(self.t_min), exit.mul(L::splat(FAR_WIDENING)))
    }

    /// Entry distances of a node's children, and the bit mask of those hit up to `t_last`.
    #[inline(always)]
    fn intersect(&self, node: &Node8, t_last: f32) -> (L, u32) {
        let (near, far) = (&self.near, &self.far);
        let (entry, exit) = self.interval(
            [L::load(&node.planes[near[0]]), L::load(&node.planes[near[1]]), L::load(&node.planes[near[2]])],
            [L::load(&node.planes[far[0]]), L::load(&node.planes[far[1]]), L::load(&node.planes[far[2]])],
        );
        (entry, entry.simd_le(exit.min(L::splat(t_last))))
    }

    /// Entry distances of eight boxes, lowest corners first, and the bit mask of those hit.
    #[inline(always)]
    fn intersect_boxes(&self, boxes: &[L; 6]) -> (L, u32) {
        let (near, far) = (&self.near, &self.far);
        let (entry, exit) = self.interval(
            [boxes[near[0]], boxes[near[1]], boxes[near[2]]],
            [boxes[far[0]], boxes[far[1]], boxes[far[2]]],
        );
        (entry, entry.simd_le(exit))
    }
}

impl Stack {
    #[inline(always)]
    fn start(&mut self, root: u32) {
        self.items[0] = item(0.0, root);
        self.len = usize::from(root != EMPTY);
    }

    /// Descends to the next leaf that is not beyond `t_last`, roughly nearest first; with `ANY`, fewest
    /// primitives first.
    #[inline(always)]
    fn next_leaf<L: F32x8, const ANY: bool>(
        &mut self,
        nodes: &[Node8],
        ray: &WideSlabs<L>,
        t_last: f32,
    ) -> Option<u32> {
        while self.len > 0 {
            // Pop a subtree, unless a nearer hit culls it
            self.len -= 1;
            let top = self.items[self.len];
            if entry_of(top) > t_last {
                continue;
            }
            let mut current = top as u32;
            while current & LEAF_BIT == 0 {
                // Slab test of all children
                let node = &nodes[current as usize];
                let (entries, mut met) = ray.intersect(node, t_last);
                if met == 0 {
                    current = EMPTY;
                    break;
                }
                // Descend to one child, push the others
                let first = met.trailing_zeros() as usize & 7;
                met &= met - 1;
                if met == 0 {
                    current = node.children[first];
                    continue;
                }
                if ANY {
                    current = self.push_unsorted(node, first, met);
                    continue;
                }
                let entries = entries.store();
                current = self.push_sorted(node, &entries, first, met);
            }
            if current != EMPTY {
                return Some(current & !LEAF_BIT);
            }
        }
        None
    }

    /// Pushes the children `first` and `rest` except the last, which is returned.
    #[inline(always)]
    fn push_unsorted(&mut self, node: &Node8, first: usize, mut rest: u32) -> u32 {
        let mut next = node.children[first];
        while rest != 0 {
            self.items[self.len] = u64::from(next);
            self.len += 1;
            next = node.children[rest.trailing_zeros() as usize & 7];
            rest &= rest - 1;
        }
        next
    }

    /// Pushes the children `first` and `rest`, farthest first, except the nearest, which is returned.
    #[inline(always)]
    fn push_sorted(&mut self, node: &Node8, entries: &[f32; 8], first: usize, mut rest: u32) -> u32 {
        let base = self.len;
        let mut nearest = item(entries[first], node.children[first]);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize & 7;
            rest &= rest - 1;
            let mut next = item(entries[lane], node.children[lane]);
            if next < nearest {
                std::mem::swap(&mut next, &mut nearest);
            }
            // Insertion sort
            let mut at = self.len;
            while at > base && self.items[at - 1] < next {
                self.items[at] = self.items[at - 1];
                at -= 1;
            }
            self.items[at] = next;
            self.len += 1;
        }
        nearest as u32
    }
}

/// A ray prepared for eight triangle tests at a time.
struct WideShear<L> {
    /// The axes as the shear permutes them.
    axes: [usize; 3],
    origin: [L; 3],
    sx: L,
    sy: L,
    sz: L,
}

impl<L: F32x8> WideShear<L> {
    #[inline(always)]
    fn new(origin: Vec3, shear: &Shear) -> Self {
        let (last, [sx, sy, sz]) = shear.parts();
        let axes = [(last + 1) % 3, (last + 2) % 3, last];
        let of = origin.to_array();
        Self {
            axes,
            origin: [L::splat(of[axes[0]]), L::splat(of[axes[1]]), L::splat(of[axes[2]])],
            sx: L::splat(sx),
            sy: L::splat(sy),
            sz: L::splat(sz),
        }
    }

    /// One component of a vertex of all triangles, relative to the ray's origin.
    #[inline(always)]
    fn component(&self, corner: &[Array8; 3], i: usize) -> L {
        L::load(&corner[self.axes[i]]).sub(self.origin[i])
    }

    /// A vertex of all triangles, sheared.
    #[inline(always)]
    fn corner(&self, corner: &[Array8; 3]) -> [L; 3] {
        let (x, y, z) = (self.component(corner, 0), self.component(corner, 1), self.component(corner, 2));
        [x.sub(self.sx.mul(z)), y.sub(self.sy.mul(z)), z]
    }

    /// Tests the triangles `lanes` of a block.
    #[inline(always)]
    fn test(&self, block: &Block8, lanes: u32, t_min: f32, t_last: f32) -> Tested<L> {
        let [a, b, c] = &block.points;
        let corners = [self.corner(a), self.corner(b), self.corner(c)];
        Tested::new(corners, self.sz, lanes, L::splat(t_min), L::splat(t_last))
    }
}

/// Traversal within one mesh.
struct InMesh<'a, L> {
    scene: &'a SceneData,
    object_ray: &'a ObjectRay,
    slabs: &'a WideSlabs<L>,
    shear: WideShear<L>,
}

impl<'a, L: F32x8> InMesh<'a, L> {
    #[inline(always)]
    fn new(scene: &'a SceneData, object_ray: &'a ObjectRay, slabs: &'a WideSlabs<L>) -> Self {
        Self { scene, object_ray, slabs, shear: WideShear::new(object_ray.origin, &object_ray.shear) }
    }

    /// Tests all primitives of a block: `best` becomes the nearest of their hits and itself.
    #[inline(always)]
    fn visit(&self, blocks: &[Block8], best: &mut Hit) {
        // Test all triangles at once
        let block = &blocks[0];
        let triangles = block.all & !block.spheres;
        let mut each = block.spheres;
        if triangles != 0 {
            let tested = self.shear.test(block, triangles, self.object_ray.t_min, best.t);
            each |= tested.undecided;
            if tested.hit != 0 {
                let (entry, met) = self.slabs.intersect_boxes(&boxes([
                    corner(&block.points[0]),
                    corner(&block.points[1]),
                    corner(&block.points[2]),
                ]));
                // Slab test of their boxes, which raises distances to the entries of the triangle's and the
                // instance's box
                let raised = tested.t.max(entry).max(L::splat(self.object_ray.t_floor));
                let hit = tested.hit & met & raised.simd_le(L::splat(best.t));
                if hit != 0 {
                    self.take(blocks, hit, raised.store(), &tested, best);
                }
            }
        }
        // Test the rest one by one
        if each != 0 {
            self.visit_each(blocks, each, best);
        }
    }

    /// Commits the nearest of a block's hits. `t` is raised to the entries of the triangles' boxes.
    #[inline(always)]
    fn take(&self, blocks: &[Block8], mut hits: u32, t: Array8, tested: &Tested<L>, best: &mut Hit) {
        let block = &blocks[0];
        let (u, v) = (tested.u.store(), tested.v.store());
        while hits != 0 {
            let lane = hits.trailing_zeros() as usize & 7;
            hits &= hits - 1;
            let (instance, primitive) = (self.object_ray.instance, block.primitives[lane]);
            let mut hit = Hit { t: t[lane], u: u[lane], v: v[lane], instance, primitive };
            if block.presplit >> lane & 1 != 0 {
                hit.t = self.raised_to_clip_boxes(blocks, lane, hit.t);
            }
            if best.yields_to(&hit)
                && (block.alpha >> lane & 1 == 0 || self.object_ray.passes_alpha_test(self.scene, &hit))
            {
                *best = hit;
            }
        }
    }

    /// The distance of a hit of a split triangle, raised to the first entry of its clip boxes; [`MISSED`]
    /// where the ray misses all of them. `t` is raised to the entry of the triangle's box already, which is
    /// not later.
    #[inline(always)]
    fn raised_to_clip_boxes(&self, blocks: &[Block8], lane: usize, t: f32) -> f32 {
        let mut nearest = MISSED;
        for block in &blocks[1..=blocks[0].boxes as usize] {
            let [lo, hi, _] = &block.points;
            let boxes = [
                L::load(&lo[0]),
                L::load(&lo[1]),
                L::load(&lo[2]),
                L::load(&hi[0]),
                L::load(&hi[1]),
                L::load(&hi[2]),
            ];
            let (entry, met) = self.slabs.intersect_boxes(&boxes);
            let of_it = met & block.primitives[lane];
            if of_it & entry.simd_le(L::splat(t)) != 0 {
                return t;
            }
            nearest = min(nearest, least_of(&entry.store(), of_it));
        }
        nearest
    }

    /// Tests primitives of a block one by one, where the SIMD test cannot decide.
    #[cold]
    fn visit_each(&self, blocks: &[Block8], mut lanes: u32, best: &mut Hit) {
        let block = &blocks[0];
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize & 7;
            lanes &= lanes - 1;
            let Some(mut hit) = self.object_ray.test(self.scene, &block.primitive(lane), best.t) else {
                continue;
            };
            if block.presplit >> lane & 1 != 0 {
                hit.t = self.raised_to_clip_boxes(blocks, lane, hit.t);
            }
            if best.yields_to(&hit) {
                *best = hit;
            }
        }
    }
}

/// Finds the closest hit of a ray, or with `ANY` any hit.
#[inline(always)]
fn walk<L: F32x8, const ANY: bool>(
    bvh: &Bvh8,
    scene: &SceneData,
    ray: &Ray,
    key: RayKey,
    scratch: &mut Scratch8,
) -> Hit {
    let Scratch8 { top, bottom } = scratch;
    let mut best = Hit::none(ray.t_max);
    let slabs = Slabs::new(ray.origin, ray.direction);
    let wide = WideSlabs::<L>::new(&slabs, ray.t_min);
    // Traverse the top level
    top.start(bvh.root);
    while let Some(instance) = top.next_leaf::<L, ANY>(&bvh.nodes, &wide, best.t) {
        let entered = ObjectRay::enter(scene, &bvh.instance_boxes, ray, &slabs, instance, key, best.t);
        let Some(object_ray) = entered else { continue };
        let record = &scene.instances[instance as usize];
        // Transform the ray to object space
        let transformed;
        let slabs = if record.flags & Instance::IDENTITY != 0 {
            &wide
        } else {
            transformed = WideSlabs::new(&object_ray.slabs, ray.t_min);
            &transformed
        };
        // Traverse the mesh
        let mesh = InMesh::<L>::new(scene, &object_ray, slabs);
        bottom.start(bvh.mesh_roots[record.mesh as usize]);
        while let Some(block) = bottom.next_leaf::<L, ANY>(&bvh.nodes, mesh.slabs, best.t) {
            mesh.visit(&bvh.blocks[block as usize..], &mut best);
            if ANY && best.is_some() {
                return best;
            }
        }
    }
    best
}

/// The least of the selected lanes; [`MISSED`] for none.
#[inline(always)]
fn least_of(values: &Array8, mut lanes: u32) -> f32 {
    let mut least = MISSED;
    while lanes != 0 {
        least = min(least, values[lanes.trailing_zeros() as usize & 7]);
        lanes &= lanes - 1;
    }
    least
}

/// Instantiates both traversals for an instruction set.
macro_rules! traversals {
    ($lanes:ty, $closest:ident, $any:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $closest(b: &Bvh8, s: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> Hit {
            walk::<$lanes, false>(b, s, ray, key, scratch)
        }

        $(#[target_feature(enable = $feature)])?
        fn $any(b: &Bvh8, s: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> bool {
            walk::<$lanes, true>(b, s, ray, key, scratch).is_some()
        }
    };
}

traversals!(PortableF32x8, closest_plain, any_plain);
#[cfg(target_arch = "x86_64")]
traversals!(Avx2F32x8, closest_avx2, any_avx2, "avx2,fma,bmi1,bmi2,lzcnt");

impl Bvh8 {
    /// Finds the closest hit of a ray. `key` identifies the ray for stochastic transparency.
    #[inline]
    pub fn closest_hit(&self, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> Hit {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { closest_avx2(self, scene, ray, key, scratch) };
        }
        self.closest_hit_portable(scene, ray, key, scratch)
    }

    /// True when a ray hits any surface.
    #[inline]
    pub fn any_hit(&self, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> bool {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { any_avx2(self, scene, ray, key, scratch) };
        }
        self.any_hit_portable(scene, ray, key, scratch)
    }

    /// [`Self::closest_hit`] for any processor.
    pub fn closest_hit_portable(
        &self,
        scene: &SceneData,
        ray: &Ray,
        key: RayKey,
        scratch: &mut Scratch8,
    ) -> Hit {
        closest_plain(self, scene, ray, key, scratch)
    }

    /// [`Self::any_hit`] for any processor.
    pub fn any_hit_portable(
        &self,
        scene: &SceneData,
        ray: &Ray,
        key: RayKey,
        scratch: &mut Scratch8,
    ) -> bool {
        any_plain(self, scene, ray, key, scratch)
    }
}
