//! Textures of any format decoded, and encoded as they are.

use crate::png_rows::WideRows;
use image::codecs::png::PngEncoder;
use image::error::{ParameterError, ParameterErrorKind};
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult};
use image::{Limits, RgbaImage};
use std::io::{self, Cursor};

/// Size of an image and the memory that decoding it takes, from its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Upper bound on the bytes that [`decode_rgba8`] takes beyond the file and the slice that it fills.
    pub working_bytes: u64,
}

/// An image's shape, from its header.
///
/// # Errors
/// The decoder's error, and its error about sizes beyond the limits.
pub fn shape(bytes: &[u8], format: ImageFormat, limits: Limits) -> ImageResult<Shape> {
    let is_by_rows = WideRows::of(bytes, format, &limits).is_some();
    let decoder = reader(bytes, format, limits).into_decoder()?;
    let (width, height) = decoder.dimensions();
    let texels = u64::from(width) * u64::from(height);
    // PNG is decoded row by row. A progressive JPEG keeps its coefficients, 2 bytes in at most 4 components, and WebP
    // planes of its own.
    let own = if format == ImageFormat::Png { 0 } else { texels.saturating_mul(8) };
    let is_converted = bytes_per_channel(&decoder) > 1 && !is_by_rows;
    let converted = if is_converted { decoder.total_bytes() } else { 0 };
    Ok(Shape { width, height, working_bytes: own.saturating_add(converted) })
}

/// Decodes an image to RGBA of 8 bits, row by row from the top, into a slice of exactly its size. Files of 8 bits a
/// channel are decoded in place.
///
/// # Errors
/// The decoder's error, its error about sizes beyond the limits, and one for a slice of another size.
pub fn decode_rgba8(bytes: &[u8], format: ImageFormat, limits: Limits, rgba: &mut [u8]) -> ImageResult<()> {
    let wide = WideRows::of(bytes, format, &limits);
    let decoder = reader(bytes, format, limits).into_decoder()?;
    let (width, height) = decoder.dimensions();
    let mismatch = || ImageError::Parameter(ParameterError::from_kind(ParameterErrorKind::DimensionMismatch));
    if rgba.len() as u64 != u64::from(width) * u64::from(height) * 4 {
        return Err(mismatch());
    }
    if let Some(wide) = wide {
        return wide.decode(rgba);
    }
    if bytes_per_channel(&decoder) > 1 {
        let image = DynamicImage::from_decoder(decoder)?;
        for (y, row) in (0..height).zip(rgba.chunks_exact_mut(4 * width as usize)) {
            row.copy_from_slice(&image.crop_imm(0, y, width, 1).into_rgba8());
        }
        return Ok(());
    }
    let channels = usize::from(decoder.color_type().channel_count());
    // At the end of the slice, texels are ahead of the place that each is spread to.
    let start = rgba.len() / 4 * (4 - channels);
    decoder.read_image(&mut rgba[start..])?;
    spread(rgba, channels);
    Ok(())
}

fn bytes_per_channel(decoder: &impl ImageDecoder) -> u8 {
    let color = decoder.color_type();
    color.bytes_per_pixel() / color.channel_count()
}

/// Makes RGBA from front to back of as many texels of fewer channels at the slice's end.
fn spread(rgba: &mut [u8], channels: usize) {
    let texels = rgba.len() / 4;
    let start = texels * (4 - channels);
    let mut each = |of: fn(&[u8]) -> [u8; 4]| {
        for i in 0..texels {
            let from = start + i * channels;
            let texel = of(&rgba[from..from + channels]);
            rgba[4 * i..4 * i + 4].copy_from_slice(&texel);
        }
    };
    match channels {
        1 => each(|t| [t[0], t[0], t[0], 255]),
        2 => each(|t| [t[0], t[0], t[0], t[1]]),
        3 => each(|t| [t[0], t[1], t[2], 255]),
        _ => {}
    }
}

/// Decodes an image.
///
/// # Errors
/// The decoder's error, and its error about sizes beyond the limits.
pub fn decode(bytes: &[u8], format: ImageFormat, limits: Limits) -> ImageResult<DynamicImage> {
    reader(bytes, format, limits).decode()
}

fn reader(bytes: &[u8], format: ImageFormat, limits: Limits) -> ImageReader<Cursor<&[u8]>> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    reader
}

/// Encodes RGBA of 8 bits, row by row from the top, as PNG.
///
/// # Errors
/// The encoder's error, and `InvalidInput` for bytes that do not fit the size.
pub fn encode_png_rgba8((width, height): (u32, u32), bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let mismatch = || io::Error::new(io::ErrorKind::InvalidInput, "its size does not fit its pixels");
    let image = RgbaImage::from_vec(width, height, bytes).ok_or_else(mismatch)?;
    let mut png = Vec::new();
    image.write_with_encoder(PngEncoder::new(&mut png)).map_err(io::Error::other)?;
    Ok(png)
}
