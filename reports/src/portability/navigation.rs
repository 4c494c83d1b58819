//! Performance portability against code divergence, for every set of backends that could be shipped.
//!
//! **Choice.** A set of backends. Every device gets the backend that is the most efficient there over all
//! scenes.
//!
//! **Divergence** (Harrell et al. 2018, "Effective Performance Portability"): the mean over all pairs of
//! devices of the Jaccard distance `1 − |a ∩ b| / |a ∪ b|` between the lines of code that are compiled for
//! them. Lines come from the record of `lockstep port cost`, by place: shared host code is in every backend's
//! set, shared device code in that of backends with device code of their own, and a backend's own code in its
//! set alone. Files count as a whole, whatever a preprocessor takes out.

use super::{Rate, harmonic_mean, rates};
use crate::port::cost::{Cost, PortCost};
use crate::records::{Mode, TargetId};
use crate::statistics::Agreement;
use crate::study::{Study, push_new};

/// A set of backends and where each is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The backends, each of which some device gets.
    pub backends: Vec<String>,
    /// Device and the backend that it gets; nothing where none of the set runs there.
    pub devices: Vec<(String, Option<String>)>,
    /// The harmonic mean of efficiencies over all devices and scenes, 0 where a device is left out.
    pub portability: f64,
    /// Code divergence of the set: the mean Jaccard distance over all pairs of devices, 0 to 1; nothing for a single
    /// device, or without a record of lines for every backend.
    pub divergence: Option<f64>,
    /// Lines of code that the backends of the set compile together.
    pub lines: Option<usize>,
    /// The worst verdict on images of two of its targets, and the number of comparisons; nothing where there
    /// are none.
    pub images: Option<(String, usize)>,
}

/// Every choice from a study's exact builds, those that need the fewest backends first. A set of which a
/// backend is the best nowhere is left out.
pub fn choices(study: &Study) -> Vec<Choice> {
    let rates: Vec<Rate> = rates(study)
        .into_iter()
        .filter(|rate| rate.target.mode == Mode::Exact && !rate.backend.is_empty())
        .collect();
    let mut backends: Vec<&str> = Vec::new();
    rates.iter().for_each(|rate| push_new(&mut backends, rate.backend.as_str()));
    // Few enough for every set to be looked at.
    backends.truncate(8);
    let sets = 1u32..1 << backends.len();
    let pick = |set: u32| -> Vec<&str> {
        backends.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, &name)| name).collect()
    };
    let mut found: Vec<Choice> = sets.filter_map(|set| choice(study, &rates, &pick(set))).collect();
    found.sort_by_key(|choice| choice.backends.len());
    found
}

fn choice(study: &Study, rates: &[Rate], backends: &[&str]) -> Option<Choice> {
    let (mut devices, mut scenes) = (Vec::new(), Vec::new());
    for rate in rates {
        push_new(&mut devices, rate.platform.device.as_str());
        push_new(&mut scenes, rate.platform.scene.as_str());
    }
    let efficiencies = |backend: &str, device: &str| -> Vec<f64> {
        let best = |scene: &&str| {
            let own = rates.iter().filter(|rate| rate.backend == backend && rate.platform.device == device);
            own.filter(|rate| rate.platform.scene == **scene).map(|rate| rate.efficiency).fold(0.0, f64::max)
        };
        scenes.iter().map(best).collect()
    };
    let (mut all, mut used) = (Vec::new(), Vec::new());
    for device in devices {
        let mean = |backend: &&&str| harmonic_mean(&efficiencies(backend, device));
        let best = backends.iter().max_by(|a, b| mean(a).total_cmp(&mean(b)))?;
        let runs = mean(&best) > 0.0;
        all.extend(efficiencies(best, device));
        used.push((device.to_owned(), runs.then(|| (*best).to_owned())));
    }
    let needed = |backend: &&str| used.iter().any(|(_, used)| used.as_deref() == Some(*backend));
    backends.iter().all(needed).then(|| Choice {
        backends: backends.iter().map(|&backend| backend.to_owned()).collect(),
        portability: harmonic_mean(&all),
        divergence: study.cost.as_ref().and_then(|cost| divergence(cost, &used)),
        lines: study.cost.as_ref().and_then(|cost| lines(cost, backends)),
        images: images(study, rates, &used),
        devices: used,
    })
}

fn port<'a>(cost: &'a Cost, backend: &str) -> Option<&'a PortCost> {
    cost.ports.iter().find(|port| port.backend == backend)
}

/// Lines of the shared code that a backend compiles.
fn shared(cost: &Cost, port: &PortCost) -> usize {
    cost.shared.host + if port.own.device > 0 { cost.shared.device } else { 0 }
}

/// The Jaccard distance between what two backends compile.
fn distance(cost: &Cost, a: &PortCost, b: &PortCost) -> f64 {
    if a.backend == b.backend {
        return 0.0;
    }
    let both = shared(cost, a).min(shared(cost, b));
    let any = shared(cost, a).max(shared(cost, b)) + a.own.total() + b.own.total();
    if any == 0 { 0.0 } else { 1.0 - both as f64 / any as f64 }
}

