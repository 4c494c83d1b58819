//! Which image of one side is compared with which of the other.

use std::collections::{BTreeMap, BTreeSet};

use super::inventory::{Inventory, Key, Sources};

/// Images of two targets that show the same scene with the same number of samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// Scene name.
    pub(super) scene: String,
    /// Target of side A, by the name that records use.
    pub(super) a: String,
    /// Target of side B.
    pub(super) b: String,
    /// Samples per pixel; 0 when unknown.
    pub(super) spp: u32,
    /// A's images, by seed.
    pub(super) of_a: Vec<(u64, Sources)>,
    /// B's images, by seed.
    pub(super) of_b: Vec<(u64, Sources)>,
}

impl Match {
    /// Seeds of the side that has more.
    pub(super) fn seeds(&self) -> usize {
        self.of_a.len().max(self.of_b.len())
    }
}

/// Images of one target that nothing on the other side answers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alone {
    /// Scene name.
    pub(super) scene: String,
    /// Target, by the name that records use.
    pub(super) target: String,
    /// The reason why the image has no counterpart, in a sentence without a full stop.
    pub(super) reason: String,
}

/// The images that are compared, and those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Matching {
    /// The images that are compared.
    pub(super) matches: Vec<Match>,
    /// The images that nothing on the other side answers to.
    pub(super) alone: Vec<Alone>,
}

/// Scene and samples per pixel.
type Point = (String, u32);
/// Images of one point by target and seed.
type Side = BTreeMap<Point, BTreeMap<String, Vec<(u64, Sources)>>>;

/// Matches two sides. Where a target's name is on both sides, targets are compared with their namesakes
/// alone, told apart as `A:name` and `B:name`; where no name is on both, every target of A is compared with
/// every one of B.
pub(super) fn of(a: &Inventory, b: &Inventory) -> Matching {
    let (a, b) = (by_point(a), by_point(b));
    let (shared_a, shared_b) = (targets(&a), targets(&b));
    let shared: BTreeSet<&String> = shared_a.intersection(&shared_b).copied().collect();
    let names = Names { shared };
    let mut matching = Matching::default();
    let pairs = points(&a, &b);
    for (at_a, at_b) in &pairs {
        let point = (at_a.0.clone(), of_both(at_a.1, at_b.1));
        names.pair(&point, &a[*at_a], &b[*at_b], &mut matching.matches);
    }
    let matched = |target: &str, point: &Point| {
        let spp: Vec<u32> = (pairs.iter().filter(|(at_a, at_b)| *at_a == point || *at_b == point))
            .map(|(at_a, at_b)| of_both(at_a.1, at_b.1))
            .collect();
        let here = |m: &&Match| m.scene == point.0 && spp.contains(&m.spp);
        matching.matches.iter().filter(here).any(|m| m.a == target || m.b == target)
    };
    let mut alone: BTreeMap<(String, String), (&str, Vec<u32>)> = BTreeMap::new();
    for (side, other, images) in [("A", "B", &a), ("B", "A", &b)] {
        for (point, targets) in images {
            for target in targets.keys().map(|target| names.shown(side, target)) {
                if !matched(&target, point) {
                    alone.entry((point.0.clone(), target)).or_insert((other, Vec::new())).1.push(point.1);
                }
            }
        }
    }
    matching.alone =
        alone.into_iter().map(|((scene, target), (other, spp))| lonely(scene, target, other, &spp)).collect();
    matching
}

/// Pairs of points to compare. Equal points are pairs. A reference, a side with a single number of samples of a scene that the
/// other side lacks, makes a pair with every point of the other side.
fn points<'a>(a: &'a Side, b: &'a Side) -> Vec<(&'a Point, &'a Point)> {
    let equal = a.keys().filter_map(|point| Some((point, b.get_key_value(point)?.0)));
    let a_refers = a.keys().filter(|at_a| is_reference(at_a, a, b));
    let of_a = a_refers.flat_map(|at_a| levels(b, &at_a.0).map(move |at_b| (at_a, at_b)));
    let b_refers = b.keys().filter(|at_b| is_reference(at_b, b, a));
    // Two references are one pair.
    let of_b = b_refers.flat_map(|at_b| levels(a, &at_b.0).map(move |at_a| (at_a, at_b)));
    let of_b = of_b.filter(|(at_a, _)| !is_reference(at_a, a, b));
    equal.chain(of_a).chain(of_b).collect()
}

/// Whether a point is the only one of its scene on its side, and is not on the other.
fn is_reference(point: &Point, own: &Side, other: &Side) -> bool {
    levels(own, &point.0).count() == 1 && !other.contains_key(point)
}

fn levels<'a>(side: &'a Side, scene: &str) -> impl Iterator<Item = &'a Point> {
    side.keys().filter(move |point| point.0 == scene)
}

/// The samples per pixel of a comparison: the fewer of both, where both are known.
fn of_both(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 { a.max(b) } else { a.min(b) }
}

