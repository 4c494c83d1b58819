//! Images: location and decoding of their bytes.

use super::buffers::Buffers;
use super::json::Item;
use super::uri::{Target, resolve};
use crate::access::FileAccess;
use crate::limits::Limits;
use crate::pixels::{Header, Pixels, decode, header};
use crate::warning::Warnings;
use image::ImageFormat;
use lockstep_core::scene::{ImageId, SceneBuilder};
use lockstep_core::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;

/// Decodes the images that `used` marks and adds them to the builder; the others are only validated.
///
/// # Errors
/// [`Error::Scene`] when an image in use is missing, damaged or too large.
pub(super) fn load(
    root: &Item<'_>,
    buffers: &Buffers<'_>,
    access: &FileAccess<'_>,
    used: &[bool],
    builder: &mut SceneBuilder,
    warnings: &mut Warnings,
) -> Result<Vec<Option<ImageId>>> {
    let items = root.items("images");
    let limits = access.limits;
    let mut sources = Vec::with_capacity(items.len());
    let mut texels = 0u64;
    for (item, &used) in items.iter().zip(used) {
        let source = find(item, root, buffers, access, warnings).and_then(|bytes| {
            let found = inspect(item, &bytes, limits, warnings)?;
            Ok((bytes, found))
        });
        match source {
            Ok((bytes, found)) if used => {
                texels = texels.saturating_add(found.texels());
                if texels > limits.scene_texels {
                    let message = format!("all images together exceed {} texels", limits.scene_texels);
                    return Err(warnings.error(&item.at, message));
                }
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
            Err(error) if used => return Err(error),
            Err(error) => {
                warnings.add_error(error);
                sources.push(None);
            }
        }
    }
    lockstep_core::memory::check(|| format!("{texels} texels of textures"), TEXEL_BYTES * texels)?;
    // A few at a time, so that at most these are in memory twice.
    let at_once = rayon::current_num_threads();
    let mut out = Vec::with_capacity(sources.len());
    for (items, sources) in items.chunks(at_once).zip(sources.chunks_mut(at_once)) {
        let decode_one =
            |source: &mut Option<Cow<'_, [u8]>>| source.take().map(|bytes| decode(&bytes, limits));
        let decoded: Vec<Option<Result<Pixels, String>>> = sources.par_iter_mut().map(decode_one).collect();
        for (item, pixels) in items.iter().zip(decoded) {
            out.push(match pixels {
                None => None,
                Some(Err(message)) => return Err(warnings.error(&item.at, message)),
                Some(Ok(pixels)) => Some(builder.image(pixels.width, pixels.height, &pixels.rgba)?),
            });
        }
    }
    Ok(out)
}

/// Bytes of a texel in memory.
const TEXEL_BYTES: u64 = 4;

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
