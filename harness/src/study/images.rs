//! The images that a study keeps.
//!
//! Every level of the first seed is kept as PNG and as EXR, with maps of where targets differ at the last
//! level and maps of the p-values of pairs that are not identical. EXR files of images with more than
//! [`MAX_KEPT_PIXELS`] pixels are removed again once they have been compared with the reference and with
//! images of other seeds, except those of the last level: all levels of a large image would fill the disk
//! with noise that can be rendered again.

use std::path::PathBuf;

use lockstep_core::{Settings, TargetId};
use lockstep_reports::image_io::{ImageKind, ImageMetadata, LinearImage, write_exr, write_png};
use lockstep_reports::records::{Difference, MapOf, Record, write_maps};

use super::folder::Folder;
use super::lab::Lab;
use super::level::{Level, Outcome};
use crate::exit::Failure;

/// Pixels of the largest image of which every level stays as EXR.
const MAX_KEPT_PIXELS: u64 = 512 * 512;

/// Writes the image of an outcome as PNG and EXR, each in one level.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write(
    folder: &Folder,
    level: &Level<'_>,
    settings: &Settings,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let metadata =
        ImageMetadata::of_render(level.scene, &outcome.target.to_string(), level.to, u64::from(level.seed))
            .with("bounces", &settings.bounces.to_string())
            .with("integrator", settings.integrator.as_str())
            .with("film", &outcome.hash);
    let [png, exr] = [ImageKind::Png, ImageKind::Exr]
        .map(|kind| folder.image(level.scene, &outcome.target, level.to, kind));
    let (png, exr) = rayon::join(
        || write_png(&png, &outcome.image, &metadata),
        || write_exr(&exr, &outcome.image, &metadata),
    );
    Ok(png.and(exr)?)
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
    let image_of = |target: &str| outcomes.iter().find(|o| o.target.to_string() == target).map(|o| &o.image);
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
    Ok(write_png(&folder.p_map(level.scene, &pair.a, &pair.b, level.to), map, &metadata)?)
}

/// Whether the EXR file of a level stays once it has been compared with everything, given the scene's last level.
pub(crate) fn stays(settings: &Settings, spp: u32, top: u32) -> bool {
    spp == top || u64::from(settings.width) * u64::from(settings.height) <= MAX_KEPT_PIXELS
}

/// The EXR files of a scene that are not to stay.
pub(crate) fn surplus(lab: &Lab<'_>, scene: &str, targets: &[TargetId]) -> impl Iterator<Item = PathBuf> {
    let top = lab.top(scene);
    let levels =
        lab.plan.schedule.levels.iter().filter(|&&spp| spp <= top && !stays(&lab.plan.settings, spp, top));
    let of_level =
        |&spp: &u32| targets.iter().map(move |target| lab.folder.image(scene, target, spp, ImageKind::Exr));
    levels.flat_map(of_level).collect::<Vec<_>>().into_iter()
}
