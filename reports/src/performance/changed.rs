//! Changes of the environment between two studies.

use crate::records::{Environment, HostInfo, TargetId, TargetInfo};
use lockstep_core::DeviceInfo;

/// Characters of a commit that tell it.
const COMMIT: usize = 9;

/// A study's commit and start.
pub(super) fn title(environment: &Environment) -> String {
    let commit = environment.commit.as_deref().map(|commit| format!("{} of ", short(commit)));
    format!("{}{}", commit.unwrap_or_default(), environment.started_utc)
}

/// The beginning of a commit's hash, with what marks a changed working tree.
pub(super) fn short(commit: &str) -> String {
    match commit.split_once('-') {
        Some((hash, mark)) => format!("{}-{mark}", hash.chars().take(COMMIT).collect::<String>()),
        None => commit.chars().take(COMMIT).collect(),
    }
}

/// Which targets ran on the same hardware in both studies.
pub(super) struct Machine {
    is_same_host: bool,
    before: Vec<DeviceInfo>,
    after: Vec<DeviceInfo>,
}

impl Machine {
    pub(super) fn of(before: &Environment, after: &Environment) -> Self {
        let devices = |e: &Environment| e.targets.iter().map(|t| t.info.clone()).collect();
        Self {
            is_same_host: hardware(&before.host) == hardware(&after.host),
            before: devices(before),
            after: devices(after),
        }
    }

    /// Whether a target's host, device and number of threads or compute units are the same.
    pub(super) fn is_same_for(&self, target: &TargetId) -> bool {
        let of = |devices: &[DeviceInfo]| {
            let device = devices.iter().find(|d| d.target == *target);
            device.map(|d| (d.device.clone(), d.compute_units))
        };
        self.is_same_host && of(&self.before) == of(&self.after)
    }
}

/// The parts of a host that times depend on. Names of hosts change with every container.
fn hardware(host: &HostInfo) -> (&str, u32) {
    (&host.cpu, host.cores)
}

/// The differences of two environments, a sentence each.
pub(super) fn sentences(before: &Environment, after: &Environment) -> Vec<String> {
    let mut found = Vec::new();
    let mut note = |what: &str, old: &str, new: &str| {
        if old != new {
            let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
            found.push(format!("{what}: {} before, {} after", or_none(old), or_none(new)));
        }
    };
    note("Processor", &before.host.cpu, &after.host.cpu);
    note("Cores", &before.host.cores.to_string(), &after.host.cores.to_string());
    note("System", &before.host.os, &after.host.os);
    let hash = |e: &Environment| e.kernel_hash.as_deref().map(short).unwrap_or_default();
    note("Kernel source", &hash(before), &hash(after));
    for TargetInfo { info: new, .. } in &after.targets {
        let Some(TargetInfo { info: old, .. }) = before.targets.iter().find(|t| t.info.target == new.target)
        else {
            continue;
        };
        let (units_before, units_after) = (old.compute_units.to_string(), new.compute_units.to_string());
        let fields = [
            ("device", &old.device, &new.device),
            ("driver", &old.driver, &new.driver),
            ("compiler", &old.compiler, &new.compiler),
            ("flags", &old.flags, &new.flags),
            ("compute units", &units_before, &units_after),
        ];
        for (field, old, new_value) in fields {
            note(&format!("{}, {field}", new.target), old, new_value);
        }
    }
    found
}
