//! Textures in memory: reduction on request, and how many images are decoded at a time.

use crate::access::FileAccess;
use crate::limits::{Limits, TEXEL_BYTES};
use crate::pixels::{Header, Image, Pixels, decode, decode_file, decode_into};
use lockstep_core::scene::texture::SRGB_TO_LINEAR;
use lockstep_core::scene::{ImageId, SceneBuilder};
use rayon::prelude::*;
use std::ops::Range;
use std::path::PathBuf;

/// The meaning of an image's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Colours in sRGB, whose mean is that of the light.
    Srgb,
    /// Numbers: roughness, normals, opacity.
    Linear,
}

impl Coding {
    /// The coding of a texture that is looked up as colours in sRGB, or as numbers.
    pub(crate) fn of(srgb: bool) -> Self {
        if srgb { Self::Srgb } else { Self::Linear }
    }
}

/// The size of an image of `width` by `height` once it is halved until no side is longer than `side`.
pub(crate) fn reduced_size(mut width: u32, mut height: u32, side: u32) -> (u32, u32) {
    while width.max(height) > side.max(1) {
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
    }
    (width, height)
}

/// The bytes that decoding and halving an image take at most beside its texels of the reduced size.
pub(crate) fn working_bytes(found: &Header, side: u32) -> u64 {
    if reduced_size(found.width, found.height, side) == (found.width, found.height) {
        return found.working_bytes;
    }
    // The image, and its half from which the next is made.
    let whole = found.texels().saturating_mul(TEXEL_BYTES);
    found.working_bytes.saturating_add(whole).saturating_add(whole / 4)
}

/// Decodes an image, halved until no side is longer than the limits say, into texels of its reduced size. The error is
/// a sentence.
pub(crate) fn fill(
    texels: &mut [u32],
    bytes: &[u8],
    found: &Header,
    coding: Coding,
    limits: &Limits,
) -> Result<(), String> {
    if texels.len() as u64 == found.texels() {
        return decode_into(bytes, found.format, limits, texels);
    }
    let pixels = decode(bytes, limits)?.reduced(limits.texture_side, coding);
    for (texel, rgba) in texels.iter_mut().zip(pixels.rgba.chunks_exact(4)) {
        *texel = u32::from_le_bytes([rgba[0], rgba[1], rgba[2], rgba[3]]);
    }
    Ok(())
}

/// Reads and decodes image files, a few at a time, so that not all are in memory before they are counted: `take` is
/// given the place of each among them and its texels. The error of an image is a sentence.
///
/// # Errors
/// Those of `take`.
pub(crate) fn decode_files(
    paths: &[PathBuf],
    access: &FileAccess<'_>,
    mut take: impl FnMut(usize, usize) -> lockstep_core::Result<()>,
) -> lockstep_core::Result<Vec<Result<Image, String>>> {
    let decode = |path: &PathBuf| {
        let bytes = access.read(path).map_err(|error| error.to_string())?;
        decode_file(&bytes, path, access.limits)
    };
    let mut images = Vec::with_capacity(paths.len());
    for some in paths.chunks(rayon::current_num_threads().max(1)) {
        for image in some.par_iter().map(decode).collect::<Vec<_>>() {
            image.as_ref().map_or(Ok(()), |image| take(images.len(), image.texels()))?;
            images.push(image);
        }
    }
    Ok(images)
}

/// Divides images into runs to be decoded together: at most `most` bytes beside their texels in a run, and at least one
/// image. The bound on memory does not depend on the number of threads.
pub(crate) fn batches(bytes: &[u64], most: u64) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut sum = 0u64;
    for (i, &bytes) in bytes.iter().enumerate() {
        sum = sum.saturating_add(bytes);
        match out.last_mut() {
            Some(run) if sum <= most => run.end = i + 1,
            _ => {
                out.push(i..i + 1);
                sum = bytes;
            }
        }
    }
    out
}

impl Pixels {
    /// Adds the image to a scene, halved until no side is longer than `side`.
    pub(crate) fn add_to(
        &self,
        builder: &mut SceneBuilder,
        side: u32,
        coding: Coding,
    ) -> lockstep_core::Result<ImageId> {
        if reduced_size(self.width, self.height, side) == (self.width, self.height) {
            return builder.image(self.width, self.height, &self.rgba);
        }
        let small = self.clone().reduced(side, coding);
        builder.image(small.width, small.height, &small.rgba)
    }

