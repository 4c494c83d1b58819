//! Targets beside other tracers on the same rays.

use super::measure::Row;
use super::rates::{Rate, Rates};
use super::rays::Kind;
use crate::terminal;
use lockstep_core::Query;
use serde::Serialize;
use std::path::PathBuf;

/// At most one ray in this many may hit by one tracer's rounding and miss by another's: rays that graze an edge, or end where they
/// meet a surface. Of 589,824 rays of each kind in `cornell` and `sponza-wide` at most 2 did between any two of tinybvh's
/// layouts, Embree and ours (`reports/checks/traversal`); scenes of finer triangles have more edges, and a tracer that
/// leaves out a part of the scene, or surfaces of one side, differs by far more.
const GRAZING: usize = 10_000;

/// The best variant of a tracer on a query of a set of rays.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Best {
    #[serde(flatten)]
    pub(crate) rate: Rate,
    /// Variants in the file.
    pub(crate) variants: usize,
    /// Hits of the tracer minus hits of the targets; `None` where they differ by no more than rounding or are not known.
    pub(crate) hits_differing: Option<i64>,
}

/// The speed of a target over that of a tracer's best variant, on one query of one set of rays.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Ratio {
    pub(crate) scene: String,
    pub(crate) kind: Kind,
    pub(crate) query: Query,
    pub(crate) rays: usize,
    pub(crate) rays_hash: String,
    pub(crate) target: String,
    pub(crate) tracer: String,
    /// The target's rate over the tracer's, by processor time where both have it.
    pub(crate) ratio: f64,
}

/// The mean speed of a target over that of a tracer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Mean {
    pub(crate) target: String,
    pub(crate) tracer: String,
    /// The rays and their query; `None` for all.
    pub(crate) of: Option<(Kind, Query)>,
    /// Sets of rays.
    pub(crate) sets: usize,
    /// The geometric mean.
    pub(crate) mean: f64,
    pub(crate) least: f64,
}

/// Targets beside the tracers of a file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    pub(crate) file: PathBuf,
    pub(crate) best: Vec<Best>,
    pub(crate) ratios: Vec<Ratio>,
    pub(crate) means: Vec<Mean>,
}

impl Comparison {
    /// Compares the measurements with the tracers of the file.
    pub(crate) fn new(rows: &[Row], rates: &Rates) -> Self {
        let (mut best, mut ratios): (Vec<Best>, Vec<Ratio>) = (Vec::new(), Vec::new());
        for ours in rows.chunk_by(Row::is_same_work) {
            let Some(first) = ours.iter().find(|row| row.exact).or(ours.first()) else { continue };
            let found = best_of_tracers(rates, first);
            ratios.extend(ours.iter().flat_map(|row| found.iter().map(|best| Ratio::new(row, &best.rate))));
            best.extend(found);
        }
        let means = means(&ratios);
        Self { file: rates.path.clone(), best, ratios, means }
    }

    /// Names of tracers, in the file's order.
    pub(crate) fn tracers(&self) -> Vec<&str> {
        let mut tracers: Vec<&str> = Vec::new();
        for best in &self.best {
            if !tracers.contains(&best.rate.tracer.as_str()) {
                tracers.push(&best.rate.tracer);
            }
        }
        tracers
    }

    /// The speed of a target over that of a tracer on the row's rays and query.
    pub(crate) fn ratio(&self, row: &Row, tracer: &str) -> Option<f64> {
        let work = (row.scene.as_str(), row.query, row.rays_hash.as_str(), row.target.as_str());
        let is_meant = |ratio: &&Ratio| {
            (ratio.scene.as_str(), ratio.query, ratio.rays_hash.as_str(), ratio.target.as_str()) == work
                && ratio.tracer == tracer
        };
        self.ratios.iter().find(is_meant).map(|ratio| ratio.ratio)
    }

