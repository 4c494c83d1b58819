//! External targets: programs of other people in a study.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lockstep_conformance::require;
use lockstep_reports::image_io::{ImageMetadata, LinearImage, write_png};
use serde_json::Value;
use support::{count, expect, finish, lockstep, records};

const TOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/toy");

/// Whether the toy renderer can run here; else the test is skipped.
fn has_python() -> bool {
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    let missing = "there is no python3. Install Python 3.";
    require::present("python", python.ok().filter(|s| s.success()).ok_or(missing)).is_some()
}

/// A study of the toy's scene on targets of its file.
fn toy_study<'a>(targets: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/toy/two-spheres.toml");
    let mut words =
        vec!["study", SCENE, "-b", targets, "--spp=4..16", "--size=48x32", "--bounces=2", "--threads=1"];
    words.extend(more);
    words
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The toy with a bug differs from a toy without and from `cpu-bvh`, and is named for it.
fn is_named(bug: &str) {
    if !has_python() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let buggy = format!("toy@{bug}");
    let (out, err) = expect(dir.path(), &toy_study(&format!("cpu-bvh,toy,{buggy}"), &[]), 1);
    let named = format!("{buggy} differs by more than noise from the other two targets, which agree");
    assert!(out.starts_with(&named), "{out}");
    assert!(err.contains(&format!("cpu-bvh (A) and {buggy} (B) differ by more than noise")), "{err}");
    assert!(!err.contains("(A) and toy (B)"), "{err}");
}

#[test]
fn a_program_that_writes_gamma_encoded_values_is_named() {
    is_named("gamma");
}

#[test]
fn a_program_that_forgets_the_cosine_is_named() {
    is_named("cosine");
}

#[test]
fn a_program_that_clamps_its_samples_is_named() {
    is_named("clamp");
}

#[test]
fn a_program_that_is_half_a_pixel_off_is_named() {
    is_named("shift");
}

#[test]
fn a_program_that_ends_its_paths_a_bounce_early_is_named() {
    is_named("bounces");
}

#[test]
fn a_program_that_divides_by_one_sample_too_many_is_named() {
    is_named("average");
}

