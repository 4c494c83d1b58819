//! The speed of fast builds over exact ones, from the times recorded.

use std::ops::ControlFlow;

use lockstep_core::Scene;
use lockstep_reports::records::Record;
use lockstep_reports::tables::speedups;

use crate::exit::Failure;
use crate::study::lab::Lab;
use crate::study::runner::{Key, Measurement};

/// Speed-ups of fast builds over exact ones, from the timing records of a scene.
pub(crate) struct Speedups<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
}

impl Speedups<'_> {
    fn records(&self, lab: &Lab<'_>) -> impl Iterator<Item = Record> {
        let found = speedups(lab.folder.timings()).into_iter();
        let name = self.scene.name.clone();
        found.filter(move |speedup| speedup.scene == name).map(Record::from)
    }
}

impl Measurement for Speedups<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        self.records(lab).map(Key::of).collect()
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        Ok(ControlFlow::Continue(self.records(lab).collect()))
    }
}
