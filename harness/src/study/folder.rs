//! A study's folder: its records and images, and the one way to add to them.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use lockstep_core::{KernelResources, TargetId};
use lockstep_reports::image_io::{ImageKind, ImageName, p_map_name};
use lockstep_reports::records::{
    Crops, DivergenceScope, Environment, EqualTime, FilmHash, Interruption, Record, RecordLog, Timing, Tune,
};
use lockstep_reports::study::files;

use super::image_file::fault;
use super::key::Key;
use super::resume;
use crate::exit::Failure;
use crate::output::say;

/// Held while a program writes to the folder.
const LOCK: &str = ".lockstep.lock";

/// The quantities of the maps that a level leaves for each of its pairs.
const LEVEL_MAPS: [&str; 3] = ["flip", "flip-hdr", "difference"];

/// An open study folder.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    log: RecordLog,
    keys: HashSet<String>,
    films: HashMap<String, String>,
    timings: Vec<Timing>,
    tunings: Vec<Tune>,
    equal_times: Vec<EqualTime>,
    crops: Vec<Crops>,
    triaged: HashSet<(String, TargetId, TargetId)>,
    /// Pictures of where targets differ, by scene and samples per pixel.
    maps: HashMap<(String, u32), Vec<PathBuf>>,
    /// Whether an interruption is recorded and no end after it.
    interrupted: bool,
    failed: HashMap<(String, TargetId), u32>,
    /// Images that were found whole.
    sound: RefCell<HashSet<PathBuf>>,
    /// Images whose fault was told.
    faulty: RefCell<HashSet<PathBuf>>,
    _lock: File,
}

impl Folder {
    /// Opens the folder for this study, making it where there is none, and returns whether it resumes one
    /// that was begun before. `fresh` removes such a study first.
    ///
    /// # Errors
    /// [`Failure::Usage`] alone, naming what differs, when the folder holds a study of other settings;
    /// [`Failure::Input`] when another program writes to it; [`Failure::Io`] and [`Failure::Records`] naming
    /// the path that cannot be used.
    pub(crate) fn open(root: &Path, wanted: &Environment, fresh: bool) -> Result<(Self, bool), Failure> {
        let images = root.join(files::IMAGES);
        std::fs::create_dir_all(&images).map_err(Failure::io("make the folder", &images))?;
        let lock = lock(root)?;
        if fresh {
            resume::clear(root)?;
        }
        resume::remove_torn(root)?;
        let environment = root.join(files::ENVIRONMENT);
        let records = root.join(files::RECORDS);
        match (environment.exists(), records.exists()) {
            (true, _) => resume::check_same(root, &Environment::read(&environment)?, wanted)?,
            (false, true) => return Err(without_environment(root)),
            (false, false) => wanted.write(&environment)?,
        }
        let resumed = RecordLog::resume(&records)?;
        let resumes = !resumed.records.is_empty();
        if let Some(dropped) = &resumed.dropped {
            say(&format!("lockstep: {}: {dropped}", records.display()));
        }
        let mut folder = Self {
            root: root.to_owned(),
            log: resumed.log,
            keys: HashSet::new(),
            films: HashMap::new(),
            timings: Vec::new(),
            tunings: Vec::new(),
            equal_times: Vec::new(),
            crops: Vec::new(),
            triaged: HashSet::new(),
            maps: HashMap::new(),
            interrupted: false,
            failed: HashMap::new(),
            sound: RefCell::default(),
            faulty: RefCell::default(),
            _lock: lock,
        };
        resumed.records.into_iter().for_each(|record| folder.remember(record));
        Ok((folder, resumes))
    }

