//! The parts of the page as HTML.

use super::crops;
use super::images::Embedded;
use super::overview;
use super::pairs::pairs_table;
use super::pyramids;
use crate::format::{self, plural};
use crate::labels::{at_spp, capitalised};
use crate::plots::Plot;
use crate::records::{Note, TargetId, TargetInfo};
use crate::study::Study;
use crate::tables::{Cell, Column, Table, folded, host_line, pair_name, reference_sentences};
use crate::verdict::{StudyVerdict, VerdictLine};
use maud::{Markup, PreEscaped, html};

/// A part with a heading of its own.
pub(super) struct Section {
    id: String,
    heading: String,
    /// The scene that it is about.
    scene: Option<String>,
    body: Markup,
}

/// The top of the page: verdict, the study in a line, one line for each pair, each failed run and each skipped target.
pub(super) fn header(study: &Study, verdict: &StudyVerdict) -> Markup {
    let skipped = study.skips.iter().map(|skip| {
        let sentence = format!("{}. {}", skip.reason.trim_end_matches('.'), capitalised(&skip.remedy));
        let scenes: Vec<&str> = skip.scene.as_deref().into_iter().collect();
        let targets: Vec<&TargetId> = skip.target.iter().collect();
        line(("skipped", "skipped"), &skip.subject(), &sentence, &scenes, &targets)
    });
    let failed = study.run_failures.iter().map(|failure| {
        let subject = format!("{} on {}{}", failure.target, failure.scene, at_spp(failure.spp));
        line(("bad", "failed"), &subject, &failure.reason, &[&failure.scene], &[&failure.target])
    });
    let hidden = reference_sentences(study);
    let hidden = hidden
        .iter()
        .map(|sentence| line(("differs", "reference"), "Errors", sentence, &[], &study.targets()));
    let lines =
        verdict.lines.iter().map(|line| verdict_line(study, line)).chain(hidden).chain(failed).chain(skipped);
    let lines: Vec<Markup> = lines.collect();
    html! {
        header {
            p.eyebrow { (kind(study)) }
            h1 { (verdict.headline) }
            p.overview { (overview(study)) }
            @for sentence in programs(study) { p.overview { (sentence) } }
            @if !lines.is_empty() {
                ul.verdicts { @for line in &lines { (line) } }
            }
            div.choice.filters hidden role="group" aria-label="Show" {}
            div.overview-tables {
                (overview::matrix(study, verdict))
                (overview::worst(study, verdict))
                (overview::convergence(study))
                (overview::speed(study))
            }
        }
    }
}

/// The kind of a study, by the command that made it.
fn kind(study: &Study) -> &'static str {
    match study.environment.command.get(1).map(String::as_str) {
        Some("compare") => "Images compared by Lockstep",
        Some("tune") => "Kernel tuning by Lockstep",
        _ => "Lockstep study",
    }
}

/// A sentence for each external program: its version, and what its times are.
fn programs(study: &Study) -> Vec<String> {
    let of = |target: &TargetInfo| {
        let program = target.program.as_ref()?;
        let version = &target.info.driver;
        let version = if version.is_empty() { String::new() } else { format!(", {version}") };
        Some(format!("{} is an external program{version}; its times: {}.", target.info.target, program.times))
    };
    study.environment.targets.iter().filter_map(of).collect()
}

fn verdict_line(study: &Study, verdict: &VerdictLine) -> Markup {
    let mut scenes: Vec<&str> = Vec::new();
    for d in study.differences.iter().filter(|d| verdict.is_about(d)) {
        if !scenes.contains(&d.scene.as_str()) {
            scenes.push(&d.scene);
        }
    }
    line(
        overview::badge(verdict.identical, &verdict.verdict, verdict.promised),
        &verdict.subject,
        &verdict.sentence,
        &scenes,
        &overview::targets(verdict),
    )
}

