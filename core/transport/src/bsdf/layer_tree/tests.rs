use super::*;
use crate::bsdf::chi_square::{Bins, assert_follows};
use crate::bsdf::evaluate_layered;
use crate::bsdf::layered::tests::{ALONG, PLAIN, base, direction, random, recovering, surfaces, tilts};
use lockstep_core::math::vec3::normalize;

/// The largest draw.
const LAST: f32 = 0.999_999_94;

/// Finds every leaf between two draws of a walk, by halves: leaves follow each other in one order.
fn between(leaves: &mut Vec<PickedLobe>, picked: &impl Fn(f32) -> PickedLobe, low: f32, high: f32) {
    for u in [low, high] {
        let found = picked(u);
        if leaves.iter().all(|leaf| leaf.lobe != found.lobe) {
            leaves.push(found);
        }
    }
    let middle = 0.5 * (low + high);
    if picked(low).lobe != picked(high).lobe && middle > low && middle < high {
        between(leaves, picked, low, middle);
        between(leaves, picked, middle, high);
    }
}

/// Every lobe that a walk may end at.
fn leaves(s: &Surface, l: &SurfaceLayers, axes: &LayerAxes, wo: Vec3) -> Vec<PickedLobe> {
    let mut found = Vec::new();
    between(&mut found, &|u| PickedLobe::new(s, l, axes, wo, [u, LAST]), 0.0, LAST);
    between(&mut found, &|u| PickedLobe::new(s, l, axes, wo, [LAST, u]), 0.0, LAST);
    found
}

fn all_surfaces() -> impl Iterator<Item = (Surface, SurfaceLayers)> {
    surfaces().into_iter().chain(recovering())
}

/// How far the mean of walks is beyond the rounding of all lobes together, 0 where it is not. One of the lobes may lack its
/// weight.
fn excess(
    leaves: &[PickedLobe],
    unweighted: Option<LayerLobe>,
    (s, l): (&Surface, &SurfaceLayers),
    axes: &LayerAxes,
    [wo, wi]: [Vec3; 2],
) -> f32 {
    let of_leaf = |leaf: &PickedLobe| {
        let weight = if unweighted == Some(leaf.lobe) { 1.0 } else { leaf.weight };
        PickedLobe { weight, ..*leaf }.evaluate(s, l, axes, wo, wi).value * (1.0 / leaf.weight)
    };
    let found = leaves.iter().map(of_leaf).fold(Vec3::ZERO, |sum, value| sum + value);
    let expected = evaluate_layered(s, l, axes, wo, wi).value;
    let channels = found.to_array().into_iter().zip(expected.to_array());
    channels.map(|(a, b)| (a - b).abs() - (1e-5 * b + 1e-9)).fold(0.0, f32::max)
}

