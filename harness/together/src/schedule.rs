//! The policies by which samples are shared.

use std::fmt;
use std::str::FromStr;

/// A policy by which workers get their samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Schedule {
    /// Each worker gets the same number of samples, once.
    Equal,
    /// Rounds, at the end of which all wait for the slowest; in each a worker's share follows the rates of the last
    /// one. Cycles balances its devices so.
    Proportional,
    /// One lease after another of the same small number of samples, to whoever is idle. The unit of the
    /// heterogeneous renderers that share whole iterations.
    Demand,
    /// Leases of a set time, which shrink with what is left (guided self-scheduling; Polychronopoulos and Kuck
    /// 1987).
    Guided,
    /// [`Schedule::Guided`]; in the end idle workers repeat leases that others are late with, and the first copy
    /// counts (backup tasks; Dean and Ghemawat 2004). Copies are equal, so this costs electricity alone.
    #[default]
    GuidedBackup,
}

impl Schedule {
    /// Every policy, the simplest first.
    pub const ALL: [Self; 5] =
        [Self::Equal, Self::Proportional, Self::Demand, Self::Guided, Self::GuidedBackup];

    /// The name on the command line and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Proportional => "proportional",
            Self::Demand => "demand",
            Self::Guided => "guided",
            Self::GuidedBackup => "guided+backup",
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Schedule {
    type Err = String;

    /// # Errors
    /// A message with the names that there are.
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|schedule| schedule.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no schedule {name:?}; choose one of {names}")
        })
    }
}
