/* The path tracer, one stage at a time. The twin of src/path.rs. */

#define SHADOW_SHORTENING 0.999f
/* The least cosine between the direction back and a shading normal. */
#define MIN_COSINE 1e-4f

/* A path between two stages. */
typedef struct {
    Ray ray;
    Vec3 throughput;
    float bsdf_pdf;
    Vec3 radiance;
    SampleKey key;
} PathState;

/* A shadow ray and what it adds if nothing is in its way. */
typedef struct {
    bool wanted;
    Ray ray;
    Vec3 radiance;
} Connection;

/* What shading leads to. */
typedef struct {
    bool continues;
    Connection connection;
} Shaded;

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
    u32 material;
    /* Triangle of the scene, or NONE on a sphere. */
    u32 triangle;
    /* Centre and radius of a sphere in world space. */
    Vec3 sphere_center;
    float sphere_radius;
} Interaction;

/* A surface in its shading frame. */
typedef struct {
    Vec3 s;
    Vec3 t;
    /* The shading normal, on the side that the path came from. */
    Vec3 normal;
    /* The geometric normal, on the same side. */
    Vec3 geometric;
    Vec3 wo;
    Surface surface;
} Local;

LS_FN Ray path_ray(Vec3 origin, Vec3 direction, float t_max) {
    Ray ray;
    ray.origin = origin;
    ray.t_min = 0.0f;
    ray.direction = direction;
    ray.t_max = t_max;
    return ray;
}

LS_FN Connection path_connection(bool wanted, Ray ray, Vec3 radiance) {
    Connection c;
    c.wanted = wanted;
    c.ray = ray;
    c.radiance = radiance;
    return c;
}

LS_FN Connection path_no_connection(void) {
    return path_connection(false, path_ray(vec3_splat(0.0f), vec3_splat(0.0f), 0.0f), vec3_splat(0.0f));
}

LS_FN Shaded path_ended(void) {
    Shaded shaded;
    shaded.continues = false;
    shaded.connection = path_no_connection();
    return shaded;
}

/* Starts the path of a sample. */
LS_FN PathState path_generate(CameraFrame camera, SampleKey key) {
    Uniforms u = rng_uniforms(rng_draw(key, BLOCK_CAMERA, 0u));
    CameraRay ray = camera_frame_ray(camera, key.pixel, u);
    PathState path;
    path.ray = path_ray(ray.origin, ray.direction, FAR);
    path.throughput = vec3_splat(1.0f);
    path.bsdf_pdf = 0.0f;
    path.radiance = vec3_splat(0.0f);
    path.key = key;
    return path;
}

/* The translation of an affine map. */
LS_FN Vec3 path_translation(Affine a) {
    return vec3_new(a.m[0][3], a.m[1][3], a.m[2][3]);
}

LS_FN Vertex path_plain_vertex(void) {
    Vertex v;
    v.normal = vec3_splat(0.0f);
    v.color = 0xffffffffu;
    v.tangent = vec3_splat(0.0f);
    v.tangent_sign = 1.0f;
    v.uv0[0] = 0.0f;
    v.uv0[1] = 0.0f;
    v.uv1[0] = 0.0f;
    v.uv1[1] = 0.0f;
    return v;
}

LS_FN Interaction path_interaction_on_triangle(SceneRef scene, Instance instance, Hit hit) {
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
        scale = math_max(scale, vec3_max_abs_component(path_translation(m)));
    }
    at.position = position;
    at.geometric = vec3_normalize(normal);
    shading = vec3_normalize(shading);
    at.shading = vec3_dot(shading, shading) > 0.0f ? shading : at.geometric;
    at.scale = scale;
    at.barycentrics = b;
    at.material = triangle.material;
    at.triangle = index;
    at.sphere_center = vec3_splat(0.0f);
    at.sphere_radius = 0.0f;
    return at;
}

LS_FN Interaction path_interaction_on_sphere(SceneRef scene, Instance instance, Ray ray, Hit hit) {
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
                        vec3_max_abs_component(path_translation(m)));
    at.vertices[0] = path_plain_vertex();
    at.vertices[1] = path_plain_vertex();
    at.vertices[2] = path_plain_vertex();
    at.barycentrics = vec3_new(1.0f, 0.0f, 0.0f);
    at.material = sphere.material;
    at.triangle = NONE;
    return at;
}

