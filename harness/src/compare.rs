//! `lockstep compare`: metrics between two image files, or the report of two folders of images.

mod folders;
mod inventory;
mod matching;
mod verdict;

use std::path::Path;

use lockstep_reports::image_io::{LinearImage, read_image};
use lockstep_reports::metrics::{
    FLIP_DEFINITION, Metrics, SSIM_DEFINITION, SSIM_GAUSSIAN_DEFINITION, compare,
};
use serde_json::{Value, json};

use crate::cli::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::output::{json_number, print, print_json};

/// Compares two files, or with `--out` two files or folders.
///
/// # Errors
/// [`Failure::Usage`] for folders without `--out`, [`Failure::Read`] for a file that is no image,
/// [`Failure::Metric`] for sizes that differ or values that are not finite.
pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    if let Some(out) = &args.out {
        return folders::run(args, out);
    }
    if args.a.is_dir() || args.b.is_dir() {
        return Err(Failure::Usage(
            "folders of images are compared in a report; say where with -o DIR".into(),
        ));
    }
    let (a, b) = (read_image(&args.a)?, read_image(&args.b)?);
    let metrics = compare(&a, &b)?;
    let equal = is_equal(&metrics, args.tolerance);
    if args.json {
        print_json(&to_json(args, &a, &metrics, equal))?;
    } else {
        print(&text((&args.a, &args.b), &a, &metrics, equal))?;
    }
    Ok(if equal { Exit::Fine } else { Exit::Differs })
}

/// Equal in every value, or within the tolerance.
fn is_equal(metrics: &Metrics, tolerance: Option<f64>) -> bool {
    tolerance.map_or(metrics.pixels_differing == 0, |limit| metrics.mse <= limit)
}

fn to_json(args: &CompareArgs, image: &LinearImage, m: &Metrics, equal: bool) -> Value {
    json!({
        "a": args.a.to_string_lossy(), "b": args.b.to_string_lossy(),
        "width": image.width(), "height": image.height(),
        "equal": equal, "tolerance": args.tolerance, "pixels_differing": m.pixels_differing,
        "mse": json_number(m.mse), "rmse": json_number(m.rmse), "psnr": json_number(m.psnr),
        "ssim": json_number(m.ssim), "ssim_definition": SSIM_DEFINITION,
        "mse_linear": json_number(m.mse_linear), "max_abs": json_number(m.max_abs),
        "rmse_linear": json_number(m.float.rmse_linear), "rel_mse": json_number(m.float.rel_mse),
        "mae_linear": json_number(m.float.mae_linear), "psnr_linear": json_number(m.float.psnr_linear),
        "ssim_gaussian": json_number(m.float.ssim_gaussian),
        "ssim_gaussian_definition": SSIM_GAUSSIAN_DEFINITION,
        "flip": json_number(m.float.flip), "flip_hdr": json_number(m.float.flip_hdr),
        "flip_definition": FLIP_DEFINITION,
    })
}

fn text(paths: (&Path, &Path), image: &LinearImage, m: &Metrics, equal: bool) -> String {
    let pixels = image.pixels().len() as f64;
    let rows = [
        (
            "pixels that differ",
            format!("{} ({:.4} %)", m.pixels_differing, 100.0 * m.pixels_differing as f64 / pixels),
        ),
        ("MSE, 8-bit sRGB", short(m.mse)),
        ("RMSE, 8-bit sRGB", short(m.rmse)),
        ("PSNR, 8-bit sRGB", format!("{} dB", short(m.psnr))),
        ("SSIM, 8x8 boxes", short(m.ssim)),
        ("SSIM, Gaussian", ssim_gaussian(m)),
        ("FLIP, LDR", short(m.float.flip)),
        ("FLIP, HDR", short(m.float.flip_hdr)),
        ("MSE, linear", short(m.mse_linear)),
        ("RMSE, linear", short(m.float.rmse_linear)),
        ("relative MSE", short(m.float.rel_mse)),
        ("MAE, linear", short(m.float.mae_linear)),
        ("PSNR, linear", format!("{} dB", short(m.float.psnr_linear))),
        ("largest difference", short(m.max_abs)),
    ];
    let verdict = match (equal, m.pixels_differing) {
        (true, 0) => "every value is equal",
        (true, _) => "equal within the tolerance",
        (false, _) => "they differ",
    };
    let mut text = format!("{} and {}: {verdict}\n", paths.0.display(), paths.1.display());
    text.push_str(&format!("{:20}{}x{}\n", "size", image.width(), image.height()));
    for (label, value) in rows {
        text.push_str(&format!("{label:20}{value}\n"));
    }
    text
}

/// The images may be smaller than the window.
fn ssim_gaussian(m: &Metrics) -> String {
    let value = m.float.ssim_gaussian;
    if value.is_nan() { "none below 11x11 pixels".into() } else { short(value) }
}

/// A number for people; `--json` has every digit.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || !value.is_finite() {
        value.to_string()
    } else if (1e-3..1e6).contains(&magnitude) {
        let digits = format!("{value:.6}");
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.5e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: f32) -> LinearImage {
        LinearImage::from_fn(16, 8, |_, _| [value; 3])
    }

    #[test]
    fn equal_images_are_equal_without_a_tolerance() {
        let m = compare(&flat(0.5), &flat(0.5)).unwrap();
        assert!(is_equal(&m, None) && is_equal(&m, Some(0.0)));
    }

    #[test]
    fn a_difference_below_eight_bits_needs_a_tolerance() {
        let m = compare(&flat(0.5), &flat(0.500_01)).unwrap();
        assert!(!is_equal(&m, None) && is_equal(&m, Some(0.0)));
    }

    #[test]
    fn numbers_for_people_are_short_and_keep_their_size() {
        let shown = [0.0, 0.25, 65025.0, 1.0 / 3.0, 4.3e-9, f64::INFINITY].map(short);
        assert_eq!(shown, ["0", "0.25", "65025", "0.333333", "4.30000e-9", "inf"]);
    }

    #[test]
    fn the_text_shows_every_metric() {
        let m = compare(&flat(0.0), &flat(1.0)).unwrap();
        let shown = text((Path::new("a.exr"), Path::new("b.exr")), &flat(0.0), &m, false);
        insta::assert_snapshot!(shown, @r"
        a.exr and b.exr: they differ
        size                16x8
        pixels that differ  128 (100.0000 %)
        MSE, 8-bit sRGB     65025
        RMSE, 8-bit sRGB    255
        PSNR, 8-bit sRGB    0 dB
        SSIM, 8x8 boxes     9.99900e-5
        SSIM, Gaussian      none below 11x11 pixels
        FLIP, LDR           0.967385
        FLIP, HDR           0.965196
        MSE, linear         1
        RMSE, linear        1
        relative MSE        0.990099
        MAE, linear         1
        PSNR, linear        0 dB
        largest difference  1
        ");
    }
}
