//! The kinds of record and their fields.
//!
//! Field names are part of the file format: fields and kinds may be added, none changes its meaning. Every
//! struct has a `Default`, so that code which fills one with `..Default::default()` keeps compiling.

use super::pair_mode;
use lockstep_core::{Mode, StageTime, TargetId, stage};
use lockstep_metrics::float;
use lockstep_metrics::metrics::{FloatMetrics, Metrics};
use lockstep_metrics::statistics::{DecisionRule, TestResult};
use serde::{Deserialize, Serialize};

/// Errors between two images, as fields of every record that compares some. Their formulas are in
/// [`lockstep_metrics::metrics`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Errors {
    /// Mean squared error over 8-bit sRGB values, 0 to 65025.
    #[serde(with = "float")]
    pub mse: f64,
    /// Mean squared error over linear radiance.
    #[serde(with = "float")]
    pub mse_linear: f64,
    /// Square root of `mse`, 0 to 255.
    #[serde(with = "float")]
    pub rmse: f64,
    /// Peak signal-to-noise ratio in dB from `mse`, peak 255; infinite when `mse` is 0.
    #[serde(with = "float")]
    pub psnr: f64,
    /// Structural similarity over 8×8 boxes of 8-bit luma, at most 1.
    #[serde(with = "float")]
    pub ssim: f64,
}

impl From<&Metrics> for Errors {
    fn from(m: &Metrics) -> Self {
        Self { mse: m.mse, mse_linear: m.mse_linear, rmse: m.rmse, psnr: m.psnr, ssim: m.ssim }
    }
}

/// Two targets' images of one scene at one level, compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// Scene name.
    pub scene: String,
    /// First target.
    pub a: TargetId,
    /// Second target.
    pub b: TargetId,
    /// Samples per pixel of both images.
    pub spp: u32,
    /// Random seed of both images.
    pub seed: u64,
    /// How far one image is from the other.
    #[serde(flatten)]
    pub errors: Errors,
    /// Greatest absolute difference of a linear channel.
    #[serde(with = "float")]
    pub max_abs: f64,
    /// Pixels in which any linear channel differs.
    pub pixels_differing: u64,
    /// Whether the two films' integers are equal.
    pub identical: bool,
    /// How both targets were compiled; `fast` when either was.
    pub mode: Mode,
    /// Metrics in floating point, as fields of the record; records of the first version have none.
    #[serde(flatten)]
    pub float: Option<FloatMetrics>,
    /// Mean squared error over linear radiance of the samples that this level adds to the one below, which no
    /// other level has; nothing where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_mse_linear: Option<f64>,
    /// Samples per pixel that this level adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_spp: Option<u32>,
    /// `identical`, `within noise`, `inconclusive`, `biased` or `broken` by the rule of [`lockstep_metrics::statistics`];
    /// empty where it was not applied.
    pub verdict: String,
    /// Reason for the verdict, in a sentence; empty for identical films.
    pub reason: String,
    /// The tests behind the verdict; nothing where films are identical or broken.
    #[serde(flatten)]
    pub tests: Option<Tests>,
}

/// The tests behind the verdict on a pair.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tests {
    /// `differences`; `welch` in records of earlier versions.
    pub test: String,
    /// The probability of a false alarm that the rule allows.
    #[serde(with = "float")]
    pub alpha: f64,
    /// Least p-value, corrected for the number of tests.
    #[serde(with = "float")]
    pub p: f64,
    /// Tests: tiles of all scales times three channels.
    pub tests: u64,
    /// Tests that reject.
    pub tests_rejected: u64,
    /// Tiles of the finest scale.
    pub tiles: u64,
    /// Tiles of the finest scale that reject in any channel.
    pub tiles_rejected: u64,
    /// Left edge of the most significant tile, in pixels.
    pub worst_x: u32,
    /// Upper edge of the most significant tile, in pixels.
    pub worst_y: u32,
    /// Side of the most significant tile, in pixels.
    pub worst_side: u32,
    /// Difference of the most significant tile's means, A − B, over the mean of both.
    #[serde(with = "float")]
    pub worst_relative: f64,
}

impl Tests {
    /// The figures of a test result.
    pub fn new(result: &TestResult, rule: &DecisionRule) -> Self {
        Self {
            test: "differences".to_owned(),
            alpha: rule.alpha,
            p: result.p,
            tests: result.tests as u64,
            tests_rejected: result.tests_rejected as u64,
            tiles: result.tiles as u64,
            tiles_rejected: result.tiles_rejected as u64,
            worst_x: result.worst.x,
            worst_y: result.worst.y,
            worst_side: result.worst.side,
            worst_relative: result.worst.relative,
        }
    }
}

