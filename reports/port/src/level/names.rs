//! Symbols in which names do not count, and what only one of C and Rust writes is gone.

use super::{Symbol, Word, code};
use crate::lexer::Language;

/// A name used longer ago than this many other names counts as one never seen, so that what stands far away
/// does not change how a stretch of code looks.
const MEMORY: usize = 24;

/// Types that a compiler knows.
const SCALARS: [&str; 14] =
    ["f32", "f64", "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "bool", "void"];

/// Words that only one of C and Rust needs.
const DROPPED: [&str; 10] = ["let", "mut", "const", "return", ";", "pub", "fn", "struct", "&", "typedef"];

pub(super) fn symbols(words: &[Word], language: Language) -> Vec<Symbol> {
    let mut recent: Vec<&str> = Vec::with_capacity(MEMORY + 1);
    let mut depth = 0_i32;
    let mut symbols = Vec::with_capacity(words.len());
    for word in structure(words, language) {
        match word.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        let code =
            if word.chosen { code(("name", age(&mut recent, &word.text))) } else { code(word.text.as_str()) };
        symbols.push(Symbol { code, line: word.line });
        // Every item is told by itself, so that the order of items does not count.
        if word.text == "}" && depth <= 0 {
            recent.clear();
            depth = 0;
        }
    }
    symbols
}

/// How many other names were used since this one was; the length of the memory where it was not.
fn age<'a>(recent: &mut Vec<&'a str>, name: &'a str) -> usize {
    let seen = recent.iter().rev().position(|other| *other == name);
    match seen {
        Some(age) => {
            recent.remove(recent.len() - 1 - age);
        }
        None if recent.len() == MEMORY => {
            recent.remove(0);
        }
        None => {}
    }
    recent.push(name);
    seen.unwrap_or(MEMORY)
}

/// The words that both languages write.
fn structure(words: &[Word], language: Language) -> Vec<&Word> {
    let brackets = condition_brackets(words);
    let mut kept = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let skipped = if language == Language::Rust { rust_type(words, at) } else { c_type(words, at) };
        let alone = DROPPED.contains(&word.text.as_str()) || SCALARS.contains(&word.text.as_str());
        if skipped > 0 {
            at += skipped;
        } else {
            if !alone && !brackets[at] {
                kept.push(word);
            }
            at += 1;
        }
    }
    kept
}

/// How many words of a type or a cast start here: `: f32`, `-> Name`, `as u32`.
fn rust_type(words: &[Word], at: usize) -> usize {
    let introduces = matches!(words[at].text.as_str(), ":" | "as");
    let is_type = |word: &Word| {
        SCALARS.contains(&word.text.as_str()) || (word.chosen && word.text.starts_with(char::is_uppercase))
    };
    if introduces && words.get(at + 1).is_some_and(is_type) { 2 } else { 0 }
}

/// How many words of a type or a cast start here: `(u32)`, or a name before a name.
fn c_type(words: &[Word], at: usize) -> usize {
    let text = |ahead: usize| words.get(at + ahead).map_or("", |word| word.text.as_str());
    if text(0) == "(" && SCALARS.contains(&text(1)) && text(2) == ")" {
        3
    } else {
        usize::from(words[at].chosen && words.get(at + 1).is_some_and(|next| next.chosen))
    }
}

/// Marks the brackets around the whole condition of an `if` or a `while`.
fn condition_brackets(words: &[Word]) -> Vec<bool> {
    let mut marked = vec![false; words.len()];
    for at in 1..words.len() {
        if words[at].text != "(" || !matches!(words[at - 1].text.as_str(), "if" | "while") {
            continue;
        }
        let mut depth = 0_i32;
        let closing = words[at..].iter().position(|word| {
            depth += i32::from(word.text == "(") - i32::from(word.text == ")");
            depth == 0
        });
        if let Some(closing) = closing {
            marked[at] = true;
            marked[at + closing] = true;
        }
    }
    marked
}
