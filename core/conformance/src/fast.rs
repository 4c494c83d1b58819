//! The fast mode against the exact one, by their means over many seeds.

use crate::statistics::{mean_and_variance, welch_t};
use crate::{Checked, Outcome, Subject, everything, made, mean, render, scenes, tolerances};
use lockstep_core::scene::{Material, Scene};
use lockstep_core::{Mode, Settings};

/// Seeds of each build. The builds share none, so their noise is independent, as the test assumes.
const SEEDS: u32 = 32;
/// Samples per pixel of an image: with 32x32 pixels and 32 seeds the standard error of every mean below is
/// under 0.25 %.
const SPP: u32 = 64;

/// Mean radiance of one scene's images, one for each seed.
#[derive(Clone, Debug)]
pub struct Means {
    /// The scene.
    pub scene: String,
    /// Mean radiance of the exact build under each seed.
    pub exact: Vec<f64>,
    /// Mean radiance of the fast build under each seed of a second set.
    pub fast: Vec<f64>,
}

impl Means {
    /// The difference of means beyond noise, as a sentence; `None` where there is none.
    pub fn disagreement(&self) -> Option<String> {
        let ((exact, _), (fast, _)) = (mean_and_variance(&self.exact), mean_and_variance(&self.fast));
        let off = (fast - exact) / exact;
        let t = welch_t(&self.exact, &self.fast);
        let differs = t.abs() > tolerances::WELCH_FAST && off.abs() > tolerances::FAST_ROUNDING;
        // A mean that is not a number agrees with nothing.
        (differs || !off.is_finite()).then(|| {
            format!(
                "{}: the fast mean {fast} is {off:.2e} off the exact mean {exact}, t = {t:.2}",
                self.scene
            )
        })
    }
}

/// Renders several scenes under many seeds in both modes.
///
/// # Errors
/// A scene that does not render.
///
/// # Panics
/// When a film has invalid samples.
pub fn fast_means(subject: &Subject<'_>) -> Checked<Vec<Means>> {
    let mut renderer = subject.open()?;
    let all = [
        scenes::everything(),
        scenes::small_and_large_light(),
        scenes::furnace(Material::dielectric(1.5, 0.4)),
        scenes::floor_under_ball(0.5, Material::emitter([10.0; 3]), [1.5, 1.5, -0.5], 0.3),
    ];
    let mut means = |scene: &Scene, mode, first: u32| -> Checked<Vec<f64>> {
        (first..first + SEEDS)
            .map(|seed| {
                let settings =
                    Settings { width: 32, height: 32, bounces: 3, seed, mode, ..Settings::default() };
                let (film, _) = render(renderer.as_mut(), scene, &settings, SPP)?;
                assert!(film.invalid.is_zero(), "{} in {mode:?} mode: {:?}", scene.name, film.invalid);
                Ok(mean(&film))
            })
            .collect()
    };
    let of_scene = |scene| {
        let scene = made(scene)?;
        let (exact, fast) = (means(&scene, Mode::Exact, 0)?, means(&scene, Mode::Fast, SEEDS)?);
        Ok(Means { scene: scene.name.clone(), exact, fast })
    };
    all.into_iter().map(of_scene).collect()
}

/// The fast mode has the exact mode's mean; the test would find a mean that is 1 % lower.
pub(crate) fn means_agree_and_one_percent_would_be_found(subject: &Subject<'_>) -> Checked {
    for mut means in fast_means(subject)? {
        assert_eq!(means.disagreement(), None);
        means.fast.iter_mut().for_each(|mean| *mean *= 0.99);
        assert!(means.disagreement().is_some(), "{}: one percent is seen", means.scene);
    }
    Ok(())
}

/// The fast mode promises no identity, has flags of its own, and leaves the exact mode unchanged.
pub(crate) fn the_mode_is_labelled_and_leaves_the_exact_one_alone(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = everything()?;
    let exact = Settings { width: 96, height: 54, ..Settings::default() };
    let fast = Settings { mode: Mode::Fast, ..exact };
    let mut renderer = subject.open()?;
    let (film, _) = render(renderer.as_mut(), &scene, &exact, SPP)?;
    let (promised, flags) = (renderer.device().exact, renderer.device().flags.clone());
    let (other, _) = render(renderer.as_mut(), &scene, &fast, SPP)?;
    assert!(!renderer.device().exact, "the fast mode promises no identity");
    assert_ne!(renderer.device().flags, flags, "the fast mode has flags of its own");
    let (exact_mean, fast_mean) = (mean(&film), mean(&other));
    let off = (fast_mean - exact_mean).abs() / exact_mean;
    assert!(
        off < tolerances::FAST_SAME_SEED,
        "the fast mean {fast_mean} is {off} off the exact mean {exact_mean}"
    );
    let (again, _) = render(renderer.as_mut(), &scene, &exact, SPP)?;
    assert_eq!(again, film, "the exact mode after the fast one");
    assert_eq!(renderer.device().exact, promised, "the promise of identity after the fast mode");
    Ok(Outcome::Passed(format!("the means differ by {off:.1e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(fast: f64) -> Means {
        let around = |middle: f64| (0..SEEDS).map(|i| middle + 5e-3 * f64::from(i % 5)).collect();
        Means { scene: "s".into(), exact: around(1.0), fast: around(fast) }
    }

    #[test]
    fn noise_agrees_and_one_percent_of_darkening_does_not() {
        assert_eq!(means(1.0005).disagreement(), None);
        let reason = means(0.99).disagreement().unwrap();
        assert!(reason.contains("off the exact mean"), "{reason}");
        assert!(means(f64::NAN).disagreement().is_some());
    }

    #[test]
    fn rounding_agrees_where_there_is_no_noise() {
        let constant = |fast| Means { scene: "s".into(), exact: vec![1.0; 32], fast: vec![fast; 32] };
        assert_eq!(constant(1.0 + 1e-6).disagreement(), None);
        assert!(constant(0.99).disagreement().is_some());
    }
}
