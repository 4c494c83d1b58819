//! The share of an error after equal time that is the reference's own.
//!
//! Against a reference the mean squared error of an image of `N` independent samples is expected to be `v / N + R`: `v` is
//! the variance of one sample by the image's estimator, `R` the mean squared error of the reference against the true image,
//! its noise and, where its integrator merges, its bias. No error is below `R`, so errors near it look alike.
//!
//! A reference of `M` samples by the estimator of the image has `R = v / M`, a share of `N / (N + M)`. One by another
//! estimator has another `v`. Then `R` is told by the study's image of the reference's estimator with the most samples, if
//! that is unbiased, or else by [`fit_bias`]: the intercept of errors over `1 / N` of integrators without bias. Rare bright
//! pixels that few samples miss raise an intercept as well. They are not alike in two integrators, so that a value counts
//! where both have intercepts above 0 that agree; else the interval is an upper bound.

use crate::format::percent;
use crate::records::{EqualTime, Mode, TargetId};
use crate::reference::parts;
use crate::statistics::{BiasFit, fit_bias};
use crate::study::{Study, push_new};
use lockstep_core::{Integrator, Sampler};

/// From this share on an error is mostly the reference's own.
const MOSTLY: f64 = 0.5;

/// Integrators whose expected image is the true one, whatever the number of samples.
const UNBIASED: [Integrator; 2] = [Integrator::Path, Integrator::Bpt];

/// The share of one linear MSE that is the reference's own, 0 to 1, or why it is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ReferenceShare {
    /// The share that equal estimators lead to expect by their numbers of samples.
    Expected(f64),
    /// From an error of the reference that the study tells.
    Measured {
        /// The share.
        share: f64,
        /// The ends of its 95 % interval, where it is that of a fit.
        range: Option<[f64; 2]>,
    },
    /// An upper bound with 97.5 %.
    AtMost(f64),
    /// Not known.
    Unknown(Unknown),
}

/// Why a share is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Samples depend on each other, so that errors do not fall as one over their number.
    Dependent,
    /// The reference is by another estimator, or a file, and no unbiased integrator was measured at enough numbers of samples.
    NoFit,
    /// The interval of the fit allows every share.
    Open,
    /// The image has no error that is a number.
    NoError,
}

impl Unknown {
    /// The reason in words.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::Dependent => "samples depend on each other",
            Self::NoFit => {
                "the reference is a file or by another integrator, and neither path nor bpt has exact images of three numbers \
                 of samples, each at least twice the one before"
            }
            Self::Open => "errors of path and bpt leave every share open",
            Self::NoError => "the error is not a number",
        }
    }
}

impl ReferenceShare {
    /// The share in the error of an image.
    pub(crate) fn of(study: &Study, e: &EqualTime) -> Self {
        if study.environment.settings.sampler == Sampler::Sobol {
            return Self::Unknown(Unknown::Dependent);
        }
        if let Some((name, samples)) = parts(&e.against)
            && is_alike(study, &name, &e.target)
        {
            let (own, reference) = (f64::from(e.spp), f64::from(samples));
            return Self::Expected(own / (own + reference));
        }
        let mse = e.errors.mse_linear;
        if !(mse.is_finite() && mse > 0.0) {
            return Self::Unknown(Unknown::NoError);
        }
        let in_error = |noise: f64| (noise / mse).clamp(0.0, 1.0);
        if let Some(noise) = of_own_images(study, e) {
            return Self::Measured { share: in_error(noise), range: None };
        }
        match fits(study, e).as_slice() {
            [fit, other] if agree(fit, other) => {
                let range = Some([in_error(fit.b_low), in_error(fit.b_high)]);
                Self::Measured { share: in_error(fit.b), range }
            }
            [] => Self::Unknown(Unknown::NoFit),
            fits => match fits.iter().map(|fit| fit.b_high).fold(f64::INFINITY, f64::min) {
                most if most >= mse => Self::Unknown(Unknown::Open),
                most => Self::AtMost(in_error(most)),
            },
        }
    }

    /// The share as a number; nothing where it is not known.
    pub(crate) const fn value(self) -> Option<f64> {
        match self {
            Self::Expected(share) | Self::Measured { share, .. } => Some(share),
            Self::AtMost(_) | Self::Unknown(_) => None,
        }
    }

    /// Whether most of the error is known to be the reference's own.
    pub(crate) fn is_most(self) -> bool {
        self.value().is_some_and(|share| share >= MOSTLY)
    }

