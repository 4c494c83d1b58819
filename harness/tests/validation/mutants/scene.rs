//! A small room whose image every mutant changes.

use lockstep_core::math::vec3::{Vec3, normalize, vec3};
use lockstep_core::scene::camera::Camera;
use lockstep_core::scene::{
    Affine, EnvironmentLight, Flatten, IDENTITY, Material, MeshData, Sampler, Sphere, TextureTransform,
    Vertex, Wrap,
};
use lockstep_core::{Result, Scene, SceneBuilder};

/// The alpha of the holes' rims, which is the cutoff to the bit: 51 of 255 as the lookup gives it.
const RIM: u8 = 51;

/// The room, with or without masked screens in it.
pub(super) fn mutant_scene(masked: bool) -> Result<Scene> {
    let mut b = SceneBuilder::new("mutant_scene");
    b.flatten = Flatten::Never;
    b.environment = EnvironmentLight::Constant(Vec3::splat(0.15));
    b.camera = Camera {
        eye: vec3(0.0, 1.6, 4.6),
        direction: vec3(0.0, -0.14, -1.0),
        vertical_fov: 0.9,
        ..Camera::default()
    };
    let textures = textures(&mut b)?;
    let floor = Material {
        base_color_texture: textures[0],
        normal_texture: textures[1],
        normal_scale: 1.0,
        ..Material::principled([1.0; 3], 0.1, 0.55)
    };
    room(&mut b, floor);
    if masked {
        screens(&mut b, textures[2]);
    }
    boulders(&mut b, textures[0]);
    lights(&mut b);
    spare(&mut b);
    b.build()
}

/// Colours with contrast, bumps, and a mask with holes, rims and opaque parts.
fn textures(b: &mut SceneBuilder) -> Result<[u32; 3]> {
    let pixels =
        |f: &dyn Fn(u32, u32) -> [u8; 4]| -> Vec<u8> { (0..64).flat_map(|i| f(i % 8, i / 8)).collect() };
    let tiles = b.image(8, 8, &pixels(&|x, y| [(60 + x * 24) as u8, (220 - y * 20) as u8, 120, 255]))?;
    let bumps = b.image(8, 8, &pixels(&|x, y| [128, if (x + y) % 2 == 0 { 190 } else { 150 }, 220, 255]))?;
    let mask =
        b.image(8, 8, &pixels(&|x, y| [90, 170, 80, [0, RIM, 255][((x / 2 + y / 2) % 3) as usize]]))?;
    let repeat = |nearest| Sampler { wrap_u: Wrap::Repeat, wrap_v: Wrap::Repeat, nearest };
    let plain = TextureTransform::default();
    Ok([
        b.texture(tiles, true, repeat(false), 0, plain),
        b.texture(bumps, false, repeat(false), 0, plain),
        b.texture(mask, true, repeat(true), 0, plain),
    ])
}

/// A quadrilateral with texture coordinates from 0 to `repeats` and tangents of negative handedness.
fn quad(corners: [[f32; 3]; 4], repeats: f32, material: u32) -> MeshData {
    let [a, b, _, d] = corners.map(Vec3::from);
    let tangent = normalize(b - a);
    let normal = normalize(lockstep_core::math::vec3::cross(b - a, d - a));
    let vertex = |uv0| Vertex { normal, uv0, ..Vertex::PLAIN }.with_tangent(tangent, -1.0);
    MeshData {
        positions: corners.to_vec(),
        vertices: [[0.0, 0.0], [repeats, 0.0], [repeats, repeats], [0.0, repeats]].map(vertex).to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        materials: vec![material],
        spheres: Vec::new(),
    }
}

fn place(b: &mut SceneBuilder, mesh: MeshData) {
    let mesh = b.mesh(mesh);
    b.instance(mesh, IDENTITY);
}

/// A tiled floor, and walls that are seen from their back.
fn room(b: &mut SceneBuilder, floor: Material) {
    let floor = b.material(floor);
    let wall = b.material(Material::diffuse([0.6, 0.55, 0.5]));
    let ground = [[-3.0, 0.0, 3.0], [3.0, 0.0, 3.0], [3.0, 0.0, -3.0], [-3.0, 0.0, -3.0]];
    place(b, quad(ground, 4.0, floor));
    let back = [[3.0, 0.0, -3.0], [-3.0, 0.0, -3.0], [-3.0, 3.5, -3.0], [3.0, 3.5, -3.0]];
    place(b, quad(back, 1.0, wall));
    let left = [[-3.0, 0.0, -3.0], [-3.0, 0.0, 3.0], [-3.0, 3.5, 3.0], [-3.0, 3.5, -3.0]];
    place(b, quad(left, 1.0, wall));
}

