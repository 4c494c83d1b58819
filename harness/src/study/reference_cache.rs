//! References kept from study to study, in the cache folder.
//!
//! An entry is an EXR file of f32 means named for a hash of the scene and the settings. Two things are
//! checked before it is used: that it is whole, by the hash of its pixels, and that today's program would
//! render the same, by the hash of the film of its first sample, which the caller has just rendered.

use std::path::{Path, PathBuf};

use lockstep_core::{Scene, Settings, folders, leftovers};
use lockstep_reports::image_io::{ImageMetadata, LinearImage, read_hashed_exr, write_hashed_exr};

/// The identity of a cached reference.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    scene: String,
    seed: u32,
    size: (u32, u32),
    key: String,
    witness: String,
}

/// A cached reference.
#[derive(Debug)]
pub(crate) struct Found {
    /// The image.
    pub(crate) image: LinearImage,
    /// The samples per pixel.
    pub(crate) spp: u32,
    /// The target that rendered it.
    pub(crate) target: String,
}

impl Entry {
    /// The reference of a scene; `witness` is the hash of the film of its first sample.
    pub(crate) fn new(scene: &Scene, settings: &Settings, witness: String) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(scene.hash.as_bytes());
        hasher.update(format!("{settings:?}").as_bytes());
        let key = hasher.finalize().to_hex()[..32].to_owned();
        let size = (settings.width, settings.height);
        Self { scene: scene.name.clone(), seed: settings.seed, size, key, witness }
    }

    fn file_name(&self, spp: u32) -> String {
        format!("{}.{spp}spp.exr", self.key)
    }

    /// Samples per pixel of a file, if it is one of this entry's.
    fn spp_of(&self, file_name: &str) -> Option<u32> {
        let spp =
            file_name.strip_prefix(&self.key)?.strip_prefix('.')?.strip_suffix("spp.exr")?.parse().ok()?;
        (self.file_name(spp) == file_name).then_some(spp)
    }
}

/// The folder of cached references; `None` where neither the environment nor a home folder gives one.
fn folder() -> Option<PathBuf> {
    Some(folders::cache_folder()?.join("references"))
}

/// The cached reference with the most samples per pixel, and at least `least`. What is damaged or out of date
/// is removed.
pub(crate) fn find(entry: &Entry, least: u32) -> Option<Found> {
    find_in(&folder()?, entry, least)
}

fn find_in(folder: &Path, entry: &Entry, least: u32) -> Option<Found> {
    leftovers::sweep(folder);
    let names =
        std::fs::read_dir(folder).ok()?.flatten().filter_map(|file| file.file_name().into_string().ok());
    let mut kept: Vec<u32> =
        names.filter_map(|name| entry.spp_of(&name)).filter(|&spp| spp >= least).collect();
    kept.sort_unstable_by(|a, b| b.cmp(a));
    kept.into_iter().find_map(|spp| {
        let path = folder.join(entry.file_name(spp));
        let found = read(&path, entry, spp);
        if found.is_none() {
            // A file that cannot be removed is passed over again next time.
            let _ = std::fs::remove_file(&path);
        }
        found
    })
}

/// A cached image, if it is whole and still what would be rendered.
fn read(path: &Path, entry: &Entry, spp: u32) -> Option<Found> {
    let (image, entries) = read_hashed_exr(path).ok()??;
    let is_own = (image.width(), image.height()) == entry.size && entries.get("witness")? == entry.witness;
    let target = entries.get("target")?.to_owned();
    is_own.then_some(Found { image, spp, target })
}

/// Keeps a reference.
///
/// # Errors
/// Why it could not be kept, in words.
pub(crate) fn store(entry: &Entry, spp: u32, target: &str, image: &LinearImage) -> Result<(), String> {
    let folder = folder().ok_or_else(|| "there is no cache folder; set LOCKSTEP_CACHE to one".to_owned())?;
    store_in(&folder, entry, spp, target, image)
}

fn store_in(folder: &Path, entry: &Entry, spp: u32, target: &str, image: &LinearImage) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    let metadata = ImageMetadata::of_render(&entry.scene, target, spp, u64::from(entry.seed))
        .with("witness", &entry.witness);
    write_hashed_exr(&folder.join(entry.file_name(spp)), image, &metadata).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::SceneBuilder;
    use lockstep_reports::image_io::{CheckedImage, write_exr};

    fn entry(witness: &str) -> Entry {
        let settings = Settings { width: 8, height: 4, ..Settings::default() };
        Entry::new(&SceneBuilder::new("sky").build().unwrap(), &settings, witness.into())
    }

    fn image() -> LinearImage {
        LinearImage::from_fn(8, 4, |x, y| [x as f32 / 3.0, y as f32, 1e-20])
    }

    #[test]
    fn a_kept_reference_comes_back_bit_for_bit_with_the_most_samples() {
        let dir = tempfile::tempdir().unwrap();
        store_in(dir.path(), &entry("w"), 16, "t", &LinearImage::from_fn(8, 4, |_, _| [0.0; 3])).unwrap();
        store_in(dir.path(), &entry("w"), 64, "u", &image()).unwrap();
        let found = find_in(dir.path(), &entry("w"), 16).unwrap();
        assert_eq!((found.image, found.spp, found.target.as_str()), (image(), 64, "u"));
        assert!(find_in(dir.path(), &entry("w"), 65).is_none());
    }

    #[test]
    fn looking_for_a_reference_removes_what_a_killed_process_left() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(".ab.Xy9.tmp");
        let two_days = std::time::Duration::from_secs(2 * 24 * 60 * 60);
        let file = std::fs::File::create(&left).unwrap();
        file.set_modified(std::time::SystemTime::now() - two_days).unwrap();
        assert!(find_in(dir.path(), &entry("w"), 16).is_none());
        assert!(!left.exists());
    }

    #[test]
    fn a_reference_of_an_older_program_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        store_in(dir.path(), &entry("before"), 16, "t", &image()).unwrap();
        assert!(find_in(dir.path(), &entry("after"), 16).is_none());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "and is removed");
    }

    #[test]
    fn a_damaged_reference_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let e = entry("w");
        store_in(dir.path(), &e, 16, "t", &image()).unwrap();
        let path = dir.path().join(e.file_name(16));
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(find_in(dir.path(), &e, 16).is_none(), "cut at {cut}");
        }
        // The right size and header, but other pixels.
        std::fs::write(&path, &whole).unwrap();
        let written = CheckedImage::read(&path).unwrap().entries;
        let keep = |all: ImageMetadata, key: &str| all.with(key, written.get(key).unwrap());
        let forged = ["target", "witness", "pixels"].into_iter().fold(ImageMetadata::default(), keep);
        write_exr(&path, &LinearImage::from_fn(8, 4, |_, _| [0.5; 3]), &forged).unwrap();
        assert!(find_in(dir.path(), &e, 16).is_none());
    }

    #[test]
    fn other_settings_are_another_entry() {
        let scene = SceneBuilder::new("sky").build().unwrap();
        let a = Entry::new(&scene, &Settings::default(), "w".into());
        let b = Entry::new(&scene, &Settings { bounces: 7, ..Settings::default() }, "w".into());
        assert_ne!(a.key, b.key);
        assert_eq!(a.spp_of(&b.file_name(4)), None);
        assert_eq!(a.spp_of(&a.file_name(4)), Some(4));
    }
}
