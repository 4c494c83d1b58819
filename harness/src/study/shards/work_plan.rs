//! The plan of a study's work, the same on every machine.

use std::ops::Range;
use std::path::Path;

use lockstep_core::{Settings, TargetId};
use lockstep_reports::statistics::timing::LEAST_ROUNDS;
use serde::{Deserialize, Serialize};

use super::unit::{Unit, Work};
use crate::exit::Failure;
use crate::semantics;
use crate::study::level::Level;
use crate::study::plan::Plan;
use crate::study::reference_rule::{reference_seed, reference_spp};

/// The version of plans and manifests.
pub(super) const FORM: u32 = 1;

/// The cost of a sample on a target on the host's processor over that on a device.
const HOST_COST: u64 = 32;

/// A study's work in units. Every machine makes the same plan of the same command line, whatever its own devices, and
/// knows by [`WorkPlan::hash`] that it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkPlan {
    /// The version of plans.
    pub(crate) form: u32,
    /// [`semantics::hash`] of the program.
    pub(crate) semantics: String,
    /// Size, bounces, integrator, first seed.
    pub(crate) settings: Settings,
    /// The levels of samples per pixel.
    pub(crate) spp: Vec<u32>,
    /// Seeds that every target renders with.
    pub(crate) seeds: u32,
    /// Whether the noise floor is rendered with one more seed.
    pub(crate) noise_floor: bool,
    /// Times that each level is timed.
    pub(crate) repeats: u32,
    /// Whether units time their first target twice.
    pub(crate) aa_control: bool,
    /// The scenes.
    pub(crate) scenes: Vec<PlannedScene>,
    /// The targets.
    pub(crate) targets: Vec<PlannedTarget>,
    /// The image that errors are measured against.
    pub(crate) reference: PlannedReference,
    /// The units, neighbours of one scene side by side.
    pub(crate) units: Vec<Unit>,
}

/// A scene of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedScene {
    /// The name.
    pub(crate) name: String,
    /// The scene on the command line. Not hashed: machines may keep it at different places.
    pub(crate) spec: String,
    /// The hash of its content.
    pub(crate) hash: String,
    /// Triangles.
    pub(crate) triangles: u64,
}

/// A target of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedTarget {
    /// The target.
    pub(crate) name: TargetId,
    /// Whether its films are those of every exact target.
    pub(crate) exact: bool,
    /// Whether the target computes on the host's processor.
    pub(crate) on_host: bool,
}

/// The image that errors are measured against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum PlannedReference {
    /// The user's file.
    File {
        /// The file. Not hashed.
        path: String,
        /// BLAKE3 of its bytes.
        hash: String,
    },
    /// A render.
    Rendered {
        /// The target.
        target: TargetId,
        /// A seed that no image of the study has.
        seed: u32,
        /// Samples per pixel.
        spp: u32,
    },
}

impl WorkPlan {
    /// The work of a study on these targets, in `parts` units or somewhat more.
    ///
    /// # Errors
    /// [`Failure::Usage`] where no target is exact, so that none can render the reference; [`Failure::Io`] for a
    /// reference that cannot be read.
    pub(crate) fn of(plan: &Plan, targets: Vec<PlannedTarget>, parts: u32) -> Result<Self, Failure> {
        let reference = match &plan.reference_file {
            Some(path) => {
                PlannedReference::File { path: path.to_string_lossy().into(), hash: hash_of(path)? }
            }
            None => {
                let exact = targets.iter().find(|target| target.exact).ok_or_else(|| {
                    Failure::Usage(
                        "no target of the study promises exact images, so shards cannot share a reference; add \
                         cpu-bvh to -b, or give --reference FILE"
                            .into(),
                    )
                })?;
                let spp = reference_spp(plan.schedule.top(), plan.reference_budget);
                let seed = reference_seed(plan.settings.seed, plan.further_seeds());
                PlannedReference::Rendered { target: exact.name.clone(), seed, spp }
            }
        };
        let scenes = plan.scenes.iter().zip(&plan.specs);
        let scenes = scenes.map(|(scene, spec)| PlannedScene {
            name: scene.name.clone(),
            spec: spec.clone(),
            hash: scene.hash.clone(),
            triangles: scene.triangles.len() as u64,
        });
        let mut work = Self {
            form: FORM,
            semantics: semantics::hash().into(),
            settings: plan.settings,
            spp: plan.schedule.levels.clone(),
            seeds: plan.seeds,
            noise_floor: plan.noise_floor,
            repeats: plan.repeats,
            aa_control: plan.rounds() >= LEAST_ROUNDS,
            scenes: scenes.collect(),
            targets,
            reference,
            units: Vec::new(),
        };
        let whole = work.whole_units(plan);
        let limit = (whole.iter().map(|unit| unit.cost).sum::<u64>() / u64::from(parts.max(1))).max(1);
        work.units = whole.iter().flat_map(|unit| split(unit, limit)).collect();
        Ok(work)
    }

