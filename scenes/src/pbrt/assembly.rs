//! From shapes to the scene's meshes and instances.

use super::Context;
use super::description::{Description, MaterialUse, Placement, Shape, Version};
use super::lights::emitted;
use super::looks::{Look, Looks};
use super::matrix::Matrix;
use super::params::{Params, Source, shorten};
use super::raster::Encoding;
use super::shapes::{self, Geometry, Solid};
use super::surfaces::{Finish, Surfaces, is_textured};
use super::textures::Textures;
use super::values::Value;
use crate::overrides::MaterialOverrides;
use crate::ply::{self, PlyMesh};
use crate::tangents::{self, VertexArrays};
use lockstep_core::Result;
use lockstep_core::math::transform::{Affine, inverse, transform_normal, transform_point};
use lockstep_core::math::vec3::{Vec3, cross, length, max_component, normalize, vec3};
use lockstep_core::scene::{IDENTITY, Material, MaterialKind, MeshData, NONE, SceneBuilder, Sphere, Vertex};
use rayon::prelude::*;
use std::collections::HashMap;
use std::f64::consts::PI;

/// Most materials of one shape whose triangles emit by their own area.
const MAX_POWERED: usize = 4096;

/// Steps of a factor of two between bumps of different sizes that are one material.
const STRETCH_STEPS: f32 = 4.0;

/// Everything that shapes are made with.
pub(super) struct Assembly<'a, 'b, 'c> {
    pub(super) description: &'a Description,
    pub(super) builder: &'a mut SceneBuilder,
    pub(super) overrides: &'a mut MaterialOverrides,
    pub(super) context: &'a mut Context<'b, 'c>,
    pub(super) textures: Textures,
    looks: Looks,
    surfaces: Surfaces,
    materials: HashMap<MaterialKey, u32>,
    made: Vec<Material>,
    meshes: HashMap<String, (PlyMesh, usize)>,
    /// Whether some material emits.
    pub(super) emits: bool,
}

/// Everything by which two shapes' materials are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MaterialKey {
    used: MaterialUse,
    alpha: Option<(bool, u64)>,
    light: Option<(usize, u32)>,
    stretch: [i32; 2],
}

impl<'a, 'b, 'c> Assembly<'a, 'b, 'c> {
    pub(super) fn new(
        description: &'a Description,
        builder: &'a mut SceneBuilder,
        overrides: &'a mut MaterialOverrides,
        context: &'a mut Context<'b, 'c>,
        textures: Textures,
    ) -> Self {
        let surfaces = Surfaces::new(context.access.limits.texture_side);
        Self {
            description,
            builder,
            overrides,
            context,
            textures,
            looks: Looks::default(),
            surfaces,
            materials: HashMap::new(),
            made: Vec::new(),
            meshes: HashMap::new(),
            emits: false,
        }
    }

    /// Adds all shapes and objects; `world` maps from pbrt's world to the scene's.
    pub(super) fn place(&mut self, world: &Matrix) -> Result<()> {
        self.read_meshes()?;
        let description = self.description;
        for shape in &description.shapes {
            let to_world = world.then(&shape.to_world);
            let map = self.affine(&to_world, &shape.params.place)?;
            let is_similar = to_world.similarity().is_some();
            if let Some(mesh) = self.shape(shape, &map, is_similar)? {
                let mesh = self.builder.mesh(mesh);
                self.builder.instance(mesh, map);
            }
        }
        let mut placed: Vec<Vec<&Placement>> = vec![Vec::new(); description.objects.len()];
        description.placements.iter().for_each(|placement| placed[placement.object].push(placement));
        for (shapes, placements) in description.objects.iter().zip(placed) {
            if placements.is_empty() || shapes.is_empty() {
                continue;
            }
            let mut maps = Vec::new();
            let mut are_similar = true;
            for placement in placements {
                let to_world = world.then(&placement.to_world);
                maps.push(self.affine(&to_world, &placement.place)?);
                are_similar &= to_world.similarity().is_some();
            }
            let mut object = MeshData::default();
            for shape in shapes {
                let map = self.affine(&shape.to_world, &shape.params.place)?;
                let is_similar = are_similar && shape.to_world.similarity().is_some();
                if let Some(mesh) = self.shape(shape, &map, is_similar)? {
                    append(&mut object, mesh, &map, shape.to_world.similarity());
                }
            }
            if object.triangles.is_empty() && object.spheres.is_empty() {
                continue;
            }
            let mesh = self.builder.mesh(object);
            maps.into_iter().for_each(|map| self.builder.instance(mesh, map));
        }
        Ok(())
    }

