//! Embree as the intersector of the CPU renderer: collects candidates of single rays and packets.

use super::build_options::{BuildOptions, CallbackKind};
use super::callbacks;
use super::candidate::Candidate;
use super::frustum::{Frustum, have_one_origin};
use super::octants::Octants;
use super::packet::{self, AllRays, Packet, Width};
use super::query::{Query, to_embree};
use super::scene::EmbreeScene;
use crate::intersector::{Built, Intersector};
use lockstep_bvh::{BvhCache, Rays8};
use lockstep_core::Result;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::RayKey;
use lockstep_core::scene::Scene;
use lockstep_embree_sys::{
    RTCFilterFunctionN, RTCOccludedArguments, RTCRayHit, RTCRayHitNt, RTCRayNt, RTCRayQueryFlags,
    RTCSceneFlags, rtcIntersect1, rtcOccluded1,
};
use std::ptr;

/// Number of rays whose candidates are collected before they are confirmed: enough that prefetches have
/// arrived by then, and few enough that they are still in the first-level cache.
const BATCH: usize = 32;

/// Number of candidates that are confirmed together.
pub(super) const EIGHT: usize = 8;

/// Distance by which triangles are enlarged, as a share of the largest coordinate of a ray origin.
///
/// Embree's default test decides on which side of an edge a ray passes with a few roundings of the distance
/// to the ray's origin, and its boxes are as tight. Of rays from inside a closed mesh that aim at edges to
/// the last bit, 6 % slip through, and 22 % of those that aim at vertices. With this enlargement none do,
/// from any surface or camera. With half of it some do on transformed meshes, and in Sponza three times as
/// many hits differ from the predicate's. The predicate rejects hits on the added margin. Embree's own robust
/// mode takes a tenth to a fifth longer.
const ENLARGEMENT: f32 = 1.0 / 1_048_576.0;

/// Options for queries that may confirm every candidate in an argument filter.
const OPTIONS: BuildOptions = BuildOptions {
    flags: RTCSceneFlags::FILTER_FUNCTION_IN_ARGUMENTS,
    alpha_callback: CallbackKind::ArgumentFilter,
    enlargement: ENLARGEMENT,
    marks_coincident: true,
};

/// Embree's acceleration structures over one scene.
pub(crate) struct Embree {
    pub(super) scene: EmbreeScene,
    width: Width,
    /// Which packets may be marked as coherent; `None` in scenes with instances, where rays have other origins
    /// and directions in every instance, and in those with spheres, which have no packets.
    frustum: Option<Frustum>,
}

/// Moving average of the share of a thread's shadow rays that were occluded, in 4,096ths.
#[derive(Default)]
pub(crate) struct OcclusionRate(u32);

impl OcclusionRate {
    /// Whether fewer than one in four rays were occluded.
    #[inline(always)]
    fn is_low(&self) -> bool {
        self.0 < 4096 / 4
    }

    /// Adds a packet to the average.
    #[inline(always)]
    fn add(&mut self, hits: u32, of: usize) {
        let here = hits * 4096 / of as u32;
        self.0 = (7 * self.0 + here) / 8;
    }
}

/// Transposes the rays `ray(0)`, `ray(1)` and so on into 8-wide structures of arrays.
#[inline(always)]
fn transpose<'r>(rays: &mut [Rays8], ray: impl Fn(usize) -> &'r Ray) {
    for (rays, start) in rays.iter_mut().zip((0..).step_by(EIGHT)) {
        *rays = Rays8::new(|lane| ray(start + lane));
    }
}

impl Intersector for Embree {
    type Scratch = OcclusionRate;

    fn build(scene: &Scene, _: &BvhCache) -> Result<Built<Self>> {
        let threads = rayon::current_num_threads();
        Built::timed(|| {
            let scene = EmbreeScene::build(scene, threads, OPTIONS)?;
            let width = Width::of(&scene.device);
            let is_in_world_space = !scene.has_instances && !scene.has_spheres;
            let frustum = is_in_world_space.then(|| Frustum::of(&scene.scene, scene.is_small));
            Ok(Self { scene, width, frustum })
        })
    }

    fn has_packets(&self) -> bool {
        !self.scene.has_spheres && self.width != Width::One
    }

    fn layout(&self) -> String {
        "Embree".into()
    }

    fn bytes(&self) -> u64 {
        self.scene.device.bytes()
    }

