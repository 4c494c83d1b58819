/* Surface interactions: geometry, textures and shading frame at a hit point, which all integrators share. The
 * counterpart of core/transport/src/interaction.rs. */

/* A point on a surface, in world space. */
typedef struct {
    Vec3 position;
    /* Unit geometric normal on the front side. */
    Vec3 geometric;
    /* Unit shading normal on the front side, before any normal map. */
    Vec3 shading;
    /* Bounds the coordinates from which the position was computed. */
    float scale;
    Vertex vertices[3];
    Vec3 barycentrics;
    /* The interpolated colour of the vertices. Taken at once: three floats stay in registers in place of the six
     * packed words. */
    Vec3 vertex_color;
    u32 material;
    /* Triangle of the scene, or NONE on a sphere. */
    u32 triangle;
    /* Centre and radius of a sphere in world space. */
    Vec3 sphere_center;
    float sphere_radius;
} Interaction;

typedef struct {
    Vec3 tangent;
    Vec3 bitangent;
} Tangents;

/* A surface and its shading frame. */
typedef struct {
    Vec3 s;
    Vec3 t;
    /* The shading normal, towards `wo`. */
    Vec3 normal;
    /* The geometric normal, towards `wo`. */
    Vec3 geometric;
    Vec3 wo;
    Surface surface;
#ifdef LS_LAYERS
    SurfaceLayers layers;
#endif
#ifdef LS_LAYER_TREE
    /* The lobe that stands for all lobes of the layers. */
    PickedLobe picked;
#endif
} ShadingFrame;

/* The translation of an affine map. */
LS_FN Vec3 surface_translation(Affine a) {
    return vec3_new(a.m[0][3], a.m[1][3], a.m[2][3]);
}

LS_FN Vertex surface_plain_vertex(void) {
    Vertex v;
    v.normal = vec3_splat(0.0f);
    v.red_green = 0x3c003c00u;
    v.tangent = vec3_splat(0.0f);
    v.blue_alpha = 0x3c003c00u;
    v.uv0[0] = 0.0f;
    v.uv0[1] = 0.0f;
    v.uv1[0] = 0.0f;
    v.uv1[1] = 0.0f;
    return v;
}

LS_FN Vec3 surface_vertex_color(Vertex a, Vertex b, Vertex c, Vec3 barycentrics) {
    if (vertex_is_white(a) && vertex_is_white(b) && vertex_is_white(c)) {
        return vec3_splat(1.0f);
    }
    return vec3_weigh(vertex_rgb(a), vertex_rgb(b), vertex_rgb(c), barycentrics);
}

LS_FN Interaction surface_interaction_on_triangle(SceneRef scene, Instance instance, Hit hit) {
    Mesh mesh = load_mesh(scene, instance.mesh);
    u32 index = mesh.first_triangle + hit.primitive;
    Triangle triangle = load_triangle(scene, index);
    Vec3 b = vec3_new(1.0f - hit.u - hit.v, hit.u, hit.v);
    Vec3 p0 = load_position(scene, triangle.vertices[0]);
    Vec3 p1 = load_position(scene, triangle.vertices[1]);
    Vec3 p2 = load_position(scene, triangle.vertices[2]);
    Interaction at;
    at.vertices[0] = load_vertex(scene, triangle.vertices[0]);
    at.vertices[1] = load_vertex(scene, triangle.vertices[1]);
    at.vertices[2] = load_vertex(scene, triangle.vertices[2]);
    Vec3 position = vec3_weigh(p0, p1, p2, b);
    Vec3 normal = intersect_triangle_normal(p0, p1, p2);
    Vec3 shading = vec3_weigh(at.vertices[0].normal, at.vertices[1].normal, at.vertices[2].normal, b);
    float scale = math_max(intersect_coordinate_scale(p0, p1), vec3_max_abs_component(p2));
    if ((instance.flags & INSTANCE_IDENTITY) == 0u) {
        Affine m = instance.object_to_world;
        position = transform_point(m, position);
        Vec3 c0 = transform_point(m, p0);
        Vec3 c1 = transform_point(m, p1);
        Vec3 c2 = transform_point(m, p2);
        float turned = (instance.flags & INSTANCE_MIRRORED) != 0u ? -1.0f : 1.0f;
        Vec3 edge1 = transform_vector(m, vec3_sub(p1, p0));
        Vec3 edge2 = transform_vector(m, vec3_sub(p2, p0));
        normal = vec3_scale(vec3_cross(edge1, edge2), turned);
        shading = transform_normal(instance.world_to_object, shading);
        scale = math_max(intersect_coordinate_scale(c0, c1), vec3_max_abs_component(c2));
        scale = math_max(scale, vec3_max_abs_component(surface_translation(m)));
    }
    at.position = position;
    at.geometric = vec3_normalize(normal);
    shading = vec3_normalize(shading);
    at.shading = vec3_dot(shading, shading) > 0.0f ? shading : at.geometric;
    at.scale = scale;
    at.barycentrics = b;
    at.material = triangle.material;
    at.triangle = index;
    at.vertex_color = surface_vertex_color(at.vertices[0], at.vertices[1], at.vertices[2], b);
    at.sphere_center = vec3_splat(0.0f);
    at.sphere_radius = 0.0f;
    return at;
}

