//! Images of textures, as linear values.

use crate::pixels::{Image, Pixels};
use lockstep_core::scene::Wrap;
use lockstep_core::scene::texture::SRGB_TO_LINEAR;

/// The texels of an image, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
enum Texels {
    /// RGBA in 8 bits; RGB is sRGB-encoded.
    Srgb(Vec<u8>),
    /// RGBA in 8 bits, linear.
    Bytes(Vec<u8>),
    /// RGBA, linear.
    Floats(Vec<[f32; 4]>),
}

/// An image.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Raster {
    pub(super) width: usize,
    pub(super) height: usize,
    texels: Texels,
}

/// How the bytes of an image stand for values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    Srgb,
    Linear,
    /// Values are powers of the bytes' fractions.
    Gamma(f32),
}

impl Raster {
    /// An image of linear values.
    pub(super) fn new(width: usize, height: usize, texels: Vec<[f32; 4]>) -> Self {
        Self { width, height, texels: Texels::Floats(texels) }
    }

    /// A file's image.
    pub(super) fn of_file(image: Image, encoding: Encoding) -> Self {
        match image {
            Image::Linear { width, height, rgba } => {
                let finite = |texel: [f32; 4]| texel.map(|v| if v.is_finite() { v } else { 0.0 });
                Self::new(width as usize, height as usize, rgba.into_iter().map(finite).collect())
            }
            Image::Encoded(Pixels { width, height, rgba }) => {
                let texels = match encoding {
                    Encoding::Srgb => Texels::Srgb(rgba),
                    Encoding::Linear => Texels::Bytes(rgba),
                    Encoding::Gamma(gamma) => {
                        let table: Vec<f32> =
                            (0..=255u8).map(|b| (f32::from(b) / 255.0).powf(gamma)).collect();
                        let of = |t: &[u8]| {
                            let [r, g, b] = [t[0], t[1], t[2]].map(|c| table[usize::from(c)]);
                            [r, g, b, f32::from(t[3]) / 255.0]
                        };
                        Texels::Floats(rgba.chunks_exact(4).map(of).collect())
                    }
                };
                Self { width: width as usize, height: height as usize, texels }
            }
        }
    }

    /// The linear RGBA of a texel.
    pub(super) fn texel(&self, index: usize) -> [f32; 4] {
        let byte = |bytes: &[u8], i: usize| f32::from(bytes[4 * index + i]) / 255.0;
        match &self.texels {
            Texels::Floats(texels) => texels[index],
            Texels::Bytes(bytes) => std::array::from_fn(|i| byte(bytes, i)),
            Texels::Srgb(bytes) => std::array::from_fn(|i| {
                if i < 3 { SRGB_TO_LINEAR[usize::from(bytes[4 * index + i])] } else { byte(bytes, 3) }
            }),
        }
    }

    /// Whether some texel is not opaque.
    pub(super) fn has_alpha(&self) -> bool {
        match &self.texels {
            Texels::Floats(texels) => texels.iter().any(|t| t[3] < 1.0),
            Texels::Bytes(bytes) | Texels::Srgb(bytes) => bytes.chunks_exact(4).any(|t| t[3] < 255),
        }
    }

    /// The image with every texel changed.
    pub(super) fn map(&self, change: impl Fn([f32; 4]) -> [f32; 4]) -> Self {
        let texels = (0..self.width * self.height).map(|i| change(self.texel(i))).collect();
        Self::new(self.width, self.height, texels)
    }

    /// The mean colour.
    pub(super) fn mean(&self) -> [f32; 3] {
        let count = self.width * self.height;
        let mut sum = [0.0f64; 3];
        for i in 0..count {
            let texel = self.texel(i);
            (0..3).for_each(|c| sum[c] += f64::from(texel[c]));
        }
        sum.map(|s| (s / count.max(1) as f64) as f32)
    }

    /// The largest component of any colour.
    pub(super) fn largest(&self) -> f32 {
        match &self.texels {
            Texels::Floats(texels) => texels.iter().flat_map(|t| &t[..3]).copied().fold(0.0, f32::max),
            Texels::Bytes(_) | Texels::Srgb(_) => 1.0,
        }
    }

