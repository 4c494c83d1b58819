use super::*;
use crate::bsdf::chi_square::{Bins, assert_follows};
use crate::bsdf::tests::{kronecker, surface};
use crate::bsdf::{evaluate, sample};
use lockstep_core::math::rng::{pcg4d, uniform};
use lockstep_core::math::vec3::Vec3;

/// Dot product in double precision.
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn normalize(a: [f64; 3]) -> [f64; 3] {
    a.map(|v| v / dot(a, a).sqrt())
}

/// Smith's Lambda for GGX.
fn lambda(v: [f64; 3], alpha: f64) -> f64 {
    let slope2 = alpha * alpha * (v[0] * v[0] + v[1] * v[1]) / (v[2] * v[2]);
    0.5 * ((1.0 + slope2).sqrt() - 1.0)
}

/// Reflectance of a dielectric boundary.
fn fresnel(cosine: f64, eta: f64) -> f64 {
    let sin2 = (1.0 - cosine * cosine) / (eta * eta);
    if sin2 >= 1.0 {
        return 1.0;
    }
    let beyond = (1.0 - sin2).sqrt();
    let parallel = (eta * cosine - beyond) / (eta * cosine + beyond);
    let perpendicular = (cosine - eta * beyond) / (cosine + eta * beyond);
    0.5 * (parallel * parallel + perpendicular * perpendicular)
}

/// The share of light that is lost by scattering once, in double precision, by midpoints over the draws of a visible
/// normal and half the azimuth. A metal reflects everything; `eta` is the index beyond over that before.
pub(in crate::bsdf) fn loss(roughness: f64, cosine: f64, eta: Option<f64>, steps: u32) -> f64 {
    let alpha = (roughness * roughness).max(9e-4);
    let wo = [(1.0 - cosine * cosine).sqrt(), 0.0, cosine];
    let stretched = normalize([alpha * wo[0], 0.0, wo[2]]);
    let lambda_o = lambda(wo, alpha);
    let kept = |w: [f64; 3]| (1.0 + lambda_o) / (1.0 + lambda_o + lambda(w, alpha));
    let turns = steps / 2;
    let mut sum = 0.0;
    for i in 0..steps {
        let z = (1.0 - (f64::from(i) + 0.5) / f64::from(steps)) * (1.0 + stretched[2]) - stretched[2];
        let ring = (1.0 - z * z).sqrt();
        for j in 0..turns {
            let angle = (f64::from(j) + 0.5) / f64::from(turns) * std::f64::consts::PI;
            let (x, y) = (ring * angle.cos() + stretched[0], ring * angle.sin());
            let h = normalize([alpha * x, alpha * y, (z + stretched[2]).max(0.0)]);
            let c = dot(wo, h);
            let f = eta.map_or(1.0, |eta| fresnel(c, eta));
            let reflected = [0, 1, 2].map(|k| 2.0 * c * h[k] - wo[k]);
            if reflected[2] > 0.0 {
                sum += f * kept(reflected);
            }
            if let Some(eta) = eta.filter(|_| f < 1.0) {
                let beyond = (1.0 - (1.0 - c * c) / (eta * eta)).sqrt();
                let refracted = [0, 1, 2].map(|k| h[k] * (c / eta - beyond) - wo[k] / eta);
                if refracted[2] < 0.0 {
                    sum += (1.0 - f) * kept(refracted);
                }
            }
        }
    }
    1.0 - sum / f64::from(steps * turns)
}

/// Roughness of a row.
fn roughness_of(row: u32) -> f64 {
    let smoothest = f64::from(SMOOTHEST_ROUGH);
    smoothest + (1.0 - smoothest) * f64::from(row) / f64::from(MISSING_ROUGHNESSES - 1)
}

/// Place among the columns, from 0 to 1, of a cosine.
fn place_of(roughness: f64, cosine: f64) -> f64 {
    let squared = (2.5 * roughness * roughness).powi(2);
    ((1.0 + squared) * cosine * cosine / (cosine * cosine + squared)).sqrt().sqrt()
}

/// Cosine of a place, not quite at the horizon.
fn cosine_of(roughness: f64, place: f64) -> f64 {
    let squared = (2.5 * roughness * roughness).powi(2);
    let x = place.powi(4);
    (x * squared / (1.0 + squared - x)).sqrt().clamp(1e-5, 1.0)
}

