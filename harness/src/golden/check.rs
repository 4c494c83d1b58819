//! `lockstep golden check`

use std::path::{Path, PathBuf};

use lockstep_core::{Film, OpenOptions, Renderer, Scene};
use lockstep_reports::image_io::{ImageMetadata, LinearImage, WriteError, encode_name, write_exr};
use lockstep_reports::metrics::{Metrics, compare};
use serde_json::{Value, json};

use super::store::{Golden, Place};
use super::tolerance;
use crate::backends::{self, Target};
use crate::cli::GoldenCheckArgs;
use crate::exit::{Exit, Failure};
use crate::output::{json_number, print, print_json, say};
use crate::render::{image_of, read_film};
use crate::scenes;

/// What a check of one golden on one target found.
#[derive(Clone, Debug)]
struct Finding {
    scene: String,
    target: String,
    verdict: Verdict,
}

#[derive(Clone, Debug)]
enum Verdict {
    /// Every bit is equal.
    Identical,
    /// It differs, but by no more than the table allows this target.
    Tolerated(Metrics, &'static str),
    /// It differs.
    Differs(Metrics),
    /// The scene is not the one that the golden shows.
    SceneChanged,
    /// There is no golden; where it should be.
    Missing(PathBuf),
    /// Samples had to be altered.
    Flawed,
}

impl Verdict {
    fn exit(&self) -> Exit {
        match self {
            Self::Identical | Self::Tolerated(..) => Exit::Fine,
            Self::Missing(_) => Exit::Missing,
            Self::Differs(_) | Self::SceneChanged | Self::Flawed => Exit::Differs,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Tolerated(..) => "tolerated",
            Self::Differs(_) => "DIFFERS",
            Self::SceneChanged => "SCENE CHANGED",
            Self::Missing(_) => "MISSING",
            Self::Flawed => "FLAWED",
        }
    }

