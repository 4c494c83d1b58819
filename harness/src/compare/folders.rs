//! `lockstep compare A B -o OUT`: the report of a study about images of any program.

use std::path::Path;

use lockstep_reports::image_io::{
    ImageKind, ImageMetadata, ImageName, LinearImage, read_image, write_exr, write_png,
};
use lockstep_reports::maps::{MapOf, write_maps};
use lockstep_reports::metrics::{MetricError, compare};
use lockstep_reports::records::{
    Difference, Environment, HostInfo, Record, RecordLog, Skip, StudySettings, TargetInfo, utc_now,
};
use lockstep_reports::study::files;
use lockstep_reports::write_report;

use super::inventory::{self, Inventory, Key, Sources};
use super::matching::{self, Match, Matching};
use crate::cli::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::output::say;
use crate::study::{COMMIT, clear_study, command, print_report};

/// Compares every image of one side with its counterpart on the other and writes the report.
///
/// # Errors
/// [`Failure::Missing`] for a side without images or sides without a common point, [`Failure::Read`] for files that are
/// no images, and [`Failure::Io`], [`Failure::Records`] and [`Failure::Write`] for an `out` that cannot be written.
pub(crate) fn run(args: &CompareArgs, out: &Path) -> Result<Exit, Failure> {
    let matching = matching_of(args)?;
    for alone in &matching.alone {
        say(&format!("lockstep: {} of {} is left out: {}", alone.target, alone.scene, alone.reason));
    }
    if matching.matches.is_empty() {
        return Err(Failure::Missing(format!(
            "{} and {} have no image in common; name files <scene>.<target>.<spp>spp.exr so that scene and spp agree",
            args.a.display(),
            args.b.display()
        )));
    }
    let mut report = Report::begin(args, out)?;
    report.log.append(
        &matching.alone.iter().map(|a| left_out(&a.target, &a.scene, &a.reason)).collect::<Vec<_>>(),
    )?;
    for m in &matching.matches {
        report.add(m)?;
    }
    report.finish(args, &matching)
}

fn matching_of(args: &CompareArgs) -> Result<Matching, Failure> {
    let label = |path: &Path| {
        path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into())
    };
    let a = inventory::take(&args.a, &label(&args.a))?;
    let mut b = inventory::take(&args.b, &label(&args.b))?;
    if !args.a.is_dir() && !args.b.is_dir() {
        b = as_counterpart(&a, b);
    }
    Ok(matching::of(&a, &b))
}

/// Two single files are compared whatever they are called.
fn as_counterpart(a: &Inventory, b: Inventory) -> Inventory {
    let Some(of_a) = a.keys().next() else { return b };
    let like_a = |key: Key| Key { scene: of_a.scene.clone(), spp: of_a.spp, seed: of_a.seed, ..key };
    b.into_iter().map(|(key, sources)| (like_a(key), sources)).collect()
}

fn left_out(target: &str, scene: &str, reason: &str) -> Record {
    Skip {
        target: target.to_owned(),
        scene: Some(scene.to_owned()),
        reason: reason.to_owned(),
        remedy: "Give both sides an image of this scene with as many samples per pixel.".into(),
    }
    .into()
}

/// A report in the making.
struct Report<'a> {
    out: &'a Path,
    tolerance: Option<f64>,
    log: RecordLog,
    settings: StudySettings,
    equal: bool,
    sizes_differ: bool,
}

impl<'a> Report<'a> {
    fn begin(args: &CompareArgs, out: &'a Path) -> Result<Self, Failure> {
        let images = out.join(files::IMAGES);
        std::fs::create_dir_all(&images).map_err(Failure::io("make the folder", &images))?;
        if args.fresh {
            clear_study(out)?;
        }
        let log = RecordLog::create(&out.join(files::RECORDS))?;
        let settings = StudySettings::default();
        Ok(Self { out, tolerance: args.tolerance, log, settings, equal: true, sizes_differ: false })
    }

    /// Compares the images of one match, seed by seed. The first seed's images and maps go into the report.
    fn add(&mut self, m: &Match) -> Result<(), Failure> {
        for (i, ((seed, source_a), (_, source_b))) in m.of_a.iter().zip(&m.of_b).enumerate() {
            let (a, b) = read_alike(source_a, source_b)?;
            match compare(&a, &b) {
                Ok(metrics) => {
                    let equal = super::is_equal(&metrics, self.tolerance);
                    let identical = metrics.pixels_differing == 0;
                    self.equal &= equal;
                    let record = Difference::new(&m.scene, (&m.a, &m.b), m.spp, *seed, &metrics, identical);
                    self.log.append(&[record.into()])?;
                    self.describe(m, &a);
                    if i == 0 {
                        self.keep(m, *seed, (&a, &b), identical)?;
                    }
                }
                Err(error) => self.refuse(m, error)?,
            }
        }
        Ok(())
    }

