//! Parameters of the entry kernels: the one declaration that backends check their launches against, and that
//! a test compares with the signatures in the headers.

use crate::records::{BounceCounters, Packed, Pass, SceneConstants};
use lockstep_bvh::Layout;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::path_record::{PairRecord, VertexRecord};
use lockstep_core::scene::{
    AliasEntry, Instance, Layers, Light, Material, Mesh, Sphere, Texture, Triangle, Vertex,
};

/// A type that crosses the boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    /// The name in the kernel dialect.
    pub name: &'static str,
    /// Bytes of one value.
    pub size: usize,
}

const fn of<T>(name: &'static str) -> ArgumentType {
    ArgumentType { name, size: size_of::<T>() }
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// A value, copied at launch.
    Value,
    /// A buffer that the kernel reads.
    Input,
    /// A buffer that the kernel writes, and may read.
    Output,
}

/// One parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name in the signature.
    pub name: &'static str,
    /// The value's or the buffer elements' type.
    pub of: ArgumentType,
    /// Whether the argument is passed by value or as a buffer.
    pub passing: Passing,
}

const fn value(name: &'static str, of: ArgumentType) -> Argument {
    Argument { name, of, passing: Passing::Value }
}

const fn input(name: &'static str, of: ArgumentType) -> Argument {
    Argument { name, of, passing: Passing::Input }
}

const fn output(name: &'static str, of: ArgumentType) -> Argument {
    Argument { name, of, passing: Passing::Output }
}

/// An entry kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name in the source.
    pub name: &'static str,
    /// True when the [`scene`] precedes its own parameters.
    pub takes_scene: bool,
    /// True for BVH traversal, `LS_TRAVERSAL` in the source. Such a kernel is bound by memory latency, and
    /// gains more from many work-items in flight than from many registers.
    pub traverses: bool,
    /// The own parameters in order.
    pub own: &'static [Argument],
}

/// A mismatch between a launch and its kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// More or fewer arguments than parameters.
    #[error("kernel {kernel} takes {expected} arguments, not {given}")]
    Count {
        /// The kernel.
        kernel: &'static str,
        /// Number of parameters of the kernel.
        expected: usize,
        /// Number of arguments of the launch.
        given: usize,
    },
    /// An argument of another size, or a buffer in place of a value.
    #[error("kernel {kernel}: argument {argument} is {expected}, not {given}")]
    Argument {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        argument: &'static str,
        /// The declared type of the parameter.
        expected: String,
        /// The argument given.
        given: String,
    },
}

/// The type of a launch's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenArgument {
    /// A value of this many bytes.
    Value(usize),
    /// A buffer whose elements have this many bytes.
    Buffer(usize),
}

impl Kernel {
    /// All parameters in order.
    pub fn arguments(&self, layout: Layout) -> impl Iterator<Item = &'static Argument> + use<> {
        let scene: &[Argument] = if self.takes_scene { scene(layout) } else { &[] };
        scene.iter().chain(self.own)
    }

    /// Compares a launch with the declaration.
    ///
    /// # Errors
    /// The first [`Mismatch`].
    pub fn check(&self, layout: Layout, given: &[GivenArgument]) -> Result<(), Mismatch> {
        let expected = self.arguments(layout).count();
        if given.len() != expected {
            let given = given.len();
            return Err(Mismatch::Count { kernel: self.name, expected, given });
        }
        for (argument, &given) in self.arguments(layout).zip(given) {
            let expected = match argument.passing {
                Passing::Value => GivenArgument::Value(argument.of.size),
                Passing::Input | Passing::Output => GivenArgument::Buffer(argument.of.size),
            };
            if given != expected {
                return Err(Mismatch::Argument {
                    kernel: self.name,
                    argument: argument.name,
                    expected: describe(expected),
                    given: describe(given),
                });
            }
        }
        Ok(())
    }
}

fn describe(given: GivenArgument) -> String {
    match given {
        GivenArgument::Value(size) => format!("a value of {size} bytes"),
        GivenArgument::Buffer(size) => format!("a buffer of {size}-byte elements"),
    }
}

pub(crate) const U32: ArgumentType = of::<u32>("u32");
const F32: ArgumentType = of::<f32>("float");
const U64: ArgumentType = of::<u64>("u64");
pub(crate) const I64: ArgumentType = of::<i64>("i64");
pub(crate) const PACKED: ArgumentType = of::<Packed>("Packed");
pub(crate) const PHOTON: ArgumentType = of::<[Packed; 3]>("Photon");
pub(crate) const PASS: ArgumentType = of::<Pass>("Pass");
pub(crate) const COUNTERS: ArgumentType = of::<BounceCounters>("BounceCounters");
const ALIAS: ArgumentType = of::<AliasEntry>("AliasEntry");

