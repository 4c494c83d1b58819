/* Vertices of sub-paths. The counterpart of core/transport/src/integrators/bidirectional/vertex.rs. */

/* A surface that a sub-path has reached; `wanted` is false where there is none. */
typedef struct {
    bool wanted;
    Vec3 position;
    float scale;
    /* Unit normals on the front side. */
    Vec3 geometric;
    Vec3 shading;
    /* Unit direction to the previous vertex. */
    Vec3 from;
    Vec3 throughput;
    /* Seen from `from`. */
    Surface surface;
#ifdef LS_LAYERS
    SurfaceLayers layers;
    /* The hit, from which a stored vertex looks up its layers again. */
    Hit hit;
#endif
    PartialWeights partial;
} PathVertex;

/* A ray between two sub-paths, or from one to light or lens, and what it adds where it is unoccluded. */
typedef struct {
    bool wanted;
    Ray ray;
    u32 pixel;
    u32 technique;
    Vec3 value;
    float weight;
} PairConnection;

/* The continuation of a sub-path; `wanted` is false where it ends. */
typedef struct {
    bool wanted;
    Ray ray;
    Vec3 throughput;
    PartialWeights partial;
} Scattered;

/* The sides and normals of a vertex that a path sees. */
typedef struct {
    bool outside;
    Vec3 geometric;
    Vec3 normal;
} Facing;

/* Direction, distance and squared distance from one point to another; the last is zero where they
 * coincide. */
typedef struct {
    Vec3 direction;
    float distance;
    float distance2;
} Between;

LS_FN PathVertex vertex_none(void) {
    PathVertex v;
    v.wanted = false;
    v.position = vec3_splat(0.0f);
    v.scale = 0.0f;
    v.geometric = vec3_splat(0.0f);
    v.shading = vec3_splat(0.0f);
    v.from = vec3_splat(0.0f);
    v.throughput = vec3_splat(0.0f);
    v.surface.kind = 0u;
    v.surface.base_color = vec3_splat(0.0f);
    v.surface.roughness = 0.0f;
    v.surface.metallic = 0.0f;
    v.surface.ior = 1.0f;
    v.surface.transmission = 0.0f;
    v.surface.outside = true;
#ifdef LS_MULTISCATTER
    v.surface.multiscatter = false;
    v.surface.albedos = 0;
#endif
#ifdef LS_LAYERS
    v.layers = bsdf_no_layers();
    v.hit = intersect_hit_none(0.0f);
#endif
    v.partial = weights_new(0.0f, 0.0f, 0.0f);
    return v;
}

LS_FN PairConnection vertex_no_connection(void) {
    PairConnection c;
    c.wanted = false;
    c.ray = path_ray(vec3_splat(0.0f), vec3_splat(0.0f), 0.0f);
    c.pixel = 0u;
    c.technique = 0u;
    c.value = vec3_splat(0.0f);
    c.weight = 0.0f;
    return c;
}

LS_FN Scattered vertex_absorbed(void) {
    Scattered s;
    s.wanted = false;
    s.ray = path_ray(vec3_splat(0.0f), vec3_splat(0.0f), 0.0f);
    s.throughput = vec3_splat(0.0f);
    s.partial = weights_new(0.0f, 0.0f, 0.0f);
    return s;
}

/* The vertex at an interaction. */
LS_FN PathVertex vertex_vertex_new(SceneRef scene, Interaction at, Hit hit, Vec3 from, Vec3 throughput,
                                   PartialWeights partial) {
    Instance instance = load_instance(scene, hit.instance);
    Material material = load_material(scene, at.material);
    PathVertex v;
    v.wanted = true;
    v.position = at.position;
    v.scale = at.scale;
    v.geometric = at.geometric;
    v.shading = surface_interaction_perturbed_normal(scene, at, instance, material);
    v.from = from;
    v.throughput = throughput;
    v.surface = surface_interaction_surface(scene, at, material, vec3_dot(at.geometric, from) > 0.0f);
#ifdef LS_LAYERS
    v.layers = surface_interaction_layers(scene, at, instance, material);
    v.hit = hit;
#endif
    v.partial = partial;
    return v;
}

