//! Plots as SVG: errors over samples, stage times, ray rates, kernel configurations.
//!
//! The data of every plot is complete before anything is drawn. The drawings are text with generic font
//! families and a transparent ground; a style sheet inside each turns its colours over for dark pages.

mod bars;
mod data;
mod gantt;
mod heat;
mod instruments;
mod lines;
mod portability;
mod style;
mod tuning;

pub(crate) use data::spans_decades;
pub use data::{Bar, BarPlot, LinePlot, Segment, Series, SeriesKind, XAxis, YScale};

use crate::image_io::encode_name;
use crate::records::Note;
use crate::reference::SceneReference;
use crate::study::Study;

/// A finished plot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// File name without folder, ending in `.svg`.
    pub file_name: String,
    /// The title.
    pub title: String,
    /// The scene that it is about, or nothing when it is about all.
    pub scene: Option<String>,
    /// The drawing.
    pub svg: String,
    /// A remark to read beside it; mostly nothing.
    pub caption: String,
}

impl Plot {
    /// A plot of all scenes together, without a remark.
    fn of_study(file_name: &str, svg: String, title: String) -> Self {
        Self { file_name: file_name.to_owned(), title, scene: None, svg, caption: String::new() }
    }
}

/// Why a plot could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the plot {title:?}: {message}")]
pub struct PlotError {
    /// The title.
    pub title: String,
    /// The drawing library's error.
    pub message: String,
}

/// Draws lines, as SVG.
///
/// # Errors
/// [`PlotError`].
pub fn draw_lines(plot: &LinePlot) -> Result<String, PlotError> {
    lines::draw(plot)
}

/// Every plot that a study has data for: for each scene the errors, the similarities, the errors over time, those of its
/// integrators after equal time and the speed-ups by threads, then the speed-ups by device, the stage times, the ray rates
/// and the performance portability of all.
///
/// # Errors
/// [`PlotError`].
pub fn all_plots(study: &Study) -> Result<Vec<Plot>, PlotError> {
    let mut plots = Vec::new();
    for scene in study.scenes() {
        let name = encode_name(scene);
        let of_scene = [
            ("error", data::error_plot(study, scene)),
            ("ssim", data::similarity_plot(study, scene)),
            ("equal-time", instruments::equal_time_plot(study, scene)),
            ("scaling", instruments::scaling_plot(study, scene)),
        ];
        for (prefix, data) in of_scene {
            if let Some(data) = data {
                plots.push(Plot {
                    file_name: format!("{prefix}.{name}.svg"),
                    svg: lines::draw(&data)?,
                    title: data.title,
                    scene: Some(scene.to_owned()),
                    caption: caption(study, scene, prefix),
                });
            }
        }
    }
    for scene in study.scenes() {
        if let Some(chart) = gantt::gantt(study, scene) {
            let (svg, title) = (gantt::draw(&chart)?, chart.title);
            let file_name = format!("sharing.{}.svg", encode_name(scene));
            plots.push(Plot { file_name, svg, title, scene: Some(scene.to_owned()), caption: String::new() });
        }
    }
    for scene in study.scenes() {
        if let Some(data) = instruments::integrators_plot(study, scene) {
            let (svg, title) = (bars::draw(&data)?, data.title);
            let file_name = format!("integrators.{}.svg", encode_name(scene));
            plots.push(Plot { file_name, svg, title, scene: Some(scene.to_owned()), caption: String::new() });
        }
    }
    for (name, data) in [
        ("devices.svg", instruments::devices_plot(study)),
        ("stages.svg", data::stage_plot(study)),
        ("rates.svg", data::rate_plot(study)),
    ] {
        if let Some(data) = data {
            plots.push(Plot::of_study(name, bars::draw(&data)?, data.title));
        }
    }
    for (name, data) in [
        ("cascade.svg", portability::cascade_plot(study)),
        ("navigation.svg", portability::navigation_plot(study)),
    ] {
        if let Some(data) = data {
            plots.push(Plot::of_study(name, lines::draw(&data)?, data.title));
        }
    }
    plots.extend(tuning_plots(study)?);
    Ok(plots)
}

/// The limit of errors against the reference of a scene, in words, with the remarks on it.
fn caption(study: &Study, scene: &str, prefix: &str) -> String {
    let (reference, clear) = match prefix {
        "error" => {
            let reference = SceneReference::of_levels(study, scene);
            let own = study.convergences.iter().filter(|c| c.scene == scene);
            (reference, own.map(|c| c.spp).max())
        }
        "equal-time" => {
            let reference = SceneReference::of_times(study, scene);
            let own = study.equal_times.iter().filter(|e| e.scene == scene);
            (reference, own.map(|e| e.spp).max())
        }
        _ => return String::new(),
    };
    let is_limited = reference.zip(clear).is_some_and(|(reference, most)| !reference.is_clear(most));
    let limit = reference.filter(|_| is_limited).map(|reference| reference.sentence());
    let is_on_reference =
        |note: &&Note| note.scene.as_deref() == Some(scene) && note.text.starts_with("the reference of ");
    let remarks = study.notes.iter().filter(is_on_reference).map(|note| format!("Remark: {}.", note.text));
    limit.into_iter().chain(remarks).collect::<Vec<_>>().join(" ")
}

/// Heat map and bars of the kernel configurations of every scene.
fn tuning_plots(study: &Study) -> Result<Vec<Plot>, PlotError> {
    let rows = crate::tuning::tuned(study);
    let mut plots = Vec::new();
    for scene in study.scenes() {
        let plot = |kind: &str, title: &str, svg: String| Plot {
            file_name: format!("tune-{kind}.{}.svg", encode_name(scene)),
            title: title.to_owned(),
            scene: None,
            svg,
            caption: String::new(),
        };
        if let Some(map) = tuning::heat_map(&rows, scene) {
            plots.push(plot("grid", &map.title, heat::draw(&map)?));
        }
        if let Some(data) = tuning::bars(&rows, scene) {
            plots.push(plot("bars", &data.title, bars::draw(&data)?));
        }
    }
    Ok(plots)
}
