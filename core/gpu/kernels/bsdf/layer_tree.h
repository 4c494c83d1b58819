/* One lobe of a layered surface in place of all, picked by a walk down the binary tree of layers (Harada 2014). The
 * counterpart is bsdf/layer_tree.rs, which gives the reasons. */

#if defined(LS_LAYERS) && (defined(LS_LAYER_TREE) || defined(LS_PROBES))

/* Leaves of the tree of layers. */
#define LOBE_COAT 0u
#define LOBE_SHEEN 1u
#define LOBE_SPECULAR 2u
#define LOBE_DIFFUSE 3u
#define LOBE_TRANSMITTED 4u
#define LOBE_RECOVERED_REFLECTED 5u
#define LOBE_RECOVERED_TRANSMITTED 6u

/* The factors of lobes. bsdf_evaluate_layered writes them out: with these functions in it ptxas spills more. */

/* The share that the clearcoat lets through for both directions; `up` is `wi` on the side of `wo`. */
LS_FN float bsdf_lobe_shapes_below_coat(LayeredLobes l, LayerAxes axes, Vec3 up) {
    return math_min(l.coat_out, bsdf_above_coat(l.above, bsdf_layer_axes_in_coat(axes, up).z));
}

/* The share that sheen lets through for both directions. */
LS_FN float bsdf_lobe_shapes_below_sheen(LayeredLobes l, Vec3 up) {
    return math_min(l.sheen_out, bsdf_above_sheen(l.above, up.z));
}

/* The share of light that the specular lobe lets into a thin wall at this cosine to a microfacet. */
LS_FN float bsdf_lobe_shapes_wall_share(LayeredLobes l, float cosine) {
    return 1.0f - vec3_max_component(bsdf_schlick_to(vec3_splat(l.above.f0), l.above.f90, cosine));
}

/* White sheen times the cosine, limited so that it is nowhere above its albedo. */
LS_FN float bsdf_sheen_lobe(Surface s, SurfaceLayers layers, Vec3 wo, Vec3 wi) {
    float limit = math_min(bsdf_sheen_limit(bsdf_sheen_albedo(layers.albedos, layers.sheen_roughness, wo.z)),
                           bsdf_sheen_limit(bsdf_sheen_albedo(layers.albedos, layers.sheen_roughness, wi.z)));
#ifdef LS_MULTISCATTER
    if (s.multiscatter) {
        limit = bsdf_sheen_limit(bsdf_charlie_albedo(layers.albedos, layers.sheen_roughness, wo.z));
    }
#else
    (void)s;
#endif
    return bsdf_sheen_value(layers.sheen_roughness, wo, wi) * limit;
}

/* Probabilities of the lobes that scatter once. Those of the three lowest count what scatters more often too. */
typedef struct {
    float coat;
    float sheen;
    float transmitted;
    float diffuse;
    float specular;
} LayerTree;

/* A leaf and its probability. */
typedef struct {
    u32 lobe;
    float probability;
} Leaf;

/* The lobe of a vertex. */
typedef struct {
    u32 lobe;
    /* One over its probability; zero for a surface without any light. */
    float weight;
    /* The lobes, with the diffuse colour where that one is picked. */
    LayeredLobes shapes;
#ifdef LS_MULTISCATTER
    /* Shares that reach the lobes, where the surface keeps all light. */
    Scaling scaling;
#endif
} PickedLobe;

/* The tree of a surface. Every lobe that there is has a share, even where its estimated albedo is zero. */
LS_FN LayerTree bsdf_layer_tree_new(LayeredLobes shapes, LobeAlbedos w) {
    float sum = w.coat + w.sheen + w.specular + w.diffuse + w.transmitted;
    float least = LEAST_SHARE * sum;
    LayerTree t;
    t.coat = shapes.above.clearcoat > 0.0f ? w.coat + least : 0.0f;
    t.sheen = shapes.above.sheen > 0.0f ? w.sheen + least : 0.0f;
    t.transmitted = vec3_luminance(shapes.transmitted) > 0.0f ? w.transmitted + least : 0.0f;
    t.diffuse = w.diffuse > 0.0f ? w.diffuse + least : 0.0f;
    t.specular = w.specular + least;
    float scale = sum > 0.0f ? LS_DIV(1.0f, t.coat + t.sheen + t.transmitted + t.diffuse + t.specular) : 0.0f;
    t.coat = t.coat * scale;
    t.sheen = t.sheen * scale;
    t.transmitted = t.transmitted * scale;
    t.diffuse = t.diffuse * scale;
    t.specular = t.specular * scale;
    return t;
}

