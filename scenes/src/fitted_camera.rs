//! Cameras for files without one.
//!
//! Open scenes are seen from a corner, as a whole. An enclosed scene would show the backs of its walls, so it
//! is seen from inside: it is enclosed where, from some point near its middle, nearly all directions meet the
//! front of a surface first. Solid bodies show their backs from inside.

use crate::warning::Warnings;
use lockstep_core::math::vec3::{Vec3, cross, dot, length, normalize, vec3};
use lockstep_core::scene::{Camera, SceneBuilder};
use std::f32::consts::FRAC_PI_4;

/// Sine of half the field of view.
const SINE_OF_HALF_FOV: f32 = 0.382_683_43;

/// Share of directions that meet a front from inside an enclosed scene. Windows and a missing ceiling are the
/// rest.
const ENCLOSED: f32 = 0.85;

/// Triangles above which a scene is not searched, since the time is that of all directions with every one.
const MOST_TRIANGLES: usize = 4_000_000;

/// Share of the way to the wall behind at which the eye stands.
const BACK: f32 = 0.8;

/// How to choose another camera.
const ANOTHER: &str = "--eye X,Y,Z, --look-at X,Y,Z and --fov DEGREES or a scene.toml place another";

/// A camera, and the middle of a scene that is closed on all sides, where no sky enters.
pub(crate) struct Fitted {
    pub(crate) camera: Camera,
    pub(crate) closed: Option<Middle>,
}

/// A point inside a closed scene, and the mean distance of the surfaces around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Middle {
    pub(crate) point: Vec3,
    pub(crate) distance: f32,
}

/// A camera that shows the scene.
pub(crate) fn fitted(builder: &SceneBuilder, warnings: &mut Warnings) -> Fitted {
    let Some([low, high]) = builder.bounds() else {
        warnings.add("geometry", "the file has nothing that can be rendered");
        return Fitted { camera: Camera::default(), closed: None };
    };
    let camera = Camera { vertical_fov: FRAC_PI_4, ..Camera::default() };
    if let Some(Enclosure { point, closed, chord }) = enclosure(builder, low, high) {
        let message = format!(
            "the file has no usable camera; one was placed inside, since the scene is enclosed. {ANOTHER}"
        );
        warnings.add("camera", message);
        let eye = point - chord.direction * (chord.behind * BACK);
        // Rooms are wider than they are far away.
        let camera =
            Camera { eye, direction: chord.direction, vertical_fov: 4.0 / 3.0 * FRAC_PI_4, ..camera };
        return Fitted { camera, closed };
    }
    let radius = 0.5 * length(high - low);
    let radius = if radius > 0.0 && radius.is_finite() { radius } else { 1.0 };
    let direction = normalize(vec3(-0.5, -0.35, -0.8));
    let eye = (low + high) * 0.5 - direction * (radius / SINE_OF_HALF_FOV);
    let message =
        format!("the file has no usable camera; one was placed so that everything is seen. {ANOTHER}");
    warnings.add("camera", message);
    Fitted { camera: Camera { eye, direction, ..camera }, closed: None }
}

/// A point inside an enclosed scene.
struct Enclosure {
    point: Vec3,
    /// Whether surfaces are met in all directions.
    closed: Option<Middle>,
    /// The longest level line of sight through the point.
    chord: Chord,
}

/// A level line of sight through a point, from wall to wall.
struct Chord {
    direction: Vec3,
    /// Distance from the point to the wall behind it.
    behind: f32,
}

/// A point inside an enclosed scene; nothing for an open one.
fn enclosure(builder: &SceneBuilder, low: Vec3, high: Vec3) -> Option<Enclosure> {
    if builder.triangles().take(MOST_TRIANGLES + 1).count() > MOST_TRIANGLES {
        return None;
    }
    let (middle, quarter) = ((low + high) * 0.5, (high - low) * 0.25);
    // Something in the middle of a room may hide it.
    let aside = [(0.0, 0.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)];
    let points = aside.map(|(x, z)| middle + vec3(x * quarter.x, 0.0, z * quarter.z));
    points.into_iter().find_map(|point| {
        let surround = Surround::of(builder, point);
        let distance = surround.mean_distance();
        let closed = distance.is_finite().then_some(Middle { point, distance });
        Some(Enclosure { point, closed, chord: longest_chord(&surround)? })
    })
}

/// The surfaces that directions from a point meet first.
struct Surround {
    directions: Vec<Vec3>,
    /// The distance, infinite where nothing is met, and whether it is the front of a surface.
    met: Vec<(f32, bool)>,
}

impl Surround {
    fn of(builder: &SceneBuilder, point: Vec3) -> Self {
        let directions = directions();
        let lanes = Directions::of(&directions);
        let mut met = vec![(f32::INFINITY, false); directions.len()];
        for [a, b, c] in builder.triangles() {
            let (a, b, c) = (a - point, b - point, c - point);
            // The planes through the point and each edge: a direction between all three meets the triangle.
            let within = lanes.between([cross(a, b), cross(b, c), cross(c, a)]);
            if !within.contains(&true) {
                continue;
            }
            let normal = cross(b - a, c - a);
            let offset = dot(normal, a);
            let met_here = directions.iter().zip(&mut met).zip(within).filter(|(_, is_within)| *is_within);
            for ((direction, met), _) in met_here {
                let slope = dot(normal, *direction);
                let distance = offset / slope;
                if distance > 0.0 && distance < met.0 {
                    *met = (distance, slope < 0.0);
                }
            }
        }
        Self { directions, met }
    }

    /// The mean distance of what is met; infinite where something is not.
    fn mean_distance(&self) -> f32 {
        self.met.iter().map(|(distance, _)| distance).sum::<f32>() / self.met.len() as f32
    }
}

