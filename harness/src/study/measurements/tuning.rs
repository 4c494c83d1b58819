//! `lockstep tune`: a pass of a target in one kernel configuration, timed and held to the default's film.
//!
//! A round times every configuration once and the default again at its end, as the A/A control. All
//! configurations of a target render the same samples of a scene.

use std::ops::ControlFlow;

use lockstep_core::{ConfigureReport, Mode};
use lockstep_core::{Error, KernelConfig, PassReport, Scene, Structure, TargetId};
use lockstep_reports::records::{Record, Tune};

use crate::exit::Failure;
use crate::interrupt;
use crate::output::say;
use crate::study::lab::Lab;
use crate::study::runner::{Key, Measurement, Series};
use crate::study::target_session::{Purpose, TargetSession};

/// All timed passes of a target on a scene should take about this long together, in milliseconds.
const TARGET_MS: f64 = 20_000.0;

/// The longest that a pass should take, in milliseconds.
const LONGEST_PASS_MS: f64 = 200.0;

/// Samples of every pixel that a pass takes where that is not too long: with fewer, several in flight are no
/// more than one.
const WANTED_SPP: u32 = 4;

/// The most samples of every pixel that a pass takes where the user does not say.
const MOST_SPP: u32 = 4_096;

/// One configuration in one round.
struct TuningPass<'a> {
    scene: &'a Scene,
    target: TargetId,
    config: KernelConfig,
    /// Whether the configuration is the target's default.
    is_default: bool,
    repeat: u32,
    /// The default's second time in the round.
    aa_control: bool,
    /// Samples of every pixel.
    spp: u32,
}

/// The passes of a target on a scene, which the target holds afterwards; none where it cannot render it.
///
/// # Errors
/// [`Failure`] of the renderer and the folder.
pub(crate) fn series<'a>(
    lab: &mut Lab<'_>,
    scene: &'a Scene,
    target: &TargetId,
) -> Result<Option<Series<'a>>, Failure> {
    lab.load_on(std::slice::from_ref(target), scene, lab.plan.settings.seed, Purpose::Tuning)?;
    if lab.refuses(target, &scene.name) {
        return Ok(None);
    }
    let default = default_of(lab, scene, target).map(|point| point.spp);
    let (asked, rounds) = (lab.plan.schedule.levels.first().copied(), lab.plan.repeats);
    let words = lab.plan.configurations.clone();
    let Some(session) = lab.session(target) else { return Ok(None) };
    let all = session.renderer()?.kernel_configs();
    // The list begins with it.
    let Some(&default_config) = all.first() else { return Ok(None) };
    let configs = chosen(&all, &words);
    if configs.len() == 1 && !words.is_empty() {
        let labels: Vec<String> = all.iter().map(KernelConfig::to_string).collect();
        say(&format!(
            "lockstep: no configuration of {} on {target} has {} in its label, so its default alone is timed; --configurations \
             takes words of {}",
            scene.name,
            words.join(" or "),
            labels.join(", ")
        ));
    }
    let passes = f64::from(rounds) * (configs.len() + 1) as f64;
    // As many samples as before where the tuning was stopped.
    let spp = match asked.or(default) {
        Some(spp) => spp,
        None => choose_spp(session, scene, &default_config, passes)?,
    };
    let mut measurements: Vec<Box<dyn Measurement + 'a>> = Vec::new();
    for repeat in 0..rounds {
        let control = std::iter::once((default_config, true));
        for (config, aa_control) in configs.iter().map(|&config| (config, false)).chain(control) {
            let target = target.clone();
            let is_default = config == default_config;
            measurements.push(Box::new(TuningPass {
                scene,
                target,
                config,
                is_default,
                repeat,
                aa_control,
                spp,
            }));
        }
    }
    let scenes = &lab.plan.scenes;
    let index = scenes.iter().position(|one| one.name == scene.name).filter(|_| scenes.len() > 1);
    let place = index.map(|index| (index + 1, scenes.len()));
    Ok(Some(Series { title: format!("{} on {target}", scene.name), place, measurements }))
}

/// The default, which is the first, and those with one of the words in their label; all where there are no words.
fn chosen(all: &[KernelConfig], words: &[String]) -> Vec<KernelConfig> {
    let is_wanted = |config: &KernelConfig| {
        words.is_empty() || words.iter().any(|word| config.to_string().contains(word.as_str()))
    };
    let wanted = all.iter().enumerate().filter(|(i, config)| *i == 0 || is_wanted(config));
    wanted.map(|(_, config)| *config).collect()
}

/// Doubles the samples of a pass until it takes long enough.
fn choose_spp(
    session: &mut TargetSession,
    scene: &Scene,
    default_config: &KernelConfig,
    passes: f64,
) -> Result<u32, Failure> {
    let wanted = (TARGET_MS / passes).min(LONGEST_PASS_MS);
    let longest = |spp| if spp < WANTED_SPP { LONGEST_PASS_MS } else { wanted };
    let mut spp = 1;
    loop {
        configure(session, scene, default_config)?;
        let pass = session.renderer()?.accumulate(0..spp)?;
        if pass.stages.total_ms * 2.0 > longest(spp) || spp >= MOST_SPP || interrupt::requested() {
            return Ok(spp);
        }
        spp *= 2;
    }
}

