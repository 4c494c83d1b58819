//! The first screen: a matrix of verdicts, scenes by groups of targets, the worst pair, the fall of the error, and
//! the speed of every target.

use crate::format::{count, fixed};
use crate::labels::at_spp;
use crate::plots::spans_decades;
use crate::records::{Difference, TargetId};
use crate::reference::SceneReference;
use crate::statistics::fit_log_log_slope;
use crate::study::Study;
use crate::tables::group_name;
use crate::verdict::{StudyVerdict, VerdictLine, promises};
use maud::{Markup, html};
use std::fmt::Write as _;

/// A row for each scene and a column for each line of the verdict; nothing for a study without comparisons.
pub(super) fn matrix(study: &Study, verdict: &StudyVerdict) -> Markup {
    let compared = |line: &&VerdictLine| study.differences.iter().any(|d| line.is_about(d));
    let lines: Vec<&VerdictLine> = verdict.lines.iter().filter(compared).collect();
    let scenes = scenes(study);
    html! {
        @if !lines.is_empty() && scenes.len() > 1 {
            div.table tabindex="0" role="region" aria-label="Verdicts by scene" {
                table.matrix {
                    thead {
                        tr {
                            th scope="col" { "Scene" }
                            @for line in &lines {
                                th scope="col" data-of-targets=(list(targets(line))) { (line.subject) }
                            }
                        }
                    }
                    tbody {
                        @for (index, scene) in &scenes {
                            tr data-of-scenes=(list([scene])) {
                                th scope="row" { a href={ "#scene-" (index) } { (scene) } }
                                @for line in &lines {
                                    td data-label=(line.subject) data-of-targets=(list(targets(line))) {
                                        (cells(study, line, scene))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Class and word of a badge: one rule for lists, the matrix and the worst pair. Where identity was promised, a
/// difference within noise is a difference.
pub(super) fn badge(identical: bool, verdict: &str, promised: bool) -> (&'static str, &str) {
    match verdict {
        "broken" | "biased" => ("bad", verdict),
        _ if identical => ("same", "identical"),
        "within noise" if !promised => ("same", "within noise"),
        "" | "within noise" => ("differs", "differs"),
        other => ("differs", other),
    }
}

/// The scenes of a study with their numbers, in its order; of images compared, which come in the order of their names,
/// those with the worst verdict first.
pub(super) fn scenes(study: &Study) -> Vec<(usize, &str)> {
    let mut scenes: Vec<(usize, &str)> = study.scenes().into_iter().enumerate().collect();
    if study.environment.command.get(1).is_some_and(|command| command == "compare") {
        let worst = |scene: &str| study.differences.iter().filter(|d| d.scene == scene).map(rank).max();
        scenes.sort_by_key(|(_, scene)| std::cmp::Reverse(worst(scene)));
    }
    scenes
}

/// Names as the script reads them from an attribute.
pub(super) fn list(names: impl IntoIterator<Item = impl ToString>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    serde_json::Value::from(names).to_string()
}

/// The targets of a line.
pub(super) fn targets(line: &VerdictLine) -> Vec<&TargetId> {
    line.sides.iter().flatten().collect()
}

/// The verdict of a line on a scene over all levels, and that at each level, of which the script shows one.
fn cells(study: &Study, line: &VerdictLine, scene: &str) -> Markup {
    let own: Vec<&Difference> =
        study.differences.iter().filter(|d| d.scene == scene && line.is_about(d)).collect();
    let levels = study.spp_levels();
    html! {
        span data-spp="" { (cell(line, own.iter().copied())) }
        @if levels.len() > 1 {
            @for spp in levels.iter().filter(|spp| **spp > 0) {
                span data-spp=(spp) hidden { (cell(line, own.iter().copied().filter(|d| d.spp == *spp))) }
            }
        }
    }
}

/// The worst verdict on comparisons of a line, with the pixels that differ.
fn cell<'a>(line: &VerdictLine, own: impl Iterator<Item = &'a Difference>) -> Markup {
    let Some(worst) = own.max_by_key(|d| (rank(d), d.pixels_differing)) else {
        return html! { span.badge.skipped { "not compared" } };
    };
    let (class, word) = badge(worst.identical, &worst.verdict, line.promised);
    html! {
        span class={ "badge " (class) } { (word) }
        @if worst.pixels_differing > 0 { span.detail { (count(worst.pixels_differing)) " px" } }
    }
}

fn rank(d: &Difference) -> u32 {
    match d.verdict.as_str() {
        "broken" => 4,
        "biased" => 3,
        "inconclusive" => 2,
        _ => u32::from(!d.identical),
    }
}

/// The pair with the worst verdict and the greatest error, for the script to show from near; nothing where all
/// films are identical.
pub(super) fn worst(study: &Study, verdict: &StudyVerdict) -> Markup {
    let Some((index, d)) = worst_pair(study) else { return Markup::default() };
    let scene = study.scenes().iter().position(|scene| *scene == d.scene).unwrap_or(0);
    let (class, word) = badge(d.identical, &d.verdict, promises(study, d));
    let subject = group_name(study, verdict, d);
    let has_images = study.images.iter().any(|image| image.scene == d.scene);
    html! {
        div.worst data-of-scenes=(list([&d.scene])) data-of-targets=(list([&d.a, &d.b])) data-of-level=(d.spp) data-pair=[has_images.then_some(index)] data-scene={ "scene-" (scene) } {
            h2 { "Worst pair" }
            p {
                (subject) " on " a href={ "#scene-" (scene) } { (d.scene) } (at_spp(d.spp)) ", "
                span class={ "badge " (class) } { (word) } " " (count(d.pixels_differing)) " px differ"
                @if !d.reason.is_empty() { ". " span.detail { (d.reason) } }
            }
            @if !has_images { (without_images(study)) }
        }
    }
}

/// The comparison with the worst verdict, of these with the greatest error.
pub(super) fn worst_pair(study: &Study) -> Option<(usize, &Difference)> {
    let differing = study.differences.iter().enumerate().filter(|(_, d)| !d.identical);
    // Of equals the first.
    differing.rev().max_by(|(_, a), (_, b)| {
        let mse = a.errors.mse_linear.total_cmp(&b.errors.mse_linear);
        rank(a).cmp(&rank(b)).then(mse)
    })
}

/// A note that images are not in the study's folder, as of recorded runs, and how to make them.
pub(super) fn without_images(study: &Study) -> Markup {
    html! {
        p.note {
            "The images of this study are not in its folder."
            @if !study.environment.command.is_empty() {
                " The command under " a href="#repeat" { "To repeat this" } " renders them again."
            }
        }
    }
}

/// Width and height of a curve in units of its view box.
const CURVE: (f64, f64) = (120.0, 28.0);

/// A small curve for each scene: error against the reference over samples per pixel, both logarithmic, of every
/// target, with the slope of the first.
pub(super) fn convergence(study: &Study) -> Markup {
    let rows: Vec<(usize, &str, Curves)> = (study.scenes().into_iter().enumerate())
        .filter_map(|(index, scene)| Some((index, scene, curves(study, scene)?)))
        .collect();
    let limited = |(_, scene, curves): &(usize, &str, Curves)| {
        Some(format!("{scene} {}", count(u64::from(curves.floor?.0))))
    };
    let limited: Vec<String> = rows.iter().filter_map(limited).collect();
    html! {
        @if !rows.is_empty() {
            div.table tabindex="0" role="region" aria-label="Convergence" {
                table.curves {
                    thead {
                        tr {
                            th scope="col" { "Scene" }
                            th scope="col" { "Error over samples" }
                            th.n scope="col" { "Slope" }
                        }
                    }
                    tbody {
                        @for (index, scene, curves) in &rows {
                            tr data-of-scenes=(list([scene])) {
                                th scope="row" { a href={ "#scene-" (index) } { (scene) } }
                                td {
                                    svg viewBox={ "0 0 " (CURVE.0) " " (CURVE.1) } preserveAspectRatio="none" role="img"
                                        aria-label={ "Linear MSE from " (curves.levels.0) " to " (curves.levels.1) " spp" } {
                                        @if let Some((_, y)) = curves.floor {
                                            line.floor x1="2" x2=(CURVE.0 - 2.0) y1=(fixed(y, 1)) y2=(fixed(y, 1)) {}
                                        }
                                        @for points in &curves.lines { polyline points=(points) {} }
                                        @for points in &curves.faint { polyline.faint points=(points) {} }
                                    }
                                }
                                td.n { (curves.slope) }
                            }
                        }
                    }
                }
                @if !limited.is_empty() {
                    p.note {
                        "Dashed: the noise of the reference itself. Faint: levels of more than 1/16 of the reference's samples ("
                        (limited.join(", ")) "), whose errors hold some of it."
                    }
                }
            }
        }
    }
}

/// The curves of a scene.
struct Curves {
    /// Points of each target, in units of the view box.
    lines: Vec<String>,
    /// The points in which the reference's own noise shows.
    faint: Vec<String>,
    /// Samples of a reference whose noise shows, and the place of that noise.
    floor: Option<(u32, f64)>,
    /// The first and the last level.
    levels: (u32, u32),
    /// The slope of the first target's error, in words.
    slope: String,
}

/// The curves of a scene that was compared with a reference at two levels or more.
fn curves(study: &Study, scene: &str) -> Option<Curves> {
    let of = |target: &TargetId| -> Vec<(u32, f64)> {
        let own = study.convergences.iter().filter(|c| c.scene == scene && c.target == *target);
        let first_seed = own.clone().map(|c| c.seed).next();
        let mut points: Vec<(u32, f64)> = own
            .filter(|c| Some(c.seed) == first_seed && c.errors.mse_linear > 0.0)
            .map(|c| (c.spp, c.errors.mse_linear))
            .collect();
        points.sort_by_key(|point| point.0);
        points
    };
    let all: Vec<Vec<(u32, f64)>> = study.targets().into_iter().map(of).filter(|p| p.len() > 1).collect();
    let levels = all.iter().flatten().map(|point| point.0);
    let (low, high) = (levels.clone().min()?, levels.max()?);
    let errors = all.iter().flatten().map(|point| point.1.ln());
    let reference = SceneReference::of_levels(study, scene);
    let is_clear = |spp: u32| reference.is_none_or(|reference| reference.is_clear(spp));
    let shown = reference.filter(|_| !is_clear(high));
    let errors = errors.chain(shown.map(|reference| reference.noise.ln()));
    let (least, most) = errors.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), e| (l.min(e), m.max(e)));
    let (width, height) = (f64::from(high).ln() - f64::from(low).ln(), (most - least).max(1e-9));
    let y_of = |mse: f64| (most - mse.ln()) / height * (CURVE.1 - 4.0) + 2.0;
    let line = |points: &[(u32, f64)]| {
        points.iter().fold(String::new(), |mut text, (spp, mse)| {
            let x = (f64::from(*spp).ln() - f64::from(low).ln()) / width * (CURVE.0 - 4.0) + 2.0;
            let _ = write!(text, "{x:.1},{:.1} ", y_of(*mse));
            text
        })
    };
    // The last clear point begins what is faint.
    let clear = |points: &Vec<(u32, f64)>| points.iter().take_while(|point| is_clear(point.0)).count();
    let slope = all.first().and_then(|points| fit_log_log_slope(&points[..clear(points)]).ok());
    let slope = slope.map_or_else(|| "–".to_owned(), |fit| fixed(fit.slope, 2));
    Some(Curves {
        lines: all.iter().map(|points| line(&points[..clear(points)])).collect(),
        faint: all.iter().map(|points| line(&points[clear(points).saturating_sub(1)..])).collect(),
        floor: shown.map(|reference| (reference.samples, y_of(reference.noise))),
        levels: (low, high),
        slope,
    })
}

/// A target's rate over the scenes of a study.
struct Rate<'a> {
    target: &'a TargetId,
    /// Geometric mean over the scenes of the samples per second at the last level.
    samples_per_second: f64,
    /// Samples per second on each scene at the last level.
    of_scenes: Vec<f64>,
}

/// A bar for each target, by the geometric mean of its rates over all scenes. The script offers other baselines.
pub(super) fn speed(study: &Study) -> Markup {
    let rates = rates(study);
    let means: Vec<f64> = rates.iter().map(|rate| rate.samples_per_second).collect();
    let is_logarithmic = spans_decades(means.iter().copied());
    let bars = bars(study, &rates, is_logarithmic);
    let lengths = lengths(&means, is_logarithmic);
    let base = rates.first().map_or(1.0, |rate| rate.samples_per_second);
    html! {
        @if rates.len() > 1 {
            div.table tabindex="0" role="region" aria-label="Speed" {
                table.bars data-baseline=(rates[0].target) {
                    thead {
                        tr {
                            th scope="col" { "Target" }
                            th.n scope="col" { "Msamples/s" }
                            th scope="col" { "Over " span.baseline { (rates[0].target) } }
                        }
                    }
                    tbody {
                        @for ((rate, length), bars) in rates.iter().zip(lengths).zip(bars) {
                            tr data-target=(rate.target) data-bars=(bars) {
                                th scope="row" {
                                    (rate.target)
                                    @if let Some(version) = version(study, rate.target) { span.detail { (version) } }
                                }
                                td.n.samples { (fixed(rate.samples_per_second * 1e-6, 2)) }
                                td {
                                    div.rate {
                                        div.track { div style={ "width:" (fixed(100.0 * length, 1)) "%" } {} }
                                        span.ratio { (fixed(rate.samples_per_second / base, 2)) "×" }
                                    }
                                }
                            }
                        }
                    }
                }
                @if is_logarithmic { p.note { "The lengths of these bars are logarithmic." } }
            }
        }
    }
}

/// For each target, its rate and the length of its bar over all scenes, under an empty name, and on each scene, for the
/// script.
fn bars(study: &Study, rates: &[Rate], is_logarithmic: bool) -> Vec<String> {
    let mut all = vec![serde_json::Map::new(); rates.len()];
    let of_scenes = study
        .scenes()
        .into_iter()
        .enumerate()
        .map(|(at, scene)| (scene, rates.iter().map(|rate| rate.of_scenes[at]).collect::<Vec<f64>>()));
    let means = rates.iter().map(|rate| rate.samples_per_second).collect();
    for (scene, own) in std::iter::once(("", means)).chain(of_scenes) {
        for ((bars, rate), length) in all.iter_mut().zip(&own).zip(lengths(&own, is_logarithmic)) {
            bars.insert(scene.to_owned(), serde_json::json!({ "rate": rate, "length": length }));
        }
    }
    all.into_iter().map(|bars| serde_json::Value::Object(bars).to_string()).collect()
}

/// Lengths of bars for rates as shares of the longest: logarithms of the rates where these are too uneven.
fn lengths(rates: &[f64], is_logarithmic: bool) -> Vec<f64> {
    let (least, most) =
        rates.iter().fold((f64::INFINITY, 0.0f64), |(least, most), &rate| (least.min(rate), most.max(rate)));
    let start = is_logarithmic.then_some(least / 3.0);
    let length = |&rate: &f64| match start {
        Some(start) => (rate / start).ln() / (most / start).ln(),
        None => rate / most,
    };
    rates.iter().map(length).collect()
}

/// The version of an external program.
fn version<'a>(study: &'a Study, target: &TargetId) -> Option<&'a str> {
    let info = study.environment.target(target)?;
    info.program.as_ref().map(|_| info.info.driver.as_str()).filter(|version| !version.is_empty())
}

/// The rates of the targets that rendered every scene that any target rendered.
fn rates(study: &Study) -> Vec<Rate<'_>> {
    let scenes = study.scenes();
    let of_scene = |target: &TargetId, scene: &str| {
        let own =
            study.timings.iter().filter(|t| t.target == *target && t.scene == scene && t.total_ms > 0.0);
        let last = own.max_by_key(|t| (t.spp_to, t.samples))?;
        Some(last.samples as f64 / last.total_ms * 1e3)
    };
    let of_target = |target| {
        let of_scenes: Option<Vec<f64>> = scenes.iter().map(|scene| of_scene(target, scene)).collect();
        let of_scenes = of_scenes.filter(|rates| !rates.is_empty())?;
        let logarithms: f64 = of_scenes.iter().map(|rate| rate.ln()).sum();
        let samples_per_second = (logarithms / of_scenes.len() as f64).exp();
        Some(Rate { target, samples_per_second, of_scenes })
    };
    study.targets().into_iter().filter_map(of_target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Convergence, Environment, Errors, Record};

    #[test]
    fn a_difference_within_noise_is_good_only_where_identity_was_not_promised() {
        assert_eq!(badge(false, "within noise", false), ("same", "within noise"));
        assert_eq!(badge(false, "within noise", true), ("differs", "differs"));
        assert_eq!(badge(true, "broken", true), ("bad", "broken"), "black images are equal, too");
        assert_eq!(badge(false, "biased", false), ("bad", "biased"));
        assert_eq!(badge(false, "inconclusive", false), ("differs", "inconclusive"));
    }

    #[test]
    fn the_worst_pair_has_the_worst_verdict_and_then_the_greatest_error() {
        let of = |b: &str, spp: u32, verdict: &str, mse_linear: f64| -> Record {
            let errors = Errors { mse_linear, ..Errors::default() };
            let (scene, a, b, verdict) = ("s".into(), "x".into(), b.into(), verdict.into());
            Difference { scene, a, b, spp, verdict, errors, ..Difference::default() }.into()
        };
        let worst = |records: &[Record]| {
            let study = Study::from_records(records.to_vec(), Environment::default());
            let (_, d) = worst_pair(&study).unwrap();
            (d.b.clone(), d.spp)
        };
        let by_noise = [of("y", 1, "within noise", 9.0), of("y", 16, "within noise", 1.0)];
        assert_eq!(worst(&by_noise), ("y".into(), 1));
        let biased = [by_noise[0].clone(), of("z", 4, "biased", 0.5), of("z", 8, "biased", 0.25)];
        assert_eq!(worst(&biased), ("z".into(), 4));
    }

    #[test]
    fn bars_of_speeds_are_logarithmic_where_the_greatest_is_over_twenty_times_the_least() {
        assert!(!spans_decades([1.0, 20.0].into_iter()) && spans_decades([1.0, 30.0, 900.0].into_iter()));
        assert_eq!(lengths(&[1.0, 20.0], false), [0.05, 1.0]);
        let uneven = lengths(&[1.0, 30.0, 900.0], true);
        assert!((uneven[0] - 3f64.ln() / 2700f64.ln()).abs() < 1e-12 && uneven[2] == 1.0, "{uneven:?}");
        assert!((2.0 * uneven[1] - uneven[0] - uneven[2]).abs() < 1e-12, "{uneven:?}");
    }

    #[test]
    fn compared_images_begin_with_the_worst_scene_and_studies_keep_their_order() {
        let of = |scene: &str, verdict: &str| -> Record {
            Difference { scene: scene.into(), verdict: verdict.into(), ..Difference::default() }.into()
        };
        let records = vec![of("calm", "within noise"), of("dark", "biased")];
        let order = |command: &str| {
            let command = ["lockstep", command].map(str::to_owned).to_vec();
            let study =
                Study::from_records(records.clone(), Environment { command, ..Environment::default() });
            scenes(&study).into_iter().map(|(index, scene)| (index, scene.to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(order("compare"), [(1, "dark".to_owned()), (0, "calm".to_owned())]);
        assert_eq!(order("study"), [(0, "calm".to_owned()), (1, "dark".to_owned())]);
    }

    #[test]
    fn levels_that_hold_the_reference_s_noise_are_faint_and_make_no_slope() {
        let error = |spp: u32| -> Record {
            let mse_linear = 1.0 / f64::from(spp) + 1.0 / 64.0;
            let errors = Errors { mse_linear, ..Errors::default() };
            let (scene, target, against) = ("s".into(), "x".into(), "x, 64 spp, seed 7".into());
            Convergence { scene, target, spp, errors, against, ..Convergence::default() }.into()
        };
        let study = Study::from_records([1, 2, 4, 8, 16].map(error).to_vec(), Environment::default());
        let curves = curves(&study, "s").unwrap();
        let points = |lines: &[String]| lines[0].split_whitespace().count();
        assert_eq!((points(&curves.lines), points(&curves.faint)), (3, 3), "they share a point");
        assert_eq!(curves.floor.map(|floor| floor.0), Some(64));
        assert_eq!(curves.slope, "−0.97");
    }
}