/// The parameter that receives the [`Pass`] by value.
pub(crate) const PASS_NAME: &str = "pass";
/// The parameter that receives the round by value.
pub(crate) const BOUNCE_NAME: &str = "bounce";

/// Number of parameters of the scene.
pub const SCENE_LEN: usize = 21;

/// The scene, which [`EXTEND`], [`SHADE`] and [`CONNECT`] take first: [`SceneConstants`] by value, then the
/// arrays of [`crate::scene_arrays`] in the same order. Nodes and leaves are those of the layout.
pub fn scene(layout: Layout) -> &'static [Argument; SCENE_LEN] {
    static SCENES: [[Argument; SCENE_LEN]; 2] = [scene_of(Layout::Bvh2), scene_of(Layout::Bvh8)];
    match layout {
        Layout::Bvh2 => &SCENES[0],
        Layout::Bvh8 => &SCENES[1],
    }
}

const fn scene_of(layout: Layout) -> [Argument; SCENE_LEN] {
    let [node, leaf] = layout.sizes();
    [
        value("constants", of::<SceneConstants>("SceneConstants")),
        input("positions", F32),
        input("vertices", of::<Vertex>("Vertex")),
        input("triangles", of::<Triangle>("Triangle")),
        input("spheres", of::<Sphere>("Sphere")),
        input("meshes", of::<Mesh>("Mesh")),
        input("instances", of::<Instance>("Instance")),
        input("materials", of::<Material>("Material")),
        input("textures", of::<Texture>("Texture")),
        input("texels", U32),
        input("srgb_to_linear", F32),
        input("lights", of::<Light>("Light")),
        input("light_alias", ALIAS),
        input("environment_texels", PACKED),
        input("environment_alias", ALIAS),
        input("nodes", ArgumentType { name: "LS_NODE", size: node }),
        input("primitives", ArgumentType { name: "LS_LEAF", size: leaf }),
        input("mesh_roots", U32),
        input("instance_boxes", of::<[Vec3; 2]>("Box")),
        input("layers", of::<Layers>("Layers")),
        input("albedos", U32),
    ]
}

/// Starts every path of the pass, fills the first bounce's queue and sets its length.
pub const GENERATE: Kernel = Kernel {
    name: "ls_generate",
    takes_scene: false,
    traverses: false,
    own: &[
        value("pass", PASS),
        output("path_origin", PACKED),
        output("path_direction", PACKED),
        output("path_throughput", PACKED),
        output("path_radiance", PACKED),
        output("queue", U32),
        output("counters", COUNTERS),
    ],
};

/// Finds the closest hit of every extension ray in the bounce's queue. Slot `i` of the hits belongs to slot
/// `i` of the queue; a hit's instance is the fourth word of `hits`.
pub const EXTEND: Kernel = Kernel {
    name: "ls_extend",
    takes_scene: true,
    traverses: true,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        input("path_origin", PACKED),
        input("path_direction", PACKED),
        input("queue", U32),
        output("hits", PACKED),
        output("hit_primitives", U32),
        output("counters", COUNTERS),
    ],
};

/// [`EXTEND`] for coherent rays, such as camera rays: neighbours mostly visit the same nodes. Affects speed
/// only.
pub const EXTEND_COHERENT: Kernel = Kernel { name: "ls_extend_coherent", ..EXTEND };

/// Shades every hit of the bounce: emission, a shadow ray into the shadow queue, the path into the next
/// bounce's queue. `queue` and `next_queue` must differ; a driver swaps them from bounce to bounce. Runs
/// after [`EXTEND`].
pub const SHADE: Kernel = Kernel {
    name: "ls_shade",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        output("path_origin", PACKED),
        output("path_direction", PACKED),
        output("path_throughput", PACKED),
        output("path_radiance", PACKED),
        input("hits", PACKED),
        input("hit_primitives", U32),
        input("queue", U32),
        output("next_queue", U32),
        output("shadow_origin", PACKED),
        output("shadow_direction", PACKED),
        output("shadow_radiance", PACKED),
        output("counters", COUNTERS),
    ],
};

