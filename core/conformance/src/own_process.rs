//! A test in a process of its own. A compiler of kernels locks out the other threads of its process, and some share
//! tables with them that they do not lock: tests with processes of their own compile side by side.

use std::any::type_name;
use std::process::{Command, Stdio};

/// Names the test that a process was started for.
const VARIABLE: &str = "LOCKSTEP_OWN_PROCESS";

/// Runs the claim of a test of libtest in a process of its own, which is this program again with that test alone.
/// `claim` is a closure in the test's function, since its type gives the test's name. What the process prints is the
/// test's output.
///
/// # Panics
/// When the claim fails there, when the process ends in any other way, or when it runs no test.
pub fn in_own_process<F: FnOnce()>(claim: F) {
    let test = enclosing_test(type_name::<F>());
    if std::env::var(VARIABLE).is_ok_and(|name| name == test) {
        return claim();
    }
    let started = std::env::current_exe().and_then(|program| {
        let mut own = Command::new(program);
        // Of one thread, libtest makes the main thread, which does not bear the test's name
        own.args([test, "--exact", "--nocapture", "--test-threads=2"]).env(VARIABLE, test);
        own.stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    });
    let (ended, printed) = match started {
        Ok(output) => (output.status.to_string(), String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => (error.to_string(), String::new()),
    };
    print!("{printed}");
    let passed = printed.lines().any(|line| line.starts_with("test result: ok. 1 passed;"));
    assert!(passed, "{test}, in a process of its own: {ended}");
}

/// The name that libtest gives the test whose closure has this type: its path without the crate.
fn enclosing_test(closure: &str) -> &str {
    let path = closure.split_once("::{{closure}}").map_or(closure, |(function, _)| function);
    path.split_once("::").map_or(path, |(_, test)| test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_proved_in_another_process() {
        let mut here = false;
        in_own_process(|| here = true);
        assert_eq!(here, std::env::var_os(VARIABLE).is_some());
    }

    #[test]
    #[should_panic(
        expected = "a_claim_that_fails_there_fails_here, in a process of its own: exit status: 101"
    )]
    fn a_claim_that_fails_there_fails_here() {
        in_own_process(|| assert_eq!(1, 2));
    }

    #[test]
    #[should_panic(expected = "in a process of its own: signal: 6")]
    fn a_process_that_crashes_fails_its_test() {
        in_own_process(|| std::process::abort());
    }

    #[test]
    #[should_panic(expected = "in a process of its own: exit status: 0")]
    fn a_process_without_the_test_fails_it() {
        fn elsewhere() {
            in_own_process(|| ());
        }
        elsewhere();
    }
}
