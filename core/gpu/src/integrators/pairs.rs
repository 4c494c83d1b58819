//! Launches and buffers of integrators of light and camera sub-paths.

use super::{Buffer, INVALID_SAMPLES, Len, PHOTON_POSITIONS, RAY_COUNTERS, Stage, Step, indices, records};
use crate::signatures::{
    CAMERA_PATHS, CLEAR_BUCKETS, CONNECT_CAMERA, CONNECT_LENS, COUNT_PAIRS, EXTEND_CAMERA, EXTEND_LENS,
    EXTEND_LIGHT, GENERATE_CAMERA, GENERATE_LIGHT, JOIN, LIGHT_PATHS, MERGE, PAIR_LENGTHS, PHOTON,
    PLACE_BUCKETS, SHADE_CAMERA, SHADE_LIGHT, SORT_PHOTONS, TALLY, U32, VERTEX_RECORDS,
};
use lockstep_core::stage;

/// A light phase: every light sub-path to its end.
const LIGHT_ROUNDS: fn(u32) -> u32 = |bounces| bounces;
/// A camera phase, whose last round only adds emission.
const CAMERA_ROUNDS: fn(u32) -> u32 = |bounces| bounces + 1;

const GENERATE_LIGHT_PATHS: Step = Step::Launch(Stage::new(stage::LIGHT_PATHS, &GENERATE_LIGHT));
const EXTEND_LIGHT_PATHS: Stage = Stage::new(stage::LIGHT_PATHS, &EXTEND_LIGHT);
const SHADE_LIGHT_PATHS: Stage = Stage::new(stage::LIGHT_PATHS, &SHADE_LIGHT);
const CONNECT_TO_LENS: Stage = Stage::new(stage::LIGHT_PATHS, &CONNECT_LENS);
const GENERATE_CAMERA_PATHS: Step = Step::Launch(Stage::new(stage::CAMERA_PATHS, &GENERATE_CAMERA));
const EXTEND_CAMERA_PATHS: Stage = Stage::new(stage::CAMERA_PATHS, &EXTEND_CAMERA).first(&EXTEND_LENS);
const EXTEND_FROM_LENS: Stage = Stage::new(stage::CAMERA_PATHS, &EXTEND_LENS);
const SHADE_CAMERA_PATHS: Stage = Stage::new(stage::CAMERA_PATHS, &SHADE_CAMERA);
const JOIN_PATHS: Stage = Stage::new(stage::CAMERA_PATHS, &JOIN).not_in_last_round();
const CONNECT_PATHS: Stage = Stage::new(stage::CAMERA_PATHS, &CONNECT_CAMERA).not_in_last_round();
const MERGE_PHOTONS: Stage = Stage::new(stage::MERGE, &MERGE).not_in_last_round();
const PLACE_PHOTONS: Step = Step::Launch(Stage::new(stage::PHOTON_MAP, &PLACE_BUCKETS));
const SORT_PHOTONS_BY_BUCKET: Step = Step::Launch(Stage::new(stage::PHOTON_MAP, &SORT_PHOTONS));
const COUNT: Step = Step::Launch(Stage::unnamed(&COUNT_PAIRS).single());
const TALLY_ALL: Step = Step::Launch(Stage::unnamed(&TALLY).single());

/// The launches of light tracing.
pub(super) const LIGHT_LAUNCHES: [Step; 6] = [
    GENERATE_LIGHT_PATHS,
    Step::Rounds(&[EXTEND_LIGHT_PATHS, SHADE_LIGHT_PATHS, CONNECT_TO_LENS], LIGHT_ROUNDS),
    GENERATE_CAMERA_PATHS,
    Step::Rounds(&[EXTEND_FROM_LENS, SHADE_CAMERA_PATHS], |_| 1),
    COUNT,
    TALLY_ALL,
];

/// The launches of bidirectional path tracing.
pub(super) const BPT_LAUNCHES: [Step; 6] = [
    GENERATE_LIGHT_PATHS,
    Step::Rounds(&[EXTEND_LIGHT_PATHS, SHADE_LIGHT_PATHS, CONNECT_TO_LENS], LIGHT_ROUNDS),
    GENERATE_CAMERA_PATHS,
    Step::Rounds(&[EXTEND_CAMERA_PATHS, SHADE_CAMERA_PATHS, JOIN_PATHS, CONNECT_PATHS], CAMERA_ROUNDS),
    COUNT,
    TALLY_ALL,
];

/// The launches of a pass of pairs whose photons are merged, without connections.
pub(super) const MERGE_LAUNCHES: [Step; 9] = [
    Step::Launch(Stage::unnamed(&CLEAR_BUCKETS)),
    GENERATE_LIGHT_PATHS,
    Step::Rounds(&[EXTEND_LIGHT_PATHS, SHADE_LIGHT_PATHS], LIGHT_ROUNDS),
    PLACE_PHOTONS,
    SORT_PHOTONS_BY_BUCKET,
    GENERATE_CAMERA_PATHS,
    Step::Rounds(&[EXTEND_CAMERA_PATHS, SHADE_CAMERA_PATHS, MERGE_PHOTONS], CAMERA_ROUNDS),
    COUNT,
    TALLY_ALL,
];

/// The launches of a pass of pairs that are connected and whose photons are merged.
pub(super) const VCM_LAUNCHES: [Step; 9] = [
    Step::Launch(Stage::unnamed(&CLEAR_BUCKETS)),
    GENERATE_LIGHT_PATHS,
    Step::Rounds(&[EXTEND_LIGHT_PATHS, SHADE_LIGHT_PATHS, CONNECT_TO_LENS], LIGHT_ROUNDS),
    PLACE_PHOTONS,
    SORT_PHOTONS_BY_BUCKET,
    GENERATE_CAMERA_PATHS,
    Step::Rounds(
        &[EXTEND_CAMERA_PATHS, SHADE_CAMERA_PATHS, JOIN_PATHS, CONNECT_PATHS, MERGE_PHOTONS],
        CAMERA_ROUNDS,
    ),
    COUNT,
    TALLY_ALL,
];

