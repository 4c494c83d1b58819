//! The outcome of a check.

/// Outcome of a check that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The claim holds; with a remark, which may be empty.
    Passed(String),
    /// The target lacks the feature under test; with the reason.
    Skipped(String),
}

impl Default for Outcome {
    fn default() -> Self {
        Self::Passed(String::new())
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::default()
    }
}
