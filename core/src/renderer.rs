//! The seam: what a backend must do to be studied.
//!
//! A new backend implements [`Renderer`] and gets the whole study: the ladder of samples per pixel, pairwise
//! differences, timings, plots, goldens and the conformance suite. [`crate::null::NullRenderer`] is the smallest
//! complete example.

use crate::bvh::HierarchyReport;
use crate::error::{Error, Result};
use crate::film::{Film, Flaws};
use crate::intersect::{Hit, Ray};
use crate::kernels::KernelResources;
pub use crate::mode::Mode;
use crate::rng::{RayKey, SampleKey};
use crate::scene::Scene;
pub use crate::trace::{PathRequest, PathVertex};
use crate::variant::Variant;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One target (a backend on a device) that renders scenes into its film.
///
/// # Contract
///
/// * **A sample is a function of (scene, settings, pixel, sample index).** What sample `i` of pixel `p` contributes
///   depends on `p`, `i`, [`Settings`] and the scene alone: not on the range it was asked for in, the calls before, the
///   number of threads or the device's scheduling. So `accumulate(0..4)` leaves the same film as `0..1` then `1..4`.
/// * **Sums are integers.** The film adds [`crate::film::quantize`]d samples. A target in [`Mode::Exact`] that runs
///   the intersector of [`crate::intersect`] is bit-identical to every other such target.
/// * **Calls are synchronous.** When a method returns, the device is done, and the times in its report are the
///   device's own.
/// * **Errors leave the renderer usable.** After an error other than [`Error::Device`], `load` may be called again.
///
/// Renderers need not be `Send`: several libraries that backends wrap are not.
pub trait Renderer {
    /// Backend, device, driver, compiler and flags: printed beside every number.
    fn device(&self) -> &DeviceInfo;

    /// Takes a scene to the device, builds what it needs to trace rays, and clears the film to the size in `settings`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a mode or feature this target lacks, [`Error::Compile`] when device code does not
    /// build, [`Error::Device`] when the scene does not fit.
    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport>;

    /// Adds these sample indices of every pixel to the film; returns when the device is done.
    ///
    /// # Errors
    /// [`Error::Contract`] before the first `load` or when the film would exceed [`crate::film::MAX_SPP`].
    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport>;

    /// Copies the film to the host, replacing what `film` held.
    ///
    /// # Errors
    /// [`Error::Contract`] before the first `load`.
    fn read(&mut self, film: &mut Film) -> Result<()>;

    /// The paths of chosen samples, vertex by vertex, as this target traces them: for finding where two targets part.
    /// Runs the renderer's own path code; the last vertex's radiance is what the film takes for that sample. The film
    /// stays as it is.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by default; [`Error::Contract`] before the first `load` or for a pixel outside the film.
    fn trace(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PathVertex>>> {
        let _ = requests;
        Err(Error::Unsupported { actor: self.device().target.clone(), what: "tracing single paths".into() })
    }

    /// The ways to run passes over what is loaded that are worth comparing on this target, the default first; without those
    /// that only [`Renderer::vary`] can tell to be impossible.
    fn variants(&self) -> Vec<Variant> {
        vec![Variant::default()]
    }

    /// Makes passes run in another way from here on, until the next `load`, and empties the film. The scene stays where it
    /// is, so that ways can be timed in turns. An exact target leaves the same film and ray counts in each. After an error
    /// the way of before goes on.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by default, and for a way that this target does not know; [`Error::Device`] with the
    /// driver's reason for one that the device refuses, such as a work-group too large for it; [`Error::Contract`] before
    /// the first `load`.
    fn vary(&mut self, variant: &Variant) -> Result<VaryReport> {
        Err(Error::Unsupported {
            actor: self.device().target.clone(),
            what: format!("the variant {variant}"),
        })
    }

    /// What the kernels of the loaded scene's mode take of the device. Empty before the first `load`, and where no
    /// device code is compiled.
    fn kernel_resources(&self) -> Vec<KernelResources> {
        Vec::new()
    }

    /// Traces given rays through the loaded scene, `passes` times over, and nothing else: for measuring traversal and
    /// for comparing hits. Films are not touched. Where coverage is stochastic, ray `i` draws as [`cast_key`] says.
    ///
    /// Where `hits` is given it receives what each ray found, in the order of `rays`. An any-hit query finds
    /// [`Hit::OCCLUDED`] or a miss.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by default; [`Error::Contract`] before the first `load`.
    fn cast(
        &mut self,
        rays: &[Ray],
        query: Query,
        passes: u32,
        hits: Option<&mut Vec<Hit>>,
    ) -> Result<CastReport> {
        let _ = (rays, query, passes, hits);
        Err(Error::Unsupported { actor: self.device().target.clone(), what: "casting given rays".into() })
    }
}

/// What is asked of a ray.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Query {
    /// The nearest surface.
    Closest,
    /// Whether there is any surface.
    Any,
}

/// What [`Renderer::cast`] took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CastReport {
    /// Device time of each pass over all rays, in milliseconds.
    pub ms: Vec<f64>,
    /// Processor time of each pass over all threads in milliseconds, which a busy machine does not change; empty where
    /// the device is no processor that can tell.
    pub busy_ms: Vec<f64>,
    /// The acceleration structure that answered, such as `BVH2`.
    pub layout: String,
}

/// What stochastic coverage is hashed from along ray `index` of a cast: it is treated as pixel `index`'s ray of sample 0
/// under seed 0, the camera ray for [`Query::Closest`] and the first shadow ray for [`Query::Any`].
#[inline(always)]
pub const fn cast_key(query: Query, index: u32) -> RayKey {
    let sample = SampleKey { pixel: index, sample: 0, seed: 0 };
    match query {
        Query::Closest => RayKey::extension(sample, 0),
        Query::Any => RayKey::shadow(sample, 0),
    }
}

