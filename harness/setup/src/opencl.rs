//! OpenCL on the CPU: PoCL and Intel's runtime, for the target `opencl`.
//!
//! PoCL is free and comes by default. A machine's own PoCL is used where it has one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::icd;
use crate::item::{Item, Method, Presence};
use crate::wheel::{Bundle, Tags, Wheel};

/// Intel's runtime in the data folder: drivers and compiler under `lib`, and in `vendors` the file
/// that an OpenCL loader reads if `OCL_ICD_VENDORS` names that folder.
const INTEL: &str = "intel-opencl-2026.2.0";

/// PoCL in the data folder, with a loader for machines that have none under `lib`. The driver finds its files
/// relative to itself, so they lie as in its wheel.
const POCL: &str = "pocl-3.0";

/// Where installed drivers are listed, a file with the library's name each.
const VENDORS: &str = "/etc/OpenCL/vendors";

/// The row for Intel's OpenCL runtime for CPUs.
pub(super) fn intel() -> Item {
    Item {
        name: "opencl-intel",
        target: "opencl@intel".into(),
        licence: Some("Intel's End User License Agreement for Developer Tools"),
        on_request: true,
        presence: |host| Ok(answer(&driver(&host.data.join(INTEL)))),
        methods: |host| match host.system() {
            ("linux", "x86_64") => vec![Method::Wheels(bundle())],
            _ => Vec::new(),
        },
        by_hand: "use PoCL instead: `lockstep setup opencl-pocl`.",
    }
}

/// The row for PoCL.
pub(super) fn pocl() -> Item {
    Item {
        name: "opencl-pocl",
        target: "opencl@pocl".into(),
        licence: None,
        // Packages of the system are installed on request only.
        on_request: !cfg!(all(target_os = "linux", target_arch = "x86_64")),
        presence: |host| {
            let installed = match icd::open_loader() {
                Ok(()) => installed("pocl", Path::new(VENDORS)),
                Err(complaint) => Presence::Missing(complaint),
            };
            if let Presence::There(_) = installed {
                return Ok(installed);
            }
            let fetched = host.data.join(POCL).join(POCL_DRIVER);
            Ok(if fetched.exists() { answer(&fetched) } else { installed })
        },
        methods: |host| match host.system() {
            ("linux", "x86_64") => vec![Method::Wheels(pocl_bundle())],
            ("linux", _) => vec![Method::Apt(&["pocl-opencl-icd", "ocl-icd-libopencl1"])],
            _ => Vec::new(),
        },
        by_hand: "install PoCL with this system's package manager.",
    }
}

/// Whether a driver is there and offers a platform.
fn answer(driver: &Path) -> Presence {
    match icd::platforms(driver) {
        Ok(count @ 1..) => Presence::There(format!("{count} platform(s) of {}", driver.display())),
        Ok(0) => Presence::Missing(format!("{} offers no platform", driver.display())),
        Err(complaint) => Presence::Missing(format!("{}: {complaint}", driver.display())),
    }
}

/// Whether the system lists a driver whose file's name begins with `name`, and it works.
fn installed(name: &str, vendors: &Path) -> Presence {
    let entries = fs::read_dir(vendors).into_iter().flatten().flatten();
    let listed = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(name));
    match listed.filter_map(|entry| fs::read_to_string(entry.path()).ok()).next() {
        Some(library) => answer(Path::new(library.trim())),
        None => Presence::Missing(format!("no {name} driver is listed in {}", vendors.display())),
    }
}

/// The driver in Intel's folder.
fn driver(folder: &Path) -> PathBuf {
    folder.join("lib/libintelocl.so")
}

