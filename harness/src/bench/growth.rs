//! Growth of a camera ray's time with the triangles of a scene.
//!
//! The traversal of a BVH visits a number of nodes that grows with the logarithm of the triangles. The time
//! of a visit grows too, in steps, as the BVH outgrows one cache after the other. The criterion leaves room
//! for that, and for no power of the triangles beyond about the sixth root: see [`Growth::allowed`].

use lockstep_core::Query;
use lockstep_reports::plots::{LinePlot, PlotError, Series, SeriesKind, XAxis, YScale, draw_lines};
use serde::Serialize;

use super::measure::Row;
use super::rays::Kind;
use crate::terminal;

/// How much more a ray may take, for every tenfold of the triangles, than their logarithm says.
const CACHES: f64 = 1.25;

/// Scenes of one family that a statement about growth needs.
const LEAST_SCENES: usize = 3;

/// A target's camera rays in scenes of one family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Growth {
    /// The common part of the scenes' names.
    pub(crate) family: String,
    pub(crate) target: String,
    /// Whether times are processor time, which a busy machine does not change, instead of the device's time.
    pub(crate) per_core: bool,
    /// Triangles of each scene, ascending, and nanoseconds a ray.
    pub(crate) points: Vec<(u64, f64)>,
    /// Least squares: nanoseconds at one triangle and for every tenfold.
    pub(crate) fit: [f64; 2],
    /// How many times as long a ray takes for every tenfold of the triangles, first to last.
    pub(crate) per_decade: f64,
    /// The greatest `per_decade` that counts as logarithmic growth.
    pub(crate) allowed: f64,
    /// Whether `per_decade` is at most `allowed`.
    pub(crate) logarithmic: bool,
}

/// `atrium` of `atrium-10k`; the whole of a name that has no size.
fn family(scene: &str) -> &str {
    let is_size = |word: &str| {
        let number = word.strip_suffix(['k', 'm']).unwrap_or(word);
        number.parse::<f64>().is_ok_and(f64::is_finite)
    };
    scene.rsplit_once('-').filter(|(_, size)| is_size(size)).map_or(scene, |(family, _)| family)
}

/// The growth of every family of which enough scenes were measured, on every target.
pub(crate) fn of(rows: &[Row]) -> Vec<Growth> {
    let most_rays = rows.iter().map(|row| row.rays).max().unwrap_or(0);
    let is_camera = |row: &&Row| row.kind == Kind::Camera && row.query == Query::Closest;
    let rows: Vec<&Row> = rows.iter().filter(is_camera).filter(|row| row.rays == most_rays).collect();
    let mut found: Vec<(&str, &str)> = Vec::new();
    for row in &rows {
        let key = (family(&row.scene), row.target.as_str());
        if !found.contains(&key) {
            found.push(key);
        }
    }
    let of_key = |(name, target)| {
        let alike = rows.iter().filter(|row| family(&row.scene) == name && row.target == target);
        let per_core = alike.clone().all(|row| row.mrays_per_core.is_some());
        let ns = |row: &Row| 1e3 / row.mrays_per_core.filter(|_| per_core).unwrap_or(row.mrays);
        Growth::new(name, target, per_core, alike.map(|row| (row.triangles, ns(row))).collect())
    };
    found.into_iter().filter_map(of_key).collect()
}

impl Growth {
    fn new(family: &str, target: &str, per_core: bool, mut points: Vec<(u64, f64)>) -> Option<Self> {
        points.sort_by_key(|point| point.0);
        points.dedup_by_key(|point| point.0);
        let (&(least, fastest), &(most, slowest)) = (points.first()?, points.last()?);
        if points.len() < LEAST_SCENES || least < 2 {
            return None;
        }
        let decades = (most as f64 / least as f64).log10();
        let allowed = Self::allowed(least, most);
        let per_decade = (slowest / fastest).powf(1.0 / decades);
        Some(Self {
            family: family.to_owned(),
            target: target.to_owned(),
            per_core,
            fit: least_squares(&points),
            per_decade,
            allowed,
            logarithmic: per_decade <= allowed,
            points,
        })
    }

    /// How many times as long a ray may take for every tenfold of the triangles: the ratio of their
    /// logarithms, times [`CACHES`].
    fn allowed(least: u64, most: u64) -> f64 {
        let (least, most) = ((least as f64).log10(), (most as f64).log10());
        CACHES * (most / least).powf(1.0 / (most - least))
    }

    /// Nanoseconds a ray takes with the fewest triangles.
    fn fastest(&self) -> f64 {
        self.points.first().map_or(f64::NAN, |point| point.1)
    }

