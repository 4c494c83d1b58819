//! Performance portability: how near one application comes to the best on every device.
//!
//! **Platform.** A device with a scene. Targets are on the same device where its name is the same, and on the
//! host's processor where their device's name contains that (PoCL puts words around it).
//!
//! **Application.** A unit that is shipped: `opencl` on all its devices, `cuda`, `cpu-bvh`, `cpu-embree`,
//! each fast build for itself. On a device it counts with the fastest of its targets there.
//!
//! **Efficiency.** Application efficiency (Pennycook, Sewall and Lee 2016, "A Metric for Performance
//! Portability"): the application's samples a second over the most that any target of the study reached on
//! the same platform, 0 to 1; 0 where the application does not run.
//!
//! **Portability.** The harmonic mean of the efficiencies, `n / Σ 1/eᵢ`, and 0 where any is 0
//! ([`harmonic_mean`]; Pennycook, Sewall and Lee 2019, "Implications of a metric for performance
//! portability").
//!
//! [`navigation`] joins it with how much the code diverges; [`configurations`] does the same for kernel
//! configurations.

pub mod configurations;
pub mod navigation;

use crate::records::{DeviceInfo, TargetId};
use crate::stages::stage_times;
use crate::study::{Study, push_new};

/// A device with a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// The device's name.
    pub device: String,
    /// Scene name.
    pub scene: String,
}

/// The rate of one target on one platform.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// The platform.
    pub platform: Platform,
    /// The target.
    pub target: TargetId,
    /// The application.
    pub application: String,
    /// The backend, `cpu`, `opencl` or `cuda`; empty when unknown.
    pub backend: String,
    /// Samples a millisecond over the whole spp schedule, whose repeated steps count with their median.
    pub samples_per_ms: f64,
    /// The rate over the highest rate of any target on the platform, 0 to 1.
    pub efficiency: f64,
}

/// Rates of every target on every scene that was timed.
pub fn rates(study: &Study) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::new();
    for t in stage_times(study).into_iter().filter(|t| t.samples > 0 && t.total_ms > 0.0) {
        let platform = Platform { device: device_of(study, &t.target), scene: t.scene };
        let samples_per_ms = t.samples as f64 / t.total_ms;
        // Of several seeds the first speaks for a target.
        if rates.iter().any(|rate| rate.target == t.target && rate.platform == platform) {
            continue;
        }
        let info = info_of(study, &t.target);
        rates.push(Rate {
            platform,
            application: t.target.application(),
            backend: info.map_or_else(String::new, |info| info.backend.clone()),
            target: t.target,
            samples_per_ms,
            efficiency: 0.0,
        });
    }
    for i in 0..rates.len() {
        let same = rates.iter().filter(|rate| rate.platform == rates[i].platform);
        let best = same.map(|rate| rate.samples_per_ms).fold(0.0, f64::max);
        rates[i].efficiency = rates[i].samples_per_ms / best;
    }
    rates
}

fn info_of<'a>(study: &'a Study, target: &TargetId) -> Option<&'a DeviceInfo> {
    study.environment.target(target).map(|entry| &entry.info)
}

/// The name of a target's device: the host's processor where the device is that; the target's own name when
/// unknown.
fn device_of(study: &Study, target: &TargetId) -> String {
    let host = &study.environment.host.cpu;
    match info_of(study, target).map(|info| info.device.as_str()) {
        Some(device) if !host.is_empty() && device.contains(host.as_str()) => host.clone(),
        Some(device) if !device.is_empty() => device.to_owned(),
        _ => target.to_string(),
    }
}

/// Pennycook's metric: the harmonic mean of efficiencies, and 0 where any is 0 or there are none.
pub fn harmonic_mean(efficiencies: &[f64]) -> f64 {
    if efficiencies.is_empty() || efficiencies.iter().any(|e| *e <= 0.0) {
        return 0.0;
    }
    efficiencies.len() as f64 / efficiencies.iter().map(|e| 1.0 / e).sum::<f64>()
}

/// One application on every platform of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Application {
    /// The name.
    pub name: String,
    /// The efficiency on each of [`Portability::platforms`].
    pub efficiencies: Vec<f64>,
}

/// Every application on every platform.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Portability {
    /// The platforms, devices of one scene together.
    pub platforms: Vec<Platform>,
    /// The applications in the order of the study.
    pub applications: Vec<Application>,
}

