use super::*;
use crate::bsdf::multiscatter::tests::loss;
use crate::bsdf::sheen::tests::albedo as albedo_of_sheen;
use crate::bsdf::tests::kronecker;
use lockstep_core::math::vec3::vec3;

/// Smith's Lambda for anisotropic GGX.
fn lambda(v: [f64; 3], alpha: [f64; 2]) -> f64 {
    let (x, y) = (alpha[0] * v[0], alpha[1] * v[1]);
    0.5 * ((1.0 + (x * x + y * y) / (v[2] * v[2])).sqrt() - 1.0)
}

fn normalize(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.map(|x| x / length)
}

/// The integral of a function of the cosine to a microfacet over what white microfacets reflect once, in double precision,
/// by midpoints over the draws of a visible normal; the azimuth is given by its cosine to the direction of anisotropy.
fn reflected(alpha: [f64; 2], azimuth: f64, cosine: f64, steps: u32, f: impl Fn(f64) -> f64) -> f64 {
    let ring = (1.0 - cosine * cosine).sqrt();
    let wo = [ring * azimuth, ring * (1.0 - azimuth * azimuth).sqrt(), cosine];
    let stretched = normalize([alpha[0] * wo[0], alpha[1] * wo[1], wo[2]]);
    let lambda_o = lambda(wo, alpha);
    let mut sum = 0.0;
    for i in 0..steps {
        let z = (1.0 - (f64::from(i) + 0.5) / f64::from(steps)) * (1.0 + stretched[2]) - stretched[2];
        let around = (1.0 - z * z).sqrt();
        for j in 0..2 * steps {
            let angle = (f64::from(j) + 0.5) / f64::from(steps) * std::f64::consts::PI;
            let (x, y) = (around * angle.cos() + stretched[0], around * angle.sin() + stretched[1]);
            let h = normalize([alpha[0] * x, alpha[1] * y, (z + stretched[2]).max(0.0)]);
            let c = wo[0] * h[0] + wo[1] * h[1] + wo[2] * h[2];
            let wi = [0, 1, 2].map(|k| 2.0 * c * h[k] - wo[k]);
            if wi[2] > 0.0 {
                sum += f(c) * (1.0 + lambda_o) / (1.0 + lambda_o + lambda(wi, alpha));
            }
        }
    }
    sum / f64::from(2 * steps * steps)
}

/// GGX alpha along and across the direction of anisotropy.
fn alphas(roughness: f64, strength: f64) -> [f64; 2] {
    let across = (roughness * roughness).max(9e-4);
    [across + (1.0 - across) * strength * strength, across]
}

fn rising(roughness: f64, cosine: f64, steps: u32) -> f64 {
    reflected(alphas(roughness, 0.0), 1.0, cosine, steps, |c| (1.0 - c).max(0.0).powi(5))
}

fn to_entry(value: f64) -> u32 {
    (value.max(0.0) / f64::from(LAYER_SCALE)).round() as u32
}

/// Cosine of a column that is even in its square root, not quite at the horizon.
fn cosine_of(column: u32, count: u32) -> f64 {
    (f64::from(column) / f64::from(count - 1)).powi(2).max(1e-4)
}

fn rising_entry(index: u32) -> u32 {
    let place = f64::from(index / RISING_COSINES) / f64::from(RISING_ROUGHNESSES - 1);
    let smoothest = f64::from(SMOOTHEST_ROUGH);
    let roughness = smoothest + (1.0 - smoothest) * place * place;
    to_entry(rising(roughness, cosine_of(index % RISING_COSINES, RISING_COSINES), 96))
}

/// The cosine-weighted mean of what is interpolated between the entries of a row.
fn mean_of(entries: &[u32]) -> u32 {
    const STEPS: u32 = 4096;
    let at = |i: u32| {
        let cosine = (f64::from(i) + 0.5) / f64::from(STEPS);
        let place = cosine.sqrt() * f64::from(RISING_COSINES - 1);
        let first = (place as usize).min(RISING_COSINES as usize - 2);
        let f = place - first as f64;
        2.0 * cosine * (f64::from(entries[first]) * (1.0 - f) + f64::from(entries[first + 1]) * f)
    };
    ((0..STEPS).map(at).sum::<f64>() / f64::from(STEPS)).round() as u32
}

fn charlie_entry(index: u32) -> u32 {
    let smoothest = f64::from(SMOOTHEST_SHEEN);
    let place = f64::from(index / CHARLIE_COSINES) / f64::from(CHARLIE_ROUGHNESSES - 1);
    let roughness = smoothest + (1.0 - smoothest) * place * place;
    to_entry(albedo_of_sheen(roughness, cosine_of(index % CHARLIE_COSINES, CHARLIE_COSINES), 400))
}

fn stretched_entry(index: u32) -> u32 {
    let (block, place) = (index / STRETCHED_BLOCK, index % STRETCHED_BLOCK);
    let (row, column) = (block / STRETCHED_STRENGTHS, block % STRETCHED_STRENGTHS);
    let smoothest = f64::from(SMOOTHEST_ROUGH);
    let roughness = smoothest + (1.0 - smoothest) * f64::from(row) / f64::from(STRETCHED_ROUGHNESSES - 1);
    let alpha = alphas(roughness, f64::from(column) / f64::from(STRETCHED_STRENGTHS - 1));
    let azimuth = f64::from(place / STRETCHED_COSINES) / f64::from(STRETCHED_AZIMUTHS - 1);
    let width = 0.7 * (0.5 * (alpha[0] * alpha[0] + alpha[1] * alpha[1])).sqrt();
    let x = (f64::from(place % STRETCHED_COSINES) / f64::from(STRETCHED_COSINES - 1)).powf(4.0 / 3.0);
    let cosine = (x * width / (1.0 + width - x)).clamp(1e-5, 1.0);
    to_entry(1.0 - reflected(alpha, azimuth, cosine, 64, |_| 1.0))
}

