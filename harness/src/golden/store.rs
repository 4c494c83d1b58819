//! Goldens on disk: where they lie, what they hold, how they are written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_core::merging::MergeRadius;
use lockstep_core::{Integrator, LayerSampling, Sampler, Scene, Settings};
use lockstep_reports::image_io::{
    LinearImage, atomic_write_text, encode_name, read_exr_metadata, read_image, write_exr,
};

use crate::exit::Failure;
use crate::image_metadata::{ROULETTE, image_metadata};

/// Where the goldens of built-in scenes lie in Lockstep's own working tree.
const BESIDE_THE_SCENES: &str = "scenes/data";
/// The image.
const IMAGE: &str = "golden.exr";
/// The file that tells how a golden was made.
const PROVENANCE: &str = "golden.txt";

/// The entries of every provenance: how the golden was made, when, and of which film.
const IN_EVERY_PROVENANCE: [&str; 3] = ["command", "date", "film"];

/// The golden of one scene, present or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder.
    folder: PathBuf,
}

/// A golden's image and provenance.
#[derive(Clone, Debug)]
pub(super) struct Golden {
    /// The image.
    pub(super) image: LinearImage,
    /// Hash of the scene that it shows.
    pub(super) scene_hash: String,
    /// Size, bounces, integrator and seed.
    pub(super) settings: Settings,
    /// Samples per pixel.
    pub(super) spp: u32,
    /// The commit that it was made at; empty or `none` when unknown.
    pub(super) commit: String,
}

impl Place {
    /// The place of a scene's golden: under `goldens` if given, else beside a scene that is a file, else
    /// beside the built-in scenes, which are looked for from the present folder upwards.
    pub(super) fn of(spec: &str, scene: &str, goldens: Option<&Path>) -> Self {
        let base = goldens.map_or_else(|| beside(spec), Path::to_owned);
        Self { folder: base.join(encode_name(scene)) }
    }

    /// The image file.
    pub(super) fn image(&self) -> PathBuf {
        self.folder.join(IMAGE)
    }

    /// Reads the golden; nothing when there is none.
    ///
    /// # Errors
    /// [`Failure::Read`] for a damaged file, [`Failure::Input`] for one that `bless` did not write.
    pub(super) fn read(&self) -> Result<Option<Golden>, Failure> {
        let path = self.image();
        if !path.exists() {
            return Ok(None);
        }
        let attributes = Attributes { path: &path, entries: read_exr_metadata(&path)? };
        self.check_provenance(&attributes)?;
        let image = read_image(&path)?;
        let settings = Settings {
            width: image.width(),
            height: image.height(),
            bounces: attributes.number("bounces")?,
            roulette_from: attributes.roulette()?,
            integrator: attributes.integrator()?,
            merge_radius: attributes.merge_radius()?,
            sampler: attributes.sampler()?,
            layers: attributes.layers()?,
            seed: attributes.number("seed")?,
            ..Settings::default()
        };
        let (scene_hash, spp) = (attributes.text("scene-hash")?.to_owned(), attributes.number("spp")?);
        let commit = attributes.text("commit").unwrap_or_default().to_owned();
        Ok(Some(Golden { image, scene_hash, settings, spp, commit }))
    }

    /// Holds the provenance against the image: people read the text, programs the attributes, and both must say
    /// the same.
    fn check_provenance(&self, attributes: &Attributes<'_>) -> Result<(), Failure> {
        let path = self.folder.join(PROVENANCE);
        let text = std::fs::read_to_string(&path).map_err(Failure::io("read", &path))?;
        let entries: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(": ")).collect();
        let lacks = IN_EVERY_PROVENANCE.iter().find(|key| !entries.contains_key(*key));
        let differs = entries.iter().find(|(key, value)| attributes.text(key).ok() != Some(**value));
        match lacks.or(differs.map(|(key, _)| key)) {
            Some(key) => Err(Failure::Input(format!(
                "{} does not say of `{key}` what {IMAGE} beside it says; bless the scene again",
                path.display()
            ))),
            None => Ok(()),
        }
    }

    /// Writes the golden and its provenance, each in one step.
    ///
    /// # Errors
    /// [`Failure::Io`] and [`Failure::Write`], naming the path.
    pub(super) fn write(
        &self,
        scene: &Scene,
        golden: &Golden,
        target: &str,
        provenance: &[(&str, String)],
    ) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.folder).map_err(Failure::io("make the folder", &self.folder))?;
        let metadata = image_metadata(&scene.name, target, golden.spp, &golden.settings)
            .with("scene-hash", &golden.scene_hash);
        let metadata = match golden.settings.integrator.merges() {
            true => metadata.with("merge-radius", &golden.settings.merge_radius.to_string()),
            false => metadata,
        };
        let metadata = provenance.iter().fold(metadata, |m, (key, value)| m.with(key, value));
        write_exr(&self.image(), &golden.image, &metadata)?;
        let lines: String = provenance.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        Ok(atomic_write_text(&self.folder.join(PROVENANCE), &lines)?)
    }
}

/// The attributes of a golden's file.
struct Attributes<'a> {
    path: &'a Path,
    entries: BTreeMap<String, String>,
}

