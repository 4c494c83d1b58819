//! Doc comments can be read alone, and words that a term of the field has replaced do not come back.

#![allow(clippy::expect_used, reason = "a helper of a test may fail the test")]

use std::path::{Path, PathBuf};

/// First words that point outside the comment, or that put a clause where the term belongs.
const DANGLING: [&str; 16] = [
    "It", "Its", "They", "Their", "This", "These", "Those", "That", "There", "Who", "What", "Such", "And",
    "But", "Or", "Likewise",
];

/// First words of doc comments that lean on the item before, or leave the term out.
const LEANING: [&str; 30] = [
    "The same",
    "The other",
    "The others",
    "The first.",
    "The second.",
    "The rest.",
    "The inverse.",
    "Another",
    "Other",
    "Others",
    "Both",
    "Of",
    "As above",
    "As before",
    "As in",
    "How.",
    "How many.",
    "How many of them",
    "How it",
    "How they",
    "One of them",
    "Where.",
    "Where it",
    "Where they",
    "When it",
    "Why it",
    "Why they",
    "Whether it",
    "Whether they",
    "Everything.",
];

/// Words of earlier versions and the terms that replaced them; upper case counts as lower case. Each is put together from
/// two parts, so that a search for the words finds nothing.
const RETIRED: [(&str, &str); 56] = [
    (concat!("bent_", "normal"), "perturbed_normal"),
    (concat!("bent ", "normal"), "perturbed normal"),
    (concat!("ls_", "trace"), "ls_record_paths"),
    (concat!("cast", "_key"), "trace_rays"),
    (concat!("Threads::", "Own"), "Scheduling::Default"),
    (concat!("LS_", "REFILL"), "dynamic ray fetch"),
    (concat!("LS_", "FETCH"), "dynamic ray fetch"),
    (concat!("own ", "way"), "default"),
    (concat!("Fl", "aws"), "InvalidSamples"),
    (concat!("Fla", "wed"), "InvalidSamples"),
    (concat!("Rejecte", "dSamples"), "InvalidSamples"),
    (concat!("pie", "ces"), "split references"),
    (concat!("ju", "dge"), "confirm, compare"),
    (concat!("jud", "ges"), "confirms, compares"),
    (concat!("jud", "ged"), "confirmed, compared"),
    (concat!("jud", "ging"), "confirming, comparing"),
    (concat!("Judg", "ement"), "verdict"),
    (concat!("Jud", "ged8"), "Candidates8"),
    (concat!("prop", "osals"), "candidates"),
    (concat!("hit ", "rule"), "intersection predicate"),
    (concat!("sooner", "_first"), "occlusion_order"),
    (concat!("hier", "archy"), "BVH"),
    (concat!("at_", "most"), "simd_le"),
    (concat!("On", "ward"), "surviving paths"),
    (concat!("gone", "_on"), "surviving_paths"),
    (concat!("is_s", "mooth"), "is_specular"),
    (concat!("sides", "_agree"), "same_hemisphere"),
    (concat!("add", "_sky"), "add_environment"),
    (concat!("LS_CO", "VERAGE"), "LS_ALPHA"),
    (concat!("partial ", "coverage"), "partial opacity"),
    (concat!("Lis", "ting"), "KernelSource, TranslationUnit"),
    (concat!("tw", "in"), "counterpart"),
    (concat!("zo", "o"), "fixtures"),
    (concat!("work", "shop"), "fixtures"),
    (concat!("pla", "nted"), "mutant"),
    (concat!("convi", "cted"), "killed"),
    (concat!("lad", "der"), "spp levels, path divergence"),
    (concat!("lad", "ders"), "spp levels, path divergence"),
    (concat!("ru", "ng"), "spp level, quantity"),
    (concat!("ru", "ngs"), "spp levels, quantities"),
    (concat!("cli", "mb"), "spp levels, path divergence"),
    (concat!("Parti", "cipant"), "TargetSession"),
    (concat!("hurry", "_until"), "deadline"),
    (concat!("left", "_out"), "skipped"),
    (concat!("said", "_of"), "sentences"),
    (concat!("Threads::", "PerRay"), "Scheduling::OneThreadPerRay"),
    (concat!("Record::", "Again"), "Record::AaControl"),
    (concat!("probes::", "prove"), "check_arithmetic"),
    (concat!("is_pro", "ven_by"), "is_shown_by"),
    (concat!("library::", "Place"), "SearchPath"),
    (concat!("put up ", "with"), "tolerated"),
    (concat!("in", "-place"), "no-compaction"),
    (concat!("Sky", "Batch"), "EnvironmentBatch"),
    (concat!("Sky", "Table"), "EnvironmentTable"),
    (concat!("abse", "nce"), "Unavailable"),
    (concat!("pa", "ce"), "seconds per spp"),
];

