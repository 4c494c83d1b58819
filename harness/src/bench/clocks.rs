//! Clocks and power of a device at work.

use lockstep_core::DeviceInfo;
use std::process::Command;

/// Clocks now: an NVIDIA device's from `nvidia-smi`, a CPU's from `/proc/cpuinfo`; where there is neither,
/// those that the driver reported when the target was opened.
pub(crate) fn clocks_now(info: &DeviceInfo) -> String {
    let asked = if info.device.contains("NVIDIA") { nvidia(info) } else { cpu() };
    asked.unwrap_or_else(|| info.clocks.clone())
}

fn nvidia(info: &DeviceInfo) -> Option<String> {
    let index = info.target.device.as_ref().and_then(|index| index.parse::<u32>().ok()).unwrap_or(0);
    let out = Command::new("nvidia-smi")
        .arg(format!("--id={index}"))
        .args(["--query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu", "--format=csv,noheader"])
        .output()
        .ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let values: Vec<&str> = text.lines().next()?.split(',').map(str::trim).collect();
    let [sm, memory, power, temperature] = values[..] else { return None };
    Some(format!("SM {sm}, memory {memory}, {power}, {temperature} °C"))
}

fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    let mhz: f64 = line.split_once(':')?.1.trim().parse().ok()?;
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    Some(format!("{mhz:.0} MHz, load {}", load.split_whitespace().next()?))
}
