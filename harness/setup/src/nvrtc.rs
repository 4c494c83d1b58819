//! NVRTC, NVIDIA's compiler of CUDA kernels, for the target `cuda`.

use lockstep_cuda::{loader, nvrtc};

use crate::error::SetupError;
use crate::host::Host;
use crate::item::{Item, Method, Presence};
use crate::wheel::{Bundle, Tags, Wheel};

/// The row for NVRTC. Without a driver nothing would use it, so it is then fetched on request only.
pub(super) fn item() -> Item {
    Item {
        name: "nvrtc",
        target: "cuda".into(),
        licence: Some("NVIDIA's CUDA Toolkit End User License Agreement"),
        on_request: loader::load().is_err(),
        presence,
        methods,
        by_hand: "install a CUDA toolkit yourself and set LOCKSTEP_NVRTC to its libnvrtc.",
    }
}

/// Opens it as the backend does: the only check that tells whether it can be used.
fn presence(_: &Host) -> Result<Presence, SetupError> {
    match lockstep_cuda::compiler() {
        Ok(found) => Ok(Presence::There(format!("NVRTC {} at {}", found.version, found.library.display()))),
        Err(unavailable) if std::env::var_os(nvrtc::VARIABLE).is_some_and(|value| !value.is_empty()) => {
            let reason =
                format!("{}; unset {}, or set it to a libnvrtc", unavailable.reason, nvrtc::VARIABLE);
            Err(SetupError::Blocked { item: "nvrtc", reason })
        }
        Err(unavailable) => Ok(Presence::Missing(unavailable.reason)),
    }
}

fn methods(host: &Host) -> Vec<Method> {
    match host.system() {
        ("linux", "x86_64") => vec![Method::Wheels(bundle())],
        _ => Vec::new(),
    }
}

/// The last NVRTC of CUDA 12: drivers of CUDA 12 and 13 run its code, and it compiles for every architecture
/// from Maxwell to Blackwell. That of CUDA 13 compiles for Turing and later only.
fn bundle() -> Bundle {
    let wheel = Wheel {
        package: "nvidia-cuda-nvrtc-cu12",
        version: "12.9.86",
        tags: Tags { python: "3", abi: "none", platform: "manylinux2010_x86_64" },
        sha256: "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
        keep,
    };
    Bundle { folder: nvrtc::INSTALLED_AS, wheels: vec![wheel], made: |_| Vec::new() }
}

/// The compiler, its built-in functions and the licence; the alternative builds of both stay.
fn keep(member: &str) -> Option<&str> {
    if member.ends_with("/License.txt") {
        return Some("LICENSE.nvrtc");
    }
    let library = member.strip_prefix("nvidia/cuda_nvrtc/lib/")?;
    (!library.contains(".alt.")).then_some(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_gives_the_compiler_its_built_ins_and_its_licence_only() {
        let folder = "nvidia/cuda_nvrtc/lib/";
        let in_folder = |name: &str| keep(&format!("{folder}{name}")).map(str::to_owned);
        assert_eq!(in_folder("libnvrtc.so.12").as_deref(), Some("libnvrtc.so.12"));
        let built_ins = "libnvrtc-builtins.so.12.9";
        assert_eq!(in_folder(built_ins).as_deref(), Some(built_ins));
        assert_eq!(in_folder("libnvrtc.alt.so.12"), None);
        assert_eq!(keep("nvidia/cuda_nvrtc/include/nvrtc.h"), None);
        let licence = "nvidia_cuda_nvrtc_cu12-12.9.86.dist-info/licenses/License.txt";
        assert_eq!(keep(licence), Some("LICENSE.nvrtc"));
    }

    #[test]
    fn the_folder_names_the_release_that_is_fetched() {
        let bundle = bundle();
        assert!(bundle.folder.ends_with(bundle.wheels[0].version));
    }
}