/// Adds the light of every unoccluded shadow ray of the bounce to its path. Runs after [`SHADE`].
pub const CONNECT: Kernel = Kernel {
    name: "ls_connect",
    takes_scene: true,
    traverses: true,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        input("shadow_origin", PACKED),
        input("shadow_direction", PACKED),
        input("shadow_radiance", PACKED),
        output("path_radiance", PACKED),
        output("counters", COUNTERS),
    ],
};

/// Adds the paths of the pass to the film, three sums a pixel, and counts invalid samples. A work-item owns a
/// pixel.
pub const RESOLVE: Kernel = Kernel {
    name: "ls_resolve",
    takes_scene: false,
    traverses: false,
    own: &[value("pass", PASS), input("path_radiance", PACKED), output("film", I64), output("invalid", U32)],
};

/// Adds the pass's 32-bit counters to the run's 64-bit `totals` ([`crate::totals_len`] of them) and zeroes
/// the counters for the next pass. One work-item; runs last.
pub const TALLY: Kernel = Kernel {
    name: "ls_tally",
    takes_scene: false,
    traverses: false,
    own: &[value("pass", PASS), output("counters", COUNTERS), output("invalid", U32), output("totals", U64)],
};

/// Finds the closest hit of `count` given rays: ray `i` reads and writes slot `i`. Rays may be fetched from
/// the counter `heads[launch]`, zero before. Part of no pass.
pub const TRACE_CLOSEST: Kernel = Kernel {
    name: "ls_trace_closest",
    takes_scene: true,
    traverses: true,
    own: &[
        value("count", U32),
        input("ray_origin", PACKED),
        input("ray_direction", PACKED),
        output("hits", PACKED),
        output("hit_primitives", U32),
        value("launch", U32),
        output("heads", U32),
    ],
};

/// [`TRACE_CLOSEST`] for coherent rays. Affects speed only.
pub const TRACE_COHERENT: Kernel = Kernel { name: "ls_trace_coherent", ..TRACE_CLOSEST };

/// Tests `count` given rays for occlusion: 1 or 0 in slot `i` of `occluded`. `heads[launch]` as in
/// [`TRACE_CLOSEST`]. Part of no pass.
pub const TRACE_ANY: Kernel = Kernel {
    name: "ls_trace_any",
    takes_scene: true,
    traverses: true,
    own: &[
        value("count", U32),
        input("ray_origin", PACKED),
        input("ray_direction", PACKED),
        output("occluded", U32),
        value("launch", U32),
        output("heads", U32),
    ],
};

/// Records all vertices of one path for each of `count` pairs (pixel, sample index) in `requests`:
/// `pass.bounces + 1` records per path, zero before, and the number filled. In a program of its own,
/// [`crate::ProgramKind::RecordPaths`]. It traverses the BVH, but is not built for speed.
pub const RECORD_PATHS: Kernel = Kernel {
    name: "ls_record_paths",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        value("count", U32),
        input("requests", U32),
        output("path_vertices", of::<VertexRecord>("VertexRecord")),
        output("path_lengths", U32),
    ],
};

/// Records all steps of the pair of sub-paths for each of `count` pairs (pixel, sample index) in `requests`:
/// [`PairRecord::most`] records per pair, zero before, and the number filled. In a program of its own,
/// [`crate::ProgramKind::RecordPairs`].
pub const RECORD_PAIRS: Kernel = Kernel {
    name: "ls_record_pairs",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        value("count", U32),
        input("requests", U32),
        output("pair_steps", of::<PairRecord>("PairRecord")),
        output("path_lengths", U32),
    ],
};

/// Runs every path of the pass from its camera ray to its end, in place of [`GENERATE`] and all stages, and
/// counts its rays. It traverses the BVH, but also shades, for which it needs its registers.
pub const MEGAKERNEL: Kernel = Kernel {
    name: "ls_megakernel",
    takes_scene: true,
    traverses: false,
    own: &[value("pass", PASS), output("path_radiance", PACKED), output("counters", COUNTERS)],
};

/// Starts every light sub-path of the pass from which light leaves, fills the first bounce's queue and sets its
/// length; `light_lengths` becomes zero.
pub const GENERATE_LIGHT: Kernel = Kernel {
    name: "ls_generate_light",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        output("path_origin", PACKED),
        output("path_direction", PACKED),
        output("path_throughput", PACKED),
        output("path_weights", PACKED),
        output("queue", U32),
        output("light_lengths", U32),
        output("queue_lengths", U32),
    ],
};

