//! A study, scene by scene: climb the ladder on every target, get a reference, compare with it.

use std::ops::ControlFlow;

use lockstep_core::{Error, Scene, Settings};
use lockstep_reports::image_io::ImageKind;
use lockstep_reports::records::{Difference, FilmHash, Mode, Note, Record, Skip, utc_now};
use lockstep_reports::tables::speedups;

use super::again::Again;
use super::converge::{self, convergence_key};
use super::differences::{self, pair_key};
use super::folder::Folder;
use super::parity::{self, Parity};
use super::participant::Participant;
use super::plan::Plan;
use super::reference::{self, Reference};
use super::step::{self, Outcome, Step};
use super::{equal_time, floor, hits, images};
use crate::exit::Failure;
use crate::interrupt;
use crate::output::say;
use crate::progress::Bar;

/// Whether to go on, or stop because the user asked to.
type Flow = ControlFlow<()>;

/// A study that is running.
pub(crate) struct Run<'a> {
    /// What to do.
    pub(crate) plan: &'a Plan,
    /// Where it goes.
    pub(crate) folder: &'a mut Folder,
    /// The targets.
    pub(crate) participants: Vec<Participant>,
    /// The first target a second time, where rounds are timed for a floor.
    pub(crate) again: Option<Again>,
    /// Whether records of an earlier run are there; the first new ones come after a remark.
    pub(crate) goes_on: bool,
}

