//! How many lines of one set of files are found in another.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::level::{Level, Symbol, symbols};
use super::sources::Source;
use super::tiling::tiles;
use super::winnow::Winnowing;

/// The meaning of the similarity figures, to print below a table.
pub const EXPLANATION: &str = "\
Per cent of a side's lines of code found on the other side. Comments and white space never count. Levels: raw is as
written; dialect makes words of CUDA, OpenCL, C and Rust that mean the same one; names also takes out what things are
called, declared types, and what only one of C and Rust writes. Runs of tokens are found by winnowing (Schleimer,
Wilkerson, Aiken 2003) and greedy string tiling (Wise 1993); a line matches when more than half of it is in such runs.
Lines matched are those of the level that matches most. What a level takes out does not count towards a run's length, so
that dialect or names may match a little less than raw.
";

/// The shortest run of tokens that counts as a match, unless asked otherwise: two to three lines of code.
/// Idioms such as the head of a `for` loop are shorter.
pub const SHORTEST: usize = 20;

/// Lines of code, and how many are found on the other side. A line with a token on it is a line of code, and
/// is found when more than half of its tokens that count are in tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// Lines with a token that counts at this level.
    pub lines: usize,
    /// Lines with a counted token that a match covers.
    pub matched: usize,
}

impl Matched {
    /// Lines found over lines, from 0 to 1.
    pub fn share(&self) -> f64 {
        if self.lines == 0 { 0.0 } else { self.matched as f64 / self.lines as f64 }
    }

    fn add(self, other: Self) -> Self {
        Self { lines: self.lines + other.lines, matched: self.matched + other.matched }
    }
}

/// One [`Matched`] for each [`Level`], in the order of [`Level::ALL`].
pub type Levels = [Matched; 3];

/// A file or a folder, and how much of it is found anywhere on the other side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The path below the side's folder; `.` for all.
    pub name: String,
    /// Matched lines of raw tokens, in the neutral dialect, and with neutral names.
    pub levels: Levels,
}

/// Two files that share a tile at one level at least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The first side's file, and how much of it is in the other.
    pub a: Part,
    /// The second side's file, and how much of it is in the other.
    pub b: Part,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The name.
    pub name: String,
    /// All files of the side together.
    pub whole: Part,
    /// The folders where there are several, each with all below it.
    pub folders: Vec<Part>,
    /// The files.
    pub files: Vec<Part>,
}

/// Similarity of two folders of sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Similarity {
    /// The shortest run of tokens that counted.
    pub shortest: usize,
    /// The first side.
    pub a: Side,
    /// The second side.
    pub b: Side,
    /// Pairs of files that share something, most lines first.
    pub pairs: Vec<Pair>,
}

/// Compares every file of one side with every file of the other. Winnowing finds the pairs that share a run
/// of `shortest` tokens, greedy string tiling the lines they share.
pub fn compare(a: (&str, &[Source]), b: (&str, &[Source]), shortest: usize) -> Similarity {
    let found: Vec<Comparison> =
        Level::ALL.par_iter().map(|&level| at_level(a.1, b.1, level, shortest)).collect();
    let side = |(name, sources): (&str, &[Source]), lines: fn(&Comparison) -> &Vec<Matched>| {
        let levels: Vec<&Vec<Matched>> = found.iter().map(lines).collect();
        let part = |(i, source): (usize, &Source)| Part {
            name: source.name.clone(),
            levels: std::array::from_fn(|level| levels[level][i]),
        };
        Side::of_files(name, sources.iter().enumerate().map(part).collect())
    };
    let (side_a, side_b) = (side(a, |c| &c.a), side(b, |c| &c.b));
    let pairs = pairs(&found, &side_a.files, &side_b.files);
    Similarity { shortest, a: side_a, b: side_b, pairs }
}

impl Side {
    fn of_files(name: &str, files: Vec<Part>) -> Self {
        let mut folders: BTreeMap<&str, Levels> = BTreeMap::new();
        let mut whole = Levels::default();
        for file in &files {
            whole = sum(whole, file.levels);
            for (at, _) in file.name.match_indices('/') {
                let levels = folders.entry(&file.name[..at]).or_default();
                *levels = sum(*levels, file.levels);
            }
        }
        let folders =
            folders.into_iter().map(|(name, levels)| Part { name: name.to_owned(), levels }).collect();
        Self { name: name.to_owned(), whole: Part { name: ".".to_owned(), levels: whole }, folders, files }
    }
}

fn sum(a: Levels, b: Levels) -> Levels {
    std::array::from_fn(|level| a[level].add(b[level]))
}

