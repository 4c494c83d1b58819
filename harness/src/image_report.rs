//! A study's report about images that no study rendered: those of other programs, and goldens.

use std::path::{Path, PathBuf};

use lockstep_reports::image_io::{
    ImageKind, ImageMetadata, ImageName, LinearImage, p_map_name, write_hashed_exr, write_hashed_png,
};
use lockstep_reports::metrics::Metrics;
use lockstep_reports::records::{
    Difference, Environment, HostInfo, MapOf, Note, Record, RecordLog, StudySettings, TargetInfo, utc_now,
    write_maps,
};
use lockstep_reports::study::{Study, files};

use crate::exit::Failure;
use crate::study::{COMMIT, clear_study, command, write_report};

/// Two images of one scene.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    /// Scene name.
    pub(crate) scene: &'a str,
    /// Samples per pixel; 0 when unknown.
    pub(crate) spp: u32,
    /// Random seed.
    pub(crate) seed: u64,
    /// Target and image.
    pub(crate) a: (&'a str, &'a LinearImage),
    /// Target and image of the reference.
    pub(crate) b: (&'a str, &'a LinearImage),
}

impl Pair<'_> {
    /// The record of the two images' comparison. Images alone are compared, so identical means that every value is.
    pub(crate) fn difference(&self, metrics: &Metrics) -> Difference {
        let identical = metrics.pixels_differing == 0;
        Difference::new(
            self.scene,
            (&self.a.0.into(), &self.b.0.into()),
            self.spp,
            self.seed,
            metrics,
            identical,
        )
    }
}

/// A report in the making: records are on disk as soon as they are appended.
pub(crate) struct ImageReport {
    folder: PathBuf,
    log: RecordLog,
    settings: StudySettings,
}

impl ImageReport {
    /// Begins a report in a folder, which is made where there is none. `fresh` removes a report or study
    /// first.
    ///
    /// # Errors
    /// [`Failure::Records`] when the folder has records already, [`Failure::Io`] when it cannot be written
    /// to.
    pub(crate) fn begin(folder: &Path, fresh: bool) -> Result<Self, Failure> {
        let images = folder.join(files::IMAGES);
        std::fs::create_dir_all(&images).map_err(Failure::io("make the folder", &images))?;
        if fresh {
            clear_study(folder)?;
        }
        let records = folder.join(files::RECORDS);
        if records.exists() {
            return Err(Failure::Input(format!(
                "{} has a report already; add --fresh to replace it, or choose another folder with -o",
                folder.display()
            )));
        }
        let log = RecordLog::create(&records)?;
        Ok(Self { folder: folder.to_owned(), log, settings: StudySettings::default() })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// [`Failure::Records`], naming the file.
    pub(crate) fn append(&mut self, record: impl Into<Record>) -> Result<(), Failure> {
        Ok(self.log.append(&[record.into()])?)
    }

    /// Appends a remark about a scene.
    ///
    /// # Errors
    /// [`Failure::Records`], naming the file.
    pub(crate) fn remark(&mut self, scene: &str, target: &str, text: String) -> Result<(), Failure> {
        self.append(Note { scene: Some(scene.to_owned()), target: Some(target.to_owned()), text })
    }

    /// Appends the record of a comparison; with images, keeps the two and draws where they differ.
    ///
    /// # Errors
    /// [`Failure::Records`] and [`Failure::Write`], naming the file.
    pub(crate) fn compared(
        &mut self,
        pair: &Pair<'_>,
        record: Difference,
        with_images: bool,
    ) -> Result<(), Failure> {
        let Pair { scene, spp, seed, a, b } = *pair;
        let identical = record.identical;
        self.append(record)?;
        let s = &mut self.settings;
        (s.width, s.height) = (a.1.width(), a.1.height());
        if !s.spp.contains(&spp) {
            s.spp.push(spp);
            s.spp.sort_unstable();
        }
        if !with_images {
            return Ok(());
        }
        self.keep(pair, a)?;
        self.keep(pair, b)?;
        if !identical && a.1.is_finite() && b.1.is_finite() {
            let (target_a, target_b) = (&a.0.into(), &b.0.into());
            let of = MapOf { scene, a: target_a, b: target_b, spp, seed };
            for map in write_maps(&self.folder, &of, a.1, b.1)? {
                self.append(map)?;
            }
        }
        Ok(())
    }

    /// Writes the p-value map of a pair where a report looks for it.
    ///
    /// # Errors
    /// [`Failure::Write`], naming the file.
    pub(crate) fn p_map(
        &self,
        scene: &str,
        (a, b): (&str, &str),
        spp: u32,
        map: &LinearImage,
    ) -> Result<(), Failure> {
        let file = self.folder.join(files::IMAGES).join(p_map_name(scene, a, b, spp));
        Ok(write_hashed_png(&file, map, &ImageMetadata::of_render(scene, &format!("{a} : {b}"), spp, 0))?)
    }

    /// Writes an image where a report looks for it.
    fn keep(&self, pair: &Pair<'_>, (target, image): (&str, &LinearImage)) -> Result<(), Failure> {
        let path = |kind| {
            let (scene, target) = (pair.scene.to_owned(), target.to_owned());
            let name = ImageName { scene, target, spp: pair.spp, seed: None, kind };
            self.folder.join(files::IMAGES).join(name.file_name())
        };
        let metadata = ImageMetadata::of_render(pair.scene, target, pair.spp, pair.seed);
        write_hashed_png(&path(ImageKind::Png), image, &metadata)?;
        Ok(write_hashed_exr(&path(ImageKind::Exr), image, &metadata)?)
    }

    /// Writes the environment, tables and page, and returns the study that they are about.
    ///
    /// # Errors
    /// [`Failure::Records`] and [`Failure::Report`], naming the file.
    pub(crate) fn finish(self, targets: Vec<TargetInfo>, seeds: u32) -> Result<Study, Failure> {
        let environment = Environment {
            lockstep: env!("CARGO_PKG_VERSION").into(),
            commit: (!COMMIT.is_empty()).then(|| COMMIT.to_owned()),
            started_utc: utc_now(),
            command: command(),
            host: HostInfo::detect(),
            targets,
            settings: StudySettings { seeds, ..self.settings },
            ..Environment::default()
        };
        environment.write(&self.folder.join(files::ENVIRONMENT))?;
        write_report(&self.folder)
    }
}
