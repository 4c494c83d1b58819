//! The registry of backends: the one file that knows them all, and how a user's words select their targets.

mod null;

use lockstep_conformance::{OpenReference, OpenTargetProbes, Suite};
use lockstep_core::Listing;
use lockstep_core::{Backend, DeviceInfo, Mode, OpenOptions, Renderer, TargetId, TargetStatus, Unavailable};
use lockstep_cpu::BVH_TARGET;
use lockstep_scenes::LoadOptions;

use crate::exit::Failure;

/// Every backend. A new one is one row here and its dependency in Cargo.toml.
const REGISTRY: &[&dyn Backend] = &[
    &lockstep_cpu::Cpu,
    &lockstep_opencl::Opencl,
    &lockstep_cuda::Cuda,
    &null::Null,
    &lockstep_cpu::PlainEmbree,
];

/// The backends that compile device code, with their probes.
const PROBES: &[(&str, OpenTargetProbes)] = &[
    ("opencl", |target| Ok(Box::new(lockstep_opencl::probes::Probes::build(target)?))),
    ("cuda", |target| Ok(Box::new(lockstep_cuda::probes::Probes::build(target)?))),
];

/// Opens `cpu-bvh`, the reference for bit identity.
const REFERENCE: OpenReference = || lockstep_cpu::Cpu.open(BVH_TARGET, &OpenOptions::default());

/// Backends that are there by name and not among all: neither renders what a study could compare.
const HIDDEN: [&str; 2] = [null::NAME, "embree-plain"];

/// The word that selects every target present.
const ALL: &str = "all";

/// One target of one backend in one mode, present or not.
#[derive(Clone)]
pub(crate) struct Target {
    backend: &'static dyn Backend,
    /// Its label on the command line and in records: `opencl@pocl`, or `opencl@pocl+fast` for the fast build.
    pub(crate) name: String,
    /// The arithmetic that it runs.
    pub(crate) mode: Mode,
    /// Its device, or why it is absent.
    pub(crate) state: Result<DeviceInfo, Unavailable>,
}

impl Target {
    /// The error of needing this target where it is absent.
    pub(crate) fn absent(&self) -> Option<Failure> {
        let absence = self.state.as_ref().err()?;
        Some(Failure::TargetAbsent {
            target: self.name.clone(),
            reason: absence.reason.clone(),
            remedy: absence.remedy.clone(),
        })
    }

    /// Whether it is here and promises identity with every other exact target.
    pub(crate) fn is_exact(&self) -> bool {
        self.state.as_ref().is_ok_and(|info| info.exact)
    }

    /// Opens it.
    ///
    /// # Errors
    /// [`Failure::TargetAbsent`] when it is not here, [`Failure::Core`] when its device refuses.
    pub(crate) fn open(&self, options: &OpenOptions) -> Result<Box<dyn Renderer>, Failure> {
        self.absent().map_or(Ok(()), Err)?;
        let own_name = TargetId::from(self.name.as_str()).device_label();
        let options = OpenOptions { mode: self.mode, ..options.clone() };
        self.backend.open(&own_name, &options).map_err(|error| match error {
            lockstep_core::Error::Unavailable { what, remedy } => {
                Failure::TargetAbsent { target: self.name.clone(), reason: what, remedy }
            }
            other => other.into(),
        })
    }

    /// The modes that this target can run, the default first.
    pub(crate) fn modes(&self) -> &'static [Mode] {
        self.backend.modes()
    }

    /// The conformance suite of its backend. The reference for bit identity is `cpu-bvh`, which has none itself.
    pub(crate) fn suite(&self) -> Suite {
        let probes = PROBES.iter().find(|(backend, _)| *backend == self.backend.name());
        Suite {
            backend: self.backend,
            reference: (self.name != BVH_TARGET).then_some(REFERENCE),
            probes: probes.map(|(_, open)| *open),
            scenes: Some(|name| Ok(lockstep_scenes::load(name, &LoadOptions::default())?.scene)),
        }
    }

    /// The same target in a mode; nothing when it lacks that mode.
    fn in_mode(&self, mode: Mode) -> Option<Self> {
        let mut twin = self.clone();
        twin.name = TargetId::from(self.name.as_str()).in_mode(mode).to_string();
        twin.mode = mode;
        if let (Mode::Fast, Ok(info)) = (mode, &mut twin.state) {
            info.exact = false;
        }
        self.backend.modes().contains(&mode).then_some(twin)
    }

    /// Whether a user's word means this target: its name, its backend's name, or name and device as in `opencl@pocl`.
    fn answers_to(&self, word: &str, index: usize) -> bool {
        let word = word.to_ascii_lowercase();
        let name = self.name.to_ascii_lowercase();
        if word == name || word == self.backend.name() || word == api(&name) {
            return true;
        }
        let Some((wanted_api, device)) = word.split_once('@') else {
            return false;
        };
        if wanted_api != api(&name) || device.is_empty() {
            return false;
        }
        match device.parse::<usize>() {
            Ok(wanted) => wanted == index,
            Err(_) => self.device_words().iter().any(|w| w.to_ascii_lowercase().contains(device)),
        }
    }

    /// The texts that a device's part of a name is looked for in.
    fn device_words(&self) -> Vec<&str> {
        let own = self.name.split_once('@').map(|(_, device)| device);
        let info = self.state.as_ref().ok();
        own.into_iter()
            .chain(info.map(|i| i.device.as_str()))
            .chain(info.map(|i| i.driver.as_str()))
            .collect()
    }
}

