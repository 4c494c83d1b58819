//! Disagreements between device and host.

use lockstep_core::error::Result;
use lockstep_gpu::probe::{Call, ProbeDevice, probe_kernel};

/// A function on which device and host disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the function's entry in the parity list.
    pub probe: String,
    /// Items compared.
    pub items: u64,
    /// Items that differ.
    pub differing: u64,
    /// The first differing item: its input words, the host's result, the device's.
    pub first: [Vec<u32>; 3],
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [inputs, host, device] = &self.first;
        write!(
            f,
            "{}: {} of {} items differ, first for {inputs:08x?}: host {host:08x?}, device {device:08x?}",
            self.probe, self.differing, self.items
        )
    }
}

/// Compares the words of a probe without items.
pub(super) fn compare_words(
    device: &mut dyn ProbeDevice,
    name: &str,
    kernel: &'static str,
    expected: &[u32],
) -> Result<Option<Mismatch>> {
    let found = device.probe(&Call {
        kernel: probe_kernel(kernel, false),
        scene: None,
        count: 1,
        inputs: &[0],
        output_words: expected.len(),
    })?;
    let differs = |i: &usize| found.get(*i) != Some(&expected[*i]);
    let differing: Vec<usize> = (0..expected.len()).filter(differs).collect();
    Ok(differing.first().map(|&i| Mismatch {
        probe: name.into(),
        items: expected.len() as u64,
        differing: differing.len() as u64,
        first: [vec![i as u32], vec![expected[i]], found.get(i).copied().into_iter().collect()],
    }))
}
