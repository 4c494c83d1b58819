//! The scene builder: collects parts, checks them once and derives the rest.

use crate::error::{Error, Result};
use crate::math::transform::{Affine, transform_point};
use crate::math::vec3::Vec3;
use crate::scene::assemble::{Assembler, Bounds};
use crate::scene::image::{ImageId, ImageRegion, Sampler, TextureTransform};
use crate::scene::layers::Layers;
use crate::scene::lighting::{self, EnvironmentLight, PunctualLight};
use crate::scene::mesh::{Flatten, MeshData};
use crate::scene::types::*;
use crate::scene::{Camera, Scene, SceneData};

/// Collects a scene's parts.
#[derive(Clone, Debug, Default)]
pub struct SceneBuilder {
    pub(super) name: String,
    /// The view; [`Camera::default`] until set.
    pub camera: Camera,
    /// The environment; black until set.
    pub environment: EnvironmentLight,
    /// Whether instances may be baked.
    pub flatten: Flatten,
    pub(super) materials: Vec<Material>,
    pub(super) layers: Vec<Layers>,
    pub(super) textures: Vec<Texture>,
    pub(super) images: Vec<ImageRegion>,
    pub(super) texels: Vec<u32>,
    pub(super) meshes: Vec<MeshData>,
    pub(super) instances: Vec<(u32, Affine)>,
    pub(super) punctual: Vec<PunctualLight>,
}

impl SceneBuilder {
    /// An empty scene of this name: black environment, default camera.
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

    /// The number of surfaces, which is the index of the next.
    pub fn material_count(&self) -> usize {
        self.materials.len()
    }

    /// The surfaces so far.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// Adds layers and returns the value of [`Material::layers`] that names them.
    pub fn layers(&mut self, layers: Layers) -> u32 {
        self.layers.push(layers);
        self.layers.len() as u32
    }

    /// The layers of a material, if it has some.
    pub fn layers_of(&self, material: &Material) -> Option<&Layers> {
        self.layers.get((material.layers as usize).checked_sub(1)?)
    }

    /// Gives every dielectric a priority, the lowest where it has none, in a scene where one has.
    fn complete_priorities(&mut self) {
        if self.materials.iter().all(|material| material.priority == 0) {
            return;
        }
        let dielectrics = self.materials.iter_mut().filter(|m| m.kind == MaterialKind::Dielectric as u32);
        dielectrics.for_each(|material| material.priority = material.priority.max(1));
    }

    /// Makes every material added so far this one.
    pub fn paint(&mut self, material: Material) {
        self.materials.fill(material);
    }

    /// Lets every material added so far be seen from both sides: takes [`Material::SINGLE_SIDED`] away.
    pub fn show_both_sides(&mut self) {
        self.materials.iter_mut().for_each(|material| material.flags &= !Material::SINGLE_SIDED);
    }

    /// Lets every material added so far that is not diffuse keep the light that scatters more than once: gives it
    /// [`Material::MULTISCATTER`].
    pub fn scatter_many_times(&mut self) {
        self.materials.iter_mut().for_each(Material::scatter_many_times);
    }

    /// Adds an RGBA image of 8 bits a channel, row by row from the top.
    ///
    /// # Errors
    /// [`Error::Scene`] when a side is zero, the data's length does not match, or all images together exceed
    /// 2^32 - 1 texels.
    pub fn image(&mut self, width: u32, height: u32, rgba: &[u8]) -> Result<ImageId> {
        if u64::from(width) * u64::from(height) * 4 != rgba.len() as u64 {
            let message = format!("{width}x{height} texels do not match {} bytes of RGBA", rgba.len());
            return Err(Error::scene(&self.name, format!("image {}", self.images.len()), message));
        }
        let id = self.register_image(self.texels.len(), width, height)?;
        self.texels.extend(rgba.chunks_exact(4).map(|t| u32::from_le_bytes([t[0], t[1], t[2], t[3]])));
        Ok(id)
    }

    /// Adds images of these sizes for the caller to fill, so that a decoder can write where the scene keeps its texels.
    /// These are transparent black until then, and have red in the low byte.
    ///
    /// # Errors
    /// [`Error::Scene`] when a side is zero, or all images together exceed 2^32 - 1 texels.
    pub fn blank_images(&mut self, sizes: &[(u32, u32)]) -> Result<Vec<(ImageId, &mut [u32])>> {
        let first = self.texels.len();
        let texels = |(width, height): (u32, u32)| width as usize * height as usize;
        let mut ids = Vec::with_capacity(sizes.len());
        let mut end = first;
        for &(width, height) in sizes {
            ids.push(self.register_image(end, width, height)?);
            end += texels((width, height));
        }
        if first == 0 {
            // Pages that are zero anyway are taken when a decoder writes to them.
            self.texels = vec![0; end];
        } else {
            self.texels.reserve_exact(end - first);
            self.texels.resize(end, 0);
        }
        let mut rest = &mut self.texels[first..];
        let mut take = |size| rest.split_off_mut(..texels(size)).unwrap_or_default();
        Ok(ids.into_iter().zip(sizes).map(|(id, size)| (id, take(*size))).collect())
    }

