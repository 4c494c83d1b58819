//! Images of infinite lights on the scene's sphere.

use super::description::Version;
use super::matrix::{Matrix, unit};
use crate::pixels::RadiancePixels;
use lockstep_core::scene::Wrap;
use std::f64::consts::{PI, TAU};

/// An environment image as the scene has it, with its rotation in turns.
pub(super) struct EnvironmentMap {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) texels: Vec<[f32; 3]>,
    pub(super) rotation: f32,
}

/// Directions over each side of a texel that is resampled.
const SAMPLES: usize = 3;

/// A light's image, whose directions `from_world` maps from the scene's world.
///
/// Images of version 3 are equirectangular about the light's z; where that axis is the scene's y, their texels
/// are kept. Those of version 4 cover the sphere by equal areas (Clarberg 2008). All others are resampled.
pub(super) fn read(image: RadiancePixels, version: Version, from_world: &Matrix) -> EnvironmentMap {
    match version {
        Version::Three => match kept(&image, from_world) {
            Some(map) => map,
            None => {
                let (width, height) = (image.width, image.height);
                resampled(width, height, from_world, |d| equirectangular(&image, d))
            }
        },
        Version::Four => {
            // Twice as wide as high, with rows as far apart as in the image.
            let height = image.height.max(8);
            resampled(2 * height, height, from_world, |d| sample(&image, equal_area(d), Wrap::Mirror))
        }
    }
}

/// The image with its own texels, where its poles are the scene's.
fn kept(image: &RadiancePixels, from_world: &Matrix) -> Option<EnvironmentMap> {
    let to_light = |v: [f64; 3]| unit(from_world.vector(v));
    let (x, y, z) = (to_light([1.0, 0.0, 0.0])?, to_light([0.0, 1.0, 0.0])?, to_light([0.0, 0.0, 1.0])?);
    if y[2].abs() < 1.0 - 1e-6 || x[2].abs() > 1e-3 || z[2].abs() > 1e-3 {
        return None;
    }
    // The light's longitudes of the scene's +x and +z, at longitudes 0 and a quarter.
    let first = x[1].atan2(x[0]) / TAU;
    let turn = (z[1].atan2(z[0]) / TAU - first).rem_euclid(1.0);
    let is_mirrored = (turn - 0.75).abs() < 1e-4;
    if !is_mirrored && (turn - 0.25).abs() > 1e-4 {
        return None;
    }
    let width = image.width as usize;
    let mut rows: Vec<&[[f32; 3]]> = image.rgb.chunks_exact(width).collect();
    if y[2] < 0.0 {
        rows.reverse();
    }
    let texels = if is_mirrored {
        rows.iter().flat_map(|row| row.iter().rev()).copied().collect()
    } else {
        rows.concat()
    };
    let rotation = if is_mirrored { -first } else { first };
    Some(EnvironmentMap {
        width: image.width,
        height: image.height,
        texels,
        rotation: rotation.rem_euclid(1.0) as f32,
    })
}

/// An equirectangular image from a function of the light's directions, by the mean over each texel.
fn resampled(
    width: u32,
    height: u32,
    from_world: &Matrix,
    radiance: impl Fn([f64; 3]) -> [f32; 3] + Sync,
) -> EnvironmentMap {
    use rayon::prelude::*;
    let row = |y: u32| {
        (0..width).map(move |x| (x, y)).map(|(x, y)| {
            let mut sum = [0.0f64; 3];
            for i in 0..SAMPLES * SAMPLES {
                let offset = |k: usize| (k as f64 + 0.5) / SAMPLES as f64;
                let phi = TAU * (f64::from(x) + offset(i % SAMPLES)) / f64::from(width);
                let theta = PI * (f64::from(y) + offset(i / SAMPLES)) / f64::from(height);
                let world = [theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin()];
                let found = radiance(unit(from_world.vector(world)).unwrap_or([0.0, 0.0, 1.0]));
                (0..3).for_each(|c| sum[c] += f64::from(found[c]));
            }
            sum.map(|s| (s / (SAMPLES * SAMPLES) as f64) as f32)
        })
    };
    let texels = (0..height).into_par_iter().flat_map_iter(row).collect();
    EnvironmentMap { width, height, texels, rotation: 0.0 }
}