impl Difference {
    /// A record of one comparison. `identical` is the verdict on the films' integers, which the images alone
    /// cannot give.
    pub fn new(
        scene: &str,
        pair: (&TargetId, &TargetId),
        spp: u32,
        seed: u64,
        m: &Metrics,
        identical: bool,
    ) -> Self {
        Self {
            scene: scene.to_owned(),
            a: pair.0.clone(),
            b: pair.1.clone(),
            spp,
            seed,
            errors: Errors::from(m),
            max_abs: m.max_abs,
            pixels_differing: m.pixels_differing,
            identical,
            mode: pair_mode(pair.0, pair.1),
            float: Some(m.float),
            ..Self::default()
        }
    }
}

/// The noise floor: one target's image at one level against its own under another seed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Noise {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Samples per pixel of both images.
    pub spp: u32,
    /// Random seed of one image.
    pub seed: u64,
    /// Random seed of the other image.
    pub other_seed: u64,
    /// Mean squared error over 8-bit sRGB values, 0 to 65025.
    #[serde(with = "float")]
    pub mse: f64,
    /// Mean squared error over linear radiance.
    #[serde(with = "float")]
    pub mse_linear: f64,
    /// The target that rendered under the other seed: one whose films under the first are identical at every
    /// level.
    pub rendered_by: TargetId,
    /// How the target was compiled.
    pub mode: Mode,
}

/// One target's image at one level against the scene's reference.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Convergence {
    /// Scene name.
    pub scene: String,
    /// The target that rendered the image.
    pub target: TargetId,
    /// Samples per pixel of the image.
    pub spp: u32,
    /// Random seed of the image.
    pub seed: u64,
    /// How far the image is from the reference.
    #[serde(flatten)]
    pub errors: Errors,
    /// The reference: a file, or target, samples per pixel and seed.
    pub against: String,
    /// How the target was compiled.
    pub mode: Mode,
    /// Errors that see more than 8 bits, as in [`Difference`].
    #[serde(flatten)]
    pub float: Option<FloatMetrics>,
}

impl Convergence {
    /// A record of one comparison with the reference.
    pub fn new(scene: &str, target: &TargetId, spp: u32, seed: u64, m: &Metrics, against: &str) -> Self {
        Self {
            scene: scene.to_owned(),
            target: target.clone(),
            spp,
            seed,
            errors: Errors::from(m),
            against: against.to_owned(),
            mode: target.mode,
            float: Some(m.float),
        }
    }
}

/// Time and rays of one step of the schedule: the samples `spp_from..spp_to` of every pixel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// First sample index of the step.
    pub spp_from: u32,
    /// One past its last sample index.
    pub spp_to: u32,
    /// Random seed.
    pub seed: u64,
    /// Which repeat of the same step, from 0.
    pub repeat: u32,
    /// Making camera rays, in milliseconds.
    #[serde(with = "float")]
    pub generate_ms: f64,
    /// Closest-hit traversal, in milliseconds.
    #[serde(with = "float")]
    pub extend_ms: f64,
    /// Shading and sampling, in milliseconds, with merges with photons where [`Timing::stages`] lists shading.
    #[serde(with = "float")]
    pub shade_ms: f64,
    /// Any-hit traversal and adding the light that arrives, in milliseconds.
    #[serde(with = "float")]
    pub connect_ms: f64,
    /// The rest of `total_ms` beyond these four stages: scheduling, clearing, resolving, and stages of other names.
    #[serde(with = "float")]
    pub other_ms: f64,
    /// The whole step, in milliseconds.
    #[serde(with = "float")]
    pub total_ms: f64,
    /// Traversal alone, `extend_ms` plus the traversal inside connect, in milliseconds.
    #[serde(with = "float")]
    pub trace_ms: f64,
    /// Milliseconds of every stage that the target tells, by name, in the order of their first launch. Empty in older
    /// records, and of programs, whose stages are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageTime>,
    /// Camera and extension rays traced.
    pub extension_rays: u64,
    /// Shadow rays traced.
    pub shadow_rays: u64,
    /// All rays over `total_ms`, in million rays a second; NaN when no time passed.
    #[serde(with = "float")]
    pub mrays_inclusive: f64,
    /// All rays over `trace_ms`, in million rays a second; NaN when no time passed.
    #[serde(with = "float")]
    pub mrays_exclusive: f64,
    /// Samples taken in the step: pixels times `spp_to - spp_from`.
    pub samples: u64,
    /// Host threads that took part; 0 when the work was a device's.
    pub threads: u32,
    /// Extension rays of each bounce, camera rays first; empty when not counted.
    pub extension_rays_by_bounce: Vec<u64>,
    /// Shadow rays of each bounce; empty when not counted.
    pub shadow_rays_by_bounce: Vec<u64>,
    /// How the target was compiled.
    pub mode: Mode,
}

