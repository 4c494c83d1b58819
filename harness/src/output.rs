//! Standard output and standard error.
//!
//! Results go to standard output, everything else to standard error. A reader that has gone (`| head`) is no
//! error.

use std::io::{ErrorKind, Write};

use serde::Serialize;

use crate::exit::Failure;

/// Writes a command's result to standard output.
///
/// # Errors
/// [`Failure::Io`] when standard output refuses, except because its reader has gone.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::io("write to", "standard output")),
    }
}

/// Writes one JSON document, indented, to standard output.
///
/// # Errors
/// As for [`print()`].
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|e| Failure::Input(format!("cannot encode the answer as JSON: {e}")))?;
    print(&(text + "\n"))
}

/// Says something about the work to standard error. What standard error does not take is lost: there is no
/// better place to complain.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A number that JSON cannot hold becomes the string `inf`, `-inf` or `nan`, as in records.
pub(crate) fn json_number(value: f64) -> serde_json::Value {
    match value {
        v if v.is_finite() => v.into(),
        v if v.is_nan() => "nan".into(),
        v if v > 0.0 => "inf".into(),
        _ => "-inf".into(),
    }
}
