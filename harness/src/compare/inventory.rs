//! The images on one side of a comparison.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_reports::image_io::is_map_name;
use lockstep_reports::image_io::{ImageName, read_exr_metadata};
use lockstep_reports::study::files;

use crate::exit::Failure;

/// Extensions of images, linear ones first: where an image is there twice, the linear file is compared.
const LINEAR: [&str; 3] = ["exr", "pfm", "hdr"];
const CODED: &str = "png";

/// The scene, target, samples and seed of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// Scene name.
    pub(super) scene: String,
    /// Target name.
    pub(super) target: String,
    /// Samples per pixel; 0 when unknown.
    pub(super) spp: u32,
    /// Random seed; 0 when the name does not tell.
    pub(super) seed: u64,
}

/// The files of one image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    /// A file of linear values.
    pub(super) linear: Option<PathBuf>,
    /// A file of 8-bit values.
    pub(super) coded: Option<PathBuf>,
}

/// The images of one side.
pub(super) type Inventory = BTreeMap<Key, Sources>;

/// Finds the images of a file, a folder, or a study's folder. Scene, target and samples come from a name
/// of the form `<scene>.<target>.<spp>spp.<kind>` or `<scene>.<target>.<spp>spp.s<seed>.<kind>`, else from the header of an
/// EXR file that Lockstep rendered. In any other file the scene is the file's name and the target is `label`.
///
/// # Errors
/// [`Failure::Io`] for a path that cannot be read, [`Failure::Missing`] for a folder without images,
/// [`Failure::Input`] for a file that is none, and [`Failure::Read`] for a damaged EXR header.
pub(super) fn take(path: &Path, label: &str) -> Result<Inventory, Failure> {
    let mut inventory = Inventory::new();
    for file in files_of(path)? {
        add(&mut inventory, file, label)?;
    }
    if inventory.is_empty() {
        let images = ".exr, .png, .hdr or .pfm image";
        return Err(match path.is_dir() {
            true => Failure::Missing(format!("{} holds no {images} to compare", path.display())),
            false => Failure::Input(format!("{} is named as no {images}", path.display())),
        });
    }
    Ok(inventory)
}

/// The path itself if it is a file, else the files in it, or in its `images` where it is a study's folder.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let metadata = std::fs::metadata(path).map_err(Failure::io("read", path))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let of_study = path.join(files::IMAGES);
    let folder = if path.join(files::RECORDS).exists() && of_study.is_dir() { &of_study } else { path };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Failure::io("list the folder", folder))? {
        found.push(entry.map_err(Failure::io("list the folder", folder))?.path());
    }
    found.sort();
    Ok(found)
}

fn add(inventory: &mut Inventory, file: PathBuf, label: &str) -> Result<(), Failure> {
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
    let Some((stem, extension)) = name.rsplit_once('.') else { return Ok(()) };
    let extension = extension.to_ascii_lowercase();
    if name.starts_with('.') || is_map_name(name) {
        return Ok(());
    }
    let rank = LINEAR.iter().position(|known| *known == extension);
    if rank.is_none() && extension != CODED {
        return Ok(());
    }
    let key = match named(stem) {
        Some(key) => key,
        None if extension == "exr" => written_in(&file)?.unwrap_or_else(|| titled(stem, label)),
        None => titled(stem, label),
    };
    let sources = inventory.entry(key).or_default();
    match rank {
        None => sources.coded = Some(file),
        // Files come in the order of their names, so .exr before .hdr before .pfm: the first linear one
        // stays.
        Some(_) => {
            sources.linear.get_or_insert(file);
        }
    }
    Ok(())
}

/// By the file's name.
fn named(stem: &str) -> Option<Key> {
    let name = ImageName::parse(&format!("{stem}.exr"))?;
    Some(Key { scene: name.scene, target: name.target, spp: name.spp, seed: name.seed.unwrap_or(0) })
}

/// By the attributes that Lockstep writes.
fn written_in(file: &Path) -> Result<Option<Key>, Failure> {
    let attributes = read_exr_metadata(file)?;
    let text = |key: &str| attributes.get(&format!("lockstep.{key}")).cloned();
    Ok((|| {
        Some(Key {
            scene: text("scene")?,
            target: text("target")?,
            spp: text("spp")?.parse().ok()?,
            seed: text("seed")?.parse().ok()?,
        })
    })())
}

fn titled(stem: &str, label: &str) -> Key {
    Key { scene: stem.to_owned(), target: label.to_owned(), spp: 0, seed: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use lockstep_reports::image_io::{ImageMetadata, LinearImage, write_exr};

    fn key(scene: &str, target: &str, spp: u32, seed: u64) -> Key {
        Key { scene: scene.into(), target: target.into(), spp, seed }
    }

    #[test]
    fn names_give_scene_target_samples_and_seed_in_every_format() {
        let dir = tempfile::tempdir().unwrap();
        let names = [
            "cornell.cpu.4spp.png",
            "cornell.cpu.4spp.hdr",
            "cornell.cpu.4spp.s9.pfm",
            "kitchen.PNG",
            "cornell.cpu.cuda.4spp.s0.flip.png",
            "notes.txt",
            ".hidden.png",
        ];
        names.iter().for_each(|name| std::fs::write(dir.path().join(name), "").unwrap());
        let found = take(dir.path(), "theirs").unwrap();
        let keys: Vec<Key> = found.keys().cloned().collect();
        let expected =
            [key("cornell", "cpu", 4, 0), key("cornell", "cpu", 4, 9), key("kitchen", "theirs", 0, 0)];
        assert_eq!(keys, expected);
        let both = &found[&expected[0]];
        assert!(both.linear.as_ref().unwrap().ends_with(names[1]));
        assert!(both.coded.as_ref().unwrap().ends_with(names[0]));
    }

    #[test]
    fn an_exr_file_of_any_name_tells_what_lockstep_rendered() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("final.exr");
        let image = LinearImage::from_fn(2, 2, |_, _| [0.5; 3]);
        write_exr(&file, &image, &ImageMetadata::of_render("atrium", "cuda@0", 64, 3)).unwrap();
        let found = take(&file, "theirs").unwrap();
        assert_eq!(found.keys().next(), Some(&key("atrium", "cuda@0", 64, 3)));
    }

    #[test]
    fn a_folder_without_images_is_missing_its_side() {
        let dir = tempfile::tempdir().unwrap();
        let message = take(dir.path(), "a").unwrap_err().to_string();
        assert!(message.contains("holds no"), "{message}");
    }

    #[test]
    fn a_file_that_is_no_image_is_bad_input() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("texture.ktx2");
        std::fs::write(&file, "x").unwrap();
        let failure = take(&file, "a").unwrap_err();
        assert!(failure.exit() == Exit::Input && failure.to_string().contains("texture.ktx2"), "{failure}");
    }
}