impl Timing {
    /// Fills `other_ms`, `mrays_inclusive` and `mrays_exclusive` from the times and ray counts.
    pub fn with_derived(mut self) -> Self {
        let stages = self.generate_ms + self.extend_ms + self.shade_ms + self.connect_ms;
        self.other_ms = (self.total_ms - stages).max(0.0);
        let rays = self.rays();
        self.mrays_inclusive = mega_per_second(rays, self.total_ms);
        self.mrays_exclusive = mega_per_second(rays, self.trace_ms);
        self
    }

    /// Milliseconds of every stage by name, and the rest of `total_ms`. Records without [`Timing::stages`] have the four of
    /// path tracing.
    pub fn by_stage(&self) -> (Vec<StageTime>, f64) {
        if !self.stages.is_empty() {
            let sum: f64 = self.stages.iter().map(|stage| stage.ms).sum();
            return (self.stages.clone(), (self.total_ms - sum).max(0.0));
        }
        let four = [
            (stage::GENERATE, self.generate_ms),
            (stage::EXTEND, self.extend_ms),
            (stage::SHADE, self.shade_ms),
            (stage::CONNECT, self.connect_ms),
        ];
        (four.map(|(name, ms)| StageTime { name: name.into(), ms }).into(), self.other_ms)
    }

    /// Extension and shadow rays. A sum beyond 64 bits, which an altered record may ask for, stays at the greatest.
    pub fn rays(&self) -> u64 {
        self.extension_rays.saturating_add(self.shadow_rays)
    }
}

/// Million a second from a count and milliseconds; NaN when no time passed.
pub fn mega_per_second(count: u64, ms: f64) -> f64 {
    if ms > 0.0 { count as f64 / ms / 1e3 } else { f64::NAN }
}

/// The cost of taking a scene to a target: times and memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Load {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Building the acceleration structure or reading it from the cache, in milliseconds.
    #[serde(with = "float")]
    pub build_ms: f64,
    /// Whether the acceleration structure was read from the cache; nothing for a structure that the cache does not keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
    /// Compiling kernels, in milliseconds; 0 where there are none.
    #[serde(with = "float")]
    pub compile_ms: f64,
    /// Copying to the device, in milliseconds.
    #[serde(with = "float")]
    pub upload_ms: f64,
    /// Triangles in the scene, instances not multiplied out.
    pub triangles: u64,
    /// Bytes the target holds for the scene.
    pub device_bytes: u64,
    /// Bytes of the photon maps of all passes that may be in flight at once, beside those of the scene; 0 without photon
    /// maps, and in older records.
    #[serde(skip_serializing_if = "is_zero")]
    pub photon_map_bytes: u64,
    /// How the target was compiled.
    pub mode: Mode,
}

/// Whether a size is left out of a record.
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// Rays of one bounce of one step of the schedule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bounce {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// First sample index of the step.
    pub spp_from: u32,
    /// One past its last sample index.
    pub spp_to: u32,
    /// Bounce number; 0 is the camera rays.
    pub bounce: u32,
    /// Extension rays traced.
    pub extension_rays: u64,
    /// Number of extension rays that hit a surface.
    pub hits: u64,
    /// Shadow rays traced from the hits of this bounce.
    pub shadow_rays: u64,
    /// Number of shadow rays that reached their light.
    pub unoccluded: u64,
    /// How the target was compiled.
    pub mode: Mode,
}

/// How often two targets' intersectors chose different primitives for the same ray, and what that did to the
/// image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hits {
    /// Scene name.
    pub scene: String,
    /// First target.
    pub a: TargetId,
    /// Second target.
    pub b: TargetId,
    /// Samples per pixel of the images compared.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
    /// Rays traced by both targets.
    pub rays: u64,
    /// Rays for which the targets named different instances or primitives.
    pub primitive_differs: u64,
    /// Rays that hit on one target and missed on the other; counted in `primitive_differs` too.
    pub hit_or_miss_differs: u64,
    /// Rays with the same primitive but another distance or barycentrics.
    pub distance_differs: u64,
    /// Pixels of the image.
    pub pixels: u64,
    /// Pixels that differ.
    pub pixels_differing: u64,
    /// `pixels_differing` over `pixels`, 0 to 1.
    #[serde(with = "float")]
    pub share: f64,
    /// Reason for the different hits, in a sentence.
    pub why: String,
    /// How both targets were compiled; `fast` when either was.
    pub mode: Mode,
}