/// A line of the list, and the scenes and targets that it is about; of no scene where it is about all.
fn line(
    (class, badge): (&str, &str),
    subject: &str,
    sentence: &str,
    scenes: &[&str],
    targets: &[&TargetId],
) -> Markup {
    html! {
        li data-of-scenes=(overview::list(scenes)) data-of-targets=(overview::list(targets)) {
            span class={ "badge " (class) } { (badge) }
            span.subject { (subject) }
            span.sentence { (sentence) }
        }
    }
}

/// Size and circumstances of a study in one line.
fn overview(study: &Study) -> String {
    let s = &study.environment.settings;
    let mut parts = vec![plural(study.scenes().len(), "scene"), plural(study.targets().len(), "target")];
    if s.width > 0 {
        parts.push(format!("{}×{}", s.width, s.height));
    }
    match (study.spp_levels().first(), study.spp_levels().last()) {
        (Some(low), Some(high)) if low < high && *low > 0 => {
            parts.push(format!("{low} to {high} samples per pixel"))
        }
        (Some(only), _) if *only > 0 => parts.push(format!("{only} samples per pixel")),
        _ => {}
    }
    if s.bounces > 0 {
        parts.push(plural(s.bounces as usize, "bounce"));
    }
    parts.push(study.environment.host.cpu.clone());
    parts.push(study.environment.started_utc.replace('T', " ").replace('Z', " UTC"));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// Everything below the header, in reading order; parts with nothing to show are left out.
pub(super) fn sections(
    study: &Study,
    verdict: &StudyVerdict,
    tables: &[Table],
    plots: &[Plot],
    embedded: &Embedded,
) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (place, (index, scene)) in overview::scenes(study).into_iter().enumerate() {
        let index_there = embedded.scenes.iter().position(|s| s.name == scene);
        let is_own = |p: &&Plot| p.scene.as_deref() == Some(scene);
        let named = |name: &'static str| {
            plots.iter().filter(is_own).filter(move |p| p.file_name.starts_with(name)).collect::<Vec<_>>()
        };
        let (errors, similarities) = (named("error."), named("ssim."));
        let own = html! {
            @if !errors.is_empty() || !similarities.is_empty() {
                div.plots {
                    @for plot in &errors { (figure(plot)) }
                    @for plot in &similarities {
                        details open { summary { h3 { "Similarity over samples" } } (figure(plot)) }
                    }
                }
            }
        };
        let body = html! {
            @if let Some(i) = index_there { (viewer(i)) } @else if lacks_images(study, scene) {
                (overview::without_images(study))
            }
            (own)
        };
        // One scene is open at a time; the first is where a reader begins.
        let is_first = place == 0;
        let body = html! {
            details.scene name="scene" open[is_first] { summary { h2 { (scene) } } (body) }
        };
        let id = format!("scene-{index}");
        sections.push(Section { id, heading: scene.to_owned(), scene: Some(scene.to_owned()), body });
    }
    let pairs = html! { @if !study.differences.is_empty() { (all_pairs(study, verdict)) } };
    sections.push(Section { id: "pairs".to_owned(), heading: "Pairs".to_owned(), scene: None, body: pairs });
    let part = |plot_names: &[&str], table_ids: &[&str]| {
        let chosen = tables.iter().filter(|t| table_ids.iter().any(|id| t.id.starts_with(id)));
        let shown = |chosen: &Table| {
            let fewer = folded(study, verdict, without_identical(study, chosen));
            key_columns_first(fewer).without_empty_numbers()
        };
        let chosen: Vec<Table> = chosen.map(shown).collect();
        let metrics: Vec<&Table> =
            chosen.iter().filter(|t| METRIC_TABLES.iter().any(|id| t.id.starts_with(id))).collect();
        html! {
            @if !plot_names.is_empty() { (plots_on_demand(plots, plot_names)) }
            (metric_tables(&metrics))
            @for other in chosen.iter().filter(|t| !metrics.iter().any(|m| m.id == t.id)) { (table(other)) }
        }
    };
    let remarks = remarks(study, &[&embedded.warnings[..], &embedded.remarks].concat());
    let environment = html! { (environment(study)) (part(&[], &["programs", "kernels"])) };
    let equal_time = part(&["integrators.", "devices.", "equal-time."], &["equal-time"]);
    let parts = [
        ("agreement", "Agreement", part(&[], &AGREEMENT_TABLES)),
        ("model-differences", "Model differences", part(&[], &["model-differences"])),
        ("convergence", "Convergence", part(&[], &["convergence"])),
        ("tuning", "Tuning", part(&["tune-"], &["tune"])),
        ("speed", "Speed", part(&["stages.", "rates."], &["timing", "speedup", "bounces", "load"])),
        ("equal-time", "Equal time", html! { (crops::figures(study)) (equal_time) }),
        ("efficiency", "Integrators", part(&[], &["efficiency"])),
        ("techniques", "Techniques", html! { (pyramids::figures(study)) (part(&[], &["techniques"])) }),
        ("scaling", "Thread scaling", part(&["scaling."], &["scaling"])),
        ("sharing", "Several targets together", part(&["sharing."], &["sharing"])),
        ("portability", "Portability", part(&["cascade.", "navigation."], &["portability", "navigation"])),
        ("ports", "Ports", part(&[], &["port-"])),
        ("run-failures", "Failed runs", part(&[], &["run-failures"])),
        ("skipped", "Skipped", part(&[], &["skipped"])),
        ("notes", "Remarks", remarks),
        ("environment", "Environment", environment),
        ("repeat", "To repeat this", repeat(study)),
    ];
    for (id, heading, body) in parts {
        sections.push(Section { id: id.to_owned(), heading: heading.to_owned(), scene: None, body });
    }
    sections.retain(|section| !section.body.0.is_empty());
    sections
}

