//! Materials with layers: energy, the reference renderer's bits, and integrators and ways of sampling against each other.

use crate::bidirectional::{for_each, tile_means, tile_means_by};
use crate::statistics::welch_t;
use crate::{
    Checked, During, Outcome, Subject, everything, identity, load, made, mean, render, scenes, tolerances,
};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::path_record::divergence;
use lockstep_core::scene::{Layers, Material};
use lockstep_core::{Error, Integrator, LayerSampling, Settings};
use lockstep_transport::media::dispersed_ior;

/// Sets of white layers, with what they leave of a white furnace at least.
fn white_layers() -> [(&'static str, Layers, f64); 6] {
    let coat = Layers { clearcoat: 1.0, clearcoat_roughness: 0.1, ..Layers::NONE };
    let sheen = Layers { sheen_color: Vec3::ONE, sheen_roughness: 0.4, ..Layers::NONE };
    let brushed = Layers { anisotropy: 0.8, ..Layers::NONE };
    let all = Layers { clearcoat: 0.8, clearcoat_roughness: 0.2, anisotropy: 0.6, specular: 0.7, ..sheen };
    [
        ("specular", Layers { specular: 0.5, specular_color: Vec3::splat(2.0), ..Layers::NONE }, 0.97),
        ("clearcoat", coat, 0.9),
        ("sheen", sheen, 0.8),
        ("anisotropy", brushed, 0.9),
        ("iridescence", Layers { iridescence: 1.0, ..Layers::NONE }, 0.85),
        ("all", all, 0.75),
    ]
}

/// White furnace: layers never reflect more than arrives.
pub(crate) fn furnaces_are_at_most_white(subject: &Subject<'_>) -> Checked {
    furnaces(subject, LayerSampling::Together, 64)
}

/// White furnace by one lobe of each vertex: never more than arrives. Equal noise takes more samples.
pub(crate) fn furnaces_by_a_tree_are_at_most_white(subject: &Subject<'_>) -> Checked {
    furnaces(subject, LayerSampling::Tree, 256)
}

fn furnaces(subject: &Subject<'_>, by: LayerSampling, spp: u32) -> Checked {
    for (name, layers, least) in white_layers() {
        for metallic in [0.0, 1.0] {
            let material = Material::principled([1.0; 3], metallic, 0.4);
            let scene = made(scenes::layered_furnace(material, layers))?;
            let settings = Settings { width: 64, height: 64, bounces: 8, layers: by, ..Settings::default() };
            if identity::carries_over(subject, &scene, &settings)? {
                continue;
            }
            let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, spp)?;
            assert!(film.invalid.is_zero(), "{name}: {:?}", film.invalid);
            let found = mean(&film);
            let most = 1.0 + tolerances::FURNACE_EXCESS;
            assert!(found <= most, "{name}, metallic {metallic}: {found}, expected at most 1");
            // A metal loses what single scattering loses
            assert!(found > least - 0.25 * f64::from(metallic), "{name}, metallic {metallic}: {found}");
        }
    }
    Ok(())
}

/// White furnace: below layers too, surfaces that keep all light are invisible.
pub(crate) fn furnaces_of_surfaces_that_keep_all_light_are_white(subject: &Subject<'_>) -> Checked {
    let keeping = |material| Material { flags: Material::MULTISCATTER, ..material };
    let glass = Material::dielectric(1.5, 0.4);
    let furnaces = white_layers().into_iter().flat_map(|(name, layers, _)| {
        let opaque = [0.0, 1.0].map(|metallic| Material::principled([1.0; 3], metallic, 0.4));
        let covers_glass = matches!(name, "clearcoat" | "iridescence");
        opaque.into_iter().chain(covers_glass.then_some(glass)).map(move |material| (name, layers, material))
    });
    for (name, layers, material) in furnaces {
        let scene = made(scenes::layered_furnace(keeping(material), layers))?;
        let settings = Settings { width: 64, height: 64, bounces: 64, ..Settings::default() };
        if identity::carries_over(subject, &scene, &settings)? {
            continue;
        }
        let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, 64)?;
        assert!(film.invalid.is_zero(), "{name}: {:?}", film.invalid);
        let (found, kind, metallic) = (mean(&film), material.kind, material.metallic);
        let off = (found - 1.0).abs();
        assert!(
            off < tolerances::FURNACE_MULTISCATTER,
            "{name}, kind {kind}, metallic {metallic}: {found}, expected 1"
        );
    }
    Ok(())
}

