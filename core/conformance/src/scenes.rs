//! The suite's scenes: small, self-contained, most with a closed-form answer.

mod nested;

pub use nested::{Slab, furnace_of_nested_balls, lamp_in_a_box, nested, slabs};

use lockstep_core::error::Result;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::camera::Camera;
use lockstep_core::scene::{
    AlphaMode, EnvironmentLight, Flatten, IDENTITY, Layers, Material, MeshData, PunctualLight, Sampler,
    Scene, SceneBuilder, Sphere, TextureTransform, Vertex, Wrap,
};
use nested::cuboid;

/// A horizontal square about the origin, facing up.
fn floor(half: f32, material: u32) -> MeshData {
    MeshData {
        positions: vec![[-half, 0.0, -half], [-half, 0.0, half], [half, 0.0, half], [half, 0.0, -half]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        materials: vec![material],
        ..MeshData::default()
    }
}

fn ball(center: [f32; 3], radius: f32, material: u32) -> MeshData {
    let spheres = vec![Sphere { center: center.into(), radius, material, reserved: [0; 3] }];
    MeshData { spheres, ..MeshData::default() }
}

fn place(b: &mut SceneBuilder, mesh: MeshData) {
    let mesh = b.mesh(mesh);
    b.instance(mesh, IDENTITY);
}

/// A narrow view from `eye` to `target`.
fn spot_camera(eye: Vec3, target: Vec3, degrees: f32) -> Camera {
    let direction = target - eye;
    let up =
        if direction.x.abs() + direction.z.abs() < 1e-3 { vec3(0.0, 0.0, -1.0) } else { vec3(0.0, 1.0, 0.0) };
    Camera { eye, direction, up, vertical_fov: degrees.to_radians(), ..Camera::default() }
}

/// A sphere of this material that fills the view, in an environment of radiance one.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn furnace(material: Material) -> Result<Scene> {
    let mut b = SceneBuilder::new("furnace");
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    b.camera = spot_camera(vec3(0.0, 0.0, 4.0), Vec3::ZERO, 20.0);
    let m = b.material(material);
    place(&mut b, ball([0.0; 3], 1.0, m));
    b.build()
}

/// [`furnace`] of a material with layers.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn layered_furnace(material: Material, layers: Layers) -> Result<Scene> {
    let mut b = SceneBuilder::new("layered-furnace");
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    b.camera = spot_camera(vec3(0.0, 0.0, 4.0), Vec3::ZERO, 20.0);
    let layers = b.layers(layers);
    let m = b.material(Material { layers, ..material });
    place(&mut b, ball([0.0; 3], 1.0, m));
    b.build()
}

/// A point of a floor below the centre of a parallel square, both of half side 1, at a distance of 1.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn floor_below_square() -> Result<Scene> {
    let mut b = SceneBuilder::new("floor-below-square");
    b.camera = spot_camera(vec3(1.5, 0.5, 1.5), Vec3::ZERO, 0.1);
    let m = b.material(Material::diffuse([0.5; 3]));
    place(&mut b, floor(1.0, m));
    let mut ceiling = floor(1.0, m);
    ceiling.positions.iter_mut().for_each(|p| p[1] = 1.0);
    place(&mut b, ceiling);
    b.build()
}

/// A point of a diffuse floor of this albedo, seen obliquely under a uniform sky: radiance `albedo * sky`.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn floor_under_sky(albedo: f32, sky: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("floor-under-sky");
    b.environment = EnvironmentLight::Constant(Vec3::splat(sky));
    b.camera = spot_camera(vec3(1.0, 2.0, 3.0), Vec3::ZERO, 0.1);
    let m = b.material(Material::diffuse([albedo; 3]));
    place(&mut b, floor(5.0, m));
    b.build()
}

/// The origin of a diffuse floor below a point light at this height.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn floor_under_point(albedo: f32, intensity: f32, height: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("floor-under-point");
    b.camera = spot_camera(vec3(-2.0, 1.0, 2.0), Vec3::ZERO, 0.02);
    let m = b.material(Material::diffuse([albedo; 3]));
    place(&mut b, floor(5.0, m));
    let position = vec3(0.0, height, 0.0);
    b.light(PunctualLight::Point { position, intensity: Vec3::splat(intensity) });
    b.build()
}

/// The origin of a diffuse floor under a spherical light at `center`: radiance `albedo * L * (r / d)^2 *
/// cos`.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn floor_under_ball(albedo: f32, light: Material, center: [f32; 3], radius: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("floor-under-ball");
    b.camera = spot_camera(vec3(-2.0, 1.0, 2.0), Vec3::ZERO, 0.02);
    let m = b.material(Material::diffuse([albedo; 3]));
    let light = b.material(light);
    place(&mut b, floor(5.0, m));
    place(&mut b, ball(center, radius, light));
    b.build()
}

