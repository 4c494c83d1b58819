//! Reading images of any program, with limits.

use super::layers::{Layer, LayerKind, exr_layers, image_of, open_exr};
use super::source::{ReadError, ReadLimits, Source, check_size};
use super::{LinearImage, Precision, pfm, srgb};
use image::codecs::hdr::HdrDecoder;
use image::codecs::png::PngDecoder;
use image::{DynamicImage, ImageDecoder, Limits, RgbImage};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::Path;

/// Reads an .exr, .png, .hdr or .pfm file, recognised by content, as linear RGB within
/// [`ReadLimits::default`].
///
/// PNG values are decoded from sRGB, whatever `gAMA` or colour profile the file has; the others are taken as
/// linear. The image keeps the file's [`Precision`], and its alpha where that is not 1 everywhere; colours of
/// EXR files are premultiplied, so they show the image over black. Of an EXR file with several layers the one
/// without a name is read, else the combined one, else the first ([`read_layers`] reads all).
///
/// # Errors
/// [`ReadError`], naming the file.
pub fn read_image(path: &Path) -> Result<LinearImage, ReadError> {
    read_image_limited(path, ReadLimits::default())
}

/// [`read_image`] within other limits.
///
/// # Errors
/// [`ReadError`], naming the file.
pub fn read_image_limited(path: &Path, limits: ReadLimits) -> Result<LinearImage, ReadError> {
    match decode(path, limits)? {
        Decoded::Linear(image) => Ok(image),
        Decoded::Codes(codes, alpha) => {
            let linear = codes.pixels().map(|p| p.0.map(srgb::decode8)).collect();
            let image = LinearImage::new(codes.width(), codes.height(), linear).map_err(|e| {
                ReadError::Decode { path: path.to_owned(), format: "PNG", message: e.to_string() }
            })?;
            Ok(with_alpha(image.with_precision(Precision::Code8), alpha))
        }
    }
}

/// The image with its alpha, unless that is 1 everywhere.
fn with_alpha(image: LinearImage, alpha: Vec<f32>) -> LinearImage {
    if alpha.iter().all(|a| *a == 1.0) { image } else { image.with_alpha(alpha) }
}

/// An image as 8-bit sRGB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Srgb8Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Three bytes a pixel, row by row from the top.
    pub codes: Vec<u8>,
}

/// Reads an image as 8-bit sRGB. The same as [`LinearImage::to_srgb8`] of [`read_image`], without the way
/// there and back for files that have 8 bits.
///
/// # Errors
/// [`ReadError`], naming the file.
pub fn read_srgb8(path: &Path) -> Result<Srgb8Image, ReadError> {
    Ok(match decode(path, ReadLimits::default())? {
        Decoded::Linear(image) => {
            Srgb8Image { width: image.width(), height: image.height(), codes: image.to_srgb8() }
        }
        Decoded::Codes(codes, _) => {
            Srgb8Image { width: codes.width(), height: codes.height(), codes: codes.into_raw() }
        }
    })
}

/// Reads every layer of a file: of an EXR file all parts and groups of channels, the image first, with alpha as a
/// layer of its own where it is not 1 everywhere; of other files the image, and its alpha likewise.
///
/// # Errors
/// [`ReadError`], naming the file.
pub fn read_layers(path: &Path) -> Result<Vec<Layer>, ReadError> {
    let limits = ReadLimits::default();
    let source = Source::open(path, limits)?;
    if source.is_exr() {
        return exr_layers(&source);
    }
    let image = read_image(path)?;
    let alpha = image.alpha().map(|alpha| {
        let values = alpha.iter().map(|v| [*v; 3]).collect();
        image_of((image.width(), image.height()), values, image.precision().of_alpha())
    });
    let layer = |name: &str, kind, image| Layer { name: name.to_owned(), kind, origin: (0, 0), image };
    let alpha = alpha.transpose().map_err(|message| source.decode_error("PNG", message))?;
    let alpha = alpha.map(|alpha| layer("A", LayerKind::Alpha, alpha));
    Ok([layer("", LayerKind::Colour, image)].into_iter().chain(alpha).collect())
}

/// The content of a file: linear values, or 8-bit sRGB.
enum Decoded {
    Linear(LinearImage),
    /// Colours, and alpha where there is one.
    Codes(RgbImage, Vec<f32>),
}

fn decode(path: &Path, limits: ReadLimits) -> Result<Decoded, ReadError> {
    let source = Source::open(path, limits)?;
    match source.start.as_slice() {
        _ if source.is_exr() => {
            let first = exr_layers(&source)?.into_iter().next();
            let none = || source.decode_error("EXR", "it has no layers".to_owned());
            first.map(|layer| Decoded::Linear(layer.image)).ok_or_else(none)
        }
        [0x89, b'P', b'N', b'G', ..] => source.read_png(),
        s if s.starts_with(b"#?RADIANCE") || s.starts_with(b"#?RGBE") => source.read_hdr(),
        [b'P', b'F' | b'f', b' ' | b'\n' | b'\r' | b'\t', ..] => source.read_pfm(),
        _ => Err(ReadError::UnknownFormat { path: path.to_owned() }),
    }
}

