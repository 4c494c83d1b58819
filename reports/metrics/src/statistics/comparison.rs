//! The comparison of two stacks of images.

use super::correlation::Correlation;
use super::fields::{Differences, Values, minus};
use super::margins::Margins;
use super::noise::NoiseFloor;
use super::test_result::{Doubt, TestResult};
use super::tile_tests::{self, Setting};
use super::{Agreement, DecisionRule, Reason, diagnosis, outliers, skewness, structure};
use crate::image_io::LinearImage;
use crate::metrics::Side;

/// How the random numbers of the two sides relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// The i-th image of A and the i-th of B may share random numbers, as two targets of a study under one
    /// seed do, so the sides have equally many images. What they share cancels in their difference. This
    /// holds where they share none as well.
    Paired,
    /// No image shares random numbers with any other. The sides may have different numbers of images: then
    /// their means are compared.
    Independent,
}

/// The verdict on two stacks of images, with the test behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageComparison {
    /// The verdict.
    pub agreement: Agreement,
    /// Reason for the verdict, in one sentence without a full stop.
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
        /// The side without images.
        side: Side,
    },
    /// Paired sides have different numbers of images.
    #[error(
        "cannot compare: {a} images are to be paired with {b}; give equally many, or call the seeds independent"
    )]
    CountsDiffer {
        /// Number of images of A.
        a: usize,
        /// Number of images of B.
        b: usize,
    },
    /// Two images of one side are equal, so that they carry no noise.
    #[error(
        "cannot compare: images {first} and {second} of side {side:?} are equal; render each with a seed of its own"
    )]
    SameImageTwice {
        /// The side with two equal images.
        side: Side,
        /// Position of the first of the two equal images, from 0.
        first: usize,
        /// Position of the second of the two equal images, from 0.
        second: usize,
    },
}

/// Decides whether two renderers make the same image, from one or more images of each.
///
/// The images are linear radiance, all of one scene and size; those of one side are all of one renderer with
/// equally many samples per pixel, each with a seed of its own. The sides may have different numbers of
/// samples, their noise may be correlated between pixels, and values may be rounded or clipped as their files
/// do ([`LinearImage::precision`]). [`super`] has the tests.
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
    compare_named(a, b, pairing, rule, ["A", "B"])
}

/// [`compare_images`] with names for the sides, which the reason uses.
///
/// # Errors
/// [`ComparisonError`] as for [`compare_images`].
pub fn compare_named(
    a: &[LinearImage],
    b: &[LinearImage],
    pairing: Pairing,
    rule: &DecisionRule,
    names: [&str; 2],
) -> Result<ImageComparison, ComparisonError> {
    for (side, images) in [(Side::A, a), (Side::B, b)] {
        if images.is_empty() {
            return Err(ComparisonError::NoImages { side });
        }
    }
    if pairing == Pairing::Paired && a.len() != b.len() {
        return Err(ComparisonError::CountsDiffer { a: a.len(), b: b.len() });
    }
    if let Some(reason) = broken(a, b, names) {
        return Ok(ImageComparison { agreement: Agreement::Broken, reason, test: None });
    }
    if a == b {
        let reason = "every value is equal to the bit".to_owned();
        return Ok(ImageComparison { agreement: Agreement::Identical, reason, test: None });
    }
    check_distinct(a, Side::A)?;
    check_distinct(b, Side::B)?;
    let mut test = run_tests(a, b, rule);
    let mut agreement = agreement(&test, rule);
    if agreement == Agreement::Biased {
        test.probable = diagnosis::reason(a, b, &test, rule);
    } else if test.rejects_if_independent || test.doubt == Some(Doubt::TooFewPixels) {
        // Noise of any correlation is far from another image: nothing that is done to one halves its error.
        test.probable = diagnosis::clear_reason(a, b, test.skewness == 0.0);
        if test.probable.is_some() {
            agreement = Agreement::Biased;
        }
    }
    Ok(ImageComparison { agreement, reason: test.sentence(rule.alpha, names), test: Some(test) })
}

fn agreement(test: &TestResult, rule: &DecisionRule) -> Agreement {
    match test.doubt {
        _ if test.p < rule.alpha => Agreement::Biased,
        Some(_) => Agreement::Inconclusive,
        None => Agreement::WithinNoise,
    }
}

/// The verdict of the tests alone on two stacks of finite images of one size.
pub(super) fn agreement_of_tests(a: &[LinearImage], b: &[LinearImage], rule: &DecisionRule) -> Agreement {
    agreement(&run_tests(a, b, rule), rule)
}

