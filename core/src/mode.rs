//! Arithmetic modes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The arithmetic of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Contraction off, correctly rounded operations, our own transcendentals: bit-identical across targets.
    #[default]
    Exact,
    /// The compiler may contract and approximate; images are compared statistically.
    Fast,
}

impl Mode {
    /// The name in records and on the command line: `exact` or `fast`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Fast => "fast",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
