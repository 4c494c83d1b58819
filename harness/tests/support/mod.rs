//! The program as its users run it, kept from the network and from this user's cache.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// The words of a small study on the built-in intersector alone, which every machine has; `more` may set
/// another size.
pub(crate) fn study<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["study", "cornell", "-b", "cpu-bvh", "--spp", "1..8", "--threads=1"];
    if !more.iter().any(|word| word.starts_with("--size")) {
        words.push("--size=24x16");
    }
    words.extend(more);
    words
}

/// The program with these arguments, its cache in `home`.
pub(crate) fn lockstep(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command.args(arguments).current_dir(home);
    command.env("LOCKSTEP_OFFLINE", "1").env("LOCKSTEP_CACHE", home.join("cache"));
    command.env_remove("CI").env_remove("NO_COLOR").env_remove("LOCKSTEP_GOLDENS");
    command
}

/// Runs it to its end: exit code, standard output, standard error.
pub(crate) fn run(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    finish(lockstep(home, arguments).output().unwrap())
}

/// Exit code and texts of a finished program; minus one when a signal ended it.
pub(crate) fn finish(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Runs it and expects an exit code.
pub(crate) fn expect(home: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let (found, out, err) = run(home, arguments);
    assert_eq!(found, code, "lockstep {}\n{out}\n{err}", arguments.join(" "));
    (out, err)
}

/// The records of a study by what they are about, without the notes and with every time taken away: what two
/// runs of one study must have in common. Fails where a line is no record or where two are about the same.
pub(crate) fn records(folder: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let mut records = BTreeMap::new();
    for line in text.lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        let fields = record.as_object_mut().unwrap();
        if fields["kind"] == "note" {
            continue;
        }
        let is_time = |name: &str| name.ends_with("_ms") || name.starts_with("mrays_") || name == "stages";
        fields.retain(|name, _| !is_time(name));
        let about = [
            "kind",
            "scene",
            "target",
            "a",
            "b",
            "spp",
            "spp_from",
            "spp_to",
            "seed",
            "other_seed",
            "repeat",
            "configuration",
            "aa_control",
            "bounce",
            "quantity",
            "scope",
            "seconds",
            "threads",
        ];
        let key: Vec<String> =
            about.iter().filter_map(|name| fields.get(*name)).map(ToString::to_string).collect();
        let old = records.insert(key.join(" "), record.to_string());
        assert!(old.is_none(), "two records about {}", key.join(" "));
    }
    records
}

/// How many records of a kind there are.
pub(crate) fn count(records: &BTreeMap<String, String>, kind: &str) -> usize {
    records.keys().filter(|key| key.starts_with(&format!("{kind:?}"))).count()
}
