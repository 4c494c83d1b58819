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
        out.contains("pixels differ, 8-bit MSE ") && out.contains("settings from 16x12, 2 spp, 3 bounces"),
        "{out}"
    );
    expect(dir.path(), &CHECK, 0);
}

#[test]
fn a_golden_of_russian_roulette_is_checked_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let longer = [&BLESS[..], &["--bounces", "6"]].concat();
    expect(dir.path(), &[&longer[..], &["--roulette", "1"]].concat(), 0);
    let (out, _) = expect(dir.path(), &CHECK, 0);
    assert!(out.contains("identical"), "{out}");
    let (out, _) = expect(dir.path(), &longer, 0);
    assert!(out.contains("pixels differ") && out.contains("6 bounces, roulette from 1"), "{out}");
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
    let (image, attributes) = (read_image(&path).unwrap(), read_exr_metadata(&path).unwrap());
    let mut pixels = image.pixels().to_vec();
    let lit = pixels.iter().position(|p| p[1] > 0.0).unwrap();
    pixels[lit][1] = pixels[lit][1].next_up();
    let other = LinearImage::new(image.width(), image.height(), pixels).unwrap();
    let keep = |m: ImageMetadata, (key, value): (&String, &String)| {
        m.with(key.strip_prefix("lockstep.").unwrap_or(key), value)
    };
    write_exr(&path, &other, &attributes.iter().fold(ImageMetadata::default(), keep)).unwrap();
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
    for file in ["images/cornell.null.2spp.exr", "report.html", "junit.xml", "golden.md", "golden.json"] {
        assert!(dir.path().join("failed").join(file).exists(), "{file}");
    }
}

fn expectation(dir: &std::path::Path, target: &str, expires: &str) {
    let text = format!(
        "[[failure]]\nscene = \"cornell\"\ntarget = \"{target}\"\nreason = \"known to fail\"\nexpires = {expires}\n"
    );
    std::fs::write(dir.join("g/expectations.toml"), text).unwrap();
}

#[test]
fn a_known_failure_passes_until_its_last_day_and_a_pass_that_was_not_expected_fails() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &BLESS, 0);
    let null = ["golden", "check", "cornell", "-b", "null", "--goldens", "g"];
    expectation(dir.path(), "null", "9999-12-31");
    let (out, _) = expect(dir.path(), &null, 0);
    assert!(out.contains("known failure") && out.contains("known to fail"), "{out}");
    expectation(dir.path(), "null", "2020-01-01");
    let (out, _) = expect(dir.path(), &null, 1);
    assert!(out.contains("EXPIRED") && out.contains("until 2020-01-01"), "{out}");
    let (out, _) = expect(dir.path(), &CHECK, 1);
    assert!(out.contains("cornell on null was tolerated until 2020-01-01"), "{out}");
    expectation(dir.path(), "cpu-bvh", "9999-12-31");
    let (out, _) = expect(dir.path(), &CHECK, 1);
    assert!(out.contains("PASSES UNEXPECTEDLY"), "{out}");
}

#[test]
fn a_missing_golden_fails_even_where_a_failure_is_expected() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("g")).unwrap();
    expectation(dir.path(), "cpu-bvh", "9999-12-31");
    expect(dir.path(), &CHECK, 3);
}

#[test]
fn a_malformed_list_of_known_failures_is_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &BLESS, 0);
    expectation(dir.path(), "null", "soon");
    let (_, err) = expect(dir.path(), &CHECK, 4);
    assert!(err.contains("expectations.toml"), "{err}");
}

#[test]
fn findings_are_written_for_ci_systems_pull_requests_and_programs() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &BLESS, 0);
    let check = ["golden", "check", "cornell", "-b", "cpu-bvh,null", "--goldens", "g", "--json"];
    let (out, _) = expect(dir.path(), &[&check[..], &["--junit", "j.xml", "--markdown", "s.md"]].concat(), 1);
    let findings: serde_json::Value = serde_json::from_str(&out).unwrap();
    let command = findings[1]["look_into_it"].as_str().unwrap();
    assert_eq!((&findings[0]["passed"], &findings[1]["passed"]), (&true.into(), &false.into()));
    assert!(command.starts_with("lockstep trace cornell -b cpu-bvh,null --pixel "), "{command}");
    assert!(command.ends_with("--size 16x12 --bounces 3 --seed 0"), "{command}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let (xml, markdown) = (read("j.xml"), read("s.md"));
    assert!(xml.contains("tests=\"2\"") && xml.contains("failures=\"1\"") && xml.contains(command), "{xml}");
    assert!(markdown.contains("2 checked, 1 failed") && markdown.contains(command), "{markdown}");
}

#[test]
fn a_dry_run_shows_what_would_change_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (out, _) = expect(dir.path(), &[&BLESS[..], &["--dry-run"]].concat(), 0);
    assert!(out.contains("new golden") && !out.contains("blessed"), "{out}");
    assert!(!dir.path().join("g").exists());
}
