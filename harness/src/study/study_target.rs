//! The targets that a study's command line names: Lockstep's own and external programs.

use lockstep_core::{Integrator, LayerSampling, Mode, OpenOptions};

use super::target_session::TargetSession;
use crate::backends::{self, Target};
use crate::cli::TargetList;
use crate::exit::Failure;
use crate::external::{External, Externals, Program, SceneInput};
use crate::together;

/// A target of a study.
pub(crate) enum StudyTarget {
    /// One of Lockstep's own.
    Own(Box<Target>),
    /// An external program.
    Program(Box<External>),
}

impl From<Target> for StudyTarget {
    fn from(target: Target) -> Self {
        Self::Own(Box::new(target))
    }
}

impl StudyTarget {
    /// Opens the target.
    ///
    /// # Errors
    /// [`Failure::TargetAbsent`] when it is not here, [`Failure::Core`] when its device refuses.
    pub(crate) fn open(&self, options: &OpenOptions) -> Result<TargetSession, Failure> {
        match self {
            Self::Own(target) => Ok(TargetSession::new(target.id.clone(), target.open(options)?)),
            Self::Program(external) => Ok(TargetSession::of_program(Program::open(external)?)),
        }
    }

    /// The name by which results are told.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Own(target) => target.id.to_string(),
            Self::Program(external) => external.id.to_string(),
        }
    }

    /// Whether the target reads scene files itself.
    pub(crate) fn reads_scenes(&self) -> bool {
        match self {
            Self::Own(_) => false,
            Self::Program(external) => external.declared.scene == SceneInput::Named,
        }
    }

    /// The target, where it is one of Lockstep's own.
    pub(crate) fn own(&self) -> Option<&Target> {
        match self {
            Self::Own(target) => Some(target),
            Self::Program(_) => None,
        }
    }
}

/// The words for groups as targets, as in `together(cuda@0,cpu-bvh)`. A group with a target that is absent keeps the words
/// that it was named by, to be skipped by them.
///
/// # Errors
/// [`Failure::Usage`] for a word that means no target.
pub(crate) fn sets(groups: &[TargetList]) -> Result<Vec<String>, Failure> {
    let name = |group: &TargetList| match together::select(&group.0) {
        Ok(targets) => Ok(together::name_of(&targets)),
        Err(Failure::TargetAbsent { .. }) => Ok(format!("{}({})", together::NAME, group.0.join(","))),
        Err(other) => Err(other),
    };
    groups.iter().map(name).collect()
}

/// Fails unless one of these targets has this name, whatever its integrator.
///
/// # Errors
/// [`Failure::Usage`] naming those that there are.
pub(crate) fn find(targets: &[StudyTarget], name: &str) -> Result<(), Failure> {
    let renderer = |target: &StudyTarget| match target {
        StudyTarget::Own(own) => own.id.renderer().to_string(),
        StudyTarget::Program(external) => external.id.to_string(),
    };
    let mut names: Vec<String> = targets.iter().map(renderer).collect();
    names.dedup();
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "speeds cannot be compared with {name}, which is no target of this study; --against one of {}",
        names.join(", ")
    )))
}

/// The targets that words mean, each once, in the order of the words. Neighbouring words that mean no programs are
/// selected together. Each renders by every one of these integrators in turn, or by that of the settings where there
/// are none, and so for ways of sampling layers; programs have neither modes nor integrators nor such ways.
///
/// # Errors
/// [`Failure::Usage`] for a word that means no target.
pub(crate) fn select(
    externals: &Externals,
    words: &[String],
    modes: &[Mode],
    integrators: &[Integrator],
    layers: &[LayerSampling],
) -> Result<Vec<StudyTarget>, Failure> {
    let mut selected: Vec<StudyTarget> = Vec::new();
    for run in words.chunk_by(|a, b| externals.named(a).is_empty() && externals.named(b).is_empty()) {
        let programs: Vec<&External> = run.iter().flat_map(|word| externals.named(word)).collect();
        if programs.is_empty() {
            let found =
                backends::select_in_modes(run, modes).map_err(|failure| externals.name_in(failure))?;
            for target in found.iter().flat_map(|target| target.by_each(integrators, layers)) {
                if !selected.iter().any(|s| s.own().is_some_and(|own| own.id == target.id)) {
                    selected.push(target.into());
                }
            }
        }
        for program in programs {
            let is_same =
                |s: &StudyTarget| matches!(s, StudyTarget::Program(other) if other.id == program.id);
            if !selected.iter().any(is_same) {
                selected.push(StudyTarget::Program(Box::new(program.clone())));
            }
        }
    }
    Ok(selected)
}
