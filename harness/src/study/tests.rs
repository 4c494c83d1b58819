//! Studies over made-up renderers: failures, and reasons to stop.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use lockstep_core::math::vec3::Vec3;
use lockstep_core::null::NullRenderer;
use lockstep_core::path_record::{PathRequest, PathVertex, SurfaceVertex};
use lockstep_core::scene::EnvironmentLight;
use lockstep_core::{
    DeviceInfo, Film, LoadReport, OpenOptions, PassReport, Renderer, Scene, SceneBuilder, Settings, TargetId,
};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::records::{DivergenceScope, Environment, HostInfo, Record, read_records};
use lockstep_reports::study::Study;
use lockstep_reports::verdict::verdict;

use super::folder::Folder;
use super::lab::Lab;
use super::level::Level;
use super::plan::Plan;
use super::reference::Reference;
use super::target_session::{Purpose, TargetSession};
use super::{COMMIT, failures, run_measurements, text, to_json};
use crate::exit::Failure;

/// The fault of a made-up renderer.
#[derive(Clone, Copy, Default)]
struct Fault {
    /// Added to the first channel of the first pixel, from this many samples on.
    bump: Option<(u32, i64)>,
    /// Every value is brighter by this many per cent.
    gain: i64,
    /// Samples that were not finite.
    non_finite: u64,
    /// The second repeat makes another film than the first.
    fickle: bool,
    /// Whether every scene is refused.
    refuses: bool,
    /// Milliseconds that it says a sample of every pixel takes.
    ms_per_spp: u32,
}

/// The sky, with a fault.
struct Faulty {
    inner: NullRenderer,
    info: DeviceInfo,
    fault: Fault,
    loads: u32,
}

impl Faulty {
    fn session(name: &str, fault: Fault) -> TargetSession {
        let id = TargetId::from(name);
        let exact = id.mode == lockstep_core::Mode::Exact;
        let info = DeviceInfo { target: name.into(), exact, ..DeviceInfo::default() };
        TargetSession::new(id, Box::new(Self { inner: NullRenderer::new(), info, fault, loads: 0 }))
    }
}

impl Renderer for Faulty {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, scene: &Scene, settings: &Settings) -> lockstep_core::Result<LoadReport> {
        if self.fault.refuses {
            let (actor, what) = (self.info.target.to_string(), "this scene".into());
            return Err(lockstep_core::Error::Unsupported { actor, what });
        }
        assert_eq!(settings.mode, self.info.target.mode);
        self.loads += 1;
        self.inner.load(scene, settings)
    }

    fn accumulate(&mut self, samples: Range<u32>) -> lockstep_core::Result<PassReport> {
        let ms = f64::from(samples.end - samples.start) * f64::from(self.fault.ms_per_spp);
        let mut report = self.inner.accumulate(samples)?;
        report.stages.total_ms += ms;
        Ok(report)
    }

    fn read(&mut self, film: &mut Film) -> lockstep_core::Result<()> {
        self.inner.read(film)?;
        film.invalid.non_finite = self.fault.non_finite;
        film.sums.iter_mut().flatten().for_each(|sum| *sum += *sum / 100 * self.fault.gain);
        if let Some((from, bump)) = self.fault.bump
            && film.spp >= from
        {
            film.sums[0][0] += bump;
        }
        if self.fault.fickle && self.loads > 1 {
            film.sums[1][1] += 1;
        }
        Ok(())
    }

    fn record_paths(&mut self, requests: &[PathRequest]) -> lockstep_core::Result<Vec<Vec<PathVertex>>> {
        let primitive = self.fault.bump.map_or(1, |_| 2);
        let surface = Some(SurfaceVertex { primitive, ..SurfaceVertex::default() });
        let vertex = PathVertex { surface, ..PathVertex::default() };
        Ok(requests.iter().map(|_| vec![vertex]).collect())
    }
}

fn plan(repeats: u32) -> Plan {
    let mut builder = SceneBuilder::new("sky");
    builder.environment = EnvironmentLight::Constant(Vec3::splat(0.5));
    let image = LinearImage::from_fn(8, 8, |_, _| [0.5; 3]);
    let settings = Settings { width: 8, height: 8, ..Settings::default() };
    Plan {
        schedule: "1..4".parse().unwrap(),
        repeats,
        noise_floor: true,
        reference: Some(Rc::new(Reference { image, against: "the truth".into(), spp: None })),
        ..Plan::of_scenes(vec!["sky".into()], vec![builder.build().unwrap()], settings)
    }
}

