//! Tables made from records, as Markdown, CSV and JSON.

mod agreement;
mod all_metrics;
mod bounces;
mod build;
mod divergence;
mod efficiency;
mod equal_time;
mod equal_time_devices;
mod equal_time_integrators;
mod float_metrics;
mod folded;
mod kernels;
mod once_a_group;
mod port;
mod portability;
mod programs;
mod rounds;
mod scaling;
mod sharing;
mod speedup;
mod summary;
mod techniques;
mod timing;
mod tuning;

pub use crate::reference_share::reference_sentences;
pub use agreement::agreement_tables;
pub(crate) use agreement::{noise_floor, pair_name};
pub use all_metrics::all_metrics_table;
pub use bounces::bounce_table;
pub use build::{
    convergence_tables, difference_tables, hits_table, invalid_samples_table, load_table, skip_table,
};
pub use divergence::{divergence_tables, path_sentences};
pub use efficiency::{efficiency_sentences, efficiency_table};
pub use equal_time::{equal_time_sentences, equal_time_table};
pub use equal_time_devices::{DeviceSpeed, device_speeds, equal_time_devices_table};
pub(crate) use equal_time_integrators::integrators;
pub use equal_time_integrators::{IntegratorErrors, equal_time_integrators_table, integrator_errors};
pub(crate) use folded::{folded, group_name};
pub use kernels::kernel_table;
pub use once_a_group::once_a_group;
pub use port::{cost_table, history_table, similarity_tables};
pub use portability::{configuration_portability_table, navigation_table, portability_table};
pub use programs::{model_difference_table, program_table, run_failure_table};
pub use rounds::{Compared, compared, round_sentences, rounds_table};
pub use scaling::{Speed, scaling_integrators_table, scaling_sentences, scaling_table, speeds};
pub use sharing::{Shared, shared, sharing_table};
pub use speedup::{speedup_table, speedups};
pub(crate) use summary::host as host_line;
pub use summary::summary_markdown;
pub use techniques::technique_table;
pub use timing::timing_table;
pub use tuning::{tuning_best_table, tuning_table};

use crate::format;
use crate::study::Study;
use serde_json::{Map, Value, json};

/// A cell of a table: a text for people and a value for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The text that people read.
    pub text: String,
    /// The value that programs read: the unrounded number, or the text; null where there is nothing.
    pub value: Value,
}

/// The last column of tables that say whether films are equal.
fn films_column() -> Column {
    Column { title: "Films".to_owned(), numeric: false }
}

/// A cell of [`films_column`].
fn films_cell(identical: bool) -> Cell {
    Cell::flag(identical, if identical { "=" } else { "differ" })
}