    /// Names an image whose texels begin at this one.
    fn register_image(&mut self, first: usize, width: u32, height: u32) -> Result<ImageId> {
        let texels = u64::from(width) * u64::from(height);
        let refused =
            |message: String| Error::scene(&self.name, format!("image {}", self.images.len()), message);
        if texels == 0 {
            return Err(refused(format!("{width}x{height} texels are none")));
        }
        if first as u64 + texels > u64::from(u32::MAX) {
            return Err(refused("all images together exceed 2^32 - 1 texels".into()));
        }
        self.images.push(ImageRegion { first_texel: first as u32, width, height });
        Ok(ImageId((self.images.len() - 1) as u32))
    }

    /// Adds a texture over an image and returns its index for [`Material`]'s texture fields. `uv_set` is 0 or
    /// 1.
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

    /// The texels of a texture's image, row by row from the top, red in the low byte, with the texture; `None` where there
    /// is no such texture.
    pub fn texels(&self, texture: u32) -> Option<(&[u32], &Texture)> {
        let texture = self.textures.get(texture as usize)?;
        let first = texture.first_texel as usize;
        let count = texture.width as usize * texture.height as usize;
        Some((self.texels.get(first..first + count)?, texture))
    }

    /// Adds a mesh and returns its index. A mesh without an instance is dropped by `build`.
    pub fn mesh(&mut self, mesh: MeshData) -> u32 {
        self.meshes.push(mesh);
        (self.meshes.len() - 1) as u32
    }

    /// The meshes so far.
    pub fn meshes(&self) -> &[MeshData] {
        &self.meshes
    }

    /// Puts another mesh in the place of one; does nothing where there is none.
    pub fn replace_mesh(&mut self, index: u32, mesh: MeshData) {
        if let Some(old) = self.meshes.get_mut(index as usize) {
            *old = mesh;
        }
    }

    /// The instances so far: a mesh, and the map from its space to the world.
    pub fn instances(&self) -> &[(u32, Affine)] {
        &self.instances
    }

    /// Adds an instance of a mesh.
    pub fn instance(&mut self, mesh: u32, object_to_world: Affine) {
        self.instances.push((mesh, object_to_world));
    }

    /// Adds a light without extent.
    pub fn light(&mut self, light: PunctualLight) {
        self.punctual.push(light);
    }

    /// The number of lights without extent.
    pub fn light_count(&self) -> usize {
        self.punctual.len()
    }

    /// The corners of the triangles of all instances so far, in world space and counter-clockwise seen from the front.
    pub fn triangles(&self) -> impl Iterator<Item = [Vec3; 3]> {
        self.instances.iter().flat_map(|(mesh, map)| {
            let mesh = self.meshes.get(*mesh as usize);
            let corner = move |index: &u32| {
                let position = mesh.and_then(|mesh| mesh.positions.get(*index as usize));
                position.map_or(Vec3::ZERO, |&position| transform_point(map, position.into()))
            };
            let triangles = mesh.map_or(&[][..], |mesh| &mesh.triangles);
            triangles.iter().map(move |[a, b, c]| [corner(a), corner(b), corner(c)])
        })
    }

    /// World-space bounds of all instances so far, for fitting cameras; `None` when there is none.
    pub fn bounds(&self) -> Option<[Vec3; 2]> {
        let mut bounds = Bounds::EMPTY;
        for (mesh, map) in &self.instances {
            if let Some(mesh) = self.meshes.get(*mesh as usize) {
                bounds.include_mesh(mesh, map);
            }
        }
        bounds.get()
    }

