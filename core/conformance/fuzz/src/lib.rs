//! Fuzzing of parsers from tests, on stable Rust.
//!
//! A test hands [`Fuzz::run`] some valid inputs, a folder with a corpus and a closure that parses bytes and says what
//! came of them. Inputs are mutated; one that leads to something new is kept and mutated further. New is an outcome
//! that no input had before, without its numbers and quoted words. In a build with coverage counters it is a part of
//! the program, or a count of its runs, that no input had reached:
//!
//! ```sh
//! RUSTFLAGS="-C instrument-coverage --cfg lockstep_coverage" LLVM_PROFILE_FILE=/dev/null \
//!     LOCKSTEP_FUZZ_SECONDS=3600 LOCKSTEP_FUZZ_SEED=1 LOCKSTEP_FUZZ_KEEP=kept \
//!     cargo test -p lockstep-scenes --test fuzz --target-dir target/coverage -- --nocapture
//! ```
//!
//! | variable | meaning |
//! |---|---|
//! | `LOCKSTEP_FUZZ_SECONDS` | time for each parser, 1 s by default; small formats take a part of it ([`Fuzz::run_part`]) |
//! | `LOCKSTEP_FUZZ_SEED` | seed of the mutations, 0 by default; one seed gives the same inputs as far as time allows |
//! | `LOCKSTEP_FUZZ_KEEP` | folder for the inputs that led to something new, by parser |
//!
//! A panic fails the test, and so does an input that takes longer than [`LONGEST`]; either is written to a file that
//! the message names. Put it into the corpus once the fault is mended.

#[cfg(lockstep_coverage)]
mod coverage;
mod mutation;
mod watch;

use mutation::{Mutator, Random};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use watch::Watch;

/// Upper limit of the time that one input may take, long enough for a machine that does much else.
pub const LONGEST: Duration = Duration::from_secs(20);

/// Inputs do not grow beyond this many bytes.
const MAX_BYTES: usize = 1 << 16;

/// A parser's fuzz test.
#[derive(Clone, Copy, Debug)]
pub struct Fuzz<'a> {
    /// The parser, a word that serves as a file name.
    pub name: &'a str,
    /// Valid inputs to begin with.
    pub seeds: &'a [Vec<u8>],
    /// A folder of inputs that are parsed first and mutated too; it may be missing.
    pub corpus: &'a Path,
    /// Words of the format.
    pub words: &'a [&'a str],
}

/// Result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Inputs parsed.
    pub inputs: u64,
    /// Number of inputs kept: the seeds, the corpus, and mutations that reached a new outcome or new coverage.
    pub kept: usize,
    /// Number of distinct outcomes.
    pub outcomes: usize,
    /// Time taken.
    pub seconds: f64,
}

impl Fuzz<'_> {
    /// Parses the seeds, the corpus, and mutations of them until the time is over. `parse` returns its outcome in
    /// words: an error's message, or what a valid input holds.
    ///
    /// # Panics
    /// Where `parse` panics, with the name of a file that holds the input.
    pub fn run(&self, parse: impl Fn(&[u8]) -> String) -> Report {
        self.run_part(1, parse)
    }

    /// Runs as [`Fuzz::run`] for one of `parts` equal parts of a parser's time: for formats with little to parse.
    ///
    /// # Panics
    /// As [`Fuzz::run`].
    pub fn run_part(&self, parts: u32, parse: impl Fn(&[u8]) -> String) -> Report {
        let start = Instant::now();
        let variable = |name: &str| std::env::var(name).ok();
        let number = |name: &str| variable(name).and_then(|text| text.parse::<u64>().ok());
        let seconds = Duration::from_secs(number("LOCKSTEP_FUZZ_SECONDS").unwrap_or(1));
        let end = start + seconds / parts.max(1);
        let mut random = Random::new(number("LOCKSTEP_FUZZ_SEED").unwrap_or(0));
        let mut state =
            State { fuzz: *self, watch: Watch::new(self.name), novelty: Novelty::default(), inputs: 0 };

        let mut kept: Vec<Vec<u8>> = self.seeds.iter().cloned().chain(corpus(self.corpus)).collect();
        for input in &kept {
            state.is_new(input, &parse);
        }
        let given = kept.len();
        let mutator = Mutator { words: self.words, most: MAX_BYTES };
        while Instant::now() < end && !kept.is_empty() {
            // Half of the time one of those kept last.
            let recent = kept.len().saturating_sub(1 + random.below(8));
            let which = if random.below(2) == 0 { random.below(kept.len()) } else { recent };
            let input = mutator.mutate(&kept[which], &kept, &mut random);
            if state.is_new(&input, &parse) {
                kept.push(input);
            }
        }
        if let Some(folder) = variable("LOCKSTEP_FUZZ_KEEP") {
            keep(&Path::new(&folder).join(self.name), &kept[given..]);
        }
        let report = Report {
            inputs: state.inputs,
            kept: kept.len(),
            outcomes: state.novelty.outcomes.len(),
            seconds: start.elapsed().as_secs_f64(),
        };
        println!(
            "fuzz {}: {} inputs in {:.1} s, {} kept, {} outcomes",
            self.name, report.inputs, report.seconds, report.kept, report.outcomes
        );
        report
    }
}

