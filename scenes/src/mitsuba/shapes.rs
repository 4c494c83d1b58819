//! Shapes, their surfaces and lamps, and groups of shapes that are placed several times.

use super::bsdfs;
use super::matrix::{Matrix, normalize};
use super::mesh::{FilePart, Format, Placement, Raw, placed, read, stretch};
use super::object::{Class, Object, shorten};
use super::primitives::Primitive;
use super::surface::{Relief, Surface};
use super::textures::{Color, Role, Source, Textures};
use crate::limits::Budget;
use crate::overrides::MaterialOverrides;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, max_component};
use lockstep_core::scene::{IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Deepest nesting of shapes in shapes.
const MOST_LEVELS: usize = 8;

/// A shape that is to be placed.
struct Job {
    /// Index of the shape's object.
    object: usize,
    form: Form,
    to_world: Matrix,
    face_normals: bool,
    flipped: bool,
    flip_v: bool,
    /// The group it belongs to; `None` for the scene.
    group: Option<usize>,
}

/// The form of a shape.
enum Form {
    File(FilePart),
    Made(Primitive),
    /// A sphere that may stay one, by its centre and radius in the world.
    Sphere([f64; 3], f64),
}

/// Adds all shapes of the scene. Returns the largest component of what their lamps emit.
pub(super) fn add(
    source: &Source<'_>,
    textures: &mut Textures,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<bool> {
    let mut collector = Collector {
        source,
        jobs: Vec::new(),
        groups: BTreeMap::new(),
        instances: Vec::new(),
        warnings: &mut *warnings,
    };
    let root = &source.document.objects[source.document.root];
    collector.shapes_of(root, None, 0)?;
    let Collector { jobs, groups, instances, .. } = collector;
    let files = read_files(&jobs, source, warnings)?;
    let mut surfaces =
        Surfaces { source, textures, known: HashMap::new(), materials: HashMap::new(), emits: false };
    let mut ready: Vec<(Option<usize>, String, Ready)> = Vec::new();
    let mut budget = Budget::of_triangles(source.access.limits, bytes_of(&files));
    for job in &jobs {
        let object = &source.document.objects[job.object];
        if let Some(one) = surfaces.ready(job, &files, builder, overrides, warnings)? {
            budget.take(one.raw.triangles.len(), &object.place(), warnings)?;
            ready.push((job.group, object.place(), one));
        }
        object.warn_of_unread(warnings);
    }
    let emits = surfaces.emits;
    let make = |(_, place, one): &(Option<usize>, String, Ready)| {
        let mut own = Warnings::new("");
        (one.make(place, &mut own), own)
    };
    let made: Vec<(MeshData, Warnings)> = ready.par_iter().map(make).collect();
    let mut meshes_of_groups: HashMap<usize, Vec<u32>> = HashMap::new();
    for ((group, place, _), (mesh, own)) in ready.into_iter().zip(made) {
        own.finish().into_iter().for_each(|warning| warnings.add(place.as_str(), warning.message));
        let mesh = builder.mesh(mesh);
        match group {
            None => builder.instance(mesh, IDENTITY),
            Some(group) => meshes_of_groups.entry(group).or_default().push(mesh),
        }
    }
    for (group, to_world, place) in instances {
        if to_world.inverse_linear().is_none() {
            warnings.add(place, "an instance whose transform is singular is left out");
            continue;
        }
        for mesh in groups.get(&group).and_then(|id| meshes_of_groups.get(id)).into_iter().flatten() {
            builder.instance(*mesh, to_world.affine());
        }
    }
    Ok(emits)
}

/// Finds shapes in the order of the file.
struct Collector<'a> {
    source: &'a Source<'a>,
    jobs: Vec<Job>,
    /// Groups by the index of their object, numbered.
    groups: BTreeMap<usize, usize>,
    /// Group's object, transform and place.
    instances: Vec<(usize, Matrix, String)>,
    warnings: &'a mut Warnings,
}

impl Collector<'_> {
    fn shapes_of(&mut self, owner: &Object, group: Option<usize>, depth: usize) -> Result<()> {
        let children = self.source.document.children(owner, Class::Shape, self.warnings)?;
        for (_, index) in children {
            let object = &self.source.document.objects[index];
            if depth >= MOST_LEVELS {
                return Err(object.error(self.warnings, "shapes are nested too deep"));
            }
            match object.plugin.as_str() {
                "shapegroup" => self.group(index, depth)?,
                "merge" => self.shapes_of(object, group, depth + 1)?,
                "instance" if group.is_some() => {
                    return Err(object.error(self.warnings, "instances within a group are not supported"));
                }
                "instance" => self.instance(object, depth)?,
                _ => self.shape(index, group)?,
            }
        }
        Ok(())
    }

    /// The shapes of a group, once.
    fn group(&mut self, index: usize, depth: usize) -> Result<()> {
        if self.groups.contains_key(&index) {
            return Ok(());
        }
        let number = self.groups.len();
        self.groups.insert(index, number);
        let object = &self.source.document.objects[index];
        self.shapes_of(object, Some(number), depth + 1)?;
        object.warn_of_unread(self.warnings);
        Ok(())
    }

    fn instance(&mut self, object: &Object, depth: usize) -> Result<()> {
        let children = self.source.document.children(object, Class::Shape, self.warnings)?;
        let groups = &self.source.document.objects;
        let found = children.into_iter().find(|(_, index)| groups[*index].plugin == "shapegroup");
        let Some((_, group)) = found else {
            return Err(object.error(self.warnings, "an instance needs a `shapegroup`"));
        };
        self.group(group, depth)?;
        let to_world = object.transform("to_world", self.warnings)?.unwrap_or(Matrix::IDENTITY);
        self.instances.push((group, to_world, object.place()));
        object.warn_of_unread(self.warnings);
        Ok(())
    }

    fn shape(&mut self, index: usize, group: Option<usize>) -> Result<()> {
        let object = &self.source.document.objects[index];
        let warnings = &mut *self.warnings;
        let to_world = object.transform("to_world", warnings)?.unwrap_or(Matrix::IDENTITY);
        if to_world.inverse_linear().is_none() {
            object.skip_all();
            warnings.add(object.place(), "a shape whose transform is singular has no extent and is left out");
            return Ok(());
        }
        let mut flipped = object.boolean("flip_normals", warnings)?.unwrap_or(false);
        let mut job_matrix = to_world;
        let (mut flip_v, mut face_normals) = (false, false);
        let form = match object.plugin.as_str() {
            "obj" | "ply" | "serialized" => {
                face_normals = object.boolean("face_normals", warnings)?.unwrap_or(false);
                if object.number(&["max_smooth_angle"], warnings)?.is_some() {
                    warnings.add(object.place(), "normals are smooth across edges of all angles");
                }
                object.skip(&["collapse", "srgb"]);
                let flip = object.boolean("flip_tex_coords", warnings)?;
                let (form, own) = file(self.source, object, warnings)?;
                flip_v = flip.is_some_and(|flip| flip != own);
                form
            }
            "rectangle" => Form::Made(Primitive::Rectangle),
            "cube" => Form::Made(Primitive::Cube),
            "disk" => {
                warnings.add(object.place(), "a disk is a polygon of 256 corners and the same area");
                Form::Made(Primitive::Disk)
            }
            "cylinder" => {
                warnings.add(object.place(), "a cylinder is a prism of 256 sides");
                job_matrix = to_world.after(&cylinder(object, warnings)?);
                Form::Made(Primitive::Cylinder)
            }
            "sphere" => {
                let center = object.vector(&["center"], warnings)?.unwrap_or([0.0; 3]);
                let radius = object.number(&["radius"], warnings)?.unwrap_or(1.0);
                if radius <= 0.0 {
                    return Err(object.error(warnings, "a sphere needs a positive radius"));
                }
                job_matrix = to_world.after(&Matrix::translate(center)).after(&Matrix::scale([radius; 3]));
                // A mirrored sphere is seen from inside in Mitsuba.
                flipped ^= to_world.determinant() < 0.0;
                match job_matrix.similarity() {
                    Some(radius) => Form::Sphere(job_matrix.column(3), radius),
                    None => Form::Made(Primitive::Sphere),
                }
            }
            other => {
                object.skip_all();
                let message = format!(
                    "shapes of the type `{}` are not supported; this one is left out",
                    shorten(other)
                );
                warnings.add(object.place(), message);
                return Ok(());
            }
        };
        if !self.source.document.children(object, Class::Medium, warnings)?.is_empty() {
            warnings.add(object.place(), "the medium inside the shape is left out");
        }
        self.jobs.push(Job {
            object: index,
            form,
            to_world: job_matrix,
            face_normals,
            flipped,
            flip_v,
            group,
        });
        Ok(())
    }
}

