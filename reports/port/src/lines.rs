//! Lines of code of a file.
//!
//! A line of code is one on which a token stands, by the lexer that [similarity](super::similarity) uses, so
//! that both answers share one denominator. (The counter `tokei` 15 was weighed and left: it knows neither
//! `.cuh` files nor `//` comments in OpenCL C, and brings in some seventy packages.)

use super::lexer::tokens;
use super::sources::Source;

/// Lines of a file that hold code.
pub fn code_lines(source: &Source) -> usize {
    let mut last = 0;
    let mut lines = 0;
    for token in tokens(&source.text, source.language) {
        // A string over several lines is code on each of them.
        let ends = token.line + token.text.matches('\n').count() as u32;
        lines += (ends + 1).saturating_sub(token.line.max(last + 1)) as usize;
        last = last.max(ends);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Language;

    #[test]
    fn comments_and_empty_lines_are_no_code_and_a_long_string_is() {
        let text =
            "//! Doc\n\nfn f() { // why\n/* a\n b */ }\nconst S: &str = \"one\ntwo\nthree\"; fn g() {}\n";
        let source = Source { name: "f.rs".into(), language: Language::Rust, text: text.into() };
        assert_eq!(code_lines(&source), 5);
    }
}
