//! The A/A control: the first target, timed a second time in every round as if it were another. It tells how
//! far equal targets' times differ.

use std::ops::ControlFlow;

use lockstep_core::{Scene, TargetId};
use lockstep_reports::records::Record;
use lockstep_reports::statistics::timing::LEAST_ROUNDS;

use crate::exit::Failure;
use crate::study::lab::Lab;
use crate::study::level::{self, Level};
use crate::study::plan::Plan;
use crate::study::runner::{Key, Measurement};
use crate::study::study_target::StudyTarget;
use crate::study::target_session::{Purpose, TargetSession};

/// A level on the control, right before all targets render it, so that both times of the first target meet
/// the same machine.
pub(crate) struct AaControl<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The level.
    pub(crate) level: Level<'a>,
}

impl AaControl<'_> {
    /// The first target opened a second time, where there are rounds enough for a control.
    ///
    /// # Errors
    /// [`Failure`] of the device.
    pub(crate) fn open(
        targets: &[StudyTarget],
        sessions: &[TargetSession],
        plan: &Plan,
    ) -> Result<Option<TargetSession>, Failure> {
        let first = sessions.first().filter(|_| plan.rounds() >= LEAST_ROUNDS);
        let Some(first) = first else { return Ok(None) };
        if let Some(aa_control) = first.aa_control() {
            return Ok(Some(aa_control));
        }
        let target = targets.iter().filter_map(StudyTarget::own).find(|target| target.id == first.id);
        target.map(|t| Ok(TargetSession::new(t.id.clone(), t.open(&plan.options)?))).transpose()
    }
}

impl Measurement for AaControl<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let is_rendered = |id: &&TargetId| {
            let targets = lab.targets_at(self.level.scene, self.level.to);
            lab.reaches(&self.level) && lab.is_timed(&self.level) && targets.contains(id)
        };
        let control = lab.control(self.level.scene).filter(is_rendered);
        let timed = |id| self.level.timed(lab.is_program(id));
        let key = control.map(|id| Key::of(Record::AaControl(level::timing_key(&timed(id), id))));
        key.into_iter().collect()
    }

    fn samples(&self, lab: &Lab<'_>) -> u64 {
        let control = lab.control(self.level.scene).filter(|_| lab.plan.levels_seconds.is_none());
        control.map_or(0, |_| u64::from(self.level.to - self.level.from))
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        lab.load(self.scene, self.level.seed, Purpose::Levels { repeat: self.level.repeat })?;
        Ok(ControlFlow::Continue(()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let rendered = lab.render_control(&self.level)?;
        let timing = |outcome| Record::AaControl(level::timing(&self.level, &outcome));
        Ok(rendered.map_continue(|outcome| outcome.map(timing).into_iter().collect()))
    }
}
