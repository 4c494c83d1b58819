//! Telling a change of speed from the noise of timing.
//!
//! Times are taken in rounds: every round times each target once, one after the other (A/B/A/B), so that a
//! machine whose clock drifts drifts for all alike. A median speaks for a target, and the ratio of two
//! targets is the median of their ratios round by round.
//!
//! **Interval.** `[x₍ₖ₎, x₍ₙ₊₁₋ₖ₎]` of the n sorted values encloses the median of their distribution,
//! whatever that is, with the probability `1 − 2 P(Binomial(n, ½) < k)` (Conover 1999, "Practical
//! Nonparametric Statistics", section 3.2). k is the greatest whose probability is at least [`COVERAGE`].
//! Fewer than six values do not get that far: their interval is their whole range, and
//! [`MedianInterval::coverage`] is its probability.
//!
//! **Floor.** One target is timed twice in every round as if it were two (A/A). The interval of the ratio of
//! these two is what the machine calls equal.
//!
//! **Word.** A change is [`Change::Faster`] or [`Change::Slower`] where its interval lies outside both 1 and
//! the floor. For fewer than six rounds the rule demands that every ratio of the change lie beyond every one
//! of the floor. Were these 2n ratios independent, equal targets would be told apart with a probability of at
//! most 2 in `C(2n, n)`: 10 % for three rounds, 0.8 % for five.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

/// The least probability with which an interval of six values or more encloses the median.
pub const COVERAGE: f64 = 0.95;

/// Least number of rounds for which a ratio of times gets an interval and a verdict.
pub const LEAST_ROUNDS: usize = 3;

/// A median and an interval about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MedianInterval {
    /// The median of the values.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Probability with which the interval encloses the median of the values' distribution, 0 to 1.
    pub coverage: f64,
    /// Number of values.
    pub count: usize,
}

impl MedianInterval {
    /// The interval of these values; nothing where there are none, or one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (place, coverage) = place(sorted.len());
        let last = sorted.len() - 1;
        let median = 0.5 * (sorted[last / 2] + sorted[last - last / 2]);
        Some(Self { median, low: sorted[place], high: sorted[last - place], coverage, count: sorted.len() })
    }

    /// The ratio of two series that were timed round by round: `times[i]` and `base[i]` in the same round. It
    /// is taken of logarithms, so that exchanging the series inverts it. Nothing where the series differ in
    /// length, are empty, or hold a time that is not above 0.
    pub fn of_ratio(times: &[f64], base: &[f64]) -> Option<Self> {
        let same_length = times.len() == base.len();
        let logarithms: Vec<f64> = times.iter().zip(base).map(|(time, base)| time.ln() - base.ln()).collect();
        let found = Self::of(&logarithms).filter(|_| same_length)?;
        Some(Self { median: found.median.exp(), low: found.low.exp(), high: found.high.exp(), ..found })
    }

    /// Whether a value lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// How many of the least and of the greatest of `count` values lie outside the interval, and its coverage.
fn place(count: usize) -> (usize, f64) {
    let coverage = |place: usize| {
        let binomial = Binomial::new(0.5, count as u64);
        binomial.map_or(0.0, |b| (1.0 - 2.0 * b.cdf(place as u64)).max(0.0))
    };
    let places = (0..count.div_ceil(2)).map(|place| (place, coverage(place)));
    places.take_while(|(_, coverage)| *coverage >= COVERAGE).last().unwrap_or((0, coverage(0)))
}

/// How the time of one target compares with that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Less time, beyond the floor.
    Faster,
    /// More time, beyond the floor.
    Slower,
    /// No difference beyond the noise of the machine.
    Same,
}

impl Change {
    /// The verdict on a ratio of times, given the floor: the ratio of one target timed twice in the same rounds.
    pub fn of(ratio: &MedianInterval, floor: &MedianInterval) -> Self {
        if ratio.high < floor.low.min(1.0) {
            Self::Faster
        } else if ratio.low > floor.high.max(1.0) {
            Self::Slower
        } else {
            Self::Same
        }
    }

    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
        }
    }
}

