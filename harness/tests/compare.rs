//! Images of other programs, compared in a report.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use std::path::Path;

use lockstep_reports::image_io::codecs::encode_png_rgba8;
use lockstep_reports::image_io::{ImageMetadata, LinearImage, write_exr, write_png};
use support::{count, expect, records};

/// A picture with some structure, `bright` times as bright as the plain one.
fn image(width: u32, bright: f32) -> LinearImage {
    LinearImage::from_fn(width, 20, |x, y| [0.02 * bright * x as f32, 0.3, 0.01 * ((x * y) % 17) as f32])
}

fn put(folder: &Path, name: &str, image: &LinearImage) {
    std::fs::create_dir_all(folder).unwrap();
    let (path, nothing) = (folder.join(name), ImageMetadata::default());
    if name.ends_with(".pfm") {
        let header = format!("PF\n{} {}\n-1.0\n", image.width(), image.height());
        let rows = image.pixels().chunks(image.width() as usize).rev().flatten().flatten();
        let bytes: Vec<u8> = rows.flat_map(|v| v.to_le_bytes()).collect();
        std::fs::write(path, [header.into_bytes(), bytes].concat()).unwrap();
    } else if name.ends_with(".png") {
        write_png(&path, image, &nothing).unwrap();
    } else {
        write_exr(&path, image, &nothing).unwrap();
    }
}

const COMPARE: [&str; 5] = ["compare", "ours", "theirs", "-o", "out"];

#[test]
fn folders_of_two_programs_become_a_report_with_maps() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    put(&ours, "hall.cpu-bvh.4spp.exr", &noisy(1.0, 1));
    put(&ours, "hall.cpu-bvh.8spp.exr", &noisy(1.0, 1));
    put(&ours, "kitchen.png", &image(24, 1.0));
    put(&theirs, "hall.mitsuba.4spp.pfm", &noisy(1.2, 2));
    let (out, err) = expect(dir.path(), &COMPARE, 1);
    assert!(out.contains("cpu-bvh and mitsuba differ by more than noise"), "{out}");
    assert!(err.contains("cpu-bvh of hall is skipped") && err.contains("at 8 spp"), "{err}");
    assert!(err.contains("ours of kitchen is skipped"), "{err}");
    let folder = dir.path().join("out");
    let found = records(&folder);
    assert_eq!((count(&found, "difference"), count(&found, "map"), count(&found, "skip")), (1, 3, 2));
    for file in ["report.html", "summary.md", "images/hall.cpu-bvh.mitsuba.4spp.s0.flip.png"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let summary = std::fs::read_to_string(folder.join("summary.md")).unwrap();
    assert!(summary.contains("HDR-FLIP between targets") && summary.contains("kitchen"), "{summary}");
}

#[test]
fn equal_images_of_any_format_are_equal_and_the_report_can_be_replaced() {
    let dir = tempfile::tempdir().unwrap();
    for seed in ["", ".s1"] {
        put(&dir.path().join("ours"), &format!("hall.a.4spp{seed}.exr"), &image(24, 1.0));
        put(&dir.path().join("theirs"), &format!("hall.b.4spp{seed}.pfm"), &image(24, 1.0));
    }
    expect(dir.path(), &COMPARE, 0);
    assert_eq!(count(&records(&dir.path().join("out")), "difference"), 2);
    let (_, err) = expect(dir.path(), &COMPARE, 4);
    assert!(err.contains("--fresh"), "{err}");
    expect(dir.path(), &[&COMPARE[..], &["--fresh"]].concat(), 0);
}

#[test]
fn black_images_are_said_to_be_black_before_they_are_equal() {
    let dir = tempfile::tempdir().unwrap();
    let black = LinearImage::from_fn(8, 8, |_, _| [0.0; 3]);
    put(dir.path(), "a.exr", &black);
    put(dir.path(), "b.exr", &black);
    let (out, _) = expect(dir.path(), &["compare", "a.exr", "b.exr"], 0);
    assert!(out.starts_with("a.exr and b.exr: both are black; every value is equal"), "{out}");
}

