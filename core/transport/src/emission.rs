//! Sampling of rays that leave lights, where light paths start (Veach 1997, section 10.2; Pharr, Jakob and
//! Humphreys, Physically Based Rendering, 4th edition, section 12.2). The counterpart is
//! `kernels/scene/emission.h`.

use crate::lights::{
    LightSample, emission_cosine, sample_environment, sphere_opacity, triangle_emission, triangle_opacity,
    unit_sphere,
};
use lockstep_core::math::rng::uniform;
use lockstep_core::math::sampling::{
    cosine_hemisphere, frame, pick, uniform_cone, uniform_disk, uniform_triangle,
};
use lockstep_core::math::vec3::{Vec3, cross, dot, normalize};
use lockstep_core::math::{INV_FOUR_PI, INV_PI, TWO_PI, saturate};
use lockstep_core::scene::{BoundingSphere, Light, LightKind, Material, SceneData};

/// A ray that leaves a light. Its throughput is `radiance * cosine / (pdf_position * pdf_direction)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmissionSample {
    /// Index of the light in the scene's list.
    pub light: u32,
    /// Origin: on the light's surface, at the position of point and spot lights, or on a disk that covers the
    /// scene for directional lights and the environment.
    pub origin: Vec3,
    /// Unit direction of travel.
    pub direction: Vec3,
    /// Unit normal of the emitting surface or disk, on the side of `direction`; `direction` itself for point
    /// and spot lights.
    pub normal: Vec3,
    /// Emitted radiance in W/(m² sr), scaled by the opacity of an emitter with alpha; intensity in W/sr for point and spot lights; irradiance in W/m² for
    /// directional lights.
    pub radiance: Vec3,
    /// Cosine between `normal` and `direction`.
    pub cosine: f32,
    /// Density per area of `origin`, the choice of the light included; the probability of choosing it for
    /// point and spot lights. For the environment without that probability, which `pdf_direction` includes.
    pub pdf_position: f32,
    /// Density per solid angle of `direction`; one for directional lights. Zero when no light leaves.
    pub pdf_direction: f32,
}

/// Density per solid angle with which [`sample`] chooses a direction at an emissive surface under a cosine.
#[inline(always)]
pub fn direction_pdf(material: &Material, cosine: f32) -> f32 {
    if material.flags & Material::TWO_SIDED_EMISSION != 0 {
        cosine.abs() * (0.5 * INV_PI)
    } else if cosine > 0.0 {
        cosine * INV_PI
    } else {
        0.0
    }
}

/// Density per area with which [`sample`] chooses a point of the disk of a light at infinity.
#[inline(always)]
pub fn disk_pdf(bounds: &BoundingSphere) -> f32 {
    INV_PI / (bounds.radius * bounds.radius)
}

/// Density with which [`sample`] chooses a point on a light and a ray to `p`, per area perpendicular to the ray at `p`, over
/// the density with which light sampling from `p` chooses the point.
#[inline(always)]
pub fn pdf_ratio(scene: &SceneData, light: &Light, p: Vec3, chosen: &LightSample) -> f32 {
    let distance2 = chosen.distance * chosen.distance;
    if light.kind == LightKind::Triangle as u32 {
        // Both sample the triangle by area
        let front = normalize(cross(light.edge1, light.edge2)) * light.intensity.x;
        let material = &scene.materials[light.material as usize];
        return direction_pdf(material, -dot(front, chosen.direction)) / distance2;
    }
    if light.kind == LightKind::Sphere as u32 {
        let front = normalize(p + chosen.direction * chosen.distance - light.position);
        let material = &scene.materials[light.material as usize];
        let facing = -dot(front, chosen.direction);
        let cosine = emission_cosine(material, facing);
        if cosine <= 0.0 {
            return 0.0;
        }
        return material.light_pdf_area * direction_pdf(material, facing) / (chosen.pdf * cosine);
    }
    if light.kind == LightKind::Point as u32 {
        return INV_FOUR_PI / distance2;
    }
    if light.kind == LightKind::Spot as u32 {
        let one_minus_cos = 1.0 + light.edge2.y / light.edge2.x;
        return 1.0 / (TWO_PI * one_minus_cos * distance2);
    }
    disk_pdf(&scene.bounding_sphere())
}

