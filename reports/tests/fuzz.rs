//! Fuzzing of a study's records and environment: whatever reads as a study becomes a summary, tables and plots.

#![allow(clippy::unwrap_used)]

use lockstep_fuzz::Fuzz;
use lockstep_reports::plots::all_plots;
use lockstep_reports::study::{Study, files};
use lockstep_reports::tables::{all_tables, summary_markdown};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fuzz(parts: u32, name: &str, seeds: &[Vec<u8>], words: &[&str], parse: impl Fn(&[u8]) -> String) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let report = Fuzz { name, seeds, corpus: &corpus, words }.run_part(parts, parse);
    assert!(report.outcomes > 1, "{report:?}");
}

/// The recorded studies.
fn recorded() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.join(files::RECORDS).is_file()).collect();
    folders.sort();
    folders
}

/// Outcome of a study's records.
fn made_of(records: &[u8], environment: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(files::RECORDS), records).unwrap();
    std::fs::write(folder.path().join(files::ENVIRONMENT), environment).unwrap();
    match Study::load(folder.path()) {
        Ok(study) => {
            let tables: Vec<&str> = all_tables(&study).iter().map(|table| table.id).collect();
            let headline = summary_markdown(&study).lines().next().unwrap_or_default().to_owned();
            let plots = all_plots(&study).map_or_else(|e| e.to_string(), |plots| plots.len().to_string());
            format!("{headline} {tables:?} {plots} plots")
        }
        Err(error) => error.to_string().replace(&folder.path().display().to_string(), ""),
    }
}

#[test]
fn records_are_survived() {
    // One record of each kind in each study, and all of them together.
    let mut by_kind: BTreeMap<String, String> = BTreeMap::new();
    for folder in recorded() {
        for line in std::fs::read_to_string(folder.join(files::RECORDS)).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            by_kind.entry(record["kind"].as_str().unwrap().to_owned()).or_insert_with(|| format!("{line}\n"));
        }
    }
    assert!(by_kind.len() > 12, "{} kinds", by_kind.len());
    let all: String = by_kind.values().map(String::as_str).collect();
    let seeds: Vec<Vec<u8>> =
        by_kind.values().map(|line| line.clone().into()).chain([all.into_bytes()]).collect();
    let kinds: Vec<String> = by_kind.keys().map(|kind| format!("\"kind\":\"{kind}\"")).collect();
    let mut words: Vec<&str> = kinds.iter().map(String::as_str).collect();
    words.extend([
        "\"spp\":",
        "\"scene\":",
        "\"target\":",
        "\"nan\"",
        "\"inf\"",
        "null",
        "true",
        "{",
        "}",
        "[",
        "]",
        ",",
    ]);
    fuzz(1, "records", &seeds, &words, |bytes| made_of(bytes, b"{}"));
}

#[test]
fn environments_are_survived() {
    let folders = recorded();
    let read = |name: &str| {
        folders.iter().filter_map(|folder| std::fs::read(folder.join(name)).ok()).next().unwrap()
    };
    let (records, environment) = (read(files::RECORDS), read(files::ENVIRONMENT));
    let records: Vec<u8> =
        records.split_inclusive(|byte| *byte == b'\n').take(12).flatten().copied().collect();
    let words = [
        "\"targets\":",
        "\"settings\":",
        "\"host\":",
        "\"command\":",
        "\"scenes\":",
        "null",
        "[",
        "]",
        "{",
        "}",
    ];
    fuzz(2, "environment", &[environment], &words, |bytes| made_of(&records, bytes));
}
