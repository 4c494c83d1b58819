//! `lockstep bench`: ray throughput per target, scene, kind of rays and query.

mod bvh;
mod clocks;
mod comparison;
mod dump;
mod growth;
mod measure;
mod rates;
mod rays;
mod text;

use lockstep_core::Query;
use lockstep_core::{DeviceInfo, Error, OpenOptions, Scene, Settings};
use lockstep_reports::image_io::atomic_write_text;
use lockstep_reports::records::{HostInfo, utc_now};
use serde_json::{Value, json};
use std::path::Path;

use crate::backends;
use crate::cli::BenchArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{print, print_json, say};
use crate::scenes;
use crate::terminal;
use bvh::Structure;
use comparison::Comparison;
use dump::Dump;
use growth::Growth;
use measure::{Repeats, Row, Runner, measure};
use rates::Rates;
pub(crate) use rates::RatesError;
use rays::{Kind, RaySet, Source};
use text::Yardstick;

/// Passes over the rays in a round.
const PASSES: u32 = 3;

/// Measures, prints, and writes files where a folder is given.
///
/// # Errors
/// [`Failure`] for a scene, target or file that cannot be used. Targets that cannot trace given rays are
/// skipped.
pub(crate) fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    let targets = backends::select(&args.targets)?;
    let ids: Vec<String> = targets.iter().map(|target| target.id.to_string()).collect();
    let against = Against::new(args.against.as_deref(), &ids)?;
    let mut runners = Vec::new();
    for target in &targets {
        let renderer = target.open(&OpenOptions { threads: args.threads, ..OpenOptions::default() })?;
        runners.push(Runner { id: target.id.clone(), renderer });
    }
    interrupt::listen()?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(Failure::io("make the folder", folder))?;
    }
    let mut dump = args.out.as_ref().filter(|_| args.dump_rays).map(|to| Dump::new(to, command_line()));
    let (mut rows, mut structures) = (Vec::new(), Vec::new());
    for name in &args.scenes {
        if interrupt::requested() {
            break;
        }
        let loaded = scenes::load(name, &args.files.options())?;
        let scene = if args.opaque { loaded.opaque() } else { loaded };
        let mut of_scene = load(&scene, &mut runners)?;
        if args.quality {
            say(&format!("lockstep: {}: end-point overlap", scene.name));
            bvh::add_overlap(&mut of_scene, &scene);
        }
        structures.extend(of_scene);
        rows.extend(bench_scene(&scene, args, &against, dump.as_mut(), &mut runners)?);
    }
    let comparison = against.comparison(&rows);
    for difference in comparison.iter().flat_map(Comparison::differences) {
        say(&format!("lockstep: {difference}"));
    }
    let infos: Vec<&DeviceInfo> = runners.iter().map(|r| r.renderer.device()).collect();
    let growth = growth::of(&rows);
    let document = document(&rows, comparison.as_ref(), &structures, &growth, &infos);
    let tables = |width| {
        let yardstick = match &comparison {
            Some(comparison) => Yardstick::Tracers(comparison),
            None => Yardstick::Target(against.target()),
        };
        let tables = [
            text::table(&rows, &yardstick, width),
            comparison::table(comparison.as_ref().map_or(&[], |comparison| &comparison.means), width),
            bvh::table(&structures, width),
            growth::table(&growth, width),
        ];
        tables.into_iter().filter(|table| !table.is_empty()).collect::<Vec<_>>().join("\n")
    };
    if let Some(folder) = &args.out {
        let json = serde_json::to_string_pretty(&document)
            .map_err(|e| Failure::Input(format!("cannot encode the measurements as JSON: {e}")))?;
        atomic_write_text(&folder.join("bench.json"), &(json + "\n"))?;
        atomic_write_text(&folder.join("bench.md"), &tables(None))?;
        let drawn = growth::plots(&growth).map_err(|e| Failure::Input(e.to_string()))?;
        for (family, svg) in drawn {
            atomic_write_text(&folder.join(format!("growth.{}.svg", dump::file_name(&family))), &svg)?;
        }
    }
    if args.json {
        print_json(&document)?
    } else {
        print(&tables(terminal::width()))?
    }
    Ok(verdict(&rows))
}

/// The rates that targets are compared with.
enum Against {
    /// A target of the run; empty without targets.
    Target(String),
    /// Rates of other tracers.
    Rates(Rates),
}

impl Against {
    /// A target of the run, the first by default, or a file.
    fn new(word: Option<&str>, targets: &[String]) -> Result<Self, Failure> {
        match word {
            None => Ok(Self::Target(targets.first().cloned().unwrap_or_default())),
            Some(word) if targets.iter().any(|target| target == word) => Ok(Self::Target(word.to_owned())),
            Some(word) => {
                let targets = match targets {
                    [] => "a target that is measured".to_owned(),
                    targets => format!("a target that is measured ({})", targets.join(", ")),
                };
                Ok(Self::Rates(Rates::read(Path::new(word), &targets)?))
            }
        }
    }

