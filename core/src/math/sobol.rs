//! Owen-scrambled Sobol points by hashing (Burley, *Practical Hash-based Owen Scrambling*, JCGT 9(4), 2020), integers
//! only. The counterpart is `kernels/math/sobol.h`.
//!
//! Points have four dimensions, as many as a [`super::rng::Block`] has words. Every block of a path takes the first four
//! of Sobol's sequence, each in an order of its own (*padding*), so that no tables for high dimensions are needed. Any
//! point is computed alone, and the first 2^k samples of a pixel are a net in every block, whatever k.

/// Dimensions of a point.
pub const DIMENSIONS: usize = 4;

/// Point `index` of Sobol's sequence as 32-bit fractions (Sobol 1967; direction numbers by Joe and Kuo 2008,
/// new-joe-kuo-6, computed by their recurrences).
#[inline(always)]
pub fn point(index: u32) -> [u32; DIMENSIONS] {
    let mut x = [0u32; DIMENSIONS];
    // Direction numbers of the current bit, and of as many bits before as a recurrence needs.
    let mut first = 0x8000_0000u32;
    let mut second = 0x8000_0000u32;
    let mut third = [0x8000_0000u32, 0xc000_0000];
    let mut fourth = [0x8000_0000u32, 0xc000_0000, 0x2000_0000];
    let mut bits = index;
    while bits != 0 {
        // All ones where the bit is set.
        let taken = (bits & 1).wrapping_neg();
        x[0] ^= first & taken;
        x[1] ^= second & taken;
        x[2] ^= third[0] & taken;
        x[3] ^= fourth[0] & taken;
        first >>= 1;
        second ^= second >> 1;
        third = [third[1], third[1] ^ third[0] ^ (third[0] >> 2)];
        fourth = [fourth[1], fourth[2], fourth[1] ^ fourth[0] ^ (fourth[0] >> 3)];
        bits >>= 1;
    }
    x
}

/// A hash in which bits depend on lower bits alone (Laine and Karras 2011; constants by Vegdahl 2021).
#[inline(always)]
pub fn laine_karras(mut x: u32, seed: u32) -> u32 {
    x ^= x.wrapping_mul(0x3d20_adea);
    x = x.wrapping_add(seed);
    x = x.wrapping_mul((seed >> 16) | 1);
    x ^= x.wrapping_mul(0x0552_6c56);
    x ^= x.wrapping_mul(0x53a2_2864);
    x
}

/// Nested uniform scrambling in base 2 (Owen 1995): flips every bit by a hash of the higher ones.
#[inline(always)]
pub fn scramble(x: u32, seed: u32) -> u32 {
    laine_karras(x.reverse_bits(), seed).reverse_bits()
}

/// The scrambled point of a sample: `order` shuffles the samples, `seeds` scramble the dimensions.
#[inline(always)]
pub fn scrambled(sample: u32, order: u32, seeds: [u32; DIMENSIONS]) -> [u32; DIMENSIONS] {
    let p = point(scramble(sample, order));
    [scramble(p[0], seeds[0]), scramble(p[1], seeds[1]), scramble(p[2], seeds[2]), scramble(p[3], seeds[3])]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Direction numbers by the definition of Joe and Kuo: `s`, `a` and `m` of their table for dimension 2 to 4, the
    /// first having none.
    fn direction_numbers(s: usize, a: u32, m: &[u32]) -> [u32; 32] {
        let mut v = [0u32; 32];
        for i in 0..32 {
            v[i] = match m.get(i) {
                Some(m) => m << (31 - i),
                None => {
                    let terms = (1..s).filter(|k| a >> (s - 1 - k) & 1 == 1).map(|k| v[i - k]);
                    terms.fold(v[i - s] ^ (v[i - s] >> s), |sum, term| sum ^ term)
                }
            };
        }
        v
    }

    #[test]
    fn points_have_the_published_direction_numbers() {
        let first: [u32; 32] = std::array::from_fn(|i| 0x8000_0000 >> i);
        let all = [
            first,
            direction_numbers(1, 0, &[1]),
            direction_numbers(2, 1, &[1, 3]),
            direction_numbers(3, 1, &[1, 3, 1]),
        ];
        for bit in 0..32 {
            assert_eq!(point(1 << bit), all.map(|v| v[bit]), "bit {bit}");
        }
        // As Burley prints them, in part.
        assert_eq!(
            all[1][..6],
            [0x8000_0000, 0xc000_0000, 0xa000_0000, 0xf000_0000, 0x8800_0000, 0xcc00_0000]
        );
        assert_eq!(
            all[2][..6],
            [0x8000_0000, 0xc000_0000, 0x6000_0000, 0x9000_0000, 0xe800_0000, 0x5c00_0000]
        );
        assert_eq!(
            all[3][..6],
            [0x8000_0000, 0xc000_0000, 0x2000_0000, 0x5000_0000, 0xf800_0000, 0x7400_0000]
        );
        for index in [0u32, 1, 5, 12_345, 0xdead_beef, u32::MAX] {
            let bits = (0..32).filter(|bit| index >> bit & 1 == 1);
            let sum = bits.fold([0u32; 4], |sum, bit| std::array::from_fn(|d| sum[d] ^ all[d][bit]));
            assert_eq!(point(index), sum, "{index}");
        }
    }

    #[test]
    fn scrambling_flips_a_bit_by_the_higher_ones_alone() {
        for seed in [0, 1, 0x1234_5678, u32::MAX] {
            for bit in 0..32u32 {
                for x in [0u32, 0x5555_5555, 0x0f0f_1234] {
                    let changed = scramble(x, seed) ^ scramble(x ^ (1 << bit), seed);
                    assert_eq!(changed >> bit, 1, "bit {bit} of {x:x} changes itself and lower ones only");
                }
            }
        }
    }

    /// Bits of a scrambled zero are fair coins over seeds, and so is every bit's flip under a change of a higher one.
    #[test]
    fn scrambles_are_fair() {
        let seeds = 1u32 << 14;
        let hash = |i: u32| crate::math::rng::pcg4d([i, 1, 2, 3])[0];
        let limit = 6.0 * 0.5 / f64::from(seeds).sqrt();
        for bit in 0..31u32 {
            let ones = (0..seeds).filter(|&i| scramble(0, hash(i)) >> bit & 1 == 1).count();
            let flips =
                (0..seeds).filter(|&i| (scramble(0, hash(i)) ^ scramble(1 << 31, hash(i))) >> bit & 1 == 1);
            for count in [ones, flips.count()] {
                let share = count as f64 / f64::from(seeds);
                assert!((share - 0.5).abs() < limit, "bit {bit}: {share}");
            }
        }
    }
}