    fn affine(&self, map: &Matrix, place: &str) -> Result<Affine> {
        map.affine().ok_or_else(|| {
            self.context.warnings.error(place, "the transform cannot be undone, or is not affine")
        })
    }

    /// Reads all mesh files, several at a time.
    fn read_meshes(&mut self) -> Result<()> {
        let mut order: Vec<(&str, &str)> = Vec::new();
        let objects = self.description.objects.iter().flatten();
        for shape in self.description.shapes.iter().chain(objects).filter(|s| s.class == "plymesh") {
            let place = shape.params.place.as_str();
            let Some(name) = shape.params.string("filename", self.context)? else {
                return Err(self.context.warnings.error(place, "a `plymesh` needs a `string filename`"));
            };
            match self.meshes.get_mut(name) {
                Some((_, uses)) => *uses += 1,
                None => {
                    self.meshes.insert(name.to_string(), (PlyMesh::default(), 1));
                    order.push((name, place));
                }
            }
        }
        let (access, most) = (self.context.access, self.context.access.limits.triangles);
        let read = |(name, _): &(&str, &str)| -> std::result::Result<(PlyMesh, u64), String> {
            let bytes = access.read(&access.folder.join(name)).map_err(|error| error.to_string())?;
            let unpacked = super::unpack::unpack(&bytes, access.limits.file_bytes)?;
            let mesh = ply::read(&unpacked, most).map_err(|error| format!("`{}`: {error}", shorten(name)))?;
            Ok((mesh, unpacked.len() as u64))
        };
        // Some at a time, so that their size is known before many more are read.
        for names in order.chunks(64) {
            let found: Vec<_> = names.par_iter().map(read).collect();
            for ((name, place), result) in names.iter().zip(found) {
                let (mesh, bytes) = result.map_err(|message| self.context.warnings.error(*place, message))?;
                self.context.grow_triangles(bytes);
                self.context.check_triangles(mesh.triangles.len(), place)?;
                if let Some((slot, _)) = self.meshes.get_mut(*name) {
                    *slot = mesh;
                }
            }
        }
        Ok(())
    }

    /// The mesh of a shape's file, moved out where nothing else uses it.
    fn mesh_file(&mut self, shape: &Shape) -> Result<Option<PlyMesh>> {
        if shape.class != "plymesh" {
            return Ok(None);
        }
        let name = shape.params.string("filename", self.context)?.unwrap_or_default();
        let Some((mesh, uses)) = self.meshes.get_mut(name) else {
            return Ok(None);
        };
        *uses = uses.saturating_sub(1);
        Ok(Some(if *uses == 0 { std::mem::take(mesh) } else { mesh.clone() }))
    }

