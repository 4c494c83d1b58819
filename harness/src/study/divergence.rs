//! The divergence of two targets' paths, as records.

use lockstep_core::path_record::PathRequest;
use lockstep_core::path_record::compare::Value;
use lockstep_core::path_record::divergence::{
    DivergingPath, QuantityDivergence, compare_pairs, compare_paths,
};
use lockstep_core::{Error, Film, Integrator, Renderer, Settings, TargetId};
use lockstep_reports::records::{self, Divergence, DivergenceScope, WorstPath};

use super::level::{Level, Outcome};
use crate::exit::Failure;

/// At most this many differing pixels are compared, spread evenly over all of them.
const MAX_PIXELS: usize = 256;
/// At most this many paths are recorded on each target for them.
const MAX_PATHS: usize = 4096;

/// A pair of targets that hold a scene, and the scene as command lines name it.
pub(super) struct Pair<'a> {
    /// The scene's name.
    pub(super) scene: &'a str,
    /// The scene on the command line.
    pub(super) spec: &'a str,
    /// The settings that both hold it with.
    pub(super) settings: Settings,
    /// The targets.
    pub(super) targets: [&'a TargetId; 2],
}

impl Pair<'_> {
    /// The key of a comparison.
    pub(super) fn key(&self, scope: DivergenceScope) -> Divergence {
        let [a, b] = self.targets;
        Divergence {
            scene: self.scene.to_owned(),
            a: a.clone(),
            b: b.clone(),
            seed: u64::from(self.settings.seed),
            scope,
            mode: a.mode.max(b.mode),
            ..Divergence::default()
        }
    }

    /// Compares paths of the pair.
    ///
    /// # Errors
    /// As [`compare_paths`] and [`compare_pairs`], except that a target cannot record paths: then the record says so.
    pub(super) fn compare(
        &self,
        scope: DivergenceScope,
        requests: &[PathRequest],
        (a, b): (&mut dyn Renderer, &mut dyn Renderer),
    ) -> Result<Divergence, Failure> {
        let key = self.key(scope);
        let found = match self.targets[0].settings(&self.settings).integrator.splats() {
            true => compare_pairs(a, b, requests),
            false => compare_paths(a, b, requests),
        };
        match found {
            Ok(found) => Ok(Divergence {
                paths: requests.len() as u64,
                diverging: found.iter().map(|row| row.diverging).sum(),
                quantities: found.iter().map(|row| self.quantity(row)).collect(),
                ..key
            }),
            Err(Error::Unsupported { actor, .. }) => {
                Ok(Divergence { reason: format!("{actor} cannot record paths"), ..key })
            }
            Err(other) => Err(other.into()),
        }
    }

    fn quantity(&self, found: &QuantityDivergence) -> records::QuantityDivergence {
        let fields = found.fields.iter();
        records::QuantityDivergence {
            quantity: found.quantity.name().to_owned(),
            differing: found.differing,
            diverging: found.diverging,
            pixels_diverging: found.pixels_diverging,
            largest_ulps: found.largest_ulps,
            fields: fields
                .map(|f| records::FieldCount { bounce: f.bounce, field: f.name.to_owned(), paths: f.paths })
                .collect(),
            worst: found.worst.iter().map(|path| self.worst(path)).collect(),
        }
    }

    fn worst(&self, path: &DivergingPath) -> WorstPath {
        let width = self.settings.width;
        let (x, y) = (path.request.pixel % width, path.request.pixel / width);
        let found = &path.divergence;
        let shown =
            |value: &Option<Value>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
        WorstPath {
            x,
            y,
            sample: path.request.sample,
            bounce: found.bounce,
            quantity: found.field.to_owned(),
            a: shown(&found.a),
            b: shown(&found.b),
            ulps: found.distance.map(|d| d.ulps),
            radiance: f64::from(path.radiance),
            command: self.command(path.request),
        }
    }

    /// The command that shows a sample's path on both targets.
    fn command(&self, request: PathRequest) -> String {
        let [a, b] = self.targets;
        let settings = a.settings(&self.settings);
        let Settings { width, height, bounces, seed, .. } = settings;
        let (x, y) = (request.pixel % width, request.pixel / width);
        format!(
            "lockstep trace {} -b {},{} --pixel {x},{y} --sample {} --size {width}x{height} --bounces {bounces} --seed \
             {seed}{}",
            self.spec,
            a.renderer(),
            b.renderer(),
            request.sample,
            estimator_options(&settings)
        )
    }
}

/// The options that select the integrator with its roulette and merges, the sampler and the way of sampling layers, each
/// with a space before it; empty for the defaults.
fn estimator_options(settings: &Settings) -> String {
    let mut options = String::new();
    if settings.integrator != Integrator::default() {
        options.push_str(&format!(" --integrator {}", settings.integrator));
    }
    if let Some(bounce) = settings.roulette_from {
        options.push_str(&format!(" --roulette {bounce}"));
    }
    if settings.merge_radius != Settings::default().merge_radius {
        options.push_str(&format!(" --merge-radius {}", settings.merge_radius));
    }
    if !settings.sampler.is_default() {
        options.push_str(&format!(" --sampler {}", settings.sampler));
    }
    if !settings.layers.is_default() {
        options.push_str(&format!(" --layers {}", settings.layers));
    }
    options
}

/// Triage of a level at which two targets differ: compares the level's paths of pixels whose films differ.
///
/// # Errors
/// As [`Pair::compare`].
pub(super) fn triage(
    level: &Level<'_>,
    pair: &Pair<'_>,
    (a, b): (&Outcome, &Outcome),
    renderers: (&mut dyn Renderer, &mut dyn Renderer),
) -> Result<Divergence, Failure> {
    let (Some(film_a), Some(film_b)) = (a.rendered.film(), b.rendered.film()) else {
        return Ok(pair.key(DivergenceScope::DifferingPixels));
    };
    let differing = differing_pixels(film_a, film_b);
    let pixels = spread(&differing, MAX_PIXELS);
    let samples = |&pixel: &usize| (level.from..level.to).map(move |sample| (pixel as u32, sample));
    let requests: Vec<PathRequest> = pixels
        .iter()
        .flat_map(samples)
        .take(MAX_PATHS)
        .map(|(pixel, sample)| PathRequest { pixel, sample })
        .collect();
    let found = pair.compare(DivergenceScope::DifferingPixels, &requests, renderers)?;
    let is_unexplained = found.reason.is_empty() && found.diverging == 0;
    let command = requests.first().filter(|_| is_unexplained).map(|&request| pair.command(request));
    Ok(Divergence {
        command: command.unwrap_or_default(),
        spp: level.to,
        samples: level.to - level.from,
        pixels: film_a.sums.len() as u64,
        pixels_differing: differing.len() as u64,
        pixels_compared: requests.chunk_by(|a, b| a.pixel == b.pixel).count() as u64,
        ..found
    })
}

fn differing_pixels(a: &Film, b: &Film) -> Vec<usize> {
    a.sums.iter().zip(&b.sums).enumerate().filter(|(_, (a, b))| a != b).map(|(pixel, _)| pixel).collect()
}

/// At most `count` of the items, evenly spaced.
fn spread(items: &[usize], count: usize) -> Vec<usize> {
    let taken = items.len().min(count);
    (0..taken).map(|i| items[i * items.len() / taken]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_pixels_are_all_compared_and_many_are_spread() {
        assert_eq!(spread(&[3, 4], 256), [3, 4]);
        assert_eq!(spread(&(0..1000).collect::<Vec<_>>(), 4), [0, 250, 500, 750]);
        assert!(spread(&[], 4).is_empty());
    }
}
