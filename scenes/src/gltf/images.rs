//! Images: location and decoding of their bytes.

use super::buffers::Buffers;
use super::json::Item;
use super::uri::{Target, resolve};
use crate::access::FileAccess;
use crate::limits::{Limits, TexelBudget, WORKING_BYTES};
use crate::pixels::{Header, Pixels, decode, header};
use crate::textures::{Coding, batches, fill, reduced_size, working_bytes};
use crate::warning::Warnings;
use image::ImageFormat;
use lockstep_core::scene::{ImageId, SceneBuilder};
use lockstep_core::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;

/// Decodes the images that `used` gives a coding and adds them to the builder, no larger than the limits say; the
/// others are only validated.
///
/// # Errors
/// [`Error::Scene`] when an image in use is missing, damaged or too large.
pub(super) fn load(
    root: &Item<'_>,
    buffers: &Buffers<'_>,
    access: &FileAccess<'_>,
    used: &[Option<Coding>],
    budget: &mut TexelBudget,
    builder: &mut SceneBuilder,
    warnings: &mut Warnings,
) -> Result<Vec<Option<ImageId>>> {
    let items = root.items("images");
    let limits = access.limits;
    let mut sources = Vec::with_capacity(items.len());
    for (index, (item, used)) in items.iter().zip(used).enumerate() {
        let source = find(item, root, buffers, access, warnings).and_then(|bytes| {
            let found = inspect(item, &bytes, limits, warnings)?;
            Ok((bytes, found))
        });
        match (source, *used) {
            (Ok((bytes, found)), Some(coding)) => {
                let size = reduced_size(found.width, found.height, limits.texture_side);
                budget.take(size).map_err(|message| warnings.error(&item.at, message))?;
                sources.push(Encoded { index, bytes, found, coding });
            }
            (Ok((bytes, _)), None) => {
                // An unused image may be damaged.
                if bytes.len() <= SMALL
                    && let Err(message) = decode(&bytes, limits)
                {
                    warnings.add(&item.at, message);
                }
            }
            (Err(_), _)
                if item.index("bufferView").is_some_and(|view| buffers.is_unspecified(root, view)) =>
            {
                warnings.add(&item.at, "its buffer has no data; the image is left out");
            }
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => warnings.add_error(error),
        }
    }
    let mut out = vec![None; items.len()];
    let failed = |index: usize, message| warnings.error(&items[index].at, message);
    for (index, image) in decode_all(sources, limits, budget, builder, failed)? {
        out[index] = Some(image);
    }
    Ok(out)
}

/// An image in use, before it is decoded.
struct Encoded<'a> {
    /// Index among the images of the document.
    index: usize,
    bytes: Cow<'a, [u8]>,
    found: Header,
    coding: Coding,
}

/// Decodes images where the scene keeps their texels; `failed` makes the error of one.
fn decode_all(
    mut sources: Vec<Encoded<'_>>,
    limits: &Limits,
    budget: &TexelBudget,
    builder: &mut SceneBuilder,
    failed: impl Fn(usize, String) -> Error,
) -> Result<Vec<(usize, ImageId)>> {
    let side = limits.texture_side;
    let working: Vec<u64> = sources.iter().map(|source| working_bytes(&source.found, side)).collect();
    let batches = batches(&working, WORKING_BYTES);
    let together = batches.iter().map(|run| working[run.clone()].iter().sum()).max();
    budget.check_memory(together.unwrap_or(0))?;
    let sizes: Vec<(u32, u32)> =
        sources.iter().map(|source| reduced_size(source.found.width, source.found.height, side)).collect();
    let mut images = builder.blank_images(&sizes)?;
    for run in batches {
        let fill_one = |(source, (_, texels)): (&mut Encoded<'_>, &mut (ImageId, &mut [u32]))| {
            // A file is given back once it is decoded.
            let bytes = std::mem::take(&mut source.bytes);
            fill(texels, &bytes, &source.found, source.coding, limits)
                .map_err(|message| (source.index, message))
        };
        let (sources, images) = (&mut sources[run.clone()], &mut images[run]);
        let done: Vec<_> = sources.par_iter_mut().zip(images).map(fill_one).collect();
        done.into_iter()
            .collect::<std::result::Result<(), _>>()
            .map_err(|(index, message)| failed(index, message))?;
    }
    Ok(sources.iter().map(|source| source.index).zip(images.into_iter().map(|(id, _)| id)).collect())
}