/// Index beyond over index before of a plane in a row; none of a metal.
fn eta_of(plane: u32, row: u32) -> Option<f64> {
    if plane == MISSING_METAL {
        return None;
    }
    let place = f64::from(plane % MISSING_INDICES) / f64::from(MISSING_INDICES - 1);
    let width = roughness_of(row).powi(2);
    let x = place / (1.0 + width / 0.6f64.sqrt());
    let squared = (x * width / (1.0 - x)).powi(2);
    let ior = ((1.0 + squared) / (1.0 - squared)).max(1.000_000_1);
    Some(if plane < MISSING_INDICES { ior } else { 1.0 / ior })
}

fn entry(plane: u32, row: u32, column: u32) -> u32 {
    let roughness = roughness_of(row);
    let cosine = cosine_of(roughness, f64::from(column) / f64::from(MISSING_COSINES - 1));
    let share = loss(roughness, cosine, eta_of(plane, row), 128);
    (share.max(0.0) / f64::from(MISSING_SCALE)).round().max(1.0) as u32
}

/// The cosine-weighted mean of what is interpolated between the entries of a row, over its roughness to the third.
fn mean_of(row: u32, entries: &[u32]) -> u32 {
    const STEPS: u32 = 4096;
    let roughness = roughness_of(row);
    let sum: f64 = (0..STEPS)
        .map(|i| {
            let root = (f64::from(i) + 0.5) / f64::from(STEPS);
            let cosine = root.powi(3);
            let place = place_of(roughness, cosine) * f64::from(MISSING_COSINES - 1);
            let first = (place as usize).min(MISSING_COSINES as usize - 2);
            let f = place - first as f64;
            6.0 * root.powi(5) * (f64::from(entries[first]) * (1.0 - f) + f64::from(entries[first + 1]) * f)
        })
        .sum();
    (sum / f64::from(STEPS) / roughness.powi(3)).round().max(1.0) as u32
}

/// All entries are made and written where `LOCKSTEP_MAKE_TABLES` is set; without, some of each row and all means.
#[test]
fn the_table_of_missing_albedos_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/scene/missing_albedo.txt");
    let is_made = std::env::var_os("LOCKSTEP_MAKE_TABLES").is_some();
    let (columns, width) = (MISSING_COSINES as usize, MISSING_ROW as usize);
    let mut text = String::new();
    for index in 0..(MISSING_METAL + 1) * MISSING_ROUGHNESSES {
        let (plane, row) = (index / MISSING_ROUGHNESSES, index % MISSING_ROUGHNESSES);
        if is_made {
            let mut entries: Vec<u32> =
                (0..MISSING_COSINES).map(|column| entry(plane, row, column)).collect();
            entries.push(mean_of(row, &entries));
            let words: Vec<String> = entries.iter().map(u32::to_string).collect();
            text.push_str(&(words.join(", ") + ",\n"));
            continue;
        }
        let own = &MISSING_ALBEDO[index as usize * width..][..width];
        let column = (7 * index) % MISSING_COSINES;
        // Sines and roots differ in their last bits between platforms
        let off = [
            entry(plane, row, column).abs_diff(own[column as usize]),
            mean_of(row, &own[..columns]).abs_diff(own[columns]),
        ];
        let message = "LOCKSTEP_MAKE_TABLES=1 cargo test -p lockstep-transport albedos";
        assert!(off[0] <= 2 && off[1] <= 1, "plane {plane}, row {row}, column {column}: {off:?}: {message}");
    }
    if is_made {
        std::fs::write(path, format!("[\n{text}]\n")).unwrap();
    }
}

/// White surfaces of each kind whose lobes all lose the same share.
fn white_surfaces() -> Vec<Surface> {
    let mut all = Vec::new();
    for roughness in [0.03, 0.05, 0.07, 0.15, 0.24, 0.3, 0.5, 0.75, 1.0] {
        let base = |kind| Surface { base_color: Vec3::ONE, multiscatter: true, ..surface(kind, roughness) };
        all.push(base(MaterialKind::Conductor));
        for (metallic, transmission) in [(1.0, 0.0), (0.0, 1.0), (0.5, 1.0)] {
            all.push(Surface { metallic, transmission, ..base(MaterialKind::Principled) });
        }
        for ior in [1.00001, 1.0001, 1.0003, 1.001, 1.003, 1.01, 1.02, 1.03, 1.05, 1.1, 1.33, 1.5, 2.0, 2.5] {
            for outside in [true, false] {
                all.push(Surface { ior, outside, ..base(MaterialKind::Dielectric) });
            }
        }
    }
    all
}

