//! Scenes of dielectrics with priorities that overlap.

use super::{ball, floor, place, spot_camera};
use lockstep_core::error::Result;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{EnvironmentLight, Flatten, Layers, Material, MeshData, Scene, SceneBuilder};

/// A horizontal slab of a dielectric.
#[derive(Clone, Copy, Debug)]
pub struct Slab {
    /// Heights of its upper and lower side.
    pub heights: [f32; 2],
    /// The index of refraction.
    pub ior: f32,
    /// The priority.
    pub priority: u32,
    /// Attenuation in all channels, per unit of length.
    pub attenuation: f32,
}

/// Slabs that may overlap, seen from above at this angle to their normal in degrees, between a red sky and a green ground:
/// reflected light is red, transmitted light green.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn slabs(slabs: &[Slab], degrees: f32) -> Result<Scene> {
    let mut b = SceneBuilder::new("slabs");
    b.environment = EnvironmentLight::Gradient {
        zenith: vec3(1.0, 0.0, 0.0),
        horizon: Vec3::ZERO,
        ground: vec3(0.0, 1.0, 0.0),
    };
    let (sin, cos) = lockstep_core::math::sin_cos_turns(degrees / 360.0);
    b.camera = spot_camera(vec3(4.0 * sin, 4.0 * cos, 0.1), vec3(0.0, 0.0, 0.1), 0.02);
    for slab in slabs {
        let layers = b.layers(Layers { attenuation: Vec3::splat(slab.attenuation), ..Layers::NONE });
        let glass = Material { layers, ..Material::dielectric(slab.ior, 0.0) };
        let m = b.material(glass.with_priority(slab.priority));
        let mut sheet = floor(50.0, m);
        let under = sheet.positions.clone();
        let [above, below] = slab.heights;
        sheet.positions.iter_mut().for_each(|p| p[1] = above);
        sheet.positions.extend(under.iter().map(|p| [p[0], below, p[2]]));
        sheet.triangles.extend([[4, 6, 5], [4, 7, 6]]);
        place(&mut b, sheet);
    }
    b.build()
}

/// Balls of glass, water and a third medium that overlap, in an environment of radiance one.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn furnace_of_nested_balls(roughness: f32, flags: u32) -> Result<Scene> {
    let mut b = SceneBuilder::new("furnace-of-nested-balls");
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    b.camera = spot_camera(vec3(0.0, 0.0, 4.0), Vec3::ZERO, 20.0);
    let mut nest = |ior: f32, priority: u32, center: [f32; 3], radius: f32| {
        let glass = Material { flags, ..Material::dielectric(ior, roughness) };
        let m = b.material(glass.with_priority(priority));
        place(&mut b, ball(center, radius, m));
    };
    nest(1.5, 2, [0.0, 0.0, 0.0], 0.9);
    nest(1.33, 1, [0.3, 0.2, 0.0], 0.9);
    nest(1.8, 3, [0.1, -0.1, 0.4], 0.4);
    nest(2.4, 0, [-0.1, 0.0, 0.0], 0.5);
    b.build()
}

/// A box of absorbing glass with a matte ball and a lamp in it; with another medium of a lower priority around the lamp,
/// wholly within the box, or without.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn lamp_in_a_box(has_hidden_ball: bool) -> Result<Scene> {
    let mut b = SceneBuilder::new("lamp-in-a-box");
    b.environment = EnvironmentLight::Constant(Vec3::splat(0.1));
    b.camera = spot_camera(vec3(0.5, 1.0, 4.0), Vec3::ZERO, 30.0);
    let layers = b.layers(Layers { attenuation: vec3(0.3, 0.5, 0.8), ..Layers::NONE });
    let glass = Material { layers, ..Material::dielectric(1.2, 0.0) };
    let glass = b.material(glass.with_priority(200));
    place(&mut b, cuboid([-1.0; 3], [1.0; 3], glass));
    let matte = b.material(Material::diffuse([0.6, 0.5, 0.4]));
    place(&mut b, ball([-0.4, -0.3, 0.0], 0.4, matte));
    let lamp = b.material(Material::emitter([4.0, 3.0, 2.0]));
    place(&mut b, ball([0.5, 0.4, 0.0], 0.25, lamp));
    let layers = b.layers(Layers { attenuation: vec3(5.0, 1.0, 1.0), dispersion: 5.0, ..Layers::NONE });
    let hidden = Material { layers, base_color: vec3(0.5, 1.0, 0.5), ..Material::dielectric(2.0, 0.3) };
    let hidden = b.material(hidden);
    if has_hidden_ball {
        place(&mut b, ball([0.5, 0.4, 0.0], 0.4, hidden));
    }
    b.build()
}