    fn refuse(&mut self, m: &Match, error: MetricError) -> Result<(), Failure> {
        self.sizes_differ |= matches!(error, MetricError::SizesDiffer { .. });
        self.equal = false;
        let reason = format!("{} and {} at {} spp: {error}", m.a, m.b, m.spp);
        say(&format!("lockstep: {}: {reason}", m.scene));
        Ok(self.log.append(&[left_out(&m.b, &m.scene, &reason)])?)
    }

    /// Copies images to where a report looks for them, and draws maps of where they differ.
    fn keep(
        &mut self,
        m: &Match,
        seed: u64,
        (a, b): (&LinearImage, &LinearImage),
        identical: bool,
    ) -> Result<(), Failure> {
        for (target, image) in [(&m.a, a), (&m.b, b)] {
            let path = |kind| {
                let (scene, target) = (m.scene.clone(), target.clone());
                let name = ImageName { scene, target, spp: m.spp, seed: None, kind };
                self.out.join(files::IMAGES).join(name.file_name())
            };
            let metadata = ImageMetadata::of_render(&m.scene, target, m.spp, seed);
            write_png(&path(ImageKind::Png), image, &metadata)?;
            write_exr(&path(ImageKind::Exr), image, &metadata)?;
        }
        if !identical {
            let of = MapOf { scene: &m.scene, a: &m.a, b: &m.b, spp: m.spp, seed };
            let maps: Vec<Record> = write_maps(self.out, &of, a, b)?.into_iter().map(Record::from).collect();
            self.log.append(&maps)?;
        }
        Ok(())
    }

    /// Notes size, rungs and seeds for the report's head.
    fn describe(&mut self, m: &Match, image: &LinearImage) {
        let s = &mut self.settings;
        (s.width, s.height) = (image.width(), image.height());
        s.seeds = s.seeds.max(m.of_a.len().min(m.of_b.len()) as u32);
        if !s.spp.contains(&m.spp) {
            s.spp.push(m.spp);
            s.spp.sort_unstable();
        }
    }

    fn finish(self, args: &CompareArgs, matching: &Matching) -> Result<Exit, Failure> {
        let mut targets: Vec<TargetInfo> = Vec::new();
        let sides = matching.matches.iter().flat_map(|m| [(&m.a, &args.a), (&m.b, &args.b)]);
        for (target, from) in sides {
            if !targets.iter().any(|t| t.target == *target) {
                let device = format!("images in {}", from.display());
                targets.push(TargetInfo { target: target.clone(), device, ..TargetInfo::default() });
            }
        }
        let environment = Environment {
            lockstep: env!("CARGO_PKG_VERSION").into(),
            commit: (!COMMIT.is_empty()).then(|| COMMIT.to_owned()),
            started_utc: utc_now(),
            command: command(),
            host: HostInfo::detect(),
            targets,
            settings: self.settings,
            ..Environment::default()
        };
        environment.write(&self.out.join(files::ENVIRONMENT))?;
        for warning in write_report(self.out)?.warnings {
            say(&format!("lockstep: {warning}"));
        }
        print_report(self.out, args.json)?;
        Ok(match (self.sizes_differ, self.equal) {
            (true, _) => Exit::Missing,
            (false, true) => Exit::Fine,
            (false, false) => Exit::Differs,
        })
    }
}

/// Reads two images from files of one kind where both sides have one: linear first, then 8-bit.
fn read_alike(a: &Sources, b: &Sources) -> Result<(LinearImage, LinearImage), Failure> {
    let both = |of: fn(&Sources) -> Option<&std::path::PathBuf>| Some((of(a)?, of(b)?));
    let any = |s: &Sources| s.linear.clone().or_else(|| s.coded.clone()).unwrap_or_default();
    let (a, b) = match both(|s| s.linear.as_ref()).or_else(|| both(|s| s.coded.as_ref())) {
        Some((a, b)) => (a.clone(), b.clone()),
        None => (any(a), any(b)),
    };
    Ok((read_image(&a)?, read_image(&b)?))
}
