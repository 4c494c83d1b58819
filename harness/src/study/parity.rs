//! The parity ladder of a study: which quantity two targets' paths part at, over the whole image.

use lockstep_core::Error;
use lockstep_core::Renderer;
use lockstep_core::Settings;
use lockstep_core::path_record::divergence::{RungFound, Worst, climb};
use lockstep_reports::records::{FirstDivergence, WorstPath, pair_mode};

use crate::exit::Failure;

/// About this many paths are traced on each target: several of every pixel of a small image, one of each of a large one.
const PATHS: u32 = 1 << 18;
/// At most this many samples of every pixel.
const MOST_SAMPLES: u32 = 16;

/// What identifies the comparison of two targets' paths, by its first rung.
pub(crate) fn key(scene: &str, a: &str, b: &str, seed: u32) -> FirstDivergence {
    let mode = pair_mode(a, b);
    let (scene, a, b) = (scene.to_owned(), a.to_owned(), b.to_owned());
    FirstDivergence { scene, a, b, seed: u64::from(seed), mode, ..FirstDivergence::default() }
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parity<'a> {
    /// The scene's name.
    pub(crate) scene: &'a str,
    /// The scene as the command line names it.
    pub(crate) spec: &'a str,
    /// The settings that both targets were loaded with.
    pub(crate) settings: Settings,
    /// Samples of every pixel.
    samples: u32,
}

impl<'a> Parity<'a> {
    /// A comparison with as many samples of every pixel as fit, and no more than a study takes.
    pub(crate) fn new(scene: &'a str, spec: &'a str, settings: Settings, top: u32) -> Self {
        let fit = PATHS / settings.width.saturating_mul(settings.height).max(1);
        Self { scene, spec, settings, samples: fit.clamp(1, MOST_SAMPLES).min(top) }
    }

    /// Compares two targets, rung by rung; nothing where one cannot trace single paths.
    ///
    /// # Errors
    /// What a renderer says.
    pub(crate) fn compare(
        &self,
        names: (&str, &str),
        (a, b): (&mut dyn Renderer, &mut dyn Renderer),
    ) -> Result<Vec<FirstDivergence>, Failure> {
        let pixels = self.settings.width * self.settings.height;
        match climb(a, b, 0..pixels, 0..self.samples) {
            Ok(found) => {
                Ok(found.iter().zip(0..).map(|(rung, place)| self.record(names, place, rung)).collect())
            }
            Err(Error::Unsupported { .. }) => Ok(Vec::new()),
            Err(other) => Err(other.into()),
        }
    }

    fn record(&self, names: (&str, &str), place: u32, found: &RungFound) -> FirstDivergence {
        let quantities = found.quantities.iter();
        FirstDivergence {
            scene: self.scene.to_owned(),
            a: names.0.to_owned(),
            b: names.1.to_owned(),
            seed: u64::from(self.settings.seed),
            place,
            quantity: found.rung.name().to_owned(),
            samples: self.samples,
            paths: found.paths,
            differing: found.differing,
            parting: found.parting,
            pixels_parting: found.pixels_parting,
            largest_ulps: found.largest_ulps,
            quantities: quantities
                .map(|q| format!("bounce {}: {} ({})", q.bounce, q.name, q.paths))
                .collect(),
            worst: found.worst.iter().map(|worst| self.worst(names, worst)).collect(),
            mode: pair_mode(names.0, names.1),
        }
    }

    fn worst(&self, names: (&str, &str), worst: &Worst) -> WorstPath {
        let Settings { width, height, bounces, seed, .. } = self.settings;
        let (x, y) = (worst.request.pixel % width, worst.request.pixel / width);
        let found = &worst.divergence;
        let shown = |value: &Option<lockstep_core::path_record::compare::Value>| {
            value.map_or_else(|| "none".to_owned(), |value| value.to_string())
        };
        WorstPath {
            x,
            y,
            sample: worst.request.sample,
            bounce: found.bounce,
            quantity: found.field.to_owned(),
            a: shown(&found.a),
            b: shown(&found.b),
            ulps: found.distance.map(|d| d.ulps),
            radiance: f64::from(worst.radiance),
            command: format!(
                "lockstep trace {} -b {},{} --pixel {x},{y} --sample {} --size {width}x{height} --bounces {bounces} \
                 --seed {seed}",
                self.spec, names.0, names.1, worst.request.sample
            ),
        }
    }
}
