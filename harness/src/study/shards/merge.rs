//! `lockstep merge DIR…`: the study that its shards rendered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lockstep_core::{Scene, SceneBuilder, TargetId};
use lockstep_reports::image_io::read_image;
use lockstep_reports::records::{Environment, Note, Record};
use lockstep_reports::study::files;
use serde_json::Value;

use super::gather::Units;
use super::unit_files::Manifest;
use super::unit_films::UnitFilms;
use super::work_plan::{PlannedReference, hash_of};
use crate::cli::MergeArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::say;
use crate::render::image_of;
use crate::study::folder::Folder;
use crate::study::lab::Lab;
use crate::study::plan::Plan;
use crate::study::reference::{Reference, against};
use crate::study::target_session::{Purpose, TargetSession};
use crate::study::{failures, print_study, runner, write_report};
use crate::values::SppSchedule;

/// The entry of an environment that names the plan of a merged study.
const MERGED: &str = "merged_plan";

/// Makes the study of the shards in the folders: in the folder, if it is one, else in `--out`.
///
/// # Errors
/// [`Failure::Missing`] with the tasks to submit again where units are missing or damaged; [`Failure`] for folders that
/// are none of one study.
pub(crate) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let root = match (&args.out, args.parts.as_slice()) {
        (Some(out), _) => out,
        (None, [only]) => only,
        (None, _) => {
            return Err(Failure::Usage(
                "several folders are merged into another; name it with -o DIR".into(),
            ));
        }
    };
    if args.allow_gaps {
        return Err(Failure::Usage("--allow-gaps is for films; a study lacks no samples".into()));
    }
    let units = Rc::new(gather(&args.parts)?);
    units.require_all()?;
    interrupt::listen()?;
    let merged = combine(root, &units);
    match merged {
        Err(failure) if units.is_damaged() => {
            let mut units = gather(&args.parts)?;
            units.drop_damaged();
            units.refused.iter().for_each(|reason| say(&format!("lockstep: {reason}")));
            units.require_all()?;
            Err(failure)
        }
        Err(failure) => Err(failure),
        Ok(stopped) => finish(args, root, &units, stopped),
    }
}

fn gather(folders: &[PathBuf]) -> Result<Units, Failure> {
    let units = Units::gather(folders)?;
    units.refused.iter().for_each(|reason| say(&format!("lockstep: {reason}")));
    Ok(units)
}

/// Runs the study on targets that take their films from the units; returns whether the user stopped it.
fn combine(root: &Path, units: &Rc<Units>) -> Result<bool, Failure> {
    let plan = study_plan(units)?;
    let targets = units.plan.targets.iter();
    let sessions = targets.map(|target| Ok(TargetSession::of_units(UnitFilms::new(units, &target.name)?)));
    let sessions = sessions.collect::<Result<Vec<_>, Failure>>()?;
    let control = sessions.first().filter(|_| units.plan.aa_control).and_then(TargetSession::aa_control);
    let environment = environment(&plan, &sessions, units);
    if root.join(files::ENVIRONMENT).exists() && !is_merged(root) {
        let root = root.display();
        return Err(Failure::Usage(format!(
            "{root} holds a study of its own; merge into another folder with -o DIR"
        )));
    }
    let (mut folder, _) = Folder::open(root, &environment, is_merged(root))?;
    folder.append(notes(units))?;
    let ids: Vec<TargetId> = sessions.iter().map(|session| session.id.clone()).collect();
    let mut lab = Lab::new(&plan, folder, sessions, false).with_control(control);
    let stopped = runner::run(&plan.series(&ids, &[], &[]), &mut lab)?.is_break();
    lab.folder.end(stopped)?;
    Ok(stopped)
}

/// Whether the folder's study is a merge, which is made anew, since it holds nothing that its units do not.
fn is_merged(root: &Path) -> bool {
    Environment::read(&root.join(files::ENVIRONMENT)).is_ok_and(|there| there.other.contains_key(MERGED))
}

