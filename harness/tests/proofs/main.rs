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

use lockstep_core::Scene;
use lockstep_scenes::{LoadOptions, load};

/// True when the proofs are to run at their full size.
fn full() -> bool {
    std::env::var("LOCKSTEP_PROOFS").is_ok_and(|v| v == "full")
}

/// A scene, or `None` with the reason printed where its data is absent.
fn scene(spec: &str) -> Option<Scene> {
    match load(spec, &LoadOptions::default()) {
        Ok(loaded) => Some(loaded.scene),
        Err(reason @ lockstep_core::Error::Unavailable { .. }) => {
            println!("skipped: {spec}: {reason}");
            None
        }
        Err(error) => panic!("{spec}: {error}"),
    }
}
