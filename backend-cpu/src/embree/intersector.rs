//! Embree as the intersector of the CPU renderer.

use super::callbacks;
use super::geometry::{Asks, Triangle};
use super::octants::Octants;
use super::packet::{self, AllRays, Packet, Width};
use super::query::{Query, to_embree};
use super::world::{Candidate, Making, World};
use crate::intersector::{Intersector, Made};
use embree4_sys::{
    RTCFilterFunctionN, RTCFilterFunctionNArguments, RTCIntersectArguments, RTCOccludedArguments, RTCRayHit,
    RTCRayHitNt, RTCRayNt, RTCRayQueryFlags, RTCSceneFlags, rtcIntersect1, rtcOccluded1,
};
use lockstep_bvh::{BvhCache, Candidates8, Rays8, confirm};
use lockstep_core::Result;
use lockstep_core::geometry::{Hit, Ray, Slabs, passes_alpha_test};
use lockstep_core::math::rng::RayKey;
use lockstep_core::math::vec3::max_abs_component;
use lockstep_core::math::{max, min};
use lockstep_core::scene::{NONE, SPHERE_BIT, Scene};
use std::ptr;

/// Rays whose candidates are collected before they are confirmed: so many that what judging reads has arrived from memory by
/// then, and so few that it is still in the first cache.
const BATCH: usize = 32;

/// What is as near as something else lies within this share of its distance, and of the coordinates where the ray starts.
const NEARNESS: f32 = 1.0 / 65_536.0;

/// Proposals that are confirmed together.
const EIGHT: usize = 8;

/// Embree's default test finds the side of an edge that a ray passes on with a few roundings of the distance to where
/// it starts, and its boxes are as tight: of rays from inside at edges of a closed mesh to the last bit 6 % slip
/// through, of those at vertices 22 %. Where triangles overlap by this share of the farthest start none do, from
/// wherever there are surfaces or the camera; with half of it some do where the mesh is placed by a map, and in
/// Sponza three times as many hits differ from the rule's. What is hit by the overlap alone the rule turns away.
/// Embree's own watertight mode takes a tenth to a fifth longer.
const GROWTH: f32 = 1.0 / 1_048_576.0;

/// Ready for queries that ask us about every candidate.
const MAKING: Making = Making {
    flags: RTCSceneFlags::FILTER_FUNCTION_IN_ARGUMENTS,
    partial_asks: Asks::WithFilter,
    growth: GROWTH,
    marks_coincident: true,
};

/// Embree's trees over one scene.
pub(crate) struct Embree {
    world: World,
    width: Width,
}

/// A hit of a triangle so close to an edge, in barycentric coordinates, may be one of the neighbour as well.
const EDGE: f32 = 1.0 / 1_024.0;

/// Whether a hit may be one of a neighbouring triangle as well.
#[inline(always)]
fn is_at_edge(hit: &Hit) -> bool {
    min(min(hit.u, hit.v), 1.0 - hit.u - hit.v) < EDGE && hit.primitive & SPHERE_BIT == 0
}

/// Between which distances lies what is as near as something at a distance of its own.
#[inline(always)]
fn as_near(ray: &Ray, t: f32) -> [f32; 2] {
    let about = NEARNESS * (t + max_abs_component(ray.origin) / max_abs_component(ray.direction));
    [max(ray.t_min, t - about), t + about]
}

/// The share of a thread's last shadow rays that were blocked, in 4,096ths; the older they are, the less they count.
#[derive(Default)]
pub(crate) struct Blocked(u32);

impl Blocked {
    /// Whether fewer than one in four.
    #[inline(always)]
    fn are_few(&self) -> bool {
        self.0 < 4096 / 4
    }

    /// Counts a packet more.
    #[inline(always)]
    fn count(&mut self, hits: u32, of: usize) {
        let here = hits * 4096 / of as u32;
        self.0 = (7 * self.0 + here) / 8;
    }
}