/// Runs a study to its end and reads it back.
fn run(root: &Path, plan: &Plan, sessions: Vec<TargetSession>) -> Result<Study, Failure> {
    run_with(root, plan, sessions, None)
}

fn run_with(
    root: &Path,
    plan: &Plan,
    sessions: Vec<TargetSession>,
    control: Option<TargetSession>,
) -> Result<Study, Failure> {
    let environment = plan.environment(&sessions);
    let targets: Vec<TargetId> = sessions.iter().map(|session| session.id.clone()).collect();
    let (folder, resumes) = Folder::open(root, &environment, false)?;
    let mut lab = Lab::new(plan, folder, sessions, resumes).with_control(control);
    assert!(run_measurements(&plan.series(&targets, &[], &[]), &mut lab)?.is_continue());
    drop(lab);
    Ok(Study::load(root)?)
}

fn exact(names: &[&str]) -> Vec<TargetId> {
    names.iter().map(|&name| name.into()).collect()
}

#[test]
fn equal_targets_fail_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let sessions = vec![Faulty::session("a", Fault::default()), Faulty::session("b", Fault::default())];
    let study = run(dir.path(), &plan(2), sessions).unwrap();
    assert!(failures(&study, &exact(&["a", "b"])).is_empty());
    assert_eq!((study.differences.len(), study.timings.len(), study.divergences.len()), (3, 12, 0));
    assert!(study.convergences.iter().all(|c| c.against == "the truth" && c.errors.mse == 0.0));
}

#[test]
fn what_a_scene_is_taken_to_and_how_is_told_before_anything_is_rendered() {
    let dir = tempfile::tempdir().unwrap();
    let (host, device) =
        (Faulty::session("host", Fault::default()), Faulty::session("device", Fault::default()));
    let with_kernels = |mut session: TargetSession| {
        session.info.kernel_hash = "ab".into();
        session
    };
    let acts = [
        (host, "sky: building the BVH for host"),
        (with_kernels(device), "sky: building the BVH, compiling kernels for device"),
    ];
    for (session, act) in acts {
        let (plan, id) = (plan(1), session.id.clone());
        let folder =
            Folder::open(&dir.path().join(id.to_string()), &Environment::default(), false).unwrap().0;
        let mut lab = Lab::new(&plan, folder, vec![session], false);
        lab.load(&plan.scenes[0], 0, Purpose::Levels { repeat: 0 }).unwrap();
        assert_eq!(lab.bar.message(), act);
    }
}

#[test]
fn one_unit_in_one_pixel_of_an_exact_target_fails_a_study_and_is_triaged() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { bump: Some((2, 1)), ..Fault::default() };
    let sessions = vec![Faulty::session("a", Fault::default()), Faulty::session("b", fault)];
    let study = run(dir.path(), &plan(1), sessions).unwrap();
    let identical: Vec<bool> = study.differences.iter().map(|d| d.identical).collect();
    assert_eq!(identical, [true, false, false]);
    let found = failures(&study, &exact(&["a", "b"]));
    assert!(found.len() == 2 && found[0].contains("1 pixels of sky at 2 spp"), "{found:?}");
    assert!(failures(&study, &exact(&["a"])).is_empty(), "b promises nothing");
    let found = &study.divergences[0];
    assert_eq!((study.divergences.len(), found.spp, found.pixels_differing, found.diverging), (1, 2, 1, 1));
    assert_eq!((found.scope, found.fields()), (DivergenceScope::DifferingPixels, vec![("primitive", 1)]));
    assert_eq!(found.first().unwrap().quantity, "primitive index");
}

#[test]
fn every_difference_comes_with_the_command_that_traces_it_and_is_said_once_for_identical_targets() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { bump: Some((1, 1)), ..Fault::default() };
    let sessions = [("a", Fault::default()), ("b", Fault::default()), ("c", fault)];
    let study = run(dir.path(), &plan(1), sessions.map(|(name, fault)| Faulty::session(name, fault)).into());
    let study = study.unwrap();
    let verdict = verdict(&study);
    let said = text(&study, &verdict, dir.path(), |_, words| words.to_owned());
    assert_eq!(said.matches("path by path, a and c on sky").count(), 1, "{said}");
    assert_eq!(said.matches("lockstep trace sky -b ").count(), 1, "{said}");
    let json = to_json(&study, &verdict, dir.path(), false);
    for pair in json["pairs"].as_array().unwrap() {
        let (names, trace) = (format!("{},{}", pair["a"], pair["b"]).replace('"', ""), &pair["trace"]);
        match names.as_str() {
            "a,b" => assert!(trace.is_null(), "identical films need no trace: {trace}"),
            _ => assert!(trace.as_str().unwrap().contains(&format!(" -b {names} --pixel 0,0 --sample 0 "))),
        }
    }
    assert_eq!(json["why"].as_array().unwrap().len(), 2);
    assert_eq!(json["why"][0]["trace"], json["pairs"][1]["trace"]);
}

