//! Confirms Embree's candidates: turns each into the hit that the built-in BVH would find.
//!
//! The usual candidate, a plain opaque triangle hit away from its edges, is confirmed with seven others by
//! SIMD. Others need an alpha test, a test of pre-split references, or another query with every candidate
//! confirmed in a filter.

use super::callbacks;
use super::candidate::Candidate;
use super::geometry::TriangleRecord;
use super::intersector::{EIGHT, Embree};
use super::query::{Query, to_embree};
use super::scene::EmbreeScene;
use lockstep_bvh::{Candidates8, Confirmed8, Rays8, confirm};
use lockstep_core::geometry::{Hit, Ray, Slabs, passes_alpha_test};
use lockstep_core::math::rng::RayKey;
use lockstep_core::math::vec3::max_abs_component;
use lockstep_core::math::{max, min};
use lockstep_core::scene::{NONE, SPHERE_BIT};
use lockstep_embree_sys::{
    RTCFilterFunctionN, RTCFilterFunctionNArguments, RTCIntersectArguments, RTCRayHit, RTCRayQueryFlags,
    rtcIntersect1,
};
use std::ptr;

/// Greatest difference between distances that Embree's rounding may swap, as a share of the distance and of
/// the ray origin's largest coordinate.
const DISTANCE_TOLERANCE: f32 = 1.0 / 65_536.0;

/// Barycentric coordinates below this are at an edge, where a neighbouring triangle may be hit as well.
const EDGE: f32 = 1.0 / 1_024.0;

/// Whether a hit is so close to an edge that a neighbouring triangle may be hit as well.
#[inline(always)]
fn is_at_edge(hit: &Hit) -> bool {
    min(min(hit.u, hit.v), 1.0 - hit.u - hit.v) < EDGE && hit.primitive & SPHERE_BIT == 0
}

/// The interval of distances that Embree's rounding may swap with `t`.
#[inline(always)]
fn tolerance_interval(ray: &Ray, t: f32) -> [f32; 2] {
    let tolerance =
        DISTANCE_TOLERANCE * (t + max_abs_component(ray.origin) / max_abs_component(ray.direction));
    [max(ray.t_min, t - tolerance), t + tolerance]
}

