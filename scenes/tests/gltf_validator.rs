//! Khronos' glTF-Validator has hundreds of small files, most of them wrong on purpose, each with a report.
//! The loader must refuse or mention every error it reports, load every file without errors, and survive them
//! all.
//!
//! The files are read from `$LOCKSTEP_SCENES/gltf-validator`, or `shared/scenes/gltf-validator` beside the
//! repository; without them the test is skipped.

#![allow(clippy::unwrap_used)]

use lockstep_core::Error;
use lockstep_scenes::{LoadOptions, load};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Files whose error we report at another place than the validator, with that place. Numbers beyond the range of
/// doubles are refused by the JSON parser, which knows bytes and no pointers.
const ELSEWHERE: &[(&str, &str)] =
    &[("camera/infinite_znear.gltf", "byte 169"), ("node/infinite_transform.gltf", "byte 123")];

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("LOCKSTEP_SCENES").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/scenes");
    named.into_iter().chain([beside]).map(|f| f.join("gltf-validator")).find(|f| f.is_dir())
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if matches!(path.extension().and_then(|e| e.to_str()), Some("gltf" | "glb")) {
            out.push(path);
        }
    }
}

/// Pointers and byte offsets of the report's errors.
fn reported(path: &Path) -> (u64, Vec<String>) {
    let report = format!("{}.report.json", path.display());
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let issues = &report["issues"];
    let errors = issues["messages"].as_array().unwrap().iter().filter(|m| m["severity"] == 0);
    let place = |m: &Value| match (&m["pointer"], &m["offset"]) {
        (Value::String(pointer), _) => pointer.clone(),
        (_, Value::Number(offset)) => format!("byte {offset}"),
        _ => String::new(),
    };
    (issues["numErrors"].as_u64().unwrap(), errors.map(place).collect())
}

/// Whether one place lies within the other. A JSON syntax error has no place in the reports.
fn related(ours: &str, theirs: &str) -> bool {
    if ours.starts_with("byte") {
        return theirs.is_empty() || ours == theirs;
    }
    let within = |a: &str, b: &str| {
        a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/') || b.is_empty())
    };
    let ours = ours.strip_suffix('/').unwrap_or(ours);
    let theirs = theirs.strip_suffix('/').unwrap_or(theirs);
    // The document itself contains everything: it counts only where the report blames it too.
    if ours.is_empty() || theirs.is_empty() {
        return ours == theirs || theirs.is_empty();
    }
    within(ours, theirs) || within(theirs, ours)
}

#[test]
fn every_error_of_the_validator_is_refused_or_mentioned() {
    let unavailable = "There is no folder gltf-validator. Set LOCKSTEP_SCENES to the folder that holds it.";
    let Some(folder) = lockstep_require::present("scenes", folder().ok_or(unavailable)) else { return };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let (mut refused, mut warned, mut loaded, mut failures) = (0, 0, 0, Vec::new());
    for path in &paths {
        let (errors, places) = reported(path);
        let short = path.strip_prefix(&folder).unwrap().display().to_string();
        let mentioned = match load(path.to_str().unwrap(), &LoadOptions::default()) {
            Err(Error::Scene { place, message, .. }) => {
                if errors == 0 {
                    failures.push(format!("{short}: has no errors, but was refused: {place}: {message}"));
                }
                if !place.starts_with('/') && !place.starts_with("byte ") {
                    failures.push(format!("{short}: refused without a pointer: {place}: {message}"));
                }
                refused += usize::from(errors > 0);
                vec![place]
            }
            Err(other) => {
                failures.push(format!("{short}: refused with another kind of error: {other}"));
                continue;
            }
            Ok(scene) => {
                let all = scene.warnings.into_iter().flat_map(|w| std::iter::once(w.place).chain(w.others));
                let places: Vec<String> =
                    all.filter(|p| p.starts_with('/') || p.starts_with("byte ")).collect();
                warned += usize::from(errors > 0);
                loaded += usize::from(errors == 0);
                places
            }
        };
        if errors == 0 {
            continue;
        }
        let elsewhere = ELSEWHERE
            .iter()
            .any(|(file, place)| short.ends_with(file) && mentioned.iter().any(|m| m == place));
        let agreed = mentioned.iter().any(|ours| places.iter().any(|theirs| related(ours, theirs)));
        if !agreed && !elsewhere {
            failures.push(format!("{short}: the report blames {places:?}, we {mentioned:?}"));
        }
    }
    println!(
        "{} files: {refused} refused, {warned} loaded with a warning about their error, {loaded} sound",
        paths.len()
    );
    assert!(paths.len() > 300, "only {} files were found", paths.len());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
