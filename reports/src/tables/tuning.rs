//! Kernel configurations of every target against its default.

use super::{Cell, Table};
use crate::format::{fixed, number};
use crate::records::Mode;
use crate::statistics::timing::{MedianInterval, in_words};
use crate::study::{Study, push_new};
use crate::tuning::{Tuned, tuned};

/// The finding of a row in a few words.
fn remark(row: &Tuned) -> String {
    if !row.refused.is_empty() {
        return format!("refused: {}", row.refused);
    }
    if row.is_bug() {
        return "BUG: its film is not the default's".to_owned();
    }
    let finding = match row.change {
        _ if row.aa_control => "the floor",
        _ if row.default => "the default",
        Some(change) => change.as_str(),
        None => "too few rounds",
    };
    if row.best { format!("{finding}, best") } else { finding.to_owned() }
}

/// Whether the film is the default's.
fn film(row: &Tuned) -> Cell {
    match (row.refused.is_empty(), row.identical, row.promised) {
        (false, ..) => Cell::empty(),
        (true, true, _) => Cell::flag(true, "="),
        (true, false, true) => Cell::flag(false, "≠"),
        (true, false, false) => Cell::text("≠"),
    }
}

/// Times of every kernel configuration by scene and target: median with its interval, and the ratio to the
/// default.
pub fn tuning_table(study: &Study) -> Table {
    let texts = ["Scene", "Target", "Configuration", "Finding", "Film"];
    let numbers = [
        "Ratio",
        "Ratio low",
        "Ratio high",
        "Total ms",
        "Low ms",
        "High ms",
        "Trace ms",
        "Shade ms",
        "Queue ms",
        "Group",
        "spp",
        "Rounds",
    ];
    let mut table = Table::new("tune", "Kernel configurations", &texts, &numbers).noted(&in_words());
    table.notes.push(
        "Ratio: total time over that of the target's default, the first row of each; the second is the same timed again \
         (A/A). Best: the least ratio of the exact configurations. Queue: camera rays, film, counters and gaps; a megakernel's \
         parts cannot be told apart. Film: = where film and ray counts are the default's to the bit in every round."
            .to_owned(),
    );
    for row in tuned(study) {
        let label = if row.aa_control {
            format!("{}, again (A/A)", row.configuration)
        } else {
            row.configuration.clone()
        };
        let mut cells = vec![Cell::text(&row.scene), Cell::text(&row.target), Cell::text(label)];
        cells.extend([Cell::text(remark(&row)), film(&row)]);
        let of = |found: Option<MedianInterval>| found.map_or([f64::NAN; 3], |f| [f.median, f.low, f.high]);
        let shown =
            |value: f64, text: String| if value.is_nan() { Cell::empty() } else { Cell::number(value, text) };
        cells.extend(of(row.ratio).map(|r| shown(r, fixed(r, 3))));
        cells.extend(of(row.total).into_iter().chain(row.parts).map(|ms| shown(ms, number(ms))));
        cells.push(row.group.map_or_else(Cell::empty, |group| Cell::count(group.into())));
        cells.push(Cell::count(row.spp.into()));
        cells.push(Cell::count(row.total.map_or(0, |total| total.count as u64)));
        table.rows.push(cells);
    }
    table
}

