//! `targets.toml`: its shape, and what is wrong with one.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use lockstep_core::serde_words::in_words;
use lockstep_core::{Mode, TargetId};
use regex_lite::Regex;
use serde::Deserialize;
use toml::Spanned;

use super::Declared;
use super::command::{Command, Words};
use super::known::{self, SceneInput};
use super::template::{Placeholder, Template};
use super::times::{Times, Unit};
use crate::backends;

/// Seconds after which a run is stopped where the file does not say.
pub(super) const TIMEOUT_S: f64 = 3600.0;

/// The longest such time, so that every limit is one that a clock can hold: a year.
const MAX_TIMEOUT_S: f64 = 365.0 * 86_400.0;

/// Why a file of targets cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetsError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}; name another file with --targets-file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The file is wrong at some place.
    #[error("{}:{line}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault, and the remedy.
        message: String,
    },
}

/// The format of the file that a program writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// OpenEXR.
    #[default]
    Exr,
    /// Portable float map.
    Pfm,
    /// Radiance RGBE.
    Hdr,
    /// PNG, in sRGB.
    Png,
}

impl Format {
    /// The extension.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Exr => "exr",
            Self::Pfm => "pfm",
            Self::Hdr => "hdr",
            Self::Png => "png",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    command: Spanned<Line>,
    #[serde(default)]
    shell: bool,
    #[serde(default)]
    env: BTreeMap<String, Spanned<String>>,
    dir: Option<String>,
    #[serde(default)]
    format: Format,
    times: Option<Spanned<TimesTable>>,
    #[serde(default)]
    continues: bool,
    timeout_s: Option<Spanned<f64>>,
    version: Option<Spanned<Line>>,
}

/// A command as TOML has it.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected an array of words, or with `shell = true` a string")]
enum Line {
    Words(Vec<String>),
    Shell(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimesTable {
    regex: Option<String>,
    json: Option<String>,
    #[serde(default)]
    pointer: String,
    #[serde(default)]
    wall: bool,
    unit: Option<Unit>,
}

/// A file's text, to tell lines.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
    }

    fn error(&self, at: &Range<usize>, message: impl fmt::Display) -> TargetsError {
        TargetsError::Malformed {
            path: self.path.to_owned(),
            line: self.line(at.start),
            message: message.to_string(),
        }
    }
}