LS_FN Interaction surface_interaction_on_sphere(SceneRef scene, Instance instance, Ray ray, Hit hit) {
    Mesh mesh = load_mesh(scene, instance.mesh);
    Sphere sphere = load_sphere(scene, mesh.first_sphere + (hit.primitive & ~SPHERE_BIT));
    bool identity = (instance.flags & INSTANCE_IDENTITY) != 0u;
    Affine back = instance.world_to_object;
    Affine m = instance.object_to_world;
    Vec3 origin = identity ? ray.origin : transform_point(back, ray.origin);
    Vec3 direction = identity ? ray.direction : transform_vector(back, ray.direction);
    /* Project the rounded hit point back onto the sphere. */
    Vec3 from_center = vec3_sub(vec3_add(origin, vec3_scale(direction, hit.t)), sphere.center);
    Vec3 local_normal = vec3_normalize(from_center);
    Vec3 point = vec3_add(sphere.center, vec3_scale(local_normal, sphere.radius));
    Interaction at;
    at.position = identity ? point : transform_point(m, point);
    at.geometric = identity ? local_normal : vec3_normalize(transform_normal(back, local_normal));
    at.shading = at.geometric;
    at.sphere_center = identity ? sphere.center : transform_point(m, sphere.center);
    at.sphere_radius = sphere.radius * instance.scale;
    at.scale = math_max(vec3_max_abs_component(at.sphere_center) + at.sphere_radius,
                        vec3_max_abs_component(surface_translation(m)));
    at.vertices[0] = surface_plain_vertex();
    at.vertices[1] = surface_plain_vertex();
    at.vertices[2] = surface_plain_vertex();
    at.barycentrics = vec3_new(1.0f, 0.0f, 0.0f);
    at.material = sphere.material;
    at.triangle = NONE;
    at.vertex_color = vec3_splat(1.0f);
    return at;
}

LS_FN Interaction surface_interaction_new(SceneRef scene, Ray ray, Hit hit) {
    Instance instance = load_instance(scene, hit.instance);
#ifdef LS_SPHERES
    if ((hit.primitive & SPHERE_BIT) != 0u) {
        return surface_interaction_on_sphere(scene, instance, ray, hit);
    }
#else
    (void)ray;
#endif
    return surface_interaction_on_triangle(scene, instance, hit);
}

/* Samples a texture; white on spheres, which have no texture coordinates. */
LS_FN Rgba surface_interaction_texture(SceneRef scene, Interaction at, u32 index) {
    if (index == NONE || at.triangle == NONE) {
        Rgba white;
        white.rgb = vec3_splat(1.0f);
        white.a = 1.0f;
        return white;
    }
    Texture texture = load_texture(scene, index);
    Vec2 uv = texture_coordinates(texture, at.vertices[0], at.vertices[1], at.vertices[2], at.barycentrics);
    return texture_sample(scene, texture, uv);
}

/* The radiance that the surface emits towards a camera path's ray of `bounce`: of an unlit one, towards camera rays
 * alone. */
