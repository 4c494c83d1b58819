//! The noise floor of a study: each target against itself under another seed.
//!
//! Targets whose films are identical at every rung under the first seed are promised to be so under any, so one of them
//! renders for all, and the records name it.

use lockstep_reports::image_io::{ImageKind, read_image};
use lockstep_reports::metrics::squared_errors;
use lockstep_reports::records::{FilmHash, Noise, Record, TargetId};

use super::folder::Folder;
use super::participant::Participant;
use super::plan::Plan;
use super::reference::speed;
use super::step::{Outcome, Step};
use crate::exit::Failure;

/// A target that renders under another seed, and those it renders for, itself included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The one that renders.
    pub(super) renders: String,
    /// All of the group.
    pub(super) members: Vec<String>,
}

/// The active targets in groups whose recorded films are identical, each led by the fastest.
pub(super) fn groups(plan: &Plan, folder: &Folder, scene: &str, participants: &[Participant]) -> Vec<Group> {
    let timings: Vec<_> = folder.timings().iter().filter(|t| t.scene == scene).collect();
    let hashes = |name: &str| -> Vec<Option<&str>> {
        let hash = |&spp: &u32| {
            folder.film_hash(&FilmHash::new(scene, name, spp, u64::from(plan.settings.seed), ""))
        };
        plan.ladder.rungs.iter().map(hash).collect()
    };
    let mut groups: Vec<Group> = Vec::new();
    for name in participants.iter().filter(|p| p.active).map(|p| &p.name) {
        let films = hashes(name);
        let known = films.iter().all(Option::is_some);
        match groups.iter_mut().find(|group| known && hashes(&group.members[0]) == films) {
            Some(group) => {
                group.members.push(name.clone());
                if speed(&timings, name) > speed(&timings, &group.renders) {
                    group.renders = name.clone();
                }
            }
            None => groups.push(Group { renders: name.clone(), members: vec![name.clone()] }),
        }
    }
    groups
}

/// What identifies the noise of a target at the rung that a step under another seed ends on.
pub(super) fn noise_key(plan: &Plan, step: &Step<'_>, target: &str) -> Noise {
    Noise {
        scene: step.scene.to_owned(),
        target: target.to_owned(),
        spp: step.to,
        seed: u64::from(plan.settings.seed),
        other_seed: u64::from(step.seed),
        mode: TargetId::from(target).mode,
        ..Noise::default()
    }
}

/// The noise of every member of a group, from an outcome under another seed and the kept image of the first.
///
/// # Errors
/// [`Failure`] for a kept image that cannot be read.
pub(super) fn noise(
    plan: &Plan,
    folder: &Folder,
    step: &Step<'_>,
    outcome: &Outcome,
    members: &[String],
) -> Result<Vec<Record>, Failure> {
    let first = read_image(&folder.image(step.scene, &outcome.target, step.to, ImageKind::Exr))?;
    let (mse, mse_linear) = squared_errors(&first, &outcome.image)?;
    let of = |member: &String| Noise {
        mse,
        mse_linear,
        rendered_by: outcome.target.clone(),
        ..noise_key(plan, step, member)
    };
    Ok(members.iter().map(|member| of(member).into()).collect())
}
