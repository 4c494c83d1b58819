//! Images whose files hold a hash of their pixels.

use lockstep_images::{
    CheckedImage, ImageMetadata, LinearImage, read_hashed_exr, write_exr, write_hashed_exr, write_hashed_png,
    write_image,
};
use std::path::Path;

fn image(last: f32) -> LinearImage {
    LinearImage::from_fn(9, 7, |x, y| if (x, y) == (8, 6) { [last; 3] } else { [x as f32 / 9.0; 3] })
}

fn write(path: &Path, image: &LinearImage) {
    let is_png = path.extension().is_some_and(|extension| extension == "png");
    let write = if is_png { write_hashed_png } else { write_hashed_exr };
    write(path, image, &ImageMetadata::default()).unwrap();
}

#[test]
fn a_pixel_altered_by_one_step_is_found_and_whole_files_are_not_told() {
    let dir = tempfile::tempdir().unwrap();
    for (file, step) in [("a.exr", 6e-8), ("a.png", 0.006)] {
        let path = dir.path().join(file);
        write(&path, &image(0.5));
        let whole = CheckedImage::read(&path).unwrap();
        assert!(!whole.is_altered, "{file}");
        let entries = ImageMetadata::default().with("pixels", whole.entries.get("pixels").unwrap());
        write_image(&path, &image(0.5 + step), &entries).unwrap();
        assert!(CheckedImage::read(&path).unwrap().is_altered, "{file}");
    }
}

#[test]
fn a_hashed_file_keeps_its_other_entries_and_one_without_a_hash_is_not_called_altered() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.exr");
    let metadata = ImageMetadata::default().with("film", "ab");
    write_hashed_exr(&path, &image(0.5), &metadata).unwrap();
    let (found, entries) = read_hashed_exr(&path).unwrap().unwrap();
    assert_eq!((found, entries.get("film"), entries.get("spp")), (image(0.5), Some("ab"), None));
    write_exr(&path, &image(0.5), &metadata).unwrap();
    assert!(!CheckedImage::read(&path).unwrap().is_altered);
    assert_eq!(read_hashed_exr(&path).unwrap(), None, "it holds no hash to be held against");
}

#[test]
fn a_file_cut_short_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["a.exr", "a.png"] {
        let path = dir.path().join(file);
        write(&path, &image(0.5));
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(CheckedImage::read(&path).unwrap_err().to_string().contains(file), "{file}");
    }
}