LS_FN Vec3 surface_interaction_emission(SceneRef scene, Interaction at, Material material, u32 bounce) {
    bool is_unlit = (material.flags & MATERIAL_UNLIT) != 0u;
    if (is_unlit && bounce > 0u) {
        return vec3_splat(0.0f);
    }
    if (at.triangle == NONE) {
        return material.emission;
    }
    Vec2 b;
    b.x = at.barycentrics.y;
    b.y = at.barycentrics.z;
    Vec3 emission = lights_triangle_emission(scene, material, at.triangle, b);
    return is_unlit ? vec3_mul(emission, at.vertex_color) : emission;
}

/* Tangent and bitangent of a triangle, orthonormal with the shading normal; a zero tangent where there is none. */
LS_FN Tangents surface_interaction_tangents(Interaction at, Instance instance) {
    Vec3 along =
        vec3_weigh(at.vertices[0].tangent, at.vertices[1].tangent, at.vertices[2].tangent, at.barycentrics);
    if ((instance.flags & INSTANCE_IDENTITY) == 0u) {
        along = transform_vector(instance.object_to_world, along);
    }
    Vec3 n = at.shading;
    Tangents frame;
    frame.tangent = vec3_normalize(vec3_sub(along, vec3_scale(n, vec3_dot(n, along))));
    float turned = (instance.flags & INSTANCE_MIRRORED) != 0u ? -1.0f : 1.0f;
    frame.bitangent = vec3_scale(vec3_cross(n, frame.tangent), vertex_tangent_sign(at.vertices[0]) * turned);
    return frame;
}

/* The shading normal perturbed by a normal map; as it is without one. */
LS_FN Vec3 surface_interaction_mapped_normal(SceneRef scene, Interaction at, Instance instance, u32 map,
                                             float strength) {
    if (map == NONE || at.triangle == NONE) {
        return at.shading;
    }
    Vec3 n = at.shading;
    Tangents frame = surface_interaction_tangents(at, instance);
    if (vec3_dot(frame.tangent, frame.tangent) == 0.0f) {
        return n;
    }
    Vec3 texel = surface_interaction_texture(scene, at, map).rgb;
    float x = (2.0f * texel.x - 1.0f) * strength;
    float y = (2.0f * texel.y - 1.0f) * strength;
    float z = 2.0f * texel.z - 1.0f;
    Vec3 perturbed = vec3_normalize(vec3_weigh(frame.tangent, frame.bitangent, n, vec3_new(x, y, z)));
    return vec3_dot(perturbed, perturbed) > 0.0f ? perturbed : n;
}

/* The shading normal perturbed by the material's normal map. */
LS_FN Vec3 surface_interaction_perturbed_normal(SceneRef scene, Interaction at, Instance instance, Material material) {
    return surface_interaction_mapped_normal(scene, at, instance, material.normal_texture, material.normal_scale);
}

#ifdef LS_LAYERS
/* Strength and direction of anisotropy. */
LS_FN SurfaceLayers surface_interaction_look_up_anisotropy(SceneRef scene, Interaction at, Instance instance,
                                                           Layers layers, SurfaceLayers found) {
    Tangents frame;
    if (at.triangle == NONE) {
        frame.tangent = vec3_normalize(vec3_new(at.shading.z, 0.0f, -at.shading.x));
        frame.bitangent = vec3_cross(at.shading, frame.tangent);
    } else {
        frame = surface_interaction_tangents(at, instance);
    }
    float cosine = layers.anisotropy_rotation[0];
    float sine = layers.anisotropy_rotation[1];
    float x = cosine;
    float y = sine;
    if (layers.anisotropy_texture != NONE) {
        Vec3 texel = surface_interaction_texture(scene, at, layers.anisotropy_texture).rgb;
        float u = 2.0f * texel.x - 1.0f;
        float v = 2.0f * texel.y - 1.0f;
        x = cosine * u - sine * v;
        y = sine * u + cosine * v;
        found.anisotropy = found.anisotropy * texel.z;
    }
    found.along = vec3_add(vec3_scale(frame.tangent, x), vec3_scale(frame.bitangent, y));
    if (vec3_dot(frame.tangent, frame.tangent) == 0.0f) {
        found.anisotropy = 0.0f;
    }
    return found;
}

