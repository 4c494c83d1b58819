//! Greedy string tiling (Wise, String Similarity via Greedy String Tiling and Running Karp-Rabin Matching,
//! 1993): the longest runs that two files share, each symbol in one run at most.

use std::collections::{BinaryHeap, HashMap};

use super::level::Symbol;
use super::winnow::gram_hashes;

/// A run of symbols that two files share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tile {
    /// Symbols in the run.
    pub length: usize,
    /// Start of the run in the first file.
    pub a: usize,
    /// Start of the run in the second file.
    pub b: usize,
}

/// At most this many positions of the second file that begin alike are compared: a table of thousands of
/// equal rows would else be compared with itself row by row. Matches are missed in such tables alone.
const MOST_ALIKE: usize = 64;

/// The tiles of at least `shortest` symbols, longest first. Files that are equal as a whole are one tile of
/// any length.
pub fn tiles(a: &[Symbol], b: &[Symbol], shortest: usize) -> Vec<Tile> {
    let same = |(a, b): (&Symbol, &Symbol)| a.code == b.code;
    if a.len() == b.len() && !a.is_empty() && a.iter().zip(b).all(same) {
        return vec![Tile { length: a.len(), a: 0, b: 0 }];
    }
    let mut taken = Taken { a: vec![false; a.len()], b: vec![false; b.len()] };
    let mut queue: BinaryHeap<Tile> = longest_runs(a, b, shortest).into();
    let mut found = Vec::new();
    while let Some(run) = queue.pop() {
        let free = taken.free_parts(run);
        if free.len() == 1 && free[0] == run {
            taken.take(run);
            found.push(run);
        } else {
            queue.extend(free.into_iter().filter(|part| part.length >= shortest));
        }
    }
    found
}

/// Every shared run of at least `shortest` symbols that cannot be made longer.
fn longest_runs(a: &[Symbol], b: &[Symbol], shortest: usize) -> Vec<Tile> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, hash) in gram_hashes(b, shortest).into_iter().enumerate() {
        let list = places.entry(hash).or_default();
        if list.len() < MOST_ALIKE {
            list.push(at);
        }
    }
    let mut runs = Vec::new();
    for (at, hash) in gram_hashes(a, shortest).into_iter().enumerate() {
        for &place in places.get(&hash).into_iter().flatten() {
            let goes_back = at > 0 && place > 0 && a[at - 1].code == b[place - 1].code;
            if goes_back {
                continue;
            }
            let length = a[at..].iter().zip(&b[place..]).take_while(|(a, b)| a.code == b.code).count();
            if length >= shortest {
                runs.push(Tile { length, a: at, b: place });
            }
        }
    }
    runs
}

/// Which symbols are in a tile.
struct Taken {
    a: Vec<bool>,
    b: Vec<bool>,
}

impl Taken {
    /// The parts of a run that no tile has taken on either side.
    fn free_parts(&self, run: Tile) -> Vec<Tile> {
        let mut parts = Vec::new();
        let mut start = None;
        for i in 0..=run.length {
            let free = i < run.length && !self.a[run.a + i] && !self.b[run.b + i];
            match (free, start) {
                (true, None) => start = Some(i),
                (false, Some(from)) => {
                    parts.push(Tile { length: i - from, a: run.a + from, b: run.b + from });
                    start = None;
                }
                _ => {}
            }
        }
        parts
    }

    fn take(&mut self, tile: Tile) {
        self.a[tile.a..tile.a + tile.length].fill(true);
        self.b[tile.b..tile.b + tile.length].fill(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(text: &str) -> Vec<Symbol> {
        text.bytes().map(|code| Symbol { code: code.into(), line: 1 }).collect()
    }

    fn lengths(a: &str, b: &str, shortest: usize) -> Vec<usize> {
        tiles(&symbols(a), &symbols(b), shortest).iter().map(|tile| tile.length).collect()
    }

    #[test]
    fn runs_that_moved_are_found_and_the_longest_comes_first() {
        assert_eq!(lengths("abcdeXYZWfgh", "fghQabcdeRXYZW", 3), [5, 4, 3]);
        assert!(lengths("abcde", "vwxyz", 2).is_empty());
    }

    #[test]
    fn no_symbol_is_in_two_tiles() {
        // A copy pasted twice matches its original once.
        assert_eq!(lengths("abcd", "abcdabcd", 2), [4]);
        assert_eq!(lengths("abcdXcdef", "abcdef", 2), [4, 2]);
    }

    #[test]
    fn equal_files_are_one_tile_however_short_or_dull() {
        assert_eq!(lengths("ab", "ab", 20), [2]);
        let dull = "0,".repeat(20_000);
        assert_eq!(lengths(&dull, &format!("{dull}x"), 20), [40_000]);
    }
}
