/* Radiance of the environment. The counterpart of core/src/scene/environment.rs. */

/* A texel of the environment image; columns wrap once, rows end. */
LS_INLINE Vec3 environment_texel(SceneRef scene, i32 column, i32 row) {
    u32 width = scene.constants.environment.image_width;
    u32 height = scene.constants.environment.image_height;
    u32 x = (u32)(column < 0 ? column + (i32)width : column) % width;
    u32 y = (u32)math_clamp_i32(row, 0, (i32)height - 1);
    return load_environment_texel(scene, y * width + x);
}

/* Radiance of the environment. An image's columns run from +x over +z; `rotation` turns it. */
LS_INLINE Vec3 environment_radiance(SceneRef scene, Vec3 direction) {
    Environment environment = scene.constants.environment;
    environment.kind = contents_environment_kind(environment.kind);
    if (environment.kind == ENVIRONMENT_CONSTANT) {
        return environment.zenith;
    }
    if (environment.kind == ENVIRONMENT_GRADIENT) {
        if (direction.y >= 0.0f) {
            return vec3_lerp(environment.horizon, environment.zenith, math_saturate(direction.y));
        }
        return vec3_lerp(environment.horizon, environment.ground, math_saturate(-direction.y));
    }
    float u = math_fract(math_atan2_turns(direction.z, direction.x) + environment.rotation);
    float v = math_acos(direction.y) * (1.0f / MATH_PI);
    float x = u * (float)environment.image_width - 0.5f;
    float y = v * (float)environment.image_height - 0.5f;
    i32 column = math_floor_to_i32(x);
    i32 row = math_floor_to_i32(y);
    float fx = x - (float)column;
    float fy = y - (float)row;
    Vec3 top = vec3_lerp(environment_texel(scene, column, row), environment_texel(scene, column + 1, row), fx);
    Vec3 bottom =
        vec3_lerp(environment_texel(scene, column, row + 1), environment_texel(scene, column + 1, row + 1), fx);
    return vec3_mul(environment.zenith, vec3_lerp(top, bottom, fy));
}
