//! Studies in shards: the films, images and image tables of one machine, whatever happens to the tasks.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{expect, lockstep, records};

/// The words of a study of two scenes on two targets that differ, with noise floor, reference, maps and verdicts. `null`
/// shows the sky alone.
fn study<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let words =
        "study cornell furnace -b cpu-bvh,null --spp 1..16 --size 32x20 --threads=1 --reference-budget=1000";
    words.split(' ').chain(more.iter().copied()).collect()
}

/// Tables of a study's times; all others are of its images.
const TIME_TABLES: [&str; 4] = ["load.csv", "timing.csv", "timing-rounds.csv", "speedups.csv"];

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let name = |entry: &std::fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(|entry| (name(&entry), std::fs::read(entry.path()).unwrap())).collect()
}

/// Fails unless both studies have the same images and image tables, byte for byte.
fn check_images(merged: &Path, whole: &Path) {
    let [ours, theirs] = [merged, whole].map(|study| files(&study.join("images")));
    assert!(theirs.len() >= 10, "{:?}", theirs.keys());
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    ours.iter().for_each(|(name, bytes)| assert!(*bytes == theirs[name], "{name}"));
    let [ours, theirs] = [merged, whole].map(|study| files(&study.join("tables")));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    let of_images = ours.iter().filter(|(name, _)| !TIME_TABLES.contains(&name.as_str()));
    of_images.for_each(|(name, bytes)| assert!(*bytes == theirs[name], "{name}"));
}

/// Fails unless both studies have the same images, and records that differ in times and notes alone.
fn check_same(merged: &Path, whole: &Path) {
    check_images(merged, whole);
    let of_images = |study: &Path| {
        let mut found = records(study);
        found.retain(|key, _| !key.starts_with("\"load\""));
        found
    };
    assert_eq!(of_images(merged), of_images(whole));
}

#[test]
fn a_study_in_shards_is_the_study_of_one_machine() {
    let dir = tempfile::tempdir().unwrap();
    for more in [&[][..], &["--seeds=2", "--repeats=2", "--units=7"]] {
        let whole = study(&[more, &["-o", "whole", "--fresh"]].concat());
        // 1, since `null` is not the box.
        expect(dir.path(), &whole, 1);
        let in_shards = study(&[more, &["-o", "d"]].concat());
        let (plan, _) = expect(dir.path(), &[&in_shards[..], &["--plan"]].concat(), 0);
        assert!(plan.contains("cornell seed 0, samples 0..1"), "{plan}");
        assert!(!dir.path().join("d").exists(), "a plan renders nothing");
        // In any order, and one twice.
        for shard in ["3/4", "1/4", "4/4", "3/4", "2/4"] {
            expect(dir.path(), &[&in_shards[..], &["--shard", shard]].concat(), 0);
        }
        let (out, _) = expect(dir.path(), &["merge", "d"], 1);
        assert!(out.contains("d/report.html"), "{out}");
        check_same(&dir.path().join("d"), &dir.path().join("whole"));
        let page = std::fs::read_to_string(dir.path().join("d/report.html")).unwrap();
        assert!(
            page.contains("ratios of times compare targets on one machine"),
            "the page says whose times these are"
        );
        std::fs::remove_dir_all(dir.path().join("d")).unwrap();
    }
}

