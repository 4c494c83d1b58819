//! `lockstep golden check`

use std::path::Path;
use std::time::Instant;

use lockstep_core::Mode;
use lockstep_core::{DeviceInfo, Film, OpenOptions, Renderer, Scene};
use lockstep_reports::image_io::{LinearImage, atomic_write_text};
use lockstep_reports::metrics::Metrics;
use lockstep_reports::records::{TargetInfo, utc_now};

use super::agreement::agreement;
use super::expectations::Expectations;
use super::finding::{Finding, Outcome, stale};
use super::junit::junit;
use super::store::{Golden, Place, folder_of};
use super::summary::Summary;
use super::triage::triage;
use super::verdict::Verdict;
use crate::backends::{self, Target};
use crate::cli::GoldenCheckArgs;
use crate::exit::{Exit, Failure};
use crate::image_report::{ImageReport, Pair};
use crate::output::{print, print_json, say};
use crate::render::{image_of, read_film};
use crate::scenes;
use crate::terminal;

/// The name of a golden beside the targets in a report.
const GOLDEN: &str = "golden";

/// File names in the folder of a run, beside its report.
const JUNIT: &str = "junit.xml";
const MARKDOWN: &str = "golden.md";
const JSON: &str = "golden.json";

/// Renders every golden scene on every target that is present and compares.
///
/// # Errors
/// [`Failure`] for scenes, targets and files that cannot be used.
pub(crate) fn run(args: &GoldenCheckArgs) -> Result<Exit, Failure> {
    backends::require(&args.require)?;
    let expectations = Expectations::read(&folder_of(args.goldens.as_deref()))?;
    let targets = present(backends::select(&args.targets)?)?;
    if let Some(fast) = targets.iter().find(|target| target.id.mode != Mode::Exact) {
        return Err(Failure::Usage(format!(
            "{} promises no image, so it cannot be held to a golden; check the target without +fast",
            fast.id
        )));
    }
    let specs: Vec<&str> = match args.scenes.as_slice() {
        [] => scenes::built_in(),
        given => given.iter().map(String::as_str).collect(),
    };
    let report = args.out.as_deref().map(|folder| ImageReport::begin(folder, args.fresh)).transpose()?;
    let today: String = utc_now().chars().take_while(|&c| c != 'T').collect();
    let options = OpenOptions { threads: args.threads, ..OpenOptions::default() };
    let mut run = Run {
        args,
        expectations: &expectations,
        targets: &targets,
        options,
        today,
        report,
        findings: Vec::new(),
    };
    for spec in &specs {
        run.scene(spec)?;
    }
    run.finish(&specs)
}

/// The targets that are present. Warns of those that are not.
fn present(targets: Vec<Target>) -> Result<Vec<Target>, Failure> {
    let mut first = None;
    let mut kept = Vec::new();
    for target in targets {
        match target.absent() {
            Some(unavailable) => {
                say(&format!("lockstep: {unavailable}"));
                first.get_or_insert(unavailable);
            }
            None => kept.push(target),
        }
    }
    match (kept.is_empty(), first) {
        (true, Some(unavailable)) => Err(unavailable),
        _ => Ok(kept),
    }
}

/// A run of checks.
struct Run<'a> {
    args: &'a GoldenCheckArgs,
    expectations: &'a Expectations,
    targets: &'a [Target],
    options: OpenOptions,
    today: String,
    report: Option<ImageReport>,
    findings: Vec<Finding>,
}

