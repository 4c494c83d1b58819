//! Pictures of all techniques of a bidirectional integrator.

use super::images::data_uri;
use crate::format::{number, percent, plural};
use crate::records::{Pyramid, TechniqueShare};
use crate::study::Study;
use maud::{Markup, html};
use std::path::{Component, Path};

/// Bytes of pictures that a page holds at most; each pyramid has an even part of them.
const BUDGET: usize = 6 << 20;

/// A figure for each pyramid whose pictures are there and fit: weighted, or at a click without weights. The script shows the
/// technique under the pointer from near.
pub(super) fn figures(study: &Study) -> Markup {
    let share = BUDGET / (2 * study.pyramids.len().max(1));
    let figures = study.pyramids.iter().enumerate().filter_map(|(index, pyramid)| {
        let [weighted, unweighted] =
            [&pyramid.weighted, &pyramid.unweighted].map(|file| picture(study, file, share));
        Some(figure(index, pyramid, &weighted?, &unweighted?))
    });
    let figures: Vec<Markup> = figures.collect();
    html! {
        @if !figures.is_empty() {
            details.part {
                summary { h3 { "Every technique" } span.detail { (figures.len()) } }
                @for figure in &figures { (figure) }
            }
        }
    }
}

fn figure(index: usize, pyramid: &Pyramid, weighted: &str, unweighted: &str) -> Markup {
    let name = format!("pyramid-{index}");
    let alt = |kind| format!("{} by {}: every technique, {kind}", pyramid.scene, pyramid.integrator);
    let choice = |value: &'static str, is_first: bool| {
        html! { label { input type="radio" name=(name) value=(value) checked[is_first]; " " (value) } }
    };
    let [columns, rows] = grid(&pyramid.techniques);
    let label =
        format!("Techniques of {} on {}; arrow keys step through them", pyramid.integrator, pyramid.scene);
    html! {
        figure.pyramid {
            figcaption {
                b { (pyramid.scene) " by " (pyramid.integrator) } ", " (pyramid.spp) " spp: "
                (choice("weighted", true)) " " (choice("unweighted", false))
                " Rows: path lengths, from 1 edge. Columns: vertices of the light sub-path, from 0."
            }
            div.grid role="group" aria-label=(label) data-columns=(columns) data-rows=(rows) {
                img.weighted src=(weighted) alt=(alt("weighted"));
                img.unweighted src=(unweighted) alt=(alt("unweighted"));
                @for technique in pyramid.techniques.iter().filter(|t| is_path(t)) {
                    (cell(technique, [columns, rows]))
                }
            }
        }
    }
}

/// Columns and rows of a pyramid: numbers of light vertices and path lengths.
fn grid(techniques: &[TechniqueShare]) -> [u32; 2] {
    let paths = || techniques.iter().filter(|technique| is_path(technique));
    let columns = paths().map(|t| t.light).max().unwrap_or(0).saturating_add(1);
    [columns, paths().map(edges).max().unwrap_or(1)]
}

/// Whether a technique has the two vertices that an edge needs.
fn is_path(technique: &TechniqueShare) -> bool {
    technique.light.saturating_add(technique.camera) >= 2
}

/// The length of a technique's paths.
fn edges(technique: &TechniqueShare) -> u32 {
    technique.light.saturating_add(technique.camera).saturating_sub(1)
}

/// The place of a technique over the picture, and what it is.
fn cell(technique: &TechniqueShare, [columns, rows]: [u32; 2]) -> Markup {
    let TechniqueShare { light, camera, share, alone } = technique;
    let (column, row) = (*light, edges(technique) - 1);
    let part = |of: u32, whole: u32| format!("{:.4}%", 100.0 * f64::from(of) / f64::from(whole));
    let place = format!(
        "left:{};top:{};width:{};height:{}",
        part(column, columns),
        part(row, rows),
        part(1, columns),
        part(1, rows)
    );
    let says = format!(
        "s = {light}, t = {camera}, {}: {} of the film; mean without weight {}",
        plural(edges(technique) as usize, "edge"),
        percent(*share),
        number(*alone)
    );
    html! { span.cell style=(place) title=(says) data-column=(column) data-row=(row) data-share=(share) {} }
}

/// A picture in the study's folder as a data URI, if it fits.
pub(super) fn picture(study: &Study, file: &str, most: usize) -> Option<String> {
    // Records may come from anywhere; what they name must lie in the study's folder.
    let inside = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    let path = study.folder.as_ref().filter(|_| inside)?.join(file);
    let uri = data_uri(&std::fs::read(path).ok()?);
    (uri.len() <= most).then_some(uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Environment;

    #[test]
    fn pictures_in_the_folder_are_shown_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.png"), b"picture").unwrap();
        let study = |weighted: &str| {
            let pyramid =
                Pyramid { weighted: weighted.into(), unweighted: "a.png".into(), ..Pyramid::default() };
            let mut study = Study::from_records(vec![pyramid.into()], Environment::default());
            study.folder = Some(dir.path().to_owned());
            figures(&study).into_string()
        };
        assert_eq!(study("a.png").matches("data:image/png").count(), 2);
        assert_eq!((study("../a.png"), study("b.png")), (String::new(), String::new()));
    }

    #[test]
    fn a_cell_stands_where_the_picture_has_its_technique_and_says_its_share() {
        let technique = |light, camera, share| TechniqueShare { light, camera, share, alone: 0.5 };
        let techniques = vec![technique(0, 2, 0.75), technique(1, 2, 0.25), technique(0, 0, 0.0)];
        assert_eq!(grid(&techniques), [2, 2]);
        let html = cell(&techniques[1], [2, 2]).into_string();
        assert!(html.contains("left:50.0000%;top:50.0000%;width:50.0000%;height:50.0000%"), "{html}");
        assert!(
            html.contains("s = 1, t = 2, 2 edges: 25.0 % of the film; mean without weight 0.5000"),
            "{html}"
        );
        let pyramid = Pyramid { techniques, ..Pyramid::default() };
        assert_eq!(
            figure(0, &pyramid, "", "").into_string().matches("class=\"cell\"").count(),
            2,
            "no path of nothing"
        );
    }
}