/// What stands before the `@` of a name.
fn api(name: &str) -> &str {
    name.split_once('@').map_or(name, |(api, _)| api)
}

/// Whether a word of the command line may mean a target, which need not be there: it is `all` or names the target's API.
pub(crate) fn may_mean(word: &str, target: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let plain = TargetId::from(lower.as_str()).device_label();
    plain == ALL || api(&plain) == api(target)
}

/// Every target of every backend, present or not, as `lockstep devices` lists them.
pub(crate) fn targets() -> Vec<Target> {
    REGISTRY.iter().filter(|b| !HIDDEN.contains(&b.name())).flat_map(|&b| targets_of(b)).collect()
}

/// The device code of every backend, one listing for each build.
pub(crate) fn kernels() -> Vec<Listing> {
    REGISTRY.iter().flat_map(|backend| backend.kernels()).collect()
}

fn targets_of(backend: &'static dyn Backend) -> Vec<Target> {
    let make =
        |status: TargetStatus| Target { backend, name: status.name, mode: Mode::Exact, state: status.state };
    backend.targets().into_iter().map(make).collect()
}

/// The targets that a user's words select, each once, in the order of the words; `all` selects those present, and a
/// word that ends in `+fast` the fast builds of what it means.
///
/// # Errors
/// [`Failure::Usage`] for a word that means no target.
pub(crate) fn select(words: &[String]) -> Result<Vec<Target>, Failure> {
    select_in_modes(words, &[Mode::Exact])
}

/// The same with each target in these modes, one after the other, as far as it has them. A word that names a mode means
/// that mode alone.
///
/// # Errors
/// [`Failure::Usage`] for a word that means no target, or when none has a mode that was asked for.
pub(crate) fn select_in_modes(words: &[String], modes: &[Mode]) -> Result<Vec<Target>, Failure> {
    let known: Vec<Target> = REGISTRY.iter().flat_map(|&b| targets_of(b)).collect();
    select_from(&known, words, modes)
}

fn select_from(known: &[Target], words: &[String], modes: &[Mode]) -> Result<Vec<Target>, Failure> {
    let mut selected: Vec<Target> = Vec::new();
    for word in words {
        let lower = word.to_ascii_lowercase();
        let named = TargetId::from(lower.as_str());
        let plain = named.device_label();
        let (word, modes) = match named.mode {
            Mode::Fast => (plain.as_str(), &[Mode::Fast][..]),
            Mode::Exact => (word.as_str(), modes),
        };
        let found: Vec<&Target> = if word.eq_ignore_ascii_case(ALL) {
            known.iter().filter(|t| t.state.is_ok() && !HIDDEN.contains(&t.backend.name())).collect()
        } else {
            matching(known, word)
        };
        if found.is_empty() {
            return Err(unknown(known, word));
        }
        for target in found.iter().flat_map(|t| modes.iter().filter_map(|&mode| t.in_mode(mode))) {
            if !selected.iter().any(|s| s.name == target.name) {
                selected.push(target);
            }
        }
    }
    if selected.is_empty() && !words.is_empty() {
        return Err(Failure::Usage(format!(
            "none of the targets `{}` has a fast build; OpenCL and CUDA targets do",
            words.join(", ")
        )));
    }
    Ok(selected)
}

/// The targets that one word means; an exact name means that target alone.
fn matching<'a>(known: &'a [Target], word: &str) -> Vec<&'a Target> {
    if let Some(exact) = known.iter().find(|t| t.name.eq_ignore_ascii_case(word)) {
        return vec![exact];
    }
    let position = |target: &Target| {
        let same_api = known.iter().filter(|t| api(&t.name) == api(&target.name));
        same_api.take_while(|t| t.name != target.name).count()
    };
    known.iter().filter(|t| t.answers_to(word, position(t))).collect()
}

fn unknown(known: &[Target], word: &str) -> Failure {
    let names: Vec<&str> = known.iter().map(|t| t.name.as_str()).collect();
    Failure::Usage(format!("there is no target `{word}`; there are {}, or `{ALL}`", names.join(", ")))
}

/// Fails unless every target that these words select is present.
///
/// # Errors
/// [`Failure::Usage`] for an unknown word, [`Failure::TargetAbsent`] for an absent target.
pub(crate) fn require(words: &[String]) -> Result<(), Failure> {
    for word in words {
        let found = select(std::slice::from_ref(word))?;
        if found.iter().any(|t| t.state.is_ok()) {
            continue;
        }
        if let Some(failure) = found.iter().find_map(Target::absent) {
            return Err(failure);
        }
    }
    Ok(())
}

