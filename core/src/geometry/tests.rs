use crate::geometry::*;
use crate::math::rng::{pcg4d, uniform};
use crate::math::vec3::normalize;

/// Four uniforms of a counter.
fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 17, 4]).map(uniform)
}

fn random_point(i: u32, stream: u32, extent: f32) -> Vec3 {
    let r = random(i, stream);
    (vec3(r[0], r[1], r[2]) - Vec3::splat(0.5)) * (2.0 * extent)
}

fn hits(origin: Vec3, direction: Vec3, p: [Vec3; 3]) -> bool {
    triangle(origin, &Shear::new(direction), p).is_some()
}

#[test]
fn barycentrics_and_distance_reproduce_the_hit_point() {
    for i in 0..20_000 {
        let p = [random_point(i, 0, 1.0), random_point(i, 1, 1.0), random_point(i, 2, 1.0)];
        let r = random(i, 3);
        let (u, v) = (r[0] * 0.5, r[1] * 0.5);
        let target = p[0] * (1.0 - u - v) + p[1] * u + p[2] * v;
        let origin = random_point(i, 4, 3.0);
        let direction = target - origin;
        let n = triangle_normal(p);
        let flatness = dot(normalize(n), normalize(direction)).abs();
        if flatness < 0.05 || max_abs_component(n) < 0.05 {
            continue;
        }
        let (t, hit_u, hit_v) = triangle(origin, &Shear::new(direction), p).unwrap();
        assert!(
            (t - 1.0).abs() < 1e-4 && (hit_u - u).abs() < 1e-4 && (hit_v - v).abs() < 1e-4,
            "{i}: {t} {hit_u} {hit_v}"
        );
    }
}

#[test]
fn rays_through_a_shared_edge_hit_at_least_one_neighbour() {
    // Two triangles on the edge a-b, one on each side; the target lies on the edge up to rounding.
    for i in 0..200_000 {
        let (a, b) = (random_point(i, 0, 1.0), random_point(i, 1, 1.0));
        let edge = b - a;
        let side = cross(edge, random_point(i, 2, 1.0));
        let (c, d) = (a + edge * 0.5 + side, a + edge * 0.5 - side);
        let target = a + edge * random(i, 3)[0];
        let origin = target + random_point(i, 4, 10.0);
        let direction = target - origin;
        if dot(normalize(direction), normalize(cross(edge, side))).abs() < 1e-3 {
            continue;
        }
        assert!(
            hits(origin, direction, [a, b, c]) || hits(origin, direction, [b, a, d]),
            "ray {i} slipped through"
        );
    }
}

#[test]
fn rays_through_a_vertex_hit_a_triangle_of_its_fan() {
    for i in 0..50_000 {
        let center = random_point(i, 0, 1.0);
        let n = normalize(random_point(i, 1, 1.0));
        let (s, t) = crate::math::sampling::frame(n);
        let rim: Vec<Vec3> = (0..5u32)
            .map(|k| {
                let (sin, cos) = crate::math::sin_cos_turns(k as f32 / 5.0);
                center + s * cos + t * sin + n * (random(i, 5 + k)[0] * 0.2)
            })
            .collect();
        let origin = center + n * 3.0 + random_point(i, 2, 1.0);
        let direction = center - origin;
        let found = (0..5).any(|k| hits(origin, direction, [center, rim[k], rim[(k + 1) % 5]]));
        assert!(found, "ray {i} slipped through a vertex");
    }
}

#[test]
fn the_edge_function_has_its_exact_sign() {
    // Products that round to the same float but differ exactly.
    let (a, b) = (1.0 + f32::EPSILON, 1.0 + f32::EPSILON);
    let (c, d) = (1.0 + 2.0 * f32::EPSILON, 1.0);
    assert_eq!(a * b, c * d);
    assert!(edge_function(a, b, c, d) > 0.0);
    assert!(edge_function(c, d, a, b) < 0.0);
    for i in 0..100_000 {
        let r = random(i, 9);
        let exact = f64::from(r[0]) * f64::from(r[1]) - f64::from(r[2]) * f64::from(r[3]);
        let ours = f64::from(edge_function(r[0], r[1], r[2], r[3]));
        assert!((exact > 0.0) == (ours > 0.0) && (exact < 0.0) == (ours < 0.0), "{r:?}");
    }
}

