//! Fuzzing of what workers send, up to the film in the coordinator, and of what coordinators send, up to the renderer.

use super::*;
use crate::pool::Launch;
use crate::wire::{Order, PROTOCOL, Report, send};
use crate::worker::serve;
use lockstep_core::SceneBuilder;
use lockstep_core::film::InvalidSamples;
use lockstep_core::null::NullRenderer;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;

const SETTINGS: Settings = Settings { width: 2, height: 1, ..Settings::DEFAULT };

/// Sums of a film of that size.
const SUMS: [[i64; 3]; 2] = [[1, 2, 3], [4, 5, 6]];

/// Starts no workers: the only one joins by itself.
struct Nobody;

impl Launcher for Nobody {
    fn launch(&self, _: usize) -> std::result::Result<Launch, String> {
        Err("there are none".into())
    }
}

/// A coordinator with a scene, of a group without workers.
fn coordinator() -> Together {
    let info = DeviceInfo { target: "together(fake)".into(), exact: true, ..DeviceInfo::default() };
    let options = Options {
        schedule: Schedule::GuidedBackup,
        start: Start::First,
        silence: Duration::from_secs(60),
        checkpoint: None,
        semantics: "test".into(),
        listen: None,
    };
    let mut together = Together::new(info, &[], Box::new(Nobody), options).unwrap();
    let scene = SceneBuilder::new("empty").build().unwrap();
    assert!(together.load(&scene, &SETTINGS).is_err(), "it has no workers");
    together
}

/// The reports of a worker that renders two leases of one sample each.
fn reports() -> Vec<Report> {
    let device = DeviceInfo { target: "fake@0".into(), exact: true, ..DeviceInfo::default() };
    let hello =
        Report::Hello { protocol: PROTOCOL, semantics: "test".into(), device: device.into(), films: None };
    let mut reports = vec![hello, Report::Loaded { load: 1, report: LoadReport::default() }];
    for lease in 0..2 {
        let invalid = InvalidSamples { clamped: 1, ..InvalidSamples::default() };
        let bounces = vec![lockstep_core::BounceCounts { extension_rays: 2, ..Default::default() }];
        let report = PassReport { bounces, invalid, ..PassReport::default() };
        let (spp, end, seconds, in_memory) = (1, lease as u32 + 1, 0.5, false);
        reports.push(Report::Progress { lease, samples: 1 });
        reports.push(Report::Rendered { lease, end, seconds, report });
        reports.push(Report::Film { lease, width: 2, height: 1, spp, invalid, in_memory });
    }
    reports.push(Report::Leave);
    reports
}

/// Lines of reports as a stream; films have a payload.
fn framed(lines: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let is_film = line.windows(6).any(|word| word == b"\"film\"");
        let payload: &[u8] = if is_film { bytemuck::cast_slice(&SUMS) } else { &[] };
        stream.extend((line.len() as u64).to_ne_bytes());
        stream.extend((payload.len() as u64).to_ne_bytes());
        stream.extend([line, payload].concat());
    }
    stream
}

/// A pass of which one worker sends a stream: what the coordinator says of it, and the samples that it took.
fn outcome(together: &mut Together, stream: &[u8]) -> String {
    together.clear().unwrap();
    together.begin_pass(SampleSet::from(0..4));
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    together.add_worker("joined".into(), None, ours, None);
    // The coordinator may have hung up before the end.
    let _ = theirs.write_all(stream);
    let _ = theirs.shutdown(std::net::Shutdown::Write);
    loop {
        let event = together.events.recv_timeout(Duration::from_secs(15)).expect("the stream ends");
        let is_end = matches!(event, Event::Closed { .. });
        together.handle(event, &mut |_| true);
        together.grant_leases();
        if is_end {
            break;
        }
    }
    let pass = together.pass.take().unwrap();
    let samples = pass.scheduler.committed().len();
    let loaded = together.loaded.as_ref().unwrap();
    loaded.merger.settle();
    let mut film = Film::new(2, 1).unwrap();
    loaded.merger.read(&mut film);
    assert_eq!(u64::from(film.spp), samples, "the film lacks samples");
    assert!(together.workers.is_empty());
    let notes: String = together.take_notes().into_iter().map(|note| format!("{}; ", note.text)).collect();
    format!("{notes}{samples} samples, {} rays", pass.report.extension_rays())
}

