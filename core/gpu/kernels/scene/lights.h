/* Light sampling for next-event estimation, and the densities that multiple importance sampling needs. The
 * counterpart of core/transport/src/lights.rs. */

/* A sampled direction towards a light: unit direction from the shaded point; distance, FAR for lights at
 * infinity; `t_max` of a shadow ray; incident radiance, or irradiance perpendicular to the direction for delta lights; density per
 * solid angle, or the probability of a delta light, zero when no light arrives; true for delta lights. */
typedef struct {
    Vec3 direction;
    float distance;
    float shadow_end;
    Vec3 radiance;
    float pdf;
    bool delta;
} LightSample;

LS_INLINE LightSample lights_light_sample(Vec3 direction, float distance, float shadow_end, Vec3 radiance, float pdf,
                                      bool delta) {
    LightSample s;
    s.direction = direction;
    s.distance = distance;
    s.shadow_end = shadow_end;
    s.radiance = radiance;
    s.pdf = pdf;
    s.delta = delta;
    return s;
}

LS_INLINE LightSample lights_dark(void) {
    return lights_light_sample(vec3_splat(0.0f), 0.0f, 0.0f, vec3_splat(0.0f), 0.0f, false);
}

/* The cosine at an emissive surface; not positive on a side that does not emit. */
LS_INLINE float lights_emission_cosine(Material material, float cosine) {
    return (material.flags & MATERIAL_TWO_SIDED_EMISSION) != 0u ? LS_ABS(cosine) : cosine;
}

/* Density per solid angle of light sampling choosing a point of an emissive triangle. */
LS_INLINE float lights_area_to_solid_angle(Material material, float distance2, float cosine) {
    return material.light_pdf_area * LS_DIV(distance2, cosine);
}

/* Emission at barycentrics `b` of a triangle of the scene. */
LS_INLINE Vec3 lights_triangle_emission(SceneRef scene, Material material, u32 triangle, Vec2 b) {
    if (material.emission_texture == NONE) {
        return material.emission;
    }
    Texture texture = load_texture(scene, material.emission_texture);
    Triangle record = load_triangle(scene, triangle);
    Vertex v0 = load_vertex(scene, record.vertices[0]);
    Vertex v1 = load_vertex(scene, record.vertices[1]);
    Vertex v2 = load_vertex(scene, record.vertices[2]);
    Vec2 uv = texture_coordinates(texture, v0, v1, v2, vec3_new(1.0f - b.x - b.y, b.x, b.y));
    return vec3_mul(material.emission, texture_sample(scene, texture, uv).rgb);
}

/* The share of rays towards a point of an emissive triangle that see it: the mean of the alpha test, which
 * shadow rays skip at their light. */
LS_INLINE float lights_triangle_opacity(SceneRef scene, Material material, u32 triangle, Vec2 b) {
#ifdef LS_ALPHA
    if (material.alpha_mode != ALPHA_OPAQUE) {
        return intersect_opacity(material, intersect_triangle_alpha(scene, material, triangle, b.x, b.y));
    }
#endif
    (void)scene;
    (void)material;
    (void)triangle;
    (void)b;
    return 1.0f;
}

/* lights_triangle_opacity for an emissive sphere. */
LS_INLINE float lights_sphere_opacity(Material material) {
#ifdef LS_ALPHA
    if (material.alpha_mode != ALPHA_OPAQUE) {
        return intersect_opacity(material, material.alpha);
    }
#endif
    (void)material;
    return 1.0f;
}

LS_INLINE LightSample lights_sample_triangle(SceneRef scene, Light light, Vec3 p, float scale, float u, float v) {
    Vec2 b = sampling_uniform_triangle(u, v);
    Vec3 along = vec3_add(vec3_add(light.position, vec3_scale(light.edge1, b.x)), vec3_scale(light.edge2, b.y));
    Vec3 to_light = vec3_sub(along, p);
    float distance2 = vec3_dot(to_light, to_light);
    if (distance2 == 0.0f) {
        return lights_dark();
    }
    float distance = LS_SQRT(distance2);
    Vec3 direction = vec3_scale(to_light, LS_DIV(1.0f, distance));
    Vec3 normal = vec3_scale(vec3_normalize(vec3_cross(light.edge1, light.edge2)), light.intensity.x);
    Material material = load_material(scene, light.material);
    float cosine = lights_emission_cosine(material, -vec3_dot(normal, direction));
    if (cosine <= 0.0f) {
        return lights_dark();
    }
    Vec3 radiance = vec3_scale(lights_triangle_emission(scene, material, light.triangle, b),
                               lights_triangle_opacity(scene, material, light.triangle, b));
    float end = intersect_shadow_end(distance, math_max(scale, light.intensity.y), cosine);
    return lights_light_sample(direction, distance, end, radiance,
                               lights_area_to_solid_angle(material, distance2, cosine), false);
}

