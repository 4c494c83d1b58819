//! Performance over time: two studies of one machine, and a series of them.
//!
//! [`StudyDiff`] compares times, rates, errors and films of a study with those of an earlier one;
//! [`markdown`](StudyDiff::markdown) is it for a pull request. [`History`] plots rates by commit.

mod changed;
mod common;
mod diff;
mod errors;
mod films;
mod history;
mod markdown;
#[cfg(test)]
mod tests;
mod times;

pub use diff::{DiffError, StudyDiff};
pub use errors::ErrorDiff;
pub use films::FilmDiff;
pub use history::{History, HistoryPoint};
pub use times::TimeDiff;