LS_FN SurfaceLayers surface_interaction_look_up_layers(SceneRef scene, Interaction at, Instance instance,
                                                       Layers layers) {
    SurfaceLayers found;
    found.present = true;
    found.specular_color = layers.specular_color;
    found.specular = layers.specular;
    found.sheen_color = layers.sheen_color;
    found.sheen_roughness = layers.sheen_roughness;
    found.clearcoat = layers.clearcoat;
    found.clearcoat_roughness = layers.clearcoat_roughness;
    found.clearcoat_f0 = layers.clearcoat_f0;
#ifdef LS_IRIDESCENCE
    found.iridescence = layers.iridescence;
    found.film.ior = layers.iridescence_ior;
    found.film.thickness = layers.iridescence_thickness[1];
    if (layers.iridescence_texture != NONE) {
        found.iridescence = found.iridescence * surface_interaction_texture(scene, at, layers.iridescence_texture).rgb.x;
    }
    if (layers.iridescence_thickness_texture != NONE) {
        float thin = layers.iridescence_thickness[0];
        float share = surface_interaction_texture(scene, at, layers.iridescence_thickness_texture).rgb.y;
        found.film.thickness = thin + (layers.iridescence_thickness[1] - thin) * share;
    }
#endif
    found.anisotropy = layers.anisotropy;
    found.along = vec3_splat(0.0f);
#ifdef LS_COAT_NORMALS
    found.coat_normal = vec3_splat(0.0f);
#endif
    found.albedos = scene.albedos;
    if (layers.specular_texture != NONE) {
        found.specular = found.specular * surface_interaction_texture(scene, at, layers.specular_texture).a;
    }
    if (layers.specular_color_texture != NONE) {
        found.specular_color = vec3_mul(found.specular_color,
                                        surface_interaction_texture(scene, at, layers.specular_color_texture).rgb);
    }
    if (layers.sheen_color_texture != NONE) {
        found.sheen_color =
            vec3_mul(found.sheen_color, surface_interaction_texture(scene, at, layers.sheen_color_texture).rgb);
    }
    if (layers.sheen_roughness_texture != NONE) {
        found.sheen_roughness =
            found.sheen_roughness * surface_interaction_texture(scene, at, layers.sheen_roughness_texture).a;
    }
    if (layers.clearcoat_texture != NONE) {
        found.clearcoat = found.clearcoat * surface_interaction_texture(scene, at, layers.clearcoat_texture).rgb.x;
    }
    if (layers.clearcoat_roughness_texture != NONE) {
        found.clearcoat_roughness =
            found.clearcoat_roughness
            * surface_interaction_texture(scene, at, layers.clearcoat_roughness_texture).rgb.y;
    }
    if (layers.anisotropy > 0.0f) {
        found = surface_interaction_look_up_anisotropy(scene, at, instance, layers, found);
    }
    return found;
}

#ifdef LS_COAT_NORMALS
/* True for a clearcoat whose normal is not that of the surface below it. */
LS_FN bool surface_layers_has_coat_normal(Layers layers, Material material) {
    bool is_shared = layers.clearcoat_normal_texture == material.normal_texture
                     && (material.normal_texture == NONE || layers.clearcoat_normal_scale == material.normal_scale);
    return layers.clearcoat > 0.0f && !is_shared;
}

/* The shading normal of a clearcoat that has one of its own. */
LS_FN Vec3 surface_interaction_coat_normal(SceneRef scene, Interaction at, Instance instance, Layers layers) {
    return surface_interaction_mapped_normal(scene, at, instance, layers.clearcoat_normal_texture,
                                             layers.clearcoat_normal_scale);
}
#endif

#ifdef LS_GLASS_LAYERS
/* True for a dielectric whose boundary has a clearcoat or a thin film. */
LS_FN bool surface_layers_covers_glass(Layers layers, Material material) {
    return material.kind == MATERIAL_DIELECTRIC && (layers.clearcoat > 0.0f || layers.iridescence > 0.0f);
}
#endif

