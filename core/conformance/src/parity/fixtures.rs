//! Fixtures: scenes with every feature, for probes of functions that read the scene.

use lockstep_bvh::{BuildSettings, Bvh, Bvh2, Layout};
use lockstep_core::error::Result;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::*;

/// A scene with its BVH.
pub(super) struct Fixture {
    pub(super) scene: Scene,
    pub(super) bvh: Bvh2,
    /// The layouts that devices traverse.
    pub(super) binary: Bvh,
    pub(super) wide: Bvh,
}

/// Three scenes with the same geometry and different environments: an image, a gradient, a constant. In the last,
/// dielectrics have priorities.
pub(super) fn fixtures() -> Result<Vec<Fixture>> {
    let texel = |i: u32| {
        let b = |shift: u32| (lockstep_core::math::rng::pcg4d([i, 1, 2, 3])[0] >> shift & 255) as f32 / 64.0;
        [b(0), b(8), b(16)]
    };
    let image = EnvironmentLight::Image {
        width: 16,
        height: 8,
        texels: (0..128).map(texel).collect(),
        scale: vec3(1.0, 0.5, 2.0),
        rotation: 0.3,
    };
    let gradient = EnvironmentLight::Gradient {
        zenith: vec3(0.2, 0.4, 1.0),
        horizon: vec3(1.0, 0.9, 0.8),
        ground: vec3(0.1, 0.1, 0.05),
    };
    let constant = EnvironmentLight::Constant(vec3(0.5, 0.25, 0.125));
    let skies = [(image, false), (gradient, false), (constant, true)];
    skies.into_iter().map(|(sky, has_priorities)| fixture(sky, has_priorities)).collect()
}

fn fixture(sky: EnvironmentLight, has_priorities: bool) -> Result<Fixture> {
    let mut b = SceneBuilder::new("fixtures");
    b.flatten = Flatten::Never;
    b.environment = sky;
    let materials = materials(&mut b, has_priorities)?;
    let mesh = b.mesh(mesh(&materials));
    let turned: Affine = [[0.6, 0.0, 0.8, 2.5], [0.0, 1.0, 0.0, 0.25], [-0.8, 0.0, 0.6, -1.5]];
    let mirrored: Affine = [[-2.0, 0.0, 0.0, -3.0], [0.0, 2.0, 0.0, 0.5], [0.0, 0.0, 2.0, 1.0]];
    for placement in [IDENTITY, turned, mirrored] {
        b.instance(mesh, placement);
    }
    b.light(PunctualLight::Point { position: vec3(0.0, 3.0, 1.0), intensity: vec3(4.0, 3.0, 2.0) });
    b.light(PunctualLight::Spot {
        position: vec3(2.0, 3.0, 0.0),
        direction: vec3(-0.5, -1.0, 0.1),
        intensity: vec3(9.0, 9.0, 9.0),
        inner_cos: 0.95,
        outer_cos: 0.7,
    });
    b.light(PunctualLight::Directional { direction: vec3(0.2, -1.0, 0.3), irradiance: vec3(1.0, 1.5, 2.0) });
    let scene = b.build()?;
    let bvh = Bvh2::build(&scene, &BuildSettings::default());
    let binary = Bvh::Bvh2(bvh.clone());
    let wide = Bvh::build(&scene, Layout::Bvh8);
    Ok(Fixture { scene, bvh, binary, wide })
}

/// Every kind of surface, with textures of every kind of lookup. With priorities, two of the dielectrics share one.
fn materials(b: &mut SceneBuilder, has_priorities: bool) -> Result<Vec<u32>> {
    let nested = |m: Material, priority| if has_priorities { m.with_priority(priority) } else { m };
    let bytes = |n: u32, seed: u32| -> Vec<u8> {
        (0..n * 4).map(|i| lockstep_core::math::rng::pcg4d([i, seed, 5, 6])[0] as u8).collect()
    };
    let small = b.image(4, 3, &bytes(12, 1))?;
    let large = b.image(16, 16, &bytes(256, 2))?;
    let mut texture = |image, srgb, wrap_u, wrap_v, nearest, set| {
        let transform = TextureTransform { offset: [0.1, -0.2], rotation: 0.5, scale: [1.5, 0.75] };
        b.texture(image, srgb, Sampler { wrap_u, wrap_v, nearest }, set, transform)
    };
    let color = texture(small, true, Wrap::Repeat, Wrap::Mirror, false, 0);
    let nearest = texture(large, true, Wrap::Clamp, Wrap::Repeat, true, 1);
    let data = texture(large, false, Wrap::Mirror, Wrap::Clamp, false, 0);
    let glow = Material {
        emission: vec3(3.0, 2.0, 1.0),
        emission_texture: color,
        alpha_mode: AlphaMode::Mask as u32,
        base_color_texture: color,
        ..Material::BLACK
    };
    let principled = Material {
        base_color_texture: nearest,
        metallic_roughness_texture: data,
        normal_texture: data,
        normal_scale: 0.7,
        transmission: 0.5,
        transmission_texture: data,
        ..Material::principled([0.9, 0.8, 0.7], 0.6, 0.8)
    };
    let masked = Material {
        alpha_mode: AlphaMode::Mask as u32,
        alpha_cutoff: 0.4,
        base_color_texture: color,
        ..Material::diffuse([0.8; 3])
    };
    let blended =
        Material { alpha_mode: AlphaMode::Blend as u32, alpha: 0.6, ..Material::diffuse([0.3, 0.9, 0.5]) };
    let two_sided = Material {
        flags: Material::TWO_SIDED_EMISSION,
        alpha_mode: AlphaMode::Blend as u32,
        alpha: 0.7,
        ..Material::emitter([5.0, 4.0, 3.0])
    };
    let all = [
        Material { base_color_texture: color, ..Material::diffuse([0.7, 0.6, 0.5]) },
        Material::conductor([0.9, 0.7, 0.4], 0.0),
        Material {
            flags: Material::SINGLE_SIDED | Material::MULTISCATTER,
            ..Material::conductor([0.6, 0.7, 0.8], 0.4)
        },
        nested(Material::dielectric(1.5, 0.0), 2),
        Material {
            base_color: vec3(0.9, 1.0, 0.9),
            flags: Material::MULTISCATTER,
            ..Material::dielectric(1.33, 0.3)
        },
        principled,
        masked,
        blended,
        glow,
        two_sided,
        layered(b, [nearest, data]),
        nested(tinted_glass(b), 0),
    ];
    Ok(all.into_iter().map(|m| b.material(m)).collect())
}