impl Run<'_> {
    /// Checks one golden on every target.
    fn scene(&mut self, spec: &str) -> Result<(), Failure> {
        let scene = scenes::load(spec, &self.args.files.options())?;
        let place = Place::of(spec, &scene.name, self.args.goldens.as_deref());
        let golden = match place.read()? {
            Some(golden) if golden.scene_hash == scene.hash => golden,
            unusable => {
                let verdict =
                    unusable.map_or_else(|| Verdict::Missing(place.image()), |_| Verdict::SceneChanged);
                self.found(spec, None, verdict, None, Instant::now());
                return Ok(());
            }
        };
        for target in self.targets {
            let start = Instant::now();
            let mut renderer = target.open(&self.options)?;
            let film = render(renderer.as_mut(), &scene, &golden)?;
            let image = image_of(&film)?;
            let verdict = agreement(target, &scene.name, &golden, &film, &image)?;
            let command = match verdict {
                Verdict::Differs(..) => Some(triage(spec, &scene, target, &golden, &image, &self.options)?),
                _ => None,
            };
            self.record(&scene.name, target, &golden, &image, &verdict, command.as_deref())?;
            self.found(spec, Some(target), verdict, command, start);
        }
        Ok(())
    }

    fn found(
        &mut self,
        spec: &str,
        target: Option<&Target>,
        verdict: Verdict,
        triage: Option<String>,
        start: Instant,
    ) {
        let driver = target.and_then(|t| t.state.as_ref().ok()).map_or("", |info| info.driver.as_str());
        let name = target.map_or_else(String::new, |t| t.id.to_string());
        let outcome = Outcome::of(&verdict, self.expectations.of(spec, &name, driver), &self.today);
        let time = start.elapsed();
        self.findings.push(Finding { scene: spec.to_owned(), target: name, verdict, outcome, triage, time });
    }

    /// Puts a comparison into the report, with its images and, where it failed, the command that looks into
    /// it.
    fn record(
        &mut self,
        scene: &str,
        target: &Target,
        golden: &Golden,
        image: &LinearImage,
        verdict: &Verdict,
        triage: Option<&str>,
    ) -> Result<(), Failure> {
        let Some(report) = &mut self.report else { return Ok(()) };
        let label = target.id.to_string();
        let pair = Pair {
            scene,
            spp: golden.spp,
            seed: u64::from(golden.settings.seed),
            a: (&label, image),
            b: (GOLDEN, &golden.image),
        };
        let failed = verdict.exit() != Exit::Fine;
        match verdict {
            Verdict::Identical => report.compared(&pair, pair.difference(&Metrics::EQUAL), false)?,
            _ => {
                if let Some(metrics) = verdict.metrics() {
                    report.compared(&pair, pair.difference(metrics), failed)?;
                }
            }
        }
        if failed {
            report.remark(scene, &label, format!("{}: {}", verdict.word(), verdict.detail()))?;
        }
        match triage {
            Some(triage) => report.remark(scene, &label, format!("to look into it: {triage}")),
            None => Ok(()),
        }
    }

    /// Writes and prints what was found.
    fn finish(self, specs: &[&str]) -> Result<Exit, Failure> {
        let stale = stale(self.expectations, specs, &self.findings, &self.today);
        let summary = Summary { findings: &self.findings, stale: &stale };
        self.args.junit.as_deref().map_or(Ok(()), |file| write(file, &junit(&summary)?))?;
        self.args.markdown.as_deref().map_or(Ok(()), |file| write(file, &summary.markdown()))?;
        if let (Some(folder), Some(report)) = (&self.args.out, self.report) {
            write(&folder.join(JUNIT), &junit(&summary)?)?;
            write(&folder.join(MARKDOWN), &summary.markdown())?;
            write(&folder.join(JSON), &format!("{:#}\n", summary.json()))?;
            report.finish(self.targets.iter().map(describe).collect(), 1)?;
        }
        if self.args.json {
            print_json(&summary.json())?;
        } else {
            print(&summary.text(terminal::graded))?;
        }
        let stale_exit = if stale.is_empty() { Exit::Fine } else { Exit::Differs };
        let exits: Vec<Exit> = self.findings.iter().map(Finding::exit).chain([stale_exit]).collect();
        let worst = [Exit::Differs, Exit::Missing].into_iter().find(|exit| exits.contains(exit));
        Ok(worst.unwrap_or(Exit::Fine))
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    Ok(atomic_write_text(file, text)?)
}

/// A target as reports describe it.
fn describe(target: &Target) -> TargetInfo {
    let info = target.state.clone().unwrap_or_default();
    DeviceInfo { target: target.id.clone(), ..info }.into()
}

/// Renders a scene as its golden was.
///
/// # Errors
/// [`Failure::Core`] of the renderer.
pub(super) fn render(renderer: &mut dyn Renderer, scene: &Scene, golden: &Golden) -> Result<Film, Failure> {
    renderer.load(scene, &golden.settings)?;
    renderer.accumulate(0..golden.spp)?;
    read_film(renderer)
}
