//! Partial films as files: `render -o X.film` and `lockstep merge`.

use std::path::Path;

use lockstep_core::{DeviceInfo, Film, Scene, Settings};
use lockstep_reports::image_io::write_image;
use lockstep_together::{Identity, PartialFilm, SampleSet, read_film_file, write_film_file};

use crate::cli::MergeArgs;
use crate::exit::{Exit, Failure};
use crate::image_metadata::image_metadata;
use crate::output::say;
use crate::render::{check_extension, image_of, is_film};
use crate::semantics;

/// A film that holds these samples, as part of its render.
///
/// # Errors
/// [`Failure::Merge`] for a film that contradicts its samples or settings.
pub(crate) fn part_of(
    scene: &Scene,
    settings: &Settings,
    device: &DeviceInfo,
    samples: SampleSet,
    film: Film,
) -> Result<PartialFilm, Failure> {
    Ok(PartialFilm::new(Identity::of(scene, settings, semantics::hash(), device), samples, film)?)
}

/// Writes a partial film.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write_part(path: &Path, part: &PartialFilm) -> Result<(), Failure> {
    Ok(write_film_file(path, part, &serde_json::Value::Null)?)
}

/// Adds partial films, in any order, one at a time.
///
/// # Errors
/// [`Failure`] for films that cannot be read, belong to different renders, or hold the same samples twice;
/// [`Failure::Missing`] when samples are missing.
pub(crate) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let Some(out) = &args.out else {
        return Err(Failure::Usage("name the image of the films with -o, as in -o image.exr".into()));
    };
    check_extension(out)?;
    let mut sum: Option<PartialFilm> = None;
    for path in &args.parts {
        let (part, _) = read_film_file(path)?;
        match &mut sum {
            None => sum = Some(part),
            Some(sum) => {
                sum.merge(&part).map_err(|e| Failure::Input(format!("cannot add {}: {e}", path.display())))?
            }
        }
    }
    let Some(sum) = sum else { return Err(Failure::Usage("name at least one film".into())) };
    let end = sum.samples().ranges().last().map_or(0, |range| range.end);
    let missing = SampleSet::from(0..end).without(sum.samples());
    if is_film(out) {
        write_part(out, &sum)?;
    } else if missing.is_empty() || args.allow_gaps {
        write_merged(out, &sum)?;
    } else {
        return Err(Failure::Missing(format!(
            "the samples {missing} are missing; render them with --samples, or accept the gaps with --allow-gaps"
        )));
    }
    say(&format!("{}: samples {} of {} films", out.display(), sum.samples(), args.parts.len()));
    if !sum.film().invalid.is_zero() {
        say(&format!("lockstep: the films have samples that had to be altered: {}", sum.film().invalid));
        return Ok(Exit::Differs);
    }
    Ok(Exit::Fine)
}

fn write_merged(path: &Path, sum: &PartialFilm) -> Result<(), Failure> {
    let Identity { scene, scene_hash, settings, films_of, .. } = sum.identity();
    let metadata = image_metadata(scene, films_of, sum.film().spp, settings)
        .with("mode", settings.mode.as_str())
        .with("scene-hash", scene_hash)
        .with("samples", &sum.samples().to_string());
    Ok(write_image(path, &image_of(sum.film())?, &metadata)?)
}
