//! Surface interactions: the geometry, textures and shading frame at a hit point, which all integrators
//! share. The counterpart is `kernels/integrators/interaction.h`.

use crate::bsdf::{
    self, Evaluation, LayerAxes, MIN_COSINE, PickedLobe, Scatter, Surface, SurfaceLayers, ThinFilm,
};
use crate::lights;
use lockstep_core::geometry::{Hit, Ray, coordinate_scale, offset_origin, triangle_normal};
use lockstep_core::math::max;
use lockstep_core::math::transform::{transform_normal, transform_point, transform_vector};
use lockstep_core::math::vec3::{Vec3, cross, dot, max_abs_component, normalize, vec3};
use lockstep_core::scene::{
    Instance, Layers, Material, MaterialKind, NONE, SPHERE_BIT, SceneData, Vertex, texture,
};

/// A point on a surface, in world space, with the data that its material needs.
pub(crate) struct Interaction<'a> {
    pub(crate) position: Vec3,
    /// Unit geometric normal on the front side.
    pub(crate) geometric: Vec3,
    /// Unit shading normal on the front side, before any normal map.
    pub(crate) shading: Vec3,
    /// Bounds the coordinates from which the position was computed.
    pub(crate) scale: f32,
    pub(crate) vertices: [&'a Vertex; 3],
    pub(crate) barycentrics: [f32; 3],
    pub(crate) material: u32,
    /// Triangle of the scene, or [`NONE`] on a sphere.
    pub(crate) triangle: u32,
    /// Centre and radius of a sphere in world space.
    pub(crate) sphere: (Vec3, f32),
}

impl<'a> Interaction<'a> {
    /// The interaction at a hit.
    #[inline(always)]
    pub(crate) fn new(scene: &'a SceneData, ray: &Ray, hit: &Hit) -> Self {
        let instance = &scene.instances[hit.instance as usize];
        if hit.primitive & SPHERE_BIT != 0 {
            Self::on_sphere(scene, instance, ray, hit)
        } else {
            Self::on_triangle(scene, instance, hit)
        }
    }

    /// The interaction at a hit of a triangle.
    #[inline(always)]
    pub(crate) fn on_triangle(scene: &'a SceneData, instance: &Instance, hit: &Hit) -> Self {
        let mesh = &scene.meshes[instance.mesh as usize];
        let index = mesh.first_triangle + hit.primitive;
        let triangle = &scene.triangles[index as usize];
        let b = [1.0 - hit.u - hit.v, hit.u, hit.v];
        // Load vertices
        // Arrays are spelled out in hot code, since `map` on them is not always inlined.
        let [i0, i1, i2] = triangle.vertices;
        let position = |i: u32| Vec3::from(scene.positions[i as usize]);
        let p = [position(i0), position(i1), position(i2)];
        let vertices =
            [&scene.vertices[i0 as usize], &scene.vertices[i1 as usize], &scene.vertices[i2 as usize]];
        // Interpolate in object space
        let mut position = p[0] * b[0] + p[1] * b[1] + p[2] * b[2];
        let mut normal = triangle_normal(p);
        let mut shading = vertices[0].normal * b[0] + vertices[1].normal * b[1] + vertices[2].normal * b[2];
        let mut scale = max(coordinate_scale(p[0], p[1]), max_abs_component(p[2]));
        // Transform to world space
        if instance.flags & Instance::IDENTITY == 0 {
            let m = &instance.object_to_world;
            position = transform_point(m, position);
            let corners = [transform_point(m, p[0]), transform_point(m, p[1]), transform_point(m, p[2])];
            let handedness = if instance.flags & Instance::MIRRORED != 0 { -1.0 } else { 1.0 };
            normal = cross(transform_vector(m, p[1] - p[0]), transform_vector(m, p[2] - p[0])) * handedness;
            shading = transform_normal(&instance.world_to_object, shading);
            scale = max(coordinate_scale(corners[0], corners[1]), max_abs_component(corners[2]));
            scale = max(scale, max_abs_component(vec3(m[0][3], m[1][3], m[2][3])));
        }
        // Normalise; a degenerate shading normal falls back to the geometric one
        let geometric = normalize(normal);
        let shading = normalize(shading);
        Self {
            position,
            geometric,
            shading: if dot(shading, shading) > 0.0 { shading } else { geometric },
            scale,
            vertices,
            barycentrics: b,
            material: triangle.material,
            triangle: index,
            sphere: (Vec3::ZERO, 0.0),
        }
    }

