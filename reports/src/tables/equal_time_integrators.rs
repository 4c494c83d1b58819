//! Errors of integrators side by side, after equal time on one target or set of targets.

use super::{Cell, Column, Table};
use crate::format::{fixed, number};
use crate::records::{EqualTime, TargetId};
use crate::reference_share::ReferenceShare;
use crate::study::{Study, push_new};
use lockstep_core::Integrator;

/// The errors of all integrators of one target after one time.
#[derive(Debug, Clone, PartialEq)]
pub struct IntegratorErrors<'a> {
    /// Scene name.
    pub scene: &'a str,
    /// The target without its integrator.
    pub renderer: TargetId,
    /// The time given, in seconds.
    pub seconds: f64,
    /// The measurements, by integrators in the order of the study.
    pub by_integrator: Vec<(Integrator, &'a EqualTime)>,
}

impl IntegratorErrors<'_> {
    /// The measurement of an integrator.
    fn of(&self, integrator: Integrator) -> Option<&EqualTime> {
        self.by_integrator.iter().find(|(name, _)| *name == integrator).map(|(_, e)| *e)
    }

    /// The linear RMSE of an integrator, where it was measured and is a number.
    pub fn rmse(&self, integrator: Integrator) -> Option<f64> {
        self.of(integrator)?.float.map(|m| m.rmse_linear).filter(|rmse| rmse.is_finite())
    }

    /// The linear RMSE of an integrator in words, with its interval.
    fn rmse_text(&self, integrator: Integrator, rmse: f64) -> String {
        let interval = self.of(integrator).and_then(|e| e.rmse_linear_interval);
        let interval = interval.map(|[low, high]| format!(" ({} to {})", number(low), number(high)));
        format!("{}{}", number(rmse), interval.unwrap_or_default())
    }

    /// The integrator with the least error, and the next-best integrator's error over it; nothing for fewer than two
    /// errors.
    pub fn least(&self) -> Option<(Integrator, f64)> {
        let errors = self.by_integrator.iter().filter_map(|(name, _)| Some((*name, self.rmse(*name)?)));
        let mut errors: Vec<(Integrator, f64)> = errors.collect();
        errors.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [(best, least), (_, next), ..] = errors.as_slice() else { return None };
        Some((*best, next / least))
    }

    /// The share of an integrator's squared error that is the reference's own, in words.
    fn reference_share(&self, study: &Study, integrator: Integrator) -> String {
        let share = self.of(integrator).map(|e| ReferenceShare::of(study, e));
        share.map_or_else(String::new, |share| {
            let hides = if share.is_most() { ", hides differences" } else { "" };
            format!("{}{hides}", share.text())
        })
    }
}

/// The integrators that were measured after equal time, in the order of the study.
pub(crate) fn integrators(study: &Study) -> Vec<Integrator> {
    let mut found = Vec::new();
    let named = study.targets().into_iter().filter_map(|target| target.integrator);
    let is_timed =
        |integrator: &Integrator| study.equal_times.iter().any(|e| e.target.integrator == Some(*integrator));
    named.filter(is_timed).for_each(|integrator| push_new(&mut found, integrator));
    found
}

/// The errors of every scene, target and time that two integrators or more were measured after.
pub fn integrator_errors(study: &Study) -> Vec<IntegratorErrors<'_>> {
    let order = integrators(study);
    let mut points: Vec<(&str, TargetId, f64)> = Vec::new();
    for e in &study.equal_times {
        let renderer = e.target.renderer();
        push_new(&mut points, (e.scene.as_str(), renderer, e.seconds));
    }
    let of_point = |(scene, renderer, seconds): (&'_ str, TargetId, f64)| {
        let own = |integrator: &Integrator| {
            let target = renderer.by(*integrator);
            let is_own =
                |e: &&EqualTime| (e.scene.as_str(), &e.target, e.seconds) == (scene, &target, seconds);
            study.equal_times.iter().find(is_own).map(|e| (*integrator, e))
        };
        let by_integrator: Vec<_> = order.iter().filter_map(own).collect();
        let scene = by_integrator.first()?.1.scene.as_str();
        (by_integrator.len() > 1).then_some(IntegratorErrors { scene, renderer, seconds, by_integrator })
    };
    points.into_iter().filter_map(of_point).collect()
}