LS_FN Leaf bsdf_leaf(u32 lobe, float probability) {
    Leaf leaf;
    leaf.lobe = lobe;
    leaf.probability = probability;
    return leaf;
}

/* The lobe at the end of a walk from the top, and its probability. The last branch takes what rounding leaves. */
LS_FN Leaf bsdf_layer_tree_walk(LayerTree t, float u) {
    /* Coat or below */
    if (u < t.coat) {
        return bsdf_leaf(LOBE_COAT, t.coat);
    }
    /* Sheen or below */
    float above_base = t.coat + t.sheen;
    if (u < above_base) {
        return bsdf_leaf(LOBE_SHEEN, t.sheen);
    }
    /* Body or specular lobe */
    if (u < above_base + (t.transmitted + t.diffuse)) {
        /* Transmission or diffuse base */
        if (u < above_base + t.transmitted) {
            return bsdf_leaf(LOBE_TRANSMITTED, t.transmitted);
        }
        return bsdf_leaf(LOBE_DIFFUSE, t.diffuse);
    }
    return bsdf_leaf(LOBE_SPECULAR, t.specular);
}

/* Walks down the tree by the draws `u0` (layer) and `u1` (scattering once or more often below). */
LS_CALL PickedLobe bsdf_picked_lobe_new(Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo, float u0, float u1) {
    PickedLobe picked;
    LobeAlbedos w;
    picked.shapes = bsdf_lobe_shapes_new(s, layers, axes, wo, false, &w);
    LayerTree tree = bsdf_layer_tree_new(picked.shapes, w);
    Leaf leaf = bsdf_layer_tree_walk(tree, u0);
#ifdef LS_MULTISCATTER
    bool is_base = leaf.lobe != LOBE_COAT && leaf.lobe != LOBE_SHEEN;
    if (s.multiscatter && is_base) {
        Recovered recovered = bsdf_recovered_new(bsdf_recovering_surface(s, layers), wo);
        if (bsdf_recovered_is_chosen(recovered, u1)) {
            bool reflects = bsdf_recovered_reflects(recovered, u1);
            leaf.lobe = reflects ? LOBE_RECOVERED_REFLECTED : LOBE_RECOVERED_TRANSMITTED;
            float base = tree.transmitted + tree.diffuse + tree.specular;
            leaf.probability = base * bsdf_recovered_probability(recovered, reflects);
        } else {
            leaf.probability = leaf.probability * bsdf_recovered_once(recovered);
        }
    }
#else
    (void)u1;
#endif
    picked.lobe = leaf.lobe;
    picked.weight = leaf.probability > 0.0f ? LS_DIV(1.0f, leaf.probability) : 0.0f;
    if (leaf.lobe == LOBE_DIFFUSE) {
        float all_out = picked.shapes.coat_out * picked.shapes.sheen_out * bsdf_above_base(picked.shapes.above, wo.z);
        picked.shapes.diffuse = bsdf_lobe_shapes_diffuse(picked.shapes, s, all_out);
    }
#ifdef LS_MULTISCATTER
    if (s.multiscatter) {
        picked.scaling = bsdf_scaling_new(s, layers, axes, wo);
        picked.shapes.diffuse = picked.scaling.diffuse;
    }
#endif
    return picked;
}

