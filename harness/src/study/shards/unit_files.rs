//! The files of units in a folder that shards share, or that they bring to a merge.
//!
//! | file | content |
//! |---|---|
//! | `plan.json` | the plan, with its hash |
//! | `shards.json` | how tasks of an array stand for shards |
//! | `units/u00007.0.film` | the film of a unit on its first target: a film file, the same bytes whoever renders it |
//! | `units/u00007.json` | its manifest: the unit, the machine, hashes of the films, times; and a line with BLAKE3 of it |
//!
//! Every file appears in one step, the manifest last. A unit is done when its manifest is whole and its films are those
//! that it names, so a kill at any moment costs at most the unit that was being rendered, and a unit that is rendered
//! twice is the same unit.

use std::path::{Path, PathBuf};

use lockstep_core::serde_words::in_words;
use lockstep_core::{DeviceInfo, LoadReport, PassReport, TargetId};
use lockstep_reports::image_io::atomic_write_text;
use lockstep_reports::records::{HostInfo, TargetInfo};
use lockstep_together::{Identity, PartialFilm, SampleSet, read_film_file, write_film_file};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::array::Array;
use super::unit::{self, Unit};
use super::work_plan::{FORM, WorkPlan};
use crate::exit::Failure;
use crate::study::rendered::film_hash;

/// The plan of a study in shards.
pub(crate) const PLAN: &str = "plan.json";
/// File that remembers how tasks stand for shards.
pub(super) const SHARDS: &str = "shards.json";
/// The folder of films and manifests.
pub(crate) const UNITS: &str = "units";
/// The longest manifest or plan that is read, in bytes.
const MOST_BYTES: u64 = 1 << 28;

/// A plan as its file holds it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanFile {
    /// [`WorkPlan::hash`].
    pub(crate) hash: String,
    /// The study's command line, without what names a shard.
    pub(crate) command: Vec<String>,
    /// The plan.
    pub(crate) plan: WorkPlan,
}

/// Manifest of a unit: who rendered it, when, and what it took.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The version of manifests.
    pub(crate) form: u32,
    /// [`WorkPlan::hash`] of the plan that it is of.
    pub(crate) plan: String,
    /// The unit's place in the plan.
    pub(crate) index: usize,
    /// The unit, as the plan has it.
    pub(crate) unit: Unit,
    /// The machine.
    pub(crate) host: HostInfo,
    /// The time at which the unit began, in seconds since 1970.
    pub(crate) began: f64,
    /// Seconds from the start of the unit until its films were written.
    pub(crate) seconds: f64,
    /// Films of the unit, in the order of its targets.
    pub(crate) films: Vec<UnitFilm>,
}

/// A film of a unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitFilm {
    /// The hash of the film, as in film records.
    pub(crate) hash: String,
    /// Bytes of its file.
    pub(crate) bytes: u64,
    /// The target's device and kernels.
    pub(crate) device: TargetInfo,
    /// Taking the scene to the target, where this unit did.
    pub(crate) load: Option<LoadReport>,
    /// Time and rays.
    pub(crate) pass: PassReport,
    /// Time and rays of the A/A control.
    #[serde(alias = "again")]
    pub(crate) aa_control: Option<PassReport>,
}

/// The folder of films and manifests.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join(UNITS)
}

/// Where a unit's manifest is.
pub(crate) fn manifest_path(root: &Path, index: usize) -> PathBuf {
    folder(root).join(format!("{}.json", unit::name(index)))
}

/// Where a unit's film on its target of this place is.
pub(crate) fn film_path(root: &Path, index: usize, target: usize) -> PathBuf {
    folder(root).join(format!("{}.{target}.film", unit::name(index)))
}

/// The identity of a unit's film.
fn identity(plan: &WorkPlan, unit: &Unit, target: &TargetId) -> Option<Identity> {
    let exact = plan.target(target)?.exact;
    let device = DeviceInfo { target: target.clone(), exact, ..DeviceInfo::default() };
    let settings = plan.settings_of(unit, target);
    let hash = &plan.scene(&unit.scene)?.hash;
    Some(Identity::of_named(&unit.scene, hash, &settings, &plan.semantics, &device))
}

