//! Skins: the maps of joints that move the vertices of a mesh.

use super::Source;
use super::accessors::{Accessor, Component};
use super::json::{Item, whole};
use super::transforms::{IDENTITY, Map, apply, apply_to_normal, apply_to_vector, compose};
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, normalize, vec3};
use lockstep_core::scene::Vertex;

/// The map of every joint of a skin, from the space of the mesh to the world.
pub(super) struct Joints(Vec<Map>);

impl Joints {
    /// The joints of the skin of this index where their nodes stand.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Scene`] for inverse bind matrices that are no affine maps or too few.
    pub(super) fn open(
        source: &Source<'_>,
        skin: usize,
        to_world: &[Map],
        warnings: &mut Warnings,
    ) -> Result<Self> {
        let Some(item) = source.root.item("skins", skin) else {
            return Err(warnings.error(format!("/skins/{skin}"), "there is no such skin"));
        };
        let nodes = item.items("joints");
        let inverse = match item.index("inverseBindMatrices") {
            Some(index) => Some(Accessor::open(&source.root, &source.buffers, index, warnings)?),
            None => None,
        };
        let at = item.pointer("inverseBindMatrices");
        if let Some(inverse) = &inverse {
            if inverse.width() != 16 || inverse.component != Component::F32 {
                return Err(warnings.error(at, "the accessor does not hold matrices of floats"));
            }
            if inverse.count < nodes.len() {
                let message = format!("there are {} matrices for {} joints", inverse.count, nodes.len());
                return Err(warnings.error(at, message));
            }
        }
        let mut joints = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            let index = whole(node.value).map_or(usize::MAX, |v| v as usize);
            let Some(to_world) = to_world.get(index) else {
                return Err(warnings.error(&node.at, "there is no such node"));
            };
            let bind = inverse.as_ref().map_or(IDENTITY, |matrices| matrix(matrices, i));
            if !bind.iter().flatten().all(|v| v.is_finite()) {
                return Err(warnings.error(at, format!("matrix {i} is not finite")));
            }
            joints.push(compose(to_world, &bind));
        }
        Ok(Self(joints))
    }

    /// How many joints there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Moves a vertex by the weighted sum of its joints' maps.
    pub(super) fn move_vertex(
        &self,
        influences: &[(usize, f64)],
        position: &mut [f32; 3],
        vertex: &mut Vertex,
    ) {
        let total: f64 = influences.iter().map(|(_, weight)| weight).sum();
        let mut map = [[0.0; 4]; 3];
        for (joint, weight) in influences {
            let Some(own) = self.0.get(*joint) else { continue };
            for (sum, value) in map.iter_mut().flatten().zip(own.iter().flatten()) {
                *sum += value * (weight / total);
            }
        }
        *position = apply(&map, position.map(f64::from)).map(|v| v as f32);
        let direction = |moved: [f64; 3]| {
            // Scaled first, so that a single-precision length neither overflows nor vanishes.
            let most = moved.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            let [x, y, z] = if most > 0.0 { moved.map(|v| (v / most) as f32) } else { [0.0; 3] };
            normalize(vec3(x, y, z))
        };
        if vertex.normal != Vec3::ZERO {
            vertex.normal = direction(apply_to_normal(&map, vertex.normal.to_array().map(f64::from)));
        }
        if vertex.tangent != Vec3::ZERO {
            let sign = vertex.tangent_sign();
            let tangent = direction(apply_to_vector(&map, vertex.tangent.to_array().map(f64::from)));
            *vertex = vertex.with_tangent(tangent, sign);
        }
    }
}

/// An affine map of an accessor of matrices, which are stored column by column.
fn matrix(matrices: &Accessor<'_>, index: usize) -> Map {
    let element = |row: usize, column: usize| matrices.raw(index, 4 * column + row);
    std::array::from_fn(|row| std::array::from_fn(|column| element(row, column)))
}

/// The joints that move the vertices of a primitive.
pub(super) struct Influences<'a> {
    /// Pairs of four joints and their weights.
    sets: Vec<(Accessor<'a>, Accessor<'a>)>,
    /// JSON pointer of the attributes.
    at: String,
}

impl<'a> Influences<'a> {
    /// The influences of a primitive; nothing where it has none.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Scene`] for attributes of a wrong format or number.
    pub(super) fn open(
        item: &Item<'_>,
        source: &'a Source<'_>,
        count: usize,
        warnings: &mut Warnings,
    ) -> Result<Option<Self>> {
        let Some(attributes) = item.get("attributes") else { return Ok(None) };
        let mut sets = Vec::new();
        for set in 0.. {
            let (joints, weights) = (format!("JOINTS_{set}"), format!("WEIGHTS_{set}"));
            let (Some(j), Some(w)) = (attributes.index(&joints), attributes.index(&weights)) else { break };
            let j = Accessor::open(&source.root, &source.buffers, j, warnings)?;
            let w = Accessor::open(&source.root, &source.buffers, w, warnings)?;
            let is_unsigned = |a: &Accessor<'_>| matches!(a.component, Component::U8 | Component::U16);
            let of_weights = w.component == Component::F32 || (is_unsigned(&w) && w.normalized);
            for (name, accessor, is_sound) in
                [(joints, &j, is_unsigned(&j) && !j.normalized), (weights, &w, of_weights)]
            {
                if !is_sound || accessor.width() != 4 || accessor.count != count {
                    let message = format!("it has another format, or not the {count} elements of POSITION");
                    return Err(warnings.error(attributes.pointer(&name), message));
                }
            }
            sets.push((j, w));
        }
        Ok((!sets.is_empty()).then_some(Self { sets, at: attributes.at }))
    }

    /// The joints of a vertex with their weights, which are positive.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Scene`] for a joint that the skin lacks.
    pub(super) fn of(&self, index: usize, joints: &Joints, warnings: &Warnings) -> Result<Vec<(usize, f64)>> {
        let mut out = Vec::new();
        for (of_joints, of_weights) in &self.sets {
            let weights = of_weights.vector::<4>(index);
            for (i, weight) in weights.into_iter().enumerate().filter(|(_, w)| *w > 0.0 && w.is_finite()) {
                let joint = of_joints.raw(index, i) as usize;
                if joint >= joints.len() {
                    let message = format!("vertex {index} names joint {joint} of {}", joints.len());
                    return Err(warnings.error(&self.at, message));
                }
                out.push((joint, f64::from(weight)));
            }
        }
        if out.is_empty() {
            // A vertex that no joint moves follows the first.
            out.push((0, 1.0));
        }
        Ok(out)
    }
}