impl Source<'_> {
    fn read_png(self) -> Result<Decoded, ReadError> {
        let path = self.path;
        let decode = |message: String| ReadError::Decode { path: path.to_owned(), format: "PNG", message };
        let (bytes, limits) = (self.bytes, self.limits);
        let mut decoder = PngDecoder::with_limits(self.reader, decoder_limits(limits))
            .map_err(|e| decode(e.to_string()))?;
        decoder.set_limits(decoder_limits(limits)).map_err(|e| decode(e.to_string()))?;
        let (width, height) = decoder.dimensions();
        check_size(path, width, height, bytes, limits)?;
        let image = DynamicImage::from_decoder(decoder).map_err(|e| decode(e.to_string()))?;
        let has_alpha = image.color().has_alpha();
        let alpha = |image: &DynamicImage| -> Vec<f32> {
            if !has_alpha {
                return Vec::new();
            }
            image.to_rgba16().pixels().map(|p| f32::from(p.0[3]) / 65_535.0).collect()
        };
        match image {
            DynamicImage::ImageLuma16(_)
            | DynamicImage::ImageLumaA16(_)
            | DynamicImage::ImageRgb16(_)
            | DynamicImage::ImageRgba16(_) => {
                let alpha = alpha(&image);
                let linear = image.into_rgb16().pixels().map(|p| p.0.map(srgb::decode16)).collect();
                let image = LinearImage::new(width, height, linear).map_err(|e| decode(e.to_string()))?;
                Ok(Decoded::Linear(with_alpha(image.with_precision(Precision::Code16), alpha)))
            }
            _ => {
                let alpha = alpha(&image);
                Ok(Decoded::Codes(image.into_rgb8(), alpha))
            }
        }
    }

    fn read_hdr(mut self) -> Result<Decoded, ReadError> {
        let path = self.path;
        let decode = |message: String| ReadError::Decode { path: path.to_owned(), format: "HDR", message };
        // The decoder knows one of the two signatures.
        let mut given = Vec::new();
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        self.reader.read_until(b'\n', &mut given).map_err(io)?;
        let rest = std::io::Cursor::new(b"#?RADIANCE\n").chain(self.reader);
        let decoder = HdrDecoder::new(rest).map_err(|e| decode(e.to_string()))?;
        let (width, height) = decoder.dimensions();
        check_size(path, width, height, self.bytes, self.limits)?;
        let image = DynamicImage::from_decoder(decoder).map_err(|e| decode(e.to_string()))?;
        let linear = image.into_rgb32f().pixels().map(|p| p.0).collect();
        let image = LinearImage::new(width, height, linear).map_err(|e| decode(e.to_string()))?;
        Ok(Decoded::Linear(image.with_precision(Precision::Rgbe)))
    }

    fn read_pfm(mut self) -> Result<Decoded, ReadError> {
        let path = self.path;
        let decode = |message| ReadError::Decode { path: path.to_owned(), format: "PFM", message };
        let header = pfm::read_header(&mut self.reader).map_err(decode)?;
        check_size(path, header.width, header.height, self.bytes, self.limits)?;
        pfm::read_pixels(&mut self.reader, &header).map(Decoded::Linear).map_err(decode)
    }
}

/// Room for the largest allowed image at 16 bytes a pixel, and for what a decoder needs besides.
fn decoder_limits(limits: ReadLimits) -> Limits {
    let mut inner = Limits::default();
    inner.max_image_width = Some(limits.max_side);
    inner.max_image_height = Some(limits.max_side);
    inner.max_alloc = Some(limits.max_pixels.saturating_mul(16).saturating_add(1 << 26));
    inner
}

/// The text attributes of an EXR file, such as those that [`super::write_exr`] wrote, of its first layer.
///
/// # Errors
/// [`ReadError::Io`] for a file that cannot be opened and [`ReadError::Decode`] when the header is damaged.
pub fn read_exr_metadata(path: &Path) -> Result<BTreeMap<String, String>, ReadError> {
    let file = open_exr(path)?;
    let mut texts = BTreeMap::new();
    if let Some(header) = file.headers().first() {
        let attributes = header.shared_attributes.other.iter().chain(&header.own_attributes.other);
        for (name, value) in attributes {
            if let exr::meta::attribute::AttributeValue::Text(text) = value {
                // Bytes above 127 are stored as they are, so UTF-8 text comes back as it was written.
                texts.insert(text_of(name), text_of(text));
            }
        }
    }
    Ok(texts)
}

/// The `iTXt` texts of a PNG file, such as those that [`super::write_png`] wrote, that stand before its pixels.
///
/// # Errors
/// [`ReadError::Io`] for a file that cannot be opened and [`ReadError::Decode`] when the header is damaged.
pub fn read_png_metadata(path: &Path) -> Result<BTreeMap<String, String>, ReadError> {
    let file = std::fs::File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let damaged = |e: png::DecodingError| ReadError::Decode {
        path: path.to_owned(),
        format: "PNG",
        message: e.to_string(),
    };
    let reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().map_err(damaged)?;
    let text = |chunk: &png::text_metadata::ITXtChunk| {
        Ok((chunk.keyword.clone(), chunk.get_text().map_err(damaged)?))
    };
    reader.info().utf8_text.iter().map(text).collect()
}

fn text_of(text: &exr::meta::attribute::Text) -> String {
    String::from_utf8_lossy(text.as_slice()).into_owned()
}
