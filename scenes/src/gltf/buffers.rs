//! Buffers and views of them.

use super::draco::Decoded;
use super::json::Item;
use super::uri::{Target, resolve};
use crate::access::FileAccess;
use crate::warning::Warnings;
use lockstep_core::{Error, Result};
use std::borrow::Cow;

/// The bytes of all buffers. An unreadable buffer is an error only when it is used.
pub(super) struct Buffers<'a> {
    list: Vec<Result<Cow<'a, [u8]>, Missing>>,
    /// The bytes of accessors that lie compressed in views.
    decoded: Decoded,
}

/// The reason that a buffer has no bytes.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    /// JSON pointer.
    at: String,
    message: String,
    /// The file leaves the location of the bytes open, which is legal.
    unspecified: bool,
}

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    /// The bytes; empty when they are missing.
    pub(super) bytes: &'a [u8],
    /// The length, whether or not the bytes are present.
    pub(super) length: usize,
    pub(super) offset: usize,
    pub(super) stride: Option<usize>,
    missing: Option<&'a Missing>,
}

impl<'a> View<'a> {
    /// The view itself, if its bytes are present.
    ///
    /// # Errors
    /// [`Error::Scene`] with the reason why they are not.
    pub(super) fn with_data(self, warnings: &Warnings) -> Result<Self> {
        match self.missing {
            None => Ok(self),
            Some(missing) => Err(warnings.error(&missing.at, missing.message.clone())),
        }
    }

    /// Whether its bytes are present.
    pub(super) fn has_data(&self) -> bool {
        self.missing.is_none()
    }
}

impl<'a> Buffers<'a> {
    /// Reads every buffer of the document.
    pub(super) fn load(
        root: &Item<'_>,
        access: &FileAccess<'_>,
        binary: Option<&'a [u8]>,
        warnings: &mut Warnings,
    ) -> Self {
        let mut list = Vec::new();
        for (index, item) in root.items("buffers").into_iter().enumerate() {
            let bytes = read(&item, index, access, binary, warnings);
            list.push(bytes.map_err(|message| {
                let at = if item.has("uri") { item.pointer("uri") } else { item.at.clone() };
                warnings.add(&at, message.clone());
                Missing { at, message, unspecified: !item.has("uri") }
            }));
        }
        Self { list, decoded: Decoded::new() }
    }

    /// Takes the decoded bytes of accessors.
    pub(super) fn set_decoded(&mut self, decoded: Decoded) {
        self.decoded = decoded;
    }

    /// The tightly packed bytes of an accessor that was compressed.
    pub(super) fn decoded(&self, accessor: usize) -> Option<&[u8]> {
        self.decoded.get(&accessor).map(Vec::as_slice)
    }

    /// Bytes of all buffers together.
    pub(super) fn total_bytes(&self) -> u64 {
        self.list.iter().flatten().map(|b| b.len() as u64).sum()
    }

    /// Whether a view is of a buffer whose location the file leaves open.
    pub(super) fn is_unspecified(&self, root: &Item<'_>, view: usize) -> bool {
        let buffer = root.item("bufferViews", view).and_then(|v| v.index("buffer"));
        matches!(buffer.and_then(|b| self.list.get(b)), Some(Err(Missing { unspecified: true, .. })))
    }

    /// The view of this index, with or without bytes.
    ///
    /// # Errors
    /// [`Error::Scene`] when it does not fit into its buffer.
    pub(super) fn view(&self, root: &Item<'_>, index: usize, warnings: &Warnings) -> Result<View<'_>> {
        let Some(item) = root.item("bufferViews", index) else {
            return Err(warnings.error(format!("/bufferViews/{index}"), "there is no such buffer view"));
        };
        let (offset, length) = extent(&item);
        let buffer = item.index("buffer").unwrap_or(usize::MAX);
        let Some(found) = self.list.get(buffer) else {
            return Err(warnings.error(item.pointer("buffer"), "there is no such buffer"));
        };
        let stride = item.whole("byteStride").and_then(|s| usize::try_from(s).ok()).filter(|s| *s > 0);
        let view = View { bytes: &[], length, offset, stride, missing: found.as_ref().err() };
        let Ok(bytes) = found else {
            return Ok(view);
        };
        match offset.checked_add(length).and_then(|end| bytes.get(offset..end)) {
            Some(bytes) => Ok(View { bytes, ..view }),
            None => Err(too_long(&item, buffer, bytes.len(), warnings)),
        }
    }
}

fn too_long(item: &Item<'_>, buffer: usize, length: usize, warnings: &Warnings) -> Error {
    warnings.error(
        item.pointer("byteLength"),
        format!("the view does not fit into buffer {buffer} of {length} bytes"),
    )
}

fn extent(item: &Item<'_>) -> (usize, usize) {
    let value = |key: &str| item.whole(key).map_or(0, |v| usize::try_from(v).unwrap_or(usize::MAX));
    (value("byteOffset"), value("byteLength"))
}

fn read<'a>(
    item: &Item<'_>,
    index: usize,
    access: &FileAccess<'_>,
    binary: Option<&'a [u8]>,
    warnings: &mut Warnings,
) -> Result<Cow<'a, [u8]>, String> {
    let length = extent(item).1;
    let mut bytes = match item.text("uri") {
        None => match binary {
            Some(binary) if index == 0 => Cow::Borrowed(binary),
            _ => return Err("the buffer has no URI, and no binary chunk belongs to it".into()),
        },
        Some(uri) => match resolve(uri, access.folder)? {
            Target::Data { media_type, bytes } => {
                if !matches!(media_type.as_str(), "application/octet-stream" | "application/gltf-buffer") {
                    let media_type = super::check::shorten(&media_type);
                    warnings
                        .add(item.pointer("uri"), format!("`{media_type}` is not a media type of buffers"));
                }
                Cow::Owned(bytes)
            }
            Target::File(path) => Cow::Owned(access.read(&path).map_err(|e| e.to_string())?),
        },
    };
    if bytes.len() < length {
        return Err(format!("the buffer has {} bytes, fewer than its `byteLength` of {length}", bytes.len()));
    }
    if item.text("uri").is_none() && bytes.len() > length + 3 {
        let extra = bytes.len() - length;
        warnings.add(
            item.at.clone(),
            format!("the binary chunk has {extra} bytes more than the buffer; they are ignored"),
        );
    }
    match &mut bytes {
        Cow::Borrowed(slice) => *slice = &slice[..length],
        Cow::Owned(vec) => vec.truncate(length),
    }
    Ok(bytes)
}

/// Checks every view: extent, stride and usage.
pub(super) fn check_views(root: &Item<'_>, warnings: &mut Warnings) -> Result<()> {
    let lengths: Vec<usize> = root.items("buffers").iter().map(|b| extent(b).1).collect();
    for item in root.items("bufferViews") {
        let (offset, length) = extent(&item);
        let buffer = item.index("buffer").unwrap_or(0);
        let available = lengths.get(buffer).copied().unwrap_or(0);
        if offset.checked_add(length).is_none_or(|end| end > available) {
            return Err(too_long(&item, buffer, available, warnings));
        }
        if let Some(stride) = item.whole("byteStride") {
            let at = item.pointer("byteStride");
            if stride % 4 != 0 {
                warnings.add(&at, format!("a stride of {stride} is not a multiple of 4"));
            }
            if stride > length as u64 {
                warnings.add(&at, format!("a stride of {stride} is more than the view's {length} bytes"));
            }
            if item.whole("target") == Some(34963) {
                warnings.add(&at, "a view of indices has no stride");
            }
        }
    }
    Ok(())
}
