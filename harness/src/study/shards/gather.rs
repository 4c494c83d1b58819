//! The units that are there, from one folder or several.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_core::TargetId;
use lockstep_reports::records::TargetInfo;
use lockstep_together::PartialFilm;

use super::array::Array;
use super::assignment::shares;
use super::unit::{self, Unit, Work};
use super::unit_files::{self, Manifest, PlanFile};
use super::work_plan::WorkPlan;
use crate::exit::Failure;
use crate::study::level::Level;
use crate::submit;

/// A unit that is there.
#[derive(Debug)]
pub(crate) struct Found {
    /// Manifest of the unit.
    pub(crate) manifest: Manifest,
    /// The folders that hold it, the manifest's first.
    folders: Vec<PathBuf>,
}

/// A study's units, as far as they are there.
#[derive(Debug)]
pub(crate) struct Units {
    /// The plan.
    pub(crate) plan: WorkPlan,
    /// The study's command line.
    pub(crate) command: Vec<String>,
    hash: String,
    found: Vec<Option<Found>>,
    /// Why files in the folders are of no use, each naming its file.
    pub(crate) refused: Vec<String>,
    array: Option<Array>,
    /// The script that submitted the array.
    script: Option<PathBuf>,
    /// Whether a film turned out to be damaged when it was read.
    is_damaged: Cell<bool>,
    /// The kind of machine whose times count.
    kind: Option<String>,
}

impl Units {
    /// The units in these folders, of one plan.
    ///
    /// # Errors
    /// [`Failure::Usage`] for folders of different plans; [`Failure::Input`] for a folder without a whole plan, and for
    /// two units that contradict each other.
    pub(crate) fn gather(folders: &[PathBuf]) -> Result<Self, Failure> {
        let Some((first, others)) = folders.split_first() else {
            return Err(Failure::Usage("name at least one folder of shards".into()));
        };
        let PlanFile { hash, command, plan } = unit_files::read_plan(first)?;
        for other in others {
            if unit_files::read_plan(other)?.hash != hash {
                let (first, other) = (first.display(), other.display());
                return Err(Failure::Usage(format!("{first} and {other} hold shards of different studies")));
            }
        }
        let found = plan.units.iter().map(|_| None).collect();
        let array = unit_files::read_array(first).unwrap_or_default();
        let script = Some(first.join(submit::SCRIPT)).filter(|path| path.exists());
        let (refused, is_damaged) = (Vec::new(), Cell::new(false));
        let mut units = Self { plan, command, hash, found, refused, array, script, is_damaged, kind: None };
        for folder in folders {
            units.add(folder)?;
        }
        units.check_devices()?;
        units.kind = units.main_kind();
        Ok(units)
    }

    /// Adds the units of a folder.
    fn add(&mut self, root: &Path) -> Result<(), Failure> {
        let folder = unit_files::folder(root);
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(Failure::io("list the folder", &folder))?,
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut indices: Vec<usize> = names.filter_map(|name| unit::index_of(&name)).collect();
        indices.sort_unstable();
        for index in indices {
            match unit_files::read_manifest(root, &self.plan, &self.hash, index) {
                Ok(Some(manifest)) => match unit_files::check_lengths(root, &manifest) {
                    Ok(()) => self.add_unit(root, manifest)?,
                    Err(reason) => self.refused.push(reason),
                },
                Ok(None) => {}
                Err(reason) => self.refused.push(reason),
            }
        }
        Ok(())
    }

    fn add_unit(&mut self, root: &Path, manifest: Manifest) -> Result<(), Failure> {
        let place = &mut self.found[manifest.index];
        let Some(found) = place else {
            *place = Some(Found { manifest, folders: vec![root.to_owned()] });
            return Ok(());
        };
        for ((ours, theirs), target) in
            found.manifest.films.iter().zip(&manifest.films).zip(&manifest.unit.targets)
        {
            let is_exact = self.plan.target(target).is_some_and(|target| target.exact);
            if ours.hash != theirs.hash && is_exact {
                let paths =
                    [&found.folders[0], root].map(|root| unit_files::manifest_path(root, manifest.index));
                return Err(Failure::Input(format!(
                    "{} and {} name different films of {target} for {}; one of the machines is wrong, so remove the unit \
                     of the one that you trust less",
                    paths[0].display(),
                    paths[1].display(),
                    manifest.unit.in_words()
                )));
            }
        }
        // Another film of a target that promises nothing is no copy of the first.
        let same = found.manifest.films.iter().zip(&manifest.films).all(|(a, b)| a.hash == b.hash);
        if same {
            found.folders.push(root.to_owned());
        }
        Ok(())
    }