#[test]
fn sizes_that_differ_end_with_three_and_are_named() {
    let dir = tempfile::tempdir().unwrap();
    put(&dir.path().join("ours"), "hall.a.4spp.exr", &image(24, 1.0));
    put(&dir.path().join("theirs"), "hall.b.4spp.exr", &image(25, 1.0));
    let (_, err) = expect(dir.path(), &COMPARE, 3);
    assert!(err.contains("24×20 and 25×20"), "{err}");
    assert!(dir.path().join("out/report.html").is_file());
}

#[test]
fn sides_without_a_common_image_end_with_three() {
    let dir = tempfile::tempdir().unwrap();
    put(&dir.path().join("ours"), "hall.a.4spp.exr", &image(24, 1.0));
    put(&dir.path().join("theirs"), "kitchen.b.4spp.exr", &image(24, 1.0));
    let (_, err) = expect(dir.path(), &COMPARE, 3);
    assert!(err.contains("no image in common") && !dir.path().join("out").exists(), "{err}");
    expect(dir.path(), &COMPARE[..3], 3);
}

#[test]
fn two_files_are_compared_whatever_they_are_called() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "before.png", &image(24, 1.0));
    put(dir.path(), "after.exr", &image(24, 1.2));
    let (out, _) = expect(dir.path(), &["compare", "before.png", "after.exr", "-o", "out", "--json"], 1);
    let verdict: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(verdict["targets"], serde_json::json!(["before.png", "after.exr"]));
    assert_eq!(
        (&verdict["pairs"][0]["worst"]["verdict"], &verdict["good"]),
        (&"biased".into(), &false.into())
    );
    assert!(
        verdict["pairs"][0]["worst"]["reason"]
            .as_str()
            .unwrap()
            .starts_with("before.png is darker than after.exr")
    );
    assert!(
        dir.path().join("out/images/before.before%2Epng.after%2Eexr.0spp.p.png").is_file(),
        "p-value map"
    );
}

#[test]
fn two_files_get_the_verdict_that_folders_get() {
    for (bright, code, verdict) in [(1.0, 0, "within noise"), (1.2, 1, "biased")] {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "a.exr", &noisy(1.0, 1));
        put(dir.path(), "b.exr", &noisy(bright, 2));
        let (out, _) = expect(dir.path(), &["compare", "a.exr", "b.exr"], code);
        assert!(out.contains(&format!("a.exr and b.exr: {verdict} over one seed: ")), "{out}");
        assert!(out.contains("MSE, 8-bit sRGB"), "{out}");
        let (out, _) = expect(dir.path(), &["compare", "a.exr", "b.exr", "--json"], code);
        let found: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(found["verdict"], verdict);
        assert!(found["p"].is_number() && found["place"]["width"].is_number() && found["mse"].is_number());
        put(&dir.path().join("ours"), "hall.a.4spp.exr", &noisy(1.0, 1));
        put(&dir.path().join("theirs"), "hall.b.4spp.exr", &noisy(bright, 2));
        let (out, _) = expect(dir.path(), &COMPARE[..3], code);
        assert!(out.contains(&format!("hall: a and b at 4 spp: {verdict}")), "{out}");
    }
}

#[test]
fn rounding_of_a_file_is_no_bias() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "before.png", &image(24, 1.0));
    put(dir.path(), "after.exr", &image(24, 1.0));
    let (out, _) = expect(dir.path(), &["compare", "before.png", "after.exr"], 0);
    assert!(out.contains("within noise") && out.contains("rounded to 8-bit codes"), "{out}");
}

