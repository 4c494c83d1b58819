//! Runs device functions and their Rust counterparts on the same inputs.

use crate::parity::domain::Stream;
use crate::parity::fixtures::{Fixture, fixtures};
use crate::parity::list::{Function, PROBES, ParityCase};
use crate::parity::mismatch::Mismatch;
use crate::parity::words::{In, Out};
use crate::parity::{constants, group, layout};
use lockstep_bvh::Layout;
use lockstep_core::error::Result;
use lockstep_gpu::probe::{Call, ProbeDevice, probe_kernel};
use lockstep_gpu::{scene_arrays, scene_constants};
use rayon::prelude::*;

/// Items per launch: bounds memory on both sides.
const CHUNK: u32 = 1 << 17;

/// Compares sizes, offsets and constants, and every function of the list over `count` inputs. Returns the
/// functions on which device and host disagree.
///
/// # Errors
/// Any error of the device.
pub fn run(device: &mut dyn ProbeDevice, count: u32) -> Result<Vec<Mismatch>> {
    let mut mismatches = Vec::new();
    mismatches.extend(layout::compare(device)?);
    mismatches.extend(constants::compare(device)?);
    mismatches.extend(group::compare(device, count.min(CHUNK))?);
    let fixtures = fixtures()?;
    for (index, probe) in PROBES.iter().enumerate() {
        let mut tally = Tally::default();
        let mut first = 0;
        while first < count {
            let items = CHUNK.min(count - first);
            // Scenes alternate.
            let fixture = &fixtures[(first / CHUNK) as usize % fixtures.len()];
            compare(device, probe, index as u32, first, items, fixture, &mut tally)?;
            first += items;
        }
        mismatches.extend(tally.mismatch(probe.name));
    }
    Ok(mismatches)
}

#[derive(Default)]
struct Tally {
    items: u64,
    differing: u64,
    first: Option<[Vec<u32>; 3]>,
}

impl Tally {
    fn mismatch(self, probe: &str) -> Option<Mismatch> {
        let (items, differing) = (self.items, self.differing);
        self.first.map(|first| Mismatch { probe: probe.into(), items, differing, first })
    }
}

fn compare(
    device: &mut dyn ProbeDevice,
    probe: &ParityCase,
    index: u32,
    first: u32,
    items: u32,
    fixture: &Fixture,
    tally: &mut Tally,
) -> Result<()> {
    let inputs: Vec<u32> = (first..first + items)
        .into_par_iter()
        .flat_map_iter(|item| {
            let mut words = Vec::with_capacity(probe.input_words());
            let mut stream = Stream::new(index, item);
            for &domain in probe.inputs {
                stream.append(domain, &mut words);
            }
            words
        })
        .collect();
    let (words_in, words_out) = (probe.input_words(), probe.outputs.len());
    let bvh = match device.layout() {
        Layout::Bvh2 => &fixture.binary,
        Layout::Bvh8 => &fixture.wide,
    };
    let arrays = scene_arrays(&fixture.scene, bvh);
    let takes_scene = matches!(probe.function, Function::OfScene(_));
    let found = device.probe(&Call {
        kernel: probe_kernel(probe.kernel, takes_scene),
        scene: takes_scene.then(|| (scene_constants(&fixture.scene, bvh), &arrays[..])),
        count: items,
        inputs: &inputs,
        output_words: items as usize * words_out,
    })?;
    let expected: Vec<u32> = inputs
        .par_chunks(words_in)
        .flat_map_iter(|item| {
            let mut words = Vec::with_capacity(words_out);
            match probe.function {
                Function::OfValues(function) => function(In(item), &mut Out(&mut words)),
                Function::OfScene(function) => function(fixture, In(item), &mut Out(&mut words)),
            }
            words
        })
        .collect();
    tally.items += u64::from(items);
    for (i, item) in inputs.chunks(words_in).enumerate() {
        let range = i * words_out..(i + 1) * words_out;
        let host = &expected[range.clone()];
        let given = found.get(range).unwrap_or_default();
        if !probe.agree(host, given) {
            tally.differing += 1;
            tally.first.get_or_insert_with(|| [item.to_vec(), host.to_vec(), given.to_vec()]);
        }
    }
    Ok(())
}
