//! Studies: what they leave, and that nothing short of a full disk loses it.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use lockstep_reports::image_io::{
    ImageMetadata, LinearImage, read_exr_metadata, read_image, read_png_metadata, srgb, write_image,
};
use support::{count, expect, finish, lockstep, records, run, study};

#[test]
fn stages_of_an_integrator_that_merges_are_told_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let words =
        ["study", "cornell", "-b", "cpu-bvh", "--integrator", "vcm", "--spp", "1..2", "--size", "16x16"];
    expect(dir.path(), &[&words[..], &["-o", "s"]].concat(), 0);
    let folder = dir.path().join("s");
    let names = |record: &serde_json::Value| -> Vec<String> {
        let stages = record["stages"].as_array().unwrap();
        stages.iter().map(|stage| stage["name"].as_str().unwrap().to_owned()).collect()
    };
    let log = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let records = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let timings: Vec<_> = records.filter(|record| record["kind"] == "timing").collect();
    let stages = ["generate", "extend", "shade", "connect", "photon map", "merge"];
    assert!(timings.len() == 2 && timings.iter().all(|timing| names(timing) == stages), "{timings:?}");
    let table = std::fs::read_to_string(folder.join("tables/timing.csv")).unwrap();
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (titles, cells) = (lines.next().unwrap(), lines.next().unwrap());
    let merge = titles.iter().position(|title| *title == "Merge ms").unwrap();
    assert!(cells[merge].parse::<f64>().unwrap() > 0.0, "{table}");
    assert!(std::fs::read_to_string(folder.join("records.csv")).unwrap().contains(",merge_ms,"));
    assert!(std::fs::read_to_string(folder.join("plots/stages.svg")).unwrap().contains("photon map"));
}

#[test]
fn a_study_leaves_every_documented_file_and_record() {
    let dir = tempfile::tempdir().unwrap();
    let (out, _) = expect(dir.path(), &study(&["--seeds", "2", "--repeats", "2", "-o", "s"]), 0);
    assert!(out.contains("report.html"), "{out}");
    let folder = dir.path().join("s");
    for name in ["records.jsonl", "records.csv", "environment.json", "summary.md", "report.html"] {
        assert!(folder.join(name).metadata().unwrap().len() > 0, "{name}");
    }
    for spp in [1, 2, 4, 8] {
        for kind in ["exr", "png"] {
            assert!(folder.join(format!("images/cornell.cpu-bvh.{spp}spp.{kind}")).exists());
        }
    }
    let records = records(&folder);
    // Four levels; timings for two seeds and two repeats each; films and convergence once a seed.
    assert_eq!(count(&records, "timing"), 4 * 2 * 2);
    assert_eq!(count(&records, "convergence"), 4 * 2);
    assert_eq!(count(&records, "film"), 4 * 2);
    assert_eq!((count(&records, "load"), count(&records, "bounce")), (1, 4 * 4));
    assert_eq!(count(&records, "noise"), 4);
    let converged = records.iter().find(|(key, _)| key.starts_with("\"convergence\"")).unwrap().1;
    assert!(converged.contains("cpu-bvh, 128 spp, seed "), "16 times the last level: {converged}");
}

#[test]
fn a_tuning_leaves_a_page_with_every_configuration_and_is_resumed_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let asked = "tune furnace -b cpu-bvh --spp 2 --repeats 3 --size 40x24 --threads=1 --no-setup -o s";
    let asked: Vec<&str> = asked.split(' ').collect();
    let (out, _) = expect(dir.path(), &asked, 0);
    assert!(out.contains("exact configurations on 1 target: films identical to the bit"), "{out}");
    let folder = dir.path().join("s");
    let before = records(&folder);
    // Seven configurations, the default twice a round.
    assert_eq!(count(&before, "tune"), 3 * 8);
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    for variant in ["wavefront/tile=8", "wavefront/scanline", "wavefront/octants", "wavefront, again (A/A)"] {
        assert!(page.contains(variant), "{variant}");
    }
    let (_, err) = expect(dir.path(), &asked, 0);
    assert!(err.contains("resuming the tuning"), "{err}");
    assert_eq!(records(&folder), before, "nothing is measured again");
}