/// A run under way.
struct State<'a> {
    fuzz: Fuzz<'a>,
    watch: Watch,
    novelty: Novelty,
    inputs: u64,
}

impl State<'_> {
    /// Parses an input; whether it led to something new.
    #[expect(clippy::panic, reason = "a fault that a test finds must fail it")]
    fn is_new(&mut self, input: &[u8], parse: &impl Fn(&[u8]) -> String) -> bool {
        self.inputs += 1;
        self.watch.begin(input);
        self.novelty.begin();
        let outcome = catch_unwind(AssertUnwindSafe(|| parse(input)));
        self.watch.end();
        match outcome {
            Ok(outcome) => self.novelty.is_new(&outcome),
            Err(_) => {
                let path = write_found(self.fuzz.name, input);
                panic!("the parser of {} panicked on the input in {}", self.fuzz.name, path.display());
            }
        }
    }
}

/// Outcomes of inputs so far.
#[derive(Default)]
struct Novelty {
    outcomes: HashSet<String>,
    #[cfg(lockstep_coverage)]
    reached: coverage::Reached,
}

impl Novelty {
    fn begin(&mut self) {
        #[cfg(lockstep_coverage)]
        coverage::reset();
    }

    fn is_new(&mut self, outcome: &str) -> bool {
        let said = self.outcomes.insert(shape(outcome));
        #[cfg(lockstep_coverage)]
        let said = self.reached.is_new() || said;
        said
    }
}

/// An outcome without what an input chooses freely: numbers, and all between the first backquote or quotation mark and
/// the last, since an input may hold such marks itself. At most 200 characters of it.
fn shape(outcome: &str) -> String {
    let is_mark = |c: char| c == '`' || c == '"';
    let (before, after) = match (outcome.find(is_mark), outcome.rfind(is_mark)) {
        (Some(first), Some(last)) => (&outcome[..first], &outcome[last..]),
        _ => (outcome, ""),
    };
    let mut out = String::new();
    for c in before.chars().take(100).chain(after.chars().take(100)) {
        if !(c.is_ascii_digit() && out.ends_with('0')) {
            out.push(if c.is_ascii_digit() { '0' } else { c });
        }
    }
    out
}

/// The files of a folder in the order of their names; none where there is no folder.
fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Writes inputs into a folder, named by their contents.
fn keep(folder: &Path, inputs: &[Vec<u8>]) {
    let made = std::fs::create_dir_all(folder);
    let write = |input: &Vec<u8>| std::fs::write(folder.join(file_name(input)), input);
    if let Err(error) = made.and_then(|()| inputs.iter().try_for_each(write)) {
        eprintln!("inputs could not be kept in {}: {error}", folder.display());
    }
}

/// Writes an input that shows a fault into the system's folder for temporary files.
fn write_found(name: &str, input: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("lockstep-fuzz-{name}-{}", file_name(input)));
    if let Err(error) = std::fs::write(&path, input) {
        eprintln!("the input could not be written to {}: {error}; it is {input:?}", path.display());
    }
    path
}

/// A name by an input's contents: FNV-1a of 64 bits.
fn file_name(input: &[u8]) -> String {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parser with a fault behind three steps, each of which says something of its own.
    fn faulty(input: &[u8]) -> String {
        let text = String::from_utf8_lossy(input);
        let Some(rest) = text.strip_prefix("size ") else { return "no size".into() };
        let Ok(size) = rest.trim().parse::<i64>() else { return format!("`{rest}` is no number") };
        if size < 0 {
            return format!("size {size} is negative");
        }
        assert!(size < 1_000_000, "{size} is too much");
        format!("size {size}")
    }

    fn fuzz<'a>(seeds: &'a [Vec<u8>], corpus: &'a Path) -> Fuzz<'a> {
        Fuzz { name: "test", seeds, corpus, words: &["size "] }
    }

    #[test]
    fn a_fault_is_found_from_a_valid_input_and_its_input_is_kept() {
        let seeds = [b"size 3".to_vec()];
        let fault = catch_unwind(|| fuzz(&seeds, Path::new("nowhere")).run(faulty)).unwrap_err();
        let message = fault.downcast_ref::<String>().unwrap();
        let path = message.rsplit(' ').next().unwrap();
        let input = std::fs::read(path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert!(catch_unwind(|| faulty(&input)).is_err(), "{message}");
    }

    #[test]
    fn the_corpus_is_parsed_first() {
        let folder = std::env::temp_dir().join(format!("lockstep-fuzz-corpus-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a"), "size 123456789").unwrap();
        let fault = catch_unwind(|| fuzz(&[], &folder).run(faulty)).unwrap_err();
        std::fs::remove_dir_all(&folder).unwrap();
        let message = fault.downcast_ref::<String>().unwrap();
        std::fs::remove_file(message.rsplit(' ').next().unwrap()).unwrap();
        assert!(message.contains("panicked"), "{message}");
    }

    #[test]
    fn outcomes_differ_by_their_words_and_not_by_what_an_input_chose() {
        assert_eq!(shape("line 7: `abc` is not 12"), shape("line 4711: `x` is not 3"));
        assert_ne!(shape("line 7: `abc` is short"), shape("line 7: `abc` is long"));
        assert_eq!(shape("line 7: `a`b\"` is short"), shape("line 7: `` is short"));
    }
}
