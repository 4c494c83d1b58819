//! Portable float map (Debevec): `PF` or `Pf`, width, height, scale, then rows of f32 from the bottom. The
//! sign of the scale gives the byte order, negative for little-endian; its size multiplies the values.

use super::LinearImage;
use std::io::Read;

/// The header of a file.
#[derive(Debug, PartialEq)]
pub(super) struct PfmHeader {
    pub(super) width: u32,
    pub(super) height: u32,
    channels: usize,
    scale: f32,
}

pub(super) fn read_header(reader: &mut impl Read) -> Result<PfmHeader, String> {
    let channels = match token(reader)?.as_str() {
        "PF" => 3,
        "Pf" => 1,
        other => return Err(format!("starts with {other:?} where PF or Pf was expected")),
    };
    let mut number = |what: &str| {
        let text = token(reader)?;
        text.parse::<u32>().map_err(|_| format!("{what} is {text:?} where a whole number was expected"))
    };
    let (width, height) = (number("width")?, number("height")?);
    let text = token(reader)?;
    match text.parse::<f32>() {
        Ok(scale) if scale.is_finite() && scale != 0.0 => Ok(PfmHeader { width, height, channels, scale }),
        _ => Err(format!("scale is {text:?} where a number other than 0 was expected")),
    }
}

pub(super) fn read_pixels(reader: &mut impl Read, header: &PfmHeader) -> Result<LinearImage, String> {
    let (width, height) = (header.width as usize, header.height as usize);
    let mut row = vec![0u8; width * header.channels * 4];
    let mut data = vec![[0.0f32; 3]; width * height];
    for y in (0..height).rev() {
        reader.read_exact(&mut row).map_err(|e| format!("row {y} of {height}: {e}"))?;
        let pixels = &mut data[y * width..(y + 1) * width];
        for (pixel, bytes) in pixels.iter_mut().zip(row.chunks_exact(header.channels * 4)) {
            for (c, value) in pixel.iter_mut().enumerate() {
                let at = if header.channels == 3 { c * 4 } else { 0 };
                *value = float(&bytes[at..at + 4], header.scale);
            }
        }
    }
    LinearImage::new(header.width, header.height, data).map_err(|e| e.to_string())
}

fn float(bytes: &[u8], scale: f32) -> f32 {
    let raw = [bytes[0], bytes[1], bytes[2], bytes[3]];
    let value = if scale < 0.0 { f32::from_le_bytes(raw) } else { f32::from_be_bytes(raw) };
    value * scale.abs()
}

/// A word of the header and the one white space after it.
fn token(reader: &mut impl Read) -> Result<String, String> {
    let mut word = String::new();
    loop {
        let mut byte = [0u8];
        reader.read_exact(&mut byte).map_err(|e| format!("header: {e}"))?;
        match byte[0] {
            b' ' | b'\n' | b'\r' | b'\t' if word.is_empty() => {}
            b' ' | b'\n' | b'\r' | b'\t' => return Ok(word),
            byte if byte.is_ascii_graphic() && word.len() < 32 => word.push(char::from(byte)),
            _ => return Err("the header is not text".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_byte_orders_and_grey_are_read_bottom_row_first() {
        let floats = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let little: Vec<u8> =
            b"PF\n1 2\n-1.0\n".iter().copied().chain(floats.iter().flat_map(|f| f.to_le_bytes())).collect();
        let big: Vec<u8> =
            b"PF\n1 2\n1.0\n".iter().copied().chain(floats.iter().flat_map(|f| f.to_be_bytes())).collect();
        for bytes in [little, big] {
            let mut reader = bytes.as_slice();
            let header = read_header(&mut reader).unwrap();
            let image = read_pixels(&mut reader, &header).unwrap();
            assert_eq!(image.pixels(), [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]);
        }
        let mut grey: &[u8] = b"Pf 1 1 -2\n\x00\x00\x80\x3f";
        let header = read_header(&mut grey).unwrap();
        assert_eq!(read_pixels(&mut grey, &header).unwrap().pixels(), [[2.0; 3]]);
    }

    #[test]
    fn truncated_and_malformed_files_are_refused_with_a_reason() {
        let error =
            |mut bytes: &[u8]| read_header(&mut bytes).and_then(|h| read_pixels(&mut bytes, &h)).unwrap_err();
        assert!(error(b"PF\n2 2\n-1\n\0\0").contains("row 1"));
        assert!(error(b"PG\n2 2\n").contains("PF"));
        assert!(error(b"PF\n-2 2\n-1\n").contains("width"));
        assert!(error(b"PF\n2 2\n0\n").contains("scale"));
        assert!(error(b"PF\n2").contains("header"));
    }
}
