//! Tangents for normal maps where a file has none.

use lockstep_core::math;
use lockstep_core::math::vec3::{Vec3, cross, dot, normalize, vec3};
use lockstep_core::scene::Vertex;

/// Gives every vertex the mean direction of increasing u over its triangles, weighted by their areas and
/// made orthogonal to its normal (Lengyel, *Foundations of Game Engine Development 2*, section 7.5).
///
/// `uv_set` selects the coordinates that the normal map uses. Vertices without a usable direction get any one
/// orthogonal to their normal; vertices without a normal stay without a tangent.
pub(crate) fn compute(positions: &[[f32; 3]], vertices: &mut [Vertex], triangles: &[[u32; 3]], uv_set: u32) {
    let mut along_u = vec![Vec3::ZERO; vertices.len()];
    let mut along_v = vec![Vec3::ZERO; vertices.len()];
    for triangle in triangles {
        let i = triangle.map(|v| v as usize);
        let p = i.map(|v| Vec3::from(positions[v]));
        let uv = i.map(|v| if uv_set == 1 { vertices[v].uv1 } else { vertices[v].uv0 });
        let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
        let (u1, v1) = (uv[1][0] - uv[0][0], uv[1][1] - uv[0][1]);
        let (u2, v2) = (uv[2][0] - uv[0][0], uv[2][1] - uv[0][1]);
        let area = u1 * v2 - u2 * v1;
        if area == 0.0 || !area.is_finite() {
            continue;
        }
        let sign = math::with_sign_of(1.0, area);
        let weight = dot(cross(e1, e2), cross(e1, e2)).sqrt();
        let du = normalize((e1 * v2 - e2 * v1) * sign) * weight;
        let dv = normalize((e2 * u1 - e1 * u2) * sign) * weight;
        for v in i {
            along_u[v] = along_u[v] + du;
            along_v[v] = along_v[v] + dv;
        }
    }
    for (vertex, (u, v)) in vertices.iter_mut().zip(along_u.into_iter().zip(along_v)) {
        let n = vertex.normal;
        if n == Vec3::ZERO {
            continue;
        }
        let t = normalize(u - n * dot(n, u));
        vertex.tangent = if t == Vec3::ZERO || !t.is_finite() { any_orthogonal(n) } else { t };
        // v grows downwards in the image, but a normal map's green channel points up.
        vertex.tangent_sign = if dot(cross(n, vertex.tangent), v) > 0.0 { -1.0 } else { 1.0 };
    }
}

fn any_orthogonal(n: Vec3) -> Vec3 {
    let axis = if n.x.abs() < 0.5 { vec3(1.0, 0.0, 0.0) } else { vec3(0.0, 1.0, 0.0) };
    normalize(cross(axis, n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad(flip: bool) -> Vec<Vertex> {
        let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let mut vertices: Vec<Vertex> = positions
            .iter()
            .map(|p: &[f32; 3]| Vertex {
                normal: vec3(0.0, 0.0, 1.0),
                uv0: [if flip { -p[0] } else { p[0] }, 1.0 - p[1]],
                ..Vertex::default()
            })
            .collect();
        compute(&positions, &mut vertices, &[[0, 1, 2], [0, 2, 3]], 0);
        vertices
    }

    #[test]
    fn tangents_point_along_u() {
        for vertex in quad(false) {
            assert_eq!((vertex.tangent, vertex.tangent_sign), (vec3(1.0, 0.0, 0.0), 1.0));
        }
    }

    #[test]
    fn mirrored_coordinates_flip_the_sign() {
        for vertex in quad(true) {
            assert_eq!((vertex.tangent, vertex.tangent_sign), (vec3(-1.0, 0.0, 0.0), -1.0));
        }
    }

    #[test]
    fn without_coordinates_any_orthogonal_direction_serves() {
        let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let mut vertices = [Vertex { normal: vec3(0.0, 0.0, 1.0), ..Vertex::default() }; 3];
        compute(&positions, &mut vertices, &[[0, 1, 2]], 0);
        for v in vertices {
            assert!(dot(v.tangent, v.normal).abs() < 1e-6 && (dot(v.tangent, v.tangent) - 1.0).abs() < 1e-6);
        }
    }
}
