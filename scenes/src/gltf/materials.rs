//! Materials and the textures they use.

use super::Source;
use super::images;
use super::json::Item;
use super::lobes;
use super::specular_glossiness::{Factors, convert, convert_images};
use crate::limits::TexelBudget;
use crate::overrides::MaterialOverrides;
use crate::textures::Coding;
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::clamp;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{
    AlphaMode, ImageId, Material, MaterialKind, NONE, Sampler, SceneBuilder, TextureTransform, Wrap,
};

/// Properties of a material that meshes depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    /// The index in the scene.
    pub(super) material: u32,
    /// Bit `n`: it needs texture coordinates of set `n`.
    pub(super) uv_sets: u32,
    /// Texture coordinates along which it needs tangents, for a normal map, that of its clearcoat, or anisotropy.
    pub(super) tangent_uv: Option<u32>,
    /// Whether the surface has layers along tangents that glTF wants given, since no normal map says how to compute them.
    pub(super) asks_for_tangents: bool,
}

/// glTF's default material.
pub(super) fn default_surface(builder: &mut SceneBuilder) -> Surface {
    let material = Material { flags: Material::SINGLE_SIDED, ..Material::principled([1.0; 3], 1.0, 1.0) };
    let material = builder.material(material);
    Surface { material, uv_sets: 0, tangent_uv: None, asks_for_tangents: false }
}

/// Reads all materials with their images.
pub(super) fn load(
    source: &Source<'_>,
    builder: &mut SceneBuilder,
    overrides: &mut MaterialOverrides,
    warnings: &mut Warnings,
) -> Result<Vec<Surface>> {
    let root = &source.root;
    images::warn_of_undeclared_webp(root, warnings);
    let used = used_images(root);
    let mut budget = TexelBudget::new(source.access.limits);
    let images = images::load(root, &source.buffers, source.access, &used, &mut budget, builder, warnings)?;
    let (textures, converted) = (Vec::new(), Vec::new());
    let mut reader =
        Reader { root, source, images, budget, builder, warnings, uv_sets: 0, textures, converted };
    let mut out = Vec::new();
    for item in root.items("materials") {
        reader.uv_sets = 0;
        let (mut material, normal_map_uv) = reader.material(&item)?;
        let mut tangents = None;
        if let Some(medium) = lobes::volume(&mut reader, &item, &mut material, normal_map_uv) {
            material.layers = reader.builder.layers(medium);
        } else if let Some((layers, of_layers)) = lobes::layers(&mut reader, &item, normal_map_uv) {
            material.layers = reader.builder.layers(layers);
            tangents = of_layers;
        }
        lobes::prioritize(&mut reader, &item, &mut material);
        overrides.apply(item.name(), &mut material, reader.builder);
        // Light passes what transmits from either side, so its inside must be there.
        let transmits = material.kind == MaterialKind::Dielectric as u32 || material.transmission > 0.0;
        if !item.flag("doubleSided") && !transmits {
            material.flags |= Material::SINGLE_SIDED;
        }
        let normal_map_uv = normal_map_uv.filter(|_| material.normal_texture != NONE);
        let tangent_uv = normal_map_uv.or(tangents);
        out.push(Surface {
            material: reader.builder.material(material),
            uv_sets: reader.uv_sets,
            tangent_uv,
            asks_for_tangents: lobes::follow_tangents(&item) && !item.has("normalTexture"),
        });
    }
    Ok(out)
}

/// The rendered texture slots of a material, with their objects.
fn slots<'a>(item: &Item<'a>) -> [Option<Item<'a>>; 5] {
    let is_converted = specular_glossiness_of(item).is_some();
    let pbr = item.get("pbrMetallicRoughness").filter(|_| !is_converted);
    let of_pbr = |key: &str| pbr.as_ref().and_then(|p| p.get(key));
    [
        of_pbr("baseColorTexture"),
        of_pbr("metallicRoughnessTexture"),
        item.get("normalTexture"),
        item.get("emissiveTexture"),
        item.extension("KHR_materials_transmission").and_then(|t| t.get("transmissionTexture")),
    ]
}

