//! Fuzzing of the images that `lockstep compare` reads: EXR, PFM, Radiance HDR and PNG, whole and layer by layer.

#![allow(clippy::unwrap_used)]

use lockstep_fuzz::Fuzz;
use lockstep_reports::image_io::{
    ImageMetadata, LinearImage, encode_png, read_exr_metadata, read_image, read_layers, write_exr,
};
use std::path::Path;

/// Fuzzes a format for one of `parts` equal parts of a parser's time.
fn fuzz(parts: u32, name: &str, seeds: &[Vec<u8>], words: &[&str]) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    let report = Fuzz { name, seeds, corpus: &corpus, words }.run_part(parts, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        outcome(&path)
    });
    assert!(report.outcomes > 1, "{report:?}");
}

/// Reads a file in every way; the outcome is what the readers say.
fn outcome(path: &Path) -> String {
    let in_words = |error: &dyn std::fmt::Display| error.to_string().replace(&path.display().to_string(), "");
    let image = match read_image(path) {
        Ok(image) => {
            let (width, height) = (u64::from(image.width()), u64::from(image.height()));
            assert_eq!(image.pixels().len() as u64, width * height);
            format!("{width}x{height}, {:?}", image.precision())
        }
        Err(error) => in_words(&error),
    };
    let layers = match read_layers(path) {
        Ok(layers) => format!("{} layers", layers.len()),
        Err(error) => in_words(&error),
    };
    let metadata = match read_exr_metadata(path) {
        Ok(texts) => format!("{} texts", texts.len()),
        Err(error) => in_words(&error),
    };
    format!("{image}; {layers}; {metadata}")
}

fn image() -> LinearImage {
    LinearImage::from_fn(8, 4, |x, y| [x as f32 * 0.3, y as f32, 0.1])
}

#[test]
fn exr_images_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed.exr");
    let metadata = ImageMetadata::of_render("cornell", "cpu-bvh", 4, 0);
    let exr = |image: &LinearImage| {
        write_exr(&path, image, &metadata).unwrap();
        std::fs::read(&path).unwrap()
    };
    let with_alpha = image().with_alpha(vec![0.5; 32]);
    let words = [
        "channels\0chlist\0",
        "compression\0compression\0\u{1}\0\0\0",
        "dataWindow\0box2i\0",
        "displayWindow\0box2i\0",
        "lineOrder\0lineOrder\0",
        "pixelAspectRatio\0float\0",
        "tiles\0tiledesc\0",
        "name\0string\0",
        "type\0string\0",
        "scanlineimage",
        "tiledimage",
        "deepscanline",
        "chunkCount\0int\0",
        "view\0string\0",
        "diffuse.R\0",
        "A\0",
        "B\0",
        "Y\0",
        "\u{2}\0\0\0",
        "\0\0\0\0",
    ];
    fuzz(1, "exr", &[exr(&image()), exr(&with_alpha)], &words);
}

#[test]
fn pfm_images_are_survived() {
    let pixels = |to_bytes: fn(f32) -> [u8; 4], values: usize| {
        (0..values).flat_map(move |i| to_bytes(i as f32 * 0.1)).collect::<Vec<u8>>()
    };
    let little = [b"PF\n3 2\n-1.0\n".to_vec(), pixels(f32::to_le_bytes, 18)].concat();
    let big = [b"Pf\n3 2\n1.0\n".to_vec(), pixels(f32::to_be_bytes, 6)].concat();
    fuzz(
        2,
        "pfm",
        &[little, big],
        &["PF\n", "Pf\n", "-1.0\n", "1e39", "65535 ", "4294967296 ", "-1 ", "nan", "#"],
    );
}

#[test]
fn radiance_images_are_survived() {
    let header = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nEXPOSURE=1.0\n\n";
    let flat: Vec<u8> = (0..4 * 3 * 2).map(|i| 120 + i as u8).collect();
    let flat = [format!("{header}-Y 2 +X 3\n").into_bytes(), flat].concat();
    // One scanline of eight pixels, each channel a run of eight.
    let runs: Vec<u8> = [100u8, 110, 120, 129].iter().flat_map(|&value| [128 + 8, value]).collect();
    let packed = [format!("{header}-Y 1 +X 8\n").into_bytes(), vec![2, 2, 0, 8], runs].concat();
    let words = [
        "#?RGBE\n",
        "FORMAT=32-bit_rle_xyze\n",
        "-Y ",
        "+X ",
        "EXPOSURE=",
        "65535",
        "4294967296",
        "\u{2}\u{2}",
    ];
    fuzz(2, "hdr", &[flat, packed], &words);
}

#[test]
fn png_images_are_survived() {
    let words = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "gAMA", "iCCP", "acTL", "\0\0\0\0"];
    let mut seed = Vec::new();
    encode_png(&image(), &ImageMetadata::of_render("cornell", "cpu-bvh", 4, 0), &mut seed).unwrap();
    fuzz(1, "png", &[seed], &words);
}
