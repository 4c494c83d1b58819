//! The promise of [`lockstep_core::Renderer::vary`]: no way to run passes changes a bit of an exact film.

use crate::{During, Open, Verdict, film_of, made, opened, render, scenes};
use lockstep_core::KernelConfig;
use lockstep_core::error::Error;
use lockstep_core::film::Film;
use lockstep_core::{Mode, Settings};

/// The film's size: not a multiple of any tile or work-group.
const SETTINGS: Settings =
    Settings { width: 75, height: 41, bounces: 9, seed: 3, roulette_from: Some(2), ..Settings::DEFAULT };

/// The one size of a group besides a target's own.
const GROUP: u32 = 256;

/// Samples of every pixel, added in two passes.
const SPP: u32 = 6;

/// Renders the suite's scene in the ways that a renderer lists and in these besides, and compares films and ray counts
/// with the default's. Returns the variants that were refused with the reasons.
///
/// # Errors
/// A refusal that is no [`Error::Device`] and no [`Error::Unsupported`] or leaves the renderer unusable, and a renderer that
/// fails otherwise.
///
/// # Panics
/// When a variant changes a film.
pub fn variants(open: &mut Open<'_>, besides: &[KernelConfig]) -> Verdict<Vec<(KernelConfig, String)>> {
    let scene = made(scenes::everything())?;
    let mut renderer = opened(open)?;
    let (expected, report) = render(renderer.as_mut(), &scene, &SETTINGS, SPP)?;
    let mut listed = renderer.kernel_configs();
    assert_eq!(
        listed.first(),
        Some(&KernelConfig::default()),
        "the default is the first of a target's variants"
    );
    // Some compilers make all kernels anew for every size of a group.
    listed.retain(|variant| variant.group.is_none_or(|group| group == GROUP));
    listed.extend(besides);
    let mut refused = Vec::new();
    for variant in &listed {
        match renderer.configure(variant) {
            Err(refusal @ (Error::Device { .. } | Error::Unsupported { .. })) => {
                refused.push((*variant, refusal.to_string()));
                continue;
            }
            other => other.during(|| format!("turning to {variant}"))?,
        };
        let empty = film_of(renderer.as_mut(), &scene)?;
        assert!(empty.spp == 0 && empty.sums.iter().all(|s| *s == [0; 3]), "{variant} starts a new film");
        let first = renderer.accumulate(2..SPP).during(|| format!("rendering by {variant}"))?;
        let second = renderer.accumulate(0..2).during(|| format!("rendering by {variant}"))?;
        let film = film_of(renderer.as_mut(), &scene)?;
        if variant.mode == Mode::Exact {
            assert_same(&expected, &film, variant);
            let rays = first.extension_rays() + second.extension_rays();
            assert_eq!(rays, report.extension_rays(), "{variant}: extension rays");
            let rays = first.shadow_rays() + second.shadow_rays();
            assert_eq!(rays, report.shadow_rays(), "{variant}: shadow rays");
            for (bounce, counts) in report.bounces.iter().enumerate() {
                let parts =
                    [&first, &second].map(|pass| pass.bounces.get(bounce).copied().unwrap_or_default());
                let [a, b] = parts;
                assert_eq!(a.hits + b.hits, counts.hits, "{variant}: hits of bounce {bounce}");
                let reached = a.unoccluded + b.unoccluded;
                assert_eq!(reached, counts.unoccluded, "{variant}: unoccluded rays of bounce {bounce}");
            }
        }
    }
    // Whatever was refused last, the renderer goes on.
    let (film, _) = render(renderer.as_mut(), &scene, &SETTINGS, SPP)?;
    assert_same(&expected, &film, &KernelConfig::default());
    Ok(refused)
}

fn assert_same(expected: &Film, film: &Film, variant: &KernelConfig) {
    assert_eq!(film.pixels_differing(expected), 0, "{variant}: pixels that differ from the default's film");
    assert_eq!(film.invalid, expected.invalid, "{variant}");
}
