//! `lockstep tune`: every kernel configuration of every target, timed in turns and held to the default's
//! film.

use std::ops::ControlFlow;

use lockstep_reports::study::{Study, files};
use lockstep_reports::tuning::{Tuned, tuned};
use lockstep_reports::verdict::verdict;
use serde_json::{Value, json};

use crate::backends;
use crate::cli::TuneArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::kernels;
use crate::output::{print, print_json, say};
use crate::study::measurements::tuning;
use crate::study::{Folder, Lab, Plan, StudyTarget, open, run_measurements, set_up};

/// Rounds where the user does not say: the fewest whose interval encloses the median with 95 %.
const ROUNDS: u32 = 6;

/// Tunes, or resumes a tuning.
///
/// # Errors
/// [`Failure`] for a command line, scene, target or file that cannot be used. Earlier records stay.
pub(crate) fn run(args: &TuneArgs) -> Result<Exit, Failure> {
    set_up(&args.folder, &args.subject.targets)?;
    kernels::dump(args.kernels.dump_kernels.as_deref())?;
    let mut skipped = Vec::new();
    let targets = backends::select(&args.subject.targets)?.into_iter().map(StudyTarget::from);
    let targets: Vec<StudyTarget> = targets.collect();
    let plan = Plan::of_tuning(args, args.repeats.unwrap_or(ROUNDS), &mut skipped)?;
    let sessions = open(&targets, &plan.options, &mut skipped)?;
    let (mut folder, resumes) = Folder::open(&args.out, &plan.environment(&sessions), args.folder.fresh)?;
    if resumes {
        say(&format!("lockstep: resuming the tuning in {}; --fresh starts over", args.out.display()));
    }
    folder.append(skipped)?;
    interrupt::listen()?;
    let mut lab = Lab::new(&plan, folder, sessions, false);
    let stopped = all(&mut lab)?.is_break();
    lab.folder.end(stopped)?;
    drop(lab);
    finish(args, stopped)
}

/// Tunes every scene on every target, until all are done or the user stops.
///
/// # Errors
/// [`Failure`] of renderers and files.
pub(crate) fn all(lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
    for scene in &lab.plan.scenes {
        for target in lab.targets(&scene.name) {
            if let Some(series) = tuning::series(lab, scene, &target)?
                && run_measurements(&[series], lab)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Writes the report, prints the findings and derives the exit code.
fn finish(args: &TuneArgs, stopped: bool) -> Result<Exit, Failure> {
    let made = lockstep_reports::write_report(&args.out)?;
    made.warnings.iter().for_each(|warning| say(&format!("lockstep: {warning}")));
    let study = Study::load(&args.out)?;
    let rows = tuned(&study);
    let headline = verdict(&study).headline;
    let page = args.out.join(files::PAGE);
    if args.folder.json {
        print_json(&json!({
            "folder": args.out.to_string_lossy(), "report": page.to_string_lossy(), "headline": headline,
            "stopped": stopped, "configurations": rows.iter().map(to_json).collect::<Vec<Value>>(),
        }))?;
    } else {
        let best = rows.iter().filter(|row| row.best).map(best_sentence);
        let lines: String = best.map(|line| format!("  {line}\n")).collect();
        print(&format!("{headline}\n{lines}{}\n", page.display()))?;
    }
    for row in rows.iter().filter(|row| row.is_bug()) {
        say(&format!(
            "lockstep: {} on {} changes the film of {}, which no configuration may: its kernels or their compiler have a \
             bug",
            row.configuration, row.target, row.scene
        ));
    }
    Ok(match (stopped, rows.iter().any(Tuned::is_bug)) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Differs,
        (false, false) => Exit::Fine,
    })
}

fn best_sentence(row: &Tuned) -> String {
    let place = format!("{} on {}", row.scene, row.target);
    match row.ratio {
        Some(ratio) if !row.default => format!(
            "{place}: {} is best, {:.3} of the default's time ({:.3} to {:.3})",
            row.configuration, ratio.median, ratio.low, ratio.high
        ),
        _ => format!("{place}: nothing is faster than the default, {}", row.configuration),
    }
}

fn to_json(row: &Tuned) -> Value {
    json!({
        "scene": row.scene, "target": row.target, "configuration": row.configuration, "group": row.group, "spp": row.spp,
        "default": row.default, "aa_control": row.aa_control, "best": row.best, "identical": row.identical,
        "promised": row.promised, "measures_only": row.measures_only, "refused": row.refused, "total_ms": row.total, "ratio": row.ratio,
        "change": row.change,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_reports::statistics::timing::MedianInterval;

    #[test]
    fn the_default_is_no_winner_but_what_nothing_beats() {
        let row = Tuned {
            scene: "cornell".into(),
            target: "cpu-bvh".into(),
            configuration: "tile=32".into(),
            default: true,
            best: true,
            ..Tuned::default()
        };
        assert_eq!(best_sentence(&row), "cornell on cpu-bvh: nothing is faster than the default, tile=32");
        let ratio = MedianInterval::of(&[0.8; 6]);
        let faster = Tuned { default: false, ratio, configuration: "tile=16".into(), ..row };
        let said = best_sentence(&faster);
        assert!(said.contains("tile=16 is best, 0.800 of the default's time"), "{said}");
    }
}
