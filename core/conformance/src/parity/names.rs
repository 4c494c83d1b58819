//! The functions of both sides by name.
//!
//! A header's function is named after its Rust counterpart: `bsdf`'s `Surface::is_specular` is
//! `bsdf_surface_is_specular`, `fresnel_dielectric` is `bsdf_fresnel_dielectric`. Where a name differs or one
//! side has no counterpart, the tables here say why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Mirrored files: header, the prefix of its functions' names, and the Rust source below `core`.
pub(super) const MIRRORED: &[(&str, &str, &str)] = &[
    ("scalar.h", "math", "src/math/mod.rs"),
    ("vec3.h", "vec3", "src/math/vec3.rs"),
    ("transform.h", "math/transform", "src/math/transform.rs"),
    ("sobol.h", "sobol", "src/math/sobol.rs"),
    ("xorwow.h", "xorwow", "src/math/xorwow.rs"),
    ("rng.h", "rng", "src/math/rng.rs"),
    ("sampling.h", "sampling", "src/math/sampling.rs"),
    ("camera.h", "camera", "src/scene/camera.rs"),
    ("texture.h", "texture", "src/scene/texture.rs"),
    ("vertex.h", "vertex", "src/scene/vertex.rs"),
    ("environment.h", "environment", "src/scene/environment.rs"),
    ("intersect.h", "intersect", "src/geometry/hit.rs"),
    ("intersect.h", "intersect", "src/geometry/slab.rs"),
    ("intersect.h", "intersect", "src/geometry/triangle.rs"),
    ("intersect.h", "intersect", "src/geometry/sphere.rs"),
    ("intersect.h", "intersect", "src/geometry/clip_box.rs"),
    ("intersect.h", "intersect", "src/geometry/alpha.rs"),
    ("intersect.h", "intersect", "src/geometry/offset.rs"),
    ("surface.h", "bsdf", "transport/src/bsdf/surface.rs"),
    ("fresnel.h", "bsdf", "transport/src/bsdf/fresnel.rs"),
    ("microfacet.h", "bsdf", "transport/src/bsdf/microfacet.rs"),
    ("diffuse.h", "bsdf_diffuse", "transport/src/bsdf/diffuse.rs"),
    ("conductor.h", "bsdf_conductor", "transport/src/bsdf/conductor.rs"),
    ("dielectric.h", "bsdf_dielectric", "transport/src/bsdf/dielectric.rs"),
    ("layer.h", "bsdf", "transport/src/bsdf/layer.rs"),
    ("principled.h", "bsdf_principled", "transport/src/bsdf/principled.rs"),
    ("anisotropic.h", "bsdf", "transport/src/bsdf/anisotropic.rs"),
    ("sheen.h", "bsdf", "transport/src/bsdf/sheen.rs"),
    ("iridescence.h", "bsdf", "transport/src/bsdf/iridescence.rs"),
    ("multiscatter.h", "bsdf", "transport/src/bsdf/multiscatter.rs"),
    ("albedo_scaling.h", "bsdf", "transport/src/bsdf/albedo_scaling.rs"),
    ("layered.h", "bsdf", "transport/src/bsdf/layered.rs"),
    ("glass.h", "bsdf", "transport/src/bsdf/glass.rs"),
    ("layer_tree.h", "bsdf", "transport/src/bsdf/layer_tree.rs"),
    ("bsdf.h", "bsdf", "transport/src/bsdf/mod.rs"),
    ("bidirectional.h", "bsdf", "transport/src/bsdf/bidirectional.rs"),
    ("media.h", "media", "transport/src/media.rs"),
    ("interior_list.h", "interior_list", "transport/src/interior_list.rs"),
    ("lights.h", "lights", "transport/src/lights.rs"),
    ("emission.h", "emission", "transport/src/emission.rs"),
    ("camera_importance.h", "camera_importance", "transport/src/camera_importance.rs"),
    ("object_ray.h", "bvh/leaf", "bvh/src/leaf.rs"),
    ("object_ray.h", "bvh/object_ray", "bvh/src/object_ray.rs"),
    ("bvh2.h", "bvh/bvh2", "bvh/src/layout/bvh2.rs"),
    ("bvh2.h", "bvh/traverse", "bvh/src/traverse/bvh2.rs"),
    ("bvh8_boxes.h", "bvh8", "bvh/src/traverse/bvh8.rs"),
    ("bvh8.h", "bvh8", "bvh/src/traverse/bvh8.rs"),
    ("bvh8.h", "triangles8", "bvh/src/traverse/triangles8.rs"),
    ("interaction.h", "surface", "transport/src/interaction.rs"),
    ("state.h", "path", "transport/src/integrators/state.rs"),
    ("direct_light.h", "direct_light", "transport/src/direct_light.rs"),
    ("path.h", "path", "transport/src/integrators/path.rs"),
    ("ao.h", "ao", "transport/src/integrators/ao.rs"),
    ("film.h", "film", "src/film.rs"),
    ("splat.h", "splat", "src/splat.rs"),
    ("merging.h", "merging", "src/merging.rs"),
    ("weights.h", "weights", "transport/src/integrators/bidirectional/weights.rs"),
    ("vertex.h", "vertex", "transport/src/integrators/bidirectional/vertex.rs"),
    ("light_path.h", "light_path", "transport/src/integrators/bidirectional/light_path.rs"),
    ("camera_path.h", "camera_path", "transport/src/integrators/bidirectional/camera_path.rs"),
    ("connections.h", "connections", "transport/src/integrators/bidirectional/connections.rs"),
    ("photon.h", "photon", "transport/src/integrators/bidirectional/photon.rs"),
];

