//! `lockstep compare`: the verdict on images of any program, with metrics, or a report.

mod ci;
mod folders;
mod inventory;
mod layer_verdict;
mod matching;
mod stack;
mod text;

use std::path::Path;

use lockstep_reports::image_io::LayerKind;
use lockstep_reports::records::utc_now;
use serde_json::Value;

use ci::Finding;
use layer_verdict::LayerVerdict;
use matching::Matching;

use crate::cli::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::golden::Expectations;
use crate::output::{print, print_json, say};

/// Compares two files or two folders, layer by layer, and with `--out` writes a report. The worst finding decides the
/// exit code: a difference, then images and layers that have no counterpart or one of another size, then what cannot
/// be told.
///
/// # Errors
/// [`Failure::Missing`] for a side without images, sides without a common point, two files of different sizes and a
/// layer that no file has, [`Failure::Read`] for files that are no images, and [`Failure::Io`],
/// [`Failure::Records`] and [`Failure::Write`] for files that cannot be written. The files for CI are there for all
/// but unreadable images.
pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let matching = folders::matching_of(args)?;
    let today: String = utc_now().chars().take_while(|&c| c != 'T').collect();
    let expectations = match &args.expectations {
        Some(file) => Expectations::read_file(file)?,
        None => Expectations::default(),
    };
    let report = args.out.as_deref().filter(|_| !matching.matches.is_empty());
    let mut comparison = Comparison {
        args,
        matching: &matching,
        expectations: &expectations,
        today,
        report: report.map(|out| folders::Report::begin(args, out)).transpose()?,
        findings: Vec::new(),
        documents: Vec::new(),
        text: String::new(),
        nothing: None,
    };
    comparison.all()?;
    comparison.finish()
}

/// A comparison under way.
struct Comparison<'a> {
    args: &'a CompareArgs,
    matching: &'a Matching,
    expectations: &'a Expectations,
    today: String,
    report: Option<folders::Report>,
    findings: Vec<Finding>,
    documents: Vec<Value>,
    text: String,
    /// Why nothing at all could be compared.
    nothing: Option<Failure>,
}

impl Comparison<'_> {
    /// Compares every match, layer by layer.
    fn all(&mut self) -> Result<(), Failure> {
        for alone in &self.matching.alone {
            self.skip(&alone.target, &alone.scene, &alone.reason)?;
        }
        if self.matching.matches.is_empty() {
            self.nothing = Some(Failure::Missing(format!(
                "{} and {} have no image in common; name files <scene>.<target>.<spp>spp.exr so that scenes agree, and spp too unless a side has one alone",
                self.args.a.display(),
                self.args.b.display()
            )));
        }
        let only = self.matching.matches.len() == 1 && !self.args.a.is_dir() && !self.args.b.is_dir();
        let wanted = self.args.layer.as_deref();
        let mut without = Vec::new();
        for m in &self.matching.matches {
            let layers = match stack::read(m, wanted) {
                Err(Failure::Missing(reason)) => {
                    self.skip(&m.b, &m.scene, &reason)?;
                    continue;
                }
                layers => layers?,
            };
            if layers.stacks.is_empty() && layers.alone.is_empty() {
                without.push(format!("{} of {} has {}", m.a, m.scene, layers.names.join(", ")));
            }
            for (layer, side) in &layers.alone {
                let reason = format!("side {side} has no such layer; --layer NAME compares one layer alone");
                let scene = format!("{} {layer}", m.scene);
                self.skip(if *side == 'A' { &m.b } else { &m.a }, &scene, &reason)?;
            }
            let of_alpha = |stack: &stack::Stack| stack.kind == LayerKind::Alpha;
            let all = layers.stacks.len();
            let plain = layers.stacks.iter().filter(|stack| !of_alpha(stack)).count();
            for stack in layers.stacks {
                let single = only && (all == 1 || plain == 1 && !of_alpha(&stack));
                match LayerVerdict::of(m, stack, self.args.tolerance) {
                    Ok(found) => self.add(&found, single)?,
                    // Two files alone have nothing else to be compared in.
                    Err(error @ Failure::Missing(_)) if only && self.report.is_none() => {
                        self.missing(&m.b, &m.scene, &error.to_string());
                        self.nothing = Some(error);
                    }
                    Err(error @ (Failure::Metric(_) | Failure::Missing(_))) => {
                        let at = if m.spp > 0 { format!(" at {} spp", m.spp) } else { String::new() };
                        self.skip(&m.b, &m.scene, &format!("with {}{at}: {error}", m.a))?;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        if let (Some(wanted), true, Some(first)) = (wanted, self.findings.is_empty(), without.first()) {
            self.nothing = Some(Failure::Missing(format!("no image has a layer {wanted}; {first}")));
        }
        Ok(())
    }

    fn add(&mut self, found: &LayerVerdict, single: bool) -> Result<(), Failure> {
        let finding = Finding::of(found, self.expectations, self.args, &self.today);
        let mut text = text::text(found, self.args.tolerance, single);
        if let Some(remark) = finding.remark() {
            text.push_str(&format!("  {remark}\n"));
        }
        match &mut self.report {
            Some(report) => {
                say(text.trim_end());
                report.add(found, text::beside(found))?;
            }
            None => self.text.push_str(&text),
        }
        self.documents.push(text::to_json(found, self.args.tolerance));
        self.findings.push(finding);
        Ok(())
    }

    /// Tells, records and finds that an image or layer is not compared.
    fn skip(&mut self, target: &str, scene: &str, reason: &str) -> Result<(), Failure> {
        say(&format!("lockstep: {target} of {scene} is skipped: {reason}"));
        self.missing(target, scene, reason);
        self.report.as_mut().map_or(Ok(()), |report| report.skip(target, scene, reason))
    }

    fn missing(&mut self, target: &str, scene: &str, reason: &str) {
        let finding = Finding::missing(target, scene, reason, self.expectations, &self.today);
        self.text.push_str(&text::missing_text(&finding));
        self.documents.push(text::missing_json(&finding));
        self.findings.push(finding);
    }

    /// Writes and prints what was found; the worst decides the exit code.
    fn finish(self) -> Result<Exit, Failure> {
        ci::write(self.args, &self.findings)?;
        if let Some(nothing) = self.nothing {
            return Err(nothing);
        }
        if let Some(report) = self.report {
            report.finish(self.args, self.matching)?;
        } else if self.args.json {
            let mut documents = self.documents;
            match (documents.len(), documents.pop()) {
                (1, Some(document)) => print_json(&document)?,
                (_, last) => {
                    documents.extend(last);
                    print_json(&Value::Array(documents))?;
                }
            }
        } else {
            print(&self.text)?;
        }
        let exits: Vec<Exit> = self.findings.iter().map(Finding::exit).collect();
        let worst = [Exit::Differs, Exit::Missing, Exit::Inconclusive];
        Ok(worst.into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Fine))
    }
}

/// The last part of a path, as the name of a side.
fn label(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
