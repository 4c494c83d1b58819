//! The image that a study's errors are measured against.
//!
//! A reference is the user's file, or a render under a seed of its own at [`RATIO`] times the last level by
//! the fastest exact target, kept in a cache. Its own noise adds to every error that is measured against it:
//! at 16 times the samples, one sixteenth of the error at the last level.
//!
//! Where that many samples would take longer than the budget, half as many are taken, and again, but never
//! fewer than [`LEAST_RATIO`] times the last level. The budget is [`LEAST_BUDGET`] seconds or
//! [`LEVELS_FACTOR`] times the time of the scene's levels, whichever is longer, unless the user sets it: a
//! reference should not turn a minute's study into an hour's. Images after given times (`--time`) may have more samples
//! than the last level: then the reference has [`RATIO`] times those that the fastest target renders in the longest time,
//! as far as the budget allows, to which these times count as levels do. The default study takes half of the time that
//! it has for a scene. The record's `against` and a note say what was taken. `--reference-time` takes as many samples
//! as fit into a time, whatever the levels, at the rate of passes that are long enough to fill the device; a cached
//! reference with three quarters of them will do.
//! A study of external programs alone has its reference from the first of them.

use std::collections::BTreeSet;
use std::time::Instant;

use lockstep_core::film::MAX_SPP;
use lockstep_core::{LayerSampling, OpenOptions, Scene, Settings, TargetId};
use lockstep_reports::records::{Note, Timing};

use super::plan::Plan;
use super::reference_cache::{self as cache, Entry};
pub(crate) use super::reference_image::Reference;
use super::reference_rule::{LEAST_RATIO, RATIO, reference_seed};
use super::target_session::{Purpose, TargetSession};
use crate::backends::{self, Target};
use crate::chunking::Pass;
use crate::exit::Failure;
use crate::progress::Bar;

/// The least budget, in seconds.
const LEAST_BUDGET: f64 = 20.0;
/// The budget over the time of the scene's levels.
const LEVELS_FACTOR: f64 = 2.0;
/// The part of a reference's time that a pass takes at least whose rate is taken for that of all. A pass's fixed costs are
/// small in it.
const LONG_PASS: f64 = 1.0 / 64.0;

/// A reference and remarks about it, or nothing because the user stopped it or no target can render it.
#[derive(Debug, Default)]
pub(crate) struct Obtained {
    /// The reference.
    pub(crate) reference: Option<Reference>,
    /// Remarks for the report.
    pub(crate) notes: Vec<Note>,
}

