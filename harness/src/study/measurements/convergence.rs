//! The errors of the first seed's images against the scene's reference. The images are kept as files until
//! then.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lockstep_core::{Scene, TargetId};
use lockstep_reports::image_io::{ImageKind, LinearImage, read_image};
use lockstep_reports::metrics::{Metrics, compare_all};
use lockstep_reports::records::{self, Record};

use crate::exit::Failure;
use crate::study::folder::Folder;
use crate::study::lab::Lab;
use crate::study::level::{Level, film_record};
use crate::study::reference::Reference;
use crate::study::runner::{Key, Measurement};

/// Pixels of all images that are read at a time: 12 bytes each.
const PIXELS_AT_ONCE: usize = 1 << 25;

/// Errors of every target against the reference, at every level of the first seed. Nothing where no target can render a
/// reference.
pub(crate) struct Convergence<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
}

impl Measurement for Convergence<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        if lab.lacks_reference(&self.scene.name) {
            return Vec::new();
        }
        let levels = lab.levels(&self.scene.name, lab.plan.settings.seed, 0);
        let of_level = |level: Level<'_>| {
            let targets = lab.targets_at(level.scene, level.to);
            targets.iter().map(|id| Key::of(convergence_key(&level, id))).collect::<Vec<_>>()
        };
        levels.into_iter().flat_map(of_level).collect()
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        Ok(lab.reference(self.scene)?.map_continue(|_| ()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let Some(reference) = lab.known_reference(&self.scene.name) else {
            return Ok(ControlFlow::Continue(Vec::new()));
        };
        lab.bar.say(&format!("{}: comparing images with the reference", self.scene.name));
        let levels = lab.levels(&self.scene.name, lab.plan.settings.seed, 0);
        let points: Vec<(&Level<'_>, TargetId)> = levels
            .iter()
            .flat_map(|level| lab.targets_at(level.scene, level.to).into_iter().map(move |id| (level, id)))
            .collect();
        let found = of_images(&lab.folder, &points, &reference)?;
        Ok(ControlFlow::Continue(found.into_iter().map(Record::from).collect()))
    }
}

/// The key of a target's error at a level.
pub(super) fn convergence_key(level: &Level<'_>, target: &TargetId) -> records::Convergence {
    records::Convergence {
        scene: level.scene.to_owned(),
        target: target.clone(),
        spp: level.to,
        seed: u64::from(level.seed),
        mode: target.mode,
        ..records::Convergence::default()
    }
}

/// Compares every kept image of these points that has no record yet with the reference. Equal films are compared once.
fn of_images(
    folder: &Folder,
    points: &[(&Level<'_>, TargetId)],
    reference: &Reference,
) -> Result<Vec<records::Convergence>, Failure> {
    let open: Vec<(&Level<'_>, &TargetId)> = points
        .iter()
        .map(|(level, target)| (*level, target))
        .filter(|(level, target)| !folder.has(convergence_key(level, target)))
        .collect();
    let film = |level: &Level<'_>, target: &TargetId| {
        let record = film_record(level, target, "");
        (level.to, folder.film_hash(&record).map_or_else(|| target.to_string(), str::to_owned))
    };
    let mut distinct = BTreeMap::new();
    for &(level, target) in &open {
        distinct
            .entry(film(level, target))
            .or_insert_with(|| folder.image(level.scene, target, level.to, ImageKind::Exr));
    }
    let at_once = (PIXELS_AT_ONCE / reference.image.pixels().len().max(1)).max(1);
    let mut found: BTreeMap<(u32, String), Metrics> = BTreeMap::new();
    for part in distinct.into_iter().collect::<Vec<_>>().chunks(at_once) {
        let images =
            part.iter().map(|(_, path)| read_image(path)).collect::<Result<Vec<LinearImage>, _>>()?;
        let metrics = compare_all(&images.iter().collect::<Vec<_>>(), &reference.image)?;
        found.extend(part.iter().map(|(film, _)| film.clone()).zip(metrics));
    }
    let record = |(level, target): (&Level<'_>, &TargetId)| {
        let metrics = found.get(&film(level, target))?;
        let seed = u64::from(level.seed);
        Some(records::Convergence::new(level.scene, target, level.to, seed, metrics, &reference.against))
    };
    Ok(open.into_iter().filter_map(record).collect())
}
