//! A hit is a function of the ray and the triangles alone: three binary BVHs, a wide one and brute force give
//! the same bits.

use crate::{full, scene};
use lockstep_bvh::{BruteForce, BuildSettings, Bvh2, Bvh8, Scratch, Scratch8, Split};
use lockstep_core::geometry::{FAR, Hit, Ray};
use lockstep_core::math::rng::{RayKey, SampleKey, pcg4d, uniform};
use lockstep_core::math::sampling::{cosine_hemisphere, frame};
use lockstep_core::math::vec3::{Vec3, cross, length, normalize, vec3};
use lockstep_core::scene::{Scene, transform_point};
use rayon::prelude::*;

const BUILDS: [BuildSettings; 3] = [
    BuildSettings { split: Split::BinnedSah(16), max_leaf: 4, traversal_cost: 1.0, reinsert: true },
    BuildSettings { split: Split::BinnedSah(6), max_leaf: 8, traversal_cost: 3.0, reinsert: false },
    BuildSettings { split: Split::Median, max_leaf: 2, traversal_cost: 1.0, reinsert: true },
];

/// Kinds of rays that have broken intersectors.
const KINDS: [&str; 7] = ["camera", "diffuse", "grazing", "edge", "vertex", "axis", "far"];

/// A scene with its BVHs, which its rays are made from.
struct Subject {
    scene: Scene,
    trees: [Bvh2; 3],
    wide: Bvh8,
    size: f32,
}

impl Subject {
    fn new(scene: Scene) -> Self {
        let trees = BUILDS.map(|b| Bvh2::build(&scene, &b));
        let wide = Bvh8::build(&scene, &Bvh8::SETTINGS);
        let size = length(scene.bounds[1] - scene.bounds[0]);
        Self { scene, trees, wide, size }
    }

    /// World-space corners of some triangle.
    fn triangle(&self, r: [f32; 4]) -> [Vec3; 3] {
        let pick = |u: f32, n: usize| ((u * n as f32) as usize).min(n - 1);
        let instance = &self.scene.instances[pick(r[0], self.scene.instances.len())];
        let mesh = &self.scene.meshes[instance.mesh as usize];
        // Twelve more bits, since a uniform has only 24 of them.
        let fine = r[1] + r[2] / 4096.0;
        let index = mesh.first_triangle as usize + pick(fine.min(0.999_999), mesh.triangle_count as usize);
        let corners =
            self.scene.triangles[index].vertices.map(|v| Vec3::from(self.scene.positions[v as usize]));
        corners.map(|p| transform_point(&instance.object_to_world, p))
    }

    fn inside(&self, r: [f32; 4]) -> Vec3 {
        let [lo, hi] = self.scene.bounds;
        let d = hi - lo;
        lo + vec3(d.x * r[0], d.y * r[1], d.z * r[2])
    }

    /// Ray `i` of a kind.
    fn ray(&self, kind: usize, i: u32, scratch: &mut Scratch) -> Ray {
        let r = |stream: u32| pcg4d([i, stream, kind as u32, 77]).map(uniform);
        let [a, b, c] = self.triangle(r(0));
        let origin = self.inside(r(1));
        let s = r(2);
        let on_edge = a * (1.0 - s[0]) + b * s[0];
        let within = a * (1.0 - s[0]) + (b * (1.0 - s[1]) + c * s[1]) * s[0];
        let (origin, direction) = match KINDS[kind] {
            "camera" => self.camera_ray(i, s),
            "diffuse" => {
                let (o, d) = self.camera_ray(i, s);
                let ray = Ray { origin: o, t_min: 0.0, direction: d, t_max: FAR };
                let hit = self.trees[0].closest_hit(&self.scene, &ray, key(i), scratch);
                let local = cosine_hemisphere(s[2], s[3]);
                let (x, y) = frame(-d);
                let back = x * local.x + y * local.y - d * local.z;
                (if hit.is_some() { o + d * (hit.t * 0.9999) } else { o }, back)
            }
            "grazing" => {
                let normal = normalize(cross(b - a, c - a));
                let along = normalize(b - a) + normal * ((s[2] - 0.5) * 1e-4);
                (within - along * (self.size * 0.3), along)
            }
            "edge" => (origin, on_edge - origin),
            "vertex" => (origin, a - origin),
            "axis" => {
                let axes = [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)];
                let axis = axes[(i % 3) as usize] * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
                (if i % 5 < 2 { a } else { within } - axis * self.size, axis)
            }
            _ => {
                let from = normalize(origin - within) * (self.size * 1e4);
                (within + from, -from)
            }
        };
        Ray { origin, t_min: 0.0, direction, t_max: FAR }
    }

    fn camera_ray(&self, i: u32, s: [f32; 4]) -> (Vec3, Vec3) {
        let frame = self.scene.camera.frame(1024, 1024);
        let pixel = i.wrapping_mul(2_654_435_761) >> 12;
        frame.ray(pixel, [s[0], s[1], 0.5, 0.5])
    }
}

