//! Integrators that connect light and camera sub-paths: against closed forms, against the path tracer, and
//! against the reference renderer, to the bit.

#[cfg(test)]
mod brute_force;
mod merging;
#[cfg(test)]
mod weights;

pub(crate) use merging::{
    float_merges_differ_by_their_rounding, merges_are_those_of_brute_force,
    merges_average_irradiance_over_their_circle,
};

use crate::furnaces::{Furnace, furnaces};
use crate::statistics::welch_t;
use crate::{Checked, During, Outcome, Subject, accumulate, film_of, load, made, render};
use crate::{identity, scenes, tolerances};
use lockstep_core::film::{Film, InvalidSamples};
use lockstep_core::path_record::divergence;
use lockstep_core::scene::Scene;
use lockstep_core::splat::{self, Technique};
use lockstep_core::{
    Error, Integrator, KernelConfig, PairStep, PathRequest, Result, Sampler, Settings, Structure,
};

/// The integrators of light and camera sub-paths.
const INTEGRATORS: [Integrator; 5] =
    [Integrator::Light, Integrator::Bpt, Integrator::Bpm, Integrator::Ppm, Integrator::Vcm];

/// Film side of the comparisons, and of their tiles.
const SIDE: u32 = 32;
const TILE: u32 = 8;
/// Seeds of a comparison.
const SEEDS: u32 = 32;

/// Why a target cannot run an integrator; `None` where it can or says so.
fn refusal(subject: &Subject<'_>, integrator: Integrator) -> Checked<Option<String>> {
    // Asking by loading would compile a program that nothing else runs
    if subject.lists_integrator(integrator) == Some(true) {
        return Ok(None);
    }
    let scene = made(scenes::floor_under_sky(0.5, 1.0))?;
    let settings = Settings { width: 4, height: 4, integrator, ..Settings::default() };
    match subject.open()?.load(&scene, &settings) {
        Err(refusal @ Error::Unsupported { .. }) => Ok(Some(refusal.to_string())),
        loaded => loaded.map(|_| None).during(|| format!("loading {} for {integrator}", scene.name)),
    }
}

/// Runs a claim for each of the integrators that the target has. `bpm` and `ppm` are restrictions of `vcm`: a target
/// whose films of them are the reference renderer's is spared the programs of both, which take long to compile.
pub(crate) fn for_each(subject: &Subject<'_>, claim: impl FnMut(Integrator) -> Checked) -> Checked<Outcome> {
    let is_copy = subject.has_films_of_reference();
    let chosen = INTEGRATORS.into_iter().filter(|i| !is_copy || !i.merges() || i.connects());
    for_these(subject, &chosen.collect::<Vec<_>>(), claim)
}

/// Runs a claim for each of these integrators that the target has.
pub(crate) fn for_these(
    subject: &Subject<'_>,
    integrators: &[Integrator],
    mut claim: impl FnMut(Integrator) -> Checked,
) -> Checked<Outcome> {
    let mut refused = Vec::new();
    for &integrator in integrators {
        match refusal(subject, integrator)? {
            Some(reason) => refused.push(reason),
            None => claim(integrator)?,
        }
    }
    if refused.len() == integrators.len() {
        return Ok(Outcome::Skipped(refused.join("; ")));
    }
    Ok(Outcome::Passed(refused.join("; ")))
}

/// White furnace: under an environment of radiance one, surfaces that conserve energy are invisible and lossy ones
/// darker. Light tracing sees no specular surface, and `bpt` has every lobe and every technique: it takes all materials, where
/// films are not those of a reference that does.
pub(crate) fn furnaces_are_white(subject: &Subject<'_>) -> Checked<Outcome> {
    let all = furnaces();
    for_each(subject, |integrator| {
        if is_shown_by_identity(subject, integrator) {
            return Ok(());
        }
        let merge_radius = merging::radius(30_000)?;
        let settings = Settings { integrator, merge_radius, ..Settings::default() };
        let check = |of: &[Furnace], tolerance: f64| {
            let tolerances = [tolerance, tolerances::FURNACE_MULTISCATTER];
            of.iter().try_for_each(|of| of.check(subject, &settings, of.spp([256, 64]), tolerances))
        };
        match integrator {
            Integrator::Light => check(&all[..1], tolerances::FURNACE_LIGHT),
            Integrator::Bpm | Integrator::Ppm => check(&all[..3], tolerances::FURNACE_MERGES),
            Integrator::Bpt if !subject.has_films_of_reference() => check(&all, tolerances::FURNACE),
            _ => check(&all[..3], tolerances::FURNACE),
        }
    })
}

