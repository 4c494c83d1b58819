//! Words, strings and brackets of a scene file.

use std::borrow::Cow;

/// A piece of a file's text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind<'a> {
    /// A directive, a number or a truth value.
    Word(&'a str),
    /// The inside of a string in quotes, its escapes resolved.
    Quoted(Cow<'a, str>),
    /// `[`
    Open,
    /// `]`
    Close,
}

/// A token with its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind<'a>,
    pub(super) line: usize,
}

/// Splits a text into tokens. The next token can be looked at before it is taken.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    peeked: Option<Token<'a>>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, peeked: None }
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> usize {
        self.peeked.as_ref().map_or(self.line, |token| token.line)
    }

    /// Takes the next token; `None` at the end. The error is a sentence about the current line.
    pub(super) fn next(&mut self) -> Result<Option<Token<'a>>, String> {
        match self.peeked.take() {
            Some(token) => Ok(Some(token)),
            None => self.scan(),
        }
    }

    /// Looks at the next token.
    pub(super) fn peek(&mut self) -> Result<Option<&TokenKind<'a>>, String> {
        if self.peeked.is_none() {
            self.peeked = self.scan()?;
        }
        Ok(self.peeked.as_ref().map(|token| &token.kind))
    }

    fn scan(&mut self) -> Result<Option<Token<'a>>, String> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                None => return Ok(None),
                Some(b'\n') => {
                    self.line += 1;
                    self.at += 1;
                }
                Some(b'#') => {
                    self.at +=
                        bytes[self.at..].iter().position(|&b| b == b'\n').unwrap_or(bytes.len() - self.at)
                }
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(_) => break,
            }
        }
        let line = self.line;
        let kind = match bytes[self.at] {
            b'[' => {
                self.at += 1;
                TokenKind::Open
            }
            b']' => {
                self.at += 1;
                TokenKind::Close
            }
            b'"' => TokenKind::Quoted(self.quoted()?),
            _ => {
                let rest = &bytes[self.at..];
                let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'[' | b']' | b'"' | b'#');
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                // Cut at ASCII characters, so the text's boundaries are kept.
                let word = &self.text[self.at..self.at + length];
                self.at += length;
                TokenKind::Word(word)
            }
        };
        Ok(Some(Token { kind, line }))
    }

    /// The inside of a string, whose opening quote is next.
    fn quoted(&mut self) -> Result<Cow<'a, str>, String> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let (mut end, mut escaped) = (start, false);
        loop {
            match bytes.get(end) {
                None | Some(b'\n') => return Err("a string has no closing quote on its line".into()),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    end += 2;
                }
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        let inside = self.text.get(start..end).ok_or("a string has a broken escape")?;
        if !escaped {
            return Ok(Cow::Borrowed(inside));
        }
        let mut out = String::with_capacity(inside.len());
        let mut characters = inside.chars();
        while let Some(c) = characters.next() {
            match (c, if c == '\\' { characters.next() } else { None }) {
                (_, Some('n')) => out.push('\n'),
                (_, Some('t')) => out.push('\t'),
                (_, Some(quote @ ('"' | '\\' | '\''))) => out.push(quote),
                // Other escapes are parts of paths of Windows.
                (_, Some(other)) => out.extend(['\\', other]),
                (c, None) => out.push(c),
            }
        }
        Ok(Cow::Owned(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<Token<'_>>, String> {
        let mut tokens = Tokens::new(text);
        std::iter::from_fn(|| tokens.next().transpose()).collect()
    }

    #[test]
    fn words_strings_and_brackets_have_lines() {
        let found = all("Shape \"sphere\" # a ball\n\"float radius\"[1.5]\r\n\"a\\\"b\\\\c\"true").unwrap();
        let kinds: Vec<&TokenKind<'_>> = found.iter().map(|t| &t.kind).collect();
        let quoted = |s: &str| TokenKind::Quoted(Cow::Owned(s.to_string()));
        let wanted = [
            TokenKind::Word("Shape"),
            quoted("sphere"),
            quoted("float radius"),
            TokenKind::Open,
            TokenKind::Word("1.5"),
            TokenKind::Close,
            quoted("a\"b\\c"),
            TokenKind::Word("true"),
        ];
        assert_eq!(kinds, wanted.iter().collect::<Vec<_>>());
        assert_eq!(found.iter().map(|t| t.line).collect::<Vec<_>>(), [1, 1, 2, 2, 2, 2, 3, 3]);
    }

    #[test]
    fn a_string_ends_on_its_line() {
        for text in ["\"abc", "\"abc\n\"", "\"abc\\", "\"abc\\\""] {
            assert!(all(text).is_err(), "{text}");
        }
        assert_eq!(all("\"ä\\ö\"").unwrap()[0].kind, TokenKind::Quoted(Cow::Borrowed("ä\\ö")));
        assert!(all("").unwrap().is_empty() && all("# only a comment").unwrap().is_empty());
    }
}
