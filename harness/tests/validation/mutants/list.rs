//! Mutants: mistakes that ports of path tracers make, each as a change of the kernels' source.

use lockstep_core::path_record::compare::Quantity;
use lockstep_gpu::SourcePatch;

/// A mistake, and the quantity that must be named.
pub(super) struct Mutant {
    /// The mistake in words.
    pub(super) name: &'static str,
    /// The edits that make the mutant, in every file that a device may have it from.
    pub(super) edits: &'static [SourcePatch],
    /// The quantity at which paths must diverge.
    pub(super) quantity: Quantity,
    /// The fields of a vertex or step that are the mistake's own; one of them must come first.
    pub(super) fields: &'static [&'static str],
    /// The scene that shows it. For paths: 1 has masked surfaces, which would only blur what is named elsewhere, 2 has
    /// overlapping dielectrics with priorities; for pairs of sub-paths: 1 has specular ones.
    pub(super) stage: usize,
}

pub(super) const fn edit(file: &'static str, from: &'static str, to: &'static str) -> SourcePatch {
    SourcePatch { file, from, to }
}

pub(super) const MUTANTS: [Mutant; 17] = [
    Mutant {
        name: "wrong alpha cutoff comparison: > for >=",
        edits: &[edit(
            "core/gpu/kernels/geometry/intersect.h",
            "return alpha >= material.alpha_cutoff;",
            "return alpha > material.alpha_cutoff;",
        )],
        quantity: Quantity::PrimitiveIndex,
        fields: &["hit", "instance", "primitive"],
        stage: 1,
    },
    Mutant {
        name: "missing normal flip on back faces",
        edits: &[edit(
            "core/gpu/kernels/integrators/path.h",
            "float side = outside ? 1.0f : -1.0f;",
            "float side = 1.0f;",
        )],
        quantity: Quantity::ShadingNormal,
        fields: &["shading normal"],
        stage: 0,
    },
    Mutant {
        name: "swapped barycentrics",
        edits: &[
            edit(
                "core/gpu/kernels/geometry/intersect.h",
                "    hit.u = v * inverse;\n    hit.v = w * inverse;",
                "    hit.u = w * inverse;\n    hit.v = v * inverse;",
            ),
            edit(
                "core/gpu/kernels/bvh/bvh8.h",
                "    tested.u = LS_F32X8_MUL(v, inverse);\n    tested.v = LS_F32X8_MUL(w, inverse);",
                "    tested.u = LS_F32X8_MUL(w, inverse);\n    tested.v = LS_F32X8_MUL(v, inverse);",
            ),
        ],
        quantity: Quantity::Barycentrics,
        fields: &["barycentrics"],
        stage: 0,
    },
    Mutant {
        name: "sRGB decoded twice",
        edits: &[edit(
            "core/gpu/kernels/scene/texture.h",
            "    if ((flags & TEXTURE_SRGB) != 0u) {\n        return vec3_new(load_srgb_to_linear(memory, texel & 255u), \
             load_srgb_to_linear(memory, (texel >> 8) & 255u),\n                        load_srgb_to_linear(memory, \
             (texel >> 16) & 255u));\n    }",
            "    if ((flags & TEXTURE_SRGB) != 0u) {\n        float r = load_srgb_to_linear(memory, texel & 255u);\n        \
             float g = load_srgb_to_linear(memory, (texel >> 8) & 255u);\n        float b = load_srgb_to_linear(memory, \
             (texel >> 16) & 255u);\n        return vec3_new(load_srgb_to_linear(memory, (u32)(r * 255.0f + 0.5f)), \
             load_srgb_to_linear(memory, (u32)(g * 255.0f + 0.5f)), load_srgb_to_linear(memory, (u32)(b * 255.0f + \
             0.5f)));\n    }",
        )],
        quantity: Quantity::Albedo,
        fields: &["base colour"],
        stage: 0,
    },
    Mutant {
        name: "light pdf without the cosine",
        edits: &[edit(
            "core/gpu/kernels/scene/lights.h",
            "return material.light_pdf_area * LS_DIV(distance2, cosine);",
            "return material.light_pdf_area * distance2;",
        )],
        quantity: Quantity::DirectLight,
        fields: &["light pdf"],
        stage: 0,
    },
    Mutant {
        name: "off by one in the light table",
        edits: &[edit(
            "core/gpu/kernels/math/sampling.h",
            "u32 column = rng_index_below(index_word, scene.constants.light_count);",
            "u32 column = rng_index_below(index_word, scene.constants.light_count - 1u);",
        )],
        quantity: Quantity::DirectLight,
        fields: &["light index"],
        stage: 0,
    },
    Mutant {
        name: "RNG dimension used twice",
        edits: &[edit(
            "core/gpu/kernels/integrators/path.h",
            "surface_shading_frame_sample(here, u.u[0], u.u[1], u.u[2])",
            "surface_shading_frame_sample(here, u.u[0], u.u[1], u.u[1])",
        )],
        quantity: Quantity::FullPaths,
        fields: &["next direction"],
        stage: 0,
    },
    Mutant {
        name: "missing square root in roughness",
        edits: &[edit(
            "core/gpu/kernels/integrators/interaction.h",
            "surface.roughness = material.roughness;",
            "surface.roughness = material.roughness * material.roughness;",
        )],
        quantity: Quantity::Roughness,
        fields: &["roughness"],
        stage: 0,
    },
    Mutant {
        name: "shadow ray too long",
        edits: &[edit(
            "core/gpu/kernels/geometry/intersect.h",
            "#define SHADOW_CLEARANCE (1.0f / 65536.0f)",
            "#define SHADOW_CLEARANCE (-1.0f / 1024.0f)",
        )],
        quantity: Quantity::DirectLight,
        fields: &["shadow ray length"],
        stage: 0,
    },
    Mutant {
        name: "texture wrap clamp instead of repeat",
        edits: &[edit(
            "core/gpu/kernels/scene/texture.h",
            "    if (wrap == WRAP_REPEAT) {\n        return math_fract(u);",
            "    if (wrap == WRAP_REPEAT) {\n        return math_clamp(u, 0.0f, 1.0f);",
        )],
        quantity: Quantity::Albedo,
        fields: &["base colour"],
        stage: 0,
    },
    Mutant {
        name: "float3 stride: 16 bytes for 12",
        edits: &[edit(
            "core/gpu/kernels/scene/scene.h",
            "    p.x = scene.positions[3u * i];\n    p.y = scene.positions[3u * i + 1u];\n    p.z = \
             scene.positions[3u * i + 2u];",
            "    p.x = scene.positions[4u * i];\n    p.y = scene.positions[4u * i + 1u];\n    p.z = \
             scene.positions[4u * i + 2u];",
        )],
        quantity: Quantity::GeometricNormal,
        fields: &["geometric normal"],
        stage: 0,
    },
    Mutant {
        name: "throughput not applied on the last bounce",
        edits: &[edit(
            "core/gpu/kernels/integrators/path.h",
            "    path->throughput = throughput;\n    path->bsdf_pdf",
            "    path->throughput = bounce + 1u == pass.bounces ? path->throughput : throughput;\n    path->bsdf_pdf",
        )],
        quantity: Quantity::FullPaths,
        fields: &["throughput on arrival"],
        stage: 0,
    },
    Mutant {
        name: "tangent handedness dropped",
        edits: &[edit(
            "core/gpu/kernels/integrators/interaction.h",
            "vec3_scale(vec3_cross(n, frame.tangent), vertex_tangent_sign(at.vertices[0]) * turned)",
            "vec3_scale(vec3_cross(n, frame.tangent), turned)",
        )],
        quantity: Quantity::ShadingNormal,
        fields: &["shading normal"],
        stage: 0,
    },
    Mutant {
        name: "normals transformed like directions",
        edits: &[edit(
            "core/gpu/kernels/integrators/interaction.h",
            "shading = transform_normal(instance.world_to_object, shading);",
            "shading = transform_vector(m, shading);",
        )],
        quantity: Quantity::ShadingNormal,
        fields: &["shading normal"],
        stage: 0,
    },
    Mutant {
        name: "power heuristic without the squares",
        edits: &[edit(
            "core/gpu/kernels/math/sampling.h",
            "        float r = LS_DIV(b, a);\n        return LS_DIV(1.0f, 1.0f + r * r);",
            "        float r = LS_DIV(b, a);\n        return LS_DIV(1.0f, 1.0f + r);",
        )],
        quantity: Quantity::DirectLight,
        fields: &["light sample's share"],
        stage: 0,
    },
    Mutant {
        name: "false hits taken for true ones",
        edits: &[edit(
            "core/gpu/kernels/integrators/path.h",
            "interior_list_real_medium(path->interiors) == interior_list_real_medium(beyond)",
            "interior_list_real_medium(path->interiors) != interior_list_real_medium(beyond)",
        )],
        quantity: Quantity::Albedo,
        fields: &["false hit"],
        stage: 2,
    },
    Mutant {
        name: "lowest priority taken for the highest",
        edits: &[edit(
            "core/gpu/kernels/scene/interior_list.h",
            "interior_list_entry(list, place) - 1u).priority > priority",
            "interior_list_entry(list, place) - 1u).priority < priority",
        )],
        quantity: Quantity::FullPaths,
        fields: &["false hit"],
        stage: 2,
    },
];
