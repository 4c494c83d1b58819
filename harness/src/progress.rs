//! Progress on standard error: a bar on a terminal, in colour unless `NO_COLOR` is set, else a line now and then.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The time between two lines where standard error is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The time between two looks at whether a line is due.
const TICK: Duration = Duration::from_secs(1);

/// A bar that samples per pixel are counted on.
const COUNTING: &str = "{prefix}{msg:32} {bar:32.cyan} {pos:>6}/{len} spp  {elapsed:.dim} left {eta:.dim}";

/// A bar while nothing is known that could be counted.
const ACTING: &str = "{prefix}{msg:32} {spinner:.cyan}  {elapsed:.dim}";

/// The present act, and a bar that counts samples per pixel once there are any to be done.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    /// When the last line was written, or the bar made; nothing where the bar itself is seen, or hidden.
    last_line: Option<Arc<Mutex<Instant>>>,
    /// Ends the thread that writes lines while nothing is added; a bar that is seen or hidden has none.
    _ticker: Option<Sender<()>>,
}

impl Bar {
    /// A bar of `samples` in all.
    pub(crate) fn new(message: &str, samples: u64) -> Self {
        Self::of_step("", message, samples)
    }

    /// A bar with the step's place before the message, such as `1 of 3`; nothing before it where the place is empty.
    pub(crate) fn of_step(place: &str, message: &str, samples: u64) -> Self {
        let bar = ProgressBar::new(samples);
        set_template(&bar, if samples == 0 { ACTING } else { COUNTING });
        if !place.is_empty() {
            bar.set_prefix(format!("{place}: "));
        }
        bar.set_message(message.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        if std::io::stderr().is_terminal() {
            return Self { bar, last_line: None, _ticker: None };
        }
        let last_line = Arc::new(Mutex::new(Instant::now()));
        let _ticker = ticker(bar.clone(), Arc::clone(&last_line));
        Self { bar, last_line: Some(last_line), _ticker }
    }

    /// A bar of something that has no samples.
    pub(crate) fn of_act(message: &str) -> Self {
        Self::new(message, 0)
    }

    /// A bar that shows nothing.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), last_line: None, _ticker: None }
    }

    /// Counts samples as done. More than were to be done make more of those.
    pub(crate) fn add(&self, samples: u64) {
        let done = self.bar.position() + samples;
        self.lengthen(done.saturating_sub(self.bar.length().unwrap_or(done)));
        self.bar.inc(samples);
        let due = self.last_line.as_ref().and_then(|last| line_at(&self.bar, last, Instant::now()));
        if let Some(line) = due {
            crate::output::say(&line);
        }
    }

    /// Adds samples to those that are to be done.
    pub(crate) fn lengthen(&self, samples: u64) {
        if samples > 0 && self.bar.length() == Some(0) {
            set_template(&self.bar, COUNTING);
        }
        self.bar.inc_length(samples);
    }

    /// The message before the bar.
    pub(crate) fn message(&self) -> String {
        self.bar.message()
    }

    /// Shows a message before the bar.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// Prints a line above the bar.
    pub(crate) fn line(&self, text: &str) {
        self.bar.suspend(|| crate::output::say(text));
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The line that is due, if any; none of a bar that was taken away.
fn line_at(bar: &ProgressBar, last: &Mutex<Instant>, now: Instant) -> Option<String> {
    let mut last = last.lock().ok()?;
    if bar.is_finished() || now.saturating_duration_since(*last) < BETWEEN_LINES {
        return None;
    }
    *last = now;
    let (done, all) = (bar.position(), bar.length().unwrap_or(0));
    let act = format!("lockstep: {}{}", bar.prefix(), bar.message());
    Some(if all == 0 { act } else { format!("{act}: {done} of {all} spp") })
}

fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

/// A thread that writes the lines that are due while nothing is added, until what is returned is dropped.
fn ticker(bar: ProgressBar, last: Arc<Mutex<Instant>>) -> Option<Sender<()>> {
    let (sender, receiver) = mpsc::channel();
    let tick = move || {
        while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if let Some(line) = line_at(&bar, &last, Instant::now()) {
                crate::output::say(&line);
            }
        }
    };
    // Without a thread there are lines when something is added
    std::thread::Builder::new().name("progress".into()).spawn(tick).ok().map(|_| sender)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_terminal_a_line_is_due_every_ten_seconds() {
        let start = Instant::now();
        let bar = Bar::of_step("scene 1 of 2", "cornell", 100);
        bar.add(30);
        let last = Mutex::new(start);
        let at = |seconds| line_at(&bar.bar, &last, start + Duration::from_secs(seconds));
        assert_eq!(at(9), None);
        assert_eq!(at(10).unwrap(), "lockstep: scene 1 of 2: cornell: 30 of 100 spp");
        assert_eq!((at(11), at(19)), (None, None));
        assert!(at(20).is_some());
        bar.clear();
        assert_eq!(at(99), None, "what is done says nothing more");
    }

    #[test]
    fn before_anything_is_to_be_rendered_a_line_tells_the_act_without_counts() {
        let start = Instant::now();
        let bar = Bar::of_step("scene 1 of 2", "cornell", 0);
        bar.say("compiling kernels for opencl@pocl");
        let last = Mutex::new(start);
        let at = |seconds| line_at(&bar.bar, &last, start + Duration::from_secs(seconds));
        assert_eq!(at(10).unwrap(), "lockstep: scene 1 of 2: compiling kernels for opencl@pocl");
        bar.lengthen(8);
        bar.say("cornell 8 spp on opencl@pocl");
        assert_eq!(at(20).unwrap(), "lockstep: scene 1 of 2: cornell 8 spp on opencl@pocl: 0 of 8 spp");
    }

    #[test]
    fn what_is_done_never_exceeds_what_there_is_to_do() {
        let bar = Bar::new("x", 10);
        bar.add(8);
        bar.add(8);
        assert_eq!((bar.bar.position(), bar.bar.length()), (16, Some(16)));
        bar.lengthen(4);
        bar.add(4);
        assert_eq!((bar.bar.position(), bar.bar.length()), (20, Some(20)));
    }
}