/* One minus the cosine of the half-angle that a sphere subtends; zero or negative from inside. */
LS_INLINE float lights_subtended(float distance2, float radius) {
    float sin2 = LS_DIV(radius * radius, distance2);
    return sin2 >= 1.0f ? 0.0f : LS_DIV(sin2, 1.0f + math_safe_sqrt(1.0f - sin2));
}

/* A direction uniform over the sphere. */
LS_INLINE Vec3 lights_unit_sphere(float u, float v) {
    float z = 1.0f - 2.0f * u;
    float ring = math_safe_sqrt((1.0f - z) * (1.0f + z));
    SinCos angle = math_sin_cos_turns(v);
    return vec3_new(ring * angle.c, ring * angle.s, z);
}

/* Outside, uniform over the subtended cone; inside, uniform over the surface. */
LS_INLINE LightSample lights_sample_sphere(SceneRef scene, Light light, Vec3 p, float scale_of_p, float u, float v) {
    float scale = math_max(scale_of_p, light.intensity.y);
    Material material = load_material(scene, light.material);
    float radius = light.edge2.x;
    Vec3 radiance = vec3_scale(material.emission, lights_sphere_opacity(material));
    Vec3 to_center = vec3_sub(light.position, p);
    float distance2 = vec3_dot(to_center, to_center);
    float one_minus_cos = lights_subtended(distance2, radius);
    if (one_minus_cos > 0.0f) {
        Vec3 axis = vec3_normalize(to_center);
        Frame f = sampling_frame(axis);
        Vec3 cone = sampling_uniform_cone(u, v, one_minus_cos);
        Vec3 direction =
            vec3_add(vec3_add(vec3_scale(f.s, cone.x), vec3_scale(f.t, cone.y)), vec3_scale(axis, cone.z));
        /* The near end of the chord, from its midpoint */
        float midpoint = vec3_dot(to_center, direction);
        Vec3 aside = vec3_sub(to_center, vec3_scale(direction, midpoint));
        float chord_radius = math_safe_sqrt(radius * radius - vec3_dot(aside, aside));
        float distance = math_max(midpoint - chord_radius, 0.0f);
        float end = intersect_shadow_end(distance, scale, LS_DIV(chord_radius, radius));
        float pdf = LS_DIV(light.pmf, MATH_TWO_PI * one_minus_cos);
        return lights_light_sample(direction, distance, end, radiance, pdf, false);
    }
    if ((material.flags & MATERIAL_TWO_SIDED_EMISSION) == 0u) {
        return lights_dark();
    }
    Vec3 normal = lights_unit_sphere(u, v);
    Vec3 to_light = vec3_sub(vec3_add(light.position, vec3_scale(normal, radius)), p);
    float squared = vec3_dot(to_light, to_light);
    if (squared == 0.0f) {
        return lights_dark();
    }
    float distance = LS_SQRT(squared);
    Vec3 direction = vec3_scale(to_light, LS_DIV(1.0f, distance));
    float cosine = LS_ABS(vec3_dot(normal, direction));
    if (cosine <= 0.0f) {
        return lights_dark();
    }
    float pdf = lights_area_to_solid_angle(material, squared, cosine);
    float end = intersect_shadow_end(distance, scale, cosine);
    return lights_light_sample(direction, distance, end, radiance, pdf, false);
}

/* Density per solid angle of light sampling from `p` choosing the direction to a point of an emissive
 * sphere. */
LS_INLINE float lights_sphere_pdf(Material material, Vec3 center, float radius, Vec3 p, float distance2, float cosine) {
    Vec3 to_center = vec3_sub(center, p);
    float one_minus_cos = lights_subtended(vec3_dot(to_center, to_center), radius);
    if (one_minus_cos > 0.0f) {
        float pmf = material.light_pdf_area * (4.0f * MATH_PI * radius * radius);
        return LS_DIV(pmf, MATH_TWO_PI * one_minus_cos);
    }
    return lights_area_to_solid_angle(material, distance2, cosine);
}