#[test]
fn films_that_differ_though_no_path_does_come_with_the_command_of_a_pixel_that_differs() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { gain: 1, ..Fault::default() };
    let sessions = vec![Faulty::session("a", Fault::default()), Faulty::session("b", fault)];
    let study = run(dir.path(), &plan(1), sessions).unwrap();
    assert_eq!(study.divergences[0].diverging, 0);
    let command = study.divergences[0].trace_command().unwrap();
    assert!(command.starts_with("lockstep trace sky -b a,b --pixel 0,0 --sample 0 "), "{command}");
    let place = &to_json(&study, &verdict(&study), dir.path(), false)["pairs"][0]["worst"]["place"];
    assert_eq!(
        (&place["x"], &place["width"], &place["height"]),
        (&0.into(), &8.into(), &8.into()),
        "{place}"
    );
}

#[test]
fn a_target_that_promises_nothing_fails_a_study_by_a_bias_alone() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { gain: 1, ..Fault::default() };
    let sessions = vec![Faulty::session("a", Fault::default()), Faulty::session("b", fault)];
    let study = run(dir.path(), &plan(1), sessions).unwrap();
    assert!(study.differences.iter().all(|d| d.verdict == "biased"), "{:?}", study.differences);
    let found = failures(&study, &exact(&["a"]));
    assert!(
        found.len() == 3 && found[0].contains("a (A) and b (B) differ by more than noise on sky at 1 spp")
    );
    assert!(found[0].contains("A is darker than B by 0.9950 %"), "{}", found[0]);
    assert!(dir.path().join("images/sky.a.b.4spp.p.png").exists());
    let tables = std::iter::zip([1, 2, 4], &study.differences);
    assert!(tables.into_iter().all(|(spp, d)| (d.spp, d.step_spp) == (spp, Some(spp.div_ceil(2)))));
}

#[test]
fn the_noise_floor_is_rendered_once_for_targets_that_are_identical() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { gain: 1, ..Fault::default() };
    let sessions = vec![
        Faulty::session("a", Fault::default()),
        Faulty::session("b", Fault::default()),
        Faulty::session("c", fault),
    ];
    let study = run(dir.path(), &plan(1), sessions).unwrap();
    assert_eq!(study.noise.len(), 3 * 3, "a record for every target and level");
    let renderers: Vec<_> =
        study.noise.iter().filter(|n| n.spp == 4).map(|n| n.rendered_by.to_string()).collect();
    assert!(renderers[0] == renderers[1] && renderers[2] == "c", "{renderers:?}");
    assert!(study.noise.iter().all(|n| (n.seed, n.other_seed, n.mse_linear) == (0, 1, 0.0)));
    assert_eq!(study.timings.len(), 9, "the floor is not timed");
}

/// A target on the processor or beside it that tells this time for a sample of every pixel.
fn timed_session(name: &str, on_host: bool, ms_per_spp: u32) -> TargetSession {
    let mut session = Faulty::session(name, Fault { ms_per_spp, ..Fault::default() });
    session.info.on_host = on_host;
    session
}

/// On targets that say to be slow, first the first processor, then the first device beside it.
#[test]
fn the_noise_floor_is_led_by_the_first_device_whatever_it_takes() {
    let leader = |sessions| {
        let dir = tempfile::tempdir().unwrap();
        let study = run(dir.path(), &plan(1), sessions).unwrap();
        let mut renderers: Vec<_> = study.noise.iter().map(|n| n.rendered_by.to_string()).collect();
        renderers.dedup();
        renderers
    };
    assert_eq!(leader(vec![timed_session("a", true, 9), timed_session("b", true, 1)]), ["a"]);
    let with_devices = [("a", true, 1), ("b", false, 9), ("c", false, 5)];
    assert_eq!(
        leader(with_devices.map(|(name, on_host, ms)| timed_session(name, on_host, ms)).into()),
        ["b"]
    );
}

