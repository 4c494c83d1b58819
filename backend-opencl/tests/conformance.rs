//! Every OpenCL target passes the conformance suite, and its films are those of `cpu-bvh` to the bit.

use lockstep_core::{Backend, OpenOptions};
use lockstep_cpu::{BVH_TARGET, Cpu};
use lockstep_opencl::probes::Probes;
use lockstep_scenes::{LoadOptions, load};

lockstep_conformance::conformance_suite! {
    backend: lockstep_opencl::Opencl,
    reference: || Cpu.open(BVH_TARGET, &OpenOptions::default()),
    probes: |target| Ok(Box::new(Probes::build(target)?)),
    scenes: |name| Ok(load(name, &LoadOptions::default())?.scene),
}
