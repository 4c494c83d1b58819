//! Passes of one kernel configuration, timed.

use lockstep_core::{Mode, TargetId};
use lockstep_metrics::float;
use serde::{Deserialize, Deserializer, Serialize};

/// One pass of one target in one kernel configuration: the samples `0..spp` of every pixel. A configuration
/// that was refused has one record, without times. Written as `tune`; older files call it `sweep`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tune {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// The configuration's label, such as `megakernel/group=256`.
    #[serde(alias = "variant", deserialize_with = "label")]
    pub configuration: String,
    /// The part of the label that names structure and scheduling, such as `megakernel/persistent`.
    #[serde(deserialize_with = "label")]
    pub scheduling: String,
    /// Work-items of a work-group; nothing where there are no groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Whether the configuration differs from the default in scheduling and group alone, and so belongs to their grid.
    pub in_grid: bool,
    /// Whether the configuration is the target's default, by whose time the others are divided.
    pub default: bool,
    /// Which round, from 0. A round times every configuration once.
    pub repeat: u32,
    /// Whether the pass is the A/A control: the default's second time in the round.
    #[serde(alias = "again")]
    pub aa_control: bool,
    /// Samples per pixel.
    pub spp: u32,
    /// Random seed.
    pub seed: u64,
    /// Traversal alone, in milliseconds; NaN where one kernel traces and shades.
    #[serde(with = "float")]
    pub trace_ms: f64,
    /// Shading and sampling, in milliseconds; NaN where one kernel traces and shades.
    #[serde(with = "float")]
    pub shade_ms: f64,
    /// The rest of `total_ms`: camera rays, the film, counters and gaps; NaN where one kernel does all.
    #[serde(with = "float")]
    pub queue_ms: f64,
    /// The whole pass, in milliseconds.
    #[serde(with = "float")]
    pub total_ms: f64,
    /// Compiling and first launching its kernels, in milliseconds, when it was selected in this round.
    #[serde(with = "float")]
    pub compile_ms: f64,
    /// Extension and shadow rays.
    pub rays: u64,
    /// Hash of the film's integers.
    pub film: String,
    /// Whether film and ray counts are the default's.
    pub identical: bool,
    /// Whether film and ray counts must be the default's: the target is exact, and so is the arithmetic.
    pub promised: bool,
    /// Whether the configuration leaves another film by design: its time tells the cost of exactness or of another estimator,
    /// and it is never the best.
    pub measures_only: bool,
    /// Why the target or its device refused the configuration; empty where it ran.
    pub refused: String,
    /// How the kernels were compiled.
    pub mode: Mode,
}

/// Label of a kernel configuration. Older files call the structure without compaction `in-place`.
fn label<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let label = String::deserialize(from)?;
    Ok(label.strip_prefix("in-place").map_or(label.clone(), |rest| format!("no-compaction{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_older_files_are_read_by_their_present_names() {
        let of = |label: &str| {
            let text = format!(r#"{{"variant": "{label}/group=32", "scheduling": "{label}"}}"#);
            serde_json::from_str::<Tune>(&text).map(|tune| (tune.configuration, tune.scheduling)).unwrap()
        };
        assert_eq!(of("in-place"), ("no-compaction/group=32".into(), "no-compaction".into()));
        assert_eq!(of("megakernel"), ("megakernel/group=32".into(), "megakernel".into()));
    }
}
