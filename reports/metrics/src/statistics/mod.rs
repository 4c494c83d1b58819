//! Telling bias from noise.
//!
//! [`compare_images()`] takes one or more images of each of two renderers. Its verdict is `identical`,
//! `within noise`, `inconclusive`, `biased` or `broken`, with the test behind it:
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
//! - [`p_value_map`] shows where images part.
//! - [`fit_bias`] separates noise from bias over a schedule of spp levels.
//! - [`timing`] tells a change of speed from the noise of timing.
//!
//! # The tests
//!
//! **Means of tiles.** Under the null hypothesis the difference of a pixel has the mean 0 whatever the pixel
//! shows, so the pixels of a tile are a sample of differences, and their scatter gives the standard error of
//! its mean (Student's t). Where A and B have the same distribution their difference is symmetric about 0, and
//! for such values the t statistic exceeds any bound seldom enough at any n and with tails of any weight (Efron
//! 1969, "Student's t-test under symmetry conditions"): a firefly raises the standard error as much as the
//! difference. This needs neither independent seeds nor several: with equally many images of both sides the
//! differences of all pairs are values of the tile, else those of the sides' means. Two things are put right:
//! noise that is correlated between pixels, and sides whose noise differs, which makes the difference skew.
//!
//! **Structure.** Shifts, other filters and small spots keep the means of tiles. They have tests of their own.
//!
//! Every tile of every scale with 32 values or more is tested in red, green and blue, against a margin that
//! holds the rule's, the rounding of files and what clipping takes. All p-values are corrected together
//! ([`correction`]), and each family of tests has its share of α. Nested tiles and channels depend on each
//! other positively, so the correction is conservative.

mod comparison;
mod convergence;
pub mod correction;
mod correlation;
mod diagnosis;
mod family;
mod fields;
mod fit;
mod map;
mod margins;
mod noise;
mod outliers;
#[cfg(test)]
mod random_numbers;
mod rule;
mod skewness;
mod structure;
pub mod student;
mod test_result;
mod tile_tests;
mod tiles;
pub mod timing;

pub use comparison::{ComparisonError, ImageComparison, Pairing, compare_images, compare_named};
pub use convergence::{FitError, SlopeFit, fit_log_log_slope};
pub use diagnosis::{Reason, Transform};
pub use family::Family;
pub use fit::{BiasFit, BiasFitError, fit_bias};
pub use map::{ALMOST, P_COLOURS, p_value_map, tile_threshold};
pub use noise::{NoiseFloor, Noisier};
pub use outliers::Outlier;
pub use rule::{Agreement, DecisionRule};
pub use test_result::{Doubt, Region, StructureTest, TestResult};
pub use tiles::TILE;