/// The mean of a walk is all lobes together: each lobe's value over its probability, times its probability. A lobe that is
/// not divided by its probability is found, whichever it is.
#[test]
fn lobes_times_their_probabilities_are_all_lobes_together() {
    let (mut seen, mut found, mut below) = ([0; LayerLobe::ALL.len()], [0; LayerLobe::ALL.len()], 0);
    for (case, (s, l)) in all_surfaces().enumerate() {
        for axes in &tilts() {
            for i in 0..60 {
                let r = random(i, case as u32);
                let wo = direction(0.05 + 0.95 * r[0], r[1]);
                let leaves = leaves(&s, &l, axes, wo);
                let total: f32 = leaves.iter().map(|leaf| 1.0 / leaf.weight).sum();
                assert!((total - 1.0).abs() < 1e-5, "probabilities add up to {total}: {s:?} {l:?}");
                leaves.iter().for_each(|leaf| seen[leaf.lobe as usize] += 1);
                let wi = direction(2.0 * r[2] - 1.0, r[3]);
                let beyond = |unweighted| excess(&leaves, unweighted, (&s, &l), axes, [wo, wi]);
                assert_eq!(beyond(None), 0.0, "{s:?} {l:?} {axes:?} {wo:?} {wi:?}");
                for lobe in LayerLobe::ALL {
                    found[lobe as usize] += u32::from(beyond(Some(lobe)) > 1e-3);
                }
                below += u32::from(wi.z < 0.0 && evaluate_layered(&s, &l, axes, wo, wi).value.x > 0.0);
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 500) && below > 1_000, "{seen:?} {below}");
    assert!(found.iter().all(|&count| count > 100), "{found:?}");
}

/// Each lobe is picked as often as its weight says.
#[test]
fn walks_end_at_lobes_by_their_probabilities() {
    const WALKS: u32 = 4_000;
    for (case, (s, l)) in all_surfaces().enumerate() {
        let wo = normalize(vec3(0.4, 0.3, 0.5));
        let leaves = leaves(&s, &l, &ALONG, wo);
        let mut counts = vec![0.0f64; leaves.len()];
        for i in 0..WALKS {
            let r = random(i, 1_000 + case as u32);
            let picked = PickedLobe::new(&s, &l, &ALONG, wo, [r[0], r[1]]);
            let place = leaves.iter().position(|leaf| leaf.lobe == picked.lobe).expect("a known lobe");
            assert_eq!(picked.weight, leaves[place].weight);
            counts[place] += 1.0;
        }
        for (leaf, count) in leaves.iter().zip(counts) {
            let p = 1.0 / f64::from(leaf.weight);
            let (mean, deviation) = (p * f64::from(WALKS), (p * (1.0 - p) * f64::from(WALKS)).sqrt());
            assert!((count - mean).abs() < 5.0 * deviation + 1.0, "{:?}: {count} of {mean}", leaf.lobe);
        }
    }
}

/// Pearson's test of each lobe's samples against its density, and of walks and samples against their mixture.
#[test]
fn samples_of_lobes_pass_a_chi_square_test_against_their_densities() {
    const SAMPLES: u32 = 20_000;
    let wo = normalize(vec3(0.4, 0.3, 0.7));
    let is_sharp = |l: &SurfaceLayers| l.clearcoat > 0.0 && l.clearcoat_roughness < 0.2;
    let mixed = surfaces().into_iter().filter(|(s, _)| s.roughness >= 0.4).step_by(5);
    for (case, (s, l)) in recovering().into_iter().chain(mixed).filter(|(_, l)| !is_sharp(l)).enumerate() {
        let axes = if l.clearcoat > 0.0 { &tilts()[..] } else { &[ALONG] };
        for axes in axes {
            let of = |name: &str| format!("{name} of {s:?} {l:?} {axes:?}");
            let leaves = leaves(&s, &l, axes, wo);
            for leaf in &leaves {
                let sampled = |i| {
                    let r = random(i, 2_000 + case as u32);
                    let scattered = leaf.sample(&s, &l, axes, wo, r[0], r[1]);
                    (scattered.pdf > 0.0).then_some(scattered.wi)
                };
                let pdf = |wi| leaf.evaluate(&s, &l, axes, wo, wi).pdf;
                assert_follows(&of(&format!("{:?}", leaf.lobe)), &Bins::SPHERE, SAMPLES, sampled, pdf);
            }
            let walked = |i| {
                let r = random(i, 3_000 + case as u32);
                let u = random(i, 4_000 + case as u32);
                let picked = PickedLobe::new(&s, &l, axes, wo, [u[0], u[1]]);
                let scattered = picked.sample(&s, &l, axes, wo, r[0], r[1]);
                (scattered.pdf > 0.0).then_some(scattered.wi)
            };
            let mixture = |wi| {
                let of = |leaf: &PickedLobe| leaf.evaluate(&s, &l, axes, wo, wi).pdf / leaf.weight;
                leaves.iter().map(of).sum()
            };
            assert_follows(&of("walks"), &Bins::SPHERE, SAMPLES, walked, mixture);
        }
    }
}

#[test]
fn a_sample_has_the_weight_of_its_evaluation_and_a_black_surface_has_none() {
    let mut kept = 0;
    for (s, l) in all_surfaces() {
        for axes in &tilts() {
            for i in 0..40 {
                let (r, u) = (random(i, 5), random(i, 6));
                let wo = direction(0.001 + 0.999 * r[0], r[1]);
                let picked = PickedLobe::new(&s, &l, axes, wo, [u[0], u[1]]);
                let scattered = picked.sample(&s, &l, axes, wo, u[2], u[3]);
                assert!(
                    scattered.weight.is_finite() && scattered.pdf.is_finite(),
                    "{s:?} {l:?} {scattered:?}"
                );
                if scattered.pdf > 0.0 {
                    let e = picked.evaluate(&s, &l, axes, wo, scattered.wi);
                    assert_eq!((e.pdf, e.value * (1.0 / e.pdf)), (scattered.pdf, scattered.weight));
                    kept += 1;
                }
            }
        }
    }
    assert!(kept > 5_000, "{kept}");
    let black = Surface { base_color: Vec3::ZERO, ..base(0.5, 1.0, 0.0) };
    let nothing = SurfaceLayers { specular: 0.0, ..PLAIN };
    let up = vec3(0.0, 0.0, 1.0);
    let picked = PickedLobe::new(&black, &nothing, &ALONG, up, [0.5, 0.5]);
    assert_eq!(picked.evaluate(&black, &nothing, &ALONG, up, up).value, Vec3::ZERO);
}
