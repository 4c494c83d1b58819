//! `lockstep compare`: the verdict on images of any program, with metrics, or a report.

mod ci;
mod folders;
mod inventory;
mod layer_verdict;
mod matching;
mod stack;
mod text;

use std::path::Path;

use lockstep_reports::records::utc_now;
use serde_json::Value;

use ci::Finding;
use layer_verdict::LayerVerdict;
use matching::Matching;

use crate::cli::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::golden::Expectations;
use crate::output::{print, print_json, say};

/// Compares two files or two folders, layer by layer, and with `--out` writes a report.
///
/// # Errors
/// [`Failure::Missing`] for a side without images or sides without a common point, [`Failure::Read`] for
/// files that are no images, [`Failure::Metric`] for two files of different sizes, and [`Failure::Io`],
/// [`Failure::Records`] and [`Failure::Write`] for files that cannot be written.
pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let matching = folders::matching_of(args)?;
    if matching.matches.is_empty() {
        return Err(Failure::Missing(format!(
            "{} and {} have no image in common; name files <scene>.<target>.<spp>spp.exr so that scenes agree, and spp too unless a side has one alone",
            args.a.display(),
            args.b.display()
        )));
    }
    let today: String = utc_now().chars().take_while(|&c| c != 'T').collect();
    let expectations = match &args.expectations {
        Some(file) => Expectations::read_file(file)?,
        None => Expectations::default(),
    };
    let mut comparison = Comparison {
        args,
        matching: &matching,
        expectations: &expectations,
        today,
        report: args.out.as_deref().map(|out| folders::Report::begin(args, out)).transpose()?,
        findings: Vec::new(),
        documents: Vec::new(),
        text: String::new(),
        sizes_differ: false,
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
    sizes_differ: bool,
}

impl Comparison<'_> {
    /// Compares every match, layer by layer.
    fn all(&mut self) -> Result<(), Failure> {
        for alone in &self.matching.alone {
            self.skip(&alone.target, &alone.scene, &alone.reason)?;
        }
        let only = self.matching.matches.len() == 1 && !self.args.a.is_dir() && !self.args.b.is_dir();
        for m in &self.matching.matches {
            let layers = stack::read(m, self.args.layer.as_deref())?;
            for (layer, side) in &layers.alone {
                let reason = format!("side {side} has no layer {layer}");
                self.skip(if *side == 'A' { &m.b } else { &m.a }, &m.scene, &reason)?;
            }
            let single = only && layers.stacks.len() == 1;
            for stack in layers.stacks {
                match LayerVerdict::of(m, stack, self.args.tolerance) {
                    Ok(found) => self.add(&found, single)?,
                    // Two files alone have nothing else to be compared in.
                    Err(error) if only && self.report.is_none() => return Err(error),
                    Err(Failure::Metric(error)) => {
                        self.sizes_differ = true;
                        self.skip(&m.b, &m.scene, &format!("with {} at {} spp: {error}", m.a, m.spp))?;
                    }
                    Err(error) => return Err(error),
                }
            }
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

    fn skip(&mut self, target: &str, scene: &str, reason: &str) -> Result<(), Failure> {
        say(&format!("lockstep: {target} of {scene} is skipped: {reason}"));
        self.report.as_mut().map_or(Ok(()), |report| report.skip(target, scene, reason))
    }

    /// Writes and prints what was found; the worst decides the exit code.
    fn finish(self) -> Result<Exit, Failure> {
        ci::write(self.args, &self.findings)?;
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
        let worst = [Exit::Differs, Exit::Inconclusive].into_iter().find(|exit| exits.contains(exit));
        Ok(if self.sizes_differ { Exit::Missing } else { worst.unwrap_or(Exit::Fine) })
    }
}

/// The last part of a path, as the name of a side.
fn label(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
