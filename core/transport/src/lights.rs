//! Light sampling for next-event estimation, and the densities that multiple importance sampling needs. The
//! counterpart is `kernels/scene/lights.h`.

use lockstep_core::geometry::{FAR, opacity, shadow_end, triangle_alpha};
use lockstep_core::math::rng::{Block, SampleKey, draw, uniform};
use lockstep_core::math::sampling::{frame, pick, uniform_cone, uniform_triangle};
use lockstep_core::math::vec3::{Vec3, cross, dot, max_abs_component, normalize, vec3};
use lockstep_core::math::{
    INV_FOUR_PI, PI, TWO_PI, atan2_turns, floor_to_i32, max, safe_sqrt, saturate, sin_cos_turns,
};
use lockstep_core::path_record::{Recorder, VertexRecord};
use lockstep_core::scene::texture;
use lockstep_core::scene::{AlphaMode, Light, LightKind, Material, NONE, SceneData, environment_radiance};

/// A sampled direction towards a light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightSample {
    /// Unit direction from the shaded point.
    pub direction: Vec3,
    /// Distance to the light; [`FAR`] for directional and environment lights.
    pub distance: f32,
    /// The `t_max` of a shadow ray to the light; see [`shadow_end`].
    pub shadow_end: f32,
    /// Incident radiance; irradiance perpendicular to the direction for delta lights.
    pub radiance: Vec3,
    /// Density per solid angle, or the discrete probability of a delta light; zero when no light arrives.
    pub pdf: f32,
    /// True for delta lights (point, spot, directional), which no ray can hit.
    pub delta: bool,
}

const DARK: LightSample = LightSample {
    direction: Vec3::ZERO,
    distance: 0.0,
    shadow_end: 0.0,
    radiance: Vec3::ZERO,
    pdf: 0.0,
    delta: false,
};

/// Samples one light of the scene for the point `p`, whose coordinates `scale` bounds. The scene must have
/// lights.
#[inline(always)]
pub fn sample(
    scene: &SceneData,
    p: Vec3,
    scale: f32,
    key: SampleKey,
    bounce: u32,
    record: &mut impl Recorder,
) -> LightSample {
    // Pick a light in proportion to its power
    let words = draw(key, Block::Light, bounce);
    let index = pick(&scene.light_alias, words[0], words[1]);
    record.note(|r| {
        r.flags |= VertexRecord::LIGHT;
        r.light = index;
        r.light_words = words;
    });
    sample_one(scene, &scene.lights[index as usize], p, scale, words, key, bounce)
}

/// Samples a direction towards a light from the point `p`, whose coordinates `scale` bounds, for the words by which the light
/// was picked.
#[inline(always)]
pub(crate) fn sample_one(
    scene: &SceneData,
    light: &Light,
    p: Vec3,
    scale: f32,
    words: [u32; 4],
    key: SampleKey,
    bounce: u32,
) -> LightSample {
    let u = uniform(words[2]);
    let v = uniform(words[3]);
    if light.kind == LightKind::Triangle as u32 {
        sample_triangle(scene, light, p, scale, u, v)
    } else if light.kind == LightKind::Sphere as u32 {
        sample_sphere(scene, light, p, scale, u, v)
    } else if light.kind == LightKind::Environment as u32 {
        sample_environment(scene, draw(key, Block::Environment, bounce))
    } else {
        sample_punctual(light, p, scale)
    }
}

#[inline(always)]
fn sample_triangle(scene: &SceneData, light: &Light, p: Vec3, scale: f32, u: f32, v: f32) -> LightSample {
    let b = uniform_triangle(u, v);
    let to_light = light.position + light.edge1 * b[0] + light.edge2 * b[1] - p;
    let distance2 = dot(to_light, to_light);
    if distance2 == 0.0 {
        return DARK;
    }
    let distance = distance2.sqrt();
    let direction = to_light * (1.0 / distance);
    let normal = normalize(cross(light.edge1, light.edge2)) * light.intensity.x;
    let material = &scene.materials[light.material as usize];
    let cosine = emission_cosine(material, -dot(normal, direction));
    if cosine <= 0.0 {
        return DARK;
    }
    let opacity = triangle_opacity(scene, material, light.triangle, b);
    LightSample {
        direction,
        distance,
        shadow_end: shadow_end(distance, max(scale, light.intensity.y), cosine),
        radiance: triangle_emission(scene, material, light.triangle, b) * opacity,
        pdf: area_to_solid_angle(material, distance2, cosine),
        delta: false,
    }
}

