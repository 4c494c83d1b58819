//! The plan of a study: scenes, settings, seeds and levels.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use lockstep_core::{Error, Integrator, Mode, OpenOptions, Scene, Settings, TargetId};
use lockstep_reports::image_io::read_image;
use lockstep_reports::records::{Environment, HostInfo, Record, Skip, StudySettings, utc_now};
use serde_json::Value;

use super::level::Level;
use super::reference_image::Reference;
use super::shards::Units;
use super::study_target::StudyTarget;
use super::target_session::TargetSession;
use crate::bvh_cache;
use crate::cli::{StudyArgs, SubjectArgs, TuneArgs};
use crate::exit::Failure;
use crate::output::say;
use crate::progress::Bar;
use crate::render::DEFAULT_SIZE;
use crate::scenes;
use crate::values::{Seconds, SppSchedule};

/// The scenes of a study that names none: at the default levels and size they take under two minutes on two
/// cores.
pub(super) const DEFAULT_SCENES: [&str; 3] = ["cornell", "weekend", "atrium:10k"];

/// The time after which such a study renders no more references: a minute less the time of the last noise floor
/// and of the page.
const DEFAULT_STUDY: Duration = Duration::from_secs(50);

/// Seconds of rendering that the levels of a scene get, over all targets, where the user names no levels.
const LEVELS_SECONDS: f64 = 20.0;

/// Seconds of rendering that the levels of a scene get in the default study, which has three scenes.
const DEFAULT_LEVELS_SECONDS: f64 = 3.0;

/// A level that is rendered whatever it takes: below it an image says little.
const LEAST_TOP: u32 = 8;

/// Seeds where the user does not say: the second separates noise from differences.
const DEFAULT_SEEDS: u32 = 2;

/// The commit that this program is built from; empty when unknown.
pub(crate) const COMMIT: &str = env!("LOCKSTEP_COMMIT");

/// The pairs of targets whose paths are compared over the whole image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Diagnosis {
    /// No pair.
    #[default]
    None,
    /// Each fast build with the exact build of the same device.
    FastBuilds,
    /// Every pair of one integrator and way of sampling layers.
    All,
}

impl Diagnosis {
    pub(super) fn covers(self, a: &TargetId, b: &TargetId) -> bool {
        match self {
            Self::None => false,
            Self::FastBuilds => a.in_mode(Mode::Exact) == b.in_mode(Mode::Exact),
            Self::All => a.is_alike(b),
        }
    }

    /// The most samples of every pixel whose paths are compared: one in a study that nobody asked to diagnose.
    pub(super) fn most_samples(self) -> u32 {
        match self {
            Self::None | Self::FastBuilds => 1,
            Self::All => 16,
        }
    }
}

/// A study's scenes and settings.
pub(crate) struct Plan {
    /// The scenes, each with a name of its own.
    pub(crate) scenes: Vec<Scene>,
    /// The scenes as command lines name them, with the options of how they are read, in the same order.
    pub(crate) specs: Vec<String>,
    /// Words that name the scenes, without the options of how they are read, as programs get them.
    pub(super) words: Vec<String>,
    /// Hashes of the files of scenes that only programs read, by the scene's name.
    pub(super) file_hashes: BTreeMap<String, String>,
    /// Samples per pixel at which images are compared.
    pub(crate) schedule: SppSchedule,
    /// Seconds of rendering over all targets after which a scene goes no further up the schedule; `None` for no
    /// bound.
    pub(crate) levels_seconds: Option<f64>,
    /// The pairs of targets whose single paths are compared too.
    pub(crate) diagnose: Diagnosis,
    /// Size, bounces, integrator, first seed.
    pub(crate) settings: Settings,
    /// Whether images of two integrators, or ways of sampling layers, on one target are compared with each other, sample for
    /// sample.
    pub(crate) across_integrators: bool,
    /// The integrators of which every technique is shown.
    pub(crate) techniques: Vec<Integrator>,
    /// Seeds that every target renders with, counting up from the first.
    pub(crate) seeds: u32,
    /// Whether the noise floor is rendered with one more seed.
    pub(crate) noise_floor: bool,
    /// Times that each level or kernel configuration is timed.
    pub(crate) repeats: u32,
    /// Words that choose kernel configurations: those with one in their label are timed beside the default; without words,
    /// all.
    pub(crate) configurations: Vec<String>,
    /// Seconds after which errors are taken, ascending; none without `--time`.
    pub(crate) times: Vec<f64>,
    /// The image that the user gave as the reference.
    pub(crate) reference: Option<Rc<Reference>>,
    /// The file of the reference.
    pub(super) reference_file: Option<PathBuf>,
    /// The integrator that renders references.
    pub(crate) reference_integrator: Integrator,
    /// The most seconds that rendering a reference may take; `None` for the rule of [`super::reference`].
    pub(crate) reference_budget: Option<f64>,
    /// Seconds of rendering that a reference gets, whatever the levels; `None` for multiples of the last level.
    pub(crate) reference_seconds: Option<f64>,
    /// The baseline target of speed-ups by device; `None` for the first target.
    pub(crate) against: Option<TargetId>,
    /// Time by which references should be done, in the default study, which is to be quick.
    pub(crate) deadline: Option<Instant>,
    /// The units that hold the films, in a merge.
    pub(crate) units: Option<Rc<Units>>,
    /// How targets are opened.
    pub(crate) options: OpenOptions,
}