/// Stopped anywhere within the noise floor, with other speeds when it is resumed: the device is slower than the processor
/// then.
#[test]
fn the_noise_floor_is_led_by_the_same_target_after_a_study_was_stopped_and_resumed() {
    let sessions = |ms: [u32; 3]| {
        vec![
            timed_session("a", true, ms[0]),
            timed_session("b", false, ms[1]),
            timed_session("c", false, ms[2]),
        ]
    };
    for kept in 0..3 {
        let dir = tempfile::tempdir().unwrap();
        run(dir.path(), &plan(1), sessions([9, 1, 5])).unwrap();
        let records = dir.path().join("records.jsonl");
        let text = std::fs::read_to_string(&records).unwrap();
        let noise = |line: &&str| line.starts_with("{\"kind\":\"noise\"");
        let first = |n: usize| text.lines().position(|l| noise(&l)).unwrap() + n;
        let left: String = text.lines().take(first(3 * kept)).map(|l| format!("{l}\n")).collect();
        std::fs::write(&records, left).unwrap();
        let study = run(dir.path(), &plan(1), sessions([1, 9, 5])).unwrap();
        assert_eq!(study.noise.len(), 3 * 3, "all are there again");
        assert!(study.noise.iter().all(|n| n.rendered_by == "b".into()), "{kept}: {:?}", study.noise);
    }
}

#[test]
fn a_level_is_rendered_while_twice_the_time_below_it_fits() {
    let timed = Plan { levels_seconds: Some(1.0), ..plan(1) };
    let level = |to| Level { scene: "sky", from: to / 2, to, seed: 1, repeat: 0 };
    assert!(timed.reaches(&level(64), 500.0) && !timed.reaches(&level(64), 501.0));
    assert!(timed.reaches(&level(8), 1e6), "the first levels are rendered whatever they take");
    assert!(plan(1).reaches(&level(64), 1e6), "levels that the user names have no bound");
}

#[test]
fn a_fast_build_may_differ_and_every_record_of_it_says_that_it_is_one() {
    /// The first pixel's sample at which the fault begins.
    const TRACE: &str =
        "lockstep trace sky -b a,a+fast --pixel 0,0 --sample 1 --size 8x8 --bounces 3 --seed 0";
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { bump: Some((2, 1)), ..Fault::default() };
    let sessions = vec![Faulty::session("a", Fault::default()), Faulty::session("a+fast", fault)];
    let study = run(dir.path(), &plan(2), sessions).unwrap();
    assert!(failures(&study, &exact(&["a"])).is_empty());
    assert_eq!(study.divergences[0].trace_command(), Some(TRACE), "its paths are compared all the same");
    assert_eq!(study.environment.targets[1].info.target, "a+fast".into());
    let records = read_records(&dir.path().join("records.jsonl")).unwrap();
    for record in &records {
        let line: serde_json::Value = serde_json::from_str(&record.to_json().unwrap()).unwrap();
        let about_fast = ["target", "a", "b"].iter().any(|field| line[field] == "a+fast");
        let expected = if about_fast { "fast" } else { "exact" };
        assert!(line["mode"] == expected || line["kind"] == "note", "{line}");
    }
    let found = records.iter().filter(|record| record.kind() == "speedup").count();
    assert_eq!(found, 1, "what exactness costs is recorded once for the scene");
    let again = vec![Faulty::session("a", Fault::default()), Faulty::session("a+fast", fault)];
    run(dir.path(), &plan(2), again).unwrap();
    let after = read_records(&dir.path().join("records.jsonl")).unwrap();
    assert_eq!(after.len(), records.len(), "a finished study has nothing left to do");
}

#[test]
fn invalid_samples_are_recorded_and_fail_a_study() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { non_finite: 3, ..Fault::default() };
    let study = run(dir.path(), &plan(1), vec![Faulty::session("a", fault)]).unwrap();
    let found = failures(&study, &[]);
    assert!(found.len() == 3 && found[0].contains("3 samples were not finite"), "{found:?}");
}

#[test]
fn a_target_that_makes_two_films_of_the_same_samples_stops_a_study() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { fickle: true, ..Fault::default() };
    let failure = run(dir.path(), &plan(2), vec![Faulty::session("a", fault)]).err().unwrap();
    assert!(failure.to_string().contains("two different films"), "{failure}");
}

