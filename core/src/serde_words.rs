//! Messages of serde about wrong values, in the words of file formats instead of those of Rust's types.

/// The message of a reader of JSON or TOML in words for whoever wrote the file: "a number is expected here, not the string
/// \"x\"" for "invalid type: string \"x\", expected f32". Other messages stay, and so does a place behind them.
pub fn in_words(message: &str) -> String {
    let (said, place) = match message.rfind(" at line ") {
        Some(end) => message.split_at(end),
        None => (message, ""),
    };
    let said = wrong_value(said).or_else(|| wrong_length(said)).or_else(|| wrong_form(said));
    said.map_or_else(|| message.to_owned(), |said| format!("{said}{place}"))
}

fn wrong_value(said: &str) -> Option<String> {
    let rest = said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: "))?;
    let (found, wanted) = rest.rsplit_once(", expected ")?;
    Some(format!("{} is expected here, not {}", wanted_in_words(wanted), found_in_words(found)))
}

fn wrong_length(said: &str) -> Option<String> {
    let (found, wanted) = said.strip_prefix("invalid length ")?.split_once(", expected ")?;
    let count = wanted.split(' ').find_map(|word| word.parse::<u64>().ok())?;
    Some(format!("a list of {count} is expected here, not of {found}"))
}

fn wrong_form(said: &str) -> Option<String> {
    if said.starts_with("data did not match any variant of untagged enum") {
        return Some("none of the forms that are expected here".to_owned());
    }
    Some(format!("unknown value {}", said.strip_prefix("unknown variant ")?))
}

fn wanted_in_words(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a borrowed string" | "string or map" | "str" | "variant identifier" | "field identifier" => {
            "a string"
        }
        "a sequence" => "a list",
        "a map" => "an object",
        other => match other.split_once(' ') {
            Some(("struct", _)) => "an object",
            Some(("enum", _)) => "one of the known values",
            Some(("tuple" | "an", rest)) if rest.contains("size") || rest.starts_with("array") => "a list",
            _ => other,
        },
    }
}

fn found_in_words(found: &str) -> String {
    match found {
        "sequence" => return "a list".to_owned(),
        "map" => return "an object".to_owned(),
        "unit value" => return "nothing".to_owned(),
        _ => {}
    }
    if found.starts_with("string ") {
        return format!("the {found}");
    }
    let value = ["integer `", "floating point `", "boolean `", "character `"]
        .iter()
        .find_map(|kind| found.strip_prefix(kind)?.strip_suffix('`'));
    value.unwrap_or(found).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// The words for a text that is no value of this type.
    fn said<'a, T: Deserialize<'a>>(text: &'a str) -> String {
        in_words(&serde_json::from_str::<T>(text).map(drop).unwrap_err().to_string())
    }

    #[test]
    fn wrong_values_are_told_without_names_of_types() {
        #[derive(Deserialize)]
        struct Named {
            #[serde(rename = "x")]
            _x: Option<Kind>,
        }
        #[derive(Deserialize)]
        enum Kind {}
        for (message, words) in [
            (said::<f32>("\"x\""), "a number is expected here, not the string \"x\" at line 1 column 3"),
            (said::<u32>("-1"), "a whole number from 0 on is expected here, not -1 at line 1 column 2"),
            (said::<i16>("1.5"), "a whole number is expected here, not 1.5 at line 1 column 3"),
            (said::<bool>("[]"), "true or false is expected here, not a list at line 1 column 0"),
            (said::<String>("{}"), "a string is expected here, not an object at line 1 column 0"),
            (said::<[f32; 3]>("[1, 2]"), "a list of 3 is expected here, not of 2 at line 1 column 6"),
            (said::<[f32; 3]>("7"), "a list is expected here, not 7 at line 1 column 1"),
            (said::<Vec<u8>>("null"), "a list is expected here, not null at line 1 column 4"),
            (said::<BTreeMap<String, u8>>("true"), "an object is expected here, not true at line 1 column 4"),
            (said::<Named>("3"), "an object is expected here, not 3 at line 1 column 1"),
        ] {
            assert_eq!(message, words);
        }
        let unknown = said::<Named>(r#"{"x": "y"}"#);
        assert!(unknown.starts_with("unknown value `y`"), "{unknown}");
    }

    #[test]
    fn other_messages_stay() {
        for message in ["missing field `x` at line 1 column 2", "trailing characters at line 1 column 1"] {
            assert_eq!(in_words(message), message);
        }
    }
}
