//! The verdict on two targets at a level.

use lockstep_core::Film;
use lockstep_core::film::{InvalidSamples, UNITS_PER_RADIANCE};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::records::{Difference, Tests};
use lockstep_reports::statistics::{Agreement, DecisionRule, Pairing, compare_images, p_value_map};

use super::level::{Level, Outcome};
use crate::exit::Failure;

/// Adds verdict, tests and the error of the level's own samples to the comparison of two outcomes, and makes
/// their p-value map where there were tests. The targets of a study share their random numbers, so their
/// samples are paired.
///
/// # Errors
/// [`Failure::Comparison`] for images that cannot be compared.
pub(super) fn with_verdict(
    level: &Level<'_>,
    (a, b): (&Outcome, &Outcome),
    record: Difference,
) -> Result<(Difference, Option<LinearImage>), Failure> {
    let record = Difference {
        step_spp: Some(level.to - level.from),
        step_mse_linear: Some(step_error(a, b)),
        ..record
    };
    let with = |agreement: Agreement, reason: String| Difference {
        verdict: agreement.as_str().to_owned(),
        reason,
        ..record.clone()
    };
    if let Some(reason) = invalid(a).or_else(|| invalid(b)) {
        return Ok((with(Agreement::Broken, reason), None));
    }
    if record.identical {
        return Ok((with(Agreement::Identical, String::new()), None));
    }
    let rule = DecisionRule::of_films();
    let images = (std::slice::from_ref(&a.image), std::slice::from_ref(&b.image));
    let found = compare_images(images.0, images.1, Pairing::Paired, &rule)?;
    if found.agreement == Agreement::Identical {
        let reason = "the films differ by less than their images can show".to_owned();
        return Ok((with(Agreement::WithinNoise, reason), None));
    }
    let tests = found.test.as_ref().map(|test| Tests::new(test, &rule));
    let map = found.test.as_ref().map(p_value_map);
    Ok((Difference { tests, ..with(found.agreement, found.reason) }, map))
}

/// The reason why an outcome's samples are invalid, if any are.
fn invalid(outcome: &Outcome) -> Option<String> {
    let InvalidSamples { non_finite, negative, clamped } = outcome.film.invalid;
    (!outcome.film.invalid.is_zero()).then(|| {
        format!(
            "{} made samples that are not finite ({non_finite}), negative ({negative}) or beyond the film's range \
             ({clamped})",
            outcome.target
        )
    })
}

/// Mean squared error over linear radiance of the samples that a level adds.
fn step_error(a: &Outcome, b: &Outcome) -> f64 {
    let samples = a.film.spp - a.before.as_ref().map_or(0, |film| film.spp);
    let scale = 1.0 / (f64::from(samples) * f64::from(UNITS_PER_RADIANCE));
    let added = |outcome: &Outcome, pixel: usize, channel: usize| {
        let sum = |film: &Film| film.sums[pixel][channel];
        sum(&outcome.film) - outcome.before.as_ref().map_or(0, sum)
    };
    let pixels = a.film.sums.len().min(b.film.sums.len());
    let squares = (0..pixels).flat_map(|pixel| (0..3).map(move |channel| (pixel, channel)));
    let sum: f64 = squares.map(|(p, c)| ((added(a, p, c) - added(b, p, c)) as f64 * scale).powi(2)).sum();
    sum / (3 * pixels) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::image_of;
    use lockstep_core::PassReport;

    /// A radiance of 1.
    const UNIT: i64 = UNITS_PER_RADIANCE as i64;
    const LEVEL: Level<'_> = Level { scene: "s", from: 2, to: 4, seed: 0, repeat: 0 };

    /// Two samples of radiance 1 in every pixel, and two more of which the first pixel's red has `more` units
    /// more.
    fn outcome(target: &str, more: i64) -> Outcome {
        let mut before = Film::new(9, 9).unwrap();
        before.spp = 2;
        before.sums.fill([2 * UNIT; 3]);
        let mut film = before.clone();
        film.spp = 4;
        film.sums.fill([4 * UNIT; 3]);
        film.sums[0][0] += more;
        let (image, hash) = (image_of(&film).unwrap(), super::super::level::film_hash(&film));
        Outcome {
            target: target.into(),
            threads: 0,
            pass: PassReport::default(),
            film,
            before: Some(before),
            image,
            hash,
        }
    }

    fn compared(a: &Outcome, b: &Outcome) -> Difference {
        let identical = a.film == b.film;
        with_verdict(&LEVEL, (a, b), Difference { identical, ..Difference::default() }).unwrap().0
    }

    #[test]
    fn the_error_of_a_level_is_that_of_its_own_samples() {
        // One radiance more in one of 243 values, over two samples.
        let found = compared(&outcome("a", UNIT), &outcome("b", 0));
        assert!((found.step_mse_linear.unwrap() - 0.25 / 243.0).abs() < 1e-15);
        assert_eq!((found.step_spp, found.verdict.as_str()), (Some(2), "within noise"));
        assert!(found.tests.is_some());
    }

    #[test]
    fn films_that_differ_below_their_images_are_within_noise_without_a_test() {
        let found = compared(&outcome("a", 1), &outcome("b", 0));
        assert_eq!((found.verdict.as_str(), found.tests), ("within noise", None));
        assert_eq!(compared(&outcome("a", 0), &outcome("b", 0)).verdict, "identical");
    }

    #[test]
    fn a_film_with_invalid_samples_is_broken_even_where_it_is_identical() {
        let mut invalid = outcome("a", 0);
        invalid.film.invalid.non_finite = 3;
        let found = with_verdict(
            &LEVEL,
            (&invalid, &invalid),
            Difference { identical: true, ..Difference::default() },
        );
        let found = found.unwrap().0;
        assert_eq!(found.verdict, "broken");
        assert!(found.reason.contains("not finite (3)"), "{}", found.reason);
    }
}
