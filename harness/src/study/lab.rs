//! The laboratory of a study: its open targets and its folder, with the reference of the present scene.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use lockstep_core::{Error, Scene, Settings, TargetId};
use lockstep_reports::records::{Interruption, Note, Record, Skip, utc_now};

use super::folder::Folder;
use super::level::{self, Level, Outcome};
use super::plan::Plan;
use super::reference::{self, Candidates, Reference};
use super::shards;
use super::target_session::{Purpose, TargetSession};
use crate::exit::Failure;
use crate::interrupt;
use crate::output::say;
use crate::progress::Bar;

/// Everything that measurements are made with.
pub(crate) struct Lab<'a> {
    /// The plan of the study.
    pub(crate) plan: &'a Plan,
    /// Where records and images go.
    pub(crate) folder: Folder,
    /// Progress of the present series.
    pub(crate) bar: Bar,
    sessions: Vec<TargetSession>,
    /// The first target opened a second time, for the A/A control.
    control: Option<TargetSession>,
    /// Scenes that targets refused.
    refused: HashSet<(String, TargetId)>,
    /// The last scene whose reference was asked for, and the reference; `None` where no target can render
    /// one.
    reference: Option<(String, Option<Rc<Reference>>)>,
    /// Whether the folder has records of an earlier run and none yet of this one.
    resumes: bool,
}

impl<'a> Lab<'a> {
    /// Targets that are open, and the folder that takes their records. `resumes` says that the folder has
    /// some already.
    pub(crate) fn new(
        plan: &'a Plan,
        folder: Folder,
        mut sessions: Vec<TargetSession>,
        resumes: bool,
    ) -> Self {
        sessions.iter_mut().for_each(|session| session.attach(folder.root(), plan));
        Self {
            plan,
            folder,
            bar: Bar::hidden(),
            sessions,
            control: None,
            refused: HashSet::new(),
            reference: None,
            resumes,
        }
    }

    /// Adds the first target a second time, for the A/A control.
    pub(crate) fn with_control(self, mut control: Option<TargetSession>) -> Self {
        if let Some(control) = &mut control {
            control.attach(self.folder.root(), self.plan);
        }
        Self { control, ..self }
    }

    /// The targets that render a scene, in the order of the study, as far as is known before they are asked.
    pub(crate) fn targets(&self, scene: &str) -> Vec<TargetId> {
        self.sessions.iter().map(|s| s.id.clone()).filter(|id| !self.refuses(id, scene)).collect()
    }

    /// Targets that render a scene with `spp` samples per pixel: those of which no run failed with as many or fewer.
    pub(crate) fn targets_at(&self, scene: &str, spp: u32) -> Vec<TargetId> {
        let mut targets = self.targets(scene);
        targets.retain(|id| self.folder.failed_from(scene, id).is_none_or(|least| spp < least));
        targets
    }

    /// Whether any run of a target failed on a scene.
    pub(crate) fn has_failed(&self, target: &TargetId, scene: &str) -> bool {
        self.folder.failed_from(scene, target).is_some()
    }

    /// Whether a target is an external program.
    pub(crate) fn is_program(&self, target: &TargetId) -> bool {
        self.sessions.iter().any(|session| session.id == *target && session.is_program())
    }

