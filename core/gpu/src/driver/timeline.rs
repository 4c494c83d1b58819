//! Device time by stage, from the events of a pass.

use crate::driver::device::Device;
use lockstep_core::StageTimes;
use lockstep_core::error::Result;
use std::collections::VecDeque;

/// The stage that a launch's time counts for; `None` for launches of no stage.
pub(super) type Stage = Option<&'static str>;

/// Upper limit of kept events: enough to keep any device busy, few enough to cost no memory.
const MOST_PENDING: usize = 2048;

/// Launches of one pass, oldest first, and the times of those that are done.
pub(super) struct Timeline<D: Device> {
    pending: VecDeque<(Stage, D::Event)>,
    times: StageTimes,
    first_start: Option<u64>,
    last_end: u64,
}

impl<D: Device> Timeline<D> {
    pub(super) fn new() -> Self {
        Self { pending: VecDeque::new(), times: StageTimes::default(), first_start: None, last_end: 0 }
    }

    /// Adds a launch; waits for the oldest when too many are pending.
    pub(super) fn push(&mut self, device: &mut D, launch: (Stage, D::Event)) -> Result<()> {
        self.pending.push_back(launch);
        if self.pending.len() > MOST_PENDING {
            self.settle_oldest(device)?;
        }
        Ok(())
    }

    /// Waits for all launches.
    pub(super) fn finish(mut self, device: &mut D) -> Result<StageTimes> {
        while !self.pending.is_empty() {
            self.settle_oldest(device)?;
        }
        let first = self.first_start.unwrap_or(self.last_end);
        self.times.total_ms = self.last_end.saturating_sub(first) as f64 * 1e-6;
        Ok(self.times)
    }

    fn settle_oldest(&mut self, device: &mut D) -> Result<()> {
        let Some((stage, event)) = self.pending.pop_front() else { return Ok(()) };
        let span = device.wait(&event)?;
        self.first_start.get_or_insert(span.start);
        self.last_end = self.last_end.max(span.end);
        if let Some(name) = stage {
            self.times.add(name, span.ms());
        }
        Ok(())
    }
}