/// Options of the command line that keep a word whose identifiers have a term: the declaration in `harness/src/cli.rs`, and
/// the reason. Users know both.
const KEPT_OPTIONS: [(&str, &str); 2] = [
    (
        "pub(crate) prove: bool",
        "`devices --prove` and its fields `proven` and `proof_ms` check exact arithmetic",
    ),
    (
        "pub(crate) sky: ",
        "`--sky` sets the environment light, which files of Mitsuba, Cycles and pbrt call so too",
    ),
];

/// Words that files of earlier versions use for kinds and fields of records, which readers must therefore know: file, word,
/// number of lines.
const KINDS_OF_OLDER_FILES: [(&str, &str, usize); 6] = [
    ("harness/python/lockstep/__init__.py", concat!("in", "-place"), 1),
    ("harness/python/tests/test_lockstep.py", concat!("in", "-place"), 1),
    ("reports/records/src/tune.rs", concat!("in", "-place"), 3),
    ("harness/CHANGELOG.md", concat!("in", "-place"), 1),
    ("reports/records/src/record.rs", concat!("ru", "ng"), 2),
    ("reports/records/src/first_divergence.rs", concat!("ru", "ng"), 1),
];

/// Ends of names of text files. What programs of earlier versions wrote and nobody edits, records and logs, is checked
/// nowhere: see [`is_verbatim`].
const TEXT: [&str; 14] =
    ["rs", "h", "md", "toml", "py", "js", "css", "html", "yml", "yaml", "sh", "json", "txt", "cff"];

/// Folders that are not part of the project's sources, wherever they lie.
const ELSEWHERE: [&str; 2] = ["target", "node_modules"];

/// Folders that commands write to the root of the workspace.
const WRITTEN: [&str; 3] = ["study", "tune", "bench"];

/// Folders whose names begin with a dot and that are part of the project.
const HIDDEN: [&str; 2] = [".github", ".ci"];

/// Whether a file is a record or a log of a recorded run, which keeps the words of the program that wrote it.
fn is_verbatim(file: &str) -> bool {
    file.contains("recorded/") && ["json", "txt"].iter().any(|end| file.ends_with(&format!(".{end}")))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() {
            let is_own = !name.starts_with('.') || HIDDEN.contains(&&*name);
            let is_written = path.parent() == Some(root()) && WRITTEN.contains(&&*name);
            if is_own && !is_written && !ELSEWHERE.contains(&&*name) {
                sources(&path, found);
            }
        } else if path.extension().map_or(name == "run", |end| TEXT.iter().any(|text| end == *text)) {
            found.push(path);
        }
    }
}

/// Every source and page of the workspace with its text.
fn texts() -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(root(), &mut files);
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap_or(&path).to_owned();
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        (name.display().to_string(), text)
    };
    files.into_iter().map(read).collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text begins with words, not with a part of a longer word.
fn begins(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| words.ends_with('.') || !rest.starts_with(is_word))
}

