//! Memory that a request needs, held against the memory that the process can have.

use crate::error::{Error, Result};
use std::path::Path;

/// Bytes that the process can still take: the least of the system's estimate (`MemAvailable`), the rest of its container's
/// limit (cgroup v2 or v1) and the rest of its own address space (`ulimit -v`). `None` if none is known.
pub fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
    let system = read("/proc/meminfo").and_then(|text| mem_available(&text));
    let left = |limit: &str, used: &str| {
        let number = |path| read(path)?.trim().parse::<u64>().ok();
        Some(number(limit)?.saturating_sub(number(used)?))
    };
    let v2 = left("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current");
    let v1 =
        left("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes");
    let own = address_space_left(&read("/proc/self/limits"), &read("/proc/self/status"));
    [system, v2, v1, own].into_iter().flatten().min()
}

/// Address space that the limits of a process leave it beyond what it has.
fn address_space_left(limits: &Option<String>, status: &Option<String>) -> Option<u64> {
    let limit = limits.as_ref()?.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let soft: u64 = limit.split_whitespace().next()?.parse().ok()?;
    Some(soft.saturating_sub(kilobytes(status.as_ref()?, "VmSize:")?))
}

fn mem_available(meminfo: &str) -> Option<u64> {
    kilobytes(meminfo, "MemAvailable:")
}

/// Bytes of the line of a text under `/proc` that begins with this word.
fn kilobytes(text: &str, word: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Refuses a request that needs more than nine tenths of the available memory; the rest is for everything else.
/// `what` is the request as a subject, as in "a film of 640x360 pixels".
///
/// # Errors
/// [`Error::Memory`] with these figures.
pub fn check(what: impl FnOnce() -> String, needed: u64) -> Result<()> {
    check_against(what, needed, available())
}

/// [`check`] against another figure than the present one; with `None`, nothing is refused.
///
/// # Errors
/// [`Error::Memory`] with these figures.
pub fn check_against(what: impl FnOnce() -> String, needed: u64, available: Option<u64>) -> Result<()> {
    let Some(available) = available else { return Ok(()) };
    let usable = available / 10 * 9;
    if needed <= usable {
        return Ok(());
    }
    // Rounded apart, so that the greater figure is the greater one as printed too
    let (needed, usable) = (needed.div_ceil(TENTH), usable / TENTH);
    Err(Error::Memory {
        what: what(),
        needed: gigabytes(needed),
        usable: format!("{} of the {} available", gigabytes(usable), gigabytes(available / TENTH)),
    })
}

/// Bytes of a tenth of a gigabyte, the unit of figures in errors.
const TENTH: u64 = 100_000_000;

fn gigabytes(tenths: u64) -> String {
    format!("{}.{} GB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_beyond_nine_tenths_of_the_available_memory_is_refused_with_all_figures() {
        let what = || "a film of 65535x65535 pixels".to_owned();
        let error = check_against(what, 103_000_000_000, Some(24_000_000_000)).unwrap_err().to_string();
        assert_eq!(
            error,
            "a film of 65535x65535 pixels needs 103.0 GB of memory and may take 21.6 GB of the 24.0 GB available. Choose \
             a smaller one"
        );
        let barely = check_against(what, 21_600_000_001, Some(24_000_000_000)).unwrap_err().to_string();
        assert!(barely.contains("needs 21.7 GB") && barely.contains("may take 21.6 GB"), "{barely}");
        assert!(check_against(what, 20_000_000_000, Some(24_000_000_000)).is_ok());
        assert!(check_against(what, u64::MAX, None).is_ok(), "nothing is refused where nothing is known");
    }

    #[test]
    fn a_limit_on_the_address_space_leaves_what_is_not_taken() {
        let limits = |soft: &str| {
            Some(format!("Limit  Soft  Hard  Units\nMax address space  {soft}  unlimited  bytes\n"))
        };
        let status = Some("Name: a\nVmSize:\t    1024 kB\n".to_owned());
        assert_eq!(address_space_left(&limits("4000000"), &status), Some(4_000_000 - (1 << 20)));
        assert_eq!(address_space_left(&limits("1000"), &status), Some(0));
        assert_eq!(address_space_left(&limits("unlimited"), &status), None);
    }

    #[test]
    fn the_systems_estimate_is_read_in_bytes() {
        assert_eq!(mem_available("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(mem_available("MemTotal: 9 kB\n"), None);
    }
}
