//! A process with a time limit, in a process group of its own.

use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::interrupt;

/// How often the user's wish to stop is looked at.
const POLL: Duration = Duration::from_millis(50);

/// The time between asking a process to end and ending it.
const GRACE: Duration = Duration::from_secs(2);

/// The process group that runs at the moment; 0 for none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// How a process ended.
#[derive(Debug)]
pub(super) enum End {
    /// The process ended by itself, after this time.
    Ended(ExitStatus, Duration),
    /// The process was stopped at the time limit.
    TimedOut,
    /// The process was stopped at the user's wish.
    Stopped,
}

/// Runs a process to its end, with all that it starts in one process group.
///
/// # Errors
/// The operating system's, where it cannot be started or waited for.
pub(super) fn run(command: &mut Command, limit: Duration) -> std::io::Result<End> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let group = i32::try_from(child.id()).unwrap_or(0);
    RUNNING.store(group, Ordering::SeqCst);
    let (sender, receiver) = channel();
    // Waiting in a thread of its own: the time is that of the end, not of the next look.
    std::thread::spawn(move || {
        let status = child.wait();
        // Nobody listens any more where the process outlived its own end.
        let _ = sender.send(status.map(|status| (status, start.elapsed())));
    });
    let end = wait(&receiver, start, limit, group);
    RUNNING.store(0, Ordering::SeqCst);
    end
}

type Waited = std::io::Result<(ExitStatus, Duration)>;

fn wait(receiver: &Receiver<Waited>, start: Instant, limit: Duration, group: i32) -> std::io::Result<End> {
    let lost = || std::io::Error::other("the thread that waits for the process is gone");
    loop {
        let left = limit.saturating_sub(start.elapsed());
        match receiver.recv_timeout(POLL.min(left)) {
            Ok(waited) => return waited.map(|(status, wall)| End::Ended(status, wall)),
            Err(RecvTimeoutError::Disconnected) => return Err(lost()),
            Err(RecvTimeoutError::Timeout) if interrupt::requested() => {
                end(group, receiver);
                return Ok(End::Stopped);
            }
            Err(RecvTimeoutError::Timeout) if start.elapsed() >= limit => {
                end(group, receiver);
                return Ok(End::TimedOut);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Ends a group: it is asked first, and what is left after [`GRACE`] is killed.
fn end(group: i32, receiver: &Receiver<Waited>) {
    signal(group, Signal::Terminate);
    // Its leader may be gone before the others are; they get no further grace.
    let _ = receiver.recv_timeout(GRACE);
    signal(group, Signal::Kill);
}

/// Kills the process group that runs at the moment, for a program that is about to end itself.
pub(crate) fn end_running() {
    signal(RUNNING.load(Ordering::SeqCst), Signal::Kill);
}

enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
fn signal(group: i32, signal: Signal) {
    let signal = match signal {
        Signal::Terminate => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    if let Some(group) = rustix::process::Pid::from_raw(group) {
        // A group that has ended already is what was wanted.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

#[cfg(not(unix))]
fn signal(_: i32, _: Signal) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn a_process_ends_by_itself_with_its_status_and_time() {
        let End::Ended(status, wall) = run(&mut shell("sleep 0.1; exit 3"), Duration::from_secs(60)).unwrap()
        else {
            panic!("it ended by itself");
        };
        assert_eq!(status.code(), Some(3));
        assert!(wall >= Duration::from_millis(100), "{wall:?}");
    }

    #[test]
    fn what_a_process_started_ends_with_it_at_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join("left");
        // A grandchild that would write a file later, and a leader that does not listen.
        let line = format!("(sleep 3; touch {}) & trap '' TERM; sleep 30", left.display());
        let start = Instant::now();
        assert!(matches!(run(&mut shell(&line), Duration::from_millis(100)).unwrap(), End::TimedOut));
        let took = start.elapsed();
        assert!(took >= GRACE && took < Duration::from_secs(10), "{took:?}");
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!left.exists());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        assert!(run(&mut Command::new("/nowhere/at/all"), Duration::from_secs(1)).is_err());
    }
}
