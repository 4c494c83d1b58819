//! glTF 2.0: `.gltf` with files beside it, and `.glb`.
//!
//! The reader is strict about data that would be misread and lenient about data that a still image does not
//! depend on. Its steps: container ([`glb`]), types and references ([`check`] along [`schema`]), bytes
//! ([`buffers`], [`accessors`], [`images`]), then rendered content ([`materials`], [`meshes`], [`nodes`],
//! [`views`]).
//!
//! Specification: Khronos, *glTF 2.0*, ISO/IEC 12113:2022.

mod accessors;
mod buffers;
mod check;
mod glb;
mod images;
mod json;
mod materials;
mod meshes;
mod nodes;
mod primitives;
mod schema;
mod uri;
mod views;

use crate::access::FileAccess;
use crate::loaded::Contents;
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use json::Item;
use lockstep_core::Result;
use lockstep_core::scene::{SceneBuilder, inverse};
use serde_json::Value;

/// A document with its buffers and options.
struct Source<'a> {
    root: Item<'a>,
    buffers: buffers::Buffers<'a>,
    access: &'a FileAccess<'a>,
    /// Integer positions and normals are legal.
    quantized: bool,
}

/// Reads a file's bytes into a builder; URIs are relative to the folder of `access`. Returns cameras and the brightest
/// emission.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with a JSON pointer or byte offset.
pub(crate) fn load(
    bytes: &[u8],
    access: &FileAccess<'_>,
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
    let buffers = buffers::Buffers::load(&root, access, binary, warnings);
    accessors::check_all(&root, &buffers, warnings)?;
    let source = Source { root: root.clone(), buffers, access, quantized };
    mention_ignored(&root, warnings);

    let nodes = nodes::place(&root, warnings)?;
    let surfaces = materials::load(&source, builder, overrides, warnings)?;
    let mut used = vec![false; root.len("meshes")];
    for mesh in nodes.iter().filter_map(|node| node.item.index("mesh")) {
        used[mesh] = true;
    }
    let meshes = meshes::load(&source, &surfaces, &used, builder, warnings)?;
    for node in &nodes {
        let Some(mesh) = node.item.index("mesh").and_then(|index| meshes[index]) else {
            continue;
        };
        let to_world = nodes::to_affine(&node.to_world);
        if inverse(&to_world).is_some() {
            builder.instance(mesh, to_world);
        } else {
            warnings.add(&node.item.at, "the node is scaled to nothing; its mesh is not rendered");
        }
    }
    views::lights(&root, &nodes, builder, warnings);
    let cameras = views::cameras(&root, &nodes, warnings);
    let brightest = surfaces.iter().map(|s| s.emission).fold(0.0, f32::max);
    Ok(Contents { cameras, brightest })
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

/// Warns of features that a still image ignores.
fn mention_ignored(root: &Item<'_>, warnings: &mut Warnings) {
    for animation in root.items("animations") {
        warnings.add(animation.at, "animations are ignored; the scene is rendered at rest");
    }
    for skin in root.items("skins") {
        warnings.add(skin.at, "skins are ignored; meshes are rendered as they were modelled");
    }
    for node in root.items("nodes").iter().filter(|node| node.has("skin")) {
        warnings.add(node.pointer("skin"), "skins are ignored; the mesh is rendered as it was modelled");
    }
    for node in root.items("nodes").iter().filter(|node| node.has("weights")) {
        warnings.add(node.pointer("weights"), "morph targets are ignored");
    }
}

#[cfg(test)]
mod tests;
