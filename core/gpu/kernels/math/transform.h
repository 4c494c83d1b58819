/* Affine maps. The counterpart of core/src/math/transform.rs. */

/* The image of a point. */
LS_INLINE Vec3 transform_point(Affine a, Vec3 p) {
    return vec3_new(a.m[0][0] * p.x + a.m[0][1] * p.y + a.m[0][2] * p.z + a.m[0][3],
                    a.m[1][0] * p.x + a.m[1][1] * p.y + a.m[1][2] * p.z + a.m[1][3],
                    a.m[2][0] * p.x + a.m[2][1] * p.y + a.m[2][2] * p.z + a.m[2][3]);
}

/* The image of a direction; not normalised. */
LS_INLINE Vec3 transform_vector(Affine a, Vec3 v) {
    return vec3_new(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                    a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                    a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}

/* The image of a normal under the map whose inverse is given: multiplication by the inverse's transpose. */
LS_INLINE Vec3 transform_normal(Affine inverse, Vec3 n) {
    return vec3_new(inverse.m[0][0] * n.x + inverse.m[1][0] * n.y + inverse.m[2][0] * n.z,
                    inverse.m[0][1] * n.x + inverse.m[1][1] * n.y + inverse.m[2][1] * n.z,
                    inverse.m[0][2] * n.x + inverse.m[1][2] * n.y + inverse.m[2][2] * n.z);
}