#[test]
fn shards_in_folders_of_their_own_are_merged_into_another() {
    let dir = tempfile::tempdir().unwrap();
    let more = ["--seeds=1", "--repeats=3"];
    expect(dir.path(), &study(&[&more[..], &["-o", "whole"]].concat()), 1);
    for (shard, folder) in [("1/2", "a"), ("2/2", "b"), ("2/2", "c")] {
        expect(dir.path(), &study(&[&more[..], &["-o", folder, "--shard", shard]].concat()), 0);
    }
    let (_, err) = expect(dir.path(), &["merge", "a", "b", "c"], 2);
    assert!(err.contains("-o DIR"), "{err}");
    let (_, err) = expect(dir.path(), &["merge", "b", "-o", "m"], 3);
    assert!(err.contains("--array=1\n") && !dir.path().join("m").exists(), "{err}");
    expect(dir.path(), &["merge", "c", "a", "b", "-o", "m"], 1);
    check_same(&dir.path().join("m"), &dir.path().join("whole"));
    // The A/A control of three rounds is timed in the shards.
    assert_eq!(support::count(&records(&dir.path().join("m")), "aa_control"), 2 * 3 * 5);
    let (_, err) = expect(dir.path(), &["merge", "a", "b", "-o", "whole"], 2);
    assert!(err.contains("a study of its own"), "{err}");
    let film = dir.path().join("a/units/u00000.0.film").to_string_lossy().into_owned();
    let (_, err) = expect(dir.path(), &["merge", "a", &film, "-o", "m.exr"], 2);
    assert!(err.contains("either films or folders"), "{err}");
    expect(dir.path(), &["merge", &film, "-o", "m.exr"], 0);
    let (_, err) = expect(dir.path(), &study(&["--seeds=2", "-o", "a", "--shard", "1/2"]), 2);
    assert!(err.contains("plan of another study"), "{err}");
}

#[test]
fn what_has_no_parts_is_refused_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    for more in [
        &["--scaling"][..],
        &["--time=1s"],
        &["--diagnose"],
        &["--integrators=path,ao"],
        &["--techniques"],
        &["--together=cpu-bvh,cpu-bvh"],
    ] {
        let (_, err) = expect(dir.path(), &study(&[more, &["--shard=1/2", "-o", "d"]].concat()), 2);
        assert!(err.contains(more[0].split('=').next().unwrap()) && err.contains("on one machine"), "{err}");
    }
    let (_, err) = expect(dir.path(), &["study", "cornell", "-b", "cpu-bvh", "--shard=1/2"], 2);
    assert!(err.contains("--spp 1..1024"), "{err}");
    let unknown = ["study", "cornell", "-b", "nothing", "--spp=1", "--plan"];
    let (_, err) = expect(dir.path(), &unknown, 2);
    assert!(err.contains("nothing"), "{err}");
    let (_, err) = expect(dir.path(), &study(&["--shard=auto", "-o", "d"]), 2);
    assert!(err.contains("--shard 3/8"), "{err}");
    let (_, err) = expect(dir.path(), &["merge", "."], 4);
    assert!(err.contains("no shards of a study") && err.contains("--shard I/N"), "{err}");
}

#[test]
fn shards_that_are_killed_at_any_moment_are_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let more = ["--seeds=1", "--units=40"];
    expect(dir.path(), &study(&[&more[..], &["-o", "whole"]].concat()), 1);
    let start = Instant::now();
    expect(dir.path(), &study(&[&more[..], &["-o", "e", "--shard=1/1"]].concat()), 0);
    let duration = start.elapsed();
    let shard = study(&[&more[..], &["-o", "d", "--shard=1/1"]].concat());
    for part in [0.2, 0.3, 0.4, 0.5, 0.6, 0.9] {
        let mut child =
            lockstep(dir.path(), &shard).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(duration.mul_f64(part));
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
    }
    // A bit that a disk loses in a unit that was done.
    let units = std::fs::read_dir(dir.path().join("d/units")).into_iter().flatten();
    let mut films: Vec<PathBuf> = units.flatten().map(|e| e.path()).collect();
    films.retain(|path| path.extension().is_some_and(|e| e == "film"));
    films.sort();
    if let Some(first) = films.first() {
        let mut bytes = std::fs::read(first).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(first, bytes).unwrap();
    }
    expect(dir.path(), &shard, 0);
    let film = dir.path().join("d/units/u00003.1.film");
    let bytes = std::fs::read(&film).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    std::fs::write(&film, flipped).unwrap();
    let (_, err) = expect(dir.path(), &["merge", "d"], 3);
    assert!(err.contains("u00003.1.film is damaged") && err.contains("--array=1\n"), "{err}");
    let (_, err) = expect(dir.path(), &shard, 0);
    assert!(err.contains("its unit is rendered again") && err.contains(": 1 units rendered"), "{err}");
    assert!(std::fs::read(&film).unwrap() == bytes, "a film file is the same bytes whenever it is rendered");
    expect(dir.path(), &["merge", "d"], 1);
    check_same(&dir.path().join("d"), &dir.path().join("whole"));
}

