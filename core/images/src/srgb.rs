//! The transfer function of sRGB, IEC 61966-2-1:1999.
//!
//! Encoding: `12.92 x` for x ≤ 0.0031308, else `1.055 x^(1/2.4) − 0.055`. Decoding: `y / 12.92` for
//! y ≤ 0.04045, else `((y + 0.055) / 1.055)^2.4`. Eight-bit values are `round(255 encode(clamp(x, 0, 1)))`,
//! found by comparing with the 255 linear values where the rounding changes.

use std::sync::LazyLock;

/// Encodes a linear value, 0 to 1.
pub fn encode(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// Decodes an encoded value, 0 to 1.
pub fn decode(encoded: f64) -> f64 {
    if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

static DECODED: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|i| decode(i as f64 / 255.0) as f32));

/// Element `i` is the least linear value that is encoded as more than `i`.
static THRESHOLDS: LazyLock<[f32; 255]> =
    LazyLock::new(|| std::array::from_fn(|i| decode((i as f64 + 0.5) / 255.0) as f32));

/// Linear value, clamped to 0 to 1, as an 8-bit code. NaN becomes 0.
pub fn encode8(linear: f32) -> u8 {
    THRESHOLDS.partition_point(|&threshold| linear >= threshold) as u8
}

/// Linear value of an 8-bit code.
pub fn decode8(code: u8) -> f32 {
    DECODED[usize::from(code)]
}

/// Linear value of a 16-bit code.
pub fn decode16(code: u16) -> f32 {
    decode(f64::from(code) / 65535.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_decoding_and_encoding() {
        for code in 0..=255 {
            assert_eq!(encode8(decode8(code)), code);
        }
    }

    #[test]
    fn encoding_agrees_with_the_formula() {
        for i in 0..=100_000 {
            let x = i as f32 / 100_000.0;
            assert_eq!(encode8(x), (encode(f64::from(x)) * 255.0).round() as u8, "{x}");
        }
    }

    #[test]
    fn known_values_are_as_published() {
        assert_eq!(encode8(0.5), 188);
        assert_eq!(encode8(0.18), 118);
        assert!((decode8(128) - 0.215_860_5).abs() < 1e-6);
        assert_eq!((decode8(0), decode8(255), decode16(65535)), (0.0, 1.0, 1.0));
    }

    #[test]
    fn values_out_of_range_are_clamped() {
        assert_eq!((encode8(-1.0), encode8(7.0), encode8(f32::NAN)), (0, 255, 0));
        assert_eq!((encode8(f32::INFINITY), encode8(f32::NEG_INFINITY)), (255, 0));
    }
}