/// The origin of a diffuse floor below the centre of a parallel square lamp of half side `half`, at a
/// distance of 1: radiance `albedo * L` times a form factor. With `alphas`, the alphas of two texels, each
/// covers half of the lamp.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn floor_under_lamp(albedo: f32, lamp: Material, half: f32, alphas: Option<[u8; 2]>) -> Result<Scene> {
    let mut b = SceneBuilder::new("floor-under-lamp");
    b.camera = spot_camera(vec3(1.5, 0.5, 1.5), Vec3::ZERO, 0.02);
    let m = b.material(Material::diffuse([albedo; 3]));
    let mut lamp = lamp;
    if let Some([left, right]) = alphas {
        let image = b.image(2, 1, &[255, 255, 255, left, 255, 255, 255, right])?;
        let sampler = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, nearest: true };
        lamp.base_color_texture = b.texture(image, false, sampler, 0, TextureTransform::default());
    }
    let lamp = b.material(lamp);
    place(&mut b, floor(5.0, m));
    let mut ceiling = floor(half, lamp);
    ceiling.positions.iter_mut().for_each(|p| p[1] = 1.0);
    ceiling.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    ceiling.vertices = ceiling
        .positions
        .iter()
        .map(|p| Vertex { uv0: [0.5 + 0.5 * p[0] / half, 0.5 + 0.5 * p[2] / half], ..Vertex::PLAIN })
        .collect();
    place(&mut b, ceiling);
    b.build()
}

/// [`floor_under_lamp`] with a lamp of half side 6 times its distance of 6 from the floor, everything moved by
/// `shift`, and a black square as large as the lamp `gap` below it.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn floor_under_distant_lamp(shift: Vec3, gap: Option<f32>) -> Result<Scene> {
    let mut b = SceneBuilder::new("floor-under-distant-lamp");
    b.flatten = Flatten::Never;
    b.camera = spot_camera(shift + vec3(1.5, 0.5, 1.5), shift, 0.02);
    let square = |half: f32, material: u32, height: f32| {
        let mut mesh = floor(half, material);
        mesh.positions.iter_mut().for_each(|p| p[1] = height);
        mesh
    };
    let to = [[1.0, 0.0, 0.0, shift.x], [0.0, 1.0, 0.0, shift.y], [0.0, 0.0, 1.0, shift.z]];
    let matte = b.material(Material::diffuse([0.5; 3]));
    let black = b.material(Material::BLACK);
    let lamp = b.material(Material::emitter([2.0; 3]));
    let mut lamp = square(36.0, lamp, 6.0);
    lamp.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let blocker = gap.map(|gap| square(36.0, black, 6.0 - gap));
    for mesh in [square(40.0, matte, 0.0), lamp].into_iter().chain(blocker) {
        let mesh = b.mesh(mesh);
        b.instance(mesh, to);
    }
    b.build()
}

/// A diffuse square, mirrored or not, whose front looks along +z, seen along the z axis from `z` against a sky of
/// radiance one. The sky is seen through the back of a single-sided one.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn square_before_sky(material: Material, mirrored: bool, z: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("square-before-sky");
    b.flatten = if z > 0.0 { Flatten::default() } else { Flatten::Never };
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    b.camera = spot_camera(vec3(0.1, 0.0, z), vec3(0.1, 0.0, 0.0), 0.1);
    let m = b.material(material);
    let mut square = floor(1.0, m);
    square.positions.iter_mut().for_each(|p| *p = [p[0], -p[2], 0.0]);
    let square = b.mesh(square);
    let x = if mirrored { -1.0 } else { 1.0 };
    b.instance(square, [[x, 0.0, 0.0, 0.0], IDENTITY[1], IDENTITY[2]]);
    b.build()
}

/// A mirror floor seen at `degrees` from its normal under a sky of radiance one: radiance is its reflectance.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn mirror(f0: f32, degrees: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("mirror");
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    let (sin, cos) = lockstep_core::math::sin_cos_turns(degrees / 360.0);
    b.camera = spot_camera(vec3(4.0 * sin, 4.0 * cos, 0.0), Vec3::ZERO, 0.02);
    let m = b.material(Material::conductor([f0; 3], 0.0));
    place(&mut b, floor(50.0, m));
    b.build()
}