/// Takes the reference of a scene whose last level is `top` from the cache, or renders it on one of the exact
/// targets given.
///
/// # Errors
/// [`Failure::Core`] of the renderer. A cache that cannot be used is a remark, not an error.
pub(crate) fn obtain(
    plan: &Plan,
    (scene, top): (&Scene, u32),
    exact: Candidates<'_>,
    timings: &[Timing],
    bar: &Bar,
) -> Result<Obtained, Failure> {
    let note = |text: String| Note { scene: Some(scene.name.clone()), text, ..Note::default() };
    let timings: Vec<&Timing> = timings.iter().filter(|t| t.scene == scene.name).collect();
    let mut spare = None;
    let Some(renderer) = choose(exact, &timings, &plan.options, &mut spare)? else {
        let text = format!("{} has no reference: no target here promises exact images", scene.name);
        return Ok(Obtained { reference: None, notes: vec![note(text)] });
    };
    let settings = reference_settings(plan);
    bar.say(&renderer.loading(&scene.name));
    renderer.load(scene, &settings, Purpose::Reference)?;
    bar.say(&format!("{} reference on {}", scene.name, renderer.id));
    let mut watch = |n| bar.add(n);
    if matches!(renderer.advance(1, &mut watch)?, Pass::Stopped) {
        return Ok(Obtained::default());
    }
    let entry = Entry::new(scene, &settings, renderer.rendered()?.hash());
    let mut measured = None;
    if let Some(seconds) = plan.reference_seconds {
        measured = seconds_per_spp(seconds * LONG_PASS, |spp| match renderer.advance(spp, &mut watch)? {
            Pass::Done(report) => Ok::<_, Failure>(Some(report.stages.total_ms / 1e3)),
            Pass::Stopped => Ok(None),
        })?;
        if measured.is_none() {
            return Ok(Obtained::default());
        }
    }
    let mut notes = Vec::new();
    let wanted = samples(plan, (scene, top), &timings, (renderer, measured), &mut |text| {
        notes.push(note(format!("the reference of {} {text}", scene.name)));
    })
    .max(renderer.spp());
    // How many samples fit into a time is never the same twice.
    let least = if plan.reference_seconds.is_some() { wanted - wanted / 4 } else { wanted };
    if let Some(found) = cache::find(&entry, least) {
        let against = against(&named(plan, &found.target), found.spp, settings.seed);
        // Nothing was rendered for it, so no budget mattered.
        notes.clear();
        notes.push(note(format!("the reference of {} ({against}) is from the cache", scene.name)));
        return Ok(Obtained {
            reference: Some(Reference { image: found.image, against, spp: Some(found.spp) }),
            notes,
        });
    }
    bar.lengthen(u64::from(wanted - renderer.spp()));
    if matches!(renderer.advance(wanted, &mut watch)?, Pass::Stopped) {
        return Ok(Obtained::default());
    }
    let image = renderer.rendered()?.image()?;
    if let Err(reason) = cache::store(&entry, wanted, &renderer.id.to_string(), &image) {
        bar.line(&format!("lockstep: the reference of {} is not kept for next time: {reason}", scene.name));
    }
    let against = against(&named(plan, &renderer.id.to_string()), wanted, settings.seed);
    Ok(Obtained { reference: Some(Reference { image, against, spp: Some(wanted) }), notes })
}

/// Renders the reference of a scene on the first of the programs given, for a study that has no other targets. What it
/// gets wrong the reference has too: the errors of the others tell how far they are from it.
///
/// # Errors
/// [`Failure::Program`] where it fails.
pub(crate) fn of_program(
    plan: &Plan,
    (scene, top): (&Scene, u32),
    programs: Vec<&mut TargetSession>,
    timings: &[Timing],
    bar: &Bar,
) -> Result<Obtained, Failure> {
    let note = |text: String| Note { scene: Some(scene.name.clone()), text, ..Note::default() };
    let Some(program) = programs.into_iter().next() else {
        let text = format!("{} has no reference: no program rendered its last level", scene.name);
        return Ok(Obtained { reference: None, notes: vec![note(text)] });
    };
    let timings: Vec<&Timing> = timings.iter().filter(|t| t.scene == scene.name).collect();
    let settings = plan.with_seed(reference_seed(plan.settings.seed, plan.further_seeds()));
    bar.say(&format!("{} reference on {}", scene.name, program.id));
    program.load(scene, &settings, Purpose::Reference)?;
    let target = program.id.to_string();
    let mut notes = vec![note(format!(
        "the reference of {} is of {target}: no target of this study promises exact images",
        scene.name
    ))];
    let wanted = samples(plan, (scene, top), &timings, (program, None), &mut |text| {
        notes.push(note(format!("the reference of {} {text}", scene.name)));
    });
    bar.lengthen(u64::from(wanted));
    if matches!(program.advance(wanted, &mut |n| bar.add(n))?, Pass::Stopped) {
        return Ok(Obtained::default());
    }
    let against = against(&target, wanted, settings.seed);
    let image = program.rendered()?.image()?;
    Ok(Obtained { reference: Some(Reference { image, against, spp: Some(wanted) }), notes })
}

/// The target of a reference, with the integrator where that is not the study's.
fn named(plan: &Plan, target: &str) -> String {
    let id = TargetId::from(target);
    let is_told = id.integrator.is_some() || plan.reference_integrator == plan.settings.integrator;
    if is_told { target.to_owned() } else { id.by(plan.reference_integrator).to_string() }
}

/// The words by which records name a rendered reference.
pub(super) fn against(target: &str, spp: u32, seed: u32) -> String {
    format!("{target}, {spp} spp, seed {seed}")
}