    /// Opens the folder that the user named, as [`Folder::open`] does, or else `default`, or the first of
    /// `default-2`, `default-3` and so on that does not hold another study.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub(crate) fn open_or_next(
        named: Option<&Path>,
        default: &str,
        wanted: &Environment,
        fresh: bool,
    ) -> Result<(Self, bool), Failure> {
        if let Some(named) = named {
            return Self::open(named, wanted, fresh);
        }
        let names = std::iter::once(default.to_owned()).chain((2..).map(|n| format!("{default}-{n}")));
        let mut taken: Option<String> = None;
        for name in names {
            match Self::open(Path::new(&name), wanted, fresh) {
                Err(Failure::Usage(why)) => taken = taken.or(Some(why)),
                opened => {
                    if let (Some(why), Ok(_)) = (taken, &opened) {
                        say(&format!("lockstep: {why}. This one goes to {name}"));
                    }
                    return opened;
                }
            }
        }
        Err(Failure::Usage(taken.unwrap_or_default()))
    }

    /// Records how a run ended: stopped by the user, or with all measurements done where an interruption was
    /// recorded before.
    ///
    /// # Errors
    /// [`Failure::Records`] naming the file.
    pub(crate) fn end(&mut self, stopped: bool) -> Result<(), Failure> {
        match (stopped, self.interrupted) {
            (true, _) => self.append(vec![Interruption::Stopped.note().into()]),
            (false, true) => self.append(vec![Interruption::Finished.note().into()]),
            (false, false) => Ok(()),
        }
    }

    /// The folder's path.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a record about the same point is there.
    pub(crate) fn has(&self, record: impl Into<Record>) -> bool {
        self.holds(&Key::of(record))
    }

    /// Whether a result is there.
    pub(crate) fn holds(&self, key: &Key) -> bool {
        match key {
            Key::Record(key) => key.as_ref().is_some_and(|key| self.keys.contains(key)),
            Key::Image { path, film } => self.holds_image(path, film.as_deref()),
            Key::NoFile(path) => !path.exists(),
        }
    }

    /// Whether an image is there and whole. Each is read once: what this program writes afterwards is whole. A fault is
    /// told, since the image is then made again.
    fn holds_image(&self, path: &Path, film: Option<&str>) -> bool {
        if !path.exists() || self.sound.borrow().contains(path) {
            return path.exists();
        }
        let found = fault(path, film);
        let known = if found.is_none() { &self.sound } else { &self.faulty };
        let is_new = known.borrow_mut().insert(path.to_owned());
        if let Some(fault) = found.as_ref().filter(|_| is_new) {
            say(&format!("lockstep: {fault}; it is made again"));
        }
        found.is_none()
    }

    /// Appends the records of one point, except those that are there, in one write, and waits for the disk.
    ///
    /// # Errors
    /// [`Failure::Records`], naming the file.
    pub(crate) fn append(&mut self, records: Vec<Record>) -> Result<(), Failure> {
        let new: Vec<Record> =
            records.into_iter().filter(|r| r.key().is_none_or(|key| !self.keys.contains(&key))).collect();
        if !new.is_empty() {
            self.log.append(&new)?;
            new.into_iter().for_each(|record| self.remember(record));
        }
        Ok(())
    }

    /// Adds the attributes of a target's kernels to the environment; they are known once the kernels are
    /// compiled.
    ///
    /// # Errors
    /// [`Failure::Records`], naming the file.
    pub(crate) fn add_kernels(
        &self,
        target: &TargetId,
        kernels: Vec<KernelResources>,
    ) -> Result<(), Failure> {
        let path = self.root.join(files::ENVIRONMENT);
        let mut environment = Environment::read(&path)?;
        let known = environment.targets.iter_mut().find(|t| t.info.target == *target);
        if let Some(info) = known.filter(|info| !kernels.is_empty() && info.kernels != kernels) {
            info.kernels = kernels;
            environment.write(&path)?;
        }
        Ok(())
    }

    /// The recorded hash of a film, whatever the hash in `film`.
    pub(crate) fn film_hash(&self, film: &FilmHash) -> Option<&str> {
        self.films.get(&Record::from(film.clone()).key()?).map(String::as_str)
    }

    /// All timings, in the order measured.
    pub(crate) fn timings(&self) -> &[Timing] {
        &self.timings
    }

    /// All timed kernel configurations, in the order measured.
    pub(crate) fn tunings(&self) -> &[Tune] {
        &self.tunings
    }

    /// Samples and errors that targets reached after given times.
    pub(crate) fn equal_times(&self) -> &[EqualTime] {
        &self.equal_times
    }

    /// The recorded crops with the key of these.
    pub(crate) fn crops(&self, like: &Crops) -> Option<&Crops> {
        let key = Record::from(like.clone()).key();
        self.crops.iter().find(|crops| Record::from((*crops).clone()).key() == key)
    }

    /// Whether the first level at which two targets differ on a scene was triaged.
    pub(crate) fn is_triaged(&self, scene: &str, a: &TargetId, b: &TargetId) -> bool {
        self.triaged.contains(&(scene.to_owned(), a.clone(), b.clone()))
    }

    /// Where an image goes.
    pub(crate) fn image(&self, scene: &str, target: &TargetId, spp: u32, kind: ImageKind) -> PathBuf {
        let (scene, target) = (scene.to_owned(), target.to_string());
        let name = ImageName { scene, target, spp, seed: None, kind };
        self.root.join(files::IMAGES).join(name.file_name())
    }

    /// Where the EXR file of a further seed goes.
    pub(crate) fn image_of_seed(&self, scene: &str, target: &TargetId, spp: u32, seed: u32) -> PathBuf {
        let (scene, target) = (scene.to_owned(), target.to_string());
        let name = ImageName { scene, target, spp, seed: Some(u64::from(seed)), kind: ImageKind::Exr };
        self.root.join(files::IMAGES).join(name.file_name())
    }

    /// The least samples per pixel at which a run of a program failed on a scene, if one did.
    pub(crate) fn failed_from(&self, scene: &str, target: &TargetId) -> Option<u32> {
        self.failed.get(&(scene.to_owned(), target.clone())).copied()
    }

    /// The recorded pictures of where targets differ at a level.
    pub(crate) fn maps(&self, scene: &str, spp: u32) -> &[PathBuf] {
        self.maps.get(&(scene.to_owned(), spp)).map_or(&[], Vec::as_slice)
    }

    /// Where the p-value map of a pair goes.
    pub(crate) fn p_map(&self, scene: &str, a: &TargetId, b: &TargetId, spp: u32) -> PathBuf {
        self.root.join(files::IMAGES).join(p_map_name(scene, &a.to_string(), &b.to_string(), spp))
    }

    fn remember(&mut self, record: Record) {
        let Some(key) = record.key() else { return };
        match record {
            Record::Timing(timing) => self.timings.push(timing),
            Record::Tune(point) => self.tunings.push(point),
            Record::EqualTime(found) => self.equal_times.push(found),
            Record::Crops(crops) => self.crops.push(crops),
            Record::Divergence(found) if found.scope == DivergenceScope::DifferingPixels => {
                self.triaged.insert((found.scene, found.a, found.b));
            }
            Record::Map(map) if LEVEL_MAPS.contains(&map.quantity.as_str()) => {
                self.maps.entry((map.scene, map.spp)).or_default().push(self.root.join(map.file));
            }
            Record::Note(note) => match Interruption::of(&note) {
                Some(Interruption::Stopped | Interruption::Resumed) => self.interrupted = true,
                Some(Interruption::Finished) => self.interrupted = false,
                None => {}
            },
            Record::RunFailure(found) => {
                let least = self.failed.entry((found.scene, found.target)).or_insert(found.spp);
                *least = found.spp.min(*least);
            }
            Record::Film(film) => {
                self.films.insert(key.clone(), film.hash);
            }
            _ => {}
        }
        self.keys.insert(key);
    }
}