fn by_point(inventory: &Inventory) -> Side {
    let mut side = Side::new();
    for (Key { scene, target, spp, seed }, sources) in inventory {
        let targets = side.entry((scene.clone(), *spp)).or_default();
        targets.entry(target.clone()).or_default().push((*seed, sources.clone()));
    }
    side
}

fn targets(side: &Side) -> BTreeSet<&String> {
    side.values().flat_map(BTreeMap::keys).collect()
}

fn lonely(scene: String, target: String, other: &str, spp: &[u32]) -> Alone {
    let levels: Vec<String> = spp.iter().filter(|spp| **spp > 0).map(u32::to_string).collect();
    let at = if levels.is_empty() { String::new() } else { format!(" at {} spp", levels.join(", ")) };
    Alone { scene, target, reason: format!("side {other} has nothing to compare it with{at}") }
}

/// Names of targets in records.
struct Names<'a> {
    /// Names on both sides.
    shared: BTreeSet<&'a String>,
}

impl Names<'_> {
    fn shown(&self, side: &str, target: &String) -> String {
        if self.shared.contains(target) { format!("{side}:{target}") } else { target.clone() }
    }

    fn pair(
        &self,
        (scene, spp): &Point,
        of_a: &BTreeMap<String, Vec<(u64, Sources)>>,
        of_b: &BTreeMap<String, Vec<(u64, Sources)>>,
        matches: &mut Vec<Match>,
    ) {
        for (a, images_a) in of_a {
            for (b, images_b) in of_b {
                if self.shared.is_empty() || a == b {
                    matches.push(Match {
                        scene: scene.clone(),
                        a: self.shown("A", a),
                        b: self.shown("B", b),
                        spp: *spp,
                        of_a: images_a.clone(),
                        of_b: images_b.clone(),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(images: &[(&str, &str, u32, u64)]) -> Inventory {
        let key = |&(scene, target, spp, seed): &(&str, &str, u32, u64)| Key {
            scene: scene.into(),
            target: target.into(),
            spp,
            seed,
        };
        images.iter().map(|image| (key(image), Sources::default())).collect()
    }

    fn shown(matching: &Matching) -> Vec<String> {
        let all = matching.matches.iter();
        all.map(|m| format!("{} {} {}:{} {}x{}", m.scene, m.spp, m.a, m.b, m.of_a.len(), m.of_b.len()))
            .collect()
    }

    #[test]
    fn targets_of_other_names_are_compared_each_with_each() {
        let a = side(&[("s", "cpu", 4, 0), ("s", "cuda", 4, 0), ("s", "cpu", 8, 0)]);
        let b = side(&[("s", "mitsuba", 4, 0), ("s", "mitsuba", 4, 1), ("t", "mitsuba", 4, 0)]);
        let found = of(&a, &b);
        assert_eq!(shown(&found), ["s 4 cpu:mitsuba 1x2", "s 4 cuda:mitsuba 1x2"]);
        let alone: Vec<_> = found.alone.iter().map(|x| (x.scene.as_str(), x.target.as_str())).collect();
        assert_eq!(alone, [("s", "cpu"), ("t", "mitsuba")]);
        assert_eq!(found.alone[0].reason, "side B has nothing to compare it with at 8 spp");
    }

    #[test]
    fn a_reference_of_any_number_of_samples_meets_all_of_the_other_side() {
        let series = side(&[("s", "cpu", 4, 0), ("s", "cpu", 8, 0), ("s", "cpu", 8, 1)]);
        let reference = side(&[("s", "ref", 1024, 0)]);
        assert_eq!(shown(&of(&series, &reference)), ["s 4 cpu:ref 1x1", "s 8 cpu:ref 2x1"]);
        assert_eq!(shown(&of(&reference, &series)), ["s 4 ref:cpu 1x1", "s 8 ref:cpu 1x2"]);
        assert!(of(&series, &reference).alone.is_empty());
        let other = side(&[("s", "cpu", 16, 0)]);
        assert_eq!(shown(&of(&other, &reference)), ["s 16 cpu:ref 1x1"]);
        let unknown = side(&[("s", "file", 0, 0)]);
        assert_eq!(shown(&of(&unknown, &series)), ["s 4 file:cpu 1x1", "s 8 file:cpu 1x2"]);
        let levels = side(&[("s", "old", 16, 0), ("s", "old", 32, 0)]);
        assert!(of(&series, &levels).matches.is_empty(), "two series without a level in common");
    }

    #[test]
    fn namesakes_are_compared_with_each_other_alone() {
        let a = side(&[("s", "cpu", 4, 0), ("s", "cuda", 4, 0)]);
        let b = side(&[("s", "cpu", 4, 0), ("s", "old", 4, 0)]);
        let found = of(&a, &b);
        assert_eq!(shown(&found), ["s 4 A:cpu:B:cpu 1x1"]);
        let alone: Vec<&str> = found.alone.iter().map(|x| x.target.as_str()).collect();
        assert_eq!(alone, ["cuda", "old"]);
    }
}
