//! The tables of a report, each from one kind of record.

use super::float_metrics::FLOAT_METRICS;
use super::{Cell, Column, Table};
use crate::format::{count, fixed, number, percent, similarity};
use crate::labels::{qualifier, varies};
use crate::metrics::SSIM_DEFINITION;
use crate::records::{Convergence, Difference, Mode, TargetId};
use crate::statistics::fit_log_log_slope;
use crate::study::{Study, push_new};

/// Differences of every pair by level: 8-bit MSE, linear MSE, SSIM, and whether the films are identical.
pub fn difference_tables(study: &Study) -> Vec<Table> {
    let identical = |d: &Difference| {
        if d.identical {
            Cell::flag(true, "=")
        } else {
            Cell::flag(false, format!("{} px", count(d.pixels_differing)))
        }
    };
    let metric = |get: fn(&Difference) -> f64| move |d: &Difference| Cell::number(get(d), number(get(d)));
    let ssim = |d: &Difference| Cell::number(d.errors.ssim, similarity(d.errors.ssim));
    let mut tables =
        vec![
        difference_table(study, "identical", "Identical films", identical).noted(
            "“=” where the films' integers are equal to the bit, else the pixels in which the images differ.",
        ),
        difference_table(study, "difference-mse", "MSE between targets, 8-bit sRGB", metric(|d| d.errors.mse))
            .noted("Mean squared error over 8-bit sRGB values, 0 to 65025, the scale of published tables."),
        difference_table(
            study,
            "difference-mse-linear",
            "MSE between targets, linear",
            metric(|d| d.errors.mse_linear),
        )
        .noted("Mean squared error over linear radiance."),
        difference_table(study, "difference-ssim", "SSIM between targets, 8×8 boxes", ssim)
            .noted(SSIM_DEFINITION),
    ];
    if study.differences.iter().any(|d| d.float.is_some()) {
        tables.extend(FLOAT_METRICS.iter().map(|metric| {
            let title = format!("{} between targets", metric.title);
            difference_table(study, metric.difference_id, &title, |d| metric.cell(d.float.as_ref()))
                .noted(metric.definition)
        }));
    }
    tables
}

pub(super) fn difference_table(
    study: &Study,
    id: &'static str,
    title: &str,
    cell: impl Fn(&Difference) -> Cell,
) -> Table {
    let levels = spp_levels(study.differences.iter().map(|d| d.spp));
    let mut table = Table::new(id, title, &["Scene", "Pair"], &[]).with_levels(&levels);
    let many_seeds = varies(study.differences.iter().map(|d| d.seed));
    let key = |d: &Difference| (d.scene.clone(), d.a.clone(), d.b.clone(), d.mode, d.seed);
    let mut rows = Vec::new();
    study.differences.iter().for_each(|d| push_new(&mut rows, key(d)));
    for row in rows {
        let (scene, a, b, mode, seed) = &row;
        let pair = format!("{a} : {b}{}", qualifier(*mode, &[a, b], *seed, many_seeds));
        let mut cells = vec![Cell::text(scene), Cell::text(pair)];
        cells.extend(levels.iter().map(|&spp| {
            let found = study.differences.iter().find(|d| d.spp == spp && key(d) == row);
            found.map_or_else(Cell::empty, &cell)
        }));
        table.rows.push(cells);
    }
    table
}

/// Errors of every target against the reference by level: linear MSE with its slope, 8-bit MSE, SSIM.
pub fn convergence_tables(study: &Study) -> Vec<Table> {
    let metric = |get: fn(&Convergence) -> f64| move |c: &Convergence| Cell::number(get(c), number(get(c)));
    let ssim = |c: &Convergence| Cell::number(c.errors.ssim, similarity(c.errors.ssim));
    let mut linear = convergence_table(
        study,
        "convergence-mse-linear",
        "Convergence, linear MSE",
        metric(|c| c.errors.mse_linear),
    );
    add_slopes(study, &mut linear);
    let mut tables = vec![
        linear.noted("Mean squared error over linear radiance against the reference.").noted(
            "Slope of log MSE over log spp by least squares with its 95 % interval; independent samples give −1.",
        ),
        convergence_table(study, "convergence-mse", "Convergence, 8-bit MSE", metric(|c| c.errors.mse))
            .noted("Mean squared error over 8-bit sRGB values, 0 to 65025, against the reference."),
        convergence_table(study, "convergence-ssim", "Convergence, SSIM, 8×8 boxes", ssim)
            .noted(SSIM_DEFINITION),
    ];
    if study.convergences.iter().any(|c| c.float.is_some()) {
        tables.extend(FLOAT_METRICS.iter().map(|metric| {
            let title = format!("Convergence, {}", metric.title);
            convergence_table(study, metric.convergence_id, &title, |c| metric.cell(c.float.as_ref()))
                .noted(metric.definition)
        }));
    }
    tables
}

