//! Decoding of image files within limits.

use crate::limits::{FLOAT_TEXEL_BYTES, Limits, TEXEL_BYTES};
use crate::pfm::{self, is_pfm};
use image::ImageFormat;
use lockstep_images::codecs;
use std::path::Path;

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

/// A decoded image file.
#[derive(Clone, Debug)]
pub(crate) enum Image {
    /// 8 or 16 bits a channel: RGBA in 8 bits, sRGB-encoded unless the scene says otherwise.
    Encoded(Pixels),
    /// Floating point: linear RGBA, row by row from the top; any value that the file has.
    Linear {
        /// Texels a row.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Texels; alpha is 1 where the file has none.
        rgba: Vec<[f32; 4]>,
    },
}

impl Image {
    /// Texels in memory.
    pub(crate) fn texels(&self) -> usize {
        match self {
            Self::Encoded(pixels) => pixels.rgba.len() / 4,
            Self::Linear { rgba, .. } => rgba.len(),
        }
    }

    /// Linear radiance: 8-bit images are taken as sRGB, and values are limited to what a half float holds.
    pub(crate) fn into_radiance(self) -> RadiancePixels {
        match self {
            Self::Encoded(Pixels { width, height, rgba }) => {
                let table = &lockstep_core::scene::texture::SRGB_TO_LINEAR;
                let linear = |t: &[u8]| [t[0], t[1], t[2]].map(|c| table[usize::from(c)]);
                RadiancePixels { width, height, rgb: rgba.chunks_exact(4).map(linear).collect() }
            }
            Self::Linear { width, height, rgba } => {
                let rgb = rgba.into_iter().map(|[r, g, b, _]| [r, g, b].map(as_radiance)).collect();
                RadiancePixels { width, height, rgb }
            }
        }
    }
}

/// Decodes an image file of any format that is read. `path` tells formats without a signature (`.tga`). The
/// error is a sentence.
pub(crate) fn decode_file(bytes: &[u8], path: &Path, limits: &Limits) -> Result<Image, String> {
    if is_pfm(bytes) {
        let (found, rgba) = pfm::decode(bytes, limits)?;
        return Ok(Image::Linear { width: found.width, height: found.height, rgba });
    }
    let format = known_format(bytes, Some(path))?;
    let found = header_as(bytes, format, limits)?;
    if matches!(format, ImageFormat::Hdr | ImageFormat::OpenExr) {
        found.check_memory(2 * FLOAT_TEXEL_BYTES * found.texels())?;
        let image = decode_as(bytes, format, limits)?.into_rgba32f();
        let rgba = image.pixels().map(|p| p.0).collect();
        return Ok(Image::Linear { width: image.width(), height: image.height(), rgba });
    }
    decode_found(bytes, &found, limits).map(Image::Encoded)
}

/// Numbers of an image in floats, row by row from the top, without any curve.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// As many as texels times `channels`.
    pub(crate) values: Vec<f32>,
    /// Whether the file has 8 bits a channel.
    pub(crate) is_coarse: bool,
}

/// Decodes the first `channels` channels of an image file, at most 3: integers are fractions of their largest value, in
/// all their bits. The error is a sentence.
pub(crate) fn decode_numbers(
    bytes: &[u8],
    path: &Path,
    channels: usize,
    limits: &Limits,
) -> Result<Numbers, String> {
    if is_pfm(bytes) {
        let (found, rgba) = pfm::decode(bytes, limits)?;
        let values = rgba.iter().flat_map(|texel| texel.iter().take(channels)).copied().collect();
        return Ok(Numbers { width: found.width, height: found.height, values, is_coarse: false });
    }
    let format = known_format(bytes, Some(path))?;
    let found = header_as(bytes, format, limits)?;
    found.check_memory(2 * FLOAT_TEXEL_BYTES * found.texels())?;
    let image = decode_as(bytes, format, limits)?;
    let color = image.color();
    let is_coarse = color.bytes_per_pixel() == color.channel_count();
    let rgb = image.into_rgb32f();
    let values = rgb.pixels().flat_map(|texel| texel.0.into_iter().take(channels)).collect();
    Ok(Numbers { width: rgb.width(), height: rgb.height(), values, is_coarse })
}

/// Half-float files hold infinities for suns and small negative numbers from resampling.
fn as_radiance(v: f32) -> f32 {
    if v.is_nan() { 0.0 } else { v.clamp(0.0, 65_504.0) }
}

/// Format and size from an image's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) format: ImageFormat,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Upper bound on the bytes that decoding takes beyond the file and its texels.
    pub(crate) working_bytes: u64,
}

impl Header {
    pub(crate) fn texels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Refuses to decode an image for which there is no memory. The error is a sentence.
    fn check_memory(&self, bytes: u64) -> Result<(), String> {
        let what = || format!("decoding an image of {}x{} texels", self.width, self.height);
        lockstep_core::memory::check(what, bytes).map_err(|error| error.to_string())
    }
}