/// The launches of whole sub-paths.
pub(super) const SUB_PATH_LAUNCHES: [Step; 3] = [
    Step::Launch(Stage::new(stage::LIGHT_PATHS, &LIGHT_PATHS)),
    Step::Launch(Stage::new(stage::CAMERA_PATHS, &CAMERA_PATHS)),
    TALLY_ALL,
];

/// The launches of a pass of whole sub-paths whose photons are merged.
pub(super) const SUB_PATH_MERGE_LAUNCHES: [Step; 6] = [
    Step::Launch(Stage::unnamed(&CLEAR_BUCKETS)),
    Step::Launch(Stage::new(stage::LIGHT_PATHS, &LIGHT_PATHS)),
    PLACE_PHOTONS,
    SORT_PHOTONS_BY_BUCKET,
    Step::Launch(Stage::new(stage::CAMERA_PATHS, &CAMERA_PATHS)),
    TALLY_ALL,
];

/// Vertices of light sub-paths; the last of most bounces is connected to the camera only.
const LIGHT_VERTICES: Buffer = Buffer {
    len: Len::OfPaths(|bounces| VERTEX_RECORDS * bounces.saturating_sub(1) as usize),
    ..records("light_vertices", "vertices of light sub-paths")
};

/// The current vertices of camera sub-paths.
const CAMERA_VERTICES: Buffer = Buffer {
    len: Len::OfPaths(|_| VERTEX_RECORDS),
    ..records("camera_vertices", "vertices of camera sub-paths")
};

/// A number for every connection of a bounce: a camera sub-path has the most at its first vertex.
const fn joins(name: &'static str, what: &'static str) -> Buffer {
    Buffer { len: Len::OfPaths(|bounces| bounces.saturating_sub(1) as usize), ..indices(name, name, what) }
}

/// Shadow rays of a bounce: one a path, or where sub-paths connect, one to a light and to every vertex of the light
/// sub-path.
const fn shadow_rays(name: &'static str, what: &'static str, connects: bool) -> Buffer {
    let of_connections = Len::OfPaths(|bounces| if bounces == 0 { 1 } else { bounces as usize });
    Buffer { len: if connects { of_connections } else { Len::Paths }, ..records(name, what) }
}

/// Lengths of the queues of all bounces.
const LENGTHS: Buffer = Buffer {
    name: "queue_lengths",
    next: "queue_lengths",
    of: U32,
    len: Len::Bounces(|bounces| PAIR_LENGTHS * (bounces as usize + 2)),
    what: "lengths of queues",
};

/// Buffers of pairs of sub-paths, of an integrator that connects them, or merges photons, or both.
pub(super) const fn buffers(connects: bool, merges: bool) -> [Buffer; 27] {
    [
        records("path_origin", "path origins"),
        records("path_direction", "path directions"),
        records("path_throughput", "path throughputs"),
        records("path_weights", "partial weights"),
        records("hits", "hits"),
        indices("hit_primitives", "hit_primitives", "hit primitives"),
        indices("queue", "next_queue", "the path queue"),
        indices("next_queue", "queue", "the next path queue"),
        shadow_rays("shadow_origin", "shadow ray origins", connects),
        shadow_rays("shadow_direction", "shadow ray directions", connects),
        shadow_rays("shadow_units", "film units of shadow rays", connects),
        Buffer { of: U32, ..shadow_rays("shadow_techniques", "techniques of shadow rays", connects) },
        LIGHT_LENGTHS,
        LENGTHS,
        RAY_COUNTERS,
        INVALID_SAMPLES,
        of(LIGHT_VERTICES, connects),
        of(CAMERA_VERTICES, connects || merges),
        of(joins("join_paths", "paths to connect"), connects),
        of(joins("join_lights", "vertices to connect"), connects),
        of(indices("merge_queue", "merge_queue", "the merge queue"), merges),
        of(photons("photons", "photons"), merges),
        of(POSITIONS, merges),
        of(photons("sorted_photons", "the photon map"), merges),
        of(buckets_of("bucket_counts", "counts of photons"), merges),
        of(buckets_of("bucket_ends", "buckets of photons"), merges),
        PLACED,
    ]
}

/// A buffer, or one element in its place where the integrator's kernels take it and do not touch it.
const fn of(buffer: Buffer, needed: bool) -> Buffer {
    if needed { buffer } else { Buffer { len: Len::Bounces(|_| 1), ..buffer } }
}

/// Numbers of vertices of light sub-paths.
const LIGHT_LENGTHS: Buffer = indices("light_lengths", "light_lengths", "lengths of light sub-paths");

const fn photons(name: &'static str, what: &'static str) -> Buffer {
    Buffer { name, next: name, of: PHOTON, len: Len::OfPaths(|bounces| bounces as usize), what }
}

/// Positions and bounces of the photons of the photon map.
const POSITIONS: Buffer = Buffer {
    len: Len::OfPaths(|bounces| bounces as usize),
    ..records(PHOTON_POSITIONS, "positions of photons")
};

const fn buckets_of(name: &'static str, what: &'static str) -> Buffer {
    Buffer { name, next: name, of: U32, len: Len::Buckets, what }
}

/// The number of photons that have room.
const PLACED: Buffer = Buffer {
    name: "placed",
    next: "placed",
    of: U32,
    len: Len::Bounces(|_| 1),
    what: "the number of photons",
};