#ifdef LS_LAYERS
/* A stored vertex, whose surface is looked up again at its hit where it has layers. */
LS_FN PathVertex vertex_restored(SceneRef scene, PathVertex v) {
    if (!v.layers.present) {
        return v;
    }
    Instance instance = load_instance(scene, v.hit.instance);
    Interaction at;
    if ((v.hit.primitive & SPHERE_BIT) != 0u) {
        /* A sphere has one material; its tangents follow from the normal. */
        at = surface_interaction_on_sphere(scene, instance, path_ray(v.position, v.geometric, 0.0f), v.hit);
        at.shading = v.geometric;
    } else {
        at = surface_interaction_on_triangle(scene, instance, v.hit);
    }
    Material material = load_material(scene, at.material);
    v.surface = surface_interaction_surface(scene, at, material, v.surface.outside);
    v.layers = surface_interaction_layers(scene, at, instance, material);
    return v;
}
#endif

/* The sides and normals that a path sees which arrives from a direction. */
LS_FN Facing vertex_vertex_facing(PathVertex v, Vec3 from) {
    Facing seen;
    seen.outside = vec3_dot(v.geometric, from) > 0.0f;
    float side = seen.outside ? 1.0f : -1.0f;
    seen.geometric = vec3_scale(v.geometric, side);
    Vec3 shading = vec3_scale(v.shading, side);
    seen.normal = vec3_dot(shading, from) > MIN_COSINE ? shading : seen.geometric;
    return seen;
}

/* True for diffuse surfaces without layers. */
LS_FN bool vertex_vertex_is_diffuse(PathVertex v) {
#ifdef LS_LAYERS
    if (v.layers.present) {
        return false;
    }
#endif
    return v.surface.kind == MATERIAL_DIFFUSE;
}

/* The shading frame of a path that arrives from a direction. */
LS_FN ShadingFrame vertex_vertex_frame(PathVertex v, Vec3 from) {
    Facing seen = vertex_vertex_facing(v, from);
    ShadingFrame here;
    here.geometric = seen.geometric;
    here.normal = seen.normal;
    Frame frame = sampling_frame(here.normal);
    here.s = frame.s;
    here.t = frame.t;
    here.wo = vec3_new(vec3_dot(from, here.s), vec3_dot(from, here.t),
                       math_max(vec3_dot(from, here.normal), MIN_COSINE));
    here.surface = v.surface;
    here.surface.outside = seen.outside;
#ifdef LS_LAYERS
    here.layers = v.layers;
#endif
    return here;
}

/* BSDF times cosine of the shading normal for light that comes from `to` and leaves to `from`, and the
 * density with which a path that arrives from `from` chooses `to`. */
LS_CALL Evaluation vertex_vertex_evaluate(PathVertex v, Vec3 from, Vec3 to) {
    /* Diffuse surfaces look the same all around, so that no tangents are needed */
    if (vertex_vertex_is_diffuse(v)) {
        Facing seen = vertex_vertex_facing(v, from);
        float cosine = vec3_dot(to, seen.normal);
        bool same_side = vec3_dot(seen.geometric, to) * cosine > 0.0f;
        return bsdf_evaluate(v.surface, vec3_new(0.0f, 0.0f, 1.0f), vec3_new(0.0f, 0.0f, same_side ? cosine : 0.0f));
    }
    ShadingFrame here = vertex_vertex_frame(v, from);
    Vec3 wi = surface_shading_frame_to_local(here, to);
    if (!surface_shading_frame_same_side(here, to, wi.z)) {
        return bsdf_black();
    }
    return surface_shading_frame_evaluate(here, wi);
}