fn key(i: u32) -> RayKey {
    RayKey::extension(SampleKey { pixel: i, sample: 0, seed: 3, ..SampleKey::default() }, 0)
}

fn bits(hit: &Hit) -> [u32; 5] {
    [hit.t.to_bits(), hit.u.to_bits(), hit.v.to_bits(), hit.instance, hit.primitive]
}

/// Compares all BVHs over `rays` rays, and brute force over every `stride`-th of them.
fn compare_hits(name: &str, rays: u32, brute_force: u32) {
    let Some(scene) = scene(name) else { return };
    let subject = Subject::new(scene);
    let definition = BruteForce::new(&subject.scene);
    let per_kind = rays / KINDS.len() as u32;
    let stride = (per_kind / (brute_force / KINDS.len() as u32).max(1)).max(1);
    for (kind, kind_name) in KINDS.iter().enumerate() {
        let found: u64 = (0..per_kind)
            .into_par_iter()
            .map_init(<(Scratch, Scratch8)>::default, |(scratch, scratch8), i| {
                let ray = subject.ray(kind, i, scratch);
                let first = subject.trees[0].closest_hit(&subject.scene, &ray, key(i), scratch);
                for (tree, build) in subject.trees.iter().zip(&BUILDS).skip(1) {
                    let other = tree.closest_hit(&subject.scene, &ray, key(i), scratch);
                    assert_eq!(
                        bits(&first),
                        bits(&other),
                        "{name}: {kind_name} ray {i} {ray:?} with {build:?}"
                    );
                }
                let wide = subject.wide.closest_hit(&subject.scene, &ray, key(i), scratch8);
                assert_eq!(
                    bits(&first),
                    bits(&wide),
                    "{name}: {kind_name} ray {i} {ray:?} with eight children"
                );
                let any = subject.wide.any_hit(&subject.scene, &ray, key(i), scratch8);
                assert_eq!(
                    any,
                    first.is_some(),
                    "{name}: any hit of {kind_name} ray {i} with eight children"
                );
                let any = subject.trees[(i % 3) as usize].any_hit(&subject.scene, &ray, key(i), scratch);
                assert_eq!(any, first.is_some(), "{name}: any hit of {kind_name} ray {i}");
                if i.is_multiple_of(stride) {
                    let all = definition.closest_hit(&ray, key(i));
                    assert_eq!(
                        bits(&first),
                        bits(&all),
                        "{name}: {kind_name} ray {i} {ray:?} by brute force"
                    );
                }
                u64::from(first.is_some())
            })
            .sum();
        let checked = per_kind.div_ceil(stride);
        println!(
            "{name}: {kind_name}: {per_kind} rays, {found} hits, 4 BVHs equal, {checked} by brute force"
        );
        assert!(found > u64::from(per_kind) / 20, "{name}: too few {kind_name} rays hit anything");
    }
}

fn sizes() -> (u32, u32) {
    if full() { (10_000_000, 7_000) } else { (140_000, 70) }
}

#[test]
fn hits_on_the_atrium_do_not_depend_on_the_bvh() {
    let (rays, brute_force) = sizes();
    compare_hits("atrium", rays, brute_force);
}

#[test]
fn hits_on_instances_do_not_depend_on_the_bvh() {
    let (rays, brute_force) = sizes();
    compare_hits("instances", rays, brute_force);
}

#[test]
fn hits_on_sponza_do_not_depend_on_the_bvh() {
    let (rays, brute_force) = sizes();
    compare_hits("sponza-wide", rays, brute_force);
}
