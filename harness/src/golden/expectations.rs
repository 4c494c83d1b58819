//! `expectations.toml`: known failures with reason and expiry date.
//!
//! ```toml
//! [[failure]]
//! scene = "atrium"
//! target = "opencl@pocl"       # or "opencl" for all its devices
//! driver = "3.1"               # part of the driver's name; left out, every driver
//! reason = "what goes wrong, and where it is followed up"
//! expires = 2027-01-31         # the last day on which it is tolerated
//! ```

use std::path::{Path, PathBuf};

use lockstep_core::TargetId;
use serde::Deserialize;
use toml::value::{Date, Datetime};

use crate::exit::Failure;
use crate::toml_fault::toml_fault;

/// The file beside the goldens.
const FILE: &str = "expectations.toml";

/// A failure that is known.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    /// The scene, as it is named on the command line.
    pub(crate) scene: String,
    /// The target, or its backend for all devices.
    pub(crate) target: String,
    /// A part of the driver's name, in any case; every driver where it is left out.
    #[serde(default)]
    pub(crate) driver: String,
    /// The reason why the check fails.
    pub(crate) reason: String,
    /// The last day on which it may.
    expires: Datetime,
}

impl Expectation {
    /// Whether the entry applies to a check of a scene on a target by a driver.
    pub(crate) fn applies_to(&self, scene: &str, target: &str, driver: &str) -> bool {
        let backend = TargetId::from(target).backend;
        let driver_has = driver.to_lowercase().contains(&self.driver.to_lowercase());
        self.scene == scene && (self.target == target || self.target == backend) && driver_has
    }

    /// Whether the entry's last day is before `today`, written as `2026-01-31`.
    pub(crate) fn is_expired(&self, today: &str) -> bool {
        self.last_day().as_str() < today
    }

    /// The last day on which the failure is expected, written as `2026-01-31`.
    pub(crate) fn last_day(&self) -> String {
        self.expires
            .date
            .map_or_else(String::new, |Date { year, month, day }| format!("{year:04}-{month:02}-{day:02}"))
    }

    /// The scene, target and driver, in words.
    pub(crate) fn about(&self) -> String {
        let driver =
            if self.driver.is_empty() { String::new() } else { format!(" with driver {}", self.driver) };
        format!("{} on {}{driver}", self.scene, self.target)
    }
}

/// All known failures.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Expectations {
    /// The file of the expectations.
    pub(crate) path: PathBuf,
    /// The known failures, one for each entry.
    pub(crate) rows: Vec<Expectation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    failure: Vec<Expectation>,
}

