//! Vertex merging: the radius of a pass and the grid in which merges are found (Georgiev et al. 2012;
//! Hachisuka and Jensen 2009). The counterpart is `kernels/scene/merging.h`.
//!
//! A *pass* is all light sub-paths and all camera sub-paths of one sample index. Two vertices merge if the
//! squared distance of their positions, as computed in single precision, is at most that of the pass. So what
//! merges is a function of the two vertices alone, and any search that misses no pair finds the same set.
//!
//! The grid is such a search. A cell's coordinate is a monotonic function of a position's, rounding included,
//! so all vertices that merge with one at `p` lie in the cells between those of `p - reach` and `p + reach`.
//! Cells share a table of buckets by a hash; a photon counts in the visit of its own cell only.

use crate::math::clamp;
use crate::math::vec3::{Vec3, dot, vec3};
pub use crate::merge_radius::MergeRadius;
use crate::scene::SceneData;
use crate::{Integrator, Settings};
use bytemuck::{Pod, Zeroable};

/// The constants of a pass's merges, computed once and handed to every device as these bits. Zero without
/// merging.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Merging {
    /// The lowest corner of the grid.
    pub origin: Vec3,
    /// Cells in a unit of length; a cell is as wide as the circle of merges.
    pub cells_per_unit: f32,
    /// The largest squared distance at which vertices merge.
    pub radius2: f32,
    /// A bound of the distance along every axis of vertices that merge.
    pub reach: f32,
    /// One over the area of the circle of merges and the number of light sub-paths.
    pub normalization: f32,
    /// Densities of merges over those of connections, for the weights.
    pub ratios: MergeRatios,
    /// Number of buckets, a power of two, less one.
    pub bucket_mask: u32,
    /// One where camera sub-paths merge only at their first vertex that is not specular, as in progressive photon
    /// mapping; else zero.
    pub first_only: u32,
    /// Zero.
    pub reserved: u32,
}

/// Densities of merges over those of connections and their inverse; zero marks a technique that the integrator lacks.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct MergeRatios {
    /// The density of a merge at a vertex over that of a connection to it, per density of the light sub-path
    /// there: the area of the circle of merges times the number of light sub-paths, eta in the paper; zero where
    /// there are no merges.
    pub merge: f32,
    /// The inverse of `merge`; zero where there are no connections.
    pub connect: f32,
}

/// Coordinate of the last cell along an axis, which also takes the positions beyond it.
pub const MAX_CELL: f32 = 1_048_575.0;

/// Buckets of a photon map at most, so that a scan of them stays short.
const MAX_BUCKETS: u32 = 1 << 24;

impl Merging {
    /// No merges.
    pub const NONE: Self = Self {
        origin: Vec3::ZERO,
        cells_per_unit: 0.0,
        radius2: 0.0,
        reach: 0.0,
        normalization: 0.0,
        ratios: MergeRatios { merge: 0.0, connect: 0.0 },
        bucket_mask: 0,
        first_only: 0,
        reserved: 0,
    };

    /// The coordinates of the cell that contains a position.
    #[inline(always)]
    pub fn cell(&self, p: Vec3) -> [u32; 3] {
        let at = (p - self.origin) * self.cells_per_unit;
        let limit = |v: f32| clamp(v, 0.0, MAX_CELL) as u32;
        [limit(at.x), limit(at.y), limit(at.z)]
    }

    /// First and last cell of the range to search for vertices that merge with one at `p`.
    #[inline(always)]
    pub fn cells_around(&self, p: Vec3) -> [[u32; 3]; 2] {
        let reach = vec3(self.reach, self.reach, self.reach);
        [self.cell(p - reach), self.cell(p + reach)]
    }

    /// The bucket of a cell. Neighbours along the first axis have neighbouring buckets.
    #[inline(always)]
    pub fn bucket(&self, cell: [u32; 3]) -> u32 {
        let row = cell[1].wrapping_mul(0x9e37_79b1) ^ cell[2].wrapping_mul(0x85eb_ca77);
        let mixed = (row ^ row >> 15).wrapping_mul(0xc2b2_ae3d);
        (mixed ^ mixed >> 16).wrapping_add(cell[0]) & self.bucket_mask
    }

    /// Whether vertices at these positions merge.
    #[inline(always)]
    pub fn contains(&self, a: Vec3, b: Vec3) -> bool {
        let between = a - b;
        dot(between, between) <= self.radius2
    }
}

/// Margin of [`Merging::reach`] over the radius: many times the rounding of a difference, of a square and of
/// the radius itself.
const REACH_MARGIN: f64 = 1.0 / 1_048_576.0;

/// The merges of every pass of a render.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergeSchedule {
    /// The lowest corner of the grid.
    origin: Vec3,
    /// The radius of the first pass.
    first_radius: f64,
    light_paths: u32,
    /// Whether sub-paths are also connected.
    connects: bool,
    /// Whether camera sub-paths merge only at their first vertex that is not specular.
    first_only: bool,
}

impl MergeSchedule {
    /// The schedule of an integrator; `None` for one that does not merge.
    pub fn new(scene: &SceneData, settings: &Settings) -> Option<Self> {
        let Settings { integrator, merge_radius, width, height, .. } = *settings;
        integrator.merges().then(|| Self {
            origin: scene.bounds[0],
            first_radius: merge_radius.share() * f64::from(scene.bounding_sphere().radius),
            light_paths: width * height,
            connects: integrator.connects(),
            first_only: integrator == Integrator::Ppm,
        })
    }

    /// The radius of the pass of a sample index: that of the first over the eighth root of the pass's number,
    /// which is the schedule `r_0 (i + 1)^((alpha - 1) / 2)` of Knaus and Zwicker (2011) with alpha 3/4. Square
    /// roots are exact, powers are not.
    pub fn radius(&self, sample: u32) -> f64 {
        self.first_radius / (f64::from(sample) + 1.0).sqrt().sqrt().sqrt()
    }

