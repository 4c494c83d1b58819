//! `lockstep render`: one image.

use lockstep_core::{Film, Renderer, Settings};
use lockstep_reports::image_io::{ImageMetadata, LinearImage, write_image};

use crate::backends;
use crate::bvh_cache;
use crate::chunking::{Chunking, Pass};
use crate::cli::{OutputKind, RenderArgs};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::kernels;
use crate::output::say;
use crate::progress::Bar;
use crate::scenes;
use crate::techniques;
use crate::values::Size;

/// The size of an image whose size is not given.
pub(crate) const DEFAULT_SIZE: Size = Size { width: 320, height: 240 };

/// Renders a scene on one target into a file.
///
/// # Errors
/// [`Failure`] for a scene, target or file that cannot be used.
pub(crate) fn run(args: &RenderArgs) -> Result<Exit, Failure> {
    let OutputKind::Beauty = args.output;
    check_extension(args)?;
    if args.techniques.is_some() {
        techniques::check(args.image.integrator)?;
    }
    kernels::dump(args.kernels.dump_kernels.as_deref())?;
    let target = backends::one(&args.target, args.mode.into())?;
    let scene = scenes::load(&args.scene, &args.files.options())?;
    let settings = Settings { mode: target.id.mode, ..args.image.settings(DEFAULT_SIZE) };
    let mut renderer = target.open(&bvh_cache::options(args.threads))?;
    interrupt::listen()?;
    bvh_cache::warn_if_rebuilt(&scene.name, &renderer.load(&scene, &settings)?);
    let bar = Bar::new(&format!("{} on {}", scene.name, target.id), u64::from(args.spp));
    let pass =
        Chunking::default().accumulate(renderer.as_mut(), 0..args.spp, &mut |samples| bar.add(samples))?;
    bar.clear();
    let Pass::Done(report) = pass else {
        say("lockstep: stopped; no image was written");
        return Ok(Exit::Interrupted);
    };
    let film = read_film(renderer.as_mut())?;
    let metadata =
        ImageMetadata::of_render(&scene.name, &target.id.to_string(), args.spp, u64::from(settings.seed))
            .with("bounces", &settings.bounces.to_string())
            .with("integrator", settings.integrator.as_str())
            .with("mode", target.id.mode.as_str())
            .with("scene-hash", &scene.hash)
            .with("device", &renderer.device().device);
    write_image(&args.out, &image_of(&film)?, &metadata)?;
    let seconds = report.stages.total_ms / 1e3;
    let samples = u64::from(args.spp) * film.sums.len() as u64;
    say(&format!("{}: {samples} samples in {seconds:.2} s on {}", args.out.display(), target.id));
    let mut exit = Exit::Fine;
    if !film.invalid.is_zero() {
        say(&format!("lockstep: {} made samples that had to be altered: {}", target.id, film.invalid));
        exit = Exit::Differs;
    }
    if let Some(folder) = &args.techniques {
        let options = bvh_cache::options(args.threads);
        match techniques::write(folder, &scene, &settings, &options, &film, &metadata)? {
            Exit::Fine => {}
            worse => exit = worse,
        }
    }
    Ok(exit)
}

/// Refuses an unknown kind of file before the work, not after it.
fn check_extension(args: &RenderArgs) -> Result<(), Failure> {
    let extension = args.out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("exr" | "png") => Ok(()),
        _ => Err(Failure::Usage(format!(
            "cannot write {}: its name must end in .exr (linear) or .png (sRGB)",
            args.out.display()
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
