//! `lockstep render`: one image.

use std::path::Path;

use lockstep_core::{DeviceInfo, Film, Renderer, Scene, Settings, TargetId};
use lockstep_reports::format;
use lockstep_reports::image_io::{ImageMetadata, LinearImage, Tone, write_image};
use lockstep_together::SampleSet;

use crate::backends;
use crate::bvh_cache;
use crate::chunking::{Chunking, Pass};
use crate::cli::{OutputKind, RenderArgs};
use crate::exit::{Exit, Failure};
use crate::external;
use crate::image_metadata::image_metadata;
use crate::interrupt;
use crate::kernels;
use crate::memory_need;
use crate::output::say;
use crate::progress::Bar;
use crate::scenes;
use crate::techniques;
use crate::together;
use crate::values::Size;

/// The size of an image whose size is not given.
pub(crate) const DEFAULT_SIZE: Size = Size { width: 320, height: 240 };

/// Renders a scene on one target into a file.
///
/// # Errors
/// [`Failure`] for a scene, target or file that cannot be used.
pub(crate) fn run(args: &RenderArgs) -> Result<Exit, Failure> {
    let OutputKind::Beauty = args.output;
    check_extension(&args.out)?;
    check_shown(args)?;
    if args.techniques.is_some() {
        techniques::check(args.image.integrator)?;
    }
    kernels::dump(args.kernels.dump_kernels.as_deref())?;
    if let Some(program) = external::render::program_of(args)? {
        return external::render::run(args, &program, &args.image.settings(DEFAULT_SIZE));
    }
    if args.group.is_asked_for() {
        return together::render(args);
    }
    let target = backends::one(&args.target, args.mode.into())?;
    let scene = scenes::load(&args.scene, &args.files.options())?;
    let settings = Settings { mode: target.id.mode, ..args.image.settings(DEFAULT_SIZE) };
    let mut renderer = target.open(&bvh_cache::options(args.threads))?;
    scenes::warn_of_few_bounces(&args.scene, &scene, &settings);
    memory_need::check_render(renderer.device(), &settings)?;
    say_photon_map(&target.id, renderer.photon_map_bytes(&settings));
    interrupt::listen()?;
    bvh_cache::warn_if_rebuilt(&scene.name, &renderer.load(&scene, &settings)?);
    let samples = args.wanted();
    let bar = Bar::new(&format!("{} on {}", scene.name, target.id), samples.len() as u64);
    let pass = Chunking::of(&target.id)
        .accumulate(renderer.as_mut(), samples.clone(), &mut |samples| bar.add(samples))?;
    bar.clear();
    let Pass::Done(report) = pass else {
        say("lockstep: stopped; no image was written");
        return Ok(Exit::Interrupted);
    };
    let film = read_film(renderer.as_mut())?;
    let (name, device) = (target.id.to_string(), renderer.device().clone());
    // Its film is as large as the one just read
    drop(renderer);
    let samples = samples.into();
    let output = Output { args, scene: &scene, settings: &settings, target: &name, device: &device, samples };
    write_output(&output, film, report.stages.total_ms / 1e3)
}

/// Says the size of the photon maps in flight before they are allocated.
fn say_photon_map(target: &TargetId, bytes: u64) {
    if bytes > 0 {
        say(&format!("lockstep: photon maps take up to {} on {target}", format::bytes(bytes)));
    }
}

/// A finished render, and where it goes.
pub(crate) struct Output<'a> {
    /// The command.
    pub(crate) args: &'a RenderArgs,
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The settings.
    pub(crate) settings: &'a Settings,
    /// The target's name.
    pub(crate) target: &'a str,
    /// The target's device.
    pub(crate) device: &'a DeviceInfo,
    /// The samples in the film.
    pub(crate) samples: SampleSet,
}