#[test]
fn programs_without_bugs_raise_no_alarm() {
    if !has_python() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (out, err) = expect(dir.path(), &toy_study("toy,cpu-bvh,again", &["-o", "s"]), 0);
    assert!(out.starts_with("No two of 3 targets are identical; they agree within noise"), "{out}");
    assert!(!err.contains("(A)"), "{err}");
    let records = records(&dir.path().join("s"));
    let over_seeds: Vec<&String> = records
        .iter()
        .filter(|(key, _)| key.starts_with("\"over_seeds\""))
        .map(|(_, record)| record)
        .collect();
    assert_eq!(over_seeds.len(), 3 * 3, "every pair has a program, at three levels");
    assert!(
        over_seeds.iter().all(|r| r.contains(r#""seeds":[0,1]"#) && r.contains("within noise")),
        "{over_seeds:?}"
    );
}

#[test]
fn two_programs_alone_make_a_full_study_of_a_scene_that_only_they_can_read() {
    if !has_python() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mine.scene"), "two spheres").unwrap();
    let file = format!("{TOY}/targets.toml");
    let study = [
        "study",
        "mine.scene",
        "-b",
        "toy,again",
        "--targets-file",
        &file,
        "--spp=1..4",
        "--size=24x16",
        "--seeds=3",
        "--time=200ms",
        "-o",
        "s",
    ];
    expect(dir.path(), &study, 0);
    let folder = dir.path().join("s");
    let found = records(&folder);
    assert_eq!((count(&found, "timing"), count(&found, "difference")), (2 * 3 * 3, 3 * 3));
    assert_eq!((count(&found, "noise"), count(&found, "convergence")), (2 * 2 * 3, 2 * 3 * 3));
    assert_eq!((count(&found, "over_seeds"), count(&found, "equal_time")), (3, 2));
    assert_eq!(count(&found, "load"), 0, "what a program loads is not known");
    let converged = found.iter().find(|(key, _)| key.starts_with("\"convergence\"")).unwrap().1;
    // The reference has 16 times the samples of the last level, and more where a quick machine makes more in the time given.
    let reference = converged.split("\"toy, ").nth(1).and_then(|rest| rest.split(" spp, seed ").next());
    assert!(reference.is_some_and(|spp| spp.parse::<u32>().is_ok_and(|spp| spp >= 64)), "{converged}");
    let timing =
        found.iter().find(|(key, _)| key.starts_with("\"timing\"") && key.contains(" 4 ")).unwrap().1;
    assert!(timing.contains(r#""samples":1536,"#) && timing.contains(r#""spp_from":0,"#), "{timing}");
    let environment = json(&folder.join("environment.json"));
    let toy = &environment["targets"][0];
    assert_eq!(
        (&toy["exact"], toy["driver"].as_str().unwrap().starts_with("Python 3")),
        (&Value::Bool(false), true)
    );
    let line = toy["program"]["first_runs"][0].as_str().unwrap();
    assert_eq!(line, "python3 toy.py --spp=1 --seed=0 --width=24 --height=16 --bounces=3 '--out={out}.pfm'");
    assert!(environment["scenes"]["mine"].as_str().unwrap().len() == 64);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("toy is an external program, Python 3"), "it is marked with its version");
    for text in
        ["<h3>External programs</h3>", "Python 3", "<h3>Error after equal time</h3>", "--spp=1 --seed=0"]
    {
        assert!(page.contains(text), "{text}");
    }
    let log = fs::read_to_string(folder.join("logs/mine.toy.4spp.s2.log")).unwrap();
    assert!(log.contains("$ python3 toy.py --spp=4 --seed=2 "), "{log}");
    let (_, err) = expect(dir.path(), &study, 0);
    assert!(err.contains("resuming"), "{err}");
    assert_eq!(records(&folder), found, "nothing is measured again");
}

/// Programs that fail, each in its way, and one that does not. The last two take their image from the toy.
const FAULTY: &str = r#"
[fine]
command = ["sh", "render", "{spp}", "{out}", "fine"]
format = "pfm"

[exits]
command = ["sh", "-c", "echo loading; echo 'no such light' >&2; exit 7", "{spp}", "{out}"]

[killed]
command = ["sh", "-c", "kill -9 $$", "{spp}", "{out}"]

[hangs]
command = ["sh", "-c", "sleep 60", "{spp}", "{out}"]
timeout_s = 0.3

[writes_nothing]
command = ["true", "{spp}", "{out}"]

[garbage]
command = ["sh", "-c", "echo no image > $0", "{out}", "{spp}"]

[too_small]
command = ["sh", "render", "{spp}", "{out}", "small"]
format = "pfm"

[not_a_number]
command = ["sh", "render", "{spp}", "{out}", "nan"]
format = "pfm"

[silent]
command = ["sh", "render", "{spp}", "{out}", "fine"]
format = "pfm"
times = { regex = 'render time (\S+)' }

[timed]
command = ["sh", "render", "{spp}", "{out}", "timed"]
format = "pfm"
times = { regex = 'render time (\S+)', unit = "ms" }

[late]
command = ["sh", "render", "{spp}", "{out}", "late"]
format = "pfm"
"#;

/// A renderer of an image of 2×2 pixels that are all 1, or of one pixel, or with a NaN, or that fails at 4 samples.
const RENDER: &str = r#"
one='\000\000\200\077'
grey=$one$one$one
case $3 in
small) printf 'PF\n1 1\n-1.0\n'"$grey" > "$2";;
nan) printf 'PF\n2 2\n-1.0\n'"$grey$grey$grey$one$one"'\000\000\300\177' > "$2";;
late) [ "$1" -lt 4 ] || exit 1; printf 'PF\n2 2\n-1.0\n'"$grey$grey$grey$grey" > "$2";;
timed) echo "render time 12.5"; printf 'PF\n2 2\n-1.0\n'"$grey$grey$grey$grey" > "$2";;
*) printf 'PF\n2 2\n-1.0\n'"$grey$grey$grey$grey" > "$2";;
esac
"#;