#[test]
fn reports_of_workers_are_survived() {
    let lines: Vec<String> = reports().iter().map(|report| serde_json::to_string(report).unwrap()).collect();
    let mut stream = Vec::new();
    for report in &reports() {
        let sums: &[[i64; 3]] = if matches!(report, Report::Film { .. }) { &SUMS } else { &[] };
        send(&mut stream, report, sums).unwrap();
    }
    let lines = lines.join("\n").into_bytes();
    assert_eq!(framed(&lines), stream);
    let mut together = coordinator();
    let whole = outcome(&mut together, &stream);
    assert!(whole.contains("it left; 2 samples, 4 rays"), "{whole}");
    let words = [
        "\"hello\":",
        "\"loaded\":",
        "\"progress\":",
        "\"rendered\":",
        "\"film\":",
        "\"failed\":{\"reason\":\"\",\"lasting\":false}",
        "\"leave\"",
        "\"lease\":",
        "\"samples\":",
        "\"seconds\":",
        "\"in_memory\":true",
        "{\"reserved\":{\"pixels\":1}}",
        "65535",
        "-1",
        "null",
        "{",
        "}",
        "\n",
    ];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/reports");
    let fuzz =
        lockstep_fuzz::Fuzz { name: "reports", seeds: &[stream, lines], corpus: &corpus, words: &words };
    let together = std::cell::RefCell::new(together);
    let report = fuzz.run_part(2, |bytes| {
        let mut together = together.borrow_mut();
        // As they are, and with lengths that hold, for what lies behind them
        let plain = outcome(&mut together, bytes);
        format!("{plain}; {}", outcome(&mut together, &framed(bytes)))
    });
    assert!(report.outcomes > 1, "{report:?}");
}

/// Answer of a worker to a stream: the kinds of its reports, and its error.
fn answer(stream: &[u8]) -> String {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut reading = ours.try_clone().unwrap();
    let reports = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = reading.read_to_end(&mut bytes);
        bytes
    });
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || serve(&theirs, "test", &mut NullRenderer::new(), &|| false));
        let _ = ours.write_all(stream);
        let _ = ours.shutdown(std::net::Shutdown::Write);
        let ended = worker.join().expect("a worker that does not panic");
        let reports = reports.join().expect("all reports");
        let kinds = ["loaded", "progress", "rendered", "\"film\"", "failed"];
        let has = |kind: &&str| reports.windows(kind.len()).any(|word| word == kind.as_bytes());
        let said: Vec<&str> = kinds.into_iter().filter(has).collect();
        format!("{said:?} {}", ended.map_or_else(|error| error.to_string(), |()| "stopped".into()))
    })
}

#[test]
fn orders_to_workers_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scene");
    let scene = SceneBuilder::new("empty").build().unwrap();
    std::fs::write(&file, scene.pack()).unwrap();
    let orders = [
        Order::Load { scene: file.clone(), hash: scene.hash.clone(), settings: SETTINGS, load: 1 },
        Order::ShareFilms,
        Order::Lease { lease: 0, start: 0, end: 2, seconds: None },
        Order::Extend { lease: 0, end: 4 },
        Order::FilmTaken,
        Order::Lease { lease: 1, start: 4, end: 5, seconds: Some(0.5) },
        Order::Stop,
    ];
    let lines: Vec<String> = orders.iter().map(|order| serde_json::to_string(order).unwrap()).collect();
    let lines = lines.join("\n").into_bytes();
    assert!(answer(&framed(&lines)).contains("loaded"), "{}", answer(&framed(&lines)));
    let words = [
        "\"share_films\"",
        "\"film_taken\"",
        "\"stop\"",
        "{\"extend\":{\"lease\":0,\"end\":4294967295}}",
        "\"lease\":",
        "\"start\":",
        "\"end\":",
        "\"seconds\":-1",
        "\"settings\":",
        "\"width\":",
        "\"max_bounces\":",
        "65535",
        "65536",
        "4294967295",
        "null",
        "\n",
    ];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/orders");
    let seeds = [framed(&lines), lines];
    let fuzz = lockstep_fuzz::Fuzz { name: "orders", seeds: &seeds, corpus: &corpus, words: &words };
    let of_this_run = |text: String| text.replace(&file.display().to_string(), "");
    let report = fuzz.run_part(4, |bytes| {
        // With lengths that hold, unless they are there
        of_this_run(answer(if bytes.starts_with(b"{") { framed(bytes) } else { bytes.to_vec() }.as_slice()))
    });
    assert!(report.outcomes > 1, "{report:?}");
}
