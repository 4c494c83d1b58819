/* Weights of multiple importance sampling for all techniques of a path, by the balance heuristic and the
 * recursion of Georgiev et al. (2012). The counterpart of
 * core/transport/src/integrators/bidirectional/weights.rs. */

/* The part of the sum of density ratios that a sub-path determines so far: d^VCM, d^VC and d^VM of the paper. */
typedef struct {
    float vcm;
    float vc;
    float vm;
} PartialWeights;

LS_FN PartialWeights weights_new(float vcm, float vc, float vm) {
    PartialWeights p;
    p.vcm = vcm;
    p.vc = vc;
    p.vm = vm;
    return p;
}

/* At the first vertex of a light sub-path. */
LS_FN PartialWeights weights_partial_weights_of_light(float direct_pdf, float emission_pdf, float cosine_at_light,
                                                      float cosine, bool delta, MergeRatios ratios) {
    float vc = delta ? 0.0f : LS_DIV(cosine_at_light, emission_pdf * cosine);
    float vcm = LS_DIV(direct_pdf * cosine_at_light, emission_pdf * cosine);
    return weights_new(vcm, vc, vc * ratios.connect);
}

/* On a camera ray. */
LS_FN PartialWeights weights_partial_weights_of_camera(float light_paths, float importance) {
    return weights_new(LS_DIV(light_paths, importance), 0.0f, 0.0f);
}

/* After a ray of this squared length has arrived at a surface under a cosine. */
LS_FN PartialWeights weights_partial_weights_arrive(PartialWeights p, float distance2, float cosine) {
    return weights_new(p.vcm * LS_DIV(distance2, cosine), LS_DIV(p.vc, cosine), LS_DIV(p.vm, cosine));
}

/* After scattering by a BSDF with a density. */
LS_FN PartialWeights weights_partial_weights_scatter(PartialWeights p, float cosine, float pdf, float reverse_pdf,
                                                     MergeRatios ratios) {
    float vc = LS_DIV(cosine, pdf) * (p.vc * reverse_pdf + p.vcm + ratios.merge);
    float vm = LS_DIV(cosine, pdf) * (p.vm * reverse_pdf + p.vcm * ratios.connect + 1.0f);
    return weights_new(LS_DIV(1.0f, pdf), vc, vm);
}

/* After scattering by a delta distribution. */
LS_FN PartialWeights weights_partial_weights_scatter_specular(PartialWeights p, float cosine) {
    return weights_new(0.0f, p.vc * cosine, p.vm * cosine);
}

/* The sum of this end's ratios for a sub-path that ends at a surface. */
LS_FN float weights_partial_weights_sum(PartialWeights p, float reverse_pdf, MergeRatios ratios) {
    return p.vcm + p.vc * reverse_pdf + ratios.merge;
}

/* The sum seen from a merge at the surface. */
LS_FN float weights_partial_weights_sum_of_merge(PartialWeights p, float reverse_pdf, MergeRatios ratios) {
    return p.vcm * ratios.connect + p.vm * reverse_pdf;
}

/* The weight of a camera sub-path that hits a light. */
LS_FN float weights_hit_light(PartialWeights on_ray, float direct_pdf, float emission_pdf, float cosine_at_light) {
    return LS_DIV(1.0f, 1.0f + direct_pdf * on_ray.vcm + emission_pdf * LS_DIV(on_ray.vc, cosine_at_light));
}

/* The weight of light sampling from a vertex. */
LS_FN float weights_sample_light(PartialWeights at, float pdf, float reverse_pdf, float direct_pdf, float emission_ratio,
                                 float cosine, MergeRatios ratios) {
    float sum = weights_partial_weights_sum(at, reverse_pdf, ratios);
    return LS_DIV(1.0f, 1.0f + LS_DIV(pdf, direct_pdf) + emission_ratio * cosine * sum);
}

/* The weight of a light sub-path's connection to the camera. */
LS_FN float weights_connect_to_camera(PartialWeights at, float reverse_pdf, float importance, float cosine,
                                      float distance2, float light_paths, MergeRatios ratios) {
    float ratio = LS_DIV(LS_DIV(importance * cosine, distance2), light_paths);
    return LS_DIV(1.0f, 1.0f + ratio * weights_partial_weights_sum(at, reverse_pdf, ratios));
}

/* One end of a connection of two surfaces: its part, the density of its own direction to the other end, the
 * density of the direction to its previous vertex for a path that comes from the other end, and its cosine. */
typedef struct {
    PartialWeights at;
    float pdf;
    float reverse_pdf;
    float cosine;
} ConnectionEnd;

/* The weight of a connection of two surfaces. */
LS_FN float weights_connect(ConnectionEnd light, ConnectionEnd camera, float distance2, MergeRatios ratios) {
    float of_light = weights_partial_weights_sum(light.at, light.reverse_pdf, ratios);
    float of_camera = weights_partial_weights_sum(camera.at, camera.reverse_pdf, ratios);
    float before = LS_DIV(camera.pdf * light.cosine, distance2) * of_light;
    float behind = LS_DIV(light.pdf * camera.cosine, distance2) * of_camera;
    return LS_DIV(1.0f, 1.0f + before + behind);
}

/* The weight of a merge of a photon with a vertex of a camera sub-path. */
LS_FN float weights_merge(PartialWeights photon, PartialWeights camera, float pdf, float reverse_pdf,
                          MergeRatios ratios) {
    float of_photon = weights_partial_weights_sum_of_merge(photon, pdf, ratios);
    float of_camera = weights_partial_weights_sum_of_merge(camera, reverse_pdf, ratios);
    return LS_DIV(1.0f, 1.0f + of_photon + of_camera);
}