/// Films and recorded paths by one lobe of each vertex are the reference renderer's, to the bit. Without layers they are
/// those of all lobes together, and other integrators refuse.
pub(crate) fn films_by_a_tree_are_the_references(subject: &Subject<'_>) -> Checked {
    let scene = made(scenes::layered())?;
    let tree = Settings { width: 120, height: 80, layers: LayerSampling::Tree, ..Settings::default() };
    let together = Settings { layers: LayerSampling::Together, ..tree };
    for settings in [tree, Settings { bounces: 9, roulette_from: Some(2), seed: 4, ..tree }] {
        let (expected, counts) = render(subject.reference()?.as_mut(), &scene, &settings, 4)?;
        let (film, report) = render(subject.open()?.as_mut(), &scene, &settings, 4)?;
        assert_eq!(film.pixels_differing(&expected), 0, "{settings:?}: pixels that differ");
        assert_eq!(film.invalid, expected.invalid, "{settings:?}: invalid samples");
        assert_eq!(report.bounces, counts.bounces, "{settings:?}: ray counts");
    }
    let small = Settings { width: 40, height: 30, ..tree };
    let (mut renderer, mut reference) = (subject.open()?, subject.reference()?);
    load(reference.as_mut(), &scene, &small)?;
    load(renderer.as_mut(), &scene, &small)?;
    let paths = divergence::all_paths(0..small.width * small.height, 0..2);
    let found = divergence::compare_paths(renderer.as_mut(), reference.as_mut(), &paths)
        .during(|| "recording the paths of target and reference".into())?;
    assert_eq!(divergence::first(&found), None, "the first divergence");
    let film_of = |scene, settings| Ok(render(subject.open()?.as_mut(), scene, settings, 4)?.0);
    assert!(
        film_of(&scene, &tree)?.pixels_differing(&film_of(&scene, &together)?) > 0,
        "it is another estimator"
    );
    let mut renderer = subject.open()?;
    load(renderer.as_mut(), &scene, &together)?;
    let configs = renderer.kernel_configs();
    if let Some(config) = configs.iter().find(|config| config.layers == LayerSampling::Tree) {
        renderer.configure(config).during(|| format!("selecting {config}"))?;
        renderer.accumulate(0..4).during(|| format!("rendering by {config}"))?;
        let (expected, _) = render(subject.reference()?.as_mut(), &scene, &tree, 4)?;
        assert_eq!(crate::film_of(renderer.as_mut(), &scene)?.pixels_differing(&expected), 0, "{config}");
    }
    let plain = everything()?;
    assert!(plain.layers.is_empty(), "a scene without layers");
    let [one, all] = [film_of(&plain, &tree)?, film_of(&plain, &together)?];
    assert_eq!(one.pixels_differing(&all), 0, "pixels that differ without layers");
    for integrator in Integrator::ALL.into_iter().filter(|integrator| *integrator != Integrator::Path) {
        let loaded = subject.open()?.load(&scene, &Settings { integrator, ..tree });
        assert!(matches!(loaded, Err(Error::Unsupported { .. })), "{integrator}: {loaded:?}");
    }
    Ok(())
}

/// In every tile the mean by one lobe of each vertex is that of all lobes: no test of Welch finds a difference.
pub(crate) fn means_by_a_tree_are_those_of_all_lobes(subject: &Subject<'_>) -> Checked {
    let scene = made(scenes::layered())?;
    let tree = Settings { layers: LayerSampling::Tree, ..Settings::default() };
    let all = tile_means(subject, &scene, Integrator::Path)?;
    let (Some(all), Some(one)) = (all, tile_means_by(subject, &scene, &tree, 0)?) else { return Ok(()) };
    for (tile, (a, b)) in one.iter().zip(&all).enumerate() {
        let t = welch_t(a, b);
        assert!(t.abs() < tolerances::WELCH_TILES, "tile {tile}: t = {t}");
    }
    Ok(())
}

/// Films of a scene with every layer are the reference renderer's, to the bit, by every integrator.
pub(crate) fn films_are_the_references(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::layered())?;
    let compare = |settings: &Settings| -> Checked {
        let (expected, counts) = render(subject.reference()?.as_mut(), &scene, settings, 4)?;
        let (film, report) = render(subject.open()?.as_mut(), &scene, settings, 4)?;
        assert_eq!(film.pixels_differing(&expected), 0, "{settings:?}: pixels that differ");
        assert_eq!(film.invalid, expected.invalid, "{settings:?}: invalid samples");
        assert_eq!(report.bounces, counts.bounces, "{settings:?}: ray counts");
        Ok(())
    };
    let base = Settings { width: 120, height: 80, ..Settings::default() };
    compare(&base)?;
    compare(&Settings { bounces: 9, roulette_from: Some(2), seed: 4, ..base })?;
    for_each(subject, |integrator| compare(&Settings { integrator, bounces: 4, ..base }))
}

/// In every tile the mean by paths from lights is the path tracer's: no test of Welch finds a difference.
pub(crate) fn means_are_the_path_tracers(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = made(scenes::layered())?;
    let theirs = tile_means(subject, &scene, Integrator::Path)?;
    for_each(subject, |integrator| {
        let ours = tile_means(subject, &scene, integrator)?;
        let (Some(ours), Some(theirs)) = (ours, &theirs) else { return Ok(()) };
        for (tile, (a, b)) in ours.iter().zip(theirs).enumerate() {
            let t = welch_t(a, b);
            assert!(t.abs() < tolerances::WELCH_TILES, "{integrator}: tile {tile}: t = {t}");
        }
        Ok(())
    })
}

