//! Contents of scenes: what a program's materials, lights, textures and vertices may hold.

use lockstep_core::math::vec3::max_component;
use lockstep_core::scene::{EnvironmentKind, LightKind, Material, MaterialKind, NONE, SceneData};
#[cfg(test)]
use lockstep_core::scene::{IDENTITY, MeshData, Scene, SceneBuilder};
use std::fmt::Write as _;

/// Contents of the scenes that a program renders. The source has them as constants, so that compilers drop the code
/// and the registers of all else; what is computed stays the same to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contents {
    /// Kinds of materials: bit k for the [`MaterialKind`] of number k.
    pub material_kinds: u32,
    /// Bits of [`Material::flags`].
    pub material_flags: KnownBits,
    /// Textures of materials: bits 0 to 4 for base colour, metallic and roughness, normal map, emission and transmission.
    pub material_textures: u32,
    /// Materials that emit.
    pub emission: bool,
    /// Thin walls that transmit.
    pub transmission: bool,
    /// Metals among principled surfaces.
    pub metals: bool,
    /// Bits of `Texture::flags`.
    pub texture_flags: KnownBits,
    /// Kinds of lights: bit k for the [`LightKind`] of number k.
    pub light_kinds: u32,
    /// Kinds of environments: bit k for the [`EnvironmentKind`] of number k.
    pub environment_kinds: u32,
    /// Vertices that are not white.
    pub vertex_colors: bool,
}

/// Bits of a set of words: those set in some words, and those set in all words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KnownBits {
    /// Bits that some words have.
    pub some: u32,
    /// Bits that all words have.
    pub all: u32,
}

/// The textures of a material that the kernels look up for every surface.
fn material_textures(material: &Material) -> [u32; 5] {
    [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture,
        material.emission_texture,
        material.transmission_texture,
    ]
}

impl KnownBits {
    /// Bits of which nothing is known.
    pub const UNKNOWN: Self = Self { some: u32::MAX, all: 0 };

    fn of(words: impl Iterator<Item = u32>) -> Self {
        let none = Self { some: 0, all: u32::MAX };
        let known = words.fold(none, |bits, word| Self { some: bits.some | word, all: bits.all & word });
        if known == none { Self::UNKNOWN } else { known }
    }
}

impl Contents {
    /// Everything that scenes may hold.
    pub const ALL: Self = Self {
        material_kinds: (1 << (MaterialKind::Principled as u32 + 1)) - 1,
        material_flags: KnownBits::UNKNOWN,
        material_textures: 0b11111,
        emission: true,
        transmission: true,
        metals: true,
        texture_flags: KnownBits::UNKNOWN,
        light_kinds: (1 << (LightKind::Environment as u32 + 1)) - 1,
        environment_kinds: (1 << (EnvironmentKind::Image as u32 + 1)) - 1,
        vertex_colors: true,
    };

    /// Materials without textures and white vertices, whatever their kinds and lights.
    pub const PLAIN: Self = Self { material_textures: 0, vertex_colors: false, ..Self::ALL };

    /// Whether the contents are within [`Self::PLAIN`].
    pub const fn is_plain(&self) -> bool {
        self.material_textures == 0 && !self.vertex_colors
    }

    /// The contents of a scene.
    pub fn of(scene: &SceneData) -> Self {
        let materials = || scene.materials.iter();
        let used =
            |textures: [u32; 5]| (0..5).filter(|&k| textures[k] != NONE).fold(0, |bits, k| bits | 1 << k);
        Self {
            material_kinds: materials().fold(0, |bits, material| bits | 1 << material.kind),
            material_flags: KnownBits::of(materials().map(|material| material.flags)),
            material_textures: materials().fold(0, |bits, material| bits | used(material_textures(material))),
            emission: materials().any(|material| max_component(material.emission) > 0.0),
            transmission: materials().any(|material| material.transmission.to_bits() != 0),
            metals: materials().any(|material| material.metallic.to_bits() != 0),
            texture_flags: KnownBits::of(scene.textures.iter().map(|texture| texture.flags)),
            light_kinds: scene.lights.iter().fold(0, |bits, light| bits | 1 << light.kind),
            environment_kinds: 1 << scene.environment.kind,
            vertex_colors: !scene.vertices.iter().all(|vertex| vertex.is_white()),
        }
    }

    /// The source's lines that say what scenes hold; none where they may hold everything.
    pub(crate) fn defines(&self) -> String {
        let mut lines = String::new();
        let kinds = [
            ("LS_MATERIAL_KINDS", self.material_kinds, Self::ALL.material_kinds),
            ("LS_MATERIAL_TEXTURES", self.material_textures, Self::ALL.material_textures),
            ("LS_LIGHT_KINDS", self.light_kinds, Self::ALL.light_kinds),
            ("LS_ENVIRONMENT_KINDS", self.environment_kinds, Self::ALL.environment_kinds),
        ];
        for (name, kinds, _) in kinds.into_iter().filter(|(_, kinds, all)| kinds != all) {
            let _ = writeln!(lines, "#define {name} {kinds}u");
        }
        let flags = [("LS_MATERIAL_FLAGS", self.material_flags), ("LS_TEXTURE_FLAGS", self.texture_flags)];
        for (name, KnownBits { some, all }) in
            flags.into_iter().filter(|(_, bits)| *bits != KnownBits::UNKNOWN)
        {
            let _ = writeln!(lines, "#define {name}(flags) (((flags) & {some}u) | {all}u)");
        }
        let absent = [
            ("LS_NO_EMISSION", self.emission),
            ("LS_NO_TRANSMISSION", self.transmission),
            ("LS_NO_METALS", self.metals),
            ("LS_NO_VERTEX_COLORS", self.vertex_colors),
        ];
        for (name, _) in absent.into_iter().filter(|(_, present)| !present) {
            let _ = writeln!(lines, "#define {name} 1");
        }
        lines
    }
}