/// The interpolated radiance at image coordinates, columns repeated or mirrored.
fn sample(image: &RadiancePixels, [u, v]: [f64; 2], wrap: Wrap) -> [f32; 3] {
    let (width, height) = (i64::from(image.width), i64::from(image.height));
    let (x, y) = (u * width as f64 - 0.5, v * height as f64 - 0.5);
    let (column, row) = (x.floor() as i64, y.floor() as i64);
    let (fx, fy) = ((x - x.floor()) as f32, (y - y.floor()) as f32);
    let load = |x: i64, y: i64| {
        let x = if wrap == Wrap::Repeat { x.rem_euclid(width) } else { x.clamp(0, width - 1) };
        image.rgb[(y.clamp(0, height - 1) * width + x) as usize]
    };
    let corners =
        [load(column, row), load(column + 1, row), load(column, row + 1), load(column + 1, row + 1)];
    std::array::from_fn(|c| {
        let top = corners[0][c] + (corners[1][c] - corners[0][c]) * fx;
        let bottom = corners[2][c] + (corners[3][c] - corners[2][c]) * fx;
        top + (bottom - top) * fy
    })
}

fn equirectangular(image: &RadiancePixels, [x, y, z]: [f64; 3]) -> [f32; 3] {
    let u = (y.atan2(x) / TAU).rem_euclid(1.0);
    sample(image, [u, z.clamp(-1.0, 1.0).acos() / PI], Wrap::Repeat)
}

/// The point of the unit square for a direction, by Clarberg's equal-area map (2008).
pub(super) fn equal_area([x, y, z]: [f64; 3]) -> [f64; 2] {
    let (a, b) = (x.abs(), y.abs());
    let radius = (1.0 - z.abs()).max(0.0).sqrt();
    let angle = if a.max(b) == 0.0 { 0.0 } else { a.min(b).atan2(a.max(b)) * 2.0 / PI };
    let angle = if a < b { 1.0 - angle } else { angle };
    let (mut v, mut u) = (angle * radius, radius - angle * radius);
    if z < 0.0 {
        (u, v) = (1.0 - v, 1.0 - u);
    }
    [0.5 * (u.copysign(x) + 1.0), 0.5 * (v.copysign(y) + 1.0)]
}

