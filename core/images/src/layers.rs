//! EXR files: every layer of every part, of any channels.

use super::source::{ReadError, Source};
use super::{LinearImage, Precision};
use exr::block::reader::Reader;
use exr::meta::header::Header;
use exr::prelude::{FlatSamples, ReadChannels, ReadLayers, f16, read};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// The contents of a layer, and so which metric suits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    /// Radiance, reflectance or another colour.
    Colour,
    /// One number a pixel, such as depth: in all three channels of the image.
    Scalar,
    /// A direction, such as a normal, with components from −1 to 1.
    Direction,
    /// The alpha of the layer of its name without the `A` at its end: in all three channels of the image. A colour
    /// without alpha has one of 1.
    Alpha,
}

/// One layer of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The name as the file has it, such as `ViewLayer.Depth`; empty for the channels `R`, `G`, `B` of a file
    /// of one part.
    pub name: String,
    /// The contents, by the names of channels and layer.
    pub kind: LayerKind,
    /// Column and row of the first pixel in the file's coordinates: the corner of an EXR file's data window.
    pub origin: (i32, i32),
    /// The values.
    pub image: LinearImage,
}

impl Layer {
    /// Whether the layer is named as the image of a file is: not at all, or as a combined pass.
    pub fn is_named_as_image(&self) -> bool {
        self.kind == LayerKind::Colour && rank_of(&self.name) < OTHER
    }

    /// The name of the layer that an alpha belongs to.
    pub fn base_of_alpha(&self) -> Option<&str> {
        let base = self.name.strip_suffix('A').filter(|_| self.kind == LayerKind::Alpha)?;
        Some(base.strip_suffix('.').unwrap_or(base))
    }
}

/// One channel of a part.
struct Channel {
    /// The name before the last dot.
    layer: String,
    /// After it, in upper case.
    letter: String,
    values: Vec<f32>,
    precision: Precision,
}

/// Letters of colours, and of vectors.
const COLOUR: [&str; 3] = ["R", "G", "B"];
const DIRECTION: [&str; 3] = ["X", "Y", "Z"];

/// Opens an EXR file and reads its header. Readers of one type spare the decoder's compilation for another.
///
/// # Errors
/// [`ReadError::Io`] for a file that cannot be opened and [`ReadError::Decode`] when the header is damaged.
pub(super) fn open_exr(path: &Path) -> Result<Reader<BufReader<File>>, ReadError> {
    let file = File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let damaged = |e: exr::error::Error| ReadError::Decode {
        path: path.to_owned(),
        format: "EXR",
        message: e.to_string(),
    };
    exr::block::read(BufReader::new(file), false).map_err(damaged)
}

/// The layers of an EXR file, at least one; the one that is its image first.
pub(super) fn exr_layers(source: &Source<'_>) -> Result<Vec<Layer>, ReadError> {
    let path = source.path;
    let decode = |message: String| ReadError::Decode { path: path.to_owned(), format: "EXR", message };
    let chunks = open_exr(path)?;
    for header in chunks.headers() {
        let size = header.layer_size;
        source.check_size(size.width(), size.height())?;
    }
    let values = |header: &Header| (header.layer_size.area() * header.channels.list.len()) as u64;
    let total: u64 = chunks.headers().iter().map(values).sum();
    source.check_values(total)?;
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .all_layers()
        .all_attributes()
        .non_parallel()
        .from_chunks(chunks)
        .map_err(|e| decode(e.to_string()))?;
    let mut layers = Vec::new();
    let parts = image.layer_data.len();
    for part in &image.layer_data {
        let size = (part.size.width() as u32, part.size.height() as u32);
        let name = part.attributes.layer_name.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut channels = Vec::new();
        for channel in &part.channel_data.list {
            if channel.sampling.area() != 1 {
                return Err(decode(format!("channel {} is subsampled, which is not read", channel.name)));
            }
            channels.push(channel_of(&channel.name.to_string(), &channel.sample_data));
        }
        let corner = part.attributes.layer_position;
        let mut own = grouped(if parts > 1 { &name } else { "" }, channels, size).map_err(decode)?;
        own.iter_mut().for_each(|layer| layer.origin = (corner.x(), corner.y()));
        layers.extend(own);
    }
    // The image itself comes first, whatever the file's order.
    layers.sort_by_key(|layer| (layer.kind != LayerKind::Colour, rank_of(&layer.name)));
    if layers.is_empty() {
        return Err(decode("it has no channels that make an image".to_owned()));
    }
    Ok(layers)
}

/// The rank of layers that are not called as an image is.
const OTHER: u32 = 2;

