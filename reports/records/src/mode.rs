//! The mode of a record.

use lockstep_core::{Mode, TargetId};
use serde_json::{Map, Value};

/// The mode of a comparison of two targets: fast when either is.
pub fn pair_mode(a: &TargetId, b: &TargetId) -> Mode {
    a.mode.max(b.mode)
}

/// The mode of a name in a file. A name that this version does not know is read as [`Mode::Fast`]: it stands
/// for an arithmetic of which no bit identity can be expected.
fn named(name: &str) -> Mode {
    if name == Mode::Exact.as_str() { Mode::Exact } else { Mode::Fast }
}

/// Replaces the mode of a record by one that this version knows.
pub(crate) fn make_known(record: &mut Map<String, Value>) {
    if let Some(Value::String(name)) = record.get_mut("mode") {
        *name = named(name).to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_fast_when_either_is() {
        let mode = |a: &str, b: &str| pair_mode(&a.into(), &b.into());
        assert_eq!(mode("a", "b"), Mode::Exact);
        assert_eq!(mode("a", "b+fast"), Mode::Fast);
        assert_eq!(mode("a+fast", "b"), Mode::Fast);
        assert_eq!(mode("a+fast", "b+fast"), Mode::Fast);
    }

    #[test]
    fn only_the_exact_mode_is_read_as_exact() {
        assert_eq!(["exact", "fast", "quick"].map(named), [Mode::Exact, Mode::Fast, Mode::Fast]);
    }
}
