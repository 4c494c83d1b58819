//! Where the time of a run comes from.

use std::path::Path;

use regex_lite::Regex;
use serde::Deserialize;

use super::template::{Placeholder, Template};

/// A unit of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    /// Seconds.
    #[default]
    S,
    /// Milliseconds.
    Ms,
}

impl Unit {
    fn to_ms(self, value: f64) -> f64 {
        match self {
            Self::S => 1e3 * value,
            Self::Ms => value,
        }
    }
}

/// The source of a time.
#[derive(Clone, Debug)]
pub(crate) enum Times {
    /// The life of the process, starting and reading the scene among it.
    Wall,
    /// The first group of the last match in what the program prints.
    Printed {
        /// The expression.
        regex: Regex,
        /// The unit of the number.
        unit: Unit,
    },
    /// A number in a JSON file that the program writes.
    Json {
        /// The file, relative to the working folder.
        file: Template,
        /// A JSON pointer (RFC 6901) to the number.
        pointer: String,
        /// The unit of the number.
        unit: Unit,
    },
}

impl Times {
    /// The kind of the times, for tables.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Wall => "wall clock of the whole process".to_owned(),
            Self::Printed { regex, unit } => format!("printed by the program, /{regex}/ in {}", name(*unit)),
            Self::Json { file, pointer, unit } => {
                format!("written by the program, {pointer} of {file} in {}", name(*unit))
            }
        }
    }

    /// The time of a run in milliseconds, given its wall clock, what it printed, its working folder and its values.
    ///
    /// # Errors
    /// Why there is none, a sentence without its full stop.
    pub(crate) fn read(
        &self,
        wall_ms: f64,
        printed: &dyn Fn() -> String,
        dir: &Path,
        value: &dyn Fn(Placeholder) -> String,
    ) -> Result<f64, String> {
        let (ms, place) = match self {
            Self::Wall => return Ok(wall_ms),
            Self::Printed { regex, unit } => {
                let printed = printed();
                let last = regex.captures_iter(&printed).last();
                let text = last.as_ref().and_then(|found| found.get(1)).map(|group| group.as_str());
                let text = text.ok_or_else(|| format!("it printed nothing that /{regex}/ matches"))?;
                (text.trim().parse().ok().map(|time| unit.to_ms(time)), format!("`{text}`"))
            }
            Self::Json { file, pointer, unit } => {
                let path = dir.join(file.fill(value));
                let shown = path.display();
                let text =
                    std::fs::read_to_string(&path).map_err(|e| format!("{shown} cannot be read: {e}"))?;
                let json: serde_json::Value =
                    serde_json::from_str(&text).map_err(|e| format!("{shown} is not JSON: {e}"))?;
                let found = json.pointer(pointer).and_then(serde_json::Value::as_f64);
                (found.map(|time| unit.to_ms(time)), format!("{pointer} of {shown}"))
            }
        };
        ms.filter(|ms: &f64| ms.is_finite() && *ms >= 0.0).ok_or_else(|| format!("{place} is no time"))
    }
}

fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::S => "seconds",
        Unit::Ms => "milliseconds",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(hole: Placeholder) -> String {
        hole.name().to_owned()
    }

    #[test]
    fn the_last_time_printed_counts_and_what_is_none_is_said() {
        let times = Times::Printed { regex: Regex::new(r"took (\S+) ms").unwrap(), unit: Unit::Ms };
        let read = |text: &str| times.read(9.0, &|| text.to_owned(), Path::new(""), &value);
        assert_eq!(read("took 1 ms\ntook 2.5 ms\n"), Ok(2.5));
        assert_eq!(read("done"), Err(r"it printed nothing that /took (\S+) ms/ matches".to_owned()));
        assert_eq!(read("took long ms"), Err("`long` is no time".to_owned()));
        assert_eq!(read("took -1 ms"), Err("`-1` is no time".to_owned()));
        assert_eq!(Times::Wall.read(9.0, &String::new, Path::new(""), &value), Ok(9.0));
    }

    #[test]
    fn a_time_is_read_from_a_json_file_named_by_placeholders() {
        let dir = tempfile::tempdir().unwrap();
        let times = Times::Json {
            file: Template::parse("{out}.json").unwrap(),
            pointer: "/times/render".into(),
            unit: Unit::S,
        };
        let read = || times.read(9.0, &String::new, dir.path(), &value);
        assert!(read().unwrap_err().contains("out.json cannot be read"));
        std::fs::write(dir.path().join("out.json"), r#"{"times": {"render": 0.25}}"#).unwrap();
        assert_eq!(read(), Ok(250.0));
        std::fs::write(dir.path().join("out.json"), r#"{"times": {}}"#).unwrap();
        assert!(read().unwrap_err().contains("/times/render of"));
    }
}
