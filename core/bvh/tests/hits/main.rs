//! Hits do not depend on the BVH, and no ray leaks. The library's own tests would have to compile all traversal a second
//! time.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

#[path = "../../src/test_cases.rs"]
mod test_cases;

use lockstep_bvh::{
    BruteForce, BuildSettings, Bvh2, Bvh8, Candidates8, LeafPrimitive, NODE_WIDENING, Node, PreSplit, Rays8,
    Scratch, Scratch8, Split, confirm, instance_boxes,
};
use lockstep_core::geometry::{ClipBox, FAR, Hit, Ray, Slabs};
use lockstep_core::math::vec3::{Vec3, max_abs_component, normalize, vec3};
use lockstep_core::scene::{Affine, AlphaMode, Flatten, Material, MeshData, Scene, SceneBuilder, Sphere};
use test_cases::{BUILDS, WIDE_BUILDS, bits, key, random, random_point, ray};

/// A rotation, stretch and shift; mirrored for odd `i`.
fn placement(i: u32) -> Affine {
    let n = normalize(random_point(i, 40, 1.0));
    let (s, t) = lockstep_core::math::sampling::frame(n);
    let r = random(i, 41);
    let (a, b, c) = (0.5 + r[0], 0.5 + r[1], if i % 2 == 1 { -0.5 - r[2] } else { 0.5 + r[2] });
    let p = random_point(i, 42, 8.0);
    [[s.x * a, t.x * b, n.x * c, p.x], [s.y * a, t.y * b, n.y * c, p.y], [s.z * a, t.z * b, n.z * c, p.z]]
}

/// Random triangles, large ones among them, duplicated ones for ties, flat ones, masked ones, spheres; and
/// several instances of them.
fn mixture() -> Scene {
    let mut b = SceneBuilder::new("mixture");
    b.flatten = Flatten::Never;
    let opaque = b.material(Material::diffuse([0.5; 3]));
    let partial = b.material(Material {
        alpha: 0.5,
        alpha_mode: AlphaMode::Blend as u32,
        ..Material::diffuse([0.5; 3])
    });
    let mut soup = MeshData::default();
    for i in 0..300u32 {
        let center = random_point(i, 0, 3.0);
        let extent = if i % 7 == 3 { 4.0 } else { 0.7 };
        let base = soup.positions.len() as u32;
        for k in 0..3 {
            let mut p = center + random_point(i, 1 + k, extent);
            if i % 5 == 0 {
                p.y = center.y;
            }
            soup.positions.push(p.to_array());
        }
        soup.triangles.push([base, base + 1, base + 2]);
        soup.materials.push(if i % 4 == 0 { partial } else { opaque });
        if i % 10 == 0 {
            soup.triangles.push([base, base + 1, base + 2]);
            soup.materials.push(opaque);
        }
    }
    let soup = b.mesh(soup);
    b.instance(soup, lockstep_core::scene::IDENTITY);
    for i in 0..6 {
        b.instance(soup, placement(i));
    }
    let balls = (0..20)
        .map(|i| Sphere { center: random_point(i, 9, 5.0), radius: 0.3, material: opaque, reserved: [0; 3] })
        .collect();
    let balls = b.mesh(MeshData { spheres: balls, ..MeshData::default() });
    b.instance(balls, lockstep_core::scene::IDENTITY);
    b.instance(balls, [[0.0, -2.0, 0.0, 1.0], [2.0, 0.0, 0.0, 2.0], [0.0, 0.0, 2.0, -3.0]]);
    b.build().unwrap()
}

/// A closed sphere mesh with shared vertices.
fn closed_mesh(rings: u32, segments: u32) -> Scene {
    closed(rings, segments, |_, _| {})
}

/// The triangles of the closed mesh in [`long_among_specks`].
const LONG: usize = 80;

