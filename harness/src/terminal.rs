//! Output for terminals: colours, and tables within the width.

use console::{Style, Term};

/// A function that styles a text by whether it says something good.
pub(crate) type Grading = fn(is_good: bool, text: &str) -> String;

/// Green or red on a terminal, unless `NO_COLOR` is set or `CLICOLOR` is 0; everywhere where `CLICOLOR_FORCE` is set.
pub(crate) fn graded(is_good: bool, text: &str) -> String {
    let style = Style::new().for_stdout();
    let style = if is_good { style.green() } else { style.red().bold() };
    style.apply_to(text).to_string()
}

/// Columns of the terminal that standard output is; `None` where it is none.
pub(crate) fn width() -> Option<usize> {
    let terminal = Term::stdout();
    terminal.is_term().then(|| terminal.size_checked()).flatten().map(|(_, columns)| usize::from(columns))
}

/// A Markdown table of rows as long as the first, which is its header. Where it is wider than `width`, columns that
/// hold one value become a line above it, and then the columns named in `least`, least important first, are left out
/// and named below it.
pub(crate) fn table<R: AsRef<[String]>>(cells: &[R], least: &[&str], width: Option<usize>) -> String {
    let cells: Vec<&[String]> = cells.iter().map(AsRef::as_ref).collect();
    let Some((header, rows)) = cells.split_first() else { return String::new() };
    let mut shown: Vec<usize> = (0..header.len()).collect();
    let fits = |shown: &[usize]| width.is_none_or(|width| line_width(&cells, shown) <= width);
    let mut above = Vec::new();
    if !fits(&shown) && rows.len() > 1 {
        let is_constant = |column: &usize| rows.iter().all(|row| row[*column] == rows[0][*column]);
        let constant: Vec<usize> = shown.iter().copied().filter(is_constant).collect();
        shown.retain(|column| !constant.contains(column));
        above = constant
            .into_iter()
            .filter(|column| !rows[0][*column].is_empty())
            .map(|column| format!("{}: {}", header[column], rows[0][column]))
            .collect();
    }
    let mut omitted = Vec::new();
    for name in least {
        if fits(&shown) || shown.len() <= 1 {
            break;
        }
        if let Some(place) = shown.iter().position(|column| header[*column] == *name) {
            shown.remove(place);
            omitted.push(*name);
        }
    }
    let mut text = String::new();
    if !above.is_empty() {
        text.push_str(&format!("{}\n", above.join("; ")));
    }
    text.push_str(&markdown(&cells, &shown));
    if !omitted.is_empty() {
        text.push_str(&format!("Left out for want of width: {}.\n", omitted.join(", ")));
    }
    text
}

/// Characters of the widest cell of each of these columns.
fn widths(cells: &[&[String]], shown: &[usize]) -> Vec<usize> {
    let widest = |column: &usize| cells.iter().map(|row| row[*column].chars().count()).max().unwrap_or(0);
    shown.iter().map(widest).collect()
}

/// Characters of a line of the table.
fn line_width(cells: &[&[String]], shown: &[usize]) -> usize {
    widths(cells, shown).iter().map(|width| width + 3).sum::<usize>() + 1
}

fn markdown(cells: &[&[String]], shown: &[usize]) -> String {
    let widths = widths(cells, shown);
    let mut text = String::new();
    for (i, row) in cells.iter().enumerate() {
        let padded = shown.iter().zip(&widths).map(|(column, width)| format!("{:width$}", row[*column]));
        text.push_str(&format!("| {} |\n", padded.collect::<Vec<_>>().join(" | ")));
        if i == 0 {
            let rules = widths.iter().map(|width| "-".repeat(*width));
            text.push_str(&format!("| {} |\n", rules.collect::<Vec<_>>().join(" | ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> Vec<[String; 4]> {
        [
            ["scene", "target", "Mrays/s", "clocks"],
            ["hall", "cpu-bvh", "12.0", "2 GHz"],
            ["hall", "cuda@0", "900.0", "1 GHz"],
        ]
        .map(|row| row.map(str::to_owned))
        .to_vec()
    }

    #[test]
    fn a_table_that_fits_is_markdown_with_all_columns() {
        let whole = "| scene | target  | Mrays/s | clocks |\n| ----- | ------- | ------- | ------ |\n\
                     | hall  | cpu-bvh | 12.0    | 2 GHz  |\n| hall  | cuda@0  | 900.0   | 1 GHz  |\n";
        assert_eq!(table(&cells(), &["clocks"], None), whole);
        assert_eq!(table(&cells(), &["clocks"], Some(38)), whole);
        assert_eq!(table::<[String; 0]>(&[], &[], Some(1)), "");
    }

    #[test]
    fn a_narrow_terminal_loses_constant_columns_first_and_then_the_least() {
        let text = table(&cells(), &["clocks"], Some(37));
        assert!(text.starts_with("scene: hall\n| target  | Mrays/s | clocks |\n"), "{text}");
        let text = table(&cells(), &["clocks", "target"], Some(25));
        assert!(text.starts_with("scene: hall\n| target  | Mrays/s |\n"), "{text}");
        assert!(text.ends_with("Left out for want of width: clocks.\n"), "{text}");
        assert!(text.lines().all(|line| line.starts_with("Left") || line.chars().count() <= 25), "{text}");
        let one = table(&cells(), &["clocks", "target", "Mrays/s"], Some(2));
        assert!(one.contains("| Mrays/s |"), "a column stays: {one}");
    }
}
