//! The images that a study keeps.
//!
//! Every rung of the first seed is kept as PNG and as EXR, with maps of where targets differ at the top rung and maps of
//! the p-values of pairs that are not identical. EXR files of images with more than [`MAX_KEPT_PIXELS`] pixels are removed
//! again once they have been compared with the reference and with images of other seeds, except those of the top rung: a
//! ladder of a large image would fill the disk with noise that can be rendered again.

use lockstep_core::Settings;
use lockstep_reports::image_io::{ImageKind, ImageMetadata, LinearImage, write_exr, write_png};
use lockstep_reports::records::{Difference, Record};
use lockstep_reports::records::{MapOf, write_maps};

use super::folder::Folder;
use super::plan::Plan;
use super::step::{Outcome, Step};
use crate::exit::Failure;

/// Pixels of the largest image of which every rung stays as EXR.
const MAX_KEPT_PIXELS: u64 = 512 * 512;

/// Writes the image of an outcome as PNG and EXR, each in one step.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write(
    folder: &Folder,
    step: &Step<'_>,
    settings: &Settings,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let metadata = ImageMetadata::of_render(step.scene, &outcome.target, step.to, u64::from(step.seed))
        .with("bounces", &settings.bounces.to_string())
        .with("film", &outcome.hash);
    let path = |kind| folder.image(step.scene, &outcome.target, step.to, kind);
    let (png, exr) = rayon::join(
        || write_png(&path(ImageKind::Png), &outcome.image, &metadata),
        || write_exr(&path(ImageKind::Exr), &outcome.image, &metadata),
    );
    Ok(png.and(exr)?)
}

/// Writes the maps of every pair that differs, and returns their records.
///
/// # Errors
/// [`Failure::Metric`] for images that cannot be compared and [`Failure::Write`], naming the file.
pub(crate) fn maps(
    folder: &Folder,
    step: &Step<'_>,
    outcomes: &[Outcome],
    differences: &[Difference],
) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    let image_of = |target: &str| outcomes.iter().find(|o| o.target == target).map(|o| &o.image);
    for difference in differences.iter().filter(|d| d.pixels_differing > 0) {
        let (Some(a), Some(b)) = (image_of(&difference.a), image_of(&difference.b)) else { continue };
        let seed = u64::from(step.seed);
        let of = MapOf { scene: step.scene, a: &difference.a, b: &difference.b, spp: step.to, seed };
        records.extend(write_maps(folder.root(), &of, a, b)?.into_iter().map(Record::from));
    }
    Ok(records)
}

/// Writes the p-value map of a pair at the rung that a step ends on.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write_p_map(
    folder: &Folder,
    step: &Step<'_>,
    pair: &Difference,
    map: &LinearImage,
) -> Result<(), Failure> {
    let metadata = ImageMetadata::of_render(
        step.scene,
        &format!("{} : {}", pair.a, pair.b),
        step.to,
        u64::from(step.seed),
    )
    .with("shows", "p-values of tests per tile; red where the first target is brighter");
    Ok(write_png(&folder.p_map(step.scene, &pair.a, &pair.b, step.to), map, &metadata)?)
}

/// Removes the EXR files that are not to stay.
///
/// # Errors
/// [`Failure::Io`], naming the file.
pub(crate) fn prune(folder: &Folder, plan: &Plan, scene: &str, targets: &[String]) -> Result<(), Failure> {
    if u64::from(plan.settings.width) * u64::from(plan.settings.height) <= MAX_KEPT_PIXELS {
        return Ok(());
    }
    for &spp in plan.ladder.rungs.iter().filter(|&&spp| spp != plan.ladder.top()) {
        for target in targets {
            let path = folder.image(scene, target, spp, ImageKind::Exr);
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::io("remove", path)(e));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