    fn check(&self) -> Result<()> {
        self.scene.device.check("tracing rays")
    }

    #[inline]
    fn closest_hit(&self, ray: &Ray, key: RayKey, _: &mut OcclusionRate) -> Hit {
        if self.scene.has_spheres {
            return self.trace_with_alpha_filter(&mut Query::new(&self.scene, ray, key), ray.t_min);
        }
        self.confirm_candidate(ray, key, self.find_candidate(ray).as_ref())
    }

    #[inline(always)]
    fn closest_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        scratch: &mut OcclusionRate,
        found: impl FnMut(usize, Hit),
    ) {
        if self.scene.has_spheres {
            return self.closest_hits_singly(count, ray, scratch, found);
        }
        match self.width {
            Width::Sixteen => self.closest_hits_in_packets::<16>(count, ray, found),
            Width::Eight | Width::One => self.closest_hits_in_packets::<8>(count, ray, found),
        }
    }

    #[inline]
    fn any_hit(&self, ray: &Ray, key: RayKey, _: &mut OcclusionRate) -> bool {
        let mut traced = to_embree(ray);
        let mut query = Query::new(&self.scene, ray, key);
        let context = (&raw mut query).cast();
        let flags = RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER;
        let filter: RTCFilterFunctionN = Some(callbacks::filter);
        let mut args = RTCOccludedArguments { flags, context, filter, ..RTCOccludedArguments::default() };
        // SAFETY: the scene is committed and lives; the context heads a query, as the callbacks expect.
        unsafe { rtcOccluded1(self.scene.top.raw(), &raw mut traced, &raw mut args) };
        traced.tfar == f32::NEG_INFINITY
    }

    #[inline(always)]
    fn any_hits<'r>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        occlusion: &mut OcclusionRate,
        found: impl FnMut(usize, bool),
    ) {
        // Callbacks take single rays, and packets are slow to enter instances.
        let in_packets = !self.scene.has_spheres && !self.scene.has_instances;
        match self.width {
            Width::Eight if in_packets => self.any_hits_in_packets::<8>(count, ray, occlusion, found),
            Width::Sixteen if in_packets => self.any_hits_in_packets::<16>(count, ray, occlusion, found),
            _ => self.any_hits_singly(count, ray, occlusion, found),
        }
    }
}

