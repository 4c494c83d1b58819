//! Closest hits of displaced surfaces.

use super::Direct;
use super::nodes::{MOST_LEVELS, Node, PATCH};
use super::patches::{Expanded, Group};
use lockstep_core::geometry::{FAR_WIDENING, Ray, Shear, Slabs, accept, triangle, triangle_box};
#[cfg(target_arch = "x86_64")]
use lockstep_core::math::simd::Avx2F32x8;
use lockstep_core::math::simd::{Array8, F32x8, PortableF32x8};
use lockstep_core::math::vec3::vec3;

/// Entries of the traversal stack: up to eight at each of the levels that the builder makes, of which one is popped.
const STACK: usize = 7 * MOST_LEVELS + 1;

/// The stack of a traversal and the patches that were expanded last.
#[derive(Clone, Debug)]
pub struct Scratch<const G: usize> {
    stack: Box<[u64; STACK]>,
    /// Number of the patch at each place of the cache.
    held: Vec<u32>,
    cache: Vec<Expanded<G>>,
    /// Number of patches that were looked up.
    pub lookups: u64,
    /// Number of patches that had to be expanded.
    pub expansions: u64,
}

impl<const G: usize> Scratch<G> {
    /// Scratch memory that keeps `patches` expanded patches, rounded up to a power of two.
    pub fn new(patches: usize) -> Self {
        let patches = patches.next_power_of_two();
        Self {
            stack: Box::new([0; STACK]),
            held: vec![u32::MAX; patches],
            cache: vec![Expanded::default(); patches],
            lookups: 0,
            expansions: 0,
        }
    }

    /// Bytes of the patches that are kept.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.cache[..]) + size_of_val(&self.held[..])) as u64
    }
}

/// A ray prepared for eight tests at a time.
struct WideRay<L> {
    origin: [L; 3],
    inverse: [L; 3],
    near: [usize; 3],
    far: [usize; 3],
    t_min: L,
    /// The axes as the shear permutes them.
    axes: [usize; 3],
    sx: L,
    sy: L,
    sz: L,
}

impl<L: F32x8> WideRay<L> {
    #[inline(always)]
    fn new(ray: &Ray, slabs: &Slabs, shear: &Shear) -> Self {
        let (origin, inverse) = (ray.origin.to_array(), slabs.inverse.to_array());
        let (last, [sx, sy, sz]) = shear.parts();
        let (mut near, mut far) = ([0, 1, 2], [3, 4, 5]);
        for axis in 0..3 {
            if inverse[axis] < 0.0 {
                (near[axis], far[axis]) = (axis + 3, axis);
            }
        }
        Self {
            origin: [L::splat(origin[0]), L::splat(origin[1]), L::splat(origin[2])],
            inverse: [L::splat(inverse[0]), L::splat(inverse[1]), L::splat(inverse[2])],
            near,
            far,
            t_min: L::splat(ray.t_min),
            axes: [(last + 1) % 3, (last + 2) % 3, last],
            sx: L::splat(sx),
            sy: L::splat(sy),
            sz: L::splat(sz),
        }
    }

    #[inline(always)]
    fn plane(&self, planes: &[Array8; 6], of: &[usize; 3], axis: usize) -> L {
        L::load(&planes[of[axis]]).sub(self.origin[axis]).mul(self.inverse[axis])
    }

    /// Entry distances of eight boxes, and the bit mask of those that are hit up to `t_last`.
    #[inline(always)]
    fn enter(&self, planes: &[Array8; 6], t_last: f32) -> (L, u32) {
        let (near, far) = (&self.near, &self.far);
        let entry = self.plane(planes, near, 0).max(self.plane(planes, near, 1));
        let entry = entry.max(self.plane(planes, near, 2)).max(self.t_min);
        let exit = self.plane(planes, far, 0).min(self.plane(planes, far, 1));
        let exit = exit.min(self.plane(planes, far, 2)).mul(L::splat(FAR_WIDENING));
        (entry, entry.simd_le(exit.min(L::splat(t_last))))
    }

    /// A corner of eight triangles, sheared.
    #[inline(always)]
    fn corner(&self, corner: &[Array8; 3]) -> [L; 3] {
        let [a, b, c] = self.axes;
        let z = L::load(&corner[c]).sub(self.origin[c]);
        let x = L::load(&corner[a]).sub(self.origin[a]).sub(self.sx.mul(z));
        let y = L::load(&corner[b]).sub(self.origin[b]).sub(self.sy.mul(z));
        [x, y, z]
    }

    /// The bit mask of the triangles of a group that may be hit.
    #[inline(always)]
    fn candidates(&self, group: &Group, t_last: f32) -> u32 {
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] =
            [self.corner(&group[0]), self.corner(&group[1]), self.corner(&group[2])];
        let u = cx.mul(by).sub(cy.mul(bx));
        let v = ax.mul(cy).sub(ay.mul(cx));
        let w = bx.mul(ay).sub(by.mul(ax));
        let zero = L::splat(0.0);
        let (least, most) = (u.min(v).min(w), u.max(v).max(w));
        let possible = 0xff & !(least.simd_lt(zero) & zero.simd_lt(most));
        if possible == 0 {
            return 0;
        }
        let determinant = u.add(v).add(w);
        let depth = u.mul(az).add(v.mul(bz)).add(w.mul(cz)).mul(self.sz);
        let t = depth.mul(L::splat(1.0).div(determinant));
        let undecided = least.simd_eq(zero) | most.simd_eq(zero);
        possible & (undecided | self.t_min.simd_lt(t) & t.simd_le(L::splat(t_last)))
    }
}

