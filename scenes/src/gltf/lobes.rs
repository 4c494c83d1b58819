//! Material extensions that add lobes: `KHR_materials_specular`, `_clearcoat`, `_sheen`, `_anisotropy`,
//! `_iridescence`; and the media of `KHR_materials_volume` and `_dispersion`.

use super::json::Item;
use super::materials::Reader;
use crate::textures::Coding;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::math::{clamp, sin_cos_turns};
use lockstep_core::scene::{Layers, Material, MaterialKind, NONE};

/// Texture properties: extension, property, coding.
const TEXTURES: [(&str, &str, Coding); 10] = [
    ("KHR_materials_specular", "specularTexture", Coding::Linear),
    ("KHR_materials_specular", "specularColorTexture", Coding::Srgb),
    ("KHR_materials_clearcoat", "clearcoatTexture", Coding::Linear),
    ("KHR_materials_clearcoat", "clearcoatRoughnessTexture", Coding::Linear),
    ("KHR_materials_sheen", "sheenColorTexture", Coding::Srgb),
    ("KHR_materials_sheen", "sheenRoughnessTexture", Coding::Linear),
    ("KHR_materials_anisotropy", "anisotropyTexture", Coding::Linear),
    ("KHR_materials_iridescence", "iridescenceTexture", Coding::Linear),
    ("KHR_materials_iridescence", "iridescenceThicknessTexture", Coding::Linear),
    ("KHR_materials_clearcoat", "clearcoatNormalTexture", Coding::Linear),
];

/// Extensions of materials that this file reads.
const EXTENSIONS: [&str; 5] = [
    "KHR_materials_specular",
    "KHR_materials_clearcoat",
    "KHR_materials_sheen",
    "KHR_materials_anisotropy",
    "KHR_materials_iridescence",
];

/// The texture objects of a material's lobes, with the coding of their images.
pub(super) fn slots<'a>(material: &Item<'a>) -> Vec<(Item<'a>, Coding)> {
    let slot = |(extension, property, coding): &(&str, &str, Coding)| {
        Some((material.extension(extension)?.get(property)?, *coding))
    };
    TEXTURES.iter().filter_map(slot).collect()
}

