//! The header of a written OpenEXR file, put into one order, so that equal images are equal files.
//!
//! The encoder keeps attributes in a map whose order differs from run to run. The order means nothing in the
//! format (*OpenEXR File Layout*, "Header").

use std::io::{self, Read, Seek, SeekFrom, Write};

/// Magic number and version, before the first attribute.
const PREFIX: usize = 8;

/// Bytes in which a header is looked for first.
const LIKELY: u64 = 1 << 14;

/// Sorts the attributes of a written file with one part by their names. Sizes stay, and with them every offset.
///
/// # Errors
/// `InvalidData` for a file that is no such one, and errors of reading and writing.
pub(super) fn sort_attributes_of(mut file: impl Read + Write + Seek) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut taken = LIKELY.min(length);
    loop {
        let mut start = vec![0; taken as usize];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut start)?;
        match sort_attributes(&mut start) {
            // The header may be longer
            Err(_) if taken < length => taken = (4 * taken).min(length),
            sorted => {
                sorted?;
                file.seek(SeekFrom::Start(0))?;
                return file.write_all(&start);
            }
        }
    }
}

/// Sorts the attributes of a file that begins with these bytes.
fn sort_attributes(file: &mut [u8]) -> io::Result<()> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the encoder wrote a damaged EXR header");
    let mut attributes: Vec<&[u8]> = Vec::new();
    let mut at = PREFIX;
    while *file.get(at).ok_or_else(damaged)? != 0 {
        let length = attribute_length(&file[at..]).ok_or_else(damaged)?;
        attributes.push(file.get(at..at + length).ok_or_else(damaged)?);
        at += length;
    }
    attributes.sort_unstable();
    let sorted = attributes.concat();
    file[PREFIX..at].copy_from_slice(&sorted);
    Ok(())
}

/// Bytes of the attribute at the start: name and type, each ended by a zero, the value's size and the value.
fn attribute_length(bytes: &[u8]) -> Option<usize> {
    let name = bytes.iter().position(|&b| b == 0)? + 1;
    let kind = bytes[name..].iter().position(|&b| b == 0)? + 1;
    let at = name + kind;
    let size = i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
    Some(at + 4 + usize::try_from(size).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, value: &[u8]) -> Vec<u8> {
        let size = (value.len() as i32).to_le_bytes();
        [name.as_bytes(), b"\0string\0", &size, value].concat()
    }

    #[test]
    fn attributes_in_any_order_become_one_file() {
        let (a, b) = (attribute("a", b"first"), attribute("b", b"the second"));
        let file = |attributes: &[&[u8]]| [&[0; PREFIX], &*attributes.concat(), b"\0pixels"].concat();
        let (mut one, mut other) = (file(&[&a, &b]), file(&[&b, &a]));
        assert_ne!(one, other);
        sort_attributes(&mut one).unwrap();
        sort_attributes(&mut other).unwrap();
        assert_eq!((one.as_slice(), one.clone()), (&*file(&[&a, &b]), other));
    }

    #[test]
    fn a_header_beyond_the_first_bytes_is_sorted_in_the_file() {
        let (a, b) = (attribute("a", &[7; 3 * LIKELY as usize]), attribute("b", b"the second"));
        let mut file = io::Cursor::new([&[0; PREFIX], &*b, &*a, b"\0", &[9; 500]].concat());
        sort_attributes_of(&mut file).unwrap();
        assert_eq!(file.into_inner(), [&[0; PREFIX], &*a, &*b, b"\0", &[9; 500]].concat());
    }

    #[test]
    fn a_header_that_is_cut_short_is_an_error() {
        let file = [&[0; PREFIX], &*attribute("a", b"first"), b"\0"].concat();
        for end in 0..file.len() {
            assert!(sort_attributes(&mut file[..end].to_vec()).is_err(), "{end}");
        }
    }
}
