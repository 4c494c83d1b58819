//! A machine without Embree gets a reason and a remedy. Nothing in this file loads it.

use std::path::PathBuf;

use lockstep_core::{Backend, Error, OpenOptions};
use lockstep_cpu::embree::library::{SearchPath, VARIABLE, load_from, loaded};
use lockstep_cpu::{Cpu, EMBREE_TARGET};

#[test]
fn the_error_names_the_library_every_place_and_the_remedy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let program = folder.path().join("bin");
    let error = load_from(vec![SearchPath::Data(data.clone()), SearchPath::Program(program.clone())])
        .expect_err("neither folder exists");
    let message = error.to_string();
    assert!(message.contains("libembree4") || cfg!(windows), "{message}");
    assert!(message.contains(&*data.to_string_lossy()), "{message}");
    assert!(message.contains(&*program.to_string_lossy()), "{message}");
    assert!(message.contains("run `lockstep setup`"), "{message}");
    assert_eq!(error.misses.len(), 2);
    assert_eq!(loaded(), None);
}

#[test]
fn the_error_for_a_named_library_names_the_variable() {
    let named = PathBuf::from("/no/such/libembree4.so.4");
    let error = load_from(vec![SearchPath::Named(named)]).expect_err("no such file");
    assert!(error.remedy().contains("LOCKSTEP_EMBREE"), "{error}");
    assert!(error.to_string().contains("/no/such/libembree4.so.4"), "{error}");
}

#[test]
fn a_broken_library_is_told_apart_from_a_missing_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let empty = load_from(vec![SearchPath::Data(folder.path().into())]).expect_err("an empty folder");
    assert_eq!(empty.misses[0].reason, "no Embree 4 there");
    std::fs::write(folder.path().join("libembree4.so.4"), "not a library").expect("a file");
    let broken = load_from(vec![SearchPath::Data(folder.path().into())]).expect_err("a text file");
    assert!(broken.misses[0].reason.contains("libembree4.so.4"), "{broken}");
}

/// Runs itself once more with a library named that does not exist, since a process may not change its own
/// environment while other threads read it.
#[test]
fn the_target_is_listed_as_absent_and_refuses_to_open() {
    const NAMED: &str = "/no/such/libembree4.so.4";
    if std::env::var(VARIABLE).as_deref() != Ok(NAMED) {
        let this = std::env::current_exe().expect("this program");
        let name = "the_target_is_listed_as_absent_and_refuses_to_open";
        let again = std::process::Command::new(this).args(["--exact", name]).env(VARIABLE, NAMED).output();
        let again = again.expect("this program runs");
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
        return;
    }
    let targets = Cpu.targets();
    let embree = targets.iter().find(|target| target.name == EMBREE_TARGET).expect("always listed");
    let unavailable = embree.state.as_ref().expect_err("no such file");
    assert!(
        unavailable.reason.contains("libembree4") && unavailable.reason.contains(NAMED),
        "{unavailable:?}"
    );
    assert!(
        unavailable.remedy.contains("`lockstep setup`") && unavailable.remedy.ends_with('.'),
        "{unavailable:?}"
    );
    match Cpu.open(EMBREE_TARGET, &OpenOptions::default()) {
        Err(Error::Unavailable { what, remedy }) => {
            assert_eq!((&what, &remedy), (&unavailable.reason, &unavailable.remedy));
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("opened without its library"),
    }
}