    /// The interaction at a hit of a sphere.
    #[inline(always)]
    pub(crate) fn on_sphere(scene: &'a SceneData, instance: &Instance, ray: &Ray, hit: &Hit) -> Self {
        let mesh = &scene.meshes[instance.mesh as usize];
        let sphere = &scene.spheres[(mesh.first_sphere + (hit.primitive & !SPHERE_BIT)) as usize];
        let identity = instance.flags & Instance::IDENTITY != 0;
        // Transform the ray to object space
        let (to_object, m) = (&instance.world_to_object, &instance.object_to_world);
        let origin = if identity { ray.origin } else { transform_point(to_object, ray.origin) };
        let direction = if identity { ray.direction } else { transform_vector(to_object, ray.direction) };
        // Project the rounded hit point onto the sphere
        let local_normal = normalize(origin + direction * hit.t - sphere.center);
        let local = sphere.center + local_normal * sphere.radius;
        // Transform to world space
        let position = if identity { local } else { transform_point(m, local) };
        let normal =
            if identity { local_normal } else { normalize(transform_normal(to_object, local_normal)) };
        let center = if identity { sphere.center } else { transform_point(m, sphere.center) };
        let radius = sphere.radius * instance.scale;
        let scale =
            max(max_abs_component(center) + radius, max_abs_component(vec3(m[0][3], m[1][3], m[2][3])));
        Self {
            position,
            geometric: normal,
            shading: normal,
            scale,
            vertices: [&Vertex::PLAIN; 3],
            barycentrics: [1.0, 0.0, 0.0],
            material: sphere.material,
            triangle: NONE,
            sphere: (center, radius),
        }
    }

    /// Samples a texture; white on spheres, which have no texture coordinates.
    #[inline(always)]
    pub(crate) fn texture(&self, scene: &SceneData, index: u32) -> texture::Rgba {
        if index == NONE || self.triangle == NONE {
            return texture::Rgba { rgb: Vec3::ONE, a: 1.0 };
        }
        let t = &scene.textures[index as usize];
        texture::sample(scene, t, texture::coordinates(t, self.vertices, self.barycentrics))
    }

    /// The radiance that the surface emits towards a camera path's ray of `bounce`: of an unlit one, towards camera rays
    /// alone.
    #[inline(always)]
    pub(crate) fn emission(&self, scene: &SceneData, material: &Material, bounce: u32) -> Vec3 {
        let is_unlit = material.flags & Material::UNLIT != 0;
        if is_unlit && bounce > 0 {
            return Vec3::ZERO;
        }
        if self.triangle == NONE {
            return material.emission;
        }
        let b = [self.barycentrics[1], self.barycentrics[2]];
        let emission = lights::triangle_emission(scene, material, self.triangle, b);
        if is_unlit { emission * vertex_color(self.vertices, self.barycentrics) } else { emission }
    }

    /// Tangent and bitangent of a triangle, orthonormal with the shading normal; a zero tangent where there is none.
    #[inline(always)]
    fn tangents(&self, instance: &Instance) -> [Vec3; 2] {
        // Interpolate the tangent
        let b = self.barycentrics;
        let v = &self.vertices;
        let along = v[0].tangent * b[0] + v[1].tangent * b[1] + v[2].tangent * b[2];
        let along = if instance.flags & Instance::IDENTITY != 0 {
            along
        } else {
            transform_vector(&instance.object_to_world, along)
        };
        // Orthonormal tangent frame
        let n = self.shading;
        let tangent = normalize(along - n * dot(n, along));
        let handedness = if instance.flags & Instance::MIRRORED != 0 { -1.0 } else { 1.0 };
        [tangent, cross(n, tangent) * (v[0].tangent_sign() * handedness)]
    }

    /// The layers of the material with their textures; `None` for a material without.
    #[inline(always)]
    pub(crate) fn layers(
        &self,
        scene: &SceneData,
        instance: &Instance,
        material: &Material,
    ) -> Option<SurfaceLayers> {
        if material.layers == 0 {
            return None;
        }
        let layers = &scene.layers[(material.layers - 1) as usize];
        let is_principled = material.kind == MaterialKind::Principled as u32;
        if !is_principled && !layers.covers_glass(material) {
            return None;
        }
        let mut found = self.look_up_layers(scene, instance, layers);
        if is_principled && layers.has_coat_normal(material) {
            found.coat_normal = self.coat_normal(scene, instance, layers);
        }
        Some(found)
    }