/// The settings of references. Those by another integrator than the study's take all lobes of layers together, which
/// every integrator knows.
fn reference_settings(plan: &Plan) -> Settings {
    let shared = plan.with_seed(reference_seed(plan.settings.seed, plan.further_seeds()));
    let integrator = plan.reference_integrator;
    let layers = if integrator == shared.integrator { shared.layers } else { LayerSampling::Together };
    Settings { integrator, layers, ..shared }
}

/// The targets that may render a reference.
pub(crate) struct Candidates<'a> {
    /// Exact targets of the study, by the integrator of references.
    pub(crate) sessions: Vec<&'a mut TargetSession>,
    /// The target to open by the integrator of references, where none of the study's renders by it.
    pub(crate) like: Option<TargetId>,
}

/// The fastest exact target among those that render a scene, whatever its integrator.
pub(crate) fn fastest(
    sessions: &[TargetSession],
    (scene, targets): (&str, &[TargetId]),
    timings: &[Timing],
) -> Option<TargetId> {
    let timings: Vec<&Timing> = timings.iter().filter(|t| t.scene == scene).collect();
    let exact = sessions.iter().filter(|s| s.info.exact && !s.is_program() && targets.contains(&s.id));
    let found = exact.max_by(|a, b| speed(&timings, &a.id).total_cmp(&speed(&timings, &b.id)));
    found.map(|session| session.id.renderer())
}

/// The fastest of the study's exact targets by its timings; without one, its fastest by another integrator, or any
/// exact target here.
fn choose<'a>(
    Candidates { sessions: exact, like }: Candidates<'a>,
    timings: &[&Timing],
    options: &OpenOptions,
    spare: &'a mut Option<TargetSession>,
) -> Result<Option<&'a mut TargetSession>, Failure> {
    let speed = |session: &TargetSession| speed(timings, &session.id);
    let fastest = exact.into_iter().max_by(|a, b| speed(a).total_cmp(&speed(b)));
    if fastest.is_some() {
        return Ok(fastest);
    }
    let alike = like.map(|id| backends::select(&[id.to_string()])).transpose()?.unwrap_or_default();
    let Some(target) = alike.into_iter().chain(backends::targets()).find(Target::is_exact) else {
        return Ok(None);
    };
    let renderer = target.open(options)?;
    Ok(Some(spare.insert(TargetSession::new(target.id.clone(), renderer))))
}

/// Samples a millisecond at a target's longest level.
pub(super) fn speed(timings: &[&Timing], target: &TargetId) -> f64 {
    let levels = timings.iter().filter(|t| t.target == *target && t.total_ms > 0.0);
    levels.max_by_key(|t| t.samples).map_or(0.0, |t| t.samples as f64 / t.total_ms)
}

/// Seconds that a sample of every pixel takes where passes are long: the film's samples double, from its first on, until
/// a pass takes `long` seconds. `render` fills the film up to a number of samples per pixel and returns the seconds of this
/// pass, `None` where the user stops it; then this is `None` too.
fn seconds_per_spp<E>(
    long: f64,
    mut render: impl FnMut(u32) -> Result<Option<f64>, E>,
) -> Result<Option<f64>, E> {
    let mut spp = 1;
    loop {
        let Some(seconds) = render(2 * spp)? else {
            return Ok(None);
        };
        if seconds >= long || 4 * spp > MAX_SPP {
            return Ok(Some(seconds / f64::from(spp)));
        }
        spp *= 2;
    }
}

