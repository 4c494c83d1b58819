//! Checks in worker processes: a compiler of kernels uses one processor of a process however many threads wait for it,
//! and a driver that crashes takes one check with it and not the suite.
//!
//! A worker is this program again. It reads requests from its standard input, one a line, and answers each with one
//! line on its standard output.

use crate::check::{CHECKS, CheckResult};
use crate::outcome::Outcome;
use crate::suite::Suite;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error, ErrorKind, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};

/// The environment variable with the number of inputs per function of the parity check.
const PARITY_INPUTS: &str = "LOCKSTEP_PARITY_INPUTS";
/// Set in workers.
const WORKER: &str = "LOCKSTEP_SUITE_WORKER";
/// The beginning of answers: drivers may print lines of their own.
const ANSWER: &str = "lockstep-suite: ";

/// Whether the running process is a worker.
pub(crate) fn is_worker() -> bool {
    std::env::var_os(WORKER).is_some()
}

/// Answers requests until there are no more.
pub(crate) fn work(suite: Suite) -> ExitCode {
    for request in std::io::stdin().lock().lines().map_while(Result::ok) {
        let result = run(suite, &request);
        if write!(std::io::stdout(), "{}", encode(&result)).and_then(|()| std::io::stdout().flush()).is_err()
        {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs the check of a request: the target, whether it promises identity, and the check's name.
fn run(suite: Suite, request: &str) -> CheckResult {
    let mut words = request.split(' ');
    let (Some(target), Some(exact), Some(name)) = (words.next(), words.next(), words.next()) else {
        return CheckResult::Failed(format!("`{request}` is no request"));
    };
    let subject = suite.subject(target, exact == "exact");
    let inputs = std::env::var(PARITY_INPUTS).ok().and_then(|inputs| inputs.parse().ok());
    match CHECKS.iter().find(|check| check.name() == name) {
        Some(check) => check.run(&subject.with_parity_inputs(inputs)).0,
        None => CheckResult::Failed(format!("there is no check {name}")),
    }
}

/// An answer: a word, and text whose line ends and backslashes are escaped.
fn encode(result: &CheckResult) -> String {
    let (word, text) = match result {
        CheckResult::Ended(Outcome::Passed(remark)) => ("passed", remark),
        CheckResult::Ended(Outcome::Skipped(reason)) => ("skipped", reason),
        CheckResult::Failed(reason) => ("failed", reason),
    };
    format!("{ANSWER}{word} {}\n", text.replace('\\', "\\\\").replace('\n', "\\n"))
}

/// The result that a line gives, if it is an answer.
fn answer(line: &str) -> Option<CheckResult> {
    let (word, escaped) = line.strip_prefix(ANSWER)?.strip_suffix('\n')?.split_once(' ')?;
    let mut text = String::new();
    let mut letters = escaped.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' if letters.next()? == 'n' => '\n',
            other => other,
        });
    }
    Some(match word {
        "passed" => CheckResult::Ended(Outcome::Passed(text)),
        "skipped" => CheckResult::Ended(Outcome::Skipped(text)),
        "failed" => CheckResult::Failed(text),
        _ => return None,
    })
}

/// Workers that wait for their next check, by target.
#[derive(Default)]
pub(crate) struct Pool(Mutex<BTreeMap<String, Vec<Worker>>>);

impl Pool {
    /// Runs a check of a target in a worker; a worker that ends meanwhile fails its check.
    pub(crate) fn run(&self, target: &str, exact: bool, name: &str) -> CheckResult {
        let idle = self.lock().get_mut(target).and_then(Vec::pop);
        let worker = idle.map_or_else(Worker::start, Ok);
        let mut worker = match worker {
            Ok(worker) => worker,
            Err(error) => return CheckResult::Failed(format!("a worker could not be started: {error}")),
        };
        let promise = if exact { "exact" } else { "inexact" };
        match worker.ask(&format!("{target} {promise} {name}")) {
            Ok(result) => {
                self.lock().entry(target.to_owned()).or_default().push(worker);
                result
            }
            Err(error) => CheckResult::Failed(worker.end(&error)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<Worker>>> {
        // A list of idle workers is sound whatever panicked
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Worker {
    process: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start() -> Result<Self, Error> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(WORKER, "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let requests = process.stdin.take();
        let answers = process.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        Ok(Self { process, requests, answers: BufReader::new(answers) })
    }

    /// Sends a request and waits for its answer. Other lines are passed on.
    fn ask(&mut self, request: &str) -> Result<CheckResult, Error> {
        let requests = self.requests.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        writeln!(requests, "{request}")?;
        let mut line = String::new();
        while self.answers.read_line(&mut line)? > 0 {
            if let Some(result) = answer(&line) {
                return Ok(result);
            }
            eprint!("{line}");
            line.clear();
        }
        Err(ErrorKind::UnexpectedEof.into())
    }

    /// How the process of a worker that does not answer ended.
    fn end(mut self, error: &Error) -> String {
        self.requests = None;
        match self.process.wait() {
            Ok(status) => format!("the process of this check ended with {status}"),
            Err(_) => format!("the process of this check does not answer: {error}"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Without requests it ends by itself
        self.requests = None;
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_one_line_and_read_as_they_were_written() {
        for text in ["", "two\nlines", r"a \n that is no line's end", "\\", "ends with \\\\\n"] {
            for result in [
                CheckResult::Ended(Outcome::Passed(text.into())),
                CheckResult::Ended(Outcome::Skipped(text.into())),
                CheckResult::Failed(text.into()),
            ] {
                let line = encode(&result);
                assert!(line.find('\n') == Some(line.len() - 1), "{line}");
                assert_eq!(answer(&line), Some(result));
            }
        }
        assert_eq!(answer("a driver's words\n"), None);
    }
}
