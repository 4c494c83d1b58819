//! SIMD brute force for tiny scenes: eight rays against every triangle and sphere, without a BVH.

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
use lockstep_core::scene::{Instance, NONE, SPHERE_BIT, SceneData};

/// Rays per packet.
pub const RAYS: usize = 8;

/// Counts of triangles and of shared edges and points.
struct Counts {
    triangles: usize,
    edges: usize,
    points: usize,
}

/// Spheres at most.
const SPHERES: usize = 4;

/// Upper limits; above them the BVH wins, even with the camera outside the scene.
const LIMITS: Counts = Counts { triangles: 48, edges: 72, points: 64 };

// Small scenes have no split triangles.
const _: () = assert!(LIMITS.triangles < LEAST_TRIANGLES as usize);

/// Capacity of the scratch arrays: powers of two, so that a mask elides the bounds check.
const CAPACITY: Counts = Counts { triangles: 64, edges: 128, points: 64 };

/// The triangles and spheres of a small scene, all opaque and in untransformed instances.
#[derive(Clone, Debug)]
pub struct SmallSceneIntersector {
    points: Vec<Vec3>,
    /// Point indices at both ends of each edge, the lower one first.
    edges: Vec<[u32; 2]>,
    /// Sorted by instance and primitive: of equal hits the first counts.
    triangles: Vec<Triangle>,
    /// The edges of each triangle.
    outlines: Vec<Outline>,
    /// In the same order, behind all triangles.
    spheres: Vec<Sphere>,
}

/// A triangle with shared points.
#[derive(Clone, Debug)]
struct Triangle {
    points: [u32; 3],
    /// The sign bit for each edge that runs the other way in this triangle.
    flipped: [u32; 3],
    /// Lowest, then highest corner of its padded box.
    bounds: [Vec3; 2],
    instance: u32,
    record: LeafPrimitive,
}

/// A sphere.
#[derive(Clone, Debug)]
struct Sphere {
    center: Vec3,
    radius: f32,
    /// Lowest, then highest corner of its padded box.
    bounds: [Vec3; 2],
    instance: u32,
    record: LeafPrimitive,
}

/// Eight rays as a structure of arrays.
struct Rays8<L> {
    origin: [L; 3],
    direction: [L; 3],
    inverse: [L; 3],
    t_min: L,
    t_max: L,
    /// Scale of the longest axis.
    sz: L,
}

/// The edges of a triangle, for the sign test.
#[derive(Clone, Copy, Debug)]
struct Outline {
    /// Opposite to its vertices, in their order.
    edges: [u8; 3],
    /// All bits set where the first and second edge, or the second and third, have opposite orientation.
    differ: [u8; 2],
}

/// Scratch memory of one thread for the queries of a [`SmallSceneIntersector`].
#[derive(Clone, Debug)]
pub struct SmallSceneScratch(Box<Sheared>);

/// The scene as sheared for eight rays.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Sheared {
    /// Sheared points.
    points: [[Array8; 3]; CAPACITY.points],
    /// Edge functions.
    edges: [Array8; CAPACITY.edges],
    /// Bit `i` is set where an edge function is negative for ray `i`.
    sides: [u8; CAPACITY.edges],
    /// Candidate triangles: the bit mask of rays without opposite edge signs above the index.
    candidates: [u16; CAPACITY.triangles],
}

impl Default for SmallSceneScratch {
    fn default() -> Self {
        Self(Box::new(Sheared {
            points: [[[0.0; RAYS]; 3]; CAPACITY.points],
            edges: [[0.0; RAYS]; CAPACITY.edges],
            sides: [0; CAPACITY.edges],
            candidates: [0; CAPACITY.triangles],
        }))
    }
}

/// The nearest hits of eight rays so far.
struct Best<L> {
    t: L,
    u: L,
    v: L,
    /// The index of [`SmallSceneIntersector::record`] as the bits of a float.
    triangle: L,
}