impl Run<'_> {
    /// Every scene in turn, until all are done or the user stops.
    ///
    /// # Errors
    /// [`Failure`] of renderers and files. What was recorded before stays.
    pub(crate) fn all(&mut self) -> Result<Flow, Failure> {
        for scene in &self.plan.scenes {
            let bar = Bar::new(&scene.name, self.samples());
            let flow = self.scene(scene, &bar);
            bar.clear();
            if flow?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Samples of every pixel that a scene takes on all targets, its reference aside.
    fn samples(&self) -> u64 {
        let climbs = u64::from(self.plan.seeds) * u64::from(self.plan.repeats);
        let timed = self.participants.len() + usize::from(self.again.is_some());
        u64::from(self.plan.ladder.top()) * timed as u64 * climbs
    }

    fn scene(&mut self, scene: &Scene, bar: &Bar) -> Result<Flow, Failure> {
        self.participants.iter_mut().for_each(|p| p.active = true);
        let first = self.plan.settings.seed;
        if self.climb(scene, first, 0, None, bar)?.is_break() {
            return Ok(Flow::Break(()));
        }
        let ControlFlow::Continue(reference) = self.reference(scene, bar)? else {
            return Ok(Flow::Break(()));
        };
        if let Some(reference) = &reference {
            self.converge(scene, reference)?;
        }
        for (seed, repeat) in self.further_climbs() {
            if self.climb(scene, seed, repeat, reference.as_ref(), bar)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        if self.plan.floor && self.participants.len() > 1 && self.floor(scene, bar)?.is_break() {
            return Ok(Flow::Break(()));
        }
        if let Some(reference) = &reference
            && equal_time::all(self.plan, self.folder, &mut self.participants, scene, reference, bar)?
                .is_break()
        {
            return Ok(Flow::Break(()));
        }
        self.prune(scene)?;
        let found = speedups(self.folder.timings()).into_iter().filter(|s| s.scene == scene.name);
        self.folder.append(found.map(Record::from).collect())?;
        Ok(Flow::Continue(()))
    }

    /// Renders what the noise floor lacks: the ladder under the next seed, on one of each group of identical targets. One
    /// target alone has no differences that could be compared with noise.
    fn floor(&mut self, scene: &Scene, bar: &Bar) -> Result<Flow, Failure> {
        let groups = floor::groups(self.plan, self.folder, &scene.name, &self.participants);
        let active = self.active();
        for participant in &mut self.participants {
            participant.active &= groups.iter().any(|group| group.renders == participant.name);
        }
        let mut flow = Flow::Continue(());
        for seed in self.plan.further_seeds() {
            let steps = self.steps(scene, seed, 0);
            let lacks =
                |step: &Step<'_>, name: &String| !self.folder.has(floor::noise_key(self.plan, step, name));
            let open: Vec<Step<'_>> =
                steps.into_iter().filter(|step| active.iter().any(|name| lacks(step, name))).collect();
            if !open.is_empty() && self.floor_steps(scene, seed, &open, &groups, bar)?.is_break() {
                flow = Flow::Break(());
            }
        }
        self.participants.iter_mut().for_each(|p| p.active = active.contains(&p.name));
        Ok(flow)
    }

    fn floor_steps(
        &mut self,
        scene: &Scene,
        seed: u32,
        steps: &[Step<'_>],
        groups: &[floor::Group],
        bar: &Bar,
    ) -> Result<Flow, Failure> {
        self.load(scene, seed)?;
        for step in steps {
            let ControlFlow::Continue(outcomes) =
                step::render(step, &mut self.participants, self.folder, bar)?
            else {
                return Ok(Flow::Break(()));
            };
            let mut records = Vec::new();
            for outcome in &outcomes {
                records.push(
                    FilmHash::new(step.scene, &outcome.target, step.to, u64::from(step.seed), &outcome.hash)
                        .into(),
                );
                for group in groups.iter().filter(|group| group.renders == outcome.target) {
                    records.extend(floor::noise(self.plan, self.folder, step, outcome, &group.members)?);
                }
            }
            self.folder.append(records)?;
        }
        Ok(Flow::Continue(()))
    }

    /// Removes images that are no longer needed: everything has been compared with them that will be.
    fn prune(&self, scene: &Scene) -> Result<(), Failure> {
        let names = self.active();
        let steps = self.steps(scene, self.plan.settings.seed, 0);
        let converged =
            |step: &Step<'_>| names.iter().all(|name| self.folder.has(convergence_key(step, name)));
        if steps.iter().all(converged) {
            images::prune(self.folder, self.plan, &scene.name, &names)?;
        }
        Ok(())
    }

    /// Seeds and repeats after the first climb.
    fn further_climbs(&self) -> Vec<(u32, u32)> {
        let first = self.plan.settings.seed;
        let repeats = self.plan.repeats;
        let all = (0..self.plan.seeds).flat_map(|i| (0..repeats).map(move |repeat| (first + i, repeat)));
        all.skip(1).collect()
    }

    /// Names of the targets that render the present scene.
    fn active(&self) -> Vec<String> {
        self.participants.iter().filter(|p| p.active).map(|p| p.name.clone()).collect()
    }

    /// Climbs the ladder once on every target, but for the steps that are recorded.
    fn climb(
        &mut self,
        scene: &Scene,
        seed: u32,
        repeat: u32,
        reference: Option<&Reference>,
        bar: &Bar,
    ) -> Result<Flow, Failure> {
        let steps = self.steps(scene, seed, repeat);
        let done = |run: &Self, step: &Step<'_>| run.is_done(step, reference.is_some());
        let parity = self.wants_parity(scene, seed, repeat);
        if steps.iter().all(|step| done(self, step)) && !parity {
            bar.add(u64::from(self.plan.ladder.top()) * self.active().len() as u64);
            return Ok(Flow::Continue(()));
        }
        self.load(scene, seed)?;
        let (names, settings) = (self.active(), self.plan.with_seed(seed));
        if let Some(again) = &mut self.again {
            again.load(&names, scene, &settings)?;
        }
        for step in &steps {
            if done(self, step) {
                continue;
            }
            let ControlFlow::Continue(outcomes) =
                step::render(step, &mut self.participants, self.folder, bar)?
            else {
                return Ok(Flow::Break(()));
            };
            // Before anything is compared, so that both times of the first target meet the same machine.
            let again = match &mut self.again {
                Some(again) => again.time(step, self.folder, bar)?,
                None => ControlFlow::Continue(None),
            };
            let ControlFlow::Continue(again) = again else {
                return Ok(Flow::Break(()));
            };
            self.record(step, &outcomes, reference, again)?;
        }
        if parity {
            bar.say(&format!("{} path by path", scene.name));
            self.parity(scene, seed)?;
        }
        Ok(Flow::Continue(()))
    }

    /// Whether single paths are to be compared on this climb: on the first, unless that is recorded.
    fn wants_parity(&self, scene: &Scene, seed: u32, repeat: u32) -> bool {
        let names = self.active();
        let missing =
            |(a, b): (usize, usize)| !self.folder.has(parity::key(&scene.name, &names[a], &names[b], seed));
        let first = seed == self.plan.settings.seed && repeat == 0;
        self.plan.parity && first && pairs(&names).into_iter().any(missing)
    }

    /// Compares single paths of every pair of the targets, which hold the scene.
    fn parity(&mut self, scene: &Scene, seed: u32) -> Result<(), Failure> {
        let place = self.plan.scenes.iter().position(|other| other.name == scene.name);
        let spec = place.and_then(|i| self.plan.specs.get(i)).unwrap_or(&scene.name);
        let parity = Parity::new(&scene.name, spec, self.plan.with_seed(seed), self.plan.ladder.top());
        let mut active: Vec<&mut Participant> = self.participants.iter_mut().filter(|p| p.active).collect();
        for (a, b) in pairs(&active) {
            let (before, from_b) = active.split_at_mut(b);
            let (a, b) = (&mut *before[a], &mut *from_b[0]);
            let names = (a.name.clone(), b.name.clone());
            let rungs = parity.compare((&names.0, &names.1), (a.renderer(), b.renderer()))?;
            self.folder.append(rungs.into_iter().map(Record::from).collect())?;
        }
        Ok(())
    }

    fn steps<'s>(&self, scene: &'s Scene, seed: u32, repeat: u32) -> Vec<Step<'s>> {
        let rungs = &self.plan.ladder.rungs;
        let starts = std::iter::once(0).chain(rungs.iter().copied());
        let make = |(from, &to)| Step { scene: &scene.name, from, to, seed, repeat };
        starts.zip(rungs).map(make).collect()
    }

    /// Whether everything that a step yields is on disk.
    fn is_done(&self, step: &Step<'_>, with_reference: bool) -> bool {
        let names = self.active();
        let timed = names.iter().all(|name| self.folder.has(step::timing_key(step, name)))
            && self.again.as_ref().is_none_or(|again| again.is_done(step, &names, self.folder));
        if step.repeat > 0 || !timed {
            return timed;
        }
        let compared =
            pairs(&names).into_iter().all(|(a, b)| self.folder.has(pair_key(step, &names[a], &names[b])));
        let exists = |name: &str, kind| self.folder.image(step.scene, name, step.to, kind).exists();
        let converged = |name: &str| self.folder.has(convergence_key(step, name));
        compared
            && names.iter().all(|name| {
                if step.seed == self.plan.settings.seed {
                    exists(name, ImageKind::Png) && (converged(name) || exists(name, ImageKind::Exr))
                } else {
                    let floor = floor::noise_key(self.plan, step, name);
                    self.folder.has(floor) && (converged(name) || !with_reference)
                }
            })
    }

    /// Takes the scene to every target. One that cannot render it sits the scene out, with a record.
    fn load(&mut self, scene: &Scene, seed: u32) -> Result<(), Failure> {
        if std::mem::take(&mut self.goes_on) {
            self.folder.append(vec![remark("resumed")])?;
        }
        let settings = self.plan.with_seed(seed);
        for participant in self.participants.iter_mut().filter(|p| p.active) {
            participant.active = load(participant, scene, &settings, self.folder)?;
        }
        Ok(())
    }

    /// Writes what a step yielded: images first, so that records are never about images that are not there.
    fn record(
        &mut self,
        step: &Step<'_>,
        outcomes: &[Outcome],
        reference: Option<&Reference>,
        again: Option<Record>,
    ) -> Result<(), Failure> {
        let first_seed = step.seed == self.plan.settings.seed;
        let mut records = Vec::from_iter(again);
        for (participant, outcome) in self.participants.iter().filter(|p| p.active).zip(outcomes) {
            records.push(step::timing(step, participant, outcome).into());
            records.extend(step::rejected(step, outcome));
            if step.repeat > 0 {
                self.check_repeat(step, outcome)?;
                continue;
            }
            records.push(
                FilmHash::new(step.scene, &outcome.target, step.to, u64::from(step.seed), &outcome.hash)
                    .into(),
            );
            if first_seed {
                records.extend(step::bounces(step, outcome));
                images::write(self.folder, step, &self.plan.settings, outcome)?;
            } else {
                let only = std::slice::from_ref(&outcome.target);
                records.extend(floor::noise(self.plan, self.folder, step, outcome, only)?);
            }
        }
        if step.repeat == 0 {
            let compared = differences::pairs(step, outcomes)?;
            for (pair, map) in compared.iter().filter(|_| first_seed) {
                if let Some(map) = map {
                    images::write_p_map(self.folder, step, pair, map)?;
                }
            }
            let differences: Vec<Difference> = compared.into_iter().map(|(pair, _)| pair).collect();
            records.extend(self.explain(step, outcomes, &differences)?);
            if first_seed && step.to == self.plan.ladder.top() {
                records.extend(images::maps(self.folder, step, outcomes, &differences)?);
            }
            records.extend(differences.into_iter().map(Record::from));
            if let Some(reference) = reference {
                let found = differences::convergences(step, outcomes, reference)?;
                records.extend(found.into_iter().map(Record::from));
            }
        }
        self.folder.append(records)
    }

    /// A target that renders the same samples again must make the same film.
    fn check_repeat(&self, step: &Step<'_>, outcome: &Outcome) -> Result<(), Failure> {
        let record = FilmHash::new(step.scene, &outcome.target, step.to, u64::from(step.seed), &outcome.hash);
        match self.folder.film_hash(&record) {
            Some(first) if first != outcome.hash => Err(Failure::Input(format!(
                "{} broke its contract: it rendered {} at {} spp twice and made two different films",
                outcome.target, step.scene, step.to
            ))),
            _ => Ok(()),
        }
    }

    /// Looks into every pair of exact builds that differs here for the first time. Of fast builds nothing else is expected.
    fn explain(
        &mut self,
        step: &Step<'_>,
        outcomes: &[Outcome],
        differences: &[Difference],
    ) -> Result<Vec<Record>, Failure> {
        let mut active: Vec<&mut Participant> = self.participants.iter_mut().filter(|p| p.active).collect();
        let mut records = Vec::new();
        for ((a, b), difference) in pairs(outcomes).into_iter().zip(differences) {
            let promised = difference.mode == Mode::Exact;
            if difference.identical
                || !promised
                || self.folder.is_explained(step.scene, &difference.a, &difference.b)
            {
                continue;
            }
            let (before, from_b) = active.split_at_mut(b);
            let renderers = (before[a].renderer(), from_b[0].renderer());
            let names = (difference.a.as_str(), difference.b.as_str());
            let films = (&outcomes[a].film, &outcomes[b].film);
            records.push(hits::explain(step, names, renderers, films)?.into());
        }
        Ok(records)
    }

    /// The scene's reference where something has yet to be compared with it.
    fn reference(&mut self, scene: &Scene, bar: &Bar) -> Result<ControlFlow<(), Option<Reference>>, Failure> {
        if let Some(given) = &self.plan.reference {
            return Ok(ControlFlow::Continue(Some(given.clone())));
        }
        let first = self.plan.settings.seed;
        let mut steps = (0..self.plan.seeds).flat_map(|i| self.steps(scene, first + i, 0));
        let names = self.active();
        let converged = steps.all(|s| names.iter().all(|n| self.folder.has(convergence_key(&s, n))));
        let timed = names.iter().all(|name| !equal_time::is_open(self.plan, self.folder, scene, name));
        if names.is_empty() || (converged && timed) {
            return Ok(ControlFlow::Continue(None));
        }
        let timings = self.folder.timings();
        let found = reference::obtain(self.plan, scene, &mut self.participants, timings, bar)?;
        if interrupt::requested() && found.reference.is_none() {
            return Ok(ControlFlow::Break(()));
        }
        for note in &found.notes {
            bar.line(&format!("lockstep: {}", note.text));
        }
        self.folder.append(found.notes.into_iter().map(Note::into).collect())?;
        Ok(ControlFlow::Continue(found.reference))
    }

    /// Compares the images of the first climb with the reference.
    fn converge(&mut self, scene: &Scene, reference: &Reference) -> Result<(), Failure> {
        let steps = self.steps(scene, self.plan.settings.seed, 0);
        let records = converge::first_climb(self.folder, &steps, &self.active(), reference)?;
        self.folder.append(records.into_iter().map(Record::from).collect())
    }
}

/// A remark with its time.
pub(crate) fn remark(text: &str) -> Record {
    Note { text: format!("{text}, {}", utc_now()), ..Note::default() }.into()
}

/// Every pair of positions in a list, the lower first.
fn pairs<T>(items: &[T]) -> Vec<(usize, usize)> {
    (0..items.len()).flat_map(|a| (a + 1..items.len()).map(move |b| (a, b))).collect()
}

/// Takes a scene to a target, and records it; whether the target can render it. One that cannot sits it out.
///
/// # Errors
/// Whatever else the renderer says, and what the folder does.
pub(super) fn load(
    participant: &mut Participant,
    scene: &Scene,
    settings: &Settings,
    folder: &mut Folder,
) -> Result<bool, Failure> {
    let (renders, record) = match participant.load(scene, settings) {
        Ok(report) => {
            folder.tell_kernels(&participant.name, participant.kernels())?;
            (true, step::load(scene, &participant.name, &report))
        }
        Err(Failure::Core(error @ (Error::Unsupported { .. } | Error::Unavailable { .. }))) => {
            say(&format!("lockstep: {} leaves out {}: {error}", participant.name, scene.name));
            (false, left_out(&participant.name, &scene.name, &error))
        }
        Err(other) => return Err(other),
    };
    folder.append(vec![record])?;
    Ok(renders)
}

/// The record of a target that sits a scene out.
fn left_out(target: &str, scene: &str, error: &Error) -> Record {
    Skip {
        target: target.to_owned(),
        scene: Some(scene.to_owned()),
        reason: error.to_string(),
        remedy: "Study this scene on the other targets.".into(),
    }
    .into()
}
