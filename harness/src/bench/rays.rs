//! Sets of rays as a path tracer makes them, from a seed: whoever has the scene can make them again.

use lockstep_bvh::{BuildSettings, Bvh2, Scratch};
use lockstep_core::geometry::Ray;
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::scene::{Material, MaterialKind, NONE, Scene, SceneData};
use lockstep_core::{Query, Settings};
use lockstep_transport::integrators::{Connection, generate, shade};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Where rays come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// One ray through every pixel, tile by tile.
    Camera,
    /// Cosine-distributed from where camera rays hit, in their order.
    Diffuse,
    /// From where camera rays hit to sampled lights.
    Shadow,
}

impl Kind {
    /// Every kind of rays, with each query that is measured on it.
    pub(crate) const QUERIES: [(Self, Query); 4] = [
        (Self::Camera, Query::Closest),
        (Self::Diffuse, Query::Closest),
        (Self::Shadow, Query::Any),
        (Self::Shadow, Query::Closest),
    ];

    /// The name in tables and files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Diffuse => "diffuse",
            Self::Shadow => "shadow",
        }
    }
}

/// Rays of one kind.
pub(crate) struct RaySet {
    /// The kind of rays: camera, diffuse, shadow.
    pub(crate) kind: Kind,
    /// The rays, in the order in which they are traced.
    pub(crate) rays: Vec<Ray>,
    /// BLAKE3 of the rays' bytes, in hexadecimal.
    pub(crate) hash: String,
}

impl RaySet {
    fn new(kind: Kind, rays: Vec<Ray>) -> Self {
        let hash = blake3::hash(bytemuck::cast_slice(&rays)).to_hex().to_string();
        Self { kind, rays, hash }
    }
}

/// Pixels along a tile's side. Tiles follow each other by rows, and so do the pixels in a tile.
const TILE: u32 = 8;

/// At most this many samples of every pixel are taken to fill a set where camera rays miss.
const MOST_SAMPLES: u32 = 16;

/// The smallest film of 16:9 in whole tiles with at least this number of pixels.
fn film_size(rays: u32) -> [u32; 2] {
    let tiles = (f64::from(rays) / f64::from(16 * 9 * TILE * TILE)).sqrt().ceil() as u32;
    [16 * TILE * tiles.max(1), 9 * TILE * tiles.max(1)]
}

/// Film indices of all pixels, tile by tile.
fn tile_order([width, height]: [u32; 2]) -> Vec<u32> {
    let (columns, in_tile) = (width / TILE, TILE * TILE);
    let pixel = |i: u32| {
        let (tile, within) = (i / in_tile, i % in_tile);
        let (x, y) = (tile % columns * TILE + within % TILE, tile / columns * TILE + within / TILE);
        y * width + x
    };
    (0..width * height).map(pixel).collect()
}

/// The scene with all surfaces grey and diffuse, so that bounces are.
fn diffuse(scene: &Scene) -> SceneData {
    let grey = |m: &Material| Material {
        kind: MaterialKind::Diffuse as u32,
        base_color: Vec3::splat(0.8),
        base_color_texture: NONE,
        normal_texture: NONE,
        ..*m
    };
    SceneData { materials: scene.materials.iter().map(grey).collect(), ..SceneData::clone(scene) }
}

/// The source of the ray sets of one scene.
pub(crate) struct Source {
    scene: Scene,
    grey: SceneData,
    bvh: Bvh2,
    settings: Settings,
}

impl Source {
    /// Prepares a scene.
    pub(crate) fn new(scene: &Scene, seed: u32) -> Self {
        let settings = Settings { bounces: 1, seed, ..Settings::default() };
        let bvh = Bvh2::build(scene, &BuildSettings::default());
        Self { scene: scene.clone(), grey: diffuse(scene), bvh, settings }
    }

    /// The sets of all kinds with at least `rays` rays each; fewer only where too few camera rays hit a
    /// surface or too few surfaces see a light.
    pub(crate) fn sets(&self, rays: u32) -> [RaySet; 3] {
        let size = film_size(rays);
        let pixels = tile_order(size);
        let camera = self.scene.camera.frame(size[0], size[1]);
        let key = |pixel: u32, sample: u32| self.settings.key(pixel, sample);
        let first: Vec<Ray> = pixels.par_iter().map(|&pixel| generate(&camera, key(pixel, 0)).ray).collect();
        let (mut bounces, mut shadows) = (Vec::new(), Vec::new());
        for sample in 0..MOST_SAMPLES {
            if bounces.len() >= pixels.len() && shadows.len() >= pixels.len() {
                break;
            }
            let shaded: Vec<(Option<Ray>, Option<Ray>)> = pixels
                .par_iter()
                .map_init(Scratch::default, |scratch, &pixel| {
                    self.bounce(&camera, key(pixel, sample), scratch)
                })
                .collect();
            bounces.extend(shaded.iter().filter_map(|(bounce, _)| *bounce));
            shadows.extend(shaded.iter().filter_map(|(_, shadow)| *shadow));
        }
        bounces.truncate(pixels.len());
        shadows.truncate(pixels.len());
        [
            RaySet::new(Kind::Camera, first),
            RaySet::new(Kind::Diffuse, bounces),
            RaySet::new(Kind::Shadow, shadows),
        ]
    }

    /// The extension ray and the shadow ray that leave the first hit of a path.
    fn bounce(
        &self,
        camera: &CameraFrame,
        key: SampleKey,
        scratch: &mut Scratch,
    ) -> (Option<Ray>, Option<Ray>) {
        let mut path = generate(camera, key);
        let hit = self.bvh.closest_hit(&self.scene, &path.ray, RayKey::extension(key, 0), scratch);
        let shaded = shade(&self.grey, &self.settings, 0, &mut path, &hit, &mut ());
        (shaded.continues.then_some(path.ray), shaded.connection.map(|Connection { ray, .. }| ray))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::length;

    fn cornell() -> Scene {
        lockstep_scenes::load("cornell", &lockstep_scenes::LoadOptions::default()).unwrap().scene
    }

    #[test]
    fn tiles_cover_every_pixel_once() {
        let size = film_size(50_000);
        assert!(size[0] * size[1] >= 50_000);
        let order = tile_order(size);
        assert_eq!(order[..9], [0, 1, 2, 3, 4, 5, 6, 7, size[0]]);
        let mut sorted = order;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..size[0] * size[1]));
    }

    #[test]
    fn a_seed_makes_the_same_rays_again_and_another_seed_others() {
        let scene = cornell();
        let hashes = |seed| Source::new(&scene, seed).sets(9_000).map(|set| set.hash);
        assert_eq!(hashes(1), hashes(1));
        assert!(hashes(1).iter().zip(&hashes(2)).all(|(a, b)| a != b));
    }

    #[test]
    fn bounces_are_cosine_distributed_and_shadow_rays_reach_for_the_light() {
        let scene = cornell();
        let [camera, diffuse, shadow] = Source::new(&scene, 0).sets(9_000);
        assert_eq!(camera.rays.len(), diffuse.rays.len());
        assert!(diffuse.rays.iter().all(|ray| (length(ray.direction) - 1.0).abs() < 1e-5));
        // The light is at the top, and a shadow ray ends just before it.
        let top = scene.bounds[1].y;
        let ends = shadow.rays.iter().map(|ray| (ray.origin + ray.direction * ray.t_max).y);
        assert!(!shadow.rays.is_empty());
        assert!(ends.into_iter().all(|y| y > 0.9 * top));
    }
}
