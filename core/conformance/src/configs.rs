//! The promise of [`Renderer::configure`]: no kernel configuration changes a bit of an exact film.

use crate::{Checked, During, Extent, Outcome, Subject, everything, film_of, render};
use lockstep_core::error::Error;
use lockstep_core::film::Film;
use lockstep_core::scene::Scene;
use lockstep_core::{
    KernelConfig, LayerSampling, MergeSums, Mode, PassReport, Renderer, Settings, Structure,
};

/// The film's size: not a multiple of any tile or work-group.
const SETTINGS: Settings =
    Settings { width: 75, height: 41, bounces: 9, seed: 3, roulette_from: Some(2), ..Settings::DEFAULT };

/// The one work-group size that the quick suite tests besides a target's own: some compilers build all
/// kernels anew for each.
const GROUP: u32 = 256;

/// Work-group sizes that the full suite adds to a target's list.
const GROUPS: [u32; 4] = [32, 64, 512, 1024];

/// A work-group larger than any device takes.
const IMPOSSIBLE_GROUP: u32 = 1 << 20;

/// Samples of every pixel, added in two passes.
const SPP: u32 = 6;

/// A configuration that a target refused, and its reason.
pub type Refusal = (KernelConfig, String);

/// Renders the suite's scene in the configurations that a renderer lists, and compares films and ray counts
/// with the default's. The full suite adds further work-group sizes. Returns the refused configurations.
///
/// # Errors
/// A refusal other than [`Error::Device`] and [`Error::Unsupported`], and any other failure of the renderer.
///
/// # Panics
/// When a configuration changes a film.
pub fn kernel_configs(subject: &Subject<'_>) -> Checked<Vec<Refusal>> {
    let mut trial = ConfigTrial::start(subject)?;
    let mut listed = trial.renderer.kernel_configs();
    assert_eq!(
        listed.first(),
        Some(&KernelConfig::default()),
        "the default is the first of a target's configurations"
    );
    match subject.extent() {
        Extent::Quick => listed.retain(|config| config.group.is_none_or(|group| group == GROUP)),
        Extent::Full => add_groups(&mut listed),
    }
    let mut refused = Vec::new();
    for config in listed {
        refused.extend(trial.run(config)?);
    }
    trial.finish()?;
    Ok(refused)
}

/// Adds [`GROUPS`] to the list of a target that has work-groups.
fn add_groups(listed: &mut Vec<KernelConfig>) {
    if listed.iter().all(|config| config.group.is_none()) {
        return;
    }
    for structure in [Structure::Wavefront, Structure::Megakernel] {
        let sized =
            GROUPS.map(|group| KernelConfig { structure, group: Some(group), ..KernelConfig::default() });
        let further: Vec<KernelConfig> =
            sized.into_iter().filter(|config| !listed.contains(config)).collect();
        listed.extend(further);
    }
}

/// Every configuration of the target's list leaves the default's film.
pub(crate) fn every_configuration_leaves_the_same_film(subject: &Subject<'_>) -> Checked<Outcome> {
    let refused = kernel_configs(subject)?;
    if refused.is_empty() {
        return Ok(Outcome::default());
    }
    let words: Vec<String> = refused.iter().map(|(config, reason)| format!("{config} ({reason})")).collect();
    Ok(Outcome::Passed(format!("refused: {}", words.join(", "))))
}

