use super::*;
use crate::study::folder::Folder;
use crate::study::plan::Plan;
use crate::tune;
use lockstep_core::Settings;
use lockstep_core::null::NullRenderer;
use lockstep_core::scene::SceneBuilder;
use lockstep_core::{BounceCounts, LoadReport, StageTimes};
use lockstep_core::{DeviceInfo, Film, Renderer};
use lockstep_reports::records::read_records;
use lockstep_reports::study::{Study, files};
use lockstep_reports::tuning::tuned;
use std::ops::Range;

/// A target with a configuration that is faster, one that is refused and one whose film is another.
struct Faulty {
    info: DeviceInfo,
    config: KernelConfig,
    spp: u32,
}

const REFUSED: KernelConfig = KernelConfig { group: Some(1024), ..FASTER };
const FASTER: KernelConfig = KernelConfig {
    structure: Structure::NoCompaction,
    mode: Mode::Exact,
    scheduling: lockstep_core::Scheduling::Default,
    group: None,
    order: lockstep_core::Order::Tiles,
    samples: None,
    tile: None,
    rays: lockstep_core::Rays::Packets,
    merges: lockstep_core::MergeSums::Integers,
    layers: lockstep_core::LayerSampling::Together,
};
const WRONG: KernelConfig = KernelConfig { structure: Structure::Megakernel, ..FASTER };

impl Renderer for Faulty {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, _: &Scene, _: &Settings) -> lockstep_core::Result<LoadReport> {
        (self.config, self.spp) = (KernelConfig::default(), 0);
        Ok(LoadReport::default())
    }

    fn accumulate(&mut self, samples: Range<u32>) -> lockstep_core::Result<PassReport> {
        self.spp += samples.len() as u32;
        let ms = if self.config == FASTER { 1.0 } else { 2.0 } * samples.len() as f64;
        let mut stages = StageTimes { total_ms: ms, ..StageTimes::default() };
        stages.add("extend", ms * 0.5);
        stages.add("shade", ms * 0.25);
        let bounces = vec![BounceCounts { extension_rays: 7, ..BounceCounts::default() }];
        Ok(PassReport { stages, bounces, ..PassReport::default() })
    }

    fn read(&mut self, film: &mut Film) -> lockstep_core::Result<()> {
        *film = Film::new(2, 2)?;
        film.spp = self.spp;
        film.sums[0][0] = i64::from(self.config == WRONG);
        Ok(())
    }

    fn kernel_configs(&self) -> Vec<KernelConfig> {
        vec![KernelConfig::default(), FASTER, REFUSED, WRONG]
    }

    fn configure(&mut self, config: &KernelConfig) -> lockstep_core::Result<ConfigureReport> {
        if *config == REFUSED {
            let (action, reason) = ("running groups of 1024".into(), "at most 64".into());
            return Err(Error::Device { actor: "faulty".into(), action, reason });
        }
        (self.config, self.spp) = (*config, 0);
        Ok(ConfigureReport { compile_ms: 1.0, group: Some(32) })
    }
}

/// A target that is not there for this scene.
struct Absent(DeviceInfo);

impl Renderer for Absent {
    fn device(&self) -> &DeviceInfo {
        &self.0
    }

    fn load(&mut self, _: &Scene, _: &Settings) -> lockstep_core::Result<LoadReport> {
        Err(Error::Unavailable { what: "its library is missing".into(), remedy: "Install it.".into() })
    }

    fn accumulate(&mut self, _: Range<u32>) -> lockstep_core::Result<PassReport> {
        Ok(PassReport::default())
    }

    fn read(&mut self, _: &mut Film) -> lockstep_core::Result<()> {
        Ok(())
    }
}

fn scene() -> Scene {
    SceneBuilder::new("nothing").build().unwrap()
}

