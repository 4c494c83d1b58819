//! Pictures of all techniques of a bidirectional integrator.

use super::images::data_uri;
use crate::records::Pyramid;
use crate::study::Study;
use maud::{Markup, html};
use std::path::{Component, Path};

/// Bytes of pictures that a page holds at most; each pyramid has an even part of them.
const BUDGET: usize = 6 << 20;

/// A figure for each pyramid whose pictures are there and fit: weighted, or at a click without weights.
pub(super) fn figures(study: &Study) -> Markup {
    let share = BUDGET / (2 * study.pyramids.len().max(1));
    html! {
        @for (index, pyramid) in study.pyramids.iter().enumerate() {
            @if let [Some(weighted), Some(unweighted)] =
                [&pyramid.weighted, &pyramid.unweighted].map(|file| picture(study, file, share)) {
                (figure(index, pyramid, &weighted, &unweighted))
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
    html! {
        figure.pyramid {
            figcaption {
                b { (pyramid.scene) " by " (pyramid.integrator) } ", " (pyramid.spp) " spp: "
                (choice("weighted", true)) " " (choice("unweighted", false))
                " Rows: path lengths, from 1 edge. Columns: vertices of the light sub-path, from 0."
            }
            img.weighted src=(weighted) alt=(alt("weighted"));
            img.unweighted src=(unweighted) alt=(alt("unweighted"));
        }
    }
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
}