    /// A target whose films are its own must have been the same everywhere, else its films do not add up to one image.
    fn check_devices(&self) -> Result<(), Failure> {
        for target in self.plan.targets.iter().filter(|target| !target.exact) {
            let mut first: Option<(&Manifest, &TargetInfo)> = None;
            for manifest in self.manifests() {
                let own = |film: &&unit_files::UnitFilm| film.device.info.target == target.name;
                let Some(device) = manifest.films.iter().find(own).map(|film| &film.device) else { continue };
                let Some((other, there)) = first else {
                    first = Some((manifest, device));
                    continue;
                };
                let what =
                    |d: &TargetInfo| format!("{}, {}, {}", d.info.device, d.info.driver, d.info.compiler);
                if what(device) != what(there) || device.info.flags != there.info.flags {
                    return Err(Failure::Input(format!(
                        "the films of {} are its own and do not add up over different devices: unit {} on {} is of {}, \
                         and unit {} on {} is of {}; render it on like machines, or leave it out",
                        target.name,
                        other.index,
                        other.host.name,
                        what(there),
                        manifest.index,
                        manifest.host.name,
                        what(device)
                    )));
                }
            }
        }
        Ok(())
    }

    /// The manifests of all units that are there.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = &Manifest> {
        self.found.iter().flatten().map(|found| &found.manifest)
    }

    /// The units of a target's films under a seed, in the order of their samples.
    pub(crate) fn of_film<'a>(
        &'a self,
        scene: &'a str,
        (work, seed, repeat): (Work, u32, u32),
    ) -> impl Iterator<Item = &'a Found> {
        let is_of = move |unit: &Unit| {
            (unit.scene.as_str(), unit.work, unit.seed, unit.repeat) == (scene, work, seed, repeat)
        };
        self.found.iter().flatten().filter(move |found| is_of(&found.manifest.unit))
    }

    /// Reads a film, from the first folder whose copy is whole.
    ///
    /// # Errors
    /// [`Failure::Input`], naming the file.
    pub(crate) fn read(&self, found: &Found, target: usize) -> Result<PartialFilm, Failure> {
        let mut reasons = Vec::new();
        for folder in &found.folders {
            match unit_files::read_film(folder, &self.plan, &found.manifest, target) {
                Ok(part) => return Ok(part),
                Err(reason) => reasons.push(reason),
            }
        }
        self.is_damaged.set(true);
        Err(Failure::Input(reasons.join("; ")))
    }

    /// Whether a film that was read turned out to be damaged.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.get()
    }

    /// Drops every unit of which no copy is whole, after reading all films.
    pub(crate) fn drop_damaged(&mut self) {
        let found = std::mem::take(&mut self.found);
        let mut kept = Vec::with_capacity(found.len());
        for one in found {
            let fault = one.as_ref().and_then(|found| {
                let targets = 0..found.manifest.films.len();
                targets.map(|target| self.read(found, target)).find_map(Result::err)
            });
            self.refused.extend(fault.as_ref().map(ToString::to_string));
            kept.push(one.filter(|_| fault.is_none()));
        }
        self.found = kept;
    }

    /// Fails unless every unit is there.
    ///
    /// # Errors
    /// [`Failure::Missing`] with the tasks to submit again.
    pub(crate) fn require_all(&self) -> Result<(), Failure> {
        let missing: Vec<usize> = self
            .found
            .iter()
            .enumerate()
            .filter(|(_, found)| found.is_none())
            .map(|(index, _)| index)
            .collect();
        let Some(&first) = missing.first() else { return Ok(()) };
        let what = format!(
            "{} of {} units are missing, the first of them {}",
            missing.len(),
            self.found.len(),
            self.plan.units[first].in_words()
        );
        let remedy = match self.array {
            None => "render all shards again, which skips what is there".to_owned(),
            Some(array) => {
                let of_shards = shares(&self.plan.costs(), array.shards);
                let lacks = |part: &std::ops::Range<usize>| missing.iter().any(|index| part.contains(index));
                let shards =
                    of_shards.iter().zip(1..).filter(|(part, _)| lacks(part)).map(|(_, number)| number);
                let shards: Vec<u32> = shards.collect();
                let (count, tasks) = (array.shards, array.tasks(&shards));
                let script =
                    self.script.as_ref().map_or_else(String::new, |path| format!(" {}", path.display()));
                let sbatch = if script.is_empty() { "" } else { "sbatch " };
                format!(
                    "submit these tasks of {count} again, which skip what is there:\n{sbatch}--array={tasks}{script}"
                )
            }
        };
        Err(Failure::Missing(format!("{what}; {remedy}")))
    }

    /// The description of a target by a machine whose times count.
    pub(crate) fn device(&self, target: &TargetId) -> Option<&TargetInfo> {
        let of_kind = self.manifests().filter(|manifest| Some(kind_of(manifest)) == self.kind);
        of_kind
            .chain(self.manifests())
            .flat_map(|manifest| &manifest.films)
            .map(|film| &film.device)
            .find(|device| device.info.target == *target)
    }

    /// The machine whose times count and that is described in the study.
    pub(crate) fn main_machine(&self) -> Option<&Manifest> {
        self.manifests().find(|manifest| Some(kind_of(manifest)) == self.kind)
    }

    /// Whether a level's times are all of the kind of machine whose times count. Others are left out, since times of
    /// unlike machines do not add up.
    pub(crate) fn is_timed(&self, level: &Level<'_>) -> bool {
        self.of_film(level.scene, (Work::Level, level.seed, level.repeat))
            .map(|found| &found.manifest)
            .filter(|manifest| level.from <= manifest.unit.from && manifest.unit.to <= level.to)
            .all(|manifest| Some(kind_of(manifest)) == self.kind)
    }

    /// The kind of machine that rendered most of the levels.
    fn main_kind(&self) -> Option<String> {
        let mut costs: BTreeMap<String, u64> = BTreeMap::new();
        for manifest in self.manifests().filter(|manifest| manifest.unit.work == Work::Level) {
            let cost = costs.entry(kind_of(manifest)).or_default();
            *cost = cost.saturating_add(manifest.unit.cost);
        }
        costs.into_iter().max_by_key(|(_, cost)| *cost).map(|(kind, _)| kind)
    }
}

