//! Mutations of an input.

/// Random numbers that a seed decides (SplitMix64; Steele, Lea and Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; zero where `n` is.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
}

/// Integers at which parsers go wrong.
const INTEGERS: [u64; 16] = [
    0,
    1,
    2,
    3,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Numbers as text that parsers mishandle: limits of integers, infinities, malformed exponents.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "255",
    "256",
    "65535",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e300",
    "-1e300",
    "1e-320",
    "0.5",
    "nan",
    "inf",
    "-0.0",
    "3.4028236e38",
];

/// How inputs are changed.
pub(crate) struct Mutator<'a> {
    /// Words of the format.
    pub(crate) words: &'a [&'a str],
    /// The most bytes of a result.
    pub(crate) most: usize,
}

impl Mutator<'_> {
    /// An input with one to five changes; parts may come from the `others`.
    pub(crate) fn mutate(&self, input: &[u8], others: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
        let mut out = input.to_vec();
        for _ in 0..1 + random.below(5) {
            self.change(&mut out, others, random);
        }
        out.truncate(self.most);
        out
    }

    fn change(&self, out: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
        let at = random.below(out.len() + 1);
        let range = range(out.len(), random);
        match random.below(12) {
            0 => flip(out, at, random),
            1 => set(out, at, &[random.next() as u8]),
            2 => {
                let bytes = random.pick(&INTEGERS).copied().unwrap_or(0).to_le_bytes();
                let width = 1 << random.below(4);
                set(out, at, &bytes[..width]);
            }
            3 => drop(out.drain(range)),
            4 => {
                let part = out[range].to_vec();
                insert(out, at, &part);
            }
            5 => {
                let bytes: Vec<u8> = (0..1 + random.below(8)).map(|_| random.next() as u8).collect();
                insert(out, at, &bytes);
            }
            6 if random.below(4) == 0 => out.truncate(at),
            7 => {
                let Some(other) = random.pick(others) else { return };
                let part = other[self::range(other.len(), random)].to_vec();
                out.splice(range, part);
            }
            8 => number(out, at, random),
            9 => {
                let word = random.pick(self.words).copied().unwrap_or("");
                insert(out, at, word.as_bytes());
            }
            10 => self.word(out, at, random),
            _ => line(out, at, random),
        }
    }

    /// Puts a word of the format in the place of another.
    fn word(&self, out: &mut Vec<u8>, at: usize, random: &mut Random) {
        let [Some(from), Some(to)] = [random.pick(self.words), random.pick(self.words)] else { return };
        let (from, to) = (from.as_bytes(), to.as_bytes());
        let places = |bytes: &[u8]| bytes.windows(from.len().max(1)).position(|window| window == from);
        let found = places(&out[at..]).map(|found| at + found).or_else(|| places(out));
        if let Some(found) = found {
            out.splice(found..found + from.len(), to.iter().copied());
        }
    }
}

fn flip(out: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = out.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set(out: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in out.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

fn insert(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    out.splice(at..at, bytes.iter().copied());
}

/// A range, most often a short one.
fn range(len: usize, random: &mut Random) -> std::ops::Range<usize> {
    let start = random.below(len + 1);
    let longest = if random.below(4) == 0 { len - start } else { (len - start).min(16) };
    start..start + random.below(longest + 1)
}

/// Replaces the number in digits at or after a place.
fn number(out: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e');
    let Some(start) = out.iter().skip(at).position(u8::is_ascii_digit).map(|found| at + found) else {
        return;
    };
    let len = out[start..].iter().take_while(|byte| is_part(byte)).count();
    let new = random.pick(&NUMBERS).copied().unwrap_or("0");
    out.splice(start..start + len, new.bytes());
}

/// Drops, doubles or moves the line at a place.
fn line(out: &mut Vec<u8>, at: usize, random: &mut Random) {
    let start = out[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
    let end = out[at..].iter().position(|byte| *byte == b'\n').map_or(out.len(), |found| at + found + 1);
    let line = out[start..end].to_vec();
    match random.below(3) {
        0 => drop(out.drain(start..end)),
        1 => insert(out, start, &line),
        _ => {
            out.drain(start..end);
            let to = random.below(out.len() + 1);
            let to = out[..to].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
            insert(out, to, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_the_same_inputs_within_their_bound() {
        let mutator = Mutator { words: &["alpha", "beta"], most: 300 };
        let seed = b"alpha 12\nbeta 0.5\n".to_vec();
        let run = |number| {
            let mut random = Random::new(number);
            let others = [vec![b'x'; 300], seed.clone()];
            (0..5000).map(|_| mutator.mutate(&seed, &others, &mut random)).collect::<Vec<_>>()
        };
        let inputs = run(1);
        assert_eq!(inputs, run(1));
        assert_ne!(inputs, run(2));
        assert!(inputs.iter().all(|input| input.len() <= 300));
        for text in [
            "alpha 4294967295\nbeta",
            "beta 0.5\nalpha 12\n",
            "alpha 12\nalpha 12\nbeta",
            "beta 12\n",
            "xxxxxxxx",
        ] {
            let is_there = |input: &Vec<u8>| String::from_utf8_lossy(input).contains(text);
            assert!(inputs.iter().any(is_there), "{text:?}");
        }
    }
}
