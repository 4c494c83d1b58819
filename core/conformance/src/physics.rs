//! Light transport against closed forms and statistics.

use crate::furnaces::{Furnace, furnaces};
use crate::statistics::{mean_and_variance, welch_t};
use crate::{Checked, During, Outcome, Subject, made, mean, render, scenes, tolerances};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{AlphaMode, Material, Scene};
use lockstep_core::{Error, Integrator, Sampler, Settings, Strategy};
use lockstep_transport::bsdf::{fresnel_dielectric, schlick};

fn square(side: u32, bounces: u32) -> Settings {
    Settings { width: side, height: side, bounces, ..Settings::default() }
}

fn mean_of(
    subject: &Subject<'_>,
    scene: lockstep_core::Result<Scene>,
    settings: &Settings,
    spp: u32,
) -> Checked<f64> {
    let scene = made(scene)?;
    let (film, _) = render(subject.open()?.as_mut(), &scene, settings, spp)?;
    assert!(film.invalid.is_zero(), "{}: {:?}", scene.name, film.invalid);
    Ok(mean(&film))
}

/// White furnace: under an environment of radiance one, energy-conserving surfaces are invisible and lossy
/// ones darker.
pub(crate) fn furnaces_are_white(subject: &Subject<'_>) -> Checked {
    let tolerances = [tolerances::FURNACE, tolerances::FURNACE_MULTISCATTER];
    let check = |of: &Furnace| of.check(subject, &Settings::default(), of.spp([256, 64]), tolerances);
    furnaces().iter().try_for_each(check)
}

/// Irradiance over pi times albedo, for a uniform sky and for a ball of light.
pub(crate) fn diffuse_floors_reflect_what_arrives(subject: &Subject<'_>) -> Checked {
    let close = |name: &str, found: f64, expected: f64| {
        assert!(
            (found / expected - 1.0).abs() <= tolerances::IRRADIANCE,
            "{name}: {found}, expected {expected}"
        );
    };
    // From the film's unit to far above display range
    for sky in [1e-7f32, 1e-6, 1e-5, 1e-3, 2.0, 1e4] {
        let found = mean_of(subject, scenes::floor_under_sky(0.6, sky), &square(16, 1), 1024)?;
        close(&format!("floor under a sky of {sky}"), found, 0.6 * f64::from(sky));
    }
    for (center, radius) in [([0.0, 2.0, 0.0], 0.5), ([1.5, 1.5, -0.5], 0.3)] {
        let found = mean_of(
            subject,
            scenes::floor_under_ball(0.5, Material::emitter([10.0; 3]), center, radius),
            &square(16, 1),
            1024,
        )?;
        let distance2: f64 = center.iter().map(|&c| f64::from(c).powi(2)).sum();
        let cosine = f64::from(center[1]) / distance2.sqrt();
        close("floor under a ball", found, 0.5 * 10.0 * f64::from(radius).powi(2) / distance2 * cosine);
    }
    Ok(())
}

/// The form factor from a point to a parallel square of half side `half` at a distance of 1, above the
/// square's centre (Howell, Mengüç, Daun and Siegel, Thermal Radiation Heat Transfer, appendix C).
fn form_factor_of_square(half: f64) -> f64 {
    let slant = half / half.hypot(1.0);
    4.0 / std::f64::consts::PI * slant * slant.atan()
}

/// A lamp with alpha lights a floor by the share of rays that see it: whether light sampling or BSDF
/// sampling prevails, with a constant alpha and a textured one, flat and as a ball.
pub(crate) fn lamps_with_alpha_shine_by_their_opacity(subject: &Subject<'_>) -> Checked {
    let blend =
        |alpha| Material { alpha, alpha_mode: AlphaMode::Blend as u32, ..Material::emitter([2.0; 3]) };
    let mask = |alpha| Material { alpha_mode: AlphaMode::Mask as u32, ..blend(alpha) };
    let two_sided = |m: Material| Material { flags: Material::TWO_SIDED_EMISSION, ..m };
    let close = |name: String, found: f64, expected: f64| {
        let limit = tolerances::LAMPS_WITH_ALPHA * expected.max(0.1);
        assert!((found - expected).abs() <= limit, "{name}: {found}, expected {expected}");
    };
    let settings = |strategy| Settings { strategy, ..square(16, 1) };
    let lamps = [
        (blend(1.0), None, 1.0),
        (blend(0.3), None, 0.3),
        (mask(0.3), None, 0.0),
        (mask(0.7), None, 1.0),
        (blend(0.5), Some([51, 153]), 0.2),
        (mask(1.0), Some([0, 255]), 0.5),
        (two_sided(blend(0.3)), None, 0.3),
    ];
    let (narrow, wide) = ([Strategy::Mis, Strategy::LightOnly], [Strategy::Mis, Strategy::BsdfOnly]);
    for (lamp, alphas, opacity) in lamps {
        for (half, strategies) in [(0.3, narrow), (2.0, wide), (20.0, wide)] {
            for strategy in strategies {
                let scene = scenes::floor_under_lamp(0.5, lamp, half, alphas);
                let found = mean_of(subject, scene, &settings(strategy), 256)?;
                let expected = opacity * form_factor_of_square(f64::from(half));
                close(format!("lamp of half side {half}, {lamp:?}, {strategy:?}"), found, expected);
            }
        }
    }
    // A ray that passes a ball's near side passes its far side: the test is of ray and primitive.
    let balls =
        [(blend(0.3), 0.3), (mask(0.3), 0.0), (two_sided(blend(0.3)), 0.3), (two_sided(blend(1.0)), 1.0)];
    for (light, opacity) in balls {
        for (radius, strategies) in [(0.1, narrow), (1.5, wide)] {
            for strategy in strategies {
                let scene = scenes::floor_under_ball(0.5, light, [0.0, 2.0, 0.0], radius);
                let found = mean_of(subject, scene, &settings(strategy), 256)?;
                let expected = opacity * f64::from(radius).powi(2) / 4.0;
                close(format!("ball of radius {radius}, {light:?}, {strategy:?}"), found, expected);
            }
        }
    }
    Ok(())
}

