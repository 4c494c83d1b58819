//! Leases by worker, samples and time: the data of a Gantt chart.

use std::ops::Range;

/// The fate of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The samples are in the image.
    Committed,
    /// A copy of the samples by another worker was first.
    Duplicate,
    /// The worker was lost before the film arrived.
    Lost,
}

impl Outcome {
    /// The name in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::Duplicate => "duplicate",
            Self::Lost => "lost",
        }
    }
}

/// One lease of one worker. Times are in seconds since the pass began.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The worker's target.
    pub target: String,
    /// Time at which the lease was granted, in seconds since the pass began.
    pub start: f64,
    /// Time at which the lease's samples were rendered or its worker was lost, in seconds since the pass began.
    pub end: f64,
    /// The samples of every pixel.
    pub samples: Range<u32>,
    /// The lease's fate.
    pub outcome: Outcome,
    /// Whether the lease repeated another worker's.
    pub backup: bool,
}

/// The leases of one pass, in the order of their ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The leases.
    pub intervals: Vec<Interval>,
    /// Seconds from the first lease to the last film.
    pub seconds: f64,
}

impl Timeline {
    /// Samples per pixel that were rendered for nothing.
    pub fn wasted(&self) -> u64 {
        let wasted = self.intervals.iter().filter(|i| i.outcome != Outcome::Committed);
        wasted.map(|i| u64::from(i.samples.end - i.samples.start)).sum()
    }

    /// Samples per pixel of a target that are in the image.
    pub fn committed(&self, target: &str) -> u64 {
        let own = self.intervals.iter().filter(|i| i.target == target && i.outcome == Outcome::Committed);
        own.map(|i| u64::from(i.samples.end - i.samples.start)).sum()
    }

    /// The targets that had leases, in the order of their first.
    pub fn targets(&self) -> Vec<&str> {
        let mut targets: Vec<&str> = Vec::new();
        for interval in &self.intervals {
            if !targets.contains(&interval.target.as_str()) {
                targets.push(&interval.target);
            }
        }
        targets
    }

    /// The share of the pass in which a target worked, 0 to 1.
    pub fn busy(&self, target: &str) -> f64 {
        let of_target = self.intervals.iter().filter(|i| i.target == target);
        of_target.fold(0.0, |sum, i| sum + i.end - i.start) / self.seconds.max(f64::MIN_POSITIVE)
    }
}
