//! `lockstep render` with an external program: one image.

use lockstep_core::{Mode, Settings};
use lockstep_reports::image_io::ImageMetadata;

use super::program::{Ended, Program, Request, RunError};
use super::{External, Externals};
use crate::backends;
use crate::cli::RenderArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::say;
use crate::scenes;

/// The program that a target's name means; `None` for one of Lockstep's own, for which no file of targets is read.
///
/// # Errors
/// As [`Externals::find`].
pub(crate) fn program_of(args: &RenderArgs) -> Result<Option<External>, Failure> {
    if args.targets_file.is_none() && backends::are_known(std::slice::from_ref(&args.target)) {
        return Ok(None);
    }
    let found = Externals::find(args.targets_file.as_deref(), std::slice::from_ref(&args.scene))?;
    Ok(found.named(&args.target).first().map(|external| (*external).clone()))
}

/// Renders a scene with a program into a file.
///
/// # Errors
/// [`Failure`] for an option that is Lockstep's own targets', and for a scene, program or file that cannot be used.
pub(crate) fn run(args: &RenderArgs, external: &External, settings: &Settings) -> Result<Exit, Failure> {
    check_options(args, external)?;
    let program = Program::open(external)?;
    let folder = tempfile::tempdir().map_err(Failure::io("make a folder in", std::env::temp_dir()))?;
    let (scene, word) = match external.declared.scene {
        super::SceneInput::Named => (None, scenes::word_of(&args.scene)),
        input @ super::SceneInput::Written(_) => {
            let scene = scenes::load(&args.scene, &args.files.options())?;
            let written = input.write(&scene, &folder.path().join("scene"))?;
            for difference in written.iter().flat_map(|written| &written.differences) {
                say(&format!("lockstep: {} renders otherwise: {difference}", scene.name));
            }
            let file = written.map(|written| written.file).unwrap_or_default();
            (Some(scene), file.to_string_lossy().into_owned())
        }
    };
    let name = scene.as_ref().map_or(args.scene.as_str(), |scene| &scene.name);
    let Settings { width, height, bounces, seed, .. } = *settings;
    let request = Request { scene: name, word: &word, spp: args.spp, seed, width, height, bounces };
    interrupt::listen()?;
    let (image, ms) = match program.render(&request, folder.path()) {
        Ok(Ended::Image(image, ms)) => (image, ms),
        Ok(Ended::Stopped) => {
            say("lockstep: stopped; no image was written");
            return Ok(Exit::Interrupted);
        }
        Err(RunError::Program(failure)) => {
            // The log is in a temporary folder, so its end is shown.
            failure.last_lines.iter().for_each(|line| say(line));
            return Err(Failure::Program(failure));
        }
        Err(RunError::Own(failure)) => return Err(failure),
    };
    let target = external.id.to_string();
    let device = program.device();
    let metadata = ImageMetadata::of_render(name, &target, args.spp, u64::from(seed))
        .with("bounces", &bounces.to_string())
        .with("device", &device.device)
        .with("driver", &device.driver);
    crate::render::write_shown(args, image, metadata)?;
    let samples = u64::from(args.spp) * u64::from(width) * u64::from(height);
    say(&format!("{}: {samples} samples in {:.2} s on {target}", args.out.display(), ms / 1e3));
    Ok(Exit::Fine)
}

/// Refuses options that mean nothing to a program.
fn check_options(args: &RenderArgs, external: &External) -> Result<(), Failure> {
    let is_film = crate::render::is_film(&args.out);
    let refused = [
        (is_film, "a .film"),
        (args.samples.is_some(), "--samples"),
        (args.techniques.is_some(), "--techniques"),
        (args.group.is_asked_for(), "sharing an image"),
        (Mode::from(args.mode) != Mode::Exact, "--mode"),
    ];
    match refused.into_iter().find(|(asked, _)| *asked) {
        Some((_, what)) => Err(Failure::Usage(format!(
            "{} is an external program: {what} is for Lockstep's own targets; leave it out",
            external.id
        ))),
        None => Ok(()),
    }
}
