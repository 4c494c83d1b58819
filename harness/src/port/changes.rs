//! The changes that git knows of a folder.

use std::path::Path;
use std::process::Command;

/// The start of each commit's list of files.
const COMMIT: &str = "\u{1}";

/// The files that every commit but merges touched, relative to the folder.
///
/// # Errors
/// Why there is no history, with the remedy: no git program, or no repository.
pub(crate) fn of(root: &Path) -> Result<Vec<Vec<String>>, String> {
    from(root, "git")
}

fn from(root: &Path, program: &str) -> Result<Vec<Vec<String>>, String> {
    let output = Command::new(program)
        .arg("-C")
        .arg(root)
        .args([
            "-c",
            "core.quotePath=false",
            "log",
            "--no-merges",
            "--relative",
            "--name-only",
            "--no-renames",
        ])
        .args(["--no-ext-diff", "--format=%x01", "--", "."])
        .output()
        .map_err(|error| {
            format!("the program {program} does not run: {error}; install git to see the history")
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().next().unwrap_or("git failed").to_owned();
        return Err(format!("{reason}; name a folder of a git repository to see the history"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let files = |commit: &str| commit.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    Ok(text.split(COMMIT).skip(1).map(files).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, args: &[&str]) -> bool {
        Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(args)
            .output()
            .is_ok_and(|output| output.status.success())
    }

    #[test]
    fn every_commit_lists_the_files_it_touched_below_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let found = git(dir.path(), &["init", "-q"]).then_some(());
        let missing = "No git is here. Install the package git.";
        if lockstep_conformance::require::present("git", found.ok_or(missing)).is_none() {
            return;
        }
        std::fs::create_dir_all(dir.path().join("p/a")).unwrap();
        for (file, text) in [("p/a/x.c", "1"), ("p/a/x.c", "2"), ("outside.c", "3")] {
            std::fs::write(dir.path().join(file), text).unwrap();
            assert!(git(dir.path(), &["add", "-A"]));
            let who = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"];
            assert!(git(dir.path(), &[who.as_slice(), &["commit", "-qm", "m"]].concat()));
        }
        assert_eq!(of(&dir.path().join("p")).unwrap(), [["a/x.c"], ["a/x.c"]]);
    }

    #[test]
    fn no_git_and_no_repository_are_reasons_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        assert!(from(dir.path(), "no-such-program").unwrap_err().contains("install git"));
        assert!(of(dir.path()).unwrap_err().contains("; "));
    }
}