/// The file of a mesh, and whether v grows upwards in its format.
fn file(source: &Source<'_>, object: &Object, warnings: &Warnings) -> Result<(Form, bool)> {
    let name = object.text(&["filename"], warnings)?;
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(object.error(warnings, "the mesh needs `filename`"));
    };
    let (format, upwards) = match object.plugin.as_str() {
        "obj" => (Format::Obj, true),
        "ply" => (Format::Ply, false),
        _ => (Format::Serialized, false),
    };
    let index = object.number(&["shape_index"], warnings)?.unwrap_or(0.0);
    if !(index >= 0.0 && index.fract() == 0.0 && index < f64::from(u32::MAX)) {
        return Err(object.error(warnings, "`shape_index` is a whole number, not negative"));
    }
    let part = FilePart { path: source.document.file(source.access, name), format, index: index as u32 };
    Ok((Form::File(part), upwards))
}

/// The map of the unit cylinder to that between two points.
fn cylinder(object: &Object, warnings: &Warnings) -> Result<Matrix> {
    let p0 = object.vector(&["p0"], warnings)?.unwrap_or([0.0; 3]);
    let p1 = object.vector(&["p1"], warnings)?.unwrap_or([0.0, 0.0, 1.0]);
    let radius = object.number(&["radius"], warnings)?.unwrap_or(1.0);
    let along: [f64; 3] = std::array::from_fn(|i| p1[i] - p0[i]);
    let Some(axis) = normalize(along).filter(|_| radius > 0.0) else {
        return Err(object.error(warnings, "a cylinder needs two different points and a positive radius"));
    };
    let other = if axis[0].abs() < 0.5 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let default = axis == [0.0, 0.0, 1.0];
    let x =
        if default { [1.0, 0.0, 0.0] } else { normalize(super::matrix::cross(other, axis)).unwrap_or(other) };
    let y = super::matrix::cross(axis, x);
    Ok(Matrix(std::array::from_fn(|i| [x[i] * radius, y[i] * radius, along[i], p0[i]])))
}

