//! Writing images with their provenance.

use super::exr_header::sort_attributes_of;
use super::{LinearImage, WriteError, atomic_write};
use exr::meta::attribute::{AttributeValue, Text};
use exr::prelude::{
    Compression, Encoding, Image, Layer, LayerAttributes, SpecificChannels, Vec2, WritableImage,
};
use std::io::Write;
use std::path::Path;

/// Metadata of an image file: `scene`, `target`, `spp`, `seed`, `device`, `command`
/// and whatever else is worth knowing. In EXR each entry is a text attribute `lockstep.<key>`, in PNG an
/// `iTXt` chunk with the same keyword.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageMetadata {
    entries: Vec<(String, String)>,
}

impl ImageMetadata {
    /// The entries that every rendered image has.
    pub fn of_render(scene: &str, target: &str, spp: u32, seed: u64) -> Self {
        Self::default()
            .with("scene", scene)
            .with("target", target)
            .with("spp", &spp.to_string())
            .with("seed", &seed.to_string())
    }

    /// Adds an entry. Keys are short ASCII words; bytes of zero are dropped from values, since neither format
    /// can hold them.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.entries.push((key.to_owned(), value.replace('\0', "")));
        self
    }

    /// Key and value of each entry, with the prefix that files have.
    fn prefixed(&self) -> impl Iterator<Item = (String, &str)> {
        self.entries.iter().map(|(key, value)| (format!("lockstep.{key}"), value.as_str()))
    }
}

/// Writes linear f32 RGB as OpenEXR, losslessly compressed, in one step.
///
/// # Errors
/// [`WriteError`], naming the file.
pub fn write_exr(path: &Path, image: &LinearImage, metadata: &ImageMetadata) -> Result<(), WriteError> {
    let width = image.width() as usize;
    let pixels = image.pixels();
    let channels = SpecificChannels::rgb(|Vec2(x, y): Vec2<usize>| {
        let [r, g, b] = pixels[y * width + x];
        (r, g, b)
    });
    let mut attributes =
        LayerAttributes { software_name: Some(Text::from("Lockstep")), ..Default::default() };
    for (key, value) in metadata.prefixed() {
        // EXR texts are bytes; UTF-8 is what readers expect in them.
        let text = Text::from_slice_unchecked(value.as_bytes());
        attributes.other.insert(Text::from(key.as_str()), AttributeValue::Text(text));
    }
    let size = (width, image.height() as usize);
    // Noise in f32 hardly compresses: larger blocks take twice the time to save one per cent.
    let encoding = Encoding { compression: Compression::ZIP1, ..Encoding::SMALL_LOSSLESS };
    let file = Image::from_layer(Layer::new(size, attributes, encoding, channels));
    atomic_write(path, |w| {
        file.write().to_buffered(&mut *w).map_err(io_error)?;
        w.flush()?;
        sort_attributes_of(*w.get_ref())
    })
}

fn io_error(error: exr::error::Error) -> std::io::Error {
    match error {
        exr::error::Error::Io(e) => e,
        other => std::io::Error::other(other.to_string()),
    }
}

/// Writes 8-bit sRGB as PNG in one step.
///
/// # Errors
/// [`WriteError`], naming the file.
pub fn write_png(path: &Path, image: &LinearImage, metadata: &ImageMetadata) -> Result<(), WriteError> {
    atomic_write(path, |w| encode_png(image, metadata, w))
}

/// Encodes 8-bit sRGB as PNG.
///
/// # Errors
/// The writer's error, and `InvalidInput` for an image without pixels.
pub fn encode_png(image: &LinearImage, metadata: &ImageMetadata, writer: impl Write) -> std::io::Result<()> {
    let codes = image.to_srgb8();
    encode_png_rgb8(&codes, (image.width(), image.height()), png::Compression::Balanced, metadata, writer)
}

/// Encodes pixels that are 8-bit already, three bytes each, row by row from the top.
///
/// # Errors
/// The writer's error, and `InvalidInput` for an image without pixels.
pub fn encode_png_rgb8(
    codes: &[u8],
    (width, height): (u32, u32),
    compression: png::Compression,
    metadata: &ImageMetadata,
    writer: impl Write,
) -> std::io::Result<()> {
    let mut encoder = png::Encoder::new(writer, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(compression);
    encoder.set_source_srgb(png::SrgbRenderingIntent::RelativeColorimetric);
    for (key, value) in metadata.prefixed() {
        encoder.add_itxt_chunk(key, value.to_owned()).map_err(png_error)?;
    }
    let mut writer = encoder.write_header().map_err(png_error)?;
    writer.write_image_data(codes).map_err(png_error)?;
    writer.finish().map_err(png_error)
}

fn png_error(error: png::EncodingError) -> std::io::Error {
    match error {
        png::EncodingError::IoError(e) => e,
        other => std::io::Error::new(std::io::ErrorKind::InvalidInput, other.to_string()),
    }
}

/// Writes the kind that the file's extension names, `.exr` or `.png`.
///
/// # Errors
/// [`WriteError`], naming the file; [`WriteError::Io`] of kind `Unsupported` for another extension.
pub fn write_image(path: &Path, image: &LinearImage, metadata: &ImageMetadata) -> Result<(), WriteError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("exr") => write_exr(path, image, metadata),
        Some("png") => write_png(path, image, metadata),
        _ => Err(WriteError::Io {
            action: "write",
            path: path.to_owned(),
            source: std::io::Error::new(
                std::io::ErrorKind::Unsupported,
                "the name must end in .exr (linear) or .png (sRGB)",
            ),
        }),
    }
}
