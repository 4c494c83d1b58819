//! How often a change touched one port and not the other.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::cost::{Layout, SHARED};

/// Numbers of changes that touched one or both of two backends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PairHistory {
    /// The first backend.
    pub a: String,
    /// The second backend.
    pub b: String,
    /// Changes that touched both backends.
    pub both: usize,
    /// Changes that touched the first and not the second.
    pub only_a: usize,
    /// Changes that touched the second and not the first.
    pub only_b: usize,
}

/// Numbers of changes that touched the places of a layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct History {
    /// Changes that touched any place.
    pub changes: usize,
    /// Changes that touched shared places and no backend.
    pub shared_only: usize,
    /// Every pair of backends.
    pub pairs: Vec<PairHistory>,
}

/// Counts changes, each a list of paths relative to the layout's root.
pub fn history(changes: &[Vec<String>], layout: &Layout) -> History {
    let touched: Vec<BTreeSet<&str>> = changes
        .iter()
        .map(|paths| paths.iter().filter_map(|path| Some(layout.place_of(path)?.backend.as_str())).collect())
        .filter(|backends: &BTreeSet<&str>| !backends.is_empty())
        .collect();
    let names = layout.backends();
    let count = |wanted: &dyn Fn(&BTreeSet<&str>) -> bool| touched.iter().filter(|set| wanted(set)).count();
    let pairs = names.iter().enumerate().flat_map(|(i, &a)| names[i + 1..].iter().map(move |&b| (a, b)));
    let pairs = pairs
        .map(|(a, b)| PairHistory {
            a: a.to_owned(),
            b: b.to_owned(),
            both: count(&|set| set.contains(a) && set.contains(b)),
            only_a: count(&|set| set.contains(a) && !set.contains(b)),
            only_b: count(&|set| !set.contains(a) && set.contains(b)),
        })
        .collect();
    History {
        changes: touched.len(),
        shared_only: count(&|set| set.len() == 1 && set.contains(SHARED)),
        pairs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{Place, Role};

    #[test]
    fn a_change_is_counted_by_the_backends_it_touches() {
        let place = |name: &str| Place { path: name.into(), backend: name.into(), role: Role::Host };
        let layout = Layout { places: vec![place("a"), place("b"), place(SHARED)] };
        let change = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let changes = [
            change(&["a/x.c", "b/x.c"]),
            change(&["a/x.c", "a/y.c", "shared/z.c"]),
            change(&["b/x.c"]),
            change(&["b/y.c", "notes.md"]),
            change(&["shared/z.c"]),
            change(&["notes.md"]),
        ];
        let history = history(&changes, &layout);
        assert_eq!((history.changes, history.shared_only), (5, 1));
        let pair = &history.pairs[0];
        assert_eq!((pair.both, pair.only_a, pair.only_b), (1, 1, 2));
    }
}