/// All entries are made and written where `LOCKSTEP_MAKE_TABLES` is set; without, one of `stride`. A row has `width`
/// columns, and its mean after them where the table has one.
fn assert_current(name: &str, table: &[u32], [width, row, stride]: [u32; 3], entry: impl Fn(u32) -> u32) {
    let rows = table.len() as u32 / row;
    let is_made = std::env::var_os("LOCKSTEP_MAKE_TABLES").is_some();
    let mut text = String::new();
    for y in 0..rows {
        let own = &table[(y * row) as usize..][..row as usize];
        if is_made {
            let mut made: Vec<u32> = (0..width).map(|x| entry(y * width + x)).collect();
            if row > width {
                made.push(mean_of(&made));
            }
            let words: Vec<String> = made.iter().map(u32::to_string).collect();
            text.push_str(&(words.join(", ") + ",\n"));
            continue;
        }
        // Sines and roots differ in their last bits between platforms
        let message = "LOCKSTEP_MAKE_TABLES=1 cargo test -p lockstep-transport albedos";
        for x in (0..width).filter(|x| (y * width + x) % stride == 0) {
            let made = entry(y * width + x);
            let off = made.abs_diff(own[x as usize]);
            assert!(off <= 2, "{name}, row {y}, column {x}: {made}: {message}");
        }
        if row > width {
            assert!(mean_of(own).abs_diff(own[width as usize]) <= 1, "{name}, row {y}: mean: {message}");
        }
    }
    if is_made {
        let path = format!("{}/../src/scene/{name}_albedo.txt", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, format!("[\n{text}]\n")).unwrap();
    }
}

#[test]
fn the_tables_of_layers_albedos_are_current() {
    assert_current("rising", &RISING_ALBEDO, [RISING_COSINES, RISING_ROW, 7], rising_entry);
    assert_current("charlie", &CHARLIE_ALBEDO, [CHARLIE_COSINES, CHARLIE_COSINES, 7], charlie_entry);
    assert_current(
        "stretched",
        &STRETCHED_ALBEDO,
        [STRETCHED_COSINES, STRETCHED_COSINES, 37],
        stretched_entry,
    );
}

#[test]
fn tables_are_close_to_the_albedos_between_their_entries() {
    for i in 0..200 {
        let [u, v, w] = kronecker(i).map(f64::from);
        let (roughness, cosine) = (0.03 + 0.97 * u, 0.02 + 0.98 * v * v);
        let (r, c) = (roughness as f32, cosine as f32);
        let off = f64::from(rising_albedo(r, c)) - rising(roughness, cosine, 96);
        assert!(off.abs() < 6e-3, "rising, off by {off} at {roughness}, {cosine}");
        let sheen = roughness.max(f64::from(SMOOTHEST_SHEEN));
        let exact = albedo_of_sheen(sheen, cosine, 400);
        let off = f64::from(charlie_albedo(sheen as f32, c)) - exact;
        assert!(off.abs() < 4e-3 * exact.max(1.0), "sheen, off by {off} at {sheen}, {cosine}");
        let alpha = alphas(roughness, w);
        let exact = 1.0 - reflected(alpha, 0.6, cosine, 64, |_| 1.0);
        let direction = {
            let ring = (1.0 - c * c).sqrt();
            vec3(0.6 * ring, 0.8 * ring, c)
        };
        let off = f64::from(stretched_missing(r, w as f32, alpha.map(|a| a as f32), direction)) - exact;
        assert!(off.abs() < 9e-3, "anisotropic, off by {off} at {roughness}, {w}, {cosine}");
        // Isotropic microfacets have a table of their own
        assert!(
            (loss(roughness, cosine, None, 64) - 1.0
                + reflected(alphas(roughness, 0.0), 1.0, cosine, 64, |_| 1.0))
            .abs()
                < 2e-3
        );
    }
}

#[test]
fn the_mean_over_visible_normals_is_that_of_a_fine_quadrature() {
    for i in 0..200 {
        let [u, v, w] = kronecker(i).map(f64::from);
        let (roughness, cosine) = (0.03 + 0.97 * u, 0.05 + 0.95 * v);
        let is_isotropic = i % 2 == 0;
        let alpha = alphas(roughness, if is_isotropic { 0.0 } else { w });
        let azimuth = if is_isotropic { 1.0 } else { 0.6 };
        let ring = (1.0 - cosine * cosine).sqrt();
        let wo =
            vec3((azimuth * ring) as f32, ((1.0 - azimuth * azimuth).sqrt() * ring) as f32, cosine as f32);
        let found = mean_fresnel(wo, alpha.map(|a| a as f32), |c| Vec3::splat((1.0 - c).max(0.0).powi(5)));
        let fifth = reflected(alpha, azimuth, cosine, 96, |c| (1.0 - c).max(0.0).powi(5));
        let expected = fifth / reflected(alpha, azimuth, cosine, 96, |_| 1.0);
        let off = f64::from(found.x) - expected;
        assert!(off.abs() < 0.015, "off by {off} at {roughness}, {alpha:?}, {cosine}");
    }
}
