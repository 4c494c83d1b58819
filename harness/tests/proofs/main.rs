//! Proofs over whole scenes. CI runs them at a size that fits; in full, with what they measured printed:
//!
//! ```sh
//! LOCKSTEP_PROOFS=full cargo test --release -p lockstep --test proofs -- --nocapture --test-threads 1
//! ```

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests: a panic is their verdict")]

mod bias;
mod convergence;
mod hits;
mod planted;

use lockstep_conformance::require;
use lockstep_core::Scene;
use lockstep_scenes::{LoadOptions, load};

/// True when the proofs are to run at their full size.
fn full() -> bool {
    std::env::var("LOCKSTEP_PROOFS").is_ok_and(|v| v == "full")
}

/// A scene; the test is skipped where its data is absent.
fn scene(spec: &str) -> Option<Scene> {
    let found = match load(spec, &LoadOptions::default()) {
        Ok(loaded) => Ok(loaded.scene),
        Err(absence @ lockstep_core::Error::Unavailable { .. }) => Err(absence),
        Err(error) => panic!("{spec}: {error}"),
    };
    require::present("scenes", found)
}