/// A lamp does not shadow itself, however coarse its coordinates, and what is in front of it does.
pub(crate) fn shadow_rays_end_just_before_their_light(subject: &Subject<'_>) -> Checked {
    for strategy in [Strategy::Mis, Strategy::LightOnly] {
        let settings = Settings { strategy, ..square(16, 1) };
        let expected = form_factor_of_square(6.0);
        for shift in [Vec3::ZERO, vec3(0.0, 0.0, 300.0), vec3(-2e3, 1e3, 700.0)] {
            let scene = scenes::floor_under_distant_lamp(shift, None);
            let found = mean_of(subject, scene, &settings, 1024)?;
            let limit = tolerances::LAMPS_WITH_ALPHA * expected;
            assert!(
                (found - expected).abs() <= limit,
                "at {shift:?}, {strategy:?}: {found}, expected {expected}"
            );
        }
        let scene = scenes::floor_under_distant_lamp(Vec3::ZERO, Some(0.0055));
        let found = mean_of(subject, scene, &settings, 256)?;
        assert!(found == 0.0, "behind a black square 5.5 mm in front of the lamp, {strategy:?}: {found}");
    }
    Ok(())
}

/// Camera rays and those that light arrives by pass through the back of a single-sided surface, mirrored
/// instances included.
pub(crate) fn single_sided_surfaces_are_seen_from_their_front(subject: &Subject<'_>) -> Checked {
    let both = Material::diffuse([0.5; 3]);
    let single = Material { flags: Material::SINGLE_SIDED, ..both };
    for mirrored in [false, true] {
        for (material, z, expected) in
            [(both, 2.0, 0.5), (both, -2.0, 0.5), (single, 2.0, 0.5), (single, -2.0, 1.0)]
        {
            let scene = scenes::square_before_sky(material, mirrored, z);
            let found = mean_of(subject, scene, &square(8, 1), 256)?;
            let of = format!("flags {}, mirrored {mirrored}, from {z}", material.flags);
            assert!(
                (found - expected).abs() <= tolerances::IRRADIANCE * 2.0,
                "{of}: {found}, expected {expected}"
            );
        }
    }
    Ok(())
}

/// An unlit surface shows its colour whatever shines on it, and what it would shine on stays dark.
pub(crate) fn unlit_surfaces_show_their_color_and_light_nothing(subject: &Subject<'_>) -> Checked {
    let unlit = Material::unlit([0.25; 3]);
    for integrator in [Integrator::Path, Integrator::Bpt] {
        for strategy in [Strategy::Mis, Strategy::LightOnly, Strategy::BsdfOnly] {
            let settings = Settings { integrator, strategy, ..square(8, 3) };
            let mut renderer = subject.open()?;
            let scenes = [
                ("before a sky", made(scenes::square_before_sky(unlit, false, 2.0))?, 0.25),
                ("over a floor", made(scenes::floor_under_lamp(0.5, unlit, 20.0, None))?, 0.0),
            ];
            for (place, scene, expected) in scenes {
                match renderer.load(&scene, &settings) {
                    Err(Error::Unsupported { .. }) => continue,
                    loaded => {
                        loaded.map(drop).during(|| format!("loading {} for {integrator}", scene.name))?
                    }
                }
                let found = mean(&render(renderer.as_mut(), &scene, &settings, 16)?.0);
                assert!(found == expected, "{place}, {integrator}, {strategy:?}: {found}, not {expected}");
            }
        }
    }
    Ok(())
}

