//! The image that a study's errors are measured against.
//!
//! A reference is the user's file, or a render under a seed of its own at [`RATIO`] times the top rung by the fastest
//! exact target, kept in a cache. Its own noise adds to every error that is measured against it: at 16 times the
//! samples, one sixteenth of the error at the top rung.
//!
//! Where that many samples would take longer than the budget, half as many are taken, and again, but never fewer than
//! [`LEAST_RATIO`] times the top rung. The budget is [`LEAST_BUDGET`] seconds or [`LADDERS`] times what the scene's
//! ladder took, whichever is longer, unless the user sets it: a reference should not turn a minute's study into an
//! hour's. The default study takes half of the time that it has for a scene. The record's `against` and a note
//! say what was taken.

use std::path::Path;
use std::time::Instant;

use lockstep_core::film::MAX_SPP;
use lockstep_core::{OpenOptions, Scene, Settings};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::records::{Note, Timing};

use super::cache::{self, Entry};
use super::participant::Participant;
use super::plan::Plan;
use super::step::film_hash;
use crate::backends::{self, Target};
use crate::exit::Failure;
use crate::pace::Pass;
use crate::progress::Bar;
use crate::render::image_of;

/// Samples per pixel of a reference over those of the top rung.
const RATIO: u32 = 16;
/// The least such ratio.
const LEAST_RATIO: u32 = 4;
/// The least budget, in seconds.
const LEAST_BUDGET: f64 = 20.0;
/// The budget in times of the scene's ladder.
const LADDERS: f64 = 2.0;
/// The seed of references, unless a study renders with it.
const SEED: u32 = 0x5EED_0F0F;

/// An image to measure errors against, and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// The image.
    pub(crate) image: LinearImage,
    /// A file, or target, samples per pixel and seed.
    pub(crate) against: String,
    /// Its samples per pixel; nothing for a file.
    pub(crate) spp: Option<u32>,
}

impl Reference {
    /// The user's image.
    ///
    /// # Errors
    /// [`Failure::Missing`] when its size is not the study's.
    pub(crate) fn from_file(image: LinearImage, file: &Path, settings: &Settings) -> Result<Self, Failure> {
        let (width, height) = (image.width(), image.height());
        if (width, height) != (settings.width, settings.height) {
            return Err(Failure::Missing(format!(
                "the reference {} has {width}x{height} pixels and the study {}x{}; use --size {width}x{height} or \
                 another reference",
                file.display(),
                settings.width,
                settings.height
            )));
        }
        Ok(Self { image, against: format!("file {}", file.display()), spp: None })
    }
}

/// A reference and remarks about it, or nothing because the user stopped it or no target can render it.
#[derive(Debug, Default)]
pub(crate) struct Obtained {
    /// The reference.
    pub(crate) reference: Option<Reference>,
    /// What the reader of the report should know.
    pub(crate) notes: Vec<Note>,
}

/// Takes the scene's reference from the cache, or renders it.
///
/// # Errors
/// What the renderer says. A cache that cannot be used is a remark, not an error.
pub(crate) fn obtain(
    plan: &Plan,
    scene: &Scene,
    participants: &mut [Participant],
    timings: &[Timing],
    bar: &Bar,
) -> Result<Obtained, Failure> {
    let note = |text: String| Note { scene: Some(scene.name.clone()), text, ..Note::default() };
    let ladder: Vec<&Timing> = timings.iter().filter(|t| t.scene == scene.name).collect();
    let mut spare = None;
    let Some(renderer) = choose(participants, &ladder, &plan.options, &mut spare)? else {
        let text = format!("{} has no reference: no target here promises exact images", scene.name);
        return Ok(Obtained { reference: None, notes: vec![note(text)] });
    };
    let settings = plan.with_seed(reference_seed(plan));
    bar.say(&format!("{} reference on {}", scene.name, renderer.name));
    renderer.load(scene, &settings)?;
    let mut watch = |n| bar.add(n);
    if matches!(renderer.advance(1, &mut watch)?, Pass::Stopped) {
        return Ok(Obtained::default());
    }
    let mut notes = Vec::new();
    let wanted = samples(plan, scene, &ladder, renderer, &mut |text| {
        notes.push(note(format!("the reference of {} {text}", scene.name)));
    });
    let entry = Entry::new(scene, &settings, film_hash(&renderer.film()?));
    let against = |spp: u32, target: &str| format!("{target}, {spp} spp, seed {}", settings.seed);
    if let Some(found) = cache::find(&entry, wanted) {
        let against = against(found.spp, &found.target);
        notes.push(note(format!("the reference of {} ({against}) is from the cache", scene.name)));
        return Ok(Obtained {
            reference: Some(Reference { image: found.image, against, spp: Some(found.spp) }),
            notes,
        });
    }
    bar.lengthen(u64::from(wanted));
    if matches!(renderer.advance(wanted, &mut watch)?, Pass::Stopped) {
        return Ok(Obtained::default());
    }
    let image = image_of(&renderer.film()?)?;
    if let Err(reason) = cache::store(&entry, wanted, &renderer.name, &image) {
        bar.line(&format!("lockstep: the reference of {} is not kept for next time: {reason}", scene.name));
    }
    let against = against(wanted, &renderer.name);
    Ok(Obtained { reference: Some(Reference { image, against, spp: Some(wanted) }), notes })
}

/// A seed that no image of the study has.
fn reference_seed(plan: &Plan) -> u32 {
    let is_studied = |seed: u32| seed == plan.settings.seed || plan.further_seeds().contains(&seed);
    (SEED..).chain(0..SEED).find(|&seed| !is_studied(seed)).unwrap_or(SEED)
}