/// A ray in all its forms.
struct Prepared<'a, L> {
    ray: &'a Ray,
    slabs: Slabs,
    shear: Shear,
    wide: WideRay<L>,
}

impl<L: F32x8> Prepared<'_, L> {
    /// The nearest hit of a group before `t_last`, else `t_last`.
    #[inline(always)]
    fn test(&self, group: &Group, mut t_last: f32) -> f32 {
        let mut lanes = self.wide.candidates(group, t_last);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize & 7;
            lanes &= lanes - 1;
            t_last = self.test_one(group, lane, t_last);
        }
        t_last
    }

    /// One triangle, by the operations of the intersection predicate.
    #[inline(always)]
    fn test_one(&self, group: &Group, lane: usize, t_last: f32) -> f32 {
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = group;
        let a = vec3(ax[lane], ay[lane], az[lane]);
        let b = vec3(bx[lane], by[lane], bz[lane]);
        let p = [a, b, vec3(cx[lane], cy[lane], cz[lane])];
        let Some((t, _, _)) = triangle(self.ray.origin, &self.shear, p) else { return t_last };
        if !(t > self.ray.t_min && t <= t_last) {
            return t_last;
        }
        match accept(&self.slabs, triangle_box(p), t, self.ray.t_min) {
            Some(raised) if raised < t_last => raised,
            _ => t_last,
        }
    }
}

impl<const G: usize> Direct<G> {
    /// The distance of the closest hit of a ray; its `t_max` for a miss.
    #[inline]
    pub fn closest_hit(&self, ray: &Ray, scratch: &mut Scratch<G>) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { self.walk_by_avx2(ray, scratch) };
        }
        self.closest_hit_portable(ray, scratch)
    }

    /// [`Self::closest_hit`] for any processor.
    pub fn closest_hit_portable(&self, ray: &Ray, scratch: &mut Scratch<G>) -> f32 {
        self.walk::<PortableF32x8>(ray, scratch)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
    fn walk_by_avx2(&self, ray: &Ray, scratch: &mut Scratch<G>) -> f32 {
        self.walk::<Avx2F32x8>(ray, scratch)
    }

    #[inline(always)]
    fn walk<L: F32x8>(&self, ray: &Ray, scratch: &mut Scratch<G>) -> f32 {
        let slabs = Slabs::new(ray.origin, ray.direction);
        let shear = Shear::new(ray.direction);
        let wide = WideRay::<L>::new(ray, &slabs, &shear);
        let prepared = Prepared { ray, slabs, shear, wide };
        let mut best = ray.t_max;
        scratch.stack[0] = u64::from(self.root);
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let top = scratch.stack[depth];
            if f32::from_bits((top >> 32) as u32) > best {
                continue;
            }
            let child = top as u32;
            if child & PATCH != 0 {
                best = self.visit(child & !PATCH, &prepared, best, scratch);
            } else {
                let node = &self.nodes[child as usize];
                depth = push(node, &prepared.wide, best, &mut scratch.stack, depth);
            }
        }
        best
    }

    /// Tests a patch, which is expanded unless the cache has it.
    #[inline(always)]
    fn visit<L: F32x8>(
        &self,
        patch: u32,
        ray: &Prepared<'_, L>,
        mut best: f32,
        scratch: &mut Scratch<G>,
    ) -> f32 {
        let place = patch as usize & (scratch.held.len() - 1);
        let expanded = &mut scratch.cache[place];
        scratch.lookups += 1;
        if scratch.held[place] != patch {
            scratch.held[place] = patch;
            scratch.expansions += 1;
            self.patches.expand(patch, &self.base, expanded);
        }
        if G == 1 {
            return ray.test(&expanded.groups[0], best);
        }
        let (entries, mut met) = ray.wide.enter(&expanded.boxes, best);
        let entries = entries.store();
        while met != 0 {
            let group = met.trailing_zeros() as usize & 7;
            met &= met - 1;
            if entries[group] <= best {
                best = ray.test(&expanded.groups[group], best);
            }
        }
        best
    }
}

/// Pushes the children of a node that a ray hits, farthest first. Returns the new depth of the stack.
#[inline(always)]
fn push<L: F32x8>(node: &Node, ray: &WideRay<L>, best: f32, stack: &mut [u64; STACK], depth: usize) -> usize {
    let (entries, mut met) = ray.enter(&node.planes, best);
    let entries = entries.store();
    let mut end = depth;
    while met != 0 {
        let lane = met.trailing_zeros() as usize & 7;
        met &= met - 1;
        let item = u64::from(entries[lane].to_bits()) << 32 | u64::from(node.children[lane]);
        // Insertion sort
        let mut at = end;
        while at > depth && stack[at - 1] < item {
            stack[at] = stack[at - 1];
            at -= 1;
        }
        stack[at] = item;
        end += 1;
    }
    end
}
