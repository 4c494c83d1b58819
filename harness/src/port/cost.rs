//! `lockstep port cost [ROOT]`

use std::collections::BTreeMap;

use lockstep_reports::port::cost::{Layout, cost};
use lockstep_reports::port::history::history;
use lockstep_reports::port::sources::read_sources;
use lockstep_reports::port_markdown::{cost_markdown, history_markdown};
use lockstep_reports::records::Record;
use serde_json::json;

use super::args::CostArgs;
use super::{changes, into, layout};
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::terminal;

/// Counts what each backend costs, and how often changes touched one backend and not another.
///
/// # Errors
/// [`Failure::Usage`] for hours of a backend that the layout lacks, and [`Failure`] for a layout or folder
/// that cannot be read. An absent history is no error: its reason is said.
pub(crate) fn run(args: &CostArgs) -> Result<Exit, Failure> {
    let layout = layout::choose(args)?;
    let hours = hours(args, &layout)?;
    let cost = cost(&read_sources(&args.root)?, &layout, &hours);
    let history = changes::of(&args.root).map(|changes| history(&changes, &layout));
    if let Err(reason) = &history {
        say(&format!("lockstep: the history is skipped: {reason}"));
    }
    if let Some(folder) = &args.into {
        let changes = history.iter().cloned().map(Record::PortHistory);
        into::keep(
            folder,
            &std::iter::once(Record::PortCost(cost.clone())).chain(changes).collect::<Vec<_>>(),
        )?;
    }
    if args.json {
        let skipped = history.as_ref().err();
        let document = json!({
            "layout": layout, "cost": cost, "history": history.as_ref().ok(), "history_skipped": skipped,
            "formula": "1 - C_port / C_redevelop",
        });
        print_json(&document)?;
    } else {
        let width = terminal::width();
        let mut text = cost_markdown(&cost, width);
        if let Ok(history) = &history {
            text.push_str(&format!("\n{}", history_markdown(history, width)));
        }
        print(&text)?;
    }
    Ok(Exit::Fine)
}

fn hours(args: &CostArgs, layout: &Layout) -> Result<BTreeMap<String, f64>, Failure> {
    let known = layout.backends();
    match args.hours.iter().find(|(backend, _)| !known.contains(&backend.as_str())) {
        None => Ok(args.hours.iter().cloned().collect()),
        Some((backend, _)) => Err(Failure::Usage(format!(
            "--hours names {backend}, which the layout lacks; it has {}",
            known.join(", ")
        ))),
    }
}
