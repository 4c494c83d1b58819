//! Compiles kernels and reads the compiler's logs.

use crate::device::DiscoveredDevice;
use crate::error::device_error;
use crate::flags::with_resource_log;
use lockstep_core::error::{Error, Result};
use ocl::Context;
use ocl::core::{self, ProgramBuildInfo, ProgramBuildInfoResult, ProgramInfo, ProgramInfoResult};
use std::ffi::CString;

/// The file name that NVIDIA's compiler, which ignores `#line`, gives the source. A line number of the
/// assembled text follows.
const ASSEMBLED_TEXT: &str = "<kernel>:";

/// Compiles a source.
///
/// # Errors
/// [`Error::Compile`] with the log, which names the kernels' files and lines.
pub(crate) fn from_source(
    device: &DiscoveredDevice,
    context: &Context,
    source: &str,
    flags: &str,
) -> Result<core::Program> {
    let text = CString::new(source).map_err(|e| failed(device, e.to_string()))?;
    let program = core::create_program_with_source(context, &[text])
        .map_err(|e| device_error(&device.target, "handing over the kernels' source", &e))?;
    build(device, &program, flags).map_err(|error| match error {
        Error::Compile { log, .. } => failed(device, with_source_lines(&log, source)),
        other => other,
    })?;
    Ok(program)
}

/// Loads a program that [`binary_of`] returned.
///
/// # Errors
/// [`Error::Device`] or [`Error::Compile`] when the driver refuses the binary.
pub(crate) fn from_binary(
    device: &DiscoveredDevice,
    context: &Context,
    binary: &[u8],
    flags: &str,
) -> Result<core::Program> {
    let program = core::create_program_with_binary(context, &[device.device], &[binary])
        .map_err(|e| device_error(&device.target, "loading the kernels from the cache", &e))?;
    build(device, &program, flags)?;
    Ok(program)
}

/// The compiler's log of a built program; empty where there is none.
pub(crate) fn log_of(device: &DiscoveredDevice, program: &core::Program) -> String {
    match core::get_program_build_info(program, device.device, ProgramBuildInfo::BuildLog) {
        Ok(ProgramBuildInfoResult::BuildLog(log)) => log,
        _ => String::new(),
    }
}

fn failed(device: &DiscoveredDevice, log: String) -> Error {
    Error::Compile { actor: device.target.clone(), kernel: "core/gpu/kernels".into(), log }
}

/// Stack of the thread that compiles, in bytes: Intel's compiler recurses through long functions and overflows the
/// 2 MiB of an ordinary thread.
const COMPILER_STACK: usize = 64 << 20;

/// Builds a program and turns a failure into an error.
fn build(device: &DiscoveredDevice, program: &core::Program, flags: &str) -> Result<()> {
    let flags = with_resource_log(device, flags);
    let flags = CString::new(flags).map_err(|e| failed(device, e.to_string()))?;
    let compile = || core::build_program(program, Some(&[device.device]), &flags, None, None);
    let result = std::thread::scope(|scope| {
        match std::thread::Builder::new().stack_size(COMPILER_STACK).spawn_scoped(scope, compile) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => compile(),
        }
    });
    // `ocl` reports a failure without a log as a success, so the status decides.
    let query = |info| core::get_program_build_info(program, device.device, info);
    let succeeded = matches!(
        query(ProgramBuildInfo::BuildStatus),
        Ok(ProgramBuildInfoResult::BuildStatus(core::ProgramBuildStatus::Success))
    );
    if result.is_ok() && succeeded {
        return Ok(());
    }
    match query(ProgramBuildInfo::BuildLog) {
        Ok(ProgramBuildInfoResult::BuildLog(log)) if !log.trim().is_empty() => Err(failed(device, log)),
        _ => match result {
            Err(error) => Err(device_error(&device.target, "building the kernels", &error)),
            Ok(()) => Err(failed(device, "the compiler left no log".into())),
        },
    }
}

/// A built program's binary; `None` where the driver returns none.
pub(crate) fn binary_of(program: &core::Program) -> Option<Vec<u8>> {
    match core::get_program_info(program, ProgramInfo::Binaries) {
        Ok(ProgramInfoResult::Binaries(binaries)) => binaries.into_iter().next().filter(|b| !b.is_empty()),
        _ => None,
    }
}

/// A compiler's log with the kernels' file names and lines in place of lines of the assembled text.
fn with_source_lines(log: &str, source: &str) -> String {
    let mut parts = log.split(ASSEMBLED_TEXT);
    let mut mapped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        match part[..digits].parse().ok().and_then(|line| source_line(source, line)) {
            Some((file, line)) => mapped.push_str(&format!("{file}:{line}{}", &part[digits..])),
            None => mapped.extend([ASSEMBLED_TEXT, part]),
        }
    }
    mapped
}

/// The file and line behind a line of the assembled text, counted from one.
fn source_line(source: &str, line: usize) -> Option<(&str, usize)> {
    let before: Vec<&str> = source.lines().take(line).collect();
    let marker = before.iter().rposition(|text| text.starts_with("#line "))?;
    let (number, file) = before[marker].strip_prefix("#line ")?.split_once(' ')?;
    let offset = line.checked_sub(marker + 2)?;
    Some((file.trim_matches('"'), number.parse::<usize>().ok()? + offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_with_lines_of_the_assembled_text_is_given_files_and_lines() {
        let source = "#line 1 \"a.h\"\nint a;\n\n#line 10 \"b.h\"\nint b;\nint c\n";
        let log = "<kernel>:6:6: error: expected ';'\n<kernel>:2:1: note: like here\n<kernel>:x";
        let expected = "b.h:11:6: error: expected ';'\na.h:1:1: note: like here\n<kernel>:x";
        assert_eq!(with_source_lines(log, source), expected);
        assert_eq!(with_source_lines("b.h:11: error", source), "b.h:11: error");
    }
}
