//! The present targets, for tests that loop over them.

use lockstep_core::{Backend, TargetId};

/// Names of a backend's present targets. If there are none, the running test is reported as skipped, with the
/// reason.
///
/// # Panics
/// Where `LOCKSTEP_REQUIRE` names a target of the backend that is absent, and where the backend lists no target at all: an
/// absent one is listed with its reason.
#[track_caller]
pub fn present_targets(backend: &dyn Backend) -> Vec<String> {
    let statuses = backend.targets();
    assert!(!statuses.is_empty(), "{} lists no target, not even an absent one", backend.name());
    for word in lockstep_require::required() {
        let wanted = TargetId::from(word.as_str());
        let of_backend = |name: &str| TargetId::from(name).backend == wanted.backend;
        let is_here = |name: &str| word == name || (wanted.device.is_none() && of_backend(name));
        let listed = statuses.iter().any(|status| of_backend(&status.name));
        let present = statuses.iter().any(|status| status.state.is_ok() && is_here(&status.name));
        let unavailable = statuses.iter().find_map(|status| status.state.as_ref().err());
        let reason = unavailable.map_or_else(
            || "`lockstep setup` fetches run-time libraries.".to_owned(),
            |unavailable| format!("{}. {}", unavailable.reason, unavailable.remedy),
        );
        assert!(!listed || present, "{}", lockstep_require::failure(&word, &reason));
    }
    let mut present = Vec::new();
    let mut reason = None;
    for status in statuses {
        match status.state {
            Ok(_) => present.push(status.name),
            Err(unavailable) => {
                reason.get_or_insert_with(|| format!("{}. {}", unavailable.reason, unavailable.remedy));
            }
        }
    }
    if let (true, Some(reason)) = (present.is_empty(), reason) {
        lockstep_require::skip(&reason);
    }
    present
}
