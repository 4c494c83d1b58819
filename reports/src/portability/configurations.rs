//! Portability of kernel configurations: how near each comes to the best one on every target.
//!
//! A platform is a target with a scene. A configuration's efficiency there is the least median time of any exact
//! configuration over its own, 0 to 1; 0 where it was refused. Its portability is the harmonic mean over all
//! platforms ([`harmonic_mean`]). Targets that run their default alone take no part.

use super::harmonic_mean;
use crate::records::TargetId;
use crate::study::{Study, push_new};
use crate::tuning::{Tuned, tuned};

/// One kernel configuration on all targets.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigurationPortability {
    /// The configuration's label.
    pub configuration: String,
    /// Whether the configuration is every target's default.
    pub own: bool,
    /// Each target with the harmonic mean of the configuration's efficiencies over the scenes, 0 where it was
    /// refused.
    pub targets: Vec<(TargetId, f64)>,
    /// The harmonic mean over all targets and scenes.
    pub portability: f64,
}

/// Every exact configuration that two targets or more were tuned over, the most portable first; nothing for a
/// single target.
pub fn configurations(study: &Study) -> Vec<ConfigurationPortability> {
    let rows: Vec<Tuned> = tuned(study).into_iter().filter(Tuned::is_choice).collect();
    let (mut targets, mut scenes, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for row in &rows {
        push_new(&mut targets, &row.target);
        push_new(&mut scenes, row.scene.as_str());
        push_new(&mut labels, row.configuration.as_str());
    }
    targets
        .retain(|target| rows.iter().any(|row| row.target == **target && !row.default && ms(row).is_some()));
    if targets.len() < 2 {
        return Vec::new();
    }
    let of_label = |label: &str| {
        let own = || rows.iter().filter(|row| row.configuration == label && targets.contains(&&row.target));
        let on = |target: &TargetId| -> Vec<f64> {
            scenes.iter().filter_map(|scene| efficiency(&rows, label, target, scene)).collect()
        };
        let all: Vec<f64> = targets.iter().flat_map(|target| on(target)).collect();
        ConfigurationPortability {
            configuration: label.to_owned(),
            own: own().all(|row| row.default),
            targets: targets.iter().map(|t| ((*t).clone(), harmonic_mean(&on(t)))).collect(),
            portability: harmonic_mean(&all),
        }
    };
    let mut found: Vec<ConfigurationPortability> = labels.into_iter().map(of_label).collect();
    found.sort_by(|a, b| b.portability.total_cmp(&a.portability));
    found
}

/// The median time of a configuration that ran.
fn ms(row: &Tuned) -> Option<f64> {
    row.total.map(|total| total.median).filter(|ms| row.refused.is_empty() && *ms > 0.0)
}

/// The least time on a platform over that of a configuration, 0 where it did not run; nothing where the platform
/// was not timed.
fn efficiency(rows: &[Tuned], label: &str, target: &TargetId, scene: &str) -> Option<f64> {
    let here = || rows.iter().filter(|row| row.target == *target && row.scene == scene);
    let best = here().filter_map(ms).min_by(f64::total_cmp)?;
    Some(here().find(|row| row.configuration == label).and_then(ms).map_or(0.0, |ms| best / ms))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::records::{Environment, Record, Tune};

    /// A tuning run on one scene: target, configuration and milliseconds; refused without.
    pub(crate) fn study(rows: &[(&str, &str, Option<f64>)]) -> Study {
        let record = |&(target, configuration, ms): &(&str, &str, Option<f64>)| -> Record {
            Tune {
                scene: "s".into(),
                target: target.into(),
                configuration: configuration.into(),
                default: configuration == "wavefront",
                total_ms: ms.unwrap_or(f64::NAN),
                identical: true,
                promised: true,
                refused: if ms.is_some() { String::new() } else { "too large".into() },
                ..Tune::default()
            }
            .into()
        };
        Study::from_records(rows.iter().map(record).collect(), Environment::default())
    }

    pub(crate) const TWO: [(&str, &str, Option<f64>); 8] = [
        ("a", "wavefront", Some(10.0)),
        ("a", "megakernel", Some(20.0)),
        ("a", "group=1024", Some(5.0)),
        ("b", "wavefront", Some(10.0)),
        ("b", "megakernel", Some(8.0)),
        ("b", "group=1024", None),
        ("c", "wavefront", Some(10.0)),
        ("c", "megakernel", None),
    ];

    #[test]
    fn the_most_portable_configuration_need_be_the_best_nowhere() {
        let found = configurations(&study(&TWO));
        let labels: Vec<_> = found.iter().map(|v| (v.configuration.as_str(), v.own)).collect();
        assert_eq!(labels, [("wavefront", true), ("megakernel", false), ("group=1024", false)]);
        assert_eq!(found[0].targets, [("a".into(), 0.5), ("b".into(), 0.8)], "c has its default alone");
        assert!((found[0].portability - 2.0 / (2.0 + 1.25)).abs() < 1e-12);
        assert_eq!((found[2].portability, &found[2].targets[0]), (0.0, &("a".into(), 1.0)));
    }

    #[test]
    fn one_target_has_no_portability() {
        assert!(configurations(&study(&TWO[..3])).is_empty());
    }
}
