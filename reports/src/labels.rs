//! Labels that tell measurements of one target apart.

use crate::records::{Mode, TargetId};

/// Tells rows of the same targets apart: the mode unless it is exact or part of a name, the seed where there
/// are several.
pub(crate) fn qualifier(mode: Mode, targets: &[&TargetId], seed: u64, many_seeds: bool) -> String {
    let in_label = targets.iter().any(|target| target.mode == mode);
    let mode = if in_label || mode == Mode::Exact { String::new() } else { format!(", {mode}") };
    let seed = if many_seeds { format!(", seed {seed}") } else { String::new() };
    mode + &seed
}

/// A text with its first letter as a capital.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Names of targets in a row, with a text between each two.
pub(crate) fn joined<'a>(targets: impl IntoIterator<Item = &'a TargetId>, between: &str) -> String {
    targets.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// ` at 64 spp`; nothing where the samples per pixel are not known, as of images that a program left in a folder.
pub(crate) fn at_spp(spp: u32) -> String {
    if spp == 0 { String::new() } else { format!(" at {spp} spp") }
}

/// Whether there are two different seeds or more.
pub(crate) fn varies(mut seeds: impl Iterator<Item = u64>) -> bool {
    seeds.next().is_some_and(|first| seeds.any(|seed| seed != first))
}