/// A glass sphere met at `degrees` from its normal under a sky of radiance one. With one bounce only the
/// light that is reflected off the outside arrives: radiance is Fresnel's reflectance.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn glass_ball(ior: f32, degrees: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("glass-ball");
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    let (sin, cos) = lockstep_core::math::sin_cos_turns(degrees / 360.0);
    // The point of the unit sphere whose normal makes that angle with the z axis.
    b.camera = spot_camera(vec3(0.0, sin, 4.0), vec3(0.0, sin, cos), 0.02);
    let m = b.material(Material::dielectric(ior, 0.0));
    place(&mut b, ball([0.0; 3], 1.0, m));
    b.build()
}

/// A glossy floor between a small bright and a large dim light: each strategy alone is poor at one of them.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn small_and_large_light() -> Result<Scene> {
    let mut b = SceneBuilder::new("small-and-large-light");
    b.camera = spot_camera(vec3(0.0, 2.0, 4.0), vec3(0.0, 0.3, 0.0), 40.0);
    let matte = b.material(Material::diffuse([0.6; 3]));
    let glossy = b.material(Material::conductor([0.9; 3], 0.25));
    let small = b.material(Material::emitter([400.0; 3]));
    let large = b.material(Material::emitter([2.0; 3]));
    place(&mut b, floor(3.0, matte));
    place(&mut b, ball([-0.6, 0.5, 0.0], 0.5, glossy));
    place(&mut b, ball([0.7, 0.5, 0.2], 0.5, matte));
    place(&mut b, ball([-1.5, 2.5, -1.0], 0.05, small));
    let mut ceiling = floor(1.5, large);
    for p in &mut ceiling.positions {
        *p = [p[0] + 1.0, 3.0, p[2]];
    }
    for t in &mut ceiling.triangles {
        t.swap(1, 2);
    }
    place(&mut b, ceiling);
    b.build()
}

/// A closed box of diffuse walls with a matte ball in it. The lamp faces the ceiling, so light scatters twice before it
/// reaches most of what is seen.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn indirectly_lit_room() -> Result<Scene> {
    let mut b = SceneBuilder::new("indirectly-lit-room");
    b.camera = spot_camera(vec3(0.0, 1.0, 1.4), vec3(0.0, 0.8, 0.0), 70.0);
    let walls = b.material(Material::diffuse([0.7, 0.6, 0.5]));
    let matte = b.material(Material::diffuse([0.3, 0.5, 0.7]));
    let lamp = b.material(Material::emitter([6.0, 5.0, 4.0]));
    place(&mut b, cuboid([-1.5, 0.0, -1.5], [1.5, 2.0, 1.5], walls));
    place(&mut b, ball([-0.5, 0.4, -0.3], 0.4, matte));
    let mut panel = floor(0.5, lamp);
    panel.positions.iter_mut().for_each(|p| p[1] = 1.3);
    place(&mut b, panel);
    b.build()
}

/// Ten scenes on which integrators are compared: every kind of light and of surface, in the open and in a closed room.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn compared() -> Result<Vec<Scene>> {
    let others = [small_and_large_light(), indirectly_lit_room(), everything_from_both_sides(), layered()];
    LIGHTS.iter().map(|&light| lit_by(light)).chain(others).collect()
}

/// A light of [`lit_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LitBy {
    /// Two large emissive triangles close to the floor.
    Triangles,
    /// A sphere.
    Sphere,
    /// A point light.
    Point,
    /// A spot light.
    Spot,
    /// The sun: parallel light.
    Sun,
    /// An environment light that changes with the direction.
    Environment,
}

/// Every light of [`lit_by`].
pub const LIGHTS: [LitBy; 6] =
    [LitBy::Triangles, LitBy::Sphere, LitBy::Point, LitBy::Spot, LitBy::Sun, LitBy::Environment];

/// Rough surfaces, one of each kind, on a floor under one light, seen through a thin lens.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn lit_by(light: LitBy) -> Result<Scene> {
    let mut b = SceneBuilder::new(format!("lit-by-{light:?}").to_lowercase());
    b.camera = Camera {
        lens_radius: 0.05,
        focus_distance: 4.0,
        ..spot_camera(vec3(0.0, 2.0, 4.0), vec3(0.0, 0.3, 0.0), 45.0)
    };
    let matte = b.material(Material::diffuse([0.7, 0.6, 0.5]));
    place(&mut b, floor(3.0, matte));
    let balls = [
        Material::conductor([0.9, 0.8, 0.6], 0.5),
        Material::dielectric(1.5, 0.5),
        Material::principled([0.6, 0.3, 0.2], 0.2, 0.5),
        Material { transmission: 0.8, ..Material::principled([0.4, 0.8, 0.5], 0.0, 0.6) },
        Material { alpha: 0.5, alpha_mode: 2, ..Material::diffuse([0.2, 0.4, 0.9]) },
    ];
    for (i, material) in balls.into_iter().enumerate() {
        let m = b.material(material);
        place(&mut b, ball([i as f32 * 0.7 - 1.4, 0.35, 0.3 * (i % 2) as f32], 0.3, m));
    }
    let wall_material = b.material(Material::diffuse([0.5, 0.6, 0.7]));
    place(&mut b, leaning_wall([0.0, 2.0], -1.0, wall_material));
    add_light(&mut b, light);
    b.build()
}