impl Plan {
    /// The plan of `lockstep study`. Loads scenes and reference; scenes whose data is absent are skipped,
    /// with a record. `unread` says that nothing but external programs renders, which read scene files
    /// themselves.
    ///
    /// # Errors
    /// [`Failure`] for a scene or reference that cannot be used, scenes of equal names, or seeds out of
    /// range.
    pub(crate) fn of_study(
        args: &StudyArgs,
        unread: bool,
        skipped: &mut Vec<Record>,
    ) -> Result<Self, Failure> {
        let settings = args.settings(DEFAULT_SIZE);
        settings.validate()?;
        let seeds = args.seeds.unwrap_or(DEFAULT_SEEDS);
        if settings.seed.checked_add(seeds - 1).is_none() {
            return Err(Failure::Usage(format!(
                "--seeds {seeds} leaves no room above --seed {}; give a lower --seed",
                settings.seed
            )));
        }
        let LoadedScenes { specs, words, scenes, file_hashes } = load_scenes(&args.subject, unread, skipped)?;
        for (word, scene) in words.iter().zip(&scenes) {
            scenes::warn_of_few_bounces(word, scene, &settings);
        }
        let reference = match &args.reference {
            Some(_) if scenes.len() != 1 => {
                return Err(Failure::Usage("--reference goes with exactly one scene".into()));
            }
            Some(file) => Some(Rc::new(Reference::from_file(read_image(file)?, file, &settings)?)),
            None => None,
        };
        Ok(Self {
            words,
            file_hashes,
            schedule: args.spp.clone().unwrap_or_default(),
            levels_seconds: args.spp.is_none().then_some(match args.is_default_work() {
                true => DEFAULT_LEVELS_SECONDS,
                false => LEVELS_SECONDS,
            }),
            diagnose: match (args.diagnose, args.is_default_work()) {
                (true, _) => Diagnosis::All,
                (false, true) => Diagnosis::FastBuilds,
                (false, false) => Diagnosis::None,
            },
            techniques: args.technique_integrators()?,
            seeds: args.seeds.unwrap_or(1),
            noise_floor: args.seeds.is_none(),
            repeats: args.repeats.unwrap_or(1),
            times: ascending(&args.times),
            reference,
            reference_file: args.reference.clone(),
            across_integrators: args.preset.is_none(),
            reference_integrator: args.reference_integrator.unwrap_or(settings.integrator),
            reference_budget: args.reference_budget,
            reference_seconds: args.reference_seconds(),
            against: args.against.as_deref().map(TargetId::from),
            deadline: args.is_default_work().then(|| Instant::now() + DEFAULT_STUDY),
            options: bvh_cache::options(args.folder.threads),
            ..Self::of_scenes(specs, scenes, settings)
        })
    }

    /// The plan of `lockstep tune`. Its schedule is the samples per pixel of a pass where the user says, else
    /// empty.
    ///
    /// # Errors
    /// [`Failure`] for a scene that cannot be used, or scenes of equal names.
    pub(crate) fn of_tuning(
        args: &TuneArgs,
        rounds: u32,
        skipped: &mut Vec<Record>,
    ) -> Result<Self, Failure> {
        let settings = args.image.settings(DEFAULT_SIZE);
        settings.validate()?;
        let LoadedScenes { specs, scenes, .. } = load_scenes(&args.subject, false, skipped)?;
        Ok(Self {
            schedule: SppSchedule { levels: args.spp.into_iter().collect() },
            repeats: rounds,
            configurations: args.configurations.clone(),
            options: bvh_cache::options(args.folder.threads),
            ..Self::of_scenes(specs, scenes, settings)
        })
    }