    /// The image, halved until no side is longer than `side`. A texel is the mean of two by two; the last column
    /// or row of an odd number is left out.
    pub(crate) fn reduced(self, side: u32, coding: Coding) -> Self {
        let size = reduced_size(self.width, self.height, side);
        let mut out = self;
        while (out.width, out.height) != size {
            out = out.halved(coding);
        }
        out
    }

    fn halved(&self, coding: Coding) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut rgba = Vec::with_capacity(4 * width as usize * height as usize);
        let texel = |x: u32, y: u32| {
            let (x, y) = (x.min(self.width - 1) as usize, y.min(self.height - 1) as usize);
            let at = 4 * (y * self.width as usize + x);
            self.rgba.get(at..at + 4).unwrap_or(&[0; 4])
        };
        for y in 0..height {
            for x in 0..width {
                let four = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| texel(2 * x + dx, 2 * y + dy));
                for channel in 0..4 {
                    let bytes = four.map(|texel| texel[channel]);
                    // Opacity is a number in colours too.
                    let coding = if channel == 3 { Coding::Linear } else { coding };
                    rgba.push(mean(bytes, coding));
                }
            }
        }
        Self { width, height, rgba }
    }
}

fn mean(bytes: [u8; 4], coding: Coding) -> u8 {
    match coding {
        Coding::Linear => ((bytes.map(u32::from).iter().sum::<u32>() + 2) / 4) as u8,
        Coding::Srgb => {
            let table = &SRGB_TO_LINEAR;
            nearest_code(bytes.map(|byte| table[usize::from(byte)]).iter().sum::<f32>() / 4.0)
        }
    }
}

/// The sRGB code whose light is nearest, by the decoding table: the same on every machine.
pub(crate) fn nearest_code(light: f32) -> u8 {
    let table = &SRGB_TO_LINEAR;
    let above = table.partition_point(|value| *value < light).min(255);
    let below = above.saturating_sub(1);
    let nearest = if light - table[below] < table[above] - light { below } else { above };
    nearest as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: u32, height: u32, of: impl Fn(u32, u32) -> u8) -> Pixels {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Pixels { width, height, rgba: places.flat_map(|(x, y)| [of(x, y); 4]).collect() }
    }

    #[test]
    fn sides_are_halved_until_none_is_longer() {
        let size = |width, height, side| reduced_size(width, height, side);
        assert_eq!([size(4096, 1024, 1024), size(1000, 600, 512)], [(1024, 256), (500, 300)]);
        assert_eq!([size(8, 1, 1), size(7, 3, 0), size(5, 5, u32::MAX)], [(1, 1), (1, 1), (5, 5)]);
        let image = grey(8, 3, |x, y| (x + y) as u8);
        let small = image.clone().reduced(4, Coding::Linear);
        assert_eq!((small.width, small.height, small.rgba.len()), (4, 1, 16));
        assert_eq!(image.clone().reduced(8, Coding::Srgb).rgba, image.rgba, "small enough already");
    }

    #[test]
    fn numbers_have_their_mean_and_colours_that_of_their_light() {
        let checker = grey(2, 2, |x, y| if (x + y) % 2 == 0 { 255 } else { 0 });
        assert_eq!(checker.clone().reduced(1, Coding::Linear).rgba, [128; 4]);
        // Half the light is the code 188; opacity is a number.
        assert_eq!(checker.reduced(1, Coding::Srgb).rgba, [188, 188, 188, 128]);
        for code in [0, 1, 77, 254, 255] {
            assert_eq!(grey(4, 4, |_, _| code).reduced(1, Coding::Srgb).rgba, [code; 4]);
        }
    }

    #[test]
    fn batches_hold_every_image_once_within_their_bound() {
        assert_eq!(batches(&[4, 4, 4, 9, 1], 8), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(batches(&[u64::MAX, u64::MAX, 0], 8), [0..1, 1..2, 2..3]);
        assert_eq!(batches(&[0, 3, 0, 5], 8).as_slice(), std::slice::from_ref(&(0..4)));
        assert!(batches(&[], 8).is_empty());
    }
}
