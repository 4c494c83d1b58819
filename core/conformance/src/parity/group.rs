//! Local memory, barriers and atomics, whose results depend on the launch.

use crate::parity::mismatch::Mismatch;
use lockstep_core::error::Result;
use lockstep_gpu::probe::{Call, ProbeDevice, probe_kernel};

/// Every work-item of a group sees the value that its first one wrote, and no two draw the same ticket.
pub(super) fn compare(device: &mut dyn ProbeDevice, count: u32) -> Result<Option<Mismatch>> {
    let inputs: Vec<u32> = (0..count).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let found = device.probe(&Call {
        kernel: probe_kernel("ls_probe_word_group", false),
        scene: None,
        count,
        inputs: &inputs,
        output_words: 2 * count as usize + 1,
    })?;
    let mut taken = vec![false; count as usize];
    let mut tally: (u64, Option<[Vec<u32>; 3]>) = (0, None);
    for (i, (input, pair)) in inputs.iter().zip(found.chunks(2)).enumerate() {
        let sum = (i as u32).wrapping_add(*input);
        let fresh =
            pair.get(1).and_then(|&t| taken.get_mut(t as usize)).is_some_and(|t| !std::mem::replace(t, true));
        if pair.first() != Some(&sum) || !fresh {
            tally.0 += 1;
            tally.1.get_or_insert_with(|| [vec![i as u32, *input], vec![sum], pair.to_vec()]);
        }
    }
    let (differing, first) = tally;
    Ok(first.map(|first| Mismatch { probe: "word_group".into(), items: u64::from(count), differing, first }))
}
