//! A study as it lies in its folder.

use crate::{
    Bounce, Convergence, Crops, Difference, Divergence, Efficiency, Environment, EqualTime, FilmHash, Hits,
    InvalidSamples, Load, Map, Noise, Note, OverSeeds, PortSimilarity, Pyramid, Record, RecordError,
    RunFailure, Scaling, Sharing, Skip, Timing, Tune, read_records,
};
use lockstep_core::TargetId;
use lockstep_metrics::image_io::{ImageKind, ImageName};
use lockstep_port::cost::Cost;
use lockstep_port::history::History;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// File names inside a study folder.
pub mod files {
    /// The records, one JSON object a line.
    pub const RECORDS: &str = "records.jsonl";
    /// The records as one flat table.
    pub const RECORDS_CSV: &str = "records.csv";
    /// The environment of the study: host, targets, settings, command.
    pub const ENVIRONMENT: &str = "environment.json";
    /// Folder of images.
    pub const IMAGES: &str = "images";
    /// Folder of what external programs printed, one file a run.
    pub const LOGS: &str = "logs";
    /// Folder of scenes that were written for other renderers.
    pub const SCENES: &str = "scenes";
    /// Folder of plots.
    pub const PLOTS: &str = "plots";
    /// Folder of tables as CSV.
    pub const TABLES: &str = "tables";
    /// All tables as JSON.
    pub const TABLES_JSON: &str = "tables.json";
    /// File name of the summary for pull requests.
    pub const SUMMARY: &str = "summary.md";
    /// File name of the HTML page.
    pub const PAGE: &str = "report.html";
}

/// One rendered image of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyImage {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Samples per pixel.
    pub spp: u32,
    /// The linear file, if there is one.
    pub exr: Option<PathBuf>,
    /// The sRGB file, if there is one.
    pub png: Option<PathBuf>,
}

/// Everything that a report is made from: all records, each point once, with the environment and the images
/// found. A study that was interrupted is one with fewer records.
#[derive(Debug, Clone, Default)]
pub struct Study {
    /// The study's folder; nothing for a study made from records alone.
    pub folder: Option<PathBuf>,
    /// The environment of the study: host, targets, settings, command.
    pub environment: Environment,
    /// Comparisons of two targets' images.
    pub differences: Vec<Difference>,
    /// Comparisons of targets' images with the reference.
    pub convergences: Vec<Convergence>,
    /// Times of the schedule's steps.
    pub timings: Vec<Timing>,
    /// Second times of the first target, one for each of its `timings` where rounds were timed for a floor.
    pub aa_control: Vec<Timing>,
    /// Errors after given times.
    pub equal_times: Vec<EqualTime>,
    /// Parts of integrators' images after equal time.
    pub crops: Vec<Crops>,
    /// Comparisons of two integrators on one target.
    pub efficiencies: Vec<Efficiency>,
    /// Techniques of bidirectional integrators.
    pub pyramids: Vec<Pyramid>,
    /// Times of CPU targets by number of threads.
    pub scalings: Vec<Scaling>,
    /// Passes that several targets rendered together.
    pub sharings: Vec<Sharing>,
    /// Pairs of folders of sources.
    pub similarities: Vec<PortSimilarity>,
    /// Lines of the ports.
    pub cost: Option<Cost>,
    /// Changes to the ports.
    pub history: Option<History>,
    /// Hashes of films.
    pub films: Vec<FilmHash>,
    /// Costs of taking scenes to targets.
    pub loads: Vec<Load>,
    /// Rays by bounce.
    pub bounces: Vec<Bounce>,
    /// Targets against themselves under another seed.
    pub noise: Vec<Noise>,
    /// Disagreements about primitives, in older records.
    pub hits: Vec<Hits>,
    /// Pictures of where targets differ.
    pub maps: Vec<Map>,
    /// Paths of pairs, compared; older records have a row for each quantity, gathered here.
    pub divergences: Vec<Divergence>,
    /// Kernel configurations, timed.
    pub tunes: Vec<Tune>,
    /// Samples that films refused.
    pub invalid: Vec<InvalidSamples>,
    /// Runs of programs that left no image.
    pub run_failures: Vec<RunFailure>,
    /// Skipped targets and scenes.
    pub skips: Vec<Skip>,
    /// Remarks.
    pub notes: Vec<Note>,
    /// Images on disk, by scene, then target, then samples per pixel.
    pub images: Vec<StudyImage>,
}