    #[inline(never)]
    fn look_up_layers(&self, scene: &SceneData, instance: &Instance, layers: &Layers) -> SurfaceLayers {
        let mut out = SurfaceLayers {
            specular_color: layers.specular_color,
            specular: layers.specular,
            sheen_color: layers.sheen_color,
            sheen_roughness: layers.sheen_roughness,
            clearcoat: layers.clearcoat,
            clearcoat_roughness: layers.clearcoat_roughness,
            clearcoat_f0: layers.clearcoat_f0,
            iridescence: layers.iridescence,
            film: ThinFilm { ior: layers.iridescence_ior, thickness: layers.iridescence_thickness[1] },
            anisotropy: layers.anisotropy,
            along: Vec3::ZERO,
            coat_normal: Vec3::ZERO,
        };
        if layers.specular_texture != NONE {
            out.specular *= self.texture(scene, layers.specular_texture).a;
        }
        if layers.specular_color_texture != NONE {
            out.specular_color = out.specular_color * self.texture(scene, layers.specular_color_texture).rgb;
        }
        if layers.sheen_color_texture != NONE {
            out.sheen_color = out.sheen_color * self.texture(scene, layers.sheen_color_texture).rgb;
        }
        if layers.sheen_roughness_texture != NONE {
            out.sheen_roughness *= self.texture(scene, layers.sheen_roughness_texture).a;
        }
        if layers.clearcoat_texture != NONE {
            out.clearcoat *= self.texture(scene, layers.clearcoat_texture).rgb.x;
        }
        if layers.clearcoat_roughness_texture != NONE {
            out.clearcoat_roughness *= self.texture(scene, layers.clearcoat_roughness_texture).rgb.y;
        }
        if layers.iridescence_texture != NONE {
            out.iridescence *= self.texture(scene, layers.iridescence_texture).rgb.x;
        }
        if layers.iridescence_thickness_texture != NONE {
            let [thin, thick] = layers.iridescence_thickness;
            let share = self.texture(scene, layers.iridescence_thickness_texture).rgb.y;
            out.film.thickness = thin + (thick - thin) * share;
        }
        if layers.anisotropy > 0.0 {
            self.look_up_anisotropy(scene, instance, layers, &mut out);
        }
        out
    }

    /// Strength and direction of anisotropy. On spheres, which have no tangents, it follows their circles of
    /// latitude about the y axis.
    #[inline(always)]
    fn look_up_anisotropy(
        &self,
        scene: &SceneData,
        instance: &Instance,
        layers: &Layers,
        out: &mut SurfaceLayers,
    ) {
        let [tangent, bitangent] = if self.triangle == NONE {
            let along = normalize(vec3(self.shading.z, 0.0, -self.shading.x));
            [along, cross(self.shading, along)]
        } else {
            self.tangents(instance)
        };
        let [cos, sin] = layers.anisotropy_rotation;
        let [mut x, mut y] = [cos, sin];
        if layers.anisotropy_texture != NONE {
            let texel = self.texture(scene, layers.anisotropy_texture).rgb;
            let [u, v] = [2.0 * texel.x - 1.0, 2.0 * texel.y - 1.0];
            [x, y] = [cos * u - sin * v, sin * u + cos * v];
            out.anisotropy *= texel.z;
        }
        out.along = tangent * x + bitangent * y;
        if dot(tangent, tangent) == 0.0 {
            out.anisotropy = 0.0;
        }
    }

    /// The shading normal perturbed by the material's normal map.
    #[inline(always)]
    pub(crate) fn perturbed_normal(
        &self,
        scene: &SceneData,
        instance: &Instance,
        material: &Material,
    ) -> Vec3 {
        self.mapped_normal(scene, instance, material.normal_texture, material.normal_scale)
    }

    /// The shading normal of a clearcoat that has one of its own.
    #[inline(never)]
    fn coat_normal(&self, scene: &SceneData, instance: &Instance, layers: &Layers) -> Vec3 {
        self.mapped_normal(scene, instance, layers.clearcoat_normal_texture, layers.clearcoat_normal_scale)
    }