/// Selects a configuration; a target that knows none but the default is loaded anew.
fn configure(
    session: &mut TargetSession,
    scene: &Scene,
    config: &KernelConfig,
) -> Result<ConfigureReport, Failure> {
    match session.renderer()?.configure(config) {
        Err(Error::Unsupported { .. }) if *config == KernelConfig::default() => {
            session.reload(scene)?;
            Ok(ConfigureReport::default())
        }
        other => Ok(other?),
    }
}

/// The first pass of a target's default configuration on a scene, which the others are compared with.
fn default_of<'a>(lab: &'a Lab<'_>, scene: &Scene, target: &TargetId) -> Option<&'a Tune> {
    lab.folder.tunings().iter().find(|p| p.scene == scene.name && p.target == *target && p.default)
}

impl Measurement for TuningPass<'_> {
    /// A configuration that was refused once has no further results.
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let key = self.key(lab);
        let is_same = |p: &&Tune| {
            (&p.scene, &p.target, &p.configuration) == (&key.scene, &key.target, &key.configuration)
                && !p.refused.is_empty()
        };
        if lab.folder.tunings().iter().any(|point| is_same(&point)) {
            return Vec::new();
        }
        vec![Key::of(key)]
    }

    fn samples(&self, _: &Lab<'_>) -> u64 {
        u64::from(self.spp)
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        lab.bar.say(&format!("{} {} {}", self.scene.name, self.target, self.config));
        let key = self.key(lab);
        let record = match self.pass(lab, key.clone()) {
            Ok(record) => record,
            // Without its default a target has nothing to compare with.
            Err(failure) if key.default => return Err(failure),
            Err(Failure::Core(
                error @ (Error::Device { .. } | Error::Unsupported { .. } | Error::Compile { .. }),
            )) => Tune { refused: reason(&error), ..key },
            Err(other) => return Err(other),
        };
        lab.bar.add(u64::from(self.spp));
        Ok(ControlFlow::Continue(vec![record.into()]))
    }
}

impl TuningPass<'_> {
    fn pass(&self, lab: &mut Lab<'_>, key: Tune) -> Result<Tune, Failure> {
        let default = default_of(lab, self.scene, &self.target).map(|p| (p.film.clone(), p.rays));
        let Some(session) = lab.session(&self.target) else { return Ok(key) };
        let configured = configure(session, self.scene, &self.config)?;
        let pass = session.renderer()?.accumulate(0..self.spp)?;
        let film = session.rendered()?.hash();
        let rays = pass.extension_rays() + pass.shadow_rays();
        let identical = default.is_none_or(|default| default == (film.clone(), rays));
        let (group, compile_ms) = (configured.group, configured.compile_ms);
        let point = Tune { group, compile_ms, rays, film, identical, ..key };
        Ok(with_times(point, &self.config, &pass))
    }

    fn key(&self, lab: &Lab<'_>) -> Tune {
        let config = &self.config;
        let in_grid = *config == KernelConfig { group: config.group, ..config.structure_and_scheduling() };
        let session = lab.sessions().iter().find(|session| session.id == self.target);
        let is_exact = session.is_some_and(|session| session.info.exact);
        Tune {
            scene: self.scene.name.clone(),
            target: self.target.clone(),
            configuration: config.to_string(),
            scheduling: config.structure_and_scheduling().to_string(),
            group: config.group,
            in_grid,
            default: self.is_default,
            repeat: self.repeat,
            aa_control: self.aa_control,
            spp: self.spp,
            seed: u64::from(lab.plan.settings.seed),
            promised: is_exact && config.keeps_film(),
            measures_only: config.mode == Mode::Exact && !config.keeps_film(),
            mode: config.mode,
            ..Tune::default()
        }
    }
}

/// Fills in the times of a pass.
fn with_times(point: Tune, config: &KernelConfig, pass: &PassReport) -> Tune {
    let stages = &pass.stages;
    let (trace, shade) = (stages.trace_ms(), stages.shade_ms());
    let [trace_ms, shade_ms, queue_ms] = match config.structure {
        Structure::Megakernel => [f64::NAN; 3],
        _ => [trace, shade, (stages.total_ms - trace - shade).max(0.0)],
    };
    Tune { trace_ms, shade_ms, queue_ms, total_ms: stages.total_ms, ..point }
}

/// A refusal without the target's name, which stands beside it.
fn reason(error: &Error) -> String {
    match error {
        Error::Device { action, reason, .. } => format!("{action}: {reason}"),
        Error::Unsupported { what, .. } => format!("{what} is not supported"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
