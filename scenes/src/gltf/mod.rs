//! glTF 2.0: `.gltf` with files beside it, and `.glb`.
//!
//! The reader is strict about data that would be misread and lenient about data that a still image does not
//! depend on. Its steps: container ([`glb`]), types and references ([`check`] along [`schema`]), bytes
//! ([`buffers`], [`accessors`], [`images`]), the pose ([`animations`], [`nodes`], [`skins`], [`morphs`]), then
//! rendered content ([`materials`], [`meshes`], [`instancing`], [`views`]).
//!
//! Specification: Khronos, *glTF 2.0*, ISO/IEC 12113:2022.

mod accessors;
mod animations;
mod buffers;
mod check;
mod check_poses;
mod draco;
mod glb;
mod images;
mod instancing;
mod json;
mod lobes;
mod materials;
mod meshes;
mod morphs;
mod nodes;
mod primitives;
mod schema;
mod skins;
mod specular_glossiness;
mod transforms;
mod uri;
mod variants;
mod views;

use crate::access::FileAccess;
use crate::loaded::{Choices, Contents};
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use json::Item;
use lockstep_core::Result;
use lockstep_core::scene::{SceneBuilder, inverse};
use meshes::Shown;
use serde_json::Value;
use std::collections::HashMap;

/// A document with its buffers and options.
struct Source<'a> {
    root: Item<'a>,
    buffers: buffers::Buffers<'a>,
    access: &'a FileAccess<'a>,
    /// Integer positions and normals are legal.
    quantized: bool,
    /// The index of the variant whose materials are used.
    variant: Option<u64>,
}

/// Reads a file's bytes into a builder; URIs are relative to the folder of `access`. Returns the cameras.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with a JSON pointer or byte offset.
pub(crate) fn load(
    bytes: &[u8],
    access: &FileAccess<'_>,
    choices: &Choices,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Contents> {
    let binary_file = glb::is_container(bytes) || warnings.path().to_ascii_lowercase().ends_with(".glb");
    let (text, offset, binary) = if binary_file {
        let container = glb::parse(bytes, warnings)?;
        (container.json, container.json_offset, container.binary)
    } else {
        (bytes, 0, None)
    };
    let document = parse_json(text, offset, warnings)?;
    check::check(&document, warnings)?;
    let root = Item::root(&document);
    let quantized = root
        .value
        .get("extensionsUsed")
        .and_then(Value::as_array)
        .is_some_and(|list| list.iter().any(|name| name == "KHR_mesh_quantization"));
    buffers::check_views(&root, warnings)?;
    let mut buffers = buffers::Buffers::load(&root, access, binary, warnings);
    let decoded = draco::decode(&root, &buffers, access.limits, warnings)?;
    buffers.set_decoded(decoded);
    accessors::check_all(&root, &buffers, warnings)?;
    let variant = variants::find(&root, choices.variant.as_deref(), warnings)?;
    let source = Source { root: root.clone(), buffers, access, quantized, variant };
    check_poses::check(&source, warnings);
    let seconds = f64::from(choices.at.unwrap_or(0.0));
    let poses = animations::sample(&source, choices.animation.as_deref(), seconds, warnings)?;

    let graph = nodes::place(&root, &poses, warnings)?;
    meshes::check_bytes(&source, &graph.placed, warnings)?;
    let surfaces = materials::load(&source, builder, overrides, warnings)?;
    let (mut shown, mut known): (Vec<Shown>, HashMap<_, usize>) = (Vec::new(), HashMap::new());
    let mut places = Vec::new();
    for node in &graph.placed {
        let Some(mesh) = node.item.index("mesh") else { continue };
        let own = shown_by(node, mesh, &root, &poses);
        // A skin's joints place its mesh, whatever places the node.
        let to_world = if own.skin.is_some() { transforms::IDENTITY } else { node.to_world };
        let bits: Vec<u64> = own.weights.iter().map(|w| w.to_bits()).collect();
        let index = *known.entry((own.mesh, own.skin, bits)).or_insert(shown.len());
        places.push((node, to_world, index));
        if index == shown.len() {
            shown.push(own);
        }
    }
    let meshes = meshes::load(&source, &surfaces, &shown, &graph.to_world, builder, warnings)?;
    for (node, to_world, index) in places {
        let Some(mesh) = meshes[index] else { continue };
        for place in instancing::places(&node.item, &to_world, &source, warnings)? {
            let place = transforms::to_affine(&place);
            if inverse(&place).is_some() {
                builder.instance(mesh, place);
            } else {
                warnings.add(&node.item.at, "the node is scaled to nothing; its mesh is not rendered");
            }
        }
    }
    let nodes = graph.placed;
    views::lights(&root, &nodes, builder, warnings)?;
    let cameras = views::cameras(&root, &nodes, warnings);
    Ok(Contents { cameras, has_lamps: false })
}

fn parse_json(text: &[u8], offset: usize, warnings: &Warnings) -> Result<Value> {
    if text.starts_with(b"\xef\xbb\xbf") {
        return Err(warnings
            .error(format!("byte {offset}"), "the JSON begins with a byte order mark, which glTF forbids"));
    }
    serde_json::from_slice(text).map_err(|error| {
        let lines = text.split_inclusive(|&b| b == b'\n').take(error.line().saturating_sub(1));
        let before: usize = lines.map(<[u8]>::len).sum();
        let place = (before + error.column().saturating_sub(1)).min(text.len());
        warnings.error(format!("byte {}", offset + place), format!("the JSON is damaged: {error}"))
    })
}

/// The mesh of a node in its pose.
fn shown_by(node: &nodes::Placed<'_>, mesh: usize, root: &Item<'_>, poses: &animations::Poses) -> Shown {
    let moved = poses.get(&node.index).and_then(|pose| pose.weights.clone());
    let own = || animations::weights(&node.item);
    let default = || root.item("meshes", mesh).as_ref().and_then(animations::weights);
    let weights = moved.or_else(own).or_else(default).filter(|w| w.iter().any(|w| *w != 0.0));
    Shown { mesh, skin: node.item.index("skin"), weights: weights.unwrap_or_default() }
}
