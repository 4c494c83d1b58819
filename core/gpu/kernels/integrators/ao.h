/* Ambient occlusion (Zhukov, Iones and Kronin 1998). The counterpart of
 * core/transport/src/integrators/ao.rs. */

/* Sends one occlusion ray from the hit of a camera ray; unoccluded it adds 1. */
LS_FN Shaded ao_shade(SceneRef scene, Pass pass, u32 bounce, PathState *path, Hit hit, VertexRecord *record) {
    (void)pass;
    (void)bounce;
    Shaded shaded = path_ended();
    if (!intersect_hit_is_some(hit)) {
        return shaded;
    }
    Interaction at = surface_interaction_new(scene, path->ray, hit);
    record->flags |= VERTEX_HIT;
    record->geometric = at.geometric;
    record->material = at.material;

    /* Sample a cosine-weighted direction on the side of the camera. */
    float side = vec3_dot(at.geometric, path->ray.direction) < 0.0f ? 1.0f : -1.0f;
    Vec3 normal = vec3_scale(at.geometric, side);
    Words words = rng_draw(path->key, BLOCK_BSDF, 0u);
    Uniforms u = rng_uniforms(words);
    Vec3 wi = sampling_cosine_hemisphere(u.u[1], u.u[2]);
    Frame basis = sampling_frame(normal);
    Vec3 direction = vec3_normalize(vec3_weigh(basis.s, basis.t, normal, wi));

    /* The density cancels the cosine, so each unoccluded ray counts alike. */
    Vec3 origin = intersect_offset_origin(at.position, normal, direction, at.scale);
    Vec3 one = vec3_splat(1.0f);
    record->flags |= VERTEX_LIGHT | VERTEX_SHADOW;
    record->shadow_origin = origin;
    record->shadow_t_max = FAR;
    record->shadow_radiance = one;
    record->light_direction = direction;
    rng_record(words, record->light_words);
    shaded.connection = path_connection(true, path_ray(origin, direction, FAR), one);
    return shaded;
}
