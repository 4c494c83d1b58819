//! The way into a [`Scene`]: collect, check once, derive.

use super::image::{ImageId, ImageRegion, Sampler, TextureTransform};
use super::lighting::{self, PunctualLight, Sky};
use super::transform::{
    determinant, inverse, similarity_scale, transform_normal, transform_point, transform_vector,
};
use super::types::*;
use super::{Camera, Scene, SceneData};
use crate::error::{Error, Result};
use crate::math;
use crate::vec3::{Vec3, normalize, vec3};

/// Coordinates beyond this are refused: differences and products of smaller ones cannot overflow in the intersector.
const MAX_COORDINATE: f32 = 1e15;

/// Meshes placed several times are baked while all their copies together stay below this many triangles.
const BAKED_COPIES: u64 = 65_536;

/// Whether `build` may bake instances into world space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flatten {
    /// Meshes placed once, and small ones, become part of one static mesh: fewer transforms while tracing.
    #[default]
    Auto,
    /// Every placement stays an instance.
    Never,
}

/// One mesh in object space, as loaders produce it.
#[derive(Clone, Debug, Default)]
pub struct MeshData {
    /// Vertex positions.
    pub positions: Vec<[f32; 3]>,
    /// Shading attributes: as many as positions, or none for defaults.
    pub vertices: Vec<Vertex>,
    /// Vertex indices within this mesh, counter-clockwise seen from the front.
    pub triangles: Vec<[u32; 3]>,
    /// Material of each triangle: as many as triangles, or one for all.
    pub materials: Vec<u32>,
    /// Spheres with their materials.
    pub spheres: Vec<Sphere>,
}

/// Collects a scene's parts.
#[derive(Clone, Debug, Default)]
pub struct SceneBuilder {
    name: String,
    /// The view; [`Camera::default`] until set.
    pub camera: Camera,
    /// The sky; black until set.
    pub sky: Sky,
    /// Whether instances may be baked.
    pub flatten: Flatten,
    materials: Vec<Material>,
    textures: Vec<Texture>,
    images: Vec<ImageRegion>,
    texels: Vec<u32>,
    meshes: Vec<MeshData>,
    instances: Vec<(u32, Affine)>,
    punctual: Vec<PunctualLight>,
}

impl SceneBuilder {
    /// An empty scene of this name: black sky, default camera.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The scene's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a surface and returns its index.
    pub fn material(&mut self, material: Material) -> u32 {
        self.materials.push(material);
        (self.materials.len() - 1) as u32
    }

    /// Adds an RGBA image of 8 bits a channel, row by row from the top.
    ///
    /// # Errors
    /// [`Error::Scene`] when a side is zero, the data's length does not match, or all images together exceed 2^32 - 1
    /// texels.
    pub fn image(&mut self, width: u32, height: u32, rgba: &[u8]) -> Result<ImageId> {
        let texels = u64::from(width) * u64::from(height);
        let place = || format!("image {}", self.images.len());
        if texels == 0 || texels * 4 != rgba.len() as u64 {
            let message = format!("{width}x{height} texels do not match {} bytes of RGBA", rgba.len());
            return Err(Error::scene(&self.name, place(), message));
        }
        if self.texels.len() as u64 + texels > u64::from(u32::MAX) {
            return Err(Error::scene(&self.name, place(), "all images together exceed 2^32 - 1 texels"));
        }
        self.images.push(ImageRegion { first_texel: self.texels.len() as u32, width, height });
        self.texels.extend(rgba.chunks_exact(4).map(|t| u32::from_le_bytes([t[0], t[1], t[2], t[3]])));
        Ok(ImageId((self.images.len() - 1) as u32))
    }

    /// Adds a texture over an image and returns its index for [`Material`]'s texture fields. `uv_set` is 0 or 1.
    pub fn texture(
        &mut self,
        image: ImageId,
        srgb: bool,
        sampler: Sampler,
        uv_set: u32,
        transform: TextureTransform,
    ) -> u32 {
        let region = self.images[image.0 as usize];
        self.textures.push(Texture::new(region, srgb, sampler, uv_set == 1, transform));
        (self.textures.len() - 1) as u32
    }

