//! Triage of a check that failed: the exact command that looks into it.

use lockstep_core::Mode;
use lockstep_core::{OpenOptions, Renderer, Scene, TargetId};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::records::shell_line;

use super::store::Golden;
use crate::backends::{self, Target};
use crate::exit::Failure;
use crate::render::read_film;

/// The target that others are traced beside: it is always there, and it makes goldens.
const REFERENCE: &str = "cpu-bvh";

/// Samples that are looked through for the first that differs; a golden has few.
const MAX_SAMPLES: u32 = 64;

/// The next step for an image that is not its golden: a trace of the worst pixel's first sample that differs between target
/// and reference target; if none differs, a look at the changes since the golden was made.
///
/// # Errors
/// [`Failure::Core`] of the renderer.
pub(super) fn triage(
    spec: &str,
    scene: &Scene,
    target: &Target,
    golden: &Golden,
    image: &LinearImage,
    options: &OpenOptions,
) -> Result<String, Failure> {
    let reference = backends::one(REFERENCE, Mode::Exact)?;
    let pixel = image.most_different_pixel(&golden.image);
    if reference.id != target.id {
        let mut renderers = [reference.open(options)?, target.open(options)?];
        if let Some(sample) = first_difference(&mut renderers, scene, golden, pixel)? {
            return Ok(trace(spec, [&reference.id, &target.id], golden, pixel, sample));
        }
    }
    Ok(changed(spec, REFERENCE, golden))
}

/// The command that prints two targets' paths of one sample beside each other.
fn trace(spec: &str, [a, b]: [&TargetId; 2], golden: &Golden, [x, y]: [u32; 2], sample: u32) -> String {
    let s = &golden.settings;
    shell(&[
        "lockstep",
        "trace",
        spec,
        "-b",
        &format!("{a},{b}"),
        "--pixel",
        &format!("{x},{y}"),
        "--sample",
        &sample.to_string(),
        "--size",
        &format!("{}x{}", s.width, s.height),
        "--bounces",
        &s.bounces.to_string(),
        "--seed",
        &s.seed.to_string(),
    ])
}

/// The next step where the reference target has left the golden too.
fn changed(spec: &str, reference: &str, golden: &Golden) -> String {
    let since = match golden.commit.as_str() {
        "" | "none" => String::new(),
        commit => format!(" (git diff {commit} -- core backend-cpu scenes)"),
    };
    let bless = shell(&["lockstep", "golden", "bless", spec]);
    format!(
        "{reference} no longer renders the golden either: see what has changed since{since}; if it is meant to: {bless}"
    )
}

fn shell(words: &[&str]) -> String {
    shell_line(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
}

/// The first sample of a pixel of which two renderers make different sums.
fn first_difference(
    renderers: &mut [Box<dyn Renderer>; 2],
    scene: &Scene,
    golden: &Golden,
    [x, y]: [u32; 2],
) -> Result<Option<u32>, Failure> {
    let index = (y * golden.settings.width + x) as usize;
    for sample in 0..golden.spp.min(MAX_SAMPLES) {
        let mut sums = Vec::new();
        for renderer in renderers.iter_mut() {
            renderer.load(scene, &golden.settings)?;
            renderer.accumulate(sample..sample + 1)?;
            sums.push(read_film(renderer.as_mut())?.sums.get(index).copied());
        }
        if sums[0] != sums[1] {
            return Ok(Some(sample));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::Settings;

    fn golden(commit: &str) -> Golden {
        Golden {
            image: LinearImage::from_fn(8, 4, |_, _| [0.5; 3]),
            scene_hash: String::new(),
            settings: Settings { width: 8, height: 4, seed: 3, ..Settings::default() },
            spp: 4,
            commit: commit.into(),
        }
    }

    #[test]
    fn the_command_names_everything_that_the_golden_was_rendered_with() {
        let command =
            trace("my scene.glb", [&"cpu-bvh".into(), &"opencl@pocl".into()], &golden(""), [5, 2], 3);
        assert_eq!(
            command,
            "lockstep trace 'my scene.glb' -b cpu-bvh,opencl@pocl --pixel 5,2 --sample 3 --size 8x4 --bounces 3 --seed 3"
        );
    }

    #[test]
    fn a_change_of_the_reference_is_looked_for_since_the_golden_was_made() {
        let text = changed("cornell", "cpu-bvh", &golden("abc123"));
        assert!(
            text.contains("git diff abc123") && text.ends_with("lockstep golden bless cornell"),
            "{text}"
        );
        assert!(!changed("cornell", "cpu-bvh", &golden("none")).contains("git"));
    }
}
