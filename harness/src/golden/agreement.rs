//! The agreement of an image with its golden: identity where it is promised, statistics elsewhere.

use lockstep_core::Film;
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::metrics::compare;
use lockstep_reports::statistics::{DecisionRule, Pairing, compare_images};

use super::store::Golden;
use super::tolerance;
use super::verdict::Verdict;
use crate::backends::Target;
use crate::exit::Failure;

/// Compares the image of a target with its golden. A target that promises identity must keep it. Another must
/// agree within noise, by [`DecisionRule`] for images of one seed, and stay within its row of the tolerance table
/// where it has one.
///
/// # Errors
/// [`Failure::Metric`] and [`Failure::Input`] for images that cannot be compared.
pub(super) fn agreement(
    target: &Target,
    scene: &str,
    golden: &Golden,
    film: &Film,
    image: &LinearImage,
) -> Result<Verdict, Failure> {
    if !film.invalid.is_zero() {
        return Ok(Verdict::InvalidSamples);
    }
    if same_bits(image, &golden.image) {
        return Ok(Verdict::Identical);
    }
    let metrics = Box::new(compare(image, &golden.image)?);
    if target.is_exact() {
        return Ok(Verdict::Differs(metrics, "the target promises identity".into()));
    }
    let (images, goldens) = (std::slice::from_ref(image), std::slice::from_ref(&golden.image));
    let found = compare_images(images, goldens, Pairing::Paired, &DecisionRule::of_films())
        .map_err(|e| Failure::Input(format!("{scene} on {}: {e}", target.id)))?;
    if !found.agreement.is_good() {
        return Ok(Verdict::Differs(metrics, format!("{}: {}", found.agreement, found.reason)));
    }
    let share = metrics.pixels_differing as f64 / image.pixels().len() as f64;
    Ok(match tolerance::of(&target.id, false) {
        Some(t) if share > t.share || metrics.mse > t.mse => {
            let limits = format!("its tolerance is {} of the pixels and an 8-bit MSE of {}", t.share, t.mse);
            Verdict::Differs(metrics, limits)
        }
        Some(t) => Verdict::Tolerated(metrics, t.reason.to_owned()),
        None => Verdict::Tolerated(metrics, format!("{}, {}", found.agreement, found.reason)),
    })
}

/// Equal in every bit: of two exact films' means that is the same as equal integers, up to the mean's
/// rounding.
fn same_bits(a: &LinearImage, b: &LinearImage) -> bool {
    let bits = |image: &LinearImage| bytemuck::cast_slice::<_, u32>(image.pixels()).to_vec();
    (a.width(), a.height()) == (b.width(), b.height()) && bits(a) == bits(b)
}
