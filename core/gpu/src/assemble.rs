//! Assembly of kernel source from a backend's compat header and the shared headers.

use crate::called_bodies::{CALLED_BODIES, called_bodies};
use crate::features::KernelFeatures;
use crate::header::{Header, header};
use crate::integrators::plan;
use crate::program::{ProgramKind, ProgramOptions};
use lockstep_bvh::Layout;
use lockstep_core::KernelSource;
use lockstep_core::error::{Error, Result};
use lockstep_core::math::{canary, sobol};
use lockstep_core::{Integrator, MergeSums, Order, Sampler, Scheduling, Structure};

/// Functions that all programs share, each header after those it needs.
const HEADERS: [Header; 37] = [
    header!("abi.h"),
    header!("scene/contents.h"),
    header!("scene/scene.h"),
    header!("math/scalar.h"),
    header!("math/vec3.h"),
    header!("math/transform.h"),
    header!("math/rng.h"),
    header!("math/sampling.h"),
    header!("scene/camera.h"),
    header!("scene/vertex.h"),
    header!("scene/texture.h"),
    header!("scene/environment.h"),
    header!("scene/media.h"),
    header!("scene/interior_list.h"),
    header!("geometry/intersect.h"),
    header!("bsdf/surface.h"),
    header!("bsdf/fresnel.h"),
    header!("bsdf/microfacet.h"),
    header!("bsdf/diffuse.h"),
    header!("bsdf/conductor.h"),
    header!("bsdf/dielectric.h"),
    header!("bsdf/layer.h"),
    header!("bsdf/anisotropic.h"),
    header!("bsdf/sheen.h"),
    header!("bsdf/iridescence.h"),
    header!("bsdf/multiscatter.h"),
    header!("bsdf/albedo_scaling.h"),
    header!("bsdf/principled.h"),
    header!("bsdf/layered.h"),
    header!("bsdf/glass.h"),
    header!("bsdf/layer_tree.h"),
    header!("bsdf/bsdf.h"),
    header!("scene/lights.h"),
    header!("bvh/object_ray.h"),
    header!("integrators/interaction.h"),
    header!("integrators/state.h"),
    header!("scene/film.h"),
];

/// The functions of samplers other than the default, before the headers that all programs share.
const SOBOL: [Header; 1] = [header!("math/sobol.h")];
const XORWOW: [Header; 1] = [header!("math/xorwow.h")];
const SAMPLERS: [Header; 2] = [SOBOL[0], XORWOW[0]];

/// BVH traversal; a program has one layout.
const BVH2: [Header; 1] = [header!("bvh/bvh2.h")];
const BVH8: [Header; 2] = [header!("bvh/bvh8_boxes.h"), header!("bvh/bvh8.h")];

/// Stages of the wavefront over compacted queues.
const WAVEFRONT: [Header; 9] = [
    header!("wavefront/queues.h"),
    header!("wavefront/path_io.h"),
    header!("wavefront/generate.h"),
    header!("wavefront/shade_compact.h"),
    header!("wavefront/extend.h"),
    header!("wavefront/extend_coherent.h"),
    header!("wavefront/connect.h"),
    header!("wavefront/resolve.h"),
    header!("wavefront/tally.h"),
];

/// Stages of the wavefront without compaction.
const NO_COMPACTION: [Header; 9] = [
    header!("wavefront/queues.h"),
    header!("wavefront/path_io.h"),
    header!("wavefront/generate.h"),
    header!("wavefront/shade_in_place.h"),
    header!("wavefront/extend.h"),
    header!("wavefront/extend_coherent.h"),
    header!("wavefront/connect.h"),
    header!("wavefront/resolve.h"),
    header!("wavefront/tally.h"),
];

/// Whole paths in one kernel.
const MEGAKERNEL: [Header; 6] = [
    header!("wavefront/queues.h"),
    header!("wavefront/ray_counts.h"),
    header!("wavefront/generate.h"),
    header!("wavefront/resolve.h"),
    header!("wavefront/tally.h"),
    header!("megakernel.h"),
];

/// Kernels that all integrators of pairs of sub-paths launch, behind their own functions.
const PAIRS: [Header; 15] = [
    header!("wavefront/queues.h"),
    header!("wavefront/path_io.h"),
    header!("pairs/contribute.h"),
    header!("pairs/queue_lengths.h"),
    header!("pairs/sub_path_io.h"),
    header!("pairs/photons.h"),
    header!("pairs/generate_light.h"),
    header!("pairs/generate_camera.h"),
    header!("pairs/extend.h"),
    header!("pairs/extend_light.h"),
    header!("pairs/extend_lens.h"),
    header!("pairs/shade_light.h"),
    header!("pairs/shade_camera.h"),
    header!("pairs/connect.h"),
    header!("wavefront/tally.h"),
];