/// Writes a unit's film and returns its hash and the bytes of its file.
///
/// # Errors
/// [`Failure`], naming the file, and for a film that contradicts the unit.
pub(crate) fn write_film(
    root: &Path,
    plan: &WorkPlan,
    index: usize,
    target: usize,
    film: lockstep_core::Film,
) -> Result<(String, u64), Failure> {
    let unit = &plan.units[index];
    let identity = identity(plan, unit, &unit.targets[target])
        .ok_or_else(|| Failure::Input(format!("the plan lacks scene or target of {}", unit.in_words())))?;
    let hash = film_hash(&film);
    let part = PartialFilm::new(identity, unit.samples().into(), film)?;
    let path = film_path(root, index, target);
    write_film_file(&path, &part, &serde_json::Value::Null)?;
    let bytes = std::fs::metadata(&path).map_err(Failure::io("look at", &path))?.len();
    Ok((hash, bytes))
}

/// Reads a unit's film, which must be the one that its manifest names.
///
/// # Errors
/// The reason why it is none, naming the file.
pub(crate) fn read_film(
    root: &Path,
    plan: &WorkPlan,
    manifest: &Manifest,
    target: usize,
) -> Result<PartialFilm, String> {
    let path = film_path(root, manifest.index, target);
    let of_plan = |what: String| format!("{} is not the film of its unit: {what}", path.display());
    let (part, _) = read_film_file(&path).map_err(|error| error.to_string())?;
    let unit = &manifest.unit;
    let wanted = unit.targets.get(target).and_then(|name| identity(plan, unit, name));
    let wanted = wanted.ok_or_else(|| of_plan("the plan has no such target".into()))?;
    wanted.check(part.identity()).map_err(|mismatch| of_plan(mismatch.to_string()))?;
    let samples = SampleSet::from(unit.samples());
    if *part.samples() != samples {
        return Err(of_plan(format!("it holds the samples {} in place of {samples}", part.samples())));
    }
    if manifest.films.get(target).is_none_or(|film| film.hash != film_hash(part.film())) {
        return Err(of_plan("its hash is not that of the manifest".into()));
    }
    Ok(part)
}

/// Writes a unit's manifest, after which the unit is done.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn write_manifest(root: &Path, manifest: &Manifest) -> Result<(), Failure> {
    let path = manifest_path(root, manifest.index);
    let text = encode(manifest, &path)?;
    let sum = blake3::hash(text.as_bytes()).to_hex();
    Ok(atomic_write_text(&path, &format!("{text}\n{sum}\n"))?)
}

/// Reads a manifest, which must be of a unit of this plan; `Ok(None)` where there is none.
///
/// # Errors
/// The reason why it is none, naming the file.
pub(crate) fn read_manifest(
    root: &Path,
    plan: &WorkPlan,
    hash: &str,
    index: usize,
) -> Result<Option<Manifest>, String> {
    let path = manifest_path(root, index);
    let wrong = |what: &str| format!("{} is no manifest of this study: {what}", path.display());
    let text = match read_text(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| wrong(&error.to_string()))?,
    };
    let (text, sum) = text.split_once('\n').ok_or_else(|| wrong("it is cut short"))?;
    if sum.trim_end_matches('\n') != blake3::hash(text.as_bytes()).to_hex().as_str() {
        return Err(wrong("its checksum does not hold"));
    }
    let manifest: Manifest =
        serde_json::from_str(text).map_err(|error| wrong(&in_words(&error.to_string())))?;
    let unit = plan.units.get(index).ok_or_else(|| wrong("the plan has fewer units"))?;
    if manifest.form != FORM {
        return Err(wrong(&format!("it has form {}, and this program reads form {FORM}", manifest.form)));
    }
    if manifest.plan != hash {
        return Err(wrong("it is of another plan"));
    }
    if manifest.index != index || manifest.unit != *unit {
        return Err(wrong(&format!("it says that it is of unit {}", manifest.index)));
    }
    let names = manifest.films.iter().map(|film| &film.device.info.target);
    if !names.eq(&unit.targets) {
        return Err(wrong("it names other films than its unit has"));
    }
    Ok(Some(manifest))
}

/// Fails unless the films of a manifest are there in full length; what is in them is seen when they are read.
///
/// # Errors
/// The reason, naming the file.
pub(crate) fn check_lengths(root: &Path, manifest: &Manifest) -> Result<(), String> {
    for (target, film) in manifest.films.iter().enumerate() {
        let path = film_path(root, manifest.index, target);
        let found =
            std::fs::metadata(&path).map_err(|e| format!("cannot look at {}: {e}", path.display()))?;
        if found.len() != film.bytes {
            let bytes = found.len();
            return Err(format!("{} has {bytes} bytes in place of {}", path.display(), film.bytes));
        }
    }
    Ok(())
}

