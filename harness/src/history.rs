//! `lockstep history`: rates of studies by commit.

use lockstep_reports::image_io::atomic_write_text;
use lockstep_reports::performance::History;
use lockstep_reports::study::Study;

use crate::baseline;
use crate::cli::HistoryArgs;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};

/// The table and plots of a history in its folder.
const TABLE: &str = "history.md";

/// Prints each target's first and last rate, and writes table and plots where a folder is given.
///
/// # Errors
/// [`Failure`] for folders that are no studies, studies without times, and files that cannot be written.
pub(crate) fn run(args: &HistoryArgs) -> Result<Exit, Failure> {
    let studies =
        args.studies.iter().map(|place| baseline::load(place)).collect::<Result<Vec<Study>, _>>()?;
    let history = History::of(&studies);
    if history.points.is_empty() {
        return Err(Failure::Input("the studies have no times; make one with `lockstep study`".into()));
    }
    let sentences = history.sentences();
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(Failure::io("make the folder", folder))?;
        let plots = history.plots().map_err(|error| Failure::Input(error.to_string()))?;
        for plot in &plots {
            atomic_write_text(&folder.join(&plot.file_name), &plot.svg)?;
        }
        let table = history.table();
        let drawn = plots.iter().map(|plot| format!("![{}]({})\n\n", plot.title, plot.file_name));
        let notes = table.notes.join(" ");
        let text =
            format!("# {}\n\n{}{}\n{notes}\n", table.title, drawn.collect::<String>(), table.to_markdown());
        atomic_write_text(&folder.join(TABLE), &text)?;
    }
    if args.json {
        print_json(&history)?;
    } else {
        let lines = sentences.iter().map(|sentence| format!("{sentence}\n"));
        print(&lines.collect::<String>())?;
    }
    Ok(Exit::Fine)
}
