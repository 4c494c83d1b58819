//! Shading attributes of mesh vertices. The counterpart is `kernels/scene/vertex.h`.

use crate::math::vec3::{Vec3, vec3};
use bytemuck::{Pod, Zeroable};

/// Shading attributes of one mesh vertex; its position lives in [`crate::scene::SceneData::positions`] at the
/// same index.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// Unit normal in object space; zero asks for the geometric normal (flat shading).
    pub normal: Vec3,
    /// Red and green of [`Self::rgb`] as half floats, red lowest.
    pub red_green: u32,
    /// Unit tangent in object space (direction of increasing u); zero where there is no normal map.
    pub tangent: Vec3,
    /// Blue and alpha as half floats, blue lowest. Neither is negative: the sign bit of alpha is that of
    /// [`Self::tangent_sign`].
    pub blue_alpha: u32,
    /// Texture coordinates of set 0; v grows downwards in the image, as in glTF.
    pub uv0: [f32; 2],
    /// Texture coordinates of set 1.
    pub uv1: [f32; 2],
}

/// One as half float, twice.
const ONES: u32 = 0x3c00_3c00;
/// The sign of the bitangent in [`Vertex::blue_alpha`].
const SIGN: u32 = 0x8000_0000;
/// The largest half float.
const MAX_HALF: f32 = 65_504.0;

impl Vertex {
    /// White, without normal, tangent or texture coordinates.
    pub const PLAIN: Self = Self {
        normal: Vec3::ZERO,
        red_green: ONES,
        tangent: Vec3::ZERO,
        blue_alpha: ONES,
        uv0: [0.0; 2],
        uv1: [0.0; 2],
    };

    /// The vertex with a colour: linear RGB, which multiplies the base colour, and alpha. Each channel is
    /// limited to 0 to 65,504 and rounded to a half float, by at most 2^-11 of it or 2^-25.
    pub fn with_color(self, rgba: [f32; 4]) -> Self {
        let [red, green, blue, alpha] = rgba.map(to_half);
        let sign = self.blue_alpha & SIGN;
        Self { red_green: red | green << 16, blue_alpha: blue | alpha << 16 | sign, ..self }
    }

    /// The vertex with a tangent and the sign of its bitangent, `sign * cross(normal, tangent)`.
    pub fn with_tangent(self, tangent: Vec3, sign: f32) -> Self {
        Self { tangent, blue_alpha: (self.blue_alpha & !SIGN) | (sign.to_bits() & SIGN), ..self }
    }

    /// Linear RGB that multiplies the base colour.
    #[inline(always)]
    pub fn rgb(&self) -> Vec3 {
        vec3(half(self.red_green), half(self.red_green >> 16), half(self.blue_alpha))
    }

    /// Alpha that multiplies the material's.
    #[inline(always)]
    pub fn alpha(&self) -> f32 {
        half(self.blue_alpha >> 16)
    }

    /// +1 or -1: bitangent = sign * cross(normal, tangent).
    #[inline(always)]
    pub fn tangent_sign(&self) -> f32 {
        f32::from_bits(0x3f80_0000 | (self.blue_alpha & SIGN))
    }

    /// True when RGB is one.
    #[inline(always)]
    pub fn is_white(&self) -> bool {
        self.red_green == ONES && self.blue_alpha & 0xffff == ONES & 0xffff
    }
}

impl Default for Vertex {
    fn default() -> Self {
        Self::PLAIN
    }
}

/// The half float in the lowest 15 bits; their exponent is not the largest.
#[inline(always)]
fn half(bits: u32) -> f32 {
    let magnitude = bits & 0x7fff;
    if magnitude < 0x400 {
        // Subnormal: whole units of 2^-24
        return magnitude as f32 * (1.0 / 16_777_216.0);
    }
    f32::from_bits((magnitude << 13) + (112 << 23))
}

/// The nearest half float that is not negative, ties to even; NaN is zero.
fn to_half(v: f32) -> u32 {
    let v = if v > 0.0 { v.min(MAX_HALF) } else { 0.0 };
    if v < 1.0 / 16_384.0 {
        return (v * 16_777_216.0).round_ties_even() as u32;
    }
    let bits = v.to_bits() - (112 << 23);
    (bits + 0xfff + (bits >> 13 & 1)) >> 13
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_half_is_kept() {
        for bits in 0..0x7c00 {
            assert_eq!(to_half(half(bits)), bits);
        }
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0x7bff), MAX_HALF);
        assert_eq!(half(1), 2f32.powi(-24));
    }

    proptest! {
        #[test]
        fn colors_are_rounded_to_the_nearest_half(v in prop_oneof![0f32..1e-4, 0f32..2.0, 0f32..7e4]) {
            let found = f64::from(half(to_half(v)));
            let v = f64::from(v.min(MAX_HALF));
            prop_assert!((found - v).abs() <= (v / 2048.0).max(2f64.powi(-25)), "{} for {}", found, v);
        }
    }

    #[test]
    fn colour_and_sign_do_not_disturb_each_other() {
        let rgba = [0.0015, 0.005, 7.5, 0.25];
        for sign in [1.0, -1.0] {
            let a = Vertex::PLAIN.with_color(rgba).with_tangent(vec3(1.0, 0.0, 0.0), sign);
            let b = Vertex::PLAIN.with_tangent(vec3(1.0, 0.0, 0.0), sign).with_color(rgba);
            assert_eq!(a, b);
            assert_eq!((a.tangent_sign(), a.alpha(), a.rgb().z), (sign, 0.25, 7.5));
            assert!((a.rgb().x / 0.0015 - 1.0).abs() < 3e-4 && (a.rgb().y / 0.005 - 1.0).abs() < 3e-4);
            assert!(!a.is_white() && Vertex::PLAIN.with_tangent(Vec3::ZERO, sign).is_white());
        }
        let odd = Vertex::PLAIN.with_color([f32::NAN, -1.0, f32::INFINITY, 2.0]);
        assert_eq!((odd.rgb(), odd.alpha()), (vec3(0.0, 0.0, MAX_HALF), 2.0));
    }
}