/// Tests up to eight candidates, by SIMD where they belong to the top-level scene. Also the mask of those that are of
/// the usual kind, or no candidates. Compiled once for all packets.
#[inline(never)]
fn test_eight(candidates: &[Candidate<'_>], hit_mask: u32, rays: &Rays8) -> (Confirmed8, u32) {
    // Gather triangles
    let mut triangles = Candidates8::new(rays);
    let mut plain = 0;
    for (lane, Candidate { geometry, prim_id, .. }) in candidates.iter().enumerate() {
        if let Some(triangle) = geometry.triangle(*prim_id) {
            let counts = hit_mask >> lane & 1 != 0 && geometry.instance != NONE;
            triangles.put(lane, &triangle.leaf, counts);
            plain |= u32::from(triangle.is_plain()) << lane;
            if triangle.is_split() {
                geometry.prefetch_references(triangle);
            }
        }
    }

    // Confirm candidates eight at a time
    let confirmed = triangles.confirm(EDGE);
    (confirmed, confirmed.inside() & plain | !hit_mask)
}

impl Embree {
    /// Confirms candidates; rays without a bit in `hit_mask` have none.
    #[inline(always)]
    pub(super) fn confirm_all<'r>(
        &self,
        candidates: &[Candidate<'_>],
        hit_mask: u32,
        rays: &[Rays8],
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        mut found: impl FnMut(usize, Hit),
    ) {
        for ((eight, rays), first) in candidates.chunks(EIGHT).zip(rays).zip((0..).step_by(EIGHT)) {
            let mask = hit_mask >> first;
            self.confirm_eight(eight, mask, rays, |i| ray(first + i), |i, hit| found(first + i, hit));
        }
    }

    /// Confirms up to eight candidates, by SIMD where they belong to the top-level scene.
    #[inline(always)]
    fn confirm_eight<'r>(
        &self,
        candidates: &[Candidate<'_>],
        hit_mask: u32,
        rays: &Rays8,
        ray: impl Fn(usize) -> (&'r Ray, RayKey),
        mut found: impl FnMut(usize, Hit),
    ) {
        let (confirmed, usual) = test_eight(candidates, hit_mask, rays);

        // Store hits. The usual case has a branch of its own, so that its values go from registers to memory.
        for (lane, candidate) in candidates.iter().enumerate() {
            if usual >> lane & 1 != 0 {
                found(lane, confirmed.hit(lane, candidate.geometry.instance));
                continue;
            }
            let (ray, key) = ray(lane);
            let hit = confirmed.is_hit(lane).then(|| confirmed.hit(lane, candidate.geometry.instance));
            found(lane, self.settle(ray, key, candidate, hit));
        }
    }

    /// The hit of a candidate that is not of the usual kind. `hit` passed the ray-triangle test. Compiled once for all
    /// packets.
    #[inline(never)]
    fn settle(&self, ray: &Ray, key: RayKey, candidate: &Candidate<'_>, hit: Option<Hit>) -> Hit {
        match hit {
            Some(hit) => self.finish_hit(ray, key, candidate, hit),
            None => self.confirm_candidate(ray, key, Some(candidate)),
        }
    }

    /// Finishes a hit that passed the ray-triangle test: tests pre-split references and alpha, and resolves
    /// coincident triangles.
    #[inline(always)]
    fn finish_hit(&self, ray: &Ray, key: RayKey, candidate: &Candidate<'_>, hit: Hit) -> Hit {
        let geometry = candidate.geometry;
        if let Some(triangle) = geometry.triangle(candidate.prim_id) {
            let slabs = || Slabs::new(ray.origin, ray.direction);
            if triangle.is_split() && !geometry.is_in_reference(triangle, &slabs(), ray.t_min, &hit) {
                return self.confirm_candidate(ray, key, Some(candidate));
            }
            if triangle.has_alpha()
                && !passes_alpha_test(
                    &self.scene.scene,
                    hit.instance,
                    hit.primitive,
                    hit.u,
                    hit.v,
                    ray.direction,
                    key,
                )
            {
                return self.trace_beyond(ray, key, candidate);
            }
        }
        self.resolve_coincident(ray, key, geometry.triangle(candidate.prim_id), hit)
    }

    /// Confirms one candidate. If the predicate rejects it, as in a hole of a leaf, the ray is traced again.
    #[inline(always)]
    pub(super) fn confirm_candidate(&self, ray: &Ray, key: RayKey, candidate: Option<&Candidate<'_>>) -> Hit {
        let Some(candidate) = candidate else { return Hit::none(ray.t_max) };
        let Candidate { instance, geometry, prim_id, .. } = *candidate;
        let EmbreeScene { scene, instance_bounds, .. } = &self.scene;
        let leaves = geometry.leaf_primitives(prim_id);
        match confirm(scene, instance_bounds, ray, key, instance, leaves) {
            Some(hit) => self.resolve_coincident(ray, key, geometry.triangle(prim_id), hit),
            None => self.trace_beyond(ray, key, candidate),
        }
    }

    /// Returns `hit`, or at an edge and on coincident triangles the hit among them that the predicate puts
    /// first.
    #[inline(always)]
    fn resolve_coincident(&self, ray: &Ray, key: RayKey, triangle: Option<&TriangleRecord>, hit: Hit) -> Hit {
        if is_at_edge(&hit) || triangle.is_some_and(|triangle| triangle.is_coincident(&hit)) {
            self.first_of_coincident(ray, key, hit)
        } else {
            hit
        }
    }

    /// Confirms all candidates about as near as a hit, and returns the first of their hits.
    #[cold]
    fn first_of_coincident(&self, ray: &Ray, key: RayKey, hit: Hit) -> Hit {
        let mut query = Query::new(&self.scene, ray, key);
        query.committed = hit;
        self.trace(
            &mut query,
            tolerance_interval(ray, hit.t),
            RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER,
            callbacks::collect,
        );
        query.committed
    }

    /// Finds the closest hit beyond a rejected candidate, or about as near.
    fn trace_beyond(&self, ray: &Ray, key: RayKey, candidate: &Candidate<'_>) -> Hit {
        let [from, _] = tolerance_interval(ray, candidate.t);
        self.trace_with_alpha_filter(&mut Query::new(&self.scene, ray, key), from)
    }

    /// Finds the closest hit at a distance of at least `from`, with callbacks for spheres and for triangles
    /// with alpha.
    pub(super) fn trace_with_alpha_filter(&self, query: &mut Query<'_>, from: f32) -> Hit {
        let range = [from, query.t_max()];
        let Some(candidate) = self.trace(query, range, RTCRayQueryFlags::INCOHERENT, callbacks::filter)
        else {
            return Hit::none(query.t_max());
        };
        let hit =
            if query.has_committed(&candidate) { Some(query.committed) } else { query.accept(&candidate) };
        match hit {
            Some(hit) => {
                let triangle = candidate.geometry.triangle(candidate.prim_id);
                self.resolve_coincident(query.ray(), query.key(), triangle, hit)
            }
            None => self.trace_with_full_filter(query, from),
        }
    }

    /// Finds the closest hit at a distance of at least `from`, with every candidate confirmed in the filter.
    /// It finds surfaces behind a rejected candidate, such as one at the very start of the ray.
    #[cold]
    fn trace_with_full_filter(&self, query: &mut Query<'_>, from: f32) -> Hit {
        query.committed = Hit::none(query.t_max());
        let range = [from, query.t_max()];
        self.trace(query, range, RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER, callbacks::filter);
        let hit = query.committed;
        if hit.is_some() { self.first_of_coincident(query.ray(), query.key(), hit) } else { hit }
    }

    /// Finds Embree's nearest candidate in an interval of distances. Spheres are intersected in callbacks,
    /// and `filter` is called for triangles with alpha, or with [`RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER`]
    /// for all triangles.
    #[inline(always)]
    fn trace(
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
        unsafe { rtcIntersect1(self.scene.top.raw(), &raw mut found, &raw mut args) };
        self.scene.candidate(found.ray.tfar, &found.hit)
    }
}
