//! Parts of the images of integrators after equal time, side by side.

use super::pyramids::picture;
use crate::format::number;
use crate::records::Crops;
use crate::study::Study;
use maud::{Markup, html};

/// Bytes of pictures that a page holds at most; each row of crops has an even part of them.
const BUDGET: usize = 2 << 20;

/// A figure for every scene whose crops are there and fit.
pub(super) fn figures(study: &Study) -> Markup {
    let share = BUDGET / study.crops.len().max(1);
    let figures: Vec<Markup> = study
        .crops
        .iter()
        .filter_map(|crops| picture(study, &crops.picture, share).map(|uri| figure(crops, &uri)))
        .collect();
    html! {
        @if !figures.is_empty() {
            details.part {
                summary { h3 { "What each integrator sees" } span.detail { (figures.len()) } }
                @for figure in &figures { (figure) }
                p.note {
                    "Parts of the images where integrators differ most as a viewer sees them, after equal time on one target. path \
                     finds light through glass or by way of mirrors by chance alone; bpt adds paths from the lights, which draw \
                     caustics that the camera sees directly; bpm and vcm merge with photons and see caustics in mirrors and \
                     through glass too, blurred by the radius of the merge; bpm has noise where diffuse light comes by no mirror \
                     or glass, which vcm takes from connections."
                }
            }
        }
    }
}

fn figure(crops: &Crops, uri: &str) -> Markup {
    let Crops { x, y, width, height, .. } = crops;
    let columns = crops.cells.len() + 1;
    html! {
        figure.seen {
            figcaption {
                b { (crops.scene) } " on " (crops.target) " after " (crops.seconds) " s: " (width) "×" (height)
                " pixels from " (x) "," (y)
            }
            div.cells style={ "grid-template-columns: repeat(" (columns) ", 1fr)" } {
                span { b { "reference" } }
                @for cell in &crops.cells { span { b { (cell.integrator) } " RMSE " (number(cell.rmse_linear)) } }
            }
            img src=(uri) alt={ (crops.scene) ": the reference and every integrator, side by side" };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Crop, Environment};

    #[test]
    fn crops_in_the_folder_are_shown_with_their_integrators_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.png"), b"picture").unwrap();
        let page = |picture: &str| {
            let cells = vec![Crop { integrator: "<vcm>".into(), rmse_linear: 0.25 }];
            let crops = Crops { scene: "s".into(), picture: picture.into(), cells, ..Crops::default() };
            let mut study = Study::from_records(vec![crops.into()], Environment::default());
            study.folder = Some(dir.path().to_owned());
            figures(&study).into_string()
        };
        let shown = page("a.png");
        assert!(shown.contains("data:image/png") && shown.contains("&lt;vcm&gt;</b> RMSE 0.2500"), "{shown}");
        assert_eq!((page("../a.png"), page("b.png")), (String::new(), String::new()));
    }
}
