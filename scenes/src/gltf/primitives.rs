//! Triangles of a primitive, with the vertices they use.

use super::Source;
use super::accessors::{Accessor, Component};
use super::json::Item;
use super::materials::Surface;
use super::morphs::{Displaced, Morphs};
use super::skins::{Influences, Joints};
use crate::limits::Budget;
use crate::tangents::{self, VertexArrays};
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::saturate;
use lockstep_core::math::vec3::{Vec3, cross, dot, normalize};
use lockstep_core::scene::{MeshData, Vertex};
use std::collections::HashMap;

/// The accessors of a primitive's attributes.
struct Attributes<'a> {
    position: Accessor<'a>,
    normal: Option<Accessor<'a>>,
    tangent: Option<Accessor<'a>>,
    uv: [Option<Accessor<'a>>; 2],
    color: Option<Accessor<'a>>,
    morphs: Morphs<'a>,
    /// The joints that move the vertices, of a mesh with a skin.
    skin: Option<(Influences<'a>, &'a Joints)>,
}

/// The pose of a mesh.
#[derive(Clone, Copy)]
pub(super) struct Pose<'a> {
    /// Weights of its morph targets; those beyond the last are zero.
    pub(super) weights: &'a [f64],
    /// The joints of its skin.
    pub(super) joints: Option<&'a Joints>,
}

/// Vertices and triangles of one primitive.
#[derive(Default)]
struct Part {
    positions: Vec<[f32; 3]>,
    vertices: Vec<Vertex>,
    triangles: Vec<[u32; 3]>,
}

/// Appends a primitive's triangles, in a pose, to a mesh.
pub(super) fn append<'a>(
    item: &Item<'_>,
    source: &'a Source<'_>,
    surface: Surface,
    pose: Pose<'a>,
    budget: &mut Budget,
    mesh: &mut MeshData,
    warnings: &mut Warnings,
) -> Result<()> {
    let mode = item.whole("mode").unwrap_or(4);
    if !(4..=6).contains(&mode) {
        warnings.add(item.pointer("mode"), "points and lines are not rendered");
        return Ok(());
    }
    let Some(attributes) = open_attributes(item, source, pose, warnings)? else {
        return Ok(());
    };
    let triangles = triangles(item, source, mode, attributes.position.count, budget, warnings)?;
    let mut part = gather(&attributes, triangles, item, warnings)?;
    complete(&mut part, &attributes, surface, item, warnings);
    let base = mesh.positions.len() as u32;
    mesh.materials.extend(std::iter::repeat_n(surface.material, part.triangles.len()));
    mesh.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + base)));
    mesh.positions.append(&mut part.positions);
    mesh.vertices.append(&mut part.vertices);
    Ok(())
}