    /// The share in words.
    pub(crate) fn text(self) -> String {
        match self {
            Self::AtMost(share) => format!("at most {}", percent(share)),
            Self::Measured { share, range: Some([low, high]) } => {
                format!("{} ({} to {})", percent(share), percent(low), percent(high))
            }
            Self::Expected(share) | Self::Measured { share, .. } => percent(share),
            Self::Unknown(_) => "unknown".to_owned(),
        }
    }
}

/// The integrator that renders a target's images; `None` for external programs.
fn integrator(study: &Study, target: &TargetId) -> Option<Integrator> {
    let is_program = study.environment.target(target).is_some_and(|info| info.program.is_some());
    (!is_program).then(|| target.integrator.unwrap_or(study.environment.settings.integrator))
}

/// The integrator of a reference that records name. Older ones name another integrator than the study's in the environment.
fn reference_integrator(study: &Study, target: &TargetId) -> Option<Integrator> {
    let by = study.environment.other.get("reference").and_then(|value| value.as_str());
    let by = by.and_then(|text| text.strip_prefix("rendered by ")?.parse().ok());
    target.integrator.or(by).or_else(|| integrator(study, target))
}

/// Whether a reference is by the estimator of a target.
fn is_alike(study: &Study, reference: &TargetId, target: &TargetId) -> bool {
    match (reference_integrator(study, reference), integrator(study, target)) {
        (Some(a), Some(b)) => a == b && reference.layers == target.layers,
        (None, None) => reference == target,
        _ => false,
    }
}

/// The error of an unbiased reference by the image of its own estimator with the most samples.
fn of_own_images(study: &Study, e: &EqualTime) -> Option<f64> {
    let (name, samples) = parts(&e.against)?;
    reference_integrator(study, &name).filter(|integrator| UNBIASED.contains(integrator))?;
    let times = study.equal_times.iter().filter(|own| (&own.scene, &own.against) == (&e.scene, &e.against));
    let levels = study.convergences.iter().filter(|c| (&c.scene, &c.against) == (&e.scene, &e.against));
    let times = times.map(|own| (&own.target, own.spp, own.errors.mse_linear));
    let all = times.chain(levels.map(|c| (&c.target, c.spp, c.errors.mse_linear)));
    let own = all.filter(|(target, _, mse)| *mse > 0.0 && mse.is_finite() && is_alike(study, &name, target));
    let (_, spp, mse) = own.max_by_key(|(_, spp, _)| *spp)?;
    Some(mse * f64::from(spp) / (f64::from(spp) + f64::from(samples)))
}

/// The fits to unbiased integrators on the scene of an image, that to the one with the least error first.
fn fits(study: &Study, e: &EqualTime) -> Vec<BiasFit> {
    let least = |points: &[(u32, f64)]| points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let mut points = UNBIASED.map(|integrator| points(study, e, integrator));
    points.sort_by(|a, b| least(a).total_cmp(&least(b)));
    points.iter().filter_map(|points| fit_bias(points).ok()).collect()
}

/// Whether two intercepts are above 0 and their intervals have a value in common.
fn agree(a: &BiasFit, b: &BiasFit) -> bool {
    a.shows_bias() && b.shows_bias() && a.b_low <= b.b_high && b.b_low <= a.b_high
}

/// Samples and errors of one integrator's exact images against the reference of another image. Images of one seed share
/// samples; of these each has at most half of the samples of the next.
fn points(study: &Study, e: &EqualTime, by: Integrator) -> Vec<(u32, f64)> {
    let is_own = |scene: &str, against: &str, mode: Mode, target: &TargetId| {
        let is_by = integrator(study, target) == Some(by);
        scene == e.scene && against == e.against && mode == Mode::Exact && is_by
    };
    let times = study.equal_times.iter().filter(|t| is_own(&t.scene, &t.against, t.mode, &t.target));
    let levels = study.convergences.iter().filter(|c| is_own(&c.scene, &c.against, c.mode, &c.target));
    let times = times.map(|t| (t.seed, t.spp, t.errors.mse_linear));
    let mut all: Vec<(u64, u32, f64)> =
        times.chain(levels.map(|c| (c.seed, c.spp, c.errors.mse_linear))).collect();
    all.retain(|(_, spp, mse)| *spp > 0 && *mse > 0.0 && mse.is_finite());
    all.sort_by_key(|(seed, spp, _)| (*seed, std::cmp::Reverse(*spp)));
    let mut chosen: Vec<(u64, u32, f64)> = Vec::new();
    for point in all {
        let shares_most = |last: &(u64, u32, f64)| last.0 == point.0 && point.1 > last.1 / 2;
        if !chosen.last().is_some_and(shares_most) {
            chosen.push(point);
        }
    }
    chosen.into_iter().map(|(_, spp, mse)| (spp, mse)).collect()
}

