//! Decoding of image files within limits.

use crate::limits::Limits;
use image::{ImageFormat, ImageReader};
use std::io::Cursor;

/// RGBA, 8 bits a channel, row by row from the top.
#[derive(Clone, Debug)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgba: Vec<u8>,
}

/// Linear RGB in floats, row by row from the top.
#[derive(Clone, Debug)]
pub(crate) struct RadiancePixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgb: Vec<[f32; 3]>,
}

/// Format and size from an image's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) format: ImageFormat,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Header {
    pub(crate) fn texels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// The identifier that KTX 2.0 files begin with (Khronos, *KTX File Format Specification*, 2.0).
const KTX2: [u8; 12] = *b"\xabKTX 20\xbb\r\n\x1a\n";

/// Reads an image's format and size, and refuses sizes beyond the limits. The error is a sentence.
pub(crate) fn header(bytes: &[u8], limits: &Limits) -> Result<Header, String> {
    if bytes.starts_with(&KTX2) {
        return Err("KTX2 images are not supported; convert it to PNG or JPEG".into());
    }
    let format =
        image::guess_format(bytes).map_err(|_| "the image's format is not recognised".to_string())?;
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(decoder_limits(limits));
    let (width, height) = reader.into_dimensions().map_err(|e| format!("the image is damaged: {e}"))?;
    let found = Header { format, width, height };
    if width > limits.image_side || height > limits.image_side || found.texels() > limits.image_texels {
        return Err(format!(
            "an image of {width}x{height} is too large; at most {0}x{0} and {1} texels are read",
            limits.image_side, limits.image_texels
        ));
    }
    Ok(found)
}

/// Decodes an image to 8 bits a channel. The error is a sentence.
pub(crate) fn decode(bytes: &[u8], limits: &Limits) -> Result<Pixels, String> {
    let image = open(bytes, limits)?.into_rgba8();
    Ok(Pixels { width: image.width(), height: image.height(), rgba: image.into_raw() })
}

/// Decodes an image to linear radiance; 8 and 16 bit images are taken as sRGB. The error is a sentence.
pub(crate) fn decode_radiance(bytes: &[u8], limits: &Limits) -> Result<RadiancePixels, String> {
    let encoded = !matches!(header(bytes, limits)?.format, ImageFormat::Hdr | ImageFormat::OpenExr);
    let (width, height, rgb): (u32, u32, Vec<[f32; 3]>) = if encoded {
        let image = open(bytes, limits)?.into_rgb8();
        let table = &*lockstep_core::scene::texture::SRGB_TO_LINEAR;
        (image.width(), image.height(), image.pixels().map(|p| p.0.map(|c| table[usize::from(c)])).collect())
    } else {
        let image = open(bytes, limits)?.into_rgb32f();
        (image.width(), image.height(), image.pixels().map(|p| p.0).collect())
    };
    // Half-float files hold infinities for suns and small negative numbers from resampling.
    let rgb =
        rgb.into_iter().map(|p| p.map(|v| if v.is_nan() { 0.0 } else { v.clamp(0.0, 65_504.0) })).collect();
    Ok(RadiancePixels { width, height, rgb })
}

fn open(bytes: &[u8], limits: &Limits) -> Result<image::DynamicImage, String> {
    let found = header(bytes, limits)?;
    let mut reader = ImageReader::with_format(Cursor::new(bytes), found.format);
    reader.limits(decoder_limits(limits));
    reader.decode().map_err(|e| format!("the image is damaged: {e}"))
}

fn decoder_limits(limits: &Limits) -> image::Limits {
    let mut out = image::Limits::default();
    out.max_image_width = Some(limits.image_side);
    out.max_image_height = Some(limits.image_side);
    out.max_alloc = Some(limits.image_texels.saturating_mul(16));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgba);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&vec![200; (width * height * 4) as usize]).unwrap();
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn images_are_decoded_to_rgba() {
        let pixels = decode(&png(3, 2), &Limits::default()).unwrap();
        assert_eq!((pixels.width, pixels.height, pixels.rgba), (3, 2, vec![200; 24]));
    }

    #[test]
    fn large_images_are_refused_from_their_header() {
        let limits = Limits { image_side: 8, ..Limits::default() };
        assert!(decode(&png(9, 1), &limits).is_err());
        assert!(decode(&png(8, 8), &limits).is_ok());
        assert!(
            decode(&png(8, 8), &Limits { image_texels: 63, ..limits }).unwrap_err().contains("too large")
        );
    }

    #[test]
    fn what_is_no_image_is_refused() {
        assert!(decode(b"", &Limits::default()).is_err());
        assert!(decode(b"hello, world", &Limits::default()).is_err());
        assert!(decode(&KTX2, &Limits::default()).unwrap_err().contains("KTX2"));
        assert!(decode(&png(8, 8)[..40], &Limits::default()).is_err());
    }
}