/// Diffuse surfaces that hang apart in the open under one light: a floor, a ball, and a wall whose normals lean. No points
/// that see each other are near, so contributions of every technique alone are bounded.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn apart(light: LitBy) -> Result<Scene> {
    let mut b = SceneBuilder::new(format!("apart-under-{light:?}").to_lowercase());
    b.camera = spot_camera(vec3(0.0, 1.2, 4.0), vec3(0.0, 0.4, 0.0), 40.0);
    let ground = b.material(Material::diffuse([0.8, 0.7, 0.6]));
    let matte = b.material(Material::diffuse([0.5, 0.7, 0.9]));
    place(&mut b, floor(1.5, ground));
    place(&mut b, ball([0.3, 0.7, 0.2], 0.3, matte));
    place(&mut b, leaning_wall([0.4, 1.2], -2.2, matte));
    add_light(&mut b, light);
    b.build()
}

/// An upright board between two heights whose normals lean away from its geometry, so that shading normals matter.
fn leaning_wall([low, high]: [f32; 2], z: f32, material: u32) -> MeshData {
    let lean = |x: f32| Vertex {
        normal: lockstep_core::math::vec3::normalize(vec3(0.6 * x, 0.2, 1.0)),
        ..Vertex::PLAIN
    };
    MeshData {
        positions: vec![[-2.0, low, z], [2.0, low, z], [2.0, high, z], [-2.0, high, z]],
        vertices: vec![lean(-1.0), lean(1.0), lean(1.0), lean(-1.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        materials: vec![material],
        ..MeshData::default()
    }
}

/// Adds the light of [`lit_by`].
fn add_light(b: &mut SceneBuilder, light: LitBy) {
    match light {
        LitBy::Triangles => {
            let lamp = b.material(Material::emitter([2.0, 1.8, 1.5]));
            let mut ceiling = floor(1.5, lamp);
            ceiling.positions.iter_mut().for_each(|p| p[1] = 1.5);
            ceiling.triangles.iter_mut().for_each(|t| t.swap(1, 2));
            place(b, ceiling);
        }
        LitBy::Sphere => {
            let lamp = b.material(Material::emitter([30.0, 25.0, 20.0]));
            place(b, ball([-0.5, 1.6, 0.8], 0.2, lamp));
        }
        LitBy::Point => {
            b.light(PunctualLight::Point { position: vec3(0.5, 1.8, 1.0), intensity: vec3(4.0, 3.0, 3.0) });
        }
        LitBy::Spot => b.light(PunctualLight::Spot {
            position: vec3(1.5, 2.5, 1.0),
            direction: vec3(-0.6, -1.0, -0.4),
            intensity: vec3(9.0, 12.0, 15.0),
            inner_cos: 0.95,
            outer_cos: 0.8,
        }),
        LitBy::Sun => b.light(PunctualLight::Directional {
            direction: vec3(0.3, -1.0, -0.5),
            irradiance: vec3(2.0, 1.8, 1.5),
        }),
        LitBy::Environment => {
            b.environment = EnvironmentLight::Image {
                width: 16,
                height: 8,
                texels: sky_texels(),
                scale: Vec3::ONE,
                rotation: 0.1,
            };
        }
    }
}

/// [`everything`] without culling, for integrators with paths from lights.
///
/// # Errors
/// As [`everything`].
pub fn everything_from_both_sides() -> Result<Scene> {
    Ok(everything()?.from_both_sides())
}

/// A scene with every feature, for tests of bits rather than of physics: instances (rotated, stretched,
/// mirrored), spheres, all materials, textures in all wrap modes, normal map, alpha mask and blend, all kinds
/// of light, a thin lens.
///
/// # Errors
/// As [`SceneBuilder::build`].
/// As [`SceneBuilder::build`].
pub fn everything() -> Result<Scene> {
    let mut b = SceneBuilder::new("everything");
    b.flatten = Flatten::Never;
    b.environment = EnvironmentLight::Image {
        width: 16,
        height: 8,
        texels: sky_texels(),
        scale: vec3(0.8, 0.9, 1.0),
        rotation: 0.2,
    };
    b.camera = Camera {
        lens_radius: 0.03,
        focus_distance: 5.0,
        ..spot_camera(vec3(0.5, 2.2, 5.0), vec3(0.0, 0.6, 0.0), 50.0)
    };
    let textures = checkers(&mut b)?;
    let floor_material = b.material(Material {
        base_color_texture: textures[0],
        metallic_roughness_texture: textures[1],
        normal_texture: textures[2],
        normal_scale: 0.7,
        ..Material::principled([0.9; 3], 0.3, 0.6)
    });
    let mut ground = floor(4.0, floor_material);
    ground.vertices = [[0.0, 0.0], [0.0, 3.0], [3.0, 3.0], [3.0, 0.0]]
        .map(|uv| Vertex {
            normal: vec3(0.0, 1.0, 0.0),
            tangent: vec3(1.0, 0.0, 0.0),
            uv0: uv,
            uv1: [uv[1], -uv[0]],
            ..Vertex::PLAIN
        })
        .map(|v| v.with_color([1.0, 0.88, 0.75, 1.0]))
        .to_vec();
    place(&mut b, ground);
    let balls = [
        Material::diffuse([0.7, 0.3, 0.2]),
        Material::conductor([0.95, 0.8, 0.4], 0.0),
        Material::conductor([0.9, 0.9, 0.95], 0.3),
        Material::dielectric(1.5, 0.0),
        Material::dielectric(1.4, 0.25),
        Material { transmission: 0.8, ..Material::principled([0.4, 0.8, 0.5], 0.0, 0.2) },
        Material { alpha: 0.4, alpha_mode: 2, ..Material::diffuse([0.2, 0.4, 0.9]) },
        Material {
            flags: Material::TWO_SIDED_EMISSION,
            alpha: 0.7,
            alpha_mode: 2,
            ..Material::emitter([3.0, 2.0, 1.0])
        },
    ];
    for (i, material) in balls.into_iter().enumerate() {
        let m = b.material(material);
        let (sin, cos) = lockstep_core::math::sin_cos_turns(i as f32 / 8.0);
        place(&mut b, ball([1.8 * cos, 0.45, 1.8 * sin], 0.4, m));
    }
    signboard(&mut b, textures[0]);
    leaves(&mut b, textures[3]);
    for light in lights() {
        b.light(light);
    }
    b.build()
}

/// Spheres and a textured floor with every layer, alone and together, under a lamp and a sky; some surfaces, with layers
/// and without, keep the light that scatters more than once. The floor has a normal map below a smooth clearcoat, and a
/// board a normal map of its clearcoat alone.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn layered() -> Result<Scene> {
    let mut b = SceneBuilder::new("layered");
    b.environment = EnvironmentLight::Constant(vec3(0.3, 0.35, 0.4));
    b.camera = spot_camera(vec3(0.0, 2.2, 4.5), vec3(0.0, 0.4, 0.0), 45.0);
    let [color, _, normals, _] = checkers(&mut b)?;
    let of_floor = Layers {
        clearcoat: 0.9,
        clearcoat_roughness: 0.5,
        clearcoat_texture: color,
        anisotropy: 0.8,
        anisotropy_rotation: [0.6, 0.8],
        anisotropy_texture: normals,
        sheen_color: vec3(0.5, 0.4, 0.3),
        sheen_roughness: 0.6,
        sheen_color_texture: color,
        specular_color: vec3(1.0, 0.6, 0.8),
        specular_color_texture: color,
        ..Layers::NONE
    };
    let layers = b.layers(of_floor);
    let textured = Material {
        base_color_texture: color,
        normal_texture: normals,
        normal_scale: 0.4,
        layers,
        ..Material::principled([0.9; 3], 0.2, 0.5)
    };
    let ground = b.material(textured);
    place(&mut b, mapped_floor(ground, 3.0));
    coated_board(&mut b, normals);
    let coat = Layers { clearcoat: 1.0, clearcoat_roughness: 0.4, ..Layers::NONE };
    let sheen = Layers { sheen_color: vec3(0.9, 0.3, 0.5), sheen_roughness: 0.4, ..Layers::NONE };
    let brushed = Layers { anisotropy: 0.9, ..Layers::NONE };
    let tinted = Layers { specular: 0.7, specular_color: vec3(0.2, 1.5, 1.0), ..Layers::NONE };
    let film = Layers { iridescence: 1.0, iridescence_thickness: [100.0, 450.0], ..Layers::NONE };
    let all =
        Layers { iridescence: 0.5, clearcoat: 0.6, clearcoat_roughness: 0.45, anisotropy: 0.5, ..sheen };
    let balls = [
        (Material::principled([0.7, 0.2, 0.1], 0.0, 0.6), coat),
        (Material::principled([0.3, 0.3, 0.7], 0.0, 0.9), sheen),
        (Material::principled([0.9, 0.8, 0.5], 1.0, 0.4), brushed),
        (Material::principled([0.2, 0.2, 0.2], 0.0, 0.5), tinted),
        (Material::principled([0.5, 0.4, 0.4], 0.0, 0.4), film),
        (Material { transmission: 0.7, ..Material::principled([0.6, 0.9, 0.7], 0.1, 0.5) }, all),
    ];
    let keeping = |material| Material { flags: Material::MULTISCATTER, ..material };
    for (i, (material, layers)) in balls.into_iter().enumerate() {
        let layers = b.layers(layers);
        let material = if [2, 5].contains(&i) { keeping(material) } else { material };
        let m = b.material(Material { layers, ..material });
        place(&mut b, ball([i as f32 * 0.6 - 1.5, 0.35, 0.4 * (i % 2) as f32], 0.3, m));
    }
    let rough = [
        Material::conductor([0.9, 0.6, 0.3], 0.8),
        Material { base_color: vec3(0.8, 0.9, 1.0), ..Material::dielectric(1.5, 0.6) },
        Material { transmission: 0.5, ..Material::principled([0.9, 0.8, 0.7], 0.4, 0.9) },
    ];
    for (i, material) in rough.into_iter().enumerate() {
        let m = b.material(keeping(material));
        place(&mut b, ball([i as f32 * 0.9 - 0.9, 0.35, -0.7], 0.35, m));
    }
    let lamp = b.material(Material::emitter([3.0, 2.7, 2.4]));
    let mut ceiling = floor(1.5, lamp);
    ceiling.positions.iter_mut().for_each(|p| p[1] = 2.0);
    ceiling.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    place(&mut b, ceiling);
    b.build()
}

/// A floor with tangents, across which textures repeat so often.
fn mapped_floor(material: u32, repeats: f32) -> MeshData {
    let mut ground = floor(3.0, material);
    ground.vertices = [[0.0, 0.0], [0.0, repeats], [repeats, repeats], [repeats, 0.0]]
        .map(|uv0| Vertex { normal: vec3(0.0, 1.0, 0.0), uv0, uv1: uv0, ..Vertex::PLAIN })
        .map(|v| v.with_tangent(vec3(1.0, 0.0, 0.0), 1.0))
        .to_vec();
    ground
}

/// A mirrored instance of an upright square that transmits half its light under a clearcoat with a normal map.
fn coated_board(b: &mut SceneBuilder, normals: u32) {
    let coat = Layers {
        clearcoat: 1.0,
        clearcoat_roughness: 0.3,
        clearcoat_f0: 0.3,
        clearcoat_normal_texture: normals,
        clearcoat_normal_scale: 1.5,
        ..Layers::NONE
    };
    let layers = b.layers(coat);
    let material =
        b.material(Material { layers, transmission: 0.5, ..Material::principled([0.5, 0.6, 0.3], 0.0, 0.4) });
    let corner = |x: f32, y: f32| {
        let v = Vertex { normal: vec3(0.0, 0.0, 1.0), uv0: [2.0 * x, 2.0 * y], ..Vertex::PLAIN };
        v.with_tangent(vec3(1.0, 0.0, 0.0), 1.0)
    };
    let board = b.mesh(MeshData {
        positions: vec![[-1.2, 0.1, 0.0], [1.2, 0.1, 0.0], [1.2, 1.0, 0.0], [-1.2, 1.0, 0.0]],
        vertices: vec![corner(0.0, 1.0), corner(1.0, 1.0), corner(1.0, 0.0), corner(0.0, 0.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        materials: vec![material],
        spheres: Vec::new(),
    });
    b.instance(board, [[-0.9, 0.0, 0.2, 0.0], [0.0, 1.0, 0.0, 0.0], [0.2, 0.0, 0.9, -1.3]]);
}

/// A black floor under a clearcoat and a sky that brightens upwards, seen obliquely. A normal map of one texel turns the
/// normals of the surface, of its clearcoat, or of both.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn coated_floor(is_surface_turned: bool, is_coat_turned: bool) -> Result<Scene> {
    let mut b = SceneBuilder::new("coated-floor");
    b.environment = EnvironmentLight::Gradient {
        zenith: Vec3::splat(4.0),
        horizon: Vec3::splat(0.5),
        ground: Vec3::ZERO,
    };
    b.camera = spot_camera(vec3(-2.0, 1.2, 0.7), Vec3::ZERO, 1.0);
    let image = b.image(1, 1, &[70, 128, 241, 255])?;
    let map = b.texture(image, false, Sampler::default(), 0, TextureTransform::default());
    let coat =
        Layers { specular: 0.0, clearcoat: 1.0, clearcoat_roughness: 0.3, clearcoat_f0: 0.5, ..Layers::NONE };
    let layers = if is_coat_turned { Layers { clearcoat_normal_texture: map, ..coat } } else { coat };
    let layers = b.layers(layers);
    let black = Material { layers, ..Material::principled([0.0; 3], 0.0, 0.5) };
    let m = b.material(if is_surface_turned { Material { normal_texture: map, ..black } } else { black });
    place(&mut b, mapped_floor(m, 1.0));
    b.build()
}

/// A slab of a medium without refraction, of this thickness, before a sky of radiance one.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn slab_before_sky(attenuation: Vec3, thickness: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("slab-before-sky");
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    b.camera = spot_camera(vec3(0.1, 4.0, 0.0), vec3(0.1, 0.0, 0.0), 0.02);
    let layers = b.layers(Layers { attenuation, ..Layers::NONE });
    let m = b.material(Material { layers, ..Material::dielectric(1.0, 0.0) });
    let mut slab = floor(5.0, m);
    slab.positions.extend(floor(5.0, m).positions.iter().map(|p| [p[0], -thickness, p[2]]));
    slab.triangles.extend([[4, 6, 5], [4, 7, 6]]);
    place(&mut b, slab);
    b.build()
}

/// A large ball of glass of this index and dispersion under a sky that is bright above.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn prism(ior: f32, dispersion: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("prism");
    b.environment = EnvironmentLight::Gradient {
        zenith: vec3(3.0, 3.0, 3.0),
        horizon: vec3(0.2, 0.2, 0.2),
        ground: vec3(0.0, 0.0, 0.0),
    };
    b.camera = spot_camera(vec3(0.0, 0.5, 4.0), vec3(0.0, 0.3, 0.0), 25.0);
    let layers = b.layers(Layers { dispersion, ..Layers::NONE });
    let m = b.material(Material { layers, ..Material::dielectric(ior, 0.0) });
    place(&mut b, ball([0.0; 3], 1.0, m));
    b.build()
}