/// Samples per pixel of the reference, by a renderer and the seconds that a sample of every pixel takes in its long passes,
/// where they are known. `warn` is called where the budget allows fewer than [`RATIO`] times the most of any image that
/// errors are taken of.
fn samples(
    plan: &Plan,
    (scene, top): (&Scene, u32),
    timings: &[&Timing],
    (renderer, in_long_passes): (&TargetSession, Option<f64>),
    warn: &mut dyn FnMut(String),
) -> u32 {
    let pixels = f64::from(plan.settings.width) * f64::from(plan.settings.height);
    let measured = speed(timings, &renderer.id);
    let by_levels = (measured > 0.0).then(|| pixels / measured / 1e3);
    let seconds_per_spp = in_long_passes.or(by_levels).or_else(|| renderer.predict(1)).unwrap_or(0.0);
    if let Some(seconds) = plan.reference_seconds {
        return fitting(top, seconds_per_spp, seconds);
    }
    let targets: BTreeSet<&TargetId> = timings.iter().map(|timing| &timing.target).collect();
    let budget = plan.reference_budget.unwrap_or_else(|| {
        let levels_seconds = timings.iter().map(|t| t.total_ms).sum::<f64>() / 1e3;
        let times_seconds = targets.len() as f64 * plan.times.iter().sum::<f64>();
        let by_rule = LEAST_BUDGET.max(LEVELS_FACTOR * (levels_seconds + times_seconds));
        before_deadline(plan, scene, Instant::now()).map_or(by_rule, |seconds| by_rule.min(seconds))
    });
    let fastest = targets.iter().map(|target| speed(timings, target)).fold(0.0, f64::max);
    let longest = plan.times.last().copied().unwrap_or(0.0);
    let reached = longest * 1e3 * fastest / pixels;
    let (full, taken) = for_times(affordable(top, seconds_per_spp, budget), reached, seconds_per_spp, budget);
    if taken < full {
        let needed = whole_from_ten(seconds_per_spp * f64::from(full));
        let budget = match whole_from_ten(budget).as_str() {
            "0.0" => "no time is left for it".to_owned(),
            seconds => format!("the budget is {seconds} s"),
        };
        warn(format!(
            "has {taken} spp: {full} spp would take about {needed} s, and {budget} (--reference-budget)"
        ));
    }
    taken
}

/// The samples per pixel of a full reference, and of one that fits the budget, where a target renders `reached` samples in
/// the longest time that errors are taken after, and the levels alone ask for as many as given.
fn for_times((full, taken): (u32, u32), reached: f64, seconds_per_spp: f64, budget: f64) -> (u32, u32) {
    let wanted = (f64::from(RATIO) * reached).min(f64::from(MAX_SPP)) as u32;
    let affordable = budget / seconds_per_spp.max(f64::MIN_POSITIVE);
    (full.max(wanted), taken.max(wanted.min(affordable as u32)))
}

/// Seconds in whole numbers from ten on, else to a tenth.
fn whole_from_ten(seconds: f64) -> String {
    format!("{seconds:.*}", usize::from(seconds < 9.95))
}

/// The seconds for a scene's reference in the default study: half of the scene's share of the time left.
fn before_deadline(plan: &Plan, scene: &Scene, now: Instant) -> Option<f64> {
    let left = plan.deadline?.saturating_duration_since(now).as_secs_f64();
    let done = plan.scenes.iter().position(|s| s.name == scene.name).unwrap_or(0);
    Some(left / (plan.scenes.len() - done) as f64 / 2.0)
}

/// Samples per pixel of a full reference.
fn full(top: u32) -> u32 {
    top.saturating_mul(RATIO).min(MAX_SPP)
}

/// Samples per pixel that fit into a time, and no fewer than those of the last level.
fn fitting(top: u32, seconds_per_spp: f64, seconds: f64) -> u32 {
    ((seconds / seconds_per_spp.max(f64::MIN_POSITIVE)) as u32).clamp(top.min(MAX_SPP), MAX_SPP)
}