/// Whether images of a scene were compared and none of them is in the study's folder.
fn lacks_images(study: &Study, scene: &str) -> bool {
    let were_there = study.differences.iter().any(|d| d.scene == scene)
        || study.convergences.iter().any(|c| c.scene == scene);
    were_there && !study.images.iter().any(|image| image.scene == scene)
}

/// The tables about agreement, by the beginning of their names.
const AGREEMENT_TABLES: [&str; 9] = [
    "verdict",
    "tile-tests",
    "noise",
    "bias",
    "identical",
    "difference",
    "divergence",
    "hits",
    "invalid-samples",
];

/// Tables of which each shows one metric of the same rows, by the beginning of their names.
const METRIC_TABLES: [&str; 2] = ["difference-", "convergence-"];

/// Tables with a row for each pair, of which identical pairs fill theirs with zeros.
const PAIR_TABLES: [&str; 4] = ["difference-", "identical", "bias", "noise"];

/// A table of pairs without the rows of those that are identical at every level; a note says how many they are.
fn without_identical(study: &Study, table: &Table) -> Table {
    let mut shorter = table.clone();
    let pair_column = table.columns.iter().position(|column| column.title == "Pair");
    let (true, Some(pair)) = (PAIR_TABLES.iter().any(|id| table.id.starts_with(id)), pair_column) else {
        return shorter;
    };
    let differs = |scene: &str, name: &str| {
        let own = study.differences.iter().filter(|d| d.scene == scene && !d.identical);
        own.map(|d| pair_name(study, d)).any(|pair| pair == name)
    };
    let scene = table.columns.iter().position(|column| column.title == "Scene").unwrap_or(0);
    shorter.rows.retain(|row| differs(&row[scene].text, &row[pair].text));
    let omitted = table.rows.len() - shorter.rows.len();
    if omitted > 0 {
        let rows =
            if omitted == 1 { "One row of a pair".to_owned() } else { format!("{omitted} rows of pairs") };
        shorter
            .notes
            .push(format!("{rows} identical at every level omitted; tables/{}.csv has all.", table.id));
    }
    shorter
}

