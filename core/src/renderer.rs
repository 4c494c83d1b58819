//! The renderer trait: the contract that a backend implements.
//!
//! A new backend implements [`Renderer`] and gets the whole study: films at 1, 2, 4 … samples per pixel,
//! pairwise differences, timings, plots, goldens and the conformance suite. [`crate::null::NullRenderer`] is
//! the smallest complete example.

use crate::DeviceInfo;
use crate::KernelConfig;
use crate::error::{Error, Result};
use crate::film::{Film, MAX_SPP};
use crate::geometry::{Hit, Ray};
use crate::math::rng::{RayKey, SampleKey};
use crate::path_record::{PairStep, PathRequest, PathVertex};
use crate::report::{ConfigureReport, KernelResources, LoadReport, PassReport, TraceRaysReport};
use crate::sampler::Sampler;
use crate::scene::Scene;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One target (a backend on a device) that renders scenes into its film.
///
/// # Contract
///
/// * **A sample index determines its contributions.** What sample `i` adds to the film, wherever it lands,
///   depends on `i`, [`Settings`] (seed and integrator among them) and the scene alone: not on the range it
///   was asked for in, the calls before, the number of threads or the device's scheduling. So
///   `accumulate(0..4)` leaves the same film as `0..1` then `1..4`, and any number of devices can share an
///   image. For path tracing, sample `i` of a pixel lands in that pixel; integrators that trace paths from
///   lights splat into others.
/// * **Sums are integers.** The film adds [`crate::film::quantize`]d samples. A target in
///   [`crate::Mode::Exact`] that runs the intersector of [`crate::geometry`] is bit-identical to every other
///   such target.
/// * **Calls are synchronous.** When a method returns, the device is done, and the times in its report are
///   the device's own.
/// * **Errors leave the renderer usable.** After an error other than [`Error::Device`], `load` may be called
///   again.
///
/// Renderers need not be `Send`: several libraries that backends wrap are not.
///
/// The four methods without a body are the contract. The others are optional: by default they return
/// [`Error::Unsupported`] or an empty answer.
pub trait Renderer {
    /// Backend, device, driver, compiler and flags: printed beside every number.
    fn device(&self) -> &DeviceInfo;

    /// Uploads a scene, builds its acceleration structure, and clears the film to the size in `settings`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a mode, integrator or feature that this target lacks, [`Error::Compile`]
    /// when device code does not build, [`Error::Device`] when the scene does not fit.
    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport>;

    /// Bytes that the photons of the passes in flight and their grids take at most under these settings, known before `load` allocates
    /// them. 0 for integrators without photons, and by default.
    fn photon_map_bytes(&self, settings: &Settings) -> u64 {
        let _ = settings;
        0
    }

    /// Adds these sample indices of every pixel to the film; returns when the device is done.
    ///
    /// # Errors
    /// [`Error::Contract`] before the first `load` or when the film would exceed [`crate::film::MAX_SPP`].
    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport>;

    /// Copies the film to the host, replacing the contents of `film`.
    ///
    /// # Errors
    /// [`Error::Contract`] before the first `load`.
    fn read(&mut self, film: &mut Film) -> Result<()>;

    /// Records the paths of chosen samples, vertex by vertex, to find where two targets diverge. Runs the
    /// renderer's own path code: the last vertex's radiance is the film's contribution of that sample. The
    /// film stays as it is.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by default; [`Error::Contract`] before the first `load` or for a pixel outside
    /// the film.
    fn record_paths(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PathVertex>>> {
        let _ = requests;
        Err(self.unsupported("recording paths"))
    }

    /// Records the pairs of light and camera sub-paths of chosen samples, step by step, for integrators that have
    /// them. Runs the renderer's own code: the contributions are those that the film receives from the samples. The
    /// film stays as it is.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by default and for other integrators; [`Error::Contract`] before the first `load` or
    /// for a pixel outside the film.
    fn record_pairs(&mut self, requests: &[PathRequest]) -> Result<Vec<Vec<PairStep>>> {
        let _ = requests;
        Err(self.unsupported("recording pairs of sub-paths"))
    }

    /// Kernel configurations worth comparing on this target for the loaded scene, the default first.
    /// [`Renderer::configure`] may still refuse some.
    fn kernel_configs(&self) -> Vec<KernelConfig> {
        vec![KernelConfig::default()]
    }

    /// Selects a kernel configuration and clears the film; the scene stays resident. The configuration holds
    /// until the next `load`. An exact target leaves the same film and ray counts in each that
    /// [`KernelConfig::keeps_film`]. On error the previous configuration stays active.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by default, and for a configuration that this target does not know;
    /// [`Error::Device`] with the driver's reason for one that the device refuses, such as a work-group too
    /// large for it; [`Error::Contract`] before the first `load`.
    fn configure(&mut self, config: &KernelConfig) -> Result<ConfigureReport> {
        Err(self.unsupported(&format!("the kernel configuration {config}")))
    }

    /// Registers, stack and shared memory of the compiled kernels. Empty before the first `load`, and on
    /// targets without compiled device code.
    fn kernel_resources(&self) -> Vec<KernelResources> {
        Vec::new()
    }

    /// Traces given rays through the loaded scene, `passes` times, to measure traversal or to compare hits.
    /// The film stays as it is. The random number key of ray `i` is [`ray_query_key`].
    ///
    /// Where `hits` is given it receives each ray's hit, in the order of `rays`. An any-hit query finds
    /// [`Hit::OCCLUDED`] or a miss.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by default; [`Error::Contract`] before the first `load`.
    fn trace_rays(
        &mut self,
        rays: &[Ray],
        query: Query,
        passes: u32,
        hits: Option<&mut Vec<Hit>>,
    ) -> Result<TraceRaysReport> {
        let _ = (rays, query, passes, hits);
        Err(self.unsupported("tracing given rays"))
    }

    /// The [`Error::Unsupported`] of this target for a request.
    fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported { actor: self.device().target.to_string(), what: what.into() }
    }
}

/// A ray query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Query {
    /// Closest hit.
    Closest,
    /// Any hit.
    Any,
}

/// The random number key of ray `index` of [`Renderer::trace_rays`]: that of pixel `index` in sample 0 under
/// seed 0, of the camera ray for [`Query::Closest`] and of the first shadow ray for [`Query::Any`].
#[inline(always)]
pub const fn ray_query_key(query: Query, index: u32) -> RayKey {
    let sample = SampleKey { pixel: index, sample: 0, seed: 0, sampler: Sampler::Pcg };
    match query {
        Query::Closest => RayKey::extension(sample, 0),
        Query::Any => RayKey::shadow(sample, 0),
    }
}

/// The error of a call before `load`.
pub fn nothing_loaded() -> Error {
    Error::Contract { actor: "renderer".into(), message: "no scene is loaded; call `load` first".into() }
}

/// The number of samples that a pass adds, if a film that holds `spp` has room for them.
///
/// # Errors
/// [`Error::Contract`] when the range is reversed or the film would exceed [`MAX_SPP`].
pub fn check_range(spp: u32, samples: &Range<u32>) -> Result<u32> {
    let count = samples.end.checked_sub(samples.start);
    match count {
        Some(count) if spp.saturating_add(count) <= MAX_SPP => Ok(count),
        _ => Err(Error::Contract {
            actor: "renderer".into(),
            message: format!(
                "samples {}..{} cannot be added to {} of at most {MAX_SPP}",
                samples.start, samples.end, spp
            ),
        }),
    }
}
