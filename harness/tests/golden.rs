//! Goldens, from blessing to failing.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

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
fn blessing_shows_what_changes() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &BLESS, 0);
    let (out, _) = expect(dir.path(), &[&BLESS[..], &["--bounces", "1", "--seed", "9"]].concat(), 0);
    assert!(
        out.contains("pixels differ, 8-bit MSE ") && out.contains("settings from 16x12 2 spp, 3 bounces"),
        "{out}"
    );
    expect(dir.path(), &CHECK, 0);
}

#[test]
fn a_damaged_golden_is_bad_input_and_can_be_blessed_again() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &BLESS, 0);
    std::fs::write(dir.path().join("g/cornell/golden.exr"), "no image").unwrap();
    let (_, err) = expect(dir.path(), &CHECK, 4);
    assert!(err.contains("golden.exr"), "{err}");
    let (out, _) = expect(dir.path(), &BLESS, 0);
    assert!(out.contains("cannot be used"), "{out}");
    expect(dir.path(), &CHECK, 0);
}

#[test]
fn one_bit_in_one_pixel_fails_with_one() {
    use lockstep_reports::image_io::{ImageMetadata, LinearImage, read_exr_metadata, read_image, write_exr};
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &BLESS, 0);
    let path = dir.path().join("g/cornell/golden.exr");
    let (image, facts) = (read_image(&path).unwrap(), read_exr_metadata(&path).unwrap());
    let mut pixels = image.pixels().to_vec();
    let lit = pixels.iter().position(|p| p[1] > 0.0).unwrap();
    pixels[lit][1] = pixels[lit][1].next_up();
    let other = LinearImage::new(image.width(), image.height(), pixels).unwrap();
    let keep = |m: ImageMetadata, (key, value): (&String, &String)| {
        m.with(key.strip_prefix("lockstep.").unwrap_or(key), value)
    };
    write_exr(&path, &other, &facts.iter().fold(ImageMetadata::default(), keep)).unwrap();
    let (out, _) = expect(dir.path(), &CHECK, 1);
    assert!(out.contains("DIFFERS") && out.contains("1 pixels"), "{out}");
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