/// A diffuse triangle, and whatever is added to it.
#[cfg(test)]
pub(crate) fn one_triangle(edit: impl FnOnce(&mut SceneBuilder, &mut MeshData)) -> Scene {
    let mut builder = SceneBuilder::new("t");
    builder.material(Material::diffuse([0.5; 3]));
    let mut mesh = MeshData {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 2]],
        materials: vec![0],
        ..MeshData::default()
    };
    edit(&mut builder, &mut mesh);
    let mesh = builder.mesh(mesh);
    builder.instance(mesh, IDENTITY);
    builder.build().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::scene::{Sampler, Texture, TextureTransform, Vertex};

    fn contents(edit: impl FnOnce(&mut SceneBuilder, &mut MeshData)) -> Contents {
        Contents::of(&one_triangle(edit))
    }

    #[test]
    fn contents_are_what_a_scene_holds_and_no_more() {
        let none = Contents {
            material_kinds: 1 << MaterialKind::Diffuse as u32,
            material_flags: KnownBits { some: 0, all: 0 },
            material_textures: 0,
            emission: false,
            transmission: false,
            metals: false,
            texture_flags: KnownBits::UNKNOWN,
            light_kinds: 0,
            environment_kinds: 1 << EnvironmentKind::Constant as u32,
            vertex_colors: false,
        };
        assert_eq!(contents(|_, _| {}), none);
        let metal = |builder: &mut SceneBuilder, _: &mut MeshData| {
            builder.material(Material::principled([0.5; 3], 1.0, 0.5));
        };
        let kinds = none.material_kinds | 1 << MaterialKind::Principled as u32;
        assert_eq!(contents(metal), Contents { material_kinds: kinds, metals: true, ..none });
        let wall = |builder: &mut SceneBuilder, _: &mut MeshData| {
            builder.material(Material { transmission: 0.5, ..Material::principled([0.5; 3], 0.0, 0.5) });
        };
        assert_eq!(contents(wall), Contents { material_kinds: kinds, transmission: true, ..none });
        let lamp = |builder: &mut SceneBuilder, mesh: &mut MeshData| {
            let lamp = Material { flags: Material::TWO_SIDED_EMISSION, ..Material::emitter([1.0; 3]) };
            mesh.materials[0] = builder.material(lamp);
        };
        let lit = Contents {
            material_flags: KnownBits { some: Material::TWO_SIDED_EMISSION, all: 0 },
            emission: true,
            light_kinds: 1 << LightKind::Triangle as u32,
            ..none
        };
        assert_eq!(contents(lamp), lit);
        let textured = |builder: &mut SceneBuilder, _: &mut MeshData| {
            let image = builder.image(1, 1, &[128, 128, 255, 255]).unwrap();
            let texture = |srgb, builder: &mut SceneBuilder| {
                builder.texture(image, srgb, Sampler::default(), 0, TextureTransform::default())
            };
            let base_color_texture = texture(true, builder);
            let normal_texture = texture(false, builder);
            builder.material(Material { base_color_texture, normal_texture, ..Material::diffuse([0.5; 3]) });
        };
        let wrap = contents(textured).texture_flags.all;
        let flags = KnownBits { some: wrap | Texture::SRGB, all: wrap };
        assert_eq!(contents(textured), Contents { material_textures: 0b101, texture_flags: flags, ..none });
        let colored = |_: &mut SceneBuilder, mesh: &mut MeshData| {
            let pink = Vertex::PLAIN.with_color([1.0, 0.5, 1.0, 1.0]);
            mesh.vertices = vec![Vertex::PLAIN, pink, Vertex::PLAIN];
        };
        assert_eq!(contents(colored), Contents { vertex_colors: true, ..none });
    }

    #[test]
    fn programs_of_all_scenes_have_no_constants_of_contents() {
        assert_eq!(Contents::ALL.defines(), "");
        let lines = contents(|_, _| {}).defines();
        assert!(lines.starts_with("#define LS_MATERIAL_KINDS 1u\n"), "{lines}");
        assert!(lines.contains("#define LS_MATERIAL_FLAGS(flags) (((flags) & 0u) | 0u)\n"), "{lines}");
        assert!(lines.ends_with("#define LS_NO_VERTEX_COLORS 1\n"), "{lines}");
        assert!(!lines.contains("LS_TEXTURE_FLAGS"), "no texture says which flags there are: {lines}");
    }
}
