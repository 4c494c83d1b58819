//! Sets of sample indices.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A set of sample indices, kept as disjoint ranges in rising order that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<[u32; 2]>", into = "Vec<[u32; 2]>")]
pub struct SampleSet(Vec<Range<u32>>);

impl SampleSet {
    /// Number of samples.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|range| u64::from(range.end - range.start)).sum()
    }

    /// True for the empty set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, in rising order.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.0
    }

    /// Adds a range.
    pub fn insert(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        // Ranges that overlap or touch the new one become one with it
        let first = self.0.partition_point(|r| r.end < range.start);
        let last = self.0.partition_point(|r| r.start <= range.end);
        let start = self.0.get(first).map_or(range.start, |r| r.start.min(range.start));
        let end = self.0[first..last].last().map_or(range.end, |r| r.end.max(range.end));
        self.0.splice(first..last, std::iter::once(start.min(range.start)..end));
    }

    /// Takes a range out.
    pub fn remove(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let cut = |r: &Range<u32>| {
            let (left, right) = (r.start..r.end.min(range.start), r.start.max(range.end)..r.end);
            [left, right].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>()
        };
        self.0 = self.0.iter().flat_map(cut).collect();
    }

    /// Whether all of a range is in the set.
    pub fn contains(&self, range: &Range<u32>) -> bool {
        range.is_empty() || self.0.iter().any(|r| r.start <= range.start && range.end <= r.end)
    }

    /// Adds another set.
    pub fn union(&mut self, other: &Self) {
        other.0.iter().for_each(|range| self.insert(range.clone()));
    }

    /// The samples of this set that `other` lacks.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        other.0.iter().for_each(|range| rest.remove(range.clone()));
        rest
    }

    /// The samples that both sets have.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.without(&self.without(other))
    }
}

impl From<Range<u32>> for SampleSet {
    fn from(range: Range<u32>) -> Self {
        let mut set = Self::default();
        set.insert(range);
        set
    }
}

impl From<SampleSet> for Vec<[u32; 2]> {
    fn from(set: SampleSet) -> Self {
        set.0.into_iter().map(|range| [range.start, range.end]).collect()
    }
}

impl TryFrom<Vec<[u32; 2]>> for SampleSet {
    type Error = String;

    /// # Errors
    /// A message for ranges that are empty, touch, overlap or stand in another order: files of such ranges were
    /// not written by this program.
    fn try_from(pairs: Vec<[u32; 2]>) -> Result<Self, String> {
        let in_order = pairs.windows(2).all(|w| w[0][1] < w[1][0]) && pairs.iter().all(|p| p[0] < p[1]);
        if !in_order {
            return Err("ranges of samples must not be empty or touch, and must rise".into());
        }
        Ok(Self(pairs.into_iter().map(|[start, end]| start..end).collect()))
    }
}

/// Ranges as `0..8, 12..16`.
impl fmt::Display for SampleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (i, range) in self.0.iter().enumerate() {
            write!(f, "{}{}..{}", if i == 0 { "" } else { ", " }, range.start, range.end)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// A set and the indices that it should hold, after steps that insert or remove ranges of `0..64`.
    fn sets() -> impl Strategy<Value = (SampleSet, BTreeSet<u32>)> {
        prop::collection::vec((any::<bool>(), 0u32..64, 0u32..16), 0..24).prop_map(|steps| {
            let (mut set, mut expected) = (SampleSet::default(), BTreeSet::new());
            for (insert, start, length) in steps {
                let range = start..start + length;
                if insert {
                    set.insert(range.clone());
                    expected.extend(range);
                } else {
                    set.remove(range.clone());
                    expected.retain(|i| !range.contains(i));
                }
            }
            (set, expected)
        })
    }

    fn indices(set: &SampleSet) -> BTreeSet<u32> {
        set.ranges().iter().flat_map(Clone::clone).collect()
    }

    proptest! {
        #[test]
        fn a_set_of_ranges_is_the_set_of_its_indices((a, in_a) in sets(), (b, in_b) in sets()) {
            prop_assert_eq!(&indices(&a), &in_a);
            prop_assert_eq!(a.len(), in_a.len() as u64);
            prop_assert!(a.ranges().windows(2).all(|w| w[0].end < w[1].start), "{}", a);
            prop_assert_eq!(indices(&a.without(&b)), in_a.difference(&in_b).copied().collect());
            prop_assert_eq!(indices(&a.intersection(&b)), in_a.intersection(&in_b).copied().collect());
            let mut both = a.clone();
            both.union(&b);
            prop_assert_eq!(indices(&both), in_a.union(&in_b).copied().collect());
            for range in [0..4, 10..11, 20..40] {
                prop_assert_eq!(a.contains(&range), range.clone().all(|i| in_a.contains(&i)));
            }
        }

        #[test]
        fn a_set_is_written_and_read((set, _) in sets()) {
            let text = serde_json::to_string(&set).unwrap();
            prop_assert_eq!(serde_json::from_str::<SampleSet>(&text).unwrap(), set);
        }
    }

    #[test]
    fn ranges_that_no_set_has_are_refused() {
        for text in ["[[0,0]]", "[[4,2]]", "[[0,4],[4,8]]", "[[8,9],[0,4]]", "[[0,4],[2,8]]"] {
            assert!(serde_json::from_str::<SampleSet>(text).is_err(), "{text}");
        }
    }
}
