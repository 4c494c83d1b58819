//! Scenes of so few triangles that eight rays against every one of them are faster than any hierarchy.

use crate::build::presplit::LEAST_TRIANGLES;
use crate::leaf::LeafPrimitive;
use crate::object_ray::ObjectRay;
use crate::traverse::axis_permute::AxisPermutation;
use crate::traverse::bvh8::splat;
use crate::traverse::confirm::{interval, inverse};
use crate::traverse::triangles8::Tested;
use lockstep_core::geometry::{Hit, Ray, Slabs};
use lockstep_core::math::rng::RayKey;
#[cfg(target_arch = "x86_64")]
use lockstep_core::math::simd::Avx2F32x8;
use lockstep_core::math::simd::{Array8, F32x8, PortableF32x8};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Instance, NONE, SceneData};

/// Rays that are traced together.
pub const RAYS: usize = 8;

/// Numbers of things.
struct Counts {
    triangles: usize,
    edges: usize,
    points: usize,
}

/// The most that this is for: with more the hierarchy is faster, at the latest where one looks at the scene from outside.
const MOST: Counts = Counts { triangles: 48, edges: 72, points: 64 };

// Each of them is whole.
const _: () = assert!(MOST.triangles < LEAST_TRIANGLES as usize);

/// Room for them: powers of two, by which an index is cheaply known to be within.
const ROOM: Counts = Counts { triangles: 64, edges: 128, points: 64 };

/// All triangles of a scene that has few, opaque and in place.
#[derive(Clone, Debug)]
pub struct SmallSceneIntersector {
    points: Vec<Vec3>,
    /// The points at both ends of each edge, the lower one first.
    edges: Vec<[u32; 2]>,
    /// In the order of instances and primitives: of equal hits the first counts.
    triangles: Vec<Triangle>,
    /// The edges of each.
    outlines: Vec<Outline>,
}

#[derive(Clone, Debug)]
struct Triangle {
    points: [u32; 3],
    /// The sign bit for each edge that it has the other way round.
    turned: [u32; 3],
    /// Lowest, then highest corner of its padded box.
    bounds: [Vec3; 2],
    instance: u32,
    record: LeafPrimitive,
}

/// Eight rays, lane by lane.
struct Rays8<L> {
    origin: [L; 3],
    inverse: [L; 3],
    t_min: L,
    t_max: L,
    /// Scale of the longest axis.
    sz: L,
}

/// The edges of a triangle, by which side of them a ray passes.
#[derive(Clone, Copy, Debug)]
struct Outline {
    /// Across from its corners, in their order.
    edges: [u8; 3],
    /// All lanes where the first and the second edge, or the second and the third, go round the other way.
    differ: [u8; 2],
}

/// Working memory of a thread.
#[derive(Clone, Debug)]
pub struct SmallSceneScratch(Box<Seen>);

/// What eight rays see.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Seen {
    /// The points, sheared.
    points: [[Array8; 3]; ROOM.points],
    /// The edge functions.
    edges: [Array8; ROOM.edges],
    /// Bit `i` where an edge function is negative for ray `i`.
    sides: [u8; ROOM.edges],
    /// Triangles whose edges some ray passes on one side, each with such rays' bits above its index.
    passed: [u16; ROOM.triangles],
}

impl Default for SmallSceneScratch {
    fn default() -> Self {
        Self(Box::new(Seen {
            points: [[[0.0; RAYS]; 3]; ROOM.points],
            edges: [[0.0; RAYS]; ROOM.edges],
            sides: [0; ROOM.edges],
            passed: [0; ROOM.triangles],
        }))
    }
}

/// The nearest hits so far.
struct Best<L> {
    t: L,
    u: L,
    v: L,
    /// The triangle's index as the bits of a float.
    triangle: L,
}

impl SmallSceneIntersector {
    /// The triangles of a scene; `None` where there are more, or some without three corners, or spheres, partial coverage
    /// or transformed instances.
    pub fn of(scene: &SceneData) -> Option<Self> {
        let mut few =
            Self { points: Vec::new(), edges: Vec::new(), triangles: Vec::new(), outlines: Vec::new() };
        for (instance, record) in (0..).zip(&scene.instances) {
            let mesh = &scene.meshes[record.mesh as usize];
            let room = MOST.triangles - few.triangles.len();
            let in_place = record.flags & Instance::IDENTITY != 0;
            if !in_place || mesh.sphere_count > 0 || mesh.triangle_count as usize > room {
                return None;
            }
            for primitive in 0..mesh.triangle_count {
                few.push(instance, LeafPrimitive::of(scene, mesh, primitive))?;
            }
        }
        Some(few)
    }