    /// A shape in its own space; `None` for one that cannot be seen.
    fn shape(&mut self, shape: &Shape, to_world: &Affine, is_similar: bool) -> Result<Option<MeshData>> {
        let place = shape.params.place.as_str();
        let look =
            self.looks.of(&shape.material, self.description, &mut self.textures, self.context, place)?;
        let mesh = self.mesh_file(shape)?;
        let Some(solid) = shapes::make(shape, mesh, self.context)? else {
            return Ok(None);
        };
        let alpha = self.alpha(&shape.params)?;
        for name in ["shadowalpha", "edgelength"] {
            if shape.params.get(name).is_some() {
                self.context.warnings.add(place, format!("the parameter `{name}` of shapes is left out"));
            }
        }
        let unused: Vec<String> = shape.params.unused().map(shorten).collect();
        for name in unused {
            let message =
                format!("the parameter `{name}` of the shape `{}` is not used", shorten(&shape.class));
            self.context.warnings.add(place, message);
        }
        let is_hidden =
            look.opacity.is_constant(0.0) || alpha.as_ref().is_some_and(|(a, _)| a.is_constant(0.0));
        if is_hidden && shape.area_light.is_none() {
            return Ok(None);
        }
        let finish = Finish {
            alpha: alpha.as_ref().map_or(Value::grey(1.0), |(value, _)| value.clone()),
            emission: Value::grey(0.0),
            two_sided: false,
            stretch: [1.0; 2],
        };
        self.finished(shape, solid, look, finish, alpha.map(|(_, key)| key), to_world, is_similar).map(Some)
    }

