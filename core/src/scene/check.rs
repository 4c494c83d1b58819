//! Validation of a scene under construction.

use crate::error::{Error, Result};
use crate::film::MAX_SAMPLE_RADIANCE;
use crate::math;
use crate::math::transform::{Affine, inverse, similarity_scale};
use crate::math::vec3::{Vec3, max_abs_component, normalize, vec3};
use crate::scene::builder::SceneBuilder;
use crate::scene::layers::Layers;
use crate::scene::lighting::{EnvironmentLight, PunctualLight};
use crate::scene::mesh::MeshData;
use crate::scene::types::*;
use crate::scene::vertex::Vertex;

/// Upper limit of coordinates: differences and products of smaller ones cannot overflow in the intersector.
const MAX_COORDINATE: f32 = 1e15;

/// Materials that an interior list can name: entries of 16 bits are one above an index.
const MAX_NESTED: usize = u16::MAX as usize;

impl SceneBuilder {
    /// Checks every part against every other.
    pub(super) fn check(&self) -> Result<()> {
        self.camera.validate(&self.name)?;
        self.check_environment()?;
        (0..self.punctual.len()).try_for_each(|index| self.check_light(index))?;
        for (index, material) in self.materials.iter().enumerate() {
            self.check_material(index, material)?;
        }
        for (index, layers) in self.layers.iter().enumerate() {
            self.check_layers(index, layers)?;
        }
        for (index, mesh) in self.meshes.iter().enumerate() {
            self.check_mesh(index, mesh)?;
        }
        for (index, (mesh, map)) in self.instances.iter().enumerate() {
            self.check_instance(index, *mesh, map)?;
        }
        Ok(())
    }

    fn error(&self, place: impl Into<String>, message: impl Into<String>) -> Error {
        Error::scene(&self.name, place, message)
    }

    fn check_environment(&self) -> Result<()> {
        let radiances: &[Vec3] = match &self.environment {
            EnvironmentLight::Constant(radiance) => &[*radiance],
            EnvironmentLight::Gradient { zenith, horizon, ground } => &[*zenith, *horizon, *ground],
            EnvironmentLight::Image { width, height, texels, scale, rotation } => {
                if u64::from(*width) * u64::from(*height) != texels.len() as u64 || texels.is_empty() {
                    return Err(self.error(
                        "environment",
                        format!("{width}x{height} does not match {} texels", texels.len()),
                    ));
                }
                if !texels.iter().flatten().all(|&v| is_radiance(v)) || !rotation.is_finite() {
                    return Err(self.error(
                        "environment",
                        "texels must be finite and not negative, the rotation finite",
                    ));
                }
                &[*scale]
            }
        };
        if radiances.iter().all(|&r| is_color(r)) {
            Ok(())
        } else {
            Err(self.error("environment", "radiance must be finite and not negative"))
        }
    }

    /// Checks one light without extent, so that whoever adds it can name its place.
    ///
    /// # Errors
    /// [`Error::Scene`] with what a light needs.
    pub fn check_light(&self, index: usize) -> Result<()> {
        let Some(light) = self.punctual.get(index) else { return Ok(()) };
        // The radiance of a white surface at a distance of one unit must fit into a sample.
        let (vectors, color, cone) = match *light {
            PunctualLight::Point { position, intensity } => {
                ([position, vec3(1.0, 0.0, 0.0)], intensity, true)
            }
            PunctualLight::Spot { position, direction, intensity, inner_cos, outer_cos } => {
                let cone = outer_cos < inner_cos && inner_cos <= 1.0 && outer_cos >= -1.0;
                ([position, direction], intensity, cone)
            }
            PunctualLight::Directional { direction, irradiance } => {
                ([Vec3::ZERO, direction], irradiance, true)
            }
        };
        let sound = vectors.iter().all(|v| v.is_finite()) && normalize(vectors[1]) != Vec3::ZERO;
        let within = color.to_array().iter().all(|&c| c <= MAX_SAMPLE_RADIANCE);
        if sound && is_color(color) && within && cone {
            return Ok(());
        }
        let message = format!(
            "needs finite vectors, a direction that is not zero, intensities between 0 and {MAX_SAMPLE_RADIANCE}, \
             and -1 <= outer cosine < inner cosine <= 1"
        );
        Err(self.error(format!("light {index}"), message))
    }

    /// Checks one material with its layers, so that whoever adds it can name its place.
    ///
    /// # Errors
    /// [`Error::Scene`] with the value that is out of range.
    pub fn check_surface(&self, index: u32) -> Result<()> {
        let Some(material) = self.materials.get(index as usize) else { return Ok(()) };
        self.check_material(index as usize, material)?;
        let layers = (material.layers as usize).checked_sub(1).and_then(|i| Some((i, self.layers.get(i)?)));
        layers.map_or(Ok(()), |(index, layers)| self.check_layers(index, layers))
    }

