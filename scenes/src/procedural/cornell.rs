//! The Cornell box: measured geometry in millimetres (Cornell University Program of Graphics, *Cornell Box
//! Data*), reflectances and lamp as their usual conversion from the measured spectra to linear Rec. 709 RGB.

use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::{Camera, IDENTITY, Material, MeshData, SceneBuilder};
use lockstep_core::{Result, Scene};

type Quad = [[f32; 3]; 4];

const FLOOR: Quad = [[552.8, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 559.2], [549.6, 0.0, 559.2]];
const BACK: Quad = [[549.6, 0.0, 559.2], [0.0, 0.0, 559.2], [0.0, 548.8, 559.2], [556.0, 548.8, 559.2]];
const RIGHT: Quad = [[0.0, 0.0, 559.2], [0.0, 0.0, 0.0], [0.0, 548.8, 0.0], [0.0, 548.8, 559.2]];
const LEFT: Quad = [[552.8, 0.0, 0.0], [549.6, 0.0, 559.2], [556.0, 548.8, 559.2], [556.0, 548.8, 0.0]];
const LAMP: Quad =
    [[343.0, 548.8, 227.0], [343.0, 548.8, 332.0], [213.0, 548.8, 332.0], [213.0, 548.8, 227.0]];
/// The ceiling's outline; the lamp fills a hole in it.
const CEILING: Quad = [[556.0, 548.8, 0.0], [556.0, 548.8, 559.2], [0.0, 548.8, 559.2], [0.0, 548.8, 0.0]];

const SHORT_BLOCK: [Quad; 5] = [
    [[130.0, 165.0, 65.0], [82.0, 165.0, 225.0], [240.0, 165.0, 272.0], [290.0, 165.0, 114.0]],
    [[290.0, 0.0, 114.0], [290.0, 165.0, 114.0], [240.0, 165.0, 272.0], [240.0, 0.0, 272.0]],
    [[130.0, 0.0, 65.0], [130.0, 165.0, 65.0], [290.0, 165.0, 114.0], [290.0, 0.0, 114.0]],
    [[82.0, 0.0, 225.0], [82.0, 165.0, 225.0], [130.0, 165.0, 65.0], [130.0, 0.0, 65.0]],
    [[240.0, 0.0, 272.0], [240.0, 165.0, 272.0], [82.0, 165.0, 225.0], [82.0, 0.0, 225.0]],
];

const TALL_BLOCK: [Quad; 5] = [
    [[423.0, 330.0, 247.0], [265.0, 330.0, 296.0], [314.0, 330.0, 456.0], [472.0, 330.0, 406.0]],
    [[423.0, 0.0, 247.0], [423.0, 330.0, 247.0], [472.0, 330.0, 406.0], [472.0, 0.0, 406.0]],
    [[472.0, 0.0, 406.0], [472.0, 330.0, 406.0], [314.0, 330.0, 456.0], [314.0, 0.0, 456.0]],
    [[314.0, 0.0, 456.0], [314.0, 330.0, 456.0], [265.0, 330.0, 296.0], [265.0, 0.0, 296.0]],
    [[265.0, 0.0, 296.0], [265.0, 330.0, 296.0], [423.0, 330.0, 247.0], [423.0, 0.0, 247.0]],
];

/// 35 mm lens before a film of 25 by 25 mm: `2 atan(12.5 / 35)`.
const VERTICAL_FOV: f32 = 0.686_043_25;

/// Builds the scene.
pub(super) fn build() -> Result<Scene> {
    let mut b = SceneBuilder::new("cornell");
    b.camera = Camera {
        eye: vec3(278.0, 273.0, -800.0),
        direction: vec3(0.0, 0.0, 1.0),
        vertical_fov: VERTICAL_FOV,
        ..Camera::default()
    };
    let white = b.material(Material::diffuse([0.725, 0.71, 0.68]));
    let red = b.material(Material::diffuse([0.63, 0.065, 0.05]));
    let green = b.material(Material::diffuse([0.14, 0.45, 0.091]));
    let lamp =
        b.material(Material { base_color: vec3(0.78, 0.78, 0.78), ..Material::emitter([17.0, 12.0, 4.0]) });
    let mut mesh = MeshData::default();
    for (quad, material) in [(FLOOR, white), (BACK, white), (RIGHT, green), (LEFT, red), (LAMP, lamp)] {
        add(&mut mesh, quad, material);
    }
    for side in 0..4 {
        let next = (side + 1) % 4;
        add(&mut mesh, [CEILING[side], CEILING[next], LAMP[next], LAMP[side]], white);
    }
    for quad in SHORT_BLOCK.into_iter().chain(TALL_BLOCK) {
        add(&mut mesh, quad, white);
    }
    let mesh = b.mesh(mesh);
    b.instance(mesh, IDENTITY);
    b.build()
}

fn add(mesh: &mut MeshData, quad: Quad, material: u32) {
    let base = mesh.positions.len() as u32;
    mesh.positions.extend(quad);
    mesh.triangles.extend([[base, base + 1, base + 2], [base, base + 2, base + 3]]);
    mesh.materials.extend([material; 2]);
}