/// The cosine at an emissive surface; not positive on a side that does not emit.
#[inline(always)]
pub fn emission_cosine(material: &Material, cosine: f32) -> f32 {
    if material.flags & Material::TWO_SIDED_EMISSION != 0 { cosine.abs() } else { cosine }
}

/// Density per solid angle with which light sampling chooses a point of an emissive triangle.
#[inline(always)]
pub fn area_to_solid_angle(material: &Material, distance2: f32, cosine: f32) -> f32 {
    material.light_pdf_area * (distance2 / cosine)
}

/// Emission at barycentrics `(u, v)` of a triangle of the scene.
#[inline(always)]
pub fn triangle_emission(scene: &SceneData, material: &Material, triangle: u32, b: [f32; 2]) -> Vec3 {
    if material.emission_texture == NONE {
        return material.emission;
    }
    let t = &scene.textures[material.emission_texture as usize];
    let [i0, i1, i2] = scene.triangles[triangle as usize].vertices;
    let vertices = [&scene.vertices[i0 as usize], &scene.vertices[i1 as usize], &scene.vertices[i2 as usize]];
    let uv = texture::coordinates(t, vertices, [1.0 - b[0] - b[1], b[0], b[1]]);
    material.emission * texture::sample(scene, t, uv).rgb
}

/// The share of rays towards a point of an emissive triangle that see it: one unless it has alpha.
///
/// Rays that sample the BSDF pass the alpha test at a light or go through it. A shadow ray ends before its
/// light, so light sampling scales the radiance by the mean of that test.
#[inline(always)]
pub fn triangle_opacity(scene: &SceneData, material: &Material, triangle: u32, b: [f32; 2]) -> f32 {
    if material.alpha_mode == AlphaMode::Opaque as u32 {
        return 1.0;
    }
    opacity(material, triangle_alpha(scene, material, triangle, b[0], b[1]))
}

/// [`triangle_opacity`] for an emissive sphere.
#[inline(always)]
pub fn sphere_opacity(material: &Material) -> f32 {
    if material.alpha_mode == AlphaMode::Opaque as u32 { 1.0 } else { opacity(material, material.alpha) }
}

/// One minus the cosine of the half-angle that a sphere subtends; zero from inside.
#[inline(always)]
fn subtended(distance2: f32, radius: f32) -> f32 {
    let sin2 = radius * radius / distance2;
    if sin2 >= 1.0 { 0.0 } else { sin2 / (1.0 + safe_sqrt(1.0 - sin2)) }
}

/// Samples a sphere: uniformly over the subtended cone from outside, over the surface from inside.
#[inline(always)]
fn sample_sphere(scene: &SceneData, light: &Light, p: Vec3, scale: f32, u: f32, v: f32) -> LightSample {
    let scale = max(scale, light.intensity.y);
    let material = &scene.materials[light.material as usize];
    let radius = light.edge2.x;
    let radiance = material.emission * sphere_opacity(material);
    let to_center = light.position - p;
    let distance2 = dot(to_center, to_center);
    let one_minus_cos = subtended(distance2, radius);
    // From outside: sample the subtended cone
    if one_minus_cos > 0.0 {
        let axis = normalize(to_center);
        let (s, t) = frame(axis);
        let local = uniform_cone(u, v, one_minus_cos);
        let direction = s * local.x + t * local.y + axis * local.z;
        // The near end of the chord, from its midpoint
        let midpoint = dot(to_center, direction);
        let aside = to_center - direction * midpoint;
        let chord_radius = safe_sqrt(radius * radius - dot(aside, aside));
        let distance = max(midpoint - chord_radius, 0.0);
        return LightSample {
            direction,
            distance,
            shadow_end: shadow_end(distance, scale, chord_radius / radius),
            radiance,
            pdf: light.pmf / (TWO_PI * one_minus_cos),
            delta: false,
        };
    }
    // From inside: sample the surface
    if material.flags & Material::TWO_SIDED_EMISSION == 0 {
        return DARK;
    }
    let normal = unit_sphere(u, v);
    let to_light = light.position + normal * radius - p;
    let squared = dot(to_light, to_light);
    if squared == 0.0 {
        return DARK;
    }
    let distance = squared.sqrt();
    let direction = to_light * (1.0 / distance);
    let cosine = dot(normal, direction).abs();
    if cosine <= 0.0 {
        return DARK;
    }
    let pdf = area_to_solid_angle(material, squared, cosine);
    let shadow_end = shadow_end(distance, scale, cosine);
    LightSample { direction, distance, shadow_end, radiance, pdf, delta: false }
}