/// Puts the rays `ray(0)` onwards in lanes.
#[inline(always)]
fn turn<'r>(rays: &mut [Rays8], ray: impl Fn(usize) -> &'r Ray) {
    for (rays, start) in rays.iter_mut().zip((0..).step_by(EIGHT)) {
        *rays = Rays8::new(|lane| ray(start + lane));
    }
}

impl Intersector for Embree {
    type Scratch = Blocked;

    fn build(scene: &Scene, _: &BvhCache) -> Result<Made<Self>> {
        let threads = rayon::current_num_threads();
        Made::timed(|| {
            let world = World::build(scene, threads, MAKING)?;
            let width = Width::of(&world.device);
            Ok(Self { world, width })
        })
    }

    fn has_packets(&self) -> bool {
        !self.world.has_spheres && self.width != Width::One
    }

    fn layout(&self) -> String {
        "Embree".into()
    }

    fn bytes(&self) -> u64 {
        self.world.device.bytes()
    }

    fn check(&self) -> Result<()> {
        self.world.device.check("tracing rays")
    }

    #[inline]
    fn closest_hit(&self, ray: &Ray, key: RayKey, _: &mut Blocked) -> Hit {
        if self.world.has_spheres {
            return self.ask_about_partial(&mut Query::new(&self.world, ray, key), ray.t_min);
        }
        self.decide(ray, key, self.find_candidates(ray).as_ref())
    }

    #[inline(always)]
    fn closest_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut Blocked,
        found: impl FnMut(usize, Hit),
    ) {
        if self.world.has_spheres {
            return self.each_closest_hit(count, ray, scratch, found);
        }
        match self.width {
            Width::Sixteen => self.closest_hits_by::<16>(count, ray, found),
            Width::Array8 | Width::One => self.closest_hits_by::<8>(count, ray, found),
        }
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, _: &mut Blocked) -> bool {
        let mut traced = to_embree(ray);
        let mut query = Query::new(&self.world, ray, key);
        let context = (&raw mut query).cast();
        let flags = RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER;
        let filter: RTCFilterFunctionN = Some(callbacks::filter);
        let mut args = RTCOccludedArguments { flags, context, filter, ..RTCOccludedArguments::default() };
        // SAFETY: the scene is committed and lives; the context heads a query, as the callbacks expect.
        unsafe { rtcOccluded1(self.world.top.raw(), &raw mut traced, &raw mut args) };
        traced.tfar == f32::NEG_INFINITY
    }

    #[inline(always)]
    fn any_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        blocked: &mut Blocked,
        found: impl FnMut(usize, bool),
    ) {
        // Callbacks take single rays, and packets are slow to enter meshes that are placed.
        let together = !self.world.has_spheres && !self.world.is_placed;
        match self.width {
            Width::Array8 if together => self.any_hits_by::<8>(count, ray, blocked, found),
            Width::Sixteen if together => self.any_hits_by::<16>(count, ray, blocked, found),
            _ => self.each_any_hit(count, ray, blocked, found),
        }
    }
}

