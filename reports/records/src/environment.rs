//! `environment.json`: where, with what and how a study ran.

use super::{HostInfo, RecordError, mode};
use lockstep_core::{DeviceInfo, KernelResources, Mode, TargetId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that a reader needs to judge or repeat a study's numbers. Fields that this version does not
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

/// One target and what it ran on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetInfo {
    /// The target's name, as in records: `cpu-bvh`, `opencl@pocl`.
    pub target: String,
    /// The backend: `cpu`, `opencl`, `cuda`.
    pub backend: String,
    /// The device's name.
    pub device: String,
    /// The driver or runtime and its version.
    pub driver: String,
    /// The compiler and its version.
    pub compiler: String,
    /// Flags given to the compiler.
    pub flags: String,
    /// Clocks, as the driver reports them.
    pub clocks: String,
    /// Host threads used; 0 for a device.
    pub threads: u32,
    /// How it was compiled.
    #[serde(deserialize_with = "mode::read")]
    pub mode: Mode,
    /// Hash of its device code; empty where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kernel_hash: String,
    /// Resources of its kernels, known once they were compiled; empty where none are reported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelResources>,
    /// Whether it promises films identical to those of every other target that does; nothing in older
    /// records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises_identity: Option<bool>,
}

impl From<&DeviceInfo> for TargetInfo {
    /// A target as its device describes it, before any kernel was compiled.
    fn from(device: &DeviceInfo) -> Self {
        Self {
            target: device.target.clone(),
            backend: device.backend.clone(),
            device: device.device.clone(),
            driver: device.driver.clone(),
            compiler: device.compiler.clone(),
            flags: device.flags.clone(),
            clocks: device.clocks.clone(),
            threads: host_threads(device),
            mode: TargetId::from(device.target.as_str()).mode,
            kernel_hash: device.kernel_hash.clone(),
            kernels: Vec::new(),
            promises_identity: Some(device.exact),
        }
    }
}

/// Host threads that render for a target; 0 where a device does.
pub fn host_threads(device: &DeviceInfo) -> u32 {
    if device.backend == "cpu" { device.compute_units } else { 0 }
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
    /// First random seed.
    pub seed: u64,
    /// How many seeds each target rendered.
    pub seeds: u32,
    /// How often each timing was repeated.
    pub repeats: u32,
    /// The spp levels, ascending.
    pub spp: Vec<u32>,
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
            message: e.to_string(),
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
        self.command.iter().map(|word| shell_quote(word)).collect::<Vec<_>>().join(" ")
    }

    /// The description of a target, if it took part.
    pub fn target(&self, name: &str) -> Option<&TargetInfo> {
        self.targets.iter().find(|t| t.target == name)
    }
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
        environment.targets.push(TargetInfo { target: "cpu-bvh".into(), threads: 2, ..Default::default() });
        environment.other.insert("noise_floor".into(), Value::from(3));
        environment.write(&path).unwrap();
        assert_eq!(Environment::read(&path).unwrap(), environment);
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
