//! Surfaces.

use super::Export;
use crate::export::images;
use crate::export::notes::Feature;
use lockstep_core::Result;
use lockstep_core::scene::texture::texel_rgb;
use lockstep_core::scene::{AlphaMode, Material, MaterialKind, NONE, Texture, Wrap};
use serde_json::{Value, json};

/// Roughness below which conductors and dielectrics are perfectly smooth, and that of the smoothest other surface.
const SMOOTH: f32 = 0.03;

impl Export<'_> {
    pub(super) fn materials(&mut self) -> Result<Vec<Value>> {
        let scene = self.scene;
        scene.materials.iter().map(|material| self.material(material)).collect()
    }

    fn material(&mut self, material: &Material) -> Result<Value> {
        let is = |kind: MaterialKind| material.kind == kind as u32;
        let is_specular = material.roughness < SMOOTH;
        let (kind, roughness) = if is(MaterialKind::Conductor) {
            ("conductor", if is_specular { 0.0 } else { material.roughness })
        } else if is(MaterialKind::Dielectric) {
            ("dielectric", if is_specular { 0.0 } else { material.roughness })
        } else if is(MaterialKind::Diffuse) {
            ("diffuse", 1.0)
        } else {
            ("principled", material.roughness.max(SMOOTH))
        };
        self.name_differences(material);
        self.notes.add_layers(material);
        self.notes.add_priority(material);
        let has_alpha = material.alpha_mode != AlphaMode::Opaque as u32;
        let mut document = json!({
            "kind": kind,
            "base_color": material.base_color.to_array(),
            "roughness": roughness,
            "metallic": material.metallic,
            "ior": material.ior,
            "transmission": material.transmission,
            "emission": material.emission.to_array(),
            "emits_from_both_sides": material.flags & Material::TWO_SIDED_EMISSION != 0,
            "multiscatter": material.flags & Material::MULTISCATTER != 0,
            "is_single_sided": material.flags & Material::SINGLE_SIDED != 0,
        });
        if has_alpha {
            document["alpha"] = json!(material.alpha);
            if material.alpha_mode == AlphaMode::Mask as u32 {
                document["alpha_cutoff"] = json!(material.alpha_cutoff);
            }
            document["alpha_texture"] = self.texture(material.base_color_texture, true)?;
        }
        document["base_color_texture"] = self.texture(material.base_color_texture, false)?;
        document["emission_texture"] = self.texture(material.emission_texture, false)?;
        document["metallic_roughness_texture"] = self.texture(material.metallic_roughness_texture, false)?;
        Ok(document)
    }

    /// A texture's image and sampler, or null.
    fn texture(&mut self, index: u32, alpha: bool) -> Result<Value> {
        if index == NONE {
            return Ok(Value::Null);
        }
        let texture = self.scene.textures[index as usize];
        let file = format!("texture-{index}{}.exr", if alpha { "-alpha" } else { "" });
        let path = self.folder.join(&file);
        let pixels = images::texels(self.scene, &texture, |texel| match alpha {
            true => [images::texel_alpha(texel); 3],
            false => texel_rgb(texel, texture.flags).to_array(),
        });
        images::write_exr(&path, texture.width as usize, &pixels)?;
        let wrap = match images::wrap(&texture, &mut self.notes) {
            Wrap::Clamp => "clamp",
            Wrap::Mirror => "mirror",
            Wrap::Repeat => "repeat",
        };
        Ok(json!({ "file": file, "wrap": wrap, "nearest": texture.flags & Texture::NEAREST != 0 }))
    }

    /// The parts of a material that have no counterpart.
    fn name_differences(&mut self, material: &Material) {
        self.notes.add_unlit(material);
        if material.kind == MaterialKind::Principled as u32 {
            self.notes.add(
                Feature::Principled,
                "metallic-roughness surfaces of glTF are Blender's Principled BSDF, whose layers share light otherwise",
            );
            if material.transmission > 0.0 || material.transmission_texture != NONE {
                self.notes.add(Feature::Principled, "walls that transmit are solid glass there, thin here");
            }
            if material.transmission_texture != NONE {
                self.notes.add(Feature::Principled, "textures of transmission are left out");
            }
        }
        if material.normal_texture != NONE {
            self.notes.add(Feature::NormalMap, "normal maps are left out");
        }
    }
}
