/* The state of a camera path between two stages, which integrators share. The counterpart of
 * core/transport/src/integrators/state.rs. */

/* A path between two stages. */
typedef struct {
    Ray ray;
    Vec3 throughput;
    float bsdf_pdf;
    Vec3 radiance;
    SampleKey key;
#ifdef LS_MEDIA
    /* The medium of the ray; zero in air. */
    u32 medium;
#endif
#ifdef LS_PRIORITIES
    /* Dielectrics with a priority that the ray is in. */
    u64 interiors;
#endif
} PathState;

/* A shadow ray and the radiance it adds if unoccluded. */
typedef struct {
    bool wanted;
    Ray ray;
    Vec3 radiance;
} Connection;

/* Result of shading. */
typedef struct {
    bool continues;
    Connection connection;
} Shaded;

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
#ifdef LS_MEDIA
    path.medium = 0u;
#endif
#ifdef LS_PRIORITIES
    path.interiors = (u64)0;
#endif
    return path;
}