/// Spheres of tinted, rough, dispersive and layered glass on a floor, one with a lamp and one with a ball in it. Priorities, if
/// dielectrics have them, change nothing, since no two overlap.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn media(has_priorities: bool) -> Result<Scene> {
    let mut b = SceneBuilder::new("media");
    b.environment = EnvironmentLight::Constant(vec3(0.5, 0.6, 0.7));
    b.camera = spot_camera(vec3(0.0, 1.5, 4.5), vec3(0.0, 0.4, 0.0), 40.0);
    let matte = b.material(Material::diffuse([0.7, 0.6, 0.5]));
    place(&mut b, floor(3.0, matte));
    let amber = Layers { attenuation: vec3(0.3, 1.5, 4.0), ..Layers::NONE };
    let prism = Layers { dispersion: 4.0, ..Layers::NONE };
    let coat = Layers { clearcoat: 1.0, clearcoat_roughness: 0.2, ..amber };
    let bubble = Layers { iridescence: 1.0, iridescence_ior: 1.8, ..prism };
    let glasses = [(coat, 0.0), (prism, 0.0), (amber, 0.3), (Layers { clearcoat: 0.5, ..bubble }, 0.3)];
    for (i, (layers, roughness)) in glasses.into_iter().enumerate() {
        let layers = b.layers(layers);
        let glass = Material { layers, ..Material::dielectric(1.5, roughness) };
        let m = b.material(if has_priorities { glass.with_priority(i as u32) } else { glass });
        place(&mut b, ball([i as f32 - 1.5, 0.45, 0.0], 0.4, m));
    }
    place(&mut b, ball([-1.5, 0.45, 0.0], 0.15, matte));
    let lamp = b.material(Material::emitter([20.0, 18.0, 15.0]));
    place(&mut b, ball([0.5, 0.45, 0.0], 0.05, lamp));
    place(&mut b, ball([1.0, 2.5, 1.0], 0.3, lamp));
    b.build()
}

