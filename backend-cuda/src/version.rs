//! CUDA's version numbers, which decide the code that a driver accepts.

use std::fmt;

/// A version of CUDA: the latest that a driver supports, or the toolkit's that a compiler belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The major version. Drivers run machine code of compilers up to their own major version.
    pub major: i32,
    /// The minor version. Drivers compile PTX of compilers up to their own version, minor included.
    pub minor: i32,
}

impl Version {
    /// Decodes the driver's number: 12,080 is 12.8.
    pub(crate) fn of_number(number: i32) -> Self {
        Self { major: number / 1000, minor: number % 1000 / 10 }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drivers_number_is_a_version() {
        assert_eq!(Version::of_number(13_000).to_string(), "13.0");
        assert_eq!(Version::of_number(12_080).to_string(), "12.8");
        assert!(Version::of_number(12_080) < Version::of_number(13_000));
    }
}
