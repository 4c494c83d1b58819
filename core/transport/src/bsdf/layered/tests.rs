use super::*;
use crate::bsdf::chi_square::{Bins, assert_follows};
use crate::bsdf::surface::SPECULAR_ROUGHNESS;
use crate::bsdf::tests::kronecker;
use lockstep_core::math::rng::{pcg4d, uniform};
use lockstep_core::math::safe_sqrt;
use lockstep_core::math::vec3::{length, normalize};
use lockstep_core::scene::MaterialKind;

pub(in crate::bsdf) fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 77, 3]).map(uniform)
}

const UP: Vec3 = vec3(0.0, 0.0, 1.0);
pub(in crate::bsdf) const ALONG: LayerAxes = LayerAxes { along: [0.8, 0.6], coat: UP, geometric: UP };

pub(in crate::bsdf) fn base(roughness: f32, metallic: f32, transmission: f32) -> Surface {
    Surface {
        kind: MaterialKind::Principled as u32,
        base_color: vec3(0.9, 0.6, 0.3),
        roughness,
        metallic,
        ior: 1.5,
        transmission,
        outside: true,
        multiscatter: false,
    }
}

pub(in crate::bsdf) const PLAIN: SurfaceLayers = SurfaceLayers {
    specular_color: Vec3::ONE,
    specular: 1.0,
    sheen_color: Vec3::ZERO,
    sheen_roughness: 0.0,
    clearcoat: 0.0,
    clearcoat_roughness: 0.0,
    clearcoat_f0: 0.04,
    iridescence: 0.0,
    film: ThinFilm { ior: 1.3, thickness: 400.0 },
    anisotropy: 0.0,
    along: Vec3::ZERO,
    coat_normal: Vec3::ZERO,
};

/// Sets of layers: each alone, and all at once.
fn layer_sets() -> Vec<SurfaceLayers> {
    let specular = SurfaceLayers { specular: 0.6, specular_color: vec3(1.0, 0.5, 2.0), ..PLAIN };
    let mut all = vec![PLAIN, specular, SurfaceLayers { specular: 0.0, ..PLAIN }];
    for clearcoat_roughness in [0.03, 0.3, 0.9] {
        all.push(SurfaceLayers { clearcoat: 1.0, clearcoat_roughness, ..PLAIN });
    }
    for sheen_roughness in [0.1, 0.4, 1.0] {
        all.push(SurfaceLayers { sheen_color: vec3(1.0, 0.8, 0.5), sheen_roughness, ..PLAIN });
    }
    for anisotropy in [0.3, 1.0] {
        all.push(SurfaceLayers { anisotropy, ..PLAIN });
    }
    for thickness in [280.0, 700.0] {
        all.push(SurfaceLayers { iridescence: 1.0, film: ThinFilm { ior: 1.5, thickness }, ..PLAIN });
    }
    all.push(SurfaceLayers {
        iridescence: 0.5,
        clearcoat: 0.7,
        clearcoat_roughness: 0.2,
        sheen_color: vec3(0.7, 0.9, 0.4),
        sheen_roughness: 0.3,
        anisotropy: 0.7,
        ..specular
    });
    all
}

pub(in crate::bsdf) fn surfaces() -> Vec<(Surface, SurfaceLayers)> {
    let bases = [
        base(0.2, 0.0, 0.0),
        base(0.5, 0.0, 0.0),
        base(1.0, 0.0, 0.0),
        base(0.4, 1.0, 0.0),
        base(0.4, 0.5, 0.5),
        base(0.6, 0.0, 1.0),
    ];
    let sets = layer_sets();
    bases.iter().flat_map(|&b| sets.iter().map(move |&l| (b, l))).collect()
}

/// Surfaces that keep the light which scatters more than once, under some layers.
pub(in crate::bsdf) fn recovering() -> Vec<(Surface, SurfaceLayers)> {
    let sheen = SurfaceLayers { sheen_color: vec3(1.0, 0.8, 0.5), sheen_roughness: 0.4, ..PLAIN };
    let all = SurfaceLayers { clearcoat: 0.7, clearcoat_roughness: 0.3, anisotropy: 0.7, ..sheen };
    let coat = SurfaceLayers { clearcoat: 1.0, clearcoat_roughness: 0.3, ..PLAIN };
    let bases = [base(0.8, 1.0, 0.0), base(0.6, 0.0, 1.0), base(0.9, 0.5, 0.5)];
    let sets = [PLAIN, coat, sheen, all];
    let with = bases.map(|s| Surface { multiscatter: true, ..s });
    with.iter().flat_map(|&b| sets.iter().map(move |&l| (b, l))).collect()
}

