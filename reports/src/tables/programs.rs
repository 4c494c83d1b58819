//! External programs: how they were run, and their runs that failed.

use super::{Cell, Table};
use crate::study::Study;
use lockstep_core::TargetId;

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
        let target = r.target.to_string();
        let texts = [&target, &r.scene, r.fault.as_str(), &r.reason, &lines, &r.log, &r.command];
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
                Cell::text(target.info.target.to_string()),
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

/// Substitutes for what programs cannot express of scenes, a row each.
pub fn model_difference_table(study: &Study) -> Table {
    let texts = ["Target", "Renders otherwise", "Scenes"];
    let mut table = Table::new("model-differences", "Model differences", &texts, &[]);
    table.notes.push(
        "Lockstep wrote the scenes for these programs. A verdict on a scene of a row may be about what the row says."
            .to_owned(),
    );
    let mut rows: Vec<([&str; 2], Vec<&str>)> = Vec::new();
    for [scene, target, what] in study.notes.iter().filter_map(|note| note.as_otherwise()) {
        match rows.iter_mut().find(|(key, _)| *key == [target, what]) {
            Some((_, scenes)) if scenes.contains(&scene) => {}
            Some((_, scenes)) => scenes.push(scene),
            None => rows.push(([target, what], vec![scene])),
        }
    }
    rows.sort_by_key(|&([target, _], _)| {
        let target = TargetId::from(target);
        study.environment.targets.iter().position(|t| t.info.target == target)
    });
    for ([target, what], scenes) in rows {
        table.rows.push(vec![Cell::text(target), Cell::text(what), Cell::text(scenes.join(", "))]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Note;

    #[test]
    fn a_substitute_has_one_row_with_all_its_scenes() {
        let notes =
            [("a", "x", "spheres"), ("b", "x", "spheres"), ("a", "y", "spheres"), ("b", "x", "spheres")];
        let notes = notes.map(|(scene, target, what)| Note::otherwise(scene, &target.into(), what));
        let study = Study { notes: notes.into_iter().chain([Note::default()]).collect(), ..Study::default() };
        let rows = model_difference_table(&study).rows;
        let texts = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>().join("; ");
        assert_eq!(rows.iter().map(texts).collect::<Vec<_>>(), ["x; spheres; a, b", "y; spheres; a"]);
    }
}
