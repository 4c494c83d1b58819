//! The metrics in floating point that have tables of their own.

use super::Cell;
use crate::format::{number, similarity};
use crate::metrics::{FLIP_DEFINITION, FloatMetrics, SSIM_GAUSSIAN_DEFINITION};

/// A metric in floating point that has tables of its own.
pub(super) struct FloatMetric {
    pub(super) difference_id: &'static str,
    pub(super) convergence_id: &'static str,
    pub(super) title: &'static str,
    pub(super) definition: &'static str,
    value: fn(&FloatMetrics) -> f64,
    shown: fn(f64) -> String,
}

/// Every one, in the order of the report.
pub(super) const FLOAT_METRICS: &[FloatMetric] = &[
    FloatMetric {
        difference_id: "difference-rel-mse",
        convergence_id: "convergence-rel-mse",
        title: "Relative MSE",
        definition: "Mean of (a − b)² / (b² + 0.01) over linear radiance, 0 and up; b is the second image.",
        value: |m| m.rel_mse,
        shown: number,
    },
    FloatMetric {
        difference_id: "difference-ssim-gaussian",
        convergence_id: "convergence-ssim-gaussian",
        title: "SSIM, Gaussian window",
        definition: SSIM_GAUSSIAN_DEFINITION,
        value: |m| m.ssim_gaussian,
        shown: similarity,
    },
    FloatMetric {
        difference_id: "difference-flip",
        convergence_id: "convergence-flip",
        title: "LDR-FLIP",
        definition: FLIP_DEFINITION,
        value: |m| m.flip,
        shown: number,
    },
    FloatMetric {
        difference_id: "difference-flip-hdr",
        convergence_id: "convergence-flip-hdr",
        title: "HDR-FLIP",
        definition: FLIP_DEFINITION,
        value: |m| m.flip_hdr,
        shown: number,
    },
];

impl FloatMetric {
    /// Empty for records that do not have the metric.
    pub(super) fn cell(&self, metrics: Option<&FloatMetrics>) -> Cell {
        metrics.map_or_else(Cell::empty, |m| Cell::number((self.value)(m), (self.shown)((self.value)(m))))
    }
}
