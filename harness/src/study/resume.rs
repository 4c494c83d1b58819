//! Resuming a study that was stopped: it must be the same one, and remains of a kill are removed.

use std::path::Path;

use lockstep_core::DeviceInfo;
use lockstep_reports::image_io::ImageName;
use lockstep_reports::image_io::is_map_name;
use lockstep_reports::records::Environment;
use lockstep_reports::study::files;

use crate::exit::Failure;

/// Fails unless the study in the folder is the one that is wanted.
///
/// # Errors
/// [`Failure::Usage`] naming everything that differs, and the remedy.
pub(super) fn check_same(root: &Path, there: &Environment, wanted: &Environment) -> Result<(), Failure> {
    let differences = differences(there, wanted);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{} holds another study: {}. Resume it by asking for the same, add --fresh to start over, or choose another \
         folder with -o",
        root.display(),
        differences.join("; ")
    )))
}

/// The differences between the study that is there and the one wanted, setting by setting.
fn differences(there: &Environment, wanted: &Environment) -> Vec<String> {
    let (a, b) = (&there.settings, &wanted.settings);
    let scenes = |e: &Environment| e.scenes.keys().cloned().collect::<Vec<_>>().join(", ");
    let targets =
        |e: &Environment| e.targets.iter().map(|t| t.info.target.to_string()).collect::<Vec<_>>().join(", ");
    let spp = |levels: &[u32]| levels.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let reference = |e: &Environment| e.other.get("reference").map_or("rendered".into(), ToString::to_string);
    let mut found = Vec::new();
    let mut note = |what: &str, there: String, wanted: String| {
        if there != wanted {
            found.push(format!("{what} there {there}, now {wanted}"));
        }
    };
    note("scenes", scenes(there), scenes(wanted));
    note("targets", targets(there), targets(wanted));
    note("size", format!("{}x{}", a.width, a.height), format!("{}x{}", b.width, b.height));
    note("bounces", a.bounces.to_string(), b.bounces.to_string());
    let roulette = |from: Option<u32>| from.map_or("none".to_owned(), |bounce| bounce.to_string());
    note("Russian roulette", roulette(a.roulette), roulette(b.roulette));
    note("integrator", a.integrator.to_string(), b.integrator.to_string());
    note("merge radius", a.merge_radius.to_string(), b.merge_radius.to_string());
    note("sampler", a.sampler.to_string(), b.sampler.to_string());
    note("layers", a.layers.to_string(), b.layers.to_string());
    note("samples per pixel", spp(&a.spp), spp(&b.spp));
    note("seed", a.seed.to_string(), b.seed.to_string());
    note("seeds", a.seeds.to_string(), b.seeds.to_string());
    note("repeats", a.repeats.to_string(), b.repeats.to_string());
    note("reference", reference(there), reference(wanted));
    let against = |e: &Environment| {
        e.settings.against.as_ref().map_or_else(|| "the first target".into(), ToString::to_string)
    };
    note("target that speeds are compared with", against(there), against(wanted));
    let kernels = |e: &Environment| e.kernel_hash.clone().unwrap_or_else(|| "none".into());
    note("kernels", kernels(there), kernels(wanted));
    for (name, hash) in &wanted.scenes {
        if there.scenes.get(name).is_some_and(|old| old != hash) {
            found.push(format!("the scene {name} has changed"));
        }
    }
    for (old, new) in there.targets.iter().zip(&wanted.targets) {
        if old.info.target == new.info.target {
            found.extend(target_differences(&old.info, &new.info));
        }
    }
    found
}

/// The differences of one target. Clocks do not count: they change from second to second.
fn target_differences(there: &DeviceInfo, wanted: &DeviceInfo) -> Vec<String> {
    let properties = |t: &DeviceInfo| {
        [
            ("device", t.device.clone()),
            ("driver", t.driver.clone()),
            ("compiler", t.compiler.clone()),
            ("flags", t.flags.clone()),
            ("threads", t.host_threads().to_string()),
        ]
    };
    let pairs = properties(there).into_iter().zip(properties(wanted));
    pairs
        .filter(|((_, old), (_, new))| old != new)
        .map(|((what, old), (_, new))| format!("{what} of {} there {old}, now {new}", wanted.target))
        .collect()
}