/// An environment with a gradient and one bright texel.
fn sky_texels() -> Vec<[f32; 3]> {
    (0..128)
        .map(|i| {
            let up = 1.0 - (i / 16) as f32 / 8.0;
            if i == 37 { [40.0, 36.0, 30.0] } else { [0.2 + 0.3 * up, 0.3 + 0.3 * up, 0.4 + 0.5 * up] }
        })
        .collect()
}

/// Textures: colour, roughness with metal, normals, and colour with holes.
fn checkers(b: &mut SceneBuilder) -> Result<[u32; 4]> {
    let pixels =
        |f: &dyn Fn(u32, u32) -> [u8; 4]| -> Vec<u8> { (0..64).flat_map(|i| f(i % 8, i / 8)).collect() };
    let color =
        b.image(8, 8, &pixels(&|x, y| [(x * 30) as u8, (y * 30) as u8, ((x ^ y) * 30) as u8, 255]))?;
    let rough = b.image(8, 8, &pixels(&|x, y| [0, (40 + x * 25) as u8, (y * 30) as u8, 255]))?;
    let bumps = b.image(8, 8, &pixels(&|x, y| [(96 + x * 9) as u8, (160 - y * 9) as u8, 230, 255]))?;
    let holes = b.image(8, 8, &pixels(&|x, y| [60, 160, 70, if (x + y) % 3 == 0 { 20 } else { 230 }]))?;
    let sampler = |wrap_u, wrap_v, nearest| Sampler { wrap_u, wrap_v, nearest };
    let turned = TextureTransform { offset: [0.1, -0.2], rotation: 0.5, scale: [1.5, 0.7] };
    let plain = TextureTransform::default();
    Ok([
        b.texture(color, true, sampler(Wrap::Repeat, Wrap::Mirror, false), 0, turned),
        b.texture(rough, false, sampler(Wrap::Clamp, Wrap::Repeat, false), 1, plain),
        b.texture(bumps, false, sampler(Wrap::Repeat, Wrap::Repeat, false), 0, plain),
        b.texture(holes, true, sampler(Wrap::Mirror, Wrap::Clamp, true), 0, plain),
    ])
}

