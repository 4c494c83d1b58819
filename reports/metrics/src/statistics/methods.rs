//! How a tile is tested.
//!
//! A tile's mean is a sum over many pixels, so it is close to normal where a pixel is not. Two methods
//! estimate how far it may stray:
//!
//! **[`Method::Welch`]** (Jung, Hanika and Dachsbacher 2020, "Detecting Bias in Monte Carlo Renderers using
//! Welch's t-test", Journal of Computer Graphics Techniques 9(2)): used for independent seeds with two or
//! more images a side. Each pixel p has a mean and a variance `s²` over its side's `k` images. The variance
//! of a tile's difference is `v = Σ v_p`, `v_p = s²_A/k_A + s²_B/k_B`, over the square of the number of
//! pixels, with `v² / Σ ((s²_A/k_A)²/(k_A − 1) + (s²_B/k_B)²/(k_B − 1))` degrees of freedom (Satterthwaite
//! 1946). Two images of a side may agree about a pixel by chance, as two that both caught a firefly or both
//! missed an edge do, and then show no variance where there is much; so a tile must be rejected by the test
//! below too.
//!
//! **[`Method::Differences`]**: used for paired seeds, and for one image on either side. Under the null
//! hypothesis the difference of a pixel has the mean 0 whatever the pixel shows, so the pixels of a tile are
//! a sample of differences, and their scatter gives the standard error (`n − 1` degrees of freedom, n pixels
//! times pairs). Where A and B have the same distribution their difference is symmetric about 0, and for such
//! values the t statistic exceeds any bound seldom enough at any n and with tails of any weight (Efron 1969,
//! "Student's t-test under symmetry conditions"): a firefly raises the standard error as much as the
//! difference.
//!
//! Sides whose distributions differ, such as 4 against 1,024 samples per pixel, leave a difference that is
//! skew; then the test holds only as far as a tile's mean is normal.
//!
//! Every tile of every scale with 32 pixels or more is tested in red, green and blue, against the margin of
//! [`super::DecisionRule`], and all p-values are corrected together ([`super::correction`]). Nested tiles and
//! channels depend on each other positively, so the correction is conservative.

use super::tiles::Sums;
use super::welch::{Estimate, Moments};
use crate::image_io::LinearImage;
use serde::{Deserialize, Serialize};

/// Which test a comparison was judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Welch's test on means and variances over each side's images.
    Welch,
    /// Student's test on the pixels' differences.
    Differences,
}

impl Method {
    /// The name that records use.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Welch => "welch",
            Method::Differences => "differences",
        }
    }

    /// The estimates of a tile's mean difference from its sums; a tile rejects only by all of them.
    pub(super) fn estimates(self, sums: &Sums) -> (Estimate, Option<Estimate>) {
        let mean = sums.difference / sums.count;
        let spread = (sums.square - sums.difference * mean).max(0.0);
        let moments = Moments { count: sums.count, mean, variance: spread / (sums.count - 1.0) };
        let welch = Estimate {
            difference: mean,
            standard_error: sums.variance.sqrt() / sums.count,
            freedom: sums.variance * sums.variance / sums.weight,
        };
        (Estimate::paired(moments), (self == Method::Welch).then_some(welch))
    }
}

/// One pixel's contribution under [`Method::Welch`].
pub(super) fn welch_sums(a: &[LinearImage], b: &[LinearImage], pixel: usize, channel: usize) -> Sums {
    let moments = |images: &[LinearImage]| {
        let values = images.iter().map(|i| f64::from(i.pixels()[pixel][channel]));
        let count = images.len() as f64;
        let mean = values.clone().sum::<f64>() / count;
        let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1.0);
        (mean, variance / count, count - 1.0)
    };
    let ((mean_a, va, free_a), (mean_b, vb, free_b)) = (moments(a), moments(b));
    Sums {
        count: 1.0,
        difference: mean_a - mean_b,
        level: 0.5 * (mean_a.abs() + mean_b.abs()),
        square: (mean_a - mean_b) * (mean_a - mean_b),
        variance: va + vb,
        weight: va * va / free_a + vb * vb / free_b,
    }
}

/// One pixel's contribution under [`Method::Differences`]: one value for each pair of images, or, where the
/// sides have different numbers of images, one for the two means.
pub(super) fn difference_sums(a: &[LinearImage], b: &[LinearImage], pixel: usize, channel: usize) -> Sums {
    let value = |image: &LinearImage| f64::from(image.pixels()[pixel][channel]);
    let mut sums = Sums::default();
    let mut add = |a: f64, b: f64| {
        sums.count += 1.0;
        sums.difference += a - b;
        sums.level += 0.5 * (a.abs() + b.abs());
        sums.square += (a - b) * (a - b);
    };
    if a.len() == b.len() {
        a.iter().zip(b).for_each(|(a, b)| add(value(a), value(b)));
    } else {
        let mean = |images: &[LinearImage]| images.iter().map(value).sum::<f64>() / images.len() as f64;
        add(mean(a), mean(b));
    }
    sums
}