#[test]
fn a_program_that_fails_is_a_finding_of_its_kind_and_the_study_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("targets.toml"), FAULTY).unwrap();
    fs::write(dir.path().join("render"), RENDER).unwrap();
    fs::write(dir.path().join("mine.scene"), "").unwrap();
    let targets = "exits,killed,fine,hangs,writes_nothing,garbage,too_small,not_a_number,silent,late";
    let study = ["study", "mine.scene", "-b", targets, "--spp=1..4", "--size=2x2", "--seeds=1", "-o", "s"];
    let (out, err) = expect(dir.path(), &study, 1);
    let folder = dir.path().join("s");
    let found = records(&folder);
    let of = |target: &str| {
        let mut own = found.iter().filter(|(key, _)| key.starts_with("\"run_failure\""));
        let own: Value =
            serde_json::from_str(own.find(|(_, r)| r.contains(&format!("{target:?}"))).unwrap().1).unwrap();
        (own["fault"].as_str().unwrap().to_owned(), own["reason"].as_str().unwrap().to_owned(), own)
    };
    let kinds = [
        ("exits", "exit-status", "it ended with exit status 7"),
        ("killed", "exit-status", "it was ended by signal 9"),
        ("hangs", "time-out", "it ran longer than 0.3 s and was stopped"),
        ("writes_nothing", "no-image", "did not write the image"),
        ("garbage", "unreadable-image", "neither EXR, PNG, Radiance HDR nor PFM"),
        ("too_small", "wrong-size", "its image has 1×1 pixels, not 2×2"),
        ("not_a_number", "not-finite", "1 pixel is not finite, the first at (1, 0)"),
        ("silent", "no-time", "it printed nothing that"),
        ("late", "exit-status", "it ended with exit status 1"),
    ];
    for (target, kind, words) in kinds {
        let (fault, reason, record) = of(target);
        assert_eq!(fault, kind, "{target}: {reason}");
        assert!(reason.contains(words), "{target}: {reason}");
        assert_eq!(record["spp"], if target == "late" { 4 } else { 1 }, "{target} is not run again");
        assert!(
            err.contains(&format!("lockstep: {target} on mine at "))
                && out.contains(&format!("failed: {target}"))
        );
    }
    assert_eq!(count(&found, "run_failure"), kinds.len());
    let (_, _, exits) = of("exits");
    assert_eq!(exits["last_lines"], serde_json::json!(["loading", "no such light"]));
    let log = fs::read_to_string(folder.join(exits["log"].as_str().unwrap())).unwrap();
    assert!(log.contains("$ sh -c ") && log.ends_with("no such light\n"), "{log}");
    assert_eq!(count(&found, "difference"), 2, "the two that are left are compared while both are there");
    let late = found.iter().find(|(key, _)| key.starts_with("\"timing\"") && key.contains("late"));
    assert!(late.is_some(), "its earlier levels are measured");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("<h3>Failed runs</h3>") && page.contains("no such light"));
    expect(dir.path(), &study, 1);
    assert_eq!(records(&folder), found, "a resumed study runs nothing again");
}

#[test]
fn times_that_a_program_prints_are_its_times() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("targets.toml"), FAULTY).unwrap();
    fs::write(dir.path().join("render"), RENDER).unwrap();
    fs::write(dir.path().join("mine.scene"), "").unwrap();
    expect(dir.path(), &["study", "mine.scene", "-b", "timed", "--spp=1..2", "--size=2x2", "-o", "s"], 0);
    let timings = fs::read_to_string(dir.path().join("s/records.jsonl")).unwrap();
    let timings: Vec<Value> = timings.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ms: Vec<f64> = timings.iter().filter_map(|t| t["total_ms"].as_f64()).collect();
    assert_eq!(ms, [12.5, 12.5], "of the levels at 1 and 2 samples");
}

