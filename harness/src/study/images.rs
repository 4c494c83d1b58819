//! The images that a study keeps.
//!
//! Every level of the first seed is kept as PNG and as EXR, with maps of where targets differ at the last
//! level and maps of the p-values of pairs that are not identical. EXR files of images with more than
//! [`MAX_KEPT_PIXELS`] pixels are removed again once they have been compared with the reference and with
//! images of other seeds, except those of the last level: all levels of a large image would fill the disk
//! with noise that can be rendered again.

use std::path::{Path, PathBuf};

use lockstep_core::{Settings, TargetId};
use lockstep_reports::image_io::{
    ImageKind, ImageMetadata, LinearImage, Precision, ReadError, read_exr_metadata, read_image,
    write_hashed_exr, write_hashed_png,
};
use lockstep_reports::records::{Difference, MapOf, Record, write_maps};

use super::folder::Folder;
use super::image_file::FILM;
use super::lab::Lab;
use super::level::{Level, Outcome};
use crate::exit::Failure;
use crate::image_metadata::image_metadata;

/// The entry of an EXR file that names the precision of a program's image.
const PRECISION: &str = "precision";

/// Pixels of the largest image of which every level stays as EXR.
const MAX_KEPT_PIXELS: u64 = 512 * 512;

/// Writes the image of an outcome as PNG and EXR, each in one step.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write(
    folder: &Folder,
    level: &Level<'_>,
    settings: &Settings,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let metadata = metadata(level, settings, outcome);
    let [png, exr] = [ImageKind::Png, ImageKind::Exr]
        .map(|kind| folder.image(level.scene, &outcome.target, level.to, kind));
    let (png, exr) = rayon::join(
        || write_hashed_png(&png, &outcome.image, &metadata),
        || write_hashed_exr(&exr, &outcome.image, &metadata),
    );
    Ok(png.and(exr)?)
}

fn metadata(level: &Level<'_>, settings: &Settings, outcome: &Outcome) -> ImageMetadata {
    let settings = Settings { seed: level.seed, ..outcome.target.settings(settings) };
    let of_render = image_metadata(level.scene, &outcome.target.to_string(), level.to, &settings)
        .with(FILM, &outcome.hash);
    match outcome.image.precision().in_words() {
        Some(words) => of_render.with(PRECISION, words),
        None => of_render,
    }
}

/// Writes the image of an outcome as EXR alone.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write_exr_of(
    path: &Path,
    level: &Level<'_>,
    settings: &Settings,
    outcome: &Outcome,
) -> Result<(), Failure> {
    Ok(write_hashed_exr(path, &outcome.image, &metadata(level, settings, outcome))?)
}

/// Reads a kept EXR file, with the precision of the file that its program wrote.
///
/// # Errors
/// [`ReadError`], naming the file.
pub(crate) fn read_kept(path: &Path) -> Result<LinearImage, ReadError> {
    let image = read_image(path)?;
    let words = read_exr_metadata(path)?.remove(&format!("lockstep.{PRECISION}"));
    Ok(match words.and_then(|words| Precision::from_words(&words)) {
        Some(precision) => image.with_precision(precision),
        None => image,
    })
}

/// Writes the maps of every pair that differs, and returns their records.
///
/// # Errors
/// [`Failure::Metric`] for images that cannot be compared and [`Failure::Write`], naming the file.
pub(crate) fn maps(
    folder: &Folder,
    level: &Level<'_>,
    outcomes: &[Outcome],
    differences: &[Difference],
) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    let image_of = |target: &TargetId| outcomes.iter().find(|o| o.target == *target).map(|o| &o.image);
    for difference in differences.iter().filter(|d| d.pixels_differing > 0) {
        let (Some(a), Some(b)) = (image_of(&difference.a), image_of(&difference.b)) else { continue };
        let seed = u64::from(level.seed);
        let of = MapOf { scene: level.scene, a: &difference.a, b: &difference.b, spp: level.to, seed };
        records.extend(write_maps(folder.root(), &of, a, b)?.into_iter().map(Record::from));
    }
    Ok(records)
}

/// Writes the p-value map of a pair at a level.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write_p_map(
    folder: &Folder,
    level: &Level<'_>,
    pair: &Difference,
    map: &LinearImage,
) -> Result<(), Failure> {
    let metadata = ImageMetadata::of_render(
        level.scene,
        &format!("{} : {}", pair.a, pair.b),
        level.to,
        u64::from(level.seed),
    )
    .with("shows", "p-values of tests per tile; red where the first target is brighter");
    Ok(write_hashed_png(&folder.p_map(level.scene, &pair.a, &pair.b, level.to), map, &metadata)?)
}

/// Whether the EXR file of a level stays once it has been compared with everything, given the scene's last level.
pub(crate) fn stays(settings: &Settings, spp: u32, top: u32) -> bool {
    spp == top || u64::from(settings.width) * u64::from(settings.height) <= MAX_KEPT_PIXELS
}

/// The EXR files of a scene that are not to stay.
pub(crate) fn surplus(lab: &Lab<'_>, scene: &str) -> impl Iterator<Item = PathBuf> {
    let (top, targets) = (lab.top(scene), lab.targets(scene));
    let levels =
        lab.plan.schedule.levels.iter().filter(|&&spp| spp <= top && !stays(&lab.plan.settings, spp, top));
    let of_target = |spp: u32, target: &TargetId| {
        let further = lab.plan.further_seeds().map(|seed| lab.folder.image_of_seed(scene, target, spp, seed));
        std::iter::once(lab.folder.image(scene, target, spp, ImageKind::Exr))
            .chain(further)
            .collect::<Vec<_>>()
    };
    let of_level = |&spp: &u32| targets.iter().flat_map(move |target| of_target(spp, target));
    levels.flat_map(of_level).collect::<Vec<_>>().into_iter()
}