/* The layers of the material with their textures. */
LS_FN SurfaceLayers surface_interaction_layers(SceneRef scene, Interaction at, Instance instance, Material material) {
#ifdef LS_GLASS_LAYERS
    if (material.layers == 0u) {
        return bsdf_no_layers();
    }
    Layers layers = load_layers(scene, material.layers - 1u);
    if (material.kind != MATERIAL_PRINCIPLED && !surface_layers_covers_glass(layers, material)) {
        return bsdf_no_layers();
    }
#else
    if (material.layers == 0u || material.kind != MATERIAL_PRINCIPLED) {
        return bsdf_no_layers();
    }
    Layers layers = load_layers(scene, material.layers - 1u);
#endif
    SurfaceLayers found = surface_interaction_look_up_layers(scene, at, instance, layers);
#ifdef LS_COAT_NORMALS
    if (material.kind == MATERIAL_PRINCIPLED && surface_layers_has_coat_normal(layers, material)) {
        found.coat_normal = surface_interaction_coat_normal(scene, at, instance, layers);
    }
#endif
    return found;
}
#endif

/* Evaluates the material's textures. */
LS_FN Surface surface_interaction_surface(SceneRef scene, Interaction at, Material material, bool outside) {
    Surface surface;
    surface.kind = material.kind;
    surface.base_color = vec3_mul(material.base_color, at.vertex_color);
    if (material.base_color_texture != NONE) {
        surface.base_color =
            vec3_mul(surface.base_color, surface_interaction_texture(scene, at, material.base_color_texture).rgb);
    }
    surface.roughness = material.roughness;
    surface.metallic = material.metallic;
    surface.ior = material.ior;
    surface.transmission = material.transmission;
    surface.outside = outside;
#ifdef LS_MULTISCATTER
    surface.multiscatter = (material.flags & MATERIAL_MULTISCATTER) != 0u;
    surface.albedos = scene.albedos;
#endif
    if (material.kind == MATERIAL_PRINCIPLED) {
        if (material.metallic_roughness_texture != NONE) {
            Vec3 texel = surface_interaction_texture(scene, at, material.metallic_roughness_texture).rgb;
            surface.roughness = surface.roughness * texel.y;
            surface.metallic = surface.metallic * texel.z;
        }
        if (material.transmission_texture != NONE) {
            Vec3 texel = surface_interaction_texture(scene, at, material.transmission_texture).rgb;
            surface.transmission = surface.transmission * texel.x;
        }
    }
    return surface;
}

LS_FN Vec3 surface_shading_frame_to_local(ShadingFrame here, Vec3 world) {
    return vec3_new(vec3_dot(world, here.s), vec3_dot(world, here.t), vec3_dot(world, here.normal));
}

LS_FN Vec3 surface_shading_frame_to_world(ShadingFrame here, Vec3 v) {
    return vec3_normalize(vec3_weigh(here.s, here.t, here.normal, v));
}

#ifdef LS_GLASS_LAYERS
/* True for glass, which is not as a principled surface below its layers. */
LS_FN bool surface_shading_frame_is_glass(ShadingFrame here) {
    return here.surface.kind == MATERIAL_DIELECTRIC;
}
#endif

/* True for a surface on which light sampling finds nothing: specular, without a clearcoat on this side. */
LS_FN bool surface_shading_frame_is_specular(ShadingFrame here) {
    bool is_specular = bsdf_surface_is_specular(here.surface);
#ifdef LS_GLASS_LAYERS
    if (here.surface.outside && here.layers.present && here.layers.clearcoat > 0.0f) {
        return false;
    }
#endif
    return is_specular;
}

#ifdef LS_LAYERS
/* The direction of anisotropy, of unit length; the x axis where it is not seen. */
LS_FN Vec2 surface_shading_frame_along(ShadingFrame here) {
    float x = vec3_dot(here.layers.along, here.s);
    float y = vec3_dot(here.layers.along, here.t);
    float length = LS_SQRT(x * x + y * y);
    Vec2 along;
    along.x = length > 1e-6f ? LS_DIV(x, length) : 1.0f;
    along.y = length > 1e-6f ? LS_DIV(y, length) : 0.0f;
    return along;
}

