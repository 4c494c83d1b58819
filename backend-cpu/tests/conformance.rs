//! The CPU targets pass the conformance suite. `cpu-bvh` is the reference of other backends and has none
//! itself.

lockstep_conformance::conformance_suite! { backend: lockstep_cpu::Cpu }
