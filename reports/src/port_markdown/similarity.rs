//! Similarity as Markdown, in the form in which plagiarism detectors publish it: each side's lines, the share
//! of them that is found on the other side, and how many lines match.

use crate::format::{count, fixed};
use lockstep_port::level::Level;
use lockstep_port::similarity::{EXPLANATION, Levels, Matched, Part, Side, Similarity};

/// The similarity of two sides in Markdown: sides, folders, and the first `most` pairs of files. Tables wider than `width`
/// leave out columns, the least important first, and shorten names of files last.
pub fn similarity_markdown(similarity: &Similarity, most: usize, width: Option<usize>) -> String {
    let (a, b) = (&similarity.a, &similarity.b);
    let mut text = format!("A: {}\nB: {}\n\n", a.name, b.name);
    text.push_str(&parts(a, b, width));
    if similarity.pairs.is_empty() {
        text.push_str("\nNo two files share a run of tokens.\n");
    } else {
        text.push('\n');
        text.push_str(&pairs(similarity, most, width));
        if let Some(more @ 1..) = similarity.pairs.len().checked_sub(most) {
            text.push_str(&format!("\n{} more pairs share less.\n", count(more as u64)));
        }
    }
    text.push_str(&format!("\n{EXPLANATION}A run has {} tokens or more.\n", similarity.shortest));
    text
}

/// Columns that a narrow terminal does without, the least important first.
const LEAST: [&str; 4] = ["lines matched", "raw", "dialect", "lines"];

fn parts(a: &Side, b: &Side, width: Option<usize>) -> String {
    let mut rows = vec![header(&["side", "part"], &["lines", "lines matched"])];
    for (label, side) in [("A", a), ("B", b)] {
        for part in std::iter::once(&side.whole).chain(&side.folders) {
            let mut row = vec![label.to_owned(), part.name.clone()];
            row.extend(shares(&part.levels));
            row.extend(lines(part));
            rows.push(row);
        }
    }
    table(&rows, 2, &LEAST, width)
}

fn pairs(similarity: &Similarity, most: usize, width: Option<usize>) -> String {
    let mut head = header(&["A"], &["lines", "lines matched"]);
    head.extend(header(&["B"], &["lines", "lines matched"]));
    let mut rows = vec![head];
    for pair in similarity.pairs.iter().take(most) {
        let mut row = Vec::new();
        for part in [&pair.a, &pair.b] {
            row.push(part.name.clone());
            row.extend(shares(&part.levels));
            row.extend(lines(part));
        }
        rows.push(row);
    }
    table(&rows, 1, &LEAST, width)
}

fn header(first: &[&str], last: &[&str]) -> Vec<String> {
    let levels = Level::ALL.map(Level::label);
    first.iter().chain(&levels).chain(last).map(|&text| text.to_owned()).collect()
}

fn shares(levels: &Levels) -> [String; 3] {
    levels.map(|matched| format!("{} %", fixed(100.0 * matched.share(), 1)))
}

/// Lines as written, and the most that a level matches.
fn lines(part: &Part) -> [String; 2] {
    let most = part.levels.iter().map(|m: &Matched| m.matched).max().unwrap_or_default();
    [count(part.levels[0].lines as u64), count(most as u64)]
}

/// A table within a width: without the columns titled as in `least`, each as often as it is there, as far as is needed,
/// which are named below it; then with long words cut at their beginning.
pub(super) fn table(rows: &[Vec<String>], words: usize, least: &[&str], width: Option<usize>) -> String {
    let mut rows = rows.to_vec();
    let is_wide = |rows: &[Vec<String>]| width.is_some_and(|width| line_width(rows) > width);
    let mut omitted: Vec<&str> = Vec::new();
    for title in least {
        if !is_wide(&rows) {
            break;
        }
        let kept: Vec<usize> = (0..rows[0].len()).filter(|&column| rows[0][column] != *title).collect();
        if kept.len() < rows[0].len() {
            rows = rows.iter().map(|row| kept.iter().map(|&column| row[column].clone()).collect()).collect();
            omitted.push(title);
        }
    }
    while let Some(column) = longest_words(&rows).filter(|_| is_wide(&rows)) {
        let most = width_of(&rows, column) - 1;
        rows.iter_mut().for_each(|row| shorten(&mut row[column], most));
    }
    let mut text = padded(&rows, words);
    if !omitted.is_empty() {
        text.push_str(&format!("Left out for want of width: {}.\n", omitted.join(", ")));
    }
    text
}