/// The references of a study's images, each once.
fn references(study: &Study) -> Vec<&str> {
    let mut references = Vec::new();
    study.convergences.iter().for_each(|c| push_new(&mut references, c.against.as_str()));
    references
}

type ConvergenceKey = (String, TargetId, Mode, u64, String);

fn convergence_key(c: &Convergence) -> ConvergenceKey {
    (c.scene.clone(), c.target.clone(), c.mode, c.seed, c.against.clone())
}

fn convergence_rows(study: &Study) -> Vec<ConvergenceKey> {
    let mut rows = Vec::new();
    study.convergences.iter().for_each(|c| push_new(&mut rows, convergence_key(c)));
    rows
}

fn convergence_table(
    study: &Study,
    id: &'static str,
    title: &str,
    cell: impl Fn(&Convergence) -> Cell,
) -> Table {
    let levels = spp_levels(study.convergences.iter().map(|c| c.spp));
    let references = references(study);
    let texts: &[&str] =
        if references.len() > 1 { &["Scene", "Target", "Against"] } else { &["Scene", "Target"] };
    let mut table = Table::new(id, title, texts, &[]).with_levels(&levels);
    if let [only] = references.as_slice() {
        table.notes.push(format!("The reference is {only}."));
    }
    let many_seeds = varies(study.convergences.iter().map(|c| c.seed));
    for row in convergence_rows(study) {
        let (scene, target, mode, seed, against) = &row;
        let target = format!("{target}{}", qualifier(*mode, &[target], *seed, many_seeds));
        let mut cells = vec![Cell::text(scene), Cell::text(target)];
        if references.len() > 1 {
            cells.push(Cell::text(against));
        }
        cells.extend(levels.iter().map(|&spp| {
            let found = study.convergences.iter().find(|c| c.spp == spp && convergence_key(c) == row);
            found.map_or_else(Cell::empty, &cell)
        }));
        table.rows.push(cells);
    }
    table
}

fn add_slopes(study: &Study, table: &mut Table) {
    table.columns.push(Column { title: "Slope".to_owned(), numeric: true });
    table.columns.push(Column { title: "± 95 %".to_owned(), numeric: true });
    for (row, cells) in convergence_rows(study).iter().zip(&mut table.rows) {
        let points: Vec<(u32, f64)> = study
            .convergences
            .iter()
            .filter(|c| convergence_key(c) == *row)
            .map(|c| (c.spp, c.errors.mse_linear))
            .collect();
        let fit = fit_log_log_slope(&points);
        cells.push(fit.map_or_else(|_| Cell::empty(), |f| Cell::number(f.slope, fixed(f.slope, 3))));
        cells.push(
            fit.map_or_else(|_| Cell::empty(), |f| Cell::number(f.half_width_95, fixed(f.half_width_95, 3))),
        );
    }
}

/// How often intersectors disagreed, and why.
pub fn hits_table(study: &Study) -> Table {
    let texts = ["Scene", "Pair"];
    let numbers =
        ["spp", "Rays", "Other primitive", "Hit or miss", "Other distance", "Pixels differing", "Share"];
    let mut table = Table::new("hits", "Hits that disagree", &texts, &numbers);
    table.columns.push(Column { title: "Why".to_owned(), numeric: false });
    for h in &study.hits {
        table.rows.push(vec![
            Cell::text(&h.scene),
            Cell::text(format!("{} : {}", h.a, h.b)),
            Cell::count(u64::from(h.spp)),
            Cell::count(h.rays),
            Cell::count(h.primitive_differs),
            Cell::count(h.hit_or_miss_differs),
            Cell::count(h.distance_differs),
            Cell::count(h.pixels_differing),
            Cell::number(h.share, percent(h.share)),
            Cell::text(&h.why),
        ]);
    }
    table
}

/// Samples that films refused or altered; there should be none.
pub fn invalid_samples_table(study: &Study) -> Table {
    let numbers = ["spp", "Not finite", "Negative", "Clamped"];
    let mut table = Table::new("invalid-samples", "Invalid samples", &["Scene", "Target"], &numbers).noted(
        "A sample that is not finite, negative or beyond the film's range is a defect and fails the study.",
    );
    for r in study.invalid.iter().filter(|r| r.non_finite + r.negative + r.clamped > 0) {
        table.rows.push(vec![
            Cell::text(&r.scene),
            Cell::text(&r.target),
            Cell::count(u64::from(r.spp)),
            Cell::count(r.non_finite),
            Cell::count(r.negative),
            Cell::count(r.clamped),
        ]);
    }
    table
}