/// Starts every camera sub-path of the pass and fills the first bounce's queue. Runs after all light sub-paths,
/// whose buffers it takes.
pub const GENERATE_CAMERA: Kernel = Kernel {
    name: "ls_generate_camera",
    takes_scene: false,
    traverses: false,
    own: &[
        value("pass", PASS),
        output("path_origin", PACKED),
        output("path_direction", PACKED),
        output("path_throughput", PACKED),
        output("path_weights", PACKED),
        output("queue", U32),
        output("queue_lengths", U32),
    ],
};

/// [`EXTEND`] for light sub-paths.
pub const EXTEND_LIGHT: Kernel = Kernel {
    name: "ls_extend_light",
    takes_scene: true,
    traverses: true,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        input("path_origin", PACKED),
        input("path_direction", PACKED),
        input("queue", U32),
        output("hits", PACKED),
        output("hit_primitives", U32),
        output("queue_lengths", U32),
        output("counters", COUNTERS),
    ],
};

/// [`EXTEND`] for camera sub-paths.
pub const EXTEND_CAMERA: Kernel = Kernel { name: "ls_extend_camera", ..EXTEND_LIGHT };

/// [`EXTEND_CAMERA`] for coherent rays, those from the lens. Affects speed only.
pub const EXTEND_LENS: Kernel = Kernel { name: "ls_extend_lens", ..EXTEND_LIGHT };

/// Stores the vertex of every light sub-path that has hit a surface, `VERTEX_RECORDS` records, or its photon,
/// counting it by bucket, or both, as the integrator needs; connects it to the lens by a shadow ray; and puts the
/// sub-path into the next bounce's queue. Runs after [`EXTEND_LIGHT`].
pub const SHADE_LIGHT: Kernel = Kernel {
    name: "ls_shade_light",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        output("path_origin", PACKED),
        output("path_direction", PACKED),
        output("path_throughput", PACKED),
        output("path_weights", PACKED),
        input("hits", PACKED),
        input("hit_primitives", U32),
        input("queue", U32),
        output("next_queue", U32),
        output("light_vertices", PACKED),
        output("light_lengths", U32),
        output("photons", PHOTON),
        output("bucket_counts", U32),
        output("shadow_origin", PACKED),
        output("shadow_direction", PACKED),
        output("shadow_units", PACKED),
        output("shadow_techniques", U32),
        output("queue_lengths", U32),
    ],
};

/// Adds to the film the light that camera sub-paths hit; samples a light by a shadow ray; stores the vertex and
/// queues it for connections to the light sub-path and for merges; and puts the sub-path into the next bounce's
/// queue. The film is added to by atomics. Runs after [`EXTEND_CAMERA`].
pub const SHADE_CAMERA: Kernel = Kernel {
    name: "ls_shade_camera",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        output("path_origin", PACKED),
        output("path_direction", PACKED),
        output("path_throughput", PACKED),
        output("path_weights", PACKED),
        input("hits", PACKED),
        input("hit_primitives", U32),
        input("queue", U32),
        output("next_queue", U32),
        input("light_lengths", U32),
        output("camera_vertices", PACKED),
        output("join_paths", U32),
        output("join_lights", U32),
        output("merge_queue", U32),
        output("shadow_origin", PACKED),
        output("shadow_direction", PACKED),
        output("shadow_units", PACKED),
        output("shadow_techniques", U32),
        output("film", I64),
        output("invalid", U32),
        output("queue_lengths", U32),
    ],
};

/// Connects vertices of camera and of light sub-paths by shadow rays. Runs after [`SHADE_CAMERA`].
pub const JOIN: Kernel = Kernel {
    name: "ls_join",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        input("light_vertices", PACKED),
        input("camera_vertices", PACKED),
        input("join_paths", U32),
        input("join_lights", U32),
        output("shadow_origin", PACKED),
        output("shadow_direction", PACKED),
        output("shadow_units", PACKED),
        output("shadow_techniques", U32),
        output("queue_lengths", U32),
    ],
};

/// Adds to the film the light of every unoccluded shadow ray of camera sub-paths. Runs after [`JOIN`].
pub const CONNECT_CAMERA: Kernel = Kernel {
    name: "ls_connect_camera",
    takes_scene: true,
    traverses: true,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        input("shadow_origin", PACKED),
        input("shadow_direction", PACKED),
        input("shadow_units", PACKED),
        input("shadow_techniques", U32),
        output("film", I64),
        output("invalid", U32),
        output("queue_lengths", U32),
        output("counters", COUNTERS),
    ],
};