impl SmallSceneIntersector {
    /// Prepares a small scene; `None` where it exceeds the limits on size or has degenerate triangles, alpha, transformed
    /// instances, or triangles in an instance listed after one with spheres.
    pub fn of(scene: &SceneData) -> Option<Self> {
        let mut small = Self {
            points: Vec::new(),
            edges: Vec::new(),
            triangles: Vec::new(),
            outlines: Vec::new(),
            spheres: Vec::new(),
        };
        for (instance, record) in (0..).zip(&scene.instances) {
            let mesh = &scene.meshes[record.mesh as usize];
            let free = LIMITS.triangles - small.triangles.len();
            let untransformed = record.flags & Instance::IDENTITY != 0;
            let in_order = mesh.triangle_count == 0 || small.spheres.is_empty();
            if !untransformed || !in_order || mesh.triangle_count as usize > free {
                return None;
            }
            for primitive in 0..mesh.triangle_count {
                small.push(instance, LeafPrimitive::of(scene, mesh, primitive))?;
            }
            for sphere in 0..mesh.sphere_count {
                small.push_sphere(instance, LeafPrimitive::of(scene, mesh, sphere | SPHERE_BIT))?;
            }
        }
        Some(small)
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
        let flipped = ends.map(|[from, to]| u32::from(to < from) << 31);
        let differ =
            [flipped[0] ^ flipped[1], flipped[1] ^ flipped[2]].map(|sign| if sign != 0 { 0xff } else { 0 });
        self.outlines.push(Outline { edges: edges.map(|edge| edge as u8), differ });
        self.triangles.push(Triangle { points, flipped, bounds, instance, record });
        Some(())
    }

    fn push_sphere(&mut self, instance: u32, record: LeafPrimitive) -> Option<()> {
        if record.flags & LeafPrimitive::ALPHA != 0 || self.spheres.len() == SPHERES {
            return None;
        }
        let bounds = <[Vec3; 2]>::from(record.bounds());
        self.spheres.push(Sphere { center: record.p0, radius: record.p1.x, bounds, instance, record });
        Some(())
    }

    /// The index of the edge between two points; `None` where they are the same, since all its edge functions
    /// are zero.
    fn edge(&mut self, [from, to]: [u32; 2]) -> Option<u32> {
        if from == to {
            return None;
        }
        let ends = [from.min(to), from.max(to)];
        intern(&mut self.edges, ends, |edge| *edge == ends, LIMITS.edges)
    }

