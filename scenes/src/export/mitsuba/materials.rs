//! Surfaces.

use super::{Export, triple};
use crate::export::notes::Feature;
use crate::export::{images, pfm};
use lockstep_core::Result;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::texture::texel_rgb;
use lockstep_core::scene::{AlphaMode, Material, MaterialKind, NONE, Texture, Wrap};

/// Roughness below which conductors and dielectrics are perfectly smooth, and that of the smoothest other surface.
const SMOOTH: f32 = 0.03;

/// The element of a number, a colour or a texture, which gets the name that a plugin has for it.
pub(super) struct Value(String);

impl Value {
    pub(super) fn named(&self, name: &str) -> String {
        self.0.replacen(' ', &format!(" name=\"{name}\" "), 1)
    }
}

impl Export<'_> {
    /// Every material, under the name `material-N`.
    pub(super) fn materials(&mut self) -> Result<()> {
        let scene = self.scene;
        for (index, material) in scene.materials.iter().enumerate() {
            self.name_differences(material);
            let color = self.color(index, "base_color", material.base_color, material.base_color_texture)?;
            let alpha = self.alpha(index, material)?;
            let id = format!(" id=\"material-{index}\"");
            let (mask_id, own_id) = if alpha.is_some() { (id.as_str(), "") } else { ("", id.as_str()) };
            if let Some(alpha) = &alpha {
                self.line(format!("  <bsdf type=\"mask\"{mask_id}>"));
                self.line(format!("    {}", alpha.named("opacity")));
            }
            self.scattering(material, own_id, &color);
            if alpha.is_some() {
                self.line("  </bsdf>");
            }
        }
        Ok(())
    }

    fn scattering(&mut self, material: &Material, id: &str, color: &Value) {
        let is = |kind: MaterialKind| material.kind == kind as u32;
        let rough = material.roughness >= SMOOTH;
        let alpha = material.roughness.max(SMOOTH).powi(2);
        let microfacets = |plugin: &str| match rough {
            true => (format!("rough{plugin}"), Some(alpha)),
            false => (plugin.to_owned(), None),
        };
        if is(MaterialKind::Dielectric) {
            let (plugin, alpha) = microfacets("dielectric");
            self.line(format!("  <bsdf type=\"{plugin}\"{id}>"));
            self.line(format!("    <float name=\"int_ior\" value=\"{}\"/>", material.ior));
            self.line("    <float name=\"ext_ior\" value=\"1\"/>");
            self.ggx(alpha);
            self.line(format!("    {}", color.named("specular_reflectance")));
            self.line(format!("    {}", color.named("specular_transmittance")));
            self.line("  </bsdf>");
            return;
        }
        self.line(format!("  <bsdf type=\"twosided\"{id}>"));
        if is(MaterialKind::Conductor) && material.base_color != Vec3::ONE {
            self.principled(&color.named("base_color"), 1.0, material.roughness);
        } else if is(MaterialKind::Conductor) {
            let (plugin, alpha) = microfacets("conductor");
            self.line(format!("  <bsdf type=\"{plugin}\">"));
            self.line("    <string name=\"material\" value=\"none\"/>");
            self.ggx(alpha);
            self.line(format!("    {}", color.named("specular_reflectance")));
        } else if is(MaterialKind::Diffuse) {
            self.line("  <bsdf type=\"diffuse\">");
            self.line(format!("    {}", color.named("reflectance")));
        } else {
            self.principled(&color.named("base_color"), material.metallic, material.roughness);
        }
        self.line("  </bsdf>");
        self.line("  </bsdf>");
    }

    /// The head of a principled surface, the only one with Schlick's Fresnel.
    fn principled(&mut self, base_color: &str, metallic: f32, roughness: f32) {
        self.line("  <bsdf type=\"principled\">");
        self.line(format!("    {base_color}"));
        self.line(format!("    <float name=\"metallic\" value=\"{metallic}\"/>"));
        self.line(format!("    <float name=\"roughness\" value=\"{}\"/>", roughness.max(SMOOTH)));
    }

    fn ggx(&mut self, alpha: Option<f32>) {
        if let Some(alpha) = alpha {
            self.line("    <string name=\"distribution\" value=\"ggx\"/>");
            self.line(format!("    <float name=\"alpha\" value=\"{alpha}\"/>"));
        }
    }

    /// The parts of a material that have no counterpart.
    fn name_differences(&mut self, material: &Material) {
        let is = |kind: MaterialKind| material.kind == kind as u32;
        let rough = material.roughness >= SMOOTH;
        if is(MaterialKind::Conductor) && material.base_color != Vec3::ONE && !rough {
            self.notes.add(Feature::Conductor, "smooth metal is as rough there as at a roughness of 0.03, since only rough metal has Schlick's Fresnel");
        }
        if rough && (is(MaterialKind::Conductor) || is(MaterialKind::Dielectric)) {
            let feature = match is(MaterialKind::Conductor) {
                true => Feature::Conductor,
                false => Feature::Dielectric,
            };
            self.notes.add(feature, "rough metal and glass mask by the height-correlated term of Smith here, by the separable one there");
        }
        if is(MaterialKind::Principled) {
            self.notes.add(Feature::Principled, "metallic-roughness surfaces of glTF are Mitsuba's principled ones, whose diffuse base differs");
        }
        self.notes.add_omissions(material);
        self.notes.add_front_alone(material);
    }

    /// A colour: a constant, or a texture with the factor in it.
    pub(super) fn color(&mut self, material: usize, role: &str, factor: Vec3, texture: u32) -> Result<Value> {
        if texture == NONE {
            return Ok(Value(format!("<rgb value=\"{}\"/>", triple(factor))));
        }
        let texture = self.scene.textures[texture as usize];
        let pixels = images::texels(self.scene, &texture, |texel| {
            (texel_rgb(texel, texture.flags) * factor).to_array()
        });
        self.bitmap(&format!("{role}-{material}.pfm"), &texture, &pixels)
    }

    /// The opacity of a material; nothing for an opaque one.
    fn alpha(&mut self, index: usize, material: &Material) -> Result<Option<Value>> {
        let masked = material.alpha_mode == AlphaMode::Mask as u32;
        if material.alpha_mode == AlphaMode::Opaque as u32 {
            return Ok(None);
        }
        self.notes.add(Feature::Alpha, "passing a surface with alpha counts as a bounce in Mitsuba");
        if material.base_color_texture == NONE {
            return Ok(Some(Value(format!(
                "<float value=\"{}\"/>",
                images::opacity(material, material.alpha)
            ))));
        }
        let texture = self.scene.textures[material.base_color_texture as usize];
        if masked && texture.flags & Texture::NEAREST == 0 {
            self.notes.add(
                Feature::Alpha,
                "the cutoff of masks is taken before texels are interpolated, which softens their edges",
            );
        }
        let alpha = |texel: u32| images::texel_alpha(texel) * material.alpha;
        let pixels =
            images::texels(self.scene, &texture, |texel| [images::opacity(material, alpha(texel)); 3]);
        Ok(Some(self.bitmap(&format!("alpha-{index}.pfm"), &texture, &pixels)?))
    }

    fn bitmap(&mut self, name: &str, texture: &Texture, pixels: &[[f32; 3]]) -> Result<Value> {
        pfm::write(&self.folder.join(name), texture.width as usize, pixels)?;
        let wrap = match images::wrap(texture, &mut self.notes) {
            Wrap::Clamp => "clamp",
            Wrap::Mirror => "mirror",
            Wrap::Repeat => "repeat",
        };
        let filter = if texture.flags & Texture::NEAREST != 0 { "nearest" } else { "bilinear" };
        Ok(Value(format!(
            "<texture type=\"bitmap\"><string name=\"filename\" value=\"{name}\"/><boolean name=\"raw\" value=\"true\"/>\
             <string name=\"wrap_mode\" value=\"{wrap}\"/><string name=\"filter_type\" value=\"{filter}\"/></texture>"
        )))
    }
}
