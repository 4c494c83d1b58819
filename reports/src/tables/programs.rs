//! External programs: how they were run, and their runs that failed.

use super::{Cell, Table};
use crate::study::Study;

/// Runs of programs that left no image to compare.
pub fn run_failure_table(study: &Study) -> Table {
    let texts = ["Target", "Scene", "Fault", "What happened", "Last lines", "Log", "Command"];
    let mut table = Table::new("run-failures", "Failed runs", &texts, &["spp", "Seed"]);
    table.notes.push(
        "A program that failed on a scene is not run there again with as many samples per pixel or more."
            .to_owned(),
    );
    for r in &study.run_failures {
        let lines = r.last_lines.join(" ⏎ ");
        let texts = [&r.target, &r.scene, r.fault.as_str(), &r.reason, &lines, &r.log, &r.command];
        let mut row: Vec<Cell> = texts.map(Cell::text).to_vec();
        row.extend([Cell::count(u64::from(r.spp)), Cell::count(r.seed)]);
        table.rows.push(row);
    }
    table
}

/// How each external program is run: enough to run it by hand.
pub fn program_table(study: &Study) -> Table {
    let texts = ["Target", "Version", "First run", "Folder", "Variables", "Times"];
    let mut table = Table::new("programs", "External programs", &texts, &[]);
    table.notes.push(
        "First run: the command line of a scene's first level under the first seed; {out} stands for the image, which is \
         written to a temporary folder. The logs beside the images begin with the line of every run."
            .to_owned(),
    );
    for target in &study.environment.targets {
        let Some(program) = &target.program else { continue };
        let variables: Vec<String> =
            program.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        for (i, line) in program.first_runs.iter().enumerate() {
            let once = |text: &str| if i == 0 { text.to_owned() } else { String::new() };
            table.rows.push(vec![
                Cell::text(&target.info.target),
                Cell::text(once(&target.info.driver)),
                Cell::text(line),
                Cell::text(once(&program.dir)),
                Cell::text(once(&variables.join(" "))),
                Cell::text(once(&program.times)),
            ]);
        }
    }
    table
}
