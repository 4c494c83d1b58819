//! `KHR_materials_pbrSpecularGlossiness`, converted to metallic-roughness.
//!
//! A diffuse and a specular colour become the base colour and metalness under which a dielectric of F0 = 0.04 and a metal
//! mix to nearly the same pair: Khronos, *glTF*, examples/convert-between-workflows. Textures are converted texel by
//! texel, to 8 bits a channel.

use super::json::Item;
use crate::pixels::Pixels;
use crate::textures::nearest_code;
use lockstep_core::scene::texture::SRGB_TO_LINEAR;

/// The reflectance of a dielectric at normal incidence, that of an index of 1.5.
const DIELECTRIC: f64 = 0.04;

/// Smallest divisor.
const EPSILON: f64 = 1e-6;

/// The factors of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factors {
    pub(super) diffuse: [f32; 3],
    pub(super) alpha: f32,
    pub(super) specular: [f32; 3],
    pub(super) glossiness: f32,
}

impl Factors {
    /// The factors of the extension's object.
    pub(super) fn of(item: &Item<'_>) -> Self {
        let [r, g, b, alpha] = item.floats("diffuseFactor").unwrap_or([1.0; 4]);
        Self {
            diffuse: [r, g, b],
            alpha,
            specular: item.floats("specularFactor").unwrap_or([1.0; 3]),
            glossiness: item.number("glossinessFactor").unwrap_or(1.0),
        }
    }
}

/// A surface of the other workflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Converted {
    pub(super) base_color: [f32; 3],
    pub(super) metallic: f32,
    pub(super) roughness: f32,
}

/// Converts linear colours.
pub(super) fn convert(diffuse: [f32; 3], specular: [f32; 3], glossiness: f32) -> Converted {
    let [diffuse, specular] = [diffuse, specular].map(|color| color.map(f64::from));
    let left = 1.0 - specular.into_iter().fold(0.0, f64::max);
    let metallic = metallic(brightness(diffuse), brightness(specular), left);
    let base_color = std::array::from_fn(|i| {
        let of_dielectric = diffuse[i] * (left / (1.0 - DIELECTRIC) / (1.0 - metallic).max(EPSILON));
        let of_metal = (specular[i] - DIELECTRIC * (1.0 - metallic)) / metallic.max(EPSILON);
        let share = metallic * metallic;
        (of_dielectric * (1.0 - share) + of_metal * share).clamp(0.0, 1.0) as f32
    });
    Converted { base_color, metallic: metallic as f32, roughness: 1.0 - glossiness }
}

/// Perceived brightness of a colour.
fn brightness([r, g, b]: [f64; 3]) -> f64 {
    (0.299 * r * r + 0.587 * g * g + 0.114 * b * b).sqrt()
}

/// The metalness under which both brightnesses result: a root of a quadratic equation.
fn metallic(diffuse: f64, specular: f64, left: f64) -> f64 {
    if specular < DIELECTRIC {
        return 0.0;
    }
    let b = diffuse * left / (1.0 - DIELECTRIC) + specular - 2.0 * DIELECTRIC;
    let c = DIELECTRIC - specular;
    let discriminant = (b * b - 4.0 * DIELECTRIC * c).max(0.0);
    ((discriminant.sqrt() - b) / (2.0 * DIELECTRIC)).clamp(0.0, 1.0)
}

/// Converts the images of a material, of which one at least is there: base colour with alpha in sRGB, and roughness and
/// metalness in the green and blue of the other. Their size is the larger of both sides.
pub(super) fn convert_images(
    factors: &Factors,
    diffuse: Option<&Pixels>,
    specular_glossiness: Option<&Pixels>,
) -> [Pixels; 2] {
    let sizes = || [diffuse, specular_glossiness].into_iter().flatten();
    let width = sizes().map(|p| p.width).max().unwrap_or(1);
    let height = sizes().map(|p| p.height).max().unwrap_or(1);
    let texels = 4 * width as usize * height as usize;
    let (mut color, mut rough) = (Vec::with_capacity(texels), Vec::with_capacity(texels));
    let linear = |code: u8| SRGB_TO_LINEAR[usize::from(code)];
    for y in 0..height {
        for x in 0..width {
            let texel =
                |image: Option<&Pixels>| image.map_or([255; 4], |i| nearest(i, [x, y], [width, height]));
            let ([r, g, b, alpha], [sr, sg, sb, gloss]) = (texel(diffuse), texel(specular_glossiness));
            let scaled = |codes: [u8; 3], factor: [f32; 3]| -> [f32; 3] {
                std::array::from_fn(|i| linear(codes[i]) * factor[i])
            };
            let found = convert(
                scaled([r, g, b], factors.diffuse),
                scaled([sr, sg, sb], factors.specular),
                f32::from(gloss) / 255.0 * factors.glossiness,
            );
            color.extend(found.base_color.map(nearest_code));
            color.push(alpha);
            rough.extend([255, unorm(found.roughness), unorm(found.metallic), 255]);
        }
    }
    [Pixels { width, height, rgba: color }, Pixels { width, height, rgba: rough }]
}

