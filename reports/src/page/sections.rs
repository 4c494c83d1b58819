//! The parts of the page as HTML.

use super::images::Embedded;
use super::pairs::pairs_table;
use crate::format::{self, plural};
use crate::markup::escape;
use crate::plots::Plot;
use crate::study::Study;
use crate::tables::{Cell, Column, Table, host_line};
use crate::verdict::Verdict;

/// A part with a heading of its own.
pub(super) struct Section {
    id: String,
    heading: String,
    body: String,
}

/// The top of the page: verdict, facts, one line for each pair and each target that was left out.
pub(super) fn header(study: &Study, verdict: &Verdict) -> String {
    let mut lines = String::new();
    for verdict in &verdict.lines {
        let badge = if verdict.identical {
            ("same", "identical")
        } else if verdict.within_noise {
            ("same", "within noise")
        } else {
            ("differs", "differs")
        };
        lines.push_str(&line(badge, &verdict.what, &verdict.said));
    }
    for skip in &study.skips {
        let names = [skip.target.as_str(), skip.scene.as_deref().unwrap_or_default()];
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let said = format!("{}. {}", skip.reason.trim_end_matches('.'), capitalised(&skip.remedy));
        lines.push_str(&line(("skipped", "skipped"), &names.join(" on "), &said));
    }
    let list = if lines.is_empty() { String::new() } else { format!("<ul class=\"verdicts\">{lines}</ul>") };
    format!(
        "<header>\n<p class=\"eyebrow\">Lockstep study</p>\n<h1>{}</h1>\n<p class=\"facts\">{}</p>\n{list}</header>",
        escape(&verdict.headline),
        escape(&facts(study))
    )
}

fn line((class, badge): (&str, &str), what: &str, said: &str) -> String {
    format!(
        "<li><span class=\"badge {class}\">{badge}</span><span class=\"what\">{}</span><span class=\"said\">{}</span></li>",
        escape(what),
        escape(said)
    )
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn facts(study: &Study) -> String {
    let s = &study.environment.settings;
    let mut facts = vec![plural(study.scenes().len(), "scene"), plural(study.targets().len(), "target")];
    if s.width > 0 {
        facts.push(format!("{}×{}", s.width, s.height));
    }
    match (study.rungs().first(), study.rungs().last()) {
        (Some(low), Some(high)) if low < high => facts.push(format!("{low} to {high} samples per pixel")),
        (Some(only), _) => facts.push(format!("{only} samples per pixel")),
        _ => {}
    }
    if s.bounces > 0 {
        facts.push(plural(s.bounces as usize, "bounce"));
    }
    facts.push(study.environment.host.cpu.clone());
    facts.push(study.environment.started_utc.replace('T', " ").replace('Z', " UTC"));
    facts.retain(|fact| !fact.is_empty());
    facts.join(" · ")
}

/// Everything below the header, in reading order; parts with nothing to show are left out.
pub(super) fn sections(study: &Study, tables: &[Table], plots: &[Plot], embedded: &Embedded) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let pairs = if study.differences.is_empty() { String::new() } else { all_pairs(study) };
    sections.push(Section { id: "pairs".to_owned(), heading: "Pairs".to_owned(), body: pairs });
    for (index, scene) in study.scenes().into_iter().enumerate() {
        let place = embedded.scenes.iter().position(|s| s.name == scene);
        let mut body = place.map_or_else(String::new, viewer);
        let own = figures_named(plots, &["error.", "ssim."], |p| p.scene.as_deref() == Some(scene));
        body.push_str(&own);
        sections.push(Section { id: format!("scene-{index}"), heading: scene.to_owned(), body });
    }
    let group = |prefixes: &[&str]| -> String {
        let chosen = tables.iter().filter(|t| prefixes.iter().any(|prefix| t.id.starts_with(prefix)));
        chosen.map(table).collect()
    };
    let about_all = |names: &[&str]| figures_named(plots, names, |_| true);
    let speed = about_all(&["stages.", "rates."]) + &group(&["timing", "speedup", "bounces", "load"]);
    let parts = [
        (
            "agreement",
            "Agreement",
            group(&[
                "verdict",
                "evidence",
                "noise",
                "bias",
                "identical",
                "difference",
                "ladder",
                "hits",
                "rejected",
            ]),
        ),
        ("convergence", "Convergence", group(&["convergence"])),
        ("variants", "Variants", about_all(&["sweep-"]) + &group(&["sweep"])),
        ("speed", "Speed", speed),
        ("equal-time", "Equal time", about_all(&["equal-time."]) + &group(&["equal-time"])),
        ("scaling", "Thread scaling", about_all(&["scaling."]) + &group(&["scaling"])),
        (
            "portability",
            "Portability",
            about_all(&["cascade.", "navigation."]) + &group(&["portability", "navigation"]),
        ),
        ("ports", "Ports", group(&["port-"])),
        ("skipped", "Skipped", group(&["skipped"])),
        ("notes", "Remarks", remarks(study, &[&embedded.warnings[..], &embedded.remarks].concat())),
        ("environment", "Environment", environment(study) + &group(&["kernels"])),
        ("repeat", "To repeat this", repeat(study)),
    ];
    for (id, heading, body) in parts {
        sections.push(Section { id: id.to_owned(), heading: heading.to_owned(), body });
    }
    sections.retain(|section| !section.body.is_empty());
    sections
}