/// The extension that takes the place of metallic-roughness; an unlit material has none of both.
fn specular_glossiness_of<'a>(item: &Item<'a>) -> Option<Item<'a>> {
    let is_unlit = item.extension("KHR_materials_unlit").is_some();
    item.extension("KHR_materials_pbrSpecularGlossiness").filter(|_| !is_unlit)
}

/// The codings of [`slots`].
const CODINGS: [Coding; 5] = [Coding::Srgb, Coding::Linear, Coding::Linear, Coding::Srgb, Coding::Linear];

fn image_of(root: &Item<'_>, texture: usize) -> Option<usize> {
    let item = root.item("textures", texture)?;
    let webp = item.extension("EXT_texture_webp").and_then(|e| e.index("source"));
    webp.or_else(|| item.index("source"))
}

/// The coding of each image that a material uses. One that is used as both counts as a colour.
fn used_images(root: &Item<'_>) -> Vec<Option<Coding>> {
    let mut used = vec![None; root.len("images")];
    for material in root.items("materials") {
        let own = slots(&material).into_iter().zip(CODINGS);
        let own = own.filter_map(|(info, coding)| Some((info?, coding)));
        for (info, coding) in own.chain(lobes::slots(&material)) {
            let index = info.index("index");
            let image = index.and_then(|texture| image_of(root, texture));
            if let Some(slot) = image.and_then(|i| used.get_mut(i))
                && *slot != Some(Coding::Srgb)
            {
                *slot = Some(coding);
            }
        }
    }
    used
}

const NO_IMAGE: &str = "the texture has no image that can be read; it is left out";

/// Key of a texture in the scene: image, sampler, transform.
type TextureKey = (usize, bool, u32, TextureTransform);

/// Images that make converted textures, with their factors, and the textures' coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Conversion {
    factors: Factors,
    /// The textures of diffuse and specular colours.
    textures: [Option<usize>; 2],
    coordinates: Coordinates,
    sampler: Sampler,
}

/// Where a texture lies on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Coordinates {
    set: u32,
    transform: TextureTransform,
}

/// Reads materials and makes their textures.
pub(super) struct Reader<'a, 'b> {
    root: &'a Item<'a>,
    source: &'a Source<'a>,
    images: Vec<Option<ImageId>>,
    budget: TexelBudget,
    /// Converted textures: base colour, and roughness with metalness.
    converted: Vec<(Conversion, [u32; 2])>,
    builder: &'b mut SceneBuilder,
    pub(super) warnings: &'b mut Warnings,
    uv_sets: u32,
    textures: Vec<(TextureKey, u32)>,
}

impl Reader<'_, '_> {
    fn material(&mut self, item: &Item<'_>) -> Result<(Material, Option<u32>)> {
        if item.extension("KHR_materials_unlit").is_some() {
            return Ok((self.unlit(item), None));
        }
        let [base_color, metallic_roughness, normal, emission, transmission] = slots(item);
        let pbr = item.get("pbrMetallicRoughness");
        let factor = |key: &str| pbr.as_ref().and_then(|p| p.number(key)).unwrap_or(1.0);
        let [r, g, b, a] = pbr.as_ref().and_then(|p| p.floats("baseColorFactor")).unwrap_or([1.0; 4]);
        let mut out = Material::principled([r, g, b], factor("metallicFactor"), factor("roughnessFactor"));
        out.alpha = a;
        out.emission = self.emission(item);
        out.ior = self.ior(item);
        let thin = item.extension("KHR_materials_transmission");
        out.transmission = thin.and_then(|t| t.number("transmissionFactor")).unwrap_or(0.0);
        self.alpha_mode(item, &mut out);
        out.normal_scale = normal.as_ref().and_then(|n| n.number("scale")).unwrap_or(1.0);
        if item.flag("doubleSided") {
            out.flags |= Material::TWO_SIDED_EMISSION;
        }
        out.base_color_texture = self.texture(base_color, true).0;
        out.metallic_roughness_texture = self.texture(metallic_roughness, false).0;
        if let Some(extension) = specular_glossiness_of(item) {
            self.convert(&extension, &mut out)?;
        }
        out.emission_texture = self.texture(emission, true).0;
        out.transmission_texture = self.texture(transmission, false).0;
        let (normal_texture, normal_uv) = self.texture(normal, false);
        out.normal_texture = normal_texture;
        Ok((out, (normal_texture != NONE).then_some(normal_uv)))
    }

