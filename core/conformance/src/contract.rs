//! The promises of the [`Renderer`] trait, for any renderer.

use crate::{Checked, During, Outcome, Subject, accumulate, blank, everything, film_of, load, made, render};
use lockstep_core::error::Error;
use lockstep_core::film::{Film, InvalidSamples, MAX_SPP, quantize};
use lockstep_core::math::rng::dither;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::path_record::{PathRequest, PathVertex};
use lockstep_core::scene::{EnvironmentLight, Scene, SceneBuilder};
use lockstep_core::{BounceCounts, Integrator, Renderer, Settings};
use std::ops::Range;

/// The film's size in these checks: not a multiple of any tile or work-group.
const SETTINGS: Settings = Settings { width: 37, height: 23, bounces: 3, seed: 5, ..Settings::DEFAULT };

pub(crate) fn names_its_device(subject: &Subject<'_>) -> Checked {
    let renderer = subject.open()?;
    let device = renderer.device();
    assert!(
        !device.target.backend.is_empty() && !device.backend.is_empty(),
        "a renderer names its target: {device:?}"
    );
    Ok(())
}

pub(crate) fn refuses_use_before_load(subject: &Subject<'_>) -> Checked {
    let mut renderer = subject.open()?;
    let mut film = blank()?;
    assert!(
        matches!(renderer.accumulate(0..1), Err(Error::Contract { .. })),
        "accumulate before load is refused"
    );
    assert!(matches!(renderer.read(&mut film), Err(Error::Contract { .. })), "read before load is refused");
    Ok(())
}

pub(crate) fn refuses_bad_settings(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let mut renderer = subject.open()?;
    for bad in [Settings { width: 0, ..SETTINGS }, Settings { bounces: 1_000_000, ..SETTINGS }] {
        assert!(renderer.load(scene, &bad).is_err(), "{bad:?} is refused");
    }
    renderer.load(scene, &SETTINGS).during(|| "loading after a refusal".into())?;
    Ok(())
}

/// Integrators of the backend's list load; others are refused as unsupported, and the renderer works
/// afterwards.
pub(crate) fn loads_or_refuses_every_integrator(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?.from_both_sides();
    let mut renderer = subject.open()?;
    for integrator in Integrator::ALL {
        let loaded = renderer.load(scene, &Settings { integrator, ..SETTINGS });
        let listed = subject.lists_integrator(integrator);
        match loaded {
            Ok(_) => assert_ne!(listed, Some(false), "the backend does not list {integrator}, but loads it"),
            Err(Error::Unsupported { .. }) => {
                assert_ne!(listed, Some(true), "the backend lists {integrator}, but refuses it");
            }
            Err(other) => return Err(other).during(|| format!("loading a scene for {integrator}")),
        }
    }
    renderer.load(scene, &SETTINGS).during(|| "loading for the default integrator".into())?;
    Ok(())
}

fn accumulated(renderer: &mut dyn Renderer, scene: &Scene, parts: &[Range<u32>]) -> Checked<Film> {
    load(renderer, scene, &SETTINGS)?;
    for part in parts {
        accumulate(renderer, scene, part.clone())?;
    }
    film_of(renderer, scene)
}

pub(crate) fn any_split_gives_the_same_bits(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let mut renderer = subject.open()?;
    let whole = accumulated(renderer.as_mut(), scene, std::slice::from_ref(&(0..64)))?;
    assert_eq!(
        (whole.spp, whole.width(), whole.height()),
        (64, 37, 23),
        "the film has the size that was asked for"
    );
    let singles: Vec<Range<u32>> = (0..64).map(|i| i..i + 1).collect();
    let backwards: Vec<Range<u32>> = singles.iter().rev().cloned().collect();
    let uneven = [40..64, 0..1, 1..3, 3..3, 3..40];
    for parts in [&singles[..], &backwards[..], &uneven[..]] {
        let split = accumulated(renderer.as_mut(), scene, parts)?;
        assert_eq!(split.pixels_differing(&whole), 0, "0..64 equals the split {parts:?}");
        assert_eq!(split.invalid, whole.invalid, "invalid samples do not depend on the split");
    }
    // Two devices that share the samples.
    let mut other = subject.open()?;
    let mut first = accumulated(renderer.as_mut(), scene, std::slice::from_ref(&(0..17)))?;
    let second = accumulated(other.as_mut(), scene, std::slice::from_ref(&(17..64)))?;
    first.merge(&second).during(|| "adding films of one size".into())?;
    assert_eq!(first.pixels_differing(&whole), 0, "films of two renderers add up to the whole");
    Ok(())
}

