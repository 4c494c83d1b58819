//! One level of samples per pixel: the samples from the level before to this one, rendered on a target.

use std::ops::ControlFlow;

use lockstep_core::BvhOrigin;
use lockstep_core::{PassReport, TargetId};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::records::{Bounce, FilmHash, InvalidSamples, Load, Record, Timing};

use super::folder::Folder;
use super::rendered::Rendered;
use super::target_session::TargetSession;
use crate::chunking::Pass;
use crate::exit::Failure;
use crate::progress::Bar;

/// A range of samples of a scene.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level<'a> {
    /// The scene's name.
    pub(crate) scene: &'a str,
    /// First sample index.
    pub(crate) from: u32,
    /// One past the last sample index: samples per pixel of the film afterwards.
    pub(crate) to: u32,
    /// The random seed.
    pub(crate) seed: u32,
    /// The repeat of the same samples, from 0.
    pub(crate) repeat: u32,
}

impl Level<'_> {
    /// The samples that a target's time covers: those of the level, or for a program all from the first.
    pub(crate) fn timed(self, is_program: bool) -> Self {
        Self { from: if is_program { 0 } else { self.from }, ..self }
    }
}

/// A target's film or image at a level.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The target.
    pub(crate) target: TargetId,
    /// Host threads that rendered; zero for a device.
    pub(crate) threads: u32,
    /// Whether an external program rendered the level.
    pub(crate) is_program: bool,
    /// Time and rays of the level's samples; of a program, of all samples.
    pub(crate) pass: PassReport,
    /// The film or image at the level.
    pub(crate) rendered: Rendered,
    /// The film or image at the level before, where its samples are among these.
    pub(crate) before: Option<Rendered>,
    /// Mean radiance.
    pub(crate) image: LinearImage,
    /// The hash of what was rendered.
    pub(crate) hash: String,
}

impl Outcome {
    /// Samples of every pixel that are not those of the level before.
    pub(crate) fn own_spp(&self) -> u32 {
        self.rendered.spp() - self.before.as_ref().map_or(0, Rendered::spp)
    }
}

/// Renders a level on a target.
///
/// # Errors
/// [`Failure::Core`] of the renderer, [`Failure::Program`] of a program, or [`Failure::Input`] when the target does
/// not continue the film that it recorded.
pub(crate) fn render(
    level: &Level<'_>,
    session: &mut TargetSession,
    folder: &Folder,
    bar: &Bar,
) -> Result<ControlFlow<(), Outcome>, Failure> {
    if !session.is_program() && catch_up(level, session, folder, bar)?.is_break() {
        return Ok(ControlFlow::Break(()));
    }
    bar.say(&format!("{} {} spp on {}", level.scene, level.to, session.id));
    let Pass::Done(pass) = session.advance(level.to, &mut |n| bar.add(n))? else {
        return Ok(ControlFlow::Break(()));
    };
    let rendered = session.rendered()?;
    let before = session.last.replace(rendered.clone()).filter(|_| level.from > 0 && session.continues());
    let (image, hash) = (rendered.image()?, rendered.hash());
    let (target, threads, is_program) = (session.id.clone(), session.threads(), session.is_program());
    Ok(ControlFlow::Continue(Outcome { target, threads, is_program, pass, rendered, before, image, hash }))
}

/// Renders the samples before the level where a resumed study has their records but not their film, and
/// checks that the film is the recorded one.
fn catch_up(
    level: &Level<'_>,
    session: &mut TargetSession,
    folder: &Folder,
    bar: &Bar,
) -> Result<ControlFlow<()>, Failure> {
    if session.spp() >= level.from {
        return Ok(ControlFlow::Continue(()));
    }
    bar.say(&format!("{} catching up to {} spp on {}", level.scene, level.from, session.id));
    bar.lengthen(u64::from(level.from - session.spp()));
    if matches!(session.advance(level.from, &mut |n| bar.add(n))?, Pass::Stopped) {
        return Ok(ControlFlow::Break(()));
    }
    let rendered = session.rendered()?;
    let hash = rendered.hash();
    session.last = Some(rendered);
    check_film(&Level { to: level.from, ..*level }, &session.id, &hash, folder)?;
    Ok(ControlFlow::Continue(()))
}