    fn push(&mut self, instance: u32, record: LeafPrimitive) -> Option<()> {
        if record.flags & LeafPrimitive::ALPHA != 0 {
            return None;
        }
        let points = [self.point(record.p0)?, self.point(record.p1)?, self.point(record.p2)?];
        let bounds = <[Vec3; 2]>::from(record.bounds());
        let [a, b, c] = points;
        let ends = [[c, b], [a, c], [b, a]];
        let edges = [self.edge(ends[0])?, self.edge(ends[1])?, self.edge(ends[2])?];
        let turned = ends.map(|[from, to]| u32::from(to < from) << 31);
        let differ =
            [turned[0] ^ turned[1], turned[1] ^ turned[2]].map(|sign| if sign != 0 { 0xff } else { 0 });
        self.outlines.push(Outline { edges: edges.map(|edge| edge as u8), differ });
        self.triangles.push(Triangle { points, turned, bounds, instance, record });
        Some(())
    }

    /// The index of the edge between two points; `None` where they are one, which every ray would pass closely.
    fn edge(&mut self, [from, to]: [u32; 2]) -> Option<u32> {
        if from == to {
            return None;
        }
        let ends = [from.min(to), from.max(to)];
        place(&mut self.edges, ends, |edge| *edge == ends, MOST.edges)
    }