/// Scenes of the comparison with the path tracer, and whether every integrator sees all of them. Light tracing does
/// not see mirrors, and merges alone are rare and bright at surfaces that are nearly as smooth.
fn compared_scenes() -> Vec<(Result<Scene>, bool)> {
    let mut all: Vec<(Result<Scene>, bool)> =
        scenes::LIGHTS.iter().map(|&l| (scenes::lit_by(l), true)).collect();
    all.push((scenes::small_and_large_light(), true));
    all.push((scenes::indirectly_lit_room(), true));
    all.push((scenes::everything_from_both_sides(), false));
    all
}

/// Whether a target has the reference renderer's films of integrators that merge: then statistics on the reference,
/// whose programs need not be compiled for each integrator and scene, hold for the target too.
fn is_shown_by_identity(subject: &Subject<'_>, integrator: Integrator) -> bool {
    integrator.merges() && subject.has_films_of_reference()
}

/// In every tile of every scene the mean is the path tracer's: no test of Welch finds a difference.
pub(crate) fn means_are_the_path_tracers(subject: &Subject<'_>) -> Checked<Outcome> {
    // By scene, measured for the first integrator that is compared on it.
    let mut by_path: Vec<Option<Vec<Vec<f64>>>> = vec![None; compared_scenes().len()];
    for_each(subject, |integrator| {
        if is_shown_by_identity(subject, integrator) {
            return Ok(());
        }
        for ((scene, seen_by_all), by_path) in compared_scenes().into_iter().zip(&mut by_path) {
            if !integrator.connects() && !seen_by_all {
                continue;
            }
            let scene = made(scene)?;
            let Some(ours) = tile_means(subject, &scene, integrator)? else { continue };
            if by_path.is_none() {
                *by_path = tile_means(subject, &scene, Integrator::Path)?;
            }
            let Some(theirs) = by_path else { continue };
            for (tile, (a, b)) in ours.iter().zip(theirs.iter()).enumerate() {
                let t = welch_t(a, b);
                let critical = if integrator.merges() {
                    tolerances::WELCH_MERGED_TILES
                } else {
                    tolerances::WELCH_TILES
                };
                let [a, b] = [a, b].map(|v| v.iter().sum::<f64>() / v.len() as f64);
                assert!(
                    t.abs() < critical,
                    "{integrator}, {}: tile {tile} has {a}, by path {b}: t = {t}",
                    scene.name
                );
            }
        }
        Ok(())
    })
}

/// The means of every tile under each seed; `None` where what they show [carries over](identity::carries_over).
pub(crate) fn tile_means(
    subject: &Subject<'_>,
    scene: &Scene,
    integrator: Integrator,
) -> Checked<Option<Vec<Vec<f64>>>> {
    tile_means_to(subject, scene, integrator, 3)
}

/// [`tile_means`] of paths of up to `bounces` bounces.
pub(crate) fn tile_means_to(
    subject: &Subject<'_>,
    scene: &Scene,
    integrator: Integrator,
    bounces: u32,
) -> Checked<Option<Vec<Vec<f64>>>> {
    // The integrators share no draws, so that their samples are independent.
    let first_seed = if integrator == Integrator::Path { 1000 } else { 0 };
    tile_means_by(subject, scene, &Settings { integrator, bounces, ..Settings::default() }, first_seed)
}

/// [`tile_means`] by the integrator, the layers and the bounces of these settings, with seeds from `first_seed` on.
pub(crate) fn tile_means_by(
    subject: &Subject<'_>,
    scene: &Scene,
    by: &Settings,
    first_seed: u32,
) -> Checked<Option<Vec<Vec<f64>>>> {
    let Settings { integrator, layers, bounces, .. } = *by;
    let base = Settings {
        width: SIDE,
        height: SIDE,
        bounces,
        seed: first_seed,
        integrator,
        layers,
        // Small enough that bias hides in the noise: a tile under the spot is dim, and more of it is bias
        merge_radius: merging::radius(if scene.name == "lit-by-spot" { 1000 } else { 3000 })?,
        ..Settings::default()
    };
    if identity::carries_over(subject, scene, &base)? {
        return Ok(None);
    }
    let tiles_a_row = SIDE / TILE;
    let mut means = vec![Vec::new(); (tiles_a_row * tiles_a_row) as usize];
    let mut renderer = subject.open()?;
    for seed in first_seed..first_seed + SEEDS {
        let (film, _) = render(renderer.as_mut(), scene, &Settings { seed, ..base }, 16)?;
        assert!(film.invalid.is_zero(), "{integrator}, {}: {:?}", scene.name, film.invalid);
        let mut sums = vec![0.0; means.len()];
        for (pixel, value) in (0..).zip(film.mean()) {
            let tile = pixel / SIDE / TILE * tiles_a_row + pixel % SIDE / TILE;
            sums[tile as usize] += value.iter().map(|&v| f64::from(v)).sum::<f64>();
        }
        let values = f64::from(3 * TILE * TILE);
        means.iter_mut().zip(sums).for_each(|(of_tile, sum)| of_tile.push(sum / values));
    }
    Ok(Some(means))
}