#[test]
fn degenerate_triangles_and_directions_are_misses() {
    let p = vec3(1.0, 1.0, 1.0);
    assert!(!hits(Vec3::ZERO, p, [p, p, p]));
    assert!(!hits(Vec3::ZERO, p, [p, p, p + vec3(1.0, 0.0, 0.0)]));
    let triangle = [vec3(-1.0, -1.0, 1.0), vec3(1.0, -1.0, 1.0), vec3(0.0, 1.0, 1.0)];
    let zero = Slabs::new(Vec3::ZERO, Vec3::ZERO);
    let accepted = self::triangle(Vec3::ZERO, &Shear::new(Vec3::ZERO), triangle)
        .and_then(|(t, ..)| accept(&zero, triangle_box(triangle), t, 0.0));
    assert!(accepted.is_none());
}

#[test]
fn a_box_that_encloses_another_is_entered_no_later_and_left_no_earlier() {
    for i in 0..200_000 {
        let (a, b) = (random_point(i, 0, 2.0), random_point(i, 1, 2.0));
        let lo = vec3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z));
        let hi = vec3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
        let grow = random(i, 2);
        let (outer_lo, outer_hi) = (lo - vec3(grow[0], grow[1], 0.0), hi + vec3(0.0, grow[2], grow[3]));
        let mut direction = random_point(i, 3, 1.0);
        match i % 5 {
            0 => direction.x = 0.0,
            1 => direction.y = -0.0,
            2 => direction = vec3(0.0, 0.0, -1.0),
            3 => direction.z *= 1e-30,
            _ => {}
        }
        let mut origin = random_point(i, 4, 4.0);
        if i % 7 == 0 {
            origin.x = lo.x;
        }
        let slabs = Slabs::new(origin, direction);
        let (inner, outer) = (slabs.interval(lo, hi), slabs.interval(outer_lo, outer_hi));
        assert!(outer.0 <= inner.0 && outer.1 >= inner.1, "{i}: {inner:?} {outer:?}");
        assert!(!inner.0.is_nan() && !inner.1.is_nan());
    }
}

#[test]
fn every_triangle_hit_passes_its_own_box() {
    // Axis-aligned rays in planes of the box are the hard case.
    let mut rejected = 0;
    for i in 0..200_000 {
        let p = [random_point(i, 0, 10.0), random_point(i, 1, 10.0), random_point(i, 2, 10.0)];
        let r = random(i, 3);
        let (u, v) = (r[0] * 0.5, r[1] * 0.5);
        let target =
            if i % 3 == 0 { p[(i / 3 % 3) as usize] } else { p[0] * (1.0 - u - v) + p[1] * u + p[2] * v };
        let mut direction = random_point(i, 4, 1.0);
        match i % 4 {
            0 => direction = vec3(0.0, direction.y, direction.z),
            1 => direction = vec3(0.0, 0.0, direction.z),
            _ => {}
        }
        let origin = target - direction * (1.0 + 100.0 * r[2]);
        if let Some((t, ..)) = triangle(origin, &Shear::new(direction), p)
            && t > 0.0
            && accept(&Slabs::new(origin, direction), triangle_box(p), t, 0.0).is_none()
        {
            rejected += 1;
        }
    }
    assert_eq!(rejected, 0);
}

#[test]
fn sphere_distances_match_double_precision() {
    for i in 0..50_000 {
        let center = random_point(i, 0, 5.0);
        let radius = 0.1 + random(i, 1)[0];
        let origin = random_point(i, 2, 20.0);
        let direction = normalize(center + random_point(i, 3, 0.55 * radius) - origin);
        let (near, far) = sphere(origin, direction, center, radius).unwrap();
        let d = |a: Vec3, b: Vec3| {
            f64::from(a.x) * f64::from(b.x)
                + f64::from(a.y) * f64::from(b.y)
                + f64::from(a.z) * f64::from(b.z)
        };
        let oc = origin - center;
        let (qa, qb, qc) = (d(direction, direction), d(oc, direction), d(oc, oc) - f64::from(radius).powi(2));
        let root = (qb * qb - qa * qc).sqrt();
        let expected = ((-qb - root) / qa, (-qb + root) / qa);
        assert!((f64::from(near) - expected.0).abs() < 2e-4, "{i}: {near} {expected:?}");
        assert!((f64::from(far) - expected.1).abs() < 2e-4, "{i}: {far} {expected:?}");
    }
}

#[test]
fn origins_are_moved_to_the_side_that_is_left_to() {
    let n = vec3(0.0, 1.0, 0.0);
    let p = vec3(3.0, 2.0, 1.0);
    assert!(offset_origin(p, n, vec3(0.5, 0.5, 0.0), 3.0).y > 2.0);
    assert!(offset_origin(p, n, vec3(0.5, -0.5, 0.0), 3.0).y < 2.0);
}
