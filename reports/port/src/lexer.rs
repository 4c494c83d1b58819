//! Tokens of Rust, C, C++, CUDA and OpenCL C.
//!
//! Comments, white space and line continuations are no tokens. Text that no compiler would accept still gives
//! tokens: what is not closed ends with the file.

use std::path::Path;

/// The language of a source file, which decides how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Rust.
    Rust,
    /// C, C++ and CUDA C++.
    C,
    /// OpenCL C, in which address spaces may be written without underscores.
    OpenCl,
}

impl Language {
    /// Extensions of the files that are read.
    pub const EXTENSIONS: [&str; 9] = ["rs", "c", "h", "cu", "cuh", "cl", "cpp", "hpp", "cc"];

    /// The language of a file extension, in upper or lower case.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "rs" => Some(Self::Rust),
            "cl" => Some(Self::OpenCl),
            "c" | "h" | "cu" | "cuh" | "cpp" | "hpp" | "cc" => Some(Self::C),
            _ => None,
        }
    }
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A name or a keyword; in Rust also a lifetime.
    Word,
    /// A number with its suffix.
    Number,
    /// A string or a character with its quotes.
    Text,
    /// An operator, a bracket or any other mark.
    Mark,
}

/// A token and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The kind.
    pub kind: Kind,
    /// The token's text as written.
    pub text: &'a str,
    /// The line, from 1.
    pub line: u32,
}

/// Operators of more than one character, longest first.
const OPERATORS: [&str; 26] = [
    "<<=", ">>=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "..",
];

/// The tokens of a file.
pub fn tokens(text: &str, language: Language) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, rust: language == Language::Rust, at: 0, line: 1 };
    std::iter::from_fn(|| lexer.next_token()).collect()
}

struct Lexer<'a> {
    text: &'a str,
    rust: bool,
    at: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn next_token(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let first = rest.bytes().next()?;
        let (kind, length) = match first {
            b'"' => (Kind::Text, self.quoted(rest, 0)),
            b'\'' if !self.rust => (Kind::Text, self.quoted(rest, 0)),
            b'\'' => quote_of_rust(rest),
            _ if is_word(first) && !first.is_ascii_digit() => self.word(rest),
            _ if first.is_ascii_digit() => (Kind::Number, self.number(rest)),
            b'.' if !self.rust && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => {
                (Kind::Number, self.number(rest))
            }
            _ => (Kind::Mark, OPERATORS.iter().find(|o| rest.starts_with(**o)).map_or(1, |o| o.len())),
        };
        let token = Token { kind, text: &rest[..length], line: self.line };
        self.advance(length);
        Some(token)
    }

    fn advance(&mut self, length: usize) {
        let passed = &self.text.as_bytes()[self.at..self.at + length];
        self.line += passed.iter().filter(|b| **b == b'\n').count() as u32;
        self.at += length;
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank =
                rest.bytes().take_while(|b| b.is_ascii_whitespace() || *b == b'\\' || *b == 0).count();
            let length = if blank > 0 {
                blank
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                block_comment(rest, self.rust)
            } else if let Some(mark) = rest.strip_prefix('\u{feff}') {
                rest.len() - mark.len()
            } else {
                return;
            };
            self.advance(length);
        }
    }

    /// A name, or the string that its prefix begins, as in `r#"…"#`, `b"…"` and `u8R"x(…)x"`.
    fn word(&self, rest: &str) -> (Kind, usize) {
        let length = rest.bytes().take_while(|b| is_word(*b)).count();
        let (word, after) = rest.split_at(length);
        let raw = word.ends_with(['r', 'R']) && word.len() <= 3;
        if raw && let Some(body) = self.raw_string(after) {
            return (Kind::Text, length + body);
        }
        let prefixes: &[&str] = if self.rust { &["b", "c"] } else { &["L", "u", "U", "u8"] };
        match after.bytes().next() {
            Some(b'"' | b'\'') if prefixes.contains(&word) => (Kind::Text, self.quoted(rest, length)),
            _ => (Kind::Word, length),
        }
    }

    /// Length of a raw string from after its `r`: `#…"…"#…` in Rust, `"x(…)x"` in C++.
    fn raw_string(&self, after: &str) -> Option<usize> {
        let (open, close) = if self.rust {
            let hashes = after.bytes().take_while(|b| *b == b'#').count();
            (hashes + 1, format!("\"{}", "#".repeat(hashes)))
        } else {
            let bracket = after.find('(').filter(|at| (1..=17).contains(at))?;
            (bracket + 1, format!("){}\"", &after[1..bracket]))
        };
        let quote_at = if self.rust { open - 1 } else { 0 };
        if after.as_bytes().get(quote_at) != Some(&b'"') {
            return None;
        }
        Some(after[open..].find(&close).map_or(after.len(), |at| open + at + close.len()))
    }

    /// Length of a quoted text whose quote is at `quote_at`. Outside Rust it ends with its line at the
    /// latest.
    fn quoted(&self, rest: &str, quote_at: usize) -> usize {
        let bytes = rest.as_bytes();
        let quote = bytes[quote_at];
        let mut at = quote_at + 1;
        while let Some(byte) = bytes.get(at) {
            match *byte {
                b'\\' => at += 1,
                b'\n' if !self.rust => return at,
                byte if byte == quote => return at + 1,
                _ => {}
            }
            at += 1;
        }
        rest.len()
    }

    fn number(&self, rest: &str) -> usize {
        let bytes = rest.as_bytes();
        let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let next = bytes.get(at + 1).copied().unwrap_or(0);
            let goes_on = match *byte {
                b'.' if self.rust => !is_word(next) && next != b'.' || next.is_ascii_digit(),
                b'.' => next != b'.',
                b'\'' => !self.rust && next.is_ascii_alphanumeric(),
                b'+' | b'-' => {
                    let exponent = if hexadecimal { b'p' } else { b'e' };
                    at > 0 && bytes[at - 1].to_ascii_lowercase() == exponent
                }
                byte => is_word(byte),
            };
            if !goes_on {
                break;
            }
            at += 1;
        }
        at
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A character or a lifetime.
fn quote_of_rust(rest: &str) -> (Kind, usize) {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            let end = rest[2..].char_indices().skip(1).find(|(_, c)| *c == '\'');
            (Kind::Text, end.map_or(rest.len(), |(at, _)| at + 3))
        }
        Some(_) if characters.next().is_some_and(|(_, c)| c == '\'') => {
            (Kind::Text, characters.next().map_or(rest.len(), |(at, _)| at))
        }
        _ => (Kind::Word, 1 + rest[1..].bytes().take_while(|b| is_word(*b)).count()),
    }
}

