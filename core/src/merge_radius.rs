//! The radius of the first pass of integrators that merge photons.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The radius of the first pass as a share of the radius of the scene's bounding sphere, in whole millionths,
/// so that settings are equal or not without a doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MergeRadius {
    /// 1 to [`MergeRadius::LARGEST`].
    millionths: u32,
}

impl MergeRadius {
    /// 0.3 %, as in SmallVCM.
    pub const DEFAULT: Self = Self { millionths: 3000 };

    /// Largest share in millionths: the radius of the bounding sphere.
    pub const LARGEST: u32 = 1_000_000;

    /// A merge radius from its share of the bounding sphere's radius in millionths.
    ///
    /// # Errors
    /// [`Error::Contract`] unless it is 1 to [`Self::LARGEST`].
    pub fn from_millionths(millionths: u32) -> Result<Self> {
        if (1..=Self::LARGEST).contains(&millionths) {
            return Ok(Self { millionths });
        }
        Err(Error::Contract {
            actor: "settings".into(),
            message: format!(
                "a merge radius of {millionths} millionths was asked for; it must be 0.000001 to 1 of the \
                 radius of the scene's bounding sphere"
            ),
        })
    }

    /// The merge radius as a share of the bounding sphere's radius, above 0 and at most 1.
    pub fn share(self) -> f64 {
        f64::from(self.millionths) * 1e-6
    }

    /// Checks a share that was read from elsewhere.
    ///
    /// # Errors
    /// As [`Self::from_millionths`].
    pub fn validate(self) -> Result<()> {
        Self::from_millionths(self.millionths).map(drop)
    }
}

impl Default for MergeRadius {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for MergeRadius {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.share().fmt(f)
    }
}

impl FromStr for MergeRadius {
    type Err = Error;

    /// # Errors
    /// [`Error::Contract`] for what is no number, and as [`MergeRadius::from_millionths`].
    fn from_str(text: &str) -> Result<Self> {
        let share: f64 = text.parse().map_err(|_| Error::Contract {
            actor: "settings".into(),
            message: format!("{text:?} is no merge radius; give a number such as {}", Self::DEFAULT),
        })?;
        Self::from_millionths((share * 1e6).round() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_are_read_and_written_as_shares_and_bounded() {
        for text in ["0.003", "1", "0.000001", "0.25"] {
            assert_eq!(text.parse::<MergeRadius>().unwrap().to_string(), text);
        }
        for text in ["0", "-0.1", "1.1", "NaN", "wide", "0.0000001"] {
            assert!(matches!(text.parse::<MergeRadius>(), Err(Error::Contract { .. })), "{text}");
        }
        let read: MergeRadius = serde_json::from_str("0").unwrap();
        assert!(read.validate().is_err() && MergeRadius::DEFAULT.validate().is_ok());
    }
}
