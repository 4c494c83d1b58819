use crate::bsdf::chi_square::{Bins, LIMIT, assert_follows, deviate};
use crate::bsdf::layer::Layer;
use crate::bsdf::*;
use lockstep_core::math::rng::{pcg4d, uniform};
use lockstep_core::math::sampling::cosine_hemisphere;
use lockstep_core::math::vec3::{length, normalize, vec3};
use lockstep_core::math::{max, safe_sqrt, sin_cos_turns, sqr};

fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 31, 5]).map(uniform)
}

/// Point `i` of a sequence that fills the unit cube evenly: Kronecker's, by powers of the reciprocal of the plastic
/// number's analogue in three dimensions (Roberts 2018).
pub(super) fn kronecker(i: u32) -> [f32; 3] {
    const STEPS: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];
    STEPS.map(|step| (0.5 + step * f64::from(i)).fract() as f32 * 0.999_999_9)
}

pub(super) fn surface(kind: MaterialKind, roughness: f32) -> Surface {
    Surface {
        kind: kind as u32,
        base_color: vec3(0.9, 0.6, 0.3),
        roughness,
        metallic: 0.0,
        ior: 1.5,
        transmission: 0.0,
        outside: true,
        multiscatter: false,
    }
}

/// Every scattering model that has a density, over its parameters.
fn rough_surfaces() -> Vec<Surface> {
    let mut all = vec![surface(MaterialKind::Diffuse, 1.0)];
    for roughness in [0.2, 0.5, 1.0] {
        all.push(surface(MaterialKind::Conductor, roughness));
        for outside in [true, false] {
            all.push(Surface { outside, ..surface(MaterialKind::Dielectric, roughness) });
        }
        for metallic in [0.0, 0.5, 1.0] {
            for transmission in [0.0, 0.7, 1.0] {
                all.push(Surface { metallic, transmission, ..surface(MaterialKind::Principled, roughness) });
            }
        }
    }
    // With the light that scatters more than once
    let glass = surface(MaterialKind::Dielectric, 0.8);
    let wall = Surface { metallic: 0.3, transmission: 0.7, ..surface(MaterialKind::Principled, 0.9) };
    let rough = [surface(MaterialKind::Conductor, 0.9), glass, Surface { outside: false, ..glass }, wall];
    all.extend(rough.map(|s| Surface { multiscatter: true, ..s }));
    all
}

fn white(s: Surface) -> Surface {
    Surface { base_color: Vec3::ONE, ..s }
}

fn outgoing(i: u32) -> Vec3 {
    let r = random(i, 0);
    let d = cosine_hemisphere(r[0], r[1]);
    vec3(d.x, d.y, max(d.z, 0.05))
}

/// Directions for integrals over the sphere: the centres of cells of equal solid angle.
const CELLS: u32 = 640;

fn cell(i: u32) -> Vec3 {
    let z = 1.0 - 2.0 * ((i / CELLS) as f32 + 0.5) / CELLS as f32;
    let ring = safe_sqrt(1.0 - z * z);
    let (sin, cos) = sin_cos_turns(((i % CELLS) as f32 + 0.5) / CELLS as f32);
    vec3(ring * cos, ring * sin, z)
}

#[test]
fn densities_integrate_to_at_most_one() {
    // Below one only by what leaves through the horizon.
    for s in rough_surfaces() {
        for view in 0..4 {
            let wo = normalize(outgoing(view));
            let n = CELLS * CELLS;
            let sum: f64 = (0..n).map(|i| f64::from(evaluate(&s, wo, cell(i)).pdf)).sum();
            let integral = sum / f64::from(n) * 4.0 * std::f64::consts::PI;
            assert!(integral < 1.002, "{integral} for {s:?} from {wo:?}");
            assert!(integral > 0.4, "{integral} for {s:?} from {wo:?}");
        }
    }
}