/// The runtime, the maths libraries and the TBB that it is linked to.
fn bundle() -> Bundle {
    let tags = Tags { python: "3", abi: "none", platform: "manylinux_2_28_x86_64" };
    let wheel = |package, version, sha256| Wheel { package, version, tags, sha256, keep };
    Bundle {
        folder: INTEL,
        wheels: vec![
            wheel(
                "intel-opencl-rt",
                "2026.2.0",
                "6b6215a420598b4999ee01caca6d5cbe106aa4155c46c52377619c5aafce9f67",
            ),
            wheel(
                "intel-cmplr-lib-rt",
                "2026.2.0",
                "9f713083073a820d2496a6da8e8d4f3482aba6640f74521d25ea48dcebe72748",
            ),
            wheel("tbb", "2023.2.0", "7d80615b6e970f11671fa05b6eaa9483ac864fbfe525ac280271a78b37870b7c"),
        ],
        made: |folder| vec![("vendors/intel.icd", format!("{}\n", driver(folder).display()))],
    }
}

/// The driver in PoCL's folder.
const POCL_DRIVER: &str = "pyopencl/.libs/libpocl-21062cec.so";

/// PoCL with its compiler, and the OpenCL loader (ocl-icd) of PyOpenCL's wheel.
fn pocl_bundle() -> Bundle {
    Bundle {
        folder: POCL,
        wheels: vec![
            Wheel {
                package: "pocl-binary-distribution",
                version: "3.0",
                tags: Tags { python: "3", abi: "none", platform: "manylinux_2_17_x86_64" },
                sha256: "b70c3d7835afd9aabc43dcffe0035d6a71d54eb35d8d55fc2fd4eb1e037128a9",
                keep: |member| member.contains("/.libs/").then_some(member),
            },
            Wheel {
                package: "pyopencl",
                version: "2026.1.4",
                tags: Tags { python: "3.11", abi: "cp311", platform: "manylinux_2_28_x86_64" },
                sha256: "31bed2c185b395ace1315afaf14bb60e4ce740ef8e6a74033de64d8984decd87",
                keep: |member| {
                    member
                        .contains("/.libs/libOpenCL-")
                        .then_some("lib/libOpenCL.so.1")
                        .or_else(|| member.find("licenses/").map(|start| &member[start..]))
                },
            },
        ],
        made: |_| Vec::new(),
    }
}

/// The files that the driver opens, under `lib`, and the licences. Wheels cannot hold links, so they
/// hold every library under each of its names; one is enough.
fn keep(member: &str) -> Option<&str> {
    let (_, name) = member.rsplit_once('/')?;
    let wanted = match name {
        "libintelocl.so" | "libOpenCL.so.1" | "cl.cfg" => true,
        "libimf.so" | "libsvml.so" | "libirng.so" | "libintlc.so.5" => true,
        "libtbb.so.12" | "libtbbmalloc.so.2" => true,
        _ if name.starts_with("libcommon_clang.so.") || name.starts_with("libocl_svml_") => true,
        _ => name.starts_with("cl") && (name.ends_with(".rtl") || name.ends_with(".o")),
    };
    if wanted && member.contains(".data/data/lib/") {
        return Some(&member[member.len() - name.len() - "lib/".len()..]);
    }
    member.find("share/doc/").map(|start| &member[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_kept_under_one_of_its_names() {
        let lib = |name: &str| keep(&format!("a-1.data/data/lib/{name}")).map(str::to_owned);
        assert_eq!(lib("libintelocl.so").as_deref(), Some("lib/libintelocl.so"));
        assert_eq!(lib("libintelocl.so.2026.22.10.0"), None);
        assert_eq!(lib("clbltfnl9.rtl").as_deref(), Some("lib/clbltfnl9.rtl"));
        assert_eq!(lib("libtbbmalloc_proxy.so.2"), None);
        let licence = "a-1.data/data/share/doc/opencl/licensing/EULA.txt";
        assert_eq!(keep(licence), Some("share/doc/opencl/licensing/EULA.txt"));
    }

    #[test]
    fn a_driver_that_is_not_listed_is_missing() {
        let vendors = tempfile::tempdir().expect("a temporary folder");
        assert!(matches!(installed("pocl", vendors.path()), Presence::Missing(_)));
        fs::write(vendors.path().join("pocl.icd"), "/no/such/libpocl.so\n").expect("a file");
        let Presence::Missing(reason) = installed("pocl", vendors.path()) else { panic!("no such library") };
        assert!(reason.contains("/no/such/libpocl.so"), "{reason}");
    }
}
