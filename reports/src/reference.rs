//! The reference of a scene, and how much of an error against it is its own noise.
//!
//! The error of `N` independent samples against a reference of `R` is expected to be `a / N + a / R`. The part `N / (N + R)`
//! of it is the reference's: below `a / R` no error can be told.

use crate::format::{count, plural};
use crate::records::TargetId;
use crate::study::Study;
use lockstep_core::Sampler;

/// How many times the samples of an image a reference has, at least, for its own noise to be left aside: it makes up to
/// 1/17 of the error.
pub(crate) const LEAST: u32 = 16;

/// The reference of a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SceneReference {
    /// Samples per pixel.
    pub(crate) samples: u32,
    /// The linear MSE that is expected of its own noise.
    pub(crate) noise: f64,
}

impl SceneReference {
    /// The reference of a scene's images at spp levels; nothing where it is a file, or where samples depend on each other,
    /// so that its noise cannot be told from theirs.
    pub(crate) fn of_levels(study: &Study, scene: &str) -> Option<Self> {
        let own = study.convergences.iter().filter(|c| c.scene == scene);
        Self::from_errors(study, own.map(|c| (c.against.as_str(), &c.target, c.spp, c.errors.mse_linear)))
    }

    /// The reference of a scene's images after equal time.
    pub(crate) fn of_times(study: &Study, scene: &str) -> Option<Self> {
        let own = study.equal_times.iter().filter(|e| e.scene == scene);
        Self::from_errors(study, own.map(|e| (e.against.as_str(), &e.target, e.spp, e.errors.mse_linear)))
    }

    /// From reference, target, samples and linear MSE of images: the median of what each tells.
    fn from_errors<'a>(
        study: &Study,
        errors: impl Iterator<Item = (&'a str, &'a TargetId, u32, f64)>,
    ) -> Option<Self> {
        if study.environment.settings.sampler == Sampler::Sobol {
            return None;
        }
        let mut samples = None;
        let mut noises = Vec::new();
        for (against, target, spp, mse) in errors {
            let (name, reference) = parts(against)?;
            samples = samples.max(Some(reference));
            let share = f64::from(spp) / (f64::from(spp) + f64::from(reference));
            if name.is_alike(target) && mse.is_finite() && mse > 0.0 {
                noises.push(mse * share);
            }
        }
        noises.sort_by(f64::total_cmp);
        Some(Self { samples: samples?, noise: *noises.get(noises.len() / 2)? })
    }

    /// Whether the reference's noise can be left aside in the error of an image of this many samples.
    pub(crate) fn is_clear(&self, spp: u32) -> bool {
        spp.saturating_mul(LEAST) <= self.samples
    }

    /// A sentence on its samples, and from how many on errors hold its noise.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "The reference has {} per pixel. Dashed: its own noise; errors of images of more than {} hold some of it.",
            plural(self.samples as usize, "sample"),
            count(u64::from(self.samples / LEAST))
        )
    }
}

/// Target and samples of a reference as records name it: `cpu-bvh, 512 spp, seed 7`.
pub(crate) fn parts(against: &str) -> Option<(TargetId, u32)> {
    let mut parts = against.split(", ");
    let (target, samples) = (parts.next()?, parts.next()?);
    Some((target.into(), samples.strip_suffix(" spp")?.parse().ok().filter(|&samples| samples > 0)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Convergence, Environment, Errors, Record};

    #[test]
    fn the_noise_of_a_reference_is_told_from_errors_that_hold_it() {
        let error = |spp: u32, against: &str| -> Record {
            let mse_linear = 1.0 / f64::from(spp) + 1.0 / 64.0;
            let errors = Errors { mse_linear, ..Errors::default() };
            let (scene, target, against) = ("s".into(), "cpu-bvh".into(), against.into());
            Convergence { scene, target, spp, errors, against, ..Convergence::default() }.into()
        };
        let of = |against: &str| {
            let records = [1, 4, 16, 64].map(|spp| error(spp, against)).to_vec();
            SceneReference::of_levels(&Study::from_records(records, Environment::default()), "s")
        };
        let found = of("opencl@pocl, 64 spp, seed 7").unwrap();
        assert!((found.noise - 1.0 / 64.0).abs() < 1e-12, "{found:?}");
        assert!(found.is_clear(4) && !found.is_clear(5));
        assert!(found.sentence().starts_with("The reference has 64 samples per pixel."));
        assert_eq!(of("cpu-bvh+vcm, 64 spp, seed 7"), None, "another integrator has another noise");
        assert_eq!(of("reference.exr"), None);
    }
}
