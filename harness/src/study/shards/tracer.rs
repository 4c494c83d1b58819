//! Paths in a merge: the target itself, where the machine of the merge has it, with the scene that shards rendered.
//!
//! Units hold films. Where those of two targets differ, a study asks single paths why, which needs the targets and the
//! scene. A machine without them merges all the same, and the record says that the target cannot record paths.

use lockstep_core::{OpenOptions, Renderer, Settings, TargetId};

use clap::Parser;

use super::gather::Units;
use crate::backends;
use crate::cli::{Cli, Command};
use crate::exit::Failure;
use crate::scenes;
use crate::study::plan::DEFAULT_SCENES;

/// The target with the scene of its films.
///
/// # Errors
/// [`Failure`] where target or scene are not here, or the scene is another.
pub(super) fn open(
    units: &Units,
    target: &TargetId,
    scene: &str,
    settings: &Settings,
) -> Result<Box<dyn Renderer>, Failure> {
    let absent = |what: &str| Failure::Input(format!("{what} of the merged study is not here"));
    let Ok(Command::Study(args)) = Cli::try_parse_from(&units.command).map(|cli| cli.command) else {
        return Err(absent("the command"));
    };
    let place = units.plan.scenes.iter().position(|planned| planned.name == scene);
    let words: Vec<&str> = args.subject.scenes.iter().map(String::as_str).collect();
    let words = if words.is_empty() { DEFAULT_SCENES.to_vec() } else { words };
    let word = place.and_then(|place| words.get(place)).ok_or_else(|| absent("a scene"))?;
    let loaded = scenes::load(word, &args.subject.files.options())?;
    if units.plan.scene(scene).is_none_or(|planned| planned.hash != loaded.hash) {
        return Err(absent("a scene"));
    }
    let found = backends::select_in_modes(&[target.device_label()], &[target.mode])?;
    let renderer = target.renderer();
    let found = found.into_iter().find(|known| known.id == renderer).ok_or_else(|| absent("a target"))?;
    let mut renderer = found.open(&OpenOptions::default())?;
    renderer.load(&loaded, &target.settings(settings))?;
    Ok(renderer)
}
