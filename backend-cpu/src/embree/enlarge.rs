//! Enlarging triangles, so that neighbours overlap and no ray slips through between them.

use lockstep_core::math::vec3::{Vec3, cross, length, normalize};

/// The most that a corner moves, over twice the distance that its edges move.
const MITER_LIMIT: f32 = 16.0;

/// Moves a triangle's edges outwards by a distance, in its plane. A triangle without area stays as it is.
pub(super) fn enlarge(corners: [Vec3; 3], distance: f32) -> [Vec3; 3] {
    std::array::from_fn(|i| {
        let [a, b, c] = [0, 1, 2].map(|k| corners[(i + k) % 3]);
        let (ab, ac) = (normalize(b - a), normalize(c - a));
        let sine = length(cross(ab, ac));
        if sine > 0.0 { a - (ab + ac) * (distance * (1.0 / sine).min(MITER_LIMIT)) } else { a }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::{dot, vec3};

    /// Distance of a point from the line through two others.
    fn distance_from_line(p: Vec3, [a, b]: [Vec3; 2]) -> f32 {
        length(cross(p - a, normalize(b - a)))
    }

    #[test]
    fn the_edges_of_an_enlarged_triangle_lie_farther_out_by_the_distance() {
        let corners = [vec3(0.0, 0.0, 1.0), vec3(4.0, 0.0, 1.0), vec3(1.0, 2.0, 0.0)];
        let enlarged = enlarge(corners, 0.125);
        let normal = cross(corners[1] - corners[0], corners[2] - corners[0]);
        for i in 0..3 {
            let edge = [corners[i], corners[(i + 1) % 3]];
            for end in [enlarged[i], enlarged[(i + 1) % 3]] {
                assert!((distance_from_line(end, edge) - 0.125).abs() < 1e-5, "{enlarged:?}");
                let outward = cross(edge[1] - edge[0], normal);
                assert!(dot(end - edge[0], outward) > 0.0, "{enlarged:?}");
            }
            assert!(dot(enlarged[i] - corners[0], normal).abs() < 1e-5, "{enlarged:?}");
        }
    }

    #[test]
    fn no_corner_of_a_needle_moves_far_and_a_triangle_without_area_stays() {
        let needle = [vec3(0.0, 0.0, 0.0), vec3(1.0, 1e-6, 0.0), vec3(1.0, 0.0, 0.0)];
        for (before, after) in needle.iter().zip(enlarge(needle, 1e-3)) {
            assert!(length(after - *before) <= 2.0 * MITER_LIMIT * 1e-3, "{after:?}");
        }
        let line = [Vec3::ZERO, vec3(1.0, 1.0, 1.0), vec3(2.0, 2.0, 2.0)];
        assert_eq!(enlarge(line, 1.0), line);
        assert_eq!(enlarge([line[1]; 3], 1.0), [line[1]; 3]);
    }
}
