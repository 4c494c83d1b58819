//! The registry of backends, the one file that knows them all, and the selection of targets by a user's
//! words.

mod null;

use lockstep_conformance::{OpenTargetProbes, Reference, Suite};
use lockstep_core::{
    Backend, DeviceInfo, Integrator, LayerSampling, Mode, OpenOptions, Renderer, TargetId, TargetStatus,
    TranslationUnit, Unavailable, suggest,
};
use lockstep_cpu::BVH_TARGET;
use lockstep_scenes::LoadOptions;

use crate::exit::Failure;
use crate::together;

/// Every backend. A new one is one row here and its dependency in Cargo.toml.
const REGISTRY: &[&dyn Backend] = &[
    &lockstep_cpu::Cpu,
    &lockstep_opencl::Opencl,
    &lockstep_cuda::Cuda,
    &null::Null,
    &lockstep_cpu::PlainEmbree,
    &together::Group,
];

/// The backends that compile device code, with their probes.
const PROBES: &[(&str, OpenTargetProbes)] = &[
    ("opencl", |target| Ok(Box::new(lockstep_opencl::probes::Probes::build(target)?))),
    ("cuda", |target| Ok(Box::new(lockstep_cuda::probes::Probes::build(target)?))),
];

/// The reference for bit identity.
const REFERENCE: Reference = Reference { backend: &lockstep_cpu::Cpu, target: BVH_TARGET };

/// Backends that are there by name and not among all: two render nothing that a study could compare, and groups are
/// made of other backends' targets.
const HIDDEN: [&str; 3] = [null::NAME, "embree-plain", together::NAME];

/// The word that selects every target present.
const ALL: &str = "all";

/// One target of one backend in one mode, present or not.
#[derive(Clone)]
pub(crate) struct Target {
    backend: &'static dyn Backend,
    /// The backend, device and mode.
    pub(crate) id: TargetId,
    /// The device, or why it is absent.
    pub(crate) state: Result<DeviceInfo, Unavailable>,
}

impl Target {
    /// The failure of a command that needs the target, where the target is absent; `None` where it is present.
    pub(crate) fn absent(&self) -> Option<Failure> {
        self.state.as_ref().err().map(|unavailable| Failure::absent(&self.id, unavailable))
    }

    /// Whether the target is here and promises identity with every other exact target.
    pub(crate) fn is_exact(&self) -> bool {
        self.state.as_ref().is_ok_and(|info| info.exact)
    }

    /// Opens the target for rendering.
    ///
    /// # Errors
    /// [`Failure::TargetAbsent`] when it is not here, [`Failure::Core`] when its device refuses.
    pub(crate) fn open(&self, options: &OpenOptions) -> Result<Box<dyn Renderer>, Failure> {
        self.absent().map_or(Ok(()), Err)?;
        let options = OpenOptions { mode: self.id.mode, ..options.clone() };
        self.backend.open(&self.id.device_label(), &options).map_err(|error| match error {
            lockstep_core::Error::Unavailable { what, remedy } => {
                Failure::TargetAbsent { target: self.id.to_string(), reason: what, remedy }
            }
            other => other.into(),
        })
    }

