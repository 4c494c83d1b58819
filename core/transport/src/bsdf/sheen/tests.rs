use super::*;
use lockstep_core::math::vec3::vec3;

/// Lambda in double precision (Estevez and Kulla 2017, equation 3).
fn lambda(cosine: f64, alpha: f64) -> f64 {
    let smooth = (1.0 - alpha).powi(2);
    let mix = |rough: f64, of_smooth: f64| (1.0 - smooth) * rough + smooth * of_smooth;
    let curve = |x: f64| {
        mix(21.5473, 25.3245) / (1.0 + mix(3.82987, 3.32435) * x.powf(mix(0.19823, 0.16801)))
            + mix(-1.9776, -1.27393) * x
            + mix(-4.32054, -4.85967)
    };
    if cosine < 0.5 { curve(cosine).exp() } else { (2.0 * curve(0.5) - curve(1.0 - cosine)).exp() }
}

/// The lobe's directional albedo in double precision, by midpoints over the square root of the cosine and half the
/// azimuth.
pub(in crate::bsdf) fn albedo(roughness: f64, cosine: f64, steps: u32) -> f64 {
    let alpha = roughness * roughness;
    let inverse = 1.0 / alpha;
    let out = (1.0 - cosine * cosine).max(0.0).sqrt();
    let lambda_out = lambda(cosine, alpha);
    let turns = steps / 4;
    let mut sum = 0.0;
    for i in 0..steps {
        let root = (f64::from(i) + 0.5) / f64::from(steps);
        let z = root * root;
        let (ring, masking) = ((1.0 - z * z).sqrt(), 1.0 + lambda_out + lambda(z, alpha));
        let mut around = 0.0;
        for j in 0..turns {
            let angle = (f64::from(j) + 0.5) / f64::from(turns) * std::f64::consts::PI;
            let across = out * out + ring * ring + 2.0 * out * ring * angle.cos();
            let length2 = across + (cosine + z).powi(2);
            around += (across / length2).max(0.0).powf(0.5 * inverse);
        }
        sum += around / masking * root;
    }
    // D's constant; V's 4 cos cos and the integrand's cosine; dz = 2 root droot; both halves of the azimuth
    (2.0 + inverse) * sum / (4.0 * cosine) * 2.0 / f64::from(steps) / f64::from(turns)
}

/// The table's entries: nowhere between them is the interpolated albedo below the lobe's at the midpoints.
fn table() -> Vec<u32> {
    let (columns, rows) = (SHEEN_COSINES as usize, SHEEN_ROUGHNESSES as usize);
    let (wide, high) = (2 * columns - 1, 2 * rows - 1);
    let fine: Vec<f64> = (0..wide * high)
        .map(|i| {
            let (x, y) = ((i % wide) as f64 / (wide - 1) as f64, (i / wide) as f64 / (high - 1) as f64);
            let smoothest = f64::from(SMOOTHEST_SHEEN);
            // The horizon itself has no albedo; its column is that of a cosine close to it
            albedo(smoothest + (1.0 - smoothest) * y, (x * x).max(1e-4), 192)
        })
        .collect();
    let at = |x: usize, y: usize| fine[y * wide + x];
    let mut entries = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let (x, y) = (2 * column, 2 * row);
            // The most that interpolation falls short of at a midpoint beside the entry
            let mut short = 0.0f64;
            for (dx, dy) in [(-1i32, 0i32), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
                let (mx, my) = (x as i32 + dx, y as i32 + dy);
                if mx < 0 || my < 0 || mx as usize >= wide || my as usize >= high {
                    continue;
                }
                let ends = |m: i32, d: i32| [(m - d.abs()) as usize, (m + d.abs()) as usize];
                let mean: f64 =
                    ends(my, dy).iter().flat_map(|&y| ends(mx, dx).map(|x| at(x, y))).sum::<f64>() / 4.0;
                short = short.max(at(mx as usize, my as usize) - mean);
            }
            entries.push(((at(x, y) + short) / f64::from(SHEEN_ALBEDO_SCALE)).ceil() as u32 + 2);
        }
    }
    entries
}

/// Makes the table again and compares; writes it where `LOCKSTEP_MAKE_TABLES` is set.
#[test]
fn the_table_of_albedos_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/scene/sheen_albedo.txt");
    let made = table();
    if std::env::var_os("LOCKSTEP_MAKE_TABLES").is_some() {
        let rows = made.chunks(SHEEN_COSINES as usize);
        let text: Vec<String> =
            rows.map(|row| row.iter().map(u32::to_string).collect::<Vec<_>>().join(", ") + ",\n").collect();
        std::fs::write(path, format!("[\n{}]\n", text.concat())).unwrap();
        return;
    }
    // Powers differ in their last bits between platforms.
    let off = made.iter().zip(&SHEEN_ALBEDO).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(
        off <= Some(1),
        "off by {off:?}: LOCKSTEP_MAKE_TABLES=1 cargo test -p lockstep-transport albedos"
    );
}

#[test]
fn the_table_bounds_the_albedo_closely() {
    for i in 0..24 {
        for j in 0..24 {
            let roughness = 0.07 + 0.93 * (f64::from(i) + 0.3) / 24.0;
            let cosine = ((f64::from(j) + 0.6) / 24.0).powi(2);
            let (exact, found) =
                (albedo(roughness, cosine, 400), f64::from(sheen_albedo(roughness as f32, cosine as f32)));
            // Smooth sheen peaks at the horizon, between the first columns.
            let slack = if cosine < 0.01 { 0.15 } else { 0.03 * (1.0 + exact) };
            assert!(found > exact - 1e-4 && found < exact + slack, "{found}, {exact}: {roughness} {cosine}");
        }
    }
}

#[test]
fn the_lobe_is_that_of_double_precision() {
    for i in 0..40 {
        let roughness = 0.07 + 0.93 * f64::from(i) / 39.0;
        let alpha = roughness * roughness;
        for (sin, cosine) in [(0.05, 0.99), (0.5, 0.3), (0.9, 0.7), (0.999, 0.02)] {
            let d = (2.0 + 1.0 / alpha) * f64::powf(sin, 1.0 / alpha) / std::f64::consts::TAU;
            let found = f64::from(charlie_d(sin as f32, sheen_alpha(roughness as f32)));
            assert!((found - d).abs() <= 2e-4 * d + 1e-30, "{found} {d}");
            let expected = lambda(cosine, alpha);
            let found = f64::from(charlie_lambda(cosine as f32, sheen_alpha(roughness as f32)));
            assert!((found / expected - 1.0).abs() < 2e-5, "{found} {expected}");
        }
    }
    let (wo, wi) = (vec3(0.6, 0.0, 0.8), vec3(0.0, -0.8, 0.6));
    let [there, back] = [sheen_value(0.4, wo, wi) / wi.z, sheen_value(0.4, wi, wo) / wo.z];
    assert!((there / back - 1.0).abs() < 1e-5, "{there} {back}");
}
