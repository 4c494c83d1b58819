//! Derives the light table from surfaces, punctual lights and environment.

use crate::math::vec3::{Vec3, cross, length, luminance, max_abs_component, vec3};
use crate::math::{PI, sin_cos_turns};
use crate::scene::texture;
use crate::scene::types::*;
use crate::scene::{SceneData, transform_point};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// A light without extent, after glTF's KHR_lights_punctual, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PunctualLight {
    /// Point light: the same in all directions.
    Point {
        /// Position.
        position: Vec3,
        /// Radiant intensity, W/sr.
        intensity: Vec3,
    },
    /// Spot light: a cone.
    Spot {
        /// Position.
        position: Vec3,
        /// The axis; any length but zero.
        direction: Vec3,
        /// Radiant intensity on the axis, W/sr.
        intensity: Vec3,
        /// Cosine of the angle where falloff begins.
        inner_cos: f32,
        /// Cosine of the angle where falloff ends; below `inner_cos`.
        outer_cos: f32,
    },
    /// Parallel light from infinitely far away.
    Directional {
        /// Direction of travel; any length but zero.
        direction: Vec3,
        /// Irradiance on a surface that faces the light, W/m2.
        irradiance: Vec3,
    },
}

/// Environment light.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvironmentLight {
    /// Radiance that is the same in all directions.
    Constant(Vec3),
    /// Radiance that is linear in the height of the direction.
    Gradient {
        /// Radiance straight up.
        zenith: Vec3,
        /// Radiance at the horizon.
        horizon: Vec3,
        /// Radiance straight down.
        ground: Vec3,
    },
    /// An equirectangular image. Its left edge looks along +x, and columns turn towards +z: the column at a
    /// quarter of the width is +z, the middle -x. The upper edge is +y.
    Image {
        /// Texels a row; the row spans a full turn.
        width: u32,
        /// Number of rows, from straight up to straight down.
        height: u32,
        /// Linear RGB, row by row.
        texels: Vec<[f32; 3]>,
        /// Factor on the texels.
        scale: Vec3,
        /// Turns by which the image's columns are moved to lower longitudes: the left edge then lies that far
        /// from +x towards -z.
        rotation: f32,
    },
}

impl Default for EnvironmentLight {
    fn default() -> Self {
        Self::Constant(Vec3::ZERO)
    }
}

/// Discrete distribution sampled in constant time (Walker 1977; Vose 1991).
#[derive(Clone, Debug, Default)]
pub struct AliasTable(pub Vec<AliasEntry>);

impl AliasTable {
    /// A table that picks index `i` with probability proportional to `weights[i]`; empty when all weights are
    /// zero. Negative and non-finite weights count as zero.
    pub fn new(weights: &[f64]) -> Self {
        let weights: Vec<f64> =
            weights.iter().map(|&w| if w > 0.0 && w.is_finite() { w } else { 0.0 }).collect();
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Self::default();
        }
        let n = weights.len();
        let mut scaled: Vec<f64> = weights.iter().map(|w| w * n as f64 / total).collect();
        let mut table: Vec<AliasEntry> = weights
            .iter()
            .enumerate()
            .map(|(i, w)| AliasEntry {
                threshold: u32::MAX,
                alias: i as u32,
                pmf: (w / total) as f32,
                reserved: 0,
            })
            .collect();
        // Pair each column that is too short with one that is too tall.
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| scaled[i] < 1.0);
        while let (Some(s), Some(&l)) = (small.pop(), large.last()) {
            table[s].threshold = (scaled[s] * 4_294_967_296.0) as u32;
            table[s].alias = l as u32;
            scaled[l] -= 1.0 - scaled[s];
            if scaled[l] < 1.0 {
                large.pop();
                small.push(l);
            }
        }
        // Columns that rounding left over keep their own index, except those that must never be picked.
        if let Some(heaviest) = (0..n).max_by(|&a, &b| weights[a].total_cmp(&weights[b])) {
            for i in small.into_iter().filter(|&i| weights[i] == 0.0) {
                table[i].threshold = 0;
                table[i].alias = heaviest as u32;
            }
        }
        Self(table)
    }
}