/// Columns that a reader looks for first, which stand behind the names so that no window cuts them off.
const KEY_COLUMNS: [&str; 5] = ["Verdict", "Films", "Mrays/s incl.", "Msamples/s", "Total ms"];

/// A table with its [`KEY_COLUMNS`] behind the columns of names that it begins with.
fn key_columns_first(mut table: Table) -> Table {
    let names = table.columns.iter().take_while(|column| !column.numeric).count();
    let rank = |at: usize| match KEY_COLUMNS.iter().position(|key| table.columns[at].title == *key) {
        _ if at < names => (0, at),
        Some(key) => (1, key),
        None => (2, at),
    };
    let mut order: Vec<usize> = (0..table.columns.len()).collect();
    order.sort_by_key(|at| rank(*at));
    table.columns = order.iter().map(|at| table.columns[*at].clone()).collect();
    for row in &mut table.rows {
        *row = order.iter().map(|at| row[*at].clone()).collect();
    }
    table
}

/// Whether a table is set in smaller type with less room between columns: one of many columns, or of several with long
/// texts.
fn is_dense(table: &Table) -> bool {
    let has_long = |at: &usize| table.rows.iter().any(|row| is_long(&row[*at], &table.columns[*at]));
    table.columns.len() >= 8 || (0..table.columns.len()).filter(has_long).count() >= 3
}

/// Whether a cell holds a text that goes on over several lines.
fn is_long(cell: &Cell, column: &Column) -> bool {
    !column.numeric && cell.text.chars().count() > 32
}

/// Tables of one metric each under one heading, for the script to show one at a time.
fn metric_tables(tables: &[&Table]) -> Markup {
    let shown: Vec<&&Table> = tables.iter().filter(|table| !table.rows.is_empty()).collect();
    html! {
        @match (shown.as_slice(), tables) {
            ([], [first, ..]) => p.note {
                (first.notes.last().map_or("", String::as_str)) " No other pair was compared."
            },
            ([], []) => {},
            _ => details.part {
                summary { h3 { "Every metric by level" } span.detail { (plural(shown.len(), "metric")) } }
                div.metrics {
                    @for table in shown { div.metric data-title=(table.title) { (rows(table, &[])) } }
                }
            },
        }
    }
}

/// Plots that open on demand.
fn plots_on_demand(plots: &[Plot], names: &[&str]) -> Markup {
    let count = plots.iter().filter(|p| names.iter().any(|name| p.file_name.starts_with(name))).count();
    html! {
        @if count > 0 {
            details.part.plots-part {
                summary { h3 { "Plots" } span.detail { (count) } }
                (figures(plots, names, |_| true))
            }
        }
    }
}

/// Links to all sections.
pub(super) fn navigation(sections: &[Section]) -> Markup {
    html! {
        ul { @for section in sections { li { a href={ "#" (section.id) } { (section.heading) } } } }
    }
}

/// The sections one after another.
pub(super) fn join(sections: &[Section]) -> Markup {
    html! {
        @for section in sections {
            section id=(section.id) data-of-scenes=[section.scene.as_deref().map(|s| overview::list([s]))] {
                @if !section.id.starts_with("scene-") { h2 { (section.heading) } }
                (section.body)
            }
        }
    }
}

fn viewer(index: usize) -> Markup {
    html! {
        div.viewer data-scene=(index) tabindex="0" role="region" aria-label="Images" {
            noscript {
                p.keys {
                    "The images are shown by a script inside this page; the files lie in images/ beside it."
                }
            }
        }
    }
}

/// The plots whose file names begin with one of these and that `wanted` accepts.
fn figures(plots: &[Plot], names: &[&str], wanted: impl Fn(&Plot) -> bool) -> Markup {
    let named = |p: &&Plot| names.iter().any(|name| p.file_name.starts_with(name));
    let mut chosen = plots.iter().filter(named).filter(|p| wanted(p)).peekable();
    html! {
        @if chosen.peek().is_some() {
            div.plots { @for plot in chosen { (figure(plot)) } }
        }
    }
}