    /// The index of a point; equal bits share one.
    fn point(&mut self, point: Vec3) -> Option<u32> {
        let bits = |p: &Vec3| p.to_array().map(f32::to_bits);
        intern(&mut self.points, point, |p| bits(p) == bits(&point), LIMITS.points)
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.points[..])
            + size_of_val(&self.edges[..])
            + size_of_val(&self.triangles[..])
            + size_of_val(&self.outlines[..])
            + size_of_val(&self.spheres[..])) as u64
    }

    /// Finds the closest hits of eight rays.
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

    /// Bit mask of the rays that hit any surface.
    #[inline(always)]
    pub fn any_hits(&self, scene: &SceneData, rays: [&Ray; RAYS], scratch: &mut SmallSceneScratch) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if lockstep_core::math::simd::has_avx2() {
            // SAFETY: the processor has the features.
            return unsafe { any_avx2(self, scene, rays, &mut scratch.0) };
        }
        any_plain(self, scene, rays, &mut scratch.0)
    }

    /// Shears all points for eight rays, and prepares the rays.
    #[inline(always)]
    fn shear<L: F32x8>(&self, rays: [&Ray; RAYS], sheared: &mut Sheared) -> Rays8<L> {
        let [ox, oy, oz, t_min, dx, dy, dz, t_max] = L::transpose(rays.map(bytemuck::cast_ref));
        let permutation = AxisPermutation::new(dx, dy, dz);
        let [x, y, z] = permutation.rotate(dx, dy, dz);
        let (sx, sy, sz) = (x.div(z), y.div(z), L::splat(1.0).div(z));
        for (to, point) in sheared.points.iter_mut().zip(&self.points) {
            let [x, y, z] = permutation.shear(splat(*point), [ox, oy, oz], [sx, sy]);
            *to = [x.store(), y.store(), z.store()];
        }
        Rays8 {
            origin: [ox, oy, oz],
            direction: [dx, dy, dz],
            inverse: [inverse(dx), inverse(dy), inverse(dz)],
            t_min,
            t_max,
            sz,
        }
    }

    /// Computes each edge function once; for the triangle on the other side only the sign differs.
    ///
    /// Returns the bit mask of rays with an edge function of zero.
    #[inline(always)]
    fn edge_functions<L: F32x8>(&self, sheared: &mut Sheared) -> u32 {
        let Sheared { points, edges, sides, .. } = sheared;
        let mut zero = L::splat(0.0);
        for ((function, side), [from, to]) in edges.iter_mut().zip(sides).zip(&self.edges) {
            let ([fx, fy, _], [tx, ty, _]) =
                (&points[*from as usize % CAPACITY.points], &points[*to as usize % CAPACITY.points]);
            let value = L::load(fx).mul(L::load(ty)).sub(L::load(fy).mul(L::load(tx)));
            zero = zero.or(value.mask_zero());
            *side = value.sign_bitmask() as u8;
            *function = value.store();
        }
        zero.sign_bitmask()
    }

    /// Compacts the candidate triangles and returns their number. Branch-free, since candidates are
    /// unpredictable.
    #[inline(always)]
    fn list_candidates(&self, sheared: &mut Sheared) -> usize {
        let mut count = 0;
        for (index, Outline { edges: [u, v, w], differ }) in (0..).zip(&self.outlines) {
            let (u, v, w) = (sheared.side(*u), sheared.side(*v), sheared.side(*w));
            let one_side = !((u ^ v ^ differ[0]) | (v ^ w ^ differ[1]));
            sheared.candidates[count % CAPACITY.triangles] = u16::from(one_side) << 8 | index;
            count += usize::from(one_side != 0);
        }
        count
    }

    /// The closest hits of eight rays.
    #[inline(always)]
    fn closest<L: F32x8>(&self, scene: &SceneData, rays: [&Ray; RAYS], sheared: &mut Sheared) -> [Hit; RAYS] {
        // Shear points and compute edge functions; rays on an edge go to the scalar test
        let eight = self.shear::<L>(rays, sheared);
        if self.edge_functions::<L>(sheared) != 0 {
            return rays.map(|ray| self.closest_scalar(scene, ray));
        }
        // Select candidate triangles
        let count = self.list_candidates(sheared);
        // Test candidates. Hits at t_max count, so the first limit is above it
        let mut best = Best::none(eight.t_max.next_up());
        for candidate in &sheared.candidates[..count] {
            let (index, lanes) = (candidate & 0xff, u32::from(candidate >> 8));
            let (triangle, outline) =
                (&self.triangles[usize::from(index)], &self.outlines[usize::from(index)]);
            let tested = triangle.test(outline, sheared, &eight, lanes, best.t);
            if tested.hit != 0 {
                let (raised, in_box) = eight.raise(&triangle.bounds, tested.t);
                best.take(tested.hit & in_box, raised, &tested, u32::from(index));
            }
        }
        for (index, sphere) in (self.triangles.len() as u32..).zip(&self.spheres) {
            let tested = sphere.test(&eight, best.t);
            if tested.hit != 0 {
                let (raised, in_box) = eight.raise(&sphere.bounds, tested.t);
                best.take(tested.hit & in_box, raised, &tested, index);
            }
        }
        self.hits(rays, &best)
    }

    /// Bit mask of the rays that hit any surface.
    #[inline(always)]
    fn any<L: F32x8>(&self, scene: &SceneData, rays: [&Ray; RAYS], sheared: &mut Sheared) -> u32 {
        let eight = self.shear::<L>(rays, sheared);
        let mut open = ALL;
        for sphere in &self.spheres {
            let tested = sphere.test(&eight, eight.t_max);
            if tested.hit != 0 {
                let (raised, in_box) = eight.raise(&sphere.bounds, tested.t);
                open &= !(tested.hit & in_box & raised.simd_le(eight.t_max));
            }
        }
        for Triangle { points: [a, b, c], bounds, .. } in &self.triangles {
            let corners = [sheared.point(*a), sheared.point(*b), sheared.point(*c)];
            let tested = Tested::new(corners, eight.sz, open, eight.t_min, eight.t_max);
            if tested.hit != 0 {
                let (raised, in_box) = eight.raise(bounds, tested.t);
                open &= !(tested.hit & in_box & raised.simd_le(eight.t_max));
            }
            if tested.undecided != 0 {
                let hit = |lane: usize| u32::from(self.closest_scalar(scene, rays[lane]).is_some()) << lane;
                return ALL & !open | (0..RAYS).map(hit).sum::<u32>();
            }
        }
        ALL & !open
    }

    /// The scalar predicate, for rays with an edge function of zero.
    #[cold]
    fn closest_scalar(&self, scene: &SceneData, ray: &Ray) -> Hit {
        let slabs = Slabs::new(ray.origin, ray.direction);
        let mut best = Hit::none(ray.t_max);
        for (instance, record) in self.records() {
            let object_ray = ObjectRay::enter(scene, &[], ray, &slabs, instance, RayKey::default(), best.t);
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
        std::array::from_fn(|lane| match self.record(triangle[lane].to_bits() as usize) {
            Some((instance, &LeafPrimitive { primitive, .. })) => {
                Hit { t: t[lane], u: u[lane], v: v[lane], instance, primitive }
            }
            None => Hit::none(rays[lane].t_max),
        })
    }

    /// Instance and record of a triangle, or of a sphere behind all triangles.
    #[inline(always)]
    fn record(&self, index: usize) -> Option<(u32, &LeafPrimitive)> {
        match self.triangles.get(index) {
            Some(triangle) => Some((triangle.instance, &triangle.record)),
            None => {
                let sphere = self.spheres.get(index - self.triangles.len())?;
                Some((sphere.instance, &sphere.record))
            }
        }
    }

    /// Instances and records of all triangles, then of all spheres.
    fn records(&self) -> impl Iterator<Item = (u32, &LeafPrimitive)> {
        (0..self.triangles.len() + self.spheres.len()).filter_map(|index| self.record(index))
    }
}

