//! The verdict on the images of a match, layer by layer.

use lockstep_reports::image_io::{LayerKind, LinearImage};
use lockstep_reports::metrics::{MetricError, Metrics, Side, compare, mean_angle, mean_relative_error};
use lockstep_reports::records::{Difference, Errors, Noise, TargetId, Tests};
use lockstep_reports::statistics::{
    Agreement, ComparisonError, DecisionRule, Noisier, Pairing, TestResult, compare_named,
};

use super::matching::Match;
use super::stack::{self, Stack};
use crate::exit::Failure;

/// A pair of images of a match and how they differ.
#[derive(Debug)]
pub(super) struct Compared {
    /// The seed.
    pub(super) seed: u64,
    /// Positions of the two images in their stacks.
    pub(super) at: (usize, usize),
    /// The difference of the two; nothing where a value is not finite.
    pub(super) metrics: Option<Metrics>,
}

/// One layer of a match, and its verdict.
#[derive(Debug)]
pub(super) struct LayerVerdict {
    /// The scene, with the layer's name where there are several.
    pub(super) scene: String,
    /// Names of the sides.
    pub(super) names: (String, String),
    /// Samples per pixel; 0 when unknown.
    pub(super) spp: u32,
    /// All images.
    pub(super) stack: Stack,
    /// Pairs of images, one a seed.
    pub(super) pairs: Vec<Compared>,
    /// The verdict; nothing where an image is given twice.
    pub(super) agreement: Option<Agreement>,
    /// Reason for the verdict, in a sentence without a full stop.
    pub(super) reason: String,
    /// The tests behind the verdict.
    pub(super) test: Option<TestResult>,
    /// Whether every value is equal, or the error within the tolerance that was asked for.
    pub(super) equal: bool,
}

impl LayerVerdict {
    /// The verdict on a stack of images.
    ///
    /// # Errors
    /// [`Failure::Missing`] for images of different sizes, with the probable reason, [`Failure::Metric`] for images
    /// without pixels, [`Failure::Input`] for images that are asked about wrongly.
    pub(super) fn of(m: &Match, stack: Stack, tolerance: Option<f64>) -> Result<Self, Failure> {
        let scene = match stack.layer.as_str() {
            "" => m.scene.clone(),
            layer => format!("{} {layer}", m.scene),
        };
        let mut found = Self {
            scene,
            names: (m.a.clone(), m.b.clone()),
            spp: m.spp,
            stack,
            pairs: Vec::new(),
            agreement: None,
            reason: String::new(),
            test: None,
            equal: false,
        };
        for (seed, at) in found.stack.pairs() {
            let (a, b) = (&found.stack.a[at.0].1, &found.stack.b[at.1].1);
            let metrics = match compare(a, b) {
                Ok(metrics) => Some(metrics),
                Err(MetricError::NonFinite { .. }) => None,
                Err(error @ MetricError::SizesDiffer { .. }) => {
                    return Err(Failure::Missing(format!("{error}{}", turned(a, b, &found.names))));
                }
                Err(error) => return Err(error.into()),
            };
            found.pairs.push(Compared { seed, at, metrics });
        }
        let is_equal = |pair: &Compared| {
            let limit = |m: &Metrics| tolerance.map_or(m.pixels_differing == 0, |limit| m.mse <= limit);
            pair.metrics.as_ref().is_some_and(limit)
        };
        found.equal = found.pairs.iter().all(is_equal);
        found.test()?;
        if found.pairs.iter().any(|pair| pair.metrics.is_none()) {
            found.name_broken_file(m);
        }
        Ok(found)
    }

    /// Runs the tests on all images of both sides.
    fn test(&mut self) -> Result<(), Failure> {
        // Values that end at 1 are taken for clipped light; an alpha of 1 has lost nothing, so half of it is tested.
        let of_test = |image: &LinearImage| match self.stack.kind {
            LayerKind::Alpha => image.scaled(0.5),
            _ => image.clone(),
        };
        let images = |side: &[(u64, LinearImage)]| side.iter().map(|(_, i)| of_test(i)).collect::<Vec<_>>();
        let (a, b) = (images(&self.stack.a), images(&self.stack.b));
        let pairing = if self.stack.is_paired() { Pairing::Paired } else { Pairing::Independent };
        let names = [self.names.0.as_str(), self.names.1.as_str()];
        match compare_named(&a, &b, pairing, &DecisionRule::default(), names) {
            Ok(found) => {
                (self.agreement, self.reason, self.test) = (Some(found.agreement), found.reason, found.test);
                Ok(())
            }
            Err(error @ ComparisonError::SameImageTwice { .. }) => {
                self.reason = error.to_string();
                // Equal images of every seed tell that nothing differs.
                self.agreement = self.equal.then_some(Agreement::Identical);
                Ok(())
            }
            Err(error) => Err(Failure::Input(format!("{} of {}: {error}", names.join(" and "), self.scene))),
        }
    }