type Files = HashMap<FilePart, (Arc<Raw>, u64)>;

fn bytes_of(files: &Files) -> u64 {
    files.values().map(|(_, bytes)| bytes).sum()
}

/// Reads every mesh that shapes name, several files at a time.
fn read_files(jobs: &[Job], source: &Source<'_>, warnings: &mut Warnings) -> Result<Files> {
    let mut wanted: BTreeMap<(PathBuf, Format), BTreeSet<u32>> = BTreeMap::new();
    let mut first: HashMap<PathBuf, usize> = HashMap::new();
    for job in jobs {
        if let Form::File(part) = &job.form {
            wanted.entry((part.path.clone(), part.format)).or_default().insert(part.index);
            first.entry(part.path.clone()).or_insert(job.object);
        }
    }
    let wanted: Vec<((PathBuf, Format), Vec<u32>)> =
        wanted.into_iter().map(|(file, indices)| (file, indices.into_iter().collect())).collect();
    let access = source.access;
    let done: Vec<_> =
        wanted.par_iter().map(|((path, format), indices)| read(path, *format, indices, access)).collect();
    let mut out = Files::new();
    for (((path, format), indices), done) in wanted.into_iter().zip(done) {
        let object = &source.document.objects[first.get(&path).copied().unwrap_or_default()];
        let (meshes, notes) = done.map_err(|message| object.error(warnings, message))?;
        notes.into_iter().for_each(|note| warnings.add(object.place(), note));
        let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
        for (index, raw) in indices.into_iter().zip(meshes) {
            // The bytes of a file count once.
            let bytes = if index == 0 || format != Format::Serialized { bytes } else { 0 };
            out.insert(FilePart { path: path.clone(), format, index }, (Arc::new(raw), bytes));
        }
    }
    Ok(out)
}