LS_INLINE LightSample lights_sample_punctual(Light light, Vec3 p, float scale) {
    if (light.kind == LIGHT_DIRECTIONAL) {
        return lights_light_sample(light.position, FAR, FAR, light.intensity, light.pmf, true);
    }
    Vec3 to_light = vec3_sub(light.position, p);
    float distance2 = vec3_dot(to_light, to_light);
    if (distance2 == 0.0f) {
        return lights_dark();
    }
    float distance = LS_SQRT(distance2);
    Vec3 direction = vec3_scale(to_light, LS_DIV(1.0f, distance));
    float falloff = 1.0f;
    if (light.kind == LIGHT_SPOT) {
        float linear = math_saturate(-vec3_dot(light.edge1, direction) * light.edge2.x + light.edge2.y);
        falloff = linear * linear;
    }
    float end = intersect_shadow_end(distance, math_max(scale, vec3_max_abs_component(light.position)), 1.0f);
    return lights_light_sample(direction, distance, end, vec3_scale(light.intensity, LS_DIV(falloff, distance2)),
                               light.pmf, true);
}

LS_INLINE float lights_cell_pdf(SceneRef scene, u32 cell) {
    Environment environment = scene.constants.environment;
    float cells = (float)(environment.grid_width * environment.grid_height);
    return environment.pmf * load_environment_alias(scene, cell).pmf * (cells * MATH_INV_FOUR_PI);
}

/* Uniform within a cell of the importance grid, which is uniform in height and longitude. */
LS_INLINE LightSample lights_sample_environment(SceneRef scene, Words words) {
    Environment environment = scene.constants.environment;
    u32 cell = sampling_pick_cell(scene, words.w[0], words.w[1]);
    u32 row = cell / environment.grid_width;
    u32 column = cell - row * environment.grid_width;
    float height = 1.0f - 2.0f * LS_DIV((float)row + rng_uniform(words.w[3]), (float)environment.grid_height);
    float ring = math_safe_sqrt((1.0f - height) * (1.0f + height));
    SinCos angle = math_sin_cos_turns(LS_DIV((float)column + rng_uniform(words.w[2]), (float)environment.grid_width));
    Vec3 direction = vec3_new(ring * angle.c, height, ring * angle.s);
    return lights_light_sample(direction, FAR, FAR, environment_radiance(scene, direction),
                               lights_cell_pdf(scene, cell), false);
}

/* Density per solid angle of light sampling choosing a direction to the environment. */
LS_INLINE float lights_environment_pdf(SceneRef scene, Vec3 direction) {
    Environment environment = scene.constants.environment;
    if (!contents_has_environment_light() || environment.grid_height == 0u) {
        return 0.0f;
    }
    i32 height = (i32)environment.grid_height;
    i32 width = (i32)environment.grid_width;
    float level = 0.5f * (1.0f - direction.y) * (float)environment.grid_height;
    u32 row = (u32)math_clamp_i32(math_floor_to_i32(level), 0, height - 1);
    u32 column = 0u;
    if (width > 1) {
        float turns = math_atan2_turns(direction.z, direction.x);
        column = (u32)math_clamp_i32(math_floor_to_i32(turns * (float)environment.grid_width), 0, width - 1);
    }
    return lights_cell_pdf(scene, row * environment.grid_width + column);
}

/* Samples one light of the scene for the point `p`, whose coordinates `scale` bounds. The scene must have
 * lights. */
LS_INLINE LightSample lights_sample(SceneRef scene, Vec3 p, float scale, SampleKey key, u32 bounce, VertexRecord *record) {
    Words words = rng_draw(key, BLOCK_LIGHT, bounce);
    u32 index = sampling_pick_light(scene, words.w[0], words.w[1]);
    record->flags |= VERTEX_LIGHT;
    record->light = index;
    rng_record(words, record->light_words);
    Light light = load_light(scene, index);
    float u = rng_uniform(words.w[2]);
    float v = rng_uniform(words.w[3]);
    if (light.kind == LIGHT_TRIANGLE) {
        return lights_sample_triangle(scene, light, p, scale, u, v);
    }
    if (light.kind == LIGHT_SPHERE) {
        return lights_sample_sphere(scene, light, p, scale, u, v);
    }
    if (light.kind == LIGHT_ENVIRONMENT) {
        return lights_sample_environment(scene, rng_draw(key, BLOCK_ENVIRONMENT, bounce));
    }
    return lights_sample_punctual(light, p, scale);
}
