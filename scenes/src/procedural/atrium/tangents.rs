//! Tangents of normal-mapped patches.
//!
//! Patches neither mirror nor weld texture coordinates, so a mean per vertex serves; files get MikkTSpace
//! instead.

use crate::tangents::any_orthogonal;
use lockstep_core::math;
use lockstep_core::math::vec3::{Vec3, cross, dot, normalize};
use lockstep_core::scene::Vertex;

/// Gives every vertex the area-weighted mean direction of increasing u over its triangles, orthogonal to its
/// normal (Lengyel, *Foundations of Game Engine Development 2*, section 7.5).
pub(super) fn compute(positions: &[[f32; 3]], vertices: &mut [Vertex], triangles: &[[u32; 3]]) {
    let mut along_u = vec![Vec3::ZERO; vertices.len()];
    let mut along_v = vec![Vec3::ZERO; vertices.len()];
    for triangle in triangles {
        let i = triangle.map(|v| v as usize);
        let p = i.map(|v| Vec3::from(positions[v]));
        let uv = i.map(|v| vertices[v].uv0);
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
        let tangent = if t == Vec3::ZERO || !t.is_finite() { any_orthogonal(n) } else { t };
        // v grows downwards in the image, but a normal map's green channel points up.
        let sign = if dot(cross(n, tangent), v) > 0.0 { -1.0 } else { 1.0 };
        *vertex = vertex.with_tangent(tangent, sign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::vec3::vec3;

    #[test]
    fn tangents_point_along_u() {
        let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let mut vertices = positions.map(|p: [f32; 3]| Vertex {
            normal: vec3(0.0, 0.0, 1.0),
            uv0: [p[0], 1.0 - p[1]],
            ..Vertex::default()
        });
        compute(&positions, &mut vertices, &[[0, 1, 2], [0, 2, 3]]);
        for vertex in vertices {
            assert_eq!((vertex.tangent, vertex.tangent_sign()), (vec3(1.0, 0.0, 0.0), 1.0));
        }
    }
}