#[test]
fn what_cannot_be_told_ends_with_six_and_says_what_would_tell() {
    let dir = tempfile::tempdir().unwrap();
    let plain = image(64, 1.0);
    let spiky = LinearImage::from_fn(64, 20, |x, y| {
        let rare =
            (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).wrapping_mul(0x9e37_79b1) >> 24 < 5;
        plain.pixels()[(y * 64 + x) as usize].map(|v| if rare { 26.0 * (0.2 + v) } else { 0.5 * (0.2 + v) })
    });
    put(dir.path(), "spiky.exr", &spiky);
    put(
        dir.path(),
        "calm.exr",
        &LinearImage::from_fn(64, 20, |x, y| plain.pixels()[(y * 64 + x) as usize].map(|v| 0.2 + v)),
    );
    let (out, _) = expect(dir.path(), &["compare", "spiky.exr", "calm.exr"], 6);
    assert!(out.contains("inconclusive") && out.contains("would decide"), "{out}");
    assert!(out.contains("stand out"), "{out}");
}

#[test]
fn a_value_that_is_not_finite_in_one_seed_is_broken_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..3 {
        put(&dir.path().join("ours"), &format!("hall.a.4spp.s{seed}.exr"), &noisy(1.0, seed));
        let theirs = noisy(1.0, seed + 100);
        let holed = LinearImage::from_fn(64, 20, |x, y| {
            if (x, y, seed) == (5, 6, 1) { [f32::NAN; 3] } else { theirs.pixels()[(y * 64 + x) as usize] }
        });
        put(&dir.path().join("theirs"), &format!("hall.b.4spp.s{seed}.exr"), &holed);
    }
    let (out, _) = expect(dir.path(), &[&COMPARE[..], &["--json"]].concat(), 1);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&found["good"], &found["pairs"][0]["worst"]["verdict"]), (&false.into(), &"broken".into()));
    let headline = found["headline"].as_str().unwrap();
    assert!(headline.contains("Broken") && headline.contains("not finite"), "{headline}");
    assert!(headline.contains("theirs/hall.b.4spp.s1.exr, from pixel 5,6 on"), "{headline}");
    let summary = std::fs::read_to_string(dir.path().join("out/summary.md")).unwrap();
    assert!(summary.contains("broken over 3 seeds"), "{summary}");
    let all = records(&dir.path().join("out"));
    let of_seed_1 = all.iter().find(|(key, r)| key.contains("difference") && r.contains("\"seed\":1"));
    assert!(of_seed_1.is_some_and(|(_, r)| r.contains("\"mse\":\"nan\"")), "{of_seed_1:?}");
}

#[test]
fn findings_gate_ci_and_known_failures_pass_until_their_day() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.exr", &noisy(1.0, 1));
    put(dir.path(), "b.exr", &noisy(1.2, 2));
    let files = ["compare", "a.exr", "b.exr", "--junit", "j.xml", "--markdown", "m.md"];
    expect(dir.path(), &files, 1);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(read("j.xml").contains("failures=\"1\"") && read("j.xml").contains("a.exr : b.exr"));
    assert!(read("m.md").contains("❌ Images: 1 compared, 1 failed") && read("m.md").contains("biased"));
    let entry =
        "[[failure]]\nscene = \"a\"\ntarget = \"b.exr\"\nreason = \"the sky\"\nexpires = 9999-01-01\n";
    std::fs::write(dir.path().join("e.toml"), entry).unwrap();
    let (out, _) = expect(dir.path(), &[&files[..], &["--expectations", "e.toml"]].concat(), 0);
    assert!(out.contains("known until 9999-01-01: the sky"), "{out}");
    put(dir.path(), "b.exr", &noisy(1.0, 2));
    let (out, _) = expect(dir.path(), &[&files[..], &["--expectations", "e.toml"]].concat(), 1);
    assert!(out.contains("delete its entry"), "{out}");
}