#[test]
fn programs_are_listed_and_run_only_where_they_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let declared = "[mine]\ncommand = [\"sh\", \"-c\", \"touch ran\", \"{spp}\", \"{out}\"]\n\n\
                    [theirs]\ncommand = [\"no-such-renderer\", \"{spp}\", \"{out}\"]\n";
    fs::write(dir.path().join("targets.toml"), declared).unwrap();
    let (out, _) = expect(dir.path(), &["devices"], 0);
    assert!(out.contains("mine") && out.contains("compared by statistics over seeds"), "{out}");
    assert!(out.contains("there is no program `no-such-renderer` in PATH"), "{out}");
    assert!(out.contains("correct `command` of [theirs] at targets.toml:4"), "{out}");
    let (out, _) = expect(dir.path(), &["devices", "--json"], 0);
    let listed: Value = serde_json::from_str(&out).unwrap();
    let present =
        |name| listed.as_array().unwrap().iter().find(|t| t["target"] == name).unwrap()["present"].clone();
    assert_eq!((present("mine"), present("theirs")), (Value::Bool(true), Value::Bool(false)));
    expect(dir.path(), &["devices", "--require", "theirs"], 5);
    let (_, err) = expect(dir.path(), &["study", "cornell", "-b", "theirs", "-o", "s"], 5);
    assert!(err.contains("target theirs is absent: there is no program `no-such-renderer` in PATH"), "{err}");
    let (_, err) = expect(dir.path(), &["study", "cornell", "-b", "others", "-o", "s"], 2);
    assert!(
        err.contains("there is no target `others`")
            && err.contains("external ones are mitsuba, cycles, luxcore, mine, theirs"),
        "{err}"
    );
    let all =
        ["study", "cornell", "-b", "all", "--spp=1", "--size=8x8", "--seeds=1", "--threads=1", "-o", "s"];
    expect(dir.path(), &all, 0);
    assert!(!dir.path().join("ran").exists(), "`all` means no program");
}

#[test]
fn a_damaged_file_beside_a_scene_hinders_no_study_that_does_not_ask_for_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("targets.toml"), "[mine]\ncomand = []\n").unwrap();
    let study = |target| {
        ["study", "cornell", "-b", target, "--spp=1", "--size=8x8", "--seeds=1", "--fresh", "-o", "s"]
    };
    expect(dir.path(), &study("cpu-bvh"), 0);
    expect(dir.path(), &study("together(cpu-bvh,cpu-bvh)"), 0);
    let (_, err) = expect(dir.path(), &study("mine"), 4);
    assert!(err.contains("targets.toml:2: unknown field `comand`"), "{err}");
}