/// Whole sub-paths, behind the integrator's own functions.
const SUB_PATHS: [Header; 9] = [
    header!("wavefront/queues.h"),
    header!("wavefront/path_io.h"),
    header!("wavefront/ray_counts.h"),
    header!("pairs/contribute.h"),
    header!("pairs/sub_path_io.h"),
    header!("pairs/photons.h"),
    header!("pairs/light_paths.h"),
    header!("pairs/camera_paths.h"),
    header!("wavefront/tally.h"),
];

/// Kernels of pairs of sub-paths that some integrators launch.
pub(crate) mod pairs {
    use crate::header::{Header, header};

    pub(crate) const CONNECT_LENS: Header = header!("pairs/connect_lens.h");
    pub(crate) const EXTEND_CAMERA: Header = header!("pairs/extend_camera.h");
    pub(crate) const JOIN: Header = header!("pairs/join.h");
    pub(crate) const CONNECT_CAMERA: Header = header!("pairs/connect_camera.h");
    pub(crate) const CLEAR_BUCKETS: Header = header!("pairs/clear_buckets.h");
    pub(crate) const PLACE_BUCKETS: Header = header!("pairs/place_buckets.h");
    pub(crate) const SORT_PHOTONS: Header = header!("pairs/sort_photons.h");
    pub(crate) const MERGE: Header = header!("pairs/merge.h");
}

/// Ray queries, behind the kernels of a render.
const QUERIES: [Header; 4] = [
    header!("queries/ray_query.h"),
    header!("queries/trace_closest.h"),
    header!("queries/trace_coherent.h"),
    header!("queries/trace_any.h"),
];

const RECORD_PATHS: [Header; 1] = [header!("record_paths.h")];

const RECORD_PAIRS: [Header; 1] = [header!("record_pairs.h")];

/// Functions of integrators that also trace paths from lights.
pub(crate) const BIDIRECTIONAL: [Header; 13] = [
    header!("bsdf/bidirectional.h"),
    header!("scene/camera_importance.h"),
    header!("scene/emission.h"),
    header!("scene/splat.h"),
    header!("scene/merging.h"),
    header!("integrators/direct_light.h"),
    header!("integrators/bidirectional/techniques.h"),
    header!("integrators/bidirectional/weights.h"),
    header!("integrators/bidirectional/vertex.h"),
    header!("integrators/bidirectional/light_path.h"),
    header!("integrators/bidirectional/camera_path.h"),
    header!("integrators/bidirectional/connections.h"),
    header!("integrators/bidirectional/photon.h"),
];

/// The canary of exact mode, with the functions that it needs.
const CANARY: [Header; 3] = [header!("math/scalar.h"), header!("math/rng.h"), header!("canary.h")];

const PROBES: [Header; 3] =
    [header!("tests/probe.h"), header!("tests/layout.h"), header!("tests/constants.h")];

/// Neighbouring items that a work-item takes at once where [`Options::group_compaction`] is off: whole cache
/// lines of a queue. One item at a time made less than a quarter of the samples of `cornell` on 16 threads,
/// since all add to the same counters; 16 to 64 are alike.
pub const ITEMS_IN_TURN: u32 = 64;

/// Options of a program's source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Leaves contraction and approximations to the compiler: the second build, never the default.
    pub fast: bool,
    /// Reserves queue slots once per work-group, by local memory and barriers. For GPUs; CPU devices are
    /// faster without.
    pub group_compaction: bool,
    /// The layout of the BVH to traverse.
    pub layout: Layout,
    /// The kernel features to include.
    pub features: KernelFeatures,
}