/// A surface under every layer, each with its texture: of colours and of data.
fn layered(b: &mut SceneBuilder, [color, data]: [u32; 2]) -> Material {
    let layers = b.layers(Layers {
        specular_color: vec3(1.0, 0.8, 1.5),
        specular: 0.9,
        sheen_color: vec3(0.8, 0.5, 0.9),
        sheen_roughness: 0.6,
        clearcoat: 0.8,
        clearcoat_roughness: 0.4,
        anisotropy: 0.7,
        anisotropy_rotation: [0.6, 0.8],
        specular_texture: data,
        specular_color_texture: color,
        clearcoat_texture: data,
        clearcoat_roughness_texture: data,
        sheen_color_texture: color,
        sheen_roughness_texture: data,
        anisotropy_texture: data,
        iridescence: 0.8,
        iridescence_texture: color,
        iridescence_thickness_texture: data,
        clearcoat_normal_texture: data,
        clearcoat_normal_scale: 0.5,
        ..Layers::NONE
    });
    let uncoated = Material::principled([0.6, 0.7, 0.9], 0.4, 0.5);
    Material { layers, transmission: 0.3, normal_texture: data, flags: Material::MULTISCATTER, ..uncoated }
}

/// Glass with a medium.
fn tinted_glass(b: &mut SceneBuilder) -> Material {
    let layers = b.layers(Layers { attenuation: vec3(0.5, 1.5, 0.1), dispersion: 2.0, ..Layers::NONE });
    Material { layers, ..Material::dielectric(1.4, 0.2) }
}

/// A grid of triangles with shared edges, one material after another, and spheres above it.
fn mesh(materials: &[u32]) -> MeshData {
    const SIDE: u32 = 6;
    let mut data = MeshData::default();
    for i in 0..=SIDE {
        for j in 0..=SIDE {
            let (x, z) = (i as f32 * 0.5 - 1.5, j as f32 * 0.5 - 1.5);
            let h = lockstep_core::math::rng::pcg4d([i, j, 7, 8]);
            let bump = 0.25 * (h[0] >> 30) as f32;
            data.positions.push([x, bump, z]);
            let flat = h[1] >> 30 == 0;
            let vertex = Vertex {
                normal: if flat {
                    Vec3::ZERO
                } else {
                    lockstep_core::math::vec3::normalize(vec3(0.2 * bump, 1.0, -0.1))
                },
                uv0: [i as f32 * 0.4, j as f32 * 0.3],
                uv1: [j as f32 * -0.7, i as f32 * 0.9],
                ..Vertex::PLAIN
            };
            let color = [0, 8, 16, 24].map(|shift| (h[2] >> shift & 255) as f32 / 128.0);
            let vertex = if h[2] >> 31 == 0 { vertex } else { vertex.with_color(color) };
            data.vertices
                .push(vertex.with_tangent(vec3(1.0, 0.0, 0.0), if h[3] >> 31 == 0 { 1.0 } else { -1.0 }));
        }
    }
    for i in 0..SIDE {
        for j in 0..SIDE {
            let at = |di: u32, dj: u32| (i + di) * (SIDE + 1) + j + dj;
            let material = materials[((i * SIDE + j) as usize) % materials.len()];
            data.triangles.push([at(0, 0), at(0, 1), at(1, 0)]);
            data.triangles.push([at(1, 0), at(0, 1), at(1, 1)]);
            data.materials.extend([material; 2]);
        }
    }
    for (i, &material) in materials.iter().enumerate() {
        let center = vec3(i as f32 * 0.5 - 2.0, 1.5, 0.25 * (i % 3) as f32);
        data.spheres.push(Sphere { center, radius: 0.3, material, reserved: [0; 3] });
    }
    data
}
