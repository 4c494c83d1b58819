//! The canary of exact mode: a thousand probes of the arithmetic that films are made of, whose results have frozen
//! digests.
//!
//! A backend runs it when it opens a target in exact mode, so that a driver or compiler that contracts, approximates
//! or rounds otherwise is refused by the name of the operation before it renders anything. The conformance suite
//! compares far more; this takes milliseconds. Inputs and results are normal numbers: exact films never depend on
//! subnormal ones. The counterpart is `kernels/canary.h`.

use super::rng::{pcg4d, uniform};
use super::{acos, atan2_turns, floor_to_i32, max, min, sin_cos_turns};
use crate::error::{Error, Result};

/// The number of probes.
pub const PROBES: usize = 1024;

/// Input words of a probe: three floats of either sign with magnitudes from 2^-10 to 2^11, and an integer.
pub const INPUT_WORDS: usize = 4;

/// One operation of every probe, which yields one output word.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name in messages.
    pub name: &'static str,
    /// The first 16 hexadecimal digits of BLAKE3 over the results of all probes, as little-endian words.
    pub digest: &'static str,
    /// The operation on the host.
    evaluate: fn([f32; 3], u32) -> u32,
}

const fn operation(
    name: &'static str,
    digest: &'static str,
    evaluate: fn([f32; 3], u32) -> u32,
) -> Operation {
    Operation { name, digest, evaluate }
}

/// The operations, in the order of a probe's output words.
pub const OPERATIONS: [Operation; 18] = [
    operation("addition", "acee0930a581a96f", |[a, b, _], _| (a + b).to_bits()),
    operation("subtraction", "217c245b61114a90", |[a, b, _], _| (a - b).to_bits()),
    operation("multiplication", "2d0b7bd76d43f180", |[a, b, _], _| (a * b).to_bits()),
    operation("multiplication and addition in two roundings", "56c3b5f34fb8e833", |[a, b, c], _| {
        (a * b + c).to_bits()
    }),
    operation("fused multiply-add", "d177ec58684dc1d0", |[a, b, c], _| a.mul_add(b, c).to_bits()),
    operation("division", "65a56ee1a20ef639", |[a, b, _], _| (a / b).to_bits()),
    operation("square root", "0d5e6167cfec23d9", |[a, ..], _| a.abs().sqrt().to_bits()),
    operation("minimum", "3dd3fb35c03d03d8", |[a, b, _], _| min(a, b).to_bits()),
    operation("maximum", "7dc4e9ae2266e9dc", |[a, b, _], _| max(a, b).to_bits()),
    operation("comparison", "520c3a08b637d6a3", |[a, b, _], _| u32::from(a < b) | u32::from(a >= b) << 1),
    operation("conversion to a float", "35c7f6b86a1b5cd2", |_, n| (n as f32).to_bits()),
    operation("conversion to an integer", "8ebbe2f55ed454e7", |[a, ..], _| floor_to_i32(a) as u32),
    operation("64-bit product", "cb51985ea6eeb9f7", |[a, ..], n| {
        ((u64::from(a.to_bits()) * u64::from(n)) >> 32) as u32
    }),
    operation("sine", "54ae7e6770bcf936", |_, n| sin_cos_turns(uniform(n)).0.to_bits()),
    operation("cosine", "2526d451eb134f3e", |_, n| sin_cos_turns(uniform(n)).1.to_bits()),
    operation("arc tangent", "64a013ce08eddb89", |[a, b, _], _| atan2_turns(a, b).to_bits()),
    operation("arc cosine", "93e9e8930d7e4ab1", |_, n| acos(uniform(n) * 2.0 - 1.0).to_bits()),
    operation("random hash", "86be3d6d333cce76", |[a, b, c], n| {
        pcg4d([a.to_bits(), b.to_bits(), c.to_bits(), n])[0]
    }),
];

/// The input words of all probes.
pub fn inputs() -> Vec<u32> {
    let float = |word: u32| word & 0x8000_0000 | (117 + (word >> 23 & 255) % 21) << 23 | word & 0x007f_ffff;
    let probe = |i: u32| {
        let [a, b, c, n] = pcg4d([i, 0x6361_6e61, 0x7279, 0]);
        [float(a), float(b), float(c), n]
    };
    (0..PROBES as u32).flat_map(probe).collect()
}