    /// The modes that this target can run, the default first.
    pub(crate) fn modes(&self) -> &'static [Mode] {
        self.backend.modes()
    }

    /// The conformance suite of its backend, with `cpu-bvh` as the reference for bit identity.
    pub(crate) fn suite(&self) -> Suite {
        let probes = PROBES.iter().find(|(backend, _)| *backend == self.backend.name());
        Suite {
            backend: self.backend,
            reference: Some(REFERENCE),
            probes: probes.map(|(_, open)| *open),
            scenes: Some(|name| Ok(lockstep_scenes::load(name, &LoadOptions::default())?.scene)),
        }
    }

    /// Sets the mode of a target; `None` when the target lacks that mode.
    fn in_mode(&self, mode: Mode) -> Option<Self> {
        let mut other = self.clone();
        other.id.mode = mode;
        if let (Mode::Fast, Ok(info)) = (mode, &mut other.state) {
            info.exact = false;
        }
        self.backend.modes().contains(&mode).then_some(other)
    }

    /// The target once for each integrator and way of sampling layers; with its own where a list is empty.
    pub(crate) fn by_each(&self, integrators: &[Integrator], layers: &[LayerSampling]) -> Vec<Self> {
        let mut ids = match integrators {
            [] => vec![self.id.clone()],
            all => all.iter().map(|&integrator| self.id.by(integrator)).collect(),
        };
        if !layers.is_empty() {
            ids = ids.iter().flat_map(|id| layers.iter().map(|&way| id.with_layers(way))).collect();
        }
        ids.into_iter().map(|id| Self { id, ..self.clone() }).collect()
    }

    /// Whether a user's word means this target: its name, its backend's name, or name and device as in
    /// `opencl@pocl`.
    fn answers_to(&self, word: &str, index: usize, processor: Option<&str>) -> bool {
        let wanted = TargetId::from(word.to_ascii_lowercase().as_str());
        let own_backend = self.id.backend.to_ascii_lowercase();
        match wanted.device.as_deref() {
            None => wanted.backend == own_backend || wanted.backend == self.backend.name(),
            Some("") => false,
            Some(device) if wanted.backend == own_backend => match device.parse::<usize>() {
                Ok(wanted) => wanted == index,
                Err(_) => {
                    self.device_words(processor).iter().any(|w| w.to_ascii_lowercase().contains(device))
                }
            },
            Some(_) => false,
        }
    }

    /// The texts that a device's part of a name is looked for in. The processor's name is none of them: `amd` means
    /// AMD's runtime, not another one's that runs on an AMD processor.
    fn device_words(&self, processor: Option<&str>) -> Vec<&str> {
        let info = self.state.as_ref().ok();
        let is_processor = |device: &&str| processor.is_some_and(|name| device.contains(name));
        let device = info.map(|i| i.device.as_str()).filter(|device| !is_processor(device));
        let driver = info.map(|i| i.driver.as_str());
        self.id.device.as_deref().into_iter().chain(device).chain(driver).collect()
    }
}

/// Whether every word of the command line means targets of these.
pub(crate) fn are_known(words: &[String]) -> bool {
    select(words).is_ok()
}

/// Whether a target's name before the `@` is that of one of these backends or their targets, or means something else.
pub(crate) fn is_taken(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let has_target =
        |b: &dyn Backend| b.targets().iter().any(|t| TargetId::from(t.name.as_str()).backend == name);
    name == ALL || REGISTRY.iter().any(|b| b.name() == name || has_target(*b))
}

/// Whether a word of the command line may mean a target, which need not be there: it is `all` or names the
/// target's backend.
pub(crate) fn may_mean(word: &str, target: &TargetId) -> bool {
    let word = TargetId::from(word.to_ascii_lowercase().as_str());
    word.device_label() == ALL || word.backend == target.backend
}

/// Every target of every backend that `all` means, present or not, as `lockstep devices` lists them.
pub(crate) fn targets() -> Vec<Target> {
    REGISTRY.iter().filter(|b| !HIDDEN.contains(&b.name())).flat_map(|&b| targets_of(b)).collect()
}

/// [`targets`] and those that are there by name alone, for measurements and tests.
pub(crate) fn all_targets() -> Vec<Target> {
    REGISTRY.iter().flat_map(|&b| targets_of(b)).collect()
}

/// The names of the backends whose targets are among `all`.
#[cfg(test)]
pub(crate) fn names() -> Vec<&'static str> {
    REGISTRY.iter().map(|backend| backend.name()).filter(|name| !HIDDEN.contains(name)).collect()
}

/// The device code of every backend, one unit for each build.
pub(crate) fn kernels() -> Vec<TranslationUnit> {
    REGISTRY.iter().flat_map(|backend| backend.kernels()).collect()
}

fn targets_of(backend: &'static dyn Backend) -> Vec<Target> {
    let make = |status: TargetStatus| Target { backend, id: status.name.into(), state: status.state };
    backend.targets().into_iter().map(make).collect()
}