/// Opens the rendered attributes and checks their formats; `None` without positions.
fn open_attributes<'a>(
    item: &Item<'_>,
    source: &'a Source<'_>,
    pose: Pose<'a>,
    warnings: &mut Warnings,
) -> Result<Option<Attributes<'a>>> {
    let map = item.get("attributes");
    let quantized = source.quantized;
    let mut open = |name: &str, widths: &[usize], allowed: &dyn Fn(&Accessor<'_>) -> bool| {
        let Some((map, index)) = map.as_ref().and_then(|m| m.index(name).map(|i| (m, i))) else {
            return Ok(None);
        };
        let accessor = Accessor::open(&source.root, &source.buffers, index, warnings)?;
        if !widths.contains(&accessor.width()) || !allowed(&accessor) {
            let message = format!("accessor {index} has a format that {name} cannot have");
            return Err(warnings.error(map.pointer(name), message));
        }
        Ok(Some(accessor))
    };
    let float = |a: &Accessor<'_>| a.component == Component::F32;
    let integer = |a: &Accessor<'_>| {
        matches!(a.component, Component::I8 | Component::U8 | Component::I16 | Component::U16)
    };
    let signed = |a: &Accessor<'_>| matches!(a.component, Component::I8 | Component::I16) && a.normalized;
    let unsigned = |a: &Accessor<'_>| matches!(a.component, Component::U8 | Component::U16) && a.normalized;
    let position = open("POSITION", &[3], &|a| float(a) || (quantized && integer(a)))?;
    let normal = open("NORMAL", &[3], &|a| float(a) || (quantized && signed(a)))?;
    let tangent = open("TANGENT", &[4], &|a| float(a) || (quantized && signed(a)))?;
    let is_uv = |a: &Accessor<'_>| float(a) || unsigned(a) || (quantized && integer(a));
    let uv = [open("TEXCOORD_0", &[2], &is_uv)?, open("TEXCOORD_1", &[2], &is_uv)?];
    let color = open("COLOR_0", &[3, 4], &|a| float(a) || unsigned(a))?;
    let Some(position) = position else {
        warnings.add(item.pointer("attributes"), "a primitive without POSITION is not rendered");
        return Ok(None);
    };
    for (name, other) in [
        ("NORMAL", &normal),
        ("TANGENT", &tangent),
        ("TEXCOORD_0", &uv[0]),
        ("TEXCOORD_1", &uv[1]),
        ("COLOR_0", &color),
    ] {
        if let Some(other) = other
            && other.count != position.count
        {
            let at = format!("{}/{name}", item.pointer("attributes"));
            let message = format!("it has {} elements, but POSITION has {}", other.count, position.count);
            return Err(warnings.error(at, message));
        }
    }
    let morphs = Morphs::open(item, source, pose.weights, position.count, warnings)?;
    let skin = match pose.joints {
        Some(joints) => {
            let influences = Influences::open(item, source, position.count, warnings)?;
            if influences.is_none() {
                let message =
                    "the mesh has a skin, but no JOINTS_0 and WEIGHTS_0; the primitive stays as modelled";
                warnings.add(item.pointer("attributes"), message);
            }
            influences.map(|influences| (influences, joints))
        }
        None => None,
    };
    Ok(Some(Attributes { position, normal, tangent, uv, color, morphs, skin }))
}

/// Vertex indices of the triangles, all below `vertex_count`.
fn triangles(
    item: &Item<'_>,
    source: &Source<'_>,
    mode: u64,
    vertex_count: usize,
    budget: &mut Budget,
    warnings: &mut Warnings,
) -> Result<Vec<[u32; 3]>> {
    let at = item.pointer("indices");
    let indices = match item.index("indices") {
        Some(index) => {
            let indices = Accessor::open(&source.root, &source.buffers, index, warnings)?;
            let sound = matches!(indices.component, Component::U8 | Component::U16 | Component::U32);
            if !sound || indices.width() != 1 || indices.normalized {
                return Err(
                    warnings.error(at, format!("accessor {index} does not hold unsigned scalar indices"))
                );
            }
            Some(indices)
        }
        None => None,
    };
    let corners = indices.as_ref().map_or(vertex_count, |i| i.count);
    let count = if mode == 4 { corners / 3 } else { corners.saturating_sub(2) };
    if corners < 3 || (mode == 4 && corners % 3 != 0) {
        warnings.add(
            &item.at,
            format!("{corners} corners do not make whole triangles; what is left over is not rendered"),
        );
    }
    budget.take(count, &item.at, warnings)?;
    let corner = |i: usize| indices.as_ref().map_or(i as u32, |indices| indices.unsigned(i));
    let restart = indices.as_ref().map(|indices| match indices.component {
        Component::U8 => 0xff,
        Component::U16 => 0xffff,
        _ => u32::MAX,
    });
    let mut out = Vec::with_capacity(count);
    for i in 0..count {
        let places = match mode {
            4 => [3 * i, 3 * i + 1, 3 * i + 2],
            5 => [i, i + 1 + i % 2, i + 2 - i % 2],
            _ => [0, i + 1, i + 2],
        };
        let triangle = places.map(corner);
        if let Some(k) = triangle.iter().position(|&v| v as usize >= vertex_count) {
            let message =
                format!("index {} is {}, but there are {vertex_count} vertices", places[k], triangle[k]);
            return Err(warnings.error(at, message));
        }
        if let Some(restart) = restart
            && triangle.contains(&restart)
        {
            return Err(
                warnings.error(at, format!("index {restart} restarts primitives, which glTF does not allow"))
            );
        }
        // Strips repeat indices to jump; such triangles have no area.
        let [a, b, c] = triangle;
        if mode == 4 || (a != b && b != c && a != c) {
            out.push(triangle);
        }
    }
    Ok(out)
}

