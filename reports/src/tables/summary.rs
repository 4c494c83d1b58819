//! `summary.md`, to be pasted into a pull request.

use super::{all_tables, escape_markdown, path_sentences, round_sentences};
use crate::format;
use crate::study::Study;
use crate::verdict::verdict;

/// The study in Markdown: verdict, remarks, tables, environment, how to repeat it.
pub fn summary_markdown(study: &Study) -> String {
    let verdict = verdict(study);
    let mut text = format!("# {}\n\n", escape_markdown(&verdict.headline));
    for line in &verdict.lines {
        text.push_str(&format!(
            "- **{}** {}\n",
            escape_markdown(&line.subject),
            escape_markdown(&line.sentence)
        ));
    }
    for sentence in path_sentences(study) {
        text.push_str(&format!("- paths: {}\n", escape_markdown(&sentence)));
    }
    for sentence in round_sentences(study) {
        text.push_str(&format!("- times: {}\n", escape_markdown(&sentence)));
    }
    for failure in &study.run_failures {
        text.push_str(&format!("- failed: {}\n", escape_markdown(&failure.sentence())));
    }
    for skip in &study.skips {
        let what = [skip.target.as_str(), skip.scene.as_deref().unwrap_or_default()];
        let what: Vec<&str> = what.into_iter().filter(|part| !part.is_empty()).collect();
        text.push_str(&format!(
            "- skipped **{}**: {}. Remedy: {}\n",
            escape_markdown(&what.join(" on ")),
            escape_markdown(skip.reason.trim_end_matches('.')),
            escape_markdown(&skip.remedy)
        ));
    }
    for note in study.notes.iter().filter(|note| note.as_otherwise().is_none()) {
        text.push_str(&format!("- note: {}\n", escape_markdown(&note.sentence())));
    }
    for table in all_tables(study).iter().filter(|table| table.id != "skipped") {
        text.push_str(&format!("\n## {}\n\n{}", escape_markdown(&table.title), table.to_markdown()));
        if !table.notes.is_empty() {
            text.push_str(&format!("\n{}\n", escape_markdown(&table.notes.join(" "))));
        }
    }
    text.push_str(&environment(study));
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
        line("Images", format!("{}×{}, {} bounces, seed {}", s.width, s.height, s.bounces, s.seed));
    }
    line("Kernel source", e.kernel_hash.clone().unwrap_or_default());
    for (scene, hash) in &e.scenes {
        line(&format!("Scene {}", escape_markdown(scene)), hash.clone());
    }
    for t in e.targets.iter().map(|target| &target.info) {
        let parts = [&t.device, &t.driver, &t.compiler, &t.flags, &t.clocks];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
        line(&format!("Target {}", escape_markdown(&t.target)), parts.join(", "));
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