    /// The merges of the pass of a sample index.
    pub fn pass(&self, sample: u32) -> Merging {
        let radius = self.radius(sample);
        let merge_ratio = std::f64::consts::PI * radius * radius * f64::from(self.light_paths);
        let connect = if self.connects { (1.0 / merge_ratio) as f32 } else { 0.0 };
        Merging {
            origin: self.origin,
            cells_per_unit: (0.5 / radius) as f32,
            radius2: (radius * radius) as f32,
            reach: (radius * (1.0 + REACH_MARGIN)) as f32,
            normalization: (1.0 / merge_ratio) as f32,
            ratios: MergeRatios { merge: merge_ratio as f32, connect },
            bucket_mask: buckets(self.light_paths) - 1,
            first_only: u32::from(self.first_only),
            reserved: 0,
        }
    }
}

/// Buckets of the grid of `light_paths` light sub-paths, a power of two.
pub fn buckets(light_paths: u32) -> u32 {
    light_paths.clamp(1, MAX_BUCKETS).next_power_of_two()
}

/// Buckets of the grids of passes with `light_paths` light sub-paths together, a power of two: at least
/// [`buckets`] for each.
pub fn buckets_of_passes(light_paths: u32) -> u64 {
    u64::from(light_paths.max(1)).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{IDENTITY, Material, MeshData, SceneBuilder};
    use proptest::prelude::*;

    /// A scene whose bounding sphere has the radius 5.
    fn scene() -> crate::Scene {
        let mut builder = SceneBuilder::new("t");
        let material = builder.material(Material::diffuse([0.5; 3]));
        let mesh = builder.mesh(MeshData {
            positions: vec![[1.0, 2.0, 3.0], [7.0, 2.0, 3.0], [1.0, 10.0, 3.0]],
            triangles: vec![[0, 1, 2]],
            materials: vec![material],
            ..MeshData::default()
        });
        builder.instance(mesh, IDENTITY);
        builder.build().unwrap()
    }

    #[test]
    fn radii_follow_the_schedule_from_a_share_of_the_bounding_sphere() {
        let scene = scene();
        let merge_radius = MergeRadius::from_millionths(2000).unwrap();
        let settings = Settings {
            width: 40,
            height: 25,
            integrator: Integrator::Vcm,
            merge_radius,
            ..Settings::default()
        };
        let schedule = MergeSchedule::new(&scene, &settings).unwrap();
        for sample in [0, 1, 2, 255, 65_535] {
            let expected = 0.01 * f64::from(sample + 1).powf((0.75 - 1.0) / 2.0);
            let found = schedule.radius(sample);
            assert!((found / expected - 1.0).abs() < 1e-14, "pass {sample}: {found}, not {expected}");
            let merging = schedule.pass(sample);
            assert_eq!(merging.radius2, (found * found) as f32);
            let area = std::f64::consts::PI * expected * expected;
            assert!((f64::from(merging.ratios.merge) / (1000.0 * area) - 1.0).abs() < 1e-6);
            assert!((merging.ratios.merge * merging.normalization - 1.0).abs() < 1e-6);
            assert!((merging.ratios.merge * merging.ratios.connect - 1.0).abs() < 1e-6);
        }
        // Frozen, since films depend on it: the eighth root of two
        let second = schedule.pass(1);
        assert_eq!(second.radius2.to_bits(), 0x38b0_5948, "{:#x}", second.radius2.to_bits());
    }

    #[test]
    fn an_integrator_without_connections_or_without_merges_has_no_ratio_of_them() {
        let of = |integrator| {
            MergeSchedule::new(&scene(), &Settings { integrator, ..Settings::default() }).map(|s| s.pass(0))
        };
        for integrator in Integrator::ALL {
            let found =
                of(integrator).map(|merging| (merging.ratios.merge > 0.0, merging.ratios.connect > 0.0));
            let expected = integrator.merges().then_some((true, integrator.connects()));
            assert_eq!(found, expected, "{integrator}");
        }
    }

    #[test]
    fn there_are_as_many_buckets_as_light_paths_rounded_up() {
        assert_eq!([0, 1, 2, 3, 1000, u32::MAX].map(buckets), [1, 1, 2, 4, 1024, 1 << 24]);
    }

    proptest! {
        /// Whatever merges lies in a visited cell, even where positions are much larger than the radius.
        #[test]
        fn the_visited_cells_hold_all_that_merges(
            p in prop::array::uniform3(-200.0f32..200.0),
            towards in prop::array::uniform3(-1.0f32..1.0),
            scale in 0.999f32..1.001,
            millionths in 1u32..100_000,
            sample in 0u32..65_536,
        ) {
            let merge_radius = MergeRadius::from_millionths(millionths).unwrap();
            let settings = Settings { merge_radius, integrator: Integrator::Bpm, ..Settings::default() };
            let merging = MergeSchedule::new(&scene(), &settings).unwrap().pass(sample);
            let (p, towards) = (Vec3::from(p), crate::math::vec3::normalize(Vec3::from(towards)));
            let [lowest, highest] = merging.cells_around(p);
            // In the direction and along each axis, just within and just beyond the radius
            let radius = merging.radius2.sqrt() * scale;
            let axes = [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)];
            for direction in axes.into_iter().chain(axes.map(|axis| -axis)).chain([towards]) {
                let q = p + direction * radius;
                if merging.contains(q, p) {
                    let cell = merging.cell(q);
                    prop_assert!((0..3).all(|i| (lowest[i]..=highest[i]).contains(&cell[i])), "{cell:?}");
                }
            }
        }
    }
}
