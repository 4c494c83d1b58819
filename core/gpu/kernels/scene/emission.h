/* Sampling of rays that leave lights, where light paths start (Veach 1997, section 10.2). The counterpart is
 * core/transport/src/emission.rs. */

/* A ray that leaves a light. Its throughput is `radiance * cosine / (pdf_position * pdf_direction)`. The
 * fields for each kind of light are described in the counterpart. */
typedef struct {
    u32 light;
    Vec3 origin;
    Vec3 direction;
    /* Unit normal of the light, on the side of `direction`. */
    Vec3 normal;
    Vec3 radiance;
    /* Between `normal` and `direction`. */
    float cosine;
    /* Density per area of `origin`, the choice of the light included. */
    float pdf_position;
    /* Density per solid angle of `direction`. */
    float pdf_direction;
} EmissionSample;

/* Density per solid angle with which emission_sample chooses a direction at an emissive surface under a
 * cosine. */
LS_INLINE float emission_direction_pdf(Material material, float cosine) {
    if ((material.flags & MATERIAL_TWO_SIDED_EMISSION) != 0u) {
        return LS_ABS(cosine) * (0.5f * MATH_INV_PI);
    }
    return cosine > 0.0f ? cosine * MATH_INV_PI : 0.0f;
}

/* Density per area with which emission_sample chooses a point of the disk of a light at infinity. */
LS_INLINE float emission_disk_pdf(BoundingSphere bounds) {
    return LS_DIV(MATH_INV_PI, bounds.radius * bounds.radius);
}

/* A direction of the cosine-weighted hemisphere; of both sides where both emit. */
LS_INLINE EmissionSample emission_from_surface(u32 light, Material material, Vec3 origin, Vec3 front, Vec3 radiance, float u,
                                           float v) {
    /* Choose a side; the rest of the draw is uniform again */
    bool two_sided = (material.flags & MATERIAL_TWO_SIDED_EMISSION) != 0u;
    bool back = two_sided && u >= 0.5f;
    float rest = !two_sided ? u : (back ? 2.0f * u - 1.0f : 2.0f * u);
    EmissionSample s;
    s.normal = back ? vec3_neg(front) : front;
    /* Sample a direction on it */
    Vec3 wi = sampling_cosine_hemisphere(rest, v);
    Frame f = sampling_frame(s.normal);
    s.direction = vec3_normalize(vec3_weigh(f.s, f.t, s.normal, wi));
    s.light = light;
    s.origin = origin;
    s.radiance = radiance;
    s.cosine = wi.z;
    s.pdf_position = material.light_pdf_area;
    s.pdf_direction = emission_direction_pdf(material, wi.z);
    return s;
}

/* Parallel rays through a disk as large as the scene's bounding sphere, in front of it. */
LS_INLINE EmissionSample emission_from_disk(u32 light, BoundingSphere bounds, Vec3 direction, float u, float v, Vec3 radiance,
                                        float pdf_position, float pdf_direction) {
    Frame f = sampling_frame(direction);
    Vec2 d = sampling_uniform_disk(u, v);
    Vec3 offset = vec3_sub(vec3_add(vec3_scale(f.s, d.x), vec3_scale(f.t, d.y)), direction);
    EmissionSample s;
    s.light = light;
    s.origin = vec3_add(bounds.center, vec3_scale(offset, bounds.radius));
    s.direction = direction;
    s.normal = direction;
    s.radiance = radiance;
    s.cosine = 1.0f;
    s.pdf_position = pdf_position;
    s.pdf_direction = pdf_direction;
    return s;
}

/* A direction uniform over the sphere, or over the cone of a spot light. */
LS_INLINE EmissionSample emission_from_point(u32 index, Light light, float u, float v) {
    EmissionSample s;
    s.direction = lights_unit_sphere(u, v);
    s.pdf_direction = MATH_INV_FOUR_PI;
    s.radiance = light.intensity;
    if (light.kind == LIGHT_SPOT) {
        /* The falloff ends where the cosine times the scale plus the offset is zero */
        float scale = light.edge2.x;
        float offset = light.edge2.y;
        float one_minus_cos = 1.0f + LS_DIV(offset, scale);
        Vec3 wi = sampling_uniform_cone(u, v, one_minus_cos);
        Frame f = sampling_frame(light.edge1);
        s.direction = vec3_normalize(vec3_weigh(f.s, f.t, light.edge1, wi));
        s.pdf_direction = LS_DIV(1.0f, MATH_TWO_PI * one_minus_cos);
        float linear = math_saturate(wi.z * scale + offset);
        s.radiance = vec3_scale(light.intensity, linear * linear);
    }
    s.light = index;
    s.origin = light.position;
    s.normal = s.direction;
    s.cosine = 1.0f;
    s.pdf_position = light.pmf;
    return s;
}

