//! Goldens, from blessing to failing.

mod support;

use support::{expect, finish, lockstep};

const BLESS: [&str; 9] = ["golden", "bless", "cornell", "--goldens", "g", "--size", "16x12", "--spp", "2"];
const CHECK: [&str; 7] = ["golden", "check", "cornell", "-b", "cpu-bvh", "--goldens", "g"];

#[test]
fn a_missing_golden_fails_with_three_and_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let (out, _) = expect(dir.path(), &CHECK, 3);
    assert!(out.contains("MISSING") && out.contains("golden bless"), "{out}");
    assert!(!dir.path().join("g").exists());
}

#[test]
fn a_blessed_image_passes_and_says_how_it_was_made() {
    let dir = tempfile::tempdir().unwrap();
    let (out, _) = expect(dir.path(), &BLESS, 0);
    assert!(out.contains("new golden"), "{out}");
    let (out, _) = expect(dir.path(), &CHECK, 0);
    assert!(out.contains("identical"), "{out}");
    let text = std::fs::read_to_string(dir.path().join("g/cornell/golden.txt")).unwrap();
    for fact in
        ["command: lockstep golden bless", "commit: ", "kernel-hash: ", "device: ", "date: ", "16x12, 2 spp"]
    {
        assert!(text.contains(fact), "{fact} is not in\n{text}");
    }
    let (out, _) = expect(dir.path(), &BLESS, 0);
    assert!(out.contains("nothing changes"), "{out}");
}

#[test]
fn another_image_fails_with_one_and_blessing_it_shows_the_change() {
    let dir = tempfile::tempdir().unwrap();
    let other = [&BLESS[..], &["--seed", "9"]].concat();
    expect(dir.path(), &other, 0);
    // The golden's own settings count, so it is its pixels that have to be wrong.
    let golden = dir.path().join("g/cornell/golden.exr");
    expect(dir.path(), &CHECK, 0);
    expect(dir.path(), &[&BLESS[..], &["--bounces", "1", "--seed", "9"]].concat(), 0);
    let (out, _) = expect(dir.path(), &other, 0);
    assert!(out.contains("pixels differ") && out.contains("settings from"), "{out}");
    std::fs::write(&golden, "no image").unwrap();
    let (_, err) = expect(dir.path(), &CHECK, 4);
    assert!(err.contains("golden.exr"), "{err}");
}

#[test]
fn goldens_are_not_blessed_in_ci() {
    let dir = tempfile::tempdir().unwrap();
    let (code, _, err) = finish(lockstep(dir.path(), &BLESS).env("CI", "true").output().unwrap());
    assert_eq!(code, 2);
    assert!(err.contains("CI") && !dir.path().join("g").exists(), "{err}");
}

#[test]
fn a_target_without_a_promise_makes_no_golden() {
    let dir = tempfile::tempdir().unwrap();
    let (_, err) = expect(dir.path(), &[&BLESS[..], &["-b", "null"]].concat(), 2);
    assert!(err.contains("does not promise"), "{err}");
}

#[test]
fn a_target_that_renders_something_else_fails_and_its_image_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &BLESS, 0);
    let check = ["golden", "check", "cornell", "-b", "null", "--goldens", "g", "-o", "failed"];
    let (out, _) = expect(dir.path(), &check, 1);
    assert!(out.contains("DIFFERS"), "{out}");
    assert!(dir.path().join("failed/cornell.null-actual.exr").exists());
}
