//! The findings of a comparison, for people and as JSON.

use lockstep_reports::metrics::{FLIP_DEFINITION, Metrics, SSIM_DEFINITION, SSIM_GAUSSIAN_DEFINITION};
use serde_json::{Value, json};

use super::ci::Finding;
use super::layer_verdict::LayerVerdict;
use crate::output::json_number;

/// A comparison in a few lines: the verdict with its reason, what is beside it, and, where it is the only
/// one, every metric.
pub(super) fn text(found: &LayerVerdict, tolerance: Option<f64>, with_metrics: bool) -> String {
    let metrics = found.pairs.first().and_then(|pair| pair.metrics.as_ref());
    let verdict = match (found.equal, metrics.is_some_and(|m| m.pixels_differing == 0)) {
        (true, true) if found.is_black() => "both are black; every value is equal".to_owned(),
        (true, true) => "every value is equal".to_owned(),
        (true, false) => format!("equal within the tolerance; {}: {}", found.word(), found.reason),
        (false, _) if tolerance.is_some() => {
            format!("differ by more than the tolerance; {}: {}", found.word(), found.reason)
        }
        (false, _) => format!("{} over {}: {}", found.word(), found.seeds(), found.reason),
    };
    let at = if found.spp > 0 { format!(" at {} spp", found.spp) } else { String::new() };
    let scene = if with_metrics && found.stack.layer.is_empty() {
        String::new()
    } else {
        format!("{}: ", found.scene)
    };
    let mut text = format!("{scene}{} and {}{at}: {verdict}\n", found.names.0, found.names.1);
    for line in beside(found) {
        text.push_str(&format!("  {line}\n"));
    }
    if let (true, Some(m)) = (with_metrics, metrics) {
        let image = &found.stack.a[0].1;
        text.push_str(&format!("{:20}{}x{}\n", "size", image.width(), image.height()));
        for (label, value) in rows(m, image.pixels().len()) {
            text.push_str(&format!("{label:20}{value}\n"));
        }
    }
    text
}

/// Remarks beside the verdict: the layer's own metric, the noise of both sides, the noise floor, outliers, files.
pub(super) fn beside(found: &LayerVerdict) -> Vec<String> {
    let own = found.own_metric_in_words();
    let all =
        [own, found.noise(), found.floor(), found.outliers(), found.files(), found.stack.window.clone()];
    all.into_iter().flatten().collect()
}

/// An image or layer without a counterpart, in a line.
pub(super) fn missing_text(finding: &Finding) -> String {
    format!("{}: {}: not compared: {}\n", finding.scene, finding.pair, finding.reason)
}

/// An image or layer without a counterpart, as a JSON object.
pub(super) fn missing_json(finding: &Finding) -> Value {
    json!({
        "scene": finding.scene, "target": finding.pair, "verdict": finding.word, "reason": finding.reason,
        "equal": false,
    })
}

fn rows(m: &Metrics, pixels: usize) -> Vec<(&'static str, String)> {
    let share = 100.0 * m.pixels_differing as f64 / pixels as f64;
    vec![
        ("pixels that differ", format!("{} ({share:.4} %)", m.pixels_differing)),
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
    ]
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

/// One object with verdict, reason, place and every metric of the first pair.
pub(super) fn to_json(found: &LayerVerdict, tolerance: Option<f64>) -> Value {
    let image = &found.stack.a[0].1;
    let mut object = json!({
        "scene": found.scene, "layer": found.stack.layer, "spp": found.spp,
        "a": found.names.0, "b": found.names.1,
        "seeds": [found.stack.a.len(), found.stack.b.len()],
        "width": image.width(), "height": image.height(),
        "verdict": found.word(), "reason": found.reason,
        "equal": found.equal, "tolerance": tolerance,
        "beside": beside(found),
    });
    let mut add = |more: Value| {
        if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
            object.extend(more);
        }
    };
    if let Some(test) = &found.test {
        let w = &test.worst;
        let (width, height) = test.size;
        let variances = test.noise.variances();
        add(json!({
            "p": json_number(test.p),
            "place": {
                "x": w.x, "y": w.y, "width": w.side.min(width.saturating_sub(w.x)),
                "height": w.side.min(height.saturating_sub(w.y)), "channel": w.channel,
                "relative": json_number(w.relative),
            },
            "probable": test.probable.as_ref().map(|r| r.in_words(&found.names.0, &found.names.1)),
            "noise_variances": variances.map(|(a, b)| [json_number(a), json_number(b)]),
            "pixels_per_independent_pixel": json_number(test.correlation),
            "outliers": test.outliers.iter().map(|o| json!({
                "x": o.x, "y": o.y, "channel": o.channel, "difference": json_number(o.difference),
            })).collect::<Vec<_>>(),
        }));
    }
    if let Some((name, value)) = found.own_metric() {
        add(json!({ "metric": name, "metric_value": json_number(value) }));
    }
    if let Some(m) = found.pairs.first().and_then(|pair| pair.metrics.as_ref()) {
        add(metrics_json(m));
    }
    object
}

fn metrics_json(m: &Metrics) -> Value {
    json!({
        "pixels_differing": m.pixels_differing,
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

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_reports::image_io::LinearImage;
    use lockstep_reports::metrics::compare;

    #[test]
    fn numbers_for_people_are_short_and_keep_their_size() {
        let shown = [0.0, 0.25, 65025.0, 1.0 / 3.0, 4.3e-9, f64::INFINITY].map(short);
        assert_eq!(shown, ["0", "0.25", "65025", "0.333333", "4.30000e-9", "inf"]);
    }

    #[test]
    fn every_metric_is_shown() {
        let flat = |value: f32| LinearImage::from_fn(16, 8, |_, _| [value; 3]);
        let m = compare(&flat(0.0), &flat(1.0)).unwrap();
        let shown: Vec<String> =
            rows(&m, 128).into_iter().map(|(label, value)| format!("{label:20}{value}")).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
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
