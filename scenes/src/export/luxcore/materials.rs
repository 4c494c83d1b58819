//! Surfaces.

use super::{Export, triple};
use crate::export::images;
use crate::export::notes::Feature;
use lockstep_core::Result;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::texture::texel_rgb;
use lockstep_core::scene::{AlphaMode, Material, MaterialKind, NONE, Texture, Wrap};

/// Roughness below which conductors and dielectrics are perfectly smooth, and that of the smoothest other surface.
const SMOOTH: f32 = 0.03;

impl Export<'_> {
    /// Every material, under the name `material-N`.
    pub(super) fn materials(&mut self) -> Result<()> {
        let scene = self.scene;
        for (index, material) in scene.materials.iter().enumerate() {
            self.name_differences(material);
            let color = self.color(index, "color", material.base_color, material.base_color_texture)?;
            let name = format!("materials.material-{index}");
            for (key, value) in scattering(material, &color) {
                self.set(format_args!("{name}.{key}"), value);
            }
            if let Some(alpha) = self.alpha(index, material)? {
                self.set(format_args!("{name}.transparency"), alpha);
            }
            if material.emission != Vec3::ZERO {
                let radiance = self.color(index, "emission", material.emission, material.emission_texture)?;
                self.set(format_args!("{name}.emission"), radiance);
                self.set(format_args!("{name}.emission.gain"), "1 1 1");
                self.set(format_args!("{name}.emission.gain.normalizebycolor"), 0);
                self.set(format_args!("{name}.emission.power"), 0);
                self.set(format_args!("{name}.emission.efficency"), 0);
            }
        }
        Ok(())
    }

    /// The parts of a material that have no counterpart.
    fn name_differences(&mut self, material: &Material) {
        let is = |kind: MaterialKind| material.kind == kind as u32;
        let is_specular = material.roughness < SMOOTH;
        if is(MaterialKind::Conductor) && is_specular && material.base_color != Vec3::ONE {
            self.notes
                .add(Feature::Conductor, "smooth metal does not reflect more towards the horizon there");
        }
        if is(MaterialKind::Conductor) && !is_specular {
            self.notes.add(
                Feature::Conductor,
                "rough metal has LuxCore's distribution of microfacets, by Schlick, and the Fresnel term of an index",
            );
        }
        if is(MaterialKind::Dielectric) && !is_specular {
            self.notes.add(
                Feature::Dielectric,
                "rough glass has LuxCore's distribution of microfacets, by Schlick",
            );
        }
        if is(MaterialKind::Principled) {
            self.notes.add(
                Feature::Principled,
                "metallic-roughness surfaces of glTF are LuxCore's Disney ones, whose layers differ",
            );
        }
        self.notes.add_omissions(material);
        self.notes.add_front_alone(material);
    }

    /// A colour: a constant, or the name of a texture with the factor in it.
    fn color(&mut self, material: usize, role: &str, factor: Vec3, texture: u32) -> Result<String> {
        if texture == NONE {
            return Ok(triple(factor));
        }
        let texture = self.scene.textures[texture as usize];
        let rgb = |texel: u32| (texel_rgb(texel, texture.flags) * factor).to_array();
        let pixels = images::texels(self.scene, &texture, rgb);
        self.bitmap(&format!("{role}-{material}"), &texture, &pixels)
    }

    /// The opacity of a material; nothing for an opaque one.
    fn alpha(&mut self, index: usize, material: &Material) -> Result<Option<String>> {
        if material.alpha_mode == AlphaMode::Opaque as u32 {
            return Ok(None);
        }
        self.notes.add(Feature::Alpha, "passing a surface with alpha counts as a bounce in LuxCore");
        if material.base_color_texture == NONE {
            return Ok(Some(images::opacity(material, material.alpha).to_string()));
        }
        let texture = self.scene.textures[material.base_color_texture as usize];
        if material.alpha_mode == AlphaMode::Mask as u32 && texture.flags & Texture::NEAREST == 0 {
            self.notes.add(
                Feature::Alpha,
                "the cutoff of masks is taken before texels are interpolated, which softens their edges",
            );
        }
        let alpha = |texel: u32| images::opacity(material, images::texel_alpha(texel) * material.alpha);
        let pixels = images::texels(self.scene, &texture, |texel| [alpha(texel); 3]);
        Ok(Some(self.bitmap(&format!("alpha-{index}"), &texture, &pixels)?))
    }

    /// Writes a texture and returns its name in quotes.
    fn bitmap(&mut self, name: &str, texture: &Texture, pixels: &[[f32; 3]]) -> Result<String> {
        let file = format!("{name}.exr");
        images::write_exr(&self.folder.join(&file), texture.width as usize, pixels)?;
        let wrap = match images::wrap(texture, &mut self.notes) {
            Wrap::Clamp => "clamp",
            Wrap::Repeat => "repeat",
            Wrap::Mirror => {
                self.notes.add(Feature::Texture, "textures that repeat mirrored repeat unmirrored");
                "repeat"
            }
        };
        if texture.flags & Texture::NEAREST != 0 {
            self.notes.add(Feature::Texture, "texels are interpolated where the nearest is asked for");
        }
        let texture = format!("textures.{name}");
        self.set(format_args!("{texture}.type"), "\"imagemap\"");
        self.set(format_args!("{texture}.file"), format_args!("\"{file}\""));
        self.set(format_args!("{texture}.gamma"), 1);
        self.set(format_args!("{texture}.storage"), "\"float\"");
        self.set(format_args!("{texture}.wrap"), format_args!("\"{wrap}\""));
        Ok(format!("\"{name}\""))
    }
}