    /// Adds a mesh and returns its index. A mesh that is never placed is dropped by `build`.
    pub fn mesh(&mut self, mesh: MeshData) -> u32 {
        self.meshes.push(mesh);
        (self.meshes.len() - 1) as u32
    }

    /// Places a mesh in the world.
    pub fn instance(&mut self, mesh: u32, object_to_world: Affine) {
        self.instances.push((mesh, object_to_world));
    }

    /// Adds a light without extent.
    pub fn light(&mut self, light: PunctualLight) {
        self.punctual.push(light);
    }

    /// How many lights without extent there are.
    pub fn light_count(&self) -> usize {
        self.punctual.len()
    }

    /// World-space bounds of all placed geometry so far, for fitting cameras; `None` when there is none.
    pub fn bounds(&self) -> Option<[Vec3; 2]> {
        let mut bounds = Bounds::EMPTY;
        for (mesh, map) in &self.instances {
            if let Some(mesh) = self.meshes.get(*mesh as usize) {
                bounds.include_mesh(mesh, map);
            }
        }
        bounds.get()
    }

    /// Checks everything and derives lights, sky distribution, bounds and hash.
    ///
    /// # Errors
    /// [`Error::Scene`] naming the first item that is out of range, not finite, singular or inconsistent.
    pub fn build(self) -> Result<Scene> {
        self.camera.validate(&self.name)?;
        self.check_sky()?;
        self.check_lights()?;
        for (index, material) in self.materials.iter().enumerate() {
            self.check_material(index, material)?;
        }
        for (index, mesh) in self.meshes.iter().enumerate() {
            self.check_mesh(index, mesh)?;
        }
        for (index, (mesh, map)) in self.instances.iter().enumerate() {
            self.check_instance(index, *mesh, map)?;
        }
        let mut bounds = Bounds::EMPTY;
        for (mesh, map) in &self.instances {
            bounds.include_mesh(&self.meshes[*mesh as usize], map);
        }
        let bounds = bounds.get().unwrap_or([Vec3::ZERO; 2]);
        let mut scene = SceneData {
            name: self.name,
            camera: self.camera,
            positions: Vec::new(),
            vertices: Vec::new(),
            triangles: Vec::new(),
            spheres: Vec::new(),
            meshes: Vec::new(),
            instances: Vec::new(),
            materials: self.materials,
            textures: self.textures,
            texels: self.texels,
            lights: Vec::new(),
            light_alias: Vec::new(),
            environment: Environment::default(),
            environment_texels: Vec::new(),
            environment_alias: Vec::new(),
            bounds,
            hash: String::new(),
        };
        Assembler::new(&mut scene).place(self.flatten, self.meshes, &self.instances)?;
        lighting::prepare(&mut scene, &self.punctual, &self.sky);
        scene.hash = scene.compute_hash();
        Ok(Scene(std::sync::Arc::new(scene)))
    }

    fn error(&self, place: impl Into<String>, message: impl Into<String>) -> Error {
        Error::scene(&self.name, place, message)
    }

    fn check_sky(&self) -> Result<()> {
        let radiances: &[Vec3] = match &self.sky {
            Sky::Constant(radiance) => &[*radiance],
            Sky::Gradient { zenith, horizon, ground } => &[*zenith, *horizon, *ground],
            Sky::Image { width, height, texels, scale, rotation } => {
                if u64::from(*width) * u64::from(*height) != texels.len() as u64 || texels.is_empty() {
                    return Err(
                        self.error("sky", format!("{width}x{height} does not match {} texels", texels.len()))
                    );
                }
                if !texels.iter().flatten().all(|&v| is_radiance(v)) || !rotation.is_finite() {
                    return Err(
                        self.error("sky", "texels must be finite and not negative, the rotation finite")
                    );
                }
                &[*scale]
            }
        };
        if radiances.iter().all(|&r| is_color(r)) {
            Ok(())
        } else {
            Err(self.error("sky", "radiance must be finite and not negative"))
        }
    }

