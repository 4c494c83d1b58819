//! Overlapping dielectrics with priorities: closed forms, equivalent scenes, and the reference renderer's bits.

use crate::bidirectional::tile_means_to;
use crate::scenes::Slab;
use crate::statistics::welch_t;
use crate::{
    Checked, During, Extent, Outcome, Subject, identity, load, made, mean, render, scenes, tolerances,
};
use lockstep_core::path_record::{PathVertex, divergence};
use lockstep_core::scene::Material;
use lockstep_core::{Error, Integrator, KernelConfig, Settings, Structure};

/// Slabs that overlap: water within the upper or the lower part of glass by either priority, a slab wholly within one of
/// a higher priority, and three at one place.
fn stacks() -> [Vec<Slab>; 4] {
    let slab = |above: f32, below: f32, ior: f32, priority: u32, attenuation: f32| Slab {
        heights: [above, below],
        ior,
        priority,
        attenuation,
    };
    [
        vec![slab(0.0, -1.0, 1.5, 2, 0.1), slab(-0.6, -2.0, 1.33, 1, 0.3)],
        vec![slab(0.0, -1.0, 1.5, 0, 0.1), slab(-0.6, -2.0, 1.33, 255, 0.3)],
        vec![slab(0.0, -1.0, 1.33, 7, 0.2), slab(-0.3, -0.8, 2.4, 3, 5.0)],
        vec![
            slab(0.0, -1.0, 1.8, 5, 0.2),
            slab(-0.5, -1.5, 1.2, 9, 0.4),
            slab(-0.25, -2.0, 2.0, 1, 0.05),
            slab(-0.75, -0.9, 3.0, 2, 9.0),
        ],
    ]
}

/// The index and attenuation of the real medium at a height: of the slabs there, that of the highest priority.
fn real_medium(stack: &[Slab], height: f64) -> [f64; 2] {
    let there = |slab: &&Slab| height < slab.heights[0].into() && height > slab.heights[1].into();
    let real = stack.iter().filter(there).max_by_key(|slab| slab.priority);
    real.map_or([1.0, 0.0], |slab| [slab.ior.into(), slab.attenuation.into()])
}

/// Reflectance and transmittance of a stack at normal incidence without interference: boundaries from the lowest upwards,
/// each with the geometric series of reflections between it and what is below.
fn reflectance_and_transmittance(stack: &[Slab]) -> [f64; 2] {
    let mut heights: Vec<f64> = stack.iter().flat_map(|slab| slab.heights).map(f64::from).collect();
    heights.sort_by(f64::total_cmp);
    let (mut reflected, mut passed) = (0.0, 1.0);
    let mut below = [1.0, 0.0];
    let mut from = heights[0];
    for height in heights {
        // Through the layer below this boundary
        let share = (-below[1] * (height - from)).exp();
        (reflected, passed) = (reflected * share * share, passed * share);
        // Across the boundary
        let above = real_medium(stack, height + 1e-6);
        let r = ((above[0] - below[0]) / (above[0] + below[0])).powi(2);
        let series = 1.0 / (1.0 - r * reflected);
        (reflected, passed) = (r + (1.0 - r).powi(2) * reflected * series, (1.0 - r) * passed * series);
        (below, from) = (above, height);
    }
    [reflected, passed]
}

/// At normal incidence boundaries reflect by the ratio of the two real media, and light is attenuated by the real one.
pub(crate) fn overlapping_slabs_reflect_and_attenuate_in_closed_form(subject: &Subject<'_>) -> Checked {
    for (index, stack) in stacks().iter().enumerate() {
        let scene = made(scenes::slabs(stack, 0.0))?;
        let settings = Settings { width: 16, height: 16, bounces: 60, ..Settings::default() };
        let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, 1024)?;
        assert!(film.invalid.is_zero(), "stack {index}: {:?}", film.invalid);
        let pixels = film.mean();
        let expected = reflectance_and_transmittance(stack);
        for (channel, expected) in expected.into_iter().enumerate() {
            let found = pixels.iter().map(|p| f64::from(p[channel])).sum::<f64>() / pixels.len() as f64;
            let what = ["reflects", "transmits"][channel];
            let is_close = (found - expected).abs() <= tolerances::FRESNEL;
            assert!(is_close, "stack {index} {what} {found}, expected {expected}");
        }
    }
    Ok(())
}