/// The fewest characters that a column of words is cut to.
const FEWEST: usize = 8;

/// The column of words with the longest cell, where it can be cut.
fn longest_words(rows: &[Vec<String>]) -> Option<usize> {
    let has_words =
        |column: &usize| rows.iter().skip(1).any(|row| row[*column].contains(char::is_alphabetic));
    let column = (0..rows.first()?.len()).filter(has_words).max_by_key(|column| width_of(rows, *column))?;
    (width_of(rows, column) > FEWEST).then_some(column)
}

/// Cuts the beginning of a text that has more characters than `most`.
fn shorten(text: &mut String, most: usize) {
    let length = text.chars().count();
    if length > most {
        *text = std::iter::once('…').chain(text.chars().skip(length - most + 1)).collect();
    }
}

/// Characters of the widest cell of a column.
fn width_of(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(3)
}

/// Characters of a line of the table.
fn line_width(rows: &[Vec<String>]) -> usize {
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).map(|column| width_of(rows, column) + 3).sum::<usize>() + 1
}

/// Rows with the header first, padded so that they read as well on a terminal. Columns that are not among the
/// first `words` are aligned to the right when they hold no letters.
fn padded(rows: &[Vec<String>], words: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns).map(|column| width_of(rows, column)).collect();
    let is_number = |column: usize| {
        column >= words && rows.iter().skip(1).all(|row| !row[column].contains(|c: char| c.is_alphabetic()))
    };
    let mut text = String::new();
    for (i, row) in rows.iter().enumerate() {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = widths[column];
            if is_number(column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        text.push_str(&format!("| {} |\n", cells.collect::<Vec<_>>().join(" | ")));
        if i == 0 {
            let rules = widths.iter().enumerate().map(|(column, width)| {
                if is_number(column) { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(*width) }
            });
            text.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_port::lexer::Language;
    use lockstep_port::similarity::compare;
    use lockstep_port::sources::Source;

    #[test]
    fn the_table_gives_lines_share_and_lines_matched_of_both_sides() {
        let source = |name: &str, text: String| Source { name: name.into(), language: Language::C, text };
        let line = |i: usize| format!("int v{i} = f(a{i}, b{i}) + g(c{i});\n");
        let (half, whole) = ((0..4).map(line).collect::<String>(), (0..8).map(line).collect::<String>());
        let similarity = compare(("left", &[source("l.c", half)]), ("right", &[source("r.c", whole)]), 20);
        let text = similarity_markdown(&similarity, 5, None);
        let row = text.lines().find(|row| row.contains("l.c")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!((cells[1], cells[2], cells[5], cells[6]), ("l.c", "100.0 %", "4", "4"));
        assert_eq!((cells[7], cells[8], cells[11]), ("r.c", "50.0 %", "8"));
    }

    #[test]
    fn tables_fit_narrow_terminals_and_keep_what_matters_most() {
        let source = |name: &str| {
            let text = "int f(int x) { int y = x * 3 + 1; return y * y + x * 7 - 2; }".to_owned();
            [Source { name: name.into(), language: Language::C, text }]
        };
        let long = "a/folder/of/sources/with/a/long/name/and_a_file_of_a_long_name.c";
        let similarity = compare(("left", &source("l.c")), ("right", &source(long)), 10);
        for width in [80, 60, 40] {
            let text = similarity_markdown(&similarity, 5, Some(width));
            let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
            assert!(rows.len() > 6 && rows.iter().all(|row| row.chars().count() <= width), "{width}: {text}");
            let row = rows.iter().find(|row| row.contains("l.c") && row.contains("name.c")).unwrap();
            assert!(row.contains("100.0 %") && row.contains('…'), "{width}: {text}");
            assert!(text.contains("Left out for want of width: lines matched, raw"), "{width}: {text}");
        }
    }
}
