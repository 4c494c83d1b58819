//! `render --together`, `resume`, `merge` and `worker`: the film of a group is that of one target, whoever is killed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Kills of each kind; `LOCKSTEP_KILLS` sets another number.
fn kills() -> u64 {
    std::env::var("LOCKSTEP_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(6)
}

const RENDER: [&str; 7] = ["render", "cornell", "--size", "96x96", "--bounces", "4", "--spp"];
const SPP: &str = "192";

fn lockstep(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command.current_dir(folder).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    lockstep(folder, arguments).output().unwrap()
}

/// Runs a command that must succeed, and returns what it said.
fn fine(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {:?}\n{said}", output.status);
    said
}

fn render(folder: &Path, more: &[&str]) -> String {
    fine(folder, &[&RENDER[..], &[SPP], more].concat())
}

/// The film of one target, in a folder of the test's own.
fn begin() -> (tempfile::TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    render(dir.path(), &["-b", "cpu-bvh", "-o", "one.film"]);
    let film = std::fs::read(dir.path().join("one.film")).unwrap();
    (dir, film)
}

/// The processes that a process has started.
fn children(of: u32) -> Vec<u32> {
    let path = format!("/proc/{of}/task/{of}/children");
    let list = std::fs::read_to_string(path).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn kill_9(pid: u32) {
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Moments spread over the time of a render, in an order that looks random.
fn moments(count: u64, whole: Duration) -> impl Iterator<Item = Duration> {
    (0..count).map(move |i| whole.mul_f64(((i * 7 + 3) % count.max(1)) as f64 / count.max(1) as f64))
}

#[test]
fn a_group_leaves_the_film_of_one_target_and_tells_who_did_what() {
    let (dir, film) = begin();
    let said =
        render(dir.path(), &["--together", "cpu-bvh,cpu-bvh", "-o", "two.film", "--timeline", "t.json"]);
    assert_eq!(std::fs::read(dir.path().join("two.film")).unwrap(), film);
    assert!(said.contains("cpu-bvh: ") && said.contains("cpu-bvh #2: "), "{said}");
    let timeline: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("t.json")).unwrap()).unwrap();
    assert!(timeline["leases"].as_array().unwrap().len() >= 2, "{timeline}");
}

#[test]
fn every_schedule_leaves_the_same_film() {
    let (dir, film) = begin();
    for schedule in ["equal", "proportional", "demand", "guided", "guided+backup"] {
        let more = ["--together", "cpu-bvh,cpu-bvh", "--schedule", schedule, "-o", "two.film"];
        render(dir.path(), &more);
        assert!(std::fs::read(dir.path().join("two.film")).unwrap() == film, "{schedule}");
    }
}

#[test]
fn opencl_runtimes_and_the_processor_make_one_film() {
    let (dir, film) = begin();
    let relief = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/data/relief");
    for file in ["relief.obj", "relief.mtl", "cobbles.png"] {
        std::fs::copy(relief.join(file), dir.path().join(file)).unwrap();
    }
    let text = std::fs::read_to_string(relief.join("scene.toml")).unwrap();
    let coarse = text.replace("error_pixels = 1.0", "error_pixels = 10.0");
    std::fs::write(dir.path().join("relief.toml"), coarse).unwrap();
    let displaced = |target: &str| {
        let words =
            ["render", "relief.toml", "-b", target, "--size", "64x36", "--spp", "2", "-o", "relief.film"];
        fine(dir.path(), &words);
        std::fs::read(dir.path().join("relief.film")).unwrap()
    };
    let displaced_here = displaced("cpu-bvh");
    for runtime in ["opencl@pocl", "opencl@intel"] {
        let devices = run(dir.path(), &["devices", "--require", runtime]);
        let found = if devices.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&devices.stderr).into_owned())
        };
        if lockstep_conformance::require::present(runtime, found).is_none() {
            continue;
        }
        render(dir.path(), &["--together", &format!("cpu-bvh,{runtime}"), "-o", "two.film"]);
        assert!(std::fs::read(dir.path().join("two.film")).unwrap() == film, "{runtime}");
        assert!(displaced(runtime) == displaced_here, "{runtime}: a displaced scene is another");
    }
}

