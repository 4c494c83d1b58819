//! Several targets on one image: groups as targets, and the commands about partial films.

mod cores;
mod films;
mod launcher;
mod render;
mod worker;

pub(crate) use films::{merge, part_of, write_part};
pub(crate) use render::{render, resume};
pub(crate) use worker::work;

use std::time::Duration;

use lockstep_core::{
    Backend, DeviceInfo, Error, Mode, OpenOptions, Renderer, Result, TargetId, TargetStatus, Unavailable,
};
use lockstep_together::{Options, Schedule, Start, Together};

use crate::backends::{self, Target};
use crate::exit::Failure;
use crate::semantics;
use launcher::Processes;

/// The name of groups, before the list of their targets in parentheses.
pub(crate) const NAME: &str = "together";
/// The silence after which a worker of a group counts as hung, unless its samples take longer.
const SILENCE: Duration = Duration::from_secs(30);

/// Whether a target is a group, as in `together(cuda@0,cpu-bvh)`.
pub(crate) fn is_group(target: &TargetId) -> bool {
    members(target).is_some()
}

/// The words for the targets of a group.
fn members(target: &TargetId) -> Option<Vec<String>> {
    let list = target.backend.strip_prefix(NAME)?.strip_prefix('(')?.strip_suffix(')')?;
    Some(list.split(',').map(|word| word.trim().to_owned()).collect())
}

/// Words of a list that was split at its commas, with the lists of groups whole again.
pub(crate) fn whole_words(words: &[String]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for word in words {
        match whole.last_mut() {
            Some(last) if last.contains('(') && !last.contains(')') => {
                last.push(',');
                last.push_str(word);
            }
            _ => whole.push(word.clone()),
        }
    }
    whole
}

/// The targets that the words for a group's members select. A target that is named twice gets two workers.
///
/// # Errors
/// [`Failure::Usage`] for an unknown word or a group in a group; [`Failure::TargetAbsent`] for a target that is not
/// here or whose films are not those of exact targets.
pub(crate) fn select(words: &[String]) -> std::result::Result<Vec<Target>, Failure> {
    if words.iter().any(|word| word.contains('(')) {
        return Err(Failure::Usage("a group of targets cannot hold another group".into()));
    }
    let mut targets = Vec::new();
    for word in words {
        let mut found = backends::select(std::slice::from_ref(word))?;
        // `all` means those that can take part
        if word.eq_ignore_ascii_case("all") {
            found.retain(|target| target.is_exact() && target.id.mode == Mode::Exact);
        }
        targets.extend(found);
    }
    for target in &targets {
        target.absent().map_or(Ok(()), Err)?;
        if !target.is_exact() || target.id.mode == Mode::Fast {
            return Err(Failure::TargetAbsent {
                target: target.id.to_string(),
                reason:
                    "its films are not identical to those of exact targets, so shares of it do not add up to \
                         their film"
                        .into(),
                remedy: "Leave it out of the group.".into(),
            });
        }
    }
    if targets.is_empty() {
        return Err(Failure::Usage("a group needs at least one target".into()));
    }
    Ok(targets)
}

/// A group as a device, or the reason why one of its targets is absent.
///
/// # Errors
/// [`Unavailable`] with the first target that cannot take part.
pub(crate) fn describe(group: &TargetId) -> std::result::Result<DeviceInfo, Unavailable> {
    let found = select(&members(group).unwrap_or_default());
    found.map(|targets| info(&group.to_string(), &targets)).map_err(|failure| match failure {
        Failure::TargetAbsent { target, reason, remedy } => {
            Unavailable { reason: format!("its target {target} is absent: {reason}"), remedy }
        }
        other => Unavailable {
            reason: other.to_string(),
            remedy: "Name targets that `lockstep devices` lists.".into(),
        },
    })
}

