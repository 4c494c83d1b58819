//! Records which compiler builds the renderer, since its name belongs beside every number.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.and_then(|o| String::from_utf8(o.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=LOCKSTEP_RUSTC={}", version.trim());
    let profile = std::env::var("OPT_LEVEL").unwrap_or_default();
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=LOCKSTEP_RUSTFLAGS=opt-level={profile} target={target}");
}
