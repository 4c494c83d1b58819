//! Texture lookup. The counterpart is `kernels/scene/texture.h`.

use crate::math::vec3::{Vec3, vec3};
use crate::math::{clamp, floor_to_i32, fract};
use crate::scene::{SceneData, Texture, Vertex, Wrap};

/// Linear value of each sRGB-encoded byte (IEC 61966-2-1). Made by the compiler; devices get a copy.
pub static SRGB_TO_LINEAR: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut i = 0;
    while i < table.len() {
        let c = i as f64 / 255.0;
        table[i] = if c <= 0.04045 { c / 12.92 } else { power_2_4((c + 0.055) / 1.055) } as f32;
        i += 1;
    }
    table
};

/// `x` to the power of 2.4, for `x` from 0.01 to 1: its square times the fifth root of its square, by Newton's method
/// from above.
const fn power_2_4(x: f64) -> f64 {
    let square = x * x;
    let mut root = 1.0;
    let mut step = 0;
    while step < 24 {
        let fourth = root * root * root * root;
        root -= (root * fourth - square) / (5.0 * fourth);
        step += 1;
    }
    square * root
}

/// Red, green, blue and alpha of a lookup, linear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rgba {
    /// Linear colour.
    pub rgb: Vec3,
    /// Alpha.
    pub a: f32,
}

/// A byte of a texel as a fraction.
#[inline(always)]
fn unorm(texel: u32, shift: u32) -> f32 {
    (texel >> shift & 255) as f32 * (1.0 / 255.0)
}

/// The colour of a texel under a texture's flags.
#[inline(always)]
pub fn texel_rgb(texel: u32, flags: u32) -> Vec3 {
    if flags & Texture::SRGB != 0 {
        let table = &SRGB_TO_LINEAR;
        vec3(
            table[(texel & 255) as usize],
            table[(texel >> 8 & 255) as usize],
            table[(texel >> 16 & 255) as usize],
        )
    } else {
        vec3(unorm(texel, 0), unorm(texel, 8), unorm(texel, 16))
    }
}

/// Column or row of a texel index that may lie outside the image.
#[inline(always)]
pub fn wrap_index(i: i32, size: u32, wrap: u32) -> u32 {
    // Nearly all indices lie inside, and remainders take a division.
    if (i as u32) < size {
        return i as u32;
    }
    let n = size as i32;
    if wrap == Wrap::Clamp as u32 {
        return i.clamp(0, n - 1) as u32;
    }
    if wrap == Wrap::Repeat as u32 {
        let r = i % n;
        return (if r < 0 { r + n } else { r }) as u32;
    }
    let period = 2 * n;
    let r = i % period;
    let r = if r < 0 { r + period } else { r };
    (if r < n { r } else { period - 1 - r }) as u32
}

/// Brings a coordinate into the range where its texel index fits 24 bits, without changing the texel it
/// addresses.
#[inline(always)]
pub fn wrap_coordinate(u: f32, wrap: u32) -> f32 {
    if wrap == Wrap::Clamp as u32 {
        clamp(u, -1.0, 2.0)
    } else if wrap == Wrap::Repeat as u32 {
        fract(u)
    } else {
        2.0 * fract(0.5 * u)
    }
}

/// Texture coordinates of set 0 or 1, interpolated with barycentrics `(w, u, v)` and transformed.
#[inline(always)]
pub fn coordinates(texture: &Texture, vertices: [&Vertex; 3], b: [f32; 3]) -> [f32; 2] {
    let second = texture.flags & Texture::UV_SET_1 != 0;
    let of = |i: usize| if second { vertices[i].uv1 } else { vertices[i].uv0 };
    let (p, q, r) = (of(0), of(1), of(2));
    let u = p[0] * b[0] + q[0] * b[1] + r[0] * b[2];
    let v = p[1] * b[0] + q[1] * b[1] + r[1] * b[2];
    let m = &texture.transform;
    [m[0][0] * u + m[0][1] * v + m[0][2], m[1][0] * u + m[1][1] * v + m[1][2]]
}

