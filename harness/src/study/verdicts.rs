//! The verdict on two targets at a level.

use lockstep_core::film::InvalidSamples;
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::metrics::{Means, mse_of_last};
use lockstep_reports::records::{Difference, Tests};
use lockstep_reports::statistics::{Agreement, DecisionRule, Pairing, compare_images, p_value_map};

use super::level::Outcome;
use super::rendered::Rendered;
use crate::exit::Failure;

/// Adds verdict, tests and the error of the level's own samples to the comparison of two outcomes, and makes
/// their p-value map where there were tests. Lockstep's own targets share their random numbers, so samples are
/// paired, which holds for programs and for two integrators too, which share none.
///
/// # Errors
/// [`Failure::Comparison`] for images that cannot be compared.
pub(super) fn with_verdict(
    (a, b): (&Outcome, &Outcome),
    record: Difference,
) -> Result<(Difference, Option<LinearImage>), Failure> {
    let step_error = step_error(a, b);
    let record =
        Difference { step_spp: step_error.map(|_| a.own_spp()), step_mse_linear: step_error, ..record };
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
    let rule = rule(a.is_program || b.is_program || a.target.integrator != b.target.integrator);
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

/// The rule for two targets of a study, which may share no random numbers.
pub(super) fn rule(share_none: bool) -> DecisionRule {
    if share_none { DecisionRule::default() } else { DecisionRule::of_films() }
}

/// The reason why an outcome's samples are invalid, if any are.
fn invalid(outcome: &Outcome) -> Option<String> {
    let invalid = outcome.rendered.invalid();
    let InvalidSamples { non_finite, negative, clamped } = invalid;
    (!invalid.is_zero()).then(|| {
        format!(
            "{} made samples that are not finite ({non_finite}), negative ({negative}) or beyond the film's range \
             ({clamped})",
            outcome.target
        )
    })
}

/// Mean squared error over linear radiance of the samples that a level adds; `None` where it adds not as many to both.
fn step_error(a: &Outcome, b: &Outcome) -> Option<f64> {
    if a.own_spp() != b.own_spp() {
        return None;
    }
    if let (Some(film_a), Some(film_b)) = (a.rendered.film(), b.rendered.film()) {
        let befores = [a, b].map(|outcome| outcome.before.as_ref().and_then(Rendered::film));
        return Some(film_a.mse_of_last(film_b, (befores[0], befores[1]), a.own_spp()));
    }
    Some(mse_of_last(&means(a)?, &means(b)?))
}

/// An outcome's mean and that of the level before, if its samples are among these; `None` for a broken film.
fn means(outcome: &Outcome) -> Option<Means<'_>> {
    let before = match &outcome.before {
        None => None,
        Some(before) => Some((before.image().ok()?, before.spp())),
    };
    Some(Means { image: &outcome.image, spp: outcome.rendered.spp(), before })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::film::UNITS_PER_RADIANCE;
    use lockstep_core::{Film, PassReport};

    /// A radiance of 1.
    const UNIT: i64 = UNITS_PER_RADIANCE as i64;

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
        let (rendered, before) = (Rendered::Film(film), Some(Rendered::Film(before)));
        let (image, hash) = (rendered.image().unwrap(), rendered.hash());
        Outcome {
            target: target.into(),
            threads: 0,
            is_program: false,
            pass: PassReport::default(),
            rendered,
            before,
            image,
            hash,
        }
    }

    fn compared(a: &Outcome, b: &Outcome) -> Difference {
        let identical = a.rendered.film() == b.rendered.film();
        with_verdict((a, b), Difference { identical, ..Difference::default() }).unwrap().0
    }

    #[test]
    fn the_error_of_a_level_is_that_of_its_own_samples() {
        // One radiance more in one of 243 values, over two samples.
        let found = compared(&outcome("a", UNIT), &outcome("b", 0));
        assert!((found.step_mse_linear.unwrap() - 0.25 / 243.0).abs() < 1e-15);
        assert_eq!((found.step_spp, found.verdict.as_str()), (Some(2), "within noise"));
        assert!(found.tests.is_some());
    }

    /// A program's grey image of `spp` samples per pixel.
    fn of_program(spp: u32, value: f32, before: Option<(u32, f32)>) -> Outcome {
        let means =
            |(spp, value)| Rendered::Means { image: LinearImage::from_fn(9, 9, |_, _| [value; 3]), spp };
        let rendered = means((spp, value));
        let (image, hash, before) = (rendered.image().unwrap(), rendered.hash(), before.map(means));
        Outcome { is_program: true, rendered, before, image, hash, ..outcome("p", 0) }
    }

    #[test]
    fn samples_of_programs_are_those_of_a_level_alone_only_where_they_go_on() {
        let step = |a: &Outcome, b: &Outcome| {
            let found = compared(a, b);
            (found.step_spp, found.step_mse_linear)
        };
        // Means of 2 and 4 samples, 1 and 1.5: the two samples between have the mean 2.
        let continued = of_program(4, 1.5, Some((2, 1.0)));
        assert_eq!(step(&continued, &of_program(4, 1.0, Some((2, 1.0)))), (Some(2), Some(1.0)));
        assert_eq!(step(&of_program(4, 1.5, None), &of_program(4, 1.0, None)), (Some(4), Some(0.25)));
        assert_eq!(step(&continued, &outcome("a", 0)), (Some(2), Some(1.0)), "a film goes on");
        assert_eq!(step(&of_program(4, 1.5, None), &outcome("a", 0)), (None, None));
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
        if let Rendered::Film(film) = &mut invalid.rendered {
            film.invalid.non_finite = 3;
        }
        let found =
            with_verdict((&invalid, &invalid), Difference { identical: true, ..Difference::default() });
        let found = found.unwrap().0;
        assert_eq!(found.verdict, "broken");
        assert!(found.reason.contains("not finite (3)"), "{}", found.reason);
    }
}
