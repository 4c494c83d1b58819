//! Images: location and decoding of their bytes.

use super::buffers::Buffers;
use super::json::Item;
use super::uri::{Target, resolve};
use crate::access::FileAccess;
use crate::limits::{Limits, TexelBudget};
use crate::pixels::{Header, Pixels, decode, header};
use crate::textures::{Coding, batches, reduced_size};
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
    let mut texels = vec![0u64; items.len()];
    for ((item, used), texels) in items.iter().zip(used).zip(&mut texels) {
        let source = find(item, root, buffers, access, warnings).and_then(|bytes| {
            let found = inspect(item, &bytes, limits, warnings)?;
            Ok((bytes, found))
        });
        match source {
            Ok((bytes, found)) if used.is_some() => {
                *texels = found.texels();
                let size = reduced_size(found.width, found.height, limits.texture_side);
                budget.take(size).map_err(|message| warnings.error(&item.at, message))?;
                sources.push(Some(bytes));
            }
            Ok((bytes, _)) => {
                // An unused image may be damaged.
                if bytes.len() <= SMALL
                    && let Err(message) = decode(&bytes, limits)
                {
                    warnings.add(&item.at, message);
                }
                sources.push(None);
            }
            Err(_) if item.index("bufferView").is_some_and(|view| buffers.is_unspecified(root, view)) => {
                warnings.add(&item.at, "its buffer has no data; the image is left out");
                sources.push(None);
            }
            Err(error) if used.is_some() => return Err(error),
            Err(error) => {
                warnings.add_error(error);
                sources.push(None);
            }
        }
    }
    let batches = batches(&texels, limits.image_texels);
    let decoding = batches.iter().map(|run| texels[run.clone()].iter().sum()).max();
    budget.check_memory(decoding.unwrap_or(0))?;
    let mut out = Vec::with_capacity(sources.len());
    for run in batches {
        let decode_one = |(source, coding): (&mut Option<Cow<'_, [u8]>>, &Option<Coding>)| {
            let pixels = decode(&source.take()?, limits);
            Some(pixels.map(|pixels| pixels.reduced(limits.texture_side, coding.unwrap_or(Coding::Linear))))
        };
        let decoded: Vec<Option<Result<Pixels, String>>> =
            sources[run.clone()].par_iter_mut().zip(&used[run.clone()]).map(decode_one).collect();
        for (item, pixels) in items[run].iter().zip(decoded) {
            out.push(match pixels {
                None => None,
                Some(Err(message)) => return Err(warnings.error(&item.at, message)),
                Some(Ok(pixels)) => Some(builder.image(pixels.width, pixels.height, &pixels.rgba)?),
            });
        }
    }
    Ok(out)
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
