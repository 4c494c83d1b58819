//! `lockstep compare A B -o OUT`: the report of a study about images of any program.

use std::path::{Path, PathBuf};

use lockstep_core::{DeviceInfo, TargetId};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::records::{Skip, TargetInfo};
use lockstep_reports::statistics::p_value_map;

use super::inventory::{self, Inventory, Key};
use super::label;
use super::layer_verdict::{LayerVerdict, noise_floor};
use super::matching::{self, Match, Matching};
use crate::cli::CompareArgs;
use crate::exit::Failure;
use crate::image_report::{ImageReport, Pair};
use crate::study::print_study;

/// The images of both sides, matched.
///
/// # Errors
/// [`Failure::Io`], [`Failure::Missing`] and [`Failure::Read`] as [`inventory::take`].
pub(super) fn matching_of(args: &CompareArgs) -> Result<Matching, Failure> {
    let (name_a, name_b) = (label(&args.a), label(&args.b));
    let a = inventory::take(&args.a, &name_a)?;
    let mut b = inventory::take(&args.b, &name_b)?;
    if args.a.is_dir() || args.b.is_dir() {
        return Ok(matching::of(&a, &b));
    }
    // Two files are called by their names, with their folders where those are equal.
    b = as_counterpart(&a, b);
    let mut matching = matching::of(&a, &b);
    for m in &mut matching.matches {
        (m.a, m.b) = if name_a == name_b {
            (args.a.display().to_string(), args.b.display().to_string())
        } else {
            (name_a.clone(), name_b.clone())
        };
    }
    Ok(matching)
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
        let target = TargetId::from(target.as_str());
        if !targets.iter().any(|t| t.info.target == target) {
            let device = format!("images in {}", from.display());
            let info = DeviceInfo { target, device, exact: false, ..DeviceInfo::default() };
            targets.push(info.into());
        }
    }
    targets
}

/// A report in the making.
pub(super) struct Report {
    report: ImageReport,
    out: PathBuf,
}

impl Report {
    /// Begins a report in a folder.
    ///
    /// # Errors
    /// [`Failure::Io`] and [`Failure::Records`] as [`ImageReport::begin`].
    pub(super) fn begin(args: &CompareArgs, out: &Path) -> Result<Self, Failure> {
        Ok(Self { report: ImageReport::begin(out, args.fresh)?, out: out.to_owned() })
    }

    /// Adds one layer of a match: a record for each seed, the images and maps of the means over all seeds, the
    /// p-value map, the noise floor, and the verdict in words.
    pub(super) fn add(&mut self, found: &LayerVerdict, beside: Vec<String>) -> Result<(), Failure> {
        let (name_a, name_b) = (found.names.0.as_str(), found.names.1.as_str());
        let mean = |side: &[(u64, LinearImage)]| {
            LinearImage::mean_of(&side.iter().map(|(_, image)| image).collect::<Vec<_>>())
        };
        let (Some(mean_a), Some(mean_b)) = (mean(&found.stack.a), mean(&found.stack.b)) else {
            return Ok(());
        };
        for (i, pair) in found.pairs.iter().enumerate() {
            let shown = Pair {
                scene: &found.scene,
                spp: found.spp,
                seed: pair.seed,
                a: (name_a, &mean_a),
                b: (name_b, &mean_b),
            };
            self.report.compared(&shown, found.record(pair), i == 0)?;
        }
        if let Some(test) = &found.test {
            self.report.p_map(&found.scene, (name_a, name_b), found.spp, &p_value_map(test))?;
        }
        for noise in noise_floor(found)? {
            self.report.append(noise)?;
        }
        let at = if found.spp > 0 { format!(" at {} spp", found.spp) } else { String::new() };
        let words = format!("{} over {}: {}", found.word(), found.seeds(), found.reason);
        let all = std::iter::once(words).chain(beside).collect::<Vec<_>>().join("; ");
        self.report.remark(&found.scene, &format!("{name_a} and {name_b}{at}"), all)
    }

    /// Records images that are not compared.
    pub(super) fn skip(&mut self, target: &str, scene: &str, reason: &str) -> Result<(), Failure> {
        self.report.append(Skip {
            target: Some(target.into()),
            scene: Some(scene.to_owned()),
            reason: reason.to_owned(),
            remedy: "Give both sides an image of this scene with as many pixels and samples.".into(),
        })
    }

    /// Writes tables and page, and prints the findings.
    pub(super) fn finish(self, args: &CompareArgs, matching: &Matching) -> Result<(), Failure> {
        let seeds = matching.matches.iter().map(Match::seeds).max().unwrap_or(1);
        let study = self.report.finish(targets(args, matching), seeds as u32)?;
        print_study(&study, &self.out, args.json, false)
    }
}