/// Length of a block comment; Rust's nest.
fn block_comment(rest: &str, nests: bool) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (1, 2);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            b"/*" if nests => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, language: Language) -> Vec<&str> {
        tokens(text, language).iter().map(|t| t.text).collect()
    }

    #[test]
    fn comments_and_white_space_are_no_tokens() {
        let c = "/* a\n /* b */ x = 1.f; // y\n\tz >>= 0x1Fu; \\\n#define Q 'q'";
        assert_eq!(
            words(c, Language::C),
            ["x", "=", "1.f", ";", "z", ">>=", "0x1Fu", ";", "#", "define", "Q", "'q'"]
        );
        let rust = "/* a /* b */ c */ x // y\n/// z\n+ 1";
        assert_eq!(words(rust, Language::Rust), ["x", "+", "1"]);
        assert_eq!(tokens(c, Language::C).iter().map(|t| t.line).max(), Some(4));
    }

    #[test]
    fn text_that_looks_like_a_comment_stays_text() {
        assert_eq!(
            words(r#"f("/*", '"', "\"//")"#, Language::C),
            ["f", "(", "\"/*\"", ",", "'\"'", ",", r#""\"//""#, ")"]
        );
        let rust = "r#\"a\" // b\"# b'\\'' 'x' '\\u{1}' &'a str 'é'";
        assert_eq!(
            words(rust, Language::Rust),
            ["r#\"a\" // b\"#", "b'\\''", "'x'", "'\\u{1}'", "&", "'a", "str", "'é'"]
        );
        assert_eq!(words("R\"x(a)\" )x\" y", Language::C), ["R\"x(a)\" )x\"", "y"]);
    }

    #[test]
    fn numbers_end_where_their_language_ends_them() {
        assert_eq!(
            words("1.0e-3f .5 1'000u a.x 0x1p-3f", Language::C),
            ["1.0e-3f", ".5", "1'000u", "a", ".", "x", "0x1p-3f"]
        );
        assert_eq!(
            words("0..n 1.max(2) t.0.x 1_000u32 2.", Language::Rust),
            ["0", "..", "n", "1", ".", "max", "(", "2", ")", "t", ".", "0", ".", "x", "1_000u32", "2."]
        );
    }

    #[test]
    fn broken_text_ends_with_the_file() {
        for text in ["\"", "'", "/*", "r#\"", "'\\", "\\", "R\"(", "1.", "é'", "b'", "/*/", "'\u{e9}"] {
            for language in [Language::Rust, Language::C, Language::OpenCl] {
                let length: usize = tokens(text, language).iter().map(|t| t.text.len()).sum();
                assert!(length <= text.len(), "{text}");
            }
        }
    }
}