/// Headers without a counterpart: loads and stores, and entry kernels, which the identity of films and of
/// recorded paths proves.
const UNPAIRED_HEADERS: &[&str] = &[
    "contents.h",
    "scene.h",
    "queues.h",
    "path_io.h",
    "generate.h",
    "generate_light.h",
    "generate_camera.h",
    "shade_compact.h",
    "shade_in_place.h",
    "extend.h",
    "extend_coherent.h",
    "extend_light.h",
    "extend_lens.h",
    "connect.h",
    "resolve.h",
    "tally.h",
    "megakernel.h",
    "techniques.h",
    "ray_query.h",
    "trace_closest.h",
    "trace_coherent.h",
    "trace_any.h",
    "record_pairs.h",
    "record_paths.h",
    "ray_counts.h",
    "contribute.h",
    "queue_lengths.h",
    "sub_path_io.h",
    "shade_light.h",
    "shade_camera.h",
    "light_paths.h",
    "camera_paths.h",
    "clear_buckets.h",
    "place_buckets.h",
    "sort_photons.h",
    "photons.h",
    "join.h",
    "connect_lens.h",
    "connect_camera.h",
    "extend_camera.h",
    "merge.h",
];

/// Device functions that are named differently, and the Rust functions that they mirror.
const RENAMED: &[(&str, &str)] = &[
    ("math_clamp_i32", "std: i32::clamp"),
    ("math_is_finite", "std: f32::is_finite"),
    ("film_no_invalid", "std: Default::default"),
    ("vec3_new", "vec3::vec3"),
    ("vec3_splat", "vec3::Vec3::splat"),
    ("vec3_is_finite", "vec3::Vec3::is_finite"),
    ("vec3_add", "vec3::Vec3::add"),
    ("vec3_sub", "vec3::Vec3::sub"),
    ("vec3_mul", "vec3::Vec3::mul"),
    ("vec3_scale", "vec3::Vec3::mul"),
    ("vec3_neg", "vec3::Vec3::neg"),
    ("vec3_weigh", "inline: the weighted sum of three vectors"),
    ("bsdf_weighted", "bsdf::LayeredTerms::weighted"),
    ("transform_point", "math/transform::transform_point"),
    ("transform_vector", "math/transform::transform_vector"),
    ("transform_normal", "math/transform::transform_normal"),
    ("rng_record", "inline: an assignment"),
    ("sobol_reverse_bits", "std: u32::reverse_bits"),
    ("xorwow_seeded", "xorwow::Xorwow::seeded"),
    ("xorwow_next", "xorwow::Xorwow::next_word"),
    ("sampling_choose", "sampling::pick"),
    ("sampling_pick_light", "sampling::pick"),
    ("sampling_pick_cell", "sampling::pick"),
    ("camera_frame_ray", "camera::CameraFrame::ray"),
    ("texture_linear_rgb", "texture::texel_rgb"),
    ("texture_filtered", "texture::sample"),
    ("texture_memory", "literal: the part of a scene that lookups read"),
    ("texture_texels", "literal: a texture without its transform"),
    ("vertex_rgb", "vertex::Vertex::rgb"),
    ("vertex_alpha", "vertex::Vertex::alpha"),
    ("vertex_tangent_sign", "vertex::Vertex::tangent_sign"),
    ("vertex_is_white", "vertex::Vertex::is_white"),
    ("intersect_inverse", "closure: `inverse` in intersect::Slabs::new"),
    ("bsdf_evaluation", "literal: bsdf::Evaluation"),
    ("bsdf_black", "const: bsdf::BLACK"),
    ("bsdf_scatter", "literal: bsdf::Scatter"),
    ("bsdf_absorbed", "const: bsdf::ABSORBED"),
    ("bsdf_no_layers", "literal: None"),
    ("bsdf_leaf", "literal: a tuple of lobe and probability"),
    ("bsdf_missing_entry", "closure: `entry` in bsdf::missing_in_plane"),
    ("bsdf_metal_channel", "closure: `of` in bsdf::metal_color"),
    ("bsdf_gauss_node", "const: bsdf::GAUSS"),
    ("bsdf_gauss_weight", "const: bsdf::GAUSS"),
    ("bsdf_body_channel", "closure: `channel` in bsdf::body_share"),
    ("bsdf_evaluate_scaled", "bsdf::LayeredTerms::evaluate"),
    ("surface_layers_has_coat_normal", "none: a method of the scene's layers on the host"),
    ("surface_layers_covers_glass", "none: a method of the scene's layers on the host"),
    ("vertex_restored", "none: vertices are stored whole on the host"),
    ("lights_light_sample", "literal: lights::LightSample"),
    ("lights_dark", "const: lights::DARK"),
    ("camera_importance_unseen", "inline: None"),
    ("environment_texel", "closure: `load` in environment::environment_radiance"),
    ("bvh_leaf_primitive_bounds", "bvh/leaf::LeafPrimitive::bounds"),
    ("bvh_object_ray_new", "bvh/object_ray::ObjectRay::new"),
    ("bvh_object_ray_enter", "bvh/object_ray::ObjectRay::enter"),
    ("bvh_object_ray_passes_alpha_test", "bvh/object_ray::ObjectRay::passes_alpha_test"),
    ("bvh_object_ray_accept", "bvh/object_ray::ObjectRay::accept"),
    ("bvh_object_ray_test", "bvh/object_ray::ObjectRay::test"),
    ("bvh_object_ray_intersect", "inline: the intersection in bvh/object_ray::ObjectRay::test"),
    ("bvh_later", "inline: `max` in bvh/traverse::child_entries"),
    ("bvh_earlier", "inline: `min` in bvh/traverse::child_entries"),
    ("bvh_widened", "inline: `slabs.interval` in bvh/traverse::child_entries, which widens exits itself"),
    ("bvh_enter", "closure: `entry` in bvh/traverse::child_entries"),
    ("bvh_enter_child", "bvh/bvh2::Node::child_box"),
    ("bvh_waiting", "inline: a tuple of child and entry"),
    ("bvh_stack_push", "bvh/traverse::Stack::push"),
    ("bvh_stack_pop", "bvh/traverse::Stack::pop"),
    ("bvh_next_leaf", "inline: the nodes of bvh/traverse::walk"),
    ("bvh_visit", "closure: the leaves of bvh/traverse::Bvh2::closest_in_mesh"),
    ("bvh_walk_none", "none: a lane without a ray"),
    ("bvh_walk_has_ended", "inline: the end of the loop in bvh/traverse::walk"),
    ("bvh_walk_begin", "inline: the beginning of bvh/traverse::walk"),
    ("bvh_walk_on", "closure: the body of bvh/traverse::walk"),
    ("bvh_walk", "bvh/traverse::walk"),
    ("bvh_closest_hit", "bvh/traverse::Bvh2::closest_hit"),
    ("bvh_any_hit", "bvh/traverse::Bvh2::any_hit"),
    ("bvh_closest_hit", "bvh8::Bvh8::closest_hit"),
    ("bvh_any_hit", "bvh8::Bvh8::any_hit"),
    ("wide_item", "bvh8::item"),
    ("wide_entry_of", "bvh8::entry_of"),
    ("wide_slabs_new", "bvh8::WideSlabs::new"),
    ("wide_slabs_at", "bvh8::WideSlabs::at"),
    ("wide_slabs_nearer", "inline: nearer planes in WideSlabs::intersect"),
    ("wide_slabs_farther", "inline: farther planes in WideSlabs::intersect"),
    ("wide_slabs_intersect", "bvh8::WideSlabs::intersect"),
    ("wide_slabs_intersect_triangles", "inline: the boxes of triangles in InMesh::visit"),
    ("wide_slabs_intersect_boxes", "bvh8::WideSlabs::intersect_boxes"),
    ("wide_across", "inline: a box's distances in WideSlabs::intersect_boxes"),
    ("wide_across_clip_boxes", "inline: a box's distances in WideSlabs::intersect_boxes"),
    ("wide_raised_to_clip_boxes", "bvh8::InMesh::raised_to_clip_boxes"),
    ("wide_padded", "inline: a padded box's distances in triangles8::boxes"),
    ("wide_max_abs", "inline: the largest coordinate in triangles8::boxes"),
    ("wide_extent", "triangles8::extent"),
    ("wide_stack_start", "bvh8::Stack::start"),
    ("wide_stack_next_leaf", "bvh8::Stack::next_leaf"),
    ("wide_stack_push_unsorted", "bvh8::Stack::push_unsorted"),
    ("wide_stack_push_sorted", "bvh8::Stack::push_sorted"),
    ("wide_shear_new", "bvh8::WideShear::new"),
    ("wide_shear_component", "bvh8::WideShear::component"),
    ("wide_shear_corner", "bvh8::WideShear::corner"),
    ("wide_shear_test", "bvh8::WideShear::test"),
    ("wide_edge_function", "inline: edge functions in triangles8::Tested::new"),
    ("wide_visit", "bvh8::InMesh::visit"),
    ("wide_take", "bvh8::InMesh::take"),
    ("wide_visit_each", "bvh8::InMesh::visit_each"),
    ("bvh_walk", "bvh8::walk"),
    ("path_ray", "literal: intersect::Ray"),
    ("path_connection", "literal: path::Connection"),
    ("path_no_connection", "literal: None"),
    ("path_ended", "const: path::ENDED"),
    ("surface_translation", "inline: the last column of a map"),
    ("surface_plain_vertex", "const: scene::Vertex::PLAIN"),
    ("environment_radiance", "environment::environment_radiance"),
    ("splat_no_merges", "literal: splat::MergeSum"),
    ("merging_limit", "closure: `limit` in merging::Merging::cell"),
    ("weights_new", "literal: weights::PartialWeights"),
    ("vertex_none", "literal: None"),
    ("vertex_no_connection", "literal: None"),
    ("vertex_absorbed", "literal: None"),
    ("light_path_direct", "literal: a tuple of density and flag"),
    ("camera_path_emission", "literal: camera_path::Emitted"),
];