/// The index of an item, appended if it is new; `None` beyond `most` items.
fn intern<T>(items: &mut Vec<T>, item: T, same: impl Fn(&T) -> bool, most: usize) -> Option<u32> {
    let index = items.iter().position(same).unwrap_or(items.len());
    if index == items.len() {
        items.push(item);
    }
    (index < most).then_some(index as u32)
}

/// All lanes.
const ALL: u32 = 0xff;

impl<L: F32x8> Rays8<L> {
    /// Distances raised to the entries of a triangle's box, and the bit mask of rays that hit the box.
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

    /// Commits hits of a triangle that are nearer. Triangles come in the order in which equal hits count.
    #[inline(always)]
    fn take(&mut self, hit: u32, t: L, tested: &Tested<L>, index: u32) {
        let nearer = t.mask_lt(self.t).and(L::mask(hit));
        self.t = nearer.select(t, self.t);
        self.u = nearer.select(tested.u, self.u);
        self.v = nearer.select(tested.v, self.v);
        self.triangle = nearer.select(L::splat(f32::from_bits(index)), self.triangle);
    }
}

impl Sheared {
    #[inline(always)]
    fn point<L: F32x8>(&self, index: u32) -> [L; 3] {
        let [x, y, z] = &self.points[index as usize % CAPACITY.points];
        [L::load(x), L::load(y), L::load(z)]
    }