    /// The mask of a shape, with a key by which it is known.
    fn alpha(&self, params: &Params) -> Result<Option<(Value, (bool, u64))>> {
        Ok(match params.float_or_texture("alpha", self.context)? {
            None => None,
            Some(Source::Value(alpha)) => {
                // Version 3 knows seen and unseen only.
                let seen = if self.context.version == Version::Three {
                    f64::from(u8::from(alpha > 0.0))
                } else {
                    alpha
                };
                (seen < 1.0).then(|| (Value::grey(seen as f32), (false, seen.to_bits())))
            }
            Some(Source::Texture(index)) => Some((self.textures.value(index), (true, index as u64))),
        })
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one surface")]
    fn finished(
        &mut self,
        shape: &Shape,
        solid: Solid,
        mut look: Look,
        mut finish: Finish,
        alpha: Option<(bool, u64)>,
        to_world: &Affine,
        is_similar: bool,
    ) -> Result<MeshData> {
        let place = shape.params.place.as_str();
        let mut power = None;
        if let Some(light) = shape.area_light {
            // A surface that is not there emits all the same.
            if look.opacity.is_constant(0.0) {
                look = Look {
                    opacity: Value::grey(1.0),
                    kind: MaterialKind::Diffuse,
                    color: Value::grey(0.0),
                    ..look
                };
                let message = "light of a surface that rays pass through: the surface is black";
                self.context.warnings.add(place, message);
            }
            power = self.area_light(light, &mut finish)?;
        }
        let mut key = MaterialKey {
            used: shape.material.clone(),
            alpha,
            light: shape.area_light.map(|light| (light, 0)),
            stretch: [0; 2],
        };
        let geometry = match solid {
            Solid::Sphere { radius } => {
                let material = self.material(
                    &key,
                    &look,
                    &finish,
                    power.map(|p| p / sphere_area(radius, to_world)),
                    shape,
                )?;
                let is_plain = !is_textured(&self.made[material as usize]);
                if is_similar && is_plain {
                    let sphere =
                        Sphere { center: Vec3::ZERO, radius: radius as f32, material, ..Sphere::default() };
                    return Ok(MeshData { spheres: vec![sphere], ..MeshData::default() });
                }
                let message = "a sphere that is stretched or has textures is rendered as triangles";
                self.context.warnings.add(place, message);
                let geometry = shapes::whole_sphere(radius);
                self.context.take_triangles(geometry.triangles.len(), place)?;
                geometry
            }
            Solid::Triangles(geometry) => geometry,
        };
        if look.bump.is_some() {
            let stretch = stretch(&geometry, to_world);
            key.stretch = stretch.map(|s| (s.log2() * STRETCH_STEPS).round() as i32);
            finish.stretch = key.stretch.map(|s| (s as f32 / STRETCH_STEPS).exp2());
        }
        let materials = match power {
            None => vec![self.material(&key, &look, &finish, None, shape)?],
            Some(power) => self.powered(&geometry, power, &key, &look, &finish, to_world, shape)?,
        };
        Ok(self.mesh(geometry, materials, place))
    }

    /// The materials of triangles that emit a power each.
    #[allow(clippy::too_many_arguments, reason = "the parts of one surface")]
    fn powered(
        &mut self,
        geometry: &Geometry,
        power: f64,
        key: &MaterialKey,
        look: &Look,
        finish: &Finish,
        to_world: &Affine,
        shape: &Shape,
    ) -> Result<Vec<u32>> {
        let areas: Vec<f64> = geometry.triangles.iter().map(|t| area(geometry, t, to_world)).collect();
        let total: f64 = areas.iter().sum();
        // Each triangle of a mesh is a light of its own; other shapes are one light.
        let is_mesh = matches!(shape.class.as_str(), "trianglemesh" | "plymesh" | "loopsubdiv");
        let pair = if shape.class == "bilinearmesh" { 2 } else { 1 };
        if !is_mesh && pair == 1 {
            return Ok(vec![self.material(key, look, finish, Some(power / total), shape)?]);
        }
        if areas.len() > MAX_POWERED {
            let message =
                format!("more than {MAX_POWERED} triangles with a `power` each emit by their mean area");
            self.context.warnings.add(&shape.params.place, message);
            return Ok(vec![self.material(
                key,
                look,
                finish,
                Some(power * areas.len() as f64 / total),
                shape,
            )?]);
        }
        let mut out = Vec::new();
        for lights in areas.chunks(pair) {
            let area: f64 = lights.iter().sum();
            let each = if area > 0.0 { power / area } else { 0.0 };
            let material = self.material(key, look, finish, Some(each), shape)?;
            out.extend(std::iter::repeat_n(material, lights.len()));
        }
        Ok(out)
    }

    /// Reads an area light. Its power times pi's part of the radiance is returned where it asks for one: radiance
    /// is this over the area.
    fn area_light(&mut self, light: usize, finish: &mut Finish) -> Result<Option<f64>> {
        let description = self.description;
        let params = &description.area_lights[light];
        for name in ["samples", "nsamples"] {
            params.get(name);
        }
        let radiance = emitted(params, "L", self.context)?;
        finish.two_sided = params.flag("twosided", false, self.context)?;
        let mut mean = 1.0;
        finish.emission = Value::Constant(radiance.to_array());
        if let Some(name) = params.string("filename", self.context)?.map(str::to_string) {
            let image = self.textures.file(&name, Encoding::Srgb, &params.place, self.context)?;
            let Some(image) = image else {
                let message = "the light's image cannot be read";
                return Err(self.context.warnings.error(&params.place, message));
            };
            mean = f64::from(image.mean_grey());
            finish.emission = image.times(radiance.to_array());
        }
        let unused: Vec<String> = params.unused().filter(|name| *name != "power").map(shorten).collect();
        for name in unused {
            let message = format!("the parameter `{name}` of the area light is not used");
            self.context.warnings.add(&params.place, message);
        }
        let power = params.float("power", -1.0, self.context)?;
        let sides = if finish.two_sided { 2.0 } else { 1.0 };
        Ok((power > 0.0 && mean > 0.0).then(|| power / (PI * sides * mean)))
    }

    /// The index of a shape's material, made once for all that are alike. `factor` multiplies its emission.
    fn material(
        &mut self,
        key: &MaterialKey,
        look: &Look,
        finish: &Finish,
        factor: Option<f64>,
        shape: &Shape,
    ) -> Result<u32> {
        let factor = factor.unwrap_or(1.0) as f32;
        let mut key = key.clone();
        key.light = key.light.map(|(light, _)| (light, factor.to_bits()));
        if let Some(index) = self.materials.get(&key) {
            return Ok(*index);
        }
        let finish = Finish { emission: finish.emission.times([factor; 3]), ..finish.clone() };
        let (name, place) = self.name(&shape.material, &shape.params);
        let mut material = self.surfaces.material(look, &finish, self.builder, self.context, &place)?;
        self.overrides.apply(name.as_deref(), &mut material, self.builder);
        self.emits |= max_component(material.emission) > 0.0;
        let index = self.builder.material(material);
        self.made.resize(index as usize + 1, Material::BLACK);
        self.made[index as usize] = material;
        self.materials.insert(key, index);
        Ok(index)
    }

    /// A material's name, if it has one, and its place.
    fn name(&self, used: &MaterialUse, shape: &Params) -> (Option<String>, String) {
        let index = match used {
            MaterialUse::Default => None,
            MaterialUse::Index(index) => Some(*index),
            MaterialUse::Named(name) => self.description.named_materials.get(name).copied(),
        };
        match index.and_then(|index| self.description.materials.get(index)) {
            Some(definition) if definition.name.is_empty() => (None, definition.params.place.clone()),
            Some(definition) => {
                let place = format!("{}, material `{}`", definition.params.place, shorten(&definition.name));
                (Some(definition.name.clone()), place)
            }
            None => (None, shape.place.clone()),
        }
    }

    /// A mesh with what its materials need: texture coordinates and tangents.
    fn mesh(&mut self, mut geometry: Geometry, materials: Vec<u32>, place: &str) -> MeshData {
        let of = |this: &Self, index: &u32| this.made[*index as usize];
        let textured = materials.iter().any(|m| is_textured(&of(self, m)));
        let mapped = materials.iter().any(|m| of(self, m).normal_texture != NONE);
        if textured && geometry.uv.is_empty() {
            geometry = with_corner_coordinates(geometry);
        }
        if mapped && geometry.normals.is_empty() {
            geometry = with_flat_normals(geometry);
        }
        let Geometry { positions, normals, uv, triangles } = geometry;
        let vertex = |i: usize| Vertex {
            normal: normals.get(i).map_or(Vec3::ZERO, |&n| n.into()),
            uv0: uv.get(i).map_or([0.0; 2], |&[u, v]| [u, 1.0 - v]),
            ..Vertex::default()
        };
        let has_vertices = !normals.is_empty() || textured;
        let vertices = if has_vertices { (0..positions.len()).map(vertex).collect() } else { Vec::new() };
        let mut mesh = MeshData { positions, vertices, triangles, materials, spheres: Vec::new() };
        if mapped {
            let arrays = VertexArrays { positions: &mut mesh.positions, vertices: &mut mesh.vertices };
            tangents::generate(arrays, &mut mesh.triangles, 0, place, self.context.warnings);
        }
        mesh
    }
}

/// pbrt's texture coordinates of triangles without any: (0, 0), (1, 0) and (1, 1).
fn with_corner_coordinates(geometry: Geometry) -> Geometry {
    let mut out = Geometry::default();
    for triangle in &geometry.triangles {
        let first = out.positions.len() as u32;
        for (&v, uv) in triangle.iter().zip([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]) {
            out.positions.push(geometry.positions[v as usize]);
            out.normals.extend(geometry.normals.get(v as usize));
            out.uv.push(uv);
        }
        out.triangles.push([first, first + 1, first + 2]);
    }
    out
}

/// Each triangle with vertices of its own, whose normals are the triangle's.
fn with_flat_normals(geometry: Geometry) -> Geometry {
    let mut out = Geometry::default();
    for triangle in &geometry.triangles {
        let first = out.positions.len() as u32;
        let [a, b, c] = triangle.map(|v| Vec3::from(geometry.positions[v as usize]));
        let normal = normalize(cross(b - a, c - a)).to_array();
        for &v in triangle {
            out.positions.push(geometry.positions[v as usize]);
            out.normals.push(normal);
            out.uv.extend(geometry.uv.get(v as usize));
        }
        out.triangles.push([first, first + 1, first + 2]);
    }
    out
}

/// The corners of a triangle in the world.
fn corners(geometry: &Geometry, triangle: &[u32; 3], to_world: &Affine) -> [Vec3; 3] {
    triangle.map(|v| transform_point(to_world, geometry.positions[v as usize].into()))
}

fn area(geometry: &Geometry, triangle: &[u32; 3], to_world: &Affine) -> f64 {
    let [a, b, c] = corners(geometry, triangle, to_world);
    0.5 * f64::from(length(cross(b - a, c - a)))
}

fn sphere_area(radius: f64, to_world: &Affine) -> f64 {
    let axis = |j: usize| f64::from(length(vec3(to_world[0][j], to_world[1][j], to_world[2][j])));
    let scale = (axis(0) * axis(1) * axis(2)).cbrt();
    4.0 * PI * radius * radius * scale * scale
}

/// Mean lengths in the world of a unit of each texture coordinate.
fn stretch(geometry: &Geometry, to_world: &Affine) -> [f32; 2] {
    let default = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]];
    let (mut sums, mut total) = ([0.0f64; 2], 0.0f64);
    for triangle in &geometry.triangles {
        let [a, b, c] = corners(geometry, triangle, to_world);
        let uv: [[f32; 2]; 3] =
            std::array::from_fn(|i| geometry.uv.get(triangle[i] as usize).copied().unwrap_or(default[i]));
        let [du1, dv1] = [uv[1][0] - uv[0][0], uv[1][1] - uv[0][1]];
        let [du2, dv2] = [uv[2][0] - uv[0][0], uv[2][1] - uv[0][1]];
        let det = du1 * dv2 - dv1 * du2;
        if det == 0.0 || !det.is_finite() {
            continue;
        }
        let (along_u, along_v) = ((b - a) * dv2 - (c - a) * dv1, (c - a) * du1 - (b - a) * du2);
        let weight = f64::from(length(cross(b - a, c - a)));
        sums[0] += weight * f64::from(length(along_u) / det.abs());
        sums[1] += weight * f64::from(length(along_v) / det.abs());
        total += weight;
    }
    sums.map(|sum| if total > 0.0 && sum > 0.0 { ((sum / total) as f32).clamp(1e-12, 1e12) } else { 1.0 })
}