/* Cosine between the geometric normal and a direction. */
LS_FN float vertex_vertex_cosine(PathVertex v, Vec3 direction) {
    return LS_ABS(vec3_dot(v.geometric, direction));
}

/* True where no connection can be made. */
LS_FN bool vertex_vertex_is_specular(PathVertex v) {
    return bsdf_surface_is_specular(v.surface);
}

/* Samples the BSDF for the draws `u` (lobe, direction u, direction v, Russian roulette). `adjoint` holds on
 * light sub-paths. */
LS_CALL Scattered vertex_vertex_scatter(PathVertex v, Uniforms u, bool adjoint, bool roulette, MergeRatios ratios) {
    /* Sample a direction */
    ShadingFrame here = vertex_vertex_frame(v, v.from);
    Scatter sampled = surface_shading_frame_sample(here, u.u[0], u.u[1], u.u[2]);
    Vec3 direction = surface_shading_frame_to_world(here, sampled.wi);
    if (vec3_max_component(sampled.weight) <= 0.0f
        || !surface_shading_frame_same_side(here, direction, sampled.wi.z)) {
        return vertex_absorbed();
    }
    float cosine = vertex_vertex_cosine(v, direction);

    /* Factor of the throughput, and the part of weights */
    Scattered next;
    next.wanted = true;
    Vec3 factor = sampled.weight;
    if (vertex_vertex_is_specular(v)) {
        if (adjoint) {
            Vec2 wo;
            wo.x = here.wo.z;
            wo.y = vertex_vertex_cosine(v, v.from);
            Vec2 wi;
            wi.x = sampled.wi.z;
            wi.y = cosine;
            float correction = bsdf_shading_normal_correction(wo, wi);
            factor = vec3_scale(factor, correction * bsdf_adjoint_factor(here.surface, sampled.wi));
        }
        next.partial = weights_partial_weights_scatter_specular(v.partial, cosine);
    } else {
        Evaluation reverse = vertex_vertex_evaluate(v, direction, v.from);
        if (sampled.pdf <= 0.0f) {
            return vertex_absorbed();
        }
        if (adjoint) {
            factor = vec3_scale(reverse.value, LS_DIV(cosine, vertex_vertex_cosine(v, v.from) * sampled.pdf));
        }
        next.partial = weights_partial_weights_scatter(v.partial, cosine, sampled.pdf, reverse.pdf, ratios);
    }
    if (vec3_max_component(factor) <= 0.0f) {
        return vertex_absorbed();
    }

    /* Russian roulette */
    next.throughput = vec3_mul(v.throughput, factor);
    if (roulette) {
        float survival = math_min(vec3_max_component(factor), 0.95f);
        if (u.u[3] >= survival) {
            return vertex_absorbed();
        }
        next.throughput = vec3_scale(next.throughput, LS_DIV(1.0f, survival));
    }
    Vec3 origin = intersect_offset_origin(v.position, v.geometric, direction, v.scale);
    next.ray = path_ray(origin, direction, FAR);
    return next;
}

/* Continues the sub-path for the random words of a bounce, with Russian roulette where the pass has it. */
LS_FN Scattered vertex_vertex_extend(Pass pass, u32 bounce, PathVertex v, Words words, bool adjoint,
                                     MergeRatios ratios) {
    bool roulette = pass.roulette_from != NONE && bounce >= pass.roulette_from;
    return vertex_vertex_scatter(v, rng_uniforms(words), adjoint, roulette, ratios);
}

LS_FN Between vertex_direction_between(Vec3 from, Vec3 to) {
    Vec3 between = vec3_sub(to, from);
    Between b;
    b.distance2 = vec3_dot(between, between);
    b.distance = 0.0f;
    b.direction = vec3_splat(0.0f);
    if (b.distance2 > 0.0f) {
        b.distance = LS_SQRT(b.distance2);
        b.direction = vec3_scale(between, LS_DIV(1.0f, b.distance));
    }
    return b;
}