/// Links to all sections.
pub(super) fn navigation(sections: &[Section]) -> String {
    let link = |s: &Section| format!("<li><a href=\"#{}\">{}</a></li>", s.id, escape(&s.heading));
    format!("<ul>{}</ul>", sections.iter().map(link).collect::<String>())
}

/// The sections one after another.
pub(super) fn join(sections: &[Section]) -> String {
    let section = |s: &Section| {
        format!("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", s.id, escape(&s.heading), s.body)
    };
    sections.iter().map(section).collect()
}

fn viewer(index: usize) -> String {
    format!(
        "<div class=\"viewer\" data-scene=\"{index}\" tabindex=\"0\" role=\"region\" aria-label=\"Images\">\
         <noscript><p class=\"keys\">The images are shown by a script inside this page; the files lie in images/ \
         beside it.</p></noscript></div>\n"
    )
}

fn figures<'a>(plots: impl Iterator<Item = &'a Plot>) -> String {
    let figures: String = plots.map(|plot| format!("<figure>{}</figure>\n", plot.svg)).collect();
    if figures.is_empty() { figures } else { format!("<div class=\"plots\">{figures}</div>\n") }
}

/// The plots whose file names begin with one of these, and of which `holds` says so.
fn figures_named(plots: &[Plot], names: &[&str], holds: impl Fn(&Plot) -> bool) -> String {
    let named = |p: &&Plot| names.iter().any(|name| p.file_name.starts_with(name));
    figures(plots.iter().filter(named).filter(|p| holds(p)))
}

/// The table of all pairs, each row telling the script which comparison it is of.
fn all_pairs(study: &Study) -> String {
    table_with(&pairs_table(study), |row| format!(" data-pair=\"{row}\""))
}

fn table(table: &Table) -> String {
    table_with(table, |_| String::new())
}

/// A table with attributes of every row's number.
fn table_with(table: &Table, attributes: impl Fn(usize) -> String) -> String {
    let head: String = table
        .columns
        .iter()
        .map(|c| format!("<th scope=\"col\"{}>{}</th>", numeric(c), escape(&c.title)))
        .collect();
    let mut rows = String::new();
    let mut previous = None;
    for (number, row) in table.rows.iter().enumerate() {
        let repeats = previous.is_some() && row.first() == previous;
        previous = row.first();
        let cells = row.iter().zip(&table.columns).enumerate();
        let cells: String =
            cells.map(|(i, (cell, column))| data_cell(cell, column, i == 0 && repeats)).collect();
        rows.push_str(&format!("<tr{}>{cells}</tr>\n", attributes(number)));
    }
    let note = if table.notes.is_empty() {
        String::new()
    } else {
        format!("<p class=\"note\">{}</p>\n", escape(&table.notes.join(" ")))
    };
    let heading =
        if table.id == "skipped" { String::new() } else { format!("<h3>{}</h3>\n", escape(&table.title)) };
    format!(
        "{heading}<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n{note}",
        escape(&table.title)
    )
}

fn numeric(column: &Column) -> &'static str {
    if column.numeric { " class=\"n\"" } else { "" }
}

