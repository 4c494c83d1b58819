//! `environment.json`: where, with what and how a study ran.

use super::{HostInfo, RecordError};
use lockstep_core::merging::MergeRadius;
use lockstep_core::serde_words::in_words;
use lockstep_core::{DeviceInfo, Integrator, KernelResources, LayerSampling, Sampler, TargetId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that a reader needs to assess or repeat a study's numbers. Fields that this version does not
/// know are kept in `other` and written back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Lockstep's version.
    pub lockstep: String,
    /// Commit of the working tree, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When the study started, UTC, as `2026-01-31T12:00:00Z`.
    pub started_utc: String,
    /// The command line, program first, one argument an element.
    pub command: Vec<String>,
    /// The computer.
    pub host: HostInfo,
    /// Every target and its device.
    pub targets: Vec<TargetInfo>,
    /// Hash of the assembled kernel source, for targets that compile it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_hash: Option<String>,
    /// Scene name to hash of the scene as renderers receive it.
    pub scenes: BTreeMap<String, String>,
    /// The options of the study.
    pub settings: StudySettings,
    /// Fields of later versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One target: its device, and the resources of its kernels. A file has the fields of both side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// The target's name, as in records, and its device.
    #[serde(flatten)]
    pub info: DeviceInfo,
    /// Resources of its kernels, known once they were compiled; empty where none are reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelResources>,
    /// The command of a target that is an external program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
}

/// How an external program is run, as its `targets.toml` says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// The command, one word an element, with placeholders such as `{spp}`; one element for a shell's command line.
    pub command: Vec<String>,
    /// Whether a shell runs it.
    pub shell: bool,
    /// The command line of the first level of each scene under the first seed, as a person would type it in a POSIX
    /// shell, with `{out}` left open.
    pub first_runs: Vec<String>,
    /// Variables that are set, with placeholders.
    pub env: BTreeMap<String, String>,
    /// The working folder.
    pub dir: String,
    /// The extension of the file that it writes.
    pub format: String,
    /// Where its times come from, in words.
    pub times: String,
    /// Whether an image of more samples goes on from the same image of fewer.
    pub continues: bool,
    /// The file that declares it.
    pub declared_in: String,
}

impl From<DeviceInfo> for TargetInfo {
    /// A target before any kernel was compiled.
    fn from(info: DeviceInfo) -> Self {
        Self { info, kernels: Vec::new(), program: None }
    }
}

/// The study's options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudySettings {
    /// Image width in pixels.
    pub width: u32,
    /// Image height in pixels.
    pub height: u32,
    /// Greatest number of bounces.
    pub bounces: u32,
    /// The bounce from which paths may end by Russian roulette, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roulette: Option<u32>,
    /// Light transport algorithm; path tracing in older records.
    pub integrator: Integrator,
    /// Radius of the first sample's merges with photons; the default in older records.
    pub merge_radius: MergeRadius,
    /// Where random numbers come from; the hash pcg4d in records that do not say.
    #[serde(skip_serializing_if = "Sampler::is_default")]
    pub sampler: Sampler,
    /// How layers are sampled; all lobes together in records that do not say.
    #[serde(skip_serializing_if = "LayerSampling::is_default")]
    pub layers: LayerSampling,
    /// First random seed.
    pub seed: u64,
    /// How many seeds each target rendered.
    pub seeds: u32,
    /// How often each timing was repeated.
    pub repeats: u32,
    /// The spp levels, ascending.
    pub spp: Vec<u32>,
    /// The baseline target of speed-ups by device; the first target where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<TargetId>,
}

impl Environment {
    /// Reads a file.
    ///
    /// # Errors
    /// [`RecordError::Io`] and [`RecordError::Malformed`] with the line.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let text = std::fs::read_to_string(path).map_err(|source| RecordError::Io {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|e| RecordError::Malformed {
            path: path.to_owned(),
            line: e.line(),
            message: in_words(&e.to_string()),
        })
    }

    /// Writes a file in one step, for people to read: indented.
    ///
    /// # Errors
    /// [`RecordError::Encode`] and [`RecordError::Write`].
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|e| RecordError::Encode { path: path.to_owned(), message: e.to_string() })?;
        text.push('\n');
        Ok(lockstep_metrics::image_io::atomic_write_text(path, &text)?)
    }

    /// The command line as a person would type it in a POSIX shell, quoted where needed.
    pub fn command_line(&self) -> String {
        shell_line(&self.command)
    }

    /// The description of a target, if it took part.
    pub fn target(&self, target: &TargetId) -> Option<&TargetInfo> {
        self.targets.iter().find(|t| t.info.target == *target)
    }
}

/// Words as a person would type them in a POSIX shell, quoted where needed.
pub fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ")
}

fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_reads_back_as_written_with_unknown_fields() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("environment.json");
        let mut environment = Environment { lockstep: "0.1.0".into(), ..Default::default() };
        environment.scenes.insert("cornell".into(), "ab12".into());
        let info = DeviceInfo { target: "cpu-bvh".into(), compute_units: 2, ..DeviceInfo::default() };
        environment.targets.push(info.into());
        environment.other.insert("noise_floor".into(), Value::from(3));
        environment.write(&path).unwrap();
        assert_eq!(Environment::read(&path).unwrap(), environment);
    }

    #[test]
    fn a_target_of_an_older_study_has_its_threads_and_promises_identity_unless_it_says_otherwise() {
        let read = |text| serde_json::from_str::<TargetInfo>(text).unwrap().info;
        let old = read(r#"{"target": "cpu-bvh", "backend": "cpu", "threads": 2, "mode": "exact"}"#);
        assert_eq!((old.host_threads(), old.exact), (2, true));
        assert!(!read(r#"{"target": "cpu-embree", "promises_identity": false}"#).exact);
    }

    #[test]
    fn a_malformed_environment_is_an_error_with_file_and_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("environment.json");
        std::fs::write(&path, "{\n\"lockstep\": 3\n}").unwrap();
        let error = Environment::read(&path).unwrap_err().to_string();
        assert!(error.contains("environment.json:2: "), "{error}");
    }

    #[test]
    fn the_command_line_can_be_pasted_into_a_shell() {
        let command = ["lockstep", "study", "my scene.glb", "--spp", "1..64", "it's", ""];
        let e = Environment { command: command.map(str::to_owned).to_vec(), ..Default::default() };
        assert_eq!(e.command_line(), r"lockstep study 'my scene.glb' --spp 1..64 'it'\''s' ''");
    }
}
