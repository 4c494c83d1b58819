//! A level of samples per pixel on every target: images, times, and the differences of every pair.

use std::ops::ControlFlow;

use lockstep_core::{Scene, TargetId};
use lockstep_reports::image_io::ImageKind;
use lockstep_reports::records::{Difference, Record};

use super::convergence::convergence_key;
use super::{noise_floor, over_seeds};
use crate::exit::Failure;
use crate::study::differences::{self, pair_key};
use crate::study::divergence::{Pair, triage};
use crate::study::images;
use crate::study::lab::Lab;
use crate::study::level::{self, Level, Outcome};
use crate::study::plan::compared_pairs;
use crate::study::runner::{Key, Measurement};
use crate::study::target_session::Purpose;

/// A level on every target in turn.
///
/// Repeats are timed and nothing else. Under the first seed images are kept, to be compared with the
/// reference once there is one; under further seeds they are compared with reference and first seed at once,
/// and not kept.
pub(crate) struct SppLevel<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The scene as command lines name it.
    pub(crate) spec: &'a str,
    /// The level.
    pub(crate) level: Level<'a>,
}

impl Measurement for SppLevel<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let level = &self.level;
        if !lab.reaches(level) {
            return Vec::new();
        }
        let targets = lab.targets_at(level.scene, level.to);
        let timed = |id| level::timing_key(&level.timed(lab.is_program(id)), id);
        let is_timed = lab.is_timed(level);
        let mut keys: Vec<Key> = targets.iter().filter(|_| is_timed).map(|id| Key::of(timed(id))).collect();
        if level.repeat > 0 {
            return keys;
        }
        let of_pair = |(a, b): (usize, usize)| Key::of(pair_key(level, &targets[a], &targets[b]));
        let places = compared_pairs(lab.plan.across_integrators, &targets.iter().collect::<Vec<_>>());
        keys.extend(places.iter().copied().map(of_pair));
        if level.seed == lab.plan.settings.seed {
            keys.extend(self.map_keys(lab, &targets, &places));
        }
        for id in &targets {
            if level.seed == lab.plan.settings.seed {
                let film = lab.folder.film_hash(&level::film_record(level, id, "")).map(str::to_owned);
                let image = |kind| Key::Image {
                    path: lab.folder.image(level.scene, id, level.to, kind),
                    film: film.clone(),
                };
                keys.push(image(ImageKind::Png));
                let is_compared = lab.folder.has(convergence_key(level, id));
                let is_needed = !is_compared || over_seeds::needs_images(lab, level, id);
                if is_needed || images::stays(&lab.plan.settings, level.to, lab.top(level.scene)) {
                    keys.push(image(ImageKind::Exr));
                }
            } else {
                keys.push(Key::of(noise_floor::noise_key(lab.plan, level, id)));
                keys.extend(over_seeds::image_key(lab, level, id));
                if !lab.lacks_reference(level.scene) {
                    keys.push(Key::of(convergence_key(level, id)));
                }
            }
        }
        keys
    }

    fn samples(&self, lab: &Lab<'_>) -> u64 {
        // How far the levels go is not known before those below are timed.
        match lab.plan.levels_seconds {
            Some(_) => 0,
            None => u64::from(self.level.to - self.level.from) * lab.targets(self.level.scene).len() as u64,
        }
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        let level = &self.level;
        // Before the scene is loaded: rendering a reference takes one of the targets.
        if level.repeat == 0 && level.seed != lab.plan.settings.seed {
            let is_converged = |id| lab.folder.has(convergence_key(level, id));
            if !lab.targets_at(level.scene, level.to).iter().all(is_converged)
                && lab.reference(self.scene)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        lab.load(self.scene, level.seed, Purpose::Levels { repeat: level.repeat })?;
        Ok(ControlFlow::Continue(()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let targets = lab.targets_at(self.level.scene, self.level.to);
        if lab.plan.levels_seconds.is_some() {
            lab.bar.lengthen(u64::from(self.level.to - self.level.from) * targets.len() as u64);
        }
        let ControlFlow::Continue(outcomes) = lab.render(&self.level, &targets)? else {
            return Ok(ControlFlow::Break(()));
        };
        lab.bar.say(&format!("{}: comparing the images of {} spp", self.level.scene, self.level.to));
        let mut records = Vec::new();
        for outcome in &outcomes {
            if lab.is_timed(&self.level) {
                records.push(level::timing(&self.level, outcome).into());
            }
            records.extend(level::invalid_samples(&self.level, outcome));
        }
        if self.level.repeat > 0 {
            outcomes.iter().try_for_each(|outcome| self.check_repeat(lab, outcome))?;
        } else {
            records.extend(self.images_and_noise(lab, &outcomes)?);
            records.extend(self.comparisons(lab, &outcomes)?);
        }
        Ok(ControlFlow::Continue(records))
    }
}

impl SppLevel<'_> {
    /// The maps of pairs: those that are recorded, and those of p-values that are there. Those over several seeds are not
    /// the level's.
    fn map_keys(&self, lab: &Lab<'_>, targets: &[TargetId], places: &[(usize, usize)]) -> Vec<Key> {
        let (scene, spp) = (self.level.scene, self.level.to);
        let pairs = places.iter().map(|&(a, b)| (&targets[a], &targets[b]));
        let own = pairs.filter(|&pair| !over_seeds::is_tested(lab, &self.level, pair));
        let p_map = |(a, b): (&TargetId, &TargetId)| lab.folder.p_map(scene, a, b, spp);
        let p_maps = own.map(p_map).filter(|path| path.exists());
        let maps = lab.folder.maps(scene, spp).iter().cloned().chain(p_maps);
        maps.map(|path| Key::Image { path, film: None }).collect()
    }

    /// A target that renders the same samples again must make the same film. Programs promise nothing.
    fn check_repeat(&self, lab: &Lab<'_>, outcome: &Outcome) -> Result<(), Failure> {
        let level = &self.level;
        if outcome.is_program {
            return Ok(());
        }
        let record = level::film_record(level, &outcome.target, &outcome.hash);
        match lab.folder.film_hash(&record) {
            Some(first) if first != outcome.hash => Err(Failure::Input(format!(
                "{} broke its contract: it rendered {} at {} spp twice and made two different films",
                outcome.target, level.scene, level.to
            ))),
            _ => Ok(()),
        }
    }

    /// The records of each film by itself. Images of the first seed are written; those of others are compared
    /// with them.
    fn images_and_noise(&self, lab: &Lab<'_>, outcomes: &[Outcome]) -> Result<Vec<Record>, Failure> {
        let level = &self.level;
        let mut records = Vec::new();
        for outcome in outcomes {
            records.push(level::film_record(level, &outcome.target, &outcome.hash).into());
            if level.seed == lab.plan.settings.seed {
                if !outcome.is_program {
                    level::check_film(level, &outcome.target, &outcome.hash, &lab.folder)?;
                }
                records.extend(level::bounces(level, outcome));
                images::write(&lab.folder, level, &lab.plan.settings, outcome)?;
            } else {
                let only = std::slice::from_ref(&outcome.target);
                over_seeds::keep(lab, level, outcome, only)?;
                records.extend(noise_floor::noise(lab.plan, &lab.folder, level, outcome, only)?);
            }
        }
        Ok(records)
    }

    /// The differences of every pair, with maps and the triage of those that differ for the first time, and
    /// under further seeds the errors against the reference.
    fn comparisons(&self, lab: &mut Lab<'_>, outcomes: &[Outcome]) -> Result<Vec<Record>, Failure> {
        let level = &self.level;
        let is_first_seed = level.seed == lab.plan.settings.seed;
        let is_last = level.to == lab.top(level.scene);
        let compared = differences::pairs(lab.plan, level, is_last, outcomes)?;
        for (pair, map) in compared.iter().filter(|_| is_first_seed) {
            let is_over_seeds = over_seeds::has_verdict(lab, level, &pair.a, &pair.b);
            if let Some(map) = map.as_ref().filter(|_| !is_over_seeds) {
                images::write_p_map(&lab.folder, level, pair, map)?;
            }
        }
        let differences: Vec<Difference> = compared.into_iter().map(|(pair, _)| pair).collect();
        let mut records = self.triage(lab, outcomes, &differences)?;
        if is_first_seed && is_last {
            records.extend(images::maps(&lab.folder, level, outcomes, &differences)?);
        }
        records.extend(differences.into_iter().map(Record::from));
        if let Some(reference) = lab.known_reference(level.scene).filter(|_| !is_first_seed) {
            let found = differences::convergences(level, outcomes, &reference)?;
            records.extend(found.into_iter().map(Record::from));
        }
        Ok(records)
    }

    /// Compares the paths of every pair of targets that differs here for the first time. Of two integrators nothing else
    /// is expected, and programs record no paths.
    fn triage(
        &self,
        lab: &mut Lab<'_>,
        outcomes: &[Outcome],
        differences: &[Difference],
    ) -> Result<Vec<Record>, Failure> {
        let mut records = Vec::new();
        for ((a, b), difference) in differences::positions(lab.plan, outcomes).into_iter().zip(differences) {
            let is_known = lab.folder.is_triaged(self.level.scene, &difference.a, &difference.b);
            let (a, b) = (&outcomes[a], &outcomes[b]);
            let is_traced = !a.is_program && !b.is_program;
            let are_alike = a.target.is_alike(&b.target);
            if difference.identical || !is_traced || !are_alike || is_known {
                continue;
            }
            let settings = lab.plan.with_seed(self.level.seed);
            if let Some((session_a, session_b)) = lab.pair(&a.target, &b.target) {
                let (scene, targets) = (self.level.scene, [&a.target, &b.target]);
                let pair = Pair { scene, spec: self.spec, settings, targets };
                let renderers = (session_a.renderer()?, session_b.renderer()?);
                records.push(triage(&self.level, &pair, (a, b), renderers)?.into());
            }
        }
        Ok(records)
    }
}
