//! The binary container: a header, a JSON chunk and at most one chunk of binary data.

use crate::warning::Warnings;
use lockstep_core::Result;

const MAGIC: [u8; 4] = *b"glTF";
const JSON: u32 = 0x4e4f_534a;
const BIN: u32 = 0x004e_4942;

/// The two chunks of a container.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// The document.
    pub(super) json: &'a [u8],
    /// Offset of the document in the file.
    pub(super) json_offset: usize,
    /// The binary chunk, if there is one.
    pub(super) binary: Option<&'a [u8]>,
}

/// Whether bytes begin like a container.
pub(super) fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Splits a container into its chunks.
pub(super) fn parse<'a>(bytes: &'a [u8], warnings: &mut Warnings) -> Result<Container<'a>> {
    let fail = |warnings: &Warnings, offset: usize, message: String| {
        Err(warnings.error(format!("byte {offset}"), message))
    };
    let word = |offset: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
    };
    if !bytes.is_empty() && !is_container(&bytes[..bytes.len().min(4)]) && bytes.len() >= 4 {
        return fail(warnings, 0, "the file does not begin with `glTF`".into());
    }
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return fail(warnings, bytes.len(), "the file ends within its 12-byte header".into());
    };
    if version != 2 {
        let what =
            if version == 1 { "this is glTF 1.0".into() } else { format!("container version {version}") };
        return fail(warnings, 4, format!("{what}, which is not supported; convert the file to glTF 2.0"));
    }
    let length = length as usize;
    if length <= 12 {
        return fail(warnings, 8, format!("a length of {length} is too small for a container"));
    }
    if length > bytes.len() {
        // The position of the first truncated chunk says more than the length alone.
        if let Some((offset, message)) = first_cut(bytes) {
            return fail(warnings, offset, message);
        }
        return fail(
            warnings,
            bytes.len(),
            format!("the file ends here, but its header says {length} bytes"),
        );
    }
    if length < bytes.len() {
        let extra = bytes.len() - length;
        warnings
            .add(format!("byte {length}"), format!("{extra} bytes follow the container; they are ignored"));
    }
    let mut container: Option<Container<'a>> = None;
    let mut offset = 12;
    let mut chunk_index = 0;
    while offset < length {
        let (Some(size), Some(kind)) = (word(offset), word(offset + 4)) else {
            return fail(warnings, length, "the file ends within a chunk's header".into());
        };
        let size = size as usize;
        let Some(data) = bytes[..length].get(offset + 8..offset + 8 + size) else {
            return fail(warnings, offset, format!("a chunk of {size} bytes does not fit into the file"));
        };
        if !size.is_multiple_of(4) {
            return fail(
                warnings,
                offset,
                format!("a chunk's length of {size} bytes is not a multiple of 4"),
            );
        }
        match (&mut container, kind) {
            (None, JSON) if size == 0 => return fail(warnings, offset, "the JSON chunk is empty".into()),
            (None, JSON) => container = Some(Container { json: data, json_offset: offset + 8, binary: None }),
            (None, _) => {
                return fail(warnings, offset, format!("the first chunk is of type {kind:#010x}, not JSON"));
            }
            (Some(_), JSON) => return fail(warnings, offset, "there is a second JSON chunk".into()),
            (Some(found), BIN) if found.binary.is_some() => {
                return fail(warnings, offset, "there is a second binary chunk".into());
            }
            (Some(_), BIN) if chunk_index != 1 => {
                return fail(warnings, offset, "the binary chunk must be the second".into());
            }
            (Some(found), BIN) => found.binary = Some(data),
            (Some(_), _) => warnings
                .add(format!("byte {offset}"), format!("a chunk of unknown type {kind:#010x} is ignored")),
        }
        offset += 8 + size;
        chunk_index += 1;
    }
    match container {
        Some(container) => Ok(container),
        None => fail(warnings, 12, "there is no JSON chunk".into()),
    }
}

/// The first chunk that the end of the file truncates.
fn first_cut(bytes: &[u8]) -> Option<(usize, String)> {
    let mut offset = 12usize;
    while offset < bytes.len() {
        let Some(header) = bytes.get(offset..offset + 8) else {
            return Some((bytes.len(), "the file ends within a chunk's header".into()));
        };
        let size = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let end = offset + 8 + size;
        if end > bytes.len() {
            return Some((bytes.len(), format!("the file ends within a chunk of {size} bytes")));
        }
        offset = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(chunks: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
        for (kind, data) in chunks {
            out.extend((data.len() as u32).to_le_bytes());
            out.extend(kind.to_le_bytes());
            out.extend(*data);
        }
        let length = out.len() as u32;
        out[8..12].copy_from_slice(&length.to_le_bytes());
        out
    }

    fn refusal(bytes: &[u8]) -> String {
        parse(bytes, &mut Warnings::new("t.glb")).unwrap_err().to_string()
    }

    #[test]
    fn both_chunks_are_found() {
        let bytes = file(&[(JSON, b"{}  "), (BIN, &[1, 2, 3, 4])]);
        let container = parse(&bytes, &mut Warnings::new("t.glb")).unwrap();
        assert_eq!((container.json, container.json_offset), (&b"{}  "[..], 20));
        assert_eq!(container.binary, Some(&[1, 2, 3, 4][..]));
    }

    #[test]
    fn refusals_name_the_byte() {
        assert!(refusal(b"glTF").contains("byte 4: the file ends within its 12-byte header"));
        assert!(refusal(b"GLTF\x02\0\0\0\x14\0\0\0").contains("byte 0"));
        assert!(refusal(&file(&[(BIN, &[0; 4])])).contains("byte 12: the first chunk"));
        assert!(
            refusal(&file(&[(JSON, b"{}  "), (JSON, b"{}  ")])).contains("byte 24: there is a second JSON")
        );
        let whole = file(&[(JSON, b"{}  "), (BIN, &[0; 8])]);
        assert!(
            refusal(&whole[..whole.len() - 3]).contains("byte 37: the file ends within a chunk of 8 bytes")
        );
        assert!(refusal(&whole[..26]).contains("byte 26: the file ends within a chunk's header"));
    }

    #[test]
    fn unknown_chunks_and_trailing_bytes_are_warnings() {
        let mut bytes = file(&[(JSON, b"{}  "), (BIN, &[0; 4]), (7, &[0; 4])]);
        bytes.push(0);
        let mut warnings = Warnings::new("t.glb");
        parse(&bytes, &mut warnings).unwrap();
        assert_eq!(warnings.finish().len(), 2);
    }
}