#[test]
fn four_seeds_are_compared_with_one_reference_and_the_noise_of_both_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 0..4 {
        put(&dir.path().join("ours"), &format!("hall.a.4spp.s{seed}.exr"), &noisy(1.0, seed));
    }
    put(&dir.path().join("theirs"), "hall.b.4spp.exr", &noisy(1.0, 100));
    let (out, _) = expect(dir.path(), &COMPARE[..3], 0);
    assert!(out.contains("4 seeds against one seed"), "{out}");
    assert!(out.contains("same variance"), "{out}");
}

#[test]
fn what_is_not_compared_has_a_row_and_is_no_pass() {
    let dir = tempfile::tempdir().unwrap();
    put(&dir.path().join("ours"), "hall.a.4spp.exr", &noisy(1.0, 1));
    put(&dir.path().join("theirs"), "hall.b.4spp.exr", &noisy(1.0, 2));
    put(&dir.path().join("ours"), "kitchen.a.4spp.exr", &noisy(1.0, 3));
    let files = ["compare", "ours", "theirs", "--junit", "j.xml", "--markdown", "m.md"];
    let (out, _) = expect(dir.path(), &files, 3);
    assert!(out.contains("hall: a and b at 4 spp: within noise"), "{out}");
    assert!(out.contains("kitchen: a: not compared: side B has nothing to compare it with"), "{out}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let (junit, markdown) = (read("j.xml"), read("m.md"));
    assert!(junit.contains("tests=\"2\"") && junit.contains("failures=\"1\""), "{junit}");
    assert!(markdown.contains("❌ Images: 1 compared, 0 failed, 1 not compared"), "{markdown}");
    assert!(markdown.contains("| ❌ | kitchen | a | not compared |"), "{markdown}");
    let (out, _) = expect(dir.path(), &["compare", "ours", "theirs", "--json"], 3);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&found[0]["scene"], &found[0]["verdict"]), (&"kitchen".into(), &"not compared".into()));
    let entry =
        "[[failure]]\nscene = \"kitchen\"\ntarget = \"a\"\nreason = \"to come\"\nexpires = 9999-01-01\n";
    std::fs::write(dir.path().join("e.toml"), entry).unwrap();
    expect(dir.path(), &[&files[..], &["--expectations", "e.toml"]].concat(), 0);
    assert!(read("m.md").contains("✅ Images: 1 compared, 0 failed, 1 not compared"));
}

#[test]
fn images_of_other_sizes_fail_in_ci_and_the_turn_between_them_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let upright = noisy(1.0, 1);
    put(dir.path(), "a.exr", &upright);
    let lying = LinearImage::from_fn(20, 64, |x, y| upright.pixels()[(x * 64 + y) as usize]);
    put(dir.path(), "b.exr", &lying);
    let files = ["compare", "a.exr", "b.exr", "--junit", "j.xml", "--markdown", "m.md"];
    let (_, err) = expect(dir.path(), &files, 3);
    assert!(err.contains("64×20 and 20×64; probably b.exr is a.exr transposed"), "{err}");
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(read("j.xml").contains("tests=\"1\"") && read("j.xml").contains("failures=\"1\""));
    assert!(read("m.md").contains("❌ Images: 0 compared, 0 failed, 1 not compared"), "{}", read("m.md"));
}

/// Writes a PNG of [`image`] with this alpha in its left half.
fn put_alpha(path: &Path, alpha: u8) {
    let plain = image(64, 1.0);
    let codes: Vec<u8> = plain.to_srgb8();
    let pixel = |i: usize| {
        let code = &codes[3 * i..3 * i + 3];
        [code[0], code[1], code[2], if i % 64 < 32 { alpha } else { 255 }]
    };
    let pixels: Vec<u8> = (0..64 * 20).flat_map(pixel).collect();
    std::fs::write(path, encode_png_rgba8((64, 20), pixels).unwrap()).unwrap();
}