/// Table of the cost of loading scenes on targets.
pub fn load_table(study: &Study) -> Table {
    let numbers = ["Triangles", "Build ms", "Compile ms", "Upload ms", "Memory"];
    let mut table = Table::new("load", "Loading", &["Scene", "Target"], &numbers);
    let has_photons = study.loads.iter().any(|load| load.photon_map_bytes > 0);
    if has_photons {
        table.columns.push(Column { title: "Photon map".to_owned(), numeric: true });
        let note = "Memory: the scene and its acceleration structure. Photon map: the photons of a pass and their grid at most, \
                    by integrators that merge.";
        table.notes.push(note.to_owned());
    }
    let size = |bytes: u64| Cell { text: super::format::bytes(bytes), value: bytes.into() };
    for l in &study.loads {
        let kept = if l.cached == Some(true) { " (cached)" } else { "" };
        let mut row = vec![
            Cell::text(&l.scene),
            Cell::text(format!("{}{}", l.target, qualifier(l.mode, &[&l.target], 0, false))),
            Cell::count(l.triangles),
            Cell::number(l.build_ms, format!("{}{}", number(l.build_ms), kept)),
            Cell::number(l.compile_ms, number(l.compile_ms)),
            Cell::number(l.upload_ms, number(l.upload_ms)),
            size(l.device_bytes),
        ];
        if has_photons {
            row.push(if l.photon_map_bytes > 0 { size(l.photon_map_bytes) } else { Cell::empty() });
        }
        table.rows.push(row);
    }
    table
}

/// Skipped targets and scenes, each with its reason and remedy.
pub fn skip_table(study: &Study) -> Table {
    let mut table = Table::new("skipped", "Skipped", &["Target", "Scene", "Reason", "Remedy"], &[]);
    for s in &study.skips {
        let or_all = |name: Option<String>| name.unwrap_or_else(|| "all".to_owned());
        table.rows.push(vec![
            Cell::text(or_all(s.target.as_ref().map(ToString::to_string))),
            Cell::text(or_all(s.scene.clone())),
            Cell::text(&s.reason),
            Cell::text(&s.remedy),
        ]);
    }
    table
}

impl Table {
    pub(crate) fn noted(mut self, note: &str) -> Self {
        self.notes.push(note.to_owned());
        self
    }

    pub(super) fn with_levels(mut self, levels: &[u32]) -> Self {
        self.columns.extend(levels.iter().map(|&spp| {
            let title = if spp == 0 { "Value".to_owned() } else { format!("{spp} spp") };
            Column { title, numeric: true }
        }));
        self
    }
}

pub(super) fn spp_levels(spp: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut levels: Vec<u32> = spp.collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Load, Record};

    #[test]
    fn the_photon_map_of_a_pass_stands_beside_the_memory_of_the_scene_where_there_is_one() {
        let load = |target: &str, photon_map_bytes| {
            Load { target: target.into(), device_bytes: 512, photon_map_bytes, ..Load::default() }.into()
        };
        let table = |loads| load_table(&Study::from_records(loads, Environment::default()));
        let with = table(vec![load("a+path", 0), load("a+vcm", 3 << 20)]);
        assert_eq!(with.columns.last().unwrap().title, "Photon map");
        let last: Vec<&str> = with.rows.iter().map(|row| row.last().unwrap().text.as_str()).collect();
        assert_eq!(last, ["", "3.0 MiB"]);
        let without = table(vec![load("a+path", 0)]);
        assert_eq!((without.columns.last().unwrap().title.as_str(), without.notes.len()), ("Memory", 0));
    }

    #[test]
    fn a_load_from_the_cache_says_so_and_records_from_before_the_cache_do_not() {
        let record =
            |target: &str, cached| Load { target: target.into(), build_ms: 12.0, cached, ..Load::default() };
        let line = Record::from(record("a", None)).to_json().unwrap();
        assert!(!line.contains("cached"));
        let loads = [
            serde_json::from_str(&line).unwrap(),
            record("b", Some(false)).into(),
            record("c", Some(true)).into(),
        ];
        let table = load_table(&Study::from_records(loads.to_vec(), Environment::default()));
        let built: Vec<&str> = table.rows.iter().map(|row| row[3].text.as_str()).collect();
        assert_eq!(built, ["12.00", "12.00", "12.00 (cached)"]);
    }
}
