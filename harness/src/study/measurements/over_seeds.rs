//! The verdict on two targets that share no random numbers, by their images of all seeds: a program and another target,
//! or two integrators.
//!
//! The noise of a program's pixels may be correlated, and that of two integrators is unlike. Images of one
//! seed leave that noise to be guessed from their difference, in which a bias is too; those of several seeds show it.

use std::ops::ControlFlow;
use std::path::PathBuf;

use lockstep_core::{Scene, TargetId};
use lockstep_reports::image_io::{ImageKind, LinearImage};
use lockstep_reports::records::{self, Note, Record, Tests};
use lockstep_reports::statistics::{Agreement, ComparisonError, Pairing, compare_named, p_value_map};

use crate::exit::Failure;
use crate::study::differences::pair_key;
use crate::study::images;
use crate::study::lab::Lab;
use crate::study::level::{self, Level, Outcome};
use crate::study::plan::compared_pairs;
use crate::study::runner::{Key, Measurement};
use crate::study::verdicts;

/// A level of the first seed, with the images that other seeds left at the same level.
pub(crate) struct OverSeeds<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The level.
    pub(crate) level: Level<'a>,
}

impl Measurement for OverSeeds<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        if !lab.reaches(&self.level) {
            return Vec::new();
        }
        let of_pair = |(a, b): &(TargetId, TargetId)| pair_keys(lab, &self.level, a, b);
        tested_pairs(lab, &self.level).iter().flat_map(of_pair).collect()
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let level = &self.level;
        lab.bar.say(&format!("{} {} spp over all seeds", self.scene.name, level.to));
        let open = open_pairs(lab, level);
        let mut stacks: Vec<(TargetId, Vec<LinearImage>)> = Vec::new();
        for id in lab.targets_at(level.scene, level.to) {
            if open.iter().any(|(a, b)| *a == id || *b == id) {
                stacks.push((id.clone(), stack(lab, level, &id)?));
            }
        }
        let mut records = Vec::new();
        for (a, b) in open {
            let of = |id: &TargetId| stacks.iter().find(|(target, _)| target == id).map(|(_, images)| images);
            if let (Some(images_a), Some(images_b)) = (of(&a), of(&b)) {
                records.extend(self.verdict_on(lab, (&a, images_a), (&b, images_b))?);
            }
        }
        Ok(ControlFlow::Continue(records))
    }
}

impl OverSeeds<'_> {
    /// The verdict on a pair, with the p-value map that takes the place of the first seed's.
    fn verdict_on(
        &self,
        lab: &Lab<'_>,
        (a, images_a): (&TargetId, &[LinearImage]),
        (b, images_b): (&TargetId, &[LinearImage]),
    ) -> Result<Vec<Record>, Failure> {
        let (first, seeds) = (lab.plan.settings.seed, images_a.len() as u32);
        let key = records::OverSeeds {
            seeds: (first..first + seeds).map(u64::from).collect(),
            ..key(&self.level, a, b)
        };
        let rule = verdicts::rule(true);
        let names = [a, b].map(ToString::to_string);
        let names = [names[0].as_str(), names[1].as_str()];
        let found = match compare_named(images_a, images_b, Pairing::Paired, &rule, names) {
            Ok(found) => found,
            Err(ComparisonError::SameImageTwice { side, .. }) => {
                let target = if side == lockstep_reports::metrics::Side::A { a } else { b };
                return Ok(vec![
                    self.same_image(target),
                    records::OverSeeds {
                        verdict: Agreement::Inconclusive.as_str().to_owned(),
                        reason: format!("{target} made the same image under two seeds"),
                        ..key
                    }
                    .into(),
                ]);
            }
            Err(other) => return Err(other.into()),
        };
        let tests = found.test.as_ref().map(|test| Tests::new(test, &rule));
        let verdict = records::OverSeeds {
            verdict: found.agreement.as_str().to_owned(),
            reason: found.reason,
            tests,
            ..key
        };
        if let Some(map) = found.test.as_ref().map(p_value_map) {
            let (scene, seed) = (verdict.scene.clone(), u64::from(first));
            let pair = records::Difference { scene, seed, ..pair_key(&self.level, a, b) };
            images::write_p_map(&lab.folder, &self.level, &pair, &map)?;
        }
        Ok(vec![verdict.into()])
    }

    fn same_image(&self, target: &TargetId) -> Record {
        let text = format!(
            "made the same image at {} spp under two seeds: it does not use its seed, or has no noise",
            self.level.to
        );
        let scene = Some(self.level.scene.to_owned());
        Note { scene, target: Some(target.to_string()), text }.into()
    }
}