/// The results of all probes on the host, [`OPERATIONS`] words each.
pub fn on_host() -> Vec<u32> {
    // Not to be evaluated at compile time, by another machine's arithmetic.
    let inputs = std::hint::black_box(inputs());
    let evaluate = |probe: &[u32]| {
        let [a, b, c] = [0, 1, 2].map(|i| f32::from_bits(probe[i]));
        let n = probe[3];
        OPERATIONS.map(|operation| (operation.evaluate)([a, b, c], n))
    };
    inputs.chunks_exact(INPUT_WORDS).flat_map(evaluate).collect()
}

/// Compares the results of a target with the frozen digests.
///
/// # Errors
/// [`Error::Device`] that names the first operation whose results differ.
pub fn check(target: &str, outputs: &[u32]) -> Result<()> {
    let failed = OPERATIONS.iter().enumerate().find(|(i, operation)| digest(outputs, *i) != operation.digest);
    let Some((i, operation)) = failed else { return Ok(()) };
    let ours = column(outputs, i);
    let expected = column(&on_host(), i);
    let differing = (0..PROBES).filter(|&probe| ours.get(probe) != expected.get(probe)).count();
    Err(Error::Device {
        actor: target.into(),
        action: format!("checking exact arithmetic: {}", operation.name),
        reason: format!(
            "{differing} of {PROBES} results have other bits than exact mode promises. The driver, its compiler or \
             the processor's mode contracts, approximates or rounds otherwise; install another version, or render \
             with `--mode fast` where the target has a fast build"
        ),
    })
}

/// [`check`] of the host's own arithmetic, which a library may have changed by flushing subnormal numbers or by
/// another rounding.
///
/// # Errors
/// As [`check`].
pub fn check_host(target: &str) -> Result<()> {
    check(target, &on_host())
}

/// The results of one operation.
fn column(outputs: &[u32], operation: usize) -> Vec<u32> {
    outputs.chunks_exact(OPERATIONS.len()).map(|probe| probe[operation]).collect()
}

fn digest(outputs: &[u32], operation: usize) -> String {
    let words: Vec<u8> = column(outputs, operation).into_iter().flat_map(u32::to_le_bytes).collect();
    blake3::hash(&words).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digests_are_those_of_this_machine() {
        let outputs = on_host();
        let digests: Vec<String> = (0..OPERATIONS.len()).map(|i| digest(&outputs, i)).collect();
        assert_eq!(digests, OPERATIONS.map(|operation| operation.digest.to_owned()));
        check_host("cpu-bvh").unwrap();
    }

    #[test]
    fn inputs_and_results_are_normal_numbers() {
        let outputs = on_host();
        let floats = (0..OPERATIONS.len()).filter(|i| ![9, 11, 12, 17].contains(i));
        let words = floats.flat_map(|i| column(&outputs, i)).chain(
            inputs().chunks_exact(INPUT_WORDS).flat_map(|probe| probe[..3].to_vec()).collect::<Vec<_>>(),
        );
        for value in words.map(f32::from_bits) {
            assert!(value.is_normal() || value == 0.0, "{value:e}");
        }
    }

    #[test]
    fn one_wrong_bit_of_one_probe_names_its_operation() {
        let right = on_host();
        for (i, operation) in OPERATIONS.iter().enumerate() {
            let mut wrong = right.clone();
            wrong[700 * OPERATIONS.len() + i] ^= 1;
            let message = check("opencl@x", &wrong).unwrap_err().to_string();
            let words =
                format!("opencl@x: checking exact arithmetic: {} failed: 1 of 1024 results", operation.name);
            assert!(message.starts_with(&words), "{message}");
        }
        assert!(check("opencl@x", &right[..OPERATIONS.len()]).is_err(), "results that are not there");
        assert!(check("opencl@x", &[]).is_err());
    }

    #[test]
    fn a_contracted_multiply_add_an_approximate_quotient_and_root_are_found() {
        let inputs = inputs();
        let drift = |i: usize, other: fn([f32; 3]) -> f32| {
            let mut outputs = on_host();
            for (probe, x) in inputs.chunks_exact(INPUT_WORDS).enumerate() {
                let x = [x[0], x[1], x[2]].map(f32::from_bits);
                outputs[probe * OPERATIONS.len() + i] = other(x).to_bits();
            }
            check("cuda@0", &outputs).unwrap_err().to_string()
        };
        assert!(drift(3, |[a, b, c]| a.mul_add(b, c)).contains("in two roundings failed"));
        assert!(drift(5, |[a, b, _]| a * (1.0 / b)).contains("division failed"));
        assert!(drift(6, |[a, ..]| a.abs() * (1.0 / a.abs().sqrt())).contains("square root failed"));
    }
}