/// Fills the scene's light table, environment and the materials' light densities.
pub(super) fn prepare(scene: &mut SceneData, punctual: &[PunctualLight], light: &EnvironmentLight) {
    let environment = prepare_environment(scene, light);
    let mut weighted: Vec<(Light, f64)> = Vec::new();
    let emitted: Vec<f64> = scene.materials.iter().map(|m| mean_emission(scene, m)).collect();
    for instance in &scene.instances {
        collect_emitters(scene, instance, &emitted, &mut weighted);
    }
    let radius = 0.5 * length(scene.bounds[1] - scene.bounds[0]);
    weighted.extend(punctual.iter().filter_map(|light| punctual_light(light, radius)));
    weighted.extend(environment_light(environment, radius));

    let weights: Vec<f64> = weighted.iter().map(|(_, w)| *w).collect();
    let total: f64 = weights.iter().sum();
    scene.light_alias = AliasTable::new(&weights).0;
    scene.lights = weighted
        .into_iter()
        .zip(&scene.light_alias)
        .map(|((light, _), entry)| Light { pmf: entry.pmf, ..light })
        .collect();
    // Picking is proportional to area, so the density per area is the same all over a material.
    for (material, emitted) in scene.materials.iter_mut().zip(emitted) {
        material.light_pdf_area = if total > 0.0 { (emitted * f64::from(PI) / total) as f32 } else { 0.0 };
    }
    if let Some(light) = scene.lights.iter().find(|l| l.kind == LightKind::Environment as u32) {
        scene.environment.pmf = light.pmf;
    }
}

/// Mean luminance that a material emits over its sides, as a light.
fn mean_emission(scene: &SceneData, material: &Material) -> f64 {
    if material.flags & Material::UNLIT != 0 {
        return 0.0;
    }
    let sides = if material.flags & Material::TWO_SIDED_EMISSION != 0 { 2.0 } else { 1.0 };
    let factor = luminance(material.emission);
    if factor <= 0.0 || material.emission_texture == NONE {
        return f64::from(factor.max(0.0)) * sides;
    }
    let t = &scene.textures[material.emission_texture as usize];
    let first = t.first_texel as usize;
    let texels = &scene.texels[first..first + t.width as usize * t.height as usize];
    let sum: f64 = texels
        .iter()
        .map(|&texel| f64::from(luminance(material.emission * texture::texel_rgb(texel, t.flags))))
        .sum();
    sum / texels.len() as f64 * sides
}