impl Attributes<'_> {
    fn text(&self, key: &str) -> Result<&str, Failure> {
        self.entries.get(&format!("lockstep.{key}")).map(String::as_str).ok_or_else(|| self.wrong(key))
    }

    /// The integrator; goldens that do not name one are of path tracing.
    fn integrator(&self) -> Result<Integrator, Failure> {
        match self.text("integrator") {
            Ok(name) => Ok(name.parse()?),
            Err(_) => Ok(Integrator::Path),
        }
    }

    /// The bounce from which paths may end by Russian roulette; goldens whose paths do not name none.
    fn roulette(&self) -> Result<Option<u32>, Failure> {
        match self.entries.contains_key(&format!("lockstep.{ROULETTE}")) {
            true => self.number(ROULETTE).map(Some),
            false => Ok(None),
        }
    }

    /// The radius of the first sample's merges; goldens of integrators that do not merge name none.
    fn merge_radius(&self) -> Result<MergeRadius, Failure> {
        self.text("merge-radius").map_or(Ok(MergeRadius::DEFAULT), |share| Ok(share.parse()?))
    }

    /// The sampler; goldens that do not name one are of the default.
    fn sampler(&self) -> Result<Sampler, Failure> {
        match self.text("sampler") {
            Ok(name) => Ok(name.parse()?),
            Err(_) => Ok(Sampler::default()),
        }
    }

    /// How layers are sampled; goldens that do not say are of the default.
    fn layers(&self) -> Result<LayerSampling, Failure> {
        self.text("layers").map_or(Ok(LayerSampling::default()), |name| Ok(name.parse()?))
    }

    fn number(&self, key: &str) -> Result<u32, Failure> {
        self.text(key)?.parse().map_err(|_| self.wrong(key))
    }

    fn wrong(&self, key: &str) -> Failure {
        Failure::Input(format!(
            "{} does not say its `{key}`, so it was not made by `lockstep golden bless`; bless the scene again",
            self.path.display()
        ))
    }
}

/// The folder of a scene that is a file, or that of the built-in scenes.
fn beside(spec: &str) -> PathBuf {
    let file = Path::new(spec);
    if file.is_file() { file.parent().map(Path::to_owned).unwrap_or_default() } else { folder_of(None) }
}

/// The folder of goldens that is given, or that of the built-in scenes, looked for from the present folder
/// upwards.
pub(super) fn folder_of(goldens: Option<&Path>) -> PathBuf {
    if let Some(given) = goldens {
        return given.to_owned();
    }
    let here = std::env::current_dir().unwrap_or_default();
    let found = here.ancestors().map(|folder| folder.join(BESIDE_THE_SCENES)).find(|folder| folder.is_dir());
    found.unwrap_or_else(|| PathBuf::from(BESIDE_THE_SCENES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_golden_lies_beside_its_scene_file_or_where_the_user_says() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("room.glb");
        std::fs::write(&file, "").unwrap();
        let spec = file.to_str().unwrap();
        assert_eq!(Place::of(spec, "room", None).image(), dir.path().join("room/golden.exr"));
        assert_eq!(Place::of(spec, "room", Some(Path::new("g"))).image(), Path::new("g/room/golden.exr"));
    }

    #[test]
    fn a_missing_golden_is_nothing_and_a_foreign_image_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::of("cornell", "cornell", Some(dir.path()));
        assert!(place.read().unwrap().is_none());
        std::fs::create_dir(dir.path().join("cornell")).unwrap();
        let image = LinearImage::from_fn(2, 2, |_, _| [0.5; 3]);
        write_exr(&place.image(), &image, &lockstep_reports::image_io::ImageMetadata::default()).unwrap();
        std::fs::write(dir.path().join("cornell/golden.txt"), "").unwrap();
        let message = place.read().unwrap_err().to_string();
        assert!(message.contains("golden.exr") && message.contains("bless"), "{message}");
    }

    #[test]
    fn a_provenance_that_is_missing_cut_short_or_altered_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::of("cornell", "cornell", Some(dir.path()));
        let scene = lockstep_scenes::load("cornell", &lockstep_scenes::LoadOptions::default()).unwrap().scene;
        let golden = Golden {
            image: LinearImage::from_fn(2, 2, |_, _| [0.5; 3]),
            scene_hash: scene.hash.clone(),
            settings: Settings { width: 2, height: 2, ..Settings::default() },
            spp: 1,
            commit: "none".into(),
        };
        let said = ["command", "date", "film", "commit"].map(|key| (key, format!("the {key}")));
        place.write(&scene, &golden, "cpu-bvh", &said).unwrap();
        assert_eq!(place.read().unwrap().unwrap().scene_hash, scene.hash);
        let path = dir.path().join("cornell/golden.txt");
        let text = std::fs::read_to_string(&path).unwrap();
        for damaged in ["", &text[..text.len() / 2], &text.replace("the film", "another film")] {
            std::fs::write(&path, damaged).unwrap();
            let message = place.read().unwrap_err().to_string();
            assert!(message.contains("golden.txt") && message.contains("bless"), "{message}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(place.read().unwrap_err().to_string().contains("golden.txt"));
    }
}