impl Cell {
    /// A cell with a text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { value: Value::String(text.clone()), text }
    }

    /// A cell with a number and the text that shows it. A number that is not finite is given to programs as the text that
    /// records use.
    pub fn number(value: f64, text: String) -> Self {
        let json = serde_json::Number::from_f64(value)
            .map_or_else(|| Value::String(lockstep_metrics::float::text_of(value)), Value::Number);
        Self { text, value: json }
    }

    /// A cell with a whole number.
    pub fn count(value: u64) -> Self {
        Self { text: format::count(value), value: Value::from(value) }
    }

    /// A cell with samples per pixel; empty where they are not known.
    pub fn spp(spp: u32) -> Self {
        if spp == 0 { Self::empty() } else { Self::count(u64::from(spp)) }
    }

    /// A cell with a yes or a no.
    pub fn flag(value: bool, text: impl Into<String>) -> Self {
        Self { text: text.into(), value: Value::Bool(value) }
    }

    /// A cell without a value: nothing was measured.
    pub fn empty() -> Self {
        Self { text: String::new(), value: Value::Null }
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub title: String,
    /// Whether the column holds numbers, which are set flush right.
    pub numeric: bool,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// A short name for files and anchors.
    pub id: &'static str,
    /// The heading.
    pub title: String,
    /// Definitions that a reader needs, one sentence each.
    pub notes: Vec<String>,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(id: &'static str, title: &str, texts: &[&str], numbers: &[&str]) -> Self {
        let column = |numeric| move |title: &&str| Column { title: (*title).to_owned(), numeric };
        let columns = texts.iter().map(column(false)).chain(numbers.iter().map(column(true))).collect();
        Self { id, title: title.to_owned(), notes: Vec::new(), columns, rows: Vec::new() }
    }

    /// The table without columns of numbers in which no row has an entry, and without a portability that repeats the
    /// efficiency on the only device.
    pub(crate) fn without_empty_numbers(self) -> Self {
        let is_repeated = |at: usize| {
            let is_mean = at > 0 && self.columns[at].title == "Portability" && self.columns[at - 1].numeric;
            is_mean && self.rows.iter().all(|row| row[at] == row[at - 1])
        };
        let kept: Vec<bool> = (0..self.columns.len())
            .map(|at| !self.columns[at].numeric || (self.is_filled(at) && !is_repeated(at)))
            .collect();
        self.with_columns(|at| kept[at])
    }

    /// The table without the columns in which no row has an entry.
    pub(crate) fn without_empty_columns(self) -> Self {
        let kept: Vec<bool> = (0..self.columns.len()).map(|at| self.is_filled(at)).collect();
        self.with_columns(|at| kept[at])
    }

    fn is_filled(&self, column: usize) -> bool {
        self.rows.iter().any(|row| !row[column].text.is_empty())
    }

    fn with_columns(mut self, is_kept: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|&at| is_kept(at)).collect();
        self.columns = kept.iter().map(|&at| self.columns[at].clone()).collect();
        for row in &mut self.rows {
            *row = kept.iter().map(|&at| row[at].clone()).collect();
        }
        self
    }

    /// The table in GitHub's Markdown, without heading and notes.
    pub fn to_markdown(&self) -> String {
        let mut lines = vec![
            markdown_row(self.columns.iter().map(|c| c.title.as_str())),
            markdown_row(self.columns.iter().map(|c| if c.numeric { "---:" } else { ":---" })),
        ];
        lines.extend(self.rows.iter().map(|row| markdown_row(row.iter().map(|c| c.text.as_str()))));
        lines.push(String::new());
        lines.join("\n")
    }

    /// The table as CSV with unrounded numbers.
    ///
    /// # Errors
    /// The encoder's error.
    pub fn to_csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(|c| &c.title))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|cell| match &cell.value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            }))?;
        }
        let bytes = writer.into_inner().map_err(|e| e.into_error())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The table as JSON: `id`, `title`, `notes`, and `rows` of objects by column title, numbers unrounded.
    pub fn to_json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let fields =
                    self.columns.iter().zip(row).map(|(c, cell)| (c.title.clone(), cell.value.clone()));
                Value::Object(fields.collect::<Map<_, _>>())
            })
            .collect();
        json!({ "id": self.id, "title": self.title, "notes": self.notes, "rows": rows })
    }
}

fn markdown_row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.map(escape_markdown).collect();
    format!("| {} |", cells.join(" | "))
}

/// Text that Markdown and the HTML inside it leave as it is, on one line.
pub(crate) fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Every table that a study has rows for, in the order of the report.
pub fn all_tables(study: &Study) -> Vec<Table> {
    let mut tables = agreement_tables(study);
    tables.extend(difference_tables(study));
    if study.differences.iter().any(|d| d.float.is_some()) {
        tables.push(all_metrics_table(study));
    }
    tables.extend(divergence_tables(study));
    tables.push(hits_table(study));
    tables.push(invalid_samples_table(study));
    tables.extend(convergence_tables(study));
    tables.push(timing_table(study));
    tables.push(rounds_table(study));
    tables.push(speedup_table(study));
    tables.push(equal_time_integrators_table(study));
    tables.push(equal_time_table(study));
    tables.push(equal_time_devices_table(study));
    tables.push(efficiency_table(study));
    tables.push(technique_table(study));
    tables.push(scaling_integrators_table(study));
    tables.push(scaling_table(study));
    tables.push(sharing_table(study));
    tables.push(portability_table(study));
    tables.push(navigation_table(study));
    tables.push(configuration_portability_table(study));
    tables.push(tuning_best_table(study));
    tables.push(tuning_table(study));
    tables.push(bounce_table(study));
    tables.push(load_table(study));
    tables.push(kernel_table(study));
    tables.extend(similarity_tables(study));
    tables.push(cost_table(study));
    tables.push(history_table(study));
    tables.push(run_failure_table(study));
    tables.push(model_difference_table(study));
    tables.push(program_table(study));
    tables.push(skip_table(study));
    tables.retain(|table| !table.rows.is_empty());
    tables
}
