//! Validation over whole scenes. CI runs the tests at a size that fits; in full, with what they measured printed:
//!
//! ```sh
//! LOCKSTEP_VALIDATION=full cargo test --release -p lockstep --test validation -- --nocapture --test-threads 1
//! ```

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests: a panic is their verdict")]

mod bias;
mod caustics;
mod convergence;
mod hits;
mod merges;
mod mutants;
mod partitions;
mod techniques;
mod tiles;

use lockstep_conformance::require;
use lockstep_core::Scene;
use lockstep_scenes::{LoadOptions, load};

/// True when the tests are to run at their full size.
fn full() -> bool {
    std::env::var("LOCKSTEP_VALIDATION").is_ok_and(|v| v == "full")
}

/// A scene; the test is skipped where its data is absent.
fn scene(spec: &str) -> Option<Scene> {
    let found = match load(spec, &LoadOptions::default()) {
        Ok(loaded) => Ok(loaded.scene),
        Err(unavailable @ lockstep_core::Error::Unavailable { .. }) => Err(unavailable),
        Err(error) => panic!("{spec}: {error}"),
    };
    require::present("scenes", found)
}
