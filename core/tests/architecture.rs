//! The drawing of crates in `core/README.md` is the dependency graph of the manifests; files of a crate do not use each
//! other in circles; links of pages lead somewhere.

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
    manifest_path: PathBuf,
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

fn packages() -> Vec<Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let Metadata { packages } = serde_json::from_slice(&output.stdout).expect("cargo's metadata");
    packages.into_iter().filter(|package| package.name.starts_with("lockstep")).collect()
}

fn dependencies() -> Graph {
    let of = |package: Package| {
        let used = package.dependencies.into_iter().filter(|dependency| dependency.kind.is_none());
        let names = used.map(|dependency| dependency.name).filter(|name| name.starts_with("lockstep"));
        (package.name, names.collect())
    };
    packages().into_iter().map(of).collect()
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

/// Circles of files that are there: the crate's folder, and one file of the circle. A circle that is gone is to be taken
/// off the list, and a new one to be broken: the part that both files need goes to a file of its own.
const KNOWN_CIRCLES: [(&str, &str); 12] = [
    // The default settings of builds are those of a layout, and a layout builds itself
    ("core/bvh", "build"),
    // Metrics and validation walk any stored BVH, and a stored BVH offers both
    ("core/bvh", "validate"),
    // A worker process runs the suite, and the suite starts worker processes
    ("core/conformance", "suite"),
    // Failures carry the errors of declared programs, which are checked against the names of backends
    ("harness", "exit"),
    // The command line is checked by the commands that it is parsed for
    ("harness", "cli"),
    // A merge is a study whose targets take their films from the plan's units
    ("harness", "study/plan"),
    // Images of a page, and the forms that one is embedded in
    ("reports", "page/images"),
    // A test's result has its reason, which is found by comparing results
    ("reports/metrics", "statistics/test_result"),
    // Compressed buffers are read by way of accessors, which read buffers
    ("scenes", "gltf/accessors"),
    // A material has lobes, which are read by the material's reader
    ("scenes", "gltf/materials"),
    // A mesh may be a serialised file, which holds a mesh
    ("scenes", "mitsuba/mesh"),
    // A parameter may be a spectrum by name, which is a parameter's colour
    ("scenes", "pbrt/params"),
];

/// The source files of a crate by the path of their module, without those that only tests have.
fn modules(src: &Path) -> BTreeMap<Vec<String>, String> {
    fn read(folder: &Path, module: &[String], found: &mut BTreeMap<Vec<String>, String>) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let stem = name.strip_suffix(".rs");
            if matches!(stem.unwrap_or(&name), "tests" | "bin") {
                continue;
            }
            let mut own = module.to_vec();
            if path.is_dir() {
                own.push(name);
                read(&path, &own, found);
            } else if let Some(stem) = stem {
                if !matches!(stem, "lib" | "main" | "mod") {
                    own.push(stem.to_owned());
                }
                found.insert(own, std::fs::read_to_string(&path).expect("UTF-8"));
            }
        }
    }
    let mut found = BTreeMap::new();
    read(src, &[], &mut found);
    let declared = |text: &str| -> Vec<String> {
        let rest = text.split("#[cfg(test)]\nmod ").skip(1);
        rest.filter_map(|rest| rest.lines().next()?.strip_suffix(';').map(str::to_owned)).collect()
    };
    let of_tests: Vec<Vec<String>> = found
        .iter()
        .flat_map(|(module, text)| {
            declared(text).into_iter().map(move |child| [&module[..], &[child]].concat())
        })
        .collect();
    found.retain(|module, _| !of_tests.iter().any(|tests| module.starts_with(tests)));
    found
}

/// The code of a file: no comments, and nothing from a module of tests on, which house style puts last.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The paths that a `use` names, its braces resolved: `a::{b, c::d as e}` is `a::b` and `a::c::d`.
fn named_by(tree: &str) -> Vec<String> {
    let Some((before, inner)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    // Split at the commas outside of inner braces
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            _ => {}
        }
        if c != ',' || depth > 0 {
            parts.last_mut().expect("one at least").push(c);
        }
    }
    let named = parts.iter().filter(|part| !part.trim().is_empty()).flat_map(|part| named_by(part.trim()));
    named.map(|path| format!("{}{path}", before.trim())).collect()
}

/// The module whose file a path of `module` leads to, and the name that is used of it; `None` for other crates.
fn resolved(
    path: &str,
    module: &[String],
    files: &BTreeMap<Vec<String>, String>,
) -> Option<(Vec<String>, String)> {
    let mut segments = path.split("::").map(str::trim).peekable();
    let mut at = match segments.peek().copied() {
        Some("crate") => Vec::new(),
        Some("super" | "self") => module.to_vec(),
        // A child of this module, or another crate
        Some(child) if files.contains_key(&[module, &[child.to_owned()]].concat()) => module.to_vec(),
        _ => return None,
    };
    while let Some(word) = segments.next_if(|word| matches!(*word, "crate" | "self" | "super")) {
        if word == "super" {
            at.pop();
        }
    }
    while let Some(child) =
        segments.next_if(|child| files.contains_key(&[&at[..], &[(*child).to_owned()]].concat()))
    {
        at.push(child.to_owned());
    }
    Some((at, segments.next().unwrap_or_default().to_owned()))
}