/// Assembles a program's source. `compat` is the backend's header, `compat_name` its name in compile errors.
pub fn assemble(compat_name: &str, compat: &str, options: &Options, part: ProgramKind) -> KernelSource {
    let ProgramOptions { structure, scheduling, order, merges } = part.build();
    let last: &[Header] = match (part, structure) {
        (ProgramKind::RecordPaths, _) => &RECORD_PATHS,
        (ProgramKind::RecordPairs, _) => &RECORD_PAIRS,
        (ProgramKind::Pairs(..), Structure::Megakernel) => &SUB_PATHS,
        (ProgramKind::Pairs(..), _) => &PAIRS,
        (ProgramKind::Render, _) | (ProgramKind::Configured(_), Structure::Wavefront) => &WAVEFRONT,
        (ProgramKind::Configured(_), Structure::NoCompaction) => &NO_COMPACTION,
        (ProgramKind::Configured(_), Structure::Megakernel) => &MEGAKERNEL,
    };
    // Only on a GPU does each lane of a warp have a ray of its own.
    let dynamic_fetch =
        options.group_compaction && options.layout == Layout::Bvh2 && scheduling == Scheduling::Default;
    let of_build = [
        ("LS_PERSISTENT", scheduling == Scheduling::PersistentThreads),
        ("LS_DYNAMIC_FETCH", dynamic_fetch),
        ("LS_SCANLINE", order == Order::Scanline),
        ("LS_OCTANTS", order == Order::Octants),
        ("LS_RECORDS", part.records()),
        ("LS_FLOAT_MERGES", merges == MergeSums::Floats),
        (CALLED_BODIES, !options.group_compaction),
    ];
    let integrator = plan(options.features.integrator);
    let queries: &[Header] = if part.has_queries() { &QUERIES } else { &[] };
    let own: &[Header] = match (part, structure) {
        (ProgramKind::Pairs(integrator, _), Structure::Megakernel) if integrator.merges() => {
            &[pairs::CLEAR_BUCKETS, pairs::PLACE_BUCKETS, pairs::SORT_PHOTONS]
        }
        (ProgramKind::Pairs(..), Structure::Wavefront) => integrator.kernels_of_its_own,
        _ => &[],
    };
    let last: Vec<Header> =
        integrator.headers.iter().chain(last).chain(own).chain(queries).copied().collect();
    assemble_with(compat_name, compat, options, &of_build, &last)
}

/// Assembles the probes of `lockstep_conformance::parity` in place of the entry kernels.
pub fn assemble_probes(compat_name: &str, compat: &str, options: &Options) -> KernelSource {
    let integrators = Integrator::ALL.into_iter().flat_map(|integrator| plan(integrator).headers);
    let last = each_once(integrators.chain(&BIDIRECTIONAL).chain(&PROBES).copied());
    assemble_with(compat_name, compat, options, &[PROBED], &last)
}

/// The define of programs of probes, which have every sampler.
const PROBED: (&str, bool) = ("LS_PROBES", true);

/// Assembles the kernel of [`crate::canary`]: a few small functions, so that every compiler takes a moment.
pub fn assemble_canary(compat_name: &str, compat: &str, options: &Options) -> KernelSource {
    let of_options = [("LS_FAST", options.fast), ("LS_GROUP_COMPACTION", options.group_compaction)];
    let sizes = format!(
        "#define CANARY_INPUTS {}u\n#define CANARY_OPERATIONS {}u\n",
        canary::INPUT_WORDS,
        canary::OPERATIONS.len()
    );
    let mut files = vec![
        ("options.h".to_owned(), defines(&of_options) + &sizes),
        (compat_name.to_owned(), compat.to_owned()),
    ];
    files.extend(CANARY.map(|(name, text)| (name.to_owned(), text.to_owned())));
    KernelSource::of(files)
}