#[test]
fn every_pair_is_compared_at_every_level() {
    let dir = tempfile::tempdir().unwrap();
    let study = [
        "study",
        "cornell",
        "-b",
        "cpu-bvh,null",
        "--spp",
        "1..4",
        "--size",
        "16x16",
        "--threads=1",
        "-o",
        "s",
    ];
    // `null` shows the sky alone, and the box has none.
    let (out, err) = expect(dir.path(), &study, 1);
    assert!(out.contains("null cannot record paths"), "why they differ is asked, and answered: {out}");
    assert!(
        err.contains(
            "cpu-bvh (A) and null (B) cannot be compared on cornell at 4 spp: B is black and A is not"
        ),
        "{err}"
    );
    let records = records(&dir.path().join("s"));
    assert_eq!((count(&records, "difference"), count(&records, "divergence")), (3, 1));
    assert_eq!(count(&records, "noise"), 2 * 3, "each against itself under another seed");
    let summary = std::fs::read_to_string(dir.path().join("s/summary.md")).unwrap();
    assert!(summary.contains("## Verdicts") && summary.contains("| broken |"), "{summary}");
}

#[test]
fn integrators_are_compared_as_targets_are_and_the_map_tells_which_wins_where() {
    let dir = tempfile::tempdir().unwrap();
    let asked = "study cornell -b cpu-bvh --integrators path,bpt --techniques --spp 1..4 --time 50ms --size 32x32 --threads=1 \
                 --no-setup -o s";
    let asked: Vec<&str> = asked.split_whitespace().collect();
    let (out, err) = expect(dir.path(), &asked, 0);
    assert!(out.contains("cpu-bvh+path and cpu-bvh+bpt agree within noise"), "{out}{err}");
    assert!(out.contains("of the time, and wins in"), "{out}");
    let folder = dir.path().join("s");
    let found = records(&folder);
    assert_eq!((count(&found, "efficiency"), count(&found, "equal_time")), (1, 2));
    assert!(folder.join("images/cornell.cpu-bvh+path.cpu-bvh+bpt.4spp.s0.efficiency.png").exists());
    // Every technique is shown, and all of them are the film
    assert_eq!(count(&found, "pyramid"), 1);
    let pyramid = found.iter().find(|(key, _)| key.starts_with("\"pyramid\"")).unwrap().1;
    assert!(pyramid.contains("\"adds_up\":true"), "{pyramid}");
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert_eq!(page.matches("<figure class=\"pyramid\">").count(), 1);
    let (_, err) = expect(dir.path(), &["study", "cornell", "--techniques"], 2);
    assert!(err.contains("has a single technique"), "{err}");
    // The image of one is that of a study by that integrator alone.
    let alone =
        "study cornell -b cpu-bvh --integrator bpt --spp 1..4 --size 32x32 --threads=1 --no-setup -o alone";
    expect(dir.path(), &alone.split_whitespace().collect::<Vec<_>>(), 0);
    let image =
        |study: &str, name: &str| read_image(&dir.path().join(study).join("images").join(name)).unwrap();
    assert_eq!(image("s", "cornell.cpu-bvh+bpt.4spp.exr"), image("alone", "cornell.cpu-bvh.4spp.exr"));
    assert_ne!(image("s", "cornell.cpu-bvh+path.4spp.exr"), image("alone", "cornell.cpu-bvh.4spp.exr"));
    let (_, err) = expect(dir.path(), &["study", "cornell", "--integrators", "path,pbt"], 2);
    assert!(err.contains("choose one of path, ao, light, bpt"), "{err}");
}