/// Tests two stacks of finite images of one size.
fn run_tests(a: &[LinearImage], b: &[LinearImage], rule: &DecisionRule) -> TestResult {
    let differences = Differences::of(a, b);
    let size = (differences.width, differences.height);
    let residuals = residuals(a, b, &differences);
    let correlation = match (residuals.is_empty(), a.len() == b.len()) {
        _ if rule.independent_pixels => Correlation::none(),
        (true, _) => Correlation::of_differences(&differences.fields, size),
        (false, true) => Correlation::of_residuals(&residuals, size),
        // The side with one image may have the more correlated noise.
        (false, false) => Correlation::of_residuals(&residuals, size)
            .or_more(Correlation::of_differences(&differences.fields, size)),
    };
    let level = |pixel: usize, c: usize| {
        0.5 * (f64::from(a[0].pixels()[pixel][c].abs()) + f64::from(b[0].pixels()[pixel][c].abs()))
    };
    let setting = Setting {
        differences: &differences,
        correlation: &correlation,
        margins: &Margins::of(a, b, rule),
        level: &level,
        skewness: skewness::of(&differences),
        independent_pixels: rule.independent_pixels,
        from_seeds: !residuals.is_empty() && a.len() == b.len(),
    };
    let tiles = tile_tests::run(&setting, rule);
    let structure = structure::run(a, b, &setting);
    let p = structure.iter().map(|s| s.p).fold(tiles.p, f64::min);
    let outliers = outliers::of(&differences.mean(), size);
    let lone = || {
        let outlier = structure::lone_outlier(&outliers, &setting)?;
        Some(Doubt::Outlier { outlier, count: outliers.count })
    };
    let silent = || {
        let (outlier, count) = structure::lone_difference(&setting)?;
        Some(Doubt::Silent { outlier, count })
    };
    TestResult {
        tests: tiles.tests,
        threshold: tiles.threshold,
        p,
        tests_rejected: tiles.rejected,
        tiles: tiles.tiles,
        tiles_rejected: tiles.tiles_rejected,
        worst: tiles.worst,
        deciding: tiles.deciding,
        structure,
        doubt: tiles.doubt.or_else(lone).or_else(silent),
        probable: None,
        rejects_if_independent: tiles.rejects_if_independent,
        correlation: correlation.variance_factor(f64::INFINITY),
        skewness: setting.skewness.pooled,
        clipped: setting.margins.clipped,
        precision: setting.margins.precision,
        outlier_count: outliers.count,
        outliers: outliers.listed,
        noise: NoiseFloor::of(a, b),
        size: (a[0].width(), a[0].height()),
        map: tiles.map,
    }
}

/// Differences without bias, which noise alone makes: of pairs where there are two or more, else of images of
/// one side.
fn residuals(a: &[LinearImage], b: &[LinearImage], differences: &Differences) -> Vec<Values> {
    if a.len() == b.len() {
        return differences.fields.chunks_exact(2).map(|pair| minus(&pair[0], &pair[1])).collect();
    }
    let within = |images: &[LinearImage]| -> Vec<Values> {
        images.chunks_exact(2).map(|p| Differences::of(&p[..1], &p[1..]).mean()).collect()
    };
    [within(a), within(b)].concat()
}

/// The reason why images cannot be compared, if there is one.
fn broken(a: &[LinearImage], b: &[LinearImage], names: [&str; 2]) -> Option<String> {
    let name = |side: Side| names[usize::from(side == Side::B)];
    let size = |image: &LinearImage| (image.width(), image.height());
    let all = || (a.iter().map(|i| (Side::A, i))).chain(b.iter().map(|i| (Side::B, i)));
    let expected = size(&a[0]);
    if let Some((side, image)) = all().find(|(_, image)| size(image) != expected) {
        let (width, height) = size(image);
        return Some(
            format!(
                "an image of {} has {width}×{height} pixels, the first of {} {}×{}",
                name(side),
                names[0],
                expected.0,
                expected.1
            ) + &exchanged(&a[0], image, [names[0], name(side)]),
        );
    }
    if a[0].pixels().is_empty() {
        return Some("the images have no pixels".to_owned());
    }
    let not_finite = |image: &LinearImage| {
        image.pixels().iter().filter(|pixel| pixel.iter().any(|v| !v.is_finite())).count()
    };
    if let Some((side, count)) = all().map(|(side, i)| (side, not_finite(i))).find(|(_, count)| *count > 0) {
        let pixels = if count == 1 { "pixel of an image" } else { "pixels of an image" };
        let verb = if count == 1 { "is" } else { "are" };
        return Some(format!("{count} {pixels} of {} {verb} not finite", name(side)));
    }
    let black = |images: &[LinearImage]| images.iter().all(|i| i.pixels().iter().all(|p| *p == [0.0; 3]));
    match (black(a), black(b)) {
        (true, false) => Some(format!("{} is black and {} is not", names[0], names[1])),
        (false, true) => Some(format!("{} is black and {} is not", names[1], names[0])),
        _ => None,
    }
}

/// The probable reason for another size, where width and height are exchanged.
fn exchanged(a: &LinearImage, b: &LinearImage, [name_a, name_b]: [&str; 2]) -> String {
    if (a.width(), a.height()) != (b.height(), b.width()) {
        return String::new();
    }
    let turn = diagnosis::exchanged(a, b).map(|turn| Reason::Transformed(turn).in_words(name_a, name_b));
    turn.map_or_else(String::new, |words| format!("; probably {words}"))
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
