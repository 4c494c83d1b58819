//! Telling bias from noise.
//!
//! [`compare_images()`] takes one or more images of each of two renderers. Its verdict is `identical`,
//! `within noise`, `biased` or `broken`, with the test behind it:
//!
//! ```
//! use lockstep_metrics::image_io::LinearImage;
//! use lockstep_metrics::statistics::{Agreement, DecisionRule, Pairing, compare_images};
//!
//! let a = LinearImage::from_fn(64, 64, |x, y| [0.5 + 0.001 * ((x * 7 + y * 13) % 11) as f32; 3]);
//! let b = LinearImage::from_fn(64, 64, |x, y| a.pixels()[(y * 64 + x) as usize].map(|v| v * 1.01));
//! let found = compare_images(&[a], &[b], Pairing::Paired, &DecisionRule::default())?;
//! assert_eq!(found.agreement, Agreement::Biased);
//! println!("{}: {}", found.agreement, found.reason);
//! # Ok::<(), lockstep_metrics::statistics::ComparisonError>(())
//! ```
//!
//! - [`DecisionRule`] decides when a difference counts, and prints itself.
//! - [`methods`] are the tests, with their formulas and assumptions; [`welch`], [`student`] and
//!   [`correction`] what they are made of.
//! - [`p_value_map`] shows where images part.
//! - [`fit_bias`] separates noise from bias over a schedule of spp levels.
//! - [`timing`] tells a change of speed from the noise of timing.

mod comparison;
mod convergence;
pub mod correction;
mod fit;
mod map;
pub mod methods;
mod noise;
mod rule;
pub mod student;
mod test_result;
#[cfg(test)]
mod tests;
mod tiles;
pub mod timing;
pub mod welch;

pub use comparison::{ComparisonError, ImageComparison, Pairing, compare_images};
pub use convergence::{FitError, SlopeFit, fit_log_log_slope};
pub use fit::{BiasFit, BiasFitError, fit_bias};
pub use map::p_value_map;
pub use methods::Method;
pub use noise::NoiseFloor;
pub use rule::{Agreement, DecisionRule};
pub use test_result::{Region, TestResult};
pub use tiles::TILE;
