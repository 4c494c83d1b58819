//! Given rays against the intersection predicate by brute force.

use crate::{Checked, During, Outcome, Subject, everything, load};
use lockstep_bvh::BruteForce;
use lockstep_core::error::Error;
use lockstep_core::geometry::{FAR, Hit, Ray};
use lockstep_core::math::rng::{pcg4d, uniform};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::Scene;
use lockstep_core::{Query, Settings, ray_query_key};

/// Rays between random points around the scene, some of which end early.
fn rays(scene: &Scene) -> Vec<Ray> {
    let [lo, hi] = scene.bounds;
    let point = |i: u32, stream: u32| -> Vec3 {
        let [x, y, z, _] = pcg4d([i, stream, 4, 2]).map(uniform);
        let d = hi - lo;
        lo - d * 0.2 + vec3(d.x * x, d.y * y, d.z * z) * 1.4
    };
    let ray = |i: u32| {
        let origin = point(i, 0);
        let t_max = if i.is_multiple_of(7) { 0.5 } else { FAR };
        Ray { origin, t_min: 0.0, direction: point(i, 1) - origin, t_max }
    };
    (0..2_000).map(ray).collect()
}

/// [`lockstep_core::Renderer::trace_rays`] finds the hits that the intersection predicate gives.
pub(crate) fn given_rays_find_the_hits_of_brute_force(subject: &Subject<'_>) -> Checked<Outcome> {
    let mut renderer = subject.open()?;
    let scene = &everything()?;
    let rays = rays(scene);
    let early = renderer.trace_rays(&rays, Query::Closest, 1, None);
    if let Err(refusal @ Error::Unsupported { .. }) = early {
        return Ok(Outcome::Skipped(refusal.to_string()));
    }
    assert!(matches!(early, Err(Error::Contract { .. })), "tracing rays before load is refused");
    load(renderer.as_mut(), scene, &Settings { width: 8, height: 8, ..Settings::default() })?;
    let definition = BruteForce::new(scene);
    for query in [Query::Closest, Query::Any] {
        let mut hits = Vec::new();
        let report = renderer
            .trace_rays(&rays, query, 2, Some(&mut hits))
            .during(|| format!("tracing rays through {}", scene.name))?;
        assert_eq!(report.ms.len(), 2, "every pass has a time");
        let mut found = 0;
        for ((index, ray), hit) in (0..).zip(&rays).zip(&hits) {
            let expected = definition.closest_hit(ray, ray_query_key(query, index));
            let expected = if query == Query::Any && expected.is_some() { Hit::OCCLUDED } else { expected };
            found += u32::from(expected.is_some());
            assert_eq!(bits(hit), bits(&expected), "{query:?} hit of ray {index}: {ray:?}");
        }
        assert!(found > 500 && hits.len() == rays.len(), "{found} of {} rays hit anything", hits.len());
    }
    Ok(Outcome::default())
}

fn bits(hit: &Hit) -> [u32; 5] {
    [hit.t.to_bits(), hit.u.to_bits(), hit.v.to_bits(), hit.instance, hit.primitive]
}
