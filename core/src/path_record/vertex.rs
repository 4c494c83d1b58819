//! Paths as people and programs read them.

use crate::error::{Error, Result};
use crate::path_record::VertexRecord;
use crate::target_id::TargetId;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// A sample whose path is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct PathRequest {
    /// Film index of the pixel, `y * width + x`.
    pub pixel: u32,
    /// Sample index.
    pub sample: u32,
}

impl PathRequest {
    /// Checks that every pixel lies within a film.
    ///
    /// # Errors
    /// [`Error::Contract`] naming the first that does not.
    pub fn check(requests: &[Self], actor: &TargetId, width: u32, height: u32) -> Result<()> {
        match requests.iter().find(|request| request.pixel >= width * height) {
            None => Ok(()),
            Some(request) => Err(Error::Contract {
                actor: actor.to_string(),
                message: format!(
                    "a path of pixel {} was asked for; the film of {width}x{height} has {}",
                    request.pixel,
                    width * height
                ),
            }),
        }
    }
}

/// One vertex of a traced path. Vectors are in world space; directions and normals have unit length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathVertex {
    /// Bounce of the vertex, 0 at the end of the camera ray.
    pub bounce: u32,
    /// Origin of the extension ray that led here.
    pub origin: [f32; 3],
    /// Direction of the extension ray that led here.
    pub direction: [f32; 3],
    /// Path throughput on arrival.
    pub throughput: [f32; 3],
    /// Distance along the ray in units of its direction's length; the ray's `t_max` for a miss.
    pub t: f32,
    /// The hit; `None` for a miss.
    pub surface: Option<SurfaceVertex>,
    /// Radiance of the path with what this vertex or the environment emits, before the vertex's own light sample.
    pub gathered: [f32; 3],
    /// The light sample, where one was drawn.
    pub light: Option<LightVertex>,
    /// The next direction, where one was drawn.
    pub scatter: Option<ScatterVertex>,
    /// Radiance of the path when this vertex is done.
    pub radiance: [f32; 3],
}

/// The hit of a ray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SurfaceVertex {
    /// Instance.
    pub instance: u32,
    /// Primitive within the instance's mesh; spheres have bit 31 set.
    pub primitive: u32,
    /// Material.
    pub material: u32,
    /// Second and third barycentric coordinate; zero on spheres.
    pub barycentrics: [f32; 2],
    /// Geometric normal on the front side.
    pub geometric_normal: [f32; 3],
    /// Texture coordinates as the base colour's texture is looked up, else the first set as it is; zero on
    /// spheres.
    pub texture_coordinates: [f32; 2],
    /// Alpha (opacity), 0 to 1.
    pub alpha: f32,
    /// True for a false hit, beyond which the path went straight on ([`crate::scene::Material::priority`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub false_hit: bool,
    /// The surface as shading looked it up; `None` on the last bounce, which adds emission only, and at a false hit.
    pub shading: Option<ShadingVertex>,
}

/// The material at a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShadingVertex {
    /// Base colour with texture and vertex colours.
    pub base_color: [f32; 3],
    /// Roughness with its texture, 0 to 1.
    pub roughness: f32,
    /// Metalness with its texture, 0 to 1.
    pub metallic: f32,
    /// Shading normal after the normal map, on the side that the path came from.
    pub normal: [f32; 3],
}

/// A sampled light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LightVertex {
    /// Random words of the draw.
    pub words: [u32; 4],
    /// Index in the scene's list of lights.
    pub index: u32,
    /// Direction to the light; zero when nothing arrives.
    pub direction: [f32; 3],
    /// Distance to the light.
    pub distance: f32,
    /// Radiance that arrives from the light, or intensity over squared distance of a light without extent.
    pub radiance: [f32; 3],
    /// Density per solid angle, or the probability of a light without extent; zero when nothing arrives.
    pub pdf: f32,
    /// BSDF times cosine.
    pub bsdf: [f32; 3],
    /// Density of the direction under BSDF sampling.
    pub bsdf_pdf: f32,
    /// The shadow ray, where the sample carries light.
    pub shadow: Option<ShadowVertex>,
}

/// A shadow ray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShadowVertex {
    /// The origin, off the surface.
    pub origin: [f32; 3],
    /// The length.
    pub t_max: f32,
    /// Radiance that it adds to the path if it is unoccluded.
    pub radiance: [f32; 3],
    /// True when the shadow ray reached its light.
    pub reached: bool,
}

/// A sampled direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScatterVertex {
    /// Random words of the draw.
    pub words: [u32; 4],
    /// The next extension ray's direction.
    pub direction: [f32; 3],
    /// The density per solid angle; zero for a smooth surface.
    pub pdf: f32,
    /// Throughput along the sampled direction.
    pub throughput: [f32; 3],
    /// False when the path ended here.
    pub continues: bool,
}

impl PathVertex {
    /// The path that a target recorded; vertex `i` is at bounce `i`.
    pub fn path(records: &[VertexRecord]) -> Vec<Self> {
        records.iter().zip(0..).map(|(record, bounce)| Self::of(record, bounce)).collect()
    }

    fn of(r: &VertexRecord, bounce: u32) -> Self {
        Self {
            bounce,
            origin: r.origin.to_array(),
            direction: r.direction.to_array(),
            throughput: r.throughput.to_array(),
            t: r.t,
            surface: r.has(VertexRecord::HIT).then(|| SurfaceVertex::of(r)),
            gathered: r.gathered.to_array(),
            light: r.has(VertexRecord::LIGHT).then(|| LightVertex::of(r)),
            scatter: r.has(VertexRecord::SCATTER).then(|| ScatterVertex::of(r)),
            radiance: r.radiance.to_array(),
        }
    }

    /// Whether the shadow ray reached its light; `None` where there was no shadow ray.
    pub fn connected(&self) -> Option<bool> {
        self.light?.shadow.map(|shadow| shadow.reached)
    }
}

impl SurfaceVertex {
    fn of(r: &VertexRecord) -> Self {
        let shading = || ShadingVertex {
            base_color: r.base_color.to_array(),
            roughness: r.roughness,
            metallic: r.metallic,
            normal: r.normal.to_array(),
        };
        Self {
            instance: r.instance,
            primitive: r.primitive,
            material: r.material,
            barycentrics: [r.u, r.v],
            geometric_normal: r.geometric.to_array(),
            texture_coordinates: r.coordinates,
            alpha: r.alpha,
            false_hit: r.has(VertexRecord::FALSE_HIT),
            shading: r.has(VertexRecord::SHADED).then(shading),
        }
    }
}

impl LightVertex {
    fn of(r: &VertexRecord) -> Self {
        let shadow = || ShadowVertex {
            origin: r.shadow_origin.to_array(),
            t_max: r.shadow_t_max,
            radiance: r.shadow_radiance.to_array(),
            reached: r.has(VertexRecord::REACHED),
        };
        Self {
            words: r.light_words,
            index: r.light,
            direction: r.light_direction.to_array(),
            distance: r.light_distance,
            radiance: r.light_radiance.to_array(),
            pdf: r.light_pdf,
            bsdf: r.light_bsdf.to_array(),
            bsdf_pdf: r.light_bsdf_pdf,
            shadow: r.has(VertexRecord::SHADOW).then(shadow),
        }
    }
}

impl ScatterVertex {
    fn of(r: &VertexRecord) -> Self {
        Self {
            words: r.scatter_words,
            direction: r.scatter_direction.to_array(),
            pdf: r.scatter_pdf,
            throughput: r.scatter_throughput.to_array(),
            continues: r.has(VertexRecord::CONTINUES),
        }
    }
}
