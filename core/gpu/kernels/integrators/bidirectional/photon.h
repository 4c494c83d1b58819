/* Photons, and their merges with vertices of camera sub-paths. The counterpart of
 * core/transport/src/integrators/bidirectional/photon.rs. */

/* Contribution of a merge; `wanted` is false where no light is scattered. */
typedef struct {
    bool wanted;
    Vec3 value;
    float weight;
} Merge;

/* The photon of a vertex of a light sub-path; its surface must not be specular. */
LS_FN Photon photon_photon_new(PathVertex vertex, u32 bounce) {
    Photon photon;
    photon.position = vertex.position;
    photon.bounce = bounce;
    photon.from = vertex.from;
    photon.vcm = vertex.partial.vcm;
    photon.throughput = vertex.throughput;
    photon.vm = vertex.partial.vm;
    return photon;
}

/* True where the full path of a merge of a photon with the vertex of a camera sub-path at `bounce` has at most `bounces`
 * bounces. */
LS_FN bool photon_photon_is_within(u32 photon_bounce, u32 bounce, u32 bounces) {
    return photon_bounce + bounce < bounces;
}

/* Merges with a vertex of a camera sub-path whose position is within the radius. */
LS_FN Merge photon_photon_merge(Photon photon, PathVertex camera, Merging merging) {
    Merge merge;
    merge.wanted = false;
    merge.value = vec3_splat(0.0f);
    merge.weight = 0.0f;
    Evaluation scattered = vertex_vertex_evaluate(camera, camera.from, photon.from);
    if (vec3_max_component(scattered.value) <= 0.0f) {
        return merge;
    }
    merge.wanted = true;
    /* The cosine of the incident light is part of the flux */
    float density = LS_DIV(merging.normalization, vertex_vertex_cosine(camera, photon.from));
    Vec3 throughput = vec3_mul(camera.throughput, photon.throughput);
    merge.value = vec3_scale(vec3_mul(throughput, scattered.value), density);
    Evaluation reverse = vertex_vertex_evaluate(camera, photon.from, camera.from);
    PartialWeights partial = weights_new(photon.vcm, 0.0f, photon.vm);
    merge.weight = weights_merge(partial, camera.partial, scattered.pdf, reverse.pdf, merging.ratios);
    return merge;
}
