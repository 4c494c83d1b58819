//! PNG files of 16 bits a channel as RGBA of 8 bits, a row at a time: the whole image in 16 bits is never in memory.

use image::error::DecodingError;
use image::{ImageError, ImageFormat, ImageResult, Limits};
use png::{BitDepth, Decoder, Limits as PngLimits, Reader, Transformations};
use std::io::Cursor;

/// A file that can be decoded by rows.
pub(crate) struct WideRows<'a>(Reader<Cursor<&'a [u8]>>);

impl<'a> WideRows<'a> {
    /// The rows of a PNG file of 16 bits a channel; `None` for others and for interlaced ones.
    pub(crate) fn of(bytes: &'a [u8], format: ImageFormat, limits: &Limits) -> Option<Self> {
        if format != ImageFormat::Png {
            return None;
        }
        let most = limits.max_alloc.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX);
        let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), PngLimits { bytes: most });
        decoder.set_transformations(Transformations::EXPAND);
        let reader = decoder.read_info().ok()?;
        let is_wide = reader.output_color_type().1 == BitDepth::Sixteen;
        (is_wide && !reader.info().interlaced).then_some(Self(reader))
    }

    /// Decodes into RGBA of exactly the image's size.
    pub(crate) fn decode(mut self, rgba: &mut [u8]) -> ImageResult<()> {
        let channels = self.0.output_color_type().0.samples();
        let width = self.0.info().width as usize;
        let mut rows = rgba.chunks_exact_mut(4 * width.max(1));
        while let Some(row) = self.0.next_row().map_err(failed)? {
            let Some(out) = rows.next() else { continue };
            for (texel, samples) in out.chunks_exact_mut(4).zip(row.data().chunks_exact(2 * channels)) {
                let of = |channel: usize| nearest_byte([samples[2 * channel], samples[2 * channel + 1]]);
                let (rgb, alpha) = match channels {
                    1 => ([of(0); 3], 255),
                    2 => ([of(0); 3], of(1)),
                    3 => ([of(0), of(1), of(2)], 255),
                    _ => ([of(0), of(1), of(2)], of(3)),
                };
                texel.copy_from_slice(&[rgb[0], rgb[1], rgb[2], alpha]);
            }
        }
        Ok(())
    }
}

/// The code of 8 bits nearest to one of 16, as the image crate converts.
fn nearest_byte(bytes: [u8; 2]) -> u8 {
    ((u32::from(u16::from_be_bytes(bytes)) + 128) / 257) as u8
}

fn failed(error: png::DecodingError) -> ImageError {
    ImageError::Decoding(DecodingError::new(ImageFormat::Png.into(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{DynamicImage, ImageBuffer, Luma};

    #[test]
    fn every_code_of_16_bits_becomes_the_byte_that_the_image_crate_makes_of_it() {
        let all = ImageBuffer::from_fn(256, 256, |x, y| Luma([(y * 256 + x) as u16]));
        let bytes: Vec<u8> = DynamicImage::ImageLuma16(all).into_luma8().into_raw();
        let own: Vec<u8> = (0..=u16::MAX).map(|code| nearest_byte(code.to_be_bytes())).collect();
        assert_eq!(own, bytes);
    }
}