    /// Puts the surface that specular-glossiness describes into a material.
    fn convert(&mut self, extension: &Item<'_>, out: &mut Material) -> Result<()> {
        let factors = Factors::of(extension);
        out.alpha = factors.alpha;
        let infos = ["diffuseTexture", "specularGlossinessTexture"].map(|key| extension.get(key));
        let mut textures = [None; 2];
        let mut place: Option<(Coordinates, Sampler)> = None;
        for (info, texture) in infos.iter().zip(&mut textures) {
            let Some(info) = info else { continue };
            let Some(coordinates) = self.coordinates(info) else { continue };
            let index = info.index("index").unwrap_or(usize::MAX);
            if image_of(self.root, index).is_none() {
                self.warnings.add(&info.at, NO_IMAGE);
                continue;
            }
            let own = (coordinates, self.sampler(index));
            if place.is_some_and(|other| other != own) {
                let message =
                    "both textures are converted together, with the coordinates and wrapping of the first";
                self.warnings.add(&info.at, message);
            }
            place.get_or_insert(own);
            *texture = Some(index);
        }
        let Some((coordinates, sampler)) = place else {
            let found = convert(factors.diffuse, factors.specular, factors.glossiness);
            out.base_color = found.base_color.into();
            (out.metallic, out.roughness) = (found.metallic, found.roughness);
            return Ok(());
        };
        let conversion = Conversion { factors, textures, coordinates, sampler };
        let known = self.converted.iter().find(|(other, _)| *other == conversion).map(|(_, made)| *made);
        let made = match known {
            Some(made) => made,
            None => self.convert_textures(&conversion, &extension.at)?,
        };
        out.base_color = Vec3::ONE;
        (out.metallic, out.roughness) = (1.0, 1.0);
        [out.base_color_texture, out.metallic_roughness_texture] = made;
        Ok(())
    }

    fn convert_textures(&mut self, conversion: &Conversion, at: &str) -> Result<[u32; 2]> {
        let mut read = |texture: Option<usize>| {
            let image = texture.and_then(|texture| image_of(self.root, texture));
            let Some(item) = image.and_then(|image| self.root.item("images", image)) else { return Ok(None) };
            let Source { buffers, access, .. } = self.source;
            images::read(&item, self.root, buffers, access, Coding::Srgb, self.warnings).map(Some)
        };
        let [diffuse, specular] = conversion.textures;
        let (diffuse, specular) = (read(diffuse)?, read(specular)?);
        let images = convert_images(&conversion.factors, diffuse.as_ref(), specular.as_ref());
        let mut made = [NONE; 2];
        for ((pixels, made), is_color) in images.iter().zip(&mut made).zip([true, false]) {
            self.budget
                .take((pixels.width, pixels.height))
                .map_err(|message| self.warnings.error(at, message))?;
            let image = self.builder.image(pixels.width, pixels.height, &pixels.rgba)?;
            let Coordinates { set, transform } = conversion.coordinates;
            *made = self.builder.texture(image, is_color, conversion.sampler, set, transform);
        }
        self.converted.push((*conversion, made));
        Ok(made)
    }

    /// `KHR_materials_unlit`: the base colour as it is, whatever the light.
    fn unlit(&mut self, item: &Item<'_>) -> Material {
        let pbr = item.get("pbrMetallicRoughness");
        let [r, g, b, a] = pbr.as_ref().and_then(|p| p.floats("baseColorFactor")).unwrap_or([1.0; 4]);
        let texture = self.texture(slots(item)[0].clone(), true).0;
        let mut out = Material {
            alpha: a,
            base_color_texture: texture,
            emission_texture: texture,
            ..Material::unlit([r, g, b])
        };
        self.alpha_mode(item, &mut out);
        out
    }

    fn alpha_mode(&mut self, item: &Item<'_>, out: &mut Material) {
        out.alpha_mode = match item.text("alphaMode") {
            Some("MASK") => AlphaMode::Mask,
            Some("BLEND") => AlphaMode::Blend,
            _ => AlphaMode::Opaque,
        } as u32;
        if item.has("alphaCutoff") && item.text("alphaMode") != Some("MASK") {
            self.warnings
                .add(item.pointer("alphaCutoff"), "a cutoff has a meaning only in the alpha mode `MASK`");
        }
        out.alpha_cutoff = item.number("alphaCutoff").unwrap_or(0.5);
    }