/// White metals that keep the light which scatters more than once, over strengths of anisotropy: their mean albedo over all
/// directions is within 1 % of one. Without, it falls to 0.49.
#[test]
fn anisotropic_metals_keep_their_energy_in_the_mean() {
    for (roughness, anisotropy) in
        [0.1f32, 0.2, 0.4, 0.6, 0.8].into_iter().flat_map(|r| [0.3f32, 0.5, 0.8, 1.0].map(|a| (r, a)))
    {
        let s = Surface { base_color: Vec3::ONE, multiscatter: true, ..base(roughness, 1.0, 0.0) };
        let l = SurfaceLayers { anisotropy, ..PLAIN };
        let points = 1 << 14;
        let sum: f64 = (0..points)
            .map(|i| {
                let [u, v, _] = kronecker(i);
                // Half a turn of another sequence, so that directions do not follow the lobe's draws
                let draws = random(i, 21);
                let wo = direction(u.sqrt(), 0.5 * v);
                f64::from(sample_layered(&s, &l, &ALONG, wo, [draws[0], draws[1], draws[2]]).weight.x)
            })
            .sum();
        let mean = sum / f64::from(points);
        assert!((mean - 1.0).abs() < 0.013, "{mean} at roughness {roughness}, anisotropy {anisotropy}");
    }
}

fn white((s, l): (Surface, SurfaceLayers)) -> (Surface, SurfaceLayers) {
    let sheen_color = if max_component(l.sheen_color) > 0.0 { Vec3::ONE } else { Vec3::ZERO };
    (Surface { base_color: Vec3::ONE, ..s }, SurfaceLayers { sheen_color, ..l })
}

pub(in crate::bsdf) fn direction(cosine: f32, turns: f32) -> Vec3 {
    let (sin, cos) = lockstep_core::math::sin_cos_turns(turns);
    let ring = safe_sqrt(1.0 - cosine * cosine);
    vec3(ring * cos, ring * sin, cosine)
}

/// Pearson's test of samples against the density.
#[test]
fn samples_pass_a_chi_square_test_against_the_density() {
    for (case, (s, l)) in surfaces().into_iter().chain(recovering()).enumerate() {
        if s.roughness < 0.4 || (l.clearcoat > 0.0 && l.clearcoat_roughness < 0.2) {
            // Peaks that are narrower than a bin's quadrature
            continue;
        }
        let axes = if l.clearcoat > 0.0 { &tilts()[..] } else { &[ALONG] };
        for axes in axes {
            let wo = normalize(vec3(0.4, 0.3, 0.7));
            let direction = |i| {
                let r = random(i, case as u32);
                let scattered = sample_layered(&s, &l, axes, wo, [r[0], r[1], r[2]]);
                (scattered.pdf > 0.0).then_some(scattered.wi)
            };
            let pdf = |wi| evaluate_layered(&s, &l, axes, wo, wi).pdf;
            assert_follows(&format!("{s:?} {l:?} {axes:?}"), &Bins::SPHERE, 40_000, direction, pdf);
        }
    }
}

/// A clearcoat along the surface, one over a bumpy surface, and a bumpy one over a smooth surface.
pub(in crate::bsdf) fn tilts() -> [LayerAxes; 3] {
    let over_bumps = direction(0.8, 0.4);
    [
        ALONG,
        LayerAxes { coat: over_bumps, geometric: over_bumps, ..ALONG },
        LayerAxes { coat: direction(0.7, 0.05), ..ALONG },
    ]
}