#[test]
fn killed_workers_cost_time_and_nothing_else() {
    let (dir, film) = begin();
    let start = Instant::now();
    render(dir.path(), &["--together", "cpu-bvh,cpu-bvh", "-o", "two.film"]);
    for (i, moment) in moments(kills(), start.elapsed()).enumerate() {
        let more = ["--together", "cpu-bvh,cpu-bvh", "-o", "two.film", "--timeline", "leases.json"];
        let arguments = [&RENDER[..], &[SPP], &more].concat();
        let _ = std::fs::remove_file(dir.path().join("two.film"));
        let child = lockstep(dir.path(), &arguments).spawn().unwrap();
        std::thread::sleep(moment);
        let workers = children(child.id());
        if let Some(&worker) = workers.get(i % workers.len().max(1)) {
            kill_9(worker);
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "after {moment:?}: {said}");
        assert!(std::fs::read(dir.path().join("two.film")).unwrap() == film, "after {moment:?}: {said}");
        let leases = std::fs::read(dir.path().join("leases.json")).unwrap();
        let leases: serde_json::Value = serde_json::from_slice(&leases).unwrap();
        let leases = leases["leases"].as_array().unwrap();
        assert!(!leases.is_empty());
        let lost = leases.iter().filter(|lease| lease["outcome"] == "lost").count();
        assert!(lost <= 1, "{lost} leases are lost by one kill after {moment:?}");
    }
}

fn wait(mut child: Child) {
    let _ = child.wait();
}

#[test]
fn a_killed_coordinator_leaves_a_checkpoint_that_resumes_to_the_same_film_and_no_process() {
    let (dir, film) = begin();
    let start = Instant::now();
    render(dir.path(), &["--together", "cpu-bvh,cpu-bvh", "-o", "two.film"]);
    let more =
        ["--together", "cpu-bvh,cpu-bvh", "-o", "two.film", "--checkpoint", "c.film", "--checkpoint-every"];
    let arguments = [&RENDER[..], &[SPP], &more, &["0.01"]].concat();
    for moment in moments(kills(), start.elapsed()) {
        let _ = std::fs::remove_file(dir.path().join("two.film"));
        let child = lockstep(dir.path(), &arguments).spawn().unwrap();
        std::thread::sleep(moment);
        let workers = children(child.id());
        kill_9(child.id());
        wait(child);
        let gone = Instant::now();
        while workers.iter().any(|pid| Path::new(&format!("/proc/{pid}")).exists()) {
            assert!(gone.elapsed() < Duration::from_secs(20), "a worker outlives its coordinator");
            std::thread::sleep(Duration::from_millis(10));
        }
        if dir.path().join("c.film").exists() {
            let said = fine(dir.path(), &["resume", "c.film"]);
            assert!(said.contains("samples are there"), "{said}");
        } else {
            fine(dir.path(), &arguments);
        }
        assert!(std::fs::read(dir.path().join("two.film")).unwrap() == film, "after {moment:?}");
        assert!(!dir.path().join("c.film").exists(), "the checkpoint is not needed any more");
    }
}

#[test]
fn a_render_that_was_killed_twice_is_resumed_twice() {
    let (dir, film) = begin();
    let group = ["--together", "cpu-bvh,cpu-bvh", "--schedule", "demand", "-o", "two.film"];
    let checkpoint = ["--checkpoint", "c.film", "--checkpoint-every", "0.01"];
    let whole = [&RENDER[..], &[SPP], &group, &checkpoint].concat();
    for arguments in [&whole[..], &["resume", "c.film"]] {
        let child = lockstep(dir.path(), arguments).spawn().unwrap();
        let start = Instant::now();
        let held = std::fs::read(dir.path().join("c.film")).ok();
        // Until the checkpoint is there, or holds more
        while std::fs::read(dir.path().join("c.film")).ok() == held
            && start.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_9(child.id());
        wait(child);
        assert!(!dir.path().join("two.film").exists(), "the render is too short to be killed twice");
    }
    fine(dir.path(), &["resume", "c.film"]);
    assert_eq!(std::fs::read(dir.path().join("two.film")).unwrap(), film);
}

#[test]
fn a_target_with_films_of_its_own_can_keep_a_checkpoint_alone() {
    let dir = tempfile::tempdir().unwrap();
    let devices = run(dir.path(), &["devices", "--require", "cpu-embree"]);
    let found = if devices.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&devices.stderr).into_owned())
    };
    if lockstep_conformance::require::present("cpu-embree", found).is_none() {
        return;
    }
    let size = ["render", "cornell", "--size", "32x32", "-b", "cpu-embree"];
    fine(dir.path(), &[&size[..], &["-o", "one.film"]].concat());
    fine(dir.path(), &[&size[..], &["-o", "two.film", "--checkpoint", "c.film"]].concat());
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert_eq!(read("one.film"), read("two.film"));
    let refused = run(dir.path(), &["render", "cornell", "--together", "cpu-embree,cpu-bvh", "-o", "x.film"]);
    assert_eq!(refused.status.code(), Some(5));
}