    /// The interpolated, or nearest, colour at image coordinates; v grows downwards.
    pub(super) fn sample(&self, [u, v]: [f64; 2], wrap: Wrap, nearest: bool) -> [f32; 4] {
        let index = |i: i64, size: usize| -> usize {
            let n = size as i64;
            match wrap {
                Wrap::Clamp => i.clamp(0, n - 1) as usize,
                Wrap::Repeat => i.rem_euclid(n) as usize,
                Wrap::Mirror => {
                    let r = i.rem_euclid(2 * n);
                    (if r < n { r } else { 2 * n - 1 - r }) as usize
                }
            }
        };
        let load = |x: i64, y: i64| self.texel(index(y, self.height) * self.width + index(x, self.width));
        let (x, y) = (u * self.width as f64, v * self.height as f64);
        if nearest {
            return load(x.floor() as i64, y.floor() as i64);
        }
        let (x, y) = (x - 0.5, y - 0.5);
        let (column, row) = (x.floor() as i64, y.floor() as i64);
        let (fx, fy) = ((x - x.floor()) as f32, (y - y.floor()) as f32);
        let mut out = [0.0; 4];
        for (dx, dy, weight) in [
            (0, 0, (1.0 - fx) * (1.0 - fy)),
            (1, 0, fx * (1.0 - fy)),
            (0, 1, (1.0 - fx) * fy),
            (1, 1, fx * fy),
        ] {
            let texel = load(column.saturating_add(dx), row.saturating_add(dy));
            (0..4).for_each(|c| out[c] += weight * texel[c]);
        }
        out
    }

    /// RGBA in 8 bits, RGB sRGB-encoded or linear. Values beyond 1 are clamped.
    pub(super) fn to_bytes(&self, srgb: bool) -> Vec<u8> {
        match (&self.texels, srgb) {
            (Texels::Srgb(bytes), true) | (Texels::Bytes(bytes), false) => bytes.clone(),
            _ => {
                let linear = |v: f32| (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
                let encode = |v: f32| if srgb { encode_srgb(v) } else { linear(v) };
                let of = |i: usize| {
                    let [r, g, b, a] = self.texel(i);
                    [encode(r), encode(g), encode(b), linear(a)]
                };
                (0..self.width * self.height).flat_map(of).collect()
            }
        }
    }
}

/// The byte whose sRGB-encoded value is nearest to a linear one.
fn encode_srgb(v: f32) -> u8 {
    let table = &SRGB_TO_LINEAR;
    let after = table.partition_point(|&t| t < v);
    let before = after.saturating_sub(1);
    let after = after.min(255);
    (if v - table[before] < table[after] - v { before } else { after }) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_kept_and_floats_are_rounded_to_the_nearest_code() {
        for code in 0..=255u8 {
            assert_eq!(encode_srgb(SRGB_TO_LINEAR[usize::from(code)]), code);
        }
        assert_eq!((encode_srgb(-1.0), encode_srgb(7.0)), (0, 255));
        let rgba = vec![0, 100, 255, 128];
        let image = Image::Encoded(Pixels { width: 1, height: 1, rgba: rgba.clone() });
        let raster = Raster::of_file(image, Encoding::Srgb);
        assert_eq!(raster.to_bytes(true), rgba);
        assert_eq!(raster.map(|t| t).to_bytes(true), rgba);
        assert!(raster.has_alpha());
    }

    #[test]
    fn interpolation_is_that_of_the_scene() {
        let raster = Raster::new(2, 1, vec![[0.0; 4], [1.0; 4]]);
        let at = |u: f64, wrap| raster.sample([u, 0.5], wrap, false)[0];
        assert_eq!([at(0.25, Wrap::Repeat), at(0.5, Wrap::Repeat), at(0.75, Wrap::Repeat)], [0.0, 0.5, 1.0]);
        assert_eq!([at(0.0, Wrap::Repeat), at(0.0, Wrap::Clamp), at(0.0, Wrap::Mirror)], [0.5, 0.0, 0.0]);
        assert_eq!(raster.sample([1.1, 0.0], Wrap::Repeat, true)[0], 0.0);
    }
}
