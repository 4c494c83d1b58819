use crate::camera_importance::*;
use lockstep_core::math::rng::{pcg4d, uniform};
use lockstep_core::math::vec3::{length, vec3};
use lockstep_core::scene::camera::Camera;

fn cameras() -> [CameraFrame; 2] {
    let pinhole = Camera { direction: vec3(0.2, -0.1, -1.0), ..Camera::default() };
    let lens = Camera { lens_radius: 0.2, focus_distance: 3.0, ..pinhole };
    [pinhole.frame(40, 30), lens.frame(40, 30)]
}

#[test]
fn points_on_camera_rays_connect_back_to_their_pixel_along_their_ray() {
    for frame in cameras() {
        for i in 0..10_000 {
            let words = pcg4d([i, 1, 2, 3]);
            let u = words.map(uniform);
            // Away from the border of the pixel, which rounding may cross.
            let (film, pixel) = ([0.01 + 0.98 * u[0], 0.01 + 0.98 * u[1]], i % 1200);
            let (origin, direction) = frame.ray(pixel, [film[0], film[1], u[2], u[3]]);
            let distance = 0.5 + 9.0 * uniform(pcg4d([i, 4, 5, 6])[0]);
            let found = connect(&frame, origin + direction * distance, [u[2], u[3]]).unwrap();
            assert_eq!(found.pixel, pixel);
            assert!(length(found.direction + direction) < 1e-4, "{found:?}");
            assert!((found.distance - distance).abs() < 1e-3, "{found:?}");
        }
    }
}

#[test]
fn points_behind_the_camera_and_beside_the_film_are_not_seen() {
    for frame in cameras() {
        let beside = frame.forward + frame.right * 1.5;
        for p in [frame.eye - frame.forward, frame.eye + beside * 3.0] {
            assert_eq!(connect(&frame, p, [0.3, 0.7]), None);
        }
    }
}

#[test]
fn the_importance_of_a_pixel_integrates_to_one() {
    // A plane of unit radiance across the view fills the film: each pixel's mean radiance is one. Splat
    // points of the plane, and the mean over the film must be the same.
    for frame in cameras() {
        let (n, half) = (400_000, 20.0f32);
        let mut sum = 0.0f64;
        for i in 0..n {
            let u = pcg4d([i, 7, 8, 9]).map(uniform);
            let right = frame.right * (1.0 / length(frame.right));
            let up = frame.up * (1.0 / length(frame.up));
            let p = frame.eye
                + frame.forward * 10.0
                + right * (half * (2.0 * u[0] - 1.0))
                + up * (half * (2.0 * u[1] - 1.0));
            if let Some(s) = connect(&frame, p, [u[2], u[3]]) {
                let cosine = -dot(s.direction, frame.forward);
                sum += f64::from(s.importance * cosine / (s.distance * s.distance));
            }
        }
        let area = f64::from(4.0 * half * half);
        let mean = sum * area / f64::from(n) / f64::from(frame.width * frame.height);
        assert!((mean - 1.0).abs() < 2e-2, "{mean}");
    }
}
