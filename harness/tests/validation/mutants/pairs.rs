//! Mutants of bidirectional path tracing: mistakes that real renderers had, each as a change of the kernels' source.

use super::list::{Mutant, edit};
use lockstep_core::path_record::compare::Quantity;

const CONNECTIONS: &str = "core/gpu/kernels/integrators/bidirectional/connections.h";
const LIGHT_PATH: &str = "core/gpu/kernels/integrators/bidirectional/light_path.h";
const VERTEX: &str = "core/gpu/kernels/integrators/bidirectional/vertex.h";
const WEIGHTS: &str = "core/gpu/kernels/integrators/bidirectional/weights.h";

/// A number after a program's name is that of the thread that reports the mistake.
pub(super) const PAIR_MUTANTS: [Mutant; 8] = [
    Mutant {
        name: "emission is not weighted by the cosine at a lamp (mitsuba3#42: brighter than path tracing)",
        edits: &[edit(LIGHT_PATH, "LS_DIV(sample.cosine, path.pdf)", "LS_DIV(1.0f, path.pdf)")],
        quantity: Quantity::LightSubPath,
        fields: &["throughput on arrival"],
        stage: 0,
    },
    Mutant {
        name: "light sub-paths are dimmed by a second cosine (RTProgressivePhotonMapper#1)",
        edits: &[edit(
            CONNECTIONS,
            "float geometry = LS_DIV(cosine, vertex_vertex_cosine(vertex, vertex.from) * distance2);",
            "float geometry = LS_DIV(cosine * cosine, vertex_vertex_cosine(vertex, vertex.from) * distance2);",
        )],
        quantity: Quantity::LensConnection,
        fields: &["radiance of the technique"],
        stage: 0,
    },
    Mutant {
        name: "a light's density is 12 % too high (pbrt-v3#179)",
        edits: &[edit(
            LIGHT_PATH,
            "path.pdf = sample.pdf_position * sample.pdf_direction;",
            "path.pdf = 1.12f * sample.pdf_position * sample.pdf_direction;",
        )],
        quantity: Quantity::LightSubPath,
        fields: &["throughput on arrival"],
        stage: 0,
    },
    Mutant {
        name: "the geometry term of near vertices is bounded (pbrt-v3#73)",
        edits: &[edit(
            CONNECTIONS,
            "float geometry = LS_DIV(of_light.cosine, vertex_vertex_cosine(light, light.from) * distance2);",
            "float geometry = LS_DIV(of_light.cosine, vertex_vertex_cosine(light, light.from) * math_max(distance2, \
             16.0f));",
        )],
        quantity: Quantity::VertexConnection,
        fields: &["radiance of the technique"],
        stage: 0,
    },
    Mutant {
        name: "light sub-paths scatter by the BSDF in place of its adjoint",
        edits: &[edit(
            LIGHT_PATH,
            "vertex_vertex_extend(pass, bounce, vertex, words, true, ratios)",
            "vertex_vertex_extend(pass, bounce, vertex, words, false, ratios)",
        )],
        quantity: Quantity::LightSubPath,
        fields: &["throughput on arrival"],
        stage: 0,
    },
    Mutant {
        name: "a specular vertex keeps the technique that it rules out (pbrt-v4#326: specular, diffuse, specular)",
        edits: &[edit(
            WEIGHTS,
            "weights_new(0.0f, p.vc * cosine, p.vm * cosine)",
            "weights_new(p.vcm, p.vc * cosine, p.vm * cosine)",
        )],
        quantity: Quantity::Weights,
        fields: &["partial weights"],
        stage: 1,
    },
    Mutant {
        name: "evaluated densities are 0.93 of the sampled ones (three-gpu-pathtracer#847: weights do not add up to 1)",
        edits: &[edit(
            VERTEX,
            "return surface_shading_frame_evaluate(here, wi);",
            "Evaluation other = surface_shading_frame_evaluate(here, wi);\n    other.pdf = 0.93f * other.pdf;\n    \
             return other;",
        )],
        quantity: Quantity::Weights,
        fields: &["partial weights", "weight"],
        stage: 0,
    },
    Mutant {
        name: "paths seen by the lens are not divided by the number of light sub-paths",
        edits: &[edit(
            CONNECTIONS,
            "geometry * LS_DIV(lens.importance, light_paths)",
            "geometry * lens.importance",
        )],
        quantity: Quantity::LensConnection,
        fields: &["radiance of the technique"],
        stage: 0,
    },
];
