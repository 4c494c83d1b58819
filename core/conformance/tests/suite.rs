//! The suite as a test program of a backend with a device that is here and one that is not: results, skips
//! and failures.

use libtest_mimic::{Arguments, Failed, Trial};
use lockstep_conformance::{Suite, require};
use lockstep_core::film::Film;
use lockstep_core::null::NullRenderer;
use lockstep_core::scene::Scene;
use lockstep_core::{
    Backend, DeviceInfo, Error, LoadReport, OpenOptions, PassReport, Renderer, Result, Settings,
    TargetStatus, Unavailable,
};
use std::ops::Range;
use std::process::{Command, ExitCode};

/// Set in the process that plays the backend's test program.
const PLAYS: &str = "LOCKSTEP_CONFORMANCE_PLAYS";

fn main() -> ExitCode {
    let plays = std::env::var_os(PLAYS).is_some();
    if plays {
        return Suite { backend: &Made, reference: None, probes: None, scenes: None }.run_as_tests();
    }
    let tests = vec![
        Trial::test("a_device_that_is_absent_is_skipped_with_its_reason", absent_is_skipped),
        Trial::test("a_device_that_is_required_and_absent_is_a_failure", required_is_a_failure),
        Trial::test("a_broken_promise_is_a_failure_that_names_it", broken_promise_is_a_failure),
        Trial::test("a_crash_fails_its_check_alone", crash_fails_its_check_alone),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Runs the program with a filter: its success and its standard output.
fn play(required: &str, filter: &str) -> std::result::Result<(bool, String), Failed> {
    let mut this = Command::new(std::env::current_exe()?);
    this.args(["--color=never", filter]).env(PLAYS, "1").env(require::VARIABLE, required);
    let output = this.output()?;
    Ok((output.status.success(), String::from_utf8(output.stdout)?))
}

fn absent_is_skipped() -> std::result::Result<(), Failed> {
    let (passes, out) = play("other@gone", "gone::contract::renders_one_pixel")?;
    assert!(passes, "{out}");
    assert!(
        out.contains(
            "test made@gone::contract::renders_one_pixel ... ignored (it was taken out. Put it in.)"
        )
    );
    assert!(out.contains("0 passed; 0 failed; 1 ignored"), "{out}");
    let (passes, out) = play("", "here::contract::renders_one_pixel")?;
    assert!(passes && out.contains("1 passed; 0 failed; 0 ignored"), "{out}");
    let (_, out) = play("", "here::contract::recorded_paths_are")?;
    assert!(out.contains("ignored (null: recording paths is not supported)"), "{out}");
    Ok(())
}

fn required_is_a_failure() -> std::result::Result<(), Failed> {
    for (required, filter) in [
        ("made@gone", "gone::contract::renders_one_pixel"),
        ("made@never", "made@never"),
        ("made@gone", "is_present"),
    ] {
        let (passes, out) = play(required, filter)?;
        assert!(!passes && out.contains("0 passed; 1 failed; 0 ignored"), "{out}");
        assert!(out.contains(&format!("LOCKSTEP_REQUIRE names {required}, which is missing")), "{out}");
    }
    let (passes, out) = play("made@here", "here::contract::renders_one_pixel")?;
    assert!(passes, "{out}");
    Ok(())
}

fn broken_promise_is_a_failure() -> std::result::Result<(), Failed> {
    let (passes, out) = play("", "forgetful::contract::any_split")?;
    assert!(!passes && out.contains("0..64 equals the split"), "{out}");
    Ok(())
}

fn crash_fails_its_check_alone() -> std::result::Result<(), Failed> {
    let (passes, out) = play("", "crashing::contract::re")?;
    assert!(!passes && out.contains("the process of this check ended with signal: 6"), "{out}");
    assert!(out.contains("1 passed; 5 failed"), "{out}");
    Ok(())
}

/// A backend with a sound device, one that forgets a sample, one whose driver crashes, and one that is absent.
struct Made;

impl Backend for Made {
    fn name(&self) -> &'static str {
        "made"
    }

    fn targets(&self) -> Vec<TargetStatus> {
        let unavailable = Unavailable { reason: "it was taken out".into(), remedy: "Put it in.".into() };
        let status = |name: &str, state| TargetStatus { name: name.into(), state };
        vec![
            status("made@here", Ok(DeviceInfo::default())),
            status("made@forgetful", Ok(DeviceInfo::default())),
            status("made@crashing", Ok(DeviceInfo::default())),
            status("made@gone", Err(unavailable)),
        ]
    }

    fn open(&self, target: &str, _options: &OpenOptions) -> Result<Box<dyn Renderer>> {
        let sound = NullRenderer::new();
        match target {
            "made@here" => Ok(Box::new(sound)),
            "made@forgetful" => Ok(Box::new(Faulty { sound, accumulate: forget })),
            "made@crashing" => Ok(Box::new(Faulty { sound, accumulate: crash })),
            _ => Err(Error::Unavailable { what: "it was taken out".into(), remedy: "Put it in.".into() }),
        }
    }
}

/// A renderer with a fault.
struct Faulty {
    sound: NullRenderer,
    accumulate: fn(&mut NullRenderer, Range<u32>) -> Result<PassReport>,
}

/// Renders the first sample of a range over and over.
fn forget(sound: &mut NullRenderer, samples: Range<u32>) -> Result<PassReport> {
    let first = samples.start..samples.start + 1;
    samples.map(|_| sound.accumulate(first.clone())).last().unwrap_or_else(|| sound.accumulate(0..0))
}

/// Ends the process instead of rendering.
fn crash(sound: &mut NullRenderer, samples: Range<u32>) -> Result<PassReport> {
    if samples.is_empty() { sound.accumulate(samples) } else { std::process::abort() }
}

impl Renderer for Faulty {
    fn device(&self) -> &DeviceInfo {
        self.sound.device()
    }

    fn load(&mut self, scene: &Scene, settings: &Settings) -> Result<LoadReport> {
        self.sound.load(scene, settings)
    }

    fn accumulate(&mut self, samples: Range<u32>) -> Result<PassReport> {
        (self.accumulate)(&mut self.sound, samples)
    }

    fn read(&mut self, film: &mut Film) -> Result<()> {
        self.sound.read(film)
    }
}