/// A closed mesh of few long triangles, and outside of it many small ones, so that the long ones are split.
fn long_among_specks() -> Scene {
    closed(3, 20, |data, material| {
        for i in 0..4_000 {
            let at = normalize(random_point(i, 50, 1.0)) * (1.01 + 0.2 * random(i, 51)[0]);
            let base = data.positions.len() as u32;
            for k in 0..3 {
                data.positions.push((at + random_point(i, 52 + k, 0.003)).to_array());
            }
            data.triangles.push([base, base + 1, base + 2]);
            data.materials.push(material);
        }
    })
}

fn closed(rings: u32, segments: u32, more: impl FnOnce(&mut MeshData, u32)) -> Scene {
    let mut b = SceneBuilder::new("closed");
    let m = b.material(Material::diffuse([0.5; 3]));
    let mut data = MeshData::default();
    data.positions.push([0.0, 1.0, 0.0]);
    for ring in 1..rings {
        let (sin, cos) = lockstep_core::math::sin_cos_turns(0.5 * ring as f32 / rings as f32);
        for segment in 0..segments {
            let (s, c) = lockstep_core::math::sin_cos_turns(segment as f32 / segments as f32);
            data.positions.push([sin * c, cos, sin * s]);
        }
    }
    data.positions.push([0.0, -1.0, 0.0]);
    let at = |ring: u32, segment: u32| 1 + (ring - 1) * segments + segment % segments;
    let last = (rings - 1) * segments + 1;
    for k in 0..segments {
        data.triangles.push([0, at(1, k + 1), at(1, k)]);
        data.triangles.push([last, at(rings - 1, k), at(rings - 1, k + 1)]);
        for ring in 1..rings - 1 {
            data.triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k)]);
            data.triangles.push([at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
    }
    data.materials = vec![m; data.triangles.len()];
    more(&mut data, m);
    let mesh = b.mesh(data);
    b.instance(mesh, lockstep_core::scene::IDENTITY);
    b.build().unwrap()
}

#[test]
fn hits_do_not_depend_on_the_bvh() {
    let scene = mixture();
    let (boxes, definition) = (instance_boxes(&scene), BruteForce::new(&scene));
    let splits: Vec<PreSplit> = scene.meshes.iter().map(|mesh| PreSplit::of(&scene, mesh)).collect();
    let trees = BUILDS.map(|b| Bvh2::build(&scene, &b));
    let wide_trees = WIDE_BUILDS.map(|b| Bvh8::build(&scene, &b));
    let (mut scratch, mut scratch8) = (Scratch::default(), Scratch8::default());
    let (mut found, mut presplit) = (0, 0);
    for i in 0..30_000 {
        let ray = ray(&scene, i);
        let expected = definition.closest_hit(&ray, key(i));
        found += u32::from(expected.is_some());
        for (tree, build) in trees.iter().zip(&BUILDS) {
            let hit = tree.closest_hit(&scene, &ray, key(i), &mut scratch);
            assert_eq!(bits(&hit), bits(&expected), "ray {i} {ray:?} with {build:?}");
            assert_eq!(
                tree.any_hit(&scene, &ray, key(i), &mut scratch),
                expected.is_some(),
                "any hit of ray {i}"
            );
        }
        for (tree, build) in wide_trees.iter().zip(&WIDE_BUILDS) {
            let hit = tree.closest_hit(&scene, &ray, key(i), &mut scratch8);
            assert_eq!(bits(&hit), bits(&expected), "ray {i} {ray:?} with eight children, {build:?}");
            let hit = tree.closest_hit_portable(&scene, &ray, key(i), &mut scratch8);
            assert_eq!(bits(&hit), bits(&expected), "ray {i} {ray:?} with eight children, portably");
            let any = tree.any_hit(&scene, &ray, key(i), &mut scratch8);
            assert_eq!(any, expected.is_some(), "any hit of ray {i} with eight children");
            let any = tree.any_hit_portable(&scene, &ray, key(i), &mut scratch8);
            assert_eq!(any, expected.is_some(), "any hit of ray {i} with eight children, portably");
        }
        if expected.is_some() {
            let mesh = scene.instances[expected.instance as usize].mesh as usize;
            let whole = LeafPrimitive::of(&scene, &scene.meshes[mesh], expected.primitive);
            let of_it = splits[mesh].of_triangle(expected.primitive);
            presplit += u32::from(!of_it.is_empty());
            let clips = of_it.iter().map(|reference| reference.clip);
            let candidates = clips.chain(of_it.is_empty().then_some(ClipBox::NONE)).map(|c| whole.clipped(c));
            let confirmed = confirm(&scene, &boxes, &ray, key(i), expected.instance, candidates);
            assert_eq!(confirmed.map(|hit| bits(&hit)), Some(bits(&expected)));
        }
    }
    assert!(found > 10_000, "only {found} rays hit anything");
    assert!(presplit > 1_000, "only {presplit} rays hit split triangles");
}

