//! `lockstep submit slurm`: a study as an array job, and the merge behind it.
//!
//! The script names its shard outright, `$SLURM_ARRAY_TASK_ID/N`, so that tasks that are submitted again are the same
//! shards whatever the array looks like then. It stays in the study's folder, and `sbatch --array=3,7-9 DIR/shards.sh`
//! submits some tasks again.
//!
//! Two limits of Slurm shape this: `MaxArraySize` bounds the highest index, not the number of tasks, and a job that
//! depends on success never starts once a task was killed, so the merge waits for the array's end (`afterany`) and finds
//! out for itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use lockstep_reports::image_io::atomic_write_text;
use lockstep_reports::records::shell_line;

use crate::cli::{SlurmArgs, SubmitCommand};
use crate::exit::{Exit, Failure};
use crate::output::{print, say};

/// The script of the array, in the study's folder.
pub(crate) const SCRIPT: &str = "shards.sh";
/// The script of the merge.
const MERGE_SCRIPT: &str = "merge.sh";
/// The folder of the tasks' output.
const LOGS: &str = "shard-logs";

/// Submits a study.
///
/// # Errors
/// [`Failure::Usage`] for more tasks than Slurm takes; [`Failure::Input`] where Slurm refuses or is not here;
/// [`Failure`] naming a file that cannot be written.
pub(crate) fn run(command: &SubmitCommand) -> Result<Exit, Failure> {
    let SubmitCommand::Slurm(args) = command;
    let here = std::env::current_dir().map_err(Failure::io("find the working folder", "."))?;
    let program = std::env::current_exe().map_err(Failure::io("find", "the program lockstep"))?;
    let folder = std::path::absolute(args.folder()?).map_err(Failure::io("find", "the study's folder"))?;
    let scripts = Scripts::of(args, &here, &program, &folder);
    if args.dry_run {
        print(&format!("{}\n{}", scripts.array, scripts.merge))?;
        return Ok(Exit::Fine);
    }
    check_array_size(args.array)?;
    let logs = folder.join(LOGS);
    std::fs::create_dir_all(&logs).map_err(Failure::io("make the folder", &logs))?;
    let [array, merge] = [SCRIPT, MERGE_SCRIPT].map(|name| folder.join(name));
    atomic_write_text(&array, &scripts.array)?;
    atomic_write_text(&merge, &scripts.merge)?;
    let job = sbatch(&[], &array)?;
    let after = sbatch(&[format!("--dependency=afterany:{job}")], &merge)?;
    say(&format!("lockstep: job {job} renders {} shards, job {after} merges them", args.array));
    print(&format!("{job}\n{after}\n"))?;
    Ok(Exit::Fine)
}

/// The two scripts.
struct Scripts {
    array: String,
    merge: String,
}

impl Scripts {
    fn of(args: &SlurmArgs, here: &Path, program: &Path, folder: &Path) -> Self {
        let word = |path: &Path| shell_line(&[path.to_string_lossy().into_owned()]);
        let (lockstep, here, folder_word) = (word(program), word(here), word(folder));
        let log = |name: &str| folder.join(LOGS).join(name).to_string_lossy().into_owned();
        let head = |name: &str, log: String, more: &[String]| {
            let options = [format!("--job-name={name}"), shell_line(&[format!("--output={log}")])];
            let line = |option: &String| format!("#SBATCH {option}\n");
            let lines: String = options.iter().chain(more).chain(&args.option).map(line).collect();
            // Tasks fetch nothing: nodes are often without a network, and would all fetch the same.
            format!("#!/bin/sh\n{lines}export LOCKSTEP_OFFLINE=1\ncd {here} || exit 4\n")
        };
        let count = args.array;
        let study = shell_line(args.study_words());
        let array = head("lockstep", log("%A_%a.log"), &[format!("--array=1-{count}")])
            + &format!("exec {lockstep} study {study} --shard \"$SLURM_ARRAY_TASK_ID/{count}\"\n");
        let merge = head("lockstep-merge", log("merge-%j.log"), &[])
            + &format!("exec {lockstep} merge {folder_word}\n");
        Self { array, merge }
    }
}