/// Directions through the grid on a cube's surface.
const DIRECTIONS: usize = 98;

/// Directions by component, which compilers turn into vector instructions.
struct Directions {
    x: [f32; DIRECTIONS],
    y: [f32; DIRECTIONS],
    z: [f32; DIRECTIONS],
}

impl Directions {
    fn of(directions: &[Vec3]) -> Self {
        let mut lanes = Self { x: [0.0; DIRECTIONS], y: [0.0; DIRECTIONS], z: [0.0; DIRECTIONS] };
        for (k, direction) in directions.iter().enumerate().take(DIRECTIONS) {
            [lanes.x[k], lanes.y[k], lanes.z[k]] = direction.to_array();
        }
        lanes
    }

    /// Which directions lie on one side of three planes through the origin, or in them.
    fn between(&self, normals: [Vec3; 3]) -> [bool; DIRECTIONS] {
        let [a, b, c] = normals;
        let mut within = [false; DIRECTIONS];
        for (k, within) in within.iter_mut().enumerate() {
            let direction = vec3(self.x[k], self.y[k], self.z[k]);
            let (a, b, c) = (dot(a, direction), dot(b, direction), dot(c, direction));
            // Without branches, so that neighbours are told together
            *within = (a >= 0.0) & (b >= 0.0) & (c >= 0.0) | (a <= 0.0) & (b <= 0.0) & (c <= 0.0);
        }
        within
    }
}

/// Unit directions through a grid on a cube's surface. Only exact operations: the camera is part of a scene's
/// hash, which is the same on every machine.
fn directions() -> Vec<Vec3> {
    let steps = || (-2..=2).map(|i: i8| f32::from(i));
    let all = steps().flat_map(move |x| steps().flat_map(move |y| steps().map(move |z| vec3(x, y, z))));
    all.filter(|v| v.x.abs().max(v.y.abs()).max(v.z.abs()) == 2.0).map(normalize).collect()
}

/// The longest level line of sight; nothing where the surround is open or a body's inside.
fn longest_chord(surround: &Surround) -> Option<Chord> {
    let fronts = surround.met.iter().filter(|(_, is_front)| *is_front).count();
    if (fronts as f32) < ENCLOSED * surround.met.len() as f32 {
        return None;
    }
    let distance = |direction: Vec3| {
        let found = surround.directions.iter().position(|d| *d == direction)?;
        surround.met.get(found).map(|(distance, _)| *distance).filter(|d| d.is_finite())
    };
    let level = surround.directions.iter().filter(|d| d.y == 0.0);
    let chords = level.filter_map(|&direction| {
        let (ahead, behind) = (distance(direction)?, distance(-direction)?);
        Some((ahead + behind, Chord { direction, behind }))
    });
    chords.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, chord)| chord)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::scene::{IDENTITY, Material, MeshData};

    /// A box of 4 by 2 by 8 about the origin, its fronts inside or outside, with or without a ceiling.
    fn walls(inwards: bool, ceiling: bool) -> SceneBuilder {
        let mut builder = SceneBuilder::new("walls");
        let material = builder.material(Material::diffuse([0.5; 3]));
        let corner = |i: u32| {
            let side = |bit: u32, size: f32| if i & bit == 0 { -size } else { size };
            [side(1, 2.0), side(2, 1.0), side(4, 4.0)]
        };
        // Counter-clockwise from outside.
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [0, 2, 3, 1], [4, 5, 7, 6], [2, 6, 7, 3]];
        let quads = &quads[..if ceiling { 6 } else { 5 }];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        let turned = triangles.map(|[a, b, c]| if inwards { [a, c, b] } else { [a, b, c] });
        let mesh = builder.mesh(MeshData {
            positions: (0..8).map(corner).collect(),
            triangles: turned.collect(),
            materials: vec![material],
            ..MeshData::default()
        });
        builder.instance(mesh, IDENTITY);
        builder
    }

    fn fit(builder: &SceneBuilder) -> Fitted {
        fitted(builder, &mut Warnings::new("x"))
    }

    #[test]
    fn a_room_is_seen_from_inside_along_its_length() {
        let Fitted { camera, closed } = fit(&walls(true, true));
        let middle = closed.unwrap();
        assert!((1.0..4.6).contains(&middle.distance) && middle.point == Vec3::ZERO, "{middle:?}");
        assert!(camera.eye.x.abs() < 2.0 && camera.eye.y.abs() < 1.0 && camera.eye.z.abs() < 4.0);
        assert!(camera.direction.z.abs() > 0.8 && camera.direction.y == 0.0, "{:?}", camera.direction);
        assert!(dot(camera.eye, camera.direction) < 0.0, "it looks through the middle");
    }

    #[test]
    fn directions_fill_their_lanes_and_are_told_between_planes_as_one_by_one() {
        let all = directions();
        assert_eq!(all.len(), DIRECTIONS);
        let planes = [vec3(1.0, 0.2, 0.0), vec3(0.3, 1.0, -0.4), vec3(0.0, -0.1, 1.0)];
        let within = Directions::of(&all).between(planes);
        for (direction, within) in all.iter().zip(within) {
            let sides = planes.map(|plane| dot(plane, *direction));
            assert_eq!(within, sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0));
        }
        assert!(within.contains(&true) && within.contains(&false));
    }

    #[test]
    fn a_body_and_a_box_without_a_lid_are_seen_from_outside() {
        for (inwards, ceiling) in [(false, true), (true, false)] {
            let Fitted { camera, closed } = fit(&walls(inwards, ceiling));
            assert!(closed.is_none() && length(camera.eye) > 9.0, "{inwards} {ceiling}: {:?}", camera.eye);
        }
    }
}