/// The matches at one level.
struct Comparison {
    /// Matches of each file of the first side in any file of the second.
    a: Vec<Matched>,
    b: Vec<Matched>,
    /// Matches of pairs of files that share a tile.
    pairs: HashMap<(usize, usize), (Matched, Matched)>,
}

fn at_level(a: &[Source], b: &[Source], level: Level, shortest: usize) -> Comparison {
    let read = |sources: &[Source]| -> Vec<Vec<Symbol>> {
        sources.par_iter().map(|source| symbols(&source.tokens(), source.language, level)).collect()
    };
    let (files_a, files_b) = (read(a), read(b));
    let mut covered_a: Vec<Vec<bool>> = files_a.iter().map(|file| vec![false; file.len()]).collect();
    let mut covered_b: Vec<Vec<bool>> = files_b.iter().map(|file| vec![false; file.len()]).collect();
    let tiled: Vec<_> = candidates(&files_a, &files_b, shortest)
        .into_par_iter()
        .map(|(i, j)| ((i, j), tiles(&files_a[i], &files_b[j], shortest)))
        .filter(|(_, tiles)| !tiles.is_empty())
        .collect();
    let mut pairs = HashMap::new();
    for ((i, j), tiles) in tiled {
        let (mut in_a, mut in_b) = (vec![false; files_a[i].len()], vec![false; files_b[j].len()]);
        for tile in tiles {
            for (start, flags) in
                [(tile.a, [&mut in_a, &mut covered_a[i]]), (tile.b, [&mut in_b, &mut covered_b[j]])]
            {
                flags.into_iter().for_each(|flags| flags[start..start + tile.length].fill(true));
            }
        }
        pairs.insert((i, j), (lines(&files_a[i], &in_a), lines(&files_b[j], &in_b)));
    }
    let count = |files: &[Vec<Symbol>], covered: &[Vec<bool>]| {
        files.iter().zip(covered).map(|(file, covered)| lines(file, covered)).collect()
    };
    Comparison { a: count(&files_a, &covered_a), b: count(&files_b, &covered_b), pairs }
}

/// Pairs of files that share a fingerprint, in order. A file shorter than the shortest run has the hash of
/// all of it for fingerprint, so that small files that are equal are found.
fn candidates(a: &[Vec<Symbol>], b: &[Vec<Symbol>], shortest: usize) -> Vec<(usize, usize)> {
    let winnowing = Winnowing::for_runs(shortest);
    let prints = |file: &Vec<Symbol>| match file.len() {
        0 => Vec::new(),
        short if short < winnowing.gram => Winnowing { gram: short, window: 1 }.fingerprints(file),
        _ => winnowing.fingerprints(file),
    };
    let mut owners: HashMap<u64, Vec<usize>> = HashMap::new();
    for (j, file) in b.iter().enumerate() {
        for print in prints(file) {
            owners.entry(print).or_default().push(j);
        }
    }
    let mut found: Vec<(usize, usize)> = a
        .iter()
        .enumerate()
        .flat_map(|(i, file)| prints(file).into_iter().map(move |print| (i, print)))
        .flat_map(|(i, print)| owners.get(&print).into_iter().flatten().map(move |&j| (i, j)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Lines of a file, and those of which more than half of the symbols are covered.
fn lines(file: &[Symbol], covered: &[bool]) -> Matched {
    let mut by_line: HashMap<u32, (usize, usize)> = HashMap::new();
    for (symbol, &covered) in file.iter().zip(covered) {
        let (all, found) = by_line.entry(symbol.line).or_default();
        *all += 1;
        *found += usize::from(covered);
    }
    Matched {
        lines: by_line.len(),
        matched: by_line.values().filter(|(all, found)| 2 * found > *all).count(),
    }
}

fn pairs(found: &[Comparison], files_a: &[Part], files_b: &[Part]) -> Vec<Pair> {
    let mut keys: Vec<(usize, usize)> = found.iter().flat_map(|c| c.pairs.keys().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    let part = |file: &Part, of_level: &dyn Fn(usize) -> Option<Matched>| Part {
        name: file.name.clone(),
        levels: std::array::from_fn(|level| {
            of_level(level).unwrap_or(Matched { lines: file.levels[level].lines, matched: 0 })
        }),
    };
    let mut pairs: Vec<Pair> = keys
        .into_iter()
        .map(|key| Pair {
            a: part(&files_a[key.0], &|level| found[level].pairs.get(&key).map(|m| m.0)),
            b: part(&files_b[key.1], &|level| found[level].pairs.get(&key).map(|m| m.1)),
        })
        .collect();
    pairs.sort_by_key(|pair| {
        std::cmp::Reverse(pair.a.levels.iter().map(|matched| matched.matched).max().unwrap_or_default())
    });
    pairs
}