/// Whether the first line of a comment leaves the term out. `//` comments stand beside their code, so that they may lean on
/// it, but even they do not begin with a clause in place of the term.
fn is_dangling(marker: &str, sentence: &str) -> bool {
    match marker {
        "//" => begins(sentence, "What"),
        _ => DANGLING.iter().chain(&LEANING).any(|words| begins(sentence, words)),
    }
}

#[test]
fn the_first_sentence_of_every_comment_stands_alone() {
    let (mut comments, mut dangling) = (0, Vec::new());
    for (file, text) in texts().iter().filter(|(file, _)| file.ends_with(".rs")) {
        // The marker of the comment that the line before belongs to, since only a first line begins a sentence
        let mut before = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let marker = ["///", "//!", "//"].into_iter().find(|marker| line.starts_with(marker));
            if let Some(marker) = marker.filter(|_| marker != before) {
                comments += 1;
                let sentence = line.strip_prefix(marker).unwrap_or_default().trim_start();
                if is_dangling(marker, sentence) {
                    dangling.push(format!("{file}:{}: {sentence}", number + 1));
                }
            }
            before = marker;
        }
    }
    assert!(comments > 10_000, "only {comments} comments were found");
    assert!(dangling.is_empty(), "start with the term:\n{}", dangling.join("\n"));
}

#[test]
fn comments_without_their_term_are_found() {
    for words in DANGLING.iter().chain(&LEANING) {
        assert!(is_dangling("///", &format!("{words} parts.")), "{words}");
        assert!(is_dangling("//!", words), "{words}");
    }
    assert!(!is_dangling("///", "Offset of the image"), "a word that begins with another");
    assert!(!is_dangling("///", "The second side"), "a noun with its number");
    assert!(is_dangling("//", "What is left") && !is_dangling("//", "The same for the rest"), "beside code");
}

/// The retired words of a line with their terms. A phrase is found as it stands, a word as a whole.
fn retired(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let line = line.to_lowercase();
    RETIRED.into_iter().filter(move |(retired, _)| {
        let retired = retired.to_lowercase();
        line.match_indices(&retired).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + retired.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    })
}

#[test]
fn words_that_a_term_of_the_field_has_replaced_do_not_come_back() {
    let texts = texts();
    assert!(texts.len() > 600, "only {} files were found", texts.len());
    for part in [".github/CONTRIBUTING.md", ".ci/run", "README.md", "harness/CHANGELOG.md"] {
        assert!(texts.iter().any(|(file, _)| file == part), "{part} was not read");
    }
    assert!(
        texts.iter().filter(|(file, _)| file.ends_with("/summary.md")).count() > 10,
        "recorded summaries"
    );
    let (mut found, mut known) = (Vec::new(), KINDS_OF_OLDER_FILES.map(|(file, word, _)| (file, word, 0)));
    for (file, text) in texts.iter().filter(|(file, _)| !is_verbatim(file)) {
        for (number, line) in text.lines().enumerate() {
            for (word, now) in retired(line) {
                match known.iter_mut().find(|(of, known, _)| of == file && *known == word) {
                    Some((_, _, lines)) => *lines += 1,
                    None => found.push(format!("{file}:{}: {word}, now {now}", number + 1)),
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(known, KINDS_OF_OLDER_FILES, "names of kinds in older files");
}

#[test]
fn options_that_keep_a_word_are_there() {
    let cli = std::fs::read_to_string(root().join("harness/src/cli.rs")).expect("the command line");
    for (declaration, reason) in KEPT_OPTIONS {
        assert!(cli.contains(declaration), "{declaration} is gone, so nothing keeps its word: {reason}");
    }
}

#[test]
fn retired_words_are_found_as_whole_words_in_either_case() {
    let of = |line: &str| retired(line).map(|(word, _)| word.to_lowercase()).collect::<Vec<_>>();
    let (word, phrase) = (concat!("lad", "der"), concat!("hit ", "rule"));
    assert_eq!(of(&format!("the {}: {}", word.to_uppercase(), phrase)), [phrase, word]);
    assert_eq!(of(&format!("step{word}, _{word}, between")), Vec::<String>::new());
}
