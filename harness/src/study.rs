//! `lockstep study`: the ladder of samples per pixel on every target, compared, timed and reported.
//!
//! A study can be stopped at any moment and gone on with by the same command. Its log is the only memory: a step of the
//! ladder whose records and images are there is not measured again. Films are not kept; since a sample is a function of
//! its indices alone, the samples before the first unfinished step are rendered again, untimed, and the hash of the film
//! that they make must be the recorded one.

mod again;
mod cache;
mod converge;
mod differences;
mod equal_time;
mod floor;
mod folder;
mod hits;
mod images;
mod judge;
mod parity;
mod participant;
mod plan;
mod reference;
mod resume;
mod run;
mod scaling;
mod step;
mod sweep;

use std::path::Path;

use lockstep_core::{Mode, TargetId};
use lockstep_reports::study::{Study, files};
use lockstep_reports::verdict::verdict;
use lockstep_setup as setup;
use serde_json::{Value, json};

pub(crate) use folder::append_to_study;
pub(crate) use plan::{COMMIT, command};
pub(crate) use resume::clear as clear_study;
pub(crate) use step::film_hash;

use crate::backends;
use crate::cli::StudyArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::kernels;
use crate::output::{print, print_json, say};
use folder::Folder;
use plan::Plan;
use run::{Run, remark};

/// Set to anything but nothing or 0, it keeps a study from fetching run-time libraries.
const OFFLINE: &str = "LOCKSTEP_OFFLINE";

/// Runs a study, or goes on with one.
///
/// # Errors
/// [`Failure`] for a command line, scene, target or file that cannot be used. What was recorded before stays.
pub(crate) fn run(args: &StudyArgs) -> Result<Exit, Failure> {
    if !args.no_setup && !is_offline() {
        set_up_missing(&args.targets);
    }
    backends::require(&args.require)?;
    kernels::dump(args.kernels.dump_kernels.as_deref())?;
    if args.sweep {
        return sweep::run(args);
    }
    let mut left_out = Vec::new();
    let modes: Vec<Mode> = args.modes.iter().map(|&mode| mode.into()).collect();
    let targets = backends::select_in_modes(&args.targets, &modes)?;
    let plan = Plan::make(args, &mut left_out)?;
    let participants = plan::open(&targets, &plan.options, &mut left_out)?;
    let again = again::Again::open(&targets, &participants, &plan)?;
    let environment = plan.environment(&participants);
    let (mut folder, goes_on) = Folder::open(&args.out, &environment, args.fresh)?;
    if goes_on {
        say(&format!("lockstep: going on with the study in {}; --fresh starts over", args.out.display()));
    }
    folder.append(left_out)?;
    interrupt::listen()?;
    let exact: Vec<String> = participants.iter().filter(|p| p.info.exact).map(|p| p.name.clone()).collect();
    let pools = if args.scaling { scaling::pools(&targets, &participants) } else { Vec::new() };
    let mut stopped =
        Run { plan: &plan, folder: &mut folder, participants, again, goes_on }.all()?.is_break();
    stopped = stopped || scaling::all(&plan, &pools, &mut folder)?.is_break();
    if stopped {
        folder.append(vec![remark("stopped by the user; the same command goes on with it")])?;
    }
    finish(args, &exact, stopped)
}

