//! Films of groups whose workers are late, lost, restarted, hung or lying equal the film of one device.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use lockstep_core::math::vec3::vec3;
use lockstep_core::null::NullRenderer;
use lockstep_core::scene::{EnvironmentLight, SceneBuilder};
use lockstep_core::{DeviceInfo, Error, Film, LoadReport, PassReport, Renderer, Result, Scene, Settings};
use lockstep_together::{
    Checkpoint, Ended, Launch, Launcher, Options, Outcome, SampleSet, Schedule, Start, Together,
    read_film_file, serve,
};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SPP: u32 = 48;
const SILENCE: Duration = Duration::from_millis(150);

/// The fault of a worker from its nth pass on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The device fails: the process would be poisoned.
    DeviceError,
    /// A typed error that starting again would not cure.
    Unsupported,
    /// The film has another size.
    LiesAboutSize,
    /// The film has another number of samples.
    LiesAboutSamples,
    /// The film has a negative sum.
    LiesAboutSign,
    /// The film lacks a pixel.
    LacksPixel,
    /// No answer ever comes.
    Hangs,
    /// Loading never ends.
    HangsLoading,
    /// The stream ends without a word.
    Dies,
}

/// A device that renders the null renderer's film, late and with a fault.
struct Faulty {
    inner: NullRenderer,
    info: DeviceInfo,
    delay: Duration,
    fault: Fault,
    passes_left: u32,
    stream: UnixStream,
}

impl Faulty {
    fn strikes(&self, fault: Fault) -> bool {
        self.fault == fault && self.passes_left == 0
    }
}

impl Renderer for Faulty {
    fn device(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        if self.fault == Fault::HangsLoading {
            std::thread::sleep(SILENCE * 4);
        }
        self.inner.load(scene, settings)
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        std::thread::sleep(self.delay);
        self.passes_left = self.passes_left.saturating_sub(1);
        let actor = self.info.target.to_string();
        if self.strikes(Fault::DeviceError) {
            let (action, reason) = ("rendering".into(), "an illegal address".into());
            return Err(Error::Device { actor, action, reason });
        }
        if self.strikes(Fault::Unsupported) {
            return Err(Error::Unsupported { actor, what: "this".into() });
        }
        if self.strikes(Fault::Hangs) {
            std::thread::sleep(SILENCE * 4);
        }
        if self.strikes(Fault::Dies) {
            self.stream.shutdown(std::net::Shutdown::Both).unwrap();
        }
        self.inner.accumulate(samples)
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        self.inner.read(film)?;
        if self.strikes(Fault::LiesAboutSize) {
            *film = Film::new(film.width() + 1, film.height())?;
        }
        if self.strikes(Fault::LiesAboutSamples) {
            film.spp += 1;
        }
        if self.strikes(Fault::LiesAboutSign) {
            film.sums[7][1] = -1;
        }
        if self.strikes(Fault::LacksPixel) {
            film.sums.pop();
        }
        Ok(())
    }
}

/// Lives of a worker: each start takes the next; the last one is repeated.
type Lives = VecDeque<(Fault, u32, u64)>;

struct Threads {
    lives: Vec<Mutex<Lives>>,
    starts: Arc<Mutex<u32>>,
}

impl Launcher for Threads {
    fn launch(&self, target: usize) -> std::result::Result<Launch, String> {
        *self.starts.lock().unwrap() += 1;
        let mut lives = self.lives[target].lock().unwrap();
        let (fault, passes_left, micros) =
            if lives.len() > 1 { lives.pop_front().unwrap() } else { lives[0] };
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let info =
                DeviceInfo { target: format!("fake@{target}").into(), exact: true, ..DeviceInfo::default() };
            let (delay, stream) = (Duration::from_micros(micros), theirs.try_clone().unwrap());
            let inner = NullRenderer::new();
            let mut renderer = Faulty { inner, info, delay, fault, passes_left, stream };
            // The coordinator learns of errors by the stream.
            let _ = serve(&theirs, "test", &mut renderer, &|| false);
        });
        Ok(Launch { stream: ours, process: None })
    }
}

fn scene() -> Scene {
    let mut builder = SceneBuilder::new("sky");
    let (zenith, ground) = (vec3(0.1, 0.2, 0.9), vec3(0.3, 0.2, 0.1));
    builder.environment = EnvironmentLight::Gradient { zenith, horizon: vec3(1.0, 1.0, 1.0), ground };
    builder.build().unwrap()
}

const SETTINGS: Settings = Settings { width: 6, height: 5, ..Settings::DEFAULT };

fn film_of_one_device(spp: u32) -> Film {
    let mut renderer = NullRenderer::new();
    renderer.load(&scene(), &SETTINGS).unwrap();
    renderer.accumulate(0..spp).unwrap();
    let mut film = Film::new(1, 1).unwrap();
    renderer.read(&mut film).unwrap();
    film
}

fn options(schedule: Schedule) -> Options {
    Options {
        schedule,
        start: Start::First,
        silence: SILENCE,
        checkpoint: None,
        semantics: "test".into(),
        listen: None,
    }
}

