/* Connections of light paths to the camera, and the density of camera rays (Veach 1997, section 8.3.2).
 * The counterpart is core/transport/src/camera_importance.rs. */

/* A sampled point of the lens, seen from a point of the scene: the pixel, or NONE for points that the film
 * does not show; unit direction and distance to the lens; importance times the cosine at the lens over the
 * density on the lens, which is also the density per solid angle of the camera ray. */
typedef struct {
    u32 pixel;
    Vec3 direction;
    float distance;
    float importance;
} CameraSample;

LS_INLINE CameraSample camera_importance_unseen(void) {
    CameraSample s;
    s.pixel = NONE;
    s.direction = vec3_splat(0.0f);
    s.distance = 0.0f;
    s.importance = 0.0f;
    return s;
}

/* Area of a pixel on the plane at unit distance from the eye. */
LS_INLINE float camera_importance_pixel_area(CameraFrame frame) {
    float right = vec3_dot(frame.right, frame.right);
    float up = vec3_dot(frame.up, frame.up);
    return LS_DIV(4.0f * LS_SQRT(right * up), (float)frame.width * (float)frame.height);
}

/* Number of pixels of the film, which is also the number of light sub-paths of a sample index. */
LS_INLINE float camera_importance_pixels(CameraFrame frame) {
    return (float)frame.width * (float)frame.height;
}

/* Density per solid angle with which camera_frame_ray chooses this unit direction for its pixel. */
LS_INLINE float camera_importance_direction_pdf(CameraFrame frame, Vec3 direction) {
    float cosine = vec3_dot(direction, frame.forward);
    return LS_DIV(1.0f, camera_importance_pixel_area(frame) * cosine * cosine * cosine);
}

/* Connects a point of the scene to a point of the lens chosen by the draws `u` and `v`. */
LS_INLINE CameraSample camera_importance_connect(CameraFrame frame, Vec3 p, float u, float v) {
    /* Sample the lens */
    Vec3 lens = frame.eye;
    if (frame.lens_radius > 0.0f) {
        Vec2 d = sampling_uniform_disk(u, v);
        Vec3 right = vec3_normalize(frame.right);
        Vec3 up = vec3_normalize(frame.up);
        Vec3 offset = vec3_add(vec3_scale(right, d.x), vec3_scale(up, d.y));
        lens = vec3_add(frame.eye, vec3_scale(offset, frame.lens_radius));
    }
    Vec3 to_point = vec3_sub(p, lens);
    float depth = vec3_dot(to_point, frame.forward);
    if (!(depth > 0.0f)) {
        return camera_importance_unseen();
    }
    /* Project onto the plane at unit distance from the eye; through a lens, points in the plane in focus
     * stay in place */
    Vec3 through = vec3_scale(to_point, LS_DIV(1.0f, depth));
    if (frame.lens_radius > 0.0f) {
        Vec3 focus = vec3_add(lens, vec3_scale(through, frame.focus_distance));
        through = vec3_scale(vec3_sub(focus, frame.eye), LS_DIV(1.0f, frame.focus_distance));
    }
    float x = LS_DIV(vec3_dot(through, frame.right), vec3_dot(frame.right, frame.right));
    float y = LS_DIV(vec3_dot(through, frame.up), vec3_dot(frame.up, frame.up));
    /* Find the pixel */
    float column = 0.5f * (x + 1.0f) * (float)frame.width;
    float row = 0.5f * (1.0f - y) * (float)frame.height;
    if (!(column >= 0.0f && column < (float)frame.width && row >= 0.0f && row < (float)frame.height)) {
        return camera_importance_unseen();
    }
    CameraSample s;
    s.pixel = (u32)math_floor_to_i32(row) * frame.width + (u32)math_floor_to_i32(column);
    /* Importance of the pixel: its mean radiance is the integral of importance times radiance */
    s.distance = LS_SQRT(vec3_dot(to_point, to_point));
    float cosine = LS_DIV(depth, s.distance);
    s.importance = LS_DIV(1.0f, camera_importance_pixel_area(frame) * cosine * cosine * cosine);
    s.direction = vec3_scale(to_point, LS_DIV(-1.0f, s.distance));
    return s;
}
