use super::*;
use crate::bsdf::chi_square::{Bins, assert_follows};
use crate::bsdf::layered::tests::{PLAIN, direction, lobe_by_lobe, random};
use crate::bsdf::tests::{kronecker, surface};
use crate::bsdf::{ThinFilm, evaluate};
use lockstep_core::scene::MaterialKind;

fn glass(roughness: f32, outside: bool) -> Surface {
    Surface { base_color: Vec3::ONE, outside, ..surface(MaterialKind::Dielectric, roughness) }
}

fn film(thickness: f32) -> SurfaceLayers {
    SurfaceLayers { iridescence: 1.0, film: ThinFilm { ior: 1.8, thickness }, ..PLAIN }
}

/// A film, clearcoats of two roughnesses, and both.
fn layer_sets() -> [SurfaceLayers; 4] {
    let coat =
        |clearcoat, clearcoat_roughness, below| SurfaceLayers { clearcoat, clearcoat_roughness, ..below };
    [film(400.0), coat(1.0, 0.0, PLAIN), coat(0.6, 0.5, PLAIN), coat(1.0, 0.3, film(250.0))]
}

fn both_sides(roughness: f32) -> impl Iterator<Item = (Surface, SurfaceLayers)> {
    let sides = [true, false].map(|outside| glass(roughness, outside));
    sides.into_iter().flat_map(|s| layer_sets().map(|layers| (s, layers)))
}

/// Radiance over what arrives, for a direction: transmission changes the solid angle.
fn energy(s: &Surface, scattered: &Scatter) -> Vec3 {
    let eta = s.relative_ior();
    scattered.weight * if scattered.wi.z < 0.0 { eta * eta } else { 1.0 }
}

/// From smooth glass all light comes back that no clearcoat keeps by the margin of its albedo, and never more.
#[test]
fn smooth_glass_under_layers_keeps_what_arrives() {
    for (s, layers) in both_sides(0.0) {
        for cosine in [0.05f32, 0.3, 0.6, 0.75, 0.9, 1.0] {
            let wo = direction(cosine, 0.1);
            let glass = Glass::new(&s, &layers, wo);
            let at = glass.boundary(&s, &layers, wo, vec3(0.0, 0.0, 1.0));
            // Both choices, and the coat's share at most
            let mut sum = Vec3::splat(1.0 - glass.coat_out);
            for (u, p) in [(0.0, at.p_reflected), (0.999_999, 1.0 - at.p_reflected)] {
                if p > 0.0 {
                    sum = sum + energy(&s, &glass.specular(&s, &layers, wo, u)) * p;
                }
            }
            for channel in sum.to_array() {
                assert!((channel - 1.0).abs() < 1e-5, "{sum:?} at cosine {cosine}: {s:?} {layers:?}");
            }
        }
    }
}

#[test]
fn rough_glass_under_layers_never_gives_back_more_than_arrives() {
    let points = 1 << 14;
    let mut least = 1.0f32;
    for (s, layers) in [0.3, 0.7].into_iter().flat_map(both_sides) {
        for cosine in [0.2f32, 0.6, 1.0] {
            let wo = direction(cosine, 0.1);
            let sum = (0..points)
                .fold(Vec3::ZERO, |sum, i| sum + energy(&s, &sample_glass(&s, &layers, wo, kronecker(i))));
            let found = sum * (1.0 / points as f32);
            for channel in found.to_array() {
                assert!(channel < 1.0 + 1e-3, "{found:?} at cosine {cosine}: {s:?} {layers:?}");
                least = least.min(channel);
            }
        }
    }
    assert!(least > 0.6, "single scattering loses less: {least}");
}

/// White rough glass that keeps all light is white under film and clearcoat from both sides, to within 1 %.
#[test]
fn rough_glass_that_keeps_all_light_is_white_under_layers() {
    let points = 1 << 13;
    for (s, layers) in [0.15, 0.4, 0.7, 1.0].into_iter().flat_map(both_sides) {
        let s = Surface { multiscatter: true, ..s };
        for cosine in [0.1f32, 0.3, 0.6, 1.0] {
            let wo = direction(cosine, 0.1);
            let draws = |i| lobe_by_lobe(i, points);
            let sum = (0..points)
                .fold(Vec3::ZERO, |sum, i| sum + energy(&s, &sample_glass(&s, &layers, wo, draws(i))));
            let found = sum * (1.0 / points as f32);
            for channel in found.to_array() {
                assert!((channel - 1.0).abs() < 0.01, "{found:?} at cosine {cosine}: {s:?} {layers:?}");
            }
        }
    }
}