    fn check_lights(&self) -> Result<()> {
        for (index, light) in self.punctual.iter().enumerate() {
            let (vectors, color, cone) = match *light {
                PunctualLight::Point { position, intensity } => {
                    ([position, vec3(1.0, 0.0, 0.0)], intensity, true)
                }
                PunctualLight::Spot { position, direction, intensity, inner_cos, outer_cos } => {
                    let cone = outer_cos < inner_cos && inner_cos <= 1.0 && outer_cos >= -1.0;
                    ([position, direction], intensity, cone)
                }
                PunctualLight::Directional { direction, irradiance } => {
                    ([Vec3::ZERO, direction], irradiance, true)
                }
            };
            let sound = vectors.iter().all(|v| v.is_finite()) && normalize(vectors[1]) != Vec3::ZERO;
            if !(sound && is_color(color) && cone) {
                let message = "needs finite vectors, a direction that is not zero, intensities that are finite and not \
                               negative, and -1 <= outer cosine < inner cosine <= 1";
                return Err(self.error(format!("light {index}"), message));
            }
        }
        Ok(())
    }

    fn check_material(&self, index: usize, m: &Material) -> Result<()> {
        let unit = |v: f32| (0.0..=1.0).contains(&v);
        let checks = [
            (
                is_color(m.base_color)
                    && math::max(m.base_color.x, math::max(m.base_color.y, m.base_color.z)) <= 1.0,
                "base colour must lie between 0 and 1",
            ),
            (unit(m.alpha), "alpha must lie between 0 and 1"),
            (is_color(m.emission), "emission must be finite and not negative"),
            (m.kind <= MaterialKind::Principled as u32, "unknown kind"),
            (unit(m.roughness), "roughness must lie between 0 and 1"),
            (unit(m.metallic), "metallic must lie between 0 and 1"),
            ((1.0..=4.0).contains(&m.ior), "index of refraction must lie between 1 and 4"),
            (unit(m.transmission), "transmission must lie between 0 and 1"),
            (
                m.normal_scale.is_finite() && m.alpha_cutoff.is_finite(),
                "normal scale and alpha cutoff must be finite",
            ),
            (m.alpha_mode <= AlphaMode::Blend as u32, "unknown alpha mode"),
        ];
        if let Some((_, message)) = checks.iter().find(|(sound, _)| !sound) {
            return Err(self.error(format!("material {index}"), *message));
        }
        for texture in [
            m.base_color_texture,
            m.metallic_roughness_texture,
            m.normal_texture,
            m.emission_texture,
            m.transmission_texture,
        ] {
            if texture != NONE && texture as usize >= self.textures.len() {
                return Err(self.error(format!("material {index}"), format!("there is no texture {texture}")));
            }
        }
        Ok(())
    }