fn collect_emitters(scene: &SceneData, instance: &Instance, emitted: &[f64], out: &mut Vec<(Light, f64)>) {
    let mesh = &scene.meshes[instance.mesh as usize];
    let world = |p: [f32; 3]| {
        if instance.flags & Instance::IDENTITY != 0 {
            p.into()
        } else {
            transform_point(&instance.object_to_world, p.into())
        }
    };
    let m = &instance.object_to_world;
    let moved = max_abs_component(vec3(m[0][3], m[1][3], m[2][3]));
    for index in mesh.first_triangle..mesh.first_triangle + mesh.triangle_count {
        let triangle = &scene.triangles[index as usize];
        let radiance = emitted[triangle.material as usize];
        if radiance <= 0.0 {
            continue;
        }
        let p = triangle.vertices.map(|v| world(scene.positions[v as usize]));
        let (edge1, edge2) = (p[1] - p[0], p[2] - p[0]);
        let area = f64::from(0.5 * length(cross(edge1, edge2)));
        if area > 0.0 {
            let mirrored = instance.flags & Instance::MIRRORED != 0;
            let scale = p.into_iter().map(max_abs_component).fold(moved, crate::math::max);
            let light = Light {
                kind: LightKind::Triangle as u32,
                position: p[0],
                edge1,
                edge2,
                material: triangle.material,
                triangle: index,
                intensity: vec3(if mirrored { -1.0 } else { 1.0 }, scale, 0.0),
                ..DARK
            };
            out.push((light, radiance * area * f64::from(PI)));
        }
    }
    for sphere in &scene.spheres[mesh.first_sphere as usize..(mesh.first_sphere + mesh.sphere_count) as usize]
    {
        let radiance = emitted[sphere.material as usize];
        if radiance <= 0.0 {
            continue;
        }
        let radius = sphere.radius * instance.scale;
        let center = world(sphere.center.to_array());
        let scale = crate::math::max(max_abs_component(center) + radius, moved);
        let light = Light {
            kind: LightKind::Sphere as u32,
            position: center,
            edge2: vec3(radius, 0.0, 0.0),
            intensity: vec3(0.0, scale, 0.0),
            material: sphere.material,
            ..DARK
        };
        let area = 4.0 * f64::from(PI) * f64::from(radius) * f64::from(radius);
        out.push((light, radiance * area * f64::from(PI)));
    }
}

/// The base for struct update.
const DARK: Light = Light {
    position: Vec3::ZERO,
    kind: LightKind::Point as u32,
    edge1: Vec3::ZERO,
    material: NONE,
    edge2: Vec3::ZERO,
    triangle: NONE,
    intensity: Vec3::ZERO,
    pmf: 0.0,
};

/// A punctual light and its power; `None` when it is black.
fn punctual_light(light: &PunctualLight, scene_radius: f32) -> Option<(Light, f64)> {
    let (record, power) = match *light {
        PunctualLight::Point { position, intensity } => (
            Light { kind: LightKind::Point as u32, position, intensity, ..DARK },
            luminance(intensity) * 4.0 * PI,
        ),
        PunctualLight::Spot { position, direction, intensity, inner_cos, outer_cos } => {
            let scale = 1.0 / crate::math::max(inner_cos - outer_cos, 1e-3);
            (
                Light {
                    kind: LightKind::Spot as u32,
                    position,
                    edge1: crate::math::vec3::normalize(direction),
                    edge2: vec3(scale, -outer_cos * scale, 0.0),
                    intensity,
                    ..DARK
                },
                luminance(intensity) * 2.0 * PI * (1.0 - 0.5 * (inner_cos + outer_cos)),
            )
        }
        PunctualLight::Directional { direction, irradiance } => (
            Light {
                kind: LightKind::Directional as u32,
                position: -crate::math::vec3::normalize(direction),
                intensity: irradiance,
                ..DARK
            },
            luminance(irradiance) * PI * crate::math::max(scene_radius * scene_radius, 1e-12),
        ),
    };
    (power > 0.0).then_some((record, f64::from(power)))
}

/// The environment of a mean luminance as a light with its power through the scene's bounding sphere; `None` when it is
/// black.
fn environment_light(mean_luminance: f64, scene_radius: f32) -> Option<(Light, f64)> {
    let radius = f64::from(crate::math::max(scene_radius, 1e-6));
    let power = mean_luminance * 4.0 * f64::from(PI) * f64::from(PI) * radius * radius;
    (power > 0.0).then_some((Light { kind: LightKind::Environment as u32, ..DARK }, power))
}