/// A clearcoat over black, tilted: its lobe is that of a level one in its own frame, above the geometry's horizon.
#[test]
fn a_tilted_clearcoat_is_a_level_one_in_its_own_frame() {
    let black = Surface { base_color: Vec3::ZERO, ..base(0.5, 0.0, 0.0) };
    let l = SurfaceLayers { specular: 0.0, clearcoat: 0.9, clearcoat_roughness: 0.5, ..PLAIN };
    let mut below = [0; 2];
    for axes in &tilts()[1..] {
        for i in 0..4_000 {
            let r = random(i, 9);
            let wo = direction(0.05 + 0.95 * r[0], r[1]);
            let wi = direction(2.0 * r[2] - 1.0, r[3]);
            if axes.in_coat(wo).z < 0.05 {
                continue;
            }
            let (wo_coat, wi_coat) = (axes.in_coat(wo), axes.in_coat(wi));
            let level = evaluate_layered(&black, &l, &ALONG, wo_coat, wi_coat).value.x;
            let is_reflected = wi_coat.z > 0.0 && (wi.z > 0.0 || dot(axes.geometric, wi) > 0.0);
            let expected = if is_reflected { level } else { 0.0 };
            let found = evaluate_layered(&black, &l, axes, wo, wi).value.x;
            assert!(
                (found - expected).abs() <= 2e-3 * expected + 1e-6,
                "{found} {expected} {axes:?} {wo:?} {wi:?}"
            );
            if wi.z < 0.0 && wi_coat.z > 0.0 {
                below[usize::from(found > 0.0)] += 1;
            }
        }
    }
    assert!(below[0] > 50 && below[1] > 50, "below the surface's horizon: {below:?}");
}

/// Light on the front of the geometry does not pass to the back of it, though the surface's normal has it below.
#[test]
fn nothing_is_transmitted_to_the_front_below_the_surfaces_horizon() {
    let wall = base(0.5, 0.0, 1.0);
    let l = SurfaceLayers { clearcoat: 0.5, clearcoat_roughness: 0.4, ..PLAIN };
    let (wo, wi) = (direction(0.7, 0.9), direction(-0.05, 0.4));
    let [level, over_bumps, _] = tilts();
    assert!(evaluate_layered(&wall, &l, &level, wo, wi).value.x > 0.0);
    let leaning = LayerAxes { geometric: direction(0.8, 0.4), ..level };
    assert!(dot(leaning.geometric, wi) > 0.0);
    assert_eq!(evaluate_layered(&wall, &l, &leaning, wo, wi).value, Vec3::ZERO);
    let coat = evaluate_layered(&wall, &l, &over_bumps, wo, wi).value;
    assert!(coat.x > 0.0 && coat == Vec3::splat(coat.x), "{coat:?} is not the clearcoat's alone");
}

#[test]
fn tilted_clearcoats_never_reflect_more_than_arrives_and_weights_are_value_over_density() {
    let coated = |&(_, l): &(Surface, SurfaceLayers)| l.clearcoat > 0.0;
    let mut most = 0.0f64;
    for (s, l) in surfaces().into_iter().filter(coated).map(white) {
        for axes in &tilts()[1..] {
            for cosine in [0.1f32, 0.5, 1.0] {
                let wo = direction(cosine, 0.1);
                if dot(axes.coat, wo) <= MIN_COSINE {
                    continue;
                }
                let mut sum = 0.0;
                let points = 1 << 14;
                for i in 0..points {
                    let r = sample_layered(&s, &l, axes, wo, kronecker(i));
                    if r.pdf > 0.0 {
                        let e = evaluate_layered(&s, &l, axes, wo, r.wi);
                        assert_eq!(
                            (e.pdf, e.value * (1.0 / e.pdf)),
                            (r.pdf, r.weight),
                            "{s:?} {l:?} {axes:?}"
                        );
                    }
                    sum += f64::from(r.weight.x);
                }
                let found = sum / f64::from(points);
                // A white sheen has spikes at the horizon that so few points miss or hit
                let most_here = if max_component(l.sheen_color) > 0.0 { 1.01 } else { 1.0 + 1e-4 };
                assert!(found <= most_here, "albedo {found} at {cosine} for {s:?} {l:?} {axes:?}");
                most = most.max(found);
            }
        }
    }
    assert!(most > 0.95, "{most}");
}