/// The layers of a material, and the set of texture coordinates that gives a clearcoat's normal map or anisotropy its
/// tangents; `None` where no extension asks for any. `normal_map_uv` is the set of the surface's normal map.
pub(super) fn layers(
    reader: &mut Reader<'_, '_>,
    material: &Item<'_>,
    normal_map_uv: Option<u32>,
) -> Option<(Layers, Option<u32>)> {
    EXTENSIONS.iter().find(|extension| material.extension(extension).is_some())?;
    let mut layers = Layers::NONE;
    let mut textures = [(NONE, 0); TEXTURES.len()];
    for ((extension, property, coding), texture) in TEXTURES.iter().zip(&mut textures) {
        let info = material.extension(extension).and_then(|e| e.get(property));
        *texture = reader.texture(info, *coding == Coding::Srgb);
    }
    let [
        specular,
        specular_color,
        clearcoat,
        clearcoat_roughness,
        sheen_color,
        sheen_roughness,
        anisotropy,
        iridescence,
        thickness,
        coat_normal,
    ] = textures;
    if let Some(extension) = material.extension("KHR_materials_specular") {
        layers.specular = extension.number("specularFactor").unwrap_or(1.0);
        layers.specular_color = extension.floats("specularColorFactor").map_or(Vec3::ONE, Vec3::from);
        (layers.specular_texture, layers.specular_color_texture) = (specular.0, specular_color.0);
    }
    if let Some(extension) = material.extension("KHR_materials_clearcoat") {
        layers.clearcoat = extension.number("clearcoatFactor").unwrap_or(0.0);
        layers.clearcoat_roughness = extension.number("clearcoatRoughnessFactor").unwrap_or(0.0);
        (layers.clearcoat_texture, layers.clearcoat_roughness_texture) = (clearcoat.0, clearcoat_roughness.0);
        if let Some(map) = extension.get("clearcoatNormalTexture") {
            layers.clearcoat_normal_texture = coat_normal.0;
            layers.clearcoat_normal_scale = map.number("scale").unwrap_or(1.0);
        }
    }
    if let Some(extension) = material.extension("KHR_materials_sheen") {
        layers.sheen_color = extension.floats("sheenColorFactor").map_or(Vec3::ZERO, Vec3::from);
        layers.sheen_roughness = extension.number("sheenRoughnessFactor").unwrap_or(0.0);
        (layers.sheen_color_texture, layers.sheen_roughness_texture) = (sheen_color.0, sheen_roughness.0);
    }
    if let Some(extension) = material.extension("KHR_materials_iridescence") {
        layers.iridescence = extension.number("iridescenceFactor").unwrap_or(0.0);
        layers.iridescence_ior = within(reader, &extension, "iridescenceIor", 1.3, [1.0, 4.0]);
        let mut nanometres = |key, default| within(reader, &extension, key, default, [0.0, 10_000.0]);
        layers.iridescence_thickness = [
            nanometres("iridescenceThicknessMinimum", 100.0),
            nanometres("iridescenceThicknessMaximum", 400.0),
        ];
        (layers.iridescence_texture, layers.iridescence_thickness_texture) = (iridescence.0, thickness.0);
    }
    let mut tangents = None;
    if let Some(extension) = material.extension("KHR_materials_anisotropy") {
        layers.anisotropy = extension.number("anisotropyStrength").unwrap_or(0.0);
        let radians = extension.number("anisotropyRotation").unwrap_or(0.0);
        let turns = (f64::from(radians) / std::f64::consts::TAU).fract();
        let (sin, cos) = sin_cos_turns(turns as f32);
        layers.anisotropy_rotation = [cos, sin];
        layers.anisotropy_texture = anisotropy.0;
        tangents = (layers.anisotropy > 0.0).then_some(anisotropy.1);
    }
    if layers.clearcoat > 0.0 && layers.clearcoat_normal_texture != NONE {
        tangents = Some(coat_normal.1);
        if normal_map_uv.is_some_and(|set| set != coat_normal.1) {
            let message =
                "its tangents are those of the surface's normal map, which has other texture coordinates";
            let at =
                material.extension("KHR_materials_clearcoat").map(|e| e.pointer("clearcoatNormalTexture"));
            reader.warnings.add(at.unwrap_or_default(), message);
        }
    }
    Some((layers, tangents))
}

/// Whether layers of a material follow the tangents of the primitive: anisotropy, or a clearcoat's normal map.
pub(super) fn follow_tangents(material: &Item<'_>) -> bool {
    let anisotropy = material.extension("KHR_materials_anisotropy").is_some_and(|extension| {
        extension.has("anisotropyTexture") || extension.number("anisotropyStrength").unwrap_or(0.0) > 0.0
    });
    let clearcoat = material.extension("KHR_materials_clearcoat");
    anisotropy || clearcoat.is_some_and(|extension| extension.has("clearcoatNormalTexture"))
}