/// The key of the verdict on a pair.
fn key(level: &Level<'_>, a: &TargetId, b: &TargetId) -> records::OverSeeds {
    let records::Difference { scene, a, b, spp, mode, .. } = pair_key(level, a, b);
    records::OverSeeds { scene, a, b, spp, mode, ..records::OverSeeds::default() }
}

/// Keys of the verdict on a pair: its record, and the p-value map where there is one. A map that was altered is made
/// again.
fn pair_keys(lab: &Lab<'_>, level: &Level<'_>, a: &TargetId, b: &TargetId) -> Vec<Key> {
    let path = lab.folder.p_map(level.scene, a, b, level.to);
    let map = path.exists().then_some(Key::Image { path, film: None });
    std::iter::once(Key::of(key(level, a, b))).chain(map).collect()
}

/// Whether the p-value map of a pair is one over all seeds, which that of a level's one seed must not replace.
pub(super) fn has_verdict(lab: &Lab<'_>, level: &Level<'_>, a: &TargetId, b: &TargetId) -> bool {
    let is_pair = |(x, y): &(TargetId, TargetId)| x == a && y == b;
    tested_pairs(lab, level).iter().any(|pair| is_pair(pair) && lab.folder.has(key(level, &pair.0, &pair.1)))
}

/// Whether two targets are compared over all seeds at a level.
pub(super) fn is_tested(lab: &Lab<'_>, level: &Level<'_>, pair: (&TargetId, &TargetId)) -> bool {
    tested_pairs(lab, level).iter().any(|(a, b)| (a, b) == pair)
}

/// Whether the images of a target are still needed for a verdict over all seeds.
pub(super) fn needs_images(lab: &Lab<'_>, level: &Level<'_>, id: &TargetId) -> bool {
    open_pairs(lab, level).iter().any(|(a, b)| a == id || b == id)
}

/// The tested pairs whose verdict is not there, or whose p-value map was altered.
fn open_pairs(lab: &Lab<'_>, level: &Level<'_>) -> Vec<(TargetId, TargetId)> {
    let is_done =
        |(a, b): &(TargetId, TargetId)| pair_keys(lab, level, a, b).iter().all(|key| lab.folder.holds(key));
    tested_pairs(lab, level).into_iter().filter(|pair| !is_done(pair)).collect()
}

/// The pairs that share no random numbers and rendered a level under several seeds; of two integrators only at the
/// last level, as [`crate::study::differences::pairs`] has it.
fn tested_pairs(lab: &Lab<'_>, level: &Level<'_>) -> Vec<(TargetId, TargetId)> {
    if lab.plan.further_seeds().is_empty() {
        return Vec::new();
    }
    let targets = lab.targets_at(level.scene, level.to);
    let pair = |(a, b): (usize, usize)| (targets[a].clone(), targets[b].clone());
    let places = compared_pairs(lab.plan.across_integrators, &targets.iter().collect::<Vec<_>>());
    let all = places.into_iter().map(pair);
    let is_last = level.to == lab.top(level.scene);
    let is_tested = |(a, b): &(TargetId, TargetId)| match a.is_alike(b) {
        true => lab.is_program(a) || lab.is_program(b),
        false => is_last,
    };
    all.filter(is_tested).collect()
}

/// A target's images of all seeds at a level, the first seed's first.
fn stack(lab: &Lab<'_>, level: &Level<'_>, id: &TargetId) -> Result<Vec<LinearImage>, Failure> {
    let first = lab.folder.image(level.scene, id, level.to, ImageKind::Exr);
    let further =
        lab.plan.further_seeds().map(|seed| lab.folder.image_of_seed(level.scene, id, level.to, seed));
    std::iter::once(first).chain(further).map(|path| Ok(images::read_kept(&path)?)).collect()
}

/// The image that a further seed leaves for the verdict over all seeds; `None` where there is none to come.
pub(super) fn image_key(lab: &Lab<'_>, level: &Level<'_>, id: &TargetId) -> Option<Key> {
    let film = lab.folder.film_hash(&level::film_record(level, id, "")).map(str::to_owned);
    file(lab, level, id).map(|path| Key::Image { path, film })
}

fn file(lab: &Lab<'_>, level: &Level<'_>, id: &TargetId) -> Option<PathBuf> {
    needs_images(lab, level, id).then(|| lab.folder.image_of_seed(level.scene, id, level.to, level.seed))
}

/// Keeps the image of an outcome under a further seed for all targets that it stands for.
pub(super) fn keep(
    lab: &Lab<'_>,
    level: &Level<'_>,
    outcome: &Outcome,
    members: &[TargetId],
) -> Result<(), Failure> {
    for path in members.iter().filter_map(|id| file(lab, level, id)) {
        images::write_exr_of(&path, level, &lab.plan.settings, outcome)?;
    }
    Ok(())
}
