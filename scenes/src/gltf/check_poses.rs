//! Checks of animations, skins, morph targets and variants: warnings of faults that other readers refuse although a
//! still image can be made.

use super::Source;
use super::accessors::Accessor;
use super::json::{Item, whole};
use crate::warning::Warnings;
use std::collections::HashSet;

/// Checks everything of a document that poses it.
pub(super) fn check(source: &Source<'_>, warnings: &mut Warnings) {
    let root = &source.root;
    for animation in root.items("animations") {
        check_channels(&animation, root, warnings);
        for sampler in animation.items("samplers") {
            check_sampler(&sampler, root, warnings);
        }
    }
    let graph = Graph::new(root);
    for skin in root.items("skins") {
        check_skin(&skin, source, &graph, warnings);
    }
    check_skinned_nodes(root, &graph, warnings);
    for primitive in root.items("meshes").iter().flat_map(|mesh| mesh.items("primitives")) {
        check_targets(&primitive, root, warnings);
        check_weights(&primitive, source, warnings);
        check_mappings(&primitive, root, warnings);
    }
}

fn index(item: &Item<'_>) -> usize {
    whole(item.value).map_or(usize::MAX, |v| v as usize)
}

fn check_channels(animation: &Item<'_>, root: &Item<'_>, warnings: &mut Warnings) {
    let mut seen = HashSet::new();
    for channel in animation.items("channels").iter().rev() {
        let Some(target) = channel.get("target") else { continue };
        let path = target.text("path").unwrap_or_default();
        if path == "pointer" {
            warnings.add(target.pointer("path"), "animations of other properties than nodes' are not played");
        }
        let Some(index) = target.index("node") else { continue };
        if !seen.insert((index, path)) {
            warnings.add(&target.at, "a later channel of the animation has the same target; that one counts");
        }
        let Some(node) = root.item("nodes", index) else { continue };
        if node.has("matrix") {
            warnings.add(target.pointer("node"), "a node with a matrix cannot be animated; it stays");
        }
        let mesh = node.index("mesh").and_then(|mesh| root.item("meshes", mesh));
        let morphs = |mesh: &Item<'_>| mesh.items("primitives").iter().any(|p| p.len("targets") > 0);
        if path == "weights" && !mesh.as_ref().is_some_and(morphs) {
            warnings.add(&target.at, "weights are animated, but the node's mesh has no morph targets");
        }
    }
}

fn check_sampler(sampler: &Item<'_>, root: &Item<'_>, warnings: &mut Warnings) {
    for key in ["input", "output"] {
        let Some(accessor) = sampler.index(key).and_then(|i| root.item("accessors", i)) else { continue };
        if has_stride(&accessor, root) {
            warnings.add(sampler.pointer(key), "a view of keys has no stride");
        }
        let is_cubic = sampler.text("interpolation") == Some("CUBICSPLINE");
        if key == "input" && is_cubic && accessor.whole("count").is_some_and(|count| count < 2) {
            warnings.add(sampler.pointer(key), "a cubic spline has two keys or more; the one key is held");
        }
        if key == "input" && !(accessor.has("min") && accessor.has("max")) {
            warnings.add(sampler.pointer(key), "the accessor lacks the bounds that times must have");
        }
    }
}

fn has_stride(accessor: &Item<'_>, root: &Item<'_>) -> bool {
    let view = accessor.index("bufferView").and_then(|v| root.item("bufferViews", v));
    view.is_some_and(|v| v.has("byteStride"))
}

/// When a walk through all nodes, from parents to children, enters and leaves each: one is an ancestor of another if the
/// walk is in both at once. Nodes in a loop, which is refused elsewhere, are not walked.
struct Graph {
    times: Vec<Option<[usize; 2]>>,
    /// The root above each node.
    roots: Vec<Option<usize>>,
}

impl Graph {
    fn new(root: &Item<'_>) -> Self {
        let nodes = root.items("nodes");
        let children: Vec<Vec<usize>> =
            nodes.iter().map(|node| node.items("children").iter().map(index).collect()).collect();
        let mut is_child = vec![false; nodes.len()];
        for child in children.iter().flatten() {
            if let Some(is_child) = is_child.get_mut(*child) {
                *is_child = true;
            }
        }
        let mut graph = Self { times: vec![None; nodes.len()], roots: vec![None; nodes.len()] };
        let mut time = 0;
        for first in (0..nodes.len()).filter(|&i| !is_child[i]) {
            let mut pending = vec![(first, false)];
            while let Some((node, is_left)) = pending.pop() {
                let Some(entry) = graph.times.get_mut(node) else { continue };
                time += 1;
                match entry {
                    Some(times) if is_left => times[1] = time,
                    Some(_) => {}
                    None => {
                        *entry = Some([time, time]);
                        graph.roots[node] = Some(first);
                        pending.push((node, true));
                        pending.extend(children[node].iter().map(|&child| (child, false)));
                    }
                }
            }
        }
        graph
    }

    /// Whether one node is the other or above it.
    fn is_above(&self, ancestor: usize, node: usize) -> bool {
        let times = |i: usize| self.times.get(i).copied().flatten();
        times(ancestor).zip(times(node)).is_some_and(|(a, n)| a[0] <= n[0] && n[1] <= a[1])
    }

    fn root(&self, node: usize) -> Option<usize> {
        self.roots.get(node).copied().flatten()
    }
}