/// Rust functions of mirrored files that have no device function.
const HOST_ONLY: &[(&str, &str)] = &[
    ("math::tan", "cameras are fitted on the host"),
    ("vec3::length", "used by host code only"),
    ("sobol::direction_numbers", "the table is made on the host"),
    ("vec3::Vec3::to_array", "an array view of the same floats"),
    ("vec3::Vec3::from", "positions are loaded as vectors"),
    ("math/transform::compose", "scenes are built on the host"),
    ("math/transform::determinant", "scenes are built on the host"),
    ("math/transform::inverse", "scenes are built on the host"),
    ("math/transform::similarity_scale", "scenes are built on the host"),
    ("vertex::Vertex::with_color", "vertices are made on the host"),
    ("vertex::Vertex::with_tangent", "vertices are made on the host"),
    ("vertex::Vertex::default", "vertices are made on the host"),
    ("vertex::to_half", "vertices are made on the host"),
    ("camera::Camera::default", "views are made on the host"),
    ("camera::Camera::validate", "views are checked on the host"),
    ("camera::Camera::frame", "cameras are fitted on the host"),
    ("camera::Camera::from_fields", "packed scenes are read on the host"),
    ("camera::Camera::hash_bytes", "scenes are hashed on the host"),
    ("camera::CameraFrame::column_and_row", "inline in camera_ray"),
    ("camera::CameraFrame::ray_through", "inline in camera_ray"),
    ("camera::CameraFrame::depth", "used by host code only"),
    ("bsdf::LobeShapes::all_out", "inline in bsdf_lobe_shapes_new"),
    ("bsdf::LobeShapes::albedos", "inline in bsdf_lobe_shapes_new"),
    ("bsdf::Scaling::of_all", "inline in bsdf_scaling_new"),
    ("bsdf::Scaling::recovered", "inline in bsdf_scaling_add"),
    ("bsdf::LayeredTerms::with_recovered", "inline in bsdf_evaluate_layered"),
    ("vertex::Vertex::evaluate_in_frame", "inline in vertex_vertex_evaluate"),
    ("vertex::Vertex::evaluate_both", "two evaluations on the device"),
    ("vertex::Vertex::evaluate_both_in_frame", "two evaluations on the device"),
    ("bsdf::evaluate_reflection", "two evaluations on the device"),
    ("bsdf::OutgoingMasking::new", "inline in bsdf_reflection_terms"),
    ("bsdf::OutgoingMasking::reflection_terms", "inline in bsdf_reflection_terms"),
    ("bsdf_principled::PrincipledTerms::new", "computed in each evaluation on the device"),
    ("bsdf_principled::PrincipledTerms::evaluate", "the terms of a batch, on processors alone"),
    ("bsdf_principled::PrincipledTerms::sample", "inline in bsdf_principled_sample"),
    ("bsdf_principled::terms_by", "inline in bsdf_principled_terms"),
    ("bsdf::LayeredTerms::new", "computed in each evaluation on the device"),
    ("bsdf::LayeredTerms::evaluate", "inline in bsdf_evaluate_layered"),
    ("bsdf::LayeredTerms::sample", "inline in bsdf_sample_layered"),
    ("lights::sample_one", "inline in lights_sample"),
    ("direct_light::sample_light", "inline in direct_light_connect_to_light"),
    ("path::arrive", "inline in path_shade"),
    ("path::leave", "inline in path_shade"),
    ("surface::Departure::origin", "inline where a ray leaves on the device"),
    ("surface::ShadingFrame::departure", "inline where a ray leaves on the device"),
    ("texture::power_2_4", "the table is made on the host"),
    ("light_path::LightPath::go_on", "inline in the extension of a sub-path"),
    ("camera_path::CameraPath::go_on", "inline in the extension of a sub-path"),
    ("bsdf::PickedLobe::lobe", "a field of the device's"),
    ("bsdf::PickedLobe::weight", "a field of the device's"),
    ("bvh/bvh2::Bvh2::build", "trees are built on the host"),
    ("bvh/bvh2::Bvh2::bytes", "trees are built on the host"),
    ("bvh/bvh2::Bvh2::append_instances", "trees are built on the host"),
    ("bvh/bvh2::Bvh2::append_mesh", "trees are built on the host"),
    ("bvh/bvh2::append", "trees are built on the host"),
    ("bvh/bvh2::MeshTree::build", "trees are built on the host"),
    ("bvh/bvh2::Node::new", "nodes are filled on the host"),
    ("bvh/leaf::LeafPrimitive::half_area", "nodes are ordered on the host"),
    ("bvh/bvh2::centred", "nodes are filled on the host"),
    ("bvh/leaf::LeafPrimitive::of", "leaves are filled on the host"),
    ("bvh/leaf::LeafPrimitive::clipped", "leaves are filled on the host"),
    ("bvh/leaf::LeafPrimitive::clip_box", "inline in bvh_leaf_primitive_bounds"),
    ("bvh/leaf::LeafPrimitive::polygon", "nodes are ordered on the host"),
    ("bvh/object_ray::ObjectRay::slabs", "for intersectors that are not ours"),
    ("bvh/object_ray::ObjectRay::test_each", "for intersectors that are not ours"),
    ("intersect::ClipBox::new", "leaves are filled on the host"),
    ("intersect::triangle_box", "intersect_clipped_box of nothing cut"),
    ("intersect::pad_box", "boxes are made on the host"),
    ("intersect::Shear::parts", "for the processor's eight-wide test"),
    ("bvh/object_ray::confirm", "for intersectors that are not ours"),
    ("bvh/traverse::Stack::default", "the device's stack is private arrays in bvh_walk"),
    ("bvh/traverse::child_entries", "inline in bvh_next_leaf"),
    ("bvh/traverse::leaf_primitives", "inline in bvh_visit"),
    ("bvh/traverse::Bvh2::closest_in_mesh", "inline in bvh_walk_on, where both levels share a loop"),
    ("bvh/traverse::Bvh2::any_in_mesh", "inline in bvh_walk_on, where both levels share a loop"),
    ("bvh8::Stack::default", "the device's stacks are private arrays in bvh_walk"),
    ("bvh8::least_of", "inline in wide_raised_to_clip_boxes"),
    ("bvh8::splat", "a word of the dialect"),
    ("bvh8::planes", "inline in wide_slabs_new"),
    ("bvh8::WideSlabs::interval", "inline in wide_slabs_intersect and wide_slabs_intersect_triangles"),
    ("triangles8::boxes", "inline in wide_slabs_intersect_triangles"),
    ("triangles8::corner", "inline in wide_slabs_intersect_triangles"),
    ("triangles8::Tested::new", "inline in wide_shear_test"),
    ("triangles8::Tested::none", "inline in wide_shear_test"),
    ("triangles8::Tested::passed", "inline in wide_shear_test"),
    ("intersect::longest_axis", "inline in intersect_shear_new"),
    ("bvh8::InMesh::new", "inline in bvh_walk"),
    ("bvh8::InMesh::$closest", "walk, compiled for one processor"),
    ("bvh8::InMesh::$any", "walk, compiled for one processor"),
    ("bvh8::Bvh8::closest_hit_portable", "bvh_closest_hit without AVX2"),
    ("bvh8::Bvh8::any_hit_portable", "bvh_any_hit without AVX2"),
    ("merging::MergeSchedule::new", "a pass's constants are computed on the host"),
    ("merging::MergeSchedule::radius", "a pass's constants are computed on the host"),
    ("merging::MergeSchedule::pass", "a pass's constants are computed on the host"),
    ("merging::buckets", "a pass's constants are computed on the host"),
    ("merging::buckets_of_passes", "sizes of buffers, computed on the host"),
    ("rng::other_draw", "programs are built for one sampler"),
    ("xorwow::Xorwow::four_after", "inline in rng_xorwow_draw"),
    ("film::is_narrow", "processors round samples by SIMD"),
    ("film::narrow_units", "processors round samples by SIMD"),
    ("film::threshold", "a part of units"),
    ("film::InvalidSamples::is_zero", "films are validated on the host"),
    ("film::InvalidSamples::merge", "films are merged on the host"),
    ("film::InvalidSamples::fmt", "films are validated on the host"),
    ("film::Film::check_size", "films are read on the host"),
    ("film::has_negative", "films are read on the host"),
    ("film::Film::check_sums", "films are read on the host"),
    ("film::Film::new", "films are read on the host"),
    ("film::Film::width", "films are read on the host"),
    ("film::Film::height", "films are read on the host"),
    ("film::Film::merge", "films are merged on the host"),
    ("film::Film::mean", "films are read on the host"),
    ("film::Film::mse_of_last", "films are compared on the host"),
    ("film::Film::pixels_differing", "films are compared on the host"),
];