/// Removes temporary files that a kill left beside the files they were to become.
///
/// # Errors
/// [`Failure::Io`], naming the file or folder.
pub(super) fn remove_torn(root: &Path) -> Result<(), Failure> {
    for folder in ["", files::IMAGES, files::PLOTS, files::TABLES] {
        remove_matching(&root.join(folder), |name| name.starts_with('.') && name.ends_with(".tmp"))?;
    }
    Ok(())
}

/// Removes a study, and nothing else that may lie in its folder. Records go first: without them the rest is
/// only a study that has not begun.
///
/// # Errors
/// [`Failure::Io`], naming the file or folder.
pub(crate) fn clear(root: &Path) -> Result<(), Failure> {
    let own = [
        files::RECORDS,
        files::ENVIRONMENT,
        files::RECORDS_CSV,
        files::TABLES_JSON,
        files::SUMMARY,
        files::PAGE,
    ];
    for name in own {
        remove(&root.join(name))?;
    }
    remove_matching(&root.join(files::IMAGES), |name| ImageName::parse(name).is_some() || is_map_name(name))?;
    remove_matching(&root.join(files::LOGS), |name| name.ends_with(".log"))?;
    remove_matching(&root.join(files::PLOTS), |name| name.ends_with(".svg"))?;
    remove_matching(&root.join(files::TABLES), |name| name.ends_with(".csv"))
}

fn remove_matching(folder: &Path, matches: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(Failure::io("list the folder", folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(Failure::io("list the folder", folder))?;
        if entry.file_name().to_str().is_some_and(&matches) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Failure::io("remove", path)(e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_reports::records::StudySettings;

    fn study() -> Environment {
        let settings = StudySettings { width: 8, height: 4, spp: vec![1, 2], ..StudySettings::default() };
        let target = DeviceInfo { target: "t".into(), driver: "1.0".into(), ..DeviceInfo::default() };
        let mut environment =
            Environment { settings, targets: vec![target.into()], ..Environment::default() };
        environment.scenes.insert("cornell".into(), "ab".into());
        environment
    }

    #[test]
    fn the_same_study_at_another_time_with_other_clocks_is_the_same() {
        let mut later = study();
        later.started_utc = "2026-01-01T00:00:00Z".into();
        later.targets[0].info.clocks = "3 GHz".into();
        assert!(check_same(Path::new("d"), &study(), &later).is_ok());
    }

    #[test]
    fn every_changed_setting_is_named_with_both_values() {
        let mut other = study();
        other.settings.width = 16;
        other.settings.spp = vec![1, 2, 4];
        other.targets[0].info.driver = "2.0".into();
        other.scenes.insert("cornell".into(), "cd".into());
        let message = check_same(Path::new("some/dir"), &study(), &other).unwrap_err().to_string();
        for words in [
            "some/dir",
            "size there 8x4, now 16x4",
            "samples per pixel there 1, 2, now 1, 2, 4",
            "driver of t there 1.0, now 2.0",
            "the scene cornell has changed",
            "--fresh",
        ] {
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn starting_over_leaves_the_files_of_others_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(files::IMAGES)).unwrap();
        let (own, others) = (
            ["records.jsonl", "images/a.b.4spp.png", "images/a.b.c.4spp.p.png"],
            ["notes.txt", "images/photo.png"],
        );
        for name in own.iter().chain(&others) {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        clear(dir.path()).unwrap();
        assert!(own.iter().all(|name| !dir.path().join(name).exists()));
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
    }

    #[test]
    fn temporary_files_of_a_kill_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let torn = dir.path().join(".summary.md.12.0.tmp");
        std::fs::write(&torn, "half").unwrap();
        remove_torn(dir.path()).unwrap();
        assert!(!torn.exists());
    }
}