fn assemble_with(
    compat_name: &str,
    compat: &str,
    options: &Options,
    of_build: &[(&str, bool)],
    last: &[Header],
) -> KernelSource {
    let of_options = [
        ("LS_FAST", options.fast),
        ("LS_GROUP_COMPACTION", options.group_compaction),
        ("LS_WIDE", options.layout == Layout::Bvh8),
        ("LS_INSTANCES", options.features.instances),
        ("LS_SPHERES", options.features.spheres),
        ("LS_ALPHA", options.features.alpha),
        ("LS_LAYERS", options.features.layers),
        ("LS_LAYER_TREE", options.features.layer_tree),
        ("LS_COAT_NORMALS", options.features.coat_normals),
        ("LS_GLASS_LAYERS", options.features.glass_layers),
        ("LS_MEDIA", options.features.media),
        ("LS_PRIORITIES", options.features.priorities),
        ("LS_IRIDESCENCE", options.features.iridescence),
        ("LS_MULTISCATTER", options.features.multiscatter),
        ("LS_FEW_REGISTERS", options.features.shade_in_few_registers()),
        ("LS_SOBOL", options.features.sampler == Sampler::Sobol),
        ("LS_XORWOW", options.features.sampler == Sampler::Xorwow),
    ];
    let mut defines = defines(&of_options) + &defines(of_build);
    defines.push_str(&options.features.contents.defines());
    let integrator = plan(options.features.integrator);
    if let Some(shade) = integrator.shade {
        defines.push_str(&format!("#define LS_SHADE {shade}\n"));
    }
    defines.push_str(integrator.defines);
    if !options.group_compaction {
        defines.push_str(&format!("#define LS_ROUND {ITEMS_IN_TURN}u\n"));
    }
    let mut files = vec![("options.h".to_owned(), defines), (compat_name.to_owned(), compat.to_owned())];
    let traversal: &[Header] = match options.layout {
        Layout::Bvh2 => &BVH2,
        Layout::Bvh8 => &BVH8,
    };
    let samplers: &[Header] = match options.features.sampler {
        _ if of_build.contains(&PROBED) => &SAMPLERS,
        Sampler::Pcg => &[],
        Sampler::Xorwow => &XORWOW,
        Sampler::Sobol => &SOBOL,
    };
    if samplers.contains(&SOBOL[0]) {
        files.push(("sobol_directions.h".to_owned(), sobol_directions()));
    }
    let headers = samplers.iter().chain(&HEADERS).chain(traversal).chain(last);
    let calls_bodies = of_build.contains(&(CALLED_BODIES, true));
    let text = |text: &str| if calls_bodies { called_bodies(text) } else { text.to_owned() };
    files.extend(headers.map(|&(name, header)| (name.to_owned(), text(header))));
    KernelSource::of(files)
}

/// The table of [`sobol::DIRECTIONS`].
fn sobol_directions() -> String {
    let numbers: Vec<String> =
        sobol::DIRECTIONS.iter().flatten().map(|v| v.map(|v| format!("{v:#010x}u")).join(", ")).collect();
    format!(
        "#define SOBOL_GROUPS {}u\nLS_CONSTANT u32 SOBOL_DIRECTIONS[{}] = {{\n{}}};\n",
        sobol::GROUPS,
        numbers.len() * sobol::DIMENSIONS,
        numbers.join(",\n")
    )
}

/// Applies a patch to a source, for mutation tests. A file that this source lacks is skipped.
///
/// # Errors
/// [`Error::Contract`] unless the file contains the text exactly once.
pub fn patched(mut source: KernelSource, edit: &SourcePatch) -> Result<KernelSource> {
    let Some((_, text)) = source.files.iter_mut().find(|(name, _)| name == edit.file) else {
        return Ok(source);
    };
    let found = text.matches(edit.from).count();
    if found != 1 {
        return Err(Error::Contract {
            actor: "the kernels' source".into(),
            message: format!("{} has {:?} {found} times; a patch needs it once", edit.file, edit.from),
        });
    }
    *text = text.replace(edit.from, edit.to);
    Ok(KernelSource::of(source.files))
}

/// A change of the kernels' source, for mutation tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePatch {
    /// The file, such as `kernels/integrators/path.h`.
    pub file: &'static str,
    /// The text to replace, which occurs exactly once.
    pub from: &'static str,
    /// The replacement.
    pub to: &'static str,
}

/// Headers without repetitions, in order.
fn each_once(headers: impl Iterator<Item = Header>) -> Vec<Header> {
    let mut all: Vec<Header> = Vec::new();
    for header in headers {
        if !all.iter().any(|(name, _)| *name == header.0) {
            all.push(header);
        }
    }
    all
}

/// A define for each flag that is on.
fn defines(flags: &[(&str, bool)]) -> String {
    flags.iter().filter(|(_, on)| *on).map(|(name, _)| format!("#define {name} 1\n")).collect()
}

/// Every header with its name, probes included.
pub fn header_texts() -> Vec<Header> {
    let all = SAMPLERS.into_iter().chain(HEADERS).chain(BVH2).chain(BVH8).chain(WAVEFRONT).chain(QUERIES);
    let others = [header!("wavefront/shade_in_place.h"), header!("megakernel.h")];
    let integrators = Integrator::ALL.into_iter().flat_map(|integrator| plan(integrator).headers).copied();
    let own = Integrator::ALL.into_iter().flat_map(|integrator| plan(integrator).kernels_of_its_own).copied();
    let all =
        all.chain(integrators).chain(BIDIRECTIONAL).chain(others).chain(PAIRS).chain(SUB_PATHS).chain(own);
    each_once(all.chain(RECORD_PATHS).chain(RECORD_PAIRS).chain(CANARY).chain(PROBES))
}
