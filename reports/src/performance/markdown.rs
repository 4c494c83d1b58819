//! The comparison of two studies as Markdown, for a pull request.

use super::diff::StudyDiff;
use crate::format::{fixed, number};
use crate::statistics::timing::{COVERAGE, MedianInterval};
use crate::tables::{Cell, Table, escape_markdown};

impl StudyDiff {
    /// The comparison in Markdown: headline, changes of the environment, and the tables that have rows.
    pub fn markdown(&self) -> String {
        let mut text = format!("## Performance\n\n{}\n\n", escape_markdown(&self.headline()));
        text.push_str(&format!(
            "Before: {}. After: {}.\n",
            escape_markdown(&self.before),
            escape_markdown(&self.after)
        ));
        let notes: Vec<String> = self.environment.iter().chain(&self.not_compared).cloned().collect();
        if !notes.is_empty() {
            text.push('\n');
            notes.iter().for_each(|note| text.push_str(&format!("- {}\n", escape_markdown(note))));
        }
        for table in self.tables().iter().filter(|table| !table.rows.is_empty()) {
            text.push_str(&format!("\n### {}\n\n{}", table.title, table.to_markdown()));
            table.notes.iter().for_each(|note| text.push_str(&format!("\n{note}\n")));
        }
        text
    }

    /// The tables of times, films and errors.
    pub fn tables(&self) -> [Table; 3] {
        [self.time_table(), self.film_table(), self.error_table()]
    }

    fn time_table(&self) -> Table {
        let texts = ["Scene", "Target", "Time", "Verdict"];
        let numbers = [
            "Ratio",
            "Ratio low",
            "Ratio high",
            "ms before",
            "ms after",
            "Mrays/s before",
            "Mrays/s after",
            "spp",
            "Rounds",
        ];
        let mut table = Table::new("diff-times", "Times and rates", &texts, &numbers);
        table.notes.push(format!(
            "Ratio: the median time after over that before. Its interval lies between the ratios of opposite ends of both \
             medians' intervals, which enclose each median with a probability of at least {} % from six rounds on and are \
             the whole range of fewer. Faster or slower: the interval lies outside 1 and outside the ratios that either \
             study measured of one target against itself. Summed over the samples per pixel that both rendered.",
            COVERAGE * 100.0
        ));
        for t in &self.times {
            let mut row =
                [t.scene.as_str(), &t.target.to_string(), t.quantity, t.word()].map(Cell::text).to_vec();
            row.extend([t.ratio.median, t.ratio.low, t.ratio.high].map(|r| Cell::number(r, fixed(r, 3))));
            let ms = |time: &MedianInterval| Cell::number(time.median, fixed(time.median, 1));
            row.extend([ms(&t.before), ms(&t.after)]);
            let rate = |r: f64| if r.is_nan() { Cell::empty() } else { Cell::number(r, number(r)) };
            row.extend([rate(t.mrays_before), rate(t.mrays_after)]);
            row.extend([Cell::count(t.spp.into()), Cell::count(t.ratio.count as u64)]);
            table.rows.push(row);
        }
        table
    }

    fn film_table(&self) -> Table {
        let numbers = ["Films", "Changed", "First changed at spp"];
        let mut table = Table::new("diff-films", "Films", &["Scene", "Target", "Verdict"], &numbers);
        table.notes.push(
            "Films of equal samples per pixel and seed, compared bit by bit by their hashes.".to_owned(),
        );
        for f in &self.films {
            let word = if f.changed == 0 { "unchanged" } else { "changed" };
            let mut row = [f.scene.as_str(), &f.target.to_string(), word].map(Cell::text).to_vec();
            row.extend([f.compared, f.changed].map(|n| Cell::count(n as u64)));
            row.push(f.first_changed_spp.map_or_else(Cell::empty, |spp| Cell::count(spp.into())));
            table.rows.push(row);
        }
        table
    }

    fn error_table(&self) -> Table {
        let numbers = ["spp", "Linear MSE before", "Linear MSE after", "Ratio"];
        let mut table = Table::new("diff-errors", "Errors", &["Scene", "Target", "Verdict"], &numbers);
        table.notes.push(
            "Against the same reference, at the highest level that both reached, under the first seed."
                .to_owned(),
        );
        for e in &self.errors {
            let word = if e.before == e.after { "same" } else { "changed" };
            let mut row = [e.scene.as_str(), &e.target.to_string(), word].map(Cell::text).to_vec();
            row.push(Cell::count(e.spp.into()));
            row.extend([e.before, e.after].map(|mse| Cell::number(mse, number(mse))));
            let ratio = e.after / e.before;
            row.push(if ratio.is_finite() { Cell::number(ratio, fixed(ratio, 3)) } else { Cell::empty() });
            table.rows.push(row);
        }
        table
    }
}
