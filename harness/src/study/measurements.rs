//! The measurements of a study, each in a file of its own, and their order.

mod aa_control;
mod convergence;
mod crops;
mod efficiency;
mod equal_time;
mod image_pruning;
mod noise_floor;
mod over_seeds;
mod path_divergence;
mod shared_render;
mod speedups;
mod spp_level;
mod technique_pyramid;
mod thread_scaling;
pub(crate) mod tuning;

pub(crate) use aa_control::AaControl;
pub(crate) use convergence::Convergence;
pub(crate) use crops::Crops;
pub(crate) use efficiency::Efficiency;
pub(crate) use equal_time::EqualTime;
pub(crate) use image_pruning::ImagePruning;
pub(crate) use noise_floor::NoiseFloor;
pub(crate) use over_seeds::OverSeeds;
pub(crate) use path_divergence::PathDivergence;
pub(crate) use shared_render::{Group, SharedRender};
pub(crate) use speedups::Speedups;
pub(crate) use spp_level::SppLevel;
pub(crate) use technique_pyramid::TechniquePyramid;
pub(crate) use thread_scaling::{Pool, ThreadScaling};

use lockstep_core::{Scene, TargetId};

use super::plan::{Plan, pairs};
use super::runner::{Measurement, Series};

impl Plan {
    /// The measurements, scene by scene, and those by numbers of threads or by groups of targets after all scenes.
    pub(crate) fn series<'a>(
        &'a self,
        targets: &[TargetId],
        pools: &[Pool],
        groups: &[Group],
    ) -> Vec<Series<'a>> {
        let count = self.scenes.len();
        let place = |index: usize| (count > 1).then_some((index + 1, count));
        let scenes = self.scenes.iter().zip(&self.specs).enumerate();
        let of_scene = |(index, (scene, spec)): (usize, (&'a Scene, &'a String))| Series {
            title: scene.name.clone(),
            place: place(index),
            measurements: self.measurements(scene, spec, targets),
        };
        let mut series: Vec<Series<'a>> = scenes.map(of_scene).collect();
        for (index, scene) in self.scenes.iter().enumerate() {
            for pool in pools {
                series.push(Series {
                    title: format!("{} by threads on {}", scene.name, pool.target.id),
                    place: place(index),
                    measurements: vec![Box::new(ThreadScaling { scene, pool: pool.clone() })],
                });
            }
            for group in groups {
                series.push(Series {
                    title: format!("{} on {}", scene.name, group.name),
                    place: place(index),
                    measurements: vec![Box::new(SharedRender { scene, group: group.clone() })],
                });
            }
        }
        series
    }

    /// The measurements of a scene. Renderers keep their films from one to the next where they can, so the
    /// order saves loading: all levels of one repeat, then everything that renders other samples.
    fn measurements<'a>(
        &self,
        scene: &'a Scene,
        spec: &'a str,
        targets: &[TargetId],
    ) -> Vec<Box<dyn Measurement + 'a>> {
        let first = self.settings.seed;
        let mut list: Vec<Box<dyn Measurement + 'a>> = Vec::new();
        let add_levels = |list: &mut Vec<Box<dyn Measurement + 'a>>, seed, repeat| {
            for level in self.levels(&scene.name, seed, repeat) {
                list.push(Box::new(AaControl { scene, level }));
                list.push(Box::new(SppLevel { scene, spec, level }));
            }
        };
        add_levels(&mut list, first, 0);
        for (a, b) in pairs(targets) {
            let (a, b) = (targets[a].clone(), targets[b].clone());
            if self.diagnose.covers(&a, &b) {
                list.push(Box::new(PathDivergence { scene, spec, a, b }));
            }
        }
        list.push(Box::new(Convergence { scene }));
        let repeats = (first..first + self.seeds).flat_map(|s| (0..self.repeats).map(move |r| (s, r)));
        repeats.skip(1).for_each(|(seed, repeat)| add_levels(&mut list, seed, repeat));
        // One target alone has no differences to compare with noise.
        if self.noise_floor && targets.len() > 1 {
            for seed in self.further_seeds() {
                let levels = self.levels(&scene.name, seed, 0).into_iter();
                levels.for_each(|level| list.push(Box::new(NoiseFloor { scene, level })));
            }
        }
        for level in self.levels(&scene.name, first, 0) {
            list.push(Box::new(OverSeeds { scene, level }));
        }
        let crops = Crops::of(self, scene, targets);
        for target in targets {
            for &seconds in &self.times {
                let is_kept = crops.as_ref().is_some_and(|crops| crops.shows(target, seconds));
                list.push(Box::new(EqualTime { scene, target: target.clone(), seconds, is_kept }));
            }
        }
        if let Some(crops) = crops {
            list.push(Box::new(crops));
        }
        for (a, b) in pairs(targets) {
            let (a, b) = (targets[a].clone(), targets[b].clone());
            if self.across_integrators && a != b && a.renderer() == b.renderer() {
                list.push(Box::new(Efficiency { scene, a, b }));
            }
        }
        for &integrator in &self.techniques {
            list.push(Box::new(TechniquePyramid { scene, integrator }));
        }
        list.push(Box::new(ImagePruning { scene }));
        list.push(Box::new(Speedups { scene }));
        list
    }
}
