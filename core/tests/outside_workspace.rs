//! The crates work as dependencies of a workspace elsewhere.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use lockstep_require::present;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// The line that `lockstep-cuda` documents for other workspaces.
const CUDA_LINE: &str = r#"find_cuda_helper = { path = "LOCKSTEP/backend-cuda/find-cuda-helper" }"#;

/// A program with the CUDA backend, which must start without a driver.
const CUDA_PROGRAM: &str = r#"
use lockstep_core::Backend as _;

fn main() {
    for target in lockstep_cuda::Cuda.targets() {
        println!("{}: {}", target.name, if target.state.is_ok() { "present" } else { "absent" });
    }
}
"#;

/// A package outside the workspace with two programs: the example, and [`CUDA_PROGRAM`].
fn write_package(folder: &Path, workspace: &Path) {
    let read = |file: &str| fs::read_to_string(workspace.join(file)).unwrap();
    let path = workspace.to_str().expect("a path in UTF-8");
    assert!(read("backend-cuda/README.md").contains(CUDA_LINE));
    let dependency = |(name, folder): (&str, &str)| format!("{name} = {{ path = \"{path}/{folder}\" }}\n");
    let dependencies = [
        ("lockstep-core", "core"),
        ("lockstep-cpu", "backend-cpu"),
        ("lockstep-cuda", "backend-cuda"),
        ("lockstep-opencl", "backend-opencl"),
        ("lockstep-scenes", "scenes"),
    ];
    let (root, lock) = (read("Cargo.toml"), read("Cargo.lock"));
    let manifest = format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{}{}\n\
         [patch.crates-io]\n{}\n\n{}",
        dependencies.map(dependency).concat(),
        third_party(&root, &lock),
        CUDA_LINE.replace("LOCKSTEP", path),
        profile(&root),
    );
    fs::create_dir_all(folder.join("src/bin")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("Cargo.lock"), lock).unwrap();
    fs::write(folder.join("src/bin/image.rs"), include_str!("../examples/render_one_image.rs")).unwrap();
    fs::write(folder.join("src/bin/cuda.rs"), CUDA_PROGRAM).unwrap();
}

/// Lines of a manifest from a heading up to another.
fn section<'a>(manifest: &'a str, from: &str, to: &str) -> impl Iterator<Item = &'a str> {
    manifest.lines().skip_while(move |line| *line != from).skip(1).take_while(move |line| *line != to)
}

/// The third-party crates that the workspace names and uses, so that they have the features that the suite built them with.
fn third_party(root: &str, lock: &str) -> String {
    let is_used = |line: &&str| {
        let name = line.split(" = ").next().unwrap_or_default();
        let is_own = name.starts_with("lockstep") || name.starts_with("embree4");
        !is_own && lock.contains(&format!("name = \"{name}\"\n"))
    };
    section(root, "[workspace.dependencies]", "[workspace.lints.rust]")
        .filter(is_used)
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The suite's profile for third-party crates. Ours are compiled without optimisation, which is sooner, and must render the same
/// film.
fn profile(root: &str) -> String {
    let lines =
        section(root, "[profile.dev]", "[patch.crates-io]").filter(|line| !line.starts_with("lockstep"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    format!("[profile.dev]\n{}", text.replacen("opt-level = 2", "opt-level = 0", 1))
}

/// Files up to this size are copied: Cargo writes some of them in place, while compilers replace what is larger.
const COPIED: u64 = 1 << 16;

/// Gives a target folder what the suite has built of third-party crates, in place of compiling them again: three quarters of
/// the time of a build from nothing. Whatever does not fit is compiled.
fn lend(built: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(built)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("lockstep") || name.starts_with("liblockstep") {
            continue;
        }
        // Other tests may remove files of their own meanwhile
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            lend(&from, &to)?;
        } else if !to.exists() && (metadata.len() <= COPIED || fs::hard_link(&from, &to).is_err()) {
            // Cargo tells by its time whether a file is current
            let modified = metadata.modified()?;
            let copied = fs::copy(&from, &to).and_then(|_| fs::File::options().write(true).open(&to));
            let _ = copied.and_then(|file| file.set_modified(modified));
        }
    }
    Ok(())
}

/// Builds and runs a program of the package; returns its standard output.
fn run(folder: &Path, target_folder: &Path, program: &str) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--offline", "--bin", program])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target_folder)
        .output()
        .expect("cargo");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_package_outside_the_workspace_renders_the_same_film_on_exact_targets() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let target_folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let folder = tempfile::tempdir().unwrap();
    write_package(folder.path(), workspace);
    let program = std::env::current_exe().unwrap();
    let suite = program.ancestors().nth(2).expect("target/debug/deps/PROGRAM");
    for part in [".fingerprint", "build", "deps"] {
        if suite.join(part).is_dir() {
            lend(&suite.join(part), &target_folder.join("debug").join(part)).unwrap();
        }
    }

    let output = run(folder.path(), &target_folder, "image");
    println!("{output}");
    let is_exact = |line: &&str| line.starts_with("cpu-bvh: ") || line.starts_with("opencl");
    let exact: Vec<&str> = output.lines().filter(is_exact).collect();
    assert!(
        exact.iter().all(|line| line.contains(": 0 pixels differ") || line.contains(": absent: ")),
        "{output}"
    );
    assert!(output.contains("cpu-bvh: 0 pixels differ"), "{output}");
    let image = fs::read(folder.path().join("cornell.pfm")).unwrap();
    assert_eq!(image.len(), "PF\n64 64\n-1.0\n".len() + 64 * 64 * 3 * 4);

    let output = run(folder.path(), &target_folder, "cuda");
    assert!(output.starts_with("cuda"), "{output}");

    for target in ["opencl@pocl", "opencl@intel"] {
        let found = exact.iter().find(|line| line.starts_with(&format!("{target}: 0 pixels differ")));
        present(target, found.ok_or("the program lists no such target"));
    }
}