/// [`CONNECT_CAMERA`] for shadow rays to the lens. Runs after [`SHADE_LIGHT`].
pub const CONNECT_LENS: Kernel = Kernel { name: "ls_connect_lens", ..CONNECT_CAMERA };

/// Adds to the film the merges of photons with vertices of camera sub-paths. Runs after [`SHADE_CAMERA`].
pub const MERGE: Kernel = Kernel {
    name: "ls_merge",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        value("bounce", U32),
        input("camera_vertices", PACKED),
        input("merge_queue", U32),
        input("photon_positions", PACKED),
        input("sorted_photons", PHOTON),
        input("bucket_counts", U32),
        input("bucket_ends", U32),
        output("film", I64),
        output("invalid", U32),
        output("queue_lengths", U32),
    ],
};

/// Moves the lengths of the queues of sub-paths to the ray counters and zeroes them. One work-item; runs before
/// [`TALLY`].
pub const COUNT_PAIRS: Kernel = Kernel {
    name: "ls_count_pairs",
    takes_scene: false,
    traverses: false,
    own: &[value("pass", PASS), output("queue_lengths", U32), output("counters", COUNTERS)],
};

/// Traces every light sub-path of the pass, adds its connections to the camera to the film, and stores its
/// vertices or photons as [`SHADE_LIGHT`] does, in place of all stages of light sub-paths, and counts its rays.
pub const LIGHT_PATHS: Kernel = Kernel {
    name: "ls_light_paths",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        output("light_vertices", PACKED),
        output("light_lengths", U32),
        output("photons", PHOTON),
        output("bucket_counts", U32),
        output("film", I64),
        output("invalid", U32),
        output("counters", COUNTERS),
    ],
};

/// Traces every camera sub-path of the pass and adds to the film what it finds, its connections to lights and to
/// the stored light sub-paths, and its merges with photons. Runs after [`LIGHT_PATHS`].
pub const CAMERA_PATHS: Kernel = Kernel {
    name: "ls_camera_paths",
    takes_scene: true,
    traverses: false,
    own: &[
        value("pass", PASS),
        input("light_vertices", PACKED),
        input("light_lengths", U32),
        input("photon_positions", PACKED),
        input("sorted_photons", PHOTON),
        input("bucket_counts", U32),
        input("bucket_ends", U32),
        output("film", I64),
        output("invalid", U32),
        output("counters", COUNTERS),
    ],
};

/// Empties the buckets of the photon map. Runs before [`SHADE_LIGHT`].
pub const CLEAR_BUCKETS: Kernel = Kernel {
    name: "ls_clear_buckets",
    takes_scene: false,
    traverses: false,
    own: &[value("pass", PASS), output("bucket_counts", U32), output("placed", U32)],
};

/// Reserves in every bucket a position for each photon that [`SHADE_LIGHT`] has counted in it. Runs after its last round.
pub const PLACE_BUCKETS: Kernel = Kernel {
    name: "ls_place_buckets",
    takes_scene: false,
    traverses: false,
    own: &[
        value("pass", PASS),
        input("bucket_counts", U32),
        output("bucket_ends", U32),
        output("placed", U32),
    ],
};

/// Copies the photons to their buckets. Runs after [`PLACE_BUCKETS`] and before [`MERGE`].
pub const SORT_PHOTONS: Kernel = Kernel {
    name: "ls_sort_photons",
    takes_scene: false,
    traverses: false,
    own: &[
        value("pass", PASS),
        input("light_lengths", U32),
        input("photons", PHOTON),
        output("bucket_ends", U32),
        output("photon_positions", PACKED),
        output("sorted_photons", PHOTON),
    ],
};

/// Records of one stored vertex of a sub-path.
pub(crate) const VERTEX_RECORDS: usize = 7;

/// Words of the queue lengths of one bounce of pairs of sub-paths.
pub(crate) const PAIR_LENGTHS: usize = 16;

/// Kernels of ray queries.
pub(crate) const QUERIES: [&Kernel; 3] = [&TRACE_CLOSEST, &TRACE_COHERENT, &TRACE_ANY];

/// Entry kernels of a wavefront render.
pub const STAGES: [&Kernel; 7] = [&GENERATE, &EXTEND, &EXTEND_COHERENT, &SHADE, &CONNECT, &RESOLVE, &TALLY];