/// A work-group that is too large is refused, and so is any configuration that the target's list and modes
/// lack.
pub(crate) fn impossible_configurations_are_refused(subject: &Subject<'_>) -> Checked {
    let mut trial = ConfigTrial::start(subject)?;
    let listed = trial.renderer.kernel_configs();
    let has_groups = listed.iter().any(|config| config.group.is_some());
    let default = KernelConfig::default();
    let too_large = KernelConfig { group: Some(IMPOSSIBLE_GROUP), ..default };
    let lacks = |has: &dyn Fn(&KernelConfig) -> bool| !listed.iter().any(has);
    let impossible = [
        (true, too_large),
        (!has_groups, KernelConfig { group: Some(128), ..default }),
        (lacks(&|config| config.tile.is_some()), KernelConfig { tile: Some(8), ..default }),
        (
            lacks(&|config| config.structure == Structure::Megakernel),
            KernelConfig { structure: Structure::Megakernel, ..default },
        ),
        (!subject.has_mode(Mode::Fast), KernelConfig::in_mode(Mode::Fast)),
        // The suite's scene is rendered by an integrator that merges nothing
        (true, KernelConfig { merges: MergeSums::Floats, ..default }),
        // and has no layers
        (true, KernelConfig { layers: LayerSampling::Tree, ..default }),
    ];
    for (_, config) in impossible.into_iter().filter(|(is_impossible, _)| *is_impossible) {
        let Some((_, reason)) = trial.run(config)? else {
            // The suite's own claim failed, which is a panic as in every check.
            assert_eq!(Some(config), None, "an impossible configuration is refused");
            continue;
        };
        if config == too_large && has_groups {
            assert!(reason.contains("1 to "), "the refusal says which sizes are possible: {reason}");
        }
    }
    trial.finish()
}

/// A renderer of the suite's scene with the film of the default configuration.
struct ConfigTrial {
    scene: Scene,
    renderer: Box<dyn Renderer>,
    expected: Film,
    report: PassReport,
}

impl ConfigTrial {
    fn start(subject: &Subject<'_>) -> Checked<Self> {
        let scene = everything()?;
        let mut renderer = subject.open()?;
        let (expected, report) = render(renderer.as_mut(), &scene, &SETTINGS, SPP)?;
        Ok(Self { scene, renderer, expected, report })
    }

    /// Selects a configuration and renders in it, unless the target refuses it.
    fn run(&mut self, config: KernelConfig) -> Checked<Option<Refusal>> {
        match self.renderer.configure(&config) {
            Err(refusal @ (Error::Device { .. } | Error::Unsupported { .. })) => {
                return Ok(Some((config, refusal.to_string())));
            }
            other => other.during(|| format!("selecting {config}"))?,
        };
        let empty = film_of(self.renderer.as_mut(), &self.scene)?;
        assert!(empty.spp == 0 && empty.sums.iter().all(|s| *s == [0; 3]), "{config} starts a new film");
        let first = self.renderer.accumulate(2..SPP).during(|| format!("rendering by {config}"))?;
        let second = self.renderer.accumulate(0..2).during(|| format!("rendering by {config}"))?;
        let film = film_of(self.renderer.as_mut(), &self.scene)?;
        if config.keeps_film() {
            self.assert_same_film(&film, &config);
            self.assert_same_rays(&first, &second, &config);
        }
        Ok(None)
    }

    /// After a refusal, the renderer still works.
    fn finish(mut self) -> Checked {
        let (film, _) = render(self.renderer.as_mut(), &self.scene, &SETTINGS, SPP)?;
        self.assert_same_film(&film, &KernelConfig::default());
        Ok(())
    }

    fn assert_same_film(&self, film: &Film, config: &KernelConfig) {
        let differing = film.pixels_differing(&self.expected);
        assert_eq!(differing, 0, "{config}: pixels that differ from the default's film");
        assert_eq!(film.invalid, self.expected.invalid, "{config}: invalid samples");
    }

    fn assert_same_rays(&self, first: &PassReport, second: &PassReport, config: &KernelConfig) {
        let rays = first.extension_rays() + second.extension_rays();
        assert_eq!(rays, self.report.extension_rays(), "{config}: extension rays");
        let rays = first.shadow_rays() + second.shadow_rays();
        assert_eq!(rays, self.report.shadow_rays(), "{config}: shadow rays");
        for (bounce, counts) in self.report.bounces.iter().enumerate() {
            let [a, b] = [first, second].map(|pass| pass.bounces.get(bounce).copied().unwrap_or_default());
            assert_eq!(a.hits + b.hits, counts.hits, "{config}: hits of bounce {bounce}");
            let reached = a.unoccluded + b.unoccluded;
            assert_eq!(reached, counts.unoccluded, "{config}: unoccluded rays of bounce {bounce}");
        }
    }
}