/// The files that each file of a crate uses. Names that a module passes on with `pub use` are those of the file that has
/// them. A module and the modules inside it are one subject: their uses of each other, `mod child` and `super::*` above
/// all, are not counted.
fn uses(files: &BTreeMap<Vec<String>, String>) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let statements = |text: &str| -> Vec<(bool, String)> {
        let mut found = Vec::new();
        for statement in code(text).split(';') {
            let Some(at) = statement.rfind("use ") else { continue };
            let (head, tree) = statement.split_at(at);
            let head = head.lines().last().unwrap_or_default().trim();
            if head.is_empty() || head.starts_with("pub") {
                let tree = tree.trim_start_matches("use ");
                found.extend(named_by(tree).into_iter().map(|path| (head.starts_with("pub"), path)));
            }
        }
        found
    };
    // Where the names that modules pass on come from
    let mut passed_on = BTreeMap::new();
    for (module, text) in files {
        for (_, path) in statements(text).into_iter().filter(|(is_public, _)| *is_public) {
            let name = path.rsplit("::").next().unwrap_or_default().to_owned();
            if let Some((to, _)) = resolved(&path, module, files).filter(|(to, _)| to != module) {
                passed_on.insert((module.clone(), name), to);
            }
        }
    }
    let mut graph = BTreeMap::new();
    for (module, text) in files {
        // The paths of `use`, and those in the midst of code
        let own = statements(text).into_iter().filter(|(is_public, _)| !is_public).map(|(_, path)| path);
        let text = code(text);
        let inline = text.match_indices("crate::").chain(text.match_indices("super::")).map(|(at, _)| {
            let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let rest = &text[at..];
            rest[..rest.find(|c: char| !is_path(c)).unwrap_or(rest.len())].to_owned()
        });
        let mut to = BTreeSet::new();
        for path in own.chain(inline.filter(|path| !path.ends_with("::"))) {
            let Some((mut at, mut name)) = resolved(&path, module, files) else { continue };
            while let Some(further) = passed_on.get(&(at.clone(), name.clone())) {
                at.clone_from(further);
                name.clear();
            }
            if !at.starts_with(module) && !module.starts_with(&at) {
                to.insert(at);
            }
        }
        graph.insert(module.clone(), to);
    }
    graph
}

/// The files that use each other in a circle (the strongly connected components of more than one).
fn circles(graph: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> BTreeSet<BTreeSet<Vec<String>>> {
    let reached = |from: &Vec<String>| {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            open.extend(graph.get(next).into_iter().flatten().filter(|to| found.insert((*to).clone())));
        }
        found
    };
    let reach: BTreeMap<_, _> = graph.keys().map(|module| (module, reached(module))).collect();
    let circle = |module: &Vec<String>| {
        let back = |to: &&Vec<String>| reach.get(to).is_some_and(|reach| reach.contains(module));
        reach[module].iter().filter(back).cloned().collect::<BTreeSet<_>>()
    };
    graph.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn files_of_a_crate_do_not_use_each_other_in_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let packages = packages();
    assert!(packages.len() > 15, "{}", packages.len());
    let (mut new, mut gone) = (Vec::new(), KNOWN_CIRCLES.to_vec());
    for package in &packages {
        let crate_folder = package.manifest_path.parent().expect("a folder");
        let folder = crate_folder.strip_prefix(root).expect("a folder of the workspace").to_string_lossy();
        let files = modules(&crate_folder.join("src"));
        for circle in circles(&uses(&files)) {
            let circle: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
            let is_known = |(of, file): &(&str, &str)| *of == folder && circle.iter().any(|own| own == file);
            match gone.iter().position(is_known) {
                Some(known) => drop(gone.remove(known)),
                None => new.push(format!("{folder}: {}", circle.join(", "))),
            }
        }
    }
    assert!(new.is_empty() && gone.is_empty(), "new circles:\n{}\ngone: {gone:?}", new.join("\n"));
}

#[test]
fn circles_are_found_through_braces_and_names_passed_on() {
    let file = |module: &str, text: &str| {
        (module.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect(), text.to_owned())
    };
    let files: BTreeMap<Vec<String>, String> = BTreeMap::from([
        file("", "pub mod a;\nmod b;\nmod c;\npub use b::B;\n"),
        file(
            "a",
            "use crate::{B, c::C};\nmod own;\npub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::d::D;\n}\n",
        ),
        file("a/own", "use super::*;\n"),
        file("b", "// use crate::c;\nfn b() {\n    super::a::f();\n}\n"),
        file("c", "use std::fmt;\n"),
    ]);
    let of = |names: &[&str]| names.iter().map(|name| vec![(*name).to_owned()]).collect::<BTreeSet<_>>();
    let graph = uses(&files);
    assert_eq!(graph[&vec!["a".to_owned()]], of(&["b", "c"]));
    assert_eq!(graph[&vec!["a".to_owned(), "own".to_owned()]], BTreeSet::new(), "one subject");
    assert_eq!(circles(&graph), BTreeSet::from([of(&["a", "b"])]));
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