/// Samples per pixel of a full reference, and of one that fits the budget.
fn affordable(top: u32, seconds_per_spp: f64, budget: f64) -> (u32, u32) {
    let times = |ratio: u32| top.saturating_mul(ratio).min(MAX_SPP);
    let ratios =
        std::iter::successors(Some(RATIO), |ratio| Some(ratio / 2)).take_while(|&r| r >= LEAST_RATIO);
    let fits = |ratio: &u32| seconds_per_spp * f64::from(times(*ratio)) <= budget;
    (full(top), times(ratios.into_iter().find(fits).unwrap_or(LEAST_RATIO)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::scene::SceneBuilder;
    use std::time::Duration;

    #[test]
    fn a_reference_has_sixteen_times_the_last_level_where_the_budget_allows() {
        assert_eq!(affordable(64, 0.01, 20.0), (1024, 1024));
        assert_eq!(affordable(64, 0.03, 20.0), (1024, 512));
        assert_eq!(affordable(64, 100.0, 20.0), (1024, 256));
        assert_eq!(affordable(8192, 0.0, 20.0), (MAX_SPP, MAX_SPP));
    }

    #[test]
    fn a_reference_for_times_has_sixteen_times_what_the_longest_reaches_where_the_budget_allows() {
        // A sample takes 10 ms: 100 samples after a second.
        assert_eq!(for_times((64, 64), 100.0, 0.01, 20.0), (1600, 1600));
        assert_eq!(for_times((64, 64), 100.0, 0.01, 8.0), (1600, 800));
        assert_eq!(for_times((64, 64), 100.0, 0.01, 0.0), (1600, 64), "no fewer than for the levels");
        assert_eq!(for_times((4096, 1024), 100.0, 0.01, 8.0), (4096, 1024));
        assert_eq!(for_times((64, 64), 1e9, 0.0, 20.0), (MAX_SPP, MAX_SPP));
    }

    #[test]
    fn a_reference_by_time_has_the_samples_that_fit_and_at_least_those_of_the_last_level() {
        assert_eq!([0.01, 10.0, 0.0].map(|per_spp| fitting(8, per_spp, 2.0)), [200, 8, MAX_SPP]);
    }

    #[test]
    fn a_reference_s_rate_is_that_of_long_passes() {
        // A pass takes 10 ms, and 0.1 ms for each sample of every pixel.
        let mut spp = 1;
        let mut render = |to: u32| {
            let added = to - std::mem::replace(&mut spp, to);
            Ok::<_, ()>(Some(0.01 + 1e-4 * f64::from(added)))
        };
        let per_spp = seconds_per_spp(0.1, &mut render).unwrap().unwrap();
        assert!((1e-4..1.1e-4).contains(&per_spp), "{per_spp}");
        assert!(spp == 2048, "{spp}");
        assert_eq!(seconds_per_spp(1.0, |_| Ok::<_, ()>(None)), Ok(None), "stopped by the user");
        let mut most = 0;
        let without_cost = seconds_per_spp(1.0, |to| {
            most = to;
            Ok::<_, ()>(Some(0.0))
        });
        assert_eq!((without_cost, most), (Ok(Some(0.0)), MAX_SPP), "no more samples than a film takes");
    }

    #[test]
    fn a_reference_by_another_integrator_than_the_study_s_is_named_with_it() {
        let mut plan = Plan::of_scenes(Vec::new(), Vec::new(), Settings::default());
        assert_eq!(named(&plan, "cpu-bvh"), "cpu-bvh");
        plan.reference_integrator = lockstep_core::Integrator::Vcm;
        assert_eq!([named(&plan, "cpu-bvh"), named(&plan, "cuda@0+vcm")], ["cpu-bvh+vcm", "cuda@0+vcm"]);
    }

    #[test]
    fn the_default_study_gives_each_reference_half_of_what_is_left_for_its_scene() {
        let scene = |name: &str| SceneBuilder::new(name).build().unwrap();
        let scenes = vec![scene("a"), scene("b"), scene("c")];
        let start = Instant::now();
        let mut plan = Plan::of_scenes(Vec::new(), scenes.clone(), Settings::default());
        assert_eq!(before_deadline(&plan, &scenes[0], start), None);
        plan.deadline = Some(start + Duration::from_secs(90));
        let at = |index: usize, seconds| {
            before_deadline(&plan, &scenes[index], start + Duration::from_secs(seconds))
        };
        assert_eq!([at(0, 0), at(1, 30), at(2, 70), at(2, 100)], [15.0, 15.0, 10.0, 0.0].map(Some));
    }

    #[test]
    fn the_fastest_target_is_known_by_its_longest_level() {
        let level = |target: &str, samples, total_ms| Timing {
            target: target.into(),
            samples,
            total_ms,
            ..Timing::default()
        };
        let timings = [level("a", 1, 0.001), level("a", 64, 64.0), level("b", 64, 32.0)];
        let timings: Vec<&Timing> = timings.iter().collect();
        assert_eq!(["a", "b", "c"].map(|target| speed(&timings, &target.into())), [1.0, 2.0, 0.0]);
    }
}