/// Fails where the highest task exceeds what this Slurm takes. A Slurm that does not say takes what it takes.
fn check_array_size(array: u32) -> Result<(), Failure> {
    let Ok(shown) = Command::new("scontrol").args(["show", "config"]).output() else { return Ok(()) };
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("MaxArraySize")?.split('=').nth(1)?.trim().parse().ok());
    match value {
        Some(limit) if array >= limit => Err(Failure::Usage(format!(
            "this Slurm takes tasks up to {} (MaxArraySize), and --array {array} has a task {array}; give fewer shards: \
             each renders as many units as it needs",
            limit - 1
        ))),
        _ => Ok(()),
    }
}

/// Submits a script and returns its job.
fn sbatch(options: &[String], script: &Path) -> Result<String, Failure> {
    let done = Command::new("sbatch").arg("--parsable").args(options).arg(script).output();
    let done = done.map_err(|error| {
        Failure::Input(format!(
            "cannot run sbatch: {error}; submit from a machine that has Slurm, or see the scripts with --dry-run"
        ))
    })?;
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    // `--parsable` prints the job, and a cluster behind a semicolon.
    let job = out.trim().split(';').next().unwrap_or("").to_owned();
    if !done.status.success() || job.parse::<u64>().is_err() {
        let script = script.display();
        return Err(Failure::Input(format!(
            "sbatch refused {script}: {}; change it with --option",
            err.trim()
        )));
    }
    Ok(job)
}

impl SlurmArgs {
    /// The study's folder, which its words must name: tasks may start at different times, and all need the same one.
    fn folder(&self) -> Result<PathBuf, Failure> {
        for word in ["--shard", "--plan", "--fresh"] {
            let is_given = |given: &String| given == word || given.starts_with(&format!("{word}="));
            if self.study.iter().any(is_given) {
                return Err(Failure::Usage(format!(
                    "leave {word} out: each task of the array names its shard"
                )));
            }
        }
        match self.study.iter().position(|word| word == "-o" || word == "--out") {
            Some(at) => self.study.get(at + 1).map(PathBuf::from),
            None => self.study.iter().find_map(|word| word.strip_prefix("--out=").map(PathBuf::from)),
        }
        .ok_or_else(|| {
            Failure::Usage(
                "name the folder that all tasks write to, as in -- cornell --spp 1..1024 -o DIR".into(),
            )
        })
    }

    /// The words of the study: a word `study` before them is taken for granted.
    fn study_words(&self) -> &[String] {
        match self.study.split_first() {
            Some((first, rest)) if first == "study" => rest,
            _ => &self.study,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(study: &[&str]) -> SlurmArgs {
        SlurmArgs {
            array: 8,
            option: vec!["--gres=gpu:1".into()],
            dry_run: true,
            study: study.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    #[test]
    fn a_script_names_its_shard_and_quotes_its_words() {
        let args = args(&["study", "my scene.glb", "--spp", "1..64", "-o", "a b"]);
        let scripts =
            Scripts::of(&args, Path::new("/home/me"), Path::new("/opt/lockstep"), Path::new("/home/me/a b"));
        assert_eq!(
            scripts.array,
            "#!/bin/sh\n#SBATCH --job-name=lockstep\n#SBATCH '--output=/home/me/a b/shard-logs/%A_%a.log'\n\
             #SBATCH --array=1-8\n#SBATCH --gres=gpu:1\nexport LOCKSTEP_OFFLINE=1\ncd /home/me || exit 4\n\
             exec /opt/lockstep study 'my scene.glb' --spp 1..64 -o 'a b' \
             --shard \"$SLURM_ARRAY_TASK_ID/8\"\n"
        );
        assert!(scripts.merge.ends_with("exec /opt/lockstep merge '/home/me/a b'\n"), "{}", scripts.merge);
    }

    #[test]
    fn the_folder_must_be_named_and_the_shard_must_not() {
        assert_eq!(args(&["cornell", "--out=d"]).folder().unwrap(), Path::new("d"));
        assert_eq!(args(&["cornell", "-o", "d"]).folder().unwrap(), Path::new("d"));
        assert!(args(&["cornell"]).folder().unwrap_err().to_string().contains("-o DIR"));
        assert!(
            args(&["cornell", "-o", "d", "--shard=1/2"])
                .folder()
                .unwrap_err()
                .to_string()
                .contains("--shard")
        );
    }
}