#[test]
fn samples_follow_the_density_that_is_reported() {
    // The share of samples in a region equals the integral of the density over it.
    let region = |w: Vec3| w.x > 0.2 && w.z.abs() > 0.1;
    for s in rough_surfaces() {
        let wo = normalize(vec3(0.5, 0.2, 0.7));
        let n = CELLS * CELLS;
        let mut inside = 0u32;
        let mut integral = 0.0f64;
        for i in 0..n {
            let r = random(i, 2);
            let scattered = sample(&s, wo, [r[0], r[1], r[2]]);
            inside += u32::from(max(scattered.weight.x, scattered.weight.y) > 0.0 && region(scattered.wi));
            let wi = cell(i);
            if region(wi) {
                integral += f64::from(evaluate(&s, wo, wi).pdf);
            }
        }
        let share = f64::from(inside) / f64::from(n);
        let expected = integral / f64::from(n) * 4.0 * std::f64::consts::PI;
        assert!((share - expected).abs() < 0.005, "{share} against {expected} for {s:?}");
    }
}

/// Where the density of a surface of low roughness has its peaks, and the half angle in radians of a cone that holds most
/// of each.
fn peaks(s: &Surface, wo: Vec3) -> Vec<(Vec3, f64)> {
    let alpha = f64::from(s.alpha());
    let mut all = vec![(vec3(-wo.x, -wo.y, wo.z), 40.0 * alpha)];
    if s.kind == MaterialKind::Dielectric as u32 {
        let eta = 1.0 / s.relative_ior();
        let squared = 1.0 - eta * eta * (1.0 - wo.z * wo.z);
        if squared > 0.0 {
            all.push((vec3(-eta * wo.x, -eta * wo.y, -squared.sqrt()), 15.0 * alpha));
        }
    } else if s.transmission > 0.0 {
        all.push((-wo, 40.0 * alpha));
    }
    all
}

/// Pearson's test of samples against the density: over the sphere where the surface is rough, about the peaks where it is
/// smoother than the bins of the sphere are wide.
#[test]
fn samples_pass_a_chi_square_test_against_the_density() {
    let shiny = |s: Surface| [0.1, 0.2].map(|roughness| Surface { roughness, ..s });
    let of = |kind| surface(kind, 1.0);
    let wall = Surface { transmission: 0.7, ..of(MaterialKind::Principled) };
    let inside = Surface { outside: false, ..of(MaterialKind::Dielectric) };
    let smooth = [
        of(MaterialKind::Conductor),
        of(MaterialKind::Dielectric),
        inside,
        of(MaterialKind::Principled),
        wall,
    ];
    let smooth =
        smooth.into_iter().chain([Surface { metallic: 1.0, ..of(MaterialKind::Principled) }]).flat_map(shiny);
    let rough = rough_surfaces().into_iter().filter(|s| s.roughness > 0.2);
    for (case, s) in (0u32..).zip(rough.chain(smooth)) {
        for (turn, wo) in [vec3(0.5, 0.2, 0.7), vec3(-0.3, 0.9, 0.4)].map(normalize).into_iter().enumerate() {
            let direction = |i| {
                let r = random(i, 100 + 2 * case + turn as u32);
                let scattered = sample(&s, wo, [r[0], r[1], r[2]]);
                (scattered.pdf > 0.0).then_some(scattered.wi)
            };
            let all = if s.roughness > 0.2 {
                vec![Bins::SPHERE]
            } else {
                peaks(&s, wo).into_iter().map(|(axis, angle)| Bins::about(axis, angle)).collect()
            };
            for bins in all {
                assert_follows(&format!("{s:?} {wo:?} {bins:?}"), &bins, 20_000, direction, |wi| {
                    evaluate(&s, wo, wi).pdf
                });
            }
        }
    }
}

