//! The computer, as the operating system describes it without a library.

use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// The computer a study ran on. What could not be found out is empty or 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostInfo {
    /// Host name.
    pub name: String,
    /// Operating system and kernel.
    pub os: String,
    /// CPU model.
    pub cpu: String,
    /// Logical cores that this process may use.
    pub cores: u32,
    /// Main memory in bytes.
    pub memory_bytes: u64,
}

impl HostInfo {
    /// Describes the computer that this process runs on. Complete on Linux; elsewhere the name of the system and the cores
    /// only.
    pub fn detect() -> Self {
        let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let kernel = file("/proc/sys/kernel/osrelease");
        let distribution = quoted_value(&file("/etc/os-release"), "PRETTY_NAME=");
        let os = [distribution.as_str(), std::env::consts::OS, kernel.trim(), std::env::consts::ARCH]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        Self {
            name: file("/proc/sys/kernel/hostname").trim().to_owned(),
            os,
            cpu: colon_value(&file("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(0, |n| n.get() as u32),
            memory_bytes: memory_bytes(&file("/proc/meminfo")),
        }
    }
}

fn colon_value(text: &str, key: &str) -> String {
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':').map(str::trim))
        .unwrap_or_default()
        .to_owned()
}

fn quoted_value(text: &str, key: &str) -> String {
    text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim_matches('"').to_owned()
}

fn memory_bytes(meminfo: &str) -> u64 {
    let value = colon_value(meminfo, "MemTotal");
    value.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// The present time in UTC as `2026-01-31T12:00:00Z`.
pub fn utc_now() -> String {
    utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
}

/// Civil date from days since 1970-01-01 (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_have_their_dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_709_251_200), "2024-03-01T00:00:00Z");
        assert_eq!(utc(4_102_444_799), "2099-12-31T23:59:59Z");
    }

    #[test]
    fn values_are_found_in_the_kernels_files() {
        assert_eq!(colon_value("flags : a\nmodel name\t: Fast CPU\n", "model name"), "Fast CPU");
        assert_eq!(memory_bytes("MemTotal:        1024 kB\n"), 1 << 20);
        assert_eq!(quoted_value("PRETTY_NAME=\"Some Linux 1\"\n", "PRETTY_NAME="), "Some Linux 1");
    }

    #[test]
    fn a_host_has_at_least_one_core() {
        assert!(HostInfo::detect().cores >= 1);
    }
}