#[cfg(target_os = "linux")]
/// The processes of a group, without those that are dead and not yet collected.
fn members(group: &str) -> Vec<String> {
    let stat = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("stat")).ok();
    let is_member = |stat: &String| {
        // Behind the name, which may have spaces: state, parent, group.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[2] == group && fields[0] != "Z"
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(stat).filter(is_member).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_program_that_runs_and_the_study_is_resumed_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let declared = "[slow]\nshell = true\ncommand = 'if [ {spp} = 2 ] && [ ! -e again ]; then echo $$ > pid; \
                    sleep 60 & wait; fi; sh render {spp} {out} fine'\nformat = \"pfm\"\n";
    fs::write(dir.path().join("targets.toml"), declared).unwrap();
    fs::write(dir.path().join("render"), RENDER).unwrap();
    fs::write(dir.path().join("mine.scene"), "").unwrap();
    let study = ["study", "mine.scene", "-b", "slow", "--spp=1..2", "--size=2x2", "--seeds=1", "-o", "s"];
    let child = lockstep(dir.path(), &study).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = dir.path().join("pid");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')) {
        assert!(Instant::now() < deadline, "the program was not started within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let (code, out, err) = finish(child.wait_with_output().unwrap());
    assert_eq!(code, 130, "{out}{err}");
    let group = fs::read_to_string(&pid).unwrap().trim().to_owned();
    assert_eq!(members(&group), Vec::<String>::new(), "the whole process group is gone");
    fs::write(dir.path().join("again"), "").unwrap();
    expect(dir.path(), &study, 0);
    let found = records(&dir.path().join("s"));
    assert_eq!((count(&found, "timing"), count(&found, "run_failure")), (2, 0));
}

/// A lens before a textured quad on a floor, under a gradient, a sun and a point light.
const QUAD: &str = r#"
file = "quad.obj"

[camera]
eye = [0.3, 0.8, 3.0]
target = [0.0, 0.4, 0.0]
fov = 45.0
lens_radius = 0.02
focus_distance = 3.0

[sky]
kind = "gradient"
zenith = [0.5, 0.7, 2.0]
horizon = [1.0, 1.0, 1.0]
ground = [0.3, 0.3, 0.3]

[sun]
towards = [0.3, 0.9, 0.4]
irradiance = [3.0, 2.6, 2.0]

[[lights]]
kind = "point"
position = [0.5, 1.5, 1.0]
intensity = [2.0, 1.0, 1.0]

[[materials]]
name = "picture"
kind = "diffuse"

[[materials]]
name = "floor"
kind = "diffuse"
"#;

const QUAD_OBJ: &str = "mtllib quad.mtl
v -1 0 0\nv 1 0 0\nv 1 1 0\nv -1 1 0\nv -3 -0.2 -3\nv 3 -0.2 -3\nv 3 -0.2 3\nv -3 -0.2 3
vt 0 0\nvt 2 0\nvt 2 1\nvt 0 1
usemtl picture\nf 1/1 2/2 3/3 4/4\nusemtl floor\nf 8/1 7/2 6/3 5/4\n";

const QUAD_MTL: &str = "newmtl picture\nKd 1 0.8 0.9\nmap_Kd picture.png\nnewmtl floor\nKd 0.5 0.5 0.5\n";

#[test]
fn mitsuba_renders_what_it_can_express_alike_within_noise() {
    let found = lockstep_setup::renderers::MITSUBA
        .python()
        .ok_or("Mitsuba is not set up. Run `lockstep setup mitsuba`.");
    if require::present("mitsuba", found).is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("quad.toml", QUAD), ("quad.obj", QUAD_OBJ), ("quad.mtl", QUAD_MTL)] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    // Another colour in every corner, so that no turn or mirror image is taken for it.
    let picture = LinearImage::from_fn(16, 8, |x, y| {
        [x as f32 / 15.0, y as f32 / 7.0, if x < 4 && y < 4 { 0.6 } else { 0.02 }]
    });
    write_png(&dir.path().join("picture.png"), &picture, &ImageMetadata::default()).unwrap();
    let scene = format!("{TOY}/two-spheres.toml");
    let study = [
        "study",
        "cornell",
        "furnace",
        "quad.toml",
        &scene,
        "-b",
        "cpu-bvh,mitsuba",
        "--spp=16..64",
        "--size=64x48",
        "--threads=1",
        "-o",
        "s",
    ];
    let (out, err) = expect(dir.path(), &study, 0);
    assert!(out.starts_with("cpu-bvh and mitsuba agree within noise"), "{out}");
    assert!(!err.contains("otherwise"), "all of it can be expressed: {err}");
    let environment = json(&dir.path().join("s/environment.json"));
    assert!(environment["targets"][1]["driver"].as_str().unwrap().starts_with("Mitsuba 3."));
    assert!(dir.path().join("s/scenes/mitsuba/quad/scene.xml").exists());
}

#[test]
fn a_scene_is_written_for_mitsuba_and_what_it_cannot_express_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (out, err) = expect(dir.path(), &["export", "weekend", "--to", "mitsuba", "-o", "made"], 0);
    assert_eq!(out, "made/render.py\n");
    assert!(err.contains("weekend renders otherwise: rough metal and glass mask by"), "{err}");
    assert!(
        fs::read_to_string(dir.path().join("made/scene.xml")).unwrap().contains("<shape type=\"sphere\">")
    );
}