/// The rule as text, for tables and pages.
pub fn in_words() -> String {
    format!(
        "Every round times each target once, in turn. The interval of a median is that of order statistics: it encloses \
         the median of the distribution with a probability of at least {} % from six rounds on; of fewer it is the whole \
         range. The ratio is the median of the rounds' ratios. The floor is the ratio of one target timed twice in every \
         round as if it were two. Faster or slower: the ratio's interval lies outside both 1 and the floor.",
        COVERAGE * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::super::random_numbers::Noise;
    use super::*;

    /// Times with noise that slows more than it speeds up, as that of machines does.
    struct Machine(Noise);

    impl Machine {
        fn seeded(seed: u64) -> Self {
            Self(Noise(seed))
        }

        /// One time: one per cent of noise, and one time in twenty a hiccup of up to 30 %.
        fn time(&mut self, true_ms: f64) -> f64 {
            let hiccup = if self.0.uniform() < 0.05 { 1.0 + 0.3 * self.0.uniform() } else { 1.0 };
            true_ms * (1.0 + 0.01 * self.0.normal()) * hiccup
        }

        /// Rounds of A, B and A again, on a clock that drifts by a tenth.
        fn rounds(&mut self, rounds: usize, a: f64, b: f64) -> [Vec<f64>; 3] {
            let drift = |i: usize| 1.0 + 0.1 * i as f64 / rounds as f64;
            let mut series = [const { Vec::new() }; 3];
            for i in 0..rounds {
                for (times, true_ms) in series.iter_mut().zip([a, b, a]) {
                    times.push(self.time(true_ms * drift(i)));
                }
            }
            series
        }

        fn change(&mut self, rounds: usize, a: f64, b: f64) -> Change {
            let [first, other, again] = self.rounds(rounds, a, b);
            let of = |times: &[f64]| MedianInterval::of_ratio(times, &first).unwrap();
            Change::of(&of(&other), &of(&again))
        }
    }

    fn called(rounds: usize, b: f64) -> [usize; 3] {
        let mut counts = [0; 3];
        for seed in 0..1000 {
            counts[Machine::seeded(seed).change(rounds, 10.0, b) as usize] += 1;
        }
        counts
    }

    #[test]
    fn the_interval_is_that_of_order_statistics() {
        let values: Vec<f64> = (1..=6).map(f64::from).collect();
        let six = MedianInterval::of(&values).unwrap();
        assert_eq!((six.median, six.low, six.high, six.count), (3.5, 1.0, 6.0, 6));
        assert!((six.coverage - 31.0 / 32.0).abs() < 1e-12, "{}", six.coverage);
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let twenty = MedianInterval::of(&values).unwrap();
        // Tabled for n = 20 at 95 %: the 6th and the 15th value, with 95.86 %.
        assert_eq!((twenty.low, twenty.high), (6.0, 15.0));
        assert!((twenty.coverage - 0.958_6).abs() < 1e-4, "{}", twenty.coverage);
    }

    #[test]
    fn fewer_than_six_values_have_their_range_and_tell_how_little_it_covers() {
        let three = MedianInterval::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((three.median, three.low, three.high), (2.0, 1.0, 3.0));
        assert!((three.coverage - 0.75).abs() < 1e-12);
        assert!(MedianInterval::of(&[5.0]).unwrap().coverage < 1e-12);
    }

    #[test]
    fn what_is_no_time_has_no_interval() {
        assert_eq!(MedianInterval::of(&[]), None);
        assert_eq!(MedianInterval::of(&[1.0, f64::NAN]), None);
        assert_eq!(MedianInterval::of_ratio(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(MedianInterval::of_ratio(&[1.0], &[0.0]), None);
    }

    #[test]
    fn exchanging_two_series_inverts_their_ratio() {
        let [a, b, _] = Machine::seeded(1).rounds(8, 10.0, 13.0);
        let (there, back) =
            (MedianInterval::of_ratio(&a, &b).unwrap(), MedianInterval::of_ratio(&b, &a).unwrap());
        assert!((there.median * back.median - 1.0).abs() < 1e-12);
        assert!((there.low * back.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_floor_of_a_target_against_itself_encloses_one() {
        for rounds in [6, 10, 20] {
            let encloses = |seed: u64| {
                let [first, _, again] = Machine::seeded(seed).rounds(rounds, 10.0, 10.0);
                MedianInterval::of_ratio(&again, &first).unwrap().contains(1.0)
            };
            let enclosed = (0..1000).filter(|&seed| encloses(seed)).count();
            assert!(enclosed >= 900, "{enclosed} of 1000 with {rounds} rounds");
        }
    }

    #[test]
    fn a_change_of_a_tenth_beyond_the_noise_is_called_and_one_of_a_hundredth_within_is_not() {
        let [faster, slower, _] = called(10, 11.0);
        assert!(slower >= 900 && faster == 0, "{slower} slower, {faster} faster of 1000");
        let [faster, ..] = called(10, 9.0);
        assert!(faster >= 900, "{faster} of 1000");
        let [_, _, same] = called(10, 10.1);
        assert!(same >= 950, "{same} of 1000");
    }

    #[test]
    fn equal_targets_are_told_apart_as_seldom_as_documented() {
        for (rounds, most) in [(3, 100), (5, 8 + 8), (10, 25)] {
            let [faster, slower, _] = called(rounds, 10.0);
            assert!(faster + slower <= most, "{faster} + {slower} of 1000 with {rounds} rounds");
        }
    }
}
