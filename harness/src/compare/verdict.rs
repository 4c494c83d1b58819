//! The verdict on the images of two programs: noise, or more.

use lockstep_reports::image_io::LinearImage;
use lockstep_reports::metrics::{MetricError, compare};
use lockstep_reports::records::{Difference, Noise, Tests};
use lockstep_reports::statistics::{
    Agreement, ComparisonError, DecisionRule, NoiseFloor, Pairing, compare_images,
};

use super::folders::Compared;
use super::matching::Match;
use crate::exit::Failure;
use crate::output::say;

/// The verdict on the images of one match; empty where there can be none.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The verdict.
    pub(super) agreement: Option<Agreement>,
    reason: String,
    tests: Option<Tests>,
    seeds: usize,
    noise: Option<NoiseFloor>,
}

/// The verdict on all seeds of a match together. Images of equal seeds may share random numbers, so they are
/// paired.
///
/// # Errors
/// [`Failure::Input`] for images that are asked about wrongly.
pub(super) fn of(m: &Match, compared: &[Compared]) -> Result<Verdict, Failure> {
    let side = |of: fn(&Compared) -> &LinearImage| compared.iter().map(|c| of(c).clone()).collect::<Vec<_>>();
    let (rule, about) = (DecisionRule::default(), format!("{} and {} of {}", m.a, m.b, m.scene));
    match compare_images(&side(|c| &c.a), &side(|c| &c.b), Pairing::Paired, &rule) {
        Ok(found) => Ok(Verdict {
            agreement: Some(found.agreement),
            reason: found.reason,
            tests: found.test.as_ref().map(|test| Tests::new(test, &rule)),
            seeds: compared.len(),
            noise: found.test.map(|test| test.noise),
        }),
        Err(ComparisonError::NoImages { .. }) => Ok(Verdict::default()),
        Err(error @ ComparisonError::SameImageTwice { .. }) => {
            say(&format!("lockstep: {about}: {error}"));
            Ok(Verdict::default())
        }
        Err(error) => Err(Failure::Input(format!("{about}: {error}"))),
    }
}

impl Verdict {
    /// A record with the verdict.
    pub(super) fn on(&self, record: Difference) -> Difference {
        let Some(agreement) = self.agreement else { return record };
        let (reason, tests) = (self.reason.clone(), self.tests.clone());
        Difference { verdict: agreement.as_str().to_owned(), reason, tests, ..record }
    }

    /// The verdict with its reason, and beside it the error between the sides and that within them, where
    /// several seeds tell it.
    pub(super) fn in_words(&self) -> Option<String> {
        let words = format!("{} over {}: {}", self.agreement?, plural_seeds(self.seeds), self.reason);
        let floor =
            self.noise.as_ref().and_then(|noise| Some((noise.between, noise.floor()?, noise.ratio()?)));
        Some(match floor {
            Some((between, floor, ratio)) => format!(
                "{words}; linear MSE of {between:.4e} between them, of {floor:.4e} between images of one of them under two \
                 seeds: a ratio of {ratio:.3}"
            ),
            None => words,
        })
    }
}

fn plural_seeds(seeds: usize) -> String {
    if seeds == 1 { "one seed".into() } else { format!("{seeds} seeds") }
}

/// The noise floor: each side's first image against its own under the other seeds.
///
/// # Errors
/// [`Failure::Metric`] for images that cannot be compared.
pub(super) fn noise_floor(m: &Match, compared: &[Compared]) -> Result<Vec<Noise>, MetricError> {
    let Some((first, others)) = compared.split_first() else { return Ok(Vec::new()) };
    let mut records = Vec::new();
    for other in others {
        for (target, one, two) in [(&m.a, &first.a, &other.a), (&m.b, &first.b, &other.b)] {
            let metrics = compare(one, two)?;
            records.push(Noise {
                scene: m.scene.clone(),
                target: target.clone(),
                spp: m.spp,
                seed: first.seed,
                other_seed: other.seed,
                mse: metrics.mse,
                mse_linear: metrics.mse_linear,
                rendered_by: target.clone(),
                ..Noise::default()
            });
        }
    }
    Ok(records)
}