    /// A unit for every level of every round, the noise floor and the reference.
    fn whole_units(&self, plan: &Plan) -> Vec<Unit> {
        let all: Vec<&TargetId> = self.targets.iter().map(|target| &target.name).collect();
        let noise = self.noise_targets();
        let mut units = Vec::new();
        for scene in &self.scenes {
            let mut add = |work, targets: &[&TargetId], levels: &[Level<'_>]| {
                units.extend(levels.iter().map(|level| Unit {
                    scene: scene.name.clone(),
                    work,
                    seed: level.seed,
                    repeat: level.repeat,
                    from: level.from,
                    to: level.to,
                    targets: targets.iter().copied().cloned().collect(),
                    cost: self.cost(scene, work, targets, level.to - level.from),
                }));
            };
            let first = self.settings.seed;
            for (seed, repeat) in
                (first..first + self.seeds).flat_map(|s| (0..self.repeats).map(move |r| (s, r)))
            {
                add(Work::Level, &all, &plan.levels(&scene.name, seed, repeat));
            }
            if self.noise_floor && all.len() > 1 {
                for seed in plan.further_seeds() {
                    add(Work::NoiseFloor, &noise, &plan.levels(&scene.name, seed, 0));
                }
            }
            if let PlannedReference::Rendered { target, seed, spp } = &self.reference {
                let level = Level { scene: &scene.name, from: 0, to: *spp, seed: *seed, repeat: 0 };
                add(Work::Reference, &[target], &[level]);
            }
        }
        units
    }

    /// Camera paths, weighted by the depth of a tree over the scene's triangles and by the kind of the targets.
    fn cost(&self, scene: &PlannedScene, work: Work, targets: &[&TargetId], samples: u32) -> u64 {
        let weight = |target: &TargetId| match self.target(target) {
            Some(target) if !target.on_host => 1,
            _ => HOST_COST,
        };
        let aa_control = if self.aa_control && work == Work::Level { targets.first().copied() } else { None };
        let weights: u64 = targets.iter().copied().chain(aa_control).map(weight).sum();
        let pixels = u64::from(self.settings.width) * u64::from(self.settings.height);
        let depth = u64::from((scene.triangles + 1).ilog2());
        pixels.saturating_mul(u64::from(samples)).saturating_mul(weights * (8 + depth))
    }

    /// The targets that render the noise floor: one for all exact ones, whose films are the same, and each other.
    pub(crate) fn noise_targets(&self) -> Vec<&TargetId> {
        let first = self.targets.iter().find(|target| target.exact);
        let others = self.targets.iter().filter(|target| !target.exact);
        first.into_iter().chain(others).map(|target| &target.name).collect()
    }

    /// A target as the plan has it.
    pub(crate) fn target(&self, id: &TargetId) -> Option<&PlannedTarget> {
        self.targets.iter().find(|target| target.name == *id)
    }

    /// A scene by its name.
    pub(crate) fn scene(&self, name: &str) -> Option<&PlannedScene> {
        self.scenes.iter().find(|scene| scene.name == name)
    }

    /// The settings of a target's films in a unit.
    pub(crate) fn settings_of(&self, unit: &Unit, target: &TargetId) -> Settings {
        target.settings(&Settings { seed: unit.seed, ..self.settings })
    }

    /// BLAKE3 of all that determines the work, in hexadecimal.
    pub(crate) fn hash(&self) -> String {
        let mut same = self.clone();
        same.scenes.iter_mut().for_each(|scene| scene.spec.clear());
        if let PlannedReference::File { path, .. } = &mut same.reference {
            path.clear();
        }
        // Numbers, strings and lists of them have no fault to report.
        let text = serde_json::to_vec(&same).unwrap_or_default();
        blake3::hash(&text).to_hex().to_string()
    }

    /// The costs of all units.
    pub(crate) fn costs(&self) -> Vec<u64> {
        self.units.iter().map(|unit| unit.cost).collect()
    }
}