fn check_skin(skin: &Item<'_>, source: &Source<'_>, graph: &Graph, warnings: &mut Warnings) {
    let joints = skin.items("joints");
    let first = joints.first().map(|joint| graph.root(index(joint)));
    if joints.iter().any(|joint| Some(graph.root(index(joint))) != first) {
        warnings.add(skin.pointer("joints"), "the joints have no common ancestor");
    }
    let is_above_all = |node: usize| joints.iter().all(|joint| graph.is_above(node, index(joint)));
    if skin.index("skeleton").is_some_and(|node| !is_above_all(node)) {
        warnings.add(skin.pointer("skeleton"), "the node is not an ancestor of all joints");
    }
    let at = skin.pointer("inverseBindMatrices");
    let Some(number) = skin.index("inverseBindMatrices") else { return };
    if source.root.item("accessors", number).is_some_and(|a| has_stride(&a, &source.root)) {
        warnings.add(&at, "a view of matrices has no stride");
    }
    let opened = Accessor::open(&source.root, &source.buffers, number, &mut Warnings::new(""));
    let Ok(matrices) = opened else { return };
    if matrices.width() != 16 || matrices.component != super::accessors::Component::F32 {
        warnings.add(&at, "the accessor does not hold matrices of floats");
        return;
    }
    if matrices.count < joints.len() {
        warnings.add(&at, format!("there are {} matrices for {} joints", matrices.count, joints.len()));
    }
    let last_row = |i: usize| [3, 7, 11, 15].map(|component| matrices.raw(i, component));
    if (0..matrices.count).any(|i| last_row(i) != [0.0, 0.0, 0.0, 1.0]) {
        warnings.add(&at, "a matrix is not affine: its last row, which must be 0 0 0 1, is not used");
    }
}

/// Warns of nodes with a skin in a scene without the skin's joints.
fn check_skinned_nodes(root: &Item<'_>, graph: &Graph, warnings: &mut Warnings) {
    let nodes = root.items("nodes");
    for scene in root.items("scenes") {
        let roots: HashSet<usize> = scene.items("nodes").iter().map(index).collect();
        let is_in = |node: usize| graph.root(node).is_some_and(|root| roots.contains(&root));
        for (i, node) in nodes.iter().enumerate().filter(|(i, node)| node.has("skin") && is_in(*i)) {
            let skin = node.index("skin").and_then(|skin| root.item("skins", skin));
            let joints = skin.map(|skin| skin.items("joints")).unwrap_or_default();
            if !joints.iter().any(|joint| is_in(index(joint))) {
                warnings.add(format!("/nodes/{i}"), "the joints of its skin are not in its scene");
            }
        }
    }
}

fn check_targets(primitive: &Item<'_>, root: &Item<'_>, warnings: &mut Warnings) {
    let Some(attributes) = primitive.get("attributes") else { return };
    let accessor = |i: usize| root.item("accessors", i);
    let count = |i: usize| accessor(i).and_then(|a| a.whole("count"));
    let vertices = attributes.index("POSITION").and_then(count);
    for (name, value) in primitive.items("targets").iter().flat_map(Item::entries) {
        let own = index(&value);
        if !attributes.has(name) {
            warnings.add(&value.at, "the primitive lacks the attribute that the target displaces");
        }
        if count(own) != vertices {
            warnings.add(&value.at, "the target has not as many vertices as the primitive");
        }
        if name == "POSITION" && !accessor(own).is_some_and(|a| a.has("min") && a.has("max")) {
            warnings.add(&value.at, "the accessor lacks the bounds that positions must have");
        }
    }
}

/// Distance of a vertex's sum of weights from 1 that rounding explains.
const ROUNDING: f32 = 0.01;

fn check_weights(primitive: &Item<'_>, source: &Source<'_>, warnings: &mut Warnings) {
    let Some(attributes) = primitive.get("attributes") else { return };
    let sets =
        |prefix: &str| attributes.entries().iter().filter(|(name, _)| name.starts_with(prefix)).count();
    if sets("JOINTS_") != sets("WEIGHTS_") {
        warnings.add(&attributes.at, "there are not as many sets of joints as of weights");
    }
    let mut sums: Vec<f32> = Vec::new();
    for set in 0..sets("WEIGHTS_") {
        let name = format!("WEIGHTS_{set}");
        let Some(number) = attributes.index(&name) else { return };
        let opened = Accessor::open(&source.root, &source.buffers, number, &mut Warnings::new(""));
        let Ok(weights) = opened else { return };
        sums.resize(sums.len().max(weights.count), 0.0);
        let mut is_negative = false;
        for (i, sum) in sums.iter_mut().enumerate().take(weights.count) {
            let four = weights.vector::<4>(i);
            is_negative |= four.iter().any(|w| *w < 0.0);
            *sum += four.iter().sum::<f32>();
        }
        if is_negative {
            warnings.add(attributes.pointer(&name), "some weights are negative; they count as zero");
        }
    }
    if sums.iter().any(|sum| (sum - 1.0).abs() > ROUNDING) {
        let message = "the weights of some vertices do not add up to 1; they were scaled";
        warnings.add(attributes.pointer("WEIGHTS_0"), message);
    }
}

fn check_mappings(primitive: &Item<'_>, root: &Item<'_>, warnings: &mut Warnings) {
    let Some(own) = primitive.extension("KHR_materials_variants") else { return };
    let count = root.extension("KHR_materials_variants").map_or(0, |e| e.len("variants"));
    let mut seen = HashSet::new();
    for variant in own.items("mappings").iter().flat_map(|mapping| mapping.items("variants")) {
        let number = index(&variant);
        if number >= count {
            warnings.add(&variant.at, format!("it refers to variant {number} of {count}"));
        }
        if !seen.insert(number) {
            warnings.add(&variant.at, "the variant is mapped twice; the first mapping counts");
        }
    }
}