/// Who renders, in enough detail to repeat a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// The target's name on the command line, such as `cpu-bvh` or `cuda@0`.
    pub target: String,
    /// The backend: `cpu`, `opencl`, `cuda`.
    pub backend: String,
    /// The device's marketing name.
    pub device: String,
    /// Driver or runtime library with its version.
    pub driver: String,
    /// The compiler that made the code which runs.
    pub compiler: String,
    /// Flags given to that compiler.
    pub flags: String,
    /// Hardware threads or compute units used.
    pub compute_units: u32,
    /// Clocks as the driver reports them, empty when unknown.
    pub clocks: String,
    /// Hash of the device code, empty for the Rust reference.
    pub kernel_hash: String,
    /// True when exact mode promises bit-identity with every other exact target.
    pub exact: bool,
    /// A remark for people, such as why this device is preferred to others of its backend; often empty.
    #[serde(default)]
    pub note: String,
}

/// Which estimator of direct light runs. All three have the same mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Strategy {
    /// Light and BSDF sampling combined by the power heuristic (Veach 1997).
    #[default]
    Mis = 0,
    /// Next-event estimation only.
    LightOnly = 1,
    /// BSDF sampling only; punctual lights, which it cannot hit, are still sampled.
    BsdfOnly = 2,
}

/// What to render, apart from the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Film width in pixels, 1 to 65,535.
    pub width: u32,
    /// Film height in pixels, 1 to 65,535.
    pub height: u32,
    /// Scattering events along a path: 0 shows emission only, 1 direct light. At most [`MAX_BOUNCES`].
    pub bounces: u32,
    /// Selects the random numbers. Studies that share a seed share every draw.
    pub seed: u32,
    /// The arithmetic.
    pub mode: Mode,
    /// The estimator.
    pub strategy: Strategy,
    /// The first bounce after which Russian roulette may end a path; `None` leaves it off.
    pub roulette_from: Option<u32>,
}

/// The most bounces a path may have.
pub const MAX_BOUNCES: u32 = 255;

impl Default for Settings {
    fn default() -> Self {
        Self {
            width: 640,
            height: 360,
            bounces: 3,
            seed: 0,
            mode: Mode::Exact,
            strategy: Strategy::Mis,
            roulette_from: None,
        }
    }
}

impl Settings {
    /// Checks ranges once, so that backends need not.
    ///
    /// # Errors
    /// [`Error::Contract`] naming the setting out of range.
    pub fn validate(&self) -> Result<()> {
        Film::new(self.width, self.height)?;
        if self.bounces > MAX_BOUNCES {
            return Err(Error::Contract {
                actor: "settings".into(),
                message: format!(
                    "{} bounces were asked for; at most {MAX_BOUNCES} are possible",
                    self.bounces
                ),
            });
        }
        Ok(())
    }
}

/// What `load` cost. Times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadReport {
    /// Building the acceleration structure, or reading it from the cache.
    pub build_ms: f64,
    /// What there is to say of the hierarchy; `None` where it is none of [`crate::bvh`].
    #[serde(default)]
    pub hierarchy: Option<HierarchyReport>,
    /// Compiling device code; zero when ahead of time or cached.
    pub compile_ms: f64,
    /// Copying the scene to the device.
    pub upload_ms: f64,
    /// Bytes the scene and its acceleration structure take on the device.
    pub device_bytes: u64,
}

/// What [`Renderer::vary`] cost and chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VaryReport {
    /// Compiling device code and launching it for the first time, in milliseconds; zero when it was ready.
    pub compile_ms: f64,
    /// Work-items of a work-group, where there are any.
    pub group: Option<u32>,
}

/// Device time of one pass by stage, in milliseconds.
///
/// On a device with several workers that run different stages at once, a stage's time is its share of all workers'
/// time, so stages add up to the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTimes {
    /// Making camera rays.
    pub generate_ms: f64,
    /// Closest hits of extension rays.
    pub extend_ms: f64,
    /// Emission, light and BSDF sampling, queue compaction.
    pub shade_ms: f64,
    /// Occlusion of shadow rays and adding of unoccluded light.
    pub connect_ms: f64,
    /// The whole pass on the device; what exceeds the four stages is queue handling and gaps, and kernels that run several
    /// stages.
    pub total_ms: f64,
}

/// Rays of one bounce, summed over the pass. Equal seeds give equal counts on every exact target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BounceCounts {
    /// Extension rays traced.
    pub extension_rays: u64,
    /// Extension rays that hit a surface.
    pub hits: u64,
    /// Shadow rays traced.
    pub shadow_rays: u64,
    /// Shadow rays that reached their light.
    pub unoccluded: u64,
}

/// What one `accumulate` did and how long the device took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassReport {
    /// Device time.
    pub stages: StageTimes,
    /// Ray counts, one entry for each bounce reached.
    pub bounces: Vec<BounceCounts>,
    /// Samples of this pass that had to be altered.
    pub flaws: Flaws,
}

impl PassReport {
    /// Extension rays over all bounces.
    pub fn extension_rays(&self) -> u64 {
        self.bounces.iter().map(|b| b.extension_rays).sum()
    }

    /// Shadow rays over all bounces.
    pub fn shadow_rays(&self) -> u64 {
        self.bounces.iter().map(|b| b.shadow_rays).sum()
    }
}