    fn check_mesh(&self, index: usize, mesh: &MeshData) -> Result<()> {
        let fail = |message: String| Err(self.error(format!("mesh {index}"), message));
        let count = mesh.positions.len();
        if let Some(i) = mesh.positions.iter().position(|p| !p.iter().all(|v| v.abs() <= MAX_COORDINATE)) {
            return fail(format!("position {i} is not finite or beyond {MAX_COORDINATE:e}"));
        }
        if !mesh.vertices.is_empty() && mesh.vertices.len() != count {
            return fail(format!("{} vertices for {count} positions", mesh.vertices.len()));
        }
        let finite = |v: &Vertex| {
            v.normal.is_finite()
                && v.tangent.is_finite()
                && v.tangent_sign.is_finite()
                && v.uv0.iter().chain(&v.uv1).all(|t| t.is_finite())
        };
        if let Some(i) = mesh.vertices.iter().position(|v| !finite(v)) {
            return fail(format!("an attribute of vertex {i} is not finite"));
        }
        if let Some(i) = mesh.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count)) {
            return fail(format!("triangle {i} uses a vertex beyond {count}"));
        }
        if mesh.materials.len() != mesh.triangles.len()
            && !(mesh.materials.len() == 1 || mesh.triangles.is_empty())
        {
            return fail(format!(
                "{} materials for {} triangles",
                mesh.materials.len(),
                mesh.triangles.len()
            ));
        }
        let of_spheres = mesh.spheres.iter().map(|s| s.material);
        if let Some(m) =
            mesh.materials.iter().copied().chain(of_spheres).find(|&m| m as usize >= self.materials.len())
        {
            return fail(format!("there is no material {m}"));
        }
        let sound = |s: &Sphere| {
            s.center.is_finite()
                && max_abs(s.center) <= MAX_COORDINATE
                && s.radius > 0.0
                && s.radius <= MAX_COORDINATE
        };
        if let Some(i) = mesh.spheres.iter().position(|s| !sound(s)) {
            return fail(format!("sphere {i} needs a finite centre and a positive radius"));
        }
        Ok(())
    }

    fn check_instance(&self, index: usize, mesh: u32, map: &Affine) -> Result<()> {
        let fail = |message: &str| Err(self.error(format!("instance {index}"), message));
        let Some(data) = self.meshes.get(mesh as usize) else {
            return fail(&format!("there is no mesh {mesh}"));
        };
        if !map.iter().flatten().all(|v| v.abs() <= MAX_COORDINATE) || inverse(map).is_none() {
            return fail("the transform must be finite and invertible");
        }
        if !data.spheres.is_empty() && similarity_scale(map).is_none() {
            return fail("spheres need a transform of rotation, uniform scale and translation");
        }
        Ok(())
    }
}

fn is_radiance(v: f32) -> bool {
    v.is_finite() && v >= 0.0
}

fn is_color(c: Vec3) -> bool {
    is_radiance(c.x) && is_radiance(c.y) && is_radiance(c.z)
}

fn max_abs(v: Vec3) -> f32 {
    crate::vec3::max_abs_component(v)
}

/// Grows to include points.
struct Bounds {
    lo: Vec3,
    hi: Vec3,
}

impl Bounds {
    const EMPTY: Self = Self { lo: Vec3::splat(f32::INFINITY), hi: Vec3::splat(f32::NEG_INFINITY) };

    fn include(&mut self, p: Vec3) {
        self.lo = vec3(math::min(self.lo.x, p.x), math::min(self.lo.y, p.y), math::min(self.lo.z, p.z));
        self.hi = vec3(math::max(self.hi.x, p.x), math::max(self.hi.y, p.y), math::max(self.hi.z, p.z));
    }

    fn include_mesh(&mut self, mesh: &MeshData, map: &Affine) {
        for &p in &mesh.positions {
            self.include(transform_point(map, p.into()));
        }
        let scale = similarity_scale(map).unwrap_or(1.0);
        for sphere in &mesh.spheres {
            let center = transform_point(map, sphere.center);
            self.include(center - Vec3::splat(sphere.radius * scale));
            self.include(center + Vec3::splat(sphere.radius * scale));
        }
    }

    fn get(self) -> Option<[Vec3; 2]> {
        (self.lo.x <= self.hi.x).then_some([self.lo, self.hi])
    }
}

/// Copies meshes and instances into a scene, baking what should be static.
struct Assembler<'a> {
    scene: &'a mut SceneData,
}

impl<'a> Assembler<'a> {
    fn new(scene: &'a mut SceneData) -> Self {
        Self { scene }
    }

    fn place(&mut self, flatten: Flatten, meshes: Vec<MeshData>, instances: &[(u32, Affine)]) -> Result<()> {
        let mut uses = vec![0u64; meshes.len()];
        for (mesh, _) in instances {
            uses[*mesh as usize] += 1;
        }
        let baked: Vec<bool> = meshes
            .iter()
            .zip(&uses)
            .map(|(mesh, &uses)| {
                let copies = uses * (mesh.triangles.len() + mesh.spheres.len()) as u64;
                flatten == Flatten::Auto && (uses == 1 || copies <= BAKED_COPIES)
            })
            .collect();
        // The static mesh comes first, then one mesh for each that stays instanced.
        let first = self.open_mesh();
        for (mesh, map) in instances.iter().filter(|(mesh, _)| baked[*mesh as usize]) {
            self.append(&meshes[*mesh as usize], (*map != IDENTITY).then_some(map))?;
        }
        if self.close_mesh(first) {
            self.instance(IDENTITY)?;
        }
        for (index, mesh) in meshes.iter().enumerate() {
            if baked[index] || uses[index] == 0 || (mesh.triangles.is_empty() && mesh.spheres.is_empty()) {
                continue;
            }
            let first = self.open_mesh();
            self.append(mesh, None)?;
            if self.close_mesh(first) {
                for (_, map) in instances.iter().filter(|(m, _)| *m as usize == index) {
                    self.instance(*map)?;
                }
            }
        }
        Ok(())
    }

