//! The xorwow generator (Marsaglia, *Xorshift RNGs*, Journal of Statistical Software 8(14), 2003, page 5). The
//! counterpart is `kernels/math/xorwow.h`.

/// The state: five words of xorshift, and a Weyl sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xorwow {
    /// Words of xorshift: x, y, z, w and v; not all zero.
    pub words: [u32; 5],
    /// Current term of the Weyl sequence: d.
    pub weyl: u32,
}

impl Xorwow {
    /// The state that the paper starts from.
    pub const PUBLISHED: Self =
        Self { words: [123_456_789, 362_436_069, 521_288_629, 88_675_123, 5_783_321], weyl: 6_615_241 };

    /// A state of its own for each four words: they replace x, y, z and w of the published one. v is never zero.
    #[inline(always)]
    pub const fn seeded([x, y, z, w]: [u32; 4]) -> Self {
        Self { words: [x, y, z, w, Self::PUBLISHED.words[4]], weyl: Self::PUBLISHED.weyl }
    }

    /// The next word of the sequence.
    #[inline(always)]
    pub fn next_word(&mut self) -> u32 {
        let [x, y, z, w, v] = self.words;
        let t = x ^ (x >> 2);
        let next = (v ^ (v << 4)) ^ (t ^ (t << 1));
        self.words = [y, z, w, v, next];
        self.weyl = self.weyl.wrapping_add(362_437);
        self.weyl.wrapping_add(next)
    }

    /// The four words of the sequence that follow the next `skipped` ones.
    #[inline(always)]
    pub fn four_after(mut self, skipped: u32) -> [u32; 4] {
        for _ in 0..skipped {
            self.next_word();
        }
        let a = self.next_word();
        let b = self.next_word();
        let c = self.next_word();
        let d = self.next_word();
        [a, b, c, d]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that the paper's C program prints, as other implementations of it list them.
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut state = Xorwow::PUBLISHED;
        let found: Vec<u32> = (0..6).map(|_| state.next_word()).collect();
        assert_eq!(
            found,
            [246_875_399, 3_690_007_200, 1_264_581_005, 3_906_711_041, 1_866_187_943, 2_481_925_219]
        );
    }

    /// The paper's program with its `unsigned long` of 32 bits, kept in 64 and reduced.
    #[test]
    fn a_million_words_are_those_of_the_papers_program() {
        let m = |v: u64| v & 0xffff_ffff;
        let (mut x, mut y, mut z, mut w, mut v) =
            (123_456_789u64, 362_436_069, 521_288_629, 88_675_123, 5_783_321);
        let mut d = 6_615_241u64;
        let mut state = Xorwow::PUBLISHED;
        for i in 0..1_000_000 {
            let t = x ^ (x >> 2);
            (x, y, z, w) = (y, z, w, v);
            v = m((v ^ (v << 4)) ^ (t ^ (t << 1)));
            d = m(d + 362_437);
            assert_eq!(u64::from(state.next_word()), m(d + v), "word {i}");
        }
    }

    #[test]
    fn words_behind_others_are_those_of_one_run() {
        let seeded = Xorwow::seeded([1, 2, 3, 4]);
        let mut run = seeded;
        let all: Vec<u32> = (0..24).map(|_| run.next_word()).collect();
        for skipped in [0, 4, 20] {
            assert_eq!(seeded.four_after(skipped), all[skipped as usize..][..4]);
        }
    }
}