/// The identifier that KTX 2.0 files begin with (Khronos, *KTX File Format Specification*, 2.0).
const KTX2: [u8; 12] = *b"\xabKTX 20\xbb\r\n\x1a\n";

/// Reads an image's format and size, and refuses sizes beyond the limits. The error is a sentence.
pub(crate) fn header(bytes: &[u8], limits: &Limits) -> Result<Header, String> {
    header_as(bytes, known_format(bytes, None)?, limits)
}

/// The format by the signature, else by the path.
fn known_format(bytes: &[u8], path: Option<&Path>) -> Result<ImageFormat, String> {
    if bytes.starts_with(&KTX2) {
        return Err("KTX2 images are not supported; convert it to PNG or JPEG".into());
    }
    let is_tga = |path: &Path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tga"));
    match image::guess_format(bytes) {
        Ok(format) => Ok(format),
        Err(_) if path.is_some_and(is_tga) => Ok(ImageFormat::Tga),
        Err(_) => Err("the image's format is not recognised".into()),
    }
}

fn header_as(bytes: &[u8], format: ImageFormat, limits: &Limits) -> Result<Header, String> {
    let codecs::Shape { width, height, working_bytes } =
        codecs::shape(bytes, format, decoder_limits(limits)).map_err(damaged)?;
    let found = Header { format, width, height, working_bytes };
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
    decode_found(bytes, &header(bytes, limits)?, limits)
}

fn decode_found(bytes: &[u8], found: &Header, limits: &Limits) -> Result<Pixels, String> {
    found.check_memory(TEXEL_BYTES * found.texels() + found.working_bytes)?;
    let mut rgba = vec![0; TEXEL_BYTES as usize * found.texels() as usize];
    codecs::decode_rgba8(bytes, found.format, decoder_limits(limits), &mut rgba).map_err(damaged)?;
    Ok(Pixels { width: found.width, height: found.height, rgba })
}

/// Decodes an image whose header was read into texels of its size, red in the low byte. The error is a sentence.
pub(crate) fn decode_into(
    bytes: &[u8],
    format: ImageFormat,
    limits: &Limits,
    texels: &mut [u32],
) -> Result<(), String> {
    let rgba = bytemuck::cast_slice_mut(texels);
    codecs::decode_rgba8(bytes, format, decoder_limits(limits), rgba).map_err(damaged)?;
    texels.iter_mut().for_each(|texel| *texel = u32::from_le(*texel));
    Ok(())
}

fn damaged(error: image::ImageError) -> String {
    format!("the image is damaged: {error}")
}

fn decode_as(bytes: &[u8], format: ImageFormat, limits: &Limits) -> Result<image::DynamicImage, String> {
    codecs::decode(bytes, format, decoder_limits(limits)).map_err(damaged)
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

    /// An uncompressed TGA image of 2 by 2 texels, from the lowest row: red, green, blue, white.
    fn tga() -> Vec<u8> {
        let mut out = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 24, 0];
        out.extend([0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255]);
        out
    }

    #[test]
    fn files_without_a_signature_are_known_by_their_name() {
        let limits = Limits::default();
        let Image::Encoded(pixels) = decode_file(&tga(), Path::new("a.TGA"), &limits).unwrap() else {
            panic!("a TGA image has 8 bits");
        };
        let top_left = &pixels.rgba[..4];
        assert_eq!((pixels.width, pixels.height, top_left), (2, 2, &[0, 0, 255, 255][..]));
        assert!(decode_file(&tga(), Path::new("a.png"), &limits).unwrap_err().contains("not recognised"));
        let small = Limits { image_side: 1, ..limits };
        assert!(decode_file(&tga(), Path::new("a.tga"), &small).is_err());
    }

    #[test]
    fn float_files_keep_what_they_hold_and_radiance_is_limited() {
        let mut bytes = b"Pf\n3 1\n-1\n".to_vec();
        bytes.extend([-1f32, 1e9, f32::NAN].iter().flat_map(|v| v.to_le_bytes()));
        let image = decode_file(&bytes, Path::new("sky.pfm"), &Limits::default()).unwrap();
        let Image::Linear { rgba, .. } = &image else { panic!("a float map is linear") };
        assert_eq!((rgba[0][0], rgba[1][1], rgba[1][3]), (-1.0, 1e9, 1.0));
        assert_eq!(image.into_radiance().rgb, [[0.0; 3], [65_504.0; 3], [0.0; 3]]);
        let white = decode_file(&png(1, 1), Path::new("x"), &Limits::default()).unwrap().into_radiance();
        assert!((white.rgb[0][0] - 0.577_580_4).abs() < 1e-6, "{:?}", white.rgb);
    }

    #[test]
    fn what_is_no_image_is_refused() {
        assert!(decode(b"", &Limits::default()).is_err());
        assert!(decode(b"hello, world", &Limits::default()).is_err());
        assert!(decode(&KTX2, &Limits::default()).unwrap_err().contains("KTX2"));
        assert!(decode(&png(8, 8)[..40], &Limits::default()).is_err());
    }
}
