//! Embree 4, for the target `cpu-embree`.

use lockstep_cpu::EMBREE_TARGET;
use lockstep_cpu::embree::library::{self, SearchPath};

use crate::error::SetupError;
use crate::host::Host;
use crate::item::{Item, Method, Presence};
use crate::wheel::{Bundle, Tags, Wheel};

/// The row for Embree.
pub(super) fn item() -> Item {
    Item {
        name: "embree",
        target: EMBREE_TARGET.into(),
        licence: None,
        on_request: false,
        presence,
        methods,
        by_hand: "install Embree 4 yourself and set LOCKSTEP_EMBREE to the library or its folder.",
    }
}

/// Loads it as the backend does: the only check that tells whether it can be used.
fn presence(_: &Host) -> Result<Presence, SetupError> {
    match library::load() {
        Ok(loaded) => Ok(Presence::There(format!("Embree {} at {}", loaded.version, loaded.path.display()))),
        Err(error) if error.misses.iter().any(|miss| matches!(miss.search_path, SearchPath::Named(_))) => {
            Err(SetupError::Blocked { item: "embree", reason: error.to_string() })
        }
        Err(error) => Ok(Presence::Missing(error.to_string())),
    }
}

/// The wheel where there is one, else the distribution's package.
fn methods(host: &Host) -> Vec<Method> {
    let package = Method::Apt(&["libembree4-4"]);
    match host.system() {
        ("linux", "x86_64") => vec![Method::Wheels(bundle()), package],
        ("linux", "aarch64") => vec![package],
        _ => Vec::new(),
    }
}

/// The Python binding's wheel, which carries the library and the TBB that it needs.
fn bundle() -> Bundle {
    let wheel = Wheel {
        package: "embreex",
        version: "4.4.0.post1",
        tags: Tags { python: "3.11", abi: "cp311", platform: "manylinux_2_28_x86_64" },
        sha256: "2cd0f7d5c6342e6247e31f700761689cae7829454d8c6de0c41e62124a023e1f",
        keep: |member| {
            let library = member.strip_prefix("embreex.libs/");
            library.or_else(|| member.ends_with("/LICENSE").then_some("LICENSE.embreex"))
        },
    };
    Bundle { folder: library::INSTALLED_AS, wheels: vec![wheel], made: |_| Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_gives_its_libraries_and_its_licence_only() {
        let keep = bundle().wheels[0].keep;
        assert_eq!(keep("embreex.libs/libembree4-4aef3270.so.4"), Some("libembree4-4aef3270.so.4"));
        assert_eq!(keep("embreex-4.4.0.post1.dist-info/licenses/LICENSE"), Some("LICENSE.embreex"));
        assert_eq!(keep("embreex/rtcore.pxd"), None);
    }
}