/// Adds a shape to the object of which it is a part.
fn append(object: &mut MeshData, mesh: MeshData, map: &Affine, scale: Option<f64>) {
    let base = object.positions.len() as u32;
    let is_identity = *map == IDENTITY;
    let back = inverse(map).unwrap_or(IDENTITY);
    let moved = |v: Vertex| {
        if is_identity {
            return v;
        }
        let tangent = lockstep_core::math::transform::transform_vector(map, v.tangent);
        Vertex { normal: normalize(transform_normal(&back, v.normal)), tangent: normalize(tangent), ..v }
    };
    object.positions.extend(mesh.positions.iter().map(|&p| transform_point(map, p.into()).to_array()));
    if mesh.vertices.is_empty() {
        object.vertices.extend(std::iter::repeat_n(Vertex::default(), mesh.positions.len()));
    } else {
        object.vertices.extend(mesh.vertices.into_iter().map(moved));
    }
    let column = |j: usize| vec3(map[0][j], map[1][j], map[2][j]);
    let is_mirrored = lockstep_core::math::vec3::dot(column(0), cross(column(1), column(2))) < 0.0;
    for (i, &[a, b, c]) in mesh.triangles.iter().enumerate() {
        let turned = if is_mirrored { [a, c, b] } else { [a, b, c] };
        object.triangles.push(turned.map(|v| v + base));
        object.materials.push(mesh.materials[if mesh.materials.len() == 1 { 0 } else { i }]);
    }
    for sphere in mesh.spheres {
        let center = transform_point(map, sphere.center);
        let radius = sphere.radius * scale.unwrap_or(1.0) as f32;
        object.spheres.push(Sphere { center, radius, ..sphere });
    }
}