/// Why a study could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The records or the environment are missing or damaged.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The folder has no records.
    #[error("{} is no study: it has no {}. Make one with lockstep study -o, or name another folder", folder.display(), files::RECORDS)]
    NoStudy {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder of images could not be listed.
    #[error("cannot list the images in {}: {source}", path.display())]
    Images {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
}

impl Study {
    /// Reads a study folder. `environment.json` and `images/` may be missing, `records.jsonl` may not.
    ///
    /// # Errors
    /// [`StudyError`], naming the file.
    pub fn load(folder: &Path) -> Result<Self, StudyError> {
        Self::with_records(folder, Self::records(folder)?)
    }

    /// The records of a study folder.
    ///
    /// # Errors
    /// [`StudyError`], naming the folder or file.
    pub fn records(folder: &Path) -> Result<Vec<Record>, StudyError> {
        match read_records(&folder.join(files::RECORDS)) {
            Err(RecordError::Io { source, .. }) if is_absent(&source) => {
                Err(StudyError::NoStudy { folder: folder.to_owned() })
            }
            records => Ok(records?),
        }
    }

    /// [`Study::load`] for records that were read already.
    ///
    /// # Errors
    /// [`StudyError`] for an environment that cannot be read, naming the file.
    pub fn with_records(folder: &Path, records: Vec<Record>) -> Result<Self, StudyError> {
        let environment_path = folder.join(files::ENVIRONMENT);
        let environment = match Environment::read(&environment_path) {
            Err(RecordError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Environment::default()
            }
            other => other?,
        };
        let mut study = Self::from_records(records, environment);
        study.folder = Some(folder.to_owned());
        study.images = list_images(&folder.join(files::IMAGES))?;
        Ok(study)
    }

    /// Sorts records by kind, keeping order; of several with the same [`Record::key`] the last one counts, in
    /// the place of the first. Verdicts over all seeds take the place of those on single seeds.
    pub fn from_records(records: Vec<Record>, environment: Environment) -> Self {
        let mut place: HashMap<String, usize> = HashMap::new();
        let mut unique: Vec<Record> = Vec::with_capacity(records.len());
        for record in records {
            match record.key().and_then(|key| place.insert(key.clone(), unique.len()).map(|old| (key, old))) {
                Some((key, old)) => {
                    place.insert(key, old);
                    unique[old] = record;
                }
                None => unique.push(record),
            }
        }
        let mut study = Self { environment, ..Default::default() };
        let mut over_seeds: Vec<OverSeeds> = Vec::new();
        for record in unique {
            match record {
                Record::Difference(r) => study.differences.push(r),
                Record::Convergence(r) => study.convergences.push(r),
                Record::Timing(r) => study.timings.push(r),
                Record::AaControl(r) => study.aa_control.push(r),
                Record::EqualTime(r) => study.equal_times.push(r),
                Record::Crops(r) => study.crops.push(r),
                Record::Efficiency(r) => study.efficiencies.push(r),
                Record::Pyramid(r) => study.pyramids.push(r),
                Record::Scaling(r) => study.scalings.push(r),
                Record::Sharing(r) => study.sharings.push(r),
                Record::PortSimilarity(r) => study.similarities.push(r),
                Record::PortCost(r) => study.cost = Some(r),
                Record::PortHistory(r) => study.history = Some(r),
                Record::Load(r) => study.loads.push(r),
                Record::Bounce(r) => study.bounces.push(r),
                Record::Noise(r) => study.noise.push(r),
                Record::Hits(r) => study.hits.push(r),
                Record::Map(r) => study.maps.push(r),
                Record::Divergence(r) => study.divergences.push(r),
                Record::FirstDivergence(r) => r.add_to(&mut study.divergences),
                Record::Invalid(r) => study.invalid.push(r),
                Record::Skip(r) => study.skips.push(r),
                Record::Note(r) => study.notes.push(r),
                Record::Tune(r) => study.tunes.push(r),
                Record::OverSeeds(r) => over_seeds.push(r),
                Record::RunFailure(r) => study.run_failures.push(r),
                // Speed-ups are made again from timings; no table is of what this version does not know.
                Record::Film(r) => study.films.push(r),
                Record::Speedup(_) | Record::Other(_) => {}
            }
        }
        crate::interruption::drop_finished(&mut study.notes);
        for difference in &mut study.differences {
            over_seeds.iter().for_each(|verdict| verdict.apply_to(difference));
        }
        study
    }

    /// Scenes in the order in which they were measured.
    pub fn scenes(&self) -> Vec<&str> {
        let mut scenes = Vec::new();
        let named = (self.loads.iter().map(|r| &r.scene))
            .chain(self.timings.iter().map(|r| &r.scene))
            .chain(self.differences.iter().map(|r| &r.scene))
            .chain(self.convergences.iter().map(|r| &r.scene))
            .chain(self.equal_times.iter().map(|r| &r.scene))
            .chain(self.scalings.iter().map(|r| &r.scene))
            .chain(self.sharings.iter().map(|r| &r.scene))
            .chain(self.images.iter().map(|r| &r.scene));
        for scene in named {
            push_new(&mut scenes, scene.as_str());
        }
        scenes
    }

    /// Targets that took part, in the environment's order, then in the order in which they were measured.
    pub fn targets(&self) -> Vec<&TargetId> {
        let measured = (self.timings.iter().map(|r| &r.target))
            .chain(self.loads.iter().map(|r| &r.target))
            .chain(self.convergences.iter().map(|r| &r.target))
            .chain(self.equal_times.iter().map(|r| &r.target))
            .chain(self.scalings.iter().map(|r| &r.target))
            .chain(self.differences.iter().flat_map(|r| [&r.a, &r.b]))
            .chain(self.images.iter().map(|r| &r.target));
        let mut targets = Vec::new();
        measured.for_each(|target| push_new(&mut targets, target));
        let listed = &self.environment.targets;
        targets.sort_by_cached_key(|target| {
            listed.iter().position(|t| t.info.target == **target).unwrap_or(usize::MAX)
        });
        targets
    }

    /// Every number of samples per pixel at which something was compared or an image kept, ascending.
    pub fn spp_levels(&self) -> Vec<u32> {
        let mut levels: Vec<u32> = (self.differences.iter().map(|r| r.spp))
            .chain(self.convergences.iter().map(|r| r.spp))
            .chain(self.images.iter().map(|r| r.spp))
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// Pixels of one image, 0 when the environment does not have them.
    pub fn pixels(&self) -> u64 {
        u64::from(self.environment.settings.width) * u64::from(self.environment.settings.height)
    }
}

/// Adds an item unless it is there already.
pub fn push_new<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if !items.contains(&item) {
        items.push(item);
    }
}

/// Whether a file is not there; also where its folder is a file.
fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn list_images(folder: &Path) -> Result<Vec<StudyImage>, StudyError> {
    let fail = |source| StudyError::Images { path: folder.to_owned(), source };
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(fail)?,
    };
    let mut images: BTreeMap<(String, String, u32), StudyImage> = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(fail)?.path();
        let Some(name) = path.file_name().and_then(|n| n.to_str()).and_then(ImageName::parse) else {
            continue;
        };
        // One image of a point is enough to look at.
        if name.seed.is_some() {
            continue;
        }
        let image = images.entry((name.scene.clone(), name.target.clone(), name.spp)).or_insert_with(|| {
            StudyImage { scene: name.scene, target: name.target.into(), spp: name.spp, exr: None, png: None }
        });
        match name.kind {
            ImageKind::Exr => image.exr = Some(path),
            ImageKind::Png => image.png = Some(path),
        }
    }
    Ok(images.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Errors;

    #[test]
    fn a_point_measured_again_replaces_the_old_one() {
        let mse = |mse| Errors { mse, ..Default::default() };
        let old = Difference { scene: "a".into(), spp: 1, errors: mse(5.0), ..Default::default() };
        let new = Difference { errors: mse(6.0), ..old.clone() };
        let next = Difference { spp: 2, ..old.clone() };
        let records = vec![old.into(), next.clone().into(), new.clone().into()];
        let study = Study::from_records(records, Environment::default());
        assert_eq!(study.differences, [new, next]);
    }

    #[test]
    fn the_verdict_over_all_seeds_counts_instead_of_those_on_single_seeds() {
        let of = |spp, seed| Difference { spp, seed, verdict: "inconclusive".into(), ..Default::default() };
        let all = OverSeeds { spp: 2, seeds: vec![0, 1], verdict: "biased".into(), ..Default::default() };
        let records = vec![all.into(), of(1, 0).into(), of(2, 0).into(), of(2, 1).into(), of(2, 2).into()];
        let study = Study::from_records(records, Environment::default());
        let verdicts: Vec<&str> = study.differences.iter().map(|d| d.verdict.as_str()).collect();
        assert_eq!(verdicts, ["inconclusive", "biased", "biased", "inconclusive"]);
    }

    #[test]
    fn a_folder_without_records_is_an_error_that_names_them() {
        let dir = tempfile::tempdir().unwrap();
        let error = Study::load(dir.path()).unwrap_err().to_string();
        assert!(error.contains("records.jsonl"), "{error}");
        let file = dir.path().join("report.html");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(Study::load(&file), Err(StudyError::NoStudy { folder }) if folder == file));
    }

    #[test]
    fn images_are_found_by_name_and_other_files_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let images = dir.path().join(files::IMAGES);
        std::fs::create_dir(&images).unwrap();
        std::fs::write(dir.path().join(files::RECORDS), "").unwrap();
        for name in
            ["b.cpu.2spp.exr", "b.cpu.2spp.png", "b.cpu.1spp.png", "notes.txt", ".b.cpu.4spp.exr.1.0.tmp"]
        {
            std::fs::write(images.join(name), "").unwrap();
        }
        let study = Study::load(dir.path()).unwrap();
        let found: Vec<_> = study.images.iter().map(|i| (i.spp, i.exr.is_some(), i.png.is_some())).collect();
        assert_eq!(found, [(1, false, true), (2, true, true)]);
        assert_eq!(
            (study.scenes(), study.targets(), study.spp_levels()),
            (vec!["b"], vec![&"cpu".into()], vec![1, 2])
        );
    }
}