    /// A sentence for every tracer whose hits are not those of the targets.
    pub(crate) fn differences(&self) -> impl Iterator<Item = String> {
        self.best.iter().filter_map(|best| {
            let Rate { tracer, variant, scene, kind, rays, .. } = &best.rate;
            let (by, kind) = (best.hits_differing?, kind.name());
            let (number, than) = (by.unsigned_abs(), if by > 0 { "more" } else { "fewer" });
            Some(format!(
                "{number} {than} of {rays} {kind} rays of {scene} hit with {tracer} ({variant}) than with ours, which is \
                 beyond rounding: it may trace another scene"
            ))
        })
    }
}

/// The best variant of every tracer: the fastest of those that hit as `ours` does, where there are such.
fn best_of_tracers(rates: &Rates, ours: &Row) -> Vec<Best> {
    let of_set: Vec<&Rate> = rates.of(&ours.scene, ours.query, &ours.rays_hash).collect();
    let mut tracers: Vec<&str> = Vec::new();
    for rate in &of_set {
        if !tracers.contains(&rate.tracer.as_str()) {
            tracers.push(&rate.tracer);
        }
    }
    let best_of = |tracer: &str| {
        let variants: Vec<&Rate> = of_set.iter().copied().filter(|rate| rate.tracer == tracer).collect();
        let per_core = variants.iter().all(|rate| rate.mrays_per_core.is_some());
        let speed = |rate: &Rate| rate.mrays_per_core.filter(|_| per_core).unwrap_or(rate.mrays);
        let merit = |rate: &&Rate| (hits_differing(rate, ours).is_none(), speed(rate));
        let rate = variants.iter().copied().max_by(|a, b| {
            let (a, b) = (merit(a), merit(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })?;
        let hits_differing = hits_differing(rate, ours);
        Some(Best { rate: rate.clone(), variants: variants.len(), hits_differing })
    };
    tracers.into_iter().filter_map(best_of).collect()
}

/// How many more rays hit there than here, where that is more than rounding.
fn hits_differing(rate: &Rate, ours: &Row) -> Option<i64> {
    let signed = |hits: usize| i64::try_from(hits).unwrap_or(i64::MAX);
    let difference = signed(rate.hits?) - signed(ours.hits);
    (difference.unsigned_abs() as usize > ours.rays.div_ceil(GRAZING)).then_some(difference)
}

impl Ratio {
    fn new(row: &Row, rate: &Rate) -> Self {
        Self {
            scene: row.scene.clone(),
            kind: row.kind,
            query: row.query,
            rays: row.rays,
            rays_hash: row.rays_hash.clone(),
            target: row.target.clone(),
            tracer: rate.tracer.clone(),
            ratio: row.over(rate.mrays, rate.mrays_per_core),
        }
    }
}

/// Means of every target over every tracer, by rays and query where there are several, and over all.
fn means(ratios: &[Ratio]) -> Vec<Mean> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for ratio in ratios {
        let pair = (ratio.target.as_str(), ratio.tracer.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let mut means = Vec::new();
    for (target, tracer) in pairs {
        let of_pair = || ratios.iter().filter(|ratio| ratio.target == target && ratio.tracer == tracer);
        let mean = |of: Option<(Kind, Query)>| {
            let is_meant = |ratio: &&Ratio| of.is_none_or(|of| of == (ratio.kind, ratio.query));
            let values: Vec<f64> = of_pair().filter(is_meant).map(|ratio| ratio.ratio).collect();
            let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
            (!values.is_empty()).then(|| Mean {
                target: target.to_owned(),
                tracer: tracer.to_owned(),
                of,
                sets: values.len(),
                mean: (logarithms / values.len() as f64).exp(),
                least: values.iter().copied().fold(f64::INFINITY, f64::min),
            })
        };
        means.extend(Kind::QUERIES.into_iter().filter_map(|of| mean(Some(of))));
        means.extend(mean(None));
    }
    means
}

/// A Markdown table of means for a terminal of this width; none without means.
pub(crate) fn table(means: &[Mean], width: Option<usize>) -> String {
    if means.is_empty() {
        return String::new();
    }
    let mut cells = vec![["target", "over", "rays", "sets", "geometric mean", "least"].map(str::to_owned)];
    for mean in means {
        let rays = match mean.of {
            None => "all".to_owned(),
            Some((kind, Query::Any)) => format!("{}, any hit", kind.name()),
            Some((kind, Query::Closest)) => format!("{}, closest hit", kind.name()),
        };
        let ratio = |value: f64| format!("{value:.2}");
        let sets = mean.sets.to_string();
        cells.push([
            mean.target.clone(),
            mean.tracer.clone(),
            rays,
            sets,
            ratio(mean.mean),
            ratio(mean.least),
        ]);
    }
    terminal::table(&cells, &["least", "sets"], width)
}

#[cfg(test)]
mod tests {
    use super::super::rates::RatesError;
    use super::super::rays::RaySet;
    use super::super::text;
    use super::*;
    use std::path::Path;

    fn row(scene: &str, target: &str, mrays: f64) -> Row {
        Row {
            scene: scene.into(),
            triangles: 1,
            kind: Kind::Diffuse,
            query: Query::Closest,
            rays: 100_000,
            rays_hash: "00".into(),
            target: target.into(),
            layout: "BVH8".into(),
            mrays,
            quartiles: [mrays; 2],
            mrays_per_core: None,
            passes: 3,
            hits: 60_000,
            hits_hash: String::new(),
            exact: true,
            differing: None,
            clocks: String::new(),
        }
    }

    fn rates(rows: &[(&str, &str, f64, usize)]) -> Rates {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.json");
        let rows = rows.iter().map(|(scene, variant, mrays, hits)| {
            serde_json::json!({
                "tracer": "other", "variant": variant, "scene": scene, "kind": "diffuse", "query": "closest",
                "rays": 100_000, "rays_hash": "00", "mrays": mrays, "hits": hits, "mrays_per_core": null,
            })
        });
        let document = serde_json::json!({ "rows": rows.collect::<Vec<_>>() });
        std::fs::write(&path, document.to_string()).unwrap();
        Rates::read(&path, "").unwrap()
    }

    #[test]
    fn targets_are_divided_by_the_best_variant_and_means_are_geometric() {
        let ours = [row("a", "cpu-bvh", 8.0), row("a", "cuda", 4.0), row("b", "cpu-bvh", 1.0)];
        let rates =
            rates(&[("a", "slow", 1.0, 60_000), ("a", "fast", 2.0, 60_010), ("b", "fast", 1.0, 60_000)]);
        let comparison = Comparison::new(&ours, &rates);
        let ratios: Vec<f64> = comparison.ratios.iter().map(|ratio| ratio.ratio).collect();
        assert_eq!(ratios, [4.0, 2.0, 1.0]);
        let all =
            |target| comparison.means.iter().find(|mean| mean.target == target && mean.of.is_none()).unwrap();
        assert!((all("cpu-bvh").mean - 2.0).abs() < 1e-12, "of 4 and 1");
        assert_eq!((all("cpu-bvh").sets, all("cpu-bvh").least, all("cuda").mean), (2, 1.0, 2.0));
        let text = text::table(&ours, &text::Yardstick::Tracers(&comparison), None);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("of other") && lines[2].contains("| 4.00"), "{text}");
        assert!(lines[4].contains("other") && lines[4].contains("fast"), "a row of the tracer: {text}");
        assert!(table(&comparison.means, None).contains("diffuse, closest hit"));
    }

    #[test]
    fn a_variant_that_hits_otherwise_counts_only_where_none_hits_alike_and_is_shown() {
        let ours = [row("a", "cpu-bvh", 8.0), row("b", "cpu-bvh", 8.0)];
        let rates =
            rates(&[("a", "wrong", 9.0, 60_011), ("a", "right", 2.0, 59_990), ("b", "wrong", 4.0, 0)]);
        let comparison = Comparison::new(&ours, &rates);
        assert_eq!(comparison.best[0].rate.variant, "right");
        assert_eq!(comparison.best[0].hits_differing, None);
        assert_eq!(comparison.best[1].hits_differing, Some(-60_000));
        let differences: Vec<String> = comparison.differences().collect();
        assert!(
            differences[0].contains("60000 fewer of 100000 diffuse rays of b hit with other (wrong)"),
            "{differences:?}"
        );
        let text = text::table(&ours, &text::Yardstick::Tracers(&comparison), None);
        assert!(text.contains("-60000 hits"), "{text}");
    }

    #[test]
    fn processor_time_is_compared_where_both_have_it() {
        let ours = [Row { mrays_per_core: Some(3.0), ..row("a", "cpu-bvh", 8.0) }];
        let mut rate = rates(&[("a", "", 4.0, 60_000)]).of("a", Query::Closest, "00").next().unwrap().clone();
        assert_eq!(Ratio::new(&ours[0], &rate).ratio, 2.0);
        rate.mrays_per_core = Some(1.0);
        assert_eq!(Ratio::new(&ours[0], &rate).ratio, 3.0);
    }

    #[test]
    fn files_of_rates_are_survived() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/rates");
        let given = |more: &str| {
            format!(
                "{{\"tracer\": \"t\", \"scene\": \"a\", \"kind\": \"diffuse\", \"query\": \"closest\", \"rays\": 2, \
                 \"rays_hash\": \"00\", \"mrays\": 1.5{more}}}"
            )
        };
        let measured =
            given(", \"quartiles\": [1.4, 1.6], \"mrays_per_core\": 0.7, \"hits\": 1, \"variant\": \"v\"");
        let of_target = given(", \"layout\": \"BVH8\", \"exact\": true").replace("tracer", "target");
        let of_other = given("").replace("00", "11");
        let seeds = [
            format!("{{\"rows\": [{measured}, {of_target}]}}"),
            format!("{{\"rows\": [{}, {of_other}], \"date\": \"today\"}}", given("")),
        ];
        let seeds = seeds.map(String::into_bytes);
        let words = [
            "\"rows\":",
            "\"tracer\":",
            "\"target\":",
            "\"variant\":",
            "\"layout\":",
            "\"mrays\":",
            "\"mrays_per_core\":",
            "\"quartiles\":",
            "\"hits\":",
            "\"rays\":",
            "\"shadow\"",
            "\"any\"",
            "null",
            "[",
            "]",
            "{",
            "}",
            ",",
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.json");
        let rays = vec![lockstep_core::geometry::Ray::default(); 2];
        let sets = [RaySet { kind: Kind::Diffuse, rays, hash: "00".into() }];
        let per_core = Row { mrays_per_core: Some(1.0), ..row("a", "cuda", 2.0) };
        let ours = [row("a", "cpu-bvh", 8.0), per_core];
        let outcome = || {
            let rates = Rates::read(&path, "a target")?;
            rates.check("a", &sets)?;
            let found = Comparison::new(&ours, &rates);
            let differences: Vec<String> = found.differences().collect();
            let rows = text::table(&ours, &text::Yardstick::Tracers(&found), Some(60));
            let means = table(&found.means, Some(60));
            Ok(format!("{differences:?}, {} rows, {} means", rows.lines().count(), means.lines().count()))
        };
        let fuzz = lockstep_fuzz::Fuzz { name: "rates", seeds: &seeds, corpus: &corpus, words: &words };
        let report = fuzz.run_part(4, |bytes| {
            std::fs::write(&path, bytes).unwrap();
            outcome().unwrap_or_else(|error: RatesError| {
                error.to_string().replace(&path.display().to_string(), "")
            })
        });
        assert!(report.outcomes > 1, "{report:?}");
    }
}
