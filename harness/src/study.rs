//! `lockstep study`: scenes on every target at every level of samples per pixel, compared, timed and
//! reported.
//!
//! A study is a list of measurements ([`plan`]), made one after the other by one [`runner`], each unless its
//! results are in the folder already. So a study can be stopped at any moment and resumed by the same
//! command; its folder is the only memory. Films are not kept; since a sample is a function of its indices
//! alone, the samples before the first level that is not recorded are rendered again, untimed, and the hash
//! of the film that they make must be the recorded one.

mod differences;
mod divergence;
mod folder;
mod image_file;
mod images;
mod key;
mod lab;
mod level;
pub(crate) mod measurements;
mod plan;
mod reference;
mod reference_cache;
mod reference_image;
mod reference_rule;
mod rendered;
mod resume;
mod runner;
mod shards;
mod study_target;
mod target_session;
mod verdicts;

use std::path::Path;

use lockstep_core::{Mode, TargetId};
use lockstep_reports::image_io::atomic_write_text;
use lockstep_reports::records::{Difference, Divergence, DivergenceScope, Hits, RunFailure, Tests};
use lockstep_reports::study::{Study, files};
use lockstep_reports::tables::{
    Table, efficiency_sentences, equal_time_devices_table, equal_time_integrators_table,
    equal_time_sentences, once_a_group, reference_sentences, round_sentences, scaling_integrators_table,
    scaling_sentences,
};
use lockstep_reports::verdict::{StudyVerdict, verdict};
use lockstep_setup as setup;
use serde_json::{Value, json};

pub(crate) use folder::{Folder, append_to_study};
pub(crate) use image_file::faults as image_faults;
pub(crate) use lab::Lab;
pub(crate) use plan::{COMMIT, Plan, command, open};
pub(crate) use rendered::film_hash;
pub(crate) use resume::clear as clear_study;
pub(crate) use runner::run as run_measurements;
pub(crate) use shards::{Share, merge};
pub(crate) use study_target::StudyTarget;

use crate::backends::{self, Target};
use crate::baseline;
use crate::cli::{FolderArgs, StudyArgs};
use crate::exit::{Exit, Failure};
use crate::external::Externals;
use crate::interrupt;
use crate::kernels;
use crate::memory_need;
use crate::output::{print, print_json, say};
use crate::terminal::{self, Grading};
use measurements::{AaControl, Group, Pool};

/// The folder of a study that names none.
const DEFAULT_FOLDER: &str = "study";

/// The comparison with the baseline, in the study's folder.
const DIFF: &str = "diff.md";

/// Set to anything but nothing or 0, it keeps a study from fetching run-time libraries.
const OFFLINE: &str = "LOCKSTEP_OFFLINE";