/// Candidates confirmed eight at a time equal those confirmed one by one, except those left to the scalar
/// test.
#[test]
fn eight_candidates_are_confirmed_as_each_alone() {
    let scene = closed_mesh(12, 24);
    let boxes = instance_boxes(&scene);
    const EDGE: f32 = 1.0 / 64.0;
    let (mut taken, mut inside, mut left) = (0, 0, 0);
    for first in (0..40_000).step_by(8) {
        let lanes: Vec<(Ray, LeafPrimitive)> = (first..first + 8).map(|i| candidate(&scene, i)).collect();
        let skipped = first as usize / 8 % 9;
        let rays = Rays8::new(|lane| &lanes[lane].0);
        let mut together = Candidates8::new(&rays);
        for (lane, (_, triangle)) in lanes.iter().enumerate() {
            together.put(lane, triangle, lane != skipped);
        }
        let confirmed = together.confirm(EDGE);
        for (lane, (ray, triangle)) in lanes.iter().enumerate() {
            let alone = confirm(&scene, &boxes, ray, key(first), 0, [*triangle].into_iter())
                .filter(|_| lane != skipped);
            let (hit, confirmed_inside) = (confirmed.hit(lane, 0), confirmed.inside() >> lane & 1 != 0);
            assert_eq!(confirmed.is_hit(lane), hit.is_some());
            if confirmed.is_hit(lane) {
                assert_eq!(Some(bits(&hit)), alone.map(|hit| bits(&hit)), "{ray:?} {triangle:?}");
                let is_inside = hit.u.min(hit.v).min(1.0 - hit.u - hit.v) >= EDGE;
                assert_eq!(confirmed_inside, is_inside, "{hit:?}");
                inside += u32::from(is_inside);
                taken += 1;
            } else {
                assert_eq!((bits(&hit), confirmed_inside), (bits(&Hit::none(ray.t_max)), false));
                let inside = (first + lane as u32) % 5 > 1;
                left += u32::from(alone.is_some() && inside);
            }
        }
    }
    assert!(taken > 5_000, "{taken} taken");
    assert!(inside > taken / 2 && inside < taken, "{inside} inside of {taken} taken");
    assert!(left < taken / 100, "{left} hits within triangles left to the scalar test, {taken} taken");
}

/// A ray into the closed mesh, and a triangle that it may meet: at a vertex, an edge, within or nearby, from
/// inside or out, along an axis or not, and with an end before or behind it.
fn candidate(scene: &Scene, i: u32) -> (Ray, LeafPrimitive) {
    let r = random(i, 71);
    let triangle = LeafPrimitive::of(scene, &scene.meshes[0], (r[0] * scene.triangles.len() as f32) as u32);
    let (a, b, c) = (triangle.p0, triangle.p1, triangle.p2);
    let target = match i % 5 {
        0 => a,
        1 => a * (1.0 - r[1]) + b * r[1],
        _ => a + (b - a) * (1.4 * r[1] - 0.2) + (c - a) * (1.4 * r[2] - 0.2),
    };
    let mut origin = random_point(i, 72, if i.is_multiple_of(3) { 30.0 } else { 0.5 });
    if i.is_multiple_of(7) {
        (origin.y, origin.z) = (target.y, target.z);
    }
    let t_max = if i.is_multiple_of(4) { 2.0 * r[3] } else { FAR };
    (
        Ray {
            origin,
            t_min: if i.is_multiple_of(11) { 0.9 } else { 0.0 },
            direction: target - origin,
            t_max,
        },
        triangle,
    )
}

