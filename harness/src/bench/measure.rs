//! Timing of ray sets on targets, interleaved.

use super::clocks::clocks_now;
use super::rays::{Kind, RaySet};
use crate::exit::Failure;
use lockstep_core::Query;
use lockstep_core::Renderer;
use lockstep_core::TargetId;
use lockstep_core::geometry::Hit;
use serde::Serialize;

/// An open target with the scene loaded.
pub(crate) struct Runner {
    /// The target.
    pub(crate) id: TargetId,
    /// The renderer.
    pub(crate) renderer: Box<dyn Renderer>,
}

/// One measurement: a target, a ray set and a query.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) scene: String,
    /// Triangles over all instances.
    pub(crate) triangles: u64,
    pub(crate) kind: Kind,
    pub(crate) query: Query,
    pub(crate) rays: usize,
    /// BLAKE3 of the rays.
    pub(crate) rays_hash: String,
    pub(crate) target: String,
    pub(crate) layout: String,
    /// Median over all timed passes, in millions of rays a second of device time.
    pub(crate) mrays: f64,
    /// First and third quartile of the rate over all timed passes, in millions of rays a second of device time.
    pub(crate) quartiles: [f64; 2],
    /// Millions of rays a second of processor time, for targets that run on the processor.
    pub(crate) mrays_per_core: Option<f64>,
    /// Timed passes.
    pub(crate) passes: usize,
    /// Rays that hit.
    pub(crate) hits: usize,
    /// BLAKE3 of all hits.
    pub(crate) hits_hash: String,
    /// Whether the target promises the same hits as every other such target.
    pub(crate) exact: bool,
    /// Rays whose answer differs from the first exact target's.
    pub(crate) differing: Option<usize>,
    /// Clocks right after the last pass.
    pub(crate) clocks: String,
}

impl Row {
    /// Whether both rows are of one query of one set of rays.
    pub(crate) fn is_same_work(&self, other: &Self) -> bool {
        (&self.scene, self.query, &self.rays_hash) == (&other.scene, other.query, &other.rays_hash)
    }

    /// The row's rate over another for equal work: by processor time, which a busy machine does not change, where both have
    /// it.
    pub(crate) fn over(&self, mrays: f64, mrays_per_core: Option<f64>) -> f64 {
        match (self.mrays_per_core, mrays_per_core) {
            (Some(ours), Some(theirs)) => ours / theirs,
            _ => self.mrays / mrays,
        }
    }
}

/// How often to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeats {
    /// Rounds over all targets.
    pub(crate) rounds: u32,
    /// Passes over the rays in a round.
    pub(crate) passes: u32,
}

/// Times one query of one set on every target, round by round, so that a change in the machine's mood meets
/// all alike. The round before the first is not timed; it gives the hits.
///
/// # Errors
/// [`Failure::Core`] of the renderer.
pub(crate) fn measure(
    scene: &lockstep_core::Scene,
    set: &RaySet,
    query: Query,
    runners: &mut [Runner],
    repeats: Repeats,
) -> Result<Vec<Row>, Failure> {
    let mut times: Vec<Times> = Vec::new();
    let mut first_exact: Option<Vec<Hit>> = None;
    let mut rows = Vec::new();
    for runner in runners.iter_mut() {
        let mut hits = Vec::new();
        let report = runner.renderer.trace_rays(&set.rays, query, 1, Some(&mut hits))?;
        let info = runner.renderer.device();
        let differing = first_exact.as_ref().map(|expected| differing(expected, &hits));
        rows.push(Row {
            scene: scene.name.clone(),
            triangles: scene.instanced_triangles(),
            kind: set.kind,
            query,
            rays: set.rays.len(),
            rays_hash: set.hash.clone(),
            target: runner.id.to_string(),
            layout: report.layout,
            mrays: 0.0,
            quartiles: [0.0; 2],
            mrays_per_core: None,
            passes: 0,
            hits: hits.iter().filter(|hit| hit.is_some()).count(),
            hits_hash: blake3::hash(bytemuck::cast_slice(&hits)).to_hex().to_string(),
            exact: info.exact,
            differing,
            clocks: String::new(),
        });
        if first_exact.is_none() && info.exact {
            first_exact = Some(hits);
        }
        times.push(Times::default());
    }
    for _ in 0..repeats.rounds {
        for ((runner, times), row) in runners.iter_mut().zip(&mut times).zip(&mut rows) {
            let report = runner.renderer.trace_rays(&set.rays, query, repeats.passes, None)?;
            times.wall.extend(report.ms);
            times.busy.extend(report.busy_ms);
            row.clocks = clocks_now(runner.renderer.device());
        }
    }
    for (row, times) in rows.iter_mut().zip(times) {
        times.fill(row);
    }
    Ok(rows)
}

fn differing(expected: &[Hit], found: &[Hit]) -> usize {
    let bits = |hit: &Hit| [hit.t.to_bits(), hit.u.to_bits(), hit.v.to_bits(), hit.instance, hit.primitive];
    expected.iter().zip(found).filter(|(a, b)| bits(a) != bits(b)).count()
}

/// Milliseconds of each pass.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    busy: Vec<f64>,
}

impl Times {
    fn fill(mut self, row: &mut Row) {
        let rate = |ms: f64| row.rays as f64 / ms * 1e-3;
        row.passes = self.wall.len();
        row.mrays = rate(quantile(&mut self.wall, 0.5));
        row.quartiles = [rate(quantile(&mut self.wall, 0.75)), rate(quantile(&mut self.wall, 0.25))];
        row.mrays_per_core = (!self.busy.is_empty()).then(|| rate(quantile(&mut self.busy, 0.5)));
    }
}

/// The value below which a share of the values lies, interpolated; NaN of none.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    values[below] + (values[above] - values[below]) * (at - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_sorted_values() {
        let mut values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&mut values, 0.5), 2.5);
        assert_eq!(quantile(&mut values, 0.0), 1.0);
        assert_eq!(quantile(&mut values, 1.0), 4.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }

    #[test]
    fn hits_differ_by_their_bits() {
        let a = Hit { t: 1.0, ..Hit::OCCLUDED };
        let negative_zero = Hit { u: -0.0, ..a };
        assert_eq!(differing(&[a, a, a], &[a, negative_zero, Hit::none(1.0)]), 2);
    }
}