    /// Whether every value of every image is zero.
    pub(super) fn is_black(&self) -> bool {
        let all = self.stack.a.iter().chain(&self.stack.b);
        self.stack.kind == LayerKind::Colour
            && all.flat_map(|(_, image)| image.pixels()).all(|pixel| *pixel == [0.0; 3])
    }

    /// Names the file of the first image with values that are not finite.
    fn name_broken_file(&mut self, m: &Match) {
        let (paths_a, paths_b) = stack::alike(m);
        let images = self.stack.a.iter().zip(paths_a).chain(self.stack.b.iter().zip(paths_b));
        let broken = images.map(|((_, image), (_, path))| (image.not_finite(), path));
        if let Some((Some((_, [x, y])), path)) = { broken }.find(|(found, _)| found.is_some()) {
            self.reason.push_str(&format!(": {}, from pixel {x},{y} on", path.display()));
        }
    }

    /// The verdict in a word or two.
    pub(super) fn word(&self) -> &'static str {
        self.agreement.map_or("cannot be compared", Agreement::as_str)
    }

    /// Images of how many seeds each side has, in words.
    pub(super) fn seeds(&self) -> String {
        let of = |n: usize| if n == 1 { "one seed".to_owned() } else { format!("{n} seeds") };
        match (self.stack.a.len(), self.stack.b.len()) {
            (a, b) if a == b => of(a),
            (a, b) => format!("{} against {}", of(a), of(b)),
        }
    }

    /// The record of a pair, with the verdict on all.
    pub(super) fn record(&self, pair: &Compared) -> Difference {
        let (a, b) = (TargetId::from(self.names.0.as_str()), TargetId::from(self.names.1.as_str()));
        let (image_a, image_b) = (&self.stack.a[pair.at.0].1, &self.stack.b[pair.at.1].1);
        let differing = image_a.pixels_differing(image_b);
        let record = match &pair.metrics {
            Some(metrics) => {
                Difference::new(&self.scene, (&a, &b), self.spp, pair.seed, metrics, differing == 0)
            }
            None => Difference {
                scene: self.scene.clone(),
                a,
                b,
                spp: self.spp,
                seed: pair.seed,
                // Values that are not finite have no error.
                errors: Errors {
                    mse: f64::NAN,
                    mse_linear: f64::NAN,
                    rmse: f64::NAN,
                    psnr: f64::NAN,
                    ssim: f64::NAN,
                },
                max_abs: f64::NAN,
                pixels_differing: differing,
                ..Difference::default()
            },
        };
        let verdict = self.agreement.map(|agreement| agreement.as_str().to_owned()).unwrap_or_default();
        let tests = self.test.as_ref().map(|test| Tests::new(test, &DecisionRule::default()));
        Difference { verdict, reason: self.reason.clone(), tests, ..record }
    }

    /// The noise of both sides, in words: which is noisier, and how many samples of the other that is worth.
    pub(super) fn noise(&self) -> Option<String> {
        let test = self.test.as_ref()?;
        // One image tells its noise by what the other shows alike.
        if test.probable.is_some() && self.stack.a.len().min(self.stack.b.len()) == 1 {
            return None;
        }
        let (side, times, or_more) = match test.noise.noisier()? {
            Noisier::Alike => return Some("the noise of both has the same variance".to_owned()),
            Noisier::By(side, times) => (side, times, false),
            Noisier::ByMoreThan(side, times) => (side, times, true),
        };
        let (more, less) = match side {
            Side::A => (&self.names.0, &self.names.1),
            Side::B => (&self.names.1, &self.names.0),
        };
        if or_more {
            return Some(format!("{more} has more than {times:.0} times the variance of {less}"));
        }
        let samples = match self.spp {
            0 => format!("one of its samples is worth {:.2} of {less}", 1.0 / times),
            spp => format!("its {spp} samples are worth {:.1} of {less}", f64::from(spp) / times),
        };
        Some(format!("{more} has {times:.1} times the variance of {less}: {samples}"))
    }

    /// The linear MSE between the sides over that between images of one side, where several seeds tell it.
    pub(super) fn floor(&self) -> Option<String> {
        let noise = &self.test.as_ref()?.noise;
        let (floor, ratio) = (noise.floor()?, noise.ratio()?);
        Some(format!(
            "linear MSE of {:.4e} between them, of {floor:.4e} between images of one of them under two seeds: a ratio \
             of {ratio:.3}",
            noise.between
        ))
    }

    /// The outliers in words, at most four.
    pub(super) fn outliers(&self) -> Option<String> {
        let test = self.test.as_ref().filter(|test| test.outlier_count > 0)?;
        let name = |difference: f64| if difference > 0.0 { &self.names.0 } else { &self.names.1 };
        let listed: Vec<String> = test
            .outliers
            .iter()
            .take(4)
            .map(|o| format!("({}, {}) brighter in {}", o.x, o.y, name(o.difference)))
            .collect();
        let more = if test.outlier_count > listed.len() { ", …" } else { "" };
        let plural = if test.outlier_count == 1 { "pixel stands" } else { "pixels stand" };
        Some(format!("{} {plural} out: {}{more}", test.outlier_count, listed.join(", ")))
    }

    /// The files' effect on the images: rounding and clipping, in words.
    pub(super) fn files(&self) -> Option<String> {
        let test = self.test.as_ref()?;
        let precision = test.precision.in_words().map(|words| format!("values are rounded to {words}"));
        let clipped = (test.clipped > 1e-3)
            .then(|| format!("up to {:.1} % of a side's values are clipped", 100.0 * test.clipped));
        let all: Vec<String> = precision.into_iter().chain(clipped).collect();
        (!all.is_empty()).then(|| format!("{}; the margin allows for it", all.join(", ")))
    }

    /// The metric that suits what the layer holds, in words.
    pub(super) fn own_metric_in_words(&self) -> Option<String> {
        self.own_metric().map(|(name, value)| format!("{name}: {value:.4}"))
    }

    /// The metric that suits what the layer holds, with its name; nothing for colours.
    pub(super) fn own_metric(&self) -> Option<(&'static str, f64)> {
        let pair = self.pairs.first()?;
        let (a, b) = (&self.stack.a[pair.at.0].1, &self.stack.b[pair.at.1].1);
        match self.stack.kind {
            LayerKind::Colour => None,
            LayerKind::Direction => Some(("mean angle, degrees", mean_angle(a, b))),
            LayerKind::Scalar | LayerKind::Alpha => Some(("mean relative error", mean_relative_error(a, b))),
        }
    }
}