fn data_cell(cell: &Cell, column: &Column, again: bool) -> String {
    let mut classes = Vec::new();
    if column.numeric {
        classes.push("n");
    }
    match &cell.value {
        serde_json::Value::Bool(true) => classes.push("same"),
        serde_json::Value::Bool(false) => classes.push("differs"),
        _ => {}
    }
    if again {
        classes.push("again");
    }
    if !column.numeric && cell.text.chars().count() > 32 {
        classes.push("long");
    }
    let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    format!("<td{class}{}>{}</td>", sorted_by(cell, column), escape(&cell.text))
}

/// The number that a cell is sorted by, where its text does not show it as a program would.
fn sorted_by(cell: &Cell, column: &Column) -> String {
    let value = match &cell.value {
        serde_json::Value::Number(number) => number.to_string(),
        serde_json::Value::String(text) if column.numeric => text.clone(),
        _ => return String::new(),
    };
    if value == cell.text { String::new() } else { format!(" data-v=\"{}\"", escape(&value)) }
}

fn remarks(study: &Study, warnings: &[String]) -> String {
    let about = |part: &Option<String>| part.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let notes = study.notes.iter().map(|n| format!("{}{}{}", about(&n.scene), about(&n.target), n.text));
    let items: String =
        notes.chain(warnings.iter().cloned()).map(|text| format!("<li>{}</li>\n", escape(&text))).collect();
    if items.is_empty() { items } else { format!("<ul>{items}</ul>\n") }
}

fn environment(study: &Study) -> String {
    let e = &study.environment;
    let mut list = String::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            list.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value)));
        }
    };
    let version = [e.lockstep.as_str(), e.commit.as_deref().unwrap_or_default()].join(" ");
    add("Lockstep", version.trim());
    add("Started", &e.started_utc);
    add("Host", &host_line(study));
    add("Kernel source", e.kernel_hash.as_deref().unwrap_or_default());
    for (scene, hash) in &e.scenes {
        add(&format!("Scene {scene}"), hash);
    }
    let targets = targets_table(study);
    let targets = if targets.rows.is_empty() { String::new() } else { table(&targets) };
    if list.is_empty() { targets } else { format!("<dl>{list}</dl>\n{targets}") }
}

fn targets_table(study: &Study) -> Table {
    let texts = ["Target", "Mode", "Device", "Driver", "Compiler", "Flags", "Clocks"];
    let mut table = Table::new("targets", "Targets", &texts, &["Threads"]);
    for t in &study.environment.targets {
        let mut row: Vec<Cell> =
            [&t.target, t.mode.as_str(), &t.device, &t.driver, &t.compiler, &t.flags, &t.clocks]
                .map(Cell::text)
                .to_vec();
        row.push(if t.threads > 0 { Cell::count(u64::from(t.threads)) } else { Cell::empty() });
        table.rows.push(row);
    }
    // A column that no target fills says nothing.
    let filled: Vec<bool> =
        (0..table.columns.len()).map(|i| table.rows.iter().any(|row| !row[i].text.is_empty())).collect();
    let keep = |i: &mut usize| {
        *i += 1;
        filled[*i - 1]
    };
    let mut i = 0;
    table.columns.retain(|_| keep(&mut i));
    for row in &mut table.rows {
        let mut i = 0;
        row.retain(|_| keep(&mut i));
    }
    table
}

fn repeat(study: &Study) -> String {
    let e = &study.environment;
    if e.command.is_empty() {
        return String::new();
    }
    let s = &e.settings;
    let ladder: Vec<String> = s.spp.iter().map(|&spp| format::count(u64::from(spp))).collect();
    let seeds = if s.seeds > 1 {
        format!(", {} seeds from {}", s.seeds, s.seed)
    } else {
        format!(", seed {}", s.seed)
    };
    let settings = if s.width > 0 {
        format!(
            "<p>Images of {}×{} with up to {}{seeds}{}.</p>\n",
            s.width,
            s.height,
            plural(s.bounces as usize, "bounce"),
            if ladder.is_empty() {
                String::new()
            } else {
                format!(", at {} samples per pixel", ladder.join(", "))
            }
        )
    } else {
        String::new()
    };
    format!(
        "<pre><code>{}</code></pre>\n{settings}<p>Tables, plots and this page are made from the records alone: \
         <code>lockstep report</code> with this folder makes them again, without any of the devices.</p>\n",
        escape(&e.command_line())
    )
}
