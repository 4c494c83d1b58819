//! Fuzzing of what a folder of shards holds: plan, manifests, and how tasks stand for shards.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::rc::Rc;

use lockstep_fuzz::Fuzz;

use super::gather::Units;
use super::gather::tests::write_units;
use super::unit_files::{self, PLAN, PlanFile, SHARDS, manifest_path};
use super::unit_films::UnitFilms;
use super::work_plan::tests::example;
use crate::exit::Failure;
use crate::study::target_session::Purpose;

/// Whether an input is a plan, else it is a manifest or an array.
fn is_plan(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"hash\"")
}

/// A plan under its hash, where it is one.
fn with_hash(bytes: &[u8]) -> Vec<u8> {
    let Ok(mut file) = serde_json::from_slice::<PlanFile>(bytes) else { return bytes.into() };
    file.hash = file.plan.hash();
    serde_json::to_vec(&file).unwrap_or_default()
}

/// A manifest with its checksum, of the plan in the folder.
fn with_checksum(bytes: &[u8], plan: &str) -> Vec<u8> {
    let line: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'\n').collect();
    let line = String::from_utf8_lossy(&line).replace("PLAN", plan);
    format!("{line}\n{}\n", blake3::hash(line.as_bytes()).to_hex()).into_bytes()
}

/// Outcome of a folder: its units, those that are missing, and the films of the first scene's first level.
fn made_of(root: &Path) -> Result<String, Failure> {
    let units = Rc::new(Units::gather(&[root.to_owned()])?);
    let missing = units.require_all().err().map_or_else(String::new, |failure| failure.to_string());
    let refused = units.refused.join("; ");
    let plan = &units.plan;
    let films = plan.targets.iter().zip(&plan.scenes).map(|(target, scene)| {
        let mut films = UnitFilms::new(&units, &target.name)?;
        films.load(&scene.name, &plan.settings, Purpose::Levels { repeat: 0 })?;
        films.advance(0..plan.spp.first().copied().unwrap_or(1))?;
        Ok(films.film().spp)
    });
    let films = films.collect::<Result<Vec<u32>, Failure>>();
    let films = films.map_or_else(|failure| failure.to_string(), |spp| format!("{spp:?}"));
    Ok(format!("{} units; {refused}; {missing}; {films}", units.manifests().count()))
}

#[test]
fn folders_of_shards_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut plan = example(1);
    // So few that thousands of folders are read.
    plan.units.truncate(6);
    let hash = plan.hash();
    write_units(root, &plan);
    let (plan_path, shards_path, unit_path) = (root.join(PLAN), root.join(SHARDS), manifest_path(root, 0));
    let read = |path: &Path| std::fs::read(path).unwrap();
    let (plan_file, shards, manifest) = (read(&plan_path), read(&shards_path), read(&unit_path));
    let line = String::from_utf8(manifest.clone()).unwrap();
    let unit = line.lines().next().unwrap().replace(&hash, "PLAN").into_bytes();
    // A unit is missing, so that tasks are named.
    let last = manifest_path(root, plan.units.len() - 1);
    std::fs::remove_file(last).unwrap();
    let words = [
        "\"shards\":",
        "\"first\":",
        "\"step\":",
        "\"index\":",
        "\"cost\":",
        "\"from\":",
        "\"to\":",
        "\"units\":[",
        "\"targets\":[",
        "\"films\":[",
        "\"bytes\":",
        "\"load\":null",
        "\"exact\":false",
        "\"noise-floor\"",
        "4294967295",
        "18446744073709551615",
        "PLAN",
        "null",
        "[",
        "]",
        "{",
        "}",
        ",",
    ];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/shards");
    let seeds = [plan_file.clone(), shards.clone(), manifest.clone(), unit];
    let fuzz = Fuzz { name: "shards", seeds: &seeds, corpus: &corpus, words: &words };
    let report = fuzz.run_part(2, |bytes| {
        let write = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).unwrap();
        let outcome = || {
            let made = made_of(root).unwrap_or_else(|failure| failure.to_string());
            made.replace(&root.display().to_string(), "")
        };
        if is_plan(bytes) {
            write(&plan_path, &with_hash(bytes));
        } else if bytes.starts_with(b"{\"shards\"") {
            write(&shards_path, bytes);
        } else {
            write(&unit_path, bytes);
        }
        let plain = outcome();
        write(&plan_path, &plan_file);
        write(&shards_path, &shards);
        write(&unit_path, &with_checksum(bytes, &hash));
        let sealed = outcome();
        write(&unit_path, &manifest);
        format!("{plain}; {sealed}")
    });
    assert!(report.outcomes > 1, "{report:?}");
    assert!(unit_files::read_plan(root).is_ok(), "the folder is whole again");
}
