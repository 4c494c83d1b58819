//! What a study is to do, decided before it starts.

use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lockstep_core::{Error, OpenOptions, Scene, Settings};
use lockstep_reports::image_io::read_image;
use lockstep_reports::records::{Environment, HostInfo, Record, Skip, StudySettings, utc_now};
use serde_json::Value;

use super::participant::Participant;
use super::reference::Reference;
use crate::backends::Target;
use crate::cli::StudyArgs;
use crate::exit::Failure;
use crate::hierarchies;
use crate::ladder::{Ladder, Seconds};
use crate::output::say;
use crate::render::DEFAULT_SIZE;
use crate::scenes;

/// The scenes of a study that names none: with the default ladder and size they take under two minutes on two cores.
const DEFAULT_SCENES: [&str; 3] = ["cornell", "weekend", "atrium:10k"];

/// When such a study should be through with its references: two minutes less what the last noise floor and the page take.
const DEFAULT_STUDY: Duration = Duration::from_secs(105);

/// Seeds of a study that is not told how many: the second tells noise from difference.
const DEFAULT_SEEDS: u32 = 2;

/// The commit that this program is built from; empty when unknown.
pub(crate) const COMMIT: &str = env!("LOCKSTEP_COMMIT");

/// A study's scenes and settings.
pub(crate) struct Plan {
    /// The scenes, each with a name of its own.
    pub(crate) scenes: Vec<Scene>,
    /// The scenes as the command line names them, in the same order.
    pub(crate) specs: Vec<String>,
    /// Samples per pixel at which images are compared.
    pub(crate) ladder: Ladder,
    /// Whether single paths are compared too.
    pub(crate) parity: bool,
    /// Size, bounces, first seed.
    pub(crate) settings: Settings,
    /// How many seeds every target renders with, counting up from the first.
    pub(crate) seeds: u32,
    /// Whether the noise floor is rendered with one more seed.
    pub(crate) floor: bool,
    /// How often each step is timed.
    pub(crate) repeats: u32,
    /// Seconds after which errors are taken, ascending; none without `--time`.
    pub(crate) times: Vec<f64>,
    /// The image that the user gave as the reference.
    pub(crate) reference: Option<Reference>,
    /// Where that image is.
    reference_file: Option<PathBuf>,
    /// The most seconds that rendering a reference may take; `None` for the rule of [`super::reference`].
    pub(crate) reference_budget: Option<f64>,
    /// When references should be done with, of the default study, which is to be quick.
    pub(crate) hurry_until: Option<Instant>,
    /// How targets are opened.
    pub(crate) options: OpenOptions,
}

impl Plan {
    /// Loads scenes and reference. Scenes whose data is not here are skipped, with a record.
    ///
    /// # Errors
    /// [`Failure`] for a scene or reference that cannot be used, scenes of equal names, or seeds out of range.
    pub(crate) fn make(args: &StudyArgs, left_out: &mut Vec<Record>) -> Result<Self, Failure> {
        let settings = args.image.settings(DEFAULT_SIZE);
        settings.validate()?;
        let seeds = args.seeds.unwrap_or(DEFAULT_SEEDS);
        if settings.seed.checked_add(seeds - 1).is_none() {
            return Err(Failure::Usage(format!(
                "--seeds {seeds} leaves no room above --seed {}; give a lower --seed",
                settings.seed
            )));
        }
        let (specs, scenes) = load_scenes(&args.scenes, left_out)?;
        let reference = match &args.reference {
            Some(_) if scenes.len() != 1 => {
                return Err(Failure::Usage("--reference goes with exactly one scene".into()));
            }
            Some(file) => Some(Reference::from_file(read_image(file)?, file, &settings)?),
            None => None,
        };
        Ok(Self {
            scenes,
            specs,
            ladder: args.spp.clone().unwrap_or_default(),
            parity: args.ladder,
            settings,
            seeds: args.seeds.unwrap_or(1),
            floor: args.seeds.is_none(),
            repeats: args.repeats.unwrap_or(1),
            times: ascending(&args.times),
            reference,
            reference_file: args.reference.clone(),
            reference_budget: args.reference_budget,
            hurry_until: args.is_default_work().then(|| Instant::now() + DEFAULT_STUDY),
            options: hierarchies::keeping(args.threads),
        })
    }

    /// A plan without a command line, for one seed and with a given reference.
    #[cfg(test)]
    pub(crate) fn of(
        scenes: Vec<Scene>,
        ladder: Ladder,
        settings: Settings,
        repeats: u32,
        reference: Reference,
    ) -> Self {
        Self { ladder, settings, repeats, floor: true, reference: Some(reference), ..Self::of_scenes(scenes) }
    }

    /// A plan of scenes alone.
    #[cfg(test)]
    pub(crate) fn of_scenes(scenes: Vec<Scene>) -> Self {
        Self {
            specs: scenes.iter().map(|scene| scene.name.clone()).collect(),
            scenes,
            ladder: Ladder::default(),
            parity: false,
            settings: Settings { width: 2, height: 2, ..Settings::default() },
            seeds: 1,
            floor: false,
            repeats: 1,
            times: Vec::new(),
            reference: None,
            reference_file: None,
            reference_budget: None,
            hurry_until: None,
            options: OpenOptions::default(),
        }
    }