/// A heading and the configurations under it.
type Factor = (&'static str, fn(&Tuned) -> bool);

/// The kinds of configurations that are columns of [`tuning_best_table`].
const FACTORS: [Factor; 8] = [
    ("Wavefront", |row| row.in_grid && row.scheduling == "wavefront"),
    ("Persistent", |row| row.in_grid && row.scheduling == "wavefront/persistent"),
    ("One item a ray", |row| row.in_grid && row.scheduling == "wavefront/per-ray"),
    ("No compaction", |row| row.in_grid && row.scheduling == "no-compaction"),
    ("Megakernel", |row| row.in_grid && row.scheduling.starts_with("megakernel")),
    ("Scanlines", |row| row.configuration.contains("/scanline")),
    ("Octants", |row| row.configuration.contains("/octants")),
    ("Fast", |row| row.mode == Mode::Fast),
];

/// The best configuration of every target on every scene, and the best of every kind.
pub fn tuning_best_table(study: &Study) -> Table {
    let numbers: Vec<&str> =
        ["Default ms", "Best"].into_iter().chain(FACTORS.map(|(name, _)| name)).collect();
    let mut table = Table::new(
        "tune-best",
        "The best kernel configurations",
        &["Scene", "Target", "Configuration"],
        &numbers,
    );
    table.notes.push(
        "Ratios of time to the target's default, below 1 faster. Of each kind the best size of a work-group counts; the \
         intervals are in the table of all configurations."
            .to_owned(),
    );
    let all = tuned(study);
    let mut groups = Vec::new();
    all.iter().for_each(|row| push_new(&mut groups, (row.scene.as_str(), &row.target)));
    for (scene, target) in groups {
        let own = || {
            all.iter().filter(|row| (row.scene.as_str(), &row.target) == (scene, target) && !row.aa_control)
        };
        let best = own().find(|row| row.best);
        let default = own().find(|row| row.default).and_then(|row| row.total);
        let ratio = |r: f64| Cell::number(r, fixed(r, 3));
        let mut cells = vec![Cell::text(scene), Cell::text(target)];
        cells.push(best.map_or_else(Cell::empty, |row| Cell::text(&row.configuration)));
        cells.push(default.map_or_else(Cell::empty, |t| Cell::number(t.median, number(t.median))));
        cells.push(best.and_then(Tuned::relative).map_or_else(Cell::empty, ratio));
        cells.extend(FACTORS.map(|(_, is)| {
            let least = own()
                .filter(|row| is(row) && !row.is_bug())
                .filter_map(Tuned::relative)
                .min_by(f64::total_cmp);
            least.map_or_else(Cell::empty, ratio)
        }));
        table.rows.push(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::tests::study;

    #[test]
    fn every_configuration_has_a_row_with_its_finding() {
        let configurations = [
            ("wavefront", 10.0, true),
            ("wavefront/group=64", 8.0, true),
            ("no-compaction", 12.0, false),
            ("megakernel", 15.0, true),
            ("wavefront/fast", 9.0, false),
        ];
        let study = study(&configurations, 6);
        let mut table = tuning_table(&study);
        // Scene and target are the same throughout, and the ends of intervals are proved where the rule is.
        let kept = |i: &usize| ![0, 1, 6, 7, 9, 10].contains(i);
        let keep = |row: Vec<Cell>| {
            row.into_iter().enumerate().filter(|(i, _)| kept(i)).map(|(_, cell)| cell).collect()
        };
        table.rows = table.rows.into_iter().map(keep).collect();
        table.columns =
            table.columns.into_iter().enumerate().filter(|(i, _)| kept(i)).map(|(_, c)| c).collect();
        insta::assert_snapshot!(table.to_markdown(), @r"
        | Configuration | Finding | Film | Ratio | Total ms | Trace ms | Shade ms | Queue ms | Group | spp | Rounds |
        | :--- | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | wavefront | the default | = |  | 10.02 | 5.000 | 3.000 | 2.000 | 128 | 4 | 6 |
        | wavefront, again (A/A) | the floor | = | 1.002 | 10.05 | 5.010 | 3.006 | 2.004 | 128 | 4 | 6 |
        | wavefront/group=64 | faster, best | = | 0.800 | 8.020 | 4.000 | 2.400 | 1.600 | 64 | 4 | 6 |
        | no-compaction | BUG: its film is not the default's | ≠ | 1.200 | 12.03 | 6.000 | 3.600 | 2.400 | 128 | 4 | 6 |
        | megakernel | slower | = | 1.500 | 15.04 |  |  |  | 128 | 4 | 6 |
        | wavefront/fast | faster | ≠ | 0.900 | 9.023 | 4.500 | 2.700 | 1.800 | 128 | 4 | 6 |
        ");
        insta::assert_snapshot!(tuning_best_table(&study).to_markdown(), @r"
        | Scene | Target | Configuration | Default ms | Best | Wavefront | Persistent | One item a ray | No compaction | Megakernel | Scanlines | Octants | Fast |
        | :--- | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        | cornell | gpu | wavefront/group=64 | 10.02 | 0.800 | 0.800 |  |  |  | 1.500 |  |  | 0.900 |
        ");
    }
}