/// Keeps the plan in the folder, or fails where another is there.
///
/// # Errors
/// [`Failure::Usage`] for a folder of another plan; [`Failure`] naming the file.
pub(crate) fn keep_plan(root: &Path, plan: &WorkPlan, command: &[String]) -> Result<(), Failure> {
    let path = root.join(PLAN);
    let hash = plan.hash();
    if path.exists() {
        let there = read_plan(root)?;
        if there.hash != hash {
            return Err(Failure::Usage(format!(
                "{} is the plan of another study, {}; give the same options, or another folder with -o",
                path.display(),
                difference(&there.plan, plan)
            )));
        }
        return Ok(());
    }
    let file = PlanFile { hash, command: command.to_vec(), plan: plan.clone() };
    Ok(atomic_write_text(&path, &(encode(&file, &path)? + "\n"))?)
}

/// Differences of two plans, in a few words.
fn difference(there: &WorkPlan, here: &WorkPlan) -> String {
    let names =
        |plan: &WorkPlan| plan.targets.iter().map(|t| t.name.to_string()).collect::<Vec<_>>().join(",");
    let scenes = |plan: &WorkPlan| {
        plan.scenes
            .iter()
            .map(|s| format!("{} {}", s.name, &s.hash.get(..8).unwrap_or("")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let settings = |plan: &WorkPlan| format!("{:?} at {:?} spp", plan.settings, plan.spp);
    let rows = [
        ("targets", names(there), names(here)),
        ("scenes", scenes(there), scenes(here)),
        ("settings", settings(there), settings(here)),
        ("the version of the kernels", there.semantics.clone(), here.semantics.clone()),
        ("units", there.units.len().to_string(), here.units.len().to_string()),
    ];
    let found = rows.into_iter().find(|(_, there, here)| there != here);
    found.map_or_else(
        || "whose seeds, repeats or reference differ".into(),
        |(what, there, here)| format!("whose {what} differ: {there} there, {here} here"),
    )
}

/// The plan of a folder.
///
/// # Errors
/// [`Failure::Input`] where there is none, or none that is whole.
pub(crate) fn read_plan(root: &Path) -> Result<PlanFile, Failure> {
    let path = root.join(PLAN);
    if !path.exists() {
        return Err(Failure::Input(format!(
            "{} holds no shards of a study: it has no {PLAN}; render some with lockstep study --shard I/N -o {}",
            root.display(),
            root.display()
        )));
    }
    let file: PlanFile = read_json(&path)?;
    if file.plan.form != FORM || file.hash != file.plan.hash() {
        return Err(Failure::Input(format!(
            "{} is damaged, or of another version of the program: its hash does not hold; remove it, and render any \
             shard again, which writes it",
            path.display()
        )));
    }
    Ok(file)
}

/// How tasks of an array stood for shards when the folder was last shared out.
///
/// # Errors
/// [`Failure::Input`] for a file that cannot be read.
pub(crate) fn read_array(root: &Path) -> Result<Option<Array>, Failure> {
    let path = root.join(SHARDS);
    if !path.exists() {
        return Ok(None);
    }
    let array: Array = read_json(&path)?;
    let unsound = || {
        let path = path.display();
        Failure::Input(format!(
            "{path} is damaged: no array has such tasks; remove it, and render any shard again"
        ))
    };
    if array.is_sound() { Ok(Some(array)) } else { Err(unsound()) }
}

/// Remembers how tasks of an array stand for shards.
///
/// # Errors
/// [`Failure::Write`], naming the file.
pub(crate) fn keep_array(root: &Path, array: Array) -> Result<(), Failure> {
    if read_array(root)? == Some(array) {
        return Ok(());
    }
    let path = root.join(SHARDS);
    Ok(atomic_write_text(&path, &(encode(&array, &path)? + "\n"))?)
}

fn encode(value: &impl Serialize, path: &Path) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|e| Failure::Input(format!("cannot write {}: {e}", path.display())))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = read_text(path).map_err(Failure::io("read", path))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::Input(format!(
            "{} is damaged: {}; remove it, and render any shard again",
            path.display(),
            in_words(&error.to_string())
        ))
    })
}

fn read_text(path: &Path) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > MOST_BYTES {
        return Err(std::io::Error::other("it is too long"));
    }
    std::fs::read_to_string(path)
}
