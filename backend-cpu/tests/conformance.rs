//! The CPU targets pass the conformance suite. `cpu-bvh` is the reference of all others.

use lockstep_cpu::{BVH_TARGET, Cpu};

lockstep_conformance::conformance_suite! {
    backend: Cpu,
    reference: (Cpu, BVH_TARGET),
}