/// Pearson's test tells a density apart whose surface is a fifth rougher than the one that is sampled.
#[test]
fn a_density_of_another_roughness_fails_the_chi_square_test() {
    let wo = normalize(vec3(0.5, 0.2, 0.7));
    let kinds = [MaterialKind::Conductor, MaterialKind::Dielectric, MaterialKind::Principled];
    for s in kinds.into_iter().flat_map(|kind| [0.1, 0.2, 0.5].map(|roughness| surface(kind, roughness))) {
        let other = Surface { roughness: 1.2 * s.roughness, ..s };
        let direction = |i| {
            let r = random(i, 99);
            let scattered = sample(&s, wo, [r[0], r[1], r[2]]);
            (scattered.pdf > 0.0).then_some(scattered.wi)
        };
        let of_peak = |(axis, angle)| {
            deviate("", &Bins::about(axis, angle), 20_000, direction, |wi| evaluate(&other, wo, wi).pdf)
        };
        let worst = peaks(&s, wo).into_iter().map(of_peak).fold(0.0, f64::max);
        assert!(worst > LIMIT, "{worst} for {s:?}");
    }
}

#[test]
fn sample_weights_equal_value_over_density() {
    for s in rough_surfaces() {
        for i in 0..2_000 {
            let wo = normalize(outgoing(i));
            let r = random(i, 3);
            let scattered = sample(&s, wo, [r[0], r[1], r[2]]);
            if scattered.pdf == 0.0 || scattered.wi.z.abs() < 1e-3 {
                continue;
            }
            assert!((length(scattered.wi) - 1.0).abs() < 1e-4);
            let e = evaluate(&s, wo, scattered.wi);
            assert!((e.pdf / scattered.pdf - 1.0).abs() < 2e-2, "{} {} {s:?} {wo:?}", e.pdf, scattered.pdf);
            let ratio = e.value.x / e.pdf;
            assert!(
                (ratio - scattered.weight.x).abs() < 2e-2 * max(ratio, 0.1),
                "{ratio} {:?} {s:?}",
                scattered.weight
            );
        }
    }
}

#[test]
fn reflection_is_reciprocal() {
    for s in rough_surfaces() {
        for i in 0..2_000 {
            let wo = normalize(outgoing(i));
            let wi = normalize(outgoing(i + 7_777));
            let there = evaluate(&s, wo, wi).value.x / wi.z;
            let back = evaluate(&s, wi, wo).value.x / wo.z;
            assert!((there - back).abs() <= 1e-3 * max(there, back), "{there} {back} {s:?}");
        }
    }
}

#[test]
fn transmission_is_reciprocal_up_to_the_squared_index() {
    // Seen from beyond the surface: exchanged, mirrored to positive z, and with the other medium outside.
    let mirror = |w: Vec3| vec3(w.x, w.y, -w.z);
    let mut compared = 0;
    for s in rough_surfaces() {
        let beyond = Surface { outside: !s.outside, ..s };
        // Radiance is scaled by the squared ratio of indices where it crosses a boundary between media.
        let crosses = s.kind == MaterialKind::Dielectric as u32;
        let scale = if crosses { sqr(s.relative_ior()) } else { 1.0 };
        for i in 0..2_000 {
            let (wo, wi) = (normalize(outgoing(i)), mirror(normalize(outgoing(i + 7_777))));
            let there = evaluate(&s, wo, wi).value.x / -wi.z * scale;
            let back = evaluate(&beyond, mirror(wi), mirror(wo)).value.x / wo.z;
            // Close to the critical angle, where next to nothing passes, Fresnel's terms cancel.
            assert!((there - back).abs() <= 1e-3 * max(there, back) + 1e-5, "{there} {back} {s:?}");
            compared += u32::from(there > 0.0);
        }
    }
    assert!(compared > 10_000, "{compared} transmitted");
}

