//! `lockstep study --sweep`: every way in which a target can run its passes, timed in turns and held to the same film.
//!
//! Targets tell their variants (`Renderer::variants`); the first is their own way. A round times every variant once and
//! the first again at its end, for the floor of the timing. All variants of a target render the same samples of a scene,
//! as many as a pass of the first takes some time for.

use std::ops::ControlFlow;

use lockstep_core::{ConfigureReport, Mode};
use lockstep_core::{Error, PassReport, Scene, Settings};
use lockstep_core::{KernelConfig, Structure};
use lockstep_reports::records::Tune;
use lockstep_reports::study::{Study, files};
use lockstep_reports::tuning::{Tuned, tuned};
use lockstep_reports::verdict::verdict;
use serde_json::{Value, json};

use super::folder::Folder;
use super::participant::Participant;
use super::plan::{self, Plan};
use super::run::{self, remark};
use super::step;
use crate::backends;
use crate::cli::StudyArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{print, print_json, say};
use crate::progress::Bar;

/// Rounds of a sweep that is not told how many: the fewest whose interval encloses the median with 95 %.
const ROUNDS: u32 = 6;

/// What all timed passes of a target on a scene should take together, in milliseconds.
const TARGET_MS: f64 = 20_000.0;

/// The longest that a pass should take, in milliseconds.
const LONGEST_PASS_MS: f64 = 200.0;

/// Samples of every pixel that a pass takes where that is not too long: with fewer, several in flight are no more than one.
const WANTED_SPP: u32 = 4;

/// The most samples of every pixel that a pass takes where the user does not say.
const MOST_SPP: u32 = 4_096;

/// Runs a sweep, or goes on with one.
///
/// # Errors
/// [`Failure`] for a command line, scene, target or file that cannot be used. What was recorded before stays.
pub(super) fn run(args: &StudyArgs) -> Result<Exit, Failure> {
    let mut left_out = Vec::new();
    let targets = backends::select(&args.targets)?;
    let plan = Plan::make(args, &mut left_out)?;
    let participants = plan::open(&targets, &plan.options, &mut left_out)?;
    let rounds = args.repeats.unwrap_or(ROUNDS);
    let mut environment = plan.environment(&participants);
    environment.settings.spp = args.spp.iter().map(|ladder| ladder.top()).collect();
    (environment.settings.seeds, environment.settings.repeats) = (1, rounds);
    let (mut folder, goes_on) = Folder::open(&args.out, &environment, args.fresh)?;
    if goes_on {
        say(&format!("lockstep: going on with the sweep in {}; --fresh starts over", args.out.display()));
    }
    folder.append(left_out)?;
    interrupt::listen()?;
    let asked = Asked { rounds, spp: args.spp.as_ref().map(|ladder| ladder.top()), settings: plan.settings };
    let stopped = all(&plan, participants, &asked, &mut folder)?.is_break();
    if stopped {
        folder.append(vec![remark("stopped by the user; the same command goes on with it")])?;
    }
    finish(args, stopped)
}

/// What every target is asked.
struct Asked {
    rounds: u32,
    /// Samples of every pixel in a pass, where the user says.
    spp: Option<u32>,
    settings: Settings,
}

