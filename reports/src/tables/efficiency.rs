//! Integrators, or ways of sampling layers, against each other on one target.

use super::{Cell, Table};
use crate::format::{fixed, number, percent};
use crate::records::Efficiency;
use crate::statistics::timing::{COVERAGE, MedianInterval};
use crate::study::Study;

/// Errors, times and efficiencies of every two integrators, or ways of sampling layers, by scene and target.
pub fn efficiency_table(study: &Study) -> Table {
    let numbers = [
        "spp",
        "A ms",
        "B ms",
        "A RMSE linear",
        "B RMSE linear",
        "Efficiency B / A",
        "Low",
        "High",
        "Tiles B wins",
        "Tenth",
        "Median",
        "Nine tenths",
    ];
    let mut table =
        Table::new("efficiency", "Estimators at equal samples and equal time", &["Scene", "A", "B"], &numbers)
            .noted(
                "Both have the same samples per pixel and one reference. Efficiency: one over time and the mean squared error against \
                 the reference, which stands for the variance: bias and the reference's own error are part of it, and make both \
                 more alike. At 4, B reaches A's error in a quarter of A's time; of several seeds it is the median of their ratios, and of six \
                 or more Low and High enclose that median with 95 %. Errors, times and tiles are of the first seed. Tiles of 16×16 pixels: the share in which B is the more \
                 efficient, and the ratio that a tenth, half and nine tenths of them are not above. The viewer's map shows \
                 where: red where A wins, blue where B does.",
            );
    for e in &study.efficiencies {
        let shown = |value: f64| Cell::number(value, number(value));
        let ratio = |value: f64| Cell::number(value, fixed(value, 2));
        let (share, over_seeds) = (won(e), over_seeds(e));
        let ends = over_seeds.filter(|found| found.coverage >= COVERAGE);
        let end = |value: Option<f64>| value.map_or_else(|| Cell::text(""), &ratio);
        table.rows.push(vec![
            Cell::text(&e.scene),
            Cell::text(&e.a),
            Cell::text(&e.b),
            Cell::count(u64::from(e.spp)),
            shown(e.a_ms),
            shown(e.b_ms),
            shown(e.a_mse.sqrt()),
            shown(e.b_mse.sqrt()),
            ratio(whole(e)),
            end(ends.map(|found| found.low)),
            end(ends.map(|found| found.high)),
            Cell::number(share, percent(share)),
            ratio(e.tenth),
            ratio(e.median),
            ratio(e.nine_tenths),
        ]);
    }
    table
}

/// The more efficient integrator of every pair, a sentence each.
pub fn efficiency_sentences(study: &Study) -> Vec<String> {
    study.efficiencies.iter().map(sentence).collect()
}

fn sentence(e: &Efficiency) -> String {
    let (winner, loser, ratio, share) = match whole(e) {
        ratio if ratio >= 1.0 => (&e.b, &e.a, ratio, won(e)),
        ratio => (&e.a, &e.b, 1.0 / ratio, 1.0 - won(e)),
    };
    format!(
        "on {} {winner} reaches the error of {loser} in 1/{} of the time, and wins in {} of the tiles",
        e.scene,
        fixed(ratio, 2),
        percent(share)
    )
}

/// The ratio of efficiencies over all seeds; nothing in older records.
fn over_seeds(e: &Efficiency) -> Option<MedianInterval> {
    MedianInterval::of_ratio(&e.by_seed, &vec![1.0; e.by_seed.len()])
}

/// B's efficiency over A's on whole images.
fn whole(e: &Efficiency) -> f64 {
    over_seeds(e).map_or_else(|| e.ratio(), |found| found.median)
}

/// The share of tiles that B wins.
fn won(e: &Efficiency) -> f64 {
    e.won_by_b as f64 / e.tiles.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Environment;

    #[test]
    fn the_sentence_names_the_integrator_with_less_error_for_its_time() {
        let path = Efficiency {
            scene: "s".into(),
            a: "t+path".into(),
            b: "t+bpt".into(),
            a_ms: 10.0,
            b_ms: 20.0,
            a_mse: 0.08,
            b_mse: 0.01,
            tiles: 4,
            won_by_b: 3,
            ..Default::default()
        };
        let other = Efficiency { a_mse: 0.01, b_mse: 0.01, won_by_b: 1, ..path.clone() };
        let study = Study::from_records(vec![path.into()], Environment::default());
        let expected =
            "on s t+bpt reaches the error of t+path in 1/4.00 of the time, and wins in 75.0 % of the tiles";
        assert_eq!(efficiency_sentences(&study), [expected]);
        let texts: Vec<String> = efficiency_table(&study).rows[0].iter().map(|c| c.text.clone()).collect();
        assert_eq!(texts[8..12], ["4.00", "", "", "75.0 %"]);
        let expected =
            "on s t+path reaches the error of t+bpt in 1/2.00 of the time, and wins in 75.0 % of the tiles";
        assert_eq!(sentence(&other), expected);
    }

    #[test]
    fn the_ratio_over_seeds_is_their_median_with_an_interval_from_six_seeds_on() {
        let of = |by_seed: Vec<f64>| {
            let record =
                Efficiency { a: "t+together".into(), b: "t+tree".into(), by_seed, ..Default::default() };
            let study = Study::from_records(vec![record.into()], Environment::default());
            let texts: Vec<String> =
                efficiency_table(&study).rows[0].iter().map(|c| c.text.clone()).collect();
            texts[8..11].to_vec()
        };
        assert_eq!(of(vec![0.5, 2.0, 1.5]), ["1.50", "", ""]);
        assert_eq!(of(vec![0.5, 2.0, 1.5, 1.1, 1.2, 1.3]), ["1.25", "0.50", "2.00"]);
    }
}
