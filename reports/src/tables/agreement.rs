//! Verdicts, the noise floor, and what the verdicts rest on.

use super::build::{difference_table, spp_levels};
use super::{Cell, Table};
use crate::format::{count, number, percent};
use crate::labels::{qualifier, varies};
use crate::records::{Difference, Noise};
use crate::statistics::{DecisionRule, fit_bias};
use crate::study::{Study, push_new};
use crate::verdict::promises;

/// Tables of verdicts, tests, noise floors and bias; without rows for a study whose pairs have no verdict.
pub fn agreement_tables(study: &Study) -> Vec<Table> {
    vec![verdict_table(study), test_table(study), noise_table(study), ratio_table(study), bias_table(study)]
}

/// Verdicts of every pair by level.
fn verdict_table(study: &Study) -> Table {
    let verdict = |d: &Difference| match d.verdict.as_str() {
        "" => Cell::empty(),
        verdict => {
            let is_good = verdict == "identical" || (verdict == "within noise" && !promises(study, d));
            Cell::flag(is_good, verdict)
        }
    };
    if study.differences.iter().all(|d| d.verdict.is_empty()) {
        return Table::new("verdict", "Verdicts", &[], &[]);
    }
    difference_table(study, "verdict", "Verdicts", verdict).noted(&DecisionRule::default().in_words())
}

/// Test results of pairs that are not identical.
fn test_table(study: &Study) -> Table {
    let numbers = ["spp", "Tiles rejected", "Share", "p, corrected", "Greatest difference"];
    let mut table = Table::new("tile-tests", "Tests of tiles", &["Scene", "Pair"], &numbers)
        .noted(
            "Share of the tiles of 8×8 pixels that reject on their own; the most significant tile of any scale with \
             its mean difference. A difference of a tile that does not reject is noise. Lockstep's own targets share their \
             random numbers, so the tests are of the differences of pixels; p-value maps lie in images/ as .p.png.",
        );
    table.columns.push(super::Column { title: "At".to_owned(), numeric: false });
    let many_seeds = varies(study.differences.iter().map(|d| d.seed));
    for d in &study.differences {
        let Some(t) = &d.tests else { continue };
        let share = if t.tiles == 0 { 0.0 } else { t.tiles_rejected as f64 / t.tiles as f64 };
        table.rows.push(vec![
            Cell::text(&d.scene),
            Cell::text(pair(d, many_seeds)),
            Cell::spp(d.spp),
            Cell {
                text: format!("{} of {}", count(t.tiles_rejected), count(t.tiles)),
                value: t.tiles_rejected.into(),
            },
            Cell::number(share, percent(share)),
            Cell::number(t.p, number(t.p)),
            Cell::number(t.worst_relative, percent(t.worst_relative)),
            Cell::text(format!("{}, {}, {side}×{side}", t.worst_x, t.worst_y, side = t.worst_side)),
        ]);
    }
    table
}

/// A pair's name, with its mode where that is not exact and its seed where the study has several.
pub(crate) fn pair_name(study: &Study, d: &Difference) -> String {
    pair(d, varies(study.differences.iter().map(|d| d.seed)))
}

fn pair(d: &Difference, many_seeds: bool) -> String {
    format!("{} : {}{}", d.a, d.b, qualifier(d.mode, &[&d.a, &d.b], d.seed, many_seeds))
}

/// Linear error of every target against itself under another seed, by level.
fn noise_table(study: &Study) -> Table {
    let levels = spp_levels(study.noise.iter().map(|n| n.spp));
    let mut table =
        Table::new("noise", "Noise floor, linear MSE", &["Scene", "Target"], &[]).with_levels(&levels).noted(
            "Mean squared error over linear radiance of a target against itself under another seed, the mean over the \
             other seeds. Targets whose films are identical at every spp level share the render under the other seed.",
        );
    let key = |n: &Noise| (n.scene.clone(), n.target.clone(), n.mode);
    let mut rows = Vec::new();
    study.noise.iter().for_each(|n| push_new(&mut rows, key(n)));
    for row in rows {
        let mut cells = vec![
            Cell::text(&row.0),
            Cell::text(format!("{}{}", row.1, qualifier(row.2, &[&row.1], 0, false))),
        ];
        cells.extend(levels.iter().map(|&spp| {
            let found = study.noise.iter().filter(|n| n.spp == spp && key(n) == row).map(|n| n.mse_linear);
            mean(found).map_or_else(Cell::empty, |floor| Cell::number(floor, number(floor)))
        }));
        table.rows.push(cells);
    }
    table
}

/// Errors of every pair over the noise floor, by level.
fn ratio_table(study: &Study) -> Table {
    if study.noise.is_empty() {
        return Table::new("noise-ratio", "Error over noise floor", &[], &[]);
    }
    let ratio = |d: &Difference| {
        let ratio = noise_floor(study, d).map(|floor| d.errors.mse_linear / floor);
        ratio.map_or_else(Cell::empty, |ratio| Cell::number(ratio, number(ratio)))
    };
    difference_table(study, "noise-ratio", "Error over noise floor", ratio).noted(
        "Linear MSE between the targets over the noise floor of the pair. Targets that share nothing but the scene would \
         be at 1; those that share random numbers are below, as far as their samples are the same.",
    )
}

