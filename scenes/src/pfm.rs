//! Portable float maps (Debevec, `http://www.pauldebevec.com/Research/HDR/PFM`).

use crate::limits::Limits;

/// Width, height and first byte of the texels; the number of channels; whether bytes are lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PfmHeader {
    pub(crate) width: u32,
    pub(crate) height: u32,
    start: usize,
    channels: usize,
    little: bool,
}

/// Whether a file is a portable float map.
pub(crate) fn is_pfm(bytes: &[u8]) -> bool {
    matches!(bytes, [b'P', b'F' | b'f', space, ..] if space.is_ascii_whitespace())
}

/// Reads the header, and refuses sizes beyond the limits or the file. The error is a sentence.
pub(crate) fn header(bytes: &[u8], limits: &Limits) -> Result<PfmHeader, String> {
    let mut at = 0;
    let mut word = || {
        let rest = bytes.get(at..)?;
        let start = at + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let length = bytes[start..].iter().take(64).position(u8::is_ascii_whitespace)?;
        // A single space follows the last word.
        at = start + length + 1;
        std::str::from_utf8(&bytes[start..start + length]).ok()
    };
    let words = [word(), word(), word(), word()];
    let [Some(kind), Some(width), Some(height), Some(scale)] = words else {
        return Err("the header of the float map is damaged".into());
    };
    let (Ok(width), Ok(height), Ok(scale)) =
        (width.parse::<u32>(), height.parse::<u32>(), scale.parse::<f32>())
    else {
        return Err("the float map's size or scale is no number".into());
    };
    let channels = if kind == "PF" { 3 } else { 1 };
    let texels = u64::from(width) * u64::from(height);
    if width > limits.image_side || height > limits.image_side || texels > limits.image_texels {
        return Err(format!(
            "an image of {width}x{height} is too large; at most {0}x{0} and {1} texels are read",
            limits.image_side, limits.image_texels
        ));
    }
    if texels == 0 || (bytes.len() as u64) < at as u64 + texels * 4 * channels as u64 {
        return Err(format!("the float map has not the bytes of {width}x{height} texels"));
    }
    Ok(PfmHeader { width, height, start: at, channels, little: scale < 0.0 })
}

/// Decodes to RGBA in floats, row by row from the top. The error is a sentence.
pub(crate) fn decode(bytes: &[u8], limits: &Limits) -> Result<(PfmHeader, Vec<[f32; 4]>), String> {
    let found = header(bytes, limits)?;
    let (width, height) = (found.width as usize, found.height as usize);
    let value = |i: usize| {
        let at = found.start + 4 * i;
        let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if found.little { f32::from_le_bytes(bytes) } else { f32::from_be_bytes(bytes) }
    };
    let mut out = Vec::with_capacity(width * height);
    // Rows of the format go upwards.
    for row in (0..height).rev() {
        for column in 0..width {
            let first = (row * width + column) * found.channels;
            let [r, g, b] = if found.channels == 3 {
                [value(first), value(first + 1), value(first + 2)]
            } else {
                [value(first); 3]
            };
            out.push([r, g, b, 1.0]);
        }
    }
    Ok((found, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(kind: &str, scale: &str, values: &[f32]) -> Vec<u8> {
        let mut out = format!("{kind}\n2 1\n{scale}\n").into_bytes();
        let little = scale.starts_with('-');
        out.extend(values.iter().flat_map(|v| if little { v.to_le_bytes() } else { v.to_be_bytes() }));
        out
    }

    #[test]
    fn both_byte_orders_and_grey_maps_are_decoded() {
        let rgb = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5];
        for scale in ["-1.0", "1.0"] {
            let (found, texels) = decode(&map("PF", scale, &rgb), &Limits::default()).unwrap();
            assert_eq!((found.width, found.height), (2, 1));
            assert_eq!(texels, [[1.0, 2.0, 3.0, 1.0], [4.0, 5.0, 6.5, 1.0]]);
        }
        let (_, texels) = decode(&map("Pf", "-1.0", &[0.25, 8.0]), &Limits::default()).unwrap();
        assert_eq!(texels, [[0.25, 0.25, 0.25, 1.0], [8.0, 8.0, 8.0, 1.0]]);
    }

    #[test]
    fn the_first_row_of_the_file_is_the_lowest() {
        let mut bytes = b"Pf\n1 2\n-1\n".to_vec();
        bytes.extend([1f32, 2.0].iter().flat_map(|v| v.to_le_bytes()));
        let (_, texels) = decode(&bytes, &Limits::default()).unwrap();
        assert_eq!([texels[0][0], texels[1][0]], [2.0, 1.0]);
    }

    #[test]
    fn damaged_maps_are_refused() {
        let good = map("PF", "-1.0", &[0.0; 6]);
        for bytes in
            [&good[..good.len() - 1], b"PF\n", b"PF\n2 x\n-1\n", b"PF\n99999 99999\n-1\n", b"PF\n0 0\n-1\n"]
        {
            assert!(is_pfm(bytes) && decode(bytes, &Limits::default()).is_err());
        }
        assert!(!is_pfm(b"PFx") && !is_pfm(b"PF"));
    }
}