/// Copies the environment into the scene and builds its importance grid; returns the mean of the grid's luminances, zero where
/// it has no light to be sampled.
fn prepare_environment(scene: &mut SceneData, light: &EnvironmentLight) -> f64 {
    let environment = &mut scene.environment;
    (environment.grid_width, environment.grid_height) = match light {
        EnvironmentLight::Constant(radiance) => {
            environment.kind = EnvironmentKind::Constant as u32;
            environment.zenith = *radiance;
            (1, 1)
        }
        EnvironmentLight::Gradient { zenith, horizon, ground } => {
            environment.kind = EnvironmentKind::Gradient as u32;
            (environment.zenith, environment.horizon, environment.ground) = (*zenith, *horizon, *ground);
            (1, 64)
        }
        EnvironmentLight::Image { width, height, texels, scale, rotation } => {
            environment.kind = EnvironmentKind::Image as u32;
            environment.zenith = *scale;
            (environment.image_width, environment.image_height) = (*width, *height);
            environment.rotation = crate::math::fract(*rotation);
            scene.environment_texels = texels.iter().map(|t| [t[0], t[1], t[2], 0.0]).collect();
            ((*width).clamp(1, 1024), (*height).clamp(1, 512))
        }
    };
    let (w, h) = (scene.environment.grid_width, scene.environment.grid_height);
    let prepared: &SceneData = scene;
    let of_row = |y: u32| (0..w).map(move |x| cell_luminance(prepared, x, y));
    let weights: Vec<f64> = (0..h).into_par_iter().flat_map_iter(of_row).collect();
    scene.environment_alias = AliasTable::new(&weights).0;
    if scene.environment_alias.is_empty() {
        (scene.environment.grid_width, scene.environment.grid_height) = (0, 0);
        return 0.0;
    }
    weights.iter().sum::<f64>() / f64::from(w * h)
}

/// Mean luminance of a cell of the importance grid, from 4 by 4 points, but at least a tenth of its brightest
/// point, so that no texel that the grid averages away becomes a firefly.
fn cell_luminance(scene: &SceneData, x: u32, y: u32) -> f64 {
    let environment = &scene.environment;
    let (mut sum, mut peak) = (0.0f64, 0.0f64);
    for i in 0..16u32 {
        let u = ((i % 4) as f32 + 0.5) * 0.25;
        let v = ((i / 4) as f32 + 0.5) * 0.25;
        let height = 1.0 - 2.0 * ((y as f32 + v) / environment.grid_height as f32);
        let ring = crate::math::safe_sqrt(1.0 - height * height);
        let (sin, cos) = sin_cos_turns((x as f32 + u) / environment.grid_width as f32);
        let direction = vec3(ring * cos, height, ring * sin);
        let radiance = crate::scene::environment_radiance(environment, &scene.environment_texels, direction);
        let value = f64::from(luminance(radiance));
        sum += value;
        peak = peak.max(value);
    }
    (sum / 16.0).max(0.1 * peak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::sampling::pick;

    #[test]
    fn alias_tables_reproduce_their_weights() {
        let weights = [0.0, 1.0, 2.0, 5.0, 0.0, 8.0, 1e-3];
        let total: f64 = weights.iter().sum();
        let table = AliasTable::new(&weights).0;
        let mut share = [0.0f64; 7];
        for (column, entry) in table.iter().enumerate() {
            let keep = f64::from(entry.threshold) / 4_294_967_295.0;
            share[column] += keep / 7.0;
            share[entry.alias as usize] += (1.0 - keep) / 7.0;
        }
        for (i, w) in weights.iter().enumerate() {
            assert!((share[i] - w / total).abs() < 1e-8, "index {i}");
            assert!((f64::from(table[i].pmf) - w / total).abs() < 1e-7);
        }
    }

    #[test]
    fn columns_without_weight_are_never_picked() {
        let table = AliasTable::new(&[0.0, 3.0, 0.0]).0;
        for i in 0..10_000u32 {
            assert_eq!(pick(&table, i.wrapping_mul(429_497), i.wrapping_mul(2_654_435_761)), 1);
        }
        assert!(AliasTable::new(&[0.0, 0.0]).0.is_empty());
        assert!(AliasTable::new(&[]).0.is_empty());
        assert!(AliasTable::new(&[f64::NAN, -1.0]).0.is_empty());
    }
}