/// Reads one image on its own.
///
/// # Errors
/// [`Error::Scene`] when it is missing, damaged or too large.
pub(super) fn read(
    item: &Item<'_>,
    root: &Item<'_>,
    buffers: &Buffers<'_>,
    access: &FileAccess<'_>,
    coding: Coding,
    warnings: &mut Warnings,
) -> Result<Pixels> {
    let bytes = find(item, root, buffers, access, warnings)?;
    inspect(item, &bytes, access.limits, warnings)?;
    let pixels = decode(&bytes, access.limits).map_err(|message| warnings.error(&item.at, message))?;
    Ok(pixels.reduced(access.limits.texture_side, coding))
}

/// Unused images up to this many bytes are decoded too, to validate them.
const SMALL: usize = 64 * 1024;

fn find<'a>(
    item: &Item<'_>,
    root: &Item<'_>,
    buffers: &'a Buffers<'_>,
    access: &FileAccess<'_>,
    warnings: &mut Warnings,
) -> Result<Cow<'a, [u8]>> {
    if let Some(view) = item.index("bufferView") {
        if root.item("bufferViews", view).is_some_and(|v| v.has("byteStride")) {
            warnings.add(item.pointer("bufferView"), "a view of an image has no stride");
        }
        if !item.has("mimeType") {
            warnings.add(
                item.pointer("bufferView"),
                "an image in a buffer view needs a `mimeType`; its format was guessed",
            );
        }
        return Ok(Cow::Borrowed(buffers.view(root, view, warnings)?.with_data(warnings)?.bytes));
    }
    let at = item.pointer("uri");
    match resolve(item.text("uri").unwrap_or_default(), access.folder) {
        Err(message) => Err(warnings.error(at, message)),
        Ok(Target::File(path)) => match access.read(&path) {
            Ok(bytes) => Ok(Cow::Owned(bytes)),
            Err(Error::Io { path, source, .. }) => {
                Err(warnings.error(at, format!("reading {} failed: {source}", path.display())))
            }
            Err(error) => Err(error),
        },
        Ok(Target::Data { media_type, bytes }) => {
            match media_type_of(&bytes) {
                Some(found) if found != media_type => {
                    let message =
                        format!("the data is `{found}`, not `{}`", super::check::shorten(&media_type));
                    warnings.add(at, message);
                }
                _ => {}
            }
            Ok(Cow::Owned(bytes))
        }
    }
}

fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    image::guess_format(bytes).ok().map(|format| format.to_mime_type())
}

/// The image's header; glTF knows PNG, JPEG and, by extension, WebP.
fn inspect(item: &Item<'_>, bytes: &[u8], limits: &Limits, warnings: &mut Warnings) -> Result<Header> {
    let found = header(bytes, limits).map_err(|message| warnings.error(&item.at, message))?;
    if !matches!(found.format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP) {
        let message = format!("`{}` is not an image format of glTF", found.format.to_mime_type());
        return Err(warnings.error(&item.at, message));
    }
    if let Some(declared) = item.text("mimeType")
        && declared != found.format.to_mime_type()
    {
        let message = format!(
            "the image is `{}`, not `{}`",
            found.format.to_mime_type(),
            super::check::shorten(declared)
        );
        warnings.add(&item.at, message);
    }
    Ok(found)
}

/// Whether any image is WebP although the file does not say so; such files are rejected by other readers.
pub(super) fn warn_of_undeclared_webp(root: &Item<'_>, warnings: &mut Warnings) {
    let declared = root.value.get("extensionsUsed").and_then(serde_json::Value::as_array);
    if declared.into_iter().flatten().any(|name| name == "EXT_texture_webp") {
        return;
    }
    for item in root.items("images") {
        let by_name =
            item.text("uri").is_some_and(|uri| uri.ends_with(".webp") || uri.starts_with("data:image/webp"));
        if by_name || item.text("mimeType") == Some("image/webp") {
            warnings.add(&item.at, "WebP images need the extension EXT_texture_webp");
        }
    }
}