    /// The index of a point, the same for the same bits.
    fn point(&mut self, point: Vec3) -> Option<u32> {
        let bits = |p: &Vec3| p.to_array().map(f32::to_bits);
        place(&mut self.points, point, |p| bits(p) == bits(&point), MOST.points)
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.points[..])
            + size_of_val(&self.edges[..])
            + size_of_val(&self.triangles[..])
            + size_of_val(&self.outlines[..])) as u64
    }

    /// The nearest surfaces along eight rays.
    #[inline(always)]
    pub fn closest_hits(
        &self,
        scene: &SceneData,
        rays: [&Ray; RAYS],
        scratch: &mut SmallSceneScratch,
    ) -> [Hit; RAYS] {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { closest_avx2(self, scene, rays, &mut scratch.0) };
        }
        closest_plain(self, scene, rays, &mut scratch.0)
    }

    /// Whether any surface lies along each of eight rays: a bit for each.
    #[inline(always)]
    pub fn any_hits(&self, scene: &SceneData, rays: [&Ray; RAYS], scratch: &mut SmallSceneScratch) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { any_avx2(self, scene, rays, &mut scratch.0) };
        }
        any_plain(self, scene, rays, &mut scratch.0)
    }

    /// All points as eight rays see them, and what else tests need of the rays.
    #[inline(always)]
    fn see<L: F32x8>(&self, rays: [&Ray; RAYS], seen: &mut Seen) -> Rays8<L> {
        let [ox, oy, oz, t_min, dx, dy, dz, t_max] = L::transpose(rays.map(bytemuck::cast_ref));
        let turn = AxisPermutation::new(dx, dy, dz);
        let [x, y, z] = turn.rotate(dx, dy, dz);
        let (sx, sy, sz) = (x.div(z), y.div(z), L::splat(1.0).div(z));
        for (to, point) in seen.points.iter_mut().zip(&self.points) {
            let [x, y, z] = turn.shear(splat(*point), [ox, oy, oz], [sx, sy]);
            *to = [x.store(), y.store(), z.store()];
        }
        Rays8 { origin: [ox, oy, oz], inverse: [inverse(dx), inverse(dy), inverse(dz)], t_min, t_max, sz }
    }

    /// All edge functions, each once for the triangles on both sides: the other way round only the sign differs. Returns
    /// a bit for each ray that passes some edge within rounding.
    #[inline(always)]
    fn pass<L: F32x8>(&self, seen: &mut Seen) -> u32 {
        let Seen { points, edges, sides, .. } = seen;
        let mut close = L::splat(0.0);
        for ((function, side), [from, to]) in edges.iter_mut().zip(sides).zip(&self.edges) {
            let ([fx, fy, _], [tx, ty, _]) =
                (&points[*from as usize % ROOM.points], &points[*to as usize % ROOM.points]);
            let value = L::load(fx).mul(L::load(ty)).sub(L::load(fy).mul(L::load(tx)));
            close = close.or(value.mask_zero());
            *side = value.sign_bitmask() as u8;
            *function = value.store();
        }
        close.sign_bitmask()
    }

    /// The number of triangles in `seen.passed`. Without branches, since nothing predicts which they are.
    #[inline(always)]
    fn list(&self, seen: &mut Seen) -> usize {
        let mut count = 0;
        for (index, Outline { edges: [u, v, w], differ }) in (0..).zip(&self.outlines) {
            let (u, v, w) = (seen.side(*u), seen.side(*v), seen.side(*w));
            let one_side = !((u ^ v ^ differ[0]) | (v ^ w ^ differ[1]));
            seen.passed[count % ROOM.triangles] = u16::from(one_side) << 8 | index;
            count += usize::from(one_side != 0);
        }
        count
    }

    #[inline(always)]
    fn closest<L: F32x8>(&self, scene: &SceneData, rays: [&Ray; RAYS], seen: &mut Seen) -> [Hit; RAYS] {
        let eight = self.see::<L>(rays, seen);
        if self.pass::<L>(seen) != 0 {
            return rays.map(|ray| self.closest_by_rule(scene, ray));
        }
        let count = self.list(seen);
        // What is as far as a ray reaches counts.
        let mut best = Best::none(eight.t_max.next_up());
        for passed in &seen.passed[..count] {
            let (index, lanes) = (passed & 0xff, u32::from(passed >> 8));
            let (triangle, outline) =
                (&self.triangles[usize::from(index)], &self.outlines[usize::from(index)]);
            let tested = triangle.test(outline, seen, &eight, lanes, best.t);
            if tested.hit != 0 {
                let (raised, met) = eight.raise(&triangle.bounds, tested.t);
                best.take(tested.hit & met, raised, &tested, u32::from(index));
            }
        }
        self.hits(rays, &best)
    }

    /// Some surface along each of eight rays.
    #[inline(always)]
    fn any<L: F32x8>(&self, scene: &SceneData, rays: [&Ray; RAYS], seen: &mut Seen) -> u32 {
        let eight = self.see::<L>(rays, seen);
        let mut open = ALL;
        for Triangle { points: [a, b, c], bounds, .. } in &self.triangles {
            let corners = [seen.point(*a), seen.point(*b), seen.point(*c)];
            let tested = Tested::new(corners, eight.sz, open, eight.t_min, eight.t_max);
            if tested.hit != 0 {
                let (raised, met) = eight.raise(bounds, tested.t);
                open &= !(tested.hit & met & raised.simd_le(eight.t_max));
            }
            if tested.undecided != 0 {
                let hit = |lane: usize| u32::from(self.closest_by_rule(scene, rays[lane]).is_some()) << lane;
                return ALL & !open | (0..RAYS).map(hit).sum::<u32>();
            }
        }
        ALL & !open
    }

    /// The rule itself, for a ray that passes an edge so closely that only exact products tell on which side.
    #[cold]
    fn closest_by_rule(&self, scene: &SceneData, ray: &Ray) -> Hit {
        let slabs = Slabs::new(ray.origin, ray.direction);
        let mut best = Hit::none(ray.t_max);
        for Triangle { instance, record, .. } in &self.triangles {
            let object_ray = ObjectRay::enter(scene, &[], ray, &slabs, *instance, RayKey::default(), best.t);
            if let Some(hit) = object_ray.and_then(|object_ray| object_ray.test(scene, record, best.t))
                && best.yields_to(&hit)
            {
                best = hit;
            }
        }
        best
    }

    #[inline(always)]
    fn hits<L: F32x8>(&self, rays: [&Ray; RAYS], best: &Best<L>) -> [Hit; RAYS] {
        let [t, u, v, triangle] = [best.t.store(), best.u.store(), best.v.store(), best.triangle.store()];
        std::array::from_fn(|lane| match self.triangles.get(triangle[lane].to_bits() as usize) {
            Some(&Triangle { instance, record: LeafPrimitive { primitive, .. }, .. }) => {
                Hit { t: t[lane], u: u[lane], v: v[lane], instance, primitive }
            }
            None => Hit::none(rays[lane].t_max),
        })
    }
}

