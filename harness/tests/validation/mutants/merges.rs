//! Mutants of photon mapping: mistakes of merges, each as a change of the kernels' source.

use super::list::edit;
use lockstep_gpu::SourcePatch;

const PHOTON: &str = "core/gpu/kernels/integrators/bidirectional/photon.h";
const PHOTONS: &str = "core/gpu/kernels/pairs/photons.h";

/// A mistake of merges.
pub(super) struct MergeMutant {
    /// The mistake in words.
    pub(super) name: &'static str,
    /// The edit that makes the mutant.
    pub(super) edit: SourcePatch,
    /// The render that shows it, of [`super::MERGE_STAGES`].
    pub(super) stage: usize,
    /// Whether the mutant shows beyond the noise of the images.
    pub(super) beyond_noise: bool,
}

pub(super) const MERGE_MUTANTS: [MergeMutant; 5] = [
    MergeMutant {
        name: "photons of cells that share a bucket count in the visit of each (SmallVCM's hash grid)",
        edit: edit(
            PHOTONS,
            "\n            && photon_cell_number(cursor->range, merging_merging_cell(merging, photon.v)) == cursor->of_cell",
            "",
        ),
        stage: 0,
        beyond_noise: false,
    },
    MergeMutant {
        name: "flux is not divided by the cosine of its generation (RTProgressivePhotonMapper#1)",
        edit: edit(
            PHOTON,
            "LS_DIV(merging.normalization, vertex_vertex_cosine(camera, photon.from))",
            "merging.normalization",
        ),
        stage: 0,
        beyond_noise: true,
    },
    MergeMutant {
        name: "a photon's density of generation is 12 % too high (RTProgressivePhotonMapper#1)",
        edit: edit(
            PHOTON,
            "photon.throughput = vertex.throughput;",
            "photon.throughput = vec3_scale(vertex.throughput, 0.89f);",
        ),
        stage: 0,
        beyond_noise: true,
    },
    MergeMutant {
        name: "the radius is that of the next pass",
        edit: edit(
            PHOTONS,
            "PhotonCursor cursor = photon_cursor_around(merging, vertex.position);",
            "merging.radius2 *= sqrt(sqrt((float)(key.sample + 1u) / (float)(key.sample + 2u)));\n    \
             PhotonCursor cursor = photon_cursor_around(merging, vertex.position);",
        ),
        stage: 1,
        beyond_noise: true,
    },
    MergeMutant {
        name: "photons are searched in one cell, and not in its neighbours",
        edit: edit(
            PHOTONS,
            "cursor.range = merging_merging_cells_around(merging, position);",
            "cursor.range = merging_merging_cells_around(merging, position);\n    \
             cursor.range.first = cursor.range.last = merging_merging_cell(merging, position);",
        ),
        stage: 0,
        beyond_noise: true,
    },
];
