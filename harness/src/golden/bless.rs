//! `lockstep golden bless`

use lockstep_core::Mode;
use lockstep_core::{DeviceInfo, OpenOptions, Scene};
use lockstep_reports::metrics::compare;
use lockstep_reports::records::utc_now;

use super::check::render;
use super::store::{Golden, Place};
use crate::backends;
use crate::cli::GoldenBlessArgs;
use crate::exit::{Exit, Failure};
use crate::output::print;
use crate::render::image_of;
use crate::scenes;
use crate::study::{COMMIT, command, film_hash};
use crate::values::Size;

/// Small enough for a repository, large enough to see what it shows.
const DEFAULT_SIZE: Size = Size { width: 64, height: 64 };

/// Renders scenes and makes the images their goldens, saying what changes.
///
/// # Errors
/// [`Failure::Usage`] when `CI` is set or the target promises no identity; [`Failure`] for scenes and files
/// that cannot be used.
pub(crate) fn run(args: &GoldenBlessArgs) -> Result<Exit, Failure> {
    if is_ci() {
        return Err(Failure::Usage(
            "goldens are not blessed where CI is set: look at the change on your own machine, bless and commit there"
                .into(),
        ));
    }
    let target = backends::one(&args.target, Mode::Exact)?;
    if !target.is_exact() {
        return Err(Failure::Usage(format!(
            "{} does not promise identical images, so it cannot make goldens; use -b cpu-bvh",
            target.id
        )));
    }
    let mut renderer = target.open(&OpenOptions::default())?;
    for spec in &args.scenes {
        let scene = scenes::load(spec, &args.files.options())?;
        let place = Place::of(spec, &scene.name, args.goldens.as_deref());
        let settings = args.image.settings(DEFAULT_SIZE);
        let blank = image_of(&lockstep_core::Film::new(settings.width, settings.height)?)?;
        let commit = COMMIT.to_owned();
        let scene_hash = scene.hash.clone();
        let mut golden = Golden { image: blank, scene_hash, settings, spp: args.spp, commit };
        let film = render(renderer.as_mut(), &scene, &golden)?;
        if !film.invalid.is_zero() {
            return Err(Failure::Input(format!(
                "{spec} on {} has samples that had to be altered ({}); such an image is no golden",
                target.id, film.invalid
            )));
        }
        golden.image = image_of(&film)?;
        print(&format!("{spec}: {}\n", change(&place, &golden)?))?;
        if args.dry_run {
            continue;
        }
        let provenance = provenance(&scene, &golden, renderer.device(), &film_hash(&film));
        place.write(&scene, &golden, &target.id.to_string(), &provenance)?;
        print(&format!("{spec}: blessed {}\n", place.image().display()))?;
    }
    Ok(Exit::Fine)
}

/// Whether the process runs where nobody looks at images.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

/// The changes that blessing this image makes, in words.
fn change(place: &Place, new: &Golden) -> Result<String, Failure> {
    // A golden that cannot be read is replaced, whatever it was.
    let old = match place.read() {
        Ok(Some(old)) => old,
        Ok(None) => return Ok("new golden".into()),
        Err(failure) => return Ok(format!("replaces a golden that cannot be used ({failure})")),
    };
    let mut changes = Vec::new();
    if old.scene_hash != new.scene_hash {
        changes.push("the scene has changed".to_owned());
    }
    if (old.settings, old.spp) != (new.settings, new.spp) {
        changes.push(format!("settings from {} to {}", in_words(&old), in_words(new)));
    }
    if (old.image.width(), old.image.height()) == (new.image.width(), new.image.height()) {
        let m = compare(&old.image, &new.image)?;
        if m.pixels_differing > 0 {
            changes.push(format!(
                "{} pixels differ, 8-bit MSE {:.6}, largest difference {:.3e}, SSIM {:.6}, FLIP {:.6}",
                m.pixels_differing, m.mse, m.max_abs, m.ssim, m.float.flip
            ));
        }
    }
    Ok(if changes.is_empty() { "nothing changes".into() } else { changes.join("; ") })
}

/// How a golden was made, for people and for the file.
fn provenance(
    scene: &Scene,
    golden: &Golden,
    device: &DeviceInfo,
    film: &str,
) -> Vec<(&'static str, String)> {
    let known = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
    vec![
        ("golden", scene.name.clone()),
        ("command", command().join(" ")),
        ("lockstep", env!("CARGO_PKG_VERSION").into()),
        ("commit", known(COMMIT)),
        ("date", utc_now()),
        ("device", device.device.clone()),
        ("driver", known(&device.driver)),
        ("compiler", known(&device.compiler)),
        ("kernel-hash", known(&device.kernel_hash)),
        ("scene-content", golden.scene_hash.clone()),
        ("film", film.to_owned()),
        ("made-with", in_words(golden)),
    ]
}

/// The settings of a golden in words.
fn in_words(golden: &Golden) -> String {
    let s = &golden.settings;
    let roulette = s.roulette_from.map_or_else(String::new, |bounce| format!(", roulette from {bounce}"));
    let layers = if s.layers.is_default() { String::new() } else { format!(", layers by a {}", s.layers) };
    format!(
        "{}x{}, {} spp, {} bounces{roulette}, {}, {}{layers}, seed {}",
        s.width, s.height, golden.spp, s.bounces, s.integrator, s.sampler, s.seed
    )
}
