//! Claims about images on their way through files. The library's own tests would have to compile all decoders and encoders
//! a second time.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod codecs;
mod hashed;

use lockstep_images::{
    ImageMetadata, LayerKind, LinearImage, Precision, ReadError, ReadLimits, read_exr_metadata, read_image,
    read_image_limited, read_layers, read_png_metadata, read_srgb8, srgb, write_exr, write_image, write_png,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn sample() -> LinearImage {
    let values = [0.0, -0.5, 1e-30, 0.18, 1.0, 65_504.0, 1e20, f32::INFINITY];
    LinearImage::from_fn(23, 11, |x, y| {
        let v = values[(x + y) as usize % values.len()];
        [v, v * 0.5, (x as f32 + 1.0) / (y as f32 + 3.0)]
    })
}

fn in_folder(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    (dir, path)
}

#[test]
fn equal_images_with_equal_metadata_are_equal_exr_files() {
    let dir = tempfile::tempdir().unwrap();
    let metadata = (0..12).fold(ImageMetadata::default(), |m, i| m.with(&format!("key-{i}"), "value"));
    let file = |name: &str| {
        let path = dir.path().join(name);
        write_exr(&path, &sample(), &metadata).unwrap();
        std::fs::read(path).unwrap()
    };
    let first = file("0.exr");
    // Twelve attributes have half a billion orders.
    assert!((1..4).all(|i| file(&format!("{i}.exr")) == first));
}

#[test]
fn exr_keeps_every_bit_and_its_metadata() {
    let (_dir, path) = in_folder("a.exr");
    let metadata = ImageMetadata::of_render("größe \"1\"", "opencl@pocl", 64, 7).with("command", "a\0b");
    write_exr(&path, &sample(), &metadata).unwrap();
    let back = read_image(&path).unwrap();
    let bits = |image: &LinearImage| image.pixels().iter().flatten().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!((back.width(), back.height(), bits(&back)), (23, 11, bits(&sample())));
    let texts = read_exr_metadata(&path).unwrap();
    let text = |key: &str| texts.get(&format!("lockstep.{key}")).map(String::as_str);
    assert_eq!((text("scene"), text("target")), (Some("größe \"1\""), Some("opencl@pocl")));
    assert_eq!((text("spp"), text("seed"), text("command")), (Some("64"), Some("7"), Some("ab")));
}

#[test]
fn png_keeps_eight_bit_codes_and_its_metadata() {
    let (_dir, path) = in_folder("a.png");
    write_png(&path, &sample(), &ImageMetadata::of_render("scène", "cuda@0", 1, 0)).unwrap();
    assert_eq!(read_image(&path).unwrap().to_srgb8(), sample().to_srgb8());
    assert_eq!(read_srgb8(&path).unwrap().codes, sample().to_srgb8());
    let texts = read_png_metadata(&path).unwrap();
    assert_eq!(texts["lockstep.scene"], "scène");
    assert_eq!(texts["lockstep.target"], "cuda@0");
}

#[test]
fn sixteen_bit_and_grey_png_are_decoded_from_srgb() {
    let (_dir, path) = in_folder("a.png");
    image::ImageBuffer::<image::Luma<u16>, _>::from_raw(2, 1, vec![0u16, 32_768])
        .unwrap()
        .save(&path)
        .unwrap();
    let pixels = read_image(&path).unwrap().pixels().to_vec();
    assert_eq!(pixels[0], [0.0; 3]);
    assert_eq!(pixels[1], [srgb::decode16(32_768); 3]);
}

#[test]
fn radiance_hdr_is_read_as_linear() {
    let (_dir, path) = in_folder("a.hdr");
    let header = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n";
    let pixels = [128u8, 64, 0, 129, 128, 128, 128, 130];
    std::fs::write(&path, [header.as_slice(), &pixels].concat()).unwrap();
    assert_eq!(read_image(&path).unwrap().pixels(), [[1.0, 0.5, 0.0], [2.0, 2.0, 2.0]]);
}

#[test]
fn both_signatures_of_radiance_files_are_read_and_their_precision_is_known() {
    let (_dir, path) = in_folder("a.hdr");
    let header = b"#?RGBE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n";
    std::fs::write(&path, [header.as_slice(), &[128u8, 64, 0, 129, 128, 128, 128, 130]].concat()).unwrap();
    let image = read_image(&path).unwrap();
    assert_eq!(image.pixels(), [[1.0, 0.5, 0.0], [2.0, 2.0, 2.0]]);
    assert_eq!(image.precision(), Precision::Rgbe);
}

/// An EXR file of two parts, as Blender's and pbrt's with several passes.
fn write_passes(path: &Path) {
    use exr::prelude::*;
    let channel = |name: &str, samples: FlatSamples| AnyChannel::new(name, samples);
    let ones = |v: f32| FlatSamples::F32(vec![v; 6]);
    let half = |v: f32| FlatSamples::F16(vec![f16::from_f32(v); 6]);
    let part = |name: &str, channels: Vec<AnyChannel<FlatSamples>>| {
        Layer::new(
            (3, 2),
            LayerAttributes::named(name),
            Encoding::UNCOMPRESSED,
            AnyChannels::sort(channels.into()),
        )
    };
    let combined = ["R", "G", "B", "A"].map(|c| channel(&format!("View.Combined.{c}"), half(0.5)));
    let normal = ["X", "Y", "Z"].map(|c| channel(&format!("View.Normal.{c}"), ones(-0.5)));
    let depth = channel("View.Depth.Z", ones(7.0));
    let image = Image::empty(ImageAttributes::new(IntegerBounds::from_dimensions((3, 2))))
        .with_layer(part("View", normal.into_iter().chain([depth]).collect()))
        .with_layer(part("View.Combined", combined.into()));
    image.write().to_file(path).unwrap();
}

#[test]
fn every_layer_of_every_part_is_read_with_what_it_holds() {
    let (_dir, path) = in_folder("a.exr");
    write_passes(&path);
    let layers = read_layers(&path).unwrap();
    let found: Vec<_> = layers.iter().map(|l| (l.name.as_str(), l.kind, l.image.pixels()[0])).collect();
    assert_eq!(
        found,
        [
            ("View.Combined", LayerKind::Colour, [0.5; 3]),
            ("View.Depth", LayerKind::Scalar, [7.0; 3]),
            ("View.Normal", LayerKind::Direction, [-0.5; 3]),
            ("View.Combined.A", LayerKind::Alpha, [0.5; 3]),
        ]
    );
    assert!(layers[0].is_named_as_image() && !layers[1].is_named_as_image());
    assert_eq!(layers[3].base_of_alpha(), Some("View.Combined"));
    assert_eq!(layers[0].image.precision(), Precision::Half);
    let image = read_image(&path).unwrap();
    assert_eq!((image.pixels()[0], image.alpha().unwrap()[0]), ([0.5; 3], 0.5));
}

#[test]
fn luminance_alone_is_an_image() {
    use exr::prelude::*;
    let (_dir, path) = in_folder("a.exr");
    let y = AnyChannel::new("Y", FlatSamples::F32(vec![0.25; 6]));
    let channels = AnyChannels::sort(vec![y].into());
    exr::prelude::Image::from_channels((3, 2), channels).write().to_file(&path).unwrap();
    assert_eq!(read_image(&path).unwrap().pixels(), [[0.25; 3]; 6]);
}

#[test]
fn the_alpha_of_a_png_is_kept() {
    let (_dir, path) = in_folder("a.png");
    image::RgbaImage::from_pixel(2, 1, image::Rgba([10, 20, 30, 51])).save(&path).unwrap();
    let image = read_image(&path).unwrap();
    assert_eq!((image.alpha().unwrap()[0], image.precision()), (0.2, Precision::Code8));
    let layers = read_layers(&path).unwrap();
    let found: Vec<_> = layers.iter().map(|l| (l.name.as_str(), l.kind, l.image.precision())).collect();
    assert_eq!(
        found,
        [("", LayerKind::Colour, Precision::Code8), ("A", LayerKind::Alpha, Precision::Linear8)]
    );
    assert_eq!((layers[1].image.pixels()[0], layers[1].base_of_alpha()), ([0.2; 3], Some("")));
}

#[test]
fn luminance_has_its_alpha_and_layers_know_their_place() {
    use exr::prelude::*;
    let (_dir, path) = in_folder("a.exr");
    let channel = |name: &str, v: f32| AnyChannel::new(name, FlatSamples::F32(vec![v; 6]));
    let channels = AnyChannels::sort(vec![channel("Y", 0.25), channel("A", 0.5)].into());
    let attributes = LayerAttributes { layer_position: Vec2(4, -3), ..LayerAttributes::default() };
    let layer = Layer::new((3, 2), attributes, Encoding::UNCOMPRESSED, channels);
    let image = Image::empty(ImageAttributes::new(IntegerBounds::from_dimensions((9, 9)))).with_layer(layer);
    image.write().to_file(&path).unwrap();
    let found: Vec<_> =
        read_layers(&path).unwrap().iter().map(|l| (l.name.clone(), l.kind, l.origin)).collect();
    let at = (4, -3);
    assert_eq!(found, [(String::new(), LayerKind::Colour, at), ("A".to_owned(), LayerKind::Alpha, at)]);
    assert_eq!(read_image(&path).unwrap().alpha().unwrap(), [0.5; 6]);
}

#[test]
fn a_tiny_file_cannot_ask_for_gigabytes() {
    let hdr = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 30000 +X 30000\n".to_vec();
    let hdr_small = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 5000 +X 5000\n".to_vec();
    let pfm = b"PF\n4000000000 4000000000\n-1.0\n".to_vec();
    let empty = b"PF\n0 4\n-1.0\n".to_vec();
    for (name, bytes, reason) in [
        ("a.hdr", hdr, "in all"),
        ("b.hdr", hdr_small, "bytes can hold"),
        ("c.pfm", pfm, "on a side"),
        ("d.pfm", empty, "at least one"),
    ] {
        let (_dir, path) = in_folder(name);
        std::fs::write(&path, bytes).unwrap();
        let error = read_image(&path).unwrap_err();
        assert!(matches!(error, ReadError::TooLarge { .. }), "{error}");
        assert!(error.to_string().contains(reason) && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn limits_refuse_a_png_by_its_header() {
    let (_dir, path) = in_folder("a.png");
    write_png(&path, &LinearImage::from_fn(40, 30, |_, _| [0.5; 3]), &ImageMetadata::default()).unwrap();
    let limits = ReadLimits { max_side: 32, ..Default::default() };
    assert!(read_image_limited(&path, limits).is_err());
    let limits = ReadLimits { max_pixels: 1000, ..Default::default() };
    assert!(matches!(read_image_limited(&path, limits).unwrap_err(), ReadError::TooLarge { .. }));
}

#[test]
fn what_is_no_image_is_an_error_that_names_the_file() {
    let (_dir, path) = in_folder("a.txt");
    let missing = read_image(&path).unwrap_err();
    assert!(matches!(missing, ReadError::Io { .. }) && missing.to_string().contains("a.txt"));
    std::fs::write(&path, "hello").unwrap();
    assert!(matches!(read_image(&path).unwrap_err(), ReadError::UnknownFormat { .. }));
}

#[test]
fn the_extension_picks_the_format_and_others_are_refused() {
    let (_dir, path) = in_folder("a.JPG");
    let error = write_image(&path, &sample(), &ImageMetadata::default()).unwrap_err().to_string();
    assert!(error.contains("a.JPG") && error.contains(".exr"), "{error}");
    write_image(&path.with_extension("EXR"), &sample(), &ImageMetadata::default()).unwrap();
    assert!(path.with_extension("EXR").exists());
}

fn encoded(kind: usize, folder: &Path) -> Vec<u8> {
    let image = LinearImage::from_fn(16, 12, |x, y| [x as f32 / 16.0, y as f32 / 12.0, 0.5]);
    let path = folder.join(["a.exr", "a.png"][kind.min(1)]);
    match kind {
        0 | 1 => {
            write_image(&path, &image, &ImageMetadata::of_render("s", "t", 1, 1)).unwrap();
            std::fs::read(&path).unwrap()
        }
        2 => [b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 12 +X 16\n".as_slice(), &[90; 12 * 16 * 4]].concat(),
        _ => [b"PF\n16 12\n-1.0\n".as_slice(), &[60; 12 * 16 * 12]].concat(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_files_are_errors_or_images_and_never_panic(
        kind in 0usize..4, cut: prop::sample::Index, flips: Vec<(prop::sample::Index, u8)>,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut bytes = encoded(kind, dir.path());
        // Half of the damage goes to the first bytes, where the headers are.
        for (i, (place, mask)) in flips.iter().take(8).enumerate() {
            let reach = if i % 2 == 0 { bytes.len().min(400) } else { bytes.len() };
            let at = place.index(reach);
            bytes[at] ^= mask;
        }
        if flips.is_empty() {
            bytes.truncate(cut.index(bytes.len()));
        }
        let path = dir.path().join("damaged");
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(image) = read_image(&path) {
            prop_assert_eq!(image.pixels().len() as u64, u64::from(image.width()) * u64::from(image.height()));
        }
    }
}

#[test]
fn pixels_that_are_not_finite_are_counted_and_the_first_is_placed() {
    let image =
        LinearImage::from_fn(4, 3, |x, y| if y == 1 && x > 1 { [0.0, f32::NAN, 1.0] } else { [1.0; 3] });
    assert_eq!(image.not_finite(), Some((2, [2, 1])));
    assert!(!image.is_finite());
    let clean = LinearImage::from_fn(4, 3, |_, _| [1.0; 3]);
    assert!(clean.is_finite() && clean.not_finite().is_none());
    assert_eq!(image.pixels_differing(&clean), 2);
}

#[test]
fn the_mean_of_images_is_taken_value_by_value_and_one_image_is_its_own() {
    let image = |value: f32| LinearImage::from_fn(2, 1, |x, _| [value, x as f32, 0.0]);
    let mean = LinearImage::mean_of(&[&image(1.0), &image(2.0)]).unwrap();
    assert_eq!(mean.pixels(), [[1.5, 0.0, 0.0], [1.5, 1.0, 0.0]]);
    assert_eq!(LinearImage::mean_of(&[&image(f32::INFINITY)]), Some(image(f32::INFINITY)));
    assert_eq!(LinearImage::mean_of(&[]), None);
}

#[test]
fn the_most_different_pixel_is_found_by_the_sum_over_its_channels() {
    let a = LinearImage::from_fn(8, 4, |x, y| if (x, y) == (6, 3) { [0.9; 3] } else { [0.51; 3] });
    let b = LinearImage::from_fn(8, 4, |x, _| if x == 0 { [0.5, 0.5, 1.0] } else { [0.5; 3] });
    assert_eq!(a.most_different_pixel(&b), [6, 3]);
}

#[test]
fn a_part_of_an_image_keeps_its_alpha_and_ends_where_the_image_does() {
    let image = LinearImage::from_fn(5, 4, |x, y| [x as f32, y as f32, 0.0]);
    let image = image.with_alpha((0..20).map(|i| i as f32).collect()).with_precision(Precision::Half);
    let part = image.cut((3, 1), (9, 2));
    assert_eq!((part.width(), part.height(), part.precision()), (2, 2, Precision::Half));
    assert_eq!(part.pixels(), [[3.0, 1.0, 0.0], [4.0, 1.0, 0.0], [3.0, 2.0, 0.0], [4.0, 2.0, 0.0]]);
    assert_eq!(part.alpha().unwrap(), [8.0, 9.0, 13.0, 14.0]);
    assert_eq!(image.cut((5, 0), (1, 1)).pixels(), [[0.0f32; 3]; 0]);
}