/// Properties of a material, without its name.
fn scattering(material: &Material, color: &str) -> Vec<(&'static str, String)> {
    let is = |kind: MaterialKind| material.kind == kind as u32;
    let is_specular = material.roughness < SMOOTH;
    let text = |value: &str| format!("\"{value}\"");
    let roughness = material.roughness.max(SMOOTH).powi(2).to_string();
    if is(MaterialKind::Diffuse) {
        return vec![("type", text("matte")), ("kd", color.to_owned())];
    }
    if is(MaterialKind::Conductor) && is_specular {
        return vec![("type", text("mirror")), ("kr", color.to_owned())];
    }
    if is(MaterialKind::Conductor) {
        let rough = [("uroughness", roughness.clone()), ("vroughness", roughness)];
        let [r, g, b] = material.base_color.to_array().map(|f0| f0.min(0.999));
        let (n, k) = ([r, g, b].map(|f0| index(f0).0), [r, g, b].map(|f0| index(f0).1));
        let list = |v: [f32; 3]| v.map(|x| x.to_string()).join(" ");
        return [("type", text("metal2")), ("n", list(n)), ("k", list(k))].into_iter().chain(rough).collect();
    }
    if is(MaterialKind::Dielectric) {
        let kind = if is_specular { "glass" } else { "roughglass" };
        let own = vec![
            ("type", text(kind)),
            ("kr", color.to_owned()),
            ("kt", color.to_owned()),
            ("interiorior", material.ior.to_string()),
            ("exteriorior", "1".to_owned()),
        ];
        let rough = [("uroughness", roughness.clone()), ("vroughness", roughness)];
        return own.into_iter().chain(rough.into_iter().filter(|_| !is_specular)).collect();
    }
    vec![
        ("type", text("disney")),
        ("basecolor", color.to_owned()),
        ("metallic", material.metallic.to_string()),
        ("roughness", material.roughness.max(SMOOTH).to_string()),
    ]
}

/// An index of refraction, real and imaginary, of this reflectance at normal incidence: that of equal parts of both ways
/// to reach it.
fn index(f0: f32) -> (f32, f32) {
    let root = f0.sqrt();
    let half = 0.5 * ((1.0 - f0) / (1.0 + f0) + (1.0 + root) / (1.0 - root));
    let k2 = (f0 * (half + 1.0).powi(2) - (half - 1.0).powi(2)) / (1.0 - f0);
    (half, k2.max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_has_the_reflectance_that_it_is_made_for() {
        for f0 in [0.04f32, 0.3, 0.7, 0.95] {
            let (n, k) = index(f0);
            let reflectance = ((n - 1.0).powi(2) + k * k) / ((n + 1.0).powi(2) + k * k);
            assert!((reflectance - f0).abs() < 1e-4, "{reflectance} for {f0}");
        }
    }
}
