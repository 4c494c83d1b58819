//! The canary of exact mode on a device: [`lockstep_core::math::canary`] as a kernel.

use crate::probe::{Call, ProbeDevice, probe_kernel};
use crate::signatures::Kernel;
use lockstep_core::error::Result;
use lockstep_core::math::canary::{self, OPERATIONS, PROBES};

/// The kernel of [`crate::assemble_canary`].
pub const CANARY: Kernel = probe_kernel("ls_canary", false);

/// Runs the canary on a device with the kernel of [`crate::assemble_canary`] and compares its results with the frozen
/// digests.
///
/// # Errors
/// Any error of the device; [`lockstep_core::Error::Device`] that names the first operation whose bits differ.
pub fn check(device: &mut dyn ProbeDevice, target: &str) -> Result<()> {
    let inputs = canary::inputs();
    let outputs = device.probe(&Call {
        kernel: CANARY,
        scene: None,
        count: PROBES as u32,
        inputs: &inputs,
        output_words: PROBES * OPERATIONS.len(),
    })?;
    canary::check(target, &outputs)
}

/// The targets whose arithmetic this process has checked, so that each is asked once.
#[derive(Debug, Default)]
pub struct CheckedTargets(std::sync::Mutex<std::collections::BTreeSet<String>>);

impl CheckedTargets {
    /// An empty set of checked targets.
    pub const fn new() -> Self {
        Self(std::sync::Mutex::new(std::collections::BTreeSet::new()))
    }

    /// Runs `check` unless it has succeeded for this target.
    ///
    /// # Errors
    /// Those of `check`, which a later call runs again.
    pub fn once(&self, target: &str, check: impl FnOnce() -> Result<()>) -> Result<()> {
        let set = || self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if set().contains(target) {
            return Ok(());
        }
        check()?;
        set().insert(target.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::Error;

    /// Answers as the host does, but for the words that are changed.
    struct Host(fn(usize, u32) -> u32);

    impl ProbeDevice for Host {
        fn probe(&mut self, call: &Call<'_>) -> Result<Vec<u32>> {
            assert_eq!((call.kernel, call.inputs), (CANARY, &canary::inputs()[..]));
            let words = canary::on_host();
            assert_eq!(words.len(), call.output_words);
            Ok(words.into_iter().enumerate().map(|(i, word)| (self.0)(i % OPERATIONS.len(), word)).collect())
        }
    }

    #[test]
    fn a_device_that_answers_otherwise_is_refused_by_the_name_of_the_operation() {
        assert!(check(&mut Host(|_, word| word), "opencl@x").is_ok());
        let error = check(&mut Host(|i, word| word ^ u32::from(i == 6)), "opencl@x").unwrap_err();
        assert!(
            matches!(&error, Error::Device { actor, action, .. } if actor == "opencl@x" && action.ends_with("square root"))
        );
    }

    #[test]
    fn a_target_is_proven_once_and_asked_again_after_a_failure() {
        let checked = CheckedTargets::new();
        let failure = || Err(Error::Contract { actor: "x".into(), message: "no".into() });
        assert!(checked.once("a", failure).is_err() && checked.once("a", failure).is_err());
        assert!(checked.once("a", || Ok(())).is_ok());
        assert!(checked.once("a", failure).is_ok() && checked.once("b", failure).is_err());
    }
}