/// A clearcoat over black has the normals of its own map, whatever the surface has, and the interpolated ones without.
pub(crate) fn clearcoats_have_normals_of_their_own(subject: &Subject<'_>) -> Checked {
    let settings = Settings { width: 64, height: 64, bounces: 1, ..Settings::default() };
    let rendered = |surface: bool, coat: bool, seed: u32| -> Checked<f64> {
        let scene = made(scenes::coated_floor(surface, coat))?;
        let (film, _) = render(subject.open()?.as_mut(), &scene, &Settings { seed, ..settings }, 64)?;
        assert!(film.invalid.is_zero(), "{:?}", film.invalid);
        Ok(mean(&film))
    };
    let agree = |a: f64, b: f64| (a - b).abs() < tolerances::COAT_NORMALS * b;
    let (level, turned) = (rendered(false, false, 1)?, rendered(true, true, 2)?);
    assert!(!agree(level, turned), "the map changes nothing: {level}, {turned}");
    let alone = rendered(false, true, 3)?;
    assert!(agree(alone, turned), "{alone} of a map of the coat alone, {turned} of both");
    let smooth = rendered(true, false, 4)?;
    assert!(agree(smooth, level), "{smooth} of a coat without a map over a map, {level} without maps");
    Ok(())
}

/// Light that passes a slab is attenuated by Beer's law.
pub(crate) fn media_follow_beers_law(subject: &Subject<'_>) -> Checked {
    let attenuation = vec3(0.25, 1.0, 3.0);
    let scene = made(scenes::slab_before_sky(attenuation, 0.8))?;
    let settings = Settings { width: 8, height: 8, bounces: 4, ..Settings::default() };
    let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, 16)?;
    for pixel in film.mean() {
        for (found, attenuation) in pixel.into_iter().zip(attenuation.to_array()) {
            let expected = (-0.8 * attenuation).exp();
            assert!((found - expected).abs() < tolerances::BEER, "{found}, expected {expected}");
        }
    }
    Ok(())
}

/// Films of a scene with media are the reference renderer's, to the bit, and paths from lights are refused.
pub(crate) fn films_with_media_are_the_references(subject: &Subject<'_>) -> Checked {
    let scene = made(scenes::media(false))?;
    for bounces in [3, 12] {
        let settings = Settings { width: 120, height: 80, bounces, seed: bounces, ..Settings::default() };
        let (expected, counts) = render(subject.reference()?.as_mut(), &scene, &settings, 4)?;
        let (film, report) = render(subject.open()?.as_mut(), &scene, &settings, 4)?;
        assert_eq!(film.pixels_differing(&expected), 0, "{settings:?}: pixels that differ");
        assert_eq!(film.invalid, expected.invalid, "{settings:?}: invalid samples");
        assert_eq!(report.bounces, counts.bounces, "{settings:?}: ray counts");
        let refused = Settings { integrator: Integrator::Bpt, ..settings };
        let loaded = subject.open()?.load(&scene, &refused);
        assert!(matches!(loaded, Err(Error::Unsupported { .. })), "{loaded:?}");
    }
    Ok(())
}

/// Through dispersive glass each channel is refracted by its own index: quarters of the film have the means of three
/// scenes, one for each index.
pub(crate) fn dispersion_is_refraction_by_channel(subject: &Subject<'_>) -> Checked {
    let settings = Settings { width: 32, height: 32, bounces: 6, ..Settings::default() };
    let rendered = |ior: f32, dispersion: f32, seed: u32| -> Checked<Option<Vec<[f64; 3]>>> {
        let (scene, settings) = (made(scenes::prism(ior, dispersion))?, Settings { seed, ..settings });
        if identity::carries_over(subject, &scene, &settings)? {
            return Ok(None);
        }
        let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, 1024)?;
        let mut means = vec![[0.0f64; 3]; 4];
        for (i, pixel) in film.mean().into_iter().enumerate() {
            (0..3).for_each(|c| means[i / 256][c] += f64::from(pixel[c]) / 256.0);
        }
        Ok(Some(means))
    };
    let found = rendered(1.5, 10.0, 1)?;
    for channel in 0..3 {
        let ior = dispersed_ior(1.5, 10.0, channel as u32);
        let expected = rendered(ior, 0.0, 2)?;
        let (Some(found), Some(expected)) = (&found, expected) else { continue };
        for (a, b) in found.iter().zip(&expected) {
            let (a, b) = (a[channel], b[channel]);
            assert!((a - b).abs() < tolerances::DISPERSION * b.max(0.1), "channel {channel}: {a}, alone {b}");
        }
    }
    Ok(())
}