/// Surfaces by the object that describes them.
struct Surfaces<'a> {
    source: &'a Source<'a>,
    textures: &'a mut Textures,
    known: HashMap<Option<usize>, Surface>,
    /// Materials by surface and lamp, for surfaces that are the same on all shapes.
    materials: HashMap<(Option<usize>, Option<usize>), u32>,
    emits: bool,
}

/// A mesh with what is to be done to it.
struct Ready {
    raw: Arc<Raw>,
    placement: Placement,
    /// A sphere in place of the mesh.
    sphere: Option<Sphere>,
}

impl Ready {
    fn make(&self, place: &str, warnings: &mut Warnings) -> MeshData {
        match self.sphere {
            Some(sphere) => MeshData { spheres: vec![sphere], ..MeshData::default() },
            None => placed(&self.raw, &self.placement, place, warnings),
        }
    }
}

impl Surfaces<'_> {
    /// A shape with its material; `None` for one that rays do not see.
    fn ready(
        &mut self,
        job: &Job,
        files: &Files,
        builder: &mut SceneBuilder,
        overrides: &mut MaterialOverrides,
        warnings: &mut Warnings,
    ) -> Result<Option<Ready>> {
        let document = self.source.document;
        let object = &document.objects[job.object];
        let bsdfs = document.children(object, Class::Bsdf, warnings)?;
        if bsdfs.len() > 1 {
            warnings.add(object.place(), "the shape has several surfaces; the first is taken");
        }
        let bsdf = bsdfs.first().map(|(_, index)| *index);
        let lamp = document.children(object, Class::Emitter, warnings)?.first().map(|(_, index)| *index);
        let mut surface = self.surface(bsdf, warnings)?;
        if bsdf.is_none() && lamp.is_some() {
            // A lamp without a surface reflects nothing.
            surface.color = Color::Constant([0.0; 3]);
        }
        if surface.hidden && lamp.is_none() {
            return Ok(None);
        }
        let raw = match &job.form {
            Form::File(part) => match files.get(part) {
                Some((raw, _)) => raw.clone(),
                None => return Err(object.error(warnings, "its mesh was not read")),
            },
            Form::Made(primitive) => primitive.mesh(),
            Form::Sphere(..) => Arc::new(Raw::default()),
        };
        let flipped = job.flipped ^ surface.turned;
        let placement = |material| Placement {
            to_world: job.to_world,
            face_normals: job.face_normals,
            flipped,
            flip_v: job.flip_v,
            tangents: !matches!(surface.relief, Relief::None),
            right_handed: matches!(surface.relief, Relief::Normals(_)),
            material,
        };
        let is_textured = surface.is_textured() || lamp.is_some_and(|lamp| self.has_texture(lamp));
        if let Form::Sphere(center, radius) = job.form {
            if !is_textured && !flipped && job.group.is_none() {
                let material = self.material(bsdf, lamp, &surface, [1.0; 2], builder, overrides, warnings)?;
                let center = center.map(|v| v as f32);
                let sphere =
                    Sphere { center: center.into(), radius: radius as f32, material, reserved: [0; 3] };
                return Ok(Some(Ready { raw, placement: placement(material), sphere: Some(sphere) }));
            }
            warnings.add(
                object.place(),
                "a sphere that is textured, inside out or part of a group is a mesh of 128 by 64 quadrilaterals",
            );
            let raw = Primitive::Sphere.mesh();
            let stretch = stretch(&raw, &job.to_world);
            let material = self.material(bsdf, lamp, &surface, stretch, builder, overrides, warnings)?;
            return Ok(Some(Ready { raw, placement: placement(material), sphere: None }));
        }
        let needs_stretch = matches!(surface.relief, Relief::Heights(..));
        let stretch = if needs_stretch { stretch(&raw, &job.to_world) } else { [1.0; 2] };
        if is_textured && raw.uv.is_empty() {
            warnings.add(object.place(), "the mesh has no texture coordinates; its textures show one texel");
        }
        let material = self.material(bsdf, lamp, &surface, stretch, builder, overrides, warnings)?;
        Ok(Some(Ready { raw, placement: placement(material), sphere: None }))
    }

    fn has_texture(&self, lamp: usize) -> bool {
        let document = self.source.document;
        document.objects[lamp].nested.iter().any(|nested| nested.name == "radiance")
    }

    fn surface(&mut self, bsdf: Option<usize>, warnings: &mut Warnings) -> Result<Surface> {
        if let Some(known) = self.known.get(&bsdf) {
            return Ok(known.clone());
        }
        let surface = match bsdf {
            // The default of a shape without a surface.
            None => Surface::new(Material::diffuse([0.0; 3]), Color::Constant([0.5; 3])),
            Some(index) => {
                let object = &self.source.document.objects[index];
                bsdfs::surface(self.source, self.textures, object, 0, warnings)?
            }
        };
        self.known.insert(bsdf, surface.clone());
        Ok(surface)
    }

    #[allow(clippy::too_many_arguments, reason = "they are the surface, the lamp and where both go")]
    fn material(
        &mut self,
        bsdf: Option<usize>,
        lamp: Option<usize>,
        surface: &Surface,
        stretch: [f32; 2],
        builder: &mut SceneBuilder,
        overrides: &mut MaterialOverrides,
        warnings: &mut Warnings,
    ) -> Result<u32> {
        let is_shared = !matches!(surface.relief, Relief::Heights(..));
        if let Some(known) = self.materials.get(&(bsdf, lamp)).filter(|_| is_shared) {
            return Ok(*known);
        }
        let mut material = surface.place(stretch, self.textures, builder, warnings)?;
        if let Some(index) = lamp {
            self.lamp(index, &mut material, builder, warnings)?;
        }
        let name = bsdf.map(|index| self.source.document.objects[index].id.as_str());
        overrides.apply(name.filter(|name| !name.is_empty()), &mut material, builder);
        self.emits |= max_component(material.emission) > 0.0;
        let index = builder.material(material);
        if is_shared {
            self.materials.insert((bsdf, lamp), index);
        }
        Ok(index)
    }

    /// Adds what a shape emits.
    fn lamp(
        &mut self,
        index: usize,
        material: &mut Material,
        builder: &mut SceneBuilder,
        warnings: &mut Warnings,
    ) -> Result<()> {
        let object = &self.source.document.objects[index];
        if object.plugin != "area" {
            object.skip_all();
            let message = format!(
                "an emitter of the type `{}` on a shape is not supported; it is left out",
                shorten(&object.plugin)
            );
            warnings.add(object.place(), message);
            return Ok(());
        }
        object.skip(&["sampling_weight"]);
        let radiance =
            self.source.color(self.textures, object, &["radiance", "intensity"], Role::Emission, warnings)?;
        let radiance = radiance.unwrap_or(Color::Constant([1.0; 3]));
        object.warn_of_unread(warnings);
        let (factor, texture) = self.textures.place(&radiance, builder, warnings)?;
        material.emission = Vec3::from(factor);
        material.emission_texture = texture;
        Ok(())
    }
}