    fn target(&self) -> &str {
        match self {
            Self::Target(target) => target,
            Self::Rates(_) => "",
        }
    }

    fn comparison(&self, rows: &[Row]) -> Option<Comparison> {
        match self {
            Self::Target(_) => None,
            Self::Rates(rates) => Some(Comparison::new(rows, rates)),
        }
    }
}

/// Takes a scene to all targets that can load it and trace given rays; the others are skipped from here on.
fn load(scene: &Scene, runners: &mut Vec<Runner>) -> Result<Vec<Structure>, Failure> {
    let (mut able, mut structures) = (Vec::new(), Vec::new());
    for mut runner in runners.drain(..) {
        let mode = runner.id.mode;
        let settings = Settings { width: 64, height: 64, mode, ..Settings::default() };
        let loaded = runner
            .renderer
            .load(scene, &settings)
            .and_then(|report| Ok((report, runner.renderer.trace_rays(&[], Query::Closest, 0, None)?)));
        match loaded {
            Ok((report, traced)) => {
                structures.push(Structure::new(scene, &runner.id, &traced.layout, &report));
                able.push(runner);
            }
            Err(Error::Unsupported { actor, what }) => {
                say(&format!("lockstep: {actor} is skipped: {what} is not supported"))
            }
            Err(other) => return Err(other.into()),
        }
    }
    *runners = able;
    Ok(structures)
}

/// Measures one scene on all targets, which have loaded it.
fn bench_scene(
    scene: &Scene,
    args: &BenchArgs,
    against: &Against,
    mut dump: Option<&mut Dump>,
    runners: &mut [Runner],
) -> Result<Vec<Row>, Failure> {
    let source = Source::new(scene, args.seed);
    if let Some(dump) = &mut dump {
        dump.write_triangles(scene)?;
    }
    let repeats = Repeats { rounds: args.repeats, passes: PASSES };
    let mut rows = Vec::new();
    for &count in &args.rays {
        let sets = source.sets(count);
        if let Against::Rates(rates) = against {
            rates.check(&scene.name, &sets)?;
        }
        if let Some(dump) = &mut dump {
            dump.write_rays(scene, &sets)?;
        }
        for (kind, query) in Kind::QUERIES {
            let Some(set) = sets.iter().find(|set: &&RaySet| set.kind == kind && !set.rays.is_empty()) else {
                continue;
            };
            if interrupt::requested() {
                return Ok(rows);
            }
            say(&format!("lockstep: {}: {} {} rays", scene.name, set.rays.len(), kind.name()));
            rows.extend(measure(scene, set, query, runners, repeats)?);
        }
    }
    Ok(rows)
}

fn document(
    rows: &[Row],
    comparison: Option<&Comparison>,
    structures: &[Structure],
    growth: &[Growth],
    targets: &[&DeviceInfo],
) -> Value {
    json!({
        "date": utc_now(), "host": HostInfo::detect(), "command": command_line(),
        "targets": targets, "rows": rows, "against": comparison, "bvh": structures, "growth": growth,
    })
}

/// The command line.
fn command_line() -> String {
    let words = std::iter::once("lockstep".to_owned()).chain(std::env::args().skip(1));
    words.collect::<Vec<_>>().join(" ")
}

/// Exact targets must agree on every hit.
fn verdict(rows: &[Row]) -> Exit {
    let mut exit = Exit::Fine;
    for row in rows.iter().filter(|row| row.exact && row.differing.is_some_and(|n| n > 0)) {
        let (kind, rays) = (row.kind.name(), row.rays);
        say(&format!(
            "lockstep: {} answers {} of {rays} {kind} rays of {} unlike the first exact target",
            row.target,
            row.differing.unwrap_or(0),
            row.scene
        ));
        exit = Exit::Differs;
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_a_target_of_the_run_or_a_file() {
        let targets = ["cpu-bvh".to_owned(), "opencl@pocl".to_owned()];
        let target = |word| Against::new(word, &targets).map(|against| against.target().to_owned());
        assert_eq!(target(None).unwrap(), "cpu-bvh");
        assert_eq!(target(Some("opencl@pocl")).unwrap(), "opencl@pocl");
        let message = target(Some("opencl@pocket")).unwrap_err().to_string();
        assert!(message.contains("in opencl@pocket: No such file"), "{message}");
        assert!(
            message.contains("a target that is measured (cpu-bvh, opencl@pocl), or a file of rates"),
            "{message}"
        );
    }
}