fn direction(cosine: f32) -> Vec3 {
    vec3(safe_sqrt(1.0 - cosine * cosine), 0.0, cosine)
}

/// The factor that makes energy of radiance which has crossed the surface.
fn compression(s: &Surface) -> f32 {
    if s.kind == MaterialKind::Dielectric as u32 { sqr(s.relative_ior()) } else { 1.0 }
}

/// Twice the integral of a function of the cosine times it, by midpoints of the cosine's cube root: smooth surfaces lose
/// light close to the horizon alone.
fn cosine_mean(f: impl Fn(f32) -> f64) -> f64 {
    const STEPS: u32 = 128;
    let at = |i: u32| (i as f32 + 0.5) / STEPS as f32;
    (0..STEPS).map(|i| 6.0 * f64::from(at(i).powi(5)) * f(at(i).powi(3))).sum::<f64>() / f64::from(STEPS)
}

/// The share of light from a direction that the lobe gives back.
fn recovered(s: &Surface, wo: Vec3) -> f64 {
    let lobe = Recovered::new(s, wo);
    let none = Evaluation { value: Vec3::ZERO, pdf: 0.0 };
    // The lobe's value has the cosine in it already
    let value = |wi: Vec3| f64::from(lobe.add(wi, 1.0, none).value.x) / f64::from(wi.z.abs() * INV_PI);
    cosine_mean(|c| {
        let (up, down) = (direction(c), vec3(-direction(c).x, 0.0, -c));
        value(up) + value(down) * f64::from(compression(s))
    })
}

#[test]
fn white_surfaces_give_back_all_that_arrives() {
    for s in white_surfaces() {
        let eta = (s.kind == MaterialKind::Dielectric as u32).then(|| f64::from(s.relative_ior()));
        // From inside, the loss has an edge at the critical angle
        let critical = safe_sqrt(1.0 - sqr(eta.unwrap_or(1.0) as f32));
        for cosine in [0.01f32, 0.02, 0.05, 0.1, 0.3, 0.6, 0.9, 1.0, critical.max(0.01)] {
            let wo = direction(cosine);
            let once = 1.0 - loss(f64::from(s.roughness), f64::from(cosine), eta, 64);
            let all = once + recovered(&s, wo);
            assert!(
                (all - 1.0).abs() < 0.01,
                "albedo {all}, {once} of it once, at cosine {cosine} for {s:?}"
            );
        }
    }
}

#[test]
fn samples_pass_a_chi_square_test_against_the_density() {
    let wo = direction(0.6);
    for s in white_surfaces().into_iter().filter(|s| [0.5, 1.0].contains(&s.roughness)) {
        let direction = |i| {
            let u = pcg4d([i, 1, s.kind, s.ior.to_bits()]).map(uniform);
            let scattered = sample(&s, wo, [u[0], u[1], u[2]]);
            (scattered.pdf > 0.0).then_some(scattered.wi)
        };
        // Close to matched indices, transmission is narrower than a bin's quadrature
        if s.kind != MaterialKind::Dielectric as u32 || s.ior > 1.3 {
            assert_follows(&format!("{s:?}"), &Bins::SPHERE, 40_000, direction, |wi| {
                evaluate(&s, wo, wi).pdf
            });
        }
    }
}

/// The share of light from a direction that is reflected, and that is transmitted, by the surface's own sampling.
fn albedo(s: &Surface, wo: Vec3, points: u32) -> [f64; 2] {
    let mut sums = [0.0f64; 2];
    for i in 0..points {
        let scattered = sample(s, wo, kronecker(i));
        let below = scattered.wi.z < 0.0;
        let energy = if below { scattered.weight.x * compression(s) } else { scattered.weight.x };
        sums[usize::from(below)] += f64::from(energy);
    }
    sums.map(|sum| sum / f64::from(points))
}

/// A diffuse base under a specular lobe is as white as the closed form of what the lobe leaves.
#[test]
fn metals_in_part_are_nearly_white() {
    for roughness in [0.3, 0.6, 1.0] {
        for (metallic, transmission) in [(0.4, 0.0), (0.3, 0.6)] {
            let of_kind = surface(MaterialKind::Principled, roughness);
            let s = Surface { base_color: Vec3::ONE, metallic, transmission, multiscatter: true, ..of_kind };
            for cosine in [0.1f32, 0.5, 1.0] {
                let found: f64 = albedo(&s, direction(cosine), 1 << 13).iter().sum();
                assert!(found > 0.99 && found < 1.01, "albedo {found} at cosine {cosine} for {s:?}");
            }
        }
    }
}