/// At every vertex the sine times the index of the real medium is that of the camera ray, and a hit is a false one where
/// the same medium is real on both sides.
pub(crate) fn rays_follow_snells_law_from_real_medium_to_real_medium(
    subject: &Subject<'_>,
) -> Checked<Outcome> {
    let (mut false_hits, mut bent) = (0, 0);
    for stack in stacks() {
        let scene = made(scenes::slabs(&stack, 40.0))?;
        let settings = Settings { width: 8, height: 8, bounces: 20, ..Settings::default() };
        let mut renderer = subject.open()?;
        load(renderer.as_mut(), &scene, &settings)?;
        let paths = match renderer.record_paths(&divergence::all_paths(0..64, 0..4)) {
            Err(refusal @ Error::Unsupported { .. }) => return Ok(Outcome::Skipped(refusal.to_string())),
            other => other.during(|| "recording paths through slabs".into())?,
        };
        for (first, pair) in paths.iter().flat_map(|path| path.windows(2).map(|pair| (&path[0], pair))) {
            let [here, next] = pair else { continue };
            let is_false = here.surface.is_some_and(|surface| surface.false_hit);
            let sine = |vertex: &PathVertex| f64::from(vertex.direction[0]).hypot(vertex.direction[2].into());
            let boundary = f64::from(next.origin[1]);
            // Just off the boundary on the side that each ray is on
            let [before, after] = [-here.direction[1], next.direction[1]]
                .map(|up| real_medium(&stack, boundary + 1e-3 * f64::from(up.signum()))[0]);
            let invariants = [before * sine(here), after * sine(next)];
            let expected = sine(first);
            for found in invariants {
                assert!(
                    (found - expected).abs() < tolerances::SNELL,
                    "{found}, expected {expected}: {pair:?}"
                );
            }
            if is_false {
                assert_eq!(here.direction, next.direction, "a false hit bends no ray");
                false_hits += 1;
            } else {
                assert!(here.direction != next.direction, "a true hit bends or reflects: {pair:?}");
                bent += 1;
            }
        }
    }
    assert!(false_hits > 100 && bent > 100, "{false_hits} false hits, {bent} true ones");
    Ok(Outcome::default())
}

/// White furnace: overlapping dielectrics neither add nor lose light.
pub(crate) fn furnaces_of_nested_balls_are_white(subject: &Subject<'_>) -> Checked {
    let rendered = |roughness: f32, flags: u32, spp: u32| -> Checked<Option<f64>> {
        let scene = made(scenes::furnace_of_nested_balls(roughness, flags))?;
        let settings = Settings { width: 64, height: 64, bounces: 128, ..Settings::default() };
        if identity::carries_over(subject, &scene, &settings)? {
            return Ok(None);
        }
        let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, spp)?;
        assert!(film.invalid.is_zero(), "{:?}", film.invalid);
        Ok(Some(mean(&film)))
    };
    let balls = [rendered(0.0, 0, 256)?, rendered(0.4, 0, 64)?, rendered(0.4, Material::MULTISCATTER, 64)?];
    let [Some(smooth), Some(rough), Some(keeping)] = balls else { return Ok(()) };
    assert!((smooth - 1.0).abs() <= tolerances::FURNACE, "smooth: {smooth}, expected 1");
    assert!(rough <= 1.0 + tolerances::FURNACE_EXCESS, "rough: {rough}, expected at most 1");
    assert!(rough > 0.5, "rough: {rough}");
    let limit = tolerances::FURNACE_MULTISCATTER;
    assert!((keeping - 1.0).abs() <= limit, "rough, keeping all light: {keeping}, expected 1");
    Ok(())
}

