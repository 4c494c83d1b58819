//! State of a target after a fault of its device.
//!
//! One test in a process of its own, since it costs the process the device.

#![cfg(feature = "conformance")]

mod support;

use lockstep_conformance::scenes;
use lockstep_core::{Backend, Error, OpenOptions, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu};
use lockstep_cuda::{Cuda, faults};
use support::{open, present};

#[test]
fn a_lost_device_is_an_error_and_then_absent_while_other_targets_go_on() {
    let settings = Settings { width: 32, height: 24, ..Settings::default() };
    let scene = scenes::everything().unwrap();
    for target in present() {
        let refused = faults::exhaust_memory(&target);
        assert!(faults::is_device_error(&refused, "OutOfMemory"), "{target}: {refused:?}");
        // A full memory harms nothing.
        let mut renderer = open(&target).unwrap();
        renderer.load(&scene, &settings).unwrap();
        renderer.accumulate(0..1).unwrap();

        let lost = faults::lose_device(&target);
        assert!(faults::is_device_error(&lost, "IllegalAddress"), "{target}: {lost:?}");
        assert!(matches!(renderer.accumulate(1..2), Err(Error::Device { .. })));
        assert!(matches!(renderer.load(&scene, &settings), Err(Error::Device { .. })));
        assert!(matches!(open(&target), Err(Error::Device { .. })));
        let status = Cuda.targets().into_iter().find(|status| status.name == target).unwrap();
        assert!(status.state.unwrap_err().reason.contains("IllegalAddress"));
        let mut other = Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap();
        other.load(&scene, &settings).unwrap();
        other.accumulate(0..1).unwrap();
    }
}
