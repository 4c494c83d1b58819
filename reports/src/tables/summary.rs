//! `summary.md`, to be pasted into a pull request.

use super::{
    Table, all_tables, escape_markdown, folded, path_sentences, reference_sentences, round_sentences,
};
use crate::format::{self, plural};
use crate::study::{Study, files};
use crate::verdict::{StudyVerdict, verdict};

/// The most lines of a summary, as far as its tables decide: a page of a pull request that is read to its end.
const MAX_LINES: usize = 120;

/// Tables that come first where not all fit, by the beginning of their names.
const FIRST: [&str; 15] = [
    "equal-time-integrators",
    "equal-time-devices",
    "scaling-integrators",
    "verdict",
    "run-failures",
    "invalid-samples",
    "rounds",
    "timing",
    "speedup",
    "equal-time",
    "scaling",
    "sharing",
    "tune-best",
    "divergence",
    "hits",
];

/// The study in Markdown: verdict, remarks, tables, environment, how to repeat it. Where all tables would take more
/// than `MAX_LINES`, identical targets share rows, the tables that matter most are there as far as they fit, and the
/// others are named with their files.
pub fn summary_markdown(study: &Study) -> String {
    let verdict = verdict(study);
    let (top, bottom) = (top(study, &verdict), environment(study));
    let tables = all_tables(study).into_iter().filter(|table| table.id != "skipped");
    let tables: Vec<Table> = tables.map(Table::without_empty_numbers).collect();
    let whole: String = tables.iter().map(section).collect();
    let lines = |text: &str| text.lines().count();
    if lines(&top) + lines(&whole) + lines(&bottom) <= MAX_LINES {
        return top + &whole + &bottom;
    }

    // The most important tables that fit, in this order.
    let folded = tables.into_iter().map(|table| folded(study, &verdict, table));
    let (mut chosen, others): (Vec<Table>, Vec<Table>) = folded.partition(|table| rank(table) < FIRST.len());
    chosen.sort_by_key(rank);
    chosen.extend(others);
    let mut left = MAX_LINES.saturating_sub(lines(&top) + lines(&bottom) + 2);
    let mut text = top;
    let mut omitted = Vec::new();
    for table in &chosen {
        let part = section(table);
        match left.checked_sub(lines(&part)) {
            Some(rest) => {
                left = rest;
                text.push_str(&part);
            }
            None => omitted.push(format!(
                "[{}]({}/{}.csv) ({})",
                escape_markdown(&table.title),
                files::TABLES,
                table.id,
                plural(table.rows.len(), "row")
            )),
        }
    }
    if !omitted.is_empty() {
        text.push_str(&format!("\nFurther tables: {}.\n", omitted.join(", ")));
    }
    text + &bottom
}

/// The place of a table in [`FIRST`].
fn rank(table: &Table) -> usize {
    FIRST.iter().position(|id| table.id.starts_with(id)).unwrap_or(FIRST.len())
}

/// A table with its heading and notes.
fn section(table: &Table) -> String {
    let mut text = format!("\n## {}\n\n{}", escape_markdown(&table.title), table.to_markdown());
    if !table.notes.is_empty() {
        text.push_str(&format!("\n{}\n", escape_markdown(&table.notes.join(" "))));
    }
    text
}

/// The headline, and what is said in sentences.
fn top(study: &Study, verdict: &StudyVerdict) -> String {
    let mut text = format!("# {}\n\n", escape_markdown(&verdict.headline));
    for line in &verdict.lines {
        text.push_str(&format!(
            "- **{}** {}\n",
            escape_markdown(&line.subject),
            escape_markdown(&line.sentence)
        ));
    }
    for sentence in path_sentences(study, verdict) {
        text.push_str(&format!("- paths: {}\n", escape_markdown(&sentence)));
    }
    for sentence in round_sentences(study) {
        text.push_str(&format!("- times: {}\n", escape_markdown(&sentence)));
    }
    for sentence in reference_sentences(study) {
        text.push_str(&format!("- errors: {}\n", escape_markdown(&sentence)));
    }
    for failure in &study.run_failures {
        text.push_str(&format!("- failed: {}\n", escape_markdown(&failure.sentence())));
    }
    for skip in &study.skips {
        text.push_str(&format!(
            "- skipped **{}**: {}. Remedy: {}\n",
            escape_markdown(&skip.subject()),
            escape_markdown(skip.reason.trim_end_matches('.')),
            escape_markdown(&skip.remedy)
        ));
    }
    for note in study.notes.iter().filter(|note| note.as_otherwise().is_none()) {
        text.push_str(&format!("- note: {}\n", escape_markdown(&note.sentence())));
    }
    text
}

fn environment(study: &Study) -> String {
    let e = &study.environment;
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("- {name}: {}", escape_markdown(&value)));
        }
    };
    line(
        "Lockstep",
        [e.lockstep.as_str(), e.commit.as_deref().unwrap_or_default()].join(" ").trim().to_owned(),
    );
    line("Started", e.started_utc.clone());
    line("Host", host(study));
    let s = &e.settings;
    if s.width > 0 {
        let sampler = if s.sampler.is_default() { String::new() } else { format!("sampler {}, ", s.sampler) };
        let roulette = s.roulette.map_or_else(String::new, |bounce| format!("roulette from {bounce}, "));
        let layers =
            if s.layers.is_default() { String::new() } else { format!("layers by a {}, ", s.layers) };
        let others = format!("{} bounces, {roulette}{sampler}{layers}seed {}", s.bounces, s.seed);
        line("Images", format!("{}×{}, {others}", s.width, s.height));
    }
    line("Kernel source", e.kernel_hash.clone().unwrap_or_default());
    for (scene, hash) in &e.scenes {
        line(&format!("Scene {}", escape_markdown(scene)), hash.clone());
    }
    for t in e.targets.iter().map(|target| &target.info) {
        let parts = [&t.device, &t.driver, &t.compiler, &t.flags, &t.clocks];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        line(&format!("Target {}", escape_markdown(&t.target.to_string())), parts.join(", "));
    }
    let mut text = String::new();
    if !lines.is_empty() {
        text.push_str(&format!("\n## Environment\n\n{}\n", lines.join("\n")));
    }
    if !e.command.is_empty() {
        text.push_str(&format!("\n## To repeat\n\n{}", code_block(&e.command_line())));
    }
    text
}

/// The computer in a line.
pub(crate) fn host(study: &Study) -> String {
    let h = &study.environment.host;
    let cores = if h.cores > 0 { crate::format::plural(h.cores as usize, "core") } else { String::new() };
    let memory = if h.memory_bytes > 0 { format::bytes(h.memory_bytes) } else { String::new() };
    let parts = [h.name.as_str(), h.cpu.as_str(), cores.as_str(), memory.as_str(), h.os.as_str()];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A fenced block, with a fence longer than any in the text.
fn code_block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}\n")
}
