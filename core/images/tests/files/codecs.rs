//! Textures decoded in place.

use image::{ExtendedColorType, ImageFormat, Limits};
use lockstep_images::codecs::{decode, decode_rgba8, shape};
use std::io::Cursor;

/// A file of 5 by 3 pixels in which all bytes differ.
fn encoded(color: ExtendedColorType, format: ImageFormat) -> Vec<u8> {
    let length = 15 * usize::from(color.bits_per_pixel()) / 8;
    let bytes: Vec<u8> = (0..length).map(|i| (i * 37 + 11) as u8).collect();
    let mut out = Cursor::new(Vec::new());
    image::write_buffer_with_format(&mut out, &bytes, 5, 3, color, format).unwrap();
    out.into_inner()
}

#[test]
fn images_decoded_in_place_are_those_that_are_converted() {
    use ExtendedColorType::{L8, L16, La8, La16, Rgb8, Rgb16, Rgba8, Rgba16};
    use ImageFormat::{Jpeg, Png, WebP};
    let pngs = [L8, La8, Rgb8, Rgba8, L16, La16, Rgb16, Rgba16].map(|color| (color, Png));
    for (color, format) in pngs.into_iter().chain([(L8, Jpeg), (Rgb8, Jpeg), (Rgb8, WebP), (Rgba8, WebP)]) {
        let bytes = encoded(color, format);
        let mut rgba = [7; 60];
        decode_rgba8(&bytes, format, Limits::default(), &mut rgba).unwrap();
        let converted = decode(&bytes, format, Limits::default()).unwrap().into_rgba8();
        assert_eq!(rgba[..], converted.into_raw(), "{color:?} in {format:?}");
    }
}

#[test]
fn files_of_8_bits_and_png_need_no_second_image_and_others_say_what_they_need() {
    let working = |bytes: &[u8], format| {
        let found = shape(bytes, format, Limits::default()).unwrap();
        assert_eq!((found.width, found.height), (5, 3));
        found.working_bytes
    };
    let of = |color, format| working(&encoded(color, format), format);
    assert_eq!(of(ExtendedColorType::Rgb8, ImageFormat::Png), 0);
    assert_eq!(of(ExtendedColorType::Rgba16, ImageFormat::Png), 0);
    assert_eq!(of(ExtendedColorType::Rgb8, ImageFormat::Jpeg), 15 * 8);
    assert_eq!(working(&interlaced(), ImageFormat::Png), 15 * 6);
}

/// A file of 16 bits a channel whose header says that its rows are interlaced.
fn interlaced() -> Vec<u8> {
    let mut bytes = encoded(ExtendedColorType::Rgb16, ImageFormat::Png);
    bytes[28] = 1;
    // The checksum of this header.
    bytes[29..33].copy_from_slice(&0xf3c3_be7a_u32.to_be_bytes());
    bytes
}

#[test]
fn a_slice_of_another_size_is_refused() {
    let bytes = encoded(ExtendedColorType::Rgb8, ImageFormat::Png);
    assert!(decode_rgba8(&bytes, ImageFormat::Png, Limits::default(), &mut [0; 56]).is_err());
}
