//! The generators of random numbers to choose from.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Sampler: the generator of the random numbers of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampler {
    /// Independent numbers by the hash pcg4d (Jarzynski and Olano 2020).
    #[default]
    Pcg,
    /// Independent numbers by the generator xorwow, seeded for every path (Marsaglia 2003): [`crate::math::xorwow`].
    Xorwow,
    /// Owen-scrambled Sobol points (Burley 2020), padded beyond the third bounce: [`crate::math::sobol`].
    Sobol,
}

impl Sampler {
    /// Every sampler, the default first.
    pub const ALL: [Self; 3] = [Self::Pcg, Self::Xorwow, Self::Sobol];

    /// The name on the command line and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pcg => "pcg",
            Self::Xorwow => "xorwow",
            Self::Sobol => "sobol",
        }
    }

    /// Whether the sampler is the default, which records leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Sampler {
    type Err = Error;

    /// # Errors
    /// [`Error::Contract`] with the names that there are.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|sampler| sampler.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Error::Contract {
                actor: "settings".into(),
                message: format!("there is no sampler {name:?}; choose one of {names}"),
            }
        })
    }
}