    /// Checks everything and derives lights, environment distribution, bounds and hash.
    ///
    /// # Errors
    /// [`Error::Scene`] naming the first item that is out of range, not finite, singular or inconsistent.
    pub fn build(mut self) -> Result<Scene> {
        self.complete_priorities();
        self.check()?;
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
            layers: self.layers,
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
        lighting::prepare(&mut scene, &self.punctual, &self.environment);
        scene.hash = scene.compute_hash();
        Ok(Scene(std::sync::Arc::new(scene)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::vec3::{normalize, vec3};
    use crate::scene::IDENTITY;

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
    fn images_filled_in_place_make_the_scene_of_those_that_were_given() {
        let rgba: Vec<u8> = (0..56).collect();
        let given = || {
            let mut b = SceneBuilder::new("t");
            b.image(2, 1, &rgba[..8]).unwrap();
            b
        };
        let (mut copied, mut filled) = (given(), given());
        let ids = [copied.image(3, 2, &rgba[8..32]).unwrap(), copied.image(1, 6, &rgba[32..]).unwrap()];
        let mut blank = filled.blank_images(&[(3, 2), (1, 6)]).unwrap();
        for ((_, texels), bytes) in blank.iter_mut().zip([&rgba[8..32], &rgba[32..]]) {
            let words = bytes.chunks_exact(4).map(|t| u32::from_le_bytes([t[0], t[1], t[2], t[3]]));
            texels.iter_mut().zip(words).for_each(|(texel, word)| *texel = word);
        }
        assert_eq!(blank.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids);
        assert_eq!(copied.build().unwrap().hash, filled.build().unwrap().hash);
        assert!(SceneBuilder::new("t").blank_images(&[(0, 4)]).is_err());
        assert!(SceneBuilder::new("t").blank_images(&[(1 << 16, 1 << 15), (1 << 16, 1 << 15)]).is_err());
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
            normalize(crate::math::vec3::cross(light.edge1, light.edge2) * light.intensity.x)
        };
        assert_eq!(front(Flatten::Never), vec3(0.0, 0.0, 1.0));
        assert_eq!(front(Flatten::Auto), front(Flatten::Never));
    }

    #[test]
    fn layers_are_part_of_a_scene_and_of_its_hash() {
        let build = |clearcoat: Option<f32>| {
            let mut b = SceneBuilder::new("t");
            let layers = clearcoat.map_or(0, |clearcoat| b.layers(Layers { clearcoat, ..Layers::NONE }));
            b.material(Material { layers, ..Material::principled([0.5; 3], 0.0, 0.5) });
            b.build().unwrap()
        };
        let [plain, half, whole] = [None, Some(0.5), Some(1.0)].map(build);
        assert_eq!((plain.layers.len(), half.layers.len(), half.materials[0].layers), (0, 1, 1));
        assert!(plain.hash != half.hash && half.hash != whole.hash, "scenes of other layers are others");
        let unpacked = crate::scene::Scene::unpack(&half.pack()).unwrap();
        assert_eq!((&unpacked.layers, &unpacked.hash), (&half.layers, &half.hash));
    }

    #[test]
    fn a_priority_gives_the_other_dielectrics_the_lowest() {
        let build = |priority: Option<u32>| {
            let mut b = SceneBuilder::new("t");
            let glass = Material::dielectric(1.5, 0.0);
            b.material(Material::diffuse([0.5; 3]));
            b.material(glass);
            b.material(priority.map_or(glass, |priority| glass.with_priority(priority)));
            b.build().unwrap()
        };
        let priorities = |scene: &Scene| scene.materials.iter().map(|m| m.priority).collect::<Vec<_>>();
        let plain = build(None);
        assert_eq!((priorities(&plain), plain.has_priorities()), (vec![0, 0, 0], false));
        let [lowest, highest] = [Some(0), Some(255)].map(build);
        assert_eq!((priorities(&lowest), lowest.has_priorities()), (vec![0, 1, 1], true));
        assert_eq!(priorities(&highest), vec![0, 1, 256]);
        assert!(plain.hash != lowest.hash && lowest.hash != highest.hash);
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
        b.material(Material { layers: 1, ..Material::BLACK });
        refused(b, "material 1: there are no such layers");
        let mut b = base();
        b.material(Material::diffuse([0.5; 3]).with_priority(1));
        refused(b, "material 1: a priority belongs to a dielectric");
        let mut b = base();
        b.material(Material::dielectric(1.5, 0.0).with_priority(256));
        refused(b, "material 1: priority must lie");
        let mut b = base();
        (0..65_534).for_each(|_| _ = b.material(Material::BLACK));
        b.material(Material::dielectric(1.5, 0.0).with_priority(0));
        refused(b, "material 65535: in a scene with priorities");
        let mut b = base();
        b.layers(Layers { clearcoat: 1.5, ..Layers::NONE });
        refused(b, "layers 0: clearcoat must lie");
        let mut b = base();
        b.layers(Layers { sheen_color_texture: 3, ..Layers::NONE });
        refused(b, "layers 0: there is no texture 3");
        let mut b = base();
        b.layers(Layers { clearcoat_normal_texture: 2, ..Layers::NONE });
        refused(b, "layers 0: there is no texture 2");
        let mut b = base();
        b.layers(Layers { clearcoat_normal_scale: f32::NAN, ..Layers::NONE });
        refused(b, "layers 0: the scale of the clearcoat's normal map");
        let mut b = base();
        b.environment = EnvironmentLight::Constant(Vec3::splat(-1.0));
        refused(b, "environment");
    }
}
