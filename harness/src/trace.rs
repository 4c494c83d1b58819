//! `lockstep trace`: one sample's path on one or two targets, vertex by vertex.

mod show;

use lockstep_core::Settings;
use lockstep_core::path_record::compare::{Divergence, first_difference};
use lockstep_core::path_record::{PathRequest, PathVertex};
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
    let mut paths = Vec::new();
    for target in &targets {
        let mut renderer = target.open(&bvh_cache::options(args.threads))?;
        let report = renderer.load(&scene, &Settings { mode: target.id.mode, ..settings })?;
        bvh_cache::warn_if_rebuilt(&scene.name, &report);
        paths.push(renderer.record_paths(&[request])?.pop().unwrap_or_default());
    }
    let first = match paths.as_slice() {
        [a, b] => first_difference(a, b),
        _ => None,
    };
    let names: Vec<String> = targets.iter().map(|target| target.id.to_string()).collect();
    if args.json {
        print_json(&to_json(args, &names, &paths, first.as_ref()))?;
    } else {
        let title = format!("{}, pixel {x},{y}, sample {}, seed {}", scene.name, args.sample, settings.seed);
        print(&show::paths(&title, &names, &paths, first.as_ref()))?;
    }
    Ok(if first.is_some() { Exit::Differs } else { Exit::Fine })
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

fn to_json(
    args: &TraceArgs,
    names: &[String],
    paths: &[Vec<PathVertex>],
    first: Option<&Divergence>,
) -> Value {
    let settings = args.image.settings(DEFAULT_SIZE);
    let traced: Vec<Value> =
        names.iter().zip(paths).map(|(name, path)| json!({ "target": name, "vertices": path })).collect();
    json!({
        "scene": args.scene, "width": settings.width, "height": settings.height,
        "pixel": args.pixel.0, "sample": args.sample, "seed": settings.seed, "bounces": settings.bounces,
        "identical": (paths.len() == 2).then_some(first.is_none()), "first_difference": first, "paths": traced,
    })
}