#[test]
fn the_heterogeneous_preset_measures_every_integrator_on_targets_and_sets_and_skips_scenes_that_are_not_here()
{
    let dir = tempfile::tempdir().unwrap();
    let asked = "study cornell kitchen --preset heterogeneous -b cpu-bvh --together cpu-bvh,cpu-bvh --time 20ms \
                 --reference-time 50ms --spp 1 --bounces 3 --size 16x16 --threads=1 -o s";
    let asked: Vec<&str> = asked.split_whitespace().collect();
    let study = || finish(lockstep(dir.path(), &asked).env("LOCKSTEP_SCENES", dir.path()).output().unwrap());
    let (code, out, err) = study();
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("scene kitchen is skipped") && err.contains("as kitchen/scene.pbrt"), "{err}");
    let found = records(&dir.path().join("s"));
    let counts = ["equal_time", "difference", "scaling", "crops", "sharing", "efficiency", "skip"];
    assert_eq!(counts.map(|kind| count(&found, kind)), [8, 4, 4, 1, 0, 0, 1]);
    let of_times = found.iter().filter(|(key, _)| key.starts_with("\"equal_time\""));
    let of_photons = found.iter().filter(|(_, record)| record.contains(r#""photon_map_bytes":"#));
    assert_eq!(of_photons.count(), 4, "of bpm and vcm, on a target and a set");
    assert!(of_times.into_iter().all(|(_, record)| record.contains("+vcm, ")), "against vcm: {found:?}");
    for heading in ["Integrators after equal time", "Speed-up by device over cpu-bvh", "Speed-up by threads"]
    {
        assert!(out.contains(heading), "{heading}: {out}");
    }
    assert!(out.contains("| together(cpu-bvh,cpu-bvh) |"), "{out}");
    let page = std::fs::read_to_string(dir.path().join("s/report.html")).unwrap();
    for shown in ["cornell: error after 0.02 s", "Speed-up by device", "What each integrator sees"] {
        assert!(page.contains(shown), "{shown}");
    }
    study();
    assert_eq!(records(&dir.path().join("s")), found, "nothing is measured again");
    let (code, _, err) = run(dir.path(), &[&asked[..], &["--against", "cuda"]].concat());
    assert!(code == 2 && err.contains("--against one of cpu-bvh, together(cpu-bvh,cpu-bvh)"), "{err}");
}

#[test]
fn instruments_are_recorded_once_and_stand_on_the_page_beside_what_ports_cost() {
    let dir = tempfile::tempdir().unwrap();
    let instruments = ["--repeats=3", "--time=5ms,50ms", "--scaling", "-o", "s"];
    let more = ["study", "cornell", "-b", "cpu-bvh", "--spp", "1..2", "--size=16x16", "--threads=3"];
    let study = [&more[..], &instruments].concat();
    expect(dir.path(), &study, 0);
    let folder = dir.path().join("s");
    let found = records(&folder);
    assert_eq!((count(&found, "aa_control"), count(&found, "equal_time")), (2 * 3, 2));
    let scaling: Vec<_> = found.iter().filter(|(key, _)| key.starts_with("\"scaling\"")).collect();
    assert_eq!(scaling.len(), 3, "1, 2 and 3 threads");
    assert!(scaling.iter().all(|(_, record)| record.contains(r#""identical":true"#)), "{scaling:?}");
    expect(dir.path(), &study, 0);
    assert_eq!(records(&folder), found, "nothing is measured again");
    for name in ["a.c", "b.c"] {
        std::fs::write(dir.path().join(name), "int x;\n").unwrap();
    }
    let cost = ["port", "cost", ".", "--place", "a:host=a.c", "--place", "b:device=b.c", "--into", "s"];
    expect(dir.path(), &cost, 0);
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    for heading in ["Times over rounds", "Error after equal time", "Thread scaling", "Cost of ports"] {
        assert!(page.contains(&format!("<h3>{heading}</h3>")), "{heading}");
    }
}

#[test]
fn a_study_against_a_kept_one_says_what_is_slower_and_diff_and_history_read_both() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let run = |args: &[&str], code: i32| {
        let done = lockstep(dir.path(), args).env("LOCKSTEP_HOME", &home).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        assert_eq!(done.status.code(), Some(code), "{args:?}\n{out}\n{err}");
        (out, err)
    };
    run(&study(&["--repeats", "6", "-o", "before", "--save-baseline", "main"]), 0);
    assert!(home.join("baselines/main/records.jsonl").is_file());

    // As many rounds as the baseline has, so that times have a verdict. A hundredfold time is never reached.
    let (_, err) = run(&study(&["--baseline", "main", "--fail-slower", "10000%", "-o", "after"]), 0);
    assert!(err.contains("Films: 4 of 4 unchanged."), "{err}");
    assert_eq!(count(&records(&dir.path().join("after")), "timing"), 4 * 6);
    let diff = std::fs::read_to_string(dir.path().join("after/diff.md")).unwrap();
    assert!(diff.contains("| cornell | cpu-bvh | total |") && diff.contains("| unchanged |"), "{diff}");

    let (_, err) = run(&study(&["--baseline", "main", "--bounces", "5", "-o", "other"]), 3);
    assert!(err.contains("5 bounces") && err.contains("same options"), "{err}");
    assert!(!dir.path().join("other").exists(), "nothing is rendered that cannot be compared");

    // The same study, so much slower that no noise of such short times hides it, and with another film.
    let slow = dir.path().join("slow");
    std::fs::create_dir(&slow).unwrap();
    std::fs::copy(dir.path().join("after/environment.json"), slow.join("environment.json")).unwrap();
    let lines = std::fs::read_to_string(dir.path().join("after/records.jsonl")).unwrap();
    let slower = lines.lines().map(|line| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        if record["kind"] == "timing" {
            record["total_ms"] = (1e4 * record["total_ms"].as_f64().unwrap()).into();
        }
        if record["kind"] == "film" && record["spp"] == 8 {
            record["hash"] = "0".into();
        }
        format!("{record}\n")
    });
    std::fs::write(slow.join("records.jsonl"), slower.collect::<String>()).unwrap();
    let (out, err) = run(&["diff", "main", "slow", "--fail-slower", "5%", "--markdown", "pr.md"], 1);
    assert!(out.contains("| slower |") && out.contains("| changed |"), "{out}");
    assert!(err.contains("cpu-bvh on cornell: slower"), "{err}");
    assert_eq!(std::fs::read_to_string(dir.path().join("pr.md")).unwrap(), out);
    run(&["diff", "main", "slow"], 0);

    // One round has no verdict, so a limit cannot be kept.
    run(&study(&["--repeats", "1", "--seeds", "1", "-o", "once"]), 0);
    let (_, err) = run(&["diff", "main", "once", "--fail-slower", "5%"], 6);
    assert!(err.contains("too few rounds") && err.contains("--repeats 3"), "{err}");

    let (out, _) = run(&["history", "main", "slow", "-o", "rates"], 0);
    assert!(out.contains("cpu-bvh") && out.contains("on cornell: "), "{out}");
    assert!(dir.path().join("rates/history.cornell.svg").is_file());
    let (_, err) = run(&["diff", "main", "absent"], 4);
    assert!(err.contains("--save-baseline"), "{err}");
}

#[test]
fn a_second_study_that_names_no_folder_goes_to_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &study(&[]), 0);
    let other = study(&["--bounces", "5"]);
    let (out, err) = expect(dir.path(), &other, 0);
    assert!(err.contains("study holds another study: bounces there 3, now 5"), "{err}");
    assert!(err.contains("This one goes to study-2") && out.contains("study-2/report.html"), "{err}{out}");
    let (_, err) = expect(dir.path(), &other, 0);
    assert!(err.contains("resuming the study in study-2"), "{err}");
}