/// A unit in parts that cost no more than a limit each, or have one sample.
fn split(unit: &Unit, limit: u64) -> impl Iterator<Item = Unit> {
    let samples = u64::from(unit.to - unit.from);
    let parts = unit.cost.div_ceil(limit).clamp(1, samples.max(1));
    let at = move |part: u64, from: u32| from + (part * samples / parts) as u32;
    let part = move |unit: &Unit, i: u64| -> Unit {
        let samples_of: Range<u32> = at(i, unit.from)..at(i + 1, unit.from);
        let cost = unit.cost / samples.max(1) * u64::from(samples_of.end - samples_of.start);
        Unit { from: samples_of.start, to: samples_of.end, cost, ..unit.clone() }
    };
    let unit = unit.clone();
    (0..parts).map(move |i| part(&unit, i))
}

/// BLAKE3 of a file, in hexadecimal.
pub(super) fn hash_of(path: &Path) -> Result<String, Failure> {
    let mut hasher = blake3::Hasher::new();
    let file = std::fs::File::open(path).map_err(Failure::io("open", path))?;
    hasher.update_reader(file).map_err(Failure::io("read", path))?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::values::SppSchedule;
    use lockstep_core::SceneBuilder;

    /// The plan of a small study of two scenes on two exact targets and one of its own films.
    pub(in super::super) fn example(parts: u32) -> WorkPlan {
        let scenes = ["a", "b"].map(|name| SceneBuilder::new(name).build().unwrap());
        let settings = Settings { width: 8, height: 4, seed: 5, ..Settings::default() };
        let specs = vec!["a".into(), "b".into()];
        let plan = Plan {
            schedule: SppSchedule { levels: vec![1, 2, 4, 8, 16] },
            noise_floor: true,
            repeats: 3,
            ..Plan::of_scenes(specs, scenes.to_vec(), settings)
        };
        let target = |name: &str, exact, on_host| PlannedTarget { name: name.into(), exact, on_host };
        let targets = vec![target("x", true, true), target("y", true, false), target("z", false, true)];
        WorkPlan::of(&plan, targets, parts).unwrap()
    }

    #[test]
    fn units_tile_every_level_of_every_round_once() {
        for parts in [1, 7, 64, 5000] {
            let plan = example(parts);
            for scene in ["a", "b"] {
                for (work, seed, repeat, top) in [
                    (Work::Level, 5, 0, 16),
                    (Work::Level, 5, 2, 16),
                    (Work::NoiseFloor, 6, 0, 16),
                    (Work::Reference, 0x5EED_0F0F, 0, 256),
                ] {
                    let is_part = |u: &&Unit| {
                        (u.scene.as_str(), u.work, u.seed, u.repeat) == (scene, work, seed, repeat)
                    };
                    let units: Vec<&Unit> = plan.units.iter().filter(is_part).collect();
                    assert_eq!((units[0].from, units.last().unwrap().to), (0, top));
                    assert!(units.windows(2).all(|pair| pair[0].to == pair[1].from));
                    let levels: &[u32] = if work == Work::Reference { &[] } else { &plan.spp };
                    let ends: Vec<u32> = units.iter().map(|u| u.to).collect();
                    assert!(levels.iter().all(|level| ends.contains(level)), "{ends:?}");
                }
            }
        }
    }

    #[test]
    fn more_units_are_smaller_and_their_cost_stays() {
        let (few, many) = (example(1), example(200));
        let total = |plan: &WorkPlan| plan.costs().iter().sum::<u64>();
        assert_eq!(total(&few), total(&many));
        let limit = total(&many) / 200;
        assert!(many.units.iter().all(|u| u.cost <= limit || u.to - u.from == 1 || u.cost < 2 * limit));
        assert!(many.units.len() > 200 && many.units.len() < 400, "{}", many.units.len());
    }

    #[test]
    fn a_noise_floor_is_rendered_once_for_all_exact_targets() {
        assert_eq!(example(1).noise_targets(), [&"x".into(), &"z".into()]);
    }

    #[test]
    fn the_hash_tells_other_work_but_not_other_places() {
        let plan = example(64);
        let mut moved = plan.clone();
        moved.scenes[0].spec = "elsewhere/a".into();
        assert_eq!(moved.hash(), plan.hash());
        let mut other = plan.clone();
        other.scenes[0].hash.push('0');
        assert_ne!(other.hash(), plan.hash());
        assert_ne!(example(65).hash(), plan.hash());
    }
}