/// Runs a study, or resumes one.
///
/// # Errors
/// [`Failure`] for a command line, scene, target or file that cannot be used. Earlier records stay.
pub(crate) fn run(args: &StudyArgs) -> Result<Exit, Failure> {
    if args.limit.fail_slower.is_some() && args.baseline.is_none() {
        return Err(Failure::Usage(
            "--fail-slower compares with a baseline; name one with --baseline DIR|NAME".into(),
        ));
    }
    if let Some(file) = &args.plan {
        return shards::print_plan(args, file.as_deref());
    }
    if let Some(share) = args.shard {
        return shards::run_shard(args, share);
    }
    let externals = externals(args)?;
    let required = externals.require(&args.folder.require)?;
    set_up(&FolderArgs { require: required, ..args.folder.clone() }, &args.subject.targets)?;
    kernels::dump(args.kernels.dump_kernels.as_deref())?;
    let mut skipped = Vec::new();
    let modes: Vec<Mode> = args.modes.iter().map(|&mode| mode.into()).collect();
    let words = [&args.subject.targets[..], &study_target::sets(args.sets())?].concat();
    let mut targets =
        study_target::select(&externals, &words, &modes, &args.integrators, args.compared_layers())?;
    if args.is_default_work() {
        let own: Vec<Target> = targets.iter().filter_map(StudyTarget::own).cloned().collect();
        targets.extend(backends::first_fast_build(&own).map(StudyTarget::from));
    }
    if let Some(against) = &args.against {
        study_target::find(&targets, against)?;
    }
    let baseline = args.baseline.as_deref().map(baseline::load).transpose()?;
    let unread = targets.iter().all(StudyTarget::reads_scenes);
    let mut plan = Plan::of_study(args, unread, &mut skipped)?;
    if let (Some(baseline), None) = (&baseline, args.repeats) {
        plan.repeats = baseline.environment.settings.repeats.max(1);
    }
    let sessions = open(&targets, &plan.options, &mut skipped)?;
    memory_need::check_study(sessions.iter().map(|session| &session.info), &plan.settings)?;
    let environment = plan.environment(&sessions);
    baseline.as_ref().map_or(Ok(()), |baseline| baseline::check_plan(baseline, &environment))?;
    let control = AaControl::open(&targets, &sessions, &plan)?;
    let (mut folder, resumes) =
        Folder::open_or_next(args.out.as_deref(), DEFAULT_FOLDER, &environment, args.folder.fresh)?;
    let root = folder.root().to_owned();
    if resumes {
        say(&format!("lockstep: resuming the study in {}; --fresh starts over", root.display()));
    }
    folder.append(skipped)?;
    interrupt::listen()?;
    let exact: Vec<TargetId> = sessions.iter().filter(|s| s.info.exact).map(|s| s.id.clone()).collect();
    let ids: Vec<TargetId> = sessions.iter().map(|session| session.id.clone()).collect();
    let pools = if args.scaling { Pool::of(&targets, &sessions) } else { Vec::new() };
    let groups = Group::of(args)?;
    if args.preset.is_some() {
        say(&format!("lockstep: {}", plan.time_in_words(sessions.len())));
    }
    let mut lab = Lab::new(&plan, folder, sessions, resumes).with_control(control);
    let stopped = run_measurements(&plan.series(&ids, &pools, &groups), &mut lab)?.is_break();
    lab.folder.end(stopped)?;
    drop(lab);
    finish(args, &root, &exact, baseline.as_ref(), stopped)
}

/// The external targets of a study. A `targets.toml` that nobody named is read only if a word means none of Lockstep's own
/// targets, so a faulty file beside a scene cannot hinder a study without external targets.
fn externals(args: &StudyArgs) -> Result<Externals, Failure> {
    // Together, since every question looks for devices.
    let words = [&args.subject.targets[..], &args.folder.require].concat();
    match args.targets_file.is_none() && backends::are_known(&words) {
        true => Ok(Externals::default()),
        false => Externals::find(args.targets_file.as_deref(), &args.subject.scenes),
    }
}

/// Fetches missing run-time libraries unless that is forbidden, and fails unless required targets are
/// present.
///
/// # Errors
/// [`Failure::Usage`] for an unknown target, [`Failure::TargetAbsent`] for a required one that is absent.
pub(crate) fn set_up(args: &FolderArgs, targets: &[String]) -> Result<(), Failure> {
    if !args.no_setup && !is_offline() {
        set_up_missing(targets, args.install_packages);
    }
    backends::require(&args.require)
}

