//! `KHR_draco_mesh_compression`: primitives decoded into the bytes of their accessors.

use super::accessors::{Component, component_of, width_of};
use super::buffers::Buffers;
use super::json::{Item, whole};
use crate::limits::Limits;
use crate::warning::Warnings;
use draco_core::{DataType, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointAttribute, PointIndex};
use lockstep_core::Result;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The bytes of accessors that a file holds compressed, tightly packed, by index.
pub(super) type Decoded = HashMap<usize, Vec<u8>>;

const NAME: &str = "KHR_draco_mesh_compression";

/// Decodes every compressed primitive of the document.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] for data that is damaged, too large, or not what its accessors say.
pub(super) fn decode(
    root: &Item<'_>,
    buffers: &Buffers<'_>,
    limits: &Limits,
    warnings: &mut Warnings,
) -> Result<Decoded> {
    let mut decoded = Decoded::new();
    // Primitives may share their data.
    let mut meshes: HashMap<usize, Mesh> = HashMap::new();
    for primitive in root.items("meshes").iter().flat_map(|mesh| mesh.items("primitives")) {
        let Some(extension) = primitive.extension(NAME) else { continue };
        let view = extension.index("bufferView").unwrap_or(usize::MAX);
        let at = extension.pointer("bufferView");
        let mesh = match meshes.entry(view) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let bytes = buffers.view(root, view, warnings)?.with_data(warnings)?.bytes;
                entry.insert(mesh(bytes, limits).map_err(|message| warnings.error(&at, message))?)
            }
        };
        if let Some(index) = primitive.index("indices")
            && !decoded.contains_key(&index)
        {
            let bytes = indices(root, index, mesh).map_err(|message| warnings.error(&at, message))?;
            decoded.insert(index, bytes);
        }
        let attributes = extension.get("attributes").map(|a| a.entries()).unwrap_or_default();
        for (name, id) in attributes {
            let Some(index) = primitive.get("attributes").and_then(|a| a.index(name)) else {
                warnings.add(&id.at, "the primitive lacks the attribute; it is not used");
                continue;
            };
            if decoded.contains_key(&index) {
                continue;
            }
            let number = whole(id.value).and_then(|v| u32::try_from(v).ok()).unwrap_or(u32::MAX);
            let Some(attribute) = mesh.attribute_by_unique_id(number) else {
                return Err(warnings.error(&id.at, format!("the compressed data has no attribute {number}")));
            };
            let bytes = values(root, index, attribute, mesh.num_points())
                .map_err(|message| warnings.error(&id.at, message))?;
            decoded.insert(index, bytes);
        }
    }
    Ok(decoded)
}

/// The mesh that bytes hold. The error is a sentence.
fn mesh(bytes: &[u8], limits: &Limits) -> Result<Mesh, String> {
    let most = DecodeLimits::default()
        .with_max_faces(limits.triangles)
        .with_max_points(limits.triangles.saturating_mul(3))
        .with_max_decoded_bytes(limits.file_bytes);
    let mut mesh = Mesh::new();
    let read = MeshDecoder::new().decode(&mut DecoderBuffer::new(bytes).with_limits(most), &mut mesh);
    read.map_err(|error| format!("the compressed data cannot be read: {error}"))?;
    Ok(mesh)
}

/// The indices of a mesh as an accessor describes them.
fn indices(root: &Item<'_>, accessor: usize, mesh: &Mesh) -> Result<Vec<u8>, String> {
    let component = described(root, accessor, 3 * mesh.num_faces(), 1)?;
    let size = component.size();
    let mut bytes = Vec::with_capacity(3 * mesh.num_faces() * size);
    for PointIndex(index) in mesh.faces().iter().flatten() {
        let word = index.to_le_bytes();
        if word[size..].iter().any(|byte| *byte != 0) {
            return Err(format!("index {index} is too large for accessor {accessor}"));
        }
        bytes.extend(&word[..size]);
    }
    Ok(bytes)
}

/// The values of an attribute, one for every point, as an accessor describes them.
fn values(
    root: &Item<'_>,
    accessor: usize,
    attribute: &PointAttribute,
    points: usize,
) -> Result<Vec<u8>, String> {
    let width = usize::from(attribute.num_components());
    let component = described(root, accessor, points, width)?;
    let matching = match component {
        Component::I8 => DataType::Int8,
        Component::U8 => DataType::Uint8,
        Component::I16 => DataType::Int16,
        Component::U16 => DataType::Uint16,
        Component::U32 => DataType::Uint32,
        Component::F32 => DataType::Float32,
    };
    if attribute.data_type() != matching {
        let found = attribute.data_type();
        return Err(format!(
            "the compressed values are {found:?}, those of accessor {accessor} {matching:?}"
        ));
    }
    let size = width * component.size();
    let stride = usize::try_from(attribute.byte_stride()).unwrap_or(size);
    let data = attribute.buffer().data();
    let mut bytes = Vec::with_capacity(points * size);
    for point in 0..points {
        let value = attribute.mapped_index(PointIndex(point as u32)).0 as usize;
        let start = value.checked_mul(stride);
        let Some(found) = start.and_then(|start| data.get(start..start.checked_add(size)?)) else {
            return Err(format!("the compressed data has no value for vertex {point}"));
        };
        bytes.extend(found);
    }
    Ok(bytes)
}

/// The component type of an accessor that is to hold these many elements of this width.
fn described(root: &Item<'_>, accessor: usize, count: usize, width: usize) -> Result<Component, String> {
    let item = root.item("accessors", accessor).ok_or_else(|| format!("there is no accessor {accessor}"))?;
    let declared = item.whole("count").unwrap_or(0);
    if declared != count as u64 {
        return Err(format!("the compressed data has {count} elements, accessor {accessor} {declared}"));
    }
    if width_of(&item) != Some(width) {
        return Err(format!(
            "the compressed data has {width} components, accessor {accessor} another number"
        ));
    }
    component_of(&item).ok_or_else(|| format!("accessor {accessor} has an unknown component type"))
}
