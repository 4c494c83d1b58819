//! One step of the ladder: from the samples of one rung to those of the next, on every target in turn.

use std::ops::ControlFlow;

use lockstep_core::BvhOrigin;
use lockstep_core::{Film, PassReport};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::records::{Bounce, FilmHash, Load, Record, RejectedSamples, TargetId, Timing};

use super::folder::Folder;
use super::participant::Participant;
use crate::exit::Failure;
use crate::pace::Pass;
use crate::progress::Bar;
use crate::render::image_of;

/// Which samples of which scene, and the how-manieth time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    /// The scene's name.
    pub(crate) scene: &'a str,
    /// First sample index.
    pub(crate) from: u32,
    /// One past the last: the rung that the step ends on.
    pub(crate) to: u32,
    /// The random seed.
    pub(crate) seed: u32,
    /// Which repeat of the same samples, from 0.
    pub(crate) repeat: u32,
}

/// What one target made of a step.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The target.
    pub(crate) target: String,
    /// Time and rays of the step.
    pub(crate) pass: PassReport,
    /// The film at its end.
    pub(crate) film: Film,
    /// The film at its start; nothing where it was empty.
    pub(crate) before: Option<Film>,
    /// The film's mean radiance.
    pub(crate) image: LinearImage,
    /// BLAKE3 of the film's integers.
    pub(crate) hash: String,
}

/// Renders the step on every target, one after the other, so that a clock that drifts drifts for all alike.
///
/// # Errors
/// What a renderer says, or [`Failure::Input`] when a target does not continue the film that it recorded.
pub(crate) fn render(
    step: &Step<'_>,
    participants: &mut [Participant],
    folder: &Folder,
    bar: &Bar,
) -> Result<ControlFlow<(), Vec<Outcome>>, Failure> {
    let mut outcomes = Vec::with_capacity(participants.len());
    for participant in participants.iter_mut().filter(|p| p.active) {
        match render_on(step, participant, folder, bar)? {
            ControlFlow::Continue(outcome) => outcomes.push(outcome),
            ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
        }
    }
    Ok(ControlFlow::Continue(outcomes))
}

/// Renders the step on one target.
///
/// # Errors
/// As [`render`].
pub(crate) fn render_on(
    step: &Step<'_>,
    participant: &mut Participant,
    folder: &Folder,
    bar: &Bar,
) -> Result<ControlFlow<(), Outcome>, Failure> {
    if catch_up(step, participant, folder, bar)?.is_break() {
        return Ok(ControlFlow::Break(()));
    }
    bar.say(&format!("{} {} spp on {}", step.scene, step.to, participant.name));
    let Pass::Done(pass) = participant.advance(step.to, &mut |n| bar.add(n))? else {
        return Ok(ControlFlow::Break(()));
    };
    let film = participant.film()?;
    let before = participant.last.replace(film.clone()).filter(|_| step.from > 0);
    let (image, hash) = (image_of(&film)?, film_hash(&film));
    Ok(ControlFlow::Continue(Outcome { target: participant.name.clone(), pass, film, before, image, hash }))
}

/// Renders the samples before the step where a resumed study has their records but not their film, and checks that the
/// film is the recorded one.
fn catch_up(
    step: &Step<'_>,
    participant: &mut Participant,
    folder: &Folder,
    bar: &Bar,
) -> Result<ControlFlow<()>, Failure> {
    if participant.spp() >= step.from {
        return Ok(ControlFlow::Continue(()));
    }
    bar.say(&format!("{} catching up to {} spp on {}", step.scene, step.from, participant.name));
    if matches!(participant.advance(step.from, &mut |n| bar.add(n))?, Pass::Stopped) {
        return Ok(ControlFlow::Break(()));
    }
    let film = participant.film()?;
    let hash = film_hash(&film);
    participant.last = Some(film);
    let record = FilmHash::new(step.scene, &participant.name, step.from, u64::from(step.seed), &hash);
    match folder.film_hash(&record) {
        Some(recorded) if recorded != hash => Err(Failure::Input(format!(
            "{} no longer renders {} at {} spp as it did when {} was begun: its code, driver or device has changed; add \
             --fresh to start over, or choose another folder with -o",
            participant.name,
            step.scene,
            step.from,
            folder.root().display()
        ))),
        _ => Ok(ControlFlow::Continue(())),
    }
}