#[test]
fn alpha_is_compared_and_is_one_where_a_file_has_none() {
    let dir = tempfile::tempdir().unwrap();
    put_alpha(&dir.path().join("half.png"), 128);
    put_alpha(&dir.path().join("less.png"), 100);
    put(dir.path(), "opaque.png", &image(64, 1.0));
    put_alpha(&dir.path().join("one.png"), 255);
    for other in ["less.png", "opaque.png", "one.png"] {
        let (out, _) = expect(dir.path(), &["compare", "half.png", other], 1);
        assert!(out.contains("half image: ") && out.contains("every value is equal"), "{out}");
        assert!(out.contains("half A: ") && out.contains(": biased over one seed"), "{out}");
    }
    expect(dir.path(), &["compare", "half.png", "half.png"], 0);
    let (out, _) = expect(dir.path(), &["compare", "one.png", "opaque.png"], 0);
    assert!(!out.contains("half A"), "alpha of 1 is none: {out}");
    let (out, _) = expect(dir.path(), &["compare", "half.png", "less.png", "--layer", "alpha"], 1);
    assert!(!out.contains("half image"), "{out}");
}

#[test]
fn folders_of_one_file_a_layer_are_asked_for_one() {
    let dir = tempfile::tempdir().unwrap();
    for (side, bright) in [("ours", 1.0), ("theirs", 1.2)] {
        put(&dir.path().join(side), "image.exr", &noisy(1.0, 1));
        put(&dir.path().join(side), "depth.exr", &noisy(bright, 2));
    }
    let (out, _) = expect(dir.path(), &["compare", "ours", "theirs", "--layer", "depth"], 1);
    assert!(out.contains("depth: ") && out.contains("mean relative error: "), "{out}");
    assert!(!out.contains("image: "), "{out}");
    let (_, err) = expect(dir.path(), &["compare", "ours", "theirs", "--layer", "albedo"], 3);
    assert!(err.contains("no image has a layer albedo"), "{err}");
    expect(dir.path(), &COMPARE, 1);
    let summary = std::fs::read_to_string(dir.path().join("out/summary.md")).unwrap();
    assert!(summary.contains("mean relative error: "), "{summary}");
}

/// [`image`] with noise that a seed selects.
fn noisy(bright: f32, seed: u32) -> LinearImage {
    let plain = image(64, bright);
    LinearImage::from_fn(64, 20, |x, y| {
        plain.pixels()[(y * 64 + x) as usize].map(|value| {
            let mixed = (x + 64 * y + 1280 * seed).wrapping_mul(0x9e37_79b1) ^ value.to_bits();
            let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
            0.2 + value + 0.05 * ((mixed ^ (mixed >> 13)) >> 8) as f32 / (1 << 24) as f32
        })
    })
}

#[test]
fn several_seeds_separate_noise_from_bias() {
    for (bright, code, verdict) in [(1.0, 0, "within noise"), (1.2, 1, "biased")] {
        let dir = tempfile::tempdir().unwrap();
        for seed in 0..4 {
            let name = |target: &str| format!("hall.{target}.4spp.s{seed}.exr");
            put(&dir.path().join("ours"), &name("a"), &noisy(1.0, seed));
            put(&dir.path().join("theirs"), &name("b"), &noisy(bright, seed + 100));
        }
        expect(dir.path(), &COMPARE, code);
        let found = records(&dir.path().join("out"));
        assert_eq!((count(&found, "difference"), count(&found, "noise")), (4, 6), "{bright}");
        let expected = format!("\"verdict\":\"{verdict}\"");
        assert!(
            found.iter().any(|(key, r)| key.contains("difference") && r.contains(&expected)),
            "{found:?}"
        );
        let summary = std::fs::read_to_string(dir.path().join("out/summary.md")).unwrap();
        assert!(summary.contains(&format!("{verdict} over 4 seeds")), "{summary}");
        assert!(summary.contains("a ratio of") && summary.contains("same variance"), "{summary}");
    }
}