/// A function of a header.
pub(super) struct DeviceFunction {
    pub(super) file: &'static str,
    pub(super) name: String,
    /// Names that its body mentions before a parenthesis.
    pub(super) calls: BTreeSet<String>,
}

/// The text of a header.
pub(super) fn header(name: &str) -> &'static str {
    let all = lockstep_gpu::header_texts();
    all.iter().find(|(file, _)| file.ends_with(&format!("/{name}"))).map_or("", |(_, text)| text)
}

/// The identifiers of a text that a parenthesis follows.
fn calls(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices('(') {
        let before = &text[..at];
        let start = before.rfind(|c| !is_name(c)).map_or(0, |i| i + 1);
        found.insert(before[start..].to_owned());
    }
    found
}

/// Every `LS_FN`, `LS_INLINE`, `LS_CALL` and `LS_OUTLINED` of every header.
pub(super) fn device_functions() -> Vec<DeviceFunction> {
    let mut functions = Vec::new();
    for (file, text) in lockstep_gpu::header_texts() {
        let file = file.rsplit('/').next().unwrap_or(file);
        let words = ["\nLS_INLINE ", "\nLS_CALL ", "\nLS_OUTLINED "];
        let text = words.iter().fold(text.to_owned(), |text, word| text.replace(word, "\nLS_FN "));
        for part in text.split("\nLS_FN ").skip(1) {
            let (Some(name), Some(end)) = (part.split('(').next(), part.find("\n}")) else { continue };
            let name = name.rsplit([' ', '*']).next().unwrap_or(name).to_owned();
            let body = part[..end].split_once('{').map_or("", |(_, body)| body);
            functions.push(DeviceFunction { file, name, calls: calls(body) });
        }
    }
    functions
}