pub(crate) fn mirrors_and_glass_follow_fresnel(subject: &Subject<'_>) -> Checked {
    for degrees in [5.0f32, 45.0, 70.0, 85.0] {
        let cosine = f64::from(degrees).to_radians().cos() as f32;
        let found = mean_of(subject, scenes::mirror(0.5, degrees), &square(8, 1), 16)?;
        let expected = f64::from(schlick(Vec3::splat(0.5), cosine).x);
        assert!(
            (found - expected).abs() < tolerances::FRESNEL,
            "mirror at {degrees}: {found}, expected {expected}"
        );
        let found = mean_of(subject, scenes::glass_ball(1.5, degrees), &square(16, 1), 64)?;
        let expected = f64::from(fresnel_dielectric(cosine, 1.5));
        assert!(
            (found - expected).abs() < tolerances::FRESNEL,
            "glass at {degrees}: {found}, expected {expected}"
        );
    }
    Ok(())
}

/// Light sampling, BSDF sampling and their combination estimate the same; the combination is best.
pub(crate) fn estimators_agree(subject: &Subject<'_>) -> Checked {
    let scene = made(scenes::small_and_large_light())?;
    let mut renderer = subject.open()?;
    let mut means = |strategy| -> Checked<Vec<f64>> {
        (0..32)
            .map(|seed| {
                let settings = Settings { seed, strategy, ..square(32, 2) };
                Ok(mean(&render(renderer.as_mut(), &scene, &settings, 16)?.0))
            })
            .collect()
    };
    let mut all = Vec::new();
    for strategy in [Strategy::Mis, Strategy::LightOnly, Strategy::BsdfOnly] {
        all.push((strategy, means(strategy)?));
    }
    for (i, (a, of_a)) in all.iter().enumerate() {
        for (b, of_b) in &all[i + 1..] {
            let t = welch_t(of_a, of_b);
            assert!(t.abs() < tolerances::WELCH_1_PERCENT, "{a:?} and {b:?} differ: t = {t}");
        }
    }
    let variance = |of: &[f64]| mean_and_variance(of).1;
    for (other, of_other) in &all[1..] {
        let (mis, alone) = (variance(&all[0].1), variance(of_other));
        assert!(mis < alone, "MIS has less variance than {other:?}: {mis} against {alone}");
    }
    Ok(())
}

/// All samplers estimate the same. Of 16 samples a pixel of light from a square, the variance of Owen-scrambled Sobol
/// points is less than a fifth.
pub(crate) fn samplers_agree_and_sobol_has_less_error(subject: &Subject<'_>) -> Checked {
    let scene = made(scenes::floor_under_lamp(0.5, Material::emitter([2.0; 3]), 2.0, None))?;
    let mut renderer = subject.open()?;
    let mut means = |sampler| -> Checked<Vec<f64>> {
        (0..32)
            .map(|seed| {
                let settings = Settings { seed, sampler, ..square(16, 1) };
                Ok(mean(&render(renderer.as_mut(), &scene, &settings, 16)?.0))
            })
            .collect()
    };
    let all: Vec<(Sampler, Vec<f64>)> =
        Sampler::ALL.into_iter().map(|sampler| Ok((sampler, means(sampler)?))).collect::<Checked<_>>()?;
    for (i, (a, of_a)) in all.iter().enumerate() {
        for (b, of_b) in &all[i + 1..] {
            let t = welch_t(of_a, of_b);
            assert!(t.abs() < tolerances::WELCH_1_PERCENT, "{a} and {b} differ: t = {t}");
        }
    }
    let variance = |sampler: Sampler| {
        let of = all.iter().find(|(own, _)| *own == sampler).map_or(&[][..], |(_, means)| means);
        mean_and_variance(of).1
    };
    let [pcg, sobol] = [Sampler::Pcg, Sampler::Sobol].map(variance);
    assert!(sobol < 0.2 * pcg, "the variance of sobol is {sobol}, that of pcg {pcg}");
    Ok(())
}

/// Directions that miss the square above, whose form factor is known, leave the scene.
pub(crate) fn ambient_occlusion_is_what_the_form_factor_leaves(subject: &Subject<'_>) -> Checked<Outcome> {
    let integrator = Integrator::Ao;
    let settings = Settings { integrator, ..square(64, 3) };
    let scene = made(scenes::floor_below_square())?;
    match subject.open()?.load(&scene, &settings) {
        Err(refusal @ Error::Unsupported { .. }) => return Ok(Outcome::Skipped(refusal.to_string())),
        loaded => loaded.map(drop).during(|| format!("loading {} for {integrator}", scene.name))?,
    }
    let found = mean_of(subject, scenes::floor_below_square(), &settings, 256)?;
    let expected = 1.0 - form_factor_of_square(1.0);
    assert!((found - expected).abs() <= tolerances::AMBIENT_OCCLUSION, "found {found}, expected {expected}");
    let open_floor = mean_of(subject, scenes::floor_under_sky(0.5, 1.0), &settings, 4)?;
    assert!(open_floor == 1.0, "an open floor is not occluded: {open_floor}");
    Ok(Outcome::default())
}
