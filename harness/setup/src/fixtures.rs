//! A machine of shell scripts for tests: its pip hands out a wheel made here.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use crate::item::{Method, Presence};
use crate::wheel::{Bundle, Tags, Wheel};
use crate::{Host, Item};

/// The machine; its folders vanish with it.
pub(super) struct Machine {
    root: TempDir,
    pub(super) host: Host,
}

impl Machine {
    /// One without programs other than the shell's own.
    pub(super) fn bare() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let programs = root.path().join("bin");
        fs::create_dir(&programs).expect("a folder");
        let host = Host {
            data: root.path().join("data"),
            programs: programs.into(),
            is_root: false,
            installs_packages: false,
        };
        Self { root, host }
    }

    /// One with a `python3` whose pip hands out the wheel and counts its downloads.
    pub(super) fn with_pip() -> Self {
        let machine = Self::bare();
        machine.add_program("python3", &machine.pip_script());
        machine
    }

    /// A program, as a shell script.
    pub(super) fn add_program(&self, name: &str, script: &str) {
        let draft = self.root.path().join("draft");
        fs::write(&draft, format!("#!/bin/sh\n{script}\n")).expect("a script");
        // Written by another process: a file that this one has open for writing while another
        // test starts a program could not be run ("text file busy").
        let path = PathBuf::from(&self.host.programs).join(name);
        let status = Command::new("install").args(["-m", "755"]).args([&draft, &path]).status();
        assert!(status.expect("the program `install`").success());
    }

    /// The script of a `python3` that has pip.
    pub(super) fn pip_script(&self) -> String {
        let wheel = self.root.path().join("thing-1-py3-none-any.whl");
        let mut archive = zip::ZipWriter::new(File::create(&wheel).expect("a file"));
        let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
        for (name, text) in [("thing.libs/libthing.so", "library"), ("../escape", "no"), ("thing/a.py", "")] {
            archive.start_file(name, options).expect("a member");
            archive.write_all(text.as_bytes()).expect("its text");
        }
        archive.finish().expect("an archive");
        let (wheel, log) = (wheel.display(), self.log().display().to_string());
        format!(
            "case \"$*\" in *--version*) exit 0;; esac\necho \"$*\" >> {log}\n\
             while [ $# -gt 0 ]; do [ \"$1\" = --dest ] && /bin/cp {wheel} \"$2\"; shift; done"
        )
    }

    /// One line for each thing that the machine's programs were asked to do.
    pub(super) fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The file in which its programs log their arguments.
    pub(super) fn log(&self) -> PathBuf {
        self.root.path().join("log")
    }

    /// The digest of the wheel that pip hands out.
    pub(super) fn digest(&self) -> &'static str {
        let bytes = fs::read(self.root.path().join("thing-1-py3-none-any.whl")).expect("the wheel");
        let mut text = String::new();
        for byte in Sha256::digest(bytes) {
            write!(text, "{byte:02x}").expect("text grows");
        }
        text.leak()
    }
}

/// A bundle of the wheel that [`Machine::with_pip`] hands out, expected to have a digest.
pub(super) fn bundle(sha256: &'static str) -> Bundle {
    let tags = Tags { python: "3", abi: "none", platform: "any" };
    Bundle {
        folder: "thing-1",
        wheels: vec![Wheel { package: "thing", version: "1", tags, sha256, keep }],
        made: |folder| vec![("place", folder.display().to_string())],
    }
}

/// Wants the library in a folder of its own, and a member whose name would leave the folder.
fn keep(member: &str) -> Option<&str> {
    if member.ends_with("escape") { Some(member) } else { member.strip_prefix("thing.") }
}

/// An item that is there once its library is in the data folder.
pub(super) fn item(methods: fn(&Host) -> Vec<Method>) -> Item {
    Item {
        name: "thing",
        target: "thing".into(),
        licence: None,
        on_request: false,
        presence: |host| {
            let file = host.data.join("thing-1/libs/libthing.so");
            let found = fs::read_to_string(&file).is_ok_and(|text| text == "library");
            let place = file.display().to_string();
            Ok(if found { Presence::There(place) } else { Presence::Missing(place) })
        },
        methods,
        by_hand: "make one yourself.",
    }
}
