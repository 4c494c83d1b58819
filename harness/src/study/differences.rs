//! The differences of every pair of targets at a level, and their errors against the reference.

use lockstep_core::TargetId;
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::metrics::{Metrics, compare, compare_all};
use lockstep_reports::records::{Convergence, Difference};

use super::level::{Level, Outcome};
use super::plan::{Plan, compared_pairs};
use super::reference::Reference;
use super::verdicts;
use crate::exit::Failure;

/// A comparison, and the p-value map where there were tests.
pub(crate) type Compared = (Difference, Option<LinearImage>);

/// Compares every pair of outcomes of a level. `pixels_differing` and `identical` are about the films'
/// integers, which are finer than the images; where one is a program's, about the images.
///
/// Two integrators have a verdict at the scene's last level alone: light that one of them finds by rare samples is
/// missing from its images of few, without a trace in their noise.
///
/// # Errors
/// [`Failure::Metric`] and [`Failure::Comparison`] for images that cannot be compared.
pub(crate) fn pairs(
    plan: &Plan,
    level: &Level<'_>,
    is_last: bool,
    outcomes: &[Outcome],
) -> Result<Vec<Compared>, Failure> {
    let mut records = Vec::new();
    for (a, b) in positions(plan, outcomes) {
        let (a, b) = (&outcomes[a], &outcomes[b]);
        let differing = pixels_differing(a, b);
        let metrics = if differing == 0 { Metrics::EQUAL } else { compare(&a.image, &b.image)? };
        let seed = u64::from(level.seed);
        let record =
            Difference::new(level.scene, (&a.target, &b.target), level.to, seed, &metrics, differing == 0);
        let record = Difference { pixels_differing: differing, ..record };
        let is_tested = is_last || a.target.is_alike(&b.target);
        records.push(if is_tested { verdicts::with_verdict((a, b), record)? } else { (record, None) });
    }
    Ok(records)
}

/// The pairs of outcomes that [`pairs`] compares, in its order.
pub(crate) fn positions(plan: &Plan, outcomes: &[Outcome]) -> Vec<(usize, usize)> {
    let targets: Vec<&TargetId> = outcomes.iter().map(|outcome| &outcome.target).collect();
    compared_pairs(plan.across_integrators, &targets)
}

fn pixels_differing(a: &Outcome, b: &Outcome) -> u64 {
    match (a.rendered.film(), b.rendered.film()) {
        (Some(a), Some(b)) => a.pixels_differing(b) as u64,
        _ => a.image.pixels_differing(&b.image),
    }
}

/// The key of a pair's difference.
pub(crate) fn pair_key(level: &Level<'_>, a: &TargetId, b: &TargetId) -> Difference {
    Difference {
        scene: level.scene.to_owned(),
        a: a.clone(),
        b: b.clone(),
        spp: level.to,
        seed: u64::from(level.seed),
        mode: a.mode.max(b.mode),
        ..Difference::default()
    }
}

/// Compares every outcome of a level with the reference. Equal films are compared once.
///
/// # Errors
/// [`Failure::Metric`] for images that cannot be compared.
pub(crate) fn convergences(
    level: &Level<'_>,
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
        let seed = u64::from(level.seed);
        let against = &reference.against;
        found.map(|(_, metrics)| {
            Convergence::new(level.scene, &outcome.target, level.to, seed, metrics, against)
        })
    };
    Ok(outcomes.iter().filter_map(record).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::rendered::Rendered;
    use lockstep_core::{Film, PassReport, Settings};

    fn outcome(target: &str, sums: [i64; 3]) -> Outcome {
        let mut film = Film::new(9, 9).unwrap();
        film.spp = 1;
        film.sums.fill([1 << 29; 3]);
        film.sums[7] = sums;
        let rendered = Rendered::Film(film);
        let (image, hash) = (rendered.image().unwrap(), rendered.hash());
        Outcome {
            target: target.into(),
            threads: 0,
            is_program: false,
            pass: PassReport::default(),
            rendered,
            before: None,
            image,
            hash,
        }
    }

    fn plan() -> Plan {
        Plan::of_scenes(Vec::new(), Vec::new(), Settings::default())
    }

    const LEVEL: Level<'_> = Level { scene: "s", from: 0, to: 1, seed: 3, repeat: 0 };

    #[test]
    fn the_shortcut_for_equal_films_gives_what_comparing_them_gives() {
        let (a, b) = (outcome("a", [1; 3]), outcome("b", [1; 3]));
        assert_eq!(compare(&a.image, &b.image).unwrap(), Metrics::EQUAL);
        let record = &pairs(&plan(), &LEVEL, true, &[a, b]).unwrap()[0].0;
        assert!(record.identical && record.errors.psnr == f64::INFINITY && record.seed == 3);
    }

    #[test]
    fn a_difference_too_small_for_the_image_is_still_one_of_the_films() {
        let (a, b) = (outcome("a", [1 << 40; 3]), outcome("b", [(1 << 40) + 1; 3]));
        assert_eq!(a.image, b.image);
        let record = &pairs(&plan(), &LEVEL, true, &[a, b]).unwrap()[0].0;
        assert_eq!((record.identical, record.pixels_differing, record.errors.mse_linear), (false, 1, 0.0));
    }

    #[test]
    fn integrators_are_compared_on_each_target_and_tested_at_the_last_level_alone() {
        let all = [outcome("a+path", [1; 3]), outcome("a+bpt", [1 << 40; 3]), outcome("b+path", [1; 3])];
        let found = |plan: &Plan, is_last| {
            let records = pairs(plan, &LEVEL, is_last, &all).unwrap().into_iter().map(|(r, _)| r);
            records.map(|r| format!("{} {} {}", r.a, r.b, !r.verdict.is_empty())).collect::<Vec<_>>()
        };
        assert_eq!(found(&plan(), true), ["a+path a+bpt true", "a+path b+path true"]);
        assert_eq!(found(&plan(), false), ["a+path a+bpt false", "a+path b+path true"]);
        let within = Plan { across_integrators: false, ..plan() };
        assert_eq!(found(&within, true), ["a+path b+path true"]);
    }

    #[test]
    fn ways_of_sampling_layers_are_compared_as_integrators_are() {
        let all = [outcome("a+together", [1; 3]), outcome("a+tree", [1 << 40; 3]), outcome("b+tree", [1; 3])];
        let found = |is_last| {
            let records = pairs(&plan(), &LEVEL, is_last, &all).unwrap().into_iter().map(|(r, _)| r);
            records.map(|r| format!("{} {} {}", r.a, r.b, !r.verdict.is_empty())).collect::<Vec<_>>()
        };
        assert_eq!(found(true), ["a+together a+tree true", "a+tree b+tree true"]);
        assert_eq!(found(false), ["a+together a+tree false", "a+tree b+tree true"]);
    }

    #[test]
    fn every_pair_is_compared_once() {
        let all = [outcome("a", [1; 3]), outcome("b", [2; 3]), outcome("c", [2; 3])];
        let records = pairs(&plan(), &LEVEL, true, &all).unwrap();
        let found: Vec<_> =
            records.iter().map(|(r, _)| (r.a.to_string() + &r.b.to_string(), r.identical)).collect();
        assert_eq!(
            found,
            [("ab", false), ("ac", false), ("bc", true)].map(|(pair, same)| (pair.to_owned(), same))
        );
        assert_eq!(pair_key(&LEVEL, &"a".into(), &"b".into()).scene, records[0].0.scene);
    }
}