fn figure(plot: &Plot) -> Markup {
    html! {
        figure data-of-scenes=[plot.scene.as_deref().map(|s| overview::list([s]))] {
            div.drawing { (PreEscaped(&plot.svg)) }
            @if !plot.caption.is_empty() { figcaption.note { (plot.caption) } }
        }
    }
}

/// The table of all pairs; each row names its comparison for the script.
fn all_pairs(study: &Study, verdict: &StudyVerdict) -> Markup {
    let (table, indices) = pairs_table(study, verdict);
    table_with(&table.without_empty_numbers(), &indices)
}

fn table(table: &Table) -> Markup {
    table_with(table, &[])
}

/// A table that opens on demand; one without rows is a sentence.
fn table_with(table: &Table, pairs: &[usize]) -> Markup {
    html! {
        @if table.rows.is_empty() {
            p.note { b { (table.title) } ": " (table.notes.last().map_or("", String::as_str)) }
        } @else if table.id == "skipped" {
            (rows(table, pairs))
        } @else {
            details.part {
                summary { h3 { (table.title) } span.detail { (plural(table.rows.len(), "row")) } }
                (rows(table, pairs))
            }
        }
    }
}

/// The rows of a table, with the indices of their comparisons for the script where they are pairs.
fn rows(table: &Table, pairs: &[usize]) -> Markup {
    let repeats = |i: usize| i > 0 && table.rows[i - 1].first() == table.rows[i].first();
    let is_key = |column: &&Column| KEY_NAMES.contains(&column.title.as_str());
    let keys = table.columns.iter().take(MOST_KEYS).take_while(is_key).count();
    html! {
        div.table tabindex="0" role="region" aria-label=(table.title) {
            table.dense[is_dense(table)] {
                thead {
                    tr {
                        @for (i, column) in table.columns.iter().enumerate() {
                            th scope="col" class=[classes(&[(column.numeric, "n"), (i < keys, "key")])] {
                                (column.title)
                            }
                        }
                    }
                }
                tbody {
                    @for (number, row) in table.rows.iter().enumerate() {
                        tr data-pair=[pairs.get(number)] {
                            @for (i, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
                                (data_cell(cell, column, i == 0 && repeats(number), i < keys))
                            }
                        }
                    }
                }
            }
        }
        @if !table.notes.is_empty() { p.note { (table.notes.join(" ")) } }
    }
}

/// Columns that say what a row is about. Where a table begins with them they stay in view as it is scrolled sideways.
const KEY_NAMES: [&str; 4] = ["Scene", "Target", "Pair", "A : B"];

/// The most columns that stay in view, for which a phone is wide enough.
const MOST_KEYS: usize = 2;