/// Samples that a film refused or altered. Any of them fails a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InvalidSamples {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Samples per pixel so far.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
    /// Samples with a NaN or an infinity.
    pub non_finite: u64,
    /// Samples with a negative channel.
    pub negative: u64,
    /// Samples above the film's range.
    pub clamped: u64,
    /// How the target was compiled.
    pub mode: Mode,
}

/// A target, or a scene on a target, that was left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skip {
    /// The target, or nothing when a whole scene was left out; written as an empty text.
    #[serde(with = "optional_target")]
    pub target: Option<TargetId>,
    /// The scene, or nothing when the target is absent altogether.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<String>,
    /// The missing thing.
    pub reason: String,
    /// The remedy, for a person to apply.
    pub remedy: String,
}

impl Skip {
    /// The target and scene that were left out: `cuda on cornell`, or either where it is alone.
    pub fn subject(&self) -> String {
        let parts = self.target.as_ref().map(ToString::to_string).into_iter().chain(self.scene.clone());
        parts.collect::<Vec<_>>().join(" on ")
    }
}

/// A target or none, as a text that is empty for none.
mod optional_target {
    use lockstep_core::TargetId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(target: &Option<TargetId>, to: S) -> Result<S::Ok, S::Error> {
        target.as_ref().map(ToString::to_string).unwrap_or_default().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TargetId>, D::Error> {
        let label = String::deserialize(from)?;
        Ok((!label.is_empty()).then(|| label.into()))
    }
}

/// A remark for the reader of the report: interrupted, resumed, reference taken from a cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// The scene that it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<String>,
    /// The target that it is about, if any: a label, since a remark on a comparison names two and their level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The remark.
    pub text: String,
}

/// How the remark on what a program cannot express begins.
const OTHERWISE: &str = "renders it otherwise: ";

impl Note {
    /// The remark that a target cannot express a scene: what it renders in place of a feature.
    pub fn otherwise(scene: &str, target: &TargetId, what: &str) -> Self {
        Self {
            scene: Some(scene.to_owned()),
            target: Some(target.to_string()),
            text: format!("{OTHERWISE}{what}"),
        }
    }

    /// Scene, target and substitute of a remark made by [`Self::otherwise`].
    pub fn as_otherwise(&self) -> Option<[&str; 3]> {
        let what = self.text.strip_prefix(OTHERWISE)?;
        Some([self.scene.as_deref()?, self.target.as_deref()?, what])
    }

    /// The remark with the scene and target that it is about.
    pub fn sentence(&self) -> String {
        // A name that the remark itself has as a word is not told twice.
        let is_in = |name: &str| {
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "-@+_".contains(c));
            self.text.match_indices(name).any(|(at, _)| {
                let (before, after) = (&self.text[..at], &self.text[at + name.len()..]);
                !is_part(before.chars().next_back()) && !is_part(after.chars().next())
            })
        };
        let about = |part: &Option<String>| match part {
            Some(name) if !is_in(name) => format!("{name}: "),
            _ => String::new(),
        };
        format!("{}{}{}", about(&self.scene), about(&self.target), self.text)
    }
}

/// A picture of where two targets' images differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Map {
    /// Scene name.
    pub scene: String,
    /// First target.
    pub a: TargetId,
    /// Second target.
    pub b: TargetId,
    /// Samples per pixel of the images compared.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
    /// The quantity shown: `flip`, `flip-hdr`, `difference`, `p-value`.
    pub quantity: String,
    /// The file, relative to the study's folder, with slashes.
    pub file: String,
    /// The factor by which values were multiplied before they were drawn.
    #[serde(with = "float")]
    pub scale: f64,
    /// How both targets were compiled; `fast` when either was.
    pub mode: Mode,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_names_what_it_is_about_once() {
        let note = |scene: &str, text: &str| {
            Note { scene: Some(scene.into()), text: text.into(), ..Note::default() }.sentence()
        };
        assert_eq!(note("hall", "the reference of hall has 9 spp"), "the reference of hall has 9 spp");
        assert_eq!(
            note("hall", "the reference of hall-2 has 9 spp"),
            "hall: the reference of hall-2 has 9 spp"
        );
        assert_eq!(note("s", "stopped"), "s: stopped");
    }
}