    /// The seeds after the first.
    pub(crate) fn further_seeds(&self) -> Range<u32> {
        let first = self.settings.seed;
        first + 1..first + self.all_seeds()
    }

    /// How many seeds anything is rendered with, references aside.
    fn all_seeds(&self) -> u32 {
        if self.floor { DEFAULT_SEEDS } else { self.seeds }
    }

    /// Rounds in which every step is timed.
    pub(super) fn rounds(&self) -> usize {
        self.seeds as usize * self.repeats as usize
    }

    /// The settings under another seed.
    pub(crate) fn with_seed(&self, seed: u32) -> Settings {
        Settings { seed, ..self.settings }
    }

    /// Where, with what and how the study runs.
    pub(crate) fn environment(&self, participants: &[Participant]) -> Environment {
        let hash = participants.iter().map(|p| &p.info.kernel_hash).find(|hash| !hash.is_empty());
        let mut environment = Environment {
            lockstep: env!("CARGO_PKG_VERSION").into(),
            commit: (!COMMIT.is_empty()).then(|| COMMIT.to_owned()),
            started_utc: utc_now(),
            command: command(),
            host: HostInfo::detect(),
            targets: participants.iter().map(Participant::describe).collect(),
            kernel_hash: hash.cloned(),
            scenes: self.scenes.iter().map(|s| (s.name.clone(), s.hash.clone())).collect(),
            settings: StudySettings {
                width: self.settings.width,
                height: self.settings.height,
                bounces: self.settings.bounces,
                seed: u64::from(self.settings.seed),
                seeds: self.all_seeds(),
                repeats: self.repeats,
                spp: self.ladder.rungs.clone(),
            },
            ..Environment::default()
        };
        if let Some(file) = &self.reference_file {
            environment.other.insert("reference".into(), Value::from(file.to_string_lossy().into_owned()));
        }
        environment
    }
}

/// Times in seconds, ascending, each once.
fn ascending(times: &[Seconds]) -> Vec<f64> {
    let mut seconds: Vec<f64> = times.iter().map(|time| time.0).collect();
    seconds.sort_by(f64::total_cmp);
    seconds.dedup();
    seconds
}

/// The command line, with the program's name in place of its path.
pub(crate) fn command() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("lockstep".to_owned()).chain(words).collect()
}

/// Loads every scene, with what the command line calls it, before anything is rendered: a mistake in the last one should not cost the time of the first.
fn load_scenes(specs: &[String], left_out: &mut Vec<Record>) -> Result<(Vec<String>, Vec<Scene>), Failure> {
    let specs: Vec<&str> = match specs {
        [] => DEFAULT_SCENES.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let mut found: Vec<(&str, Scene)> = Vec::new();
    for spec in specs {
        match scenes::load(spec) {
            Ok(scene) => {
                if let Some((other, _)) = found.iter().find(|(_, s)| s.name == scene.name) {
                    return Err(Failure::Usage(format!(
                        "the scenes {other} and {spec} are both called {}; study them in two folders",
                        scene.name
                    )));
                }
                found.push((spec, scene));
            }
            Err(Failure::Core(Error::Unavailable { what, remedy })) => {
                say(&format!("lockstep: scene {spec} is left out: {what}. {remedy}"));
                let skip = Skip { scene: Some(spec.into()), reason: what, remedy, ..Skip::default() };
                left_out.push(skip.into());
            }
            Err(other) => return Err(other),
        }
    }
    if found.is_empty() {
        return Err(Failure::Input(
            "no scene is left to render; name one that is here, such as cornell".into(),
        ));
    }
    Ok(found.into_iter().map(|(spec, scene)| (spec.to_owned(), scene)).unzip())
}

/// Opens the targets that are present; the others are skipped, with a record.
///
/// # Errors
/// [`Failure::TargetAbsent`] when none is present, and what a device says that cannot be opened.
pub(crate) fn open(
    targets: &[Target],
    options: &OpenOptions,
    left_out: &mut Vec<Record>,
) -> Result<Vec<Participant>, Failure> {
    let mut opened = Vec::new();
    let mut first_absence = None;
    for target in targets {
        match target.open(options) {
            Ok(renderer) => opened.push(Participant::new(&target.name, renderer)),
            Err(Failure::TargetAbsent { target, reason, remedy }) => {
                say(&format!("lockstep: target {target} is left out: {reason}. {remedy}"));
                let (why, how) = (reason.clone(), remedy.clone());
                left_out.push(Skip { target: target.clone(), scene: None, reason: why, remedy: how }.into());
                first_absence.get_or_insert(Failure::TargetAbsent { target, reason, remedy });
            }
            Err(other) => return Err(other),
        }
    }
    match (opened.is_empty(), first_absence) {
        (true, Some(absence)) => Err(absence),
        _ => Ok(opened),
    }
}
