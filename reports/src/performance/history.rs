//! Rates of many studies, in the order of their starts.

use super::changed::{short, title};
use crate::format::{fixed, number};
use crate::image_io::encode_name;
use crate::plots::{LinePlot, Plot, PlotError, Series, SeriesKind, XAxis, YScale, draw_lines};
use crate::records::{TargetId, mega_per_second};
use crate::statistics::timing::MedianInterval;
use crate::study::{Study, push_new};
use crate::tables::{Cell, Table};
use serde::Serialize;
use std::collections::BTreeMap;

/// Rates of studies over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// Commit and start of each study, the earliest first.
    pub studies: Vec<String>,
    /// The names of the studies in plots: commits, or starts where these are unknown.
    pub names: Vec<String>,
    /// The rates, study by study.
    pub points: Vec<HistoryPoint>,
}

/// The rate of one target on one scene in one study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// Index of the study.
    pub study: usize,
    /// Scene name.
    pub scene: String,
    /// The target, with its device.
    pub target: String,
    /// Million rays a second over the whole time, over the study's rounds.
    pub mrays: MedianInterval,
}

impl History {
    /// The rates of some studies. A target on another device is another line.
    pub fn of(studies: &[Study]) -> Self {
        let mut sorted: Vec<&Study> = studies.iter().collect();
        sorted.sort_by(|a, b| a.environment.started_utc.cmp(&b.environment.started_utc));
        let name = |study: &&Study| {
            let e = &study.environment;
            e.commit.as_deref().map_or_else(|| e.started_utc.chars().take(10).collect(), short)
        };
        Self {
            studies: sorted.iter().map(|study| title(&study.environment)).collect(),
            names: sorted.iter().map(name).collect(),
            points: sorted.iter().enumerate().flat_map(|(i, study)| points(i, study)).collect(),
        }
    }

    fn scenes(&self) -> Vec<&str> {
        let mut scenes = Vec::new();
        self.points.iter().for_each(|p| push_new(&mut scenes, p.scene.as_str()));
        scenes
    }

    /// A table with a row for every rate of the history.
    pub fn table(&self) -> Table {
        let numbers = ["Mrays/s", "Low", "High", "Rounds"];
        let mut table = Table::new("history", "Rates by commit", &["Study", "Scene", "Target"], &numbers);
        table.notes.push(
            "Million rays a second over the whole time, the median over the study's rounds with its interval."
                .to_owned(),
        );
        for p in &self.points {
            let study = self.studies.get(p.study).map_or("", String::as_str);
            let mut row = [study, &p.scene, &p.target].map(Cell::text).to_vec();
            let values = [p.mrays.median, p.mrays.low, p.mrays.high];
            row.extend(values.map(|rate| Cell::number(rate, number(rate))));
            row.push(Cell::count(p.mrays.count as u64));
            table.rows.push(row);
        }
        table
    }

    /// A plot of every scene: rates over studies, a line for every target.
    ///
    /// # Errors
    /// [`PlotError`].
    pub fn plots(&self) -> Result<Vec<Plot>, PlotError> {
        let draw = |scene: &&str| {
            let data = self.plot(scene);
            let svg = draw_lines(&data)?;
            let (file_name, scene) =
                (format!("history.{}.svg", encode_name(scene)), Some((*scene).to_owned()));
            Ok(Plot { file_name, title: data.title, scene, svg, caption: String::new() })
        };
        self.scenes().iter().map(draw).collect()
    }

    fn plot(&self, scene: &str) -> LinePlot {
        let own = || self.points.iter().filter(|p| p.scene == scene);
        let mut targets = Vec::new();
        own().for_each(|p| push_new(&mut targets, p.target.as_str()));
        let place = |study: usize| (study + 1) as f64;
        let series = targets.iter().enumerate().map(|(i, target)| Series {
            label: (*target).to_owned(),
            kind: SeriesKind::Target(i),
            points: own().filter(|p| p.target == *target).map(|p| (place(p.study), p.mrays.median)).collect(),
        });
        let greatest = own().map(|p| p.mrays.median).fold(0.0, f64::max);
        let least = own().map(|p| p.mrays.median).fold(f64::INFINITY, f64::min);
        LinePlot {
            title: format!("{scene}: rates by commit"),
            x: XAxis {
                label: "commit, by start of the study".to_owned(),
                unit: String::new(),
                log: false,
                ticks: (0..self.names.len()).map(place).collect(),
                names: self.names.clone(),
            },
            y_label: "million rays a second".to_owned(),
            // Processors and GPUs share an axis by powers of ten.
            y: if greatest > 10.0 * least { YScale::Log } else { YScale::FromZero },
            series: series.collect(),
        }
    }

    /// Sentences about each target's last rate on each scene, as a ratio to the first; the rate itself where one study
    /// alone has it.
    pub fn sentences(&self) -> Vec<String> {
        let mut keys = Vec::new();
        self.points.iter().for_each(|p| push_new(&mut keys, (p.scene.as_str(), p.target.as_str())));
        let of = |(scene, target): (&str, &str)| {
            let mut own = self.points.iter().filter(|p| p.scene == scene && p.target == target);
            let (first, last) = (own.next()?, own.next_back());
            let name = |p: &HistoryPoint| self.names.get(p.study).map_or("", String::as_str);
            let Some(last) = last else {
                let rate = number(first.mrays.median);
                return Some(format!(
                    "{target} on {scene}: {rate} Mrays/s at {}, the only study of it",
                    name(first)
                ));
            };
            let ratio = fixed(last.mrays.median / first.mrays.median, 3);
            Some(format!("{target} on {scene}: {ratio} of the rate of {} at {}", name(first), name(last)))
        };
        keys.into_iter().filter_map(of).collect()
    }
}

/// The rates of a study, over the rounds that each target and scene has.
fn points(index: usize, study: &Study) -> Vec<HistoryPoint> {
    let mut keys = Vec::new();
    study.timings.iter().for_each(|t| push_new(&mut keys, (t.scene.as_str(), &t.target)));
    let of = |(scene, target): (&str, &TargetId)| {
        let own = study.timings.iter().filter(|t| t.scene == scene && t.target == *target);
        let mut rounds: BTreeMap<(u64, u32), (u64, f64)> = BTreeMap::new();
        for t in own {
            let (rays, ms) = rounds.entry((t.seed, t.repeat)).or_default();
            *rays = rays.saturating_add(t.rays());
            *ms += t.total_ms;
        }
        let rates: Vec<f64> = rounds.into_values().map(|(rays, ms)| mega_per_second(rays, ms)).collect();
        let mrays = MedianInterval::of(&rates).filter(|rate| rate.median > 0.0)?;
        let device = study.environment.target(target);
        let device = device.map(|t| format!(", {}", t.info.device)).unwrap_or_default();
        Some(HistoryPoint {
            study: index,
            scene: scene.to_owned(),
            target: format!("{target}{device}"),
            mrays,
        })
    };
    keys.into_iter().filter_map(of).collect()
}
