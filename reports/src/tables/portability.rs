//! Performance portability, and what it costs in code.

use super::{Cell, Column, Table};
use crate::format::{count, fixed, percent};
use crate::portability::configurations::configurations;
use crate::portability::navigation::choices;
use crate::portability::{Portability, harmonic_mean};
use crate::study::Study;

/// Efficiency of every application on every device, by scene and over all.
pub fn portability_table(study: &Study) -> Table {
    let portability = Portability::of(study);
    let mut table =
        Table::new("portability", "Performance portability", &["Scene", "Application"], &[]).noted(
            "Application efficiency: samples a second over the most that any target of this study reached on the same device \
             with the same scene; an application counts with its fastest target there. Portability: the harmonic mean over \
             the devices, 0 where the application does not run on one of them (Pennycook, Sewall and Lee 2016).",
        );
    // One application is the best of one on every device.
    if portability.applications.len() < 2 {
        return table;
    }
    let devices = portability.devices();
    let numbers = devices.iter().copied().chain(["Portability"]);
    table.columns.extend(numbers.map(|title| Column { title: title.to_owned(), numeric: true }));
    let scenes = portability.scenes();
    for scene in scenes.iter().map(Some).chain((scenes.len() > 1).then_some(None)) {
        for application in &portability.applications {
            let of = |device: Option<&str>| -> Vec<f64> {
                let here = portability.platforms.iter().zip(&application.efficiencies);
                here.filter(|(platform, _)| scene.is_none_or(|scene| platform.scene == **scene))
                    .filter(|(platform, _)| device.is_none_or(|device| platform.device == device))
                    .map(|(_, efficiency)| *efficiency)
                    .collect()
            };
            let mut row =
                vec![Cell::text(scene.copied().unwrap_or("all scenes")), Cell::text(&application.name)];
            let means = devices.iter().map(|device| harmonic_mean(&of(Some(device))));
            row.extend(
                means.map(|mean| Cell::number(mean, if mean > 0.0 { percent(mean) } else { "–".into() })),
            );
            let whole = harmonic_mean(&of(None));
            row.push(Cell::number(whole, percent(whole)));
            table.rows.push(row);
        }
    }
    table
}

/// Sets of backends that could be shipped: portability, divergence of the code, lines, and the verdict on the
/// images.
pub fn navigation_table(study: &Study) -> Table {
    let texts = ["Backends", "Where", "Images"];
    let numbers = ["Portability", "Code divergence", "Lines"];
    let mut table =
        Table::new("navigation", "Portability and divergence of the code", &texts, &numbers).noted(
            "Sets of backends from which every device gets the one that is the most efficient there; exact builds alone. \
             Portability: the harmonic mean of efficiencies over all devices and scenes. Code divergence: the mean Jaccard \
             distance between the lines compiled for two devices, 0 for one source (Harrell et al. 2018), by the folders that \
             lockstep port cost --into counted; files count as a whole. Images: the worst verdict on two targets of the \
             set.",
        );
    for choice in choices(study) {
        let devices = choice
            .devices
            .iter()
            .map(|(device, backend)| format!("{} on {device}", backend.as_deref().unwrap_or("nothing")));
        let images = choice.images.map_or_else(Cell::empty, |(verdict, comparisons)| {
            let good = verdict == "identical" || verdict == "within noise";
            Cell::flag(good, format!("{verdict} in {} comparisons", count(comparisons as u64)))
        });
        table.rows.push(vec![
            Cell::text(choice.backends.join(" + ")),
            Cell::text(devices.collect::<Vec<_>>().join(", ")),
            images,
            Cell::number(choice.portability, percent(choice.portability)),
            choice.divergence.map_or_else(Cell::empty, |d| Cell::number(d, fixed(d, 3))),
            choice.lines.map_or_else(Cell::empty, |lines| Cell::count(lines as u64)),
        ]);
    }
    // A single backend has nothing to be weighed against.
    if table.rows.len() < 2 {
        table.rows.clear();
    }
    table
}

/// How near every kernel configuration comes to the best of each target.
pub fn configuration_portability_table(study: &Study) -> Table {
    let mut table = Table::new("portability-configurations", "Portability of kernel configurations", &["Configuration"], &[]).noted(
        "Efficiency: the least median time of any exact configuration on a target over this one's, as the harmonic mean over \
         the scenes; “–” where the target refused it. Portability: the harmonic mean over all targets and scenes, 0 where \
         it was refused anywhere: the cost of a program that is tuned for none of them.",
    );
    let found = configurations(study);
    let targets = found.first().map(|one| one.targets.clone()).unwrap_or_default();
    let titles = targets.iter().map(|(target, _)| target.to_string()).chain(["Portability".to_owned()]);
    table.columns.extend(titles.map(|title| Column { title, numeric: true }));
    for one in found {
        let own = if one.own { ", the targets' default" } else { "" };
        let mut row = vec![Cell::text(format!("{}{own}", one.configuration))];
        let mean = |mean: f64| Cell::number(mean, if mean > 0.0 { percent(mean) } else { "–".into() });
        row.extend(one.targets.iter().map(|(_, efficiency)| mean(*efficiency)));
        row.push(Cell::number(one.portability, percent(one.portability)));
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portability::tests::{BOTH, study};

    #[test]
    fn a_scene_has_a_row_for_every_application_and_all_scenes_their_own() {
        let table = portability_table(&study(&BOTH));
        let titles: Vec<_> = table.columns.iter().map(|c| c.title.as_str()).collect();
        assert_eq!(titles, ["Scene", "Application", "Some CPU", "NVIDIA H200", "Portability"]);
        let opencl: Vec<_> = table.rows[1].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(opencl, ["s", "opencl", "50.0 %", "50.0 %", "50.0 %"]);
        let cpu: Vec<_> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(cpu, ["s", "cpu-bvh", "100.0 %", "–", "0 %"]);
        let twice: Vec<_> =
            BOTH.iter().chain(&BOTH.map(|(_, target, ms)| ("t", target, ms))).copied().collect();
        assert_eq!(portability_table(&study(&twice)).rows.len(), 9);
    }

    #[test]
    fn one_device_has_one_column_for_readers() {
        let titles = |table: Table| table.columns.into_iter().map(|c| c.title).collect::<Vec<_>>();
        let one = portability_table(&study(&BOTH[..3])).without_empty_numbers();
        assert_eq!(titles(one), ["Scene", "Application", "Some CPU"]);
        let two = portability_table(&study(&BOTH)).without_empty_numbers();
        assert_eq!(titles(two).last().map(String::as_str), Some("Portability"));
    }

    #[test]
    fn configurations_stand_from_the_most_portable_to_those_that_were_refused() {
        use crate::portability::configurations::tests::{TWO, study};
        let table = configuration_portability_table(&study(&TWO));
        let rows: Vec<Vec<_>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(rows[0], ["wavefront, the targets' default", "50.0 %", "80.0 %", "61.5 %"]);
        assert_eq!(rows[2], ["group=1024", "100.0 %", "–", "0 %"]);
        assert!(configuration_portability_table(&study(&TWO[..3])).rows.is_empty());
    }

    #[test]
    fn one_application_has_no_table() {
        assert!(portability_table(&study(&BOTH[..1])).rows.is_empty());
        assert!(navigation_table(&study(&BOTH[..1])).rows.is_empty());
    }
}
