//! Every way in which driver, devices and compiler can be unfit, told by a driver made for this test.
//!
//! One test in a process of its own, since it decides which libraries the process opens. Skipped where there
//! is no C compiler; what needs NVRTC is skipped where there is none.

#![allow(clippy::unwrap_used, clippy::panic)]

use lockstep_conformance::{require, scenes};
use lockstep_core::{Backend, Error, Mode, OpenOptions, Settings, TargetStatus, Unavailable};
use lockstep_cuda::{Cuda, Version, loader, nvrtc};
use std::path::Path;
use std::process::Command;

fn set(name: &str, value: &str) {
    // SAFETY: this test has the process to itself.
    unsafe { std::env::set_var(name, value) };
}

fn unset(name: &str) {
    // SAFETY: this test has the process to itself.
    unsafe { std::env::remove_var(name) };
}

/// The one target there is, which is absent.
fn unavailable() -> Unavailable {
    let targets = Cuda.targets();
    assert_eq!(targets.len(), 1);
    assert_eq!(targets[0].name, "cuda");
    targets[0].state.clone().unwrap_err()
}

/// Builds the driver; `None` without a compiler.
fn driver(folder: &Path) -> Option<String> {
    let library = folder.join("libfake.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/fake_driver.c");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    if !status.is_ok_and(|status| status.success()) {
        require::skip(&"There is no C compiler to build a driver with. Install one that runs as `cc`.");
        return None;
    }
    library.to_str().map(str::to_owned)
}

#[test]
fn an_unfit_driver_device_or_compiler_is_unavailable_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let Some(driver) = driver(folder.path()) else { return };
    let compiler = nvrtc::any();
    if let Ok(compiler) = &compiler {
        let Version { major, minor } = compiler.version;
        set("FAKE_VERSION", &(1000 * major + 10 * minor).to_string());
    }
    set(loader::VARIABLE, &driver);
    set("LOCKSTEP_HOME", folder.path().to_str().unwrap());

    drivers_that_do_not_start();
    devices_without_a_compiler(folder.path());
    let compiler = compiler.map_err(|unavailable| format!("{}. {}", unavailable.reason, unavailable.remedy));
    if let Some(compiler) = require::present("nvrtc", compiler) {
        devices_with_a_compiler(&compiler);
    }
}

fn drivers_that_do_not_start() {
    let cases =
        [("100", "no device", "nvidia-smi"), ("803", "different versions", "Restart"), ("999", "999", "log")];
    for (code, reason, remedy) in cases {
        set("FAKE_INIT", code);
        let unavailable = unavailable();
        assert!(
            unavailable.reason.contains(reason) && unavailable.remedy.contains(remedy),
            "{unavailable:?}"
        );
    }
    unset("FAKE_INIT");
    set("FAKE_COUNT", "0");
    assert!(unavailable().reason.contains("offers no device"));
    unset("FAKE_COUNT");
}

fn devices_without_a_compiler(folder: &Path) {
    let named = folder.join("no-nvrtc.so");
    let kept = std::env::var(nvrtc::VARIABLE).ok();
    set(nvrtc::VARIABLE, named.to_str().unwrap());
    let targets = Cuda.targets();
    assert_eq!(targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["cuda@0", "cuda@1"]);
    for TargetStatus { state, .. } in targets {
        let unavailable = state.unwrap_err();
        assert!(unavailable.reason.contains("no-nvrtc.so"), "{unavailable:?}");
        assert!(unavailable.remedy.contains("lockstep setup nvrtc"), "{unavailable:?}");
    }
    assert!(matches!(Cuda.open("cuda@1", &OpenOptions::default()), Err(Error::Unavailable { .. })));
    match kept {
        Some(kept) => set(nvrtc::VARIABLE, &kept),
        None => unset(nvrtc::VARIABLE),
    }
}

fn devices_with_a_compiler(compiler: &nvrtc::Compiler) {
    let newest = compiler.capabilities.iter().max().copied().unwrap();
    let known = |capability: u32| {
        set("FAKE_CAPABILITY", &capability.to_string());
        Cuda.targets().remove(1).state
    };
    let info = known(newest).unwrap();
    assert_eq!((info.target.to_string().as_str(), info.device.as_str()), ("cuda@1", "Fake 41"));
    assert_eq!((info.backend.as_str(), info.compute_units, info.exact), ("cuda", 132, true));
    assert!(info.compiler.ends_with(&format!("for sm_{newest}")), "{}", info.compiler);
    assert!(known(newest + 10).unwrap().compiler.ends_with(&format!("for compute_{newest}")));
    let unavailable = known(20).unwrap_err();
    assert!(unavailable.reason.contains("no longer knows"), "{unavailable:?}");

    set("FAKE_CAPABILITY", &newest.to_string());
    let refuses = |refused: Result<(), Error>| {
        let Err(Error::Device { actor, reason, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(actor, "cuda@0", "the plain name is the first device");
        assert!(reason.starts_with("InvalidPtx: the driver cannot run what NVRTC made"), "{reason}");
    };
    // Exact arithmetic is proven when a target is opened, which takes a kernel; the fast build is opened without.
    refuses(Cuda.open("cuda", &OpenOptions::default()).map(drop));
    let fast = OpenOptions { mode: Mode::Fast, ..OpenOptions::default() };
    let mut renderer = Cuda.open("cuda", &fast).unwrap();
    assert_eq!(renderer.device().target, "cuda@0".into());
    let settings = Settings { mode: Mode::Fast, ..Settings::default() };
    refuses(renderer.load(&scenes::everything().unwrap(), &settings).map(drop));
    assert!(matches!(Cuda.open("cuda@7", &OpenOptions::default()), Err(Error::Unavailable { .. })));
}
