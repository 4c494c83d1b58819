//! Owen-scrambled Sobol points by hashing (Burley, *Practical Hash-based Owen Scrambling*, JCGT 9(4), 2020), integers
//! only. The counterpart is `kernels/math/sobol.h`.
//!
//! A point has four dimensions of the sequence, one *group*, for the words of a [`super::rng::Block`]. Blocks of the first
//! bounces have a group each, so that all of them together are one point of the sequence: its error falls faster than one
//! over the number of samples for what depends on several blocks at once, such as a light's index with a direction towards
//! it. Other blocks take the first group, each in an order of its own (*padding*), and what depends on them together with
//! others has the error of independent numbers. Any point is computed alone, and the first 2^k samples of a pixel are
//! stratified in every word, whatever k.

/// Dimensions of a group.
pub const DIMENSIONS: usize = 4;
/// Groups of dimensions that are points of one sequence.
pub const GROUPS: u32 = 10;

/// A dimension after the first by Joe and Kuo: degree and inner coefficients of its polynomial, first numbers `m`.
type Polynomial = (usize, u32, [u32; 8]);

/// Dimensions 2 to 40 of Joe and Kuo 2008, new-joe-kuo-6.
#[rustfmt::skip]
const POLYNOMIALS: [Polynomial; GROUPS as usize * DIMENSIONS - 1] = [
    (1, 0, [1, 0, 0, 0, 0, 0, 0, 0]),
    (2, 1, [1, 3, 0, 0, 0, 0, 0, 0]),
    (3, 1, [1, 3, 1, 0, 0, 0, 0, 0]),
    (3, 2, [1, 1, 1, 0, 0, 0, 0, 0]),
    (4, 1, [1, 1, 3, 3, 0, 0, 0, 0]),
    (4, 4, [1, 3, 5, 13, 0, 0, 0, 0]),
    (5, 2, [1, 1, 5, 5, 17, 0, 0, 0]),
    (5, 4, [1, 1, 5, 5, 5, 0, 0, 0]),
    (5, 7, [1, 1, 7, 11, 19, 0, 0, 0]),
    (5, 11, [1, 1, 5, 1, 1, 0, 0, 0]),
    (5, 13, [1, 1, 1, 3, 11, 0, 0, 0]),
    (5, 14, [1, 3, 5, 5, 31, 0, 0, 0]),
    (6, 1, [1, 3, 3, 9, 7, 49, 0, 0]),
    (6, 13, [1, 1, 1, 15, 21, 21, 0, 0]),
    (6, 16, [1, 3, 1, 13, 27, 49, 0, 0]),
    (6, 19, [1, 1, 1, 15, 7, 5, 0, 0]),
    (6, 22, [1, 3, 1, 15, 13, 25, 0, 0]),
    (6, 25, [1, 1, 5, 5, 19, 61, 0, 0]),
    (7, 1, [1, 3, 7, 11, 23, 15, 103, 0]),
    (7, 4, [1, 3, 7, 13, 13, 15, 69, 0]),
    (7, 7, [1, 1, 3, 13, 7, 35, 63, 0]),
    (7, 8, [1, 3, 5, 9, 1, 25, 53, 0]),
    (7, 14, [1, 3, 1, 13, 9, 35, 107, 0]),
    (7, 19, [1, 3, 1, 5, 27, 61, 31, 0]),
    (7, 21, [1, 1, 5, 11, 19, 41, 61, 0]),
    (7, 28, [1, 3, 5, 3, 3, 13, 69, 0]),
    (7, 31, [1, 1, 7, 13, 1, 19, 1, 0]),
    (7, 32, [1, 3, 7, 5, 13, 19, 59, 0]),
    (7, 37, [1, 1, 3, 9, 25, 29, 41, 0]),
    (7, 41, [1, 3, 5, 13, 23, 1, 55, 0]),
    (7, 42, [1, 3, 7, 3, 13, 59, 17, 0]),
    (7, 50, [1, 3, 1, 3, 5, 53, 69, 0]),
    (7, 55, [1, 1, 5, 5, 23, 33, 13, 0]),
    (7, 56, [1, 1, 7, 7, 1, 61, 123, 0]),
    (7, 59, [1, 1, 7, 9, 13, 61, 49, 0]),
    (7, 62, [1, 3, 3, 5, 3, 55, 33, 0]),
    (8, 14, [1, 3, 1, 15, 31, 13, 49, 245]),
    (8, 21, [1, 3, 5, 15, 31, 59, 63, 97]),
    (8, 22, [1, 3, 1, 11, 11, 11, 77, 249]),
];

/// Direction numbers by group, bit of the index and dimension.
pub static DIRECTIONS: [[[u32; DIMENSIONS]; 32]; GROUPS as usize] = {
    let mut all = [[[0; DIMENSIONS]; 32]; GROUPS as usize];
    let mut dimension = 0;
    while dimension < GROUPS as usize * DIMENSIONS {
        let numbers = direction_numbers(dimension);
        let mut bit = 0;
        while bit < 32 {
            all[dimension / DIMENSIONS][bit][dimension % DIMENSIONS] = numbers[bit];
            bit += 1;
        }
        dimension += 1;
    }
    all
};

