//! `study --shard`: the units of one shard, each unless it is there already.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use lockstep_core::{Scene, Settings, TargetId};
use lockstep_reports::records::{HostInfo, TargetInfo};

use super::array::{self, Share};
use super::assignment::shares;
use super::plan_command::{Prepared, folder, prepare, study_command};
use super::unit::Work;
use super::unit_files::{self, Manifest, UnitFilm};
use super::work_plan::{FORM, WorkPlan};
use crate::cli::StudyArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::say;
use crate::study::plan::Plan;
use crate::study::rendered::film_hash;
use crate::study::study_target::StudyTarget;
use crate::study::target_session::{Part, TargetSession};

/// Renders the units of a shard that its folder lacks.
///
/// # Errors
/// [`Failure`] for a command line, scene, target or file that cannot be used. Units that are done stay.
pub(crate) fn run(args: &StudyArgs, share: Share) -> Result<Exit, Failure> {
    let Prepared { plan, work, targets } = prepare(args)?;
    let root = folder(args);
    let units = unit_files::folder(&root);
    std::fs::create_dir_all(&units).map_err(Failure::io("make the folder", &units))?;
    unit_files::keep_plan(&root, &work, &study_command())?;
    let variable = |name: &str| std::env::var(name).ok();
    let (shard, array) = array::resolve(share, unit_files::read_array(&root)?, &variable)?;
    unit_files::keep_array(&root, array)?;
    interrupt::listen()?;
    let parts = shares(&work.costs(), shard.count);
    let part = parts.get(shard.number as usize - 1).cloned().unwrap_or_default();
    let name = format!("shard {} of {}", shard.number, shard.count);
    say(&format!("lockstep: {name}: {} of {} units", part.len(), work.units.len()));
    let hash = work.hash();
    let mut machine =
        Machine { plan: &plan, work: &work, hash: &hash, targets, sessions: BTreeMap::new(), control: None };
    let mut there = 0;
    for index in part.clone() {
        if is_done(&root, &work, &hash, index) {
            there += 1;
            continue;
        }
        let start = Instant::now();
        if interrupt::requested() || machine.render(&root, index)?.is_none() {
            say(&format!("lockstep: {name} is stopped; the same command goes on"));
            return Ok(Exit::Interrupted);
        }
        let unit = work.units[index].in_words();
        say(&format!("lockstep: unit {index}, {unit}: {:.2} s", start.elapsed().as_secs_f64()));
    }
    let rendered = part.len() - there;
    say(&format!("lockstep: {name} is done: {rendered} units rendered, {there} were there"));
    Ok(Exit::Fine)
}

/// Whether a unit is there and whole. One that is damaged is rendered again.
fn is_done(root: &Path, work: &WorkPlan, hash: &str, index: usize) -> bool {
    let found = unit_files::read_manifest(root, work, hash, index).and_then(|found| {
        let Some(manifest) = found else { return Ok(false) };
        let mut targets = 0..manifest.films.len();
        targets.try_for_each(|t| unit_files::read_film(root, work, &manifest, t).map(drop)).map(|()| true)
    });
    found.unwrap_or_else(|reason| {
        say(&format!("lockstep: {reason}; its unit is rendered again"));
        false
    })
}

/// The targets of a shard, each opened when it is first needed.
struct Machine<'a> {
    plan: &'a Plan,
    work: &'a WorkPlan,
    hash: &'a str,
    targets: Vec<StudyTarget>,
    sessions: BTreeMap<TargetId, TargetSession>,
    /// The first target a second time, for the A/A control.
    control: Option<TargetSession>,
}

impl Machine<'_> {
    /// Renders a unit and writes its files; `None` where the user stops it.
    fn render(&mut self, root: &Path, index: usize) -> Result<Option<()>, Failure> {
        let unit = &self.work.units[index];
        let scene = self.plan.scenes.iter().find(|scene| scene.name == unit.scene);
        let scene = scene.ok_or_else(|| Failure::Input(format!("the plan has no scene {}", unit.scene)))?;
        let settings = Settings { seed: unit.seed, ..self.plan.settings };
        let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        let start = Instant::now();
        let mut aa_control = None;
        if self.work.aa_control && unit.work == Work::Level {
            if self.control.is_none() {
                self.control = Some(self.open(&unit.targets[0])?);
            }
            let Some(control) = &mut self.control else { return Ok(None) };
            let Some(part) = control.render_alone(scene, &settings, unit.samples())? else { return Ok(None) };
            aa_control = Some((film_hash(&part.film), part.pass));
        }
        // Files are written once all have rendered, so that no target is timed right after the disk was busy.
        let mut rendered = Vec::new();
        for target in &unit.targets {
            let Some(part) = self.render_on(target, scene, &settings, unit.samples())? else {
                return Ok(None);
            };
            rendered.push(part);
        }
        let mut films = Vec::new();
        for (place, (part, device)) in rendered.into_iter().enumerate() {
            let (hash, bytes) = unit_files::write_film(root, self.work, index, place, part.film)?;
            let aa_control = match aa_control.take() {
                Some((other, _)) if other != hash => {
                    return Err(Failure::Input(format!(
                        "{} broke its contract: it rendered {} twice and made two different films",
                        device.info.target,
                        unit.in_words()
                    )));
                }
                aa_control => aa_control.map(|(_, pass)| pass),
            };
            films.push(UnitFilm { hash, bytes, device, load: part.load, pass: part.pass, aa_control });
        }
        let manifest = Manifest {
            form: FORM,
            plan: self.hash.to_owned(),
            index,
            unit: unit.clone(),
            host: HostInfo::detect(),
            began,
            seconds: start.elapsed().as_secs_f64(),
            films,
        };
        unit_files::write_manifest(root, &manifest)?;
        Ok(Some(()))
    }

    /// Renders samples on a target, which is opened if it is not.
    fn render_on(
        &mut self,
        target: &TargetId,
        scene: &Scene,
        settings: &Settings,
        samples: Range<u32>,
    ) -> Result<Option<(Part, TargetInfo)>, Failure> {
        if !self.sessions.contains_key(target) {
            let session = self.open(target)?;
            self.sessions.insert(target.clone(), session);
        }
        let Some(session) = self.sessions.get_mut(target) else { return Ok(None) };
        let part = session.render_alone(scene, settings, samples)?;
        Ok(part.map(|part| (part, session.describe(self.plan))))
    }

    fn open(&self, target: &TargetId) -> Result<TargetSession, Failure> {
        let found = self.targets.iter().find(|known| known.own().is_some_and(|own| own.id == *target));
        let found =
            found.ok_or_else(|| Failure::Input(format!("the plan names {target}, which the study lacks")))?;
        found.open(&self.plan.options)
    }
}