/// Films, invalid samples and ray counts are the reference renderer's, to the bit.
pub(crate) fn films_are_the_references(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::everything_from_both_sides())?;
    for_these(subject, &INTEGRATORS, |integrator| {
        let base = Settings { width: 120, height: 80, integrator, ..Settings::default() };
        // Samplers share all but the draws, and each is a program of its own.
        let samplers =
            if integrator == Integrator::Bpt { &[Sampler::Sobol, Sampler::Xorwow][..] } else { &[] };
        let all = [
            (base, 4),
            (Settings { bounces: 9, roulette_from: Some(2), seed: 9, ..base }, 2),
            (Settings { bounces: 1, ..base }, 2),
            (Settings { bounces: 0, ..base }, 2),
            (Settings { width: 1, height: 1, bounces: 5, ..base }, 64),
            // More pairs than a CPU device has in flight at once
            (Settings { width: 400, height: 250, bounces: 2, ..base }, 1),
        ];
        let sampled = samplers.iter().map(|&sampler| (Settings { sampler, ..base }, 4));
        for (settings, spp) in all.into_iter().chain(sampled) {
            let (expected, counts) = render(subject.reference()?.as_mut(), &scene, &settings, spp)?;
            let (film, report) = render(subject.open()?.as_mut(), &scene, &settings, spp)?;
            assert_eq!(film.pixels_differing(&expected), 0, "{settings:?}: pixels that differ");
            assert_eq!(film.invalid, expected.invalid, "{settings:?}: invalid samples");
            assert_eq!(report.bounces, counts.bounces, "{settings:?}: ray counts");
        }
        Ok(())
    })
}

/// Stages and whole sub-paths leave the film, the invalid samples and the ray counts of the reference renderer, to the
/// bit. `vcm` has every kernel.
pub(crate) fn every_structure_of_pairs_leaves_the_same_film(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::everything_from_both_sides())?;
    for_these(subject, &[Integrator::Vcm], |integrator| {
        let settings = Settings { width: 120, height: 80, bounces: 5, integrator, ..Settings::default() };
        let (expected, counts) = render(subject.reference()?.as_mut(), &scene, &settings, 4)?;
        let mut renderer = subject.open()?;
        load(renderer.as_mut(), &scene, &settings)?;
        let mut structures: Vec<Structure> =
            renderer.kernel_configs().iter().map(|config| config.structure).collect();
        structures.dedup();
        for structure in structures {
            let config = KernelConfig { structure, ..KernelConfig::default() };
            renderer.configure(&config).during(|| format!("selecting {config}"))?;
            let report = renderer.accumulate(0..4).during(|| format!("rendering by {config}"))?;
            let film = film_of(renderer.as_mut(), &scene)?;
            assert_eq!(film.pixels_differing(&expected), 0, "{config}: pixels that differ");
            assert_eq!(film.invalid, expected.invalid, "{config}: invalid samples");
            assert_eq!(report.bounces, counts.bounces, "{config}: ray counts");
        }
        Ok(())
    })
}

/// Recorded pairs are those of the film: their contributions, each rounded as films round it, add up to it, and its rays
/// are theirs.
pub(crate) fn recorded_pairs_are_the_samples_of_the_film(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::everything_from_both_sides())?;
    for_each(subject, |integrator| {
        let settings =
            Settings { width: 24, height: 16, bounces: 4, roulette_from: Some(2), ..Settings::default() };
        let settings = Settings { integrator, ..settings };
        let mut renderer = subject.open()?;
        let (film, report) = render(renderer.as_mut(), &scene, &settings, 2)?;
        let requests = divergence::all_paths(0..settings.width * settings.height, 0..2);
        let pairs = match renderer.record_pairs(&requests) {
            // Recording is an optional power.
            Err(Error::Unsupported { .. }) => return Ok(()),
            other => other.during(|| "recording a pair of every sample".into())?,
        };
        let mut sums = vec![[0i64; 3]; film.sums.len()];
        let mut invalid = InvalidSamples::default();
        let (mut rays, mut shadow_rays) = (0u64, 0u64);
        for (request, pair) in requests.iter().zip(&pairs) {
            let key = settings.key(request.pixel, request.sample);
            for step in pair {
                rays += u64::from(matches!(step, PairStep::Ray { .. }));
                let PairStep::Contribution { light, camera, pixel, reached, .. } = *step else { continue };
                shadow_rays += u64::from(light > 0);
                if reached {
                    let technique = Technique { light, camera };
                    let units = splat::quantize(step.radiance().into(), key, technique, &mut invalid);
                    let sum = &mut sums[pixel as usize];
                    *sum = std::array::from_fn(|channel| sum[channel] + units[channel]);
                }
            }
        }
        assert_eq!(sums, film.sums, "{integrator}: contributions add up to the film");
        assert_eq!(invalid, film.invalid, "{integrator}: invalid samples");
        assert_eq!(rays, report.extension_rays(), "{integrator}: extension rays");
        assert_eq!(shadow_rays, report.shadow_rays(), "{integrator}: shadow rays");
        assert_eq!(
            film_of(renderer.as_mut(), &scene)?,
            film,
            "{integrator}: recording leaves the film as it is"
        );
        let outside = PathRequest { pixel: settings.width * settings.height, sample: 0 };
        let refused = renderer.record_pairs(&[outside]);
        assert!(matches!(refused, Err(Error::Contract { .. })), "a pixel outside is refused");
        Ok(())
    })
}

