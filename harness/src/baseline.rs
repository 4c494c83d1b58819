//! Kept studies by name, and a study against an earlier one: `lockstep diff` and `study --baseline`.

use std::io::Write;
use std::path::{Path, PathBuf};

use lockstep_core::folders::data_folder;
use lockstep_reports::image_io::{atomic_write, atomic_write_text};
use lockstep_reports::performance::{DiffError, StudyDiff};
use lockstep_reports::records::Environment;
use lockstep_reports::study::{Study, files};
use serde_json::{Value, json};

use crate::cli::{DiffArgs, SlowerArgs};
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::values::BaselineName;

/// The folder of kept studies in the data folder.
const BASELINES: &str = "baselines";

/// `lockstep diff BEFORE AFTER`
///
/// # Errors
/// [`Failure`] for folders that are no studies, or studies of other images.
pub(crate) fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let (before, after) = (load(&args.before)?, load(&args.after)?);
    let diff = compare(&before, &after)?;
    let markdown = diff.markdown();
    if let Some(file) = &args.markdown {
        atomic_write_text(file, &markdown)?;
    }
    if args.json {
        print_json(&to_json(&diff, args.limit))?;
    } else {
        print(&markdown)?;
    }
    Ok(exit(&diff, args.limit))
}

/// Loads a study by its folder or by the name under which it is kept. A folder comes first.
///
/// # Errors
/// [`Failure::Input`] where neither is there, [`Failure::Study`] for a folder that is no study.
pub(crate) fn load(place: &Path) -> Result<Study, Failure> {
    Ok(Study::load(&find(place, data_folder())?)?)
}

/// The folder of a study or of a kept one.
fn find(place: &Path, data: Option<PathBuf>) -> Result<PathBuf, Failure> {
    if place.is_dir() {
        return Ok(place.to_owned());
    }
    let name = place.to_str().and_then(|name| name.parse::<BaselineName>().ok());
    let kept = name.zip(data).map(|(name, data)| data.join(BASELINES).join(name.0));
    match kept {
        Some(kept) if kept.is_dir() => Ok(kept),
        _ => Err(Failure::Input(format!(
            "{} is neither a study's folder nor the name of a kept baseline; keep one with `lockstep study \
             --save-baseline NAME`",
            place.display()
        ))),
    }
}

/// Keeps the records and the environment of a study under a name, in place of what had the name.
///
/// # Errors
/// [`Failure::Input`] without a data folder, [`Failure::Io`] and [`Failure::Write`] of files.
pub(crate) fn keep(study: &Path, name: &BaselineName) -> Result<(), Failure> {
    let data = data_folder().ok_or_else(|| {
        Failure::Input(
            "no baseline can be kept: there is no home folder; set LOCKSTEP_HOME to a folder".into(),
        )
    })?;
    keep_in(&data, study, name)
}

fn keep_in(data: &Path, study: &Path, name: &BaselineName) -> Result<(), Failure> {
    let folder = data.join(BASELINES).join(&name.0);
    std::fs::create_dir_all(&folder).map_err(Failure::io("make the folder", &folder))?;
    // The records last: a baseline that is torn between the two has the old times and says so by its commit.
    for file in [files::ENVIRONMENT, files::RECORDS] {
        let from = study.join(file);
        let bytes = std::fs::read(&from).map_err(Failure::io("read", &from))?;
        atomic_write(&folder.join(file), |out| out.write_all(&bytes))?;
    }
    say(&format!("lockstep: kept as baseline {} in {}", name.0, folder.display()));
    Ok(())
}

/// Compares a study with an earlier one.
///
/// # Errors
/// [`Failure::Missing`] where they rendered other images.
pub(crate) fn compare(before: &Study, after: &Study) -> Result<StudyDiff, Failure> {
    StudyDiff::of(before, after).map_err(incomparable)
}

/// Refuses a study of other images than the baseline's before any is rendered.
///
/// # Errors
/// [`Failure::Missing`].
pub(crate) fn check_plan(before: &Study, plan: &Environment) -> Result<(), Failure> {
    StudyDiff::check_plan(&before.environment, plan).map_err(incomparable)
}

fn incomparable(error: DiffError) -> Failure {
    Failure::Missing(error.to_string())
}

/// The comparison with what failed, for programs.
pub(crate) fn to_json(diff: &StudyDiff, limit: SlowerArgs) -> Value {
    let slower = limit.fail_slower.map_or_else(Vec::new, |share| diff.slower_by(share.0));
    json!({ "headline": diff.headline(), "slower": slower, "undecided": diff.undecided(), "diff": diff })
}

/// Exit code of a command that compared two studies. What fails is said.
pub(crate) fn exit(diff: &StudyDiff, limit: SlowerArgs) -> Exit {
    let Some(share) = limit.fail_slower else { return Exit::Fine };
    let (slower, undecided) = (diff.slower_by(share.0), diff.undecided());
    for sentence in slower.iter().chain(&undecided) {
        say(&format!("lockstep: {sentence}"));
    }
    if !slower.is_empty() {
        Exit::Differs
    } else if !undecided.is_empty() || diff.times.is_empty() {
        say("lockstep: --fail-slower needs times of both studies from one machine, with --repeats 3 or more");
        Exit::Inconclusive
    } else {
        Exit::Fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_baseline_is_found_by_its_name_and_replaced_by_the_next() {
        let (data, study) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = BaselineName("main".into());
        for records in ["", "{\"kind\":\"note\",\"text\":\"second\"}\n"] {
            std::fs::write(study.path().join(files::RECORDS), records).unwrap();
            std::fs::write(study.path().join(files::ENVIRONMENT), "{}").unwrap();
            keep_in(data.path(), study.path(), &name).unwrap();
            let found = find(Path::new("main"), Some(data.path().to_owned())).unwrap();
            assert_eq!(std::fs::read_to_string(found.join(files::RECORDS)).unwrap(), records);
        }
    }

    #[test]
    fn what_is_neither_folder_nor_name_says_how_to_keep_one() {
        let data = tempfile::tempdir().unwrap();
        for place in ["no-such", "../baselines", "/no/such/folder"] {
            let failure = find(Path::new(place), Some(data.path().to_owned())).unwrap_err();
            assert_eq!(failure.exit() as u8, 4);
            assert!(failure.to_string().contains("--save-baseline"), "{failure}");
        }
    }
}