/// Tunes a renderer into a folder, as a target that promises identity.
fn tune(renderer: Box<dyn Renderer>, root: &std::path::Path, rounds: u32) -> Vec<Record> {
    let settings = Settings { width: 2, height: 2, ..Settings::default() };
    let mut plan = Plan::of_scenes(vec!["nothing".into()], vec![scene()], settings);
    plan.schedule = "4".parse().unwrap();
    plan.repeats = rounds;
    let mut session = TargetSession::new("faulty".into(), renderer);
    session.info.exact = true;
    let sessions = vec![session];
    let mut environment = plan.environment(&sessions);
    // A tuning with more rounds is another study; here it is the same one, stopped and resumed.
    environment.settings.repeats = 0;
    let (folder, _) = Folder::open(root, &environment, false).unwrap();
    assert!(tune::all(&mut Lab::new(&plan, folder, sessions, false)).unwrap().is_continue());
    read_records(&root.join(files::RECORDS)).unwrap()
}

fn faulty() -> Box<dyn Renderer> {
    Box::new(Faulty { info: DeviceInfo::default(), config: KernelConfig::default(), spp: 0 })
}

#[test]
fn every_configuration_is_timed_in_every_round_and_the_one_that_changes_the_film_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let records = tune(faulty(), folder.path(), 3);
    let points: Vec<&Tune> =
        records.iter().filter_map(|r| if let Record::Tune(s) = r { Some(s) } else { None }).collect();
    // The refused one is not asked for again.
    assert_eq!(points.len(), 3 * 4 + 1);
    let rows = tuned(&Study::load(folder.path()).unwrap());
    let found: Vec<(String, bool, bool)> =
        rows.iter().map(|row| (row.configuration.clone(), row.best, row.is_bug())).collect();
    let row = |label: &str, best, bug| (label.to_owned(), best, bug);
    assert_eq!(
        found,
        [
            row("wavefront", false, false),
            row("wavefront", false, false),
            row("no-compaction", true, false),
            row("no-compaction/group=1024", false, false),
            row("megakernel", false, true),
        ]
    );
    assert_eq!(rows[3].refused, "running groups of 1024: at most 64");
    assert_eq!(rows[2].parts, [2.0, 1.0, 1.0]);
}

#[test]
fn a_tuning_that_was_stopped_is_resumed_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let first = tune(faulty(), folder.path(), 2);
    let more = tune(faulty(), folder.path(), 4);
    // As text, since a megakernel's parts are no numbers.
    let texts = |records: &[Record]| records.iter().map(|r| r.to_json().unwrap()).collect::<Vec<_>>();
    assert_eq!(texts(&more)[..first.len()], texts(&first), "nothing is measured again");
    let timed = more.iter().filter(|r| matches!(r, Record::Tune(s) if s.refused.is_empty())).count();
    assert_eq!(timed, 4 * 4);
}

#[test]
fn a_target_that_knows_no_configurations_is_tuned_by_its_default_alone() {
    let folder = tempfile::tempdir().unwrap();
    let records = tune(Box::new(NullRenderer::new()), folder.path(), 3);
    let configurations: Vec<&Tune> =
        records.iter().filter_map(|r| if let Record::Tune(s) = r { Some(s) } else { None }).collect();
    assert_eq!(configurations.len(), 6, "twice a round");
    assert!(configurations.iter().all(|s| s.default && s.identical));
}

#[test]
fn a_target_that_cannot_render_a_scene_is_skipped_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let records = tune(Box::new(Absent(DeviceInfo::default())), folder.path(), 3);
    let [Record::Skip(skip)] = &records[..] else { panic!("{records:?}") };
    assert_eq!(skip.subject(), "faulty on nothing");
    assert_eq!(skip.reason, "its library is missing. Install it.");
}

#[test]
fn words_choose_configurations_beside_the_default() {
    let all = [KernelConfig::default(), FASTER, REFUSED, WRONG];
    let labels = |words: &[&str]| -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        chosen(&all, &words).iter().map(KernelConfig::to_string).collect()
    };
    assert_eq!(labels(&[]), ["wavefront", "no-compaction", "no-compaction/group=1024", "megakernel"]);
    assert_eq!(labels(&["group=", "mega"]), ["wavefront", "no-compaction/group=1024", "megakernel"]);
    assert_eq!(labels(&["float-merges"]), ["wavefront"]);
}