fn is_offline() -> bool {
    std::env::var_os(OFFLINE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Fetches what absent targets lack that `words` ask for. A set-up that fails leaves its target absent, and is no failure
/// of the study.
fn set_up_missing(words: &[String]) {
    let targets = backends::targets();
    let asked = |name: &str| words.iter().any(|word| backends::may_mean(word, name));
    let absent: Vec<TargetId> = targets
        .iter()
        .filter(|target| target.state.is_err() && asked(&target.name))
        .map(|target| target.name.as_str().into())
        .collect();
    let wanted = |item: &setup::Item| absent.iter().any(|target| item.serves(target));
    match (setup::select(&[]), setup::Host::here()) {
        (Ok(items), Ok(host)) => {
            let items: Vec<setup::Item> = items.into_iter().filter(wanted).collect();
            setup::fetch_missing(&items, &host, &setup::Progress::on_stderr());
        }
        (Err(error), _) | (_, Err(error)) => say(&format!("lockstep setup: {error}")),
    }
}

/// Writes the report, prints the verdict and derives the exit code.
fn finish(args: &StudyArgs, exact: &[String], stopped: bool) -> Result<Exit, Failure> {
    let made = lockstep_reports::write_report(&args.out)?;
    for warning in &made.warnings {
        say(&format!("lockstep: {warning}"));
    }
    let study = Study::load(&args.out)?;
    if args.json {
        print_json(&to_json(&study, &args.out, stopped))?;
    } else {
        print_verdict(&args.out)?;
    }
    for sentence in failures(&study, exact) {
        say(&format!("lockstep: {sentence}"));
    }
    Ok(match (stopped, failures(&study, exact).is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Differs,
    })
}

/// What fails a study: samples that had to be altered, targets that promise identity but differ, targets that differ by
/// more than noise or are broken, and films that depend on the number of threads.
fn failures(study: &Study, exact: &[String]) -> Vec<String> {
    let flawed = study.rejected.iter().map(|r| {
        format!(
            "{} on {} at {} spp: {} samples were not finite, {} negative, {} clamped",
            r.scene, r.target, r.spp, r.non_finite, r.negative, r.clamped
        )
    });
    let promises = |name: &String| exact.contains(name);
    let differing = study.differences.iter().filter(|d| !d.identical && promises(&d.a) && promises(&d.b));
    let broken = differing.map(|d| {
        format!(
            "{} and {} promise identical images but differ in {} pixels of {} at {} spp",
            d.a, d.b, d.pixels_differing, d.scene, d.spp
        )
    });
    let open = study.differences.iter().filter(|d| !promises(&d.a) || !promises(&d.b));
    let judged = open.filter_map(|d| {
        let finding = match d.verdict.as_str() {
            "biased" => "differ by more than noise",
            "broken" => "cannot be compared",
            _ => return None,
        };
        Some(format!("{} (A) and {} (B) {finding} on {} at {} spp: {}", d.a, d.b, d.scene, d.spp, d.reason))
    });
    let threads = study.scalings.iter().filter(|s| !s.identical).map(|s| {
        format!(
            "{} made another film of {} with {} threads than with its fewest",
            s.target, s.scene, s.threads
        )
    });
    flawed.chain(broken).chain(judged).chain(threads).collect()
}

/// Prints what the study in a folder found, for people or as one JSON document.
///
/// # Errors
/// [`Failure::Study`] when the folder cannot be read.
pub(crate) fn print_report(folder: &Path, json: bool) -> Result<(), Failure> {
    if json { print_json(&to_json(&Study::load(folder)?, folder, false)) } else { print_verdict(folder) }
}

/// Prints what a study found: a line for it, one for every pair, and where the page is.
///
/// # Errors
/// [`Failure::Study`] when the folder cannot be read.
pub(crate) fn print_verdict(folder: &Path) -> Result<(), Failure> {
    let study = Study::load(folder)?;
    let verdict = verdict(&study);
    let mut text = format!("{}\n", verdict.headline);
    for pair in &verdict.pairs {
        text.push_str(&format!("  {} and {} {}\n", pair.a, pair.b, pair.sentence(study.pixels())));
    }
    for hits in &study.hits {
        text.push_str(&format!("  why, on {} at {} spp: {}\n", hits.scene, hits.spp, hits.why));
    }
    for sentence in lockstep_reports::tables::path_sentences(&study) {
        text.push_str(&format!("  path by path, {sentence}\n"));
    }
    for sentence in lockstep_reports::tables::round_sentences(&study) {
        text.push_str(&format!("  {sentence}\n"));
    }
    text.push_str(&format!("{}\n", folder.join(files::PAGE).display()));
    print(&text)
}

fn to_json(study: &Study, folder: &Path, stopped: bool) -> Value {
    let verdict = verdict(study);
    let pairs: Vec<Value> = verdict
        .pairs
        .iter()
        .map(|p| {
            json!({
                "a": p.a, "b": p.b, "comparisons": p.points, "identical": p.identical,
                "sentence": p.sentence(study.pixels()),
            })
        })
        .collect();
    let why: Vec<Value> = study
        .hits
        .iter()
        .map(|h| {
            json!({
                "scene": h.scene, "a": h.a, "b": h.b, "spp": h.spp,
                "pixels_differing": h.pixels_differing, "pixels": h.pixels, "why": h.why,
            })
        })
        .collect();
    json!({
        "folder": folder.to_string_lossy(), "report": folder.join(files::PAGE).to_string_lossy(),
        "headline": verdict.headline, "good": verdict.good, "stopped": stopped,
        "scenes": study.scenes(), "targets": study.targets(), "rungs": study.spp_levels(),
        "pairs": pairs, "why": why, "times": lockstep_reports::tables::compared(study),
    })
}

#[cfg(test)]
mod tests;