/* BSDF times cosine of this lobe, and its density. */
LS_FN Evaluation bsdf_picked_lobe_unweighted(PickedLobe picked, Surface s, SurfaceLayers layers, LayerAxes axes,
                                             Vec3 wo, Vec3 wi) {
    u32 lobe = picked.lobe;
    if (lobe == LOBE_COAT) {
        CoatLobe c = bsdf_coat_lobe(picked.shapes.above, layers, axes, wo, wi);
        return bsdf_evaluation(vec3_splat(c.reflected), c.pdf);
    }
    bool leaves_below = lobe == LOBE_TRANSMITTED || lobe == LOBE_RECOVERED_TRANSMITTED;
    if ((wi.z <= 0.0f) != leaves_below) {
        return bsdf_black();
    }
    float cosine_pdf = wi.z * MATH_INV_PI;
    if (lobe == LOBE_DIFFUSE) {
        float through = bsdf_above_all(picked.shapes.above, wi.z, bsdf_layer_axes_in_coat(axes, wi).z);
#ifdef LS_MULTISCATTER
        through = s.multiscatter ? 1.0f : through;
#endif
        return bsdf_evaluation(vec3_scale(picked.shapes.diffuse, through * cosine_pdf), cosine_pdf);
    }
    /* A thin wall transmits as if it reflected to the other side */
    Vec3 up = leaves_below ? vec3_new(wi.x, wi.y, -wi.z) : wi;
    float coat = bsdf_lobe_shapes_below_coat(picked.shapes, axes, up);
    float below = coat * bsdf_lobe_shapes_below_sheen(picked.shapes, up);
#ifdef LS_MULTISCATTER
    coat = s.multiscatter ? picked.scaling.coat : coat;
    below = s.multiscatter ? picked.scaling.below : below;
    if (lobe == LOBE_RECOVERED_REFLECTED || lobe == LOBE_RECOVERED_TRANSMITTED) {
        return bsdf_scaled_recovered(bsdf_recovering_surface(s, layers), wi, picked.scaling.missing, below);
    }
#endif
    if (lobe == LOBE_SHEEN) {
        return bsdf_evaluation(vec3_scale(layers.sheen_color, bsdf_sheen_lobe(s, layers, wo, wi) * coat), cosine_pdf);
    }
    ReflectionTerms r = bsdf_reflection_terms_anisotropic(bsdf_turned(wo, axes.along), bsdf_turned(up, axes.along),
                                                          picked.shapes.alpha);
    Vec3 color;
    if (leaves_below) {
        color = vec3_scale(picked.shapes.transmitted, bsdf_lobe_shapes_wall_share(picked.shapes, r.cosine));
#ifdef LS_MULTISCATTER
        if (s.multiscatter) {
            color = bsdf_lobe_shapes_scaled_wall(picked.shapes, s, layers, r.cosine);
        }
#endif
    } else {
        color = bsdf_lobe_shapes_fresnel(picked.shapes, layers, r.cosine);
    }
    return bsdf_evaluation(vec3_scale(color, r.d_over_4 * r.g2 * below), r.d_over_4 * r.g1);
}

/* BSDF times cosine of this lobe over its probability, and the lobe's own density. */
LS_CALL Evaluation bsdf_picked_lobe_evaluate(PickedLobe picked, Surface s, SurfaceLayers layers, LayerAxes axes,
                                             Vec3 wo, Vec3 wi) {
    Evaluation e = bsdf_picked_lobe_unweighted(picked, s, layers, axes, wo, wi);
    /* Only a tilted clearcoat reflects below the surface's horizon, and there it is all that does */
    if (wi.z <= 0.0f && bsdf_layer_axes_is_of_coat_alone(axes, wi) != (picked.lobe == LOBE_COAT)) {
        e.value = vec3_splat(0.0f);
    }
    e.value = vec3_scale(e.value, picked.weight);
    return e;
}

/* Samples this lobe for the draws `u` and `v`. A zero weight ends the path. */
LS_CALL Scatter bsdf_picked_lobe_sample(PickedLobe picked, Surface s, SurfaceLayers layers, LayerAxes axes, Vec3 wo,
                                        float u, float v) {
    u32 lobe = picked.lobe;
    Vec3 wi;
    if (lobe == LOBE_COAT) {
        wi = bsdf_coat_reflection(layers, axes, wo, u, v);
    } else if (lobe == LOBE_SPECULAR || lobe == LOBE_TRANSMITTED) {
        wi = bsdf_specular_reflection(picked.shapes, axes, wo, u, v);
    } else {
        wi = sampling_cosine_hemisphere(u, v);
    }
    if (wi.z <= 0.0f) {
        return bsdf_absorbed();
    }
    if (lobe == LOBE_COAT) {
        wi = bsdf_layer_axes_out_of_coat(axes, wi);
    } else if (lobe == LOBE_TRANSMITTED || lobe == LOBE_RECOVERED_TRANSMITTED) {
        wi = vec3_new(wi.x, wi.y, -wi.z);
    }
    Evaluation e = bsdf_picked_lobe_evaluate(picked, s, layers, axes, wo, wi);
    if (e.pdf > 0.0f) {
        return bsdf_scatter(wi, vec3_scale(e.value, LS_DIV(1.0f, e.pdf)), e.pdf);
    }
    return bsdf_absorbed();
}

#endif
