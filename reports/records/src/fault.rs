//! Faults in the fields of a record, in the words of its format.

use lockstep_core::serde_words::in_words;
use serde_json::{Map, Value};

/// Reads the fields of a record of a kind; nothing where the kind is not known.
type Read<R> = fn(&str, Value) -> Option<serde_json::Result<R>>;

/// The fault of a record that cannot be read: its kind, the fields with a wrong value, and what the reader says.
pub(crate) fn describe<R>(
    kind: &str,
    fields: &Map<String, Value>,
    error: &serde_json::Error,
    read: Read<R>,
) -> String {
    // Alone, a sound field is read, or another one is missing beside it
    let is_wrong = |(name, value): &(&String, &Value)| {
        let alone = Map::from_iter([((*name).clone(), (*value).clone())]);
        let said = read(kind, Value::Object(alone)).and_then(Result::err).map(|error| error.to_string());
        said.is_some_and(|said| !said.starts_with("missing field"))
    };
    let wrong = fields.iter().filter(is_wrong).map(|(name, _)| name);
    let quoted: Vec<String> = wrong.map(|name| format!("\"{name}\"")).collect();
    let place = match quoted.as_slice() {
        [] => "cannot be read".to_owned(),
        [one] => format!("has a wrong value in its field {one}"),
        many => format!("has a wrong value in its fields {}", many.join(", ")),
    };
    format!("a record of the kind \"{kind}\" {place}: {}", in_words(&error.to_string()))
}