/// Makes a transmitting material with a volume a dielectric, which refracts; returns its medium and the layers over it. Whether it is metal, and
/// how rough it is, are its factors times the means of its texture: the factors' defaults of 1 leave both to the texture.
pub(super) fn volume(
    reader: &mut Reader<'_, '_>,
    item: &Item<'_>,
    material: &mut Material,
    normal_map_uv: Option<u32>,
) -> Option<Layers> {
    let extension = item.extension("KHR_materials_volume")?;
    let is_thick = extension.number("thicknessFactor").unwrap_or(0.0) > 0.0;
    if !is_thick || material.transmission == 0.0 {
        return None;
    }
    let add = |reader: &mut Reader<'_, '_>, what: &str| reader.warnings.add(&extension.at, what);
    let mean = reader.mean_texel(material.metallic_roughness_texture);
    if material.metallic * mean.z >= 0.5 {
        add(reader, "most of the surface is metal, which light does not enter; its volume is left out");
        return None;
    }
    if material.transmission < 0.5 {
        add(reader, "most of the surface does not transmit; it is a thin wall without a volume");
        return None;
    }
    if material.transmission < 1.0 || material.transmission_texture != NONE {
        add(reader, "the surface around a volume transmits everywhere and wholly");
    }
    if material.metallic_roughness_texture != NONE {
        add(
            reader,
            "the surface around a volume has one roughness, the mean of its texture, and is nowhere metal",
        );
        material.roughness *= mean.y;
    }
    let ignored = ["KHR_materials_specular", "KHR_materials_sheen", "KHR_materials_anisotropy"];
    if ignored.iter().any(|name| item.extension(name).is_some()) {
        add(reader, "specular, sheen and anisotropy of the surface around a volume are left out");
    }
    let layers = of_glass(reader, item, normal_map_uv);
    material.kind = MaterialKind::Dielectric as u32;
    let color = extension.floats("attenuationColor").unwrap_or([1.0f32; 3]);
    let distance = extension.number("attenuationDistance").unwrap_or(f32::INFINITY);
    // Black would leave nothing after any distance; this leaves a millionth after one
    let attenuation = color.map(|c| (-f64::from(c.max(1e-6)).ln() / f64::from(distance)) as f32);
    let dispersion = item.extension("KHR_materials_dispersion");
    let dispersion = dispersion.map_or(0.0, |e| within(reader, &e, "dispersion", 0.0, [0.0, 20.0]));
    Some(Layers { attenuation: attenuation.into(), dispersion, ..layers })
}

/// The clearcoat and the thin film of the surface around a volume. The coat has the surface's normals.
fn of_glass(reader: &mut Reader<'_, '_>, item: &Item<'_>, normal_map_uv: Option<u32>) -> Layers {
    let all = layers(reader, item, normal_map_uv).map_or(Layers::NONE, |(layers, _)| layers);
    if all.clearcoat > 0.0 && all.clearcoat_normal_texture != NONE {
        let at = item.extension("KHR_materials_clearcoat").map(|e| e.pointer("clearcoatNormalTexture"));
        reader
            .warnings
            .add(at.unwrap_or_default(), "a clearcoat around a volume has the normals of the surface");
    }
    Layers {
        clearcoat: all.clearcoat,
        clearcoat_roughness: all.clearcoat_roughness,
        clearcoat_texture: all.clearcoat_texture,
        clearcoat_roughness_texture: all.clearcoat_roughness_texture,
        iridescence: all.iridescence,
        iridescence_ior: all.iridescence_ior,
        iridescence_thickness: all.iridescence_thickness,
        iridescence_texture: all.iridescence_texture,
        iridescence_thickness_texture: all.iridescence_thickness_texture,
        ..Layers::NONE
    }
}

/// Gives a dielectric the priority that its `extras` name, where they name one.
pub(super) fn prioritize(reader: &mut Reader<'_, '_>, item: &Item<'_>, material: &mut Material) {
    let Some(extras) = item.get("extras").filter(|extras| extras.has("priority")) else { return };
    let fitting = |&priority: &u64| priority <= u64::from(Material::MAX_PRIORITY);
    let message = match extras.whole("priority").filter(fitting) {
        None => "a priority is a whole number from 0 to 255; it is left out",
        Some(_) if material.kind != MaterialKind::Dielectric as u32 => {
            "a priority is that of a volume that transmits, which this material has not; it is left out"
        }
        Some(priority) => {
            *material = material.with_priority(priority as u32);
            return;
        }
    };
    reader.warnings.add(extras.pointer("priority"), message);
}

/// A number limited to a range, with a warning where it lies outside.
fn within(
    reader: &mut Reader<'_, '_>,
    extension: &Item<'_>,
    key: &str,
    default: f32,
    [least, most]: [f32; 2],
) -> f32 {
    let value = extension.number(key).unwrap_or(default);
    let limited = clamp(value, least, most);
    if limited != value {
        let message = format!("{value} is not supported; {limited} is used");
        reader.warnings.add(extension.pointer(key), message);
    }
    limited
}