#[test]
fn white_surfaces_never_reflect_more_than_arrives() {
    for s in rough_surfaces().into_iter().map(white) {
        for cosine in [0.05f32, 0.3, 0.6, 1.0] {
            let wo = vec3(safe_sqrt(1.0 - cosine * cosine), 0.0, cosine);
            let n = 100_000;
            let mut sum = 0.0f64;
            for i in 0..n {
                let r = random(i, 4);
                let scattered = sample(&s, wo, [r[0], r[1], r[2]]);
                // Radiance that crosses a dielectric is scaled by the square of the index; undo it to count
                // energy.
                let crossing = scattered.wi.z < 0.0 && s.kind == MaterialKind::Dielectric as u32;
                let scale = if crossing { sqr(s.relative_ior()) } else { 1.0 };
                sum += f64::from(scattered.weight.x * scale);
            }
            let albedo = sum / f64::from(n);
            assert!(albedo < 1.006, "albedo {albedo} at cosine {cosine} for {s:?}");
        }
    }
}

fn direction(cosine: f32) -> Vec3 {
    vec3(safe_sqrt(1.0 - cosine * cosine), 0.0, cosine)
}

/// The share of light from `wo` that a surface scatters, by importance sampling over a regular grid.
fn directional_albedo(s: &Surface, wo: Vec3) -> f64 {
    const SIDE: u32 = 64;
    let at = |i: u32| (i as f32 + 0.5) / SIDE as f32;
    let grid =
        (0..SIDE).flat_map(|u| (0..SIDE).flat_map(move |v| (0..SIDE).map(move |w| [at(w), at(u), at(v)])));
    let sum: f64 = grid.map(|u| f64::from(sample(s, wo, u).weight.x)).sum();
    sum / f64::from(SIDE * SIDE * SIDE)
}

/// The layer's closed form is never below the lobe that it stands for, and close to it in the mean.
#[test]
fn the_albedo_of_a_layer_bounds_that_of_its_lobe() {
    const COSINES: u32 = 12;
    for ior in [1.2f32, 1.5, 2.0] {
        let f0 = sqr((ior - 1.0) / (ior + 1.0));
        for roughness in [0.05f32, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0] {
            let coat =
                Surface { base_color: Vec3::ZERO, ior, ..surface(MaterialKind::Principled, roughness) };
            let layer = Layer::new(roughness);
            let (mut mean, mut mean_of_bound) = (0.0, 0.0);
            for i in 0..COSINES {
                let cosine = (i as f32 + 0.5) / COSINES as f32;
                let (lobe, bound) =
                    (directional_albedo(&coat, direction(cosine)), f64::from(layer.albedo(f0, cosine)));
                let of = format!("ior {ior}, roughness {roughness}, cosine {cosine}");
                assert!(bound > lobe - 1e-3 && bound < lobe + 0.11, "{bound} bounds {lobe}: {of}");
                let weight = 2.0 * f64::from(cosine) / f64::from(COSINES);
                mean += weight * lobe;
                mean_of_bound += weight * bound;
            }
            assert!(mean_of_bound - mean < 0.03, "{mean_of_bound} bounds {mean}: {ior}, {roughness}");
            assert!((mean_of_bound - f64::from(layer.mean_albedo(f0))).abs() < 2e-3, "{ior}, {roughness}");
        }
    }
}

/// The albedos of glTF 2.0, appendix B, at a base colour of 0.9; that model gains light towards the horizon
/// where it is smooth, so it is compared where it does not.
#[test]
fn plastic_reflects_what_gltf_asks_for() {
    let albedo = |roughness, degrees: f32| {
        let s = Surface { base_color: Vec3::splat(0.9), ..surface(MaterialKind::Principled, roughness) };
        directional_albedo(&s, direction(degrees.to_radians().cos()))
    };
    for roughness in [0.05f32, 0.3, 0.5] {
        assert!((albedo(roughness, 0.0) - 0.904).abs() < 6e-3, "{}", albedo(roughness, 0.0));
    }
    assert!((albedo(1.0, 80.0) - 0.892).abs() < 0.015, "{}", albedo(1.0, 80.0));
}

