/* Camera rays. The counterpart of core/src/scene/camera.rs. */

typedef struct {
    Vec3 origin;
    Vec3 direction;
} CameraRay;

/* The camera ray through `pixel` (`y * width + x`) for the draws `u` (film x, film y, lens u, lens v):
 * origin and unit direction. */
LS_INLINE CameraRay camera_frame_ray(CameraFrame frame, u32 pixel, Uniforms u) {
    u32 row = pixel / frame.width;
    u32 column = pixel - row * frame.width;
    float x = 2.0f * LS_DIV((float)column + u.u[0], (float)frame.width) - 1.0f;
    float y = 1.0f - 2.0f * LS_DIV((float)row + u.u[1], (float)frame.height);
    Vec3 through = vec3_add(vec3_add(vec3_scale(frame.right, x), vec3_scale(frame.up, y)), frame.forward);
    CameraRay ray;
    if (frame.lens_radius == 0.0f) {
        ray.origin = frame.eye;
        ray.direction = vec3_normalize(through);
        return ray;
    }
    /* Rays from all points of the lens meet in the plane in focus. */
    Vec2 on_lens = sampling_uniform_disk(u.u[2], u.u[3]);
    Vec3 right = vec3_normalize(frame.right);
    Vec3 up = vec3_normalize(frame.up);
    Vec3 offset = vec3_add(vec3_scale(right, on_lens.x), vec3_scale(up, on_lens.y));
    ray.origin = vec3_add(frame.eye, vec3_scale(offset, frame.lens_radius));
    Vec3 focus = vec3_add(frame.eye, vec3_scale(through, frame.focus_distance));
    ray.direction = vec3_normalize(vec3_sub(focus, ray.origin));
    return ray;
}
