//! `lockstep compare A B -o OUT`: the report of a study about images of any program.

use std::path::{Path, PathBuf};

use lockstep_core::DeviceInfo;
use lockstep_reports::image_io::{LinearImage, read_image};
use lockstep_reports::metrics::{MetricError, Metrics, compare};
use lockstep_reports::records::{Skip, TargetInfo};

use super::inventory::{self, Inventory, Key, Sources};
use super::matching::{self, Match, Matching};
use super::verdict;
use crate::cli::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::image_report::{ImageReport, Pair};
use crate::output::say;
use crate::study::print_study;

/// Compares every image of one side with its counterpart on the other and writes the report.
///
/// # Errors
/// [`Failure::Missing`] for a side without images or sides without a common point, [`Failure::Read`] for
/// files that are no images, and [`Failure::Io`], [`Failure::Records`] and [`Failure::Write`] for an `out`
/// that cannot be written.
pub(crate) fn run(args: &CompareArgs, out: &Path) -> Result<Exit, Failure> {
    let matching = matching_of(args)?;
    if matching.matches.is_empty() {
        return Err(Failure::Missing(format!(
            "{} and {} have no image in common; name files <scene>.<target>.<spp>spp.exr so that scene and spp agree",
            args.a.display(),
            args.b.display()
        )));
    }
    let mut comparison = Comparison {
        report: ImageReport::begin(out, args.fresh)?,
        tolerance: args.tolerance,
        equal: true,
        sizes_differ: false,
    };
    for alone in &matching.alone {
        comparison.skip(&alone.target, &alone.scene, &alone.reason)?;
    }
    for m in &matching.matches {
        comparison.add(m)?;
    }
    let seeds = matching.matches.iter().map(Match::seeds).max().unwrap_or(1);
    let study = comparison.report.finish(targets(args, &matching), seeds as u32)?;
    print_study(&study, out, args.json, false)?;
    Ok(match (comparison.sizes_differ, comparison.equal) {
        (true, _) => Exit::Missing,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Differs,
    })
}

fn matching_of(args: &CompareArgs) -> Result<Matching, Failure> {
    let label = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
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

/// Every target compared, and where its images come from.
fn targets(args: &CompareArgs, matching: &Matching) -> Vec<TargetInfo> {
    let mut targets: Vec<TargetInfo> = Vec::new();
    for (target, from) in matching.matches.iter().flat_map(|m| [(&m.a, &args.a), (&m.b, &args.b)]) {
        if !targets.iter().any(|t| t.info.target == *target) {
            let device = format!("images in {}", from.display());
            let info = DeviceInfo { target: target.clone(), device, exact: false, ..DeviceInfo::default() };
            targets.push(info.into());
        }
    }
    targets
}

/// Two images of one seed and how they differ.
pub(super) struct Compared {
    /// The seed.
    pub(super) seed: u64,
    /// Side A's image.
    pub(super) a: LinearImage,
    /// Side B's.
    pub(super) b: LinearImage,
    /// The difference of the two images.
    pub(super) metrics: Metrics,
}

/// A comparison under way.
struct Comparison {
    report: ImageReport,
    tolerance: Option<f64>,
    equal: bool,
    sizes_differ: bool,
}

impl Comparison {
    /// Compares the images of one match, seed by seed, with one verdict on all of them. Those of the first
    /// seed are shown in the report.
    fn add(&mut self, m: &Match) -> Result<(), Failure> {
        let mut compared = Vec::new();
        for (seed, source_a, source_b) in m.pairs() {
            let (a, b) = read_alike(source_a, source_b)?;
            match compare(&a, &b) {
                Ok(metrics) => compared.push(Compared { seed, a, b, metrics }),
                Err(error) => self.refuse(m, &error)?,
            }
        }
        let verdict = verdict::of(m, &compared)?;
        self.equal &= match verdict.agreement {
            Some(agreement) if compared.len() > 1 => agreement.is_good(),
            _ => compared.iter().all(|c| super::is_equal(&c.metrics, self.tolerance)),
        };
        for (i, Compared { seed, a, b, metrics }) in compared.iter().enumerate() {
            let pair = Pair { scene: &m.scene, spp: m.spp, seed: *seed, a: (&m.a, a), b: (&m.b, b) };
            self.report.compared(&pair, verdict.on(pair.difference(metrics)), i == 0)?;
        }
        for noise in verdict::noise_floor(m, &compared)? {
            self.report.append(noise)?;
        }
        match verdict.in_words() {
            Some(words) => {
                let at = if m.spp > 0 { format!(" at {} spp", m.spp) } else { String::new() };
                say(&format!("{}: {} and {}{at}: {words}", m.scene, m.a, m.b));
                self.report.remark(&m.scene, &format!("{} and {}{at}", m.a, m.b), words)
            }
            None => Ok(()),
        }
    }

    /// Two images that have no difference in numbers.
    fn refuse(&mut self, m: &Match, error: &MetricError) -> Result<(), Failure> {
        self.sizes_differ |= matches!(error, MetricError::SizesDiffer { .. });
        self.equal = false;
        self.skip(&m.b, &m.scene, &format!("with {} at {} spp: {error}", m.a, m.spp))
    }

    fn skip(&mut self, target: &str, scene: &str, reason: &str) -> Result<(), Failure> {
        say(&format!("lockstep: {target} of {scene} is skipped: {reason}"));
        self.report.append(Skip {
            target: target.to_owned(),
            scene: Some(scene.to_owned()),
            reason: reason.to_owned(),
            remedy: "Give both sides an image of this scene with as many pixels and samples.".into(),
        })
    }
}

/// Reads two images from files of one kind where both sides have one: linear first, then 8-bit.
fn read_alike(a: &Sources, b: &Sources) -> Result<(LinearImage, LinearImage), Failure> {
    let both = |of: fn(&Sources) -> Option<&PathBuf>| Some((of(a)?.clone(), of(b)?.clone()));
    let any = |s: &Sources| s.linear.clone().or_else(|| s.coded.clone()).unwrap_or_default();
    let alike = both(|s| s.linear.as_ref()).or_else(|| both(|s| s.coded.as_ref()));
    let (a, b) = alike.unwrap_or_else(|| (any(a), any(b)));
    Ok((read_image(&a)?, read_image(&b)?))
}
