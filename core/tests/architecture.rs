//! The drawing of crates in `core/README.md` is the dependency graph of the manifests; links of pages lead somewhere.

#![allow(clippy::expect_used, reason = "a helper of a test may fail the test")]

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for a dependency of the library or program itself, else `dev` or `build`.
    kind: Option<String>,
}

/// The workspace's crates whose names begin with `lockstep`, and the ones that each depends on.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn dependencies() -> Graph {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let Metadata { packages } = serde_json::from_slice(&output.stdout).expect("cargo's metadata");
    let own = packages.into_iter().filter(|package| package.name.starts_with("lockstep"));
    let of = |package: Package| {
        let used = package.dependencies.into_iter().filter(|dependency| dependency.kind.is_none());
        let names = used.map(|dependency| dependency.name).filter(|name| name.starts_with("lockstep"));
        (package.name, names.collect())
    };
    own.map(of).collect()
}

/// All crates that one depends on, directly or through others.
fn reachable(graph: &Graph, from: &str) -> BTreeSet<String> {
    let direct = &graph[from];
    direct.iter().flat_map(|to| reachable(graph, to)).chain(direct.iter().cloned()).collect()
}

/// The arrows that do not follow from others (the transitive reduction).
fn arrows(graph: &Graph) -> BTreeSet<String> {
    let of = |(from, direct): (&String, &BTreeSet<String>)| {
        let implied: BTreeSet<String> = direct.iter().flat_map(|to| reachable(graph, to)).collect();
        direct.difference(&implied).map(|to| format!("{from} --> {to}")).collect::<Vec<_>>()
    };
    graph.iter().flat_map(of).collect()
}

#[test]
fn the_drawing_of_crates_is_their_dependency_graph() {
    let readme = include_str!("../README.md");
    let drawn: BTreeSet<String> =
        readme.lines().map(str::trim).filter(|line| line.contains(" --> ")).map(str::to_owned).collect();
    let expected = arrows(&dependencies());
    let stale: Vec<_> = drawn.difference(&expected).collect();
    let missing: Vec<_> = expected.difference(&drawn).collect();
    assert!(
        stale.is_empty() && missing.is_empty(),
        "core/README.md lacks {missing:#?} and has too much: {stale:#?}"
    );
}

#[test]
fn every_crate_is_in_the_table_of_crates() {
    let readme = include_str!("../README.md");
    for name in dependencies().into_keys() {
        assert!(readme.contains(&format!("`{name}`")), "core/README.md does not describe {name}");
    }
}

/// The pages of the repository, without what builds and studies leave.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            let generated = name.starts_with("target") || name == "study" || name == ".git";
            if !generated && !path.is_symlink() {
                pages(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_and_folder_that_pages_link_to_exists() {
    let mut found = Vec::new();
    pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut found);
    assert!(found.len() > 10, "{found:?}");
    for page in found {
        let text = std::fs::read_to_string(&page).expect("a page");
        let folder = page.parent().expect("a folder");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let local = targets.filter(|target| !target.is_empty() && !target.contains("://"));
        let missing: Vec<_> = local.filter(|target| !folder.join(target).exists()).collect();
        assert!(missing.is_empty(), "{} links to {missing:?}", page.display());
    }
}