/// Sentences about the scenes and times at which most of some targets' squared error is noise of the reference itself.
pub fn reference_sentences(study: &Study) -> Vec<String> {
    let mut points = Vec::new();
    study.equal_times.iter().for_each(|e| push_new(&mut points, (e.scene.as_str(), e.seconds)));
    points.into_iter().filter_map(|point| sentence(study, point)).collect()
}

fn sentence(study: &Study, (scene, seconds): (&str, f64)) -> Option<String> {
    let own = study.equal_times.iter().filter(|e| e.scene == scene && e.seconds == seconds);
    let shares = own.map(|e| (e, ReferenceShare::of(study, e))).filter(|(_, share)| share.is_most());
    let rows: Vec<(&EqualTime, f64)> = shares.filter_map(|(e, share)| Some((e, share.value()?))).collect();
    let against = &rows.first()?.0.against;
    let named = |(e, share): &(&EqualTime, f64)| format!("{} {}", e.target, percent(*share));
    let rows: Vec<String> = rows.iter().map(named).collect();
    Some(format!(
        "after {seconds} s on {scene} the reference's noise hides differences: of the squared errors of these targets most is \
         that of the reference ({against}) itself: {}",
        rows.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Convergence, Environment, Errors, Record};

    const VCM: &str = "cpu-bvh+vcm, 1000 spp, seed 7";

    /// Errors of `path` and `bpt`, with variances of 2 and 1, against a reference whose own error is 0.001; of two samples
    /// a little more, of four a little less.
    fn error(target: &str, spp: u32) -> Errors {
        let v = if target.ends_with("bpt") { 1.0 } else { 2.0 };
        let off = [(2, 1.02), (4, 0.98)].iter().find(|(at, _)| *at == spp).map_or(1.0, |(_, off)| *off);
        Errors { mse_linear: off * (v / f64::from(spp) + 0.001), ..Errors::default() }
    }

    fn level(target: &str, spp: u32, against: &str) -> Record {
        let (scene, errors) = ("s".into(), error(target, spp));
        let (target, against) = (target.into(), against.into());
        Convergence { scene, target, spp, errors, against, ..Convergence::default() }.into()
    }

    fn time(target: &str, spp: u32, against: &str) -> Record {
        let (scene, errors) = ("s".into(), error(target, spp));
        let (target, against) = (target.into(), against.into());
        EqualTime { scene, target, seconds: 5.0, spp, errors, against, ..Default::default() }.into()
    }

    fn study(records: Vec<Record>) -> Study {
        Study::from_records(records, Environment::default())
    }

    fn share(study: &Study, target: &str) -> ReferenceShare {
        ReferenceShare::of(study, study.equal_times.iter().find(|e| e.target == target.into()).unwrap())
    }

    /// Levels of both unbiased integrators and images of all after a time.
    fn measured() -> Vec<Record> {
        let levels = |target: &'static str| [1, 2, 4].map(|spp| level(target, spp, VCM));
        let mut records = [levels("cpu-bvh+path"), levels("cpu-bvh+bpt")].concat();
        records.extend([
            time("cpu-bvh+path", 50, VCM),
            time("cuda@0+path", 18_000, VCM),
            time("cuda@0+bpt", 4_000, VCM),
            time("cuda@0+vcm", 3_000, VCM),
        ]);
        records
    }

    #[test]
    fn the_error_of_a_reference_by_another_integrator_is_the_intercept_of_two_unbiased_ones() {
        let study = study(measured());
        let ReferenceShare::Measured { share: found, range: Some([low, high]) } =
            share(&study, "cuda@0+path")
        else {
            panic!("{:?}", share(&study, "cuda@0+path"))
        };
        assert!((found - 0.9).abs() < 0.01 && low < 0.9 && 0.9 < high, "{found} {low} {high}");
        let of_bpt = share(&study, "cuda@0+bpt").value().unwrap();
        assert!((of_bpt - 0.8).abs() < 0.01, "{of_bpt}: by the reference's error, not by numbers of samples");
        let of_few = share(&study, "cpu-bvh+path").value().unwrap();
        assert!((of_few - 0.001 / 0.041).abs() < 0.001, "{of_few}");
        assert_eq!(share(&study, "cuda@0+vcm"), ReferenceShare::Expected(0.75), "its own estimator");
        let [sentence] = &reference_sentences(&study)[..] else { panic!("one scene and time") };
        let begins = "after 5 s on s the reference's noise hides differences: ";
        assert!(sentence.starts_with(begins) && sentence.ends_with(", cuda@0+vcm 75.0 %"), "{sentence}");
        assert!(sentence.contains("(cpu-bvh+vcm, 1000 spp, seed 7) itself: cuda@0+path 90."), "{sentence}");
        assert!(!sentence.contains("cpu-bvh+path"), "{sentence}");
    }

    #[test]
    fn an_intercept_that_no_second_integrator_has_is_a_bound() {
        let is_path = |record: &Record| match record {
            Record::Convergence(c) => c.target.integrator == Some(Integrator::Path),
            _ => true,
        };
        let mut records = measured();
        records.retain(is_path);
        let study = study(records);
        let bound = share(&study, "cuda@0+bpt");
        let ReferenceShare::AtMost(most) = bound else { panic!("{bound:?}") };
        assert!(most > 0.8 && most < 0.9 && !bound.is_most(), "{bound:?}");
        assert!(bound.text().starts_with("at most 8"), "{}", bound.text());
    }

    #[test]
    fn films_that_share_most_of_their_samples_are_one_point_of_a_fit() {
        let records = vec![
            level("cpu-bvh+path", 1, VCM),
            time("cuda@0+path", 1_000, VCM),
            time("cpu-bvh+path", 999, VCM),
            time("together(cpu-bvh,cuda@0)+path", 990, VCM),
        ];
        let study = study(records);
        assert_eq!(points(&study, &study.equal_times[0], Integrator::Path).len(), 2);
        assert_eq!(share(&study, "cuda@0+path"), ReferenceShare::Unknown(Unknown::NoFit));
        assert_eq!(share(&study, "cuda@0+path").text(), "unknown");
        assert_eq!(reference_sentences(&study), [""; 0], "what is not known is no headline");
    }

    #[test]
    fn an_unbiased_reference_is_known_by_images_of_its_own_integrator() {
        let against = "cpu-bvh+path, 2000 spp, seed 7";
        let study = study(vec![time("cpu-bvh+path", 500, against), time("cpu-bvh+bpt", 1_000, against)]);
        assert_eq!(share(&study, "cpu-bvh+path"), ReferenceShare::Expected(0.2));
        let found = share(&study, "cpu-bvh+bpt");
        assert_eq!(
            found,
            ReferenceShare::Measured { share: 0.5, range: None },
            "a fifth of 0.005 is 0.001 of 0.002"
        );
    }

    #[test]
    fn a_share_is_not_told_of_dependent_samples_files_and_other_programs_integrators() {
        let mut records = vec![time("cpu-bvh", 500, "cpu-bvh, 500 spp, seed 7"), time("x", 500, "file.exr")];
        assert_eq!(share(&study(records.clone()), "cpu-bvh"), ReferenceShare::Expected(0.5));
        assert_eq!(share(&study(records.clone()), "x"), ReferenceShare::Unknown(Unknown::NoFit));
        let mut environment = Environment::default();
        environment.other.insert("reference".into(), "rendered by vcm".into());
        let named_elsewhere = Study::from_records(records.clone(), environment.clone());
        assert_eq!(share(&named_elsewhere, "cpu-bvh"), ReferenceShare::Unknown(Unknown::NoFit));
        environment.settings.sampler = Sampler::Sobol;
        let sobol = Study::from_records(records.split_off(0), environment);
        assert_eq!(share(&sobol, "cpu-bvh"), ReferenceShare::Unknown(Unknown::Dependent));
    }

    #[test]
    fn errors_that_scatter_leave_the_share_of_the_best_image_open_and_bound_that_of_the_others() {
        let with = |mut record: Record, factor: f64| {
            match &mut record {
                Record::Convergence(c) => c.errors.mse_linear *= factor,
                Record::EqualTime(e) => e.errors.mse_linear *= factor,
                _ => panic!("another kind"),
            }
            record
        };
        let study = study(vec![
            with(level("cpu-bvh+path", 1, VCM), 2.0),
            with(level("cpu-bvh+path", 2, VCM), 0.5),
            with(time("cpu-bvh+path", 2_000, VCM), 1.0),
            with(time("cuda@0+bpt", 1, VCM), 1.0),
        ]);
        assert_eq!(share(&study, "cpu-bvh+path"), ReferenceShare::Unknown(Unknown::Open));
        let bound = share(&study, "cuda@0+bpt");
        assert!(matches!(bound, ReferenceShare::AtMost(most) if most < 1.0), "{bound:?}");
    }
}
