//! The verdicts on two images, and the rule that decides.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether two renderers make the same image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Equal to the bit.
    Identical,
    /// Not equal, and nothing differs by more than noise.
    WithinNoise,
    /// Not equal, and these images cannot tell noise from bias; more seeds or samples would.
    Inconclusive,
    /// Some tile, or the structure of the images, differs by more than noise and by more than the margin.
    Biased,
    /// Not comparable: a value that is not finite, no pixels, another size, or black where the other is not.
    Broken,
}

impl Agreement {
    /// The name that records and tables use.
    pub fn as_str(self) -> &'static str {
        match self {
            Agreement::Identical => "identical",
            Agreement::WithinNoise => "within noise",
            Agreement::Inconclusive => "inconclusive",
            Agreement::Biased => "biased",
            Agreement::Broken => "broken",
        }
    }

    /// Whether a port that earned it may pass: identical, or within noise.
    pub fn is_good(self) -> bool {
        self <= Agreement::WithinNoise
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The rule that decides when a difference between two images counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecisionRule {
    /// The probability, above 0 and below 1, with which all tests of one comparison together may call images
    /// biased that are not.
    pub alpha: f64,
    /// The difference of a tile's mean that does not count, relative to the mean of the tile plus a hundredth
    /// of that of the image; 0 or more. Renderers that share random numbers are told apart down to rounding;
    /// this keeps rounding from being called bias.
    pub margin: f64,
    /// Whether the noise of every pixel is known to be independent of its neighbours', as in films of a renderer
    /// with a box filter. Where it is not known, correlation is estimated, and a bias that is correlated itself
    /// is found less often.
    pub independent_pixels: bool,
}

impl Default for DecisionRule {
    fn default() -> Self {
        Self { alpha: 0.001, margin: 1e-4, independent_pixels: false }
    }
}

impl DecisionRule {
    /// The rule for films of Lockstep's own targets, whose pixels share no sample.
    pub fn of_films() -> Self {
        Self { independent_pixels: true, ..Self::default() }
    }

    /// The rule as text, for tables and pages.
    pub fn in_words(&self) -> String {
        format!(
            "Identical: every value equal to the bit. Biased: the mean of a tile, in any channel and at any scale from \
             8×8 pixels to the whole image, differs by more than {} of its value and the rounding of the files, and by so \
             many standard errors beyond that that noise would do it anywhere in the image with a probability below {} \
             (t-tests of all tiles together, corrected by Šidák's formula, for correlation between pixels and for \
             skewness); or the images are shifted, filtered or spotted, by tests of structure within the same \
             probability. Inconclusive: a tile differs, but noise that is correlated over many pixels or has heavy tails \
             on one side, or values clipped at 1, could do that; or single pixels of fewer than three seeds stand out, as \
             fireflies do as well as wrong pixels, or differ where nearly all others are equal. Broken: a value that is not finite, another size, no pixels, or black where the \
             other is not. Within noise: none of these.",
            self.margin, self.alpha
        )
    }
}