/// A direction uniform over the sphere.
#[inline(always)]
pub(crate) fn unit_sphere(u: f32, v: f32) -> Vec3 {
    let z = 1.0 - 2.0 * u;
    let ring = safe_sqrt((1.0 - z) * (1.0 + z));
    let (sin, cos) = sin_cos_turns(v);
    vec3(ring * cos, ring * sin, z)
}

/// Density per solid angle with which light sampling from `p` chooses the direction to a point of an emissive
/// sphere.
#[inline(always)]
pub fn sphere_pdf(
    material: &Material,
    center: Vec3,
    radius: f32,
    p: Vec3,
    distance2: f32,
    cosine: f32,
) -> f32 {
    let to_center = center - p;
    let one_minus_cos = subtended(dot(to_center, to_center), radius);
    if one_minus_cos > 0.0 {
        let pmf = material.light_pdf_area * (4.0 * PI * radius * radius);
        pmf / (TWO_PI * one_minus_cos)
    } else {
        area_to_solid_angle(material, distance2, cosine)
    }
}

#[inline(always)]
fn sample_punctual(light: &Light, p: Vec3, scale: f32) -> LightSample {
    if light.kind == LightKind::Directional as u32 {
        return LightSample {
            direction: light.position,
            distance: FAR,
            shadow_end: FAR,
            radiance: light.intensity,
            pdf: light.pmf,
            delta: true,
        };
    }
    let to_light = light.position - p;
    let distance2 = dot(to_light, to_light);
    if distance2 == 0.0 {
        return DARK;
    }
    let distance = distance2.sqrt();
    let direction = to_light * (1.0 / distance);
    let mut falloff = 1.0;
    if light.kind == LightKind::Spot as u32 {
        let linear = saturate(-dot(light.edge1, direction) * light.edge2.x + light.edge2.y);
        falloff = linear * linear;
    }
    LightSample {
        direction,
        distance,
        shadow_end: shadow_end(distance, max(scale, max_abs_component(light.position)), 1.0),
        radiance: light.intensity * (falloff / distance2),
        pdf: light.pmf,
        delta: true,
    }
}

/// Samples the environment: a cell of the importance grid, then uniformly in height and longitude within it.
#[inline(always)]
pub(crate) fn sample_environment(scene: &SceneData, words: [u32; 4]) -> LightSample {
    let environment = &scene.environment;
    let cell = pick(&scene.environment_alias, words[0], words[1]);
    let row = cell / environment.grid_width;
    let column = cell - row * environment.grid_width;
    let height = 1.0 - 2.0 * ((row as f32 + uniform(words[3])) / environment.grid_height as f32);
    let ring = safe_sqrt((1.0 - height) * (1.0 + height));
    let (sin, cos) = sin_cos_turns((column as f32 + uniform(words[2])) / environment.grid_width as f32);
    let direction = vec3(ring * cos, height, ring * sin);
    LightSample {
        direction,
        distance: FAR,
        shadow_end: FAR,
        radiance: environment_radiance(environment, &scene.environment_texels, direction),
        pdf: cell_pdf(scene, cell),
        delta: false,
    }
}

#[inline(always)]
pub(crate) fn cell_pdf(scene: &SceneData, cell: u32) -> f32 {
    let cells = (scene.environment.grid_width * scene.environment.grid_height) as f32;
    scene.environment.pmf * scene.environment_alias[cell as usize].pmf * (cells * INV_FOUR_PI)
}

/// Density per solid angle with which light sampling chooses a direction of the environment.
#[inline(always)]
pub fn environment_pdf(scene: &SceneData, direction: Vec3) -> f32 {
    let environment = &scene.environment;
    if environment.grid_height == 0 {
        return 0.0;
    }
    let limit = |i: i32, n: u32| i.clamp(0, n as i32 - 1) as u32;
    let row = limit(
        floor_to_i32(0.5 * (1.0 - direction.y) * environment.grid_height as f32),
        environment.grid_height,
    );
    let mut column = 0;
    if environment.grid_width > 1 {
        let turns = atan2_turns(direction.z, direction.x);
        column = limit(floor_to_i32(turns * environment.grid_width as f32), environment.grid_width);
    }
    cell_pdf(scene, row * environment.grid_width + column)
}

#[cfg(test)]
mod tests;
