//! Scenes and random numbers of the tests.

use lockstep_core::math::rng::{pcg4d, uniform};
use lockstep_core::math::sampling::frame;
use lockstep_core::math::sin_cos_turns;
use lockstep_core::math::vec3::{Vec3, normalize, vec3};
use lockstep_core::scene::{
    Affine, AlphaMode, Flatten, IDENTITY, Material, MeshData, Sampler, Sphere, TextureTransform, Vertex,
};
use lockstep_core::{Scene, SceneBuilder};

pub(super) fn random(i: u32, stream: u32) -> [f32; 4] {
    pcg4d([i, stream, 77, 5]).map(uniform)
}

pub(super) fn random_point(i: u32, stream: u32, extent: f32) -> Vec3 {
    let r = random(i, stream);
    (vec3(r[0], r[1], r[2]) - Vec3::splat(0.5)) * (2.0 * extent)
}

pub(super) fn random_direction(i: u32) -> Vec3 {
    normalize(random_point(i, 33, 1.0))
}

/// A rotation, stretch and shift; mirrored for odd `i`.
pub(super) fn placement(i: u32) -> Affine {
    let n = normalize(random_point(i, 40, 1.0));
    let (s, t) = frame(n);
    let r = random(i, 41);
    let (a, b, c) = (0.5 + r[0], 0.5 + r[1], if i % 2 == 1 { -0.5 - r[2] } else { 0.5 + r[2] });
    let p = random_point(i, 42, 8.0);
    [[s.x * a, t.x * b, n.x * c, p.x], [s.y * a, t.y * b, n.y * c, p.y], [s.z * a, t.z * b, n.z * c, p.z]]
}

/// Random triangles, some with alpha blend or mask; and spheres, some with alpha blend.
pub(super) fn soup(b: &mut SceneBuilder, spheres: u32) -> MeshData {
    let checkers =
        [[255, 255, 255, 255], [255, 255, 255, 0], [255, 255, 255, 0], [255, 255, 255, 255]].concat();
    let image = b.image(2, 2, &checkers).unwrap();
    let leaf = b.texture(image, true, Sampler::default(), 0, TextureTransform::default());
    let opaque = b.material(Material::diffuse([0.5; 3]));
    let blend = AlphaMode::Blend as u32;
    let blended = b.material(Material { alpha: 0.5, alpha_mode: blend, ..Material::diffuse([0.5; 3]) });
    let mask = AlphaMode::Mask as u32;
    let masked =
        b.material(Material { base_color_texture: leaf, alpha_mode: mask, ..Material::diffuse([0.5; 3]) });
    let mut mesh = MeshData::default();
    for i in 0..400 {
        let center = random_point(i, 0, 3.0);
        let base = mesh.positions.len() as u32;
        for k in 0..3 {
            mesh.positions.push((center + random_point(i, 1 + k, 0.7)).to_array());
            let r = random(i, 4 + k);
            mesh.vertices.push(Vertex { uv0: [r[0] * 3.0, r[1] * 3.0], ..Vertex::PLAIN });
        }
        mesh.triangles.push([base, base + 1, base + 2]);
        mesh.materials.push([opaque, blended, masked, opaque][i as usize % 4]);
    }
    mesh.spheres = (0..spheres)
        .map(|i| {
            let material = if i % 3 == 0 { blended } else { opaque };
            Sphere { center: random_point(i, 9, 4.0), radius: 0.3, material, reserved: [0; 3] }
        })
        .collect();
    mesh
}

/// Instances of a soup, and a mesh with spheres that belongs to the top-level scene.
pub(super) fn instances() -> Scene {
    let mut b = SceneBuilder::new("instances");
    b.flatten = Flatten::Never;
    let mesh = soup(&mut b, 0);
    let mesh = b.mesh(mesh);
    for i in 0..6 {
        b.instance(mesh, placement(i));
    }
    let direct = soup(&mut b, 20);
    let direct = b.mesh(direct);
    b.instance(direct, IDENTITY);
    b.build().unwrap()
}

/// One mesh that belongs to the top-level scene.
pub(super) fn static_mesh(spheres: u32) -> Scene {
    let mut b = SceneBuilder::new("static");
    let mesh = soup(&mut b, spheres);
    let mesh = b.mesh(mesh);
    b.instance(mesh, IDENTITY);
    b.build().unwrap()
}

/// Instanced spheres, one set with a transform that scales and turns them.
pub(super) fn instanced_spheres() -> Scene {
    let mut b = SceneBuilder::new("spheres");
    b.flatten = Flatten::Never;
    let mesh = MeshData { spheres: soup(&mut b, 40).spheres, ..MeshData::default() };
    let mesh = b.mesh(mesh);
    b.instance(mesh, IDENTITY);
    b.instance(mesh, [[0.0, -2.0, 0.0, 1.0], [2.0, 0.0, 0.0, 2.0], [0.0, 0.0, 2.0, -3.0]]);
    b.build().unwrap()
}

/// Quads, each split along one diagonal, along the other and once more the other way round.
pub(super) fn doubled(map: Affine) -> Scene {
    let mut b = SceneBuilder::new("doubled");
    b.flatten = Flatten::Never;
    let material = b.material(Material::diffuse([0.5; 3]));
    let mut mesh = MeshData::default();
    for i in 0..200 {
        let (corner, x) = (random_point(i, 0, 4.0), random_point(i, 1, 1.0));
        let y = random_point(i, 2, 1.0);
        let base = mesh.positions.len() as u32;
        mesh.positions.extend([corner, corner + x, corner + x + y, corner + y].map(Vec3::to_array));
        let split = [[0, 1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 3], [2, 1, 0], [3, 2, 0]];
        mesh.triangles.extend(split.map(|corners| corners.map(|k| base + k)));
    }
    mesh.materials = vec![material; mesh.triangles.len()];
    let mesh = b.mesh(mesh);
    b.instance(mesh, map);
    b.build().unwrap()
}

/// A closed sphere mesh with shared vertices, of radius 1 in object space, and a camera at this distance from
/// the origin.
pub(super) fn closed_mesh(map: Affine, eye: f32) -> Scene {
    closed_mesh_of(24, 48, map, eye)
}

pub(super) fn closed_mesh_of(rings: u32, segments: u32, map: Affine, eye: f32) -> Scene {
    let mut b = SceneBuilder::new("closed");
    b.camera.eye = vec3(0.0, 0.0, eye);
    b.flatten = Flatten::Never;
    let material = b.material(Material::diffuse([0.5; 3]));
    let mut mesh = MeshData { materials: vec![material], ..MeshData::default() };
    for ring in 0..=rings {
        let (sin, cos) = sin_cos_turns(0.5 * ring as f32 / rings as f32);
        for segment in 0..segments {
            let (s, c) = sin_cos_turns(segment as f32 / segments as f32);
            mesh.positions.push([sin * c, cos, sin * s]);
        }
    }
    let at = |ring: u32, segment: u32| {
        if ring == 0 || ring == rings { ring * segments } else { ring * segments + segment % segments }
    };
    for ring in 0..rings {
        for k in 0..segments {
            let corners = [at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)];
            if ring > 0 {
                mesh.triangles.push([corners[0], corners[1], corners[2]]);
            }
            if ring + 1 < rings {
                mesh.triangles.push([corners[0], corners[2], corners[3]]);
            }
        }
    }
    let mesh = b.mesh(mesh);
    b.instance(mesh, map);
    b.build().unwrap()
}