/// The light that rough glass transmits in the mean is that of a random walk between microfacets (Heitz, Hanika, d'Eon
/// and Dachsbacher 2016, in 200,000 walks): index, roughness, from outside, from inside.
#[test]
fn glass_transmits_what_a_random_walk_does() {
    let walks = [
        (1.1, 0.5, 0.990, 0.818),
        (1.1, 1.0, 0.997, 0.823),
        (1.33, 0.5, 0.960, 0.542),
        (1.33, 1.0, 0.986, 0.558),
        (1.5, 0.5, 0.938, 0.416),
        (1.5, 0.7, 0.956, 0.425),
        (1.5, 1.0, 0.975, 0.434),
        (2.0, 0.7, 0.900, 0.225),
        (2.0, 1.0, 0.940, 0.235),
        (2.5, 0.5, 0.812, 0.130),
        (2.5, 1.0, 0.902, 0.144),
    ];
    for (ior, roughness, from_outside, from_inside) in walks {
        for (outside, expected) in [(true, from_outside), (false, from_inside)] {
            let s = Surface {
                base_color: Vec3::ONE,
                ior,
                outside,
                multiscatter: true,
                ..surface(MaterialKind::Dielectric, roughness)
            };
            let found = cosine_mean(|cosine| albedo(&s, direction(cosine), 256)[1]);
            assert!((found - expected).abs() < 0.02, "{found}, by walks {expected}: {s:?}");
        }
    }
}

#[test]
fn coloured_metals_are_darker_and_more_saturated_than_white_ones() {
    let gold = Surface {
        base_color: vec3(1.0, 0.7, 0.3),
        multiscatter: true,
        ..surface(MaterialKind::Conductor, 1.0)
    };
    let once = Surface { multiscatter: false, ..gold };
    let mean = |s: &Surface| {
        let mut sums = [0.0f64; 3];
        for i in 0..1 << 15 {
            let weight = sample(s, direction(0.7), kronecker(i)).weight.to_array();
            (0..3).for_each(|c| sums[c] += f64::from(weight[c]));
        }
        sums.map(|sum| sum / f64::from(1 << 15))
    };
    let (all, single) = (mean(&gold), mean(&once));
    let gained: Vec<f64> = all.iter().zip(&single).map(|(a, b)| a - b).collect();
    assert!((all[0] - 1.0).abs() < 0.01, "{all:?}");
    assert!(gained[0] > gained[1] && gained[1] > gained[2] && gained[2] > 0.0, "{gained:?}");
    // More than one reflection: the colour of what is gained is deeper
    assert!(gained[2] / gained[0] < 0.7 * single[2] / single[0], "{gained:?} {single:?}");
}

#[test]
fn smooth_and_diffuse_surfaces_are_as_without() {
    let smooth = [surface(MaterialKind::Conductor, 0.02), surface(MaterialKind::Dielectric, 0.02)];
    for s in smooth.into_iter().chain([surface(MaterialKind::Diffuse, 1.0)]) {
        let with = Surface { multiscatter: true, ..s };
        for i in 0..200 {
            let (u, wo) = (kronecker(i), direction(kronecker(i + 1000)[0].max(0.01)));
            let scattered = sample(&s, wo, u);
            assert_eq!(sample(&with, wo, u), scattered);
            assert_eq!(evaluate(&with, wo, scattered.wi), evaluate(&s, wo, scattered.wi));
        }
    }
}

#[test]
fn the_table_is_close_to_the_loss_between_its_entries() {
    for i in 0..400 {
        let [u, v, w] = kronecker(i).map(f64::from);
        let (roughness, cosine, ior) = (0.03 + 0.97 * u, 0.01 + 0.99 * v * v, 1.0 + 1.5 * w.powi(4));
        for (kind, outside) in [
            (MaterialKind::Conductor, true),
            (MaterialKind::Dielectric, true),
            (MaterialKind::Dielectric, false),
        ] {
            let s = Surface { ior: ior as f32, outside, ..surface(kind, roughness as f32) };
            let found = Planes::new(&s, outside).missing(roughness as f32, cosine as f32);
            let eta = (kind == MaterialKind::Dielectric).then_some(if outside { ior } else { 1.0 / ior });
            let expected = loss(roughness, cosine, eta, 48);
            assert!((f64::from(found) - expected).abs() < 0.01, "{found}, {expected}: {s:?} at {cosine}");
        }
    }
}