fn group(lives: Vec<Lives>, options: Options) -> Together {
    let targets: Vec<String> = (0..lives.len()).map(|i| format!("fake@{i}")).collect();
    let lives = lives.into_iter().map(Mutex::new).collect();
    let info = DeviceInfo { target: "together(fake)".into(), exact: true, ..DeviceInfo::default() };
    Together::new(info, &targets, Box::new(Threads { lives, starts: Arc::default() }), options).unwrap()
}

fn film_of(together: &mut Together) -> Film {
    let mut film = Film::new(1, 1).unwrap();
    together.read(&mut film).unwrap();
    film
}

fn lives() -> impl Strategy<Value = Lives> {
    let fault = prop_oneof![
        4 => Just(Fault::None),
        2 => Just(Fault::DeviceError),
        1 => Just(Fault::Unsupported),
        1 => Just(Fault::LiesAboutSize),
        1 => Just(Fault::LiesAboutSamples),
        1 => Just(Fault::LiesAboutSign),
        1 => Just(Fault::LacksPixel),
        3 => Just(Fault::Dies),
    ];
    prop::collection::vec((fault, 0u32..6, 0u64..400), 1..4).prop_map(VecDeque::from)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// One worker lives on; the others may be late, die, lie, fail and be started again, up to three times each.
    #[test]
    fn a_thousand_random_schedules_leave_the_film_of_one_device(
        others in prop::collection::vec(lives(), 0..4),
        steady in 0u64..400,
        schedule in prop::sample::select(Schedule::ALL.to_vec()),
        cuts in prop::collection::vec(1u32..SPP, 0..3),
    ) {
        let mut all = others;
        all.push(VecDeque::from([(Fault::None, 0, steady)]));
        let mut together = group(all, options(schedule));
        together.load(&scene(), &SETTINGS).unwrap();
        let mut cuts = cuts;
        cuts.extend([0, SPP]);
        cuts.sort_unstable();
        for range in cuts.windows(2).filter(|w| w[0] < w[1]) {
            let report = together.accumulate(range[0]..range[1]).unwrap();
            prop_assert_eq!(report.extension_rays(), 30 * u64::from(range[1] - range[0]));
            prop_assert_eq!(film_of(&mut together).spp, range[1]);
        }
        prop_assert!(film_of(&mut together) == film_of_one_device(SPP));
    }
}

#[test]
fn a_hung_worker_is_dropped_and_its_lease_goes_to_another() {
    let lives = |fault| VecDeque::from([(fault, 1, 100)]);
    // Otherwise the other may be done before this one is there
    let all = Options { start: Start::All, ..options(Schedule::Guided) };
    let mut together = group(vec![lives(Fault::Hangs), lives(Fault::None)], all);
    together.load(&scene(), &SETTINGS).unwrap();
    together.accumulate(0..SPP).unwrap();
    assert_eq!(film_of(&mut together), film_of_one_device(SPP));
    let notes = together.take_notes();
    assert!(
        notes.iter().any(|note| note.target == "fake@0" && note.text.contains("not been heard")),
        "{notes:?}"
    );
    assert!(together.timeline().intervals.iter().any(|i| i.outcome == Outcome::Lost));
}

#[test]
fn workers_whose_films_are_broken_are_lost_with_the_reason() {
    let reasons = [
        (Fault::LiesAboutSign, "negative sums"),
        (Fault::LacksPixel, "696 bytes were sent; 720 were expected"),
    ];
    for (fault, reason) in reasons {
        let lives = |fault| VecDeque::from([(fault, 1, 100)]);
        let all = Options { start: Start::All, ..options(Schedule::Guided) };
        let mut together = group(vec![lives(fault), lives(Fault::None)], all);
        together.load(&scene(), &SETTINGS).unwrap();
        together.accumulate(0..SPP).unwrap();
        assert_eq!(film_of(&mut together), film_of_one_device(SPP));
        let notes = together.take_notes();
        assert!(notes.iter().any(|note| note.target == "fake@0" && note.text.contains(reason)), "{notes:?}");
    }
}

#[test]
fn a_worker_that_hangs_while_it_loads_is_dropped() {
    let lives = |fault| VecDeque::from([(fault, 1, 100)]);
    let all = Options { start: Start::All, silence: SILENCE / 15, ..options(Schedule::Guided) };
    let mut together = group(vec![lives(Fault::HangsLoading), lives(Fault::None)], all);
    together.load(&scene(), &SETTINGS).unwrap();
    together.accumulate(0..SPP).unwrap();
    assert_eq!(film_of(&mut together), film_of_one_device(SPP));
    let notes = together.take_notes();
    assert!(
        notes.iter().any(|note| note.target == "fake@0" && note.text.contains("not been heard")),
        "{notes:?}"
    );
}