#[test]
fn specular_dielectrics_follow_fresnel_and_snell() {
    let s = white(surface(MaterialKind::Dielectric, 0.0));
    for i in 0..10_000 {
        let wo = normalize(outgoing(i));
        let f = fresnel_dielectric(wo.z, 1.5);
        let reflected = sample(&s, wo, [f * 0.5, 0.5, 0.5]);
        assert!(length(reflected.wi - vec3(-wo.x, -wo.y, wo.z)) < 1e-6);
        let refracted = sample(&s, wo, [f + (1.0 - f) * 0.5, 0.5, 0.5]);
        let (sin_o, sin_i) = (safe_sqrt(1.0 - wo.z * wo.z), safe_sqrt(1.0 - sqr(refracted.wi.z)));
        assert!((sin_o / 1.5 - sin_i).abs() < 1e-3 && refracted.wi.z < 0.0);
        assert!((refracted.weight.x - 1.0 / 2.25).abs() < 1e-6);
    }
    // Normal incidence: ((n - 1) / (n + 1))^2; grazing: all; beyond the critical angle from inside: all.
    assert!((fresnel_dielectric(1.0, 1.5) - 0.04).abs() < 1e-6);
    assert!(fresnel_dielectric(1e-4, 1.5) > 0.99);
    assert_eq!(fresnel_dielectric(0.5, 1.0 / 1.5), 1.0);
}

#[test]
fn extreme_inputs_stay_finite() {
    for s in rough_surfaces() {
        for wo in [vec3(0.0, 0.0, 1.0), normalize(vec3(1.0, 0.0, 1e-4)), normalize(vec3(-0.3, 0.9, 1e-3))] {
            for u in [0.0, 0.5, 0.999_999_94] {
                for v in [0.0, 0.25, 0.999_999_94] {
                    for lobe in [0.0, 0.5, 0.999_999_94] {
                        let r = sample(&s, wo, [lobe, u, v]);
                        assert!(
                            r.weight.is_finite() && r.wi.is_finite() && r.pdf.is_finite(),
                            "{s:?} {wo:?} {r:?}"
                        );
                        let e = evaluate(&s, wo, r.wi);
                        assert!(e.value.is_finite() && e.pdf.is_finite(), "{s:?} {wo:?} {e:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_adjoint_is_the_bsdf_with_its_directions_exchanged() {
    let mirror = |w: Vec3| vec3(w.x, w.y, -w.z);
    let mut transmitted = 0;
    for s in rough_surfaces() {
        let beyond = Surface { outside: !s.outside, ..s };
        for i in 0..2_000 {
            let (wo, up) = (normalize(outgoing(i)), normalize(outgoing(i + 7_777)));
            let wi = if i % 2 == 0 { up } else { mirror(up) };
            let back =
                if i % 2 == 0 { evaluate(&s, wi, wo) } else { evaluate(&beyond, mirror(wi), mirror(wo)) };
            let adjoint = evaluate_bidirectional(&s, wo, wi, true);
            // Values include the cosine of the direction that is chosen.
            let (there, back_value) = (adjoint.value.x / wi.z.abs(), back.value.x / wo.z);
            assert!(
                (there - back_value).abs() <= 1e-3 * max(there, back_value) + 1e-5,
                "{there} {back_value} {s:?}"
            );
            assert_eq!(adjoint.reverse_pdf, back.pdf, "{s:?}");
            assert_eq!(adjoint.pdf, evaluate(&s, wo, wi).pdf, "{s:?}");
            assert_eq!(evaluate_bidirectional(&s, wo, wi, false).value, evaluate(&s, wo, wi).value, "{s:?}");
            transmitted += u32::from(wi.z < 0.0 && there > 0.0);
        }
    }
    assert!(transmitted > 5_000, "{transmitted}");
}

#[test]
fn shading_normals_correct_importance_by_the_ratio_of_cosines() {
    assert_eq!(shading_normal_correction([0.5, 0.5], [0.25, 0.25]), 1.0);
    assert_eq!(shading_normal_correction([0.5, 0.25], [0.5, 0.75]), 3.0);
    assert_eq!(shading_normal_correction([0.5, 0.0], [0.5, 0.75]), 0.0);
}
