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

/// Metalness from which a metallic-roughness surface is a metal.
const METAL: f32 = 0.5;

impl Export<'_> {
    /// Every material, under the name `material-N`, and its textures.
    pub(super) fn materials(&mut self) -> Result<()> {
        let scene = self.scene;
        for (index, material) in scene.materials.iter().enumerate() {
            self.name_differences(material);
            let color = self.color(index, material)?;
            self.alpha_texture(index, material)?;
            self.line(format_args!("MakeNamedMaterial \"material-{index}\""));
            for parameter in scattering(material, &color) {
                self.line(format_args!("    {parameter}"));
            }
        }
        Ok(())
    }

    /// The parameter for the base colour, without its name: `rgb` or `texture`, and the value.
    fn color(&mut self, index: usize, material: &Material) -> Result<[String; 2]> {
        if material.base_color_texture == NONE {
            return Ok(["rgb".into(), triple(material.base_color)]);
        }
        let texture = self.scene.textures[material.base_color_texture as usize];
        let rgb = |texel: u32| (texel_rgb(texel, texture.flags) * material.base_color).to_array();
        let pixels = images::texels(self.scene, &texture, rgb);
        let name = format!("color-{index}");
        self.bitmap(&name, "spectrum", &texture, &pixels)?;
        Ok(["texture".into(), format!("\"{name}\"")])
    }

    /// The texture `alpha-N` of a material whose opacity varies.
    fn alpha_texture(&mut self, index: usize, material: &Material) -> Result<()> {
        if material.alpha_mode == AlphaMode::Opaque as u32 || material.base_color_texture == NONE {
            return Ok(());
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
        self.bitmap(&format!("alpha-{index}"), "float", &texture, &pixels)
    }

    fn bitmap(&mut self, name: &str, kind: &str, texture: &Texture, pixels: &[[f32; 3]]) -> Result<()> {
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
        let filter = if texture.flags & Texture::NEAREST != 0 { "point" } else { "bilinear" };
        self.line(format_args!(
            "Texture \"{name}\" \"{kind}\" \"imagemap\" \"string filename\" [ \"{file}\" ]"
        ));
        self.line(format_args!("    \"string wrap\" [ \"{wrap}\" ] \"string filter\" [ \"{filter}\" ]"));
        Ok(())
    }

    /// The parts of a material that have no counterpart.
    fn name_differences(&mut self, material: &Material) {
        let is = |kind: MaterialKind| material.kind == kind as u32;
        if is(MaterialKind::Conductor) {
            self.notes.add(
                Feature::Conductor,
                "metal has the Fresnel term of an index of refraction, not Schlick's",
            );
        }
        if is(MaterialKind::Dielectric) && material.base_color != Vec3::ONE {
            self.notes.add(Feature::Dielectric, "the tint of glass is left out");
        }
        if is(MaterialKind::Principled) {
            self.notes.add(
                Feature::Principled,
                "metallic-roughness surfaces of glTF are coated diffuse ones or metals",
            );
        }
        self.notes.add_omissions(material);
    }
}

/// Parameters of a material.
fn scattering(material: &Material, [kind, color]: &[String; 2]) -> Vec<String> {
    let is = |kind: MaterialKind| material.kind == kind as u32;
    let named = |name: &str| format!("\"{kind} {name}\" [ {color} ]");
    let float = |name: &str, value: f32| format!("\"float {name}\" [ {value} ]");
    let of = |value: &str| format!("\"string type\" [ \"{value}\" ]");
    let alpha = |least: f32| if material.roughness < SMOOTH { least } else { material.roughness.powi(2) };
    let exact = || "\"bool remaproughness\" [ false ]".to_owned();
    if is(MaterialKind::Diffuse) {
        return vec![of("diffuse"), named("reflectance")];
    }
    if is(MaterialKind::Dielectric) {
        return vec![of("dielectric"), float("eta", material.ior), float("roughness", alpha(0.0)), exact()];
    }
    if is(MaterialKind::Conductor) {
        return vec![of("conductor"), named("reflectance"), float("roughness", alpha(0.0)), exact()];
    }
    let rough = float("roughness", alpha(SMOOTH.powi(2)));
    match material.metallic >= METAL {
        true => vec![of("conductor"), named("reflectance"), rough, exact()],
        false => vec![of("coateddiffuse"), named("reflectance"), float("eta", material.ior), rough, exact()],
    }
}