/// The hashes of a study's films, in the order recorded.
fn films(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let films = records.filter(|record| record["kind"] == "film");
    films.map(|film| film["hash"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn images_of_a_finished_study_that_are_cut_short_are_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let same = study(&["-o", "s"]);
    expect(dir.path(), &same, 0);
    let recorded = films(&dir.path().join("s"));
    let images = dir.path().join("s/images");
    let whole =
        ["cornell.cpu-bvh.8spp.exr", "cornell.cpu-bvh.4spp.exr", "cornell.cpu-bvh.2spp.png"].map(|name| {
            let bytes = std::fs::read(images.join(name)).unwrap();
            std::fs::write(images.join(name), &bytes[..bytes.len() / 2]).unwrap();
            (name, bytes)
        });
    let (_, err) = expect(dir.path(), &["report", "s"], 0);
    assert_eq!(err.lines().count(), 3, "{err}");
    assert!(whole.iter().all(|(name, _)| err.contains(name)), "{err}");
    expect(dir.path(), &same, 0);
    let (_, err) = expect(dir.path(), &["report", "s"], 0);
    assert_eq!(err, "", "whole images of the recorded films get no warning");
    for (name, bytes) in whole {
        assert!(std::fs::read(images.join(name)).unwrap() == bytes, "{name}");
    }
    assert_eq!(films(&dir.path().join("s")), recorded, "no film is recorded twice");
}

/// Alters one pixel of an image by one step; its texts stay.
fn alter_a_pixel(path: &Path) {
    let is_png = path.extension().unwrap() == "png";
    let texts = if is_png { read_png_metadata(path) } else { read_exr_metadata(path) }.unwrap();
    let entries = texts.iter().filter_map(|(key, value)| Some((key.strip_prefix("lockstep.")?, value)));
    let metadata = entries.fold(ImageMetadata::default(), |all, (key, value)| all.with(key, value));
    let image = read_image(path).unwrap();
    let step =
        |v: f32| if is_png { srgb::decode8(srgb::encode8(v) ^ 1) } else { f32::from_bits(v.to_bits() ^ 1) };
    let mut pixels = image.pixels().to_vec();
    pixels[77][1] = step(pixels[77][1]);
    let altered = LinearImage::new(image.width(), image.height(), pixels).unwrap();
    assert_ne!(altered, image);
    write_image(path, &altered, &metadata).unwrap();
}

#[test]
fn a_single_altered_pixel_of_a_finished_study_is_told_and_its_image_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let same = study(&["-o", "s"]);
    expect(dir.path(), &same, 0);
    let images = ["cornell.cpu-bvh.4spp.exr", "cornell.cpu-bvh.4spp.png", "cornell.cpu-bvh.8spp.png"]
        .map(|name| (name, dir.path().join("s/images").join(name)));
    let whole = images.each_ref().map(|(_, path)| std::fs::read(path).unwrap());
    images.iter().for_each(|(_, path)| alter_a_pixel(path));
    let told = |name: &str, what: &str| {
        format!("lockstep: s/images/{name} was altered: its pixels are not those that were written; {what}")
    };
    let (_, err) = expect(dir.path(), &["report", "s"], 0);
    for (name, _) in &images {
        assert!(err.contains(&told(name, "the study makes it again when it is resumed")), "{err}");
    }
    let (_, err) = expect(dir.path(), &same, 0);
    for (name, _) in &images {
        assert_eq!(err.matches(&told(name, "it is made again")).count(), 1, "{err}");
    }
    assert_eq!(err.matches("made again").count(), 3, "{err}");
    for ((name, path), bytes) in images.iter().zip(whole) {
        assert!(std::fs::read(path).unwrap() == bytes, "{name}");
    }
    let (_, err) = expect(dir.path(), &same, 0);
    assert!(!err.contains("made again"), "{err}");
}

/// A finished study of targets that differ, with those of its images whose bytes are to come back.
struct Finished {
    dir: tempfile::TempDir,
    code: i32,
    command: Vec<&'static str>,
    images: Vec<(PathBuf, Vec<u8>)>,
}

impl Finished {
    /// Runs a study into the folder `s` and takes the images with names that are asked for.
    fn new(command: &'static str, is_asked: impl Fn(&str) -> bool) -> Self {
        Self::ending_with(1, command, is_asked)
    }

    /// Runs one with this exit code, otherwise as [`Finished::new`].
    fn ending_with(code: i32, command: &'static str, is_asked: impl Fn(&str) -> bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let command: Vec<&str> = command.split(' ').chain(["--threads=1", "-o", "s"]).collect();
        expect(dir.path(), &command, code);
        let all = std::fs::read_dir(dir.path().join("s/images")).unwrap().map(|entry| entry.unwrap().path());
        let images =
            all.filter(|path| is_asked(name(path))).map(|path| (path.clone(), std::fs::read(path).unwrap()));
        let images = images.collect();
        Self { dir, code, command, images }
    }

    fn has(&self, part: &str) -> bool {
        self.images.iter().any(|(path, _)| name(path).contains(part))
    }

    fn records(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("s/records.jsonl")).unwrap()
    }

    /// Cuts the images short, and then alters a pixel of each: a report names every one, and the study tells it once and
    /// makes it again with the same bytes.
    fn expect_all_made_again(&self) {
        let recorded = self.records();
        for spoil in [cut_short, alter_a_pixel] {
            self.images.iter().for_each(|(path, _)| spoil(path));
            let (_, err) = expect(self.dir.path(), &["report", "s"], 0);
            assert!(self.images.iter().all(|(path, _)| err.contains(name(path))), "{err}");
            let (_, err) = expect(self.dir.path(), &self.command, self.code);
            let told = |path: &Path| err.lines().filter(|line| line.contains(name(path))).count() == 1;
            assert!(self.images.iter().all(|(path, _)| told(path)), "{err}");
            assert_eq!(err.matches("it is made again").count(), self.images.len(), "{err}");
            for (path, bytes) in &self.images {
                assert!(std::fs::read(path).unwrap() == *bytes, "{}", path.display());
            }
            let (_, err) = expect(self.dir.path(), &self.command, self.code);
            assert!(!err.contains("made again"), "{err}");
        }
        assert!(self.records().starts_with(&recorded), "no record changes");
    }
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn cut_short(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn maps_of_a_finished_study_that_are_cut_short_or_altered_are_told_and_made_again() {
    let of_pair = "cornell.cpu-bvh.null.2spp.s0.";
    let study =
        Finished::new("study cornell -b cpu-bvh,null --spp 1..2 --size 16x16", |n| n.starts_with(of_pair));
    let quantities = ["flip.png", "flip-hdr.png", "difference.png"];
    assert!(study.images.len() == 3 && quantities.iter().all(|quantity| study.has(quantity)));
    study.expect_all_made_again();
}

#[test]
fn maps_over_integrators_and_seeds_that_are_cut_short_or_altered_are_told_and_made_again() {
    let command =
        "study cornell -b cpu-bvh,null --integrators path,bpt --spp 1..2 --size 16x16 --seeds 2 --techniques";
    let study = Finished::new(command, |n| {
        [".p.png", ".efficiency.png", ".techniques.weighted.png", ".techniques.unweighted.png"]
            .iter()
            .any(|end| n.ends_with(end))
    });
    for part in ["cpu-bvh+path.cpu-bvh+bpt.2spp.p", "2spp.s0.efficiency", ".techniques.unweighted"] {
        assert!(study.has(part), "{part}");
    }
    let verdicts = || study.records().matches("\"over_seeds\"").count();
    let before = verdicts();
    study.expect_all_made_again();
    assert_eq!(verdicts(), before);
}

#[test]
fn crops_after_equal_time_that_are_cut_short_or_altered_are_told_and_made_again() {
    let command = "study cornell -b cpu-bvh --integrators path,bpt --spp 1..2 --size 64x64 --time 50ms";
    let study = Finished::ending_with(0, command, |n| n.ends_with(".equal-time.png"));
    assert!(study.images.len() == 1 && study.has("cornell.cpu-bvh.equal-time"));
    study.expect_all_made_again();
    let (picture, bytes) = &study.images[0];
    std::fs::remove_file(picture).unwrap();
    expect(study.dir.path(), &study.command, 0);
    assert!(std::fs::read(picture).unwrap() == *bytes, "one that is lost is made again too");
}

#[test]
fn crops_of_another_reference_than_the_recorded_one_stay_as_they_are() {
    let command = "study cornell -b cpu-bvh --integrators path,bpt --spp 1..2 --size 64x64 --time 50ms";
    let study = Finished::ending_with(0, command, |n| n.ends_with(".equal-time.png"));
    let path = study.dir.path().join("s/records.jsonl");
    let recorded = study.records();
    let crops = |line: &str| line.starts_with("{\"kind\":\"crops\"");
    let other = |line: &str| match crops(line) {
        true => line.replace("\"against\":\"", "\"against\":\"once "),
        false => line.to_owned(),
    };
    std::fs::write(&path, recorded.lines().map(|line| other(line) + "\n").collect::<String>()).unwrap();
    let (picture, _) = &study.images[0];
    alter_a_pixel(picture);
    let altered = std::fs::read(picture).unwrap();
    let (_, err) = expect(study.dir.path(), &study.command, 0);
    assert!(err.contains("stays as it is") && err.contains("against once "), "{err}");
    assert!(std::fs::read(picture).unwrap() == altered);
}

#[test]
fn a_recorded_film_that_was_altered_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let same = study(&["-o", "s"]);
    expect(dir.path(), &same, 0);
    let path = dir.path().join("s/records.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let hash = &films(&dir.path().join("s"))[0];
    std::fs::write(&path, text.replace(hash, &hash.chars().rev().collect::<String>())).unwrap();
    let (_, err) = expect(dir.path(), &same, 4);
    assert!(err.contains("otherwise than s has recorded"), "{err}");
}

#[test]
fn a_folder_that_is_no_study_is_named_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let (_, err) = expect(dir.path(), &["report", "."], 4);
    assert!(err.contains(". is no study: it has no records.jsonl"), "{err}");
}

#[test]
fn a_study_that_is_done_is_not_done_again_and_a_changed_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let same = study(&["-o", "s"]);
    expect(dir.path(), &same, 0);
    let before = records(&dir.path().join("s"));
    let (_, err) = expect(dir.path(), &same, 0);
    assert!(err.contains("resuming the study in s"), "{err}");
    assert_eq!(records(&dir.path().join("s")), before);
    let (_, err) = expect(dir.path(), &study(&["-o", "s", "--bounces", "5"]), 2);
    assert!(err.contains("bounces there 3, now 5") && err.contains("--fresh"), "{err}");
    assert_eq!(records(&dir.path().join("s")), before);
    expect(dir.path(), &study(&["-o", "s", "--bounces", "5", "--fresh"]), 0);
    assert_ne!(records(&dir.path().join("s")), before);
}