/// The first target present among those that a word selects, in a mode unless the word names one.
///
/// # Errors
/// [`Failure::Usage`] for an unknown word, [`Failure::TargetAbsent`] when none is present.
pub(crate) fn one(word: &str, mode: Mode) -> Result<Target, Failure> {
    let found = select_in_modes(&[word.to_owned()], &[mode])?;
    match found.iter().find(|t| t.state.is_ok()) {
        Some(target) => Ok(target.clone()),
        None => Err(found.iter().find_map(Target::absent).unwrap_or_else(|| unknown(&found, word))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend_of(name: &str) -> &'static dyn Backend {
        *REGISTRY.iter().find(|backend| name.starts_with(backend.name())).unwrap()
    }

    fn made_up() -> Vec<Target> {
        let present = |name: &str, device: &str| Target {
            backend: backend_of(name),
            name: name.into(),
            mode: Mode::Exact,
            state: Ok(DeviceInfo { device: device.into(), ..DeviceInfo::default() }),
        };
        let absence = Unavailable { reason: "no driver".into(), remedy: "Install one.".into() };
        vec![
            present("cpu-bvh", "Some CPU"),
            present("opencl@pocl", "pthread-cpu"),
            present("opencl@nvidia", "NVIDIA H200"),
            present("cuda@0", "NVIDIA H200"),
            Target {
                backend: backend_of("cuda@1"),
                name: "cuda@1".into(),
                mode: Mode::Exact,
                state: Err(absence),
            },
        ]
    }

    fn names(words: &[&str]) -> Vec<String> {
        names_in(words, &[Mode::Exact])
    }

    fn names_in(words: &[&str], modes: &[Mode]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        select_from(&made_up(), &words, modes)
            .map(|found| found.into_iter().map(|t| t.name).collect())
            .unwrap_or_default()
    }

    #[test]
    fn all_is_every_target_present() {
        assert_eq!(names(&["all"]), ["cpu-bvh", "opencl@pocl", "opencl@nvidia", "cuda@0"]);
    }

    #[test]
    fn a_device_is_named_by_index_or_part_of_its_name_in_any_case() {
        assert_eq!(names(&["OpenCL@H200"]), ["opencl@nvidia"]);
        assert_eq!(names(&["opencl@1"]), ["opencl@nvidia"]);
        assert_eq!(names(&["opencl@POCL"]), ["opencl@pocl"]);
        assert_eq!(names(&["opencl"]), ["opencl@pocl", "opencl@nvidia"]);
        assert_eq!(names(&["cuda@0"]), ["cuda@0"]);
    }

    #[test]
    fn fast_builds_stand_behind_their_exact_twins_where_there_are_any() {
        let both = [Mode::Exact, Mode::Fast];
        assert_eq!(names_in(&["cpu", "opencl@pocl"], &both), ["cpu-bvh", "opencl@pocl", "opencl@pocl+fast"]);
        assert_eq!(
            names_in(&["all"], &[Mode::Fast]),
            ["opencl@pocl+fast", "opencl@nvidia+fast", "cuda@0+fast"]
        );
        let fast = select_from(&made_up(), &["opencl@pocl".to_owned()], &[Mode::Fast]).unwrap();
        assert!(!fast[0].is_exact() && fast[0].mode == Mode::Fast);
    }

    #[test]
    fn a_label_that_names_a_mode_means_that_mode_alone() {
        let both = [Mode::Exact, Mode::Fast];
        assert_eq!(names(&["opencl@pocl+fast"]), ["opencl@pocl+fast"]);
        assert_eq!(names_in(&["OpenCL@H200+FAST"], &both), ["opencl@nvidia+fast"]);
        assert!(names(&["cpu-bvh+fast"]).is_empty(), "it has no fast build");
    }

    #[test]
    fn a_word_may_mean_the_targets_of_its_api() {
        assert!(may_mean("all", "cpu-embree") && may_mean("OpenCL@intel", "opencl@pocl"));
        assert!(may_mean("cuda@0+fast", "cuda") && !may_mean("cuda@0", "cpu-embree"));
    }

    #[test]
    fn an_absent_target_is_selected_by_its_name_only() {
        assert_eq!(names(&["cuda@1"]), ["cuda@1"]);
        let absent = made_up().into_iter().find_map(|t| t.absent()).unwrap();
        assert_eq!(absent.to_string(), "target cuda@1 is absent: no driver. Install one.");
    }

    #[test]
    fn a_target_is_selected_once_and_in_the_order_asked() {
        assert_eq!(names(&["cuda@0", "cpu-bvh", "cuda@0"]), ["cuda@0", "cpu-bvh"]);
    }

    #[test]
    fn an_unknown_word_is_an_error_that_lists_what_there_is() {
        let error = select(&["vulkan".into()]).err().unwrap();
        assert!(error.to_string().contains("cpu-bvh"), "{error}");
        assert!(names(&["opencl@"]).is_empty());
    }

    #[test]
    fn the_null_target_is_there_by_name_and_not_among_all() {
        assert_eq!(select(&["null".into()]).unwrap().len(), 1);
        assert!(select(&["all".into()]).unwrap().iter().all(|t| t.name != "null"));
        assert!(targets().iter().all(|t| t.name != "null"));
    }
}
