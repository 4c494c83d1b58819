//! Levels of comparison: tokens as symbols, with more or less of the spelling taken out.

mod names;

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use super::dialect::{WITH_ARGUMENTS, neutral};
use super::lexer::{Kind, Language, Token};

/// How much of the spelling is taken out before files are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Tokens as they are written, nothing taken out.
    Raw,
    /// Words of CUDA, OpenCL, C and Rust that mean the same become one (the table in [`super::dialect`]),
    /// suffixes of numbers go, and so do attributes.
    Dialect,
    /// [`Level::Dialect`], with each name replaced by the number of other names since its last use (parameterized matching:
    /// Baker, A theory of parameterized pattern matching, STOC 1993), so that consistent renaming changes nothing; and what
    /// only one of C and Rust writes goes: declared types, casts, `let`, `mut`, `return`, semicolons, and brackets of
    /// conditions.
    Names,
}

impl Level {
    /// All levels, from the one that takes out least.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Dialect, Self::Names];

    /// The heading in tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Dialect => "dialect",
            Self::Names => "names",
        }
    }
}

/// One compared token: a 64-bit hash of its text, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Hash of the token's text, equal for tokens that count as equal.
    pub code: u64,
    /// Line of the file, from 1.
    pub line: u32,
}

/// A file's symbols at a level.
pub fn symbols(tokens: &[Token<'_>], language: Language, level: Level) -> Vec<Symbol> {
    match level {
        Level::Raw => tokens.iter().map(|t| Symbol { code: code(t.text), line: t.line }).collect(),
        Level::Dialect => neutral_words(tokens, language).iter().map(Word::symbol).collect(),
        Level::Names => names::symbols(&neutral_words(tokens, language), language),
    }
}

fn code(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A token in the neutral dialect.
struct Word {
    text: String,
    /// A name that its author chose.
    chosen: bool,
    line: u32,
}

impl Word {
    fn symbol(&self) -> Symbol {
        Symbol { code: code(self.text.as_str()), line: self.line }
    }
}

fn neutral_words(tokens: &[Token<'_>], language: Language) -> Vec<Word> {
    let mut words = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let attribute = language == Language::Rust && token.text == "#" && is(tokens, at + 1, "[");
        if attribute || (WITH_ARGUMENTS.contains(&token.text) && is(tokens, at + 1, "(")) {
            at = after_bracket(tokens, at + 1);
        } else if let Some((text, length)) = neutral(&tokens[at..], language) {
            if !text.is_empty() {
                words.push(Word { text: text.to_owned(), chosen: false, line: token.line });
            }
            at += length;
        } else {
            words.push(plain_word(token));
            at += 1;
        }
    }
    words
}

fn plain_word(token: &Token<'_>) -> Word {
    let text = match (token.kind, token.text) {
        (Kind::Number, text) => number(text),
        // Members and paths: what is reached by value, by pointer or by name is one.
        (_, "->" | "::") => ".".to_owned(),
        (_, text) => text.to_owned(),
    };
    let chosen = token.kind == Kind::Word && !KEYWORDS.contains(&token.text);
    Word { text, chosen, line: token.line }
}

fn is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

/// The position behind the bracket that opens at `at`.
fn after_bracket(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

/// A number without its suffix and separators.
fn number(text: &str) -> String {
    let mut plain: String =
        text.chars().filter(|c| !matches!(c, '_' | '\'')).map(|c| c.to_ascii_lowercase()).collect();
    for suffix in ["f32", "f64", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"] {
        if let Some(short) = plain.strip_suffix(suffix) {
            return short.to_owned();
        }
    }
    let hexadecimal = plain.starts_with("0x") && !plain.contains('p');
    let suffixes: &[char] = if hexadecimal { &['u', 'l'] } else { &['u', 'l', 'f', 'h'] };
    plain.truncate(plain.trim_end_matches(suffixes).len());
    if plain.starts_with('.') {
        plain.insert(0, '0');
    }
    if plain.ends_with('.') {
        plain.push('0');
    }
    plain
}

/// Words that are no names in C or in Rust, and types that a compiler knows.
const KEYWORDS: [&str; 53] = [
    "as", "bool", "break", "case", "const", "continue", "crate", "default", "define", "do", "else", "endif",
    "enum", "extern", "f32", "f64", "fn", "for", "goto", "i16", "i32", "i64", "i8", "if", "ifdef", "ifndef",
    "impl", "in", "include", "isize", "let", "loop", "match", "mod", "mut", "pub", "return", "self", "Self",
    "sizeof", "struct", "switch", "trait", "typedef", "u16", "u32", "u64", "u8", "union", "use", "usize",
    "void", "while",
];

#[cfg(test)]
mod tests;
