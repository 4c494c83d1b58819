//! The comparison of two stacks of images.

use super::test_result::{TestResult, run_tests};
use super::{Agreement, DecisionRule};
use crate::image_io::LinearImage;
use crate::metrics::Side;

/// How the random numbers of the two sides relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// The i-th image of A and the i-th of B may share random numbers, as two targets of a study under one
    /// seed do, so the sides have equally many images. What they share cancels in their difference, which
    /// makes this by far the sharper test where they do, and it holds where they do not: in doubt, say this.
    Paired,
    /// No image shares random numbers with any other.
    Independent,
}

/// The verdict on two stacks of images, with the test behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageComparison {
    /// The verdict.
    pub agreement: Agreement,
    /// Why, in one sentence without a full stop.
    pub reason: String,
    /// The tests; nothing where images are identical or broken.
    pub test: Option<TestResult>,
}

/// Arguments that cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// A side has no images.
    #[error("cannot compare: side {side:?} has no images; give one or more, each rendered with another seed")]
    NoImages {
        /// The side.
        side: Side,
    },
    /// Paired sides have different numbers of images.
    #[error(
        "cannot compare: {a} images are to be paired with {b}; give equally many, or call the seeds independent"
    )]
    CountsDiffer {
        /// Images of A.
        a: usize,
        /// Images of B.
        b: usize,
    },
    /// Two images of one side are equal, so that they carry no noise.
    #[error(
        "cannot compare: images {first} and {second} of side {side:?} are equal; render each with a seed of its own"
    )]
    SameImageTwice {
        /// The side.
        side: Side,
        /// Position of the one, from 0.
        first: usize,
        /// Position of the other.
        second: usize,
    },
}

/// Judges whether two renderers make the same image, from one or more images of each.
///
/// The images are linear radiance, all of one scene and size; those of one side are all of one renderer with
/// equally many samples per pixel, each with a seed of its own. The sides may have different numbers of
/// samples. Pixels must be independent of each other, as those of a box filter one pixel wide are: a wider
/// reconstruction filter, a denoiser or a sampler that correlates pixels makes tiles look less noisy than
/// they are. [`super::methods`] has the formulas.
///
/// # Errors
/// [`ComparisonError`] when the images given are not two such stacks. Images that are broken are a verdict,
/// not an error.
pub fn compare_images(
    a: &[LinearImage],
    b: &[LinearImage],
    pairing: Pairing,
    rule: &DecisionRule,
) -> Result<ImageComparison, ComparisonError> {
    for (side, images) in [(Side::A, a), (Side::B, b)] {
        if images.is_empty() {
            return Err(ComparisonError::NoImages { side });
        }
    }
    if pairing == Pairing::Paired && a.len() != b.len() {
        return Err(ComparisonError::CountsDiffer { a: a.len(), b: b.len() });
    }
    if let Some(reason) = broken(a, b) {
        return Ok(ImageComparison { agreement: Agreement::Broken, reason, test: None });
    }
    if a == b {
        let reason = "every value is equal to the bit".to_owned();
        return Ok(ImageComparison { agreement: Agreement::Identical, reason, test: None });
    }
    check_distinct(a, Side::A)?;
    check_distinct(b, Side::B)?;
    let test = run_tests(a, b, pairing, rule);
    let agreement = if test.p < rule.alpha { Agreement::Biased } else { Agreement::WithinNoise };
    Ok(ImageComparison { agreement, reason: test.sentence(), test: Some(test) })
}

/// The reason why images cannot be compared, if there is one.
fn broken(a: &[LinearImage], b: &[LinearImage]) -> Option<String> {
    let size = |image: &LinearImage| (image.width(), image.height());
    let all = || (a.iter().map(|i| (Side::A, i))).chain(b.iter().map(|i| (Side::B, i)));
    let expected = size(&a[0]);
    if let Some((side, image)) = all().find(|(_, image)| size(image) != expected) {
        let (width, height) = size(image);
        return Some(format!(
            "an image of side {side:?} has {width}×{height} pixels, the first of A {}×{}",
            expected.0, expected.1
        ));
    }
    if a[0].pixels().is_empty() {
        return Some("the images have no pixels".to_owned());
    }
    let not_finite = |image: &LinearImage| {
        image.pixels().iter().filter(|pixel| pixel.iter().any(|v| !v.is_finite())).count()
    };
    if let Some((side, count)) = all().map(|(side, i)| (side, not_finite(i))).find(|(_, count)| *count > 0) {
        return Some(format!("{count} pixels of an image of side {side:?} are not finite"));
    }
    let black = |images: &[LinearImage]| images.iter().all(|i| i.pixels().iter().all(|p| *p == [0.0; 3]));
    match (black(a), black(b)) {
        (true, false) => Some("side A is black and side B is not".to_owned()),
        (false, true) => Some("side B is black and side A is not".to_owned()),
        _ => None,
    }
}

/// Whether every image of a side differs from the others.
fn check_distinct(images: &[LinearImage], side: Side) -> Result<(), ComparisonError> {
    for (second, image) in images.iter().enumerate() {
        if let Some(first) = images[..second].iter().position(|earlier| earlier == image) {
            return Err(ComparisonError::SameImageTwice { side, first, second });
        }
    }
    Ok(())
}
