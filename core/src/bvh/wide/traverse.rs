//! Closest-hit and any-hit traversal of [`Bvh8`].
//!
//! Boxes are tested eight at a time, by the slab test of the hit rule itself. So are triangles, up to the point where
//! most of them are known to be missed; [`Probe::test`] decides about the few that are left.

#[cfg(target_arch = "x86_64")]
use super::lanes::Avx2;
use super::lanes::{Lanes, Plain};
use super::layout::{Block, Bvh8, Node8};
use crate::bvh::STACK_SIZE;
use crate::bvh::bvh2::{EMPTY, LEAF_BIT};
use crate::bvh::probe::Probe;
use crate::intersect::{FAR_WIDENING, Hit, Ray, Shear, Slabs};
use crate::rng::RayKey;
use crate::scene::SceneData;
use crate::vec3::Vec3;

/// Working memory of a traversal, kept from ray to ray because clearing it would cost as much as a short ray.
#[derive(Clone, Debug, Default)]
pub struct Scratch8 {
    top: Stack,
    bottom: Stack,
}

/// Up to seven children stay behind at each level.
const STACK8_SIZE: usize = 7 * STACK_SIZE + 1;

/// Subtrees still to be visited: the bits of the entry distance, which is not negative, above the child. So the order of
/// items is that of distances.
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

/// What box tests need of a ray.
struct WideSlabs<L> {
    origin: [L; 3],
    inverse: [L; 3],
    t_min: L,
    /// Where the nearer and the farther plane of each axis lies in a node.
    near: [usize; 3],
    far: [usize; 3],
}

impl<L: Lanes> WideSlabs<L> {
    #[inline(always)]
    fn new(slabs: &Slabs, t_min: f32) -> Self {
        let (origin, inverse) = (slabs.origin.to_array(), slabs.inverse.to_array());
        let near = std::array::from_fn(|axis| if inverse[axis] < 0.0 { axis + 3 } else { axis });
        Self {
            origin: origin.map(L::splat),
            inverse: inverse.map(L::splat),
            t_min: L::splat(t_min),
            near,
            far: std::array::from_fn(|axis| if inverse[axis] < 0.0 { axis } else { axis + 3 }),
        }
    }

    /// Entry distances of a node's children, and which of them the ray meets up to `t_last`. Same operations as
    /// [`Slabs::interval`], where the nearer plane is the one with the lesser distance since rounding is monotonic.
    #[inline(always)]
    fn meet(&self, node: &Node8, t_last: f32) -> (L, u32) {
        let at = |plane: usize, axis: usize| {
            L::load(&node.planes[plane]).sub(self.origin[axis]).mul(self.inverse[axis])
        };
        let [nx, ny, nz] = std::array::from_fn(|axis| at(self.near[axis], axis));
        let [fx, fy, fz] = std::array::from_fn(|axis| at(self.far[axis], axis));
        let entry = nx.max(ny).max(nz.max(self.t_min));
        let exit = fx.min(fy).min(fz).mul(L::splat(FAR_WIDENING));
        (entry, entry.at_most(exit.min(L::splat(t_last))))
    }
}

impl Stack {
    #[inline(always)]
    fn start(&mut self, root: u32) {
        self.items[0] = item(0.0, root);
        self.len = usize::from(root != EMPTY);
    }

    #[inline(always)]
    fn push(&mut self, item: u64) {
        self.items[self.len] = item;
        self.len += 1;
    }