/// Layers by how likely they are the image: without a name, combined passes, then all others.
fn rank_of(name: &str) -> u32 {
    let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    match last.as_str() {
        "" => 0,
        "combined" | "beauty" | "rgba" | "rgb" | "color" | "colour" | "image" => 1,
        _ => OTHER,
    }
}

fn channel_of(name: &str, samples: &FlatSamples) -> Channel {
    let (layer, letter) = name.rsplit_once('.').unwrap_or(("", name));
    let (values, precision) = match samples {
        FlatSamples::F16(values) => (values.iter().map(|v: &f16| v.to_f32()).collect(), Precision::Half),
        FlatSamples::F32(values) => (values.clone(), Precision::Float),
        FlatSamples::U32(values) => (values.iter().map(|v| *v as f32).collect(), Precision::Float),
    };
    Channel { layer: layer.to_owned(), letter: letter.to_owned(), values, precision }
}

/// The layers that the channels of a part make.
fn grouped(part: &str, channels: Vec<Channel>, size: (u32, u32)) -> Result<Vec<Layer>, String> {
    let mut names: Vec<String> = Vec::new();
    for channel in &channels {
        if !names.contains(&channel.layer) {
            names.push(channel.layer.clone());
        }
    }
    let mut layers = Vec::new();
    for name in names {
        let own: Vec<&Channel> = channels.iter().filter(|c| c.layer == name).collect();
        let find = |letter: &str| own.iter().find(|c| c.letter.eq_ignore_ascii_case(letter)).copied();
        let full = full_name(part, &name);
        let mut used: Vec<&str> = Vec::new();
        let mut alpha = None;
        for letters in [COLOUR, DIRECTION] {
            let Some(three) = letters.iter().map(|l| find(l)).collect::<Option<Vec<_>>>() else { continue };
            let kind = if is_direction(&full) { LayerKind::Direction } else { LayerKind::Colour };
            let values = (0..three[0].values.len())
                .map(|i| [three[0].values[i], three[1].values[i], three[2].values[i]]);
            let image = image_of(size, values.collect(), three[0].precision)?;
            let image = match find("A").filter(|_| kind == LayerKind::Colour) {
                Some(a) if a.values.iter().any(|v| *v != 1.0) => {
                    alpha = Some(a);
                    image.with_alpha(a.values.clone())
                }
                _ => image,
            };
            layers.push(Layer { name: full.clone(), kind, origin: (0, 0), image });
            used.extend(three.iter().map(|c| c.letter.as_str()).chain(find("A").map(|a| a.letter.as_str())));
        }
        // Luminance alone is the image.
        let is_grey = find("Y").is_some() && own.len() - usize::from(find("A").is_some()) == 1;
        if is_grey {
            alpha = find("A").filter(|a| a.values.iter().any(|v| *v != 1.0));
            used.extend(find("A").map(|a| a.letter.as_str()));
        }
        for channel in own.iter().filter(|c| !used.contains(&c.letter.as_str())) {
            let values = channel.values.iter().map(|v| [*v; 3]).collect();
            let image = image_of(size, values, channel.precision)?;
            let (kind, name) = if is_grey {
                (LayerKind::Colour, full.clone())
            } else if own.len() == 1 && !full.is_empty() {
                (LayerKind::Scalar, full.clone())
            } else {
                (LayerKind::Scalar, full_name(&full, &channel.letter))
            };
            let image = match alpha.filter(|_| is_grey) {
                Some(a) => image.with_alpha(a.values.clone()),
                None => image,
            };
            layers.push(Layer { name, kind, origin: (0, 0), image });
        }
        if let Some(a) = alpha {
            let image = image_of(size, a.values.iter().map(|v| [*v; 3]).collect(), a.precision)?;
            layers.push(Layer { name: full_name(&full, "A"), kind: LayerKind::Alpha, origin: (0, 0), image });
        }
    }
    Ok(layers)
}

fn full_name(part: &str, name: &str) -> String {
    match (part.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => part.to_owned(),
        // Blender names parts by the layers in them.
        _ if name.starts_with(part) => name.to_owned(),
        _ => format!("{part}.{name}"),
    }
}

fn is_direction(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["normal", ".n", "nx"].iter().any(|word| name.contains(word)) || name == "n" || name == "ns"
}

/// An image of these values.
pub(super) fn image_of(
    (width, height): (u32, u32),
    values: Vec<[f32; 3]>,
    precision: Precision,
) -> Result<LinearImage, String> {
    let image = LinearImage::new(width, height, values).map_err(|e| e.to_string())?;
    Ok(image.with_precision(precision))
}