/// Samples a ray of one light for two blocks of random words. The first gives the light and the position, the
/// second the direction. The scene must have lights.
#[inline(always)]
pub fn sample(scene: &SceneData, position: [u32; 4], direction: [u32; 4]) -> EmissionSample {
    let index = pick(&scene.light_alias, position[0], position[1]);
    let light = &scene.lights[index as usize];
    let u = [uniform(position[2]), uniform(position[3])];
    let v = [uniform(direction[0]), uniform(direction[1])];
    if light.kind == LightKind::Triangle as u32 {
        // A point uniform over the triangle
        let b = uniform_triangle(u[0], u[1]);
        let origin = light.position + light.edge1 * b[0] + light.edge2 * b[1];
        let front = normalize(cross(light.edge1, light.edge2)) * light.intensity.x;
        let material = &scene.materials[light.material as usize];
        let radiance = triangle_emission(scene, material, light.triangle, b)
            * triangle_opacity(scene, material, light.triangle, b);
        return from_surface(index, material, origin, front, radiance, v);
    }
    if light.kind == LightKind::Sphere as u32 {
        // A point uniform over the sphere
        let front = unit_sphere(u[0], u[1]);
        let material = &scene.materials[light.material as usize];
        let origin = light.position + front * light.edge2.x;
        let radiance = material.emission * sphere_opacity(material);
        return from_surface(index, material, origin, front, radiance, v);
    }
    if light.kind == LightKind::Environment as u32 {
        let from = sample_environment(scene, direction);
        let bounds = scene.bounding_sphere();
        let pdf_position = disk_pdf(&bounds);
        return from_disk(index, &bounds, -from.direction, u, from.radiance, [pdf_position, from.pdf]);
    }
    if light.kind == LightKind::Directional as u32 {
        let bounds = scene.bounding_sphere();
        let pdf_position = light.pmf * disk_pdf(&bounds);
        return from_disk(index, &bounds, -light.position, u, light.intensity, [pdf_position, 1.0]);
    }
    from_point(index, light, v)
}

/// A direction of the cosine-weighted hemisphere; of both sides where both emit.
#[inline(always)]
fn from_surface(
    light: u32,
    material: &Material,
    origin: Vec3,
    front: Vec3,
    radiance: Vec3,
    v: [f32; 2],
) -> EmissionSample {
    // Choose a side; the rest of the draw is uniform again
    let two_sided = material.flags & Material::TWO_SIDED_EMISSION != 0;
    let back = two_sided && v[0] >= 0.5;
    let rest = if !two_sided {
        v[0]
    } else if back {
        2.0 * v[0] - 1.0
    } else {
        2.0 * v[0]
    };
    let normal = if back { -front } else { front };
    // Sample a direction on it
    let wi = cosine_hemisphere(rest, v[1]);
    let (s, t) = frame(normal);
    let direction = normalize(s * wi.x + t * wi.y + normal * wi.z);
    EmissionSample {
        light,
        origin,
        direction,
        normal,
        radiance,
        cosine: wi.z,
        pdf_position: material.light_pdf_area,
        pdf_direction: direction_pdf(material, wi.z),
    }
}

/// Parallel rays through a disk as large as the scene's bounding sphere, in front of it.
#[inline(always)]
fn from_disk(
    light: u32,
    bounds: &BoundingSphere,
    direction: Vec3,
    u: [f32; 2],
    radiance: Vec3,
    [pdf_position, pdf_direction]: [f32; 2],
) -> EmissionSample {
    let (s, t) = frame(direction);
    let d = uniform_disk(u[0], u[1]);
    let origin = bounds.center + (s * d[0] + t * d[1] - direction) * bounds.radius;
    EmissionSample {
        light,
        origin,
        direction,
        normal: direction,
        radiance,
        cosine: 1.0,
        pdf_position,
        pdf_direction,
    }
}

/// A direction uniform over the sphere, or over the cone of a spot light.
#[inline(always)]
fn from_point(index: u32, light: &Light, v: [f32; 2]) -> EmissionSample {
    let mut direction = unit_sphere(v[0], v[1]);
    let mut pdf_direction = INV_FOUR_PI;
    let mut radiance = light.intensity;
    if light.kind == LightKind::Spot as u32 {
        // The falloff ends where the cosine times the scale plus the offset is zero
        let (scale, offset) = (light.edge2.x, light.edge2.y);
        let one_minus_cos = 1.0 + offset / scale;
        let wi = uniform_cone(v[0], v[1], one_minus_cos);
        let (s, t) = frame(light.edge1);
        direction = normalize(s * wi.x + t * wi.y + light.edge1 * wi.z);
        pdf_direction = 1.0 / (TWO_PI * one_minus_cos);
        let linear = saturate(wi.z * scale + offset);
        radiance = light.intensity * (linear * linear);
    }
    EmissionSample {
        light: index,
        origin: light.position,
        direction,
        normal: direction,
        radiance,
        cosine: 1.0,
        pdf_position: light.pmf,
        pdf_direction,
    }
}

#[cfg(test)]
mod tests;
