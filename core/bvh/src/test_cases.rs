//! Builds and rays for tests, here and in `tests/hits`.

use crate::{BuildSettings, Bvh8, Split};
use lockstep_core::geometry::{FAR, Hit, Ray};
use lockstep_core::math::rng::{RayKey, SampleKey, pcg4d, uniform};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::Scene;

pub(crate) const BUILDS: [BuildSettings; 3] = [
    BuildSettings { split: Split::BinnedSah(16), max_leaf: 4, traversal_cost: 1.0, reinsert: true },
    BuildSettings { split: Split::BinnedSah(5), max_leaf: 8, traversal_cost: 4.0, reinsert: false },
    BuildSettings { split: Split::Median, max_leaf: 1, traversal_cost: 1.0, reinsert: true },
];

pub(crate) const WIDE_BUILDS: [BuildSettings; 2] = [
    Bvh8::SETTINGS,
    BuildSettings { split: Split::Median, max_leaf: 3, traversal_cost: 1.0, reinsert: false },
];

pub(crate) fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 23, 9]).map(uniform)
}

pub(crate) fn random_point(i: u32, stream: u32, extent: f32) -> Vec3 {
    let r = random(i, stream);
    (vec3(r[0], r[1], r[2]) - Vec3::splat(0.5)) * (2.0 * extent)
}

/// Rays of all kinds that have broken intersectors: random, axis-aligned, through vertices and edges,
/// grazing, far.
pub(crate) fn ray(scene: &Scene, i: u32) -> Ray {
    let r = random(i, 20);
    let n = scene.triangles.len() as u32;
    let corner = |which: u32, k: usize| {
        let t = &scene.triangles[(which % n) as usize];
        Vec3::from(scene.positions[t.vertices[k] as usize])
    };
    let which = (r[0] * n as f32) as u32;
    let origin = random_point(i, 21, 6.0);
    let (origin, target) = match i % 6 {
        0 => (origin, random_point(i, 22, 6.0)),
        1 => (origin, corner(which, (i / 6 % 3) as usize)),
        2 => (origin, corner(which, 0) * (1.0 - r[1]) + corner(which, 1) * r[1]),
        3 => {
            let axis = [vec3(1.0, 0.0, 0.0), vec3(0.0, -1.0, 0.0), vec3(0.0, 0.0, 1.0)][(i / 6 % 3) as usize];
            (corner(which, 0) - axis * 5.0, corner(which, 0))
        }
        4 => (corner(which, 0), corner(which + 1, 2)),
        _ => (origin * 1e4, corner(which, 0)),
    };
    Ray {
        origin,
        t_min: 0.0,
        direction: target - origin,
        t_max: if i.is_multiple_of(11) { 0.9 } else { FAR },
    }
}

pub(crate) fn key(i: u32) -> RayKey {
    RayKey::extension(SampleKey { pixel: i, sample: 0, seed: 1, ..SampleKey::default() }, 0)
}

pub(crate) fn bits(hit: &Hit) -> [u32; 5] {
    [hit.t.to_bits(), hit.u.to_bits(), hit.v.to_bits(), hit.instance, hit.primitive]
}