/// Every scene on every target, until all are done or the user stops.
fn all(
    plan: &Plan,
    mut participants: Vec<Participant>,
    asked: &Asked,
    folder: &mut Folder,
) -> Result<ControlFlow<()>, Failure> {
    for scene in &plan.scenes {
        for participant in &mut participants {
            if !run::load(participant, scene, &asked.settings, folder)? {
                continue;
            }
            if Series::new(scene, participant, asked, folder)?.run()?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// All variants of one target on one scene.
struct Series<'a> {
    scene: &'a Scene,
    participant: &'a mut Participant,
    asked: &'a Asked,
    folder: &'a mut Folder,
    variants: Vec<KernelConfig>,
    /// Samples of every pixel in a pass.
    spp: u32,
    /// Film and rays of the first variant's pass.
    expected: Option<(String, u64)>,
}

impl<'a> Series<'a> {
    /// Finds what is to be timed, and how many samples a pass takes: as many as before where the sweep was stopped.
    fn new(
        scene: &'a Scene,
        participant: &'a mut Participant,
        asked: &'a Asked,
        folder: &'a mut Folder,
    ) -> Result<Self, Failure> {
        let variants = participant.renderer().kernel_configs();
        let of_default = |s: &&Tune| s.scene == scene.name && s.target == participant.name && s.default;
        let before = folder.sweeps().iter().find(of_default);
        let expected = before.map(|s| (s.film.clone(), s.rays));
        let spp = asked.spp.or(before.map(|s| s.spp));
        let mut series = Self { scene, participant, asked, folder, variants, spp: 1, expected };
        series.spp = match spp {
            Some(spp) => spp,
            None => series.choose_spp()?,
        };
        Ok(series)
    }

    /// Doubles the samples of a pass until it takes long enough.
    fn choose_spp(&mut self) -> Result<u32, Failure> {
        let passes = f64::from(self.asked.rounds) * (self.variants.len() + 1) as f64;
        let wanted = (TARGET_MS / passes).min(LONGEST_PASS_MS);
        let longest = |spp| if spp < WANTED_SPP { LONGEST_PASS_MS } else { wanted };
        let mut spp = 1;
        loop {
            self.turn_to(&KernelConfig::default())?;
            let pass = self.participant.renderer().accumulate(0..spp)?;
            if pass.stages.total_ms * 2.0 > longest(spp) || spp >= MOST_SPP || interrupt::requested() {
                return Ok(spp);
            }
            spp *= 2;
        }
    }

    /// Turns the renderer to a variant; one that knows none but its own way is loaded anew.
    fn turn_to(&mut self, variant: &KernelConfig) -> Result<ConfigureReport, Error> {
        let renderer = self.participant.renderer();
        match renderer.configure(variant) {
            Err(Error::Unsupported { .. }) if *variant == KernelConfig::default() => {
                renderer.load(self.scene, &self.asked.settings)?;
                Ok(ConfigureReport::default())
            }
            other => other,
        }
    }

    /// All rounds.
    fn run(&mut self) -> Result<ControlFlow<()>, Failure> {
        let last = self.variants.len();
        let passes = u64::from(self.asked.rounds) * (last as u64 + 1);
        let bar = Bar::new(
            &format!("{} on {}", self.scene.name, self.participant.name),
            passes * u64::from(self.spp),
        );
        for repeat in 0..self.asked.rounds {
            for place in 0..=last {
                if interrupt::requested() {
                    bar.clear();
                    return Ok(ControlFlow::Break(()));
                }
                let again = place == last;
                let variant = self.variants.get(place).copied().unwrap_or_default();
                bar.say(&format!("{} {} {variant}", self.scene.name, self.participant.name));
                self.point(&variant, repeat, again)?;
                bar.add(u64::from(self.spp));
            }
        }
        bar.clear();
        Ok(ControlFlow::Continue(()))
    }

    /// One variant in one round, unless it is on disk or was refused before.
    fn point(&mut self, variant: &KernelConfig, repeat: u32, again: bool) -> Result<(), Failure> {
        let key = self.key(variant, repeat, again);
        let is_same = |s: &Tune| {
            (&s.scene, &s.target, &s.variant) == (&key.scene, &key.target, &key.variant)
                && !s.refused.is_empty()
        };
        if self.folder.has(key.clone()) || self.folder.sweeps().iter().any(is_same) {
            return Ok(());
        }
        let record = match self.pass(variant, key.clone()) {
            Ok(record) => record,
            // Without its own way a target has nothing to compare with.
            Err(failure) if key.default => return Err(failure),
            Err(Failure::Core(
                error @ (Error::Device { .. } | Error::Unsupported { .. } | Error::Compile { .. }),
            )) => Tune { refused: reason(&error), ..key },
            Err(other) => return Err(other),
        };
        self.folder.append(vec![record.into()])
    }

    /// Renders a pass in a variant.
    fn pass(&mut self, variant: &KernelConfig, key: Tune) -> Result<Tune, Failure> {
        let turned = self.turn_to(variant)?;
        let pass = self.participant.renderer().accumulate(0..self.spp)?;
        let film = step::film_hash(&self.participant.film()?);
        let rays = pass.extension_rays() + pass.shadow_rays();
        let (expected, expected_rays) = self.expected.get_or_insert_with(|| (film.clone(), rays));
        let identical = *expected == film && *expected_rays == rays;
        let sweep = Tune { group: turned.group, compile_ms: turned.compile_ms, rays, film, identical, ..key };
        Ok(timed(sweep, variant, &pass))
    }

    /// What a point is about, before it is measured.
    fn key(&self, variant: &KernelConfig, repeat: u32, again: bool) -> Tune {
        let in_grid = *variant == KernelConfig { group: variant.group, ..variant.scheduling() };
        Tune {
            scene: self.scene.name.clone(),
            target: self.participant.name.clone(),
            variant: variant.to_string(),
            scheduling: variant.scheduling().to_string(),
            group: variant.group,
            in_grid,
            default: *variant == KernelConfig::default(),
            repeat,
            again,
            spp: self.spp,
            seed: u64::from(self.asked.settings.seed),
            promised: self.participant.info.exact && variant.mode == Mode::Exact,
            mode: variant.mode,
            ..Tune::default()
        }
    }
}

/// Fills in the times of a pass.
fn timed(sweep: Tune, variant: &KernelConfig, pass: &PassReport) -> Tune {
    let stages = &pass.stages;
    let (trace, shade) = (stages.trace_ms(), stages.ms(lockstep_core::stage::SHADE));
    let [trace_ms, shade_ms, queue_ms] = match variant.structure {
        Structure::Megakernel => [f64::NAN; 3],
        _ => [trace, shade, (stages.total_ms - trace - shade).max(0.0)],
    };
    Tune { trace_ms, shade_ms, queue_ms, total_ms: stages.total_ms, ..sweep }
}

/// A refusal without the target's name, which stands beside it.
fn reason(error: &Error) -> String {
    match error {
        Error::Device { action, reason, .. } => format!("{action}: {reason}"),
        Error::Unsupported { what, .. } => format!("{what} is not supported"),
        other => other.to_string(),
    }
}

/// Writes the report, prints what was found and derives the exit code.
fn finish(args: &StudyArgs, stopped: bool) -> Result<Exit, Failure> {
    let made = lockstep_reports::write_report(&args.out)?;
    made.warnings.iter().for_each(|warning| say(&format!("lockstep: {warning}")));
    let study = Study::load(&args.out)?;
    let rows = tuned(&study);
    let headline = verdict(&study).headline;
    let page = args.out.join(files::PAGE);
    if args.json {
        print_json(&json!({
            "folder": args.out.to_string_lossy(), "report": page.to_string_lossy(), "headline": headline,
            "stopped": stopped, "variants": rows.iter().map(to_json).collect::<Vec<Value>>(),
        }))?;
    } else {
        let best = rows.iter().filter(|row| row.best).map(best_in_words);
        let lines: String = best.map(|line| format!("  {line}\n")).collect();
        print(&format!("{headline}\n{lines}{}\n", page.display()))?;
    }
    for row in rows.iter().filter(|row| row.is_bug()) {
        say(&format!(
            "lockstep: {} on {} changes the film of {}, which no variant may: a bug in its kernels or their compiler",
            row.variant, row.target, row.scene
        ));
    }
    Ok(match (stopped, rows.iter().any(Tuned::is_bug)) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Differs,
        (false, false) => Exit::Fine,
    })
}

fn best_in_words(row: &Tuned) -> String {
    let place = format!("{} on {}", row.scene, row.target);
    match row.ratio {
        Some(ratio) if !row.default => format!(
            "{place}: {} is best, {:.3} of the default's time ({:.3} to {:.3})",
            row.variant, ratio.median, ratio.low, ratio.high
        ),
        _ => format!("{place}: the default, {}, is best", row.variant),
    }
}

fn to_json(row: &Tuned) -> Value {
    json!({
        "scene": row.scene, "target": row.target, "variant": row.variant, "group": row.group, "spp": row.spp,
        "default": row.default, "again": row.again, "best": row.best, "identical": row.identical,
        "promised": row.promised, "refused": row.refused, "total_ms": row.total, "ratio": row.ratio,
        "change": row.change,
    })
}

#[cfg(test)]
mod tests;
