//! Kernel features: the parts of the source that a program is built with.

use crate::contents::Contents;
use lockstep_core::scene::{Instance, SceneData};
use lockstep_core::{Integrator, KernelConfig, LayerSampling, Sampler, Settings};

/// Kernel features (as in Cycles): primitives, surfaces, integrator and sampler that a program is built for.
/// Features that a scene lacks would cost registers and branches in the innermost loops; kernels with all of
/// them take every scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelFeatures {
    /// A BVH over instances: several meshes in the world, or a transformed one.
    pub instances: bool,
    /// Spheres.
    pub spheres: bool,
    /// Surfaces with alpha.
    pub alpha: bool,
    /// Materials with layers.
    pub layers: bool,
    /// Layers with a thin film.
    pub iridescence: bool,
    /// Clearcoats whose normal is not that of the surface below.
    pub coat_normals: bool,
    /// Clearcoats and thin films over dielectrics.
    pub glass_layers: bool,
    /// Media inside dielectrics.
    pub media: bool,
    /// Dielectrics with priorities, whose paths carry an interior list.
    pub priorities: bool,
    /// Rough surfaces that keep the light which scatters more than once.
    pub multiscatter: bool,
    /// Kinds of materials, lights and environments, textures, flags and colours of vertices.
    pub contents: Contents,
    /// The integrator that shades.
    pub integrator: Integrator,
    /// The sampler that makes the integrator's random numbers.
    pub sampler: Sampler,
    /// One lobe of materials with layers is picked.
    pub layer_tree: bool,
}

impl KernelFeatures {
    /// Every feature of scenes, for an integrator under the default sampler that takes all lobes of layers together.
    pub const fn all(integrator: Integrator) -> Self {
        Self {
            instances: true,
            spheres: true,
            alpha: true,
            layers: true,
            iridescence: true,
            coat_normals: true,
            glass_layers: true,
            media: true,
            priorities: true,
            multiscatter: true,
            contents: Contents::ALL,
            integrator,
            sampler: Sampler::Pcg,
            layer_tree: false,
        }
    }

    /// Every feature of scenes, with the integrator, sampler and layer sampling of `self`; layers over glass and priorities
    /// of dielectrics, which few scenes have, stay as they are in `self`.
    #[must_use]
    pub const fn for_all_scenes(self) -> Self {
        Self {
            sampler: self.sampler,
            layer_tree: self.layer_tree,
            priorities: self.priorities,
            glass_layers: self.glass_layers,
            ..Self::all(self.integrator)
        }
    }

    /// Features that many scenes share. Those of all scenes, for a scene with layers, media or rough surfaces that keep their
    /// energy. For others all but these, which few scenes have and which cost every surface time. Plain ones also do
    /// without textures of materials, colours of vertices and instances.
    #[must_use]
    pub const fn shared(self) -> Self {
        let all = self.for_all_scenes();
        if self.layers || self.media || self.multiscatter {
            return all;
        }
        let unlayered = Self {
            layers: false,
            iridescence: false,
            coat_normals: false,
            media: false,
            multiscatter: false,
            ..all
        };
        if !self.is_plain() {
            return unlayered;
        }
        Self { instances: false, contents: Contents::PLAIN, ..unlayered }
    }

    /// Whether path tracing meets neither instances nor contents beyond [`Contents::PLAIN`]. By other integrators few images
    /// are rendered: compiling one more program would take more time than it saves.
    const fn is_plain(&self) -> bool {
        matches!(self.integrator, Integrator::Path) && !self.instances && self.contents.is_plain()
    }

    /// Whether shading is limited to few registers. What scenes without layers, media and priorities compute fits them
    /// or nearly so, and waits for memory in more threads at once.
    pub const fn shade_in_few_registers(self) -> bool {
        let path = matches!(self.integrator, Integrator::Path | Integrator::Ao);
        path && !(self.layers || self.media || self.priorities || self.multiscatter)
    }

    /// Whether a kernel configuration may pick one lobe where all are taken together.
    pub fn may_turn_to_tree(&self) -> bool {
        self.integrator == Integrator::Path && self.layers && !self.layer_tree
    }