#[test]
fn a_hung_worker_does_not_hold_up_a_schedule_with_backups() {
    let lives = |fault| VecDeque::from([(fault, 1, 100)]);
    let patient =
        Options { start: Start::All, silence: Duration::from_secs(60), ..options(Schedule::GuidedBackup) };
    let mut together = group(vec![lives(Fault::Hangs), lives(Fault::None)], patient);
    together.load(&scene(), &SETTINGS).unwrap();
    together.accumulate(0..SPP).unwrap();
    assert_eq!(film_of(&mut together), film_of_one_device(SPP));
}

#[test]
fn when_all_workers_are_lost_the_error_names_each_and_the_checkpoint_resumes_to_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("render.film");
    let checkpoint = Checkpoint { path: path.clone(), every: Duration::ZERO, note: serde_json::json!("how") };
    let with_checkpoint = Options { checkpoint: Some(checkpoint), ..options(Schedule::Demand) };
    let dies = || VecDeque::from([(Fault::DeviceError, 5, 0)]);
    let mut together = group(vec![dies(), dies()], with_checkpoint.clone());
    together.load(&scene(), &SETTINGS).unwrap();
    let error = together.render(&SampleSet::from(0..SPP), &mut |_| true).unwrap_err().to_string();
    assert!(
        error.contains("fake@0") && error.contains("fake@1") && error.contains("illegal address"),
        "{error}"
    );
    drop(together);

    let (part, note) = read_film_file(&path).unwrap();
    assert_eq!(note, serde_json::json!("how"));
    let there = part.samples().clone();
    assert!(!there.is_empty() && there.len() < u64::from(SPP), "{there}");
    let mut together = group(vec![VecDeque::from([(Fault::None, 0, 0)])], with_checkpoint);
    together.load(&scene(), &SETTINGS).unwrap();
    together.restore(part).unwrap();
    let rest = SampleSet::from(0..SPP).without(&there);
    assert!(matches!(together.render(&rest, &mut |_| true).unwrap(), Ended::Done(_)));
    assert_eq!(film_of(&mut together), film_of_one_device(SPP));
    assert_eq!(read_film_file(&path).unwrap().0.film(), &film_of_one_device(SPP));
}

#[test]
fn a_worker_that_joins_while_the_render_runs_takes_its_share() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let open = Options { listen: Some(socket.clone()), ..options(Schedule::Demand) };
    let mut together = group(vec![VecDeque::from([(Fault::None, 0, 2000)])], open);
    together.load(&scene(), &SETTINGS).unwrap();
    let late = std::thread::spawn(move || {
        let stream = UnixStream::connect(socket).unwrap();
        let info = DeviceInfo { target: "late".into(), exact: true, ..DeviceInfo::default() };
        let (inner, delay) = (NullRenderer::new(), Duration::from_millis(1));
        let (fault, passes_left) = (Fault::None, 0);
        let own = stream.try_clone().unwrap();
        let mut renderer = Faulty { inner, info, delay, fault, passes_left, stream: own };
        serve(&stream, "test", &mut renderer, &|| false)
    });
    together.accumulate(0..SPP).unwrap();
    assert_eq!(film_of(&mut together), film_of_one_device(SPP));
    assert!(together.timeline().busy("late") > 0.0, "{:?}", together.timeline());
    drop(together);
    late.join().unwrap().unwrap();
}

#[test]
fn a_worker_that_leaves_finishes_what_it_has_begun() {
    let (stop, asked) = (Arc::new(std::sync::atomic::AtomicBool::new(false)), Duration::from_millis(5));
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("socket");
    let open = Options { listen: Some(socket.clone()), ..options(Schedule::Demand) };
    let mut together = group(vec![VecDeque::from([(Fault::None, 0, 1000)])], open);
    together.load(&scene(), &SETTINGS).unwrap();
    let flag = Arc::clone(&stop);
    let worker = std::thread::spawn(move || {
        let stream = UnixStream::connect(socket).unwrap();
        let info = DeviceInfo { target: "guest".into(), exact: true, ..DeviceInfo::default() };
        let (delay, own) = (Duration::from_millis(1), stream.try_clone().unwrap());
        let (inner, fault, passes_left) = (NullRenderer::new(), Fault::None, 0);
        let mut renderer = Faulty { inner, info, delay, fault, passes_left, stream: own };
        serve(&stream, "test", &mut renderer, &|| flag.load(std::sync::atomic::Ordering::SeqCst))
    });
    let asker = std::thread::spawn(move || {
        std::thread::sleep(asked * 4);
        stop.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    together.accumulate(0..SPP).unwrap();
    asker.join().unwrap();
    assert_eq!(film_of(&mut together), film_of_one_device(SPP));
    let timeline = together.timeline();
    assert!(timeline.committed("guest") > 0, "{timeline:?}");
    assert_eq!(timeline.wasted(), 0, "{timeline:?}");
    drop(together);
    worker.join().unwrap().unwrap();
}

#[test]
fn workers_of_another_version_and_inexact_ones_are_refused_by_name() {
    let others = Options { semantics: "newer".into(), ..options(Schedule::default()) };
    let mut together = group(vec![VecDeque::from([(Fault::None, 0, 0)])], others);
    let error = together.load(&scene(), &SETTINGS).unwrap_err().to_string();
    assert!(error.contains("another version"), "{error}");
}