/// Dielectrics of every kind that overlap: smooth, rough, tinted, dispersive and emitting ones, instances and a mirrored
/// one, of equal priorities, and more in one place than a path remembers. A lamp and a matte ball are within.
///
/// # Errors
/// As [`SceneBuilder::build`].
pub fn nested() -> Result<Scene> {
    let mut b = SceneBuilder::new("nested");
    b.flatten = Flatten::Never;
    b.environment = EnvironmentLight::Constant(vec3(0.5, 0.6, 0.7));
    b.camera = spot_camera(vec3(0.0, 1.5, 4.5), vec3(0.0, 0.4, 0.0), 40.0);
    let matte = b.material(Material::diffuse([0.7, 0.6, 0.5]));
    place(&mut b, floor(3.0, matte));
    let lamp = b.material(Material::emitter([20.0, 18.0, 15.0]));
    place(&mut b, ball([1.0, 2.5, 1.0], 0.3, lamp));
    let amber = b.layers(Layers { attenuation: vec3(0.3, 1.5, 4.0), ..Layers::NONE });
    let prism = b.layers(Layers { dispersion: 4.0, attenuation: vec3(0.8, 0.1, 0.4), ..Layers::NONE });
    let mut dielectric = |ior, roughness, layers, priority| {
        b.material(Material { layers, ..Material::dielectric(ior, roughness) }.with_priority(priority))
    };
    let glass = dielectric(1.5, 0.0, 0, 20);
    let water = dielectric(1.33, 0.0, amber, 10);
    let frosted = dielectric(1.4, 0.3, amber, 30);
    let flint = dielectric(1.7, 0.0, prism, 255);
    let crown = dielectric(1.52, 0.2, prism, 10);
    let nested: Vec<u32> = (0..6).map(|i| dielectric(1.1 + 0.1 * i as f32, 0.0, 0, 40 + i)).collect();
    let glowing = Material { emission: vec3(0.3, 0.1, 0.1), ..Material::dielectric(1.6, 0.1) };
    // The lowest priority is given by the builder
    let glowing = b.material(glowing);

    // Water reaches into its glass, and a prism into both
    place(&mut b, ball([-1.3, 0.6, 0.0], 0.5, glass));
    place(&mut b, ball([-1.0, 0.6, 0.1], 0.4, water));
    place(&mut b, ball([-1.1, 0.9, 0.3], 0.2, flint));
    place(&mut b, ball([-1.0, 0.5, 0.1], 0.1, lamp));

    // Instances of one box that overlap each other and a mirrored one, around a matte ball
    let block = b.mesh(cuboid([0.0, 0.0, 0.0], [0.5, 0.6, 0.5], frosted));
    for (x, mirror) in [(-0.1, 1.0), (0.2, 1.0), (0.6, -1.0)] {
        b.instance(
            block,
            [[0.8 * mirror, 0.0, 0.6, x], [0.0, 1.0, 0.0, 0.1], [-0.6 * mirror, 0.0, 0.8, 0.0]],
        );
    }
    place(&mut b, ball([0.1, 0.5, 0.2], 0.1, matte));
    place(&mut b, ball([0.3, 0.7, 0.1], 0.3, crown));
    place(&mut b, ball([0.2, 0.3, 0.5], 0.25, water));

    // Six media in one place, the innermost of the highest priority, and one that glows
    for (i, &m) in nested.iter().enumerate() {
        place(&mut b, ball([1.2, 0.6, 0.02 * i as f32], 0.5 - 0.06 * i as f32, m));
    }
    place(&mut b, ball([1.1, 0.7, 0.3], 0.3, glowing));
    b.build()
}

/// A box with these opposite corners, its faces outwards.
pub(super) fn cuboid(low: [f32; 3], high: [f32; 3], material: u32) -> MeshData {
    let corner = |i: u32| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { low[axis] } else { high[axis] });
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    MeshData {
        positions: (0..8).map(corner).collect(),
        triangles,
        materials: vec![material],
        ..MeshData::default()
    }
}