/// Masked screens before the wall, whose alpha meets the cutoff in part.
fn screens(b: &mut SceneBuilder, mask: u32) {
    let cutoff = f32::from(RIM) * (1.0 / 255.0);
    let leaf = b.material(Material {
        base_color_texture: mask,
        alpha_mode: 1,
        alpha_cutoff: cutoff,
        ..Material::diffuse([1.0; 3])
    });
    for x in [-2.2, 0.7] {
        let corners = [[x, 0.3, -1.6], [x + 1.5, 0.3, -1.6], [x + 1.5, 2.4, -1.6], [x, 2.4, -1.6]];
        place(b, quad(corners, 1.0, leaf));
    }
}

/// Stretched, smoothly shaded blocks, and balls of rough metal and of varnish.
fn boulders(b: &mut SceneBuilder, tiles: u32) {
    let stone =
        b.material(Material { base_color_texture: tiles, ..Material::principled([0.9; 3], 0.0, 0.4) });
    let octahedron = b.mesh(octahedron(stone));
    let stretched: [Affine; 2] = [
        [[0.9, 0.0, 0.0, -1.5], [0.0, 0.35, 0.0, 0.4], [0.0, 0.0, 0.6, 0.9]],
        [[0.3, 0.1, 0.0, 1.9], [0.0, 0.8, 0.0, 0.8], [0.0, 0.0, -0.5, 0.4]],
    ];
    for object_to_world in stretched {
        b.instance(octahedron, object_to_world);
    }
    let metal = b.material(Material::conductor([0.95, 0.75, 0.4], 0.5));
    let varnish = b.material(Material::principled([0.7, 0.2, 0.2], 0.0, 0.3));
    for (center, radius, material) in [([-0.3, 0.5, 1.0], 0.5, metal), ([0.9, 0.4, 1.5], 0.4, varnish)] {
        let spheres = vec![Sphere { center: Vec3::from(center), radius, material, ..Sphere::default() }];
        place(b, MeshData { spheres, ..MeshData::default() });
    }
}

/// Smooth normals point outward from the centre.
fn octahedron(material: u32) -> MeshData {
    let corners = [
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    let vertex =
        |p: [f32; 3]| Vertex { normal: Vec3::from(p), uv0: [2.0 * p[0] + p[2], 2.0 * p[1]], ..Vertex::PLAIN };
    MeshData {
        positions: corners.to_vec(),
        vertices: corners.map(vertex).to_vec(),
        triangles: vec![
            [0, 2, 4],
            [2, 1, 4],
            [1, 3, 4],
            [3, 0, 4],
            [2, 0, 5],
            [1, 2, 5],
            [3, 1, 5],
            [0, 3, 5],
        ],
        materials: vec![material],
        spheres: Vec::new(),
    }
}

/// Panels under the ceiling, facing down, of unequal size and power.
fn lights(b: &mut SceneBuilder) {
    let panels = [(-1.8, 0.9, [9.0, 6.0, 4.0]), (0.2, 0.4, [16.0, 18.0, 20.0]), (1.8, 0.7, [3.0, 6.0, 9.0])];
    for (x, side, radiance) in panels {
        let glow = b.material(Material::emitter(radiance));
        let corners =
            [[x, 3.2, -0.5], [x + side, 3.2, -0.5], [x + side, 3.2, -0.5 + side], [x, 3.2, -0.5 + side]];
        place(b, quad(corners, 1.0, glow));
    }
}

/// Vertices that nothing uses, last in the scene: room for a wrong stride to read without leaving the array.
fn spare(b: &mut SceneBuilder) {
    let dark = b.material(Material::diffuse([0.0; 3]));
    let positions = (0..64).map(|i| [0.01 * i as f32, -9.0, 0.02 * (i % 7) as f32]).collect();
    let triangles = vec![[0, 1, 2]];
    place(b, MeshData { positions, triangles, materials: vec![dark], ..MeshData::default() });
}