/// Reads a file: its targets in their order.
///
/// # Errors
/// [`TargetsError`], with the line for everything that is wrong in the file.
pub(crate) fn read(path: &Path) -> Result<Vec<(TargetId, Declared)>, TargetsError> {
    let fail = |source| TargetsError::Read { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(fail)?;
    let folder = std::path::absolute(path).map_err(fail)?;
    parse(&Source { path, text: &text }, folder.parent().unwrap_or(Path::new("/")))
}

fn parse(source: &Source<'_>, folder: &Path) -> Result<Vec<(TargetId, Declared)>, TargetsError> {
    let tables: BTreeMap<Spanned<String>, Spanned<Table>> = toml::from_str(source.text).map_err(|error| {
        let at = error.span().unwrap_or_default();
        source.error(&at, in_words(&error.message().trim().replace('\n', "; ")))
    })?;
    let mut targets = Vec::with_capacity(tables.len());
    for (name, table) in tables {
        let at = name.span();
        let id = name_of(name.get_ref()).map_err(|message| source.error(&at, message))?;
        let declared = table.into_inner().declared(source, &at, folder)?;
        targets.push((id, declared));
    }
    targets.sort_by_key(|(_, declared)| declared.place.as_ref().map(|(_, line)| *line));
    Ok(targets)
}

/// A target's name, unless it could be taken for another.
fn name_of(name: &str) -> Result<TargetId, String> {
    let id = TargetId::from(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let parts = [Some(id.backend.as_str()), id.device.as_deref()];
    let plain = parts.into_iter().flatten().all(|part| !part.is_empty() && part.chars().all(is_plain));
    if !plain || id.mode != Mode::Exact {
        return Err(format!(
            "`{name}` is no name for a target; take letters, digits, `-`, `_` and `.`, with one `@` before a variant"
        ));
    }
    match backends::is_taken(&id.backend) || known::is_known(&id.backend) {
        true => Err(format!("`{name}` is the name of a target that Lockstep has; take another")),
        false => Ok(id),
    }
}

impl Table {
    fn declared(
        self,
        source: &Source<'_>,
        at: &Range<usize>,
        folder: &Path,
    ) -> Result<Declared, TargetsError> {
        let dir = self.dir.as_ref().map_or_else(|| folder.to_owned(), |dir| folder.join(dir));
        let mut env = BTreeMap::new();
        for (name, value) in &self.env {
            let fault = |why: &dyn fmt::Display| source.error(&value.span(), format!("env.{name}: {why}"));
            if name.is_empty() || name.contains(['=', '\0']) || value.get_ref().contains('\0') {
                return Err(fault(&"a variable has a name without `=`, and no zero bytes"));
            }
            env.insert(name.clone(), Template::parse(value.get_ref()).map_err(|why| fault(&why))?);
        }
        let command = |line: &Spanned<Line>| -> Result<Command, TargetsError> {
            let words = words(line.get_ref(), self.shell).map_err(|why| source.error(&line.span(), why))?;
            Ok(Command { words, env: env.clone(), dir: dir.clone() })
        };
        let render = command(&self.command)?;
        for needed in [Placeholder::Out, Placeholder::Spp] {
            if !render.has(needed) {
                let why = format!("neither `command` nor `env` has {{{}}}", needed.name());
                return Err(source.error(&self.command.span(), why));
            }
        }
        let times = match &self.times {
            Some(times) => times.get_ref().source().map_err(|why| source.error(&times.span(), why))?,
            None => Times::Wall,
        };
        let timeout_s = self.timeout_s.as_ref().map_or(TIMEOUT_S, |seconds| *seconds.get_ref());
        if !(timeout_s > 0.0 && timeout_s <= MAX_TIMEOUT_S) {
            let at = self.timeout_s.as_ref().map_or_else(|| at.clone(), Spanned::span);
            return Err(source.error(&at, "`timeout_s` is a number of seconds above 0 and up to a year"));
        }
        Ok(Declared {
            version: self.version.as_ref().map(command).transpose()?,
            command: render,
            format: self.format,
            times,
            continues: self.continues,
            timeout_s,
            scene: SceneInput::Named,
            place: Some((source.path.to_owned(), source.line(at.start))),
        })
    }
}

/// The words of a command.
fn words(line: &Line, shell: bool) -> Result<Words, String> {
    let template = |text: &String| match text.contains('\0') {
        true => Err("a word has a zero byte".to_owned()),
        false => Template::parse(text).map_err(|why| why.to_string()),
    };
    match (line, shell) {
        (Line::Words(words), false) if words.first().is_some_and(|program| !program.is_empty()) => {
            Ok(Words::Plain(words.iter().map(template).collect::<Result<_, _>>()?))
        }
        (Line::Words(_), false) => Err("the command names no program".to_owned()),
        (Line::Shell(line), true) => Ok(Words::Shell(template(line)?)),
        (Line::Shell(_), false) => Err(
            "the command is a string; give an array of words, or add `shell = true` for a shell's command line".to_owned(),
        ),
        (Line::Words(_), true) => {
            Err("`shell = true` takes the command line as one string, not an array of words".to_owned())
        }
    }
}

impl TimesTable {
    fn source(&self) -> Result<Times, String> {
        if !self.pointer.is_empty() && self.json.is_none() {
            return Err("`pointer` goes with `json`".to_owned());
        }
        if self.unit.is_some() && self.wall {
            return Err("`unit` goes with `regex` or `json`".to_owned());
        }
        let unit = self.unit.unwrap_or_default();
        match (&self.regex, &self.json, self.wall) {
            (Some(text), None, false) => {
                let regex = Regex::new(text).map_err(|e| format!("`regex` is no regular expression: {e}"))?;
                match regex.captures_len() {
                    0 | 1 => Err(format!("`regex` has no group around the number, as in `{text}(\\S+)`")),
                    _ => Ok(Times::Printed { regex, unit }),
                }
            }
            (None, Some(file), false) => Ok(Times::Json {
                file: Template::parse(file).map_err(|why| why.to_string())?,
                pointer: self.pointer.clone(),
                unit,
            }),
            (None, None, true) => Ok(Times::Wall),
            _ => Err("`times` has one of `regex`, `json` and `wall = true`".to_owned()),
        }
    }
}