/// The fastest exact target of the study by its ladder; without one, any exact target here.
fn choose<'a>(
    participants: &'a mut [Participant],
    ladder: &[&Timing],
    options: &OpenOptions,
    spare: &'a mut Option<Participant>,
) -> Result<Option<&'a mut Participant>, Failure> {
    let exact = participants.iter_mut().filter(|p| p.info.exact);
    let fastest = exact.max_by(|a, b| speed(ladder, &a.name).total_cmp(&speed(ladder, &b.name)));
    if fastest.is_some() {
        return Ok(fastest);
    }
    let Some(target) = backends::targets().into_iter().find(Target::is_exact) else {
        return Ok(None);
    };
    let renderer = target.open(options)?;
    Ok(Some(spare.insert(Participant::new(&target.name, renderer))))
}

/// Samples a millisecond in a target's longest step.
pub(super) fn speed(ladder: &[&Timing], target: &str) -> f64 {
    let steps = ladder.iter().filter(|t| t.target == target && t.total_ms > 0.0);
    steps.max_by_key(|t| t.samples).map_or(0.0, |t| t.samples as f64 / t.total_ms)
}

/// Samples per pixel of the reference, telling when the budget allows fewer than [`RATIO`] times the top rung.
fn samples(
    plan: &Plan,
    scene: &Scene,
    ladder: &[&Timing],
    renderer: &Participant,
    tell: &mut dyn FnMut(String),
) -> u32 {
    let top = plan.ladder.top();
    let budget = plan.reference_budget.unwrap_or_else(|| {
        let ladder_seconds = ladder.iter().map(|t| t.total_ms).sum::<f64>() / 1e3;
        let by_rule = LEAST_BUDGET.max(LADDERS * ladder_seconds);
        hurried(plan, scene, Instant::now()).map_or(by_rule, |seconds| by_rule.min(seconds))
    });
    let pixels = f64::from(plan.settings.width) * f64::from(plan.settings.height);
    let by_ladder = speed(ladder, &renderer.name);
    let seconds_per_spp =
        if by_ladder > 0.0 { pixels / by_ladder / 1e3 } else { renderer.predict(1).unwrap_or(0.0) };
    let (full, taken) = affordable(top, seconds_per_spp, budget);
    if taken < full {
        let seconds = seconds_per_spp * f64::from(full);
        tell(format!(
            "has {taken} spp: {full} spp would take about {seconds:.0} s, and the budget is {budget:.0} s \
             (--reference-budget)"
        ));
    }
    taken
}

/// The seconds for a scene's reference in the default study: of what its time leaves for the scene, half.
fn hurried(plan: &Plan, scene: &Scene, now: Instant) -> Option<f64> {
    let left = plan.hurry_until?.saturating_duration_since(now).as_secs_f64();
    let done = plan.scenes.iter().position(|s| s.name == scene.name).unwrap_or(0);
    Some(left / (plan.scenes.len() - done) as f64 / 2.0)
}

/// Samples per pixel of a full reference, and of one that fits the budget.
fn affordable(top: u32, seconds_per_spp: f64, budget: f64) -> (u32, u32) {
    let times = |ratio: u32| top.saturating_mul(ratio).min(MAX_SPP);
    let ratios =
        std::iter::successors(Some(RATIO), |ratio| Some(ratio / 2)).take_while(|&r| r >= LEAST_RATIO);
    let fits = |ratio: &u32| seconds_per_spp * f64::from(times(*ratio)) <= budget;
    (times(RATIO), times(ratios.into_iter().find(fits).unwrap_or(LEAST_RATIO)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::scene::SceneBuilder;
    use std::time::Duration;

    #[test]
    fn a_reference_has_sixteen_times_the_top_rung_where_the_budget_allows() {
        assert_eq!(affordable(64, 0.01, 20.0), (1024, 1024));
        assert_eq!(affordable(64, 0.03, 20.0), (1024, 512));
        assert_eq!(affordable(64, 100.0, 20.0), (1024, 256));
        assert_eq!(affordable(8192, 0.0, 20.0), (MAX_SPP, MAX_SPP));
    }

    #[test]
    fn the_default_study_gives_each_reference_half_of_what_is_left_for_its_scene() {
        let scene = |name: &str| SceneBuilder::new(name).build().unwrap();
        let scenes = vec![scene("a"), scene("b"), scene("c")];
        let start = Instant::now();
        let mut plan = Plan::of_scenes(scenes.clone());
        assert_eq!(hurried(&plan, &scenes[0], start), None);
        plan.hurry_until = Some(start + Duration::from_secs(90));
        let at = |index: usize, seconds| hurried(&plan, &scenes[index], start + Duration::from_secs(seconds));
        assert_eq!([at(0, 0), at(1, 30), at(2, 70), at(2, 100)], [15.0, 15.0, 10.0, 0.0].map(Some));
    }

    #[test]
    fn the_fastest_target_is_told_by_its_longest_step() {
        let step = |target: &str, samples, total_ms| Timing {
            target: target.into(),
            samples,
            total_ms,
            ..Timing::default()
        };
        let ladder = [step("a", 1, 0.001), step("a", 64, 64.0), step("b", 64, 32.0)];
        let ladder: Vec<&Timing> = ladder.iter().collect();
        assert_eq!((speed(&ladder, "a"), speed(&ladder, "b"), speed(&ladder, "c")), (1.0, 2.0, 0.0));
    }

    #[test]
    fn a_file_of_another_size_is_refused_with_exit_code_three() {
        let image = LinearImage::from_fn(4, 4, |_, _| [0.0; 3]);
        let settings = Settings { width: 8, height: 4, ..Settings::default() };
        let failure = Reference::from_file(image, Path::new("r.exr"), &settings).unwrap_err();
        assert_eq!(failure.exit() as u8, 3);
        assert!(failure.to_string().contains("--size 4x4"), "{failure}");
    }
}
