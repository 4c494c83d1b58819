//! Faults of TOML files, by line and in words.

use lockstep_core::serde_words::in_words;

/// The fault that a reader finds in a text, behind its line and column: "line 3, column 8: a number is expected here, not true".
pub(crate) fn toml_fault(text: &str, error: &toml::de::Error) -> String {
    let message = in_words(&error.message().trim().replace('\n', "; "));
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    format!("line {line}, column {column}: {message}")
}