#[test]
fn the_reference_is_cached_and_a_given_one_is_used() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &study(&["-o", "a"]), 0);
    let (_, err) = expect(dir.path(), &study(&["-o", "b"]), 0);
    assert!(err.contains("is from the cache"), "{err}");
    assert_eq!(records(&dir.path().join("a")), records(&dir.path().join("b")));
    let given = "a/images/cornell.cpu-bvh.8spp.exr";
    expect(dir.path(), &study(&["-o", "c", "--reference", given]), 0);
    let against = records(&dir.path().join("c"));
    let top =
        against.iter().find(|(key, _)| key.starts_with(r#""convergence" "cornell" "cpu-bvh" 8"#)).unwrap().1;
    assert!(top.contains(given) && top.contains(r#""mse":0.0"#), "it is compared with itself: {top}");
    let (_, err) = expect(dir.path(), &study(&["-o", "d", "--size=8x8", "--reference", given]), 3);
    assert!(err.contains("24x16") && err.contains("8x8"), "{err}");
}

#[test]
fn studies_killed_at_any_moment_leave_whole_files_and_end_like_undisturbed_ones() {
    let dir = tempfile::tempdir().unwrap();
    let common = [
        "study",
        "cornell",
        "-b",
        "cpu-bvh,null",
        "--spp",
        "1..64",
        "--size",
        "64x48",
        "--threads=1",
        // A machine under load must not choose another reference for the one run than for the other.
        "--reference-budget=1000",
        "--seeds",
        "2",
    ];
    let whole = [&common[..], &["-o", "whole"]].concat();
    let start = Instant::now();
    // 1, since `null` is not the box.
    expect(dir.path(), &whole, 1);
    let duration = start.elapsed();
    // The reference is not to be found in the cache, so that its rendering is interrupted too.
    std::fs::remove_dir_all(dir.path().join("cache")).unwrap();
    let killed = [&common[..], &["-o", "killed"]].concat();
    for share in [0.02, 0.1, 0.25, 0.4, 0.6, 0.8, 0.95] {
        let mut child =
            lockstep(dir.path(), &killed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(duration.mul_f64(share));
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
        check_whole(&dir.path().join("killed"));
    }
    expect(dir.path(), &killed, 1);
    check_whole(&dir.path().join("killed"));
    assert_eq!(records(&dir.path().join("killed")), records(&dir.path().join("whole")));
    let left = std::fs::read_dir(dir.path().join("killed")).unwrap().flatten();
    assert!(left.filter(|f| f.file_name().to_string_lossy().ends_with(".tmp")).count() == 0);
}

/// Every file in a study's folder is one that its program could read: all lines of the records but a torn
/// last one, all images, all JSON.
fn check_whole(study: &Path) {
    let Ok(entries) = std::fs::read_dir(study) else { return };
    for entry in
        entries.flatten().chain(std::fs::read_dir(study.join("images")).into_iter().flatten().flatten())
    {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if name == "records.jsonl" {
            lockstep_reports::records::read_records(&path).unwrap();
        } else if name.ends_with(".json") {
            serde_json::from_slice::<serde_json::Value>(&std::fs::read(&path).unwrap()).unwrap();
        } else if name.ends_with(".png") || name.ends_with(".exr") {
            lockstep_reports::image_io::read_image(&path).unwrap();
        } else if name == "report.html" {
            assert!(std::fs::read_to_string(&path).unwrap().trim_end().ends_with("</html>"));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_pass_and_leaves_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let study = [
        "study",
        "cornell",
        "-b",
        "cpu-bvh",
        "--spp",
        "1..65536",
        "--size",
        "32x32",
        "--threads=1",
        "-o",
        "s",
    ];
    let child = lockstep(dir.path(), &study).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_records(&dir.path().join("s/records.jsonl"), 3);
    interrupt(&child);
    let (code, out, err) = finish(child.wait_with_output().unwrap());
    assert_eq!(code, 130, "{out}{err}");
    assert!(err.contains("stopping after the current pass"), "{err}");
    assert!(dir.path().join("s/report.html").exists() && dir.path().join("s/summary.md").exists());
    let text = std::fs::read_to_string(dir.path().join("s/records.jsonl")).unwrap();
    assert!(text.contains("stopped by the user"), "{text}");
    check_whole(&dir.path().join("s"));
}

#[test]
fn a_summary_says_that_a_study_was_stopped_until_it_has_finished() {
    let dir = tempfile::tempdir().unwrap();
    expect(dir.path(), &study(&["-o", "s"]), 0);
    let (path, summary) = (dir.path().join("s/records.jsonl"), dir.path().join("s/summary.md"));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(!read(&summary).contains("note: finished"), "a study that nothing interrupted says nothing");
    // As Ctrl-C leaves it: without its last records, and with the remark.
    let lines = read(&path);
    let mut kept: Vec<&str> = lines.lines().collect();
    kept.truncate(kept.len() - 4);
    let stop =
        r#"{"kind":"note","text":"stopped by the user; the same command resumes it, 2026-01-31T12:00:00Z"}"#;
    kept.push(stop);
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();
    expect(dir.path(), &["report", "s"], 0);
    assert!(read(&summary).contains("note: stopped by the user"), "{}", read(&summary));
    expect(dir.path(), &study(&["-o", "s"]), 0);
    let summary = read(&summary);
    assert!(!summary.contains("stopped by the user") && !summary.contains("note: resumed"), "{summary}");
    assert!(read(&path).contains("stopped by the user"), "the records keep it");
}

fn wait_for_records(path: &Path, lines: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::fs::read_to_string(path).unwrap_or_default().lines().count() < lines {
        assert!(Instant::now() < deadline, "no records after a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn two_studies_cannot_write_to_one_folder() {
    let dir = tempfile::tempdir().unwrap();
    let long =
        ["study", "cornell", "-b", "cpu-bvh", "--spp", "65536", "--size", "32x32", "--threads=1", "-o", "s"];
    let mut first = lockstep(dir.path(), &long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !dir.path().join("s/records.jsonl").exists() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    let (_, err) = expect(dir.path(), &long, 4);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(err.contains("another lockstep writes to s"), "{err}");
}

#[test]
fn a_place_that_is_no_folder_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let (_, err) = expect(dir.path(), &study(&["-o", "file/s"]), 4);
    assert!(err.starts_with("lockstep: ") && err.contains("file/s"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_folder_and_a_full_disk_are_errors_that_name_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&dir.path().join("disk")) else {
        return lockstep_conformance::require::skip(&"A small disk needs the right to mount one.");
    };
    let (_, err) = expect(dir.path(), &study(&["-o", "disk/s", "--size=256x256"]), 4);
    assert!(err.contains("disk/s") && err.contains("free some space"), "{err}");
    let records = lockstep_reports::records::read_records(&dir.path().join("disk/s/records.jsonl"));
    assert!(records.is_ok(), "what was recorded stays readable");
    disk.make_read_only();
    let (_, err) = expect(dir.path(), &study(&["-o", "disk/t"]), 4);
    assert!(err.contains("disk/t") && err.contains("may write to"), "{err}");
}

/// A disk of a few pages, where this user may mount one.
#[cfg(target_os = "linux")]
struct SmallDisk(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount(path: &Path) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let words = ["-t", "tmpfs", "-o", "size=256k", "tmpfs"];
        let status = Command::new("mount").args(words).arg(path).stderr(Stdio::null()).status();
        status.is_ok_and(|s| s.success()).then(|| Self(path.to_owned()))
    }

    fn make_read_only(&self) {
        let status = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status();
        assert!(status.unwrap().success());
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