    fn metrics(&self) -> Option<&Metrics> {
        match self {
            Self::Tolerated(metrics, _) | Self::Differs(metrics) => Some(metrics),
            _ => None,
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Tolerated(m, reason) => format!("{}; allowed: {reason}", numbers(m)),
            Self::Differs(m) => numbers(m),
            Self::Missing(path) => {
                format!("{} is not there; make it with `lockstep golden bless`", path.display())
            }
            Self::SceneChanged => "its scene is no longer the one that was blessed".into(),
            Self::Flawed => "samples were not finite, negative or clamped".into(),
            Self::Identical => String::new(),
        }
    }
}

fn numbers(m: &Metrics) -> String {
    format!("{} pixels, 8-bit MSE {:.6}, SSIM {:.6}", m.pixels_differing, m.mse, m.ssim)
}

/// Renders every golden scene on every target that is present and compares.
///
/// # Errors
/// [`Failure`] for scenes, targets and files that cannot be used.
pub(crate) fn run(args: &GoldenCheckArgs) -> Result<Exit, Failure> {
    backends::require(&args.require)?;
    let targets = present(backends::select(&args.targets)?)?;
    let specs: Vec<&str> = match args.scenes.as_slice() {
        [] => scenes::built_in(),
        given => given.iter().map(String::as_str).collect(),
    };
    let options = OpenOptions { threads: args.threads };
    let mut findings = Vec::new();
    for spec in specs {
        findings.extend(check_scene(args, spec, &targets, &options)?);
    }
    report(args, &findings)
}

fn report(args: &GoldenCheckArgs, findings: &[Finding]) -> Result<Exit, Failure> {
    if args.json {
        print_json(&findings.iter().map(to_json).collect::<Vec<_>>())?;
    } else {
        print(&text(findings))?;
    }
    let worst = |exit: Exit| findings.iter().any(|f| f.verdict.exit() == exit);
    let order = [Exit::Differs, Exit::Missing];
    Ok(order.into_iter().find(|&exit| worst(exit)).unwrap_or(Exit::Fine))
}

/// The targets that are present; those that are not are told.
fn present(targets: Vec<Target>) -> Result<Vec<Target>, Failure> {
    let mut first = None;
    let mut kept = Vec::new();
    for target in targets {
        match target.absent() {
            Some(absence) => {
                say(&format!("lockstep: {absence}"));
                first.get_or_insert(absence);
            }
            None => kept.push(target),
        }
    }
    match (kept.is_empty(), first) {
        (true, Some(absence)) => Err(absence),
        _ => Ok(kept),
    }
}

fn check_scene(
    args: &GoldenCheckArgs,
    spec: &str,
    targets: &[Target],
    options: &OpenOptions,
) -> Result<Vec<Finding>, Failure> {
    let scene = scenes::load(spec)?;
    let place = Place::of(spec, &scene.name, args.goldens.as_deref());
    let finding =
        |target: &str, verdict| Finding { scene: spec.to_owned(), target: target.to_owned(), verdict };
    let Some(golden) = place.read()? else {
        return Ok(vec![finding("", Verdict::Missing(place.image()))]);
    };
    if golden.scene_hash != scene.hash {
        return Ok(vec![finding("", Verdict::SceneChanged)]);
    }
    let mut findings = Vec::new();
    for target in targets {
        let mut renderer = target.open(options)?;
        let film = render(renderer.as_mut(), &scene, &golden)?;
        let image = image_of(&film)?;
        let verdict = judge(target, &golden, &film, &image)?;
        if verdict.exit() != Exit::Fine {
            keep(args.out.as_deref(), &scene.name, target, &golden, &image)?;
        }
        findings.push(finding(&target.name, verdict));
    }
    Ok(findings)
}

/// Renders a scene as its golden was.
///
/// # Errors
/// What the renderer says.
pub(super) fn render(renderer: &mut dyn Renderer, scene: &Scene, golden: &Golden) -> Result<Film, Failure> {
    renderer.load(scene, &golden.settings)?;
    renderer.accumulate(0..golden.spp)?;
    read_film(renderer)
}

fn judge(target: &Target, golden: &Golden, film: &Film, image: &LinearImage) -> Result<Verdict, Failure> {
    if !film.flaws.is_clean() {
        return Ok(Verdict::Flawed);
    }
    if same_bits(image, &golden.image) {
        return Ok(Verdict::Identical);
    }
    let metrics = compare(image, &golden.image)?;
    let share = metrics.pixels_differing as f64 / image.pixels().len() as f64;
    Ok(match tolerance::of(&target.name, target.is_exact()) {
        Some(t) if share <= t.share && metrics.mse <= t.mse => Verdict::Tolerated(metrics, t.reason),
        _ => Verdict::Differs(metrics),
    })
}

/// Equal in every bit: of two exact films' means that is the same as equal integers, up to the mean's rounding.
fn same_bits(a: &LinearImage, b: &LinearImage) -> bool {
    let bits = |image: &LinearImage| bytemuck::cast_slice::<_, u32>(image.pixels()).to_vec();
    (a.width(), a.height()) == (b.width(), b.height()) && bits(a) == bits(b)
}

/// Keeps the image of a check that failed, if the user wants it.
fn keep(
    folder: Option<&Path>,
    scene: &str,
    target: &Target,
    golden: &Golden,
    image: &LinearImage,
) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(Failure::io("make the folder", folder))?;
    let name = format!("{}.{}-actual.exr", encode_name(scene), encode_name(&target.name));
    let metadata = ImageMetadata::of_render(scene, &target.name, golden.spp, u64::from(golden.settings.seed));
    write_exr(&folder.join(name), image, &metadata).map_err(|e: WriteError| e.into())
}

fn text(findings: &[Finding]) -> String {
    let width = |of: fn(&Finding) -> usize| findings.iter().map(of).max().unwrap_or(0);
    let (scene, target) = (width(|f| f.scene.len()), width(|f| f.target.len()));
    let mut text = String::new();
    for f in findings {
        let line = format!(
            "{:scene$}  {:target$}  {:13}  {}",
            f.scene,
            f.target,
            f.verdict.word(),
            f.verdict.detail()
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let failed = findings.iter().filter(|f| f.verdict.exit() != Exit::Fine).count();
    text.push_str(&format!("{} checked, {failed} failed\n", findings.len()));
    text
}

fn to_json(finding: &Finding) -> Value {
    let metric = |of: fn(&Metrics) -> f64| finding.verdict.metrics().map(|m| json_number(of(m)));
    json!({
        "scene": finding.scene, "target": finding.target,
        "verdict": finding.verdict.word().to_lowercase(), "detail": finding.verdict.detail(),
        "passed": finding.verdict.exit() == Exit::Fine,
        "pixels_differing": finding.verdict.metrics().map(|m| m.pixels_differing),
        "mse": metric(|m| m.mse), "psnr": metric(|m| m.psnr), "ssim": metric(|m| m.ssim),
    })
}