/// Fails where a film is not the one that the folder has a record of.
///
/// # Errors
/// [`Failure::Input`], naming target, scene and level.
pub(crate) fn check_film(
    level: &Level<'_>,
    target: &TargetId,
    hash: &str,
    folder: &Folder,
) -> Result<(), Failure> {
    match folder.film_hash(&film_record(level, target, hash)) {
        Some(recorded) if recorded != hash => Err(Failure::Input(format!(
            "{target} renders {} at {} spp otherwise than {} has recorded: its code, driver or device has changed, or \
             the record has; add --fresh to start over, or choose another folder with -o",
            level.scene,
            level.to,
            folder.root().display()
        ))),
        _ => Ok(()),
    }
}

/// The record of a target's film at a level.
pub(crate) fn film_record(level: &Level<'_>, target: &TargetId, hash: &str) -> FilmHash {
    FilmHash::new(level.scene, target, level.to, u64::from(level.seed), hash)
}

/// The timing record of a level on one target.
pub(crate) fn timing(level: &Level<'_>, outcome: &Outcome) -> Timing {
    let (stages, bounces) = (&outcome.pass.stages, &outcome.pass.bounces);
    let level = level.timed(outcome.is_program);
    Timing {
        generate_ms: stages.ms(lockstep_core::stage::GENERATE),
        extend_ms: stages.ms(lockstep_core::stage::EXTEND),
        shade_ms: stages.shade_ms(),
        connect_ms: stages.ms(lockstep_core::stage::CONNECT),
        stages: stages.stages.iter().filter(|stage| stage.ms.is_finite()).cloned().collect(),
        total_ms: stages.total_ms,
        trace_ms: stages.trace_ms(),
        extension_rays: outcome.pass.extension_rays(),
        shadow_rays: outcome.pass.shadow_rays(),
        samples: outcome.rendered.pixels() as u64 * u64::from(level.to - level.from),
        threads: outcome.threads,
        extension_rays_by_bounce: bounces.iter().map(|b| b.extension_rays).collect(),
        shadow_rays_by_bounce: bounces.iter().map(|b| b.shadow_rays).collect(),
        ..timing_key(&level, &outcome.target)
    }
    .with_derived()
}

/// The key of the timing of a level on one target.
pub(crate) fn timing_key(level: &Level<'_>, target: &TargetId) -> Timing {
    Timing {
        scene: level.scene.to_owned(),
        target: target.clone(),
        spp_from: level.from,
        spp_to: level.to,
        seed: u64::from(level.seed),
        repeat: level.repeat,
        mode: target.mode,
        ..Timing::default()
    }
}

/// The rays of a level, bounce by bounce.
pub(crate) fn bounces<'a>(level: &'a Level<'_>, outcome: &'a Outcome) -> impl Iterator<Item = Record> + 'a {
    outcome.pass.bounces.iter().zip(0..).map(|(counts, bounce)| {
        Bounce {
            scene: level.scene.to_owned(),
            target: outcome.target.clone(),
            spp_from: level.from,
            spp_to: level.to,
            bounce,
            extension_rays: counts.extension_rays,
            hits: counts.hits,
            shadow_rays: counts.shadow_rays,
            unoccluded: counts.unoccluded,
            mode: outcome.target.mode,
        }
        .into()
    })
}

/// The samples that a film had to alter; nothing when there are none.
pub(crate) fn invalid_samples(level: &Level<'_>, outcome: &Outcome) -> Option<Record> {
    let invalid = outcome.rendered.invalid();
    (!invalid.is_zero()).then(|| {
        InvalidSamples {
            scene: level.scene.to_owned(),
            target: outcome.target.clone(),
            spp: level.to,
            seed: u64::from(level.seed),
            non_finite: invalid.non_finite,
            negative: invalid.negative,
            clamped: invalid.clamped,
            mode: outcome.target.mode,
        }
        .into()
    })
}

/// The record of taking a scene to a target.
pub(crate) fn load_record(
    (scene, triangles): (&str, u64),
    target: &TargetId,
    report: &lockstep_core::LoadReport,
) -> Record {
    Load {
        scene: scene.to_owned(),
        target: target.clone(),
        build_ms: report.build_ms,
        cached: report.bvh.map(|bvh| bvh.origin == BvhOrigin::Cached),
        compile_ms: report.compile_ms,
        upload_ms: report.upload_ms,
        triangles,
        device_bytes: report.device_bytes,
        photon_map_bytes: report.photon_map_bytes,
        mode: target.mode,
    }
    .into()
}
