//! The noise floor: each target against itself under another seed.
//!
//! Targets whose films are identical at every level under the first seed are promised to be so under any, so
//! one of them renders for all, and the records name it. Programs promise nothing and render for themselves.

use std::ops::ControlFlow;

use lockstep_core::{Scene, TargetId};
use lockstep_reports::image_io::{ImageKind, read_image};
use lockstep_reports::metrics::squared_errors;
use lockstep_reports::records::{Noise, Record};

use super::over_seeds;
use crate::exit::Failure;
use crate::study::folder::Folder;
use crate::study::lab::Lab;
use crate::study::level::{Level, Outcome, film_record};
use crate::study::plan::Plan;
use crate::study::runner::{Key, Measurement};
use crate::study::target_session::Purpose;

/// A level under another seed, on one of each group of identical targets.
pub(crate) struct NoiseFloor<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The level.
    pub(crate) level: Level<'a>,
}

impl Measurement for NoiseFloor<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        if !lab.reaches(&self.level) {
            return Vec::new();
        }
        let targets = lab.targets_at(self.level.scene, self.level.to);
        let of_unit =
            |id: &&TargetId| groups(lab, &self.level).iter().any(|group| group.members.contains(id));
        let noise = targets.iter().filter(|id| lab.plan.units.is_none() || of_unit(id));
        let noise = noise.map(|id| Key::of(noise_key(lab.plan, &self.level, id)));
        noise.chain(targets.iter().filter_map(|id| over_seeds::image_key(lab, &self.level, id))).collect()
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        let leaders: Vec<TargetId> = groups(lab, &self.level).into_iter().map(|g| g.leader).collect();
        lab.load_on(&leaders, self.scene, self.level.seed, Purpose::NoiseFloor)?;
        Ok(ControlFlow::Continue(()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let level = &self.level;
        let groups = groups(lab, level);
        let leaders: Vec<TargetId> = groups.iter().map(|group| group.leader.clone()).collect();
        lab.bar.lengthen(u64::from(level.to - level.from) * leaders.len() as u64);
        let ControlFlow::Continue(outcomes) = lab.render(level, &leaders)? else {
            return Ok(ControlFlow::Break(()));
        };
        let mut records = Vec::new();
        for outcome in &outcomes {
            records.push(film_record(level, &outcome.target, &outcome.hash).into());
            for group in groups.iter().filter(|group| group.leader == outcome.target) {
                over_seeds::keep(lab, level, outcome, &group.members)?;
                records.extend(noise(lab.plan, &lab.folder, level, outcome, &group.members)?);
            }
        }
        Ok(ControlFlow::Continue(records))
    }
}

/// Targets whose films are identical under the first seed.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    /// The first of them that is no processor of the host, or else the first: it renders for all.
    leader: TargetId,
    /// All of them.
    members: Vec<TargetId>,
}

/// The groups of the targets that render a level, by their recorded films.
fn groups(lab: &Lab<'_>, level: &Level<'_>) -> Vec<Group> {
    let scene = level.scene;
    let levels = lab.levels(scene, lab.plan.settings.seed, 0);
    let films = |id: &TargetId| -> Vec<Option<&str>> {
        levels.iter().map(|level| lab.folder.film_hash(&film_record(level, id, ""))).collect()
    };
    let mut groups: Vec<Group> = Vec::new();
    for id in lab.targets_at(scene, level.to) {
        let own = films(&id);
        let known = own.iter().all(Option::is_some) && !lab.is_program(&id);
        let is_same =
            |group: &&mut Group| known && films(&group.members[0]) == own && !lab.is_program(&group.leader);
        match groups.iter_mut().find(is_same) {
            Some(group) => {
                // Not the fastest, which may be another in the next study. Units hold the noise floor of one target
                // that rendered for all.
                let is_ahead = is_on_host(lab, &group.leader) && !is_on_host(lab, &id);
                if lab.plan.units.is_none() && is_ahead {
                    group.leader = id.clone();
                }
                group.members.push(id);
            }
            None => groups.push(Group { leader: id.clone(), members: vec![id] }),
        }
    }
    if let Some(units) = &lab.plan.units {
        let rendered = units.plan.noise_targets();
        groups.retain(|group| rendered.contains(&&group.leader));
    }
    groups
}

/// Whether a target is a processor of the host.
fn is_on_host(lab: &Lab<'_>, target: &TargetId) -> bool {
    lab.sessions().iter().any(|s| s.id == *target && (s.info.on_host || s.info.host_threads() > 0))
}

/// The key of a target's noise between the first seed and that of a level.
pub(super) fn noise_key(plan: &Plan, level: &Level<'_>, target: &TargetId) -> Noise {
    Noise {
        scene: level.scene.to_owned(),
        target: target.clone(),
        spp: level.to,
        seed: u64::from(plan.settings.seed),
        other_seed: u64::from(level.seed),
        mode: target.mode,
        ..Noise::default()
    }
}

/// The noise of targets with one film, from an outcome under another seed and the kept image of the first.
///
/// # Errors
/// [`Failure`] for a kept image that cannot be read.
pub(super) fn noise(
    plan: &Plan,
    folder: &Folder,
    level: &Level<'_>,
    outcome: &Outcome,
    members: &[TargetId],
) -> Result<Vec<Record>, Failure> {
    let first = read_image(&folder.image(level.scene, &outcome.target, level.to, ImageKind::Exr))?;
    let (mse, mse_linear) = squared_errors(&first, &outcome.image)?;
    let of = |member: &TargetId| Noise {
        mse,
        mse_linear,
        rendered_by: outcome.target.clone(),
        ..noise_key(plan, level, member)
    };
    Ok(members.iter().map(|member| of(member).into()).collect())
}