#[test]
fn a_worker_can_join_by_its_socket() {
    let (dir, film) = begin();
    let arguments =
        [&RENDER[..], &[SPP, "--together", "cpu-bvh", "--listen", "s", "--threads", "1", "-o", "two.film"]]
            .concat();
    let child = lockstep(dir.path(), &arguments).spawn().unwrap();
    let start = Instant::now();
    while !dir.path().join("s").exists() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let worker = lockstep(dir.path(), &["worker", "cpu-bvh", "--join", "s"]).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("it joined"), "{said}");
    assert!(worker.wait_with_output().unwrap().status.success());
    assert_eq!(std::fs::read(dir.path().join("two.film")).unwrap(), film);
    assert!(!dir.path().join("s").exists(), "the socket is gone");
}

#[test]
fn parts_merge_into_the_whole_and_faults_are_named() {
    let (dir, film) = begin();
    let part = |samples: &str, out: &str, seed: &str| {
        let arguments = ["--samples", samples, "--seed", seed, "-b", "cpu-bvh", "-o", out];
        fine(dir.path(), &[&RENDER[..6], &arguments].concat());
    };
    part("0..50", "a.film", "0");
    part("50..192", "b.film", "0");
    part("192..193", "other.film", "1");
    fine(dir.path(), &["merge", "b.film", "a.film", "-o", "whole.film"]);
    assert_eq!(std::fs::read(dir.path().join("whole.film")).unwrap(), film);
    let refused = |arguments: &[&str], code: i32, text: &str| {
        let output = run(dir.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && said.contains(text), "{arguments:?}: {said}");
    };
    refused(&["merge", "b.film", "-o", "x.png"], 3, "0..50");
    refused(&["merge", "a.film", "a.film", "-o", "x.png"], 4, "both films hold the samples 0..50");
    refused(&["merge", "a.film", "other.film", "-o", "x.png"], 4, "a setting differs");
    std::fs::write(dir.path().join("cut.film"), &film[..film.len() / 2]).unwrap();
    refused(&["merge", "cut.film", "-o", "x.png"], 4, "cut.film is damaged");
    refused(&["merge", "no.film", "-o", "x.png"], 4, "no.film");
    refused(&["resume", "a.film"], 4, "no checkpoint");
    assert!(!dir.path().join("x.png").exists());
    fine(dir.path(), &["merge", "b.film", "-o", "x.png", "--allow-gaps"]);
}

#[test]
fn a_group_is_a_target_of_studies_and_identical_to_its_members() {
    let dir = tempfile::tempdir().unwrap();
    let targets = "cpu-bvh,together(cpu-bvh,cpu-bvh)";
    let arguments =
        ["study", "cornell", "-b", targets, "--spp", "1..8", "--size", "48x48", "--no-setup", "-o", "s"];
    fine(dir.path(), &arguments);
    let records = std::fs::read_to_string(dir.path().join("s/records.jsonl")).unwrap();
    let differences: Vec<serde_json::Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|record: &serde_json::Value| record["kind"] == "difference")
        .collect();
    assert_eq!(differences.len(), 4);
    assert!(
        differences.iter().all(|d| d["identical"] == true && d["b"] == "together(cpu-bvh,cpu-bvh)"),
        "{records}"
    );
}

#[test]
fn targets_that_cannot_take_part_are_refused_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    for (targets, code) in [("null,nothing", 2), ("cpu-bvh,together(cpu-bvh)", 2)] {
        let output = run(dir.path(), &["render", "cornell", "--together", targets, "-o", "x.png"]);
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let output = run(dir.path(), &["worker", "cpu-bvh"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_study_times_several_groups_each_against_its_own_members() {
    let dir = tempfile::tempdir().unwrap();
    let words = "study cornell -b cpu-bvh --together cpu-bvh,cpu-bvh --together cpu-bvh,cpu-bvh,cpu-bvh \
                 --schedule equal --spp 4..4 --size 16x16 --seeds 1 --no-setup -o s";
    fine(dir.path(), &words.split_whitespace().collect::<Vec<_>>());
    let records = std::fs::read_to_string(dir.path().join("s/records.jsonl")).unwrap();
    let groups: Vec<String> = records
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|record| record["kind"] == "sharing" && record["schedule"] == "equal")
        .map(|record| record["group"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(groups, ["together(cpu-bvh,cpu-bvh)", "together(cpu-bvh,cpu-bvh,cpu-bvh)"]);
    let refused = run(dir.path(), &["study", "cornell", "--together", "cpu-bvh,,cpu-bvh", "-o", "t"]);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
}