/// Copies the vertices that the triangles use, renumbered in order of first use where the primitive shares a
/// larger array with others.
fn gather(
    attributes: &Attributes<'_>,
    triangles: Vec<[u32; 3]>,
    item: &Item<'_>,
    warnings: &mut Warnings,
) -> Result<Part> {
    let count = attributes.position.count;
    let mut part = Part { triangles, ..Part::default() };
    let mut notes = Notes::default();
    if count <= part.triangles.len().saturating_mul(3) {
        for index in 0..count {
            part.push(attributes, index, &mut notes, warnings)?;
        }
    } else {
        let mut renumbered: HashMap<u32, u32> = HashMap::new();
        let mut triangles = std::mem::take(&mut part.triangles);
        for corner in triangles.iter_mut().flatten() {
            let next = renumbered.len() as u32;
            let known = *renumbered.entry(*corner).or_insert(next);
            if known == next {
                part.push(attributes, *corner as usize, &mut notes, warnings)?;
            }
            *corner = known;
        }
        part.triangles = triangles;
    }
    notes.report(&item.pointer("attributes"), warnings);
    Ok(part)
}

/// Corrected faults of vertices.
#[derive(Default)]
struct Notes {
    normal_length: bool,
    tangent_length: bool,
    tangent_sign: bool,
    color_range: bool,
}

impl Notes {
    fn report(&self, at: &str, warnings: &mut Warnings) {
        let mut note = |on: bool, name: &str, message: &str| {
            if on {
                warnings.add(format!("{at}/{name}"), message);
            }
        };
        note(self.normal_length, "NORMAL", "some normals are not of unit length; they were scaled to it");
        note(self.tangent_length, "TANGENT", "some tangents are not of unit length; they were scaled to it");
        note(self.tangent_sign, "TANGENT", "some tangents' w is neither 1 nor -1; its sign was used");
        note(
            self.color_range,
            "COLOR_0",
            "some colours are negative, not finite or beyond 65504, or their alpha is not 0 to 1; they were limited",
        );
    }
}

impl Part {
    fn push(
        &mut self,
        attributes: &Attributes<'_>,
        index: usize,
        notes: &mut Notes,
        warnings: &Warnings,
    ) -> Result<()> {
        let mut vertex = vertex(attributes, index, notes);
        let own = attributes.position.vector::<3>(index);
        let mut position = attributes.morphs.displace(Displaced::Position, index, own);
        if let Some((influences, joints)) = &attributes.skin {
            joints.move_vertex(&influences.of(index, joints, warnings)?, &mut position, &mut vertex);
        }
        let finite =
            vertex.normal.is_finite() && vertex.tangent.is_finite() && Vec3::from(position).is_finite();
        if !finite || !vertex.uv0.iter().chain(&vertex.uv1).all(|v| v.is_finite()) {
            let message = format!("an attribute of vertex {index} is not finite");
            return Err(warnings.error(&attributes.position.at, message));
        }
        self.positions.push(position);
        self.vertices.push(vertex);
        Ok(())
    }
}