/* Of a point on a light that light sampling from `p` chose: the density with which emission_sample chooses
 * it and a ray to `p`, per area perpendicular to the ray at `p`, over the density of the light sample. */
LS_INLINE float emission_pdf_ratio(SceneRef scene, Light light, Vec3 p, LightSample chosen) {
    float distance2 = chosen.distance * chosen.distance;
    if (light.kind == LIGHT_TRIANGLE) {
        /* Both sample the triangle by area */
        Vec3 front = vec3_scale(vec3_normalize(vec3_cross(light.edge1, light.edge2)), light.intensity.x);
        Material material = load_material(scene, light.material);
        return LS_DIV(emission_direction_pdf(material, -vec3_dot(front, chosen.direction)), distance2);
    }
    if (light.kind == LIGHT_SPHERE) {
        Vec3 end = vec3_add(p, vec3_scale(chosen.direction, chosen.distance));
        Vec3 front = vec3_normalize(vec3_sub(end, light.position));
        Material material = load_material(scene, light.material);
        float facing = -vec3_dot(front, chosen.direction);
        float cosine = lights_emission_cosine(material, facing);
        if (cosine <= 0.0f) {
            return 0.0f;
        }
        return LS_DIV(material.light_pdf_area * emission_direction_pdf(material, facing), chosen.pdf * cosine);
    }
    if (light.kind == LIGHT_POINT) {
        return LS_DIV(MATH_INV_FOUR_PI, distance2);
    }
    if (light.kind == LIGHT_SPOT) {
        float one_minus_cos = 1.0f + LS_DIV(light.edge2.y, light.edge2.x);
        return LS_DIV(1.0f, MATH_TWO_PI * one_minus_cos * distance2);
    }
    return emission_disk_pdf(scene.constants.bounds);
}

/* Samples a ray of one light for two blocks of random words: light and position, direction. The scene must
 * have lights. */
LS_INLINE EmissionSample emission_sample(SceneRef scene, Words position, Words direction) {
    u32 index = sampling_pick_light(scene, position.w[0], position.w[1]);
    Light light = load_light(scene, index);
    float u = rng_uniform(position.w[2]);
    float v = rng_uniform(position.w[3]);
    float s = rng_uniform(direction.w[0]);
    float t = rng_uniform(direction.w[1]);
    if (light.kind == LIGHT_TRIANGLE) {
        Vec2 b = sampling_uniform_triangle(u, v);
        Vec3 origin = vec3_add(vec3_add(light.position, vec3_scale(light.edge1, b.x)), vec3_scale(light.edge2, b.y));
        Vec3 front = vec3_scale(vec3_normalize(vec3_cross(light.edge1, light.edge2)), light.intensity.x);
        Material material = load_material(scene, light.material);
        Vec3 radiance = vec3_scale(lights_triangle_emission(scene, material, light.triangle, b),
                                   lights_triangle_opacity(scene, material, light.triangle, b));
        return emission_from_surface(index, material, origin, front, radiance, s, t);
    }
    if (light.kind == LIGHT_SPHERE) {
        Vec3 front = lights_unit_sphere(u, v);
        Material material = load_material(scene, light.material);
        Vec3 origin = vec3_add(light.position, vec3_scale(front, light.edge2.x));
        Vec3 radiance = vec3_scale(material.emission, lights_sphere_opacity(material));
        return emission_from_surface(index, material, origin, front, radiance, s, t);
    }
    BoundingSphere bounds = scene.constants.bounds;
    if (light.kind == LIGHT_ENVIRONMENT) {
        LightSample from = lights_sample_environment(scene, direction);
        return emission_from_disk(index, bounds, vec3_neg(from.direction), u, v, from.radiance,
                                  emission_disk_pdf(bounds), from.pdf);
    }
    if (light.kind == LIGHT_DIRECTIONAL) {
        return emission_from_disk(index, bounds, vec3_neg(light.position), u, v, light.intensity,
                                  light.pmf * emission_disk_pdf(bounds), 1.0f);
    }
    return emission_from_point(index, light, s, t);
}