    /// The shading normal perturbed by a normal map; as it is without one.
    #[inline(always)]
    fn mapped_normal(&self, scene: &SceneData, instance: &Instance, map: u32, strength: f32) -> Vec3 {
        if map == NONE || self.triangle == NONE {
            return self.shading;
        }
        let n = self.shading;
        let [tangent, bitangent] = self.tangents(instance);
        if dot(tangent, tangent) == 0.0 {
            return n;
        }
        // Decode and apply the normal map
        let texel = self.texture(scene, map).rgb;
        let x = (2.0 * texel.x - 1.0) * strength;
        let y = (2.0 * texel.y - 1.0) * strength;
        let z = 2.0 * texel.z - 1.0;
        let perturbed = normalize(tangent * x + bitangent * y + n * z);
        if dot(perturbed, perturbed) > 0.0 { perturbed } else { n }
    }

    /// Evaluates the material's textures.
    #[inline(always)]
    pub(crate) fn surface(&self, scene: &SceneData, material: &Material, outside: bool) -> Surface {
        // Base colour: material, vertices and texture
        let mut base_color = material.base_color * vertex_color(self.vertices, self.barycentrics);
        if material.base_color_texture != NONE {
            base_color = base_color * self.texture(scene, material.base_color_texture).rgb;
        }
        let mut surface = Surface {
            kind: material.kind,
            base_color,
            roughness: material.roughness,
            metallic: material.metallic,
            ior: material.ior,
            transmission: material.transmission,
            outside,
            multiscatter: material.flags & Material::MULTISCATTER != 0,
        };
        // Textures of the principled material
        if material.kind == MaterialKind::Principled as u32 {
            if material.metallic_roughness_texture != NONE {
                let texel = self.texture(scene, material.metallic_roughness_texture).rgb;
                surface.roughness *= texel.y;
                surface.metallic *= texel.z;
            }
            if material.transmission_texture != NONE {
                surface.transmission *= self.texture(scene, material.transmission_texture).rgb.x;
            }
        }
        surface
    }
}

/// The interpolated colour of a triangle's vertices; white where no vertex has one.
#[inline(always)]
pub(crate) fn vertex_color(v: [&Vertex; 3], b: [f32; 3]) -> Vec3 {
    if v[0].is_white() && v[1].is_white() && v[2].is_white() {
        return Vec3::ONE;
    }
    v[0].rgb() * b[0] + v[1].rgb() * b[1] + v[2].rgb() * b[2]
}

/// The point of a surface from which rays leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    position: Vec3,
    /// The geometric normal on the side of the incoming ray.
    geometric: Vec3,
    /// Bounds the coordinates from which the position was computed.
    scale: f32,
}

impl Departure {
    /// The origin of a ray in this direction, off the surface.
    #[inline(always)]
    pub(crate) fn origin(&self, direction: Vec3) -> Vec3 {
        offset_origin(self.position, self.geometric, direction, self.scale)
    }
}

/// A surface and its shading frame, on the side of the incoming ray.
#[derive(Clone)]
pub(crate) struct ShadingFrame<'a> {
    pub(crate) s: Vec3,
    pub(crate) t: Vec3,
    /// The shading normal, towards `wo`.
    pub(crate) normal: Vec3,
    /// The geometric normal, towards `wo`.
    pub(crate) geometric: Vec3,
    pub(crate) wo: Vec3,
    pub(crate) surface: Surface,
    /// The layers over the surface.
    pub(crate) layers: Option<&'a SurfaceLayers>,
    /// The lobe that stands for all lobes of the layers.
    pub(crate) picked: Option<&'a PickedLobe>,
}

