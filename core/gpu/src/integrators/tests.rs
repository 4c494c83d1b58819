use super::{Len, plan};
use crate::ProgramKind;
use lockstep_core::{Integrator, KernelConfig, Structure};

const WAVEFRONT: Structure = Structure::Wavefront;
const STRUCTURES: [Structure; 3] = [Structure::Wavefront, Structure::NoCompaction, Structure::Megakernel];

/// Parameters that the driver binds itself.
const OF_DRIVER: [&str; 4] = ["pass", "bounce", "film", "totals"];

#[test]
fn every_parameter_of_every_stage_is_declared_with_its_type() {
    for integrator in Integrator::ALL {
        let plan = plan(integrator);
        assert_eq!(plan.integrator, integrator);
        for kernel in STRUCTURES.iter().flat_map(|structure| plan.kernels(*structure)) {
            for argument in kernel.own.iter().filter(|a| !OF_DRIVER.contains(&a.name)) {
                for name in [|b: &super::Buffer| b.name, |b: &super::Buffer| b.next] {
                    let bound: Vec<_> = plan.buffers.iter().filter(|b| name(b) == argument.name).collect();
                    assert_eq!(bound.len(), 1, "{integrator}: {} of {}", argument.name, kernel.name);
                    assert_eq!(
                        bound[0].of, argument.of,
                        "{integrator}: {} of {}",
                        argument.name, kernel.name
                    );
                }
            }
        }
    }
}

#[test]
fn every_program_has_the_kernels_that_its_schedule_launches() {
    for integrator in Integrator::ALL {
        for structure in STRUCTURES {
            let program = ProgramKind::of(&KernelConfig { structure, ..KernelConfig::default() }, integrator);
            for kernel in plan(integrator).kernels(structure) {
                assert!(program.kernels().contains(&kernel), "{integrator}, {structure:?}: {}", kernel.name);
            }
        }
    }
}

#[test]
fn path_state_of_a_path_is_eight_records_and_three_indices() {
    let path = plan(Integrator::Path);
    assert_eq!(
        (path.bytes_per_path(WAVEFRONT, 3), path.largest_bytes_per_path(WAVEFRONT, 3)),
        (8 * 16 + 3 * 4, 16)
    );
    assert!(
        path.buffers.iter().any(|b| matches!(b.len, Len::Bounces(len) if len(3) == crate::counters_len(3)))
    );
}

#[test]
fn a_pair_keeps_the_vertices_that_camera_sub_paths_connect_to() {
    // Five records and four indices of a sub-path and its hit; a shadow ray of three records for every connection
    let sub_path = 5 * 16 + 4 * 4;
    assert_eq!(plan(Integrator::Light).bytes_per_path(WAVEFRONT, 9), sub_path + 3 * 16 + 4);
    // At three bounces two vertices of seven records, one of the camera sub-path, two connections and three shadow rays
    let at_three_bounces = sub_path + 2 * 7 * 16 + 7 * 16 + 2 * 2 * 4 + 3 * (3 * 16 + 4);
    assert_eq!(plan(Integrator::Bpt).bytes_per_path(WAVEFRONT, 3), at_three_bounces);
    assert_eq!(plan(Integrator::Bpt).bytes_per_path(WAVEFRONT, 0), sub_path + 7 * 16 + 3 * 16 + 4);
    // Whole sub-paths keep the vertices of the light sub-path, and their number
    assert_eq!(plan(Integrator::Bpt).bytes_per_path(Structure::Megakernel, 3), 2 * 7 * 16 + 4);
    assert_eq!(plan(Integrator::Light).bytes_per_path(Structure::Megakernel, 9), 4);
}

#[test]
fn a_photon_map_keeps_every_vertex_twice_and_its_size_is_known_beforehand() {
    let (vcm, bpm) = (plan(Integrator::Vcm), plan(Integrator::Bpm));
    // At three bounces two vertices of seven records and three photons of three, twice, and their positions, in 1024 buckets
    let paths = 1000;
    let bytes = |plan: &super::Plan, what: &str| -> u64 {
        plan.bytes_of_buffers(WAVEFRONT, paths, 3)
            .iter()
            .filter(|(name, _)| *name == what)
            .map(|(_, bytes)| bytes)
            .sum()
    };
    for plan in [vcm, bpm] {
        for photons in ["photons", "the photon map"] {
            assert_eq!(bytes(plan, photons), 1000 * 3 * 48, "{}, {photons}", plan.integrator);
        }
        assert_eq!(bytes(plan, "positions of photons"), 1000 * 3 * 16);
        assert_eq!(bytes(plan, "counts of photons"), 4 * 1024);
        assert_eq!(bytes(plan, "buckets of photons"), 4 * 1024);
        let whole = plan.bytes_of_photon_map(WAVEFRONT, paths, 3);
        assert_eq!(whole, 1000 * 3 * (2 * 48 + 16) + 2 * 4 * 1024, "{}", plan.integrator);
    }
    assert_eq!(bytes(vcm, "vertices of light sub-paths"), 1000 * 2 * 7 * 16);
    assert_eq!(bytes(bpm, "vertices of light sub-paths"), 16);
}