/// A Slurm of one host in a folder, which ends with the test.
struct Slurm {
    folder: PathBuf,
}

/// The script that starts and stops it.
const SLURM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.ci/slurm");

impl Slurm {
    fn start(folder: &Path) -> Result<Self, String> {
        let started = Command::new(SLURM).arg("start").arg(folder).output().map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&started.stderr).into_owned();
        if started.status.success() { Ok(Self { folder: folder.to_owned() }) } else { Err(said) }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.folder.join("slurm.conf")).current_dir(&self.folder);
        command
    }

    /// Waits until no job is left.
    fn wait(&self) {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            let queue =
                self.command("squeue").args(["--noheader", "--array", "--format=%i %T"]).output().unwrap();
            let queue = String::from_utf8_lossy(&queue.stdout).into_owned();
            if queue.trim().is_empty() {
                return;
            }
            assert!(Instant::now() < end, "jobs are left: {queue}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Kills the process of an array's task, looked for often enough to find it before its work is done; false if it does
/// not come.
fn kill_task(job: &str, task: &str) -> bool {
    let marks = [format!("SLURM_ARRAY_JOB_ID={job}"), format!("SLURM_ARRAY_TASK_ID={task}")];
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
            let has = |mark: &String| environment.split(|&byte| byte == 0).any(|var| var == mark.as_bytes());
            let id =
                process.file_name().to_string_lossy().parse().ok().and_then(rustix::process::Pid::from_raw);
            if let Some(id) = id.filter(|_| marks.iter().all(has))
                && rustix::process::kill_process(id, rustix::process::Signal::KILL).is_ok()
            {
                return true;
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = Command::new(SLURM).arg("stop").arg(&self.folder).output();
    }
}

#[test]
fn an_array_of_slurm_with_killed_tasks_leaves_the_study_of_one_machine() {
    let dir = tempfile::tempdir().unwrap();
    let started = Slurm::start(dir.path());
    let Some(slurm) = lockstep_conformance::require::present("slurm", started) else { return };
    let lockstep_of_slurm = |words: &[&str]| {
        let mut command = lockstep(dir.path(), words);
        command.env("SLURM_CONF", slurm.folder.join("slurm.conf"));
        let done = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    // So long that a task is seen running before it is done.
    let more = "cornell furnace -b cpu-bvh,null --spp 1..64 --size 96x64 --threads=1 --reference-budget=1000 --seeds=1";
    let words: Vec<&str> = more.split(' ').chain(["--units=48", "-o", "d"]).collect();
    let whole: Vec<&str> = words.iter().map(|word| if *word == "d" { "whole" } else { word }).collect();
    expect(dir.path(), &[&["study"], &whole[..]].concat(), 1);
    let (code, out, err) = lockstep_of_slurm(&[&["submit", "slurm", "--array=8", "--"], &words[..]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    let job = out.lines().next().unwrap().to_owned();
    // Two of eight tasks are killed, as soon as they run.
    let killing = std::thread::spawn({
        let job = job.clone();
        move || ["3", "7"].map(|task| kill_task(&job, task))
    });
    slurm.wait();
    assert_eq!(killing.join().unwrap(), [true, true], "two tasks were to be killed");
    let logs = dir.path().join("d/shard-logs");
    let merged = files(&logs).into_iter().find(|(name, _)| name.starts_with("merge-")).unwrap().1;
    let merged = String::from_utf8_lossy(&merged).into_owned();
    assert!(merged.contains("units are missing"), "{merged}");
    let line = merged.lines().find(|line| line.starts_with("sbatch --array=")).unwrap();
    assert!(line.starts_with("sbatch --array=3,7 /"), "{line}");
    assert!(slurm.command("sbatch").args(line.split(' ').skip(1)).output().unwrap().status.success());
    slurm.wait();
    let (code, out, err) = lockstep_of_slurm(&["merge", "d"]);
    assert_eq!(code, Some(1), "{out}{err}");
    check_same(&dir.path().join("d"), &dir.path().join("whole"));
    let (code, _, err) =
        lockstep_of_slurm(&[&["submit", "slurm", "--array=1000000", "--"], &words[..]].concat());
    assert!(code == Some(2) && err.contains("MaxArraySize"), "{err}");
}

/// The path of an example.
fn example(name: &str) -> String {
    format!("{}/examples/cluster/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A program of others, if it runs; with the folder of this program among those that are searched.
fn engine(home: &Path, program: &str, remedy: &str) -> Option<Command> {
    let answers = Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success());
    let found = if answers { Ok(()) } else { Err(format!("{program} does not run. {remedy}")) };
    lockstep_conformance::require::present(program, found)?;
    let own = Path::new(env!("CARGO_BIN_EXE_lockstep")).parent().unwrap();
    let searched = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.env("PATH", format!("{}:{searched}", own.display())).current_dir(home).env("HOME", home);
    command.env("LOCKSTEP_OFFLINE", "1").env("LOCKSTEP_CACHE", home.join("cache"));
    Some(command)
}

/// A study on one target, with which nothing can differ.
const ALONE: &str = "cornell -b cpu-bvh --spp 1..16 --size 32x20 --threads 1 --reference-budget 1000";

fn whole(home: &Path) {
    let words: Vec<&str> = format!("study {ALONE} -o whole").leak().split(' ').collect();
    expect(home, &words, 0);
}

fn succeed(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(done.status.success(), "{command:?}: {said}");
    said
}

#[test]
fn gnu_parallel_renders_the_shards_as_the_page_says() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut parallel) = engine(dir.path(), "parallel", "Run apt-get install parallel.") else { return };
    whole(dir.path());
    let shard = format!("lockstep study {ALONE} -o study --shard {{}}/4");
    succeed(parallel.args(["-j2", &shard, ":::", "1", "2", "3", "4"]));
    expect(dir.path(), &["merge", "study"], 0);
    check_images(&dir.path().join("study"), &dir.path().join("whole"));
}

#[test]
fn the_snakefile_makes_the_study_of_one_machine() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut snakemake) = engine(dir.path(), "snakemake", "Run pip install snakemake.") else { return };
    whole(dir.path());
    let config = ["--config", &format!("study={ALONE}"), "folder=study", "shards=3"].map(str::to_owned);
    succeed(snakemake.args(["--cores", "2", "--snakefile", &example("Snakefile")]).args(config));
    check_images(&dir.path().join("study"), &dir.path().join("whole"));
    assert!(std::fs::read_to_string(example("Snakefile")).unwrap().lines().count() <= 15);
}

#[test]
fn the_reframe_test_makes_the_study_of_one_machine_and_logs_its_rates() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut reframe) = engine(dir.path(), "reframe", "Run pip install reframe-hpc.") else { return };
    whole(dir.path());
    let folder = dir.path().join("study");
    let set = [format!("study={ALONE}"), format!("folder={}", folder.display())];
    let set = set.iter().flat_map(|value| ["-S", value]);
    let report =
        succeed(reframe.args(["-c", &example("reframe_study.py"), "-r", "--performance-report"]).args(set));
    assert!(report.contains("PASSED") && report.contains("cornell on cpu-bvh"), "{report}");
    check_images(&folder, &dir.path().join("whole"));
}
