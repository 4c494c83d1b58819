//! `lockstep render --techniques DIR`: the image of every technique of a bidirectional integrator.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use lockstep_core::splat::Technique;
use lockstep_core::{Film, Integrator, OpenOptions, Scene, Settings};
use lockstep_cpu::{TechniqueFilm, sum_of_weighted, technique_films};
use lockstep_reports::image_io::{ImageMetadata, LinearImage, write_image};
use lockstep_reports::records::TechniqueShare;

use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{print, say};
use crate::progress::Bar;
use crate::render::image_of;

/// Most pixels of a pyramid's side.
const MAX_SIDE: usize = 8192;

/// Refuses integrators of one technique.
///
/// # Errors
/// [`Failure::Usage`] with the remedy.
pub(crate) fn check(integrator: Integrator) -> Result<(), Failure> {
    if integrator.merges() {
        return Err(Failure::Usage(format!(
            "--techniques: {integrator} merges the photons of all pairs, so its techniques are not those of one pair; \
             use --integrator bpt or light"
        )));
    }
    if integrator.splats() { Ok(()) } else { Err(single(integrator)) }
}

/// The failure of an integrator that has a single technique.
pub(crate) fn single(integrator: Integrator) -> Failure {
    Failure::Usage(format!(
        "--techniques: {integrator} has a single technique; use --integrator bpt or light"
    ))
}

/// Renders the techniques of a film on the reference target and writes the images of each and two pyramids of
/// them. Says whether the weighted films add up to `film` to the bit.
///
/// # Errors
/// [`Failure`] for films that do not fit into memory and for files that cannot be written.
pub(crate) fn write(
    folder: &Path,
    scene: &Scene,
    settings: &Settings,
    options: &OpenOptions,
    film: &Film,
    metadata: &ImageMetadata,
) -> Result<Exit, Failure> {
    std::fs::create_dir_all(folder).map_err(Failure::io("create", folder))?;
    let bar = Bar::new(&format!("{}, technique by technique", scene.name), u64::from(film.spp));
    let mut progress = || {
        bar.add(1);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let films = technique_films(scene, settings, 0..film.spp, options, &mut progress)?;
    bar.clear();
    if interrupt::requested() {
        say("lockstep: stopped; no image of a technique was written");
        return Ok(Exit::Interrupted);
    }

    // The images of each
    for TechniqueFilm { technique: Technique { light, camera }, weighted, unweighted } in &films {
        for (kind, film) in [("weighted", weighted), ("unweighted", unweighted)] {
            let technique = format!("s{light} t{camera}");
            let metadata = metadata.clone().with("technique", &technique).with("weights", kind);
            write_image(&folder.join(format!("s{light}-t{camera}.{kind}.exr")), &image_of(film)?, &metadata)?;
        }
    }
    write_image(&folder.join("weighted.png"), &pyramid(&films, MAX_SIDE, true)?, metadata)?;
    write_image(&folder.join("unweighted.png"), &pyramid(&films, MAX_SIDE, false)?, metadata)?;

    // Print the contribution of each technique, and check that all add up to the film
    print(&table(&shares(&films, film)))?;
    let differing = sum_of_weighted(&films).map_or(film.sums.len(), |sum| sum.pixels_differing(film));
    let folder = folder.display();
    if differing > 0 {
        say(&format!(
            "lockstep: the weighted films of {} techniques do not add up to the film: {differing} pixels differ. The \
             target differs from cpu-bvh; `lockstep trace` finds where",
            films.len()
        ));
        return Ok(Exit::Differs);
    }
    say(&format!("{folder}: {} techniques; their weighted films add up to the film to the bit", films.len()));
    Ok(Exit::Fine)
}

/// The mean of all channels of a film.
fn mean(film: &Film) -> f64 {
    let mean = film.mean();
    let sum: f64 = mean.iter().flatten().map(|&v| f64::from(v)).sum();
    sum / (3.0 * mean.len() as f64)
}

/// The share of each technique in the image of all, by path length and then by light vertices.
pub(crate) fn shares(films: &[TechniqueFilm], film: &Film) -> Vec<TechniqueShare> {
    let all = mean(film);
    let mut sorted: Vec<&TechniqueFilm> = films.iter().collect();
    sorted.sort_by_key(|film| (film.technique.light + film.technique.camera, film.technique.light));
    let share = |f: &TechniqueFilm| TechniqueShare {
        light: f.technique.light,
        camera: f.technique.camera,
        share: if all > 0.0 { mean(&f.weighted) / all } else { 0.0 },
        alone: mean(&f.unweighted),
    };
    sorted.into_iter().map(share).collect()
}

/// A line for each technique: its share of the image's mean, and the light that it finds alone.
fn table(shares: &[TechniqueShare]) -> String {
    let mut text = String::from("edges  s  t   share of image  mean alone\n");
    for TechniqueShare { light, camera, share, alone } in shares {
        let (edges, share) = (light + camera - 1, 100.0 * share);
        let _ = writeln!(text, "{edges:>5} {light:>2} {camera:>2} {share:>13.3} %  {alone:>10.6}");
    }
    text
}

/// One image with a row for every path length, the shortest above, and in it a column for every number of
/// light vertices, from none at the left. Cells are reduced so that no side is longer than `most_side`.
///
/// # Errors
/// [`Failure::Input`] where it does not fill its image.
pub(crate) fn pyramid(
    films: &[TechniqueFilm],
    most_side: usize,
    weighted: bool,
) -> Result<LinearImage, Failure> {
    let of = |film: &TechniqueFilm| if weighted { film.weighted.mean() } else { film.unweighted.mean() };
    let longest = films.iter().map(|film| film.technique.light + film.technique.camera).max().unwrap_or(2);
    let columns = films.iter().map(|film| film.technique.light).max().unwrap_or(0) as usize + 1;
    let rows = longest as usize - 1;
    let [width, height] =
        films.first().map_or([1, 1], |f| [f.weighted.width(), f.weighted.height()].map(|v| v as usize));
    let step = (columns * width).div_ceil(most_side).max((rows * height).div_ceil(most_side)).max(1);
    let [cell_width, cell_height] = [width.div_ceil(step), height.div_ceil(step)];
    let mut pixels = vec![[0.0f32; 3]; columns * cell_width * rows * cell_height];
    for film in films {
        let Technique { light, camera } = film.technique;
        let (row, column) = ((light + camera) as usize - 2, light as usize);
        let mean = of(film);
        for y in 0..cell_height {
            for x in 0..cell_width {
                let to = (row * cell_height + y) * columns * cell_width + column * cell_width + x;
                pixels[to] = mean[y * step * width + x * step];
            }
        }
    }
    LinearImage::new((columns * cell_width) as u32, (rows * cell_height) as u32, pixels)
        .map_err(|e| Failure::Input(format!("a pyramid of techniques does not fill its image: {e}")))
}