    fn emission(&mut self, item: &Item<'_>) -> Vec3 {
        let factor = item.floats("emissiveFactor").unwrap_or([0.0; 3]);
        let strength = item.extension("KHR_materials_emissive_strength");
        let strength = strength.and_then(|e| e.number("emissiveStrength")).unwrap_or(1.0);
        Vec3::from(factor) * strength
    }

    fn ior(&mut self, item: &Item<'_>) -> f32 {
        let Some(extension) = item.extension("KHR_materials_ior") else {
            return 1.5;
        };
        let ior = extension.number("ior").unwrap_or(1.5);
        let within = clamp(ior, 1.0, 4.0);
        if within != ior {
            let message = format!("an index of refraction of {ior} is not supported; {within} is used");
            self.warnings.add(extension.pointer("ior"), message);
        }
        within
    }

    /// The scene's texture for a texture object, and its set of coordinates.
    pub(super) fn texture(&mut self, info: Option<Item<'_>>, srgb: bool) -> (u32, u32) {
        let Some(info) = info else {
            return (NONE, 0);
        };
        let Some(Coordinates { set, transform }) = self.coordinates(&info) else {
            return (NONE, 0);
        };
        let texture = info.index("index").unwrap_or(usize::MAX);
        let image = image_of(self.root, texture).and_then(|image| self.images.get(image).copied().flatten());
        let Some(image) = image else {
            self.warnings.add(&info.at, NO_IMAGE);
            return (NONE, 0);
        };
        let key = (texture, srgb, set, transform);
        if let Some((_, known)) = self.textures.iter().find(|(k, _)| *k == key) {
            return (*known, set);
        }
        let id = self.builder.texture(image, srgb, self.sampler(texture), set, transform);
        self.textures.push((key, id));
        (id, set)
    }

    /// The mean texel of a texture of numbers; white without one.
    pub(super) fn mean_texel(&self, texture: u32) -> Vec3 {
        let Some((texels, _)) = self.builder.texels(texture).filter(|_| texture != NONE) else {
            return Vec3::ONE;
        };
        let sums = texels.iter().fold([0u64; 3], |sums, texel| {
            let own = texel.to_le_bytes();
            std::array::from_fn(|channel| sums[channel] + u64::from(own[channel]))
        });
        sums.map(|sum| (sum as f64 / (255.0 * texels.len() as f64)) as f32).into()
    }

    /// The coordinates that a texture object asks for, which meshes are told; nothing for sets that are not supported.
    fn coordinates(&mut self, info: &Item<'_>) -> Option<Coordinates> {
        let transform = info.extension("KHR_texture_transform");
        let set = transform
            .as_ref()
            .and_then(|t| t.whole("texCoord"))
            .or_else(|| info.whole("texCoord"))
            .unwrap_or(0);
        self.uv_sets |= 1 << set.min(31);
        if set > 1 {
            let message = "only texture coordinates of sets 0 and 1 are supported; the texture is left out";
            self.warnings.add(&info.at, message);
            return None;
        }
        let transform = transform.map_or_else(TextureTransform::default, |t| TextureTransform {
            offset: t.floats("offset").unwrap_or([0.0; 2]),
            rotation: t.number("rotation").unwrap_or(0.0),
            scale: t.floats("scale").unwrap_or([1.0; 2]),
        });
        Some(Coordinates { set: set as u32, transform })
    }

    fn sampler(&self, texture: usize) -> Sampler {
        let item = self.root.item("textures", texture).and_then(|t| t.index("sampler"));
        let Some(item) = item.and_then(|sampler| self.root.item("samplers", sampler)) else {
            return Sampler::default();
        };
        let wrap = |key: &str| match item.whole(key) {
            Some(33071) => Wrap::Clamp,
            Some(33648) => Wrap::Mirror,
            _ => Wrap::Repeat,
        };
        Sampler {
            wrap_u: wrap("wrapS"),
            wrap_v: wrap("wrapT"),
            nearest: item.whole("magFilter") == Some(9728),
        }
    }
}
