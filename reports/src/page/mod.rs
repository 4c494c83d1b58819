//! `report.html`: one file that works offline.
//!
//! Its first screen is the `overview`: verdicts and speed. Everything below opens on demand, so that the page of a
//! large study stays short. The page is put together from `sections`, a style sheet, a script and the embedded `images`. `maud`
//! escapes every text that comes from records; `json_for_script` does so on the way to the script.
//!
//! Pictures share `BUDGET`: linear values and maps have a part each, and images the rest. Pictures that do
//! not fit are reduced, and where that does not help skipped; captions and warnings say so.

mod crops;
mod images;
mod linear;
mod maps;
mod overview;
mod pairs;
mod pyramids;
mod sections;

use crate::plots::Plot;
use crate::records::TargetId;
use crate::study::Study;
use crate::tables::Table;
use crate::verdict::verdict;
use maud::{DOCTYPE, PreEscaped, html};
use serde::Serialize;

/// Bytes of pictures, encoded for the page, that it may hold.
const BUDGET: usize = 17_000_000;

/// At most this much of it is for linear values.
const LINEAR_BUDGET: usize = 4_500_000;

/// At most this much of it is for maps.
const MAP_BUDGET: usize = 3_000_000;

/// The parts of the script, in the order in which they run.
const SCRIPT: [&str; 14] = [
    include_str!("script/base.js"),
    include_str!("script/pixels.js"),
    include_str!("script/scales.js"),
    include_str!("script/view.js"),
    include_str!("script/probe.js"),
    include_str!("script/controls.js"),
    include_str!("script/viewer.js"),
    include_str!("script/worst.js"),
    include_str!("script/choice.js"),
    include_str!("script/tables.js"),
    include_str!("script/overview.js"),
    include_str!("script/plots.js"),
    include_str!("script/techniques.js"),
    include_str!("script/theme.js"),
];

/// The page may load nothing from outside.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A finished page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The document.
    pub html: String,
    /// Images that could not be shown, and why.
    pub warnings: Vec<String>,
}

/// The data that the script reads.
#[derive(Serialize)]
struct Data<'a> {
    scenes: Vec<images::SceneImages>,
    maps: Vec<maps::MapImage>,
    scales: maps::Scales,
    pictures: Vec<String>,
    differences: Vec<PairAt<'a>>,
    choices: Choices<'a>,
}

/// The scenes, targets and levels that a reader chooses from.
#[derive(Serialize)]
struct Choices<'a> {
    scene: Vec<&'a str>,
    target: Vec<&'a TargetId>,
    spp: Vec<String>,
}

impl<'a> Choices<'a> {
    fn of(study: &'a Study) -> Self {
        let levels = study.spp_levels().iter().filter(|spp| **spp > 0).map(u32::to_string).collect();
        Self { scene: study.scenes(), target: study.targets(), spp: levels }
    }
}

/// One comparison, for captions.
#[derive(Serialize)]
struct PairAt<'a> {
    scene: &'a str,
    a: &'a TargetId,
    b: &'a TargetId,
    spp: u32,
    #[serde(with = "lockstep_metrics::float")]
    mse: f64,
    #[serde(with = "lockstep_metrics::float")]
    ssim: f64,
    pixels: u64,
    identical: bool,
    verdict: &'a str,
}

/// Makes the page of a study from its finished tables and plots.
///
/// # Errors
/// The JSON encoder's error; none for studies that were read from a folder.
pub fn page(study: &Study, tables: &[Table], plots: &[Plot]) -> Result<Page, serde_json::Error> {
    let embedded = embed(study);
    let differences = study.differences.iter().map(|d| PairAt {
        scene: &d.scene,
        a: &d.a,
        b: &d.b,
        spp: d.spp,
        mse: d.errors.mse,
        ssim: d.errors.ssim,
        pixels: d.pixels_differing,
        identical: d.identical,
        verdict: &d.verdict,
    });
    let verdict = verdict(study);
    let title = format!("Lockstep: {}", verdict.headline);
    let sections = sections::sections(study, &verdict, tables, plots, &embedded);
    let data = Data {
        scenes: embedded.scenes,
        maps: embedded.maps.maps,
        scales: maps::SCALES,
        pictures: embedded.maps.pictures,
        differences: differences.collect(),
        choices: Choices::of(study),
    };
    let data = json_for_script(&data)?;
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content="Lockstep";
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                a.skip-link href="#content" { "Skip to the content" }
                (sections::header(study, &verdict))
                nav aria-label="Sections" { (sections::navigation(&sections)) }
                main id="content" { (sections::join(&sections)) }
                script type="application/json" id="data" { (PreEscaped(data)) }
                script { (PreEscaped(script())) }
            }
        }
        "\n"
    };
    Ok(Page { html: html.into_string(), warnings: embedded.warnings })
}

/// The pictures of a page within their budgets.
fn embed(study: &Study) -> images::Embedded {
    let maps = maps::embed(study, MAP_BUDGET);
    // The size of a level's linear values is known only after its images are, so their room is kept free.
    let linear_files = study.images.iter().any(|image| image.exr.is_some());
    let kept = if linear_files { LINEAR_BUDGET } else { 0 };
    let mut embedded = images::embed(study, BUDGET - kept - maps.bytes);
    if let Err(e) = linear::add(study, &mut embedded.scenes, kept) {
        embedded.warnings.push(format!("linear values could not be encoded for the page: {e}"));
    }
    if maps.skipped > 0 {
        let count = crate::format::plural(maps.skipped, "map");
        embedded.remarks.push(format!("{count} did not fit into this page; they lie in images/ beside it."));
    }
    embedded.maps = maps;
    embedded
}

/// The whole script, whose names stay its own.
fn script() -> String {
    format!("\"use strict\";\n(() => {{\n{}}})();", SCRIPT.join("\n"))
}

/// JSON that cannot end the script element it stands in.
fn json_for_script(value: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(value)?.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_cannot_close_its_script_element() {
        let json = json_for_script(&"</script><!--").unwrap();
        assert!(!json.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "</script><!--");
    }
}
