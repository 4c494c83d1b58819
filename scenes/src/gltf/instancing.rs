//! `EXT_mesh_gpu_instancing`: a node's mesh in many places.

use super::Source;
use super::accessors::{Accessor, Component};
use super::json::Item;
use super::transforms::{Map, compose, from_parts, unit};
use crate::warning::Warnings;
use lockstep_core::Result;

/// From the space of a node's mesh to the world: one map for each of its instances, or its own alone.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] for attributes of a wrong format or number.
pub(super) fn places(
    node: &Item<'_>,
    to_world: &Map,
    source: &Source<'_>,
    warnings: &mut Warnings,
) -> Result<Vec<Map>> {
    let extension = node.extension("EXT_mesh_gpu_instancing");
    let Some(attributes) = extension.and_then(|e| e.get("attributes")) else {
        return Ok(vec![*to_world]);
    };
    let mut count = None;
    let mut open = |name: &str, width: usize| {
        let Some(index) = attributes.index(name) else { return Ok(None) };
        let accessor = Accessor::open(&source.root, &source.buffers, index, warnings)?;
        let is_signed = matches!(accessor.component, Component::I8 | Component::I16) && accessor.normalized;
        let is_known = accessor.component == Component::F32 || (name == "ROTATION" && is_signed);
        let agrees = *count.get_or_insert(accessor.count) == accessor.count;
        if !is_known || accessor.width() != width || !agrees {
            let message = "it has a format that it cannot have, or not as many elements as the others";
            return Err(warnings.error(attributes.pointer(name), message));
        }
        Ok(Some(accessor))
    };
    let (translation, rotation, scale) = (open("TRANSLATION", 3)?, open("ROTATION", 4)?, open("SCALE", 3)?);
    let three = |accessor: &Option<Accessor<'_>>, index: usize, default: f64| {
        accessor.as_ref().map_or([default; 3], |a| a.vector::<3>(index).map(f64::from))
    };
    let mut places = Vec::with_capacity(count.unwrap_or(0));
    for i in 0..count.unwrap_or(0) {
        let turn = rotation.as_ref().map(|a| a.vector::<4>(i).map(f64::from));
        let Some(turn) = turn.map_or(Some([0.0, 0.0, 0.0, 1.0]), unit) else {
            return Err(warnings.error(attributes.pointer("ROTATION"), format!("quaternion {i} is zero")));
        };
        let own = from_parts(three(&translation, i, 0.0), turn, three(&scale, i, 1.0));
        if !own.iter().flatten().all(|v| v.is_finite()) {
            return Err(warnings.error(&attributes.at, format!("instance {i} is not finite")));
        }
        places.push(compose(to_world, &own));
    }
    Ok(places)
}