/// Linear RMSE of every integrator by scene, target and time; no rows where no two were measured.
pub fn equal_time_integrators_table(study: &Study) -> Table {
    let order = integrators(study);
    let names: Vec<String> = order.iter().map(|integrator| format!("RMSE {integrator}")).collect();
    let numbers: Vec<&str> = std::iter::once("Given s").chain(names.iter().map(String::as_str)).collect();
    let title = "Integrators after equal time";
    let mut table = Table::new("equal-time-integrators", title, &["Scene", "Target"], &numbers).noted(
        "Root of the mean squared error of linear radiance against the scene's reference, after the same time on the same \
         target or set of targets; in parentheses the 95 % interval by blocks of 4 by 4 pixels. Least: the integrator with the least error, and the next one's error over its own. \
         Reference: the share of the least squared error that is the reference's own, as in the table of errors after equal time; \
         where it is most, the others differ by more than they seem to.",
    );
    for title in ["Least", "Reference"] {
        table.columns.push(Column { title: title.to_owned(), numeric: false });
    }
    for row in integrator_errors(study) {
        let mut cells = vec![Cell::text(row.scene), Cell::text(&row.renderer)];
        cells.push(Cell::number(row.seconds, row.seconds.to_string()));
        cells.extend(order.iter().map(|&integrator| {
            row.rmse(integrator)
                .map_or_else(Cell::empty, |rmse| Cell::number(rmse, row.rmse_text(integrator, rmse)))
        }));
        cells.push(row.least().map_or_else(Cell::empty, |(best, times)| {
            Cell::text(format!("{best}, next {}×", fixed(times, 2)))
        }));
        cells.push(
            row.least().map_or_else(Cell::empty, |(best, _)| Cell::text(row.reference_share(study, best))),
        );
        table.rows.push(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{FloatMetrics, Metrics};
    use crate::records::Environment;

    #[test]
    fn a_row_has_the_errors_of_all_integrators_of_a_target_and_names_the_least() {
        let point = |target: &str, rmse_linear: f64| {
            let rmse_linear_interval = (rmse_linear > 0.2).then_some([0.28, 0.32]);
            let float = Some(FloatMetrics { rmse_linear, ..Metrics::EQUAL.float });
            let (scene, target) = ("s".into(), target.into());
            let against = "cpu-bvh+vcm, 10 spp, seed 7".into();
            let (spp, seconds) = (90, 10.0);
            EqualTime {
                scene,
                target,
                against,
                spp,
                seconds,
                float,
                rmse_linear_interval,
                ..Default::default()
            }
            .into()
        };
        let records = vec![
            point("cpu-bvh+path", 0.3),
            point("cpu-bvh+vcm", 0.1),
            point("together(a,b)+path", 0.2),
            point("together(a,b)+vcm", f64::NAN),
            point("cuda@0+path", 0.1),
            point("alone", 0.2),
        ];
        let study = Study::from_records(records, Environment::default());
        let table = equal_time_integrators_table(&study);
        let titles: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
        assert_eq!(titles, ["Scene", "Target", "Given s", "RMSE path", "RMSE vcm", "Least", "Reference"]);
        let rows: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(
            rows[0],
            [
                "s",
                "cpu-bvh",
                "10",
                "0.3000 (0.2800 to 0.3200)",
                "0.1000",
                "vcm, next 3.00×",
                "90.0 %, hides differences"
            ]
        );
        assert_eq!((rows.len(), rows[1][4], rows[1][5]), (2, "", ""));
    }
}