impl Embree {
    /// [`Intersector::closest_hits`] in a scene without spheres, with packets of `N`.
    #[inline(always)]
    fn closest_hits_by<'r, const N: usize>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        mut found: impl FnMut(usize, Hit),
    ) where
        AllRays: Packet<N>,
    {
        let mut packet = RTCRayHitNt::<N>::default();
        let mut rays = [Rays8::default(); BATCH / EIGHT];
        let Some(placeholder) = self.world.placeholder() else {
            return (0..count).for_each(|i| found(i, Hit::none(ray(i).0.t_max)));
        };
        if self.takes_octants() {
            return self.closest_hits_by_octant(placeholder, &mut packet, count, ray, found);
        }
        let mut candidates = [placeholder; BATCH];
        for first in (0..count).step_by(BATCH) {
            let here = BATCH.min(count - first);
            let candidates = &mut candidates[..here];
            let rays = &mut rays[..here.div_ceil(EIGHT)];
            // Behind the last ray stand copies of it.
            turn(rays, |lane| ray(first + lane.min(here - 1)).0);
            let met = self.find_candidates_all(candidates, &mut packet, rays, |i| ray(first + i).0);
            self.decide_all(candidates, met, rays, |i| ray(first + i), |i, hit| found(first + i, hit));
        }
    }

    /// [`Intersector::any_hits`] with `N` rays asked about together, and then again each that may be blocked, while that pays.
    /// Together they take a third to nine tenths of the time.
    #[inline(always)]
    fn any_hits_by<'r, const N: usize>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        blocked: &mut Blocked,
        mut found: impl FnMut(usize, bool),
    ) where
        AllRays: Packet<N>,
    {
        let mut packet = RTCRayNt::<N>::default();
        let mut rays = [Rays8::default(); BATCH / EIGHT];
        for first in (0..count).step_by(N) {
            let here = N.min(count - first);
            let together = here == N && blocked.are_few();
            let asked = if together {
                let rays = &mut rays[..N / EIGHT];
                turn(rays, |lane| ray(first + lane).0);
                packet::may_be_hit(&self.world, &mut packet, rays, packet::flags(false))
            } else {
                [true; N]
            };
            let mut hits = 0;
            for (i, asked) in (first..first + here).zip(asked) {
                let is_hit = asked && {
                    let (ray, key) = ray(i);
                    self.any_hit(ray, key, blocked)
                };
                hits += u32::from(is_hit);
                found(i, is_hit);
            }
            blocked.count(hits, here);
        }
    }

    /// Whether [`Intersector::closest_hits`] puts rays in packets by their octants.
    #[inline(always)]
    pub(super) fn takes_octants(&self) -> bool {
        self.has_packets() && self.world.is_small
    }

    /// [`Intersector::closest_hits`] in a small world, in packets of one octant.
    #[inline(always)]
    fn closest_hits_by_octant<'w, 'r, const N: usize>(
        &'w self,
        placeholder: Candidate<'w>,
        packet: &mut RTCRayHitNt<N>,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        mut found: impl FnMut(usize, Hit),
    ) where
        AllRays: Packet<N>,
    {
        let mut rays = [Rays8::default(); BATCH / EIGHT];
        let rays = &mut rays[..N / EIGHT];
        let mut candidates = [placeholder; N];
        let mut octants = Octants::<N>::new();
        while let Some(group) = octants.next(count, |i| ray(i).0) {
            turn(rays, |lane| ray(group.rays[lane]).0);
            let flags = packet::flags(group.is_one_octant);
            let met = packet::find_candidates(&self.world, packet, rays, flags, &mut candidates);
            self.decide_all(
                &candidates[..group.count],
                met,
                rays,
                |lane| ray(group.rays[lane]),
                |lane, hit| found(group.rays[lane], hit),
            );
        }
    }

    /// What Embree finds nearest along rays `0..candidates.len()`, in a scene without spheres, `N` together where it can, with
    /// bits of those that hit anything. Packets are slow to enter meshes that are placed, unless all rays leave from one
    /// point.
    #[inline(always)]
    fn find_candidates_all<'w, 'r, const N: usize>(
        &'w self,
        candidates: &mut [Candidate<'w>],
        packet: &mut RTCRayHitNt<N>,
        rays: &[Rays8],
        ray: impl Fn(usize) -> &'r Ray,
    ) -> u32
    where
        AllRays: Packet<N>,
    {
        let mut met = 0;
        for ((candidates, rays), first) in
            candidates.chunks_mut(N).zip(rays.chunks(N / EIGHT)).zip((0..).step_by(N))
        {
            let is_full = candidates.len() == N && self.width != Width::One;
            let is_coherent = packet::is_coherent(rays);
            if is_full && (!self.world.is_placed || is_coherent) {
                let flags = packet::flags(is_coherent);
                met |= packet::find_candidates(&self.world, packet, rays, flags, candidates) << first;
                candidates.iter().for_each(Candidate::prefetch);
            } else {
                for (i, candidate) in (first..).zip(candidates) {
                    if let Some(found) = self.find_candidates(ray(i)) {
                        found.prefetch();
                        *candidate = found;
                        met |= 1 << i;
                    }
                }
            }
        }
        met
    }

    /// What Embree finds nearest in a scene without spheres, with partial coverage taken for opaque.
    #[inline(always)]
    fn find_candidates(&self, ray: &Ray) -> Option<Candidate<'_>> {
        let mut found = RTCRayHit { ray: to_embree(ray), ..RTCRayHit::default() };
        // SAFETY: the scene is committed, lives, and calls nothing back where it has no spheres.
        unsafe { rtcIntersect1(self.world.top.raw(), &raw mut found, ptr::null_mut()) };
        self.world.name(found.ray.tfar, &found.hit)
    }

    /// What candidates count as; of those without a bit in `met` nothing.
    #[inline(always)]
    fn decide_all<'r>(
        &self,
        candidates: &[Candidate<'_>],
        met: u32,
        rays: &[Rays8],
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        mut found: impl FnMut(usize, Hit),
    ) {
        for ((eight, rays), first) in candidates.chunks(EIGHT).zip(rays).zip((0..).step_by(EIGHT)) {
            self.decide_eight(eight, met >> first, rays, |i| ray(first + i), |i, hit| found(first + i, hit));
        }
    }

    /// The same of up to eight, confirmed together where Embree has them in the world itself.
    #[inline(always)]
    fn decide_eight<'r>(
        &self,
        candidates: &[Candidate<'_>],
        met: u32,
        rays: &Rays8,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        mut found: impl FnMut(usize, Hit),
    ) {
        let mut together = Candidates8::new(rays);
        let mut plain = 0;
        for (lane, Candidate { part, number, .. }) in candidates.iter().enumerate() {
            if let Some(triangle) = part.triangle(*number) {
                together.put(lane, &triangle.record, met >> lane & 1 != 0 && part.instance != NONE);
                plain |= u32::from(triangle.is_plain()) << lane;
                if triangle.is_in_pieces() {
                    part.prefetch_pieces(triangle);
                }
            }
        }
        let confirmed = together.confirm(EDGE);
        // The usual case apart and without asking what is usual: its numbers then go from registers to where they are kept.
        let usual = confirmed.inside() & plain | !met;
        for (lane, candidate) in candidates.iter().enumerate() {
            if usual >> lane & 1 != 0 {
                found(lane, confirmed.hit(lane, candidate.part.instance));
                continue;
            }
            let (ray, key) = ray(lane);
            if confirmed.is_hit(lane) {
                let hit = confirmed.hit(lane, candidate.part.instance);
                found(lane, self.look_closer(ray, key, candidate, hit));
            } else {
                found(lane, self.decide(ray, key, Some(candidate)));
            }
        }
    }

    /// What the hit of a candidate counts as whose triangle has partial coverage or others on it or is in pieces.
    #[inline(always)]
    fn look_closer(&self, ray: &Ray, key: RayKey, candidate: &Candidate<'_>, hit: Hit) -> Hit {
        let part = candidate.part;
        if let Some(triangle) = part.triangle(candidate.number) {
            let slabs = || Slabs::new(ray.origin, ray.direction);
            if triangle.is_in_pieces() && !part.is_in_piece(triangle, &slabs(), ray.t_min, &hit) {
                return self.decide(ray, key, Some(candidate));
            }
            if triangle.has_alpha()
                && !passes_alpha_test(&self.world.scene, hit.instance, hit.primitive, hit.u, hit.v, key)
            {
                return self.look_beyond(ray, key, candidate);
            }
        }
        self.settle(ray, key, part.triangle(candidate.number), hit)
    }

    /// What a candidate counts as. One that the rule rejects, as in a hole of a leaf, has the ray traced again.
    #[inline(always)]
    fn decide(&self, ray: &Ray, key: RayKey, candidate: Option<&Candidate<'_>>) -> Hit {
        let Some(candidate) = candidate else { return Hit::none(ray.t_max) };
        let Candidate { instance, part, number, .. } = *candidate;
        let World { scene, boxes, .. } = &self.world;
        match confirm(scene, boxes, ray, key, instance, part.candidates(number)) {
            Some(hit) => self.settle(ray, key, part.triangle(number), hit),
            None => self.look_beyond(ray, key, candidate),
        }
    }

    /// The hit that a triangle counts as, or where others lie on it the one that the rule puts first.
    #[inline(always)]
    fn settle(&self, ray: &Ray, key: RayKey, triangle: Option<&Triangle>, hit: Hit) -> Hit {
        if is_at_edge(&hit) || triangle.is_some_and(|triangle| triangle.is_coincident(&hit)) {
            self.first_of_coincident(ray, key, hit)
        } else {
            hit
        }
    }

    /// The first of all hits that are as near as one.
    #[cold]
    fn first_of_coincident(&self, ray: &Ray, key: RayKey, hit: Hit) -> Hit {
        let mut query = Query::new(&self.world, ray, key);
        query.passed = hit;
        self.ask(
            &mut query,
            as_near(ray, hit.t),
            RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER,
            callbacks::collect,
        );
        query.passed
    }

    /// What lies beyond a candidate that counts for nothing, or as far.
    fn look_beyond(&self, ray: &Ray, key: RayKey, candidate: &Candidate<'_>) -> Hit {
        let [from, _] = as_near(ray, candidate.t);
        self.ask_about_partial(&mut Query::new(&self.world, ray, key), from)
    }

    /// The nearest surface from a distance on, where Embree asks us about spheres and triangles with partial coverage.
    fn ask_about_partial(&self, query: &mut Query<'_>, from: f32) -> Hit {
        let range = [from, query.t_max()];
        let Some(found) = self.ask(query, range, RTCRayQueryFlags::INCOHERENT, callbacks::filter) else {
            return Hit::none(query.t_max());
        };
        let hit = if query.has_passed(&found) { Some(query.passed) } else { query.accept(&found) };
        match hit {
            Some(hit) => self.settle(query.ray(), query.key(), found.part.triangle(found.number), hit),
            None => self.ask_about_all(query, from),
        }
    }

    /// Traces a ray again whose candidate does not count, such as one at the very start of the ray, now with a say in
    /// every candidate, so that what lies behind is found.
    #[cold]
    fn ask_about_all(&self, query: &mut Query<'_>, from: f32) -> Hit {
        query.passed = Hit::none(query.t_max());
        let range = [from, query.t_max()];
        self.ask(query, range, RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER, callbacks::filter);
        let found = query.passed;
        if found.is_some() { self.first_of_coincident(query.ray(), query.key(), found) } else { found }
    }

    /// The hit that Embree finds nearest in a range, with Embree's numbers, asking us about spheres and by `filter` about
    /// partial coverage, with [`RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER`] about every candidate.
    #[inline(always)]
    fn ask(
        &self,
        query: &mut Query<'_>,
        [from, to]: [f32; 2],
        flags: RTCRayQueryFlags,
        filter: unsafe extern "C" fn(*const RTCFilterFunctionNArguments),
    ) -> Option<Candidate<'_>> {
        let mut found = RTCRayHit { ray: to_embree(query.ray()), ..RTCRayHit::default() };
        (found.ray.tnear, found.ray.tfar) = (from, to);
        let context = ptr::from_mut(query).cast();
        let filter: RTCFilterFunctionN = Some(filter);
        let mut args = RTCIntersectArguments { flags, context, filter, ..RTCIntersectArguments::default() };
        // SAFETY: the scene is committed and lives; the context heads a query, as the callbacks expect.
        unsafe { rtcIntersect1(self.world.top.raw(), &raw mut found, &raw mut args) };
        self.world.name(found.ray.tfar, &found.hit)
    }
}