fn vertex(attributes: &Attributes<'_>, index: usize, notes: &mut Notes) -> Vertex {
    let morphs = &attributes.morphs;
    let mut out = Vertex::default();
    if let Some(accessor) = &attributes.normal {
        let own = accessor.vector::<3>(index);
        let length2 = dot(own.into(), own.into());
        notes.normal_length |= (length2 - 1.0).abs() > 0.02;
        out.normal = normalize(Vec3::from(morphs.displace(Displaced::Normal, index, own)));
    }
    if let Some(accessor) = &attributes.tangent {
        let [x, y, z, w] = accessor.vector::<4>(index);
        let length2 = dot([x, y, z].into(), [x, y, z].into());
        notes.tangent_length |= (length2 - 1.0).abs() > 0.02;
        notes.tangent_sign |= w.abs() != 1.0;
        let tangent = Vec3::from(morphs.displace(Displaced::Tangent, index, [x, y, z]));
        out = out.with_tangent(normalize(tangent), w);
    }
    if let Some(accessor) = &attributes.uv[0] {
        out.uv0 = morphs.displace(Displaced::Uv0, index, accessor.vector::<2>(index));
    }
    if let Some(accessor) = &attributes.uv[1] {
        out.uv1 = morphs.displace(Displaced::Uv1, index, accessor.vector::<2>(index));
    }
    if let Some(accessor) = &attributes.color {
        let mut rgba = accessor.vector::<4>(index);
        if accessor.width() == 3 {
            rgba[3] = 1.0;
        }
        let rgba = morphs.displace(Displaced::Color, index, rgba);
        let [red, green, blue, alpha] = rgba;
        notes.color_range |= [red, green, blue].iter().any(|v| !(0.0..=65_504.0).contains(v));
        notes.color_range |= !(0.0..=1.0).contains(&alpha);
        out = out.with_color([red, green, blue, saturate(alpha)]);
    }
    out
}

/// Adds attributes that the material needs and the primitive lacks: flat normals and tangents for a normal
/// map.
fn complete(
    part: &mut Part,
    attributes: &Attributes<'_>,
    surface: Surface,
    item: &Item<'_>,
    warnings: &mut Warnings,
) {
    for set in 0..32u32 {
        let present = attributes.uv.get(set as usize).is_some_and(Option::is_some);
        if surface.uv_sets & (1 << set) != 0 && !present {
            warnings.add(
                item.pointer("material"),
                format!("it needs TEXCOORD_{set}, which the primitive lacks; zeros are used"),
            );
        }
    }
    if attributes.tangent.is_some() && attributes.normal.is_none() {
        let at = format!("{}/TANGENT", item.pointer("attributes"));
        warnings.add(at, "tangents without normals mean nothing; they are ignored");
    }
    if surface.asks_for_tangents && attributes.tangent.is_none() {
        let instead = if surface.tangent_uv.is_some() { "MikkTSpace's are used" } else { "none are used" };
        let message = format!("its layers follow tangents, which the primitive lacks; {instead}");
        warnings.add(item.pointer("material"), message);
    }
    let Some(uv_set) = surface.tangent_uv else {
        return;
    };
    if attributes.normal.is_none() {
        make_flat(part);
    }
    if attributes.tangent.is_none() || attributes.normal.is_none() {
        let vertices = VertexArrays { positions: &mut part.positions, vertices: &mut part.vertices };
        tangents::generate(vertices, &mut part.triangles, uv_set, &item.at, warnings);
    }
}

/// Gives each triangle its own vertices with its geometric normal.
fn make_flat(part: &mut Part) {
    let mut out = Part::default();
    for triangle in &part.triangles {
        let corners = triangle.map(|v| Vec3::from(part.positions[v as usize]));
        let normal = normalize(cross(corners[1] - corners[0], corners[2] - corners[0]));
        let base = out.positions.len() as u32;
        out.triangles.push([base, base + 1, base + 2]);
        for &v in triangle {
            out.positions.push(part.positions[v as usize]);
            out.vertices.push(Vertex { normal, ..part.vertices[v as usize] });
        }
    }
    *part = out;
}