/// The texel at a column and a row that may lie outside the image.
#[inline(always)]
fn load(scene: &SceneData, texture: &Texture, column: i32, row: i32) -> Rgba {
    let column = wrap_index(column, texture.width, texture.flags & 3);
    let row = wrap_index(row, texture.height, texture.flags >> 2 & 3);
    let texel = scene.texels[(texture.first_texel + row * texture.width + column) as usize];
    Rgba { rgb: texel_rgb(texel, texture.flags), a: unorm(texel, 24) }
}

/// The texture's value at transformed coordinates.
#[inline(always)]
pub fn sample(scene: &SceneData, texture: &Texture, uv: [f32; 2]) -> Rgba {
    let wrap_u = texture.flags & 3;
    let wrap_v = texture.flags >> 2 & 3;
    let x = wrap_coordinate(uv[0], wrap_u) * texture.width as f32;
    let y = wrap_coordinate(uv[1], wrap_v) * texture.height as f32;
    if texture.flags & Texture::NEAREST != 0 {
        return load(scene, texture, floor_to_i32(x), floor_to_i32(y));
    }
    // Interpolate between the four texel centres around the point.
    let x = x - 0.5;
    let y = y - 0.5;
    let column = floor_to_i32(x);
    let row = floor_to_i32(y);
    let fx = x - column as f32;
    let fy = y - row as f32;
    let t00 = load(scene, texture, column, row);
    let t10 = load(scene, texture, column + 1, row);
    let t01 = load(scene, texture, column, row + 1);
    let t11 = load(scene, texture, column + 1, row + 1);
    let w00 = (1.0 - fx) * (1.0 - fy);
    let w10 = fx * (1.0 - fy);
    let w01 = (1.0 - fx) * fy;
    let w11 = fx * fy;
    Rgba {
        rgb: t00.rgb * w00 + t10.rgb * w10 + t01.rgb * w01 + t11.rgb * w11,
        a: t00.a * w00 + t10.a * w10 + t01.a * w01 + t11.a * w11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Sampler, SceneBuilder, TextureTransform};

    fn checker(nearest: bool, wrap: Wrap) -> (crate::Scene, Texture) {
        let mut b = SceneBuilder::new("t");
        let pixels = [[255, 0, 0, 255], [0, 255, 0, 0], [0, 0, 255, 255], [255, 255, 255, 128]];
        let image = b.image(2, 2, &pixels.concat()).unwrap();
        let sampler = Sampler { wrap_u: wrap, wrap_v: wrap, nearest };
        b.texture(image, false, sampler, 0, TextureTransform::default());
        let scene = b.build().unwrap();
        let texture = scene.textures[0];
        (scene, texture)
    }

    #[test]
    fn texel_centres_return_their_texel() {
        for nearest in [false, true] {
            let (scene, texture) = checker(nearest, Wrap::Repeat);
            assert_eq!(sample(&scene, &texture, [0.25, 0.25]).rgb, vec3(1.0, 0.0, 0.0));
            assert_eq!(sample(&scene, &texture, [0.75, 0.25]), Rgba { rgb: vec3(0.0, 1.0, 0.0), a: 0.0 });
            assert_eq!(sample(&scene, &texture, [-0.75, 1.75]).rgb, vec3(0.0, 0.0, 1.0));
        }
    }

    #[test]
    fn edges_follow_the_wrap_mode() {
        let at = |wrap, u| {
            let (scene, texture) = checker(true, wrap);
            sample(&scene, &texture, [u, 0.25]).rgb
        };
        let (red, green) = (vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0));
        assert_eq!(at(Wrap::Clamp, -7.0), red);
        assert_eq!(at(Wrap::Clamp, 9.0), green);
        assert_eq!(at(Wrap::Repeat, 1.25), red);
        assert_eq!(at(Wrap::Mirror, 1.25), green);
        assert_eq!(at(Wrap::Mirror, -0.25), red);
    }

    #[test]
    fn any_coordinate_is_safe() {
        for wrap in [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror] {
            let (scene, texture) = checker(false, wrap);
            for u in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, -1e-10, 0.999_999_94, -0.0] {
                assert!(sample(&scene, &texture, [u, u]).a >= 0.0);
            }
        }
    }

    #[test]
    fn srgb_table_is_frozen() {
        // A table of other bits would render other films than the goldens.
        let hash = blake3::hash(bytemuck::cast_slice(&SRGB_TO_LINEAR[..])).to_hex().to_string();
        assert_eq!(&hash[..16], "aca7139e80ed9838");
    }
}
