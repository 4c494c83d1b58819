//! Comparison of two studies in the scenes, targets and samples that both have.

use super::changed::{self, Machine};
use super::common::Common;
use super::errors::{ErrorDiff, errors};
use super::films::{FilmDiff, films};
use super::times::{TimeDiff, times};
use crate::records::{Environment, StudySettings};
use crate::statistics::timing::Change;
use crate::study::Study;
use serde::Serialize;

/// The time that a verdict is about: the whole step.
const WHOLE: &str = "total";

/// A study against an earlier one of the same settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyDiff {
    /// Commit and start of the earlier study.
    pub before: String,
    /// Commit and start of the later study.
    pub after: String,
    /// Differences of machine, drivers, compilers and kernels, a sentence each.
    pub environment: Vec<String>,
    /// Scenes and targets that only one study has, or that cannot be compared, a sentence each.
    pub not_compared: Vec<String>,
    /// Films, scene by scene and target by target.
    pub films: Vec<FilmDiff>,
    /// Times and rates.
    pub times: Vec<TimeDiff>,
    /// Errors against the reference.
    pub errors: Vec<ErrorDiff>,
}

/// Why two studies cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// The studies rendered other images.
    #[error(
        "the studies rendered other images: {before} before, {after} after; run both with the same options"
    )]
    Settings {
        /// Settings of the earlier study.
        before: String,
        /// Settings of the later study.
        after: String,
    },
    /// No scene is in both studies.
    #[error(
        "the studies have no scene in common: {before} before, {after} after; run both on one scene at least"
    )]
    Scenes {
        /// Scenes of the earlier study.
        before: String,
        /// Scenes of the later study.
        after: String,
    },
}

impl StudyDiff {
    /// Refuses a study that could not be compared with an earlier one, by what is known before it is run.
    ///
    /// # Errors
    /// As [`StudyDiff::of`].
    pub fn check_plan(before: &Environment, after: &Environment) -> Result<(), DiffError> {
        check_settings(before, after)?;
        let [before, after] =
            [before, after].map(|e| e.scenes.keys().map(String::as_str).collect::<Vec<_>>());
        // An environment that names no scenes tells nothing of them.
        if before.is_empty() { Ok(()) } else { check_scenes(&before, &after) }
    }

    /// Compares a study with an earlier one.
    ///
    /// # Errors
    /// [`DiffError`] where the settings of the images differ, or no scene is in both.
    pub fn of(before: &Study, after: &Study) -> Result<Self, DiffError> {
        check_settings(&before.environment, &after.environment)?;
        check_scenes(&before.scenes(), &after.scenes())?;
        let mut not_compared = Vec::new();
        let scenes = common_scenes(before, after, &mut not_compared);
        let machine = Machine::of(&before.environment, &after.environment);
        let common = Common { scenes, machine };
        for (have, lack, when) in [(before, after, "before"), (after, before, "after")] {
            let known = lack.targets();
            let only = have.targets().into_iter().filter(|target| !known.contains(target));
            not_compared.extend(only.map(|target| format!("{target} was measured {when} alone")));
        }
        Ok(Self {
            before: changed::title(&before.environment),
            after: changed::title(&after.environment),
            environment: changed::sentences(&before.environment, &after.environment),
            films: films(before, after, &common),
            times: times(before, after, &common),
            errors: errors(before, after, &common),
            not_compared,
        })
    }

    /// Whole times of scenes and targets with this change.
    fn whole(&self, change: Change) -> impl Iterator<Item = &TimeDiff> {
        self.times.iter().filter(move |t| t.quantity == WHOLE && t.change == Some(change))
    }

    /// Sentences about the whole times that grew by more than `share` of the earlier time; 0.05 stands for 5 %.
    pub fn slower_by(&self, share: f64) -> Vec<String> {
        let beyond = self.whole(Change::Slower).filter(|t| t.ratio.median > 1.0 + share);
        beyond.map(TimeDiff::sentence).collect()
    }

    /// Sentences about the whole times without a verdict, because rounds are too few or the machines differ.
    pub fn undecided(&self) -> Vec<String> {
        let open = self.times.iter().filter(|t| t.quantity == WHOLE && t.change.is_none());
        open.map(TimeDiff::sentence).collect()
    }

    /// The comparison in a sentence.
    pub fn headline(&self) -> String {
        let of = |change| self.whole(change).count();
        let undecided = self.undecided().len();
        let mut parts = vec![
            format!("{} faster", of(Change::Faster)),
            format!("{} slower", of(Change::Slower)),
            format!("{} the same", of(Change::Same)),
        ];
        if undecided > 0 {
            parts.push(format!("{undecided} without a verdict"));
        }
        let compared: usize = self.films.iter().map(|f| f.compared).sum();
        let changed: usize = self.films.iter().map(|f| f.changed).sum();
        let films = match (compared, changed) {
            (0, _) => "none in common".to_owned(),
            (_, 0) => format!("{compared} of {compared} unchanged"),
            _ => format!("{changed} of {compared} changed"),
        };
        format!("Times: {}. Films: {films}.", parts.join(", "))
    }
}

/// Refuses studies of other images.
fn check_settings(before: &Environment, after: &Environment) -> Result<(), DiffError> {
    let images = |s: &StudySettings| {
        let (integrator, sampler) = (s.integrator, s.sampler);
        let layers =
            if s.layers.is_default() { String::new() } else { format!(", layers by a {}", s.layers) };
        let roulette = s.roulette.map_or_else(String::new, |bounce| format!(" with roulette from {bounce}"));
        let bounces = format!("{} bounces{roulette}", s.bounces);
        format!("{}×{}, {bounces}, {integrator}, {sampler}{layers}, seed {}", s.width, s.height, s.seed)
    };
    let [before, after] = [before, after].map(|environment| images(&environment.settings));
    if before == after { Ok(()) } else { Err(DiffError::Settings { before, after }) }
}

/// Refuses studies without a scene in common.
fn check_scenes(before: &[&str], after: &[&str]) -> Result<(), DiffError> {
    if before.iter().any(|scene| after.contains(scene)) {
        return Ok(());
    }
    let [before, after] = [before, after].map(|scenes| scenes.join(", "));
    Err(DiffError::Scenes { before, after })
}

/// The scenes that both studies have and that are the same; why others are not compared goes to `not_compared`.
fn common_scenes(before: &Study, after: &Study, not_compared: &mut Vec<String>) -> Vec<String> {
    let (old, new) = (before.scenes(), after.scenes());
    let mut common = Vec::new();
    for scene in &new {
        let hash = |study: &Study| study.environment.scenes.get(*scene).cloned();
        if !old.contains(scene) {
            not_compared.push(format!("{scene} was rendered after alone"));
        } else if hash(before) != hash(after) {
            not_compared.push(format!("{scene} is another scene than before"));
        } else {
            common.push((*scene).to_owned());
        }
    }
    let only = old.iter().filter(|scene| !new.contains(scene));
    not_compared.extend(only.map(|scene| format!("{scene} was rendered before alone")));
    common
}