    /// An edge function, negated where the edge is `flipped`.
    #[inline(always)]
    fn edge<L: F32x8>(&self, edge: u8, flipped: u32) -> L {
        L::load(&self.edges[usize::from(edge) % CAPACITY.edges]).xor(L::splat(f32::from_bits(flipped)))
    }

    #[inline(always)]
    fn side(&self, edge: u8) -> u8 {
        self.sides[usize::from(edge) % CAPACITY.edges]
    }
}

impl Triangle {
    /// Tests the triangle for the rays `lanes`, whose edge functions have no opposite signs.
    #[inline(always)]
    fn test<L: F32x8>(
        &self,
        outline: &Outline,
        sheared: &Sheared,
        rays: &Rays8<L>,
        lanes: u32,
        t_last: L,
    ) -> Tested<L> {
        let ([a, b, c], [u, v, w], flipped) = (self.points, outline.edges, self.flipped);
        let edges = [sheared.edge(u, flipped[0]), sheared.edge(v, flipped[1]), sheared.edge(w, flipped[2])];
        let [[.., az], [.., bz], [.., cz]] = [sheared.point(a), sheared.point(b), sheared.point(c)];
        Tested::passed::<true>(edges, [az, bz, cz], rays.sz, lanes, rays.t_min, t_last)
    }
}

impl Sphere {
    /// Tests the sphere as [`lockstep_core::geometry::sphere`] does, up to and including the distances `t_last`.
    #[inline(always)]
    fn test<L: F32x8>(&self, rays: &Rays8<L>, t_last: L) -> Tested<L> {
        // Discriminant
        let [cx, cy, cz] = splat::<L>(self.center);
        let ([ox, oy, oz], [dx, dy, dz]) = (rays.origin, rays.direction);
        let (x, y, z) = (cx.sub(ox), cy.sub(oy), cz.sub(oz));
        let a = dx.mul(dx).add(dy.mul(dy)).add(dz.mul(dz));
        let half_b = x.mul(dx).add(y.mul(dy)).add(z.mul(dz));
        let along = half_b.div(a);
        let (px, py, pz) = (x.sub(dx.mul(along)), y.sub(dy.mul(along)), z.sub(dz.mul(along)));
        let squared = L::splat(self.radius * self.radius);
        let discriminant = squared.sub(px.mul(px).add(py.mul(py)).add(pz.mul(pz)));
        let zero = L::splat(0.0);
        let met = ALL & !discriminant.simd_lt(zero);
        if met == 0 {
            return Tested::none();
        }
        // Both roots, without cancellation
        let c = x.mul(x).add(y.mul(y)).add(z.mul(z)).sub(squared);
        let q = half_b.add(a.mul(discriminant).sqrt().with_sign_of(half_b));
        let (t0, t1) = (c.div(q), q.div(a));
        let (near, far) = (t0.min(t1), t0.max(t1));
        // The first of them within the ray's interval
        let t = rays.t_min.mask_lt(near).select(near, far);
        let in_range = rays.t_min.simd_lt(t) & t.simd_le(t_last);
        Tested { t, u: zero, v: zero, hit: met & !q.simd_eq(zero) & in_range, undecided: 0 }
    }
}

/// Instantiates both queries for an instruction set.
macro_rules! queries {
    ($lanes:ty, $closest:ident, $any:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $closest(small: &SmallSceneIntersector, scene: &SceneData, rays: [&Ray; RAYS], sheared: &mut Sheared) -> [Hit; RAYS] {
            small.closest::<$lanes>(scene, rays, sheared)
        }

        $(#[target_feature(enable = $feature)])?
        fn $any(small: &SmallSceneIntersector, scene: &SceneData, rays: [&Ray; RAYS], sheared: &mut Sheared) -> u32 {
            small.any::<$lanes>(scene, rays, sheared)
        }
    };
}

queries!(PortableF32x8, closest_plain, any_plain);
#[cfg(target_arch = "x86_64")]
queries!(Avx2F32x8, closest_avx2, any_avx2, "avx2,fma,bmi1,bmi2,lzcnt");

#[cfg(test)]
mod tests;
