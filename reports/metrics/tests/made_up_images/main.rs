//! Metrics and verdicts of made-up images, whose errors are known: what the library's own tests would have to compile a
//! second time.

#![allow(clippy::unwrap_used, reason = "a helper that fails must fail its test")]

mod diagnosis;
mod flip;
mod metrics;
#[path = "../../src/statistics/random_numbers.rs"]
mod random_numbers;
mod ssim_gaussian;
mod verdicts;