    fn label(&self) -> String {
        if self.per_core { format!("{} (per core)", self.target) } else { self.target.clone() }
    }
}

/// The line through values over the decimal logarithm of the triangles: value at one triangle, and its
/// growth.
fn least_squares(points: &[(u64, f64)]) -> [f64; 2] {
    let n = points.len() as f64;
    let x = |point: &(u64, f64)| (point.0 as f64).log10();
    let mean_x = points.iter().map(x).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let covariance: f64 = points.iter().map(|p| (x(p) - mean_x) * (p.1 - mean_y)).sum();
    let variance: f64 = points.iter().map(|p| (x(p) - mean_x) * (x(p) - mean_x)).sum();
    let slope = covariance / variance;
    [mean_y - slope * mean_x, slope]
}

/// A Markdown table for a terminal of this width, with the criterion below it; empty where there is nothing to say.
pub(crate) fn table(all: &[Growth], width: Option<usize>) -> String {
    let mut triangles: Vec<u64> = all.iter().flat_map(|g| &g.points).map(|point| point.0).collect();
    triangles.sort_unstable();
    triangles.dedup();
    if triangles.is_empty() {
        return String::new();
    }
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let counts: Vec<String> = triangles.iter().map(u64::to_string).collect();
    let mut header = words(&["ns a ray", "of"]);
    header.extend(counts.iter().cloned());
    header.extend(words(&["fit", "per decade", "allowed", "verdict"]));
    let mut cells = vec![header];
    for g in all {
        let mut row = vec![g.family.clone(), g.label()];
        row.extend(triangles.iter().map(|&n| {
            let point = g.points.iter().find(|point| point.0 == n);
            point.map_or_else(String::new, |point| figures(point.1))
        }));
        let sign = if g.fit[1] < 0.0 { '-' } else { '+' };
        row.push(format!("{} {sign} {} log n", figures(g.fit[0]), figures(g.fit[1].abs())));
        row.push(format!("{:.2}", g.per_decade));
        row.push(format!("{:.2}", g.allowed));
        let verdict = if g.logarithmic { "no worse than logarithmic" } else { "worse than logarithmic" };
        row.push(verdict.to_owned());
        cells.push(row);
    }
    // The numbers of triangles between the first and the last say least beside the fit
    let between = counts.get(1..counts.len() - 1).unwrap_or_default().iter().map(String::as_str);
    let ends = counts.first().into_iter().chain(counts.last()).map(String::as_str);
    let least: Vec<&str> =
        ["fit", "allowed"].into_iter().chain(between).chain(ends).chain(["per decade"]).collect();
    format!(
        "{}\nTimes are those of camera rays. Per decade: how many times as long a ray takes for every tenfold of the triangles, first scene to last. \
         Allowed: the ratio of their logarithms, times {CACHES} for caches that the BVH outgrows. Log: decimal.\n",
        terminal::table(&cells, &least, width)
    )
}

/// A number with three figures, as far as three places after the point give them.
fn figures(value: f64) -> String {
    let places = (2.0 - value.abs().log10().floor()).clamp(0.0, 3.0) as usize;
    format!("{value:.places$}")
}

/// A plot of each family: its name and the drawing. Times are over those with the fewest triangles, so that
/// targets of which one is a thousand times as fast can be compared.
///
/// # Errors
/// [`PlotError`] of the drawing library.
pub(crate) fn plots(all: &[Growth]) -> Result<Vec<(String, String)>, PlotError> {
    let mut families: Vec<&str> = all.iter().map(|g| g.family.as_str()).collect();
    families.dedup();
    families.into_iter().map(|family| Ok((family.to_owned(), draw_lines(&plot(all, family))?))).collect()
}

