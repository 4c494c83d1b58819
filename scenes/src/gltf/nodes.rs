//! The node graph: transforms of meshes, lights and cameras.

use super::animations::{NodePose, Poses};
use super::json::Item;
use super::transforms::{IDENTITY, Map, compose, from_parts};
use crate::warning::Warnings;
use lockstep_core::Result;

/// The nodes of a document.
#[derive(Clone, Debug)]
pub(super) struct Graph<'a> {
    /// The visible nodes of the default scene, parents before children.
    pub(super) placed: Vec<Placed<'a>>,
    /// From every node's space to the world, by index.
    pub(super) to_world: Vec<Map>,
}

/// A visible node.
#[derive(Clone, Debug)]
pub(super) struct Placed<'a> {
    pub(super) index: usize,
    pub(super) item: Item<'a>,
    /// From the node's space to the world.
    pub(super) to_world: Map,
}

/// Places the nodes in their poses.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] when nodes do not form a forest, or a transform is no affine map.
pub(super) fn place<'a>(root: &Item<'a>, poses: &Poses, warnings: &mut Warnings) -> Result<Graph<'a>> {
    let nodes = root.items("nodes");
    let parents = parents(&nodes, warnings)?;
    let shown = roots(root, &parents, warnings)?;
    let locals = nodes
        .iter()
        .enumerate()
        .map(|(i, node)| local(node, poses.get(&i), warnings))
        .collect::<Result<Vec<Map>>>()?;
    let mut to_world = vec![IDENTITY; nodes.len()];
    let mut pending: Vec<usize> = (0..nodes.len()).filter(|&i| parents[i].is_none()).collect();
    while let Some(index) = pending.pop() {
        let parent = parents[index].map_or(IDENTITY, |parent| to_world[parent]);
        to_world[index] = compose(&parent, &locals[index]);
        pending.extend(children(&nodes[index]));
    }
    let mut placed = Vec::new();
    let mut pending: Vec<usize> = shown.into_iter().rev().collect();
    while let Some(index) = pending.pop() {
        let item = &nodes[index];
        let visibility =
            item.extension("KHR_node_visibility").and_then(|v| v.value.get("visible")?.as_bool());
        if visibility == Some(false) {
            continue;
        }
        pending.extend(children(item).into_iter().rev());
        placed.push(Placed { index, item: item.clone(), to_world: to_world[index] });
    }
    Ok(Graph { placed, to_world })
}

fn children(node: &Item<'_>) -> Vec<usize> {
    let mut list: Vec<usize> = node
        .items("children")
        .iter()
        .filter_map(|c| super::json::whole(c.value))
        .map(|v| v as usize)
        .collect();
    let mut seen = std::collections::HashSet::new();
    list.retain(|c| seen.insert(*c));
    list
}

/// Each node's parent; refuses nodes with two parents and cycles, so that traversal ends.
fn parents(nodes: &[Item<'_>], warnings: &Warnings) -> Result<Vec<Option<usize>>> {
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for (k, child) in children(node).into_iter().enumerate() {
            if let Some(other) = parents[child] {
                let at = format!("{}/{k}", node.pointer("children"));
                return Err(warnings.error(at, format!("node {child} already is a child of node {other}")));
            }
            parents[child] = Some(index);
        }
    }
    let mut reached = vec![false; nodes.len()];
    let mut pending: Vec<usize> = (0..nodes.len()).filter(|&i| parents[i].is_none()).collect();
    while let Some(index) = pending.pop() {
        reached[index] = true;
        pending.extend(children(&nodes[index]));
    }
    match reached.iter().position(|r| !r) {
        Some(index) => Err(warnings.error(&nodes[index].at, "the node is part of a loop")),
        None => Ok(parents),
    }
}

/// Root nodes of the default scene.
fn roots(root: &Item<'_>, parents: &[Option<usize>], warnings: &mut Warnings) -> Result<Vec<usize>> {
    let count = root.len("scenes");
    for (i, scene) in root.items("scenes").iter().enumerate() {
        for node in scene.items("nodes") {
            let index = super::json::whole(node.value).map_or(usize::MAX, |v| v as usize);
            if let Some(parent) = parents.get(index).copied().flatten() {
                return Err(
                    warnings.error(node.at, format!("node {index} of scene {i} is a child of node {parent}"))
                );
            }
        }
    }
    let chosen = root.index("scene").or((count > 0).then_some(0));
    let Some(scene) = chosen.and_then(|index| root.item("scenes", index)) else {
        if !parents.is_empty() {
            warnings.add("/nodes", "the file has no scene; all its nodes are shown");
        }
        return Ok((0..parents.len()).filter(|&i| parents[i].is_none()).collect());
    };
    if count > 1 && !root.has("scene") {
        warnings.add("/scenes", format!("none of the {count} scenes is the default; the first is shown"));
    }
    let mut list: Vec<usize> =
        scene.items("nodes").iter().filter_map(|n| super::json::whole(n.value)).map(|v| v as usize).collect();
    let mut seen = std::collections::HashSet::new();
    list.retain(|n| seen.insert(*n));
    Ok(list)
}

/// A node's own transform, in its pose where it has one.
fn local(node: &Item<'_>, pose: Option<&NodePose>, warnings: &mut Warnings) -> Result<Map> {
    let has_trs = ["translation", "rotation", "scale"].iter().any(|key| node.has(key));
    if let Some(m) = node.numbers::<16>("matrix") {
        if has_trs {
            return Err(warnings.error(
                node.pointer("matrix"),
                "a node has either a matrix or translation, rotation and scale",
            ));
        }
        if m[3] != 0.0 || m[7] != 0.0 || m[11] != 0.0 || m[15] != 1.0 {
            return Err(warnings
                .error(node.pointer("matrix"), "the matrix is not affine: its last row must be 0 0 0 1"));
        }
        let map = [0, 1, 2].map(|row| [m[row], m[4 + row], m[8 + row], m[12 + row]]);
        if !columns_are_orthogonal(&map) {
            warnings.add(
                node.pointer("matrix"),
                "the matrix shears or is singular, which glTF does not allow; it is used as it is",
            );
        }
        return Ok(map);
    }
    let posed = pose.cloned().unwrap_or_default();
    let rotation = unit_quaternion(node, warnings)?;
    Ok(from_parts(
        posed.translation.or_else(|| node.numbers("translation")).unwrap_or([0.0; 3]),
        posed.rotation.unwrap_or(rotation),
        posed.scale.or_else(|| node.numbers("scale")).unwrap_or([1.0; 3]),
    ))
}

fn unit_quaternion(node: &Item<'_>, warnings: &mut Warnings) -> Result<[f64; 4]> {
    let Some(q) = node.numbers::<4>("rotation") else {
        return Ok([0.0, 0.0, 0.0, 1.0]);
    };
    let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length < 1e-6 {
        return Err(warnings.error(node.pointer("rotation"), "the quaternion is zero"));
    }
    if (length - 1.0).abs() > 1e-3 {
        warnings.add(node.pointer("rotation"), "the quaternion is not of unit length; it was scaled to it");
    }
    Ok(q.map(|v| v / length))
}

fn columns_are_orthogonal(m: &Map) -> bool {
    let dot = |i: usize, j: usize| m[0][i] * m[0][j] + m[1][i] * m[1][j] + m[2][i] * m[2][j];
    let sound = |i: usize| dot(i, i) > 0.0;
    let square = |i: usize, j: usize| dot(i, j) * dot(i, j) <= 1e-5 * dot(i, i) * dot(j, j);
    sound(0) && sound(1) && sound(2) && square(0, 1) && square(1, 2) && square(2, 0)
}