impl Expectations {
    /// Reads the file in a folder of goldens; without a file nothing is expected to fail.
    ///
    /// # Errors
    /// [`Failure::Io`] for a file that cannot be read, and [`Failure::Input`] with its place for one that is
    /// malformed, lacks a reason or a date, or knows one check twice.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(Self { path, rows: Vec::new() });
        }
        Self::read_file(&path)
    }

    /// Reads one file, which must be there.
    ///
    /// # Errors
    /// As [`Expectations::read`].
    pub(crate) fn read_file(path: &Path) -> Result<Self, Failure> {
        let path = path.to_owned();
        let text = std::fs::read_to_string(&path).map_err(Failure::io("read", &path))?;
        let wrong = |message: String| Failure::Input(format!("{}: {message}", path.display()));
        let rows =
            toml::from_str::<Document>(&text).map_err(|error| wrong(toml_fault(&text, &error)))?.failure;
        for (i, row) in rows.iter().enumerate() {
            if row.expires.date.is_none() {
                return Err(wrong(format!("{}: `expires` must be a date such as 2027-01-31", row.about())));
            }
            if row.reason.trim().is_empty() {
                return Err(wrong(format!("{}: say the reason for which it fails", row.about())));
            }
            if rows[..i].iter().any(|r| r.about() == row.about()) {
                return Err(wrong(format!("{} is listed twice; delete one", row.about())));
            }
        }
        Ok(Self { path, rows })
    }

    /// The first entry that applies to a check.
    pub(crate) fn of(&self, scene: &str, target: &str, driver: &str) -> Option<&Expectation> {
        self.rows.iter().find(|row| row.applies_to(scene, target, driver))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Expectations, Failure> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), text).unwrap();
        Expectations::read(dir.path())
    }

    const ENTRY: &str =
        "[[failure]]\nscene = \"atrium\"\ntarget = \"opencl@pocl\"\ndriver = \"3.1\"\nreason = \"known\"\n";

    #[test]
    fn an_entry_covers_its_scene_target_and_driver_until_its_last_day() {
        let found = read(&format!("{ENTRY}expires = 2027-01-31\n")).unwrap();
        assert!(found.of("atrium", "opencl@pocl", "PoCL 3.1").is_some());
        assert!(found.of("atrium", "opencl@pocl", "PoCL 5.0").is_none());
        assert!(found.of("cornell", "opencl@pocl", "PoCL 3.1").is_none());
        assert!(found.of("atrium", "opencl@intel", "3.1").is_none());
        assert!(!found.rows[0].is_expired("2027-01-31") && found.rows[0].is_expired("2027-02-01"));
    }

    #[test]
    fn a_backend_name_covers_all_its_devices() {
        let text = "[[failure]]\nscene = \"a\"\ntarget = \"opencl\"\nreason = \"r\"\nexpires = 2027-01-31\n";
        let found = read(text).unwrap();
        assert!(found.of("a", "opencl@pocl", "x").is_some() && found.of("a", "cuda@0", "x").is_none());
    }

    #[test]
    fn no_file_expects_nothing_and_a_malformed_one_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Expectations::read(dir.path()).unwrap().rows.is_empty());
        let cases = [
            (ENTRY.to_owned(), "expires"),
            (format!("{ENTRY}expires = 12:00:00\n"), "date"),
            (format!("{ENTRY}expires = 2027-01-31\nexpect = 1\n"), "expect"),
            (format!("{ENTRY}expires = 2027-01-31\n").replace("known", " "), "reason"),
            (ENTRY.replace("\"3.1\"", "3.1"), "line 4, column 10: a string is expected here, not 3.1"),
            (format!("{ENTRY}expires = 2027-01-31\n").repeat(2), "twice"),
        ];
        for (text, words) in cases {
            let message = read(&text).unwrap_err().to_string();
            assert!(message.contains(FILE) && message.contains(words), "{words}: {message}");
        }
    }

    #[test]
    fn files_of_known_failures_are_survived() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/expectations");
        let entry = |expires: &str| format!("{ENTRY}expires = {expires}\n");
        let of_backend = entry("2027-01-31").replace("opencl@pocl", "cuda").replace("driver = \"3.1\"\n", "");
        let both = entry("2027-01-31T07:32:00Z") + &of_backend;
        let seeds = [both, entry("07:32:00"), String::new()].map(String::into_bytes);
        let words = [
            "[[failure]]",
            "scene = ",
            "target = ",
            "driver = ",
            "reason = ",
            "expires = ",
            "2027-02-29",
            "0000-00-00",
            "\"\"",
            "\"\"\"",
            "\n",
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let fuzz =
            lockstep_fuzz::Fuzz { name: "expectations", seeds: &seeds, corpus: &corpus, words: &words };
        let report = fuzz.run_part(4, |bytes| {
            std::fs::write(&path, bytes).unwrap();
            match Expectations::read(folder.path()) {
                Ok(found) => {
                    let row = found.of("atrium", "opencl@pocl", "PoCL 3.1");
                    let known = row.map(|row| (row.is_expired("2027-01-01"), row.last_day(), row.about()));
                    format!("{} rows, {known:?}", found.rows.len())
                }
                Err(error) => error.to_string().replace(&path.display().to_string(), ""),
            }
        });
        assert!(report.outcomes > 1, "{report:?}");
    }
}