impl Portability {
    /// The portability of a study; empty without times.
    pub fn of(study: &Study) -> Self {
        let rates = rates(study);
        let (mut platforms, mut names) = (Vec::new(), Vec::new());
        for rate in &rates {
            push_new(&mut platforms, rate.platform.clone());
            push_new(&mut names, rate.application.clone());
        }
        let best = |name: &str, platform: &Platform| {
            let own = rates.iter().filter(|rate| rate.application == name && rate.platform == *platform);
            own.map(|rate| rate.efficiency).fold(0.0, f64::max)
        };
        let application = |name: String| {
            let efficiencies = platforms.iter().map(|platform| best(&name, platform)).collect();
            Application { name, efficiencies }
        };
        let applications = names.into_iter().map(application).collect();
        Self { platforms, applications }
    }

    /// The devices' names.
    pub fn devices(&self) -> Vec<&str> {
        let mut devices = Vec::new();
        self.platforms.iter().for_each(|platform| push_new(&mut devices, platform.device.as_str()));
        devices
    }

    /// The scenes' names.
    pub fn scenes(&self) -> Vec<&str> {
        let mut scenes = Vec::new();
        self.platforms.iter().for_each(|platform| push_new(&mut scenes, platform.scene.as_str()));
        scenes
    }
}

/// Efficiencies from the best to the worst, and the harmonic mean of those up to each: a cascade (Sewall,
/// Pennycook, Jacobsen, Deakin and McIntosh-Smith 2020, "Interpreting and Visualizing Performance Portability
/// Metrics").
pub fn cascade(efficiencies: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = efficiencies.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    (0..sorted.len()).map(|i| (sorted[i], harmonic_mean(&sorted[..=i]))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::records::{Environment, HostInfo, Record, Timing};

    /// A study on a processor and a graphics card; milliseconds that each target takes for 1,000 samples of a
    /// scene.
    pub(crate) fn study(times: &[(&str, &str, f64)]) -> Study {
        let info = |target: &str, backend: &str, device: &str| {
            let (target, backend, device) = (target.into(), backend.into(), device.into());
            DeviceInfo { target, backend, device, ..DeviceInfo::default() }.into()
        };
        let targets = vec![
            info("cpu-bvh", "cpu", "Some CPU"),
            info("opencl@pocl", "opencl", "pthread-skylake-Some CPU"),
            info("opencl@intel", "opencl", "Some CPU"),
            info("opencl@nvidia", "opencl", "NVIDIA H200"),
            info("cuda@0", "cuda", "NVIDIA H200"),
        ];
        let host = HostInfo { cpu: "Some CPU".into(), ..Default::default() };
        let timing = |&(scene, target, total_ms): &(&str, &str, f64)| -> Record {
            let (scene, target) = (scene.to_owned(), target.into());
            Timing { scene, target, spp_to: 1, samples: 1000, total_ms, ..Default::default() }.into()
        };
        let environment = Environment { targets, host, ..Default::default() };
        Study::from_records(times.iter().map(timing).collect(), environment)
    }

    /// CUDA is twice as fast as OpenCL on the card; Intel's OpenCL is faster than PoCL's and the CPU backend
    /// than both.
    pub(crate) const BOTH: [(&str, &str, f64); 5] = [
        ("s", "cpu-bvh", 100.0),
        ("s", "opencl@pocl", 400.0),
        ("s", "opencl@intel", 200.0),
        ("s", "opencl@nvidia", 2.0),
        ("s", "cuda@0", 1.0),
    ];

    #[test]
    fn the_mean_is_harmonic_and_zero_where_anything_does_not_run() {
        assert!((harmonic_mean(&[1.0, 0.5]) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((harmonic_mean(&[1.0, 0.0]), harmonic_mean(&[])), (0.0, 0.0));
    }

    #[test]
    fn an_application_counts_with_its_fastest_target_on_each_device() {
        let portability = Portability::of(&study(&BOTH));
        assert_eq!(portability.devices(), ["Some CPU", "NVIDIA H200"]);
        let found: Vec<_> =
            portability.applications.iter().map(|a| (a.name.as_str(), a.efficiencies.as_slice())).collect();
        assert_eq!(
            found,
            [("cpu-bvh", &[1.0, 0.0][..]), ("opencl", &[0.5, 0.5][..]), ("cuda", &[0.0, 1.0][..])]
        );
    }

    #[test]
    fn a_cascade_falls_and_its_mean_with_it() {
        assert_eq!(cascade(&[0.5, 1.0, 0.0]), [(1.0, 1.0), (0.5, 2.0 / 3.0), (0.0, 0.0)]);
    }
}