    fn open_mesh(&self) -> (usize, usize) {
        (self.scene.triangles.len(), self.scene.spheres.len())
    }

    /// Records the mesh opened at `first`; false when it is empty.
    fn close_mesh(&mut self, first: (usize, usize)) -> bool {
        let mesh = Mesh {
            first_triangle: first.0 as u32,
            triangle_count: (self.scene.triangles.len() - first.0) as u32,
            first_sphere: first.1 as u32,
            sphere_count: (self.scene.spheres.len() - first.1) as u32,
        };
        let filled = mesh.triangle_count > 0 || mesh.sphere_count > 0;
        if filled {
            self.scene.meshes.push(mesh);
        }
        filled
    }

    /// Appends a mesh's primitives, moved by `map` where there is one.
    fn append(&mut self, mesh: &MeshData, map: Option<&Affine>) -> Result<()> {
        let base = self.scene.positions.len();
        let limit = SPHERE_BIT as usize;
        if base + mesh.positions.len() >= limit || self.scene.triangles.len() + mesh.triangles.len() >= limit
        {
            return Err(Error::scene(
                &self.scene.name,
                "geometry",
                "at most 2^31 - 1 vertices and triangles are possible",
            ));
        }
        let defaults = std::iter::repeat_n(Vertex::default(), mesh.positions.len());
        match map {
            None => {
                self.scene.positions.extend_from_slice(&mesh.positions);
                if mesh.vertices.is_empty() {
                    self.scene.vertices.extend(defaults);
                } else {
                    self.scene.vertices.extend_from_slice(&mesh.vertices);
                }
            }
            Some(map) => {
                let back = self.inverse_of(map)?;
                let moved = |p: &[f32; 3]| transform_point(map, (*p).into()).to_array();
                self.scene.positions.extend(mesh.positions.iter().map(moved));
                let moved = |v: &Vertex| Vertex {
                    normal: normalize(transform_normal(&back, v.normal)),
                    tangent: normalize(transform_vector(map, v.tangent)),
                    ..*v
                };
                if mesh.vertices.is_empty() {
                    self.scene.vertices.extend(defaults);
                } else {
                    self.scene.vertices.extend(mesh.vertices.iter().map(moved));
                }
            }
        }
        // Mirrored triangles are turned so that their front stays their front.
        let mirrored = map.is_some_and(|m| determinant(m) < 0.0);
        for (i, t) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|v| v + base as u32);
            let material = mesh.materials[if mesh.materials.len() == 1 { 0 } else { i }];
            let vertices = if mirrored { [a, c, b] } else { [a, b, c] };
            self.scene.triangles.push(Triangle { vertices, material });
        }
        let scale = map.and_then(similarity_scale).unwrap_or(1.0);
        for sphere in &mesh.spheres {
            let center = map.map_or(sphere.center, |m| transform_point(m, sphere.center));
            self.scene.spheres.push(Sphere { center, radius: sphere.radius * scale, ..*sphere });
        }
        Ok(())
    }

    /// Places the last mesh.
    fn instance(&mut self, object_to_world: Affine) -> Result<()> {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        let record = Instance {
            object_to_world,
            world_to_object: self.inverse_of(&object_to_world)?,
            mesh: (self.scene.meshes.len() - 1) as u32,
            flags: flag(object_to_world == IDENTITY, Instance::IDENTITY)
                | flag(determinant(&object_to_world) < 0.0, Instance::MIRRORED),
            scale: similarity_scale(&object_to_world).unwrap_or(1.0),
            reserved: 0,
        };
        self.scene.instances.push(record);
        Ok(())
    }

    fn inverse_of(&self, map: &Affine) -> Result<Affine> {
        inverse(map)
            .ok_or_else(|| Error::scene(&self.scene.name, "instance", "the transform is not invertible"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad(material: u32) -> MeshData {
        MeshData {
            positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            materials: vec![material],
            ..MeshData::default()
        }
    }

    fn moved(x: f32) -> Affine {
        let mut map = IDENTITY;
        map[0][3] = x;
        map
    }

    #[test]
    fn meshes_placed_once_are_baked_into_one_static_mesh() {
        let mut b = SceneBuilder::new("t");
        let m = b.material(Material::diffuse([0.5; 3]));
        for x in [0.0, 2.0] {
            let mesh = b.mesh(quad(m));
            b.instance(mesh, moved(x));
        }
        let scene = b.build().unwrap();
        assert_eq!((scene.instances.len(), scene.meshes.len(), scene.triangles.len()), (1, 1, 4));
        assert_eq!(scene.instances[0].flags, Instance::IDENTITY);
        assert_eq!(scene.bounds, [vec3(0.0, 0.0, 0.0), vec3(3.0, 1.0, 0.0)]);
    }

    #[test]
    fn instances_stay_when_asked_and_scenes_hash_differently() {
        let build = |flatten| {
            let mut b = SceneBuilder::new("t");
            b.flatten = flatten;
            let m = b.material(Material::diffuse([0.5; 3]));
            let mesh = b.mesh(quad(m));
            b.instance(mesh, moved(0.0));
            b.instance(mesh, moved(2.0));
            b.build().unwrap()
        };
        let (kept, baked) = (build(Flatten::Never), build(Flatten::Auto));
        assert_eq!((kept.instances.len(), kept.triangles.len()), (2, 2));
        assert_eq!((baked.instances.len(), baked.triangles.len()), (1, 4));
        assert_eq!(kept.instanced_triangles(), baked.instanced_triangles());
        assert_ne!(kept.hash, baked.hash);
        assert_eq!(kept.hash, build(Flatten::Never).hash);
    }

    #[test]
    fn mirrored_emitters_keep_their_front() {
        let front = |flatten| {
            let mut b = SceneBuilder::new("t");
            b.flatten = flatten;
            let m = b.material(Material::emitter([1.0; 3]));
            let mesh = b.mesh(quad(m));
            let mut map = IDENTITY;
            map[0][0] = -1.0;
            b.instance(mesh, map);
            let light = b.build().unwrap().lights[0];
            normalize(crate::vec3::cross(light.edge1, light.edge2) * light.intensity.x)
        };
        assert_eq!(front(Flatten::Never), vec3(0.0, 0.0, 1.0));
        assert_eq!(front(Flatten::Auto), front(Flatten::Never));
    }

    #[test]
    fn bad_input_is_named() {
        let base = || {
            let mut b = SceneBuilder::new("t");
            b.material(Material::diffuse([0.5; 3]));
            b
        };
        let refused = |b: SceneBuilder, words: &str| {
            let message = b.build().unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        };
        let mut b = base();
        let mesh = b.mesh(quad(7));
        b.instance(mesh, IDENTITY);
        refused(b, "mesh 0: there is no material 7");
        let mut b = base();
        b.mesh(MeshData { triangles: vec![[0, 1, 9]], ..quad(0) });
        refused(b, "triangle 0");
        let mut b = base();
        let mut data = quad(0);
        data.positions[2][1] = f32::NAN;
        b.mesh(data);
        refused(b, "position 2");
        let mut b = base();
        let mesh = b.mesh(quad(0));
        b.instance(mesh, [[0.0; 4]; 3]);
        refused(b, "invertible");
        let mut b = base();
        b.material(Material { roughness: 2.0, ..Material::BLACK });
        refused(b, "material 1: roughness");
        let mut b = base();
        b.sky = Sky::Constant(Vec3::splat(-1.0));
        refused(b, "sky");
    }
}
