//! The errors of the first climb's images, which are kept as files until there is a reference.

use std::collections::BTreeMap;

use lockstep_reports::image_io::{ImageKind, LinearImage, read_image};
use lockstep_reports::metrics::{Metrics, compare_all};
use lockstep_reports::records::{Convergence, FilmHash, TargetId};

use super::folder::Folder;
use super::reference::Reference;
use super::step::Step;
use crate::exit::Failure;

/// Pixels of all images that are read at a time: 12 bytes each.
const PIXELS_AT_ONCE: usize = 1 << 25;

/// What identifies the comparison of a target with the reference.
pub(super) fn convergence_key(step: &Step<'_>, target: &str) -> Convergence {
    Convergence {
        scene: step.scene.to_owned(),
        target: target.to_owned(),
        spp: step.to,
        seed: u64::from(step.seed),
        mode: TargetId::from(target).mode,
        ..Convergence::default()
    }
}

/// Compares every image of the steps that has no record yet with the reference. Equal films are compared once.
///
/// # Errors
/// [`Failure`] for an image that cannot be read or compared.
pub(super) fn first_climb(
    folder: &Folder,
    steps: &[Step<'_>],
    targets: &[String],
    reference: &Reference,
) -> Result<Vec<Convergence>, Failure> {
    let open: Vec<(&Step<'_>, &String)> = steps
        .iter()
        .flat_map(|step| targets.iter().map(move |name| (step, name)))
        .filter(|(step, name)| !folder.has(convergence_key(step, name)))
        .collect();
    let film = |step: &Step<'_>, name: &str| {
        let record = FilmHash::new(step.scene, name, step.to, u64::from(step.seed), "");
        (step.to, folder.film_hash(&record).unwrap_or(name).to_owned())
    };
    let mut distinct = BTreeMap::new();
    for &(step, name) in &open {
        distinct
            .entry(film(step, name))
            .or_insert_with(|| folder.image(step.scene, name, step.to, ImageKind::Exr));
    }
    let at_once = (PIXELS_AT_ONCE / reference.image.pixels().len().max(1)).max(1);
    let mut found: BTreeMap<(u32, String), Metrics> = BTreeMap::new();
    for part in distinct.into_iter().collect::<Vec<_>>().chunks(at_once) {
        let images =
            part.iter().map(|(_, path)| read_image(path)).collect::<Result<Vec<LinearImage>, _>>()?;
        let metrics = compare_all(&images.iter().collect::<Vec<_>>(), &reference.image)?;
        found.extend(part.iter().map(|(film, _)| film.clone()).zip(metrics));
    }
    let record = |(step, name): (&Step<'_>, &String)| {
        let metrics = found.get(&film(step, name))?;
        let seed = u64::from(step.seed);
        Some(Convergence::new(step.scene, name, step.to, seed, metrics, &reference.against))
    };
    Ok(open.into_iter().filter_map(record).collect())
}