#[test]
fn no_ray_leaks_through_a_closed_mesh() {
    let scene = closed_mesh(24, 48);
    leaks(&scene, scene.triangles.len());
}

#[test]
fn no_ray_leaks_through_a_closed_mesh_of_split_triangles() {
    let scene = long_among_specks();
    let split = PreSplit::of(&scene, &scene.meshes[0]);
    let many = (0..LONG as u32).filter(|&i| split.of_triangle(i).len() > 1).count();
    assert!(many > LONG / 2, "{many} triangles split");
    leaks(&scene, LONG);
}

/// Traces rays from within a closed mesh, which the first triangles make.
fn leaks(scene: &Scene, closed: usize) {
    let tree = Bvh2::build(scene, &BuildSettings::default());
    let wide_tree = Bvh8::build(scene, &Bvh8::SETTINGS);
    let (mut scratch, mut scratch8) = (Scratch::default(), Scratch8::default());
    for i in 0..60_000 {
        // From inside, towards vertices, edges and faces.
        let origin = random_point(i, 30, 0.5);
        let t = &scene.triangles[(i as usize) % closed];
        let p = t.vertices.map(|v| Vec3::from(scene.positions[v as usize]));
        let r = random(i, 31);
        let target = match i % 3 {
            0 => p[(i / 3 % 3) as usize],
            1 => p[0] * (1.0 - r[0]) + p[1] * r[0],
            _ => p[0] * (1.0 - r[0]) + (p[1] * (1.0 - r[1]) + p[2] * r[1]) * r[0],
        };
        let ray = Ray { origin, t_min: 0.0, direction: target - origin, t_max: FAR };
        let hit = tree.closest_hit(scene, &ray, key(i), &mut scratch);
        assert!(hit.is_some() && (hit.primitive as usize) < closed, "ray {i} leaked: {ray:?}");
        assert!(wide_tree.any_hit(scene, &ray, key(i), &mut scratch8), "ray {i} leaked: {ray:?}");
    }
}

#[test]
fn builds_do_not_depend_on_the_number_of_threads() {
    let scene = closed_mesh(128, 128);
    let build = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Bvh2::build(&scene, &BuildSettings::default()))
    };
    let (one, four) = (build(1), build(4));
    assert_eq!(one.nodes, four.nodes);
    assert_eq!(one.primitives, four.primitives);
    let build = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Bvh8::build(&scene, &Bvh8::SETTINGS))
    };
    assert_eq!(build(1), build(4));
}

#[test]
fn scenes_without_geometry_are_traversable() {
    let scene = SceneBuilder::new("empty").build().unwrap();
    let tree = Bvh2::build(&scene, &BuildSettings::default());
    let ray = Ray { origin: Vec3::ZERO, t_min: 0.0, direction: vec3(0.0, 0.0, 1.0), t_max: FAR };
    let mut scratch = Scratch::default();
    assert!(!tree.closest_hit(&scene, &ray, key(0), &mut scratch).is_some());
    assert!(!tree.any_hit(&scene, &ray, key(0), &mut scratch));
    let (tree, mut scratch) = (Bvh8::build(&scene, &Bvh8::SETTINGS), Scratch8::default());
    assert!(!tree.closest_hit(&scene, &ray, key(0), &mut scratch).is_some());
    assert!(!tree.any_hit(&scene, &ray, key(0), &mut scratch));
}