/// Mean of cosine times radiance over the hemisphere about the light's z, times pi: the illuminance of an image
/// of version 4.
pub(super) fn illuminance(image: &RadiancePixels) -> f64 {
    let side = f64::from(image.width.max(1));
    let mut sum = 0.0;
    for (i, texel) in image.rgb.iter().enumerate() {
        let x = ((i as u32 % image.width) as f64 + 0.5) / side;
        let y = ((i as u32 / image.width) as f64 + 0.5) / side;
        // The upper hemisphere is the diamond inside; its height falls with the square of the distance.
        let radius = (2.0 * x - 1.0).abs() + (2.0 * y - 1.0).abs();
        if radius < 1.0 {
            let luminance = 0.2126 * texel[0] + 0.7152 * texel[1] + 0.0722 * texel[2];
            sum += f64::from(luminance) * (1.0 - radius * radius);
        }
    }
    sum * 4.0 * PI / (side * side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::{Vec3, vec3};
    use lockstep_core::scene::{EnvironmentLight, SceneBuilder, environment_radiance};

    /// The radiance that the scene has in a direction.
    fn seen(map: EnvironmentMap, direction: [f64; 3]) -> Vec3 {
        let mut builder = SceneBuilder::new("t");
        let EnvironmentMap { width, height, texels, rotation } = map;
        let scale = Vec3::splat(1.0);
        builder.environment = EnvironmentLight::Image { width, height, texels, scale, rotation };
        let scene = builder.build().unwrap();
        let d = vec3(direction[0] as f32, direction[1] as f32, direction[2] as f32);
        environment_radiance(&scene.environment, &scene.environment_texels, d)
    }

    /// A smooth function of a light's direction.
    fn radiance(d: [f64; 3]) -> [f32; 3] {
        d.map(|c| (1.0 + 0.9 * c) as f32)
    }

    fn directions() -> Vec<[f64; 3]> {
        let raw = [[1.0, 0.2, 0.3], [-0.4, 0.5, 0.9], [0.1, -0.8, -0.3], [-0.7, 0.1, -0.6], [0.2, 0.95, 0.1]];
        raw.iter().filter_map(|d| unit(*d)).collect()
    }

    fn check(image: RadiancePixels, version: Version, to_world: Matrix, keeps: bool) {
        let from_world = to_world.inverse().unwrap();
        if version == Version::Three {
            assert_eq!(kept(&image, &from_world).is_some(), keeps);
        }
        for d in directions() {
            let wanted = radiance(unit(from_world.vector(d)).unwrap());
            let found = seen(read(image.clone(), version, &from_world), d).to_array();
            let off = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 0.03, "{found:?} is not {wanted:?} towards {d:?}");
        }
    }

    #[test]
    fn a_light_of_version_3_is_seen_where_its_transform_puts_it() {
        let (width, height) = (256u32, 128u32);
        let at = |i: u32| {
            let phi = TAU * (f64::from(i % width) + 0.5) / f64::from(width);
            let theta = PI * (f64::from(i / width) + 0.5) / f64::from(height);
            radiance([theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos()])
        };
        let image = RadiancePixels { width, height, rgb: (0..width * height).map(at).collect() };
        let upright = Matrix::rotation(-90.0, [1.0, 0.0, 0.0]).unwrap();
        let mirror = Matrix::scaling([-1.0, 1.0, 1.0]);
        let turned = Matrix::rotation(77.0, [0.0, 1.0, 0.0]).unwrap();
        check(image.clone(), Version::Three, upright, true);
        check(image.clone(), Version::Three, mirror.then(&turned).then(&upright), true);
        check(image.clone(), Version::Three, Matrix::rotation(90.0, [1.0, 0.0, 0.0]).unwrap(), true);
        check(image.clone(), Version::Three, Matrix::IDENTITY, false);
        check(image, Version::Three, mirror.then(&Matrix::rotation(33.0, [1.0, 2.0, 3.0]).unwrap()), false);
    }

    #[test]
    fn a_light_of_version_4_covers_the_sphere_by_equal_areas() {
        // The inverse of the map, by search over the square's texels.
        let side = 96u32;
        let mut nearest = vec![([0.0; 3], f64::MAX); (side * side) as usize];
        let n = 400_000;
        for i in 0..n {
            let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / f64::from(n);
            let phi = f64::from(i) * 2.399_963_229_728_653;
            let d = [(1.0 - z * z).sqrt() * phi.cos(), (1.0 - z * z).sqrt() * phi.sin(), z];
            let [u, v] = equal_area(d).map(|c| c * f64::from(side));
            let (x, y) = ((u as u32).min(side - 1), (v as u32).min(side - 1));
            let off = (u - f64::from(x) - 0.5).hypot(v - f64::from(y) - 0.5);
            let slot = &mut nearest[(y * side + x) as usize];
            if off < slot.1 {
                *slot = (d, off);
            }
        }
        // Equal areas: every texel was met, by as many directions.
        assert!(nearest.iter().all(|(_, off)| *off < 0.5));
        let rgb: Vec<[f32; 3]> = nearest.iter().map(|(d, _)| radiance(*d)).collect();
        let image = RadiancePixels { width: side, height: side, rgb };
        check(image.clone(), Version::Four, Matrix::scaling([-1.0, 1.0, 1.0]), false);
        let white = RadiancePixels { rgb: vec![[1.0; 3]; (side * side) as usize], ..image };
        assert!((illuminance(&white) / PI - 1.0).abs() < 1e-2);
    }
}