/// A dielectric wholly within one of a higher priority is not there: a lamp in it lights what is outside as without it,
/// though shadow rays end at its surface.
pub(crate) fn a_medium_of_lower_priority_vanishes(subject: &Subject<'_>) -> Checked {
    let means = |has_hidden_ball: bool| -> Checked<Option<Vec<Vec<f64>>>> {
        let scene = made(scenes::lamp_in_a_box(has_hidden_ball))?;
        tile_means_to(subject, &scene, Integrator::Path, 30)
    };
    let (Some(alone), Some(with_ball)) = (means(false)?, means(true)?) else { return Ok(()) };
    for (tile, (a, b)) in alone.iter().zip(&with_ball).enumerate() {
        let t = welch_t(a, b);
        let [a, b] = [a, b].map(|v| v.iter().sum::<f64>() / v.len() as f64);
        assert!(t.abs() < tolerances::WELCH_TILES, "tile {tile}: {a} alone, {b} with the ball: t = {t}");
    }
    Ok(())
}

/// Where no two dielectrics overlap, films with and without priorities are the same to the bit.
pub(crate) fn they_change_nothing_where_nothing_overlaps(subject: &Subject<'_>) -> Checked {
    let settings = Settings { width: 120, height: 80, bounces: 9, ..Settings::default() };
    let rendered = |has_priorities: bool| {
        let scene = made(scenes::media(has_priorities))?;
        assert_eq!(scene.has_priorities(), has_priorities);
        render(subject.open()?.as_mut(), &scene, &settings, 4)
    };
    let ((plain, counts), (film, report)) = (rendered(false)?, rendered(true)?);
    assert_eq!(film.pixels_differing(&plain), 0, "pixels that differ");
    assert_eq!(report.bounces, counts.bounces, "ray counts");
    Ok(())
}

/// Films and recorded paths of a scene with overlapping dielectrics of every kind are the reference renderer's, to the
/// bit, in the full suite in every structure of kernels; paths from lights are refused.
pub(crate) fn films_are_the_references(subject: &Subject<'_>) -> Checked {
    let scene = made(scenes::nested())?;
    let base = Settings { width: 120, height: 80, bounces: 3, ..Settings::default() };
    let long = Settings { bounces: 20, roulette_from: Some(5), seed: 3, ..base };
    let mut renderer = subject.open()?;
    let mut structures = vec![KernelConfig::default()];
    let listed = match subject.extent() {
        Extent::Quick => Vec::new(),
        Extent::Full => renderer.kernel_configs(),
    };
    structures.extend(
        [Structure::NoCompaction, Structure::Megakernel]
            .map(|structure| KernelConfig { structure, ..KernelConfig::default() })
            .into_iter()
            .filter(|config| listed.contains(config)),
    );
    for settings in [base, long] {
        let (expected, counts) = render(subject.reference()?.as_mut(), &scene, &settings, 4)?;
        for config in &structures {
            load(renderer.as_mut(), &scene, &settings)?;
            if *config != KernelConfig::default() {
                renderer.configure(config).during(|| format!("selecting {config}"))?;
            }
            let report = renderer.accumulate(0..4).during(|| format!("rendering by {config}"))?;
            let film = crate::film_of(renderer.as_mut(), &scene)?;
            assert_eq!(film.pixels_differing(&expected), 0, "{config}, {settings:?}: pixels that differ");
            assert_eq!(film.invalid, expected.invalid, "{config}, {settings:?}: invalid samples");
            assert_eq!(report.bounces, counts.bounces, "{config}, {settings:?}: ray counts");
        }
    }
    // Recorded paths
    let mut reference = subject.reference()?;
    load(reference.as_mut(), &scene, &long)?;
    load(renderer.as_mut(), &scene, &long)?;
    let some = divergence::all_paths(0..long.width * long.height, 0..1);
    let found = divergence::compare_paths(renderer.as_mut(), reference.as_mut(), &some)
        .during(|| "recording the paths of target and reference".into())?;
    assert_eq!(divergence::first(&found), None, "the first divergence");
    for integrator in Integrator::ALL.into_iter().filter(|integrator| integrator.splats()) {
        let loaded = subject.open()?.load(&scene, &Settings { integrator, ..base });
        assert!(matches!(loaded, Err(Error::Unsupported { .. })), "{integrator}: {loaded:?}");
    }
    Ok(())
}