    /// The next leaf along the ray that is not beyond `t_last`, roughly nearest first.
    #[inline(always)]
    fn next_leaf<L: Lanes>(&mut self, nodes: &[Node8], ray: &WideSlabs<L>, t_last: f32) -> Option<u32> {
        while self.len > 0 {
            self.len -= 1;
            let top = self.items[self.len];
            if entry_of(top) > t_last {
                continue;
            }
            let mut current = top as u32;
            while current & LEAF_BIT == 0 {
                let node = &nodes[current as usize];
                let (entries, mut met) = ray.meet(node, t_last);
                if met == 0 {
                    current = EMPTY;
                    break;
                }
                let first = met.trailing_zeros() as usize & 7;
                met &= met - 1;
                if met == 0 {
                    current = node.children[first];
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

    /// Pushes the children `first` and `rest`, farthest first, but for the nearest, which is returned.
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

    /// The next leaf along the ray up to `t_last`, in no order.
    #[inline(always)]
    fn any_leaf<L: Lanes>(&mut self, nodes: &[Node8], ray: &WideSlabs<L>, t_last: f32) -> Option<u32> {
        while self.len > 0 {
            self.len -= 1;
            let current = self.items[self.len] as u32;
            if current & LEAF_BIT != 0 {
                return Some(current & !LEAF_BIT);
            }
            let node = &nodes[current as usize];
            let (_, mut met) = ray.meet(node, t_last);
            while met != 0 {
                let lane = met.trailing_zeros() as usize & 7;
                met &= met - 1;
                self.push(u64::from(node.children[lane]));
            }
        }
        None
    }
}

/// What triangle tests need of a ray.
struct WideShear<L> {
    /// The axes in the order in which the shear turns them.
    axes: [usize; 3],
    origin: [L; 3],
    sx: L,
    sy: L,
    sz: L,
}

impl<L: Lanes> WideShear<L> {
    #[inline(always)]
    fn new(origin: Vec3, shear: &Shear) -> Self {
        let (last, [sx, sy, sz]) = shear.parts();
        let axes = [(last + 1) % 3, (last + 2) % 3, last];
        let origin = origin.to_array();
        Self {
            axes,
            origin: axes.map(|axis| L::splat(origin[axis])),
            sx: L::splat(sx),
            sy: L::splat(sy),
            sz: L::splat(sz),
        }
    }

    /// The triangles of a block that the ray may hit between `t_min` and `t_last`. Same operations as
    /// [`crate::intersect::triangle`], except that triangles with an edge function of zero are left to it.
    #[inline(always)]
    fn candidates(&self, block: &Block, t_min: f32, t_last: f32) -> u32 {
        let point = |corner: usize| -> [L; 3] {
            let on = |i: usize| L::load(&block.points[corner][self.axes[i]]).sub(self.origin[i]);
            let (x, y, z) = (on(0), on(1), on(2));
            [x.sub(self.sx.mul(z)), y.sub(self.sy.mul(z)), z]
        };
        let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = (point(0), point(1), point(2));
        let u = cx.mul(by).sub(cy.mul(bx));
        let v = ax.mul(cy).sub(ay.mul(cx));
        let w = bx.mul(ay).sub(by.mul(ax));
        let zero = L::splat(0.0);
        let (least, most) = (u.min(v).min(w), u.max(v).max(w));
        let passed_by = least.less(zero) & zero.less(most);
        let possible = !passed_by & ((1u32 << block.count) - 1);
        if possible == 0 {
            return 0;
        }
        let inverse = L::splat(1.0).div(u.add(v).add(w));
        let depth = u.mul(az).add(v.mul(bz)).add(w.mul(cz));
        let t = depth.mul(self.sz).mul(inverse);
        let in_range = L::splat(t_min).less(t) & t.at_most(L::splat(t_last));
        let undecided = u.equal(zero) | v.equal(zero) | w.equal(zero);
        possible & (in_range | undecided)
    }
}

/// A mesh's part of a traversal.
struct InMesh<'a, L> {
    scene: &'a SceneData,
    probe: &'a Probe,
    shear: WideShear<L>,
}

impl<L: Lanes> InMesh<'_, L> {
    /// The primitives of a block that need a close look.
    #[inline(always)]
    fn candidates(&self, block: &Block, t_last: f32) -> u32 {
        if block.has_spheres {
            return (1u32 << block.count) - 1;
        }
        self.shear.candidates(block, self.probe.t_min, t_last)
    }

    #[inline(always)]
    fn closest(&self, block: &Block, best: &mut Hit) {
        let mut candidates = self.candidates(block, best.t);
        while candidates != 0 {
            let lane = candidates.trailing_zeros() as usize & 7;
            candidates &= candidates - 1;
            if let Some(hit) = self.probe.test(self.scene, &block.primitive(lane), best.t)
                && best.yields_to(&hit)
            {
                *best = hit;
            }
        }
    }

    #[inline(always)]
    fn any(&self, block: &Block, t_max: f32) -> bool {
        let mut candidates = self.candidates(block, t_max);
        while candidates != 0 {
            let lane = candidates.trailing_zeros() as usize & 7;
            candidates &= candidates - 1;
            if self.probe.test(self.scene, &block.primitive(lane), t_max).is_some() {
                return true;
            }
        }
        false
    }
}

#[inline(always)]
fn closest<L: Lanes>(bvh: &Bvh8, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> Hit {
    let Scratch8 { top, bottom } = scratch;
    let mut best = Hit::none(ray.t_max);
    let slabs = Slabs::new(ray.origin, ray.direction);
    let wide = WideSlabs::<L>::new(&slabs, ray.t_min);
    top.start(bvh.root);
    while let Some(instance) = top.next_leaf(&bvh.nodes, &wide, best.t) {
        let entered = Probe::enter(scene, &bvh.instance_boxes, ray, &slabs, instance, key, best.t);
        let Some(probe) = entered else { continue };
        let wide = WideSlabs::<L>::new(&probe.slabs, probe.t_min);
        let mesh = InMesh { scene, probe: &probe, shear: WideShear::<L>::new(probe.origin, &probe.shear) };
        bottom.start(bvh.mesh_roots[scene.instances[instance as usize].mesh as usize]);
        while let Some(block) = bottom.next_leaf(&bvh.nodes, &wide, best.t) {
            mesh.closest(&bvh.blocks[block as usize], &mut best);
        }
    }
    best
}

#[inline(always)]
fn any<L: Lanes>(bvh: &Bvh8, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> bool {
    let Scratch8 { top, bottom } = scratch;
    let slabs = Slabs::new(ray.origin, ray.direction);
    let wide = WideSlabs::<L>::new(&slabs, ray.t_min);
    top.start(bvh.root);
    while let Some(instance) = top.any_leaf(&bvh.nodes, &wide, ray.t_max) {
        let entered = Probe::enter(scene, &bvh.instance_boxes, ray, &slabs, instance, key, ray.t_max);
        let Some(probe) = entered else { continue };
        let wide = WideSlabs::<L>::new(&probe.slabs, probe.t_min);
        let mesh = InMesh { scene, probe: &probe, shear: WideShear::<L>::new(probe.origin, &probe.shear) };
        bottom.start(bvh.mesh_roots[scene.instances[instance as usize].mesh as usize]);
        while let Some(block) = bottom.any_leaf(&bvh.nodes, &wide, ray.t_max) {
            if mesh.any(&bvh.blocks[block as usize], ray.t_max) {
                return true;
            }
        }
    }
    false
}

/// Instantiates both traversals for a processor.
macro_rules! traversals {
    ($lanes:ty, $closest:ident, $any:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $closest(b: &Bvh8, s: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> Hit {
            closest::<$lanes>(b, s, ray, key, scratch)
        }

        $(#[target_feature(enable = $feature)])?
        fn $any(b: &Bvh8, s: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> bool {
            any::<$lanes>(b, s, ray, key, scratch)
        }
    };
}

traversals!(Plain, closest_plain, any_plain);
#[cfg(target_arch = "x86_64")]
traversals!(Avx2, closest_avx2, any_avx2, "avx2,fma,bmi1,lzcnt");

/// Whether the processor has what [`closest_avx2`] is compiled for.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("lzcnt")
}

impl Bvh8 {
    /// The nearest surface along a ray. `key` identifies the ray for stochastic coverage.
    #[inline]
    pub fn closest_hit(&self, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> Hit {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { closest_avx2(self, scene, ray, key, scratch) };
        }
        self.closest_hit_portable(scene, ray, key, scratch)
    }

    /// Whether any surface lies along a ray.
    #[inline]
    pub fn any_hit(&self, scene: &SceneData, ray: &Ray, key: RayKey, scratch: &mut Scratch8) -> bool {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { any_avx2(self, scene, ray, key, scratch) };
        }
        self.any_hit_portable(scene, ray, key, scratch)
    }

    /// [`Self::closest_hit`] without instructions that not every processor has.
    pub fn closest_hit_portable(
        &self,
        scene: &SceneData,
        ray: &Ray,
        key: RayKey,
        scratch: &mut Scratch8,
    ) -> Hit {
        closest_plain(self, scene, ray, key, scratch)
    }

    /// [`Self::any_hit`] without instructions that not every processor has.
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