    /// A plan for one seed, without noise floor or reference.
    pub(crate) fn of_scenes(specs: Vec<String>, scenes: Vec<Scene>, settings: Settings) -> Self {
        Self {
            scenes,
            words: specs.clone(),
            specs,
            file_hashes: BTreeMap::new(),
            schedule: SppSchedule::default(),
            levels_seconds: None,
            diagnose: Diagnosis::None,
            across_integrators: true,
            reference_integrator: settings.integrator,
            settings,
            techniques: Vec::new(),
            seeds: 1,
            noise_floor: false,
            repeats: 1,
            configurations: Vec::new(),
            times: Vec::new(),
            reference: None,
            reference_file: None,
            reference_budget: None,
            reference_seconds: None,
            against: None,
            deadline: None,
            units: None,
            options: OpenOptions::default(),
        }
    }

    /// The levels of a scene under a seed.
    pub(crate) fn levels<'a>(&self, scene: &'a str, seed: u32, repeat: u32) -> Vec<Level<'a>> {
        let levels = &self.schedule.levels;
        let starts = std::iter::once(0).chain(levels.iter().copied());
        starts.zip(levels).map(|(from, &to)| Level { scene, from, to, seed, repeat }).collect()
    }

    /// Whether a scene's levels go up to this one, given the milliseconds that the levels below took: the level
    /// takes about as long as all of them.
    pub(crate) fn reaches(&self, level: &Level<'_>, milliseconds_below: f64) -> bool {
        let within = |seconds: f64| 2.0 * milliseconds_below <= 1e3 * seconds;
        level.to <= LEAST_TOP || self.levels_seconds.is_none_or(within)
    }

    /// The seeds after the first.
    pub(crate) fn further_seeds(&self) -> Range<u32> {
        let first = self.settings.seed;
        first + 1..first + self.all_seeds()
    }

    /// The number of seeds that anything is rendered with, references aside.
    fn all_seeds(&self) -> u32 {
        if self.noise_floor { DEFAULT_SEEDS } else { self.seeds }
    }

    /// The time that errors after equal time and references take, for a number of targets by each integrator.
    pub(super) fn time_in_words(&self, targets: usize) -> String {
        let scenes = self.scenes.len() as f64;
        let own = scenes * targets as f64 * self.times.last().copied().unwrap_or(0.0);
        let references = scenes * self.reference_seconds.unwrap_or(0.0);
        let minutes = |seconds: f64| (seconds / 60.0).ceil();
        format!(
            "{} min at equal time and at most {} min for references, beside levels and threads",
            minutes(own),
            minutes(references)
        )
    }

    /// Rounds in which every level is timed.
    pub(super) fn rounds(&self) -> usize {
        self.seeds as usize * self.repeats as usize
    }

    /// The hash that tells whether a scene is the same as before.
    fn hash_of(&self, scene: &Scene) -> String {
        self.file_hashes.get(&scene.name).unwrap_or(&scene.hash).clone()
    }

    /// The triangles of a scene, of which a merge has a stand-in.
    pub(crate) fn triangles(&self, scene: &Scene) -> u64 {
        let planned = self.units.as_ref().and_then(|units| units.plan.scene(&scene.name));
        planned.map_or(scene.triangles.len() as u64, |scene| scene.triangles)
    }

    /// The settings under another seed.
    pub(crate) fn with_seed(&self, seed: u32) -> Settings {
        Settings { seed, ..self.settings }
    }

    /// The machine, the targets and the settings of the study.
    pub(crate) fn environment(&self, sessions: &[TargetSession]) -> Environment {
        let hash = sessions.iter().map(|s| &s.info.kernel_hash).find(|hash| !hash.is_empty());
        let mut environment = Environment {
            lockstep: env!("CARGO_PKG_VERSION").into(),
            commit: (!COMMIT.is_empty()).then(|| COMMIT.to_owned()),
            started_utc: utc_now(),
            command: command(),
            host: HostInfo::detect(),
            targets: sessions.iter().map(|session| session.describe(self)).collect(),
            kernel_hash: hash.cloned(),
            scenes: self.scenes.iter().map(|s| (s.name.clone(), self.hash_of(s))).collect(),
            settings: StudySettings {
                width: self.settings.width,
                height: self.settings.height,
                bounces: self.settings.bounces,
                roulette: self.settings.roulette_from,
                integrator: self.settings.integrator,
                merge_radius: self.settings.merge_radius,
                sampler: self.settings.sampler,
                layers: self.settings.layers,
                seed: u64::from(self.settings.seed),
                seeds: self.all_seeds(),
                repeats: self.repeats,
                spp: self.schedule.levels.clone(),
                against: self.against.clone(),
            },
            ..Environment::default()
        };
        if let Some(file) = &self.reference_file {
            environment.other.insert("reference".into(), Value::from(file.to_string_lossy().into_owned()));
        } else if self.reference_integrator != self.settings.integrator {
            let by = format!("rendered by {}", self.reference_integrator);
            environment.other.insert("reference".into(), Value::from(by));
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

/// Scenes of the command line, in its order.
struct LoadedScenes {
    /// The scenes with their options, as commands of a report name them.
    specs: Vec<String>,
    /// The scenes without.
    words: Vec<String>,
    /// The scenes.
    scenes: Vec<Scene>,
    /// Hashes of files, by the names of scenes that only programs read.
    file_hashes: BTreeMap<String, String>,
}

/// Loads every scene, with its name on the command line, before anything is rendered: a mistake in the last
/// one should not cost the time of the first.
fn load_scenes(
    subject: &SubjectArgs,
    unread: bool,
    skipped: &mut Vec<Record>,
) -> Result<LoadedScenes, Failure> {
    let options = subject.files.options();
    let specs: Vec<&str> = match subject.scenes.as_slice() {
        [] => DEFAULT_SCENES.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let mut found: Vec<(&str, Scene)> = Vec::new();
    let mut file_hashes = BTreeMap::new();
    for spec in specs {
        let loaded = match scenes::file_of(spec).filter(|_| unread) {
            Some(path) => scenes::stand_in(path).map(|(scene, hash)| (scene, Some(hash))),
            None => scenes::load(spec, &options).map(|scene| (scene, None)),
        };
        match loaded {
            Ok((scene, hash)) => {
                if let Some((other, _)) = found.iter().find(|(_, s)| s.name == scene.name) {
                    return Err(Failure::Usage(format!(
                        "the scenes {other} and {spec} are both called {}; study them in two folders",
                        scene.name
                    )));
                }
                file_hashes.extend(hash.map(|hash| (scene.name.clone(), hash)));
                found.push((spec, scene));
            }
            Err(Failure::Core(Error::Unavailable { what, remedy })) => {
                say(&format!("lockstep: scene {spec} is skipped: {what}. {remedy}"));
                let skip = Skip { scene: Some(spec.into()), reason: what, remedy, ..Skip::default() };
                skipped.push(skip.into());
            }
            Err(other) => return Err(other),
        }
    }
    if found.is_empty() {
        return Err(Failure::Input(
            "no scene is left to render; name one that is here, such as cornell".into(),
        ));
    }
    let words = found.iter().map(|(spec, _)| (*spec).to_owned()).collect();
    let (specs, scenes) = found.into_iter().map(|(spec, scene)| (subject.files.after(spec), scene)).unzip();
    Ok(LoadedScenes { specs, words, scenes, file_hashes })
}

/// Opens the targets that are present; the others are skipped, with a record.
///
/// # Errors
/// [`Failure::TargetAbsent`] when none is present, and what a device says that cannot be opened.
pub(crate) fn open(
    targets: &[StudyTarget],
    options: &OpenOptions,
    skipped: &mut Vec<Record>,
) -> Result<Vec<TargetSession>, Failure> {
    let mut opened = Vec::new();
    let mut first_absent = None;
    let bar = Bar::of_act("opening targets");
    for target in targets {
        bar.say(&format!("opening {}", target.name()));
        match target.open(options) {
            Ok(session) => opened.push(session),
            Err(Failure::TargetAbsent { target, reason, remedy }) => {
                bar.line(&format!("lockstep: target {target} is skipped: {reason}. {remedy}"));
                let skip = Skip {
                    target: Some(target.as_str().into()),
                    scene: None,
                    reason: reason.clone(),
                    remedy: remedy.clone(),
                };
                skipped.push(skip.into());
                first_absent.get_or_insert(Failure::TargetAbsent { target, reason, remedy });
            }
            Err(other) => return Err(other),
        }
    }
    bar.clear();
    match (opened.is_empty(), first_absent) {
        (true, Some(unavailable)) => Err(unavailable),
        _ => Ok(opened),
    }
}

/// The pairs of targets whose images are compared, as positions in a list, the lower first: all of one integrator and way
/// of sampling layers, and where two are compared those on one target.
pub(super) fn compared_pairs(across_integrators: bool, targets: &[&TargetId]) -> Vec<(usize, usize)> {
    let mut all = pairs(targets);
    all.retain(|&(a, b)| {
        let (a, b) = (targets[a], targets[b]);
        a.is_alike(b) || (across_integrators && a.renderer() == b.renderer())
    });
    all
}

/// Every pair of positions in a list, the lower first.
pub(super) fn pairs<T>(items: &[T]) -> Vec<(usize, usize)> {
    (0..items.len()).flat_map(|a| (a + 1..items.len()).map(move |b| (a, b))).collect()
}