/// Writes the film as the command asks for, and says what it took.
///
/// # Errors
/// [`Failure`] for files that cannot be written.
pub(crate) fn write_output(output: &Output<'_>, film: Film, seconds: f64) -> Result<Exit, Failure> {
    let Output { args, scene, settings, target, device, .. } = output;
    let metadata = image_metadata(&scene.name, target, film.spp, settings)
        .with("mode", settings.mode.as_str())
        .with("scene-hash", &scene.hash)
        .with("device", &device.device);
    let (samples, invalid) = (u64::from(film.spp) * film.sums.len() as u64, film.invalid);
    let image = if is_film(&args.out) { None } else { Some(image_of(&film)?) };
    // The sums are freed before the image is encoded, unless they are wanted after it
    let kept = args.techniques.is_some().then(|| film.clone());
    match image {
        None => {
            let part = together::part_of(scene, settings, device, output.samples.clone(), film)?;
            together::write_part(&args.out, &part)?;
        }
        Some(image) => {
            drop(film);
            write_shown(args, image, metadata.clone())?;
        }
    }
    say(&format!("{}: {samples} samples in {seconds:.2} s on {target}", args.out.display()));
    let mut exit = Exit::Fine;
    if !invalid.is_zero() {
        say(&format!("lockstep: {target} made samples that had to be altered: {invalid}"));
        exit = Exit::Differs;
    }
    if let (Some(folder), Some(film)) = (&args.techniques, kept) {
        let options = bvh_cache::options(args.threads);
        match techniques::write(folder, scene, settings, &options, &film, &metadata)? {
            Exit::Fine => {}
            worse => exit = worse,
        }
    }
    Ok(exit)
}

/// Writes an image, under the exposure and the tone curve that a .png is asked for.
///
/// # Errors
/// [`Failure`] for a file that cannot be written.
pub(crate) fn write_shown(
    args: &RenderArgs,
    mut image: LinearImage,
    mut metadata: ImageMetadata,
) -> Result<(), Failure> {
    if let Some(stops) = args.exposure {
        image = image.scaled(stops.exp2());
        metadata = metadata.with("exposure", &stops.to_string());
    }
    if let Some(tone) = args.tone.map(Tone::from) {
        image = tone.apply(&image);
        metadata = metadata.with("tone", tone.as_str());
    }
    Ok(write_image(&args.out, &image, &metadata)?)
}

/// Whether a file is to hold exact sums instead of an image.
pub(crate) fn is_film(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("film"))
}

/// Refuses an exposure and a tone curve for files that keep the radiance as it is.
fn check_shown(args: &RenderArgs) -> Result<(), Failure> {
    let is_png = args.out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png"));
    let asked = [(args.exposure.is_some(), "--exposure"), (args.tone.is_some(), "--tone")];
    match asked.into_iter().find(|(is_asked, _)| *is_asked && !is_png) {
        Some((_, option)) => {
            Err(Failure::Usage(format!("{option} is for .png; other files keep the radiance as it is")))
        }
        None => Ok(()),
    }
}

/// Refuses an unknown kind of file before the work, not after it.
pub(crate) fn check_extension(path: &Path) -> Result<(), Failure> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("exr" | "png" | "film") => Ok(()),
        _ => Err(Failure::Usage(format!(
            "cannot write {}: its name must end in .exr (linear), .png (sRGB) or .film (exact sums)",
            path.display()
        ))),
    }
}

/// The film of a renderer.
///
/// # Errors
/// [`Failure::Core`] when nothing is loaded.
pub(crate) fn read_film(renderer: &mut dyn Renderer) -> Result<Film, Failure> {
    let mut film = Film::new(1, 1)?;
    renderer.read(&mut film)?;
    Ok(film)
}

/// The mean radiance of a film as an image.
///
/// # Errors
/// [`Failure::Input`] for a film whose sums do not fill its size, which a broken renderer could return.
pub(crate) fn image_of(film: &Film) -> Result<LinearImage, Failure> {
    LinearImage::new(film.width(), film.height(), film.mean())
        .map_err(|e| Failure::Input(format!("a renderer returned a broken film: {e}")))
}