LS_FN Interaction path_interaction_new(SceneRef scene, Ray ray, Hit hit) {
    Instance instance = load_instance(scene, hit.instance);
    if ((hit.primitive & SPHERE_BIT) != 0u) {
        return path_interaction_on_sphere(scene, instance, ray, hit);
    }
    return path_interaction_on_triangle(scene, instance, hit);
}

/* A texture's value here; white on spheres, which have no texture coordinates. */
LS_FN Rgba path_interaction_texture(SceneRef scene, Interaction at, u32 index) {
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

/* The shading normal bent by the material's normal map. */
LS_FN Vec3 path_interaction_bent_normal(SceneRef scene, Interaction at, Instance instance, Material material) {
    if (material.normal_texture == NONE || at.triangle == NONE) {
        return at.shading;
    }
    Vec3 along =
        vec3_weigh(at.vertices[0].tangent, at.vertices[1].tangent, at.vertices[2].tangent, at.barycentrics);
    if ((instance.flags & INSTANCE_IDENTITY) == 0u) {
        along = transform_vector(instance.object_to_world, along);
    }
    Vec3 n = at.shading;
    Vec3 tangent = vec3_normalize(vec3_sub(along, vec3_scale(n, vec3_dot(n, along))));
    if (vec3_dot(tangent, tangent) == 0.0f) {
        return n;
    }
    float turned = (instance.flags & INSTANCE_MIRRORED) != 0u ? -1.0f : 1.0f;
    Vec3 bitangent = vec3_scale(vec3_cross(n, tangent), at.vertices[0].tangent_sign * turned);
    Vec3 texel = path_interaction_texture(scene, at, material.normal_texture).rgb;
    float x = (2.0f * texel.x - 1.0f) * material.normal_scale;
    float y = (2.0f * texel.y - 1.0f) * material.normal_scale;
    float z = 2.0f * texel.z - 1.0f;
    Vec3 bent = vec3_normalize(vec3_weigh(tangent, bitangent, n, vec3_new(x, y, z)));
    return vec3_dot(bent, bent) > 0.0f ? bent : n;
}

LS_FN Vec3 path_interaction_vertex_color(Interaction at) {
    u32 c0 = at.vertices[0].color;
    u32 c1 = at.vertices[1].color;
    u32 c2 = at.vertices[2].color;
    if (c0 == 0xffffffffu && c1 == 0xffffffffu && c2 == 0xffffffffu) {
        return vec3_splat(1.0f);
    }
    return vec3_weigh(texture_linear_rgb(c0), texture_linear_rgb(c1), texture_linear_rgb(c2), at.barycentrics);
}

/* The material with its textures looked up. */
LS_FN Surface path_interaction_surface(SceneRef scene, Interaction at, Material material, bool outside) {
    Surface surface;
    surface.kind = material.kind;
    surface.base_color = vec3_mul(material.base_color, path_interaction_vertex_color(at));
    if (material.base_color_texture != NONE) {
        surface.base_color =
            vec3_mul(surface.base_color, path_interaction_texture(scene, at, material.base_color_texture).rgb);
    }
    surface.roughness = material.roughness;
    surface.metallic = material.metallic;
    surface.ior = material.ior;
    surface.transmission = material.transmission;
    surface.outside = outside;
    if (material.kind == MATERIAL_PRINCIPLED) {
        if (material.metallic_roughness_texture != NONE) {
            Vec3 texel = path_interaction_texture(scene, at, material.metallic_roughness_texture).rgb;
            surface.roughness = surface.roughness * texel.y;
            surface.metallic = surface.metallic * texel.z;
        }
        if (material.transmission_texture != NONE) {
            Vec3 texel = path_interaction_texture(scene, at, material.transmission_texture).rgb;
            surface.transmission = surface.transmission * texel.x;
        }
    }
    return surface;
}

LS_FN Vec3 path_local_to_local(Local here, Vec3 world) {
    return vec3_new(vec3_dot(world, here.s), vec3_dot(world, here.t), vec3_dot(world, here.normal));
}

LS_FN Vec3 path_local_to_world(Local here, Vec3 v) {
    return vec3_normalize(vec3_weigh(here.s, here.t, here.normal, v));
}

/* True when the geometric and the shading normal agree on which side `world` lies. */
LS_FN bool path_local_sides_agree(Local here, Vec3 world, float local_z) {
    return vec3_dot(here.geometric, world) * local_z > 0.0f;
}

/* The weight of light found by following the BSDF where light sampling has density `light_pdf`. */
LS_FN float path_hit_weight(Pass pass, float bsdf_pdf, float light_pdf) {
    if (bsdf_pdf == 0.0f || pass.strategy == STRATEGY_BSDF_ONLY) {
        return 1.0f;
    }
    if (pass.strategy == STRATEGY_LIGHT_ONLY) {
        /* What light sampling cannot find must still be counted. */
        return light_pdf > 0.0f ? 0.0f : 1.0f;
    }
    return sampling_power_heuristic(bsdf_pdf, light_pdf);
}

LS_FN Vec3 path_add_sky(SceneRef scene, Pass pass, PathState path) {
    Vec3 direction = path.ray.direction;
    Vec3 radiance = lights_environment_radiance(scene, direction);
    float weight = 1.0f;
    if (path.bsdf_pdf > 0.0f) {
        weight = path_hit_weight(pass, path.bsdf_pdf, lights_environment_pdf(scene, direction));
    }
    return vec3_add(path.radiance, vec3_scale(vec3_mul(path.throughput, radiance), weight));
}

LS_FN Vec3 path_add_emission(SceneRef scene, Pass pass, PathState path, Interaction at, Material material, float t) {
    if (vec3_max_component(material.emission) <= 0.0f) {
        return path.radiance;
    }
    float cosine = lights_emission_cosine(material, -vec3_dot(at.geometric, path.ray.direction));
    if (cosine <= 0.0f) {
        return path.radiance;
    }
    bool on_triangle = at.triangle != NONE;
    Vec3 emission = material.emission;
    if (on_triangle) {
        Vec2 b;
        b.x = at.barycentrics.y;
        b.y = at.barycentrics.z;
        emission = lights_triangle_emission(scene, material, at.triangle, b);
    }
    float weight = 1.0f;
    if (path.bsdf_pdf > 0.0f) {
        float distance2 = t * t;
        float light_pdf = on_triangle ? lights_area_to_solid_angle(material, distance2, cosine)
                                      : lights_sphere_pdf(material, at.sphere_center, at.sphere_radius,
                                                          path.ray.origin, distance2, cosine);
        weight = path_hit_weight(pass, path.bsdf_pdf, light_pdf);
    }
    return vec3_add(path.radiance, vec3_scale(vec3_mul(path.throughput, emission), weight));
}

/* Next-event estimation: a shadow ray to a sampled light. */
LS_FN Connection path_connect_to_light(SceneRef scene, Pass pass, u32 bounce, PathState path, Interaction at,
                                       Local here, VertexRecord *record) {
    if (scene.constants.light_count == 0u || bsdf_surface_is_smooth(here.surface)) {
        return path_no_connection();
    }
    LightSample light = lights_sample(scene, at.position, path.key, bounce, record);
    record->light_direction = light.direction;
    record->light_distance = light.distance;
    record->light_radiance = light.radiance;
    record->light_pdf = light.pdf;
    if (light.pdf <= 0.0f || (pass.strategy == STRATEGY_BSDF_ONLY && !light.delta)) {
        return path_no_connection();
    }
    Vec3 wi = path_local_to_local(here, light.direction);
    if (!path_local_sides_agree(here, light.direction, wi.z)) {
        return path_no_connection();
    }
    Evaluation scattered = bsdf_evaluate(here.surface, here.wo, wi);
    record->light_bsdf = scattered.value;
    record->light_bsdf_pdf = scattered.pdf;
    float weight = 1.0f;
    if (!light.delta && pass.strategy == STRATEGY_MIS) {
        weight = sampling_power_heuristic(light.pdf, scattered.pdf);
    }
    Vec3 radiance = vec3_scale(vec3_mul(vec3_mul(path.throughput, scattered.value), light.radiance),
                               weight / light.pdf);
    if (vec3_max_component(radiance) <= 0.0f) {
        return path_no_connection();
    }
    Vec3 origin = intersect_offset_origin(at.position, here.geometric, light.direction, at.scale);
    float t_max = math_min(light.distance * SHADOW_SHORTENING, FAR);
    record->flags |= VERTEX_SHADOW;
    record->shadow_origin = origin;
    record->shadow_t_max = t_max;
    record->shadow_radiance = radiance;
    return path_connection(true, path_ray(origin, light.direction, t_max), radiance);
}

/* Chooses the next extension ray; false when the path ends. */
LS_FN bool path_scatter(Pass pass, u32 bounce, PathState *path, Interaction at, Local here, VertexRecord *record) {
    Words words = rng_draw(path->key, BLOCK_BSDF, bounce);
    Uniforms u = rng_uniforms(words);
    Scatter scattered = bsdf_sample(here.surface, here.wo, u.u[0], u.u[1], u.u[2]);
    Vec3 direction = path_local_to_world(here, scattered.wi);
    Vec3 throughput = vec3_mul(path->throughput, scattered.weight);
    record->flags |= VERTEX_SCATTER;
    rng_record(words, record->scatter_words);
    record->scatter_direction = direction;
    record->scatter_pdf = scattered.pdf;
    record->scatter_throughput = throughput;
    if (vec3_max_component(throughput) <= 0.0f || !path_local_sides_agree(here, direction, scattered.wi.z)) {
        return false;
    }
    if (pass.roulette_from != NONE && bounce >= pass.roulette_from) {
        float survival = math_min(vec3_max_component(throughput), 0.95f);
        if (u.u[3] >= survival) {
            return false;
        }
        throughput = vec3_scale(throughput, 1.0f / survival);
    }
    record->flags |= VERTEX_CONTINUES;
    record->scatter_throughput = throughput;
    path->throughput = throughput;
    path->bsdf_pdf = scattered.pdf;
    Vec3 origin = intersect_offset_origin(at.position, here.geometric, direction, at.scale);
    path->ray = path_ray(origin, direction, FAR);
    return true;
}

/* Shades what the extension ray found: updates the path's radiance, throughput and ray. `record` takes what was
 * computed on the way; a compiler drops it from a kernel that does not read it. */
LS_FN Shaded path_shade(SceneRef scene, Pass pass, u32 bounce, PathState *path, Hit hit, VertexRecord *record) {
    if (!intersect_hit_is_some(hit)) {
        path->radiance = path_add_sky(scene, pass, *path);
        record->gathered = path->radiance;
        return path_ended();
    }
    Interaction at = path_interaction_new(scene, path->ray, hit);
    record->flags |= VERTEX_HIT;
    record->geometric = at.geometric;
    record->material = at.material;
    Instance instance = load_instance(scene, hit.instance);
    Material material = load_material(scene, at.material);
    Vec3 back = vec3_neg(path->ray.direction);
    bool outside = vec3_dot(at.geometric, back) > 0.0f;
    path->radiance = path_add_emission(scene, pass, *path, at, material, hit.t);
    record->gathered = path->radiance;
    if (bounce == pass.bounces) {
        return path_ended();
    }

    /* Set up the local frame on the side that the path came from. */
    float side = outside ? 1.0f : -1.0f;
    Local here;
    here.geometric = vec3_scale(at.geometric, side);
    Vec3 bent = vec3_scale(path_interaction_bent_normal(scene, at, instance, material), side);
    here.normal = vec3_dot(bent, back) > MIN_COSINE ? bent : here.geometric;
    Frame frame = sampling_frame(here.normal);
    here.s = frame.s;
    here.t = frame.t;
    here.wo = vec3_new(vec3_dot(back, here.s), vec3_dot(back, here.t),
                        math_max(vec3_dot(back, here.normal), MIN_COSINE));
    here.surface = path_interaction_surface(scene, at, material, outside);
    record->flags |= VERTEX_SHADED;
    record->base_color = here.surface.base_color;
    record->roughness = here.surface.roughness;
    record->metallic = here.surface.metallic;
    record->normal = here.normal;

    Shaded shaded;
    shaded.connection = path_connect_to_light(scene, pass, bounce, *path, at, here, record);
    shaded.continues = path_scatter(pass, bounce, path, at, here, record);
    return shaded;
}