#ifdef LS_COAT_NORMALS
/* True where the clearcoat has a normal of its own. */
LS_FN bool surface_shading_frame_has_coat_normal(ShadingFrame here) {
    return here.layers.present && vec3_dot(here.layers.coat_normal, here.layers.coat_normal) > 0.0f;
}
#endif

/* How the layers lie in this frame. Where `wo` is behind the clearcoat's normal the clearcoat has the geometric one,
 * as the surface has. */
LS_FN LayerAxes surface_shading_frame_axes(ShadingFrame here) {
    LayerAxes axes;
    axes.along = surface_shading_frame_along(here);
#ifdef LS_COAT_NORMALS
    axes.coat = vec3_new(0.0f, 0.0f, 1.0f);
    axes.geometric = axes.coat;
    if (surface_shading_frame_has_coat_normal(here)) {
        float side = here.surface.outside ? 1.0f : -1.0f;
        axes.coat = surface_shading_frame_to_local(here, vec3_scale(here.layers.coat_normal, side));
        axes.geometric = surface_shading_frame_to_local(here, here.geometric);
        if (vec3_dot(axes.coat, here.wo) <= MIN_COSINE) {
            axes.coat = axes.geometric;
        }
    }
#endif
    return axes;
}
#endif

#ifdef LS_LAYER_TREE
/* Picks one lobe of the layers by the draws `u0` and `u1`. */
LS_FN PickedLobe surface_shading_frame_pick_lobe(ShadingFrame here, float u0, float u1) {
    return bsdf_picked_lobe_new(here.surface, here.layers, surface_shading_frame_axes(here), here.wo, u0, u1);
}
#endif

/* BSDF times cosine of all lobes or of the one that is picked, and the density with which surface_shading_frame_sample
 * chooses `wi`. Zero for specular surfaces. */
LS_FN Evaluation surface_shading_frame_evaluate(ShadingFrame here, Vec3 wi) {
#ifdef LS_LAYERS
    if (here.layers.present && wi.z != 0.0f) {
#ifdef LS_GLASS_LAYERS
        if (surface_shading_frame_is_glass(here)) {
            return bsdf_evaluate_glass(here.surface, here.layers, here.wo, wi);
        }
#endif
#ifdef LS_LAYER_TREE
        LayerAxes axes = surface_shading_frame_axes(here);
        return bsdf_picked_lobe_evaluate(here.picked, here.surface, here.layers, axes, here.wo, wi);
#else
        return bsdf_evaluate_layered(here.surface, here.layers, surface_shading_frame_axes(here), here.wo, wi);
#endif
    }
#endif
    return bsdf_evaluate(here.surface, here.wo, wi);
}

/* Samples a direction for the draws `u0` (lobe), `u1` and `u2` (direction). A zero weight ends the path. */
LS_FN Scatter surface_shading_frame_sample(ShadingFrame here, float u0, float u1, float u2) {
#ifdef LS_LAYERS
    if (here.layers.present) {
#ifdef LS_GLASS_LAYERS
        if (surface_shading_frame_is_glass(here)) {
            return bsdf_sample_glass(here.surface, here.layers, here.wo, u0, u1, u2);
        }
#endif
#ifdef LS_LAYER_TREE
        LayerAxes axes = surface_shading_frame_axes(here);
        return bsdf_picked_lobe_sample(here.picked, here.surface, here.layers, axes, here.wo, u1, u2);
#else
        return bsdf_sample_layered(here.surface, here.layers, surface_shading_frame_axes(here), here.wo, u0, u1, u2);
#endif
    }
#endif
    return bsdf_sample(here.surface, here.wo, u0, u1, u2);
}

/* True when `world` is on the same side of the geometric and the shading normal, or on the front side of the geometric
 * normal, where a clearcoat with a normal of its own may reflect. */
LS_FN bool surface_shading_frame_same_side(ShadingFrame here, Vec3 world, float local_z) {
    float geometric_z = vec3_dot(here.geometric, world);
#ifdef LS_COAT_NORMALS
    if (geometric_z > 0.0f && surface_shading_frame_has_coat_normal(here)) {
        return true;
    }
#endif
    return geometric_z * local_z > 0.0f;
}