/// Recorded pairs have no divergence from the reference's in any step.
pub(crate) fn recorded_pairs_do_not_diverge(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::everything_from_both_sides())?;
    for_each(subject, |integrator| {
        let settings = Settings { width: 60, height: 40, bounces: 4, integrator, ..Settings::default() };
        let (mut renderer, mut reference) = (subject.open()?, subject.reference()?);
        load(reference.as_mut(), &scene, &settings)?;
        load(renderer.as_mut(), &scene, &settings)?;
        let pairs = settings.width * settings.height;
        let requests = divergence::all_paths(0..pairs, 0..1);
        let found = match divergence::compare_pairs(renderer.as_mut(), reference.as_mut(), &requests) {
            Err(Error::Unsupported { .. }) => return Ok(()),
            other => other.during(|| "recording the pairs of target and reference".into())?,
        };
        assert!(
            found.iter().all(|row| row.paths == u64::from(pairs)),
            "{integrator}: every pair is compared"
        );
        assert_eq!(divergence::first(&found), None, "{integrator}: the first divergence");
        Ok(())
    })
}

/// Any split of the samples over calls gives the same bits, although every sample adds to many pixels.
pub(crate) fn any_split_gives_the_same_bits(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::everything_from_both_sides())?;
    for_each(subject, |integrator| {
        let settings = Settings { width: 37, height: 23, seed: 5, integrator, ..Settings::default() };
        let mut renderer = subject.open()?;
        let mut accumulated = |parts: &[std::ops::Range<u32>]| -> Checked<Film> {
            load(renderer.as_mut(), &scene, &settings)?;
            for part in parts {
                accumulate(renderer.as_mut(), &scene, part.clone())?;
            }
            film_of(renderer.as_mut(), &scene)
        };
        let whole = accumulated(std::slice::from_ref(&(0..16)))?;
        for parts in [&[9..16, 0..1, 1..3, 3..3, 3..9][..], &[0..8, 8..16][..]] {
            let split = accumulated(parts)?;
            assert_eq!(split.pixels_differing(&whole), 0, "{integrator}: 0..16 equals the split {parts:?}");
            assert_eq!(split.invalid, whole.invalid, "{integrator}: invalid samples of {parts:?}");
        }
        let mut first = accumulated(std::slice::from_ref(&(0..5)))?;
        let second = accumulated(std::slice::from_ref(&(5..16)))?;
        first.merge(&second).during(|| "adding films of one size".into())?;
        assert_eq!(first, whole, "{integrator}: films of two devices add up");
        Ok(())
    })
}

/// Without lights there are no light sub-paths, and a scene without geometry shows the environment.
pub(crate) fn scenes_without_lights_or_geometry_render(subject: &Subject<'_>) -> Checked<Outcome> {
    for_each(subject, |integrator| {
        let settings = Settings { width: 9, height: 5, integrator, ..Settings::default() };
        let dark = made(scenes::floor_below_square())?;
        let (film, _) = render(subject.open()?.as_mut(), &dark, &settings, 2)?;
        assert!(film.sums.iter().all(|sum| *sum == [0; 3]), "{integrator}: a scene without light is black");
        let mut builder = lockstep_core::scene::SceneBuilder::new("empty");
        let sky = lockstep_core::math::vec3::Vec3::splat(0.5);
        builder.environment = lockstep_core::scene::EnvironmentLight::Constant(sky);
        let empty = made(builder.build())?;
        let (film, _) = render(subject.open()?.as_mut(), &empty, &settings, 4)?;
        assert!(film.mean().iter().all(|p| *p == [0.5; 3]), "{integrator}: nothing but sky shows the sky");
        Ok(())
    })
}
