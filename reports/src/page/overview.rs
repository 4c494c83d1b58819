//! The first screen: a matrix of verdicts, scenes by groups of targets, and the speed of every target.

use crate::format::{count, fixed};
use crate::records::Difference;
use crate::study::Study;
use crate::verdict::{StudyVerdict, VerdictLine};
use maud::{Markup, html};

/// A row for each scene and a column for each line of the verdict; nothing for a study without comparisons.
pub(super) fn matrix(study: &Study, verdict: &StudyVerdict) -> Markup {
    let compared = |line: &&VerdictLine| study.differences.iter().any(|d| line.is_about(d));
    let lines: Vec<&VerdictLine> = verdict.lines.iter().filter(compared).collect();
    let scenes = study.scenes();
    html! {
        @if !lines.is_empty() && scenes.len() > 1 {
            div.table tabindex="0" role="region" aria-label="Verdicts by scene" {
                table.matrix {
                    thead {
                        tr {
                            th scope="col" { "Scene" }
                            @for line in &lines { th scope="col" { (line.subject) } }
                        }
                    }
                    tbody {
                        @for (index, scene) in scenes.iter().enumerate() {
                            tr {
                                th scope="row" { a href={ "#scene-" (index) } { (scene) } }
                                @for line in &lines { td data-label=(line.subject) { (cell(study, line, scene)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The worst verdict on the comparisons of a line on a scene, with the pixels that differ.
fn cell(study: &Study, line: &VerdictLine, scene: &str) -> Markup {
    let own = study.differences.iter().filter(|d| d.scene == scene && line.is_about(d));
    let Some(worst) = own.max_by_key(|d| (rank(d), d.pixels_differing)) else {
        return html! { span.badge.skipped { "not compared" } };
    };
    let (class, word) = match (worst.identical, worst.verdict.as_str()) {
        (true, verdict) if verdict != "broken" => ("same", "identical"),
        (_, "within noise") => ("same", "within noise"),
        (_, "") => ("differs", "differs"),
        (_, verdict) => ("differs", verdict),
    };
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

/// A target's rate over the scenes of a study.
struct Rate<'a> {
    target: &'a str,
    /// Geometric mean over the scenes of the samples per second at the last level.
    samples_per_second: f64,
}

/// A bar for each target, by the geometric mean of its rates over all scenes. The script offers other baselines.
pub(super) fn speed(study: &Study) -> Markup {
    let rates = rates(study);
    let most = rates.iter().map(|rate| rate.samples_per_second).fold(0.0, f64::max);
    let base = rates.first().map_or(1.0, |rate| rate.samples_per_second);
    html! {
        @if rates.len() > 1 {
            div.table tabindex="0" role="region" aria-label="Speed" {
                table.bars data-baseline=(rates[0].target) {
                    thead {
                        tr {
                            th scope="col" { "Target" }
                            th.n scope="col" { "Million samples/s" }
                            th scope="col" { "Over " span.baseline { (rates[0].target) } }
                        }
                    }
                    tbody {
                        @for rate in &rates {
                            tr data-target=(rate.target) data-rate=(rate.samples_per_second) {
                                th scope="row" {
                                    (rate.target)
                                    @if let Some(version) = version(study, rate.target) { span.detail { (version) } }
                                }
                                td.n { (fixed(rate.samples_per_second * 1e-6, 2)) }
                                td {
                                    div.rate {
                                        div.track { div style={ "width:" (fixed(100.0 * rate.samples_per_second / most, 1)) "%" } {} }
                                        span.ratio { (fixed(rate.samples_per_second / base, 2)) "×" }
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

/// The version of an external program.
fn version<'a>(study: &'a Study, target: &str) -> Option<&'a str> {
    let info = study.environment.targets.iter().find(|info| info.info.target == target)?;
    info.program.as_ref().map(|_| info.info.driver.as_str()).filter(|version| !version.is_empty())
}

/// The rates of the targets that rendered every scene that any target rendered.
fn rates(study: &Study) -> Vec<Rate<'_>> {
    let scenes = study.scenes();
    let of_scene = |target: &str, scene: &str| {
        let own = study.timings.iter().filter(|t| t.target == target && t.scene == scene && t.total_ms > 0.0);
        let last = own.max_by_key(|t| (t.spp_to, t.samples))?;
        Some(last.samples as f64 / last.total_ms * 1e3)
    };
    let of_target = |target| {
        let all: Option<Vec<f64>> = scenes.iter().map(|scene| of_scene(target, scene)).collect();
        let logarithms: Vec<f64> = all?.into_iter().map(f64::ln).collect();
        let samples_per_second = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        (!logarithms.is_empty()).then_some(Rate { target, samples_per_second })
    };
    study.targets().into_iter().filter_map(of_target).collect()
}