/// A partly transparent unlit square with an image and coloured vertices.
fn signboard(b: &mut SceneBuilder, image: u32) {
    let unlit = Material {
        emission_texture: image,
        base_color_texture: image,
        alpha: 0.8,
        alpha_mode: AlphaMode::Blend as u32,
        ..Material::unlit([0.9, 0.8, 0.7])
    };
    let material = b.material(unlit);
    let corner = |x: f32, y: f32| Vertex { uv0: [x, y], ..Vertex::PLAIN.with_color([x, 0.5, y, 1.0]) };
    let board = MeshData {
        positions: vec![[-1.0, 1.2, -1.4], [1.0, 1.2, -1.4], [1.0, 1.9, -1.4], [-1.0, 1.9, -1.4]],
        vertices: vec![corner(0.0, 1.0), corner(1.0, 1.0), corner(1.0, 0.0), corner(0.0, 0.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        materials: vec![material; 2],
        spheres: Vec::new(),
    };
    place(b, board);
}

/// Instances of an alpha-masked, smoothly shaded leaf: rotated, stretched and mirrored.
fn leaves(b: &mut SceneBuilder, holes: u32) {
    let material = b.material(Material {
        base_color_texture: holes,
        alpha_mode: 1,
        alpha_cutoff: 0.5,
        flags: Material::SINGLE_SIDED,
        ..Material::principled([1.0; 3], 0.0, 0.5)
    });
    let corner = |x: f32, y: f32| Vertex {
        normal: lockstep_core::math::vec3::normalize(vec3(0.3 * x, 0.3 * y, 1.0)),
        tangent: vec3(1.0, 0.0, 0.0),
        uv0: [x, y],
        ..Vertex::PLAIN
    };
    let leaf = b.mesh(MeshData {
        positions: vec![[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 1.0, 0.1], [-0.5, 1.0, 0.1]],
        vertices: vec![corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, -1.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        materials: vec![material],
        spheres: Vec::new(),
    });
    for i in 0..7u32 {
        let (sin, cos) = lockstep_core::math::sin_cos_turns(i as f32 / 7.0 + 0.05);
        let (width, height) = (0.5 + 0.1 * i as f32, 0.6 + 0.15 * (i % 3) as f32);
        let mirror = if i % 2 == 0 { 1.0 } else { -1.0 };
        b.instance(
            leaf,
            [
                [cos * width * mirror, 0.1, sin, 0.9 * cos],
                [0.0, height, 0.0, 0.1],
                [-sin * width * mirror, 0.0, cos, 0.9 * sin],
            ],
        );
    }
}

fn lights() -> [PunctualLight; 3] {
    [
        PunctualLight::Point { position: vec3(-1.0, 2.0, 1.5), intensity: vec3(2.0, 1.5, 1.0) },
        PunctualLight::Spot {
            position: vec3(1.5, 2.5, 1.0),
            direction: vec3(-0.5, -1.0, -0.2),
            intensity: vec3(3.0, 4.0, 6.0),
            inner_cos: 0.95,
            outer_cos: 0.7,
        },
        PunctualLight::Directional { direction: vec3(0.3, -1.0, -0.4), irradiance: vec3(1.0, 0.9, 0.7) },
    ]
}