/// Albedo scaling is by the direction towards the camera, so surfaces that keep all light have another law:
/// [`a_scaled_specular_lobe_is_reciprocal_but_for_the_share_of_its_layers`].
#[test]
fn weights_are_value_over_density_and_reflection_is_reciprocal() {
    let mut transmitted = 0;
    for (s, l) in surfaces().into_iter().chain(recovering()) {
        for i in 0..1_500 {
            let r = random(i, 1);
            let (wo, wi) = (direction(0.05 + 0.95 * r[0], r[1]), direction(0.05 + 0.95 * r[2], r[3]));
            let flip = if i % 3 == 0 { -1.0 } else { 1.0 };
            let there = evaluate_layered(&s, &l, &ALONG, wo, vec3(wi.x, wi.y, wi.z * flip)).value;
            let back = evaluate_layered(&s, &l, &ALONG, wi, vec3(wo.x, wo.y, wo.z * flip)).value;
            for (a, b) in there.to_array().into_iter().zip(back.to_array()) {
                let (a, b) = (a / wi.z, b / wo.z);
                assert!(s.multiscatter || (a - b).abs() <= 2e-3 * max(a, b) + 1e-6, "{a} {b} {s:?} {l:?}");
            }
            transmitted += u32::from(flip < 0.0 && there.x > 0.0);
            let u = random(i, 2);
            let scattered = sample_layered(&s, &l, &ALONG, wo, [u[0], u[1], u[2]]);
            if scattered.pdf > 0.0 && scattered.wi.z.abs() > 1e-3 {
                assert!((length(scattered.wi) - 1.0).abs() < 1e-4);
                let e = evaluate_layered(&s, &l, &ALONG, wo, scattered.wi);
                assert_eq!(e.pdf, scattered.pdf, "{s:?} {l:?}");
                let weight = e.value * (1.0 / e.pdf);
                assert_eq!(weight, scattered.weight, "{s:?} {l:?}");
            }
        }
    }
    assert!(transmitted > 5_000, "{transmitted}");
}

/// On surfaces that keep all light, the specular lobe is reciprocal but for the share that layers let through to `wo`: all
/// else is taken away from the sum of lobes.
#[test]
fn a_scaled_specular_lobe_is_reciprocal_but_for_the_share_of_its_layers() {
    for (s, l) in recovering() {
        let specular = |wo: Vec3, wi: Vec3| {
            let shapes = LobeShapes::new(&s, &l, &ALONG, wo);
            let scaling = Scaling::of_all(&s, &l, &ALONG, &shapes, wo);
            let (coat, _) = coat_lobe(&shapes.above, &l, &ALONG, wo, wi);
            let sheen = l.sheen_color * (sheen_lobe(&s, &l, wo, wi) * scaling.coat);
            let recovered = scaling.recovered(&recovering_surface(&s, &l), wi).value;
            let others = Vec3::splat(coat) + sheen + scaling.diffuse * (wi.z * INV_PI) + recovered;
            (evaluate_layered(&s, &l, &ALONG, wo, wi).value - others) * (1.0 / (scaling.below * wi.z))
        };
        for i in 0..500 {
            let r = random(i, 3);
            let (wo, wi) = (direction(0.1 + 0.9 * r[0], r[1]), direction(0.1 + 0.9 * r[2], r[3]));
            let (there, back) = (specular(wo, wi), specular(wi, wo));
            for (a, b) in there.to_array().into_iter().zip(back.to_array()) {
                assert!((a - b).abs() <= 2e-3 * max(a, b) + 1e-5, "{a} {b} {s:?} {l:?}");
            }
        }
    }
}

/// The share of light from `wo` that a surface scatters, by its own sampling at the points of a Kronecker sequence.
fn albedo(s: &Surface, l: &SurfaceLayers, wo: Vec3) -> f64 {
    albedo_by(1 << 17, s, l, wo)
}

fn albedo_by(points: u32, s: &Surface, l: &SurfaceLayers, wo: Vec3) -> f64 {
    let weight = |i: u32| f64::from(sample_layered(s, l, &ALONG, wo, lobe_by_lobe(i, points)).weight.x);
    let sum: f64 = (0..points).map(weight).sum();
    sum / f64::from(points)
}

