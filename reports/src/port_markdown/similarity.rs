//! Similarity as Markdown, in the form in which plagiarism detectors publish it: each side's lines, the share
//! of them that is found on the other side, and how many lines match.

use crate::format::{count, fixed};
use lockstep_port::level::Level;
use lockstep_port::similarity::{EXPLANATION, Levels, Matched, Part, Side, Similarity};

/// The whole answer: sides, folders, and the first `most` pairs of files.
pub fn similarity_markdown(similarity: &Similarity, most: usize) -> String {
    let (a, b) = (&similarity.a, &similarity.b);
    let mut text = format!("A: {}\nB: {}\n\n", a.name, b.name);
    text.push_str(&parts(a, b));
    if similarity.pairs.is_empty() {
        text.push_str("\nNo two files share a run of tokens.\n");
    } else {
        text.push('\n');
        text.push_str(&pairs(similarity, most));
        if let Some(more @ 1..) = similarity.pairs.len().checked_sub(most) {
            text.push_str(&format!("\n{} more pairs share less.\n", count(more as u64)));
        }
    }
    text.push_str(&format!("\n{EXPLANATION}A run has {} tokens or more.\n", similarity.shortest));
    text
}

fn parts(a: &Side, b: &Side) -> String {
    let mut rows = vec![header(&["side", "part"], &["lines", "lines matched"])];
    for (label, side) in [("A", a), ("B", b)] {
        for part in std::iter::once(&side.whole).chain(&side.folders) {
            let mut row = vec![label.to_owned(), part.name.clone()];
            row.extend(shares(&part.levels));
            row.extend(lines(part));
            rows.push(row);
        }
    }
    table(&rows, 2)
}

fn pairs(similarity: &Similarity, most: usize) -> String {
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
    table(&rows, 1)
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

/// Rows with the header first, padded so that they read as well on a terminal. Columns that are not among the
/// first `words` are aligned to the right when they hold no letters.
pub(super) fn table(rows: &[Vec<String>], words: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..columns).map(width).collect();
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
        let text = similarity_markdown(&similarity, 5);
        let row = text.lines().find(|row| row.contains("l.c")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!((cells[1], cells[2], cells[5], cells[6]), ("l.c", "100.0 %", "4", "4"));
        assert_eq!((cells[7], cells[8], cells[11]), ("r.c", "50.0 %", "8"));
    }
}