/// The probable reason why two images have width and height exchanged, after a semicolon; empty where there is none.
fn turned(a: &LinearImage, b: &LinearImage, names: &(String, String)) -> String {
    let (one, other) = (std::slice::from_ref(a), std::slice::from_ref(b));
    let found =
        compare_named(one, other, Pairing::Independent, &DecisionRule::default(), [&names.0, &names.1]);
    let reason = found.map(|found| found.reason).unwrap_or_default();
    reason.split_once("; probably ").map_or_else(String::new, |(_, turn)| format!("; probably {turn}"))
}

/// The noise floor: each side's first image against its own under the other seeds.
///
/// # Errors
/// [`Failure::Metric`] for images of different sizes.
pub(super) fn noise_floor(found: &LayerVerdict) -> Result<Vec<Noise>, Failure> {
    let mut records = Vec::new();
    let sides = [(&found.names.0, &found.stack.a), (&found.names.1, &found.stack.b)];
    let seeds = sides.iter().map(|(_, images)| images.len()).max().unwrap_or(0);
    for other in 1..seeds {
        for (target, images) in sides {
            let (Some((seed, first)), Some((other_seed, image))) = (images.first(), images.get(other)) else {
                continue;
            };
            let metrics = match compare(first, image) {
                Ok(metrics) => metrics,
                Err(MetricError::NonFinite { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            records.push(Noise {
                scene: found.scene.clone(),
                target: target.as_str().into(),
                spp: found.spp,
                seed: *seed,
                other_seed: *other_seed,
                mse: metrics.mse,
                mse_linear: metrics.mse_linear,
                rendered_by: target.as_str().into(),
                ..Noise::default()
            });
        }
    }
    Ok(records)
}