impl Embree {
    /// [`Intersector::closest_hits`] in a scene without spheres, with packets of `N`.
    #[inline(always)]
    fn closest_hits_in_packets<'r, const N: usize>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        mut found: impl FnMut(usize, Hit),
    ) where
        AllRays: Packet<N>,
    {
        let mut packet = RTCRayHitNt::<N>::default();
        let mut rays = [Rays8::default(); BATCH / EIGHT];
        let Some(placeholder) = self.scene.placeholder() else {
            return (0..count).for_each(|i| found(i, Hit::none(ray(i).0.t_max)));
        };
        if self.sorts_by_octant() {
            return self.closest_hits_by_octant(placeholder, &mut packet, count, ray, found);
        }
        let mut candidates = [placeholder; BATCH];
        for first in (0..count).step_by(BATCH) {
            // Transpose a batch of rays; copies of the last ray fill it up
            let here = BATCH.min(count - first);
            let candidates = &mut candidates[..here];
            let rays = &mut rays[..here.div_ceil(EIGHT)];
            transpose(rays, |lane| ray(first + lane.min(here - 1)).0);

            // Collect Embree's candidates, then confirm them
            let hit_mask = self.find_candidates(candidates, &mut packet, rays, |i| ray(first + i).0);
            self.confirm_all(candidates, hit_mask, rays, |i| ray(first + i), |i, hit| found(first + i, hit));
        }
    }

    /// [`Intersector::any_hits`] with packets of `N`: Embree sorts out rays without candidates, and each of
    /// the others is traced again with a filter. It takes a third to nine tenths of the time of single rays
    /// while few are occluded; otherwise rays are traced singly.
    #[inline(always)]
    fn any_hits_in_packets<'r, const N: usize>(
        &self,
        count: usize,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        occlusion: &mut OcclusionRate,
        mut found: impl FnMut(usize, bool),
    ) where
        AllRays: Packet<N>,
    {
        let mut packet = RTCRayNt::<N>::default();
        let mut rays = [Rays8::default(); BATCH / EIGHT];
        for first in (0..count).step_by(N) {
            // Test a full packet for candidates, if that pays
            let here = N.min(count - first);
            let in_packet = here == N && occlusion.is_low();
            let has_candidate = if in_packet {
                let rays = &mut rays[..N / EIGHT];
                transpose(rays, |lane| ray(first + lane).0);
                packet::may_be_occluded(&self.scene, &mut packet, rays, packet::flags(false))
            } else {
                [true; N]
            };

            // Trace the rest singly, confirming candidates in the filter
            let mut hits = 0;
            for (i, has_candidate) in (first..first + here).zip(has_candidate) {
                let is_hit = has_candidate && {
                    let (ray, key) = ray(i);
                    self.any_hit(ray, key, occlusion)
                };
                hits += u32::from(is_hit);
                found(i, is_hit);
            }
            occlusion.add(hits, here);
        }
    }

    /// Whether [`Intersector::closest_hits`] sorts rays into packets by octant.
    #[inline(always)]
    pub(super) fn sorts_by_octant(&self) -> bool {
        self.has_packets() && self.scene.is_small
    }

    /// [`Intersector::closest_hits`] in a small scene, in packets of one octant.
    #[inline(always)]
    fn closest_hits_by_octant<'s, 'r, const N: usize>(
        &'s self,
        placeholder: Candidate<'s>,
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
        let frustum = self.frustum.as_ref();
        while let Some(group) = octants.next(count, |i| ray(i).0) {
            // Collect candidates of a packet
            transpose(rays, |lane| ray(group.rays[lane]).0);
            let is_coherent = group.is_one_octant
                && frustum.is_some_and(|f| f.finds_all_from_eye(rays) || f.finds_all(rays));
            let flags = packet::flags(is_coherent);
            let hit_mask = packet::find_candidates(&self.scene, packet, rays, flags, &mut candidates);

            // Confirm them
            self.confirm_all(
                &candidates[..group.count],
                hit_mask,
                rays,
                |lane| ray(group.rays[lane]),
                |lane, hit| found(group.rays[lane], hit),
            );
        }
    }

    /// Finds Embree's nearest candidates along rays `0..candidates.len()`, in a scene without spheres, and
    /// returns a mask of the rays that have one. Full packets of `N` are traced together where Embree
    /// supports them, but for packets of several origins in scenes with instances, which they are slow to
    /// enter.
    #[inline(always)]
    fn find_candidates<'s, 'r, const N: usize>(
        &'s self,
        candidates: &mut [Candidate<'s>],
        packet: &mut RTCRayHitNt<N>,
        rays: &[Rays8],
        ray: impl Fn(usize) -> &'r Ray,
    ) -> u32
    where
        AllRays: Packet<N>,
    {
        let frustum = self.frustum.as_ref();
        let mut hit_mask = 0;
        for ((candidates, rays), first) in
            candidates.chunks_mut(N).zip(rays.chunks(N / EIGHT)).zip((0..).step_by(N))
        {
            let is_full = candidates.len() == N && self.width != Width::One;
            if is_full && (!self.scene.has_instances || have_one_origin(rays)) {
                // Trace a packet
                let flags = packet::flags(frustum.is_some_and(|f| f.finds_all_from_eye(rays)));
                hit_mask |= packet::find_candidates(&self.scene, packet, rays, flags, candidates) << first;
                candidates.iter().for_each(Candidate::prefetch);
            } else {
                // Trace single rays
                for (i, candidate) in (first..).zip(candidates) {
                    if let Some(found) = self.find_candidate(ray(i)) {
                        found.prefetch();
                        *candidate = found;
                        hit_mask |= 1 << i;
                    }
                }
            }
        }
        hit_mask
    }

    /// Finds Embree's nearest candidate along a ray, in a scene without spheres. Triangles with alpha count
    /// as opaque.
    #[inline(always)]
    fn find_candidate(&self, ray: &Ray) -> Option<Candidate<'_>> {
        let mut found = RTCRayHit { ray: to_embree(ray), ..RTCRayHit::default() };
        // SAFETY: the scene is committed, lives, and has no callbacks where it has no spheres.
        unsafe { rtcIntersect1(self.scene.top.raw(), &raw mut found, ptr::null_mut()) };
        self.scene.candidate(found.ray.tfar, &found.hit)
    }
}