fn is_offline() -> bool {
    std::env::var_os(OFFLINE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Fetches libraries of absent targets that `words` may mean. A set-up that fails leaves its target absent,
/// and is no failure of the study. Packages of the system are installed only where the user agreed.
fn set_up_missing(words: &[String], install_packages: bool) {
    let targets = backends::targets();
    let is_asked = |id: &TargetId| words.iter().any(|word| backends::may_mean(word, id));
    let absent: Vec<TargetId> = targets
        .iter()
        .filter(|target| target.state.is_err() && is_asked(&target.id))
        .map(|target| target.id.clone())
        .collect();
    let wanted = |item: &setup::Item| absent.iter().any(|target| item.serves(target));
    match (setup::select(&[]), setup::Host::here()) {
        (Ok(items), Ok(host)) => {
            let items: Vec<setup::Item> = items.into_iter().filter(wanted).collect();
            let host = host.installing_packages(install_packages);
            setup::fetch_missing(&items, &host, &setup::Progress::on_stderr());
        }
        (Err(error), _) | (_, Err(error)) => say(&format!("lockstep setup: {error}")),
    }
}

/// Writes the report, prints the verdict and derives the exit code.
fn finish(
    args: &StudyArgs,
    root: &Path,
    exact: &[TargetId],
    before: Option<&Study>,
    stopped: bool,
) -> Result<Exit, Failure> {
    let study = write_report(root)?;
    let diff = before.map(|before| baseline::compare(before, &study)).transpose()?;
    if args.folder.json {
        let mut document = to_json(&study, &verdict(&study), root, stopped);
        document["baseline"] = diff.as_ref().map_or(Value::Null, |diff| baseline::to_json(diff, args.limit));
        print_json(&document)?;
    } else {
        print_study(&study, root, false, stopped)?;
    }
    if let Some(diff) = &diff {
        let file = root.join(DIFF);
        atomic_write_text(&file, &diff.markdown())?;
        say(&format!("lockstep: against the baseline: {} See {}", diff.headline(), file.display()));
    }
    if let Some(name) = args.save_baseline.as_ref().filter(|_| !stopped) {
        baseline::keep(root, name)?;
    }
    let failures = failures(&study, exact);
    for sentence in &failures {
        say(&format!("lockstep: {sentence}"));
    }
    Ok(match (stopped, failures.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => diff.map_or(Exit::Fine, |diff| baseline::exit(&diff, args.limit)),
        (false, false) => Exit::Differs,
    })
}

/// Writes the report of the study in a folder and returns the study. Warnings go to standard error.
///
/// # Errors
/// [`Failure::Report`], naming the file.
pub(crate) fn write_report(folder: &Path) -> Result<Study, Failure> {
    let (study, made) = lockstep_reports::report_on(folder)?;
    for warning in &made.warnings {
        say(&format!("lockstep: {warning}"));
    }
    Ok(study)
}

/// The findings that fail a study: invalid samples, promised identity that does not hold, biased or broken targets, films
/// that depend on the number of threads, and failed programs.
fn failures(study: &Study, exact: &[TargetId]) -> Vec<String> {
    let invalid = study.invalid.iter().map(|r| {
        format!(
            "{} on {} at {} spp: {} samples were not finite, {} negative, {} clamped",
            r.scene, r.target, r.spp, r.non_finite, r.negative, r.clamped
        )
    });
    let promises = |d: &Difference| d.a.is_alike(&d.b) && exact.contains(&d.a) && exact.contains(&d.b);
    let differing = study.differences.iter().filter(|d| !d.identical && promises(d));
    let broken = differing.map(|d| {
        format!(
            "{} and {} promise identical images but differ in {} pixels of {} at {} spp",
            d.a, d.b, d.pixels_differing, d.scene, d.spp
        )
    });
    let open = study.differences.iter().filter(|d| !promises(d));
    let biased = open.filter_map(|d| {
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
    let shared = study.sharings.iter().filter(|s| !s.identical).map(|s| {
        format!(
            "{} made another film of {} by the schedule {} than its first target alone",
            s.group, s.scene, s.schedule
        )
    });
    let techniques = study.pyramids.iter().filter(|p| !p.adds_up).map(|p| {
        format!(
            "the techniques of {} do not add up to the film of {} at {} spp",
            p.integrator, p.scene, p.spp
        )
    });
    let runs = study.run_failures.iter().map(RunFailure::sentence);
    invalid.chain(broken).chain(biased).chain(threads).chain(shared).chain(techniques).chain(runs).collect()
}

/// Prints the findings of a study, for people or as one JSON document.
///
/// # Errors
/// [`Failure::Io`] when standard output refuses.
pub(crate) fn print_study(study: &Study, folder: &Path, json: bool, stopped: bool) -> Result<(), Failure> {
    let verdict = verdict(study);
    if json {
        print_json(&to_json(study, &verdict, folder, stopped))
    } else {
        print(&text(study, &verdict, folder, terminal::graded))
    }
}

/// A line for the study, one for every pair and every finding, and the path of the page.
fn text(study: &Study, verdict: &StudyVerdict, folder: &Path, graded: Grading) -> String {
    let mut text = format!("{}\n", graded(verdict.good, &verdict.headline));
    for line in &verdict.lines {
        let subject = graded(line.identical || line.within_noise, &line.subject);
        text.push_str(&format!("  {subject}: {}\n", line.sentence));
    }
    for failure in &study.run_failures {
        text.push_str(&format!("  failed: {} ({})\n", failure.sentence(), failure.log));
    }
    let why = |hits: &Hits| format!("on {} at {} spp: {}", hits.scene, hits.spp, hits.why);
    for (_, why) in once_a_group(verdict, &study.hits, |hits| [&hits.a, &hits.b], why) {
        text.push_str(&format!("  why, {why}\n"));
    }
    let by_path = |d: &Divergence| format!("on {}: {}", d.scene, d.sentence());
    for (d, found) in once_a_group(verdict, &study.divergences, |d| [&d.a, &d.b], by_path) {
        text.push_str(&format!("  path by path, {} and {} {found}\n", d.a, d.b));
        if let Some(command) = d.trace_command() {
            text.push_str(&format!("    {command}\n"));
        }
    }
    // Of many integrators on many targets sentences would be pages.
    let integrators = equal_time_integrators_table(study);
    let (after_time, by_threads) = if integrators.rows.is_empty() {
        (equal_time_sentences(study), scaling_sentences(study))
    } else {
        let tables = [integrators, equal_time_devices_table(study), scaling_integrators_table(study)];
        text.extend(tables.iter().map(in_terminal));
        Default::default()
    };
    let all = [
        round_sentences(study),
        after_time,
        reference_sentences(study),
        efficiency_sentences(study),
        by_threads,
    ];
    for sentence in all.concat() {
        text.push_str(&format!("  {sentence}\n"));
    }
    text + &format!("{}\n", folder.join(files::PAGE).display())
}

/// A table with its heading, for the terminal; nothing where it has no rows.
fn in_terminal(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let header: Vec<String> = table.columns.iter().map(|column| column.title.clone()).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect());
    let cells: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    format!("\n{}\n\n{}\n", table.title, terminal::table(&cells, &[], terminal::width()))
}

fn to_json(study: &Study, verdict: &StudyVerdict, folder: &Path, stopped: bool) -> Value {
    let pairs: Vec<Value> = verdict
        .pairs
        .iter()
        .map(|p| {
            json!({
                "a": p.a, "b": p.b, "comparisons": p.points, "identical": p.identical,
                "sentence": p.sentence(study.pixels()),
                "worst": p.worst_verdict.as_ref().map(|d| tested(d, study)),
                "trace": trace(study, &p.a, &p.b),
            })
        })
        .collect();
    let hits = study.hits.iter().map(|h| {
        json!({
            "scene": h.scene, "a": h.a, "b": h.b, "spp": h.spp,
            "pixels_differing": h.pixels_differing, "pixels": h.pixels, "why": h.why,
        })
    });
    let triaged = study.divergences.iter().filter(|d| d.scope == DivergenceScope::DifferingPixels).map(|d| {
        json!({
            "scene": d.scene, "a": d.a, "b": d.b, "spp": d.spp,
            "pixels_differing": d.pixels_differing, "pixels": d.pixels, "why": d.sentence(),
            "trace": d.trace_command(),
        })
    });
    json!({
        "folder": folder.to_string_lossy(), "report": folder.join(files::PAGE).to_string_lossy(),
        "headline": verdict.headline, "good": verdict.good, "stopped": stopped,
        "scenes": study.scenes(), "targets": study.targets(), "spp_levels": study.spp_levels(),
        "failures": study.run_failures,
        "pairs": pairs, "why": hits.chain(triaged).collect::<Vec<Value>>(),
        "times": lockstep_reports::tables::compared(study),
    })
}

/// The finding of the tests where they were worst. Its place is a tile, as `compare --json` has it.
fn tested(d: &Difference, study: &Study) -> Value {
    let settings = &study.environment.settings;
    let place = |t: &Tests| {
        json!({
            "x": t.worst_x, "y": t.worst_y,
            "width": t.worst_side.min(settings.width.saturating_sub(t.worst_x)),
            "height": t.worst_side.min(settings.height.saturating_sub(t.worst_y)),
            "relative": t.worst_relative,
        })
    };
    json!({
        "scene": d.scene, "spp": d.spp, "seed": d.seed, "verdict": d.verdict, "reason": d.reason,
        "pixels_differing": d.pixels_differing, "p": d.tests.as_ref().map(|t| t.p),
        "place": d.tests.as_ref().map(place),
    })
}

/// The command that shows where the paths of two targets part; nothing where they were not compared.
fn trace<'a>(study: &'a Study, a: &TargetId, b: &TargetId) -> Option<&'a str> {
    let is_of_pair = |d: &&Divergence| [(a, b), (b, a)].contains(&(&d.a, &d.b));
    study.divergences.iter().filter(is_of_pair).find_map(Divergence::trace_command)
}

#[cfg(test)]
mod tests;
