//! Textures of any format decoded, and encoded as they are.

use image::codecs::openexr::OpenExrEncoder;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, ImageFormat, ImageReader, ImageResult, Limits, Rgb32FImage, RgbaImage};
use std::io::{self, Cursor};

/// Width and height in pixels, from an image's header.
///
/// # Errors
/// The decoder's error, and its error about sizes beyond the limits.
pub fn dimensions(bytes: &[u8], format: ImageFormat, limits: Limits) -> ImageResult<(u32, u32)> {
    reader(bytes, format, limits).into_dimensions()
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
    let image = RgbaImage::from_vec(width, height, bytes).ok_or_else(size_mismatch)?;
    let mut png = Vec::new();
    image.write_with_encoder(PngEncoder::new(&mut png)).map_err(io::Error::other)?;
    Ok(png)
}

/// Encodes linear RGB, row by row from the top, as OpenEXR.
///
/// # Errors
/// The encoder's error, and `InvalidInput` for values that do not fit the size.
pub fn encode_exr_rgb32f((width, height): (u32, u32), values: Vec<f32>) -> io::Result<Vec<u8>> {
    let image = Rgb32FImage::from_vec(width, height, values).ok_or_else(size_mismatch)?;
    let mut exr = Cursor::new(Vec::new());
    image.write_with_encoder(OpenExrEncoder::new(&mut exr)).map_err(io::Error::other)?;
    Ok(exr.into_inner())
}

fn size_mismatch() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "its size does not fit its pixels")
}
