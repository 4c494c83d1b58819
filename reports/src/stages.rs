//! Stage times of a study, summed over its steps.

use crate::labels::{qualifier, varies};
use crate::records::{Mode, StageTime, TargetId, Timing, mega_per_second};
use crate::study::{Study, push_new};

/// Times and rays of one target on one scene, summed over the steps of the schedule. A step that was repeated
/// counts with the repeat whose total is the median.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StageTimes {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Random seed.
    pub seed: u64,
    /// Target name, with its mode unless exact and its seed where there are several.
    pub label: String,
    /// Highest sample index reached.
    pub spp: u32,
    /// Milliseconds of every stage, by name, in the order of their first launch.
    pub stages: Vec<StageTime>,
    /// Milliseconds beside the stages: scheduling, clearing, resolving.
    pub other_ms: f64,
    /// Milliseconds in all.
    pub total_ms: f64,
    /// Milliseconds of traversal.
    pub trace_ms: f64,
    /// Extension and shadow rays.
    pub rays: u64,
    /// Samples.
    pub samples: u64,
    /// Repeats of each step, the least of any.
    pub repeats: usize,
}

impl StageTimes {
    /// Milliseconds of a stage; nothing where the target has none of this name.
    pub fn ms(&self, name: &str) -> Option<f64> {
        if name == OTHER {
            return Some(self.other_ms);
        }
        self.stages.iter().find(|stage| stage.name == name).map(|stage| stage.ms)
    }

    fn add(&mut self, StageTime { name, ms }: StageTime) {
        match self.stages.iter_mut().find(|stage| stage.name == name) {
            Some(stage) => stage.ms += ms,
            None => self.stages.push(StageTime { name, ms }),
        }
    }

    /// Million rays a second over the whole time.
    pub fn mrays_inclusive(&self) -> f64 {
        mega_per_second(self.rays, self.total_ms)
    }

    /// Million rays a second over the time of traversal.
    pub fn mrays_exclusive(&self) -> f64 {
        mega_per_second(self.rays, self.trace_ms)
    }
}

/// The name of what lies beside the stages, which comes after them.
const OTHER: &str = "other";

/// Names of the stages of some targets, each once and in the order in which each target runs them, and `other` at the end.
/// Targets that count no rays tell nothing of their stages, so others go before them.
pub fn stage_names(times: &[StageTimes]) -> Vec<String> {
    let told: Vec<&StageTimes> = times.iter().filter(|t| t.rays > 0).collect();
    let told = if told.is_empty() { times.iter().collect() } else { told };
    let mut names: Vec<String> = Vec::new();
    for stages in told.iter().map(|t| &t.stages) {
        for (i, stage) in stages.iter().enumerate().filter(|(_, stage)| stage.name != OTHER) {
            if names.iter().any(|known| *known == stage.name) {
                continue;
            }
            // Before the next stage that has a place already
            let place = |next: &StageTime| names.iter().position(|known| *known == next.name);
            let at = stages[i + 1..].iter().find_map(place).unwrap_or(names.len());
            names.insert(at, stage.name.to_string());
        }
    }
    names.push(OTHER.to_owned());
    names
}

/// Sums the timings of a study by scene and target.
pub fn stage_times(study: &Study) -> Vec<StageTimes> {
    stage_times_of(&study.timings)
}

pub(crate) fn stage_times_of(timings: &[Timing]) -> Vec<StageTimes> {
    let many_seeds = varies(timings.iter().map(|t| t.seed));
    let key =
        |t: &Timing| -> (String, TargetId, Mode, u64) { (t.scene.clone(), t.target.clone(), t.mode, t.seed) };
    let mut keys = Vec::new();
    timings.iter().for_each(|t| push_new(&mut keys, key(t)));
    keys.into_iter()
        .map(|group| {
            let own: Vec<&Timing> = timings.iter().filter(|t| key(t) == group).collect();
            let label = format!("{}{}", group.1, qualifier(group.2, &[&group.1], group.3, many_seeds));
            sum_steps(
                StageTimes {
                    scene: group.0,
                    target: group.1,
                    seed: group.3,
                    label,
                    repeats: usize::MAX,
                    ..Default::default()
                },
                &own,
            )
        })
        .collect()
}

fn sum_steps(mut sum: StageTimes, timings: &[&Timing]) -> StageTimes {
    let mut steps = Vec::new();
    timings.iter().for_each(|t| push_new(&mut steps, (t.spp_from, t.spp_to)));
    for step in steps {
        let mut repeats: Vec<&Timing> =
            timings.iter().filter(|t| (t.spp_from, t.spp_to) == step).copied().collect();
        repeats.sort_by(|a, b| a.total_ms.total_cmp(&b.total_ms));
        let t = repeats[(repeats.len() - 1) / 2];
        let (stages, other_ms) = t.by_stage();
        stages.into_iter().for_each(|stage| sum.add(stage));
        sum.other_ms += other_ms;
        sum.total_ms += t.total_ms;
        sum.trace_ms += t.trace_ms;
        sum.rays = sum.rays.saturating_add(t.rays());
        sum.samples = sum.samples.saturating_add(t.samples);
        sum.spp = sum.spp.max(t.spp_to);
        sum.repeats = sum.repeats.min(repeats.len());
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Record};

    #[test]
    fn steps_are_summed_and_repeats_count_by_their_median() {
        let step = |from: u32, to: u32, repeat: u32, total_ms: f64| -> Record {
            Timing {
                spp_from: from,
                spp_to: to,
                repeat,
                total_ms,
                extend_ms: total_ms / 2.0,
                trace_ms: total_ms / 2.0,
                extension_rays: 1000,
                ..Default::default()
            }
            .into()
        };
        let records = vec![step(0, 1, 0, 9.0), step(0, 1, 1, 1.0), step(0, 1, 2, 2.0), step(1, 2, 0, 4.0)];
        let times = stage_times(&Study::from_records(records, Environment::default()));
        assert_eq!(times.len(), 1);
        assert_eq!((times[0].total_ms, times[0].trace_ms, times[0].rays, times[0].spp), (6.0, 3.0, 2000, 2));
        assert_eq!((times[0].ms("extend"), times[0].repeats), (Some(3.0), 1));
    }

    /// Times of a target that runs these stages for a millisecond each.
    fn of(stages: &[&str], rays: u64) -> StageTimes {
        let stages = stages.iter().map(|name| StageTime { name: (*name).to_owned().into(), ms: 1.0 });
        StageTimes { stages: stages.collect(), rays, ..StageTimes::default() }
    }

    #[test]
    fn names_of_stages_stand_in_the_order_of_every_target_and_the_rest_at_the_end() {
        let path = of(&["generate", "extend", "shade", "connect"], 1);
        let merging = of(&["generate", "extend", "shade", "connect", "photon map", "merge"], 1);
        let device = of(&["light paths", "photon map", "camera paths", "merge"], 1);
        let program = of(&["generate", "extend", "shade", "connect"], 0);
        assert_eq!(
            stage_names(std::slice::from_ref(&path)),
            ["generate", "extend", "shade", "connect", "other"]
        );
        let all = stage_names(&[path, merging, device.clone()]);
        let paths = ["light paths", "photon map", "camera paths", "merge", "other"];
        assert_eq!(all, [&["generate", "extend", "shade", "connect"][..], &paths].concat());
        assert_eq!(stage_names(&[program.clone(), device]), paths, "programs tell no stages");
        assert_eq!(stage_names(&[program]).len(), 5);
    }
}
