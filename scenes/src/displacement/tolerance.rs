//! The distance that a displaced surface may have from its triangles.

use super::vector::{V3, add, dot, length, sub, times, unit, wide};
use lockstep_core::math;
use lockstep_core::scene::{Affine, Camera};

/// Instances of a mesh up to which each is held against the camera by itself.
const MOST_INSTANCES: usize = 16;

/// Ratio of an image's sides up to which pixels keep their bound in its corners.
const ASPECT: f64 = 16.0 / 9.0;

/// The distance that may be, everywhere or by the distance from a camera.
#[derive(Clone, Debug)]
pub(super) enum Tolerance {
    /// In units of the mesh.
    Everywhere(f64),
    /// By the camera's distance from the nearest instance.
    Seen { view: View, instances: Vec<Placement> },
}

/// A camera with a number of its pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    eye: V3,
    forward: V3,
    /// Length of the pixels at a distance of 1 in the middle of the image.
    length: f64,
    /// Cosine of the angle from the middle of the image to its corners.
    corner: f64,
    lens_radius: f64,
}

impl View {
    /// A number of pixels of an image with this many lines.
    pub(super) fn new(camera: &Camera, pixels: f32, lines: u32) -> Self {
        let half = f64::from(math::tan(0.5 * camera.vertical_fov));
        let corner = half * (1.0 + ASPECT * ASPECT).sqrt();
        Self {
            eye: wide(camera.eye.to_array()),
            forward: unit(wide(camera.direction.to_array())),
            length: 2.0 * half * f64::from(pixels) / f64::from(lines),
            corner: 1.0 / (1.0 + corner * corner).sqrt(),
            lens_radius: f64::from(camera.lens_radius),
        }
    }

    /// Length of the pixels at the nearest point of a ball in the world.
    ///
    /// A displacement by `e` at distance `d` and angle `a` from the middle moves the image of a point by at most
    /// `e / (d cos^2 a)`, the camera's distance from the image being 1.
    fn at(&self, center: V3, radius: f64) -> f64 {
        let from_eye = sub(center, self.eye);
        let distance = length(from_eye);
        let nearest = (distance - radius - self.lens_radius).max(0.0);
        let cosine = (dot(from_eye, self.forward) - radius) / (distance + radius).max(f64::MIN_POSITIVE);
        let cosine = cosine.clamp(self.corner, 1.0);
        let allowed = self.length * nearest * cosine * cosine;
        // The surface itself may be nearer than its triangles by what is allowed.
        allowed / (1.0 + self.length)
    }
}

/// An instance of a mesh.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    rows: [[f64; 4]; 3],
    /// Upper bound of how much it lengthens a vector.
    stretch: f64,
}

impl Placement {
    fn new(map: &Affine) -> Self {
        let rows = map.map(|row| row.map(f64::from));
        // No eigenvalue exceeds the largest sum of a row (Gershgorin 1931), here of the map's transpose times the map.
        let product = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>().abs();
        let sums = [0, 1, 2].map(|i| product(i, 0) + product(i, 1) + product(i, 2));
        Self { rows, stretch: sums[0].max(sums[1]).max(sums[2]).sqrt() }
    }

    fn point(&self, p: V3) -> V3 {
        self.rows.map(|row| row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3])
    }
}

impl Tolerance {
    /// A number of pixels for a mesh of some instances. `reach` is a ball around the displaced mesh; where there are many
    /// instances, the nearest point of all of them counts for each.
    pub(super) fn seen(view: View, instances: &[Affine], reach: (V3, f64)) -> Self {
        let placements: Vec<Placement> = instances.iter().map(Placement::new).collect();
        if placements.len() <= MOST_INSTANCES {
            return Self::Seen { view, instances: placements };
        }
        let (center, radius) = reach;
        let of = |p: &Placement| view.at(p.point(center), radius * p.stretch) / p.stretch;
        Self::Everywhere(placements.iter().map(of).fold(f64::INFINITY, f64::min))
    }

    /// The distance that may be from a triangle of the displaced mesh.
    pub(super) fn of(&self, corners: &[V3; 3]) -> f64 {
        match self {
            Self::Everywhere(distance) => *distance,
            Self::Seen { view, instances } => {
                let center = times(add(add(corners[0], corners[1]), corners[2]), 1.0 / 3.0);
                let radius = corners.iter().map(|&c| length(sub(c, center))).fold(0.0, f64::max);
                let of = |p: &Placement| view.at(p.point(center), radius * p.stretch) / p.stretch;
                instances.iter().map(of).fold(f64::INFINITY, f64::min)
            }
        }
    }
}

/// A ball around points, with a margin.
pub(super) fn ball(points: &[[f32; 3]], margin: f64) -> (V3, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for &point in points {
        let point = wide(point);
        low = std::array::from_fn(|i| low[i].min(point[i]));
        high = std::array::from_fn(|i| high[i].max(point[i]));
    }
    (times(add(low, high), 0.5), 0.5 * length(sub(high, low)) + margin)
}