pub(crate) fn a_second_renderer_gives_the_same_bits(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let (a, _) = render(subject.open()?.as_mut(), scene, &SETTINGS, 8)?;
    let (b, _) = render(subject.open()?.as_mut(), scene, &SETTINGS, 8)?;
    assert_eq!(a, b, "two renderers of one target agree to the bit");
    Ok(())
}

pub(crate) fn load_clears_the_film(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let mut renderer = subject.open()?;
    let (a, _) = render(renderer.as_mut(), scene, &SETTINGS, 2)?;
    let (b, _) = render(renderer.as_mut(), scene, &SETTINGS, 2)?;
    assert_eq!(a, b, "load starts a new film");
    load(renderer.as_mut(), scene, &Settings { width: 8, height: 9, ..SETTINGS })?;
    let empty = film_of(renderer.as_mut(), scene)?;
    assert_eq!((empty.spp, empty.width(), empty.height()), (0, 8, 9), "load takes the new size");
    assert!(empty.sums.iter().all(|s| *s == [0; 3]), "a new film is black");
    Ok(())
}

pub(crate) fn seeds_and_samples_select_other_noise(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let mut renderer = subject.open()?;
    let (a, _) = render(renderer.as_mut(), scene, &SETTINGS, 1)?;
    let (b, _) = render(renderer.as_mut(), scene, &Settings { seed: 6, ..SETTINGS }, 1)?;
    let second = accumulated(renderer.as_mut(), scene, std::slice::from_ref(&(1..2)))?;
    assert!(a.pixels_differing(&b) > 0, "another seed gives other noise");
    assert!(a.pixels_differing(&second) > 0, "another sample gives other noise");
    Ok(())
}

pub(crate) fn ray_counts_add_up(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let (_, report) = render(subject.open()?.as_mut(), scene, &SETTINGS, 3)?;
    let camera_rays = report.bounces.first().map(|counts| counts.extension_rays);
    assert_eq!(camera_rays, Some(37 * 23 * 3), "every sample has one camera ray");
    assert!(report.bounces.len() <= SETTINGS.bounces as usize + 1, "no bounce beyond the last");
    for (bounce, counts) in report.bounces.iter().enumerate() {
        assert!(counts.hits <= counts.extension_rays, "hits at bounce {bounce} are extension rays");
        assert!(counts.shadow_rays <= counts.hits, "at most one shadow ray a hit at bounce {bounce}");
        assert!(
            counts.unoccluded <= counts.shadow_rays,
            "unoccluded rays at bounce {bounce} are shadow rays"
        );
    }
    for pair in report.bounces.windows(2) {
        assert!(pair[1].extension_rays <= pair[0].hits, "paths go on only from hits");
    }
    let stages = &report.stages;
    let sum = stages.sum_ms();
    assert!(sum <= stages.total_ms * 1.02 + 0.05, "stages fit into the pass: {stages:?}");
    Ok(())
}

pub(crate) fn refuses_more_samples_than_a_film_holds(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let mut renderer = subject.open()?;
    load(renderer.as_mut(), scene, &SETTINGS)?;
    assert!(
        matches!(renderer.accumulate(0..MAX_SPP + 1), Err(Error::Contract { .. })),
        "an overflow is refused"
    );
    renderer.accumulate(0..1).during(|| "rendering after a refusal".into())?;
    Ok(())
}

