//! Satisfies the linker's `-lcuda` with an empty archive.
//!
//! The published `find_cuda_helper` under `cust` asks for it; the crate that this workspace puts in its place
//! does not. The functions themselves are in `src/loader`, which jumps to the library that it opens at run
//! time, so the program links no driver, and a machine that builds it needs none.

use std::path::PathBuf;

/// An archive without members.
const EMPTY_ARCHIVE: &[u8] = b"!<arch>\n";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let name = if std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "msvc") {
        "cuda.lib"
    } else {
        "libcuda.a"
    };
    std::fs::write(folder.join(name), EMPTY_ARCHIVE)?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}