/// Properties that machines must have in common for their times to be of one kind.
fn kind_of(manifest: &Manifest) -> String {
    let host = &manifest.host;
    let devices = manifest.films.iter().map(|film| {
        let info = &film.device.info;
        format!("; {}: {}, {}, {} units", info.target, info.device, info.driver, info.compute_units)
    });
    format!("{}, {} cores{}", host.cpu, host.cores, devices.collect::<String>())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::study::rendered::film_hash;
    use crate::study::shards::unit_files::{UnitFilm, write_film, write_manifest};
    use crate::study::shards::unit_films::UnitFilms;
    use crate::study::shards::work_plan::tests::example;
    use crate::study::target_session::Purpose;
    use lockstep_core::{DeviceInfo, Film, Settings};
    use std::rc::Rc;

    /// Random numbers that are the same in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }
    }

    /// A film of `spp` samples per pixel whose sums are a function of its place.
    fn film(index: usize, target: usize, spp: u32) -> Film {
        let mut film = Film::new(8, 4).unwrap();
        film.spp = spp;
        let value = |i: usize| (index * 7919 + target * 31 + i * i) as i64;
        film.sums.iter_mut().enumerate().for_each(|(i, sum)| *sum = [value(i), value(i + 40), value(i + 80)]);
        film
    }

    /// Writes all units of a plan to a folder, as shards do.
    pub(in super::super) fn write_units(root: &Path, plan: &WorkPlan) {
        std::fs::create_dir_all(unit_files::folder(root)).unwrap();
        unit_files::keep_plan(root, plan, &["lockstep".into()]).unwrap();
        unit_files::keep_array(root, Array { shards: 9, first: 1, step: 1 }).unwrap();
        for (index, unit) in plan.units.iter().enumerate() {
            let films = unit.targets.iter().enumerate().map(|(target, name)| {
                let film = film(index, target, unit.to - unit.from);
                let hash = film_hash(&film);
                let bytes = write_film(root, plan, index, target, film).unwrap().1;
                let info = DeviceInfo { target: name.clone(), ..DeviceInfo::default() };
                let pass = lockstep_core::PassReport::default();
                UnitFilm { hash, bytes, device: info.into(), load: None, pass, aa_control: None }
            });
            let manifest = Manifest {
                form: crate::study::shards::work_plan::FORM,
                plan: plan.hash(),
                index,
                unit: unit.clone(),
                host: Default::default(),
                began: 0.0,
                seconds: 0.0,
                films: films.collect(),
            };
            write_manifest(root, &manifest).unwrap();
        }
    }

    /// The hashes of all last films, from the units.
    fn sums(units: &Rc<Units>) -> Result<Vec<String>, Failure> {
        let mut hashes = Vec::new();
        let mut add = |scene, target: &str, purpose, seed, spp| {
            let mut films = UnitFilms::new(units, &target.into())?;
            films.load(scene, &Settings { seed, ..units.plan.settings }, purpose)?;
            films.advance(0..spp)?;
            hashes.push(film_hash(films.film()));
            Ok::<(), Failure>(())
        };
        for scene in ["a", "b"] {
            for (target, repeat) in
                ["x", "y", "z"].iter().flat_map(|target| [0, 1, 2].map(|repeat| (target, repeat)))
            {
                add(scene, target, Purpose::Levels { repeat }, 5, 16)?;
            }
            add(scene, "x", Purpose::NoiseFloor, 6, 16)?;
            add(scene, "z", Purpose::NoiseFloor, 6, 16)?;
            add(scene, "x", Purpose::Reference, 0x5EED_0F0F, 256)?;
        }
        Ok(hashes)
    }

    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(unit_files::folder(to)).unwrap();
        for name in ["plan.json", "shards.json"] {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
        for entry in std::fs::read_dir(unit_files::folder(from)).unwrap().flatten() {
            std::fs::hard_link(entry.path(), unit_files::folder(to).join(entry.file_name())).unwrap();
        }
    }

    /// Damages a file without touching others that it is linked to.
    fn replace(path: &Path, bytes: &[u8]) {
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Cuts a file, flips a bit, swaps it with another, or removes it; returns the names of what is wrong now.
    fn damage(random: &mut Random, folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .flatten()
            .map(|e| e.file_name().into_string().unwrap())
            .collect();
        names.sort();
        let name = names[random.below(names.len())].clone();
        let path = folder.join(&name);
        let mut bytes = std::fs::read(&path).unwrap();
        match random.below(4) {
            0 => replace(&path, &bytes[..random.below(bytes.len())]),
            1 => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
                replace(&path, &bytes);
            }
            2 => {
                let alike: Vec<&String> = names
                    .iter()
                    .filter(|other| **other != name && other.ends_with(&name[name.find('.').unwrap()..]))
                    .collect();
                let other = alike[random.below(alike.len())].clone();
                let theirs = std::fs::read(folder.join(&other)).unwrap();
                replace(&path, &theirs);
                replace(&folder.join(&other), &bytes);
                return if theirs == bytes { Vec::new() } else { vec![name, other] };
            }
            _ => std::fs::remove_file(&path).unwrap(),
        }
        vec![name]
    }

    #[test]
    fn units_that_are_shuffled_duplicated_cut_or_flipped_are_merged_exactly_or_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let whole = dir.path().join("whole");
        let plan = example(16);
        write_units(&whole, &plan);
        let gathered = |folders: &[PathBuf]| Units::gather(folders).map(Rc::new);
        let exact = sums(&gathered(std::slice::from_ref(&whole)).unwrap()).unwrap();
        let mut random = Random(1);
        let (mut merged, mut refused, mut files) = (0, 0, 0);
        while files < 1000 {
            let root = dir.path().join(files.to_string());
            // The folder alone, or beside a whole one, whose copies then serve.
            copy(&whole, &root);
            let names: Vec<String> = (0..1 + random.below(4))
                .flat_map(|_| damage(&mut random, &unit_files::folder(&root)))
                .collect();
            files += names.len().max(1);
            let mut folders = vec![root.clone()];
            if random.below(2) == 0 {
                folders.insert(random.below(2), whole.clone());
            }
            let is_alone = folders.len() == 1;
            let mut units = Units::gather(&folders).unwrap();
            let there = units.require_all().map(|()| Rc::new(Units::gather(&folders).unwrap()));
            match there.map(|units| sums(&units)) {
                Ok(Ok(found)) => {
                    assert!(found == exact, "{names:?} in {folders:?}");
                    merged += 1;
                }
                Ok(Err(failure)) => {
                    let text = failure.to_string();
                    assert!(names.iter().any(|name| text.contains(name)), "{text}: {names:?}");
                    refused += 1;
                }
                Err(Failure::Missing(text)) => {
                    assert!(text.contains("--array="), "{text}");
                    assert!(is_alone, "a whole folder has everything: {text}");
                    let is_told = |name: &String| units.refused.iter().any(|reason| reason.contains(name));
                    // A manifest that is gone leaves nothing to name but its unit.
                    assert!(names.iter().any(|name| is_told(name) || name.ends_with(".json")), "{names:?}");
                    refused += 1;
                }
                Err(other) => panic!("{names:?}: {other}"),
            }
            // Whatever is damaged is told, but for files that are gone or replaced by equal ones.
            units.drop_damaged();
            if is_alone && units.require_all().is_ok() {
                assert!(sums(&Rc::new(units)).unwrap() == exact, "{names:?}");
            }
            std::fs::remove_dir_all(root).unwrap();
        }
        assert!(merged > 100 && refused > 100, "{merged} merged, {refused} refused");
    }

    #[test]
    fn shards_of_two_studies_and_units_that_contradict_each_other_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|name| dir.path().join(name));
        write_units(&a, &example(4));
        write_units(&b, &example(40));
        let error = Units::gather(&[a.clone(), b.clone()]).unwrap_err().to_string();
        assert!(error.contains("different studies"), "{error}");
        copy(&a, &c);
        // A machine that computes otherwise: whole files, other sums.
        let plan = example(4);
        let mut manifest = unit_files::read_manifest(&c, &plan, &plan.hash(), 0).unwrap().unwrap();
        std::fs::remove_file(unit_files::film_path(&c, 0, 0)).unwrap();
        let (hash, bytes) = write_film(&c, &plan, 0, 0, film(99, 0, plan.units[0].to)).unwrap();
        (manifest.films[0].hash, manifest.films[0].bytes) = (hash, bytes);
        std::fs::remove_file(unit_files::manifest_path(&c, 0)).unwrap();
        write_manifest(&c, &manifest).unwrap();
        let error = Units::gather(&[a.clone(), c]).unwrap_err().to_string();
        assert!(error.contains("u00000.json") && error.contains("different films of x"), "{error}");
        let error = Units::gather(&[dir.path().join("absent")]).unwrap_err().to_string();
        assert!(error.contains("--shard I/N"), "{error}");
    }

    #[test]
    fn what_is_missing_is_a_line_of_tasks() {
        let dir = tempfile::tempdir().unwrap();
        let plan = example(40);
        write_units(dir.path(), &plan);
        let parts = shares(&plan.costs(), 9);
        for shard in [2, 6, 7, 8] {
            std::fs::remove_file(unit_files::manifest_path(dir.path(), parts[shard].start)).unwrap();
        }
        let units = Units::gather(&[dir.path().to_owned()]).unwrap();
        let error = units.require_all().unwrap_err();
        assert_eq!(error.exit() as u8, 3);
        assert!(error.to_string().ends_with("\n--array=3,7-9"), "{error}");
    }

    #[test]
    fn times_of_unlike_machines_are_left_out_and_films_of_their_own_refused() {
        let dir = tempfile::tempdir().unwrap();
        let plan = example(4);
        write_units(dir.path(), &plan);
        let change = |index: usize, change: &dyn Fn(&mut Manifest)| {
            let mut manifest =
                unit_files::read_manifest(dir.path(), &plan, &plan.hash(), index).unwrap().unwrap();
            change(&mut manifest);
            write_manifest(dir.path(), &manifest).unwrap();
        };
        change(0, &|manifest| manifest.host.cpu = "another".into());
        let units = Units::gather(&[dir.path().to_owned()]).unwrap();
        let level = |from, to| Level { scene: "a", from, to, seed: 5, repeat: 0 };
        assert!(
            !units.is_timed(&level(0, 1)) && units.is_timed(&level(1, 2)) && units.is_timed(&level(8, 16))
        );
        change(1, &|manifest| manifest.films[2].device.info.driver = "2.0".into());
        let error = Units::gather(&[dir.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("films of z are its own"), "{error}");
    }
}