/// The texel of an image at the place of a texel of a larger one.
fn nearest(image: &Pixels, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> [u8; 4] {
    let scaled = |at: u32, own: u32, other: u32| (u64::from(at) * u64::from(own) / u64::from(other)) as usize;
    let (x, y) = (scaled(x, image.width, width), scaled(y, image.height, height));
    let at = 4 * (y * image.width as usize + x);
    image.rgba.get(at..at + 4).and_then(|t| t.try_into().ok()).unwrap_or([255; 4])
}

fn unorm(value: f32) -> u8 {
    (value * 255.0 + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: [f32; 3], b: [f32; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-3)
    }

    #[test]
    fn dielectrics_and_metals_of_the_other_workflow_come_back() {
        // A dielectric reflects 0.04 and the rest is diffuse.
        let plastic = convert([0.5, 0.3, 0.1], [0.04; 3], 0.7);
        assert!(plastic.metallic < 1e-3 && close(plastic.base_color, [0.5, 0.3, 0.1]), "{plastic:?}");
        assert!((plastic.roughness - 0.3).abs() < 1e-6);
        // A metal has no diffuse part.
        let gold = convert([0.0; 3], [1.0, 0.77, 0.34], 1.0);
        assert_eq!((gold.metallic, gold.base_color, gold.roughness), (1.0, [1.0, 0.77, 0.34], 0.0));
        // Less than a dielectric reflects: still one.
        assert_eq!(convert([0.2; 3], [0.0; 3], 0.0).metallic, 0.0);
    }

    #[test]
    fn a_mixture_is_the_one_that_makes_its_pair() {
        // Metallic-roughness of grey g and metalness m: diffuse g (1 - 0.04) (1 - m) / (1 - F0), specular mixed.
        for (grey, m) in [(0.5f32, 0.3f32), (0.8, 0.6), (0.3, 0.9)] {
            let specular = 0.04 * (1.0 - m) + grey * m;
            let diffuse = grey * 0.96 * (1.0 - m) / (1.0 - specular);
            let found = convert([diffuse; 3], [specular; 3], 0.5);
            assert!((found.metallic - m).abs() < 0.02, "{grey} {m}: {found:?}");
            assert!(close(found.base_color, [grey; 3]), "{grey} {m}: {found:?}");
        }
    }

    #[test]
    fn images_are_converted_texel_by_texel_at_the_larger_size() {
        let factors = Factors { diffuse: [1.0; 3], alpha: 1.0, specular: [1.0; 3], glossiness: 0.5 };
        let diffuse = Pixels { width: 2, height: 1, rgba: vec![188, 188, 188, 255, 0, 0, 0, 128] };
        // F0 of 0.0395, and white with no gloss.
        let other =
            Pixels { width: 2, height: 2, rgba: [[56, 56, 56, 255], [255, 255, 255, 0]].repeat(2).concat() };
        let [color, rough] = convert_images(&factors, Some(&diffuse), Some(&other));
        assert_eq!((color.width, color.height), (2, 2));
        assert!(color.rgba[0].abs_diff(188) <= 1 && color.rgba[3] == 255, "{:?}", color.rgba);
        assert_eq!(&color.rgba[4..8], [255, 255, 255, 128]);
        assert_eq!(&rough.rgba[..8], [255, 128, 0, 255, 255, 255, 255, 255]);
        assert_eq!(&rough.rgba[..8], &rough.rgba[8..]);
    }
}
