//! Pairs of targets, compared.

use lockstep_reports::image_io::LinearImage;
use lockstep_reports::metrics::{Metrics, compare, compare_all};
use lockstep_reports::records::{Convergence, Difference, pair_mode};

use super::judge;
use super::reference::Reference;
use super::step::{Outcome, Step};
use crate::exit::Failure;

/// A comparison, and the p-value map where there were tests.
pub(crate) type Compared = (Difference, Option<LinearImage>);

/// Compares and judges every pair of outcomes of a step. `pixels_differing` and `identical` are about the films'
/// integers, which are finer than the images.
///
/// # Errors
/// [`Failure::Metric`] and [`Failure::Judge`] for images that cannot be compared.
pub(crate) fn pairs(step: &Step<'_>, outcomes: &[Outcome]) -> Result<Vec<Compared>, Failure> {
    let mut records = Vec::new();
    for (i, a) in outcomes.iter().enumerate() {
        for b in &outcomes[i + 1..] {
            let differing = a.film.pixels_differing(&b.film) as u64;
            let metrics = if differing == 0 { Metrics::EQUAL } else { compare(&a.image, &b.image)? };
            let names = (a.target.as_str(), b.target.as_str());
            let seed = u64::from(step.seed);
            let record = Difference::new(step.scene, names, step.to, seed, &metrics, differing == 0);
            let record = Difference { pixels_differing: differing, ..record };
            records.push(judge::verdict(step, (a, b), record)?);
        }
    }
    Ok(records)
}

/// What identifies the comparison of one pair.
pub(crate) fn pair_key(step: &Step<'_>, a: &str, b: &str) -> Difference {
    Difference {
        scene: step.scene.to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        spp: step.to,
        seed: u64::from(step.seed),
        mode: pair_mode(a, b),
        ..Difference::default()
    }
}

/// Compares every outcome of a step with the reference. Equal films are compared once.
///
/// # Errors
/// [`Failure::Metric`] for images that cannot be compared.
pub(crate) fn convergences(
    step: &Step<'_>,
    outcomes: &[Outcome],
    reference: &Reference,
) -> Result<Vec<Convergence>, Failure> {
    let mut distinct: Vec<&Outcome> = Vec::new();
    for outcome in outcomes {
        if distinct.iter().all(|known| known.hash != outcome.hash) {
            distinct.push(outcome);
        }
    }
    let images: Vec<&LinearImage> = distinct.iter().map(|outcome| &outcome.image).collect();
    let metrics = compare_all(&images, &reference.image)?;
    let record = |outcome: &Outcome| {
        let found = distinct.iter().zip(&metrics).find(|(known, _)| known.hash == outcome.hash);
        let seed = u64::from(step.seed);
        let against = &reference.against;
        found.map(|(_, metrics)| {
            Convergence::new(step.scene, &outcome.target, step.to, seed, metrics, against)
        })
    };
    Ok(outcomes.iter().filter_map(record).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::image_of;
    use lockstep_core::{Film, PassReport};

    fn outcome(target: &str, sums: [i64; 3]) -> Outcome {
        let mut film = Film::new(9, 9).unwrap();
        film.spp = 1;
        film.sums.fill([1 << 29; 3]);
        film.sums[7] = sums;
        let (image, hash) = (image_of(&film).unwrap(), super::super::step::film_hash(&film));
        Outcome { target: target.into(), pass: PassReport::default(), film, before: None, image, hash }
    }

    const STEP: Step<'_> = Step { scene: "s", from: 0, to: 1, seed: 3, repeat: 0 };

    #[test]
    fn the_shortcut_for_equal_films_gives_what_comparing_them_gives() {
        let (a, b) = (outcome("a", [1; 3]), outcome("b", [1; 3]));
        assert_eq!(compare(&a.image, &b.image).unwrap(), Metrics::EQUAL);
        let record = &pairs(&STEP, &[a, b]).unwrap()[0].0;
        assert!(record.identical && record.errors.psnr == f64::INFINITY && record.seed == 3);
    }

    #[test]
    fn a_difference_too_small_for_the_image_is_still_one_of_the_films() {
        let (a, b) = (outcome("a", [1 << 40; 3]), outcome("b", [(1 << 40) + 1; 3]));
        assert_eq!(a.image, b.image);
        let record = &pairs(&STEP, &[a, b]).unwrap()[0].0;
        assert_eq!((record.identical, record.pixels_differing, record.errors.mse_linear), (false, 1, 0.0));
    }

    #[test]
    fn every_pair_is_compared_once() {
        let all = [outcome("a", [1; 3]), outcome("b", [2; 3]), outcome("c", [2; 3])];
        let records = pairs(&STEP, &all).unwrap();
        let found: Vec<_> = records.iter().map(|(r, _)| (r.a.as_str(), r.b.as_str(), r.identical)).collect();
        assert_eq!(found, [("a", "b", false), ("a", "c", false), ("b", "c", true)]);
        assert_eq!(pair_key(&STEP, "a", "b").scene, records[0].0.scene);
    }
}