/// BLAKE3 of a film's size, sample count and integers, in hexadecimal.
pub(crate) fn film_hash(film: &Film) -> String {
    let mut hasher = blake3::Hasher::new();
    for number in [film.width(), film.height(), film.spp] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(bytemuck::cast_slice(&film.sums));
    hasher.finalize().to_hex().to_string()
}

/// The timing record of a step on one target.
pub(crate) fn timing(step: &Step<'_>, participant: &Participant, outcome: &Outcome) -> Timing {
    let (stages, bounces) = (&outcome.pass.stages, &outcome.pass.bounces);
    Timing {
        generate_ms: stages.ms(lockstep_core::stage::GENERATE),
        extend_ms: stages.ms(lockstep_core::stage::EXTEND),
        shade_ms: stages.ms(lockstep_core::stage::SHADE),
        connect_ms: stages.ms(lockstep_core::stage::CONNECT),
        total_ms: stages.total_ms,
        trace_ms: stages.trace_ms(),
        extension_rays: outcome.pass.extension_rays(),
        shadow_rays: outcome.pass.shadow_rays(),
        samples: outcome.film.sums.len() as u64 * u64::from(step.to - step.from),
        threads: participant.threads(),
        extension_rays_by_bounce: bounces.iter().map(|b| b.extension_rays).collect(),
        shadow_rays_by_bounce: bounces.iter().map(|b| b.shadow_rays).collect(),
        ..timing_key(step, &participant.name)
    }
    .with_derived()
}

/// What identifies the timing of a step on one target.
pub(crate) fn timing_key(step: &Step<'_>, target: &str) -> Timing {
    Timing {
        scene: step.scene.to_owned(),
        target: target.to_owned(),
        spp_from: step.from,
        spp_to: step.to,
        seed: u64::from(step.seed),
        repeat: step.repeat,
        mode: TargetId::from(target).mode,
        ..Timing::default()
    }
}

/// The rays of a step, bounce by bounce.
pub(crate) fn bounces<'a>(step: &'a Step<'_>, outcome: &'a Outcome) -> impl Iterator<Item = Record> + 'a {
    outcome.pass.bounces.iter().zip(0..).map(|(counts, bounce)| {
        Bounce {
            scene: step.scene.to_owned(),
            target: outcome.target.clone(),
            spp_from: step.from,
            spp_to: step.to,
            bounce,
            extension_rays: counts.extension_rays,
            hits: counts.hits,
            shadow_rays: counts.shadow_rays,
            unoccluded: counts.unoccluded,
            mode: TargetId::from(outcome.target.as_str()).mode,
        }
        .into()
    })
}

/// The samples that a film had to alter; nothing when there are none.
pub(crate) fn rejected(step: &Step<'_>, outcome: &Outcome) -> Option<Record> {
    let invalid = outcome.film.invalid;
    (!invalid.is_zero()).then(|| {
        RejectedSamples {
            scene: step.scene.to_owned(),
            target: outcome.target.clone(),
            spp: step.to,
            seed: u64::from(step.seed),
            non_finite: invalid.non_finite,
            negative: invalid.negative,
            clamped: invalid.clamped,
            mode: TargetId::from(outcome.target.as_str()).mode,
        }
        .into()
    })
}

/// The record of taking a scene to a target.
pub(crate) fn load(scene: &lockstep_core::Scene, target: &str, report: &lockstep_core::LoadReport) -> Record {
    Load {
        scene: scene.name.clone(),
        target: target.to_owned(),
        build_ms: report.build_ms,
        cached: report.bvh.map(|bvh| bvh.origin == BvhOrigin::Cached),
        compile_ms: report.compile_ms,
        upload_ms: report.upload_ms,
        triangles: scene.triangles.len() as u64,
        device_bytes: report.device_bytes,
        mode: TargetId::from(target).mode,
    }
    .into()
}
