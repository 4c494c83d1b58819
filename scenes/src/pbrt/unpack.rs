//! Files packed by gzip.

use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// The bytes of a file, unpacked where gzip packed them (RFC 1952), to at most `limit` of them. The error is a
/// sentence.
pub(super) fn unpack(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>, String> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(limit.saturating_add(1));
    reader.read_to_end(&mut out).map_err(|error| format!("the packed file is damaged: {error}"))?;
    if out.len() as u64 > limit {
        return Err(format!("the packed file unfolds to more than {limit} bytes"));
    }
    Ok(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn packed_files_are_unpacked_within_the_limit() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&[b'x'; 1000]).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(unpack(&packed, 1000).unwrap().as_ref(), [b'x'; 1000]);
        assert!(unpack(&packed, 999).unwrap_err().contains("more than 999"));
        assert!(unpack(&packed[..packed.len() - 9], 1000).unwrap_err().contains("damaged"));
        assert_eq!(unpack(b"WorldBegin", 0).unwrap().as_ref(), b"WorldBegin");
    }
}