/// Every `fn` of a Rust source before its tests, as `file::Type::name`.
fn rust_functions(module: &str, source: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source);
    let text = std::fs::read_to_string(path).expect("the counterpart exists");
    let text = text.split("#[cfg(test)]").next().expect("a split has a first part");
    let mut found = BTreeSet::new();
    let mut owner = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let generic = || line.strip_prefix("impl<")?.split_once("> ").map(|(_, rest)| rest);
        if let Some(rest) = line.strip_prefix("impl ").or_else(generic) {
            let subject = rest.rsplit(" for ").next().unwrap_or(rest);
            owner = format!("{}::", subject.split([' ', '<']).next().unwrap_or(subject));
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(at) = words.iter().position(|w| *w == "fn") else { continue };
        if line.trim_start().starts_with("//") || at + 1 == words.len() {
            continue;
        }
        let name = words[at + 1].split(['(', '<']).next().unwrap_or_default();
        let owner = if indent == 0 { "" } else { &owner };
        found.insert(format!("{module}::{owner}{name}"));
    }
    found
}

/// The device name of a Rust function by rule.
fn device_name(rust: &str) -> String {
    let mut snake = String::new();
    let mut previous = ':';
    for c in rust.chars() {
        if c.is_ascii_uppercase() && previous != ':' {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        previous = c;
    }
    snake.replace("::", "_")
}

#[test]
fn every_rust_function_has_a_counterpart_or_a_reason() {
    let device: BTreeSet<String> = device_functions().into_iter().map(|f| f.name).collect();
    let renamed: BTreeSet<&str> = RENAMED.iter().map(|(_, rust)| *rust).collect();
    let host: BTreeMap<&str, &str> = HOST_ONLY.iter().copied().collect();
    let mut all = BTreeSet::new();
    for (_, prefix, source) in MIRRORED {
        all.extend(rust_functions(prefix, source));
    }
    let orphans: Vec<&String> = all
        .iter()
        .filter(|f| {
            !device.contains(&device_name(f))
                && !renamed.contains(f.as_str())
                && !host.contains_key(f.as_str())
        })
        .collect();
    assert!(orphans.is_empty(), "without a device function: {orphans:#?}");
    let gone: Vec<&&str> = host.keys().filter(|f| !all.contains(**f)).collect();
    assert!(gone.is_empty(), "listed as host only, but not there: {gone:?}");
}

#[test]
fn every_device_function_has_a_counterpart() {
    let renamed: BTreeMap<&str, &str> = RENAMED.iter().copied().collect();
    let mut by_rule = BTreeSet::new();
    let mut rust = BTreeSet::new();
    for (_, prefix, source) in MIRRORED {
        for function in rust_functions(prefix, source) {
            by_rule.insert(device_name(&function));
            rust.insert(function);
        }
    }
    let functions = device_functions();
    let paired = functions.iter().filter(|f| MIRRORED.iter().any(|(header, ..)| *header == f.file));
    let orphans: Vec<&str> = paired
        .filter(|f| !renamed.contains_key(f.name.as_str()) && !by_rule.contains(&f.name))
        .map(|f| f.name.as_str())
        .collect();
    assert!(orphans.is_empty(), "without a Rust function: {orphans:#?}");
    for (name, counterpart) in RENAMED {
        assert!(functions.iter().any(|f| f.name == *name), "{name} is not in the headers");
        assert!(
            counterpart.contains(": ") || rust.contains(*counterpart),
            "{name}: {counterpart} is not in the sources"
        );
    }
}

#[test]
fn every_device_function_is_reached_by_a_probe() {
    let functions = device_functions();
    let mut by_name: BTreeMap<&str, Vec<&DeviceFunction>> = BTreeMap::new();
    // Each traversal has its bvh_closest_hit.
    functions.iter().for_each(|f| by_name.entry(&f.name).or_default().push(f));
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut next: Vec<String> = calls(header("probe.h")).into_iter().collect();
    while let Some(name) = next.pop() {
        if let Some(functions) = by_name.get(name.as_str())
            && reached.insert(name)
        {
            next.extend(functions.iter().flat_map(|function| function.calls.iter().cloned()));
        }
    }
    let missed: Vec<&str> = functions
        .iter()
        .filter(|f| !UNPAIRED_HEADERS.contains(&f.file) && !reached.contains(&f.name))
        .map(|f| f.name.as_str())
        .collect();
    assert!(missed.is_empty(), "no probe calls {missed:#?}");
}