impl ShadingFrame<'_> {
    /// Where rays leave this frame's interaction.
    #[inline(always)]
    pub(crate) fn departure(&self, at: &Interaction<'_>) -> Departure {
        Departure { position: at.position, geometric: self.geometric, scale: at.scale }
    }

    /// Transforms a direction from world space to the shading frame.
    #[inline(always)]
    pub(crate) fn to_local(&self, world: Vec3) -> Vec3 {
        vec3(dot(world, self.s), dot(world, self.t), dot(world, self.normal))
    }

    /// Transforms a direction from the shading frame to world space, to unit length.
    #[inline(always)]
    pub(crate) fn to_world(&self, local: Vec3) -> Vec3 {
        normalize(self.s * local.x + self.t * local.y + self.normal * local.z)
    }

    /// The direction of anisotropy, of unit length; the x axis where it is not seen.
    #[inline(always)]
    fn along(&self, layers: &SurfaceLayers) -> [f32; 2] {
        let [x, y] = [dot(layers.along, self.s), dot(layers.along, self.t)];
        let length = (x * x + y * y).sqrt();
        if length > 1e-6 { [x / length, y / length] } else { [1.0, 0.0] }
    }

    /// True where the clearcoat has a normal of its own.
    #[inline(always)]
    fn has_coat_normal(&self) -> bool {
        self.layers.is_some_and(|layers| dot(layers.coat_normal, layers.coat_normal) > 0.0)
    }

    /// True for glass, which is not as a principled surface below its layers.
    #[inline(always)]
    fn is_glass(&self) -> bool {
        self.surface.kind == MaterialKind::Dielectric as u32
    }

    /// True for a surface on which light sampling finds nothing: specular, without a clearcoat on this side.
    #[inline(always)]
    pub(crate) fn is_specular(&self) -> bool {
        self.surface.is_specular()
            && !(self.surface.outside && self.layers.is_some_and(|layers| layers.clearcoat > 0.0))
    }

    /// How the layers lie in this frame. Where `wo` is behind the clearcoat's normal the clearcoat has the geometric one,
    /// as the surface has.
    #[inline(always)]
    fn axes(&self, layers: &SurfaceLayers) -> LayerAxes {
        let up = vec3(0.0, 0.0, 1.0);
        let mut axes = LayerAxes { along: self.along(layers), coat: up, geometric: up };
        if self.has_coat_normal() {
            let side = if self.surface.outside { 1.0 } else { -1.0 };
            axes.coat = self.to_local(layers.coat_normal * side);
            axes.geometric = self.to_local(self.geometric);
            if dot(axes.coat, self.wo) <= MIN_COSINE {
                axes.coat = axes.geometric;
            }
        }
        axes
    }

    /// Picks one lobe of the layers by the draws `u`; `None` for a surface without, and for glass, whose lobes are taken
    /// together.
    #[inline(never)]
    pub(crate) fn pick_lobe(&self, u: [f32; 2]) -> Option<PickedLobe> {
        let layers = self.layers.filter(|_| !self.is_glass())?;
        Some(PickedLobe::new(&self.surface, layers, &self.axes(layers), self.wo, u))
    }

    /// BSDF times cosine of all lobes or of the one that is picked, and the density with which [`Self::sample`] chooses
    /// `wi`. Zero for specular surfaces.
    #[inline(always)]
    pub(crate) fn evaluate(&self, wi: Vec3) -> Evaluation {
        match self.layers {
            Some(layers) if wi.z != 0.0 => {
                if self.is_glass() {
                    return bsdf::evaluate_glass(&self.surface, layers, self.wo, wi);
                }
                let (s, axes) = (&self.surface, self.axes(layers));
                match self.picked {
                    Some(picked) => picked.evaluate(s, layers, &axes, self.wo, wi),
                    None => bsdf::evaluate_layered(s, layers, &axes, self.wo, wi),
                }
            }
            _ => bsdf::evaluate(&self.surface, self.wo, wi),
        }
    }

    /// Samples a direction for the draws `u` (lobe, direction u, direction v). A zero weight ends the path.
    #[inline(always)]
    pub(crate) fn sample(&self, u: [f32; 3]) -> Scatter {
        match self.layers {
            Some(layers) => {
                if self.is_glass() {
                    return bsdf::sample_glass(&self.surface, layers, self.wo, u);
                }
                let (s, axes) = (&self.surface, self.axes(layers));
                match self.picked {
                    Some(picked) => picked.sample(s, layers, &axes, self.wo, u[1], u[2]),
                    None => bsdf::sample_layered(s, layers, &axes, self.wo, u),
                }
            }
            None => bsdf::sample(&self.surface, self.wo, u),
        }
    }

    /// True when `world` is on the same side of the geometric and the shading normal, or on the front side of the
    /// geometric normal, where a clearcoat with a normal of its own may reflect.
    #[inline(always)]
    pub(crate) fn same_side(&self, world: Vec3, local_z: f32) -> bool {
        let geometric_z = dot(self.geometric, world);
        geometric_z * local_z > 0.0 || (geometric_z > 0.0 && self.has_coat_normal())
    }
}
