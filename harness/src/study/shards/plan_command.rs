//! `study --plan`, and what it shares with the shards: the plan of a command line.

use std::path::{Path, PathBuf};

use lockstep_core::Mode;
use lockstep_reports::image_io::atomic_write_text;

use super::unit_files::PlanFile;
use super::work_plan::{PlannedTarget, WorkPlan};
use crate::cli::StudyArgs;
use crate::exit::{Exit, Failure};
use crate::external::Externals;
use crate::output::{print, print_json, say};
use crate::study::plan::{Plan, command};
use crate::study::study_target::{self, StudyTarget};
use crate::study::{DEFAULT_FOLDER, set_up};

/// A study that is to be rendered in shards.
pub(super) struct Prepared {
    /// The study's plan.
    pub(super) plan: Plan,
    /// Units of work.
    pub(super) work: WorkPlan,
    /// Targets of the study.
    pub(super) targets: Vec<StudyTarget>,
}

/// The plan of a command line, made without rendering.
///
/// # Errors
/// [`Failure::Usage`] for options whose measurements have no parts; [`Failure::TargetAbsent`] for a target that is named
/// and absent; [`Failure`] for a scene that cannot be used.
pub(super) fn prepare(args: &StudyArgs) -> Result<Prepared, Failure> {
    refuse(args)?;
    set_up(&args.folder, &args.subject.targets)?;
    let modes: Vec<Mode> = args.modes.iter().map(|&mode| mode.into()).collect();
    let mut targets = study_target::select(&Externals::default(), &args.subject.targets, &modes, &[], &[])?;
    // `all` means those that are here; a target that is named must be.
    if args.subject.targets.iter().any(|word| word.eq_ignore_ascii_case("all")) {
        targets.retain(|target| target.own().is_some_and(|own| own.state.is_ok()));
    }
    let own = targets.iter().filter_map(StudyTarget::own);
    let planned = own.map(|target| match &target.state {
        Ok(info) => Ok(PlannedTarget {
            name: target.id.clone(),
            exact: info.exact && target.id.mode == Mode::Exact,
            on_host: info.on_host || info.backend == "cpu",
        }),
        Err(unavailable) => Err(Failure::absent(&target.id, unavailable)),
    });
    let planned = planned.collect::<Result<Vec<_>, _>>()?;
    let mut skipped = Vec::new();
    let plan = Plan::of_study(args, false, &mut skipped)?;
    if !skipped.is_empty() {
        return Err(Failure::Input("a scene of the study is not here; shards need all of them".into()));
    }
    let work = WorkPlan::of(&plan, planned, args.units)?;
    Ok(Prepared { plan, work, targets })
}

/// Refuses what has no parts that add up.
fn refuse(args: &StudyArgs) -> Result<(), Failure> {
    let whole = [
        ("--time", !args.times.is_empty()),
        ("--scaling", args.scaling),
        ("--together", !args.together.is_empty()),
        ("--diagnose", args.diagnose),
        ("--integrators", !args.integrators.is_empty()),
        ("--compare-layers", args.compare_layers),
        ("--techniques", args.techniques),
        ("--reference-integrator", args.reference_integrator.is_some()),
        ("--reference-time", args.reference_time.is_some()),
        ("--baseline", args.baseline.is_some()),
        ("--save-baseline", args.save_baseline.is_some()),
        ("--targets-file", args.targets_file.is_some()),
    ];
    if let Some((option, _)) = whole.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::Usage(format!(
            "{option} has no units that add up; leave it to a study on one machine, without --shard and --plan"
        )));
    }
    if args.spp.is_none() {
        return Err(Failure::Usage(
            "shards need to know their samples beforehand; give the levels, as in --spp 1..1024".into(),
        ));
    }
    Ok(())
}

/// The folder that shards of a command line share.
pub(super) fn folder(args: &StudyArgs) -> PathBuf {
    args.out.clone().unwrap_or_else(|| DEFAULT_FOLDER.into())
}

/// The command line without what names a shard.
pub(super) fn study_command() -> Vec<String> {
    let mut words = Vec::new();
    let mut all = command().into_iter();
    while let Some(word) = all.next() {
        if word == "--shard" {
            all.next();
        } else if !word.starts_with("--shard=") && word != "--plan" && !word.starts_with("--plan=") {
            words.push(word);
        }
    }
    words
}

/// Prints the plan of a study, or writes it to a file. Nothing is rendered.
///
/// # Errors
/// As for a shard, and [`Failure::Write`], naming the file.
pub(crate) fn print_plan(args: &StudyArgs, file: Option<&Path>) -> Result<Exit, Failure> {
    let Prepared { work, .. } = prepare(args)?;
    let plan_file = PlanFile { hash: work.hash(), command: study_command(), plan: work };
    if let Some(path) = file {
        let text = serde_json::to_string_pretty(&plan_file);
        let text = text.map_err(|e| Failure::Input(format!("cannot write {}: {e}", path.display())))?;
        atomic_write_text(path, &(text + "\n"))?;
        say(&format!("{}: {} units", path.display(), plan_file.plan.units.len()));
    } else if args.folder.json {
        print_json(&plan_file)?;
    } else {
        print(&text(&plan_file.plan, &plan_file.hash))?;
    }
    Ok(Exit::Fine)
}

/// A line for every unit, with its part of the cost.
fn text(plan: &WorkPlan, hash: &str) -> String {
    let total: u64 = plan.costs().iter().sum::<u64>().max(1);
    let mut text = format!("plan {}, {} units\n", hash.get(..16).unwrap_or(hash), plan.units.len());
    text.push_str("   unit   cost  targets  samples\n");
    for (index, unit) in plan.units.iter().enumerate() {
        let share = 100.0 * unit.cost as f64 / total as f64;
        text.push_str(&format!("{index:7} {share:5.2} %  {:7}  {}\n", unit.targets.len(), unit.in_words()));
    }
    text
}