/// The noise floor of a pair at a level: the mean over both targets and all other seeds.
pub(crate) fn noise_floor(study: &Study, d: &Difference) -> Option<f64> {
    let of_pair = |n: &&Noise| n.scene == d.scene && n.spp == d.spp && (n.target == d.a || n.target == d.b);
    mean(study.noise.iter().filter(of_pair).map(|n| n.mse_linear)).filter(|floor| *floor > 0.0)
}

/// Noise and bias of pairs that are not identical, over the steps of the schedule and all seeds.
fn bias_table(study: &Study) -> Table {
    let numbers = ["Noise a", "Bias² b", "b, 95 % from", "to", "Points"];
    let mut table = Table::new("bias", "Noise and bias", &["Scene", "Pair"], &numbers).noted(
        "Fit of linear MSE = a/N + b over the steps of the schedule, which share no samples: a is the noise of the \
         difference at 1 spp, b the squared bias averaged over the image. Where the interval of b reaches 0 or below, no \
         bias shows.",
    );
    let key = |d: &Difference| (d.scene.clone(), d.a.clone(), d.b.clone(), d.mode);
    let mut rows = Vec::new();
    study.differences.iter().filter(|d| !d.identical).for_each(|d| push_new(&mut rows, key(d)));
    for row in rows {
        let of_row = study.differences.iter().filter(|d| key(d) == row);
        let points: Vec<(u32, f64)> =
            of_row.filter_map(|d| Some((d.step_spp?, d.step_mse_linear?))).collect();
        let Ok(fit) = fit_bias(&points) else { continue };
        let mut cells = vec![
            Cell::text(&row.0),
            Cell::text(format!("{} : {}{}", row.1, row.2, qualifier(row.3, &[&row.1, &row.2], 0, false))),
        ];
        cells.extend([fit.a, fit.b, fit.b_low, fit.b_high].map(|v| Cell::number(v, number(v))));
        cells.push(Cell::count(fit.points as u64));
        table.rows.push(cells);
    }
    table
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Environment, Errors, Record, Tests};

    fn study() -> Study {
        let difference = |spp: u32, verdict: &str, mse: f64| Difference {
            scene: "s".into(),
            a: "x".into(),
            b: "y".into(),
            spp,
            errors: Errors { mse_linear: mse, ..Errors::default() },
            verdict: verdict.into(),
            step_mse_linear: Some(2.0 / f64::from(spp.div_ceil(2)) + 0.5),
            step_spp: Some(spp.div_ceil(2)),
            tests: Some(Tests { tiles: 200, tiles_rejected: 3, p: 1e-6, ..Tests::default() }),
            ..Difference::default()
        };
        let floor = |target: &str, other_seed, mse_linear| Noise {
            scene: "s".into(),
            target: target.into(),
            spp: 4,
            other_seed,
            mse_linear,
            ..Noise::default()
        };
        let records: Vec<Record> = vec![
            difference(1, "within noise", 2.5).into(),
            difference(2, "within noise", 1.5).into(),
            difference(4, "biased", 1.0).into(),
            difference(8, "biased", 0.7).into(),
            floor("x", 1, 1.0).into(),
            floor("x", 2, 2.0).into(),
            floor("y", 1, 3.0).into(),
        ];
        Study::from_records(records, Environment::default())
    }

    fn texts(table: &Table) -> Vec<Vec<&str>> {
        table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect()
    }

    #[test]
    fn verdicts_stand_beside_the_rule_and_their_tests() {
        let tables = agreement_tables(&study());
        assert_eq!(texts(&tables[0]), [["s", "x : y", "within noise", "within noise", "biased", "biased"]]);
        assert!(tables[0].notes[0].contains("Šidák") && tables[0].notes[0].contains("0.001"));
        assert_eq!(texts(&tables[1])[2][2..6], ["4", "3 of 200", "1.5 %", "1.00e−6"]);
    }

    #[test]
    fn an_error_is_given_over_the_floor_of_both_targets_and_all_seeds() {
        let tables = agreement_tables(&study());
        assert_eq!(texts(&tables[2]), [["s", "x", "1.500"], ["s", "y", "3.000"]]);
        assert_eq!(texts(&tables[3]), [["s", "x : y", "", "", "0.5000", ""]]);
    }

    #[test]
    fn noise_and_bias_are_fitted_over_the_steps() {
        let tables = agreement_tables(&study());
        assert_eq!(texts(&tables[4])[0][1..4], ["x : y", "2.000", "0.5000"]);
    }

    #[test]
    fn a_study_that_was_not_compared_has_none_of_these_tables() {
        let old = Difference { identical: true, ..Difference::default() };
        let study = Study::from_records(vec![old.into()], Environment::default());
        assert!(agreement_tables(&study).iter().all(|table| table.rows.is_empty()));
    }
}
