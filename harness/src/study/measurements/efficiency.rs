//! `study --integrators` and `study --compare-layers`: which of two integrators, or ways of sampling layers, of a target
//! wins where, at the last level of a scene.

use std::ops::ControlFlow;

use lockstep_core::{Scene, TargetId};
use lockstep_reports::efficiency::TileEfficiency;
use lockstep_reports::image_io::{ImageKind, LinearImage};
use lockstep_reports::records::{self, MapOf, Record};
use lockstep_reports::statistics::timing::MedianInterval;

use super::convergence::convergence_key;
use crate::exit::Failure;
use crate::study::images;
use crate::study::lab::Lab;
use crate::study::level::Level;
use crate::study::runner::{Key, Measurement};

/// The quantity of the map.
const MAP: &str = "efficiency";

/// Comparison of two targets that differ in their integrators or layers alone, on one scene. Images and times are those of
/// the levels.
pub(crate) struct Efficiency<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The target by the first integrator.
    pub(crate) a: TargetId,
    /// The target by the second integrator.
    pub(crate) b: TargetId,
}

impl Measurement for Efficiency<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let top = self.top(lab);
        let has_reference = |id| lab.folder.has(convergence_key(&top, id));
        match [&self.a, &self.b].into_iter().all(has_reference) {
            true => self.keys_with_reference(lab, &top),
            false => Vec::new(),
        }
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        Ok(lab.reference(self.scene)?.map_continue(|_| ()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let top = self.top(lab);
        let Some(reference) = lab.known_reference(&self.scene.name) else {
            return Ok(ControlFlow::Continue(Vec::new()));
        };
        let kept = |id| images::read_kept(&lab.folder.image(top.scene, id, top.to, ImageKind::Exr));
        let (a, b) = (kept(&self.a)?, kept(&self.b)?);
        let first_time = |id| times(lab, &top, id).first().copied().unwrap_or(0.0);
        let (a_ms, b_ms) = (first_time(&self.a), first_time(&self.b));
        let tiles = TileEfficiency::new((&a, a_ms), (&b, b_ms), &reference.image);
        let record = records::Efficiency {
            a_ms,
            b_ms,
            a_mse: tiles.mse[0],
            b_mse: tiles.mse[1],
            tiles: tiles.ratios.len() as u64,
            won_by_b: tiles.won_by_b() as u64,
            tenth: tiles.quantile(0.1),
            median: tiles.quantile(0.5),
            nine_tenths: tiles.quantile(0.9),
            by_seed: self.by_seed(lab, &top, &reference.image)?,
            against: reference.against.clone(),
            ..self.key(&top)
        };
        let map = map_of(&record).write(lab.folder.root(), MAP, 1.0, &tiles.picture())?;
        Ok(ControlFlow::Continue(vec![map.into(), record.into()]))
    }
}

impl Efficiency<'_> {
    /// All samples of the last level, of the first seed.
    fn top(&self, lab: &Lab<'_>) -> Level<'_> {
        let name = &self.scene.name;
        Level { scene: name, from: 0, to: lab.top(name), seed: lab.plan.settings.seed, repeat: 0 }
    }

    /// The record, and the map where there is a record of it: one that was altered is made again.
    fn keys_with_reference(&self, lab: &Lab<'_>, top: &Level<'_>) -> Vec<Key> {
        let key = self.key(top);
        let map = Key::Image { path: lab.folder.root().join(map_of(&key).file(MAP)), film: None };
        let is_recorded = lab.folder.has(key.clone());
        std::iter::once(Key::of(key)).chain(is_recorded.then_some(map)).collect()
    }

    /// B's efficiency over A's by every seed.
    fn by_seed(&self, lab: &Lab<'_>, top: &Level<'_>, reference: &LinearImage) -> Result<Vec<f64>, Failure> {
        let first = lab.plan.settings.seed;
        let of_seed = |seed| {
            let level = Level { seed, ..*top };
            let image = |id: &TargetId| {
                let path = match seed == first {
                    true => lab.folder.image(top.scene, id, top.to, ImageKind::Exr),
                    false => lab.folder.image_of_seed(top.scene, id, top.to, seed),
                };
                images::read_kept(&path)
            };
            let (a, b) = (image(&self.a)?, image(&self.b)?);
            let [a_ms, b_ms] = [&self.a, &self.b].map(|id| median(&times(lab, &level, id)));
            let [a_mse, b_mse] = TileEfficiency::new((&a, a_ms), (&b, b_ms), reference).mse;
            Ok((a_mse * a_ms) / (b_mse * b_ms))
        };
        (first..first + lab.plan.seeds).map(of_seed).collect()
    }

    fn key(&self, top: &Level<'_>) -> records::Efficiency {
        records::Efficiency {
            scene: top.scene.to_owned(),
            a: self.a.clone(),
            b: self.b.clone(),
            spp: top.to,
            seed: u64::from(top.seed),
            mode: self.a.mode,
            ..records::Efficiency::default()
        }
    }
}

fn map_of(record: &records::Efficiency) -> MapOf<'_> {
    let records::Efficiency { scene, a, b, spp, seed, .. } = record;
    MapOf { scene, a, b, spp: *spp, seed: *seed }
}

/// Milliseconds of a target's samples up to a level, by every repeat under the level's seed.
fn times(lab: &Lab<'_>, level: &Level<'_>, target: &TargetId) -> Vec<f64> {
    let of_repeat = |repeat| {
        let is_own = |t: &&records::Timing| {
            (t.scene.as_str(), &t.target, t.seed, t.repeat)
                == (level.scene, target, u64::from(level.seed), repeat)
        };
        lab.folder.timings().iter().filter(is_own).map(|t| t.total_ms).sum()
    };
    (0..lab.plan.repeats).map(of_repeat).collect()
}

fn median(times: &[f64]) -> f64 {
    MedianInterval::of(times).map_or(0.0, |found| found.median)
}
