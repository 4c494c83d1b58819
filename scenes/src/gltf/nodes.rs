//! The node graph: transforms of meshes, lights and cameras.

use super::json::Item;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::scene::{Affine, IDENTITY};

/// An affine map in double precision, so that deep graphs do not drift.
pub(super) type Map = [[f64; 4]; 3];

/// A visible node.
#[derive(Clone, Debug)]
pub(super) struct Placed<'a> {
    pub(super) item: Item<'a>,
    /// From the node's space to the world.
    pub(super) to_world: Map,
}

/// The map in single precision.
pub(super) fn to_affine(map: &Map) -> Affine {
    map.map(|row| row.map(|v| v as f32))
}

/// All visible nodes of the default scene, parents before children.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] when nodes do not form a forest, or a transform is no affine map.
pub(super) fn place<'a>(root: &Item<'a>, warnings: &mut Warnings) -> Result<Vec<Placed<'a>>> {
    let nodes = root.items("nodes");
    let parents = parents(&nodes, warnings)?;
    let identity = IDENTITY.map(|row| row.map(f64::from));
    let mut pending: Vec<(usize, Map)> =
        roots(root, &parents, warnings)?.into_iter().map(|i| (i, identity)).collect();
    pending.reverse();
    let locals = nodes.iter().map(|node| local(node, warnings)).collect::<Result<Vec<Map>>>()?;
    let mut out = Vec::new();
    while let Some((index, parent)) = pending.pop() {
        let item = &nodes[index];
        let visibility =
            item.extension("KHR_node_visibility").and_then(|v| v.value.get("visible")?.as_bool());
        if visibility == Some(false) {
            continue;
        }
        let to_world = compose(&parent, &locals[index]);
        pending.extend(children(item).into_iter().rev().map(|child| (child, to_world)));
        out.push(Placed { item: item.clone(), to_world });
    }
    Ok(out)
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

/// A node's own transform.
fn local(node: &Item<'_>, warnings: &mut Warnings) -> Result<Map> {
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
    let [tx, ty, tz] = node.numbers("translation").unwrap_or([0.0; 3]);
    let [sx, sy, sz] = node.numbers("scale").unwrap_or([1.0; 3]);
    let [x, y, z, w] = unit_quaternion(node, warnings)?;
    Ok([
        [(1.0 - 2.0 * (y * y + z * z)) * sx, 2.0 * (x * y - z * w) * sy, 2.0 * (x * z + y * w) * sz, tx],
        [2.0 * (x * y + z * w) * sx, (1.0 - 2.0 * (x * x + z * z)) * sy, 2.0 * (y * z - x * w) * sz, ty],
        [2.0 * (x * z - y * w) * sx, 2.0 * (y * z + x * w) * sy, (1.0 - 2.0 * (x * x + y * y)) * sz, tz],
    ])
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

fn compose(outer: &Map, inner: &Map) -> Map {
    let mut out = [[0.0; 4]; 3];
    for (i, row) in out.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            let translation = if j == 3 { outer[i][3] } else { 0.0 };
            *value = outer[i][0] * inner[0][j]
                + outer[i][1] * inner[1][j]
                + outer[i][2] * inner[2][j]
                + translation;
        }
    }
    out
}
