//! A/A: the first target, timed a second time in every round as if it were another, to tell how equal equal times are.

use std::ops::ControlFlow;

use lockstep_core::{Scene, Settings};
use lockstep_reports::records::Record;
use lockstep_reports::statistics::timing::LEAST_ROUNDS;

use super::folder::Folder;
use super::participant::Participant;
use super::plan::Plan;
use super::step::{self, Step};
use crate::backends::Target;
use crate::exit::Failure;
use crate::progress::Bar;

/// The first target's twin.
pub(crate) struct Again(Participant);

impl Again {
    /// The twin of an open target.
    pub(crate) fn new(twin: Participant) -> Self {
        Self(twin)
    }

    /// The first participant opened a second time, where there are rounds enough for a floor.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) fn open(
        targets: &[Target],
        participants: &[Participant],
        plan: &Plan,
    ) -> Result<Option<Self>, Failure> {
        let first = participants.first().filter(|_| plan.rounds() >= LEAST_ROUNDS);
        let target = first.and_then(|first| targets.iter().find(|target| target.name == first.name));
        target.map(|t| Ok(Self::new(Participant::new(&t.name, t.open(&plan.options)?)))).transpose()
    }

    /// Takes a scene to the twin if the first target renders it: if it is among the active ones.
    ///
    /// # Errors
    /// What the renderer says.
    pub(super) fn load(
        &mut self,
        active: &[String],
        scene: &Scene,
        settings: &Settings,
    ) -> Result<(), Failure> {
        self.0.active = active.contains(&self.0.name);
        if self.0.active {
            self.0.load(scene, settings)?;
        }
        Ok(())
    }

    /// Times a step; nothing where the first target sits the scene out.
    ///
    /// # Errors
    /// As [`step::render_on`].
    pub(super) fn time(
        &mut self,
        step: &Step<'_>,
        folder: &Folder,
        bar: &Bar,
    ) -> Result<ControlFlow<(), Option<Record>>, Failure> {
        if !self.0.active {
            return Ok(ControlFlow::Continue(None));
        }
        Ok(step::render_on(step, &mut self.0, folder, bar)?
            .map_continue(|outcome| Some(Record::Again(step::timing(step, &self.0, &outcome)))))
    }

    /// Whether a step is timed, or need not be.
    pub(super) fn is_done(&self, step: &Step<'_>, active: &[String], folder: &Folder) -> bool {
        !active.contains(&self.0.name) || folder.has(Record::Again(step::timing_key(step, &self.0.name)))
    }
}