    /// The features of programs in a kernel configuration.
    #[must_use]
    pub fn in_config(self, config: &KernelConfig) -> Self {
        Self { layer_tree: self.layer_tree || config.layers == LayerSampling::Tree, ..self }
    }

    /// The features that a scene and settings need.
    pub fn of(scene: &SceneData, settings: &Settings) -> Self {
        let layers = scene.materials.iter().any(|material| material.layers != 0);
        let in_the_world = |i: &Instance| i.flags & Instance::IDENTITY != 0 && i.mesh == 0;
        Self {
            instances: !matches!(scene.instances.as_slice(), [only] if in_the_world(only)),
            spheres: !scene.spheres.is_empty(),
            alpha: scene.materials.iter().any(|material| material.has_alpha()),
            layers,
            coat_normals: scene.has_coat_normals(),
            glass_layers: scene.has_layered_glass(),
            media: scene.has_media(),
            priorities: scene.has_priorities(),
            multiscatter: scene.has_multiscatter(),
            contents: Contents::of(scene),
            iridescence: scene.layers.iter().any(|layers| layers.iridescence > 0.0),
            integrator: settings.integrator,
            sampler: settings.sampler,
            layer_tree: layers && settings.layers == LayerSampling::Tree,
        }
    }
}

impl Default for KernelFeatures {
    fn default() -> Self {
        Self::all(Integrator::Path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::one_triangle;
    use lockstep_core::scene::{
        Flatten, IDENTITY, Layers, Material, MeshData, SceneBuilder, Sphere, TextureTransform,
    };

    fn features(edit: impl FnOnce(&mut SceneBuilder, &mut MeshData)) -> KernelFeatures {
        features_by(&Settings::default(), edit)
    }

    fn features_by(
        settings: &Settings,
        edit: impl FnOnce(&mut SceneBuilder, &mut MeshData),
    ) -> KernelFeatures {
        let scene = one_triangle(edit);
        let features = KernelFeatures::of(&scene, settings);
        assert_eq!(features.contents, Contents::of(&scene));
        KernelFeatures { contents: Contents::ALL, ..features }
    }

    #[test]
    fn only_what_a_scene_has_counts() {
        let none = KernelFeatures {
            instances: false,
            spheres: false,
            alpha: false,
            layers: false,
            iridescence: false,
            coat_normals: false,
            glass_layers: false,
            media: false,
            priorities: false,
            multiscatter: false,
            ..KernelFeatures::all(Integrator::Path)
        };
        assert_eq!(features(|_, _| {}), none);
        let moved = |builder: &mut SceneBuilder, mesh: &mut MeshData| {
            builder.flatten = Flatten::Never;
            let mesh = builder.mesh(mesh.clone());
            builder.instance(mesh, [[1.0, 0.0, 0.0, 2.0], IDENTITY[1], IDENTITY[2]]);
        };
        assert_eq!(features(moved), KernelFeatures { instances: true, ..none });
        let sphere = |_: &mut SceneBuilder, mesh: &mut MeshData| {
            mesh.spheres.push(Sphere { radius: 1.0, ..Sphere::default() });
        };
        assert_eq!(features(sphere), KernelFeatures { spheres: true, ..none });
        let glass = |builder: &mut SceneBuilder, _: &mut MeshData| {
            builder.material(Material {
                alpha_mode: lockstep_core::scene::AlphaMode::Blend as u32,
                alpha: 0.5,
                ..Material::diffuse([0.5; 3])
            });
        };
        assert_eq!(features(glass), KernelFeatures { alpha: true, ..none });
        let coated = |builder: &mut SceneBuilder, _: &mut MeshData| {
            let layers = builder.layers(Layers { clearcoat: 1.0, ..Layers::NONE });
            builder.material(Material { layers, ..Material::principled([0.5; 3], 0.0, 0.5) });
        };
        assert_eq!(features(coated), KernelFeatures { layers: true, ..none });
        let tree = Settings { layers: LayerSampling::Tree, ..Settings::default() };
        assert_eq!(features_by(&tree, coated), KernelFeatures { layers: true, layer_tree: true, ..none });
        assert_eq!(features_by(&tree, |_, _| {}), none, "without layers it is the same program");
        let smooth = |builder: &mut SceneBuilder, _: &mut MeshData| {
            let image = builder.image(1, 1, &[128, 128, 255, 255]).unwrap();
            let sampler = lockstep_core::scene::Sampler::default();
            let normal_texture = builder.texture(image, false, sampler, 0, TextureTransform::default());
            let layers = builder.layers(Layers { clearcoat: 1.0, ..Layers::NONE });
            builder.material(Material { layers, normal_texture, ..Material::principled([0.5; 3], 0.0, 0.5) });
            let layers = Layers { clearcoat: 1.0, clearcoat_normal_texture: normal_texture, ..Layers::NONE };
            assert!(!layers.has_coat_normal(&Material { normal_texture, ..Material::BLACK }));
        };
        assert_eq!(features(smooth), KernelFeatures { layers: true, coat_normals: true, ..none });
        let tinted = |builder: &mut SceneBuilder, _: &mut MeshData| {
            let layers = builder.layers(Layers { dispersion: 1.0, ..Layers::NONE });
            builder.material(Material { layers, ..Material::dielectric(1.5, 0.0) });
        };
        assert_eq!(features(tinted), KernelFeatures { layers: true, media: true, ..none });
        let coated_glass = |builder: &mut SceneBuilder, _: &mut MeshData| {
            let layers = builder.layers(Layers { clearcoat: 1.0, ..Layers::NONE });
            builder.material(Material { layers, ..Material::dielectric(1.5, 0.0) });
        };
        assert_eq!(features(coated_glass), KernelFeatures { layers: true, glass_layers: true, ..none });
        let nested = |builder: &mut SceneBuilder, _: &mut MeshData| {
            builder.material(Material::dielectric(1.5, 0.0).with_priority(0));
        };
        assert_eq!(features(nested), KernelFeatures { priorities: true, ..none });
        let of_one = KernelFeatures { contents: Contents { metals: false, ..Contents::ALL }, ..none };
        assert_eq!(
            of_one.for_all_scenes(),
            KernelFeatures { priorities: false, glass_layers: false, ..KernelFeatures::default() }
        );
        let filmed = |builder: &mut SceneBuilder, _: &mut MeshData| {
            let layers = builder.layers(Layers { iridescence: 1.0, ..Layers::NONE });
            builder.material(Material { layers, ..Material::principled([0.5; 3], 0.0, 0.5) });
        };
        assert_eq!(features(filmed), KernelFeatures { layers: true, iridescence: true, ..none });
        let keeping = |builder: &mut SceneBuilder, _: &mut MeshData| {
            builder
                .material(Material { flags: Material::MULTISCATTER, ..Material::conductor([0.5; 3], 0.5) });
        };
        assert_eq!(features(keeping), KernelFeatures { multiscatter: true, ..none });
    }

    #[test]
    fn programs_that_scenes_share_have_all_that_these_need_and_lack_what_few_have() {
        let plain_scene = KernelFeatures::of(&one_triangle(|_, _| {}), &Settings::default());
        let plain = plain_scene.shared();
        assert_eq!(KernelFeatures { spheres: true, alpha: true, ..plain_scene }.shared(), plain);
        assert_eq!(plain.contents, Contents::PLAIN);
        assert!(plain.spheres && plain.alpha && !plain.instances && !plain.layers && !plain.media);
        let unlayered = KernelFeatures { instances: true, contents: Contents::ALL, ..plain };
        let textured = Contents { material_textures: 1, ..plain_scene.contents };
        let colored = Contents { vertex_colors: true, ..plain_scene.contents };
        for needs_more in [
            KernelFeatures { instances: true, ..plain_scene },
            KernelFeatures { contents: textured, ..plain_scene },
            KernelFeatures { contents: colored, ..plain_scene },
        ] {
            assert_eq!(needs_more.shared(), unlayered);
        }
        let by_light = KernelFeatures { integrator: Integrator::Light, ..plain_scene };
        assert_eq!(by_light.shared(), KernelFeatures { integrator: Integrator::Light, ..unlayered });
        for of_few in [
            KernelFeatures { layers: true, ..plain_scene },
            KernelFeatures { media: true, ..plain_scene },
            KernelFeatures { multiscatter: true, ..plain_scene },
        ] {
            assert_eq!(of_few.shared(), plain_scene.for_all_scenes());
        }
    }
}