    fn check_material(&self, index: usize, m: &Material) -> Result<()> {
        let unit = |v: f32| (0.0..=1.0).contains(&v);
        let checks = [
            (
                is_color(m.base_color)
                    && math::max(m.base_color.x, math::max(m.base_color.y, m.base_color.z)) <= 1.0,
                "base colour must lie between 0 and 1",
            ),
            (unit(m.alpha), "alpha must lie between 0 and 1"),
            (
                is_color(m.emission) && m.emission.to_array().iter().all(|&c| c <= MAX_SAMPLE_RADIANCE),
                "emission must lie between 0 and 16777215, the most that a sample holds",
            ),
            (m.kind <= MaterialKind::Principled as u32, "unknown kind"),
            (unit(m.roughness), "roughness must lie between 0 and 1"),
            (unit(m.metallic), "metallic must lie between 0 and 1"),
            ((1.0..=4.0).contains(&m.ior), "index of refraction must lie between 1 and 4"),
            (unit(m.transmission), "transmission must lie between 0 and 1"),
            (
                m.normal_scale.is_finite() && m.alpha_cutoff.is_finite(),
                "normal scale and alpha cutoff must be finite",
            ),
            (m.alpha_mode <= AlphaMode::Blend as u32, "unknown alpha mode"),
            (m.layers as usize <= self.layers.len(), "there are no such layers"),
            (
                m.priority == 0 || m.kind == MaterialKind::Dielectric as u32,
                "a priority belongs to a dielectric, and this surface is none",
            ),
            (m.priority <= Material::MAX_PRIORITY + 1, "priority must lie between 0 and 255"),
            (
                m.priority == 0 || index < MAX_NESTED,
                "in a scene with priorities dielectrics must be among the first 65535 materials",
            ),
        ];
        if let Some((_, message)) = checks.iter().find(|(sound, _)| !sound) {
            return Err(self.error(format!("material {index}"), *message));
        }
        for texture in [
            m.base_color_texture,
            m.metallic_roughness_texture,
            m.normal_texture,
            m.emission_texture,
            m.transmission_texture,
        ] {
            if texture != NONE && texture as usize >= self.textures.len() {
                return Err(self.error(format!("material {index}"), format!("there is no texture {texture}")));
            }
        }
        Ok(())
    }

    fn check_layers(&self, index: usize, layers: &Layers) -> Result<()> {
        if let Some(message) = layers.fault() {
            return Err(self.error(format!("layers {index}"), message));
        }
        let absent = |&t: &u32| t != NONE && t as usize >= self.textures.len();
        if let Some(texture) = layers.textures().into_iter().find(absent) {
            return Err(self.error(format!("layers {index}"), format!("there is no texture {texture}")));
        }
        Ok(())
    }

    fn check_mesh(&self, index: usize, mesh: &MeshData) -> Result<()> {
        let fail = |message: String| Err(self.error(format!("mesh {index}"), message));
        let count = mesh.positions.len();
        if let Some(i) = mesh.positions.iter().position(|p| !p.iter().all(|v| v.abs() <= MAX_COORDINATE)) {
            return fail(format!("position {i} is not finite or beyond {MAX_COORDINATE:e}"));
        }
        if !mesh.vertices.is_empty() && mesh.vertices.len() != count {
            return fail(format!("{} vertices for {count} positions", mesh.vertices.len()));
        }
        let finite = |v: &Vertex| {
            v.normal.is_finite() && v.tangent.is_finite() && v.uv0.iter().chain(&v.uv1).all(|t| t.is_finite())
        };
        if let Some(i) = mesh.vertices.iter().position(|v| !finite(v)) {
            return fail(format!("an attribute of vertex {i} is not finite"));
        }
        if let Some(i) = mesh.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= count)) {
            return fail(format!("triangle {i} uses a vertex beyond {count}"));
        }
        if mesh.materials.len() != mesh.triangles.len()
            && !(mesh.materials.len() == 1 || mesh.triangles.is_empty())
        {
            return fail(format!(
                "{} materials for {} triangles",
                mesh.materials.len(),
                mesh.triangles.len()
            ));
        }
        let of_spheres = mesh.spheres.iter().map(|s| s.material);
        if let Some(m) =
            mesh.materials.iter().copied().chain(of_spheres).find(|&m| m as usize >= self.materials.len())
        {
            return fail(format!("there is no material {m}"));
        }
        let sound = |s: &Sphere| {
            s.center.is_finite()
                && max_abs_component(s.center) <= MAX_COORDINATE
                && s.radius > 0.0
                && s.radius <= MAX_COORDINATE
        };
        if let Some(i) = mesh.spheres.iter().position(|s| !sound(s)) {
            return fail(format!("sphere {i} needs a finite centre and a positive radius"));
        }
        Ok(())
    }

    fn check_instance(&self, index: usize, mesh: u32, map: &Affine) -> Result<()> {
        let fail = |message: &str| Err(self.error(format!("instance {index}"), message));
        let Some(data) = self.meshes.get(mesh as usize) else {
            return fail(&format!("there is no mesh {mesh}"));
        };
        if !map.iter().flatten().all(|v| v.abs() <= MAX_COORDINATE) || inverse(map).is_none() {
            return fail("the transform must be finite and invertible");
        }
        if !data.spheres.is_empty() && similarity_scale(map).is_none() {
            return fail("spheres need a transform of rotation, uniform scale and translation");
        }
        Ok(())
    }
}

fn is_radiance(v: f32) -> bool {
    v.is_finite() && v >= 0.0
}

fn is_color(c: Vec3) -> bool {
    is_radiance(c.x) && is_radiance(c.y) && is_radiance(c.z)
}
