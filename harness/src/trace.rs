//! `lockstep trace`: one sample's path on one or two targets, vertex by vertex; or its pair of sub-paths, step by step.

mod show;

use lockstep_core::path_record::compare::{Divergence, first_difference};
use lockstep_core::path_record::{PairStep, PathRequest, PathVertex, first_pair_difference};
use lockstep_core::{Renderer, Settings};
use serde::Serialize;
use serde_json::{Value, json};

use crate::backends::{self, Target};
use crate::bvh_cache;
use crate::cli::TraceArgs;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};
use crate::render::DEFAULT_SIZE;
use crate::scenes;

/// Traces a sample and prints its path, or two targets' paths with the first quantity in which they differ.
///
/// # Errors
/// [`Failure`] for a scene, target or pixel that cannot be used.
pub(crate) fn run(args: &TraceArgs) -> Result<Exit, Failure> {
    let targets = one_or_two(&args.targets)?;
    let settings = args.image.settings(DEFAULT_SIZE);
    let [x, y] = args.pixel.0;
    if x >= settings.width || y >= settings.height {
        return Err(Failure::Usage(format!(
            "pixel {x},{y} lies outside the image of {}x{}; counting begins at 0,0, top left; --size sets another",
            settings.width, settings.height
        )));
    }
    let scene = scenes::load(&args.scene, &args.files.options())?;
    let request = PathRequest { pixel: y * settings.width + x, sample: args.sample };
    let mut renderers = Vec::new();
    for target in &targets {
        let mut renderer = target.open(&bvh_cache::options(args.threads))?;
        let report = renderer.load(&scene, &Settings { mode: target.id.mode, ..settings })?;
        bvh_cache::warn_if_rebuilt(&scene.name, &report);
        renderers.push(renderer);
    }
    let names: Vec<String> = targets.iter().map(|target| target.id.to_string()).collect();
    let title = format!("{}, pixel {x},{y}, sample {}, seed {}", scene.name, args.sample, settings.seed);
    let of_all = |first: &Option<Divergence>| if first.is_some() { Exit::Differs } else { Exit::Fine };
    if settings.integrator.splats() {
        let pairs = record(&mut renderers, |r| Ok(r.record_pairs(&[request])?.pop().unwrap_or_default()))?;
        let first = of_two(&pairs, |a: &Vec<PairStep>, b| first_pair_difference(a, b));
        show(args, "steps", &names, &pairs, first.as_ref(), || {
            show::paths(&title, &names, &show::parts_of_pairs(&pairs), first.as_ref())
        })?;
        return Ok(of_all(&first));
    }
    let paths = record(&mut renderers, |r| Ok(r.record_paths(&[request])?.pop().unwrap_or_default()))?;
    let first = of_two(&paths, |a: &Vec<PathVertex>, b| first_difference(a, b));
    show(args, "vertices", &names, &paths, first.as_ref(), || {
        show::paths(&title, &names, &show::parts_of_paths(&paths), first.as_ref())
    })?;
    Ok(of_all(&first))
}

/// The record of each renderer.
fn record<T>(
    renderers: &mut [Box<dyn Renderer>],
    of: impl Fn(&mut dyn Renderer) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    renderers.iter_mut().map(|renderer| of(renderer.as_mut())).collect()
}

/// The divergence of two records; `None` for one.
fn of_two<T>(records: &[T], compare: impl Fn(&T, &T) -> Option<Divergence>) -> Option<Divergence> {
    match records {
        [a, b] => compare(a, b),
        _ => None,
    }
}

/// Prints records, in words or as JSON.
fn show<T: Serialize>(
    args: &TraceArgs,
    what: &str,
    names: &[String],
    records: &[T],
    first: Option<&Divergence>,
    in_words: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if args.json { print_json(&to_json(args, what, names, records, first)) } else { print(&in_words()) }
}

fn one_or_two(words: &[String]) -> Result<Vec<Target>, Failure> {
    let targets = backends::select(words)?;
    match targets.len() {
        1 | 2 => Ok(targets),
        n => {
            let names: Vec<String> = targets.iter().map(|target| target.id.to_string()).collect();
            Err(Failure::Usage(format!(
                "a trace takes one target or two, as in -b cpu-bvh,opencl@pocl; {n} were asked for: {}",
                names.join(", ")
            )))
        }
    }
}

fn to_json<T: Serialize>(
    args: &TraceArgs,
    what: &str,
    names: &[String],
    records: &[T],
    first: Option<&Divergence>,
) -> Value {
    let settings = args.image.settings(DEFAULT_SIZE);
    let of_target = |(name, record): (&String, &T)| json!({ "target": name, what: record });
    let traced: Vec<Value> = names.iter().zip(records).map(of_target).collect();
    json!({
        "scene": args.scene, "width": settings.width, "height": settings.height,
        "pixel": args.pixel.0, "sample": args.sample, "seed": settings.seed, "bounces": settings.bounces,
        "roulette": settings.roulette_from,
        "integrator": settings.integrator,
        "sampler": settings.sampler, "layers": settings.layers,
        "identical": (records.len() == 2).then_some(first.is_none()), "first_difference": first, "paths": traced,
    })
}
