//! Surfaces, textures and images.

use super::{Export, split};
use crate::export::notes::Feature;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{AlphaMode, Material, MaterialKind, NONE, Texture, Wrap};
use lockstep_core::{Error, Result};
use lockstep_images::codecs;
use serde_json::{Value, json};
use std::path::Path;

/// The name of a material, which scene.toml refers to.
pub(super) fn name(index: usize) -> String {
    format!("material-{index}")
}

impl Export<'_> {
    /// Every material, in its place.
    pub(super) fn materials(&mut self) -> Result<()> {
        let scene = self.scene;
        for (index, material) in scene.materials.iter().enumerate() {
            let document = self.material(index, material)?;
            self.push("materials", document);
        }
        Ok(())
    }

    fn material(&mut self, index: usize, m: &Material) -> Result<Value> {
        // An unlit surface has its colour in the place of others' base colour.
        let is_unlit = m.flags & Material::UNLIT != 0;
        let shown = Material {
            base_color: m.emission,
            base_color_texture: m.emission_texture,
            emission: Vec3::ZERO,
            emission_texture: NONE,
            ..*m
        };
        let m = if is_unlit { &shown } else { m };
        let is = |kind: MaterialKind| m.kind == kind as u32;
        let metallic = if is(MaterialKind::Conductor) {
            1.0
        } else if is(MaterialKind::Principled) {
            m.metallic
        } else {
            0.0
        };
        self.notes.add_layers(m);
        let [r, g, b] = m.base_color.to_array();
        if m.base_color.to_array().into_iter().any(|c| c > 1.0) {
            self.notes.add(Feature::Color, "colours of surfaces above 1 are limited to it");
        }
        let color = [r, g, b].map(|c| c.clamp(0.0, 1.0));
        let mut pbr = json!({
            "baseColorFactor": [color[0], color[1], color[2], m.alpha.clamp(0.0, 1.0)],
            "metallicFactor": metallic,
            "roughnessFactor": m.roughness.clamp(0.0, 1.0),
        });
        if let Some(info) = self.texture(m.base_color_texture, true)? {
            pbr["baseColorTexture"] = info;
        }
        if let Some(info) = self.texture(m.metallic_roughness_texture, false)? {
            pbr["metallicRoughnessTexture"] = info;
        }
        let mut out = json!({ "name": name(index), "pbrMetallicRoughness": pbr });
        let mut extensions = serde_json::Map::new();
        let mut add =
            |extension: Value| extensions.extend(extension.as_object().cloned().unwrap_or_default());
        if is_unlit {
            add(self.extension("KHR_materials_unlit", json!({})));
        }
        if m.ior != 1.5 {
            add(self.extension("KHR_materials_ior", json!({ "ior": m.ior })));
        }
        let transmission = if is(MaterialKind::Dielectric) { 1.0 } else { m.transmission };
        if transmission > 0.0 {
            let mut own = json!({ "transmissionFactor": transmission });
            if let Some(info) = self.texture(m.transmission_texture, false)? {
                own["transmissionTexture"] = info;
            }
            add(self.extension("KHR_materials_transmission", own));
        }
        if m.emission != Vec3::ZERO {
            let (factor, strength) = split(m.emission);
            out["emissiveFactor"] = json!(factor.to_array());
            if strength != 1.0 {
                add(self
                    .extension("KHR_materials_emissive_strength", json!({ "emissiveStrength": strength })));
            }
        }
        if !extensions.is_empty() {
            out["extensions"] = Value::Object(extensions);
        }
        if let Some(info) = self.texture(m.emission_texture, true)? {
            out["emissiveTexture"] = info;
        }
        if let Some(mut info) = self.texture(m.normal_texture, false)? {
            info["scale"] = json!(m.normal_scale);
            out["normalTexture"] = info;
        }
        if m.alpha_mode == AlphaMode::Mask as u32 {
            out["alphaMode"] = json!("MASK");
            out["alphaCutoff"] = json!(m.alpha_cutoff);
        } else if m.alpha_mode == AlphaMode::Blend as u32 {
            out["alphaMode"] = json!("BLEND");
        }
        // Lamps that shine from both sides are the ones that have two here; scene.toml shows all from behind where none
        // is culled.
        let is_culled = m.flags & Material::SINGLE_SIDED != 0;
        let shines_back = m.flags & Material::TWO_SIDED_EMISSION != 0 || m.emission == Vec3::ZERO;
        out["doubleSided"] = json!(!is_culled && shines_back);
        Ok(out)
    }

    /// The reference to a texture; nothing for none.
    fn texture(&mut self, index: u32, srgb: bool) -> Result<Option<Value>> {
        if index == NONE {
            return Ok(None);
        }
        let texture = self.scene.textures[index as usize];
        if srgb != (texture.flags & Texture::SRGB != 0) {
            self.notes.add(Feature::Texture, "images of the other encoding than glTF's are taken for it");
        }
        let source = self.image(&texture)?;
        let sampler = self.sampler(&texture);
        let known = self.lists.get("textures").and_then(|all| {
            all.iter().position(|t| t["source"] == json!(source) && t["sampler"] == json!(sampler))
        });
        let own =
            known.unwrap_or_else(|| self.push("textures", json!({ "source": source, "sampler": sampler })));
        let mut info = json!({ "index": own });
        if texture.flags & Texture::UV_SET_1 != 0 {
            info["texCoord"] = json!(1);
        }
        if let Some(transform) = self.transform(&texture) {
            info["extensions"] = self.extension("KHR_texture_transform", transform);
        }
        Ok(Some(info))
    }

    /// Offset, rotation and scale of a texture's coordinates; nothing for the identity.
    fn transform(&mut self, texture: &Texture) -> Option<Value> {
        let [[a, b, x, _], [c, d, y, _]] = texture.transform;
        if [a, b, x, c, d, y] == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
            return None;
        }
        if b == 0.0 && c == 0.0 {
            return Some(json!({ "offset": [x, y], "scale": [a, d] }));
        }
        let rotation = (-c).atan2(a);
        Some(json!({ "offset": [x, y], "rotation": rotation, "scale": [a.hypot(c), b.hypot(d)] }))
    }

    fn sampler(&mut self, texture: &Texture) -> usize {
        let wrap = |bits: u32| match bits {
            wrap if wrap == Wrap::Clamp as u32 => 33071,
            wrap if wrap == Wrap::Mirror as u32 => 33648,
            _ => 10497,
        };
        let filter = if texture.flags & Texture::NEAREST != 0 { 9728 } else { 9729 };
        let own = json!({
            "magFilter": filter, "minFilter": filter,
            "wrapS": wrap(texture.flags & 3), "wrapT": wrap(texture.flags >> 2 & 3),
        });
        let known = self.lists.get("samplers").and_then(|all| all.iter().position(|other| *other == own));
        known.unwrap_or_else(|| self.push("samplers", own))
    }

    /// The image of a texture, as PNG in the buffer; textures of the same texels share it.
    fn image(&mut self, texture: &Texture) -> Result<usize> {
        let name = format!("texels-{}", texture.first_texel);
        let known =
            self.lists.get("images").and_then(|all| all.iter().position(|i| i["name"] == json!(name)));
        if let Some(known) = known {
            return Ok(known);
        }
        let first = texture.first_texel as usize;
        let count = texture.width as usize * texture.height as usize;
        let bytes: Vec<u8> =
            self.scene.texels[first..first + count].iter().flat_map(|texel| texel.to_le_bytes()).collect();
        let png = codecs::encode_png_rgba8((texture.width, texture.height), bytes).map_err(|source| {
            Error::Io { action: "encoding the image", path: Path::new(&name).into(), source }
        })?;
        let view = self.view(&png);
        Ok(self.push("images", json!({ "bufferView": view, "mimeType": "image/png", "name": name })))
    }
}