/// Adds records to a study that no other program writes to at the moment.
///
/// # Errors
/// [`Failure::Input`] where there is no study or another program writes to it; [`Failure::Records`] and
/// [`Failure::Io`] naming the file.
pub(crate) fn append_to_study(root: &Path, records: &[Record]) -> Result<(), Failure> {
    let path = root.join(files::RECORDS);
    if !path.exists() {
        let what = format!("{} holds no study; make one with lockstep study -o", root.display());
        return Err(Failure::Input(what));
    }
    let _lock = lock(root)?;
    Ok(RecordLog::resume(&path)?.log.append(records)?)
}

fn without_environment(root: &Path) -> Failure {
    Failure::Input(format!(
        "{} holds records but no {}, so what they were measured with is unknown; add --fresh to start over or choose \
         another folder with -o",
        root.display(),
        files::ENVIRONMENT
    ))
}

/// Keeps two studies from writing to one folder.
fn lock(root: &Path) -> Result<File, Failure> {
    let path = root.join(LOCK);
    let options = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = options.map_err(Failure::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::Input(format!(
            "another lockstep writes to {}; wait for it, or choose another folder with -o",
            root.display()
        ))),
        // Some network file systems know no locks.
        Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(source)) => Err(Failure::io("lock", &path)(source)),
    }
}
