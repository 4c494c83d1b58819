//! Whether the images of two programs differ by more than noise.

use lockstep_reports::image_io::LinearImage;
use lockstep_reports::statistics::{Agreement, JudgeError, NoiseFloor, Rule, Seeds, judge};

use super::folders::Compared;
use super::matching::Match;
use crate::exit::Failure;
use crate::output::say;

/// The verdict on the images of one match; nothing where they cannot be judged.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The verdict.
    pub(super) agreement: Option<Agreement>,
    reason: String,
    seeds: usize,
    noise: Option<NoiseFloor>,
}

/// Judges all seeds of a match together. Images of equal seeds may share random numbers, so they are judged as pairs.
///
/// # Errors
/// [`Failure::Input`] for images that are asked about wrongly.
pub(super) fn of(m: &Match, compared: &[Compared]) -> Result<Verdict, Failure> {
    let side = |of: fn(&Compared) -> &LinearImage| compared.iter().map(|c| of(c).clone()).collect::<Vec<_>>();
    let (rule, about) = (Rule::default(), format!("{} and {} of {}", m.a, m.b, m.scene));
    match judge(&side(|c| &c.a), &side(|c| &c.b), Seeds::Paired, &rule) {
        Ok(found) => Ok(Verdict {
            agreement: Some(found.agreement),
            reason: found.reason,
            seeds: compared.len(),
            noise: found.evidence.map(|evidence| evidence.noise),
        }),
        Err(JudgeError::NoImages { .. }) => Ok(Verdict::default()),
        Err(error @ JudgeError::SameImageTwice { .. }) => {
            say(&format!("lockstep: {about}: {error}"));
            Ok(Verdict::default())
        }
        Err(error) => Err(Failure::Input(format!("{about}: {error}"))),
    }
}

impl Verdict {
    /// The verdict with its reason, and beside it the error between the sides and that within them, where several seeds
    /// tell it.
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