/// The direction numbers of a dimension from 0 as 32-bit fractions, by its recurrence.
const fn direction_numbers(dimension: usize) -> [u32; 32] {
    let mut v = [0; 32];
    let mut bit = 0;
    while bit < 32 {
        if dimension == 0 {
            v[bit] = 0x8000_0000 >> bit;
        } else {
            let (degree, inner, first) = POLYNOMIALS[dimension - 1];
            if bit < degree {
                v[bit] = first[bit] << (31 - bit);
            } else {
                v[bit] = v[bit - degree] ^ (v[bit - degree] >> degree);
                let mut k = 1;
                while k < degree {
                    // All ones where the coefficient is one
                    v[bit] ^= v[bit - k] & ((inner >> (degree - 1 - k)) & 1).wrapping_neg();
                    k += 1;
                }
            }
        }
        bit += 1;
    }
    v
}

/// A group of point `index` of Sobol's sequence as 32-bit fractions (Sobol 1967).
#[inline(always)]
pub fn point(group: u32, index: u32) -> [u32; DIMENSIONS] {
    let directions = &DIRECTIONS[group as usize];
    let mut x = [0u32; DIMENSIONS];
    let (mut bits, mut bit) = (index, 0);
    while bits != 0 {
        // All ones where the bit is set.
        let taken = (bits & 1).wrapping_neg();
        let v = directions[bit];
        x[0] ^= v[0] & taken;
        x[1] ^= v[1] & taken;
        x[2] ^= v[2] & taken;
        x[3] ^= v[3] & taken;
        bits >>= 1;
        bit += 1;
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

/// The scrambled point of a sample in a group; beyond the last, the first group of a sample that `order` shuffles. `seeds`
/// scramble the dimensions.
#[inline(always)]
pub fn scrambled(sample: u32, group: u32, order: u32, seeds: [u32; DIMENSIONS]) -> [u32; DIMENSIONS] {
    let p = if group < GROUPS { point(group, sample) } else { point(0, scramble(sample, order)) };
    [scramble(p[0], seeds[0]), scramble(p[1], seeds[1]), scramble(p[2], seeds[2]), scramble(p[3], seeds[3])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_the_published_direction_numbers() {
        let of = |dimension: usize, bit: usize| DIRECTIONS[dimension / 4][bit][dimension % 4];
        let first = |dimension: usize| [0, 1, 2, 3, 4, 5].map(|bit| of(dimension, bit));
        // As Burley prints them, in part
        assert_eq!(first(1), [0x8000_0000, 0xc000_0000, 0xa000_0000, 0xf000_0000, 0x8800_0000, 0xcc00_0000]);
        assert_eq!(first(2), [0x8000_0000, 0xc000_0000, 0x6000_0000, 0x9000_0000, 0xe800_0000, 0x5c00_0000]);
        assert_eq!(first(3), [0x8000_0000, 0xc000_0000, 0x2000_0000, 0x5000_0000, 0xf800_0000, 0x7400_0000]);
        // By the recurrence of Joe and Kuo over odd numbers m, of a degree of eight
        let (degree, inner, m) = POLYNOMIALS[37];
        let mut all: Vec<u64> = m.iter().map(|&m| u64::from(m)).collect();
        for k in degree..32 {
            let taps = (1..degree).filter(|i| inner >> (degree - 1 - i) & 1 == 1);
            let sum =
                taps.fold(all[k - degree] ^ (all[k - degree] << degree), |sum, i| sum ^ (all[k - i] << i));
            all.push(sum);
        }
        (0..32).for_each(|bit| assert_eq!(u64::from(of(38, bit)), all[bit] << (31 - bit), "bit {bit}"));
        for (group, index) in [(0, 0), (3, 1), (9, 12_345), (5, 0xdead_beef), (1, u32::MAX)] {
            let bits = (0..32).filter(|bit| index >> bit & 1 == 1);
            let of_bit = |bit: usize, d| DIRECTIONS[group as usize][bit][d];
            let sum = bits.fold([0u32; 4], |sum, bit| std::array::from_fn(|d| sum[d] ^ of_bit(bit, d)));
            assert_eq!(point(group, index), sum, "{index}");
        }
    }

    /// Every number is odd below its bit, so that each dimension of the first 2^k points is stratified.
    #[test]
    fn dimensions_are_stratified_and_differ() {
        let mut seen = std::collections::HashSet::new();
        for (dimension, numbers) in (0..GROUPS as usize * 4).map(|d| (d, direction_numbers(d))) {
            assert!((0..32).all(|bit| numbers[bit].trailing_zeros() == 31 - bit as u32), "{dimension}");
            assert!(seen.insert(numbers), "{dimension}");
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