    /// The finding, or nothing where a program failed, which is then recorded.
    ///
    /// # Errors
    /// Every other failure, and those of the folder.
    pub(crate) fn unless_failed<T>(&mut self, found: Result<T, Failure>) -> Result<Option<T>, Failure> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Failure::Program(failure)) => {
                self.bar.line(&format!("lockstep: {}", failure.sentence()));
                self.folder.append(vec![Record::from(*failure)])?;
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Whether a target has refused a scene in this run.
    pub(crate) fn refuses(&self, target: &TargetId, scene: &str) -> bool {
        self.refused.contains(&(scene.to_owned(), target.clone()))
    }

    /// The target of the A/A control, where there is one and it renders the scene.
    pub(crate) fn control(&self, scene: &str) -> Option<&TargetId> {
        self.control.as_ref().map(|session| &session.id).filter(|id| !self.refuses(id, scene))
    }

    /// Takes a scene to every target and to the A/A control, but for those that hold it for this purpose
    /// already.
    ///
    /// # Errors
    /// Everything that a renderer says but that it cannot render the scene, and errors of the folder.
    pub(crate) fn load(&mut self, scene: &Scene, seed: u32, purpose: Purpose) -> Result<(), Failure> {
        self.load_on(&self.targets(&scene.name), scene, seed, purpose)?;
        if self.control(&scene.name).is_some()
            && let Some(control) = &mut self.control
        {
            let settings = self.plan.with_seed(seed);
            if !control.holds(scene, &settings, purpose) {
                self.bar.say(&control.loading(&scene.name));
                control.load(scene, &settings, purpose)?;
            }
        }
        Ok(())
    }

    /// Takes a scene to some targets. One that cannot render it is skipped from then on, with a record.
    ///
    /// # Errors
    /// As [`Lab::load`].
    pub(crate) fn load_on(
        &mut self,
        targets: &[TargetId],
        scene: &Scene,
        seed: u32,
        purpose: Purpose,
    ) -> Result<(), Failure> {
        let settings: Settings = self.plan.with_seed(seed);
        for session in self.sessions.iter_mut().filter(|session| targets.contains(&session.id)) {
            if session.holds(scene, &settings, purpose) {
                continue;
            }
            if std::mem::take(&mut self.resumes) {
                self.folder.append(vec![Interruption::Resumed.note().into()])?;
            }
            self.bar.say(&session.loading(&scene.name));
            let record = match session.load(scene, &settings, purpose) {
                // Programs read the scene in every run.
                Ok(_) if session.is_program() => {
                    let differences = session.take_differences();
                    let notes = differences.iter().map(|text| difference(&session.id, scene, text));
                    self.folder.append(notes.collect())?;
                    continue;
                }
                Ok(report) => {
                    self.folder.add_kernels(&session.id, session.kernels())?;
                    level::load_record((&scene.name, self.plan.triangles(scene)), &session.id, &report)
                }
                Err(Failure::Core(error @ (Error::Unsupported { .. } | Error::Unavailable { .. }))) => {
                    say(&format!("lockstep: {} skips {}: {error}", session.id, scene.name));
                    self.refused.insert((scene.name.clone(), session.id.clone()));
                    skip(&session.id, &scene.name, &error)
                }
                Err(other) => return Err(other),
            };
            self.folder.append(vec![record])?;
        }
        Ok(())
    }

    /// Renders a level on some targets, one after the other, so that a clock that drifts drifts for all
    /// alike. A program that fails has no outcome, and its failure is recorded.
    ///
    /// # Errors
    /// As [`level::render`].
    pub(crate) fn render(
        &mut self,
        level: &Level<'_>,
        targets: &[TargetId],
    ) -> Result<ControlFlow<(), Vec<Outcome>>, Failure> {
        let mut outcomes = Vec::with_capacity(targets.len());
        for index in 0..self.sessions.len() {
            let session = &mut self.sessions[index];
            if !targets.contains(&session.id) {
                continue;
            }
            let rendered = level::render(level, session, &self.folder, &self.bar);
            match self.unless_failed(rendered)? {
                Some(ControlFlow::Continue(outcome)) => outcomes.push(outcome),
                Some(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                None => {}
            }
        }
        Ok(ControlFlow::Continue(outcomes))
    }

    /// Renders a level on the A/A control; nothing where there is none.
    ///
    /// # Errors
    /// As [`level::render`].
    pub(crate) fn render_control(
        &mut self,
        level: &Level<'_>,
    ) -> Result<ControlFlow<(), Option<Outcome>>, Failure> {
        let Some(control) = &mut self.control else { return Ok(ControlFlow::Continue(None)) };
        let rendered = level::render(level, control, &self.folder, &self.bar);
        let rendered = self.unless_failed(rendered)?;
        Ok(rendered.map_or(ControlFlow::Continue(None), |flow| flow.map_continue(Some)))
    }

    /// Whether the levels of a scene go up to this one, by the time that the levels below took under the first
    /// seed. So a study that is resumed ends where it ended.
    pub(crate) fn reaches(&self, level: &Level<'_>) -> bool {
        let first = u64::from(self.plan.settings.seed);
        let below = self.folder.timings().iter().filter(|t| {
            (t.scene.as_str(), t.seed, t.repeat) == (level.scene, first, 0) && t.spp_to <= level.from
        });
        self.plan.reaches(level, below.map(|t| t.total_ms).sum())
    }

    /// Whether a level has times: in a merge, only where they are of machines of one kind.
    pub(crate) fn is_timed(&self, level: &Level<'_>) -> bool {
        self.plan.units.as_ref().is_none_or(|units| units.is_timed(level))
    }

    /// The levels of a scene under a seed, as far as they go.
    pub(crate) fn levels<'s>(&self, scene: &'s str, seed: u32, repeat: u32) -> Vec<Level<'s>> {
        self.plan.levels(scene, seed, repeat).into_iter().filter(|level| self.reaches(level)).collect()
    }

    /// The last level of a scene.
    pub(crate) fn top(&self, scene: &str) -> u32 {
        self.levels(scene, self.plan.settings.seed, 0).last().map_or(1, |level| level.to)
    }

    /// An open target.
    pub(crate) fn session(&mut self, target: &TargetId) -> Option<&mut TargetSession> {
        self.sessions.iter_mut().find(|session| session.id == *target)
    }

    /// An open target, and the bar to show its progress by.
    pub(crate) fn session_and_bar(&mut self, target: &TargetId) -> Option<(&mut TargetSession, &Bar)> {
        let session = self.sessions.iter_mut().find(|session| session.id == *target)?;
        Some((session, &self.bar))
    }

    /// Two open targets, which differ.
    pub(crate) fn pair(
        &mut self,
        a: &TargetId,
        b: &TargetId,
    ) -> Option<(&mut TargetSession, &mut TargetSession)> {
        let place = |id: &TargetId| self.sessions.iter().position(|session| session.id == *id);
        let places = [place(a)?, place(b)?];
        let [a, b] = self.sessions.get_disjoint_mut(places).ok()?;
        Some((a, b))
    }

    /// Every open target.
    pub(crate) fn sessions(&self) -> &[TargetSession] {
        &self.sessions
    }

    /// Closes every target, which frees its memory and threads for measurements that open their own.
    pub(crate) fn close(&mut self) {
        self.sessions.clear();
        self.control = None;
    }

    /// The scene's reference: the user's image, or one from the cache, or one rendered now on one of the
    /// targets, which then holds other samples. `None` where no target can render it; breaks where the user
    /// stops it.
    ///
    /// # Errors
    /// [`Failure`] of renderers and files.
    pub(crate) fn reference(
        &mut self,
        scene: &Scene,
    ) -> Result<ControlFlow<(), Option<Rc<Reference>>>, Failure> {
        if let Some(known) = self.known_reference(&scene.name) {
            return Ok(ControlFlow::Continue(Some(known)));
        }
        if let Some(units) = &self.plan.units {
            let Some(found) = shards::reference(units, self.plan, &scene.name)? else {
                return Ok(ControlFlow::Break(()));
            };
            let reference = Some(Rc::new(found));
            self.reference = Some((scene.name.clone(), reference.clone()));
            return Ok(ControlFlow::Continue(reference));
        }
        let targets = self.targets(&scene.name);
        if targets.is_empty() || self.lacks_reference(&scene.name) {
            return Ok(ControlFlow::Continue(None));
        }
        let top = self.top(&scene.name);
        // Programs alone are measured against one of them: their scene may be none of ours.
        let only_programs = self.sessions.iter().all(TargetSession::is_program);
        let fit = self.targets_at(&scene.name, top);
        let may_render = |s: &&mut TargetSession| match only_programs {
            true => fit.contains(&s.id),
            false => {
                let own = s.id.settings(&self.plan.settings);
                let is_wanted = own.integrator == self.plan.reference_integrator
                    && own.layers == self.plan.settings.layers;
                s.info.exact && is_wanted && targets.contains(&s.id)
            }
        };
        let like = reference::fastest(&self.sessions, (&scene.name, &targets), self.folder.timings());
        let chosen = self.sessions.iter_mut().filter(may_render).collect::<Vec<_>>();
        let obtained = if only_programs {
            reference::of_program(self.plan, (scene, top), chosen, self.folder.timings(), &self.bar)
        } else {
            let chosen = Candidates { sessions: chosen, like };
            reference::obtain(self.plan, (scene, top), chosen, self.folder.timings(), &self.bar)
        };
        let found = self.unless_failed(obtained)?.unwrap_or_default();
        if interrupt::requested() && found.reference.is_none() {
            return Ok(ControlFlow::Break(()));
        }
        for note in &found.notes {
            self.bar.line(&format!("lockstep: {}", note.text));
        }
        self.folder.append(found.notes.into_iter().map(Note::into).collect())?;
        let reference = found.reference.map(Rc::new);
        self.reference = Some((scene.name.clone(), reference.clone()));
        Ok(ControlFlow::Continue(reference))
    }

    /// The scene's reference, if it was given or asked for before.
    pub(crate) fn known_reference(&self, scene: &str) -> Option<Rc<Reference>> {
        if let Some(given) = &self.plan.reference {
            return Some(given.clone());
        }
        self.reference.as_ref().filter(|(known, _)| known == scene).and_then(|(_, found)| found.clone())
    }

    /// Whether the lab knows that no target can render the scene's reference.
    pub(crate) fn lacks_reference(&self, scene: &str) -> bool {
        self.reference.as_ref().is_some_and(|(known, found)| known == scene && found.is_none())
    }
}

/// A remark for the reader of the report, with the present time.
pub(crate) fn remark(text: &str) -> Record {
    Note { text: format!("{text}, {}", utc_now()), ..Note::default() }.into()
}

/// The remark on what a program cannot express of a scene.
fn difference(target: &TargetId, scene: &Scene, text: &str) -> Record {
    say(&format!("lockstep: {target} renders {} otherwise: {text}", scene.name));
    Note::otherwise(&scene.name, target, text).into()
}

/// The record of a target that skips a scene.
fn skip(target: &TargetId, scene: &str, error: &Error) -> Record {
    Skip {
        target: Some(target.clone()),
        scene: Some(scene.to_owned()),
        reason: error.to_string(),
        remedy: "Study this scene on the other targets.".into(),
    }
    .into()
}