/// The targets that a user's words select, each once, in the order of the words; `all` selects those present,
/// and a word that ends in `+fast` the fast builds of what it means.
///
/// # Errors
/// [`Failure::Usage`] for a word that means no target.
pub(crate) fn select(words: &[String]) -> Result<Vec<Target>, Failure> {
    select_in_modes(words, &[Mode::Exact])
}

/// The fast build of the first target that has one: the smallest port there is, for a study that names no targets.
pub(crate) fn first_fast_build(targets: &[Target]) -> Option<Target> {
    targets.iter().filter(|target| target.state.is_ok()).find_map(|target| target.in_mode(Mode::Fast))
}

/// [`select`] with each target in these modes, one after the other, as far as it has them. A word that names
/// a mode means that mode alone.
///
/// # Errors
/// [`Failure::Usage`] for a word that means no target, or when none has a mode that was asked for.
pub(crate) fn select_in_modes(words: &[String], modes: &[Mode]) -> Result<Vec<Target>, Failure> {
    let known: Vec<Target> = REGISTRY.iter().flat_map(|&b| targets_of(b)).collect();
    select_from(&known, words, modes)
}

fn select_from(known: &[Target], words: &[String], modes: &[Mode]) -> Result<Vec<Target>, Failure> {
    let mut selected: Vec<Target> = Vec::new();
    for word in &together::whole_words(words) {
        let wanted = TargetId::from(word.to_ascii_lowercase().as_str());
        if together::is_group(&wanted) {
            let state = together::describe(&wanted);
            if !selected.iter().any(|s| s.id == wanted) {
                selected.push(Target { backend: &together::Group, id: wanted, state });
            }
            continue;
        }
        let modes = if wanted.mode == Mode::Fast { &[Mode::Fast] } else { modes };
        let word = wanted.device_label();
        let found: Vec<&Target> = if word == ALL {
            known.iter().filter(|t| t.state.is_ok() && !HIDDEN.contains(&t.backend.name())).collect()
        } else {
            matching(known, &word)
        };
        if found.is_empty() {
            return Err(unknown(known, &word));
        }
        for target in found.iter().flat_map(|t| modes.iter().filter_map(|&mode| t.in_mode(mode))) {
            if !selected.iter().any(|s| s.id == target.id) {
                selected.push(target);
            }
        }
    }
    if selected.is_empty() && !words.is_empty() {
        let fast = REGISTRY.iter().filter(|backend| backend.modes().contains(&Mode::Fast));
        return Err(Failure::Usage(format!(
            "none of the targets `{}` has a fast build; targets of these backends do: {}",
            words.join(", "),
            fast.map(|backend| backend.name()).collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(selected)
}

/// The targets that one word means; an exact name means that target alone.
fn matching<'a>(known: &'a [Target], word: &str) -> Vec<&'a Target> {
    if let Some(exact) = known.iter().find(|t| t.id.device_label().eq_ignore_ascii_case(word)) {
        return vec![exact];
    }
    let position = |target: &Target| {
        let same_backend = known.iter().filter(|t| t.id.backend == target.id.backend);
        same_backend.take_while(|t| t.id != target.id).count()
    };
    let of_cpu = known.iter().filter(|target| target.backend.name() == lockstep_cpu::Cpu.name());
    let mut names = of_cpu.filter_map(|target| Some(target.state.as_ref().ok()?.device.as_str()));
    let processor = names.find(|name| !name.is_empty());
    known.iter().filter(|t| t.answers_to(word, position(t), processor)).collect()
}

/// The error of a word that means no target. It lists the targets that `all` means.
fn unknown(known: &[Target], word: &str) -> Failure {
    let shown = known.iter().filter(|target| !HIDDEN.contains(&target.backend.name()));
    let names: Vec<String> = shown.map(|target| target.id.to_string()).collect();
    let is_point = word.contains(',') && word.split(',').all(|part| part.trim().parse::<f32>().is_ok());
    let hint = match suggest::nearest(word, names.iter().map(String::as_str)) {
        _ if is_point => format!("; the point that the camera looks at is given by --look-at {word}"),
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Failure::Usage(format!("there is no target `{word}`; there are {}, or `{ALL}`{hint}", names.join(", ")))
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
            id: name.into(),
            state: Ok(DeviceInfo { device: device.into(), ..DeviceInfo::default() }),
        };
        let unavailable = Unavailable { reason: "no driver".into(), remedy: "Install one.".into() };
        vec![
            present("cpu-bvh", "Some CPU"),
            present("opencl@pocl", "pthread-Some CPU"),
            present("opencl@nvidia", "NVIDIA H200"),
            present("cuda@0", "NVIDIA H200"),
            Target { backend: backend_of("cuda@1"), id: "cuda@1".into(), state: Err(unavailable) },
        ]
    }

    fn names(words: &[&str]) -> Vec<String> {
        names_in(words, &[Mode::Exact])
    }

    fn names_in(words: &[&str], modes: &[Mode]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        select_from(&made_up(), &words, modes)
            .map(|found| found.into_iter().map(|t| t.id.to_string()).collect())
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
    fn a_part_of_the_processors_name_means_no_runtime_that_runs_on_it() {
        assert!(names(&["opencl@some"]).is_empty());
    }

    #[test]
    fn fast_builds_stand_behind_their_exact_builds_where_there_are_any() {
        let both = [Mode::Exact, Mode::Fast];
        assert_eq!(names_in(&["cpu", "opencl@pocl"], &both), ["cpu-bvh", "opencl@pocl", "opencl@pocl+fast"]);
        assert_eq!(
            names_in(&["all"], &[Mode::Fast]),
            ["opencl@pocl+fast", "opencl@nvidia+fast", "cuda@0+fast"]
        );
        let fast = select_from(&made_up(), &["opencl@pocl".to_owned()], &[Mode::Fast]).unwrap();
        assert!(!fast[0].is_exact() && fast[0].id.mode == Mode::Fast);
    }

    #[test]
    fn a_label_that_names_a_mode_means_that_mode_alone() {
        let both = [Mode::Exact, Mode::Fast];
        assert_eq!(names(&["opencl@pocl+fast"]), ["opencl@pocl+fast"]);
        assert_eq!(names_in(&["OpenCL@H200+FAST"], &both), ["opencl@nvidia+fast"]);
        assert!(names(&["cpu-bvh+fast"]).is_empty(), "it has no fast build");
    }

    #[test]
    fn a_word_may_mean_the_targets_of_its_backend() {
        assert!(may_mean("all", &"cpu-embree".into()) && may_mean("OpenCL@intel", &"opencl@pocl".into()));
        assert!(may_mean("cuda@0+fast", &"cuda".into()) && !may_mean("cuda@0", &"cpu-embree".into()));
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
        assert!(
            !error.to_string().contains("null") && !error.to_string().contains("did you mean"),
            "{error}"
        );
        assert!(names(&["opencl@"]).is_empty());
    }

    #[test]
    fn a_slip_gets_the_name_that_was_meant_and_a_point_the_option_that_takes_one() {
        let said =
            |word: &str| select_from(&made_up(), &[word.into()], &[Mode::Exact]).err().unwrap().to_string();
        assert!(said("cpu-bhv").ends_with("; did you mean `cpu-bvh`?"), "{}", said("cpu-bhv"));
        assert!(said("opencl@plco").ends_with("; did you mean `opencl@pocl`?"), "{}", said("opencl@plco"));
        assert!(said("0,0.5,-1").ends_with("is given by --look-at 0,0.5,-1"), "{}", said("0,0.5,-1"));
    }

    #[test]
    fn the_null_target_is_there_by_name_and_not_among_all() {
        assert_eq!(select(&["null".into()]).unwrap().len(), 1);
        assert!(select(&["all".into()]).unwrap().iter().all(|t| t.id != "null".into()));
        assert!(targets().iter().all(|t| t.id != "null".into()));
    }
}