/// The study's plan, with stand-ins for its scenes: what is merged is rendered already.
fn study_plan(units: &Rc<Units>) -> Result<Plan, Failure> {
    let work = &units.plan;
    let stand_in = |name: &String| Ok(SceneBuilder::new(name.clone()).build()?);
    let scenes: Vec<Scene> =
        work.scenes.iter().map(|scene| stand_in(&scene.name)).collect::<Result<_, Failure>>()?;
    let specs = work.scenes.iter().map(|scene| scene.spec.clone()).collect();
    let hashes: BTreeMap<String, String> =
        work.scenes.iter().map(|scene| (scene.name.clone(), scene.hash.clone())).collect();
    let (reference, reference_file) = match &work.reference {
        PlannedReference::Rendered { .. } => (None, None),
        PlannedReference::File { path, hash } => {
            let file = PathBuf::from(path);
            if hash_of(&file)? != *hash {
                return Err(Failure::Input(format!(
                    "the reference {path} is another file than the shards had"
                )));
            }
            let reference = Reference::from_file(read_image(&file)?, &file, &work.settings)?;
            (Some(Rc::new(reference)), Some(file))
        }
    };
    Ok(Plan {
        file_hashes: hashes,
        schedule: SppSchedule { levels: work.spp.clone() },
        seeds: work.seeds,
        noise_floor: work.noise_floor,
        repeats: work.repeats,
        reference,
        reference_file,
        units: Some(units.clone()),
        ..Plan::of_scenes(specs, scenes, work.settings)
    })
}

/// The environment of the study: the machine whose times count, and the command of the shards.
fn environment(plan: &Plan, sessions: &[TargetSession], units: &Units) -> Environment {
    let mut environment = plan.environment(sessions);
    environment.command.clone_from(&units.command);
    if let Some(manifest) = units.main_machine() {
        environment.host = manifest.host.clone();
    }
    environment.other.insert(MERGED.into(), Value::from(units.plan.hash()));
    environment
}

/// Remarks on a merged study's times for its reader.
fn notes(units: &Units) -> Vec<Record> {
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    units.manifests().for_each(|manifest| *hosts.entry(&manifest.host.name).or_default() += 1);
    let of_host = |(name, count): (&&str, &usize)| format!("{count} on {name}");
    let list = hosts.iter().map(of_host).collect::<Vec<_>>().join(", ");
    let main = units.main_machine().map_or_else(String::new, |manifest| manifest.host.cpu.clone());
    let mut texts = vec![format!(
        "merged from {} units ({list}): films of units add up exactly on any machine, times do not. Every unit timed all \
         its targets in one process, so ratios of times compare targets on one machine. Times are of machines of one \
         kind ({main}); levels with units of other machines have none",
        units.plan.units.len()
    )];
    let beside = beside_others(units);
    if beside > 0 {
        texts.push(format!(
            "{beside} units were rendered while another unit was on the same machine, so their times are of a machine \
             that was shared"
        ));
    }
    texts.into_iter().map(|text| Note { text, ..Note::default() }.into()).collect()
}

/// The number of units during which another was rendered on the same machine.
fn beside_others(units: &Units) -> usize {
    let mut hosts: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    let span = |m: &Manifest| (m.began, m.began + m.seconds);
    units.manifests().for_each(|m| hosts.entry(&m.host.name).or_default().push(span(m)));
    let overlaps = |spans: &mut Vec<(f64, f64)>| {
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut shared = vec![false; spans.len()];
        let mut latest = 0;
        for i in 1..spans.len() {
            if spans[i].0 < spans[latest].1 {
                (shared[i], shared[latest]) = (true, true);
            }
            if spans[i].1 > spans[latest].1 {
                latest = i;
            }
        }
        shared.into_iter().filter(|is_shared| *is_shared).count()
    };
    hosts.values_mut().map(overlaps).sum()
}

/// The reference of a scene that the units hold; `None` where the user stops it.
///
/// # Errors
/// [`Failure::Input`] for units that cannot be read.
pub(crate) fn reference(units: &Rc<Units>, plan: &Plan, scene: &str) -> Result<Option<Reference>, Failure> {
    let PlannedReference::Rendered { target, seed, spp } = &units.plan.reference else { return Ok(None) };
    let mut films = UnitFilms::new(units, target)?;
    films.load(scene, &plan.with_seed(*seed), Purpose::Reference)?;
    if matches!(films.advance(0..*spp)?, crate::chunking::Pass::Stopped) {
        return Ok(None);
    }
    let image = image_of(films.film())?;
    Ok(Some(Reference { image, against: against(&target.to_string(), *spp, *seed), spp: Some(*spp) }))
}

/// Writes the report, prints the verdict and derives the exit code.
fn finish(args: &MergeArgs, root: &Path, units: &Units, stopped: bool) -> Result<Exit, Failure> {
    let study = write_report(root)?;
    print_study(&study, root, args.json, stopped)?;
    let exact = units.plan.targets.iter().filter(|target| target.exact);
    let exact: Vec<TargetId> = exact.map(|target| target.name.clone()).collect();
    let failures = failures(&study, &exact);
    failures.iter().for_each(|sentence| say(&format!("lockstep: {sentence}")));
    Ok(match (stopped, failures.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Differs,
    })
}