/// Draw `i` of `points`: lobes are chosen one after another, each by a run of a Kronecker sequence.
pub(in crate::bsdf) fn lobe_by_lobe(i: u32, points: u32) -> [f32; 3] {
    let [_, u, v] = kronecker(i);
    [(i as f32 + 0.5) / points as f32, u, v]
}

/// [`albedo`] by midpoints over the square root of the cosine and the azimuth, which suits sheen at the horizon.
fn integrated_albedo(s: &Surface, l: &SurfaceLayers, wo: Vec3) -> f64 {
    const STEPS: u32 = 240;
    let step = |i: u32| (i as f32 + 0.5) / STEPS as f32;
    let mut sum = 0.0f64;
    for i in 0..STEPS {
        let (root, mut around) = (step(i), 0.0f64);
        for j in 0..STEPS {
            let wi = direction(root * root, step(j));
            for wi in [wi, vec3(wi.x, wi.y, -wi.z)] {
                around += f64::from(evaluate_layered(s, l, &ALONG, wo, wi).value.x);
            }
        }
        sum += around * 2.0 * f64::from(root);
    }
    sum * std::f64::consts::TAU / f64::from(STEPS * STEPS)
}

#[test]
fn white_layers_never_reflect_more_than_arrives() {
    let mut most = 0.0f64;
    let mut least = 2.0f64;
    for (s, l) in surfaces().into_iter().map(white) {
        for cosine in [0.02f32, 0.1, 0.3, 0.6, 1.0] {
            let has_sheen = max_component(l.sheen_color) > 0.0;
            let by = if has_sheen { integrated_albedo } else { albedo };
            let found = by(&s, &l, direction(cosine, 0.1));
            most = most.max(found);
            assert!(found <= 1.0 + 1e-5, "albedo {found} at cosine {cosine} for {s:?} {l:?}");
            // A body under one specular lobe or a clearcoat loses little but what the margins take.
            let is_plain = l.anisotropy == 0.0 && l.iridescence == 0.0;
            if s.metallic == 0.0 && s.transmission == 0.0 && !has_sheen && is_plain && cosine > 0.25 {
                assert!(found > 0.93, "albedo {found} at cosine {cosine} for {s:?} {l:?}");
                least = least.min(found);
            }
        }
    }
    assert!(most > 0.98, "{most}");
    assert!(least > 0.93, "{least}");
}

#[test]
fn layers_over_surfaces_that_lose_nothing_lose_little_and_gain_nothing() {
    for (s, l) in recovering().into_iter().map(white) {
        let once = Surface { multiscatter: false, ..s };
        for cosine in [0.1f32, 0.4, 1.0] {
            let wo = direction(cosine, 0.1);
            let [all, single] = [s, once].map(|s| albedo_by(1 << 14, &s, &l, wo));
            let of = format!("albedo {all}, {single} without, at cosine {cosine} for {s:?} {l:?}");
            assert!(all < 1.005 && all > single + 0.02, "{of}");
            let is_plain = l.anisotropy == 0.0 && max_component(l.sheen_color) == 0.0;
            assert!(!is_plain || all > 0.93, "{of}");
            assert!(!is_plain || l.clearcoat > 0.0 || all > 0.97, "{of}");
        }
    }
}