/// The mean distance over all pairs of devices; nothing where there is one device, or a device gets no
/// backend.
fn divergence(cost: &Cost, used: &[(String, Option<String>)]) -> Option<f64> {
    let ports: Option<Vec<&PortCost>> = used.iter().map(|(_, name)| port(cost, name.as_deref()?)).collect();
    let ports = ports?;
    let pairs = || (0..ports.len()).flat_map(|i| (i + 1..ports.len()).map(move |j| (i, j)));
    let sum: f64 = pairs().map(|(i, j)| distance(cost, ports[i], ports[j])).sum();
    let count = pairs().count();
    (count > 0).then(|| sum / count as f64)
}

/// Lines of all that these backends compile.
fn lines(cost: &Cost, backends: &[&str]) -> Option<usize> {
    let ports: Option<Vec<&PortCost>> = backends.iter().map(|&backend| port(cost, backend)).collect();
    let ports = ports?;
    let shared = ports.iter().map(|port| shared(cost, port)).max()?;
    Some(shared + ports.iter().map(|port| port.own.total()).sum::<usize>())
}

/// The worst verdict on pairs of targets that a choice uses.
fn images(study: &Study, rates: &[Rate], used: &[(String, Option<String>)]) -> Option<(String, usize)> {
    let is_used = |target: &TargetId| {
        let on = |(device, backend): &(String, Option<String>)| {
            rates.iter().any(|rate| {
                rate.target == *target
                    && rate.platform.device == *device
                    && Some(&rate.backend) == backend.as_ref()
            })
        };
        used.iter().any(on)
    };
    let pairs = study.differences.iter().filter(|d| is_used(&d.a) && is_used(&d.b));
    let words = [
        Agreement::Identical,
        Agreement::WithinNoise,
        Agreement::Inconclusive,
        Agreement::Biased,
        Agreement::Broken,
    ];
    let rank = |word: &str| words.iter().position(|known| known.as_str() == word).unwrap_or(words.len());
    let word = |d: &crate::records::Difference| match d.verdict.as_str() {
        "" if d.identical => Agreement::Identical.as_str().to_owned(),
        "" => "differs".to_owned(),
        verdict => verdict.to_owned(),
    };
    let found: Vec<String> = pairs.map(word).collect();
    let worst = found.iter().max_by_key(|word| rank(word))?;
    Some((worst.clone(), found.len()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{BOTH, study};
    use super::*;
    use crate::port::cost::Lines;
    use crate::records::Difference;

    fn cost() -> Cost {
        let port = |backend: &str, host, device| PortCost {
            backend: backend.into(),
            own: Lines { host, device },
            ..Default::default()
        };
        Cost {
            shared: Lines { host: 100, device: 60 },
            ports: vec![port("cpu", 40, 0), port("cuda", 30, 10), port("opencl", 50, 10)],
            ..Default::default()
        }
    }

    #[test]
    fn one_source_is_portable_without_divergence_and_two_are_faster_with_it() {
        let mut study = study(&BOTH);
        study.cost = Some(cost());
        let found = choices(&study);
        let of = |names: &[&str]| found.iter().find(|choice| choice.backends == names).unwrap();
        let opencl = of(&["opencl"]);
        assert_eq!((opencl.portability, opencl.divergence, opencl.lines), (0.5, Some(0.0), Some(220)));
        let both = of(&["cpu", "cuda"]);
        assert_eq!((both.portability, both.lines), (1.0, Some(240)));
        // The CPU shares 100 lines with CUDA, of 160 + 40 + 40.
        assert!((both.divergence.unwrap() - (1.0 - 100.0 / 240.0)).abs() < 1e-12);
        assert_eq!((of(&["cuda"]).portability, of(&["cuda"]).divergence), (0.0, None));
        assert!(
            found.iter().all(|choice| choice.backends.len() < 3),
            "three backends are one too many for two devices"
        );
    }

    #[test]
    fn without_a_record_of_lines_there_is_portability_alone() {
        let found = choices(&study(&BOTH));
        assert!(found.iter().all(|choice| choice.divergence.is_none() && choice.lines.is_none()));
        assert!(choices(&study(&[])).is_empty());
    }

    #[test]
    fn the_worst_verdict_on_the_images_of_a_choice_stands_beside_it() {
        let mut study = study(&BOTH);
        let pair = |a: &str, b: &str, verdict: &str| Difference {
            a: a.into(),
            b: b.into(),
            verdict: verdict.into(),
            identical: verdict == "identical",
            ..Default::default()
        };
        study.differences = vec![
            pair("cpu-bvh", "cuda@0", "identical"),
            pair("opencl@pocl", "opencl@nvidia", "identical"),
            pair("opencl@intel", "opencl@nvidia", "biased"),
        ];
        let found = choices(&study);
        let of = |names: &[&str]| found.iter().find(|c| c.backends == names).unwrap().images.clone();
        assert_eq!(of(&["cpu", "cuda"]), Some(("identical".into(), 1)));
        assert_eq!(of(&["opencl"]), Some(("biased".into(), 2)));
        assert_eq!(of(&["cpu"]), None);
    }
}
