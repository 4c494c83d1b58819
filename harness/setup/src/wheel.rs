//! Libraries out of Python wheels.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::error::SetupError;
use crate::host::Host;
use crate::install::Staging;
use crate::pip::Pip;

/// Wheels whose files go into one folder.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    /// The folder's name in the data folder. It names the release, so that another release is
    /// another folder.
    pub(crate) folder: &'static str,
    /// The wheels.
    pub(crate) wheels: Vec<Wheel>,
    /// Names and texts of further files, given the folder's final path.
    pub(crate) made: fn(&Path) -> Vec<(&'static str, String)>,
}

/// One exact wheel of a package index.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// The package.
    pub(crate) package: &'static str,
    /// The exact version.
    pub(crate) version: &'static str,
    /// For which Python and platform.
    pub(crate) tags: Tags,
    /// The file's SHA-256 in lower-case hexadecimal digits.
    pub(crate) sha256: &'static str,
    /// The relative path in the folder of a member of the wheel, or `None` for one that is not wanted.
    pub(crate) keep: fn(&str) -> Option<&str>,
}

/// The tags of a wheel's name (PEP 425).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tags {
    /// CPython's version, as in `3.11`.
    pub(crate) python: &'static str,
    /// The ABI, as in `cp311`, or `none`.
    pub(crate) abi: &'static str,
    /// The platform, as in `manylinux_2_28_x86_64`.
    pub(crate) platform: &'static str,
}

impl Wheel {
    /// The package and version in pip's notation.
    pub(crate) fn requirement(&self) -> String {
        format!("{}=={}", self.package, self.version)
    }

    fn options(&self) -> Vec<String> {
        let Tags { python, abi, platform } = self.tags;
        [("implementation", "cp"), ("python-version", python), ("abi", abi), ("platform", platform)]
            .map(|(option, value)| format!("--{option}={value}"))
            .into()
    }
}

/// Downloads a bundle's wheels, checks each one's digest, and puts the wanted files in place.
pub(super) fn install(host: &Host, bundle: &Bundle) -> Result<(), SetupError> {
    let pip = Pip::find_or_install(host)?;
    let staging = Staging::new(&host.data)?;
    let unpacked = staging.folder("unpacked")?;
    for wheel in &bundle.wheels {
        let downloads = staging.folder(wheel.package)?;
        pip.download(host, &wheel.requirement(), &wheel.options(), &downloads)?;
        let archive = only_wheel(&downloads, wheel)?;
        check_digest(&archive, wheel.sha256)?;
        unpack(&archive, wheel.keep, &unpacked)?;
    }
    let target = host.data.join(bundle.folder);
    for (name, text) in (bundle.made)(&target) {
        let path = unpacked.join(name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(SetupError::io("write", &path))?;
    }
    staging.put_in_place(&unpacked, &target)
}

/// The one wheel in a folder.
fn only_wheel(folder: &Path, wheel: &Wheel) -> Result<PathBuf, SetupError> {
    let entries = fs::read_dir(folder).map_err(SetupError::io("read the folder", folder))?;
    let files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    match &files[..] {
        [file] if file.extension().is_some_and(|ending| ending == "whl") => Ok(file.clone()),
        _ => Err(SetupError::NoWheel { requirement: wheel.requirement(), folder: folder.into() }),
    }
}

fn check_digest(file: &Path, expected: &str) -> Result<(), SetupError> {
    let mut digest = Sha256::new();
    let mut block = vec![0; 1 << 16];
    let read = SetupError::io("read", file);
    let result = File::open(file).and_then(|mut opened| {
        loop {
            match opened.read(&mut block)? {
                0 => return Ok(()),
                length => digest.update(&block[..length]),
            }
        }
    });
    result.map_err(read)?;
    let found = digest.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    if found == expected {
        return Ok(());
    }
    Err(SetupError::Digest { file: file.into(), expected: expected.into(), found })
}

/// Writes an archive's wanted members into a folder.
fn unpack(archive: &Path, keep: fn(&str) -> Option<&str>, folder: &Path) -> Result<(), SetupError> {
    let broken = |source| SetupError::Archive { archive: archive.into(), source };
    let file = File::open(archive).map_err(SetupError::io("open", archive))?;
    let mut members = ZipArchive::new(file).map_err(broken)?;
    let mut kept = 0;
    for index in 0..members.len() {
        let mut member = members.by_index(index).map_err(broken)?;
        let name = member.name().map_err(broken)?.into_owned();
        let Some(name) = keep(&name).filter(|name| member.is_file() && stays_inside(name)) else { continue };
        let path = folder.join(name);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let mut file = File::create(&path)?;
            io::copy(&mut member, &mut file)?;
            file.sync_all()
        });
        written.map_err(SetupError::io("write", &path))?;
        kept += 1;
    }
    if kept == 0 {
        return Err(SetupError::EmptyArchive { archive: archive.into() });
    }
    Ok(())
}

/// Whether a relative path stays in its folder.
fn stays_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}