/// White surfaces that keep all light, below every kind of layer and several at once: what they scatter is within 1 % of what
/// arrives, from half a degree above the horizon on and in every azimuth.
#[test]
fn white_surfaces_that_keep_all_light_are_white_below_layers() {
    let coat = |clearcoat, clearcoat_roughness, l| SurfaceLayers { clearcoat, clearcoat_roughness, ..l };
    let sheen =
        |weight, sheen_roughness, l| SurfaceLayers { sheen_color: Vec3::splat(weight), sheen_roughness, ..l };
    let film = |iridescence, ior, thickness| SurfaceLayers {
        iridescence,
        film: ThinFilm { ior, thickness },
        ..PLAIN
    };
    let brushed = |anisotropy, l| SurfaceLayers { anisotropy, ..l };
    let weak = SurfaceLayers { specular: 0.6, ..PLAIN };
    let mut sets = vec![PLAIN, weak, SurfaceLayers { specular: 0.0, ..PLAIN }];
    sets.extend([0.0, 0.3, 0.9].map(|roughness| coat(1.0, roughness, PLAIN)));
    sets.extend([0.1, 0.4, 1.0].map(|roughness| sheen(1.0, roughness, PLAIN)));
    sets.extend([0.3, 0.7, 1.0].map(|strength| brushed(strength, PLAIN)));
    sets.extend([film(1.0, 1.3, 280.0), film(1.0, 1.8, 700.0), film(0.5, 1.5, 400.0)]);
    sets.push(coat(0.7, 0.2, sheen(0.6, 0.3, brushed(0.7, weak))));
    sets.push(coat(1.0, 0.5, sheen(1.0, 0.5, film(1.0, 1.5, 400.0))));
    for roughness in [0.15, 0.4, 1.0] {
        for (metallic, transmission) in [(0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.0, 1.0), (0.4, 0.5)] {
            let of_base = base(roughness, metallic, transmission);
            let s = Surface { base_color: Vec3::ONE, multiscatter: true, ..of_base };
            for l in &sets {
                let has_sheen = max_component(l.sheen_color) > 0.0;
                for (cosine, azimuth) in
                    [(0.01f32, 0.0f32), (0.02, 0.25), (0.05, 0.1), (0.1, 0.1), (0.4, 0.2), (1.0, 0.1)]
                {
                    // Sheen peaks at the horizon, the smoothest everywhere
                    let points = match (has_sheen, l.sheen_roughness < 0.2) {
                        (true, true) if cosine < 0.05 => 1 << 17,
                        (true, true) => 1 << 15,
                        (true, false) if cosine < 0.1 => 1 << 14,
                        _ => 1 << 12,
                    };
                    let found = albedo_by(points, &s, l, direction(cosine, azimuth));
                    let at = format!("cosine {cosine}, azimuth {azimuth}");
                    assert!((found - 1.0).abs() < 0.01, "albedo {found} at {at} for {s:?} {l:?}");
                }
            }
        }
    }
}

#[test]
fn layers_that_change_nothing_leave_the_surface_as_it_is() {
    for s in [base(0.5, 0.0, 0.0), base(0.3, 1.0, 0.0), base(0.7, 0.3, 0.5)] {
        for i in 0..2_000 {
            let r = random(i, 5);
            let (wo, up) = (direction(0.05 + 0.95 * r[0], r[1]), direction(0.05 + 0.95 * r[2], r[3]));
            let wi = if i % 4 == 0 { vec3(up.x, up.y, -up.z) } else { up };
            let plain = crate::bsdf::evaluate(&s, wo, wi).value;
            let layered = evaluate_layered(&s, &PLAIN, &ALONG, wo, wi).value;
            for (a, b) in plain.to_array().into_iter().zip(layered.to_array()) {
                // The margins of the layers' albedos, and the mean's quadrature
                assert!((a - b).abs() < 2e-2 * max(a, b) + 1e-5, "{a} {b} {s:?} {wo:?} {wi:?}");
            }
        }
    }
}

#[test]
fn layers_stay_finite_at_extremes() {
    let smooth = (base(0.0, 0.0, 0.5), SurfaceLayers { clearcoat: 1.0, anisotropy: 1.0, ..PLAIN });
    for (s, l) in surfaces().into_iter().chain([smooth]) {
        for wo in [vec3(0.0, 0.0, 1.0), normalize(vec3(1.0, 0.0, 1e-4)), normalize(vec3(-0.3, 0.9, 1e-3))] {
            for i in 0..64u32 {
                for axes in &tilts() {
                    let at = |shift: u32| [0.0, 0.3, 0.7, 0.999_999_94][(i >> shift & 3) as usize];
                    let r = sample_layered(&s, &l, axes, wo, [at(0), at(2), at(4)]);
                    assert!(
                        r.weight.is_finite() && r.wi.is_finite() && r.pdf.is_finite(),
                        "{s:?} {l:?} {r:?}"
                    );
                    let e = evaluate_layered(&s, &l, axes, wo, r.wi);
                    assert!(e.value.is_finite() && e.pdf.is_finite() && e.pdf >= 0.0, "{s:?} {l:?} {e:?}");
                }
            }
        }
    }
    const { assert!(SPECULAR_ROUGHNESS * SPECULAR_ROUGHNESS >= MIN_ALPHA - 1e-9) };
}