pub(crate) fn renders_a_scene_without_geometry(subject: &Subject<'_>) -> Checked {
    let mut b = SceneBuilder::new("empty");
    b.environment = EnvironmentLight::Constant(Vec3::splat(0.5));
    let scene = made(b.build())?;
    let (film, report) = render(subject.open()?.as_mut(), &scene, &SETTINGS, 4)?;
    assert!(film.mean().iter().all(|p| *p == [0.5; 3]), "nothing but sky shows the sky");
    assert!(report.invalid.is_zero());
    Ok(())
}

pub(crate) fn renders_one_pixel(subject: &Subject<'_>) -> Checked {
    let scene = &everything()?;
    let (film, _) =
        render(subject.open()?.as_mut(), scene, &Settings { width: 1, height: 1, ..SETTINGS }, 5)?;
    assert_eq!((film.sums.len(), film.spp), (1, 5), "a film of one pixel is possible");
    Ok(())
}

/// Recorded paths are those of the film, ray by ray.
pub(crate) fn recorded_paths_are_the_samples_of_the_film(subject: &Subject<'_>) -> Checked<Outcome> {
    let scene = &everything()?;
    let mut renderer = subject.open()?;
    let settings = Settings { roulette_from: Some(2), bounces: 5, ..SETTINGS };
    let (film, report) = render(renderer.as_mut(), scene, &settings, 2)?;
    let pixels = 0..settings.width * settings.height;
    let requests: Vec<PathRequest> =
        pixels.flat_map(|pixel| [0, 1].map(|sample| PathRequest { pixel, sample })).collect();
    let paths = match renderer.record_paths(&requests) {
        Err(refusal @ Error::Unsupported { .. }) => return Ok(Outcome::Skipped(refusal.to_string())),
        other => other.during(|| "recording a path of every sample".into())?,
    };
    assert_eq!(paths.len(), requests.len(), "one path for each request");
    assert!(paths.iter().all(|path| !path.is_empty()), "a path has a vertex");
    let mut invalid = InvalidSamples::default();
    for (pixel, (of_pixel, sum)) in (0u32..).zip(paths.chunks(2).zip(&film.sums)) {
        let last = (0u32..).zip(of_pixel).filter_map(|(sample, path)| Some((sample, path.last()?)));
        let values = last.map(|(sample, vertex)| {
            quantize(vertex.radiance.into(), dither(settings.key(pixel, sample), 0), &mut invalid)
        });
        let total = values.fold([0; 3], |t, v| [t[0] + v[0], t[1] + v[1], t[2] + v[2]]);
        assert_eq!(total, *sum, "the recorded samples of pixel {pixel} add up to the film's");
    }
    assert_eq!(invalid, film.invalid, "recorded paths have the film's invalid samples");
    assert_eq!(rays_of(&paths), report.bounces, "recorded paths have the film's rays");
    assert_eq!(film_of(renderer.as_mut(), scene)?, film, "recording leaves the film as it is");
    let outside = PathRequest { pixel: settings.width * settings.height, sample: 0 };
    assert!(
        matches!(renderer.record_paths(&[outside]), Err(Error::Contract { .. })),
        "a pixel outside is refused"
    );
    let none = renderer.record_paths(&[]).during(|| "recording no path".into())?;
    assert_eq!(none, Vec::<Vec<PathVertex>>::new());
    Ok(Outcome::default())
}

/// The rays of recorded paths by bounce.
fn rays_of(paths: &[Vec<PathVertex>]) -> Vec<BounceCounts> {
    let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
    let mut bounces = vec![BounceCounts::default(); longest];
    for vertex in paths.iter().flatten() {
        let counts = &mut bounces[vertex.bounce as usize];
        counts.extension_rays += 1;
        counts.hits += u64::from(vertex.surface.is_some());
        counts.shadow_rays += u64::from(vertex.connected().is_some());
        counts.unoccluded += u64::from(vertex.connected() == Some(true));
    }
    bounces
}
