//! `lockstep selftest`: the conformance suite on this machine's devices.

mod side_by_side;
mod table;

use indicatif::ProgressBar;
use lockstep_conformance::{CHECKS, Check, CheckResult, Extent, Outcome, Subject};
use lockstep_core::Mode;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use crate::backends::{self, Target};
use crate::cli::SelftestArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{print, print_json, say};
use table::{CheckRow, Tally, TargetRows};

/// Runs the suite on every selected target and prints a row for each check as it ends.
///
/// # Errors
/// [`Failure::Usage`] for a word that means no target, a fast build or no check, [`Failure::TargetAbsent`]
/// for a target that is named and absent.
pub(crate) fn run(args: &SelftestArgs) -> Result<Exit, Failure> {
    let targets = selected(&args.targets)?;
    let only = args.only.as_deref().unwrap_or_default();
    if !CHECKS.iter().any(|check| check.name().contains(only)) {
        let names: Vec<&str> = CHECKS.iter().map(Check::name).collect();
        return Err(Failure::Usage(format!(
            "no check's name contains `{only}`; there are {}",
            names.join(", ")
        )));
    }
    interrupt::listen()?;
    let show = |text: &str| match args.json {
        true => {
            say(text.trim_end());
            Ok(())
        }
        false => print(text),
    };
    let mut all = Vec::new();
    for target in &targets {
        show(&table::heading(target))?;
        all.push(TargetRows { name: target.id.to_string(), rows: quietly(|| test(target, args, &show))? });
        if interrupt::requested() {
            break;
        }
    }
    let tally = Tally::of(&all);
    if args.json {
        print_json(&table::to_json(&all, &tally))?;
    } else {
        print(&format!("{tally}\n"))?;
    }
    Ok(match tally {
        _ if interrupt::requested() => Exit::Interrupted,
        Tally { failed: 1.., .. } => Exit::Differs,
        _ => Exit::Fine,
    })
}

/// The targets present among those that words select.
fn selected(words: &[String]) -> Result<Vec<Target>, Failure> {
    backends::require(words)?;
    let targets = backends::select(words)?;
    if let Some(fast) = targets.iter().find(|target| target.id.mode == Mode::Fast) {
        let message = format!(
            "{} cannot be tested alone; the suite compares both builds of a target that is named without +fast",
            fast.id
        );
        return Err(Failure::Usage(message));
    }
    Ok(targets.into_iter().filter(|target| target.state.is_ok()).collect())
}

/// Runs every check on one target.
fn test(
    target: &Target,
    args: &SelftestArgs,
    show: &dyn Fn(&str) -> Result<(), Failure>,
) -> Result<Vec<CheckRow>, Failure> {
    let extent = if args.quick { Extent::Quick } else { Extent::Full };
    let suite = target.suite();
    let label = target.id.to_string();
    let subject: Subject<'_> = suite.subject(&label, target.is_exact()).to_extent(extent);
    let only = args.only.as_deref().unwrap_or_default();
    let chosen = || CHECKS.iter().filter(|check| check.name().contains(only));
    let mut rows = Vec::new();
    let mut show = |row: CheckRow| {
        show(&row.to_string())?;
        rows.push(row);
        Ok(())
    };
    let compiles = suite.probes.is_some();
    let jobs = args.jobs.map_or_else(|| if compiles { default_jobs() } else { 1 }, NonZeroUsize::get);
    let is_apart = |check: &Check| jobs > 1 && !check.is_timed() && check.lacking(&subject).is_none();
    let apart: Vec<Check> = chosen().copied().filter(is_apart).collect();
    // Shown on a terminal only.
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner.set_message(format!("{} checks, {jobs} at once", apart.len()));
    side_by_side::run(&label, args.quick, &apart, jobs, |row| spinner.suspend(|| show(row)))?;
    for check in chosen().filter(|check| !is_apart(check)) {
        if interrupt::requested() {
            break;
        }
        let (result, time) = match check.lacking(&subject) {
            Some(reason) => (CheckResult::Ended(Outcome::Skipped(reason.into())), Duration::ZERO),
            None => {
                spinner.set_message(check.name());
                check.run(&subject)
            }
        };
        let row = CheckRow { name: check.name(), result, seconds: time.as_secs_f64() };
        spinner.suspend(|| show(row))?;
    }
    spinner.finish_and_clear();
    let order = |row: &CheckRow| CHECKS.iter().position(|check| check.name() == row.name);
    rows.sort_by_key(order);
    Ok(rows)
}

/// Checks at once where kernels are compiled: half of the processors, and no more than a device's memory holds contexts
/// for.
fn default_jobs() -> usize {
    const MOST: usize = 8;
    (available_parallelism().map_or(1, usize::from) / 2).clamp(1, MOST)
}

/// Does something while panics print nothing: a failed claim is a panic, and its message stands in the table.
fn quietly<T>(act: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let value = act();
    std::panic::set_hook(hook);
    value
}
