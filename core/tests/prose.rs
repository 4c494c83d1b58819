//! Doc comments can be read alone, and words that a term of the field has replaced do not come back.

#![allow(clippy::expect_used, reason = "a helper of a test may fail the test")]

use std::path::{Path, PathBuf};

/// First words that point outside the comment, or that put a clause where the term belongs.
const DANGLING: [&str; 16] = [
    "It", "Its", "They", "Their", "This", "These", "Those", "That", "There", "Who", "What", "Such", "And",
    "But", "Or", "Likewise",
];

/// Words of earlier versions and the terms that replaced them. Each is put together from two parts, so that a search for
/// the words finds nothing.
const RETIRED: [(&str, &str); 15] = [
    (concat!("bent_", "normal"), "perturbed_normal"),
    (concat!("Fl", "aws"), "InvalidSamples"),
    (concat!("Fla", "wed"), "InvalidSamples"),
    (concat!("Rejecte", "dSamples"), "InvalidSamples"),
    (concat!("cast", "_key"), "trace_rays"),
    (concat!("is_s", "mooth"), "is_specular"),
    (concat!("sides", "_agree"), "same_hemisphere"),
    (concat!("add", "_sky"), "add_environment"),
    (concat!("hier", "archy"), "BVH"),
    (concat!("Parti", "cipant"), "TargetSession"),
    (concat!("Judg", "ement"), "verdict"),
    (concat!("Abs", "ence"), "Unavailable"),
    (concat!("zo", "o"), "fixtures"),
    (concat!("tw", "in"), "counterpart"),
    (concat!("LS_CO", "VERAGE"), "LS_ALPHA"),
];

/// Folders that are not part of the project's sources. Recorded studies keep the words they were recorded with.
const ELSEWHERE: [&str; 6] = ["target", "recorded", "node_modules", "study", "tune", "bench"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && (path.join("mod.rs").exists() || !ELSEWHERE.contains(&&*name)) {
                sources(&path, found);
            }
        } else if ["rs", "h", "md"].iter().any(|end| path.extension().is_some_and(|e| e == *end)) {
            found.push(path);
        }
    }
}

/// Every source and page of the workspace with its text.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut files = Vec::new();
    sources(root, &mut files);
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root).unwrap_or(&path).to_owned();
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        (name.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn the_first_sentence_of_every_doc_comment_stands_alone() {
    let (mut comments, mut dangling) = (0, Vec::new());
    for (file, text) in texts().iter().filter(|(file, _)| file.ends_with(".rs")) {
        let mut within = false;
        for (number, line) in text.lines().enumerate() {
            let sentence = line.trim_start().strip_prefix("/// ");
            if let Some(sentence) = sentence.filter(|_| !within) {
                comments += 1;
                let first = sentence.split(|c: char| !is_word(c)).next().unwrap_or_default();
                if DANGLING.contains(&first) {
                    dangling.push(format!("{file}:{}: {sentence}", number + 1));
                }
            }
            within = line.trim_start().starts_with("///");
        }
    }
    assert!(comments > 5_000, "only {comments} doc comments were found");
    assert!(dangling.is_empty(), "start with the term:\n{}", dangling.join("\n"));
}

#[test]
fn words_that_a_term_of_the_field_has_replaced_do_not_come_back() {
    let texts = texts();
    assert!(texts.len() > 400, "only {} files were found", texts.len());
    let mut found = Vec::new();
    for (file, text) in texts.iter().filter(|(file, _)| !file.ends_with("CHANGELOG.md")) {
        for (number, line) in text.lines().enumerate() {
            for word in line.split(|c: char| !is_word(c)) {
                if let Some((_, now)) = RETIRED.iter().find(|(retired, _)| *retired == word) {
                    found.push(format!("{file}:{}: {word}, now {now}", number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