/// The index of an item that may be among others; `None` where it is not and there are `most` already.
fn place<T>(items: &mut Vec<T>, item: T, same: impl Fn(&T) -> bool, most: usize) -> Option<u32> {
    let index = items.iter().position(same).unwrap_or(items.len());
    if index == items.len() {
        items.push(item);
    }
    (index < most).then_some(index as u32)
}

/// All lanes.
const ALL: u32 = 0xff;

impl<L: F32x8> Rays8<L> {
    /// The distances that hits count with, and which rays meet the triangle's own box.
    #[inline(always)]
    fn raise(&self, bounds: &[Vec3; 2], t: L) -> (L, u32) {
        let ([lx, ly, lz], [hx, hy, hz]) = (splat(bounds[0]), splat(bounds[1]));
        let (entry, exit) = interval(&[lx, ly, lz, hx, hy, hz], self.origin, self.inverse);
        let entry = entry.max(self.t_min);
        (t.max(entry), entry.simd_le(exit))
    }
}

impl<L: F32x8> Best<L> {
    #[inline(always)]
    fn none(t: L) -> Self {
        Self { t, u: L::splat(0.0), v: L::splat(0.0), triangle: L::splat(f32::from_bits(NONE)) }
    }

    /// Takes hits of a triangle that are nearer; triangles come in the order in which equal ones count.
    #[inline(always)]
    fn take(&mut self, hit: u32, t: L, tested: &Tested<L>, index: u32) {
        let nearer = t.mask_lt(self.t).and(L::mask(hit));
        self.t = nearer.select(t, self.t);
        self.u = nearer.select(tested.u, self.u);
        self.v = nearer.select(tested.v, self.v);
        self.triangle = nearer.select(L::splat(f32::from_bits(index)), self.triangle);
    }
}

impl Seen {
    #[inline(always)]
    fn point<L: F32x8>(&self, index: u32) -> [L; 3] {
        let [x, y, z] = &self.points[index as usize % ROOM.points];
        [L::load(x), L::load(y), L::load(z)]
    }

    /// An edge function, with its sign changed where the edge is `turned`.
    #[inline(always)]
    fn edge<L: F32x8>(&self, edge: u8, turned: u32) -> L {
        L::load(&self.edges[usize::from(edge) % ROOM.edges]).xor(L::splat(f32::from_bits(turned)))
    }

    #[inline(always)]
    fn side(&self, edge: u8) -> u8 {
        self.sides[usize::from(edge) % ROOM.edges]
    }
}

impl Triangle {
    /// Tests the triangle against rays that pass its edges on one side.
    #[inline(always)]
    fn test<L: F32x8>(
        &self,
        outline: &Outline,
        seen: &Seen,
        rays: &Rays8<L>,
        lanes: u32,
        t_last: L,
    ) -> Tested<L> {
        let ([a, b, c], [u, v, w], turned) = (self.points, outline.edges, self.turned);
        let edges = [seen.edge(u, turned[0]), seen.edge(v, turned[1]), seen.edge(w, turned[2])];
        let [[.., az], [.., bz], [.., cz]] = [seen.point(a), seen.point(b), seen.point(c)];
        Tested::passed::<true>(edges, [az, bz, cz], rays.sz, lanes, rays.t_min, t_last)
    }
}

/// Instantiates both queries for a processor.
macro_rules! queries {
    ($lanes:ty, $closest:ident, $any:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $closest(few: &SmallSceneIntersector, scene: &SceneData, rays: [&Ray; RAYS], seen: &mut Seen) -> [Hit; RAYS] {
            few.closest::<$lanes>(scene, rays, seen)
        }

        $(#[target_feature(enable = $feature)])?
        fn $any(few: &SmallSceneIntersector, scene: &SceneData, rays: [&Ray; RAYS], seen: &mut Seen) -> u32 {
            few.any::<$lanes>(scene, rays, seen)
        }
    };
}

queries!(PortableF32x8, closest_plain, any_plain);
#[cfg(target_arch = "x86_64")]
queries!(Avx2F32x8, closest_avx2, any_avx2, "avx2,fma,bmi1,bmi2,lzcnt");

#[cfg(test)]
mod tests;
