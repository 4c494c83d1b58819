//! Every metric of every comparison in one table: the one to sort and search.

use super::{Cell, Table};
use crate::format::{count, number, similarity};
use crate::labels::{qualifier, varies};
use crate::metrics::{FLIP_DEFINITION, FloatMetrics, SSIM_DEFINITION, SSIM_GAUSSIAN_DEFINITION};
use crate::study::Study;

const COLUMNS: [&str; 15] = [
    "spp",
    "Pixels differing",
    "Max",
    "MSE 8-bit",
    "RMSE 8-bit",
    "PSNR 8-bit",
    "SSIM 8×8",
    "MSE linear",
    "RMSE linear",
    "relMSE",
    "MAE linear",
    "PSNR linear",
    "SSIM Gaussian",
    "FLIP",
    "HDR-FLIP",
];

/// A column for each metric, a row for each pair, level and seed.
pub fn all_metrics_table(study: &Study) -> Table {
    let mut table =
        Table::new("difference-all", "Every metric between targets", &["Scene", "Pair"], &COLUMNS);
    table.notes = definitions();
    let many_seeds = varies(study.differences.iter().map(|d| d.seed));
    for d in &study.differences {
        let pair = format!("{} : {}{}", d.a, d.b, qualifier(d.mode, &[&d.a, &d.b], d.seed, many_seeds));
        let of = |get: fn(&FloatMetrics) -> f64| d.float.as_ref().map(get);
        let mut row = vec![Cell::text(&d.scene), Cell::text(pair), Cell::spp(d.spp)];
        row.push(Cell { text: count(d.pixels_differing), value: d.pixels_differing.into() });
        row.extend([d.max_abs, d.errors.mse, d.errors.rmse, d.errors.psnr].map(|v| shown(Some(v))));
        row.push(Cell::number(d.errors.ssim, similarity(d.errors.ssim)));
        row.push(shown(Some(d.errors.mse_linear)));
        row.extend(
            [of(|m| m.rmse_linear), of(|m| m.rel_mse), of(|m| m.mae_linear), of(|m| m.psnr_linear)]
                .map(shown),
        );
        row.push(of(|m| m.ssim_gaussian).map_or_else(Cell::empty, |v| Cell::number(v, similarity(v))));
        row.extend([of(|m| m.flip), of(|m| m.flip_hdr)].map(shown));
        table.rows.push(row);
    }
    table
}

fn shown(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::empty, |v| Cell::number(v, number(v)))
}

/// Formula, range and window of each metric.
fn definitions() -> Vec<String> {
    let pointwise = "Over 8-bit sRGB values A, B: MSE is the mean of (A − B)², 0 to 65025; RMSE its square root, 0 to 255; PSNR \
         10 log₁₀(255² / MSE) dB, infinite when equal. Over linear values a, b: MSE, RMSE and MAE are means of (a − b)², its \
         root, and of |a − b|, 0 and up; relMSE is the mean of (a − b)² / (b² + 0.01), 0 and up; PSNR is \
         10 log₁₀(1 / MSE) dB; Max is the greatest |a − b|. b is the second of the pair.";
    let ssim = "SSIM is −1 to 1, and 1 when equal.";
    [pointwise, ssim, SSIM_DEFINITION, SSIM_GAUSSIAN_DEFINITION, FLIP_DEFINITION].map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
    use crate::records::{Difference, Environment};

    #[test]
    fn every_comparison_has_a_row_and_every_metric_a_definition() {
        let new = Difference::new("s", (&"x".into(), &"y".into()), 4, 0, &Metrics::EQUAL, true);
        let old = Difference { spp: 8, float: None, ..new.clone() };
        let study = Study::from_records(vec![new.into(), old.into()], Environment::default());
        let table = all_metrics_table(&study);
        assert_eq!(table.rows.len(), 2);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        assert_eq!((table.rows[0][16].text.as_str(), table.rows[1][16].text.as_str()), ("0", ""));
        let notes = table.notes.join(" ");
        for metric in ["MSE", "RMSE", "MAE", "relMSE", "PSNR", "Max", "8×8", "11×11", "FLIP"] {
            assert!(notes.contains(metric), "{metric}");
        }
    }
}