fn plot(all: &[Growth], family: &str) -> LinePlot {
    let alike = || all.iter().filter(|g| g.family == family);
    let at = |n: u64| n as f64;
    let measured = alike().enumerate().map(|(i, g)| Series {
        label: g.label(),
        kind: SeriesKind::Target(i),
        points: g.points.iter().map(|&(n, ns)| (at(n), ns / g.fastest())).collect(),
    });
    // One name for all the lines that are fitted.
    let fitted = alike().enumerate().map(|(i, g)| {
        let ends = [g.points.first(), g.points.last()].into_iter().flatten();
        Series {
            label: if i == 0 { "a + b log n".to_owned() } else { String::new() },
            kind: SeriesKind::Guide,
            points: ends
                .map(|&(n, _)| (at(n), (g.fit[0] + g.fit[1] * at(n).log10()) / g.fastest()))
                .collect(),
        }
    });
    let series: Vec<Series> = measured.chain(fitted).collect();
    let within = |n: &f64| alike().flat_map(|g| &g.points).any(|p| at(p.0) <= 1.1 * n && at(p.0) >= 0.9 * n);
    let ticks = (0..12).flat_map(|power| [1.0, 3.0].map(|f| f * 10f64.powi(power))).filter(within).collect();
    LinePlot {
        title: format!("{family}: growth of a camera ray's time"),
        x: XAxis {
            label: "triangles".to_owned(),
            unit: "triangles".to_owned(),
            log: true,
            ticks,
            names: Vec::new(),
        },
        y_label: "time over that with the fewest triangles".to_owned(),
        y: YScale::FromZero,
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(time: impl Fn(f64) -> f64) -> Growth {
        let sizes = [10_000, 100_000, 1_000_000, 10_000_000];
        Growth::new("f", "t", false, sizes.map(|n| (n, time(n as f64))).to_vec()).unwrap()
    }

    #[test]
    fn families_are_names_without_a_size() {
        let names = ["atrium-10k", "atrium-1.5m", "atrium", "sponza-wide", "hall-12"];
        assert_eq!(names.map(family), ["atrium", "atrium", "atrium", "sponza-wide", "hall"]);
    }

    #[test]
    fn logarithms_and_caches_pass_and_powers_do_not() {
        let log = growth(|n| 5.0 + 7.0 * n.log10());
        assert!(log.logarithmic);
        assert!((log.fit[0] - 5.0).abs() < 1e-9 && (log.fit[1] - 7.0).abs() < 1e-9);
        // The last two BVHs are in memory, where a visit takes half as long again.
        assert!(growth(|n| n.log10() * if n < 5e5 { 1.0 } else { 1.5 }).logarithmic);
        assert!(growth(|_| 20.0).logarithmic);
        assert!(!growth(|n| n.powf(0.2)).logarithmic);
        assert!(!growth(f64::sqrt).logarithmic);
        assert!(!growth(|n| n.log10().powi(3)).logarithmic);
    }

    #[test]
    fn numbers_have_three_figures() {
        let shown = [0.1544, 2.4, 45.67, 391.3, 1234.5, -0.25, 0.0].map(figures);
        assert_eq!(shown, ["0.154", "2.40", "45.7", "391", "1234", "-0.250", "0.000"]);
    }

    #[test]
    fn two_scenes_say_nothing() {
        assert_eq!(Growth::new("f", "t", true, vec![(10, 1.0), (20, 2.0)]), None);
        assert_eq!(Growth::new("f", "t", true, vec![(10, 1.0), (20, 2.0), (20, 2.0)]), None);
        assert_eq!(table(&[], None), "");
    }

    #[test]
    fn a_plot_shows_every_target_with_its_fit() {
        let all = [growth(|n| 5.0 + n.log10()), Growth { target: "u".into(), ..growth(|n| 2.0 * n.log10()) }];
        let shown = plot(&all, "f");
        assert_eq!(
            (shown.series.len(), shown.series[0].points.len(), shown.series[2].points.len()),
            (4, 4, 2)
        );
        // 5 + log n is 9 of the first scene and 12 of the last.
        assert!((shown.series[2].points[1].1 - 12.0 / 9.0).abs() < 1e-9);
        assert!(shown.series[..2].iter().all(|series| series.points[0].1 == 1.0));
        assert_eq!(shown.x.ticks, [1e4, 1e5, 1e6, 1e7]);
        assert_eq!(plots(&all).unwrap().len(), 1);
        assert!(table(&all, None).contains("no worse than logarithmic"));
    }

    #[test]
    fn a_table_fits_narrow_terminals_and_keeps_its_verdict() {
        let of = |family: &str| {
            let named =
                |target: &str, growth| Growth { family: family.into(), target: target.into(), ..growth };
            [named("cpu-bvh", growth(|n| 5.0 + n.log10())), named("opencl@intel", growth(f64::sqrt))]
        };
        let all = ["atrium", "clay"].map(of).concat();
        for width in [80, 60] {
            let text = table(&all, Some(width));
            let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
            assert!(rows.len() == 6 && rows.iter().all(|row| row.chars().count() <= width), "{text}");
            assert!(rows[2..].iter().all(|row| row.contains("worse than logarithmic")), "{text}");
            assert!(text.contains("Left out for want of width: "), "{text}");
        }
    }
}
