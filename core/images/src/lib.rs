//! Images between files and linear RGB.
//!
//! Inside Lockstep an image is linear radiance in f32, red, green and blue with the primaries of sRGB, row by
//! row from the top. Written as `.exr` it keeps every bit; written as `.png` it is encoded by the transfer
//! function of [`srgb`] and quantised to 8 bits. A [`Tone`] curve is applied on request alone.
//!
//! Decoders are generic over what they read from, so that every crate that calls one compiles a copy of its own. This
//! crate has the one copy: [`codecs`] decodes and encodes textures for the loaders and exports of scenes.

mod atomic;
mod boxes;
pub mod codecs;
mod exr_header;
mod hashed;
mod layers;
mod name;
mod pfm;
mod png_rows;
mod precision;
mod read;
mod source;
pub mod srgb;
mod tone;
mod write;

pub use atomic::{AtomicFile, WriteError, atomic_write, atomic_write_text};
pub use boxes::{half_bytes, reduce_rgb8};
pub use hashed::{CheckedImage, ImageEntries, read_hashed_exr, write_hashed_exr, write_hashed_png};
pub use layers::{Layer, LayerKind};
pub use name::{ImageKind, ImageName, decode_name, encode_name, is_map_name, p_map_name};
pub use precision::Precision;
pub use read::{
    Srgb8Image, read_exr_metadata, read_image, read_image_limited, read_layers, read_png_metadata, read_srgb8,
};
pub use source::{ReadError, ReadLimits};
pub use tone::Tone;
pub use write::{ImageMetadata, encode_png, encode_png_rgb8, write_exr, write_image, write_png};

/// A linear RGB image. Images are equal where their values are, however they were stored.
#[derive(Debug, Clone)]
pub struct LinearImage {
    width: u32,
    height: u32,
    data: Vec<[f32; 3]>,
    precision: Precision,
    alpha: Option<Vec<f32>>,
}

impl PartialEq for LinearImage {
    fn eq(&self, other: &Self) -> bool {
        (self.width, self.height) == (other.width, other.height) && self.data == other.data
    }
}

/// The number of pixels given for an image is not its width times its height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an image of {width}×{height} has {expected} pixels, {given} were given", expected = u64::from(*width) * u64::from(*height))]
pub struct SizeMismatch {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pixels given.
    pub given: usize,
}

impl LinearImage {
    /// An image from its pixels, row by row from the top, each red, green, blue.
    ///
    /// # Errors
    /// [`SizeMismatch`] when `data` does not have `width × height` elements.
    pub fn new(width: u32, height: u32, data: Vec<[f32; 3]>) -> Result<Self, SizeMismatch> {
        if data.len() as u64 == u64::from(width) * u64::from(height) {
            Ok(Self { width, height, data, precision: Precision::Float, alpha: None })
        } else {
            Err(SizeMismatch { width, height, given: data.len() })
        }
    }

    /// An image whose pixel at column `x` from the left and row `y` from the top is `pixel(x, y)`.
    pub fn from_fn(width: u32, height: u32, mut pixel: impl FnMut(u32, u32) -> [f32; 3]) -> Self {
        let data =
            (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect();
        Self { width, height, data, precision: Precision::Float, alpha: None }
    }

    /// The image, as read from a file of this precision.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The image with an alpha for each pixel, row by row from the top. It belongs to the image as its file
    /// tells, and changes no value.
    #[must_use]
    pub fn with_alpha(self, alpha: Vec<f32>) -> Self {
        Self { alpha: Some(alpha).filter(|alpha| alpha.len() == self.data.len()), ..self }
    }

    /// The alpha of every pixel, where the file has one.
    pub fn alpha(&self) -> Option<&[f32]> {
        self.alpha.as_deref()
    }

    /// The precision of the file that the image was read from; [`Precision::Float`] for one that was not.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The image with every value multiplied.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        let data = self.data.iter().map(|pixel| pixel.map(|value| value * factor)).collect();
        Self { data, ..self.clone() }
    }

    /// The part from a column and row on, of this width and height or up to the image's end.
    #[must_use]
    pub fn cut(&self, (left, top): (u32, u32), (width, height): (u32, u32)) -> Self {
        let (width, height) =
            (width.min(self.width.saturating_sub(left)), height.min(self.height.saturating_sub(top)));
        let pixels = || {
            let of_row = move |y: u32| {
                let first = y as usize * self.width as usize + left as usize;
                first..first + width as usize
            };
            (top..top + height).flat_map(of_row)
        };
        let alpha = self.alpha.as_ref().map(|alpha| pixels().map(|i| alpha[i]).collect());
        Self {
            width,
            height,
            data: pixels().map(|i| self.data[i]).collect(),
            precision: self.precision,
            alpha,
        }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Pixels row by row from the top.
    pub fn pixels(&self) -> &[[f32; 3]] {
        &self.data
    }

    /// Whether every value is finite.
    pub fn is_finite(&self) -> bool {
        self.not_finite().is_none()
    }

    /// How many pixels have a value that is not finite, and the column and row of the first of them.
    pub fn not_finite(&self) -> Option<(usize, [u32; 2])> {
        let is_bad = |pixel: &[f32; 3]| pixel.iter().any(|value| !value.is_finite());
        let first = self.data.iter().position(is_bad)?;
        Some((self.data.iter().filter(|pixel| is_bad(pixel)).count(), self.place(first)))
    }

    /// Pixels of which any value is unequal, of two images of one size.
    pub fn pixels_differing(&self, other: &Self) -> u64 {
        self.data.iter().zip(&other.data).filter(|(a, b)| a != b).count() as u64
    }

    /// Column and row of the pixel with the greatest sum of absolute differences over its channels.
    pub fn most_different_pixel(&self, other: &Self) -> [u32; 2] {
        let difference =
            |(p, q): (&[f32; 3], &[f32; 3])| -> f32 { p.iter().zip(q).map(|(x, y)| (x - y).abs()).sum() };
        let all = self.data.iter().zip(&other.data).map(difference).enumerate();
        self.place(all.max_by(|x, y| x.1.total_cmp(&y.1)).map_or(0, |(index, _)| index))
    }

    /// The mean of images of one size; a value that is not finite in any of them is not finite in it. `None` without
    /// images.
    pub fn mean_of(images: &[&Self]) -> Option<Self> {
        if let [only] = images {
            return Some((*only).clone());
        }
        let first = images.first()?;
        let scale = 1.0 / images.len() as f64;
        let mean = |pixel: usize, channel: usize| {
            let sum: f64 = images.iter().map(|image| f64::from(image.data[pixel][channel])).sum();
            (sum * scale) as f32
        };
        let data = (0..first.data.len()).map(|pixel| std::array::from_fn(|channel| mean(pixel, channel)));
        let data = data.collect();
        Some(Self {
            width: first.width,
            height: first.height,
            data,
            precision: Precision::Float,
            alpha: None,
        })
    }

    /// Column and row of a pixel by its index.
    fn place(&self, index: usize) -> [u32; 2] {
        let (index, width) = (index as u32, self.width.max(1));
        [index % width, index / width]
    }

    /// The image as 8-bit sRGB, three bytes a pixel, row by row from the top. NaN becomes 0.
    pub fn to_srgb8(&self) -> Vec<u8> {
        self.data.iter().flat_map(|pixel| pixel.map(srgb::encode8)).collect()
    }
}