/// The classes that hold, as an attribute.
fn classes(all: &[(bool, &'static str)]) -> Option<String> {
    let held: Vec<&str> = all.iter().filter(|(holds, _)| *holds).map(|(_, class)| *class).collect();
    (!held.is_empty()).then(|| held.join(" "))
}

fn data_cell(cell: &Cell, column: &Column, repeats: bool, is_key: bool) -> Markup {
    let is_bad = ["biased", "broken"].iter().any(|word| cell.text.starts_with(word));
    let long = is_long(cell, column);
    let class = classes(&[
        (column.numeric, "n"),
        (is_key, "key"),
        (cell.value == serde_json::Value::Bool(true), "same"),
        (cell.value == serde_json::Value::Bool(false) && !is_bad, "differs"),
        (is_bad, "bad"),
        (repeats, "again"),
        (long, "long"),
    ]);
    html! { td class=[class] data-v=[sort_value(cell, column)] { (cell.text) } }
}

/// The number that a cell is sorted by, where its text does not show it as a program would.
fn sort_value(cell: &Cell, column: &Column) -> Option<String> {
    let value = match &cell.value {
        serde_json::Value::Number(number) => number.to_string(),
        serde_json::Value::String(text) if column.numeric => text.clone(),
        _ => return None,
    };
    (value != cell.text).then_some(value)
}

fn remarks(study: &Study, warnings: &[String]) -> Markup {
    let notes = study.notes.iter().filter(|note| note.as_otherwise().is_none()).map(Note::sentence);
    let items: Vec<String> = notes.chain(warnings.iter().cloned()).collect();
    html! {
        @if !items.is_empty() {
            ul { @for item in &items { li { (item) } } }
        }
    }
}

fn environment(study: &Study) -> Markup {
    let e = &study.environment;
    let version = [e.lockstep.as_str(), e.commit.as_deref().unwrap_or_default()].join(" ");
    let entries = [
        ("Lockstep".to_owned(), version.trim().to_owned()),
        ("Started".to_owned(), e.started_utc.clone()),
        ("Host".to_owned(), host_line(study)),
    ];
    let kernels = ("Kernel source".to_owned(), e.kernel_hash.clone().unwrap_or_default());
    let scenes = e.scenes.iter().map(|(scene, hash)| (format!("Scene {scene}"), hash.clone()));
    let hashes = entry_list(std::iter::once(kernels).chain(scenes));
    let targets = targets_table(study);
    html! {
        (entry_list(entries))
        @if !hashes.0.is_empty() {
            details.part { summary { h3 { "Hashes of kernels and scenes" } } (hashes) }
        }
        @if !targets.rows.is_empty() { (table(&targets)) }
    }
}

/// Names with their values; nothing where all are empty.
fn entry_list(entries: impl IntoIterator<Item = (String, String)>) -> Markup {
    let told: Vec<(String, String)> = entries.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    html! {
        @if !told.is_empty() {
            dl { @for (name, value) in &told { dt { (name) } dd { (value) } } }
        }
    }
}

fn targets_table(study: &Study) -> Table {
    let texts = ["Target", "Mode", "Device", "Driver", "Compiler", "Flags", "Clocks"];
    let mut table = Table::new("targets", "Targets", &texts, &["Threads"]);
    for t in study.environment.targets.iter().map(|target| &target.info) {
        let (target, mode) = (t.target.to_string(), t.target.mode);
        let mut row: Vec<Cell> =
            [target.as_str(), mode.as_str(), &t.device, &t.driver, &t.compiler, &t.flags, &t.clocks]
                .map(Cell::text)
                .to_vec();
        row.push(match t.host_threads() {
            0 => Cell::empty(),
            threads => Cell::count(u64::from(threads)),
        });
        table.rows.push(row);
    }
    table.without_empty_columns()
}

fn repeat(study: &Study) -> Markup {
    let e = &study.environment;
    if e.command.is_empty() {
        return Markup::default();
    }
    let s = &e.settings;
    let reached = study.spp_levels();
    let (reached, most) = (reached.iter().copied().filter(|&spp| spp > 0), s.spp.iter().max().copied());
    let levels: Vec<String> = reached.clone().map(|spp| format::count(u64::from(spp))).collect();
    let above = most.filter(|&most| reached.max().is_some_and(|reached| reached < most));
    html! {
        div.command { pre { code { (e.command_line()) } } }
        @if s.width > 0 {
            p {
                "Images of " (s.width) "×" (s.height) " with up to " (plural(s.bounces as usize, "bounce"))
                @if s.seeds > 1 { ", " (s.seeds) " seeds from " (s.seed) } @else { ", seed " (s.seed) }
                @if !levels.is_empty() { ", at " (levels.join(", ")) " samples per pixel" }
                @if let Some(most) = above { "; levels go on to " (format::count(u64::from(most))) " where time is left" }
                "."
            }
        }
        p {
            "Tables, plots and this page are made from the records alone: "
            code { "lockstep report" }
            " with this folder makes them again, without any of the devices."
        }
    }
}