/// Exchanging directions changes nothing: neither from one side, nor through the boundary but for the squared index.
#[test]
fn directions_may_be_exchanged() {
    for (case, (s, layers)) in both_sides(0.5).enumerate() {
        let beyond = Surface { outside: !s.outside, ..s };
        for i in 0..500 {
            let r = random(i, case as u32);
            let wo = direction(0.05 + 0.95 * r[0], r[1]);
            let wi = direction(0.05 + 0.95 * r[2], r[3]);
            let agree = |a: Vec3, b: Vec3, what: &str| {
                for (a, b) in a.to_array().into_iter().zip(b.to_array()) {
                    let off = (a - b).abs();
                    assert!(off <= 2e-3 * a.max(b) + 5e-5, "{what}: {a} {b} {s:?} {layers:?} {wo:?} {wi:?}");
                }
            };
            let value =
                |s: &Surface, a: Vec3, b: Vec3| evaluate_glass(s, &layers, a, b).value * (1.0 / b.z.abs());
            agree(value(&s, wo, wi), value(&s, wi, wo), "reflection");
            let eta = s.relative_ior();
            let below = vec3(wi.x, wi.y, -wi.z);
            let back = value(&beyond, wi, vec3(wo.x, wo.y, -wo.z));
            agree(value(&s, wo, below) * (eta * eta), back, "transmission");
        }
    }
}

#[test]
fn samples_pass_a_chi_square_test_against_the_density() {
    for (case, (s, layers)) in both_sides(0.6).enumerate() {
        if layers.clearcoat > 0.0 && layers.clearcoat_roughness < 0.3 {
            // A peak that is narrower than a bin's quadrature
            continue;
        }
        for multiscatter in [false, true] {
            let s = Surface { multiscatter, ..s };
            let wo = direction(0.7, 0.1);
            let sampled = |i| {
                let r = random(i, 40 + case as u32);
                let scattered = sample_glass(&s, &layers, wo, [r[0], r[1], r[2]]);
                (scattered.pdf > 0.0).then_some(scattered.wi)
            };
            let pdf = |wi| evaluate_glass(&s, &layers, wo, wi).pdf;
            assert_follows(&format!("{s:?} {layers:?}"), &Bins::SPHERE, 20_000, sampled, pdf);
        }
    }
}

/// Without a film and without a clearcoat it is glass as it is alone.
#[test]
fn layers_of_no_weight_change_nothing() {
    for s in [true, false].map(|outside| glass(0.4, outside)) {
        for i in 0..500 {
            let r = random(i, 7);
            let (wo, wi) = (direction(0.05 + 0.95 * r[0], r[1]), direction(2.0 * r[2] - 1.0, r[3]));
            let (found, bare) = (evaluate_glass(&s, &PLAIN, wo, wi), evaluate(&s, wo, wi));
            for (a, b) in
                [(found.value.x, bare.value.x), (found.value.z, bare.value.z), (found.pdf, bare.pdf)]
            {
                assert!((a - b).abs() <= 1e-4 * b.abs(), "{found:?} {bare:?}");
            }
        }
    }
}

/// A film colours what is reflected, and what is transmitted by the complement.
#[test]
fn a_film_colours_both_sides_alike() {
    let at_normal = |outside| reflectance(&glass(0.0, outside), &film(400.0), 1.0);
    let (front, back) = (at_normal(true), at_normal(false));
    assert!((front.x - front.z).abs() > 0.02, "{front:?}");
    for (a, b) in front.to_array().into_iter().zip(back.to_array()) {
        assert!((a - b).abs() < 1e-5, "{front:?} {back:?}");
    }
    assert_eq!(reflectance(&glass(0.0, false), &film(400.0), 0.3), Vec3::ONE, "total internal reflection");
}