#[test]
fn the_first_target_is_timed_twice_in_every_round_and_not_again_when_that_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let target = |name: &str| Faulty::session(name, Fault::default());
    let study = |control: TargetSession| {
        run_with(dir.path(), &plan(3), vec![target("a"), target("b")], Some(control)).unwrap()
    };
    let found = study(target("a"));
    assert_eq!((found.timings.len(), found.aa_control.len()), (2 * 3 * 3, 3 * 3));
    assert!(found.aa_control.iter().all(|aa_control| aa_control.target == "a".into()));
    let lines = || read_records(&dir.path().join("records.jsonl")).unwrap().len();
    let before = lines();
    study(target("a"));
    assert_eq!(lines(), before, "a finished study has nothing left to do");
}

#[test]
fn errors_after_given_times_are_of_the_samples_that_fit() {
    let dir = tempfile::tempdir().unwrap();
    let target = |ms_per_spp| {
        let fault = Fault { ms_per_spp, gain: 1, ..Fault::default() };
        vec![Faulty::session("a", fault)]
    };
    let mut plan = plan(1);
    plan.times = vec![0.1, 2.5];
    let study = run(dir.path(), &plan, target(10)).unwrap();
    let found: Vec<_> = study.equal_times.iter().map(|e| (e.seconds, e.spp, e.render_ms, e.full)).collect();
    assert_eq!(found, [(0.1, 10, 100.0, false), (2.5, 250, 2500.0, false)]);
    assert!(
        study.equal_times.iter().all(|e| e.samples == 64 * u64::from(e.spp) && e.errors.mse_linear > 0.0)
    );
    plan.times.push(3.0);
    let study = run(dir.path(), &plan, target(10)).unwrap();
    assert_eq!(study.equal_times.iter().map(|e| e.spp).collect::<Vec<_>>(), [10, 250, 300], "continues");
}

#[test]
fn a_target_that_tells_no_time_has_no_rate_and_its_study_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let timed = Plan { times: vec![0.1], ..plan(1) };
    let study = run(dir.path(), &timed, vec![Faulty::session("a", Fault::default())]).unwrap();
    let found = &study.equal_times[0];
    assert!(found.full && found.samples_per_ms.is_empty(), "{found:?}");
}

#[test]
fn a_target_that_cannot_render_a_scene_skips_it() {
    let dir = tempfile::tempdir().unwrap();
    let fault = Fault { refuses: true, ..Fault::default() };
    let sessions = || vec![Faulty::session("a", fault), Faulty::session("b", Fault::default())];
    let study = run(dir.path(), &plan(1), sessions()).unwrap();
    assert_eq!((study.skips.len(), study.timings.len()), (1, 3));
    assert_eq!(study.skips[0].subject(), "a on sky");
    let again = run(dir.path(), &plan(1), sessions()).unwrap();
    assert_eq!((again.skips.len(), again.timings.len()), (1, 3), "and again when it is resumed");
}

#[test]
fn a_study_is_not_resumed_by_a_program_that_renders_something_else() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &plan(1), vec![Faulty::session("a", Fault::default())]).unwrap();
    // As if the study had been stopped after its first level.
    let path = dir.path().join("records.jsonl");
    let kept = read_records(&path).unwrap().into_iter().filter(|record| match record {
        Record::Timing(timing) => timing.spp_to == 1,
        _ => true,
    });
    let lines: String = kept.map(|record| record.to_json().unwrap() + "\n").collect();
    std::fs::write(&path, lines).unwrap();
    let fault = Fault { bump: Some((1, 1)), ..Fault::default() };
    let failure = run(dir.path(), &plan(1), vec![Faulty::session("a", fault)]).err().unwrap();
    assert!(failure.to_string().contains("renders sky at 1 spp otherwise than"), "{failure}");
    run(dir.path(), &plan(1), vec![Faulty::session("a", Fault::default())]).unwrap();
}

#[test]
fn the_environment_names_what_a_reader_needs() {
    let plan = plan(1);
    let environment = plan.environment(&[Faulty::session("a", Fault::default())]);
    assert_eq!(environment.scenes["sky"], plan.scenes[0].hash);
    assert_eq!(environment.host.cores, HostInfo::detect().cores);
    assert_eq!(environment.commit.unwrap_or_default(), COMMIT);
    assert_eq!((environment.settings.spp, environment.targets.len()), (vec![1, 2, 4], 1));
    assert_eq!(plan.options, OpenOptions::default());
}