/// The slab test of `bvh_enter` in `kernels/bvh/bvh2.h` on a node's first child, with exits widened by
/// `widening` units in the last place.
fn kernel_hits(node: &Node, slabs: &Slabs, t_last: f32, widening: u32) -> bool {
    let [cx, hx, cy, hy] = node.xy0;
    let [cz, hz, ..] = node.z;
    let (o, i) = ((slabs.origin * slabs.inverse).to_array(), slabs.inverse.to_array());
    let planes = [(cx, hx, 0), (cy, hy, 1), (cz, hz, 2)].map(|(c, h, k): (f32, f32, usize)| {
        let middle = c.mul_add(i[k], -o[k]);
        [(-h).mul_add(i[k].abs(), middle), h.mul_add(i[k].abs(), middle)].map(|t| t.to_bits() as i32)
    });
    let widened = |bits: i32| bits.wrapping_add(widening as i32);
    let [entry, exit] = [
        planes.iter().map(|[entry, _]| *entry).max().unwrap(),
        planes.iter().map(|[_, exit]| *exit).min().unwrap(),
    ];
    entry <= widened(exit).min(widened(t_last.to_bits() as i32))
}

#[test]
fn a_ray_that_hits_a_box_hits_every_node_around_it() {
    let (mut met, mut from_afar, mut closely) = (0, 0, 0);
    for i in 0..2_000_000u32 {
        let [r, s] = [random(i, 70), random(i, 71)];
        let scale = [1e-6, 1.0, 1e6][(i % 3) as usize];
        let off = [0.0, 1.0, 1e3][(r[0] * 3.0) as usize];
        // A box, often flat, somewhere; and one around it that shares some of its faces.
        let (corner, shift) = (random_point(i, 72, scale), random_point(i, 73, off * scale));
        let size = random_point(i, 74, scale * [1.0, 1e-3, 1e-7][(r[1] * 3.0) as usize]).to_array();
        let size = size.map(|v| if (v.to_bits() >> 3) & 3 == 0 { 0.0 } else { v.abs() });
        let lo = corner + shift;
        let hi = lo + Vec3::from(size);
        let more = [random_point(i, 75, scale), random_point(i, 76, scale)]
            .map(|p| Vec3::from(p.to_array().map(|v| v.max(0.0))));
        let around = [lo - more[0], hi + more[1]];
        let farthest = f32::max(max_abs_component(around[0]), max_abs_component(around[1]));
        let node = Node::new([around; 2], [0; 2], farthest);
        // A ray at a corner, an edge, a face or the inside, some along an axis, some from within a face's
        // plane.
        let target = |k: usize| {
            let at = [0.0, 1.0, r[2], s[1]][(s[k] * 4.0) as usize];
            lo.to_array()[k] + at * size[k]
        };
        let target = vec3(target(0), target(1), target(2));
        let spread = scale * [1.0, off.max(1.0), 1e4][(r[3] * 3.0) as usize];
        let mut origin = random_point(i, 77, spread).to_array();
        for (k, coordinate) in origin.iter_mut().enumerate() {
            match (s[3] * 64.0) as u32 >> (2 * k) & 3 {
                0 => *coordinate = target.to_array()[k],
                1 => *coordinate = hi.to_array()[k],
                _ => {}
            }
        }
        let origin = Vec3::from(origin);
        let slabs = Slabs::new(origin, normalize(target - origin + random_point(i, 78, scale * 1e-7)));
        let (entry, exit) = slabs.interval(lo, hi);
        let nearest = f32::max(entry, 0.0);
        if nearest <= exit {
            met += 1;
            from_afar += u32::from(max_abs_component(origin) > 4.0 * farthest);
            closely += u32::from(!kernel_hits(&node, &slabs, nearest, 0));
            let holds = kernel_hits(&node, &slabs, nearest, NODE_WIDENING);
            assert!(holds, "{i}: {lo:?} {hi:?} {around:?} {slabs:?}");
        }
    }
    assert!(met > 500_000 && from_afar > 50_000, "{met}, {from_afar}");
    assert!(closely > 1_000, "{closely} need what exits are widened by");
}
