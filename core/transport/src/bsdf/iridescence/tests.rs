use super::*;

/// The reflectance of a film at one wavelength: Airy's formula with Fresnel's coefficients of unpolarised light, real
/// indices of refraction and normal incidence.
fn airy(film: f64, base: f64, thickness: f64, wavelength: f64) -> f64 {
    let [r1, r2] = [(1.0 - film) / (1.0 + film), (film - base) / (film + base)];
    let phase = 4.0 * std::f64::consts::PI * film * thickness / wavelength;
    (r1 * r1 + r2 * r2 + 2.0 * r1 * r2 * phase.cos())
        / (1.0 + r1 * r1 * r2 * r2 + 2.0 * r1 * r2 * phase.cos())
}

/// Y of a film at normal incidence: Airy's reflectance under the CIE's y, as a sum over wavelengths with a Gaussian fit
/// to y (Wyman, Sloan and Shirley 2013).
fn luminous(film: f64, base: f64, thickness: f64) -> f64 {
    let fit = |l: f64| {
        let part = |a: f64, mean: f64, low: f64, high: f64| {
            let t = (l - mean) * if l < mean { low } else { high };
            a * (-0.5 * t * t).exp()
        };
        part(0.821, 568.8, 0.0213, 0.0247) + part(0.286, 530.9, 0.0613, 0.0322)
    };
    let (mut sum, mut all) = (0.0, 0.0);
    for i in 0..400 {
        let wavelength = 380.0 + f64::from(i);
        sum += fit(wavelength) * airy(film, base, thickness, wavelength);
        all += fit(wavelength);
    }
    sum / all
}

#[test]
fn luminance_follows_airys_formula() {
    for (ior, f0) in [(1.3f32, 0.2f32), (1.5, 0.3), (2.0, 0.04)] {
        let root = f64::from(f0).sqrt();
        let base = (1.0 + root) / (1.0 - root);
        for step in 1..40 {
            let thickness = 20.0 * step as f32;
            let found = thin_film(ThinFilm { ior, thickness }, Vec3::splat(f0), 1.0);
            let found = f64::from(0.2126 * found.x + 0.7152 * found.y + 0.0722 * found.z);
            let expected = luminous(f64::from(ior), base, f64::from(thickness));
            // Colours outside sRGB's gamut are cut, and the fits differ
            assert!((found - expected).abs() < 0.03, "{found}, by Airy {expected}: {ior} {f0} {thickness}");
        }
    }
}

#[test]
fn a_film_of_no_thickness_leaves_the_surface_as_it_is() {
    // Closer to the horizon Schlick's term gives even the boundary between equal indices a reflection.
    for i in 14..=20 {
        let cosine = i as f32 / 20.0;
        let f0 = vec3(0.04, 0.3, 0.9);
        let [found, expected] =
            [thin_film(ThinFilm { ior: 1.8, thickness: 0.0 }, f0, cosine), schlick(f0, cosine)];
        for (a, b) in found.to_array().into_iter().zip(expected.to_array()) {
            assert!((a - b).abs() < 0.06, "{found:?} {expected:?}");
        }
    }
}

#[test]
fn the_envelope_bounds_the_film_at_nearly_every_direction() {
    for thickness in [100.0, 300.0, 550.0, 900.0] {
        let film = ThinFilm { ior: 1.4, thickness };
        let f0 = vec3(0.04, 0.2, 0.5);
        let envelope = film_envelope(film, f0);
        for i in 10..=100 {
            let cosine = i as f32 / 100.0;
            let (free, bounded) = (thin_film(film, f0, cosine), film_fresnel(film, f0, envelope, cosine));
            for ((a, b), most) in free.to_array().into_iter().zip(bounded.to_array()).zip(envelope.to_array())
            {
                assert!(b <= a && a - b < 0.08, "cut from {a} to {b} at {cosine}, {thickness} nm");
                assert!((0.0..=1.0).contains(&most), "{most}");
            }
        }
    }
}

#[test]
fn extreme_films_stay_finite() {
    for ior in [1.0f32, 1.5, 4.0] {
        for thickness in [0.0f32, 1e-3, 400.0, 10_000.0] {
            for f0 in [0.0f32, 0.04, 1.0] {
                for cosine in [0.0f32, 1e-4, 0.5, 1.0] {
                    let film = ThinFilm { ior, thickness };
                    let found = thin_film(film, Vec3::splat(f0), cosine);
                    assert!(found.is_finite() && film_envelope(film, Vec3::splat(f0)).is_finite());
                }
            }
        }
    }
}