/// The description of a group.
fn info(name: &str, targets: &[Target]) -> DeviceInfo {
    let of_all = |field: fn(&DeviceInfo) -> &String| {
        let mut texts: Vec<&str> =
            targets.iter().filter_map(|t| t.state.as_ref().ok()).map(|info| field(info).as_str()).collect();
        texts.dedup();
        texts.join(" + ")
    };
    DeviceInfo {
        target: name.into(),
        backend: NAME.into(),
        device: of_all(|info| &info.device),
        driver: of_all(|info| &info.driver),
        compiler: of_all(|info| &info.compiler),
        flags: of_all(|info| &info.flags),
        on_host: targets.iter().any(|t| t.state.as_ref().is_ok_and(|info| info.on_host)),
        exact: targets.iter().all(|t| t.is_exact() && t.id.mode == Mode::Exact),
        ..DeviceInfo::default()
    }
}

/// The options of a group whose rates are to be compared: all workers are ready before a pass begins.
pub(crate) fn comparing() -> Options {
    Options {
        schedule: Schedule::default(),
        start: Start::All,
        silence: SILENCE,
        checkpoint: None,
        semantics: semantics::hash().to_owned(),
        listen: None,
    }
}

/// The name of a group of targets, as in `together(cuda@0,cpu-bvh)`.
pub(crate) fn name_of(targets: &[Target]) -> String {
    let members: Vec<String> = targets.iter().map(|target| target.id.to_string()).collect();
    format!("{NAME}({})", members.join(","))
}

/// The names of a group's workers: their targets', and a number behind repeated ones.
pub(crate) fn labels(targets: &[Target]) -> Vec<String> {
    let label = |(i, target): (usize, &Target)| {
        let before = targets[..i].iter().filter(|other| other.id == target.id).count();
        if before == 0 { target.id.to_string() } else { format!("{} #{}", target.id, before + 1) }
    };
    targets.iter().enumerate().map(label).collect()
}

/// Several targets as one renderer.
///
/// # Errors
/// [`Failure::Core`] when the socket for workers that join cannot be made.
pub(crate) fn group(
    name: &str,
    targets: &[Target],
    threads: Option<usize>,
    options: Options,
) -> std::result::Result<Together, Failure> {
    let names = labels(targets);
    let launcher = Processes::new(targets, threads)?;
    Ok(Together::new(info(name, targets), &names, Box::new(launcher), options)?)
}

/// Groups as targets of studies: all workers are ready before a pass is timed.
#[derive(Debug)]
pub(crate) struct Group;

impl Backend for Group {
    fn name(&self) -> &'static str {
        NAME
    }

    /// No targets: groups are made by naming their targets.
    fn targets(&self) -> Vec<TargetStatus> {
        Vec::new()
    }

    fn integrators(&self) -> &'static [lockstep_core::Integrator] {
        &lockstep_core::Integrator::ALL
    }

    fn open(&self, target: &str, options: &OpenOptions) -> Result<Box<dyn Renderer>> {
        let failed = |failure: Failure| match failure {
            Failure::Core(error) => error,
            Failure::TargetAbsent { target, reason, remedy } => {
                Error::Unavailable { what: format!("{target}: {reason}"), remedy }
            }
            other => Error::Contract { actor: target.to_owned(), message: other.to_string() },
        };
        let targets = select(&members(&target.into()).unwrap_or_default()).map_err(failed)?;
        Ok(Box::new(group(target, &targets, options.threads, comparing()).map_err(failed)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_groups_survive_the_split_at_commas() {
        let split = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            whole_words(&split("cuda@0,together(cuda@0,cpu-bvh),all")),
            ["cuda@0", "together(cuda@0,cpu-bvh)", "all"]
        );
        assert_eq!(whole_words(&split("a,b")), ["a", "b"]);
        assert_eq!(members(&"together(cuda@0, cpu-bvh)".into()).unwrap(), ["cuda@0", "cpu-bvh"]);
        assert!(!is_group(&"cuda@0".into()) && !is_group(&"together".into()));
    }

    #[test]
    fn a_group_with_an_unknown_target_or_one_with_its_own_films_is_absent_with_a_remedy() {
        let unavailable = describe(&"together(cpu-bvh,nothing)".into()).unwrap_err();
        assert!(unavailable.reason.contains("nothing"), "{unavailable:?}");
        let nested = describe(&"together(together(cpu-bvh))".into()).unwrap_err();
        assert!(nested.reason.contains("another group"), "{nested:?}");
        let info = describe(&"together(cpu-bvh)".into()).unwrap();
        assert!(info.exact && info.on_host);
    }
}
