//! Progress on standard error: a bar on a terminal, in colour unless `NO_COLOR` is set, else a line now and then.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The time between two lines where standard error is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A bar that counts samples per pixel.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    /// When the last line was written, or the bar made; nothing where the bar itself is seen, or hidden.
    last_line: Option<Mutex<Instant>>,
}

impl Bar {
    /// A bar of `samples` in all.
    pub(crate) fn new(message: &str, samples: u64) -> Self {
        Self::of_step("", message, samples)
    }

    /// A bar with the step's place before the message, such as `1 of 3`; nothing before it where the place is empty.
    pub(crate) fn of_step(place: &str, message: &str, samples: u64) -> Self {
        let bar = ProgressBar::new(samples);
        let template = "{prefix}{msg:32} {bar:32.cyan} {pos:>6}/{len} spp  {elapsed:.dim} left {eta:.dim}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if !place.is_empty() {
            bar.set_prefix(format!("{place}: "));
        }
        bar.set_message(message.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        let is_seen = std::io::stderr().is_terminal();
        Self { bar, last_line: (!is_seen).then(|| Mutex::new(Instant::now())) }
    }

    /// A bar that shows nothing.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), last_line: None }
    }

    /// Counts samples as done. More than were to be done make more of those.
    pub(crate) fn add(&self, samples: u64) {
        let done = self.bar.position() + samples;
        if self.bar.length().is_some_and(|all| done > all) {
            self.bar.set_length(done);
        }
        self.bar.inc(samples);
        if let Some(line) = self.line_at(Instant::now()) {
            crate::output::say(&line);
        }
    }

    /// The line that is due, if any.
    fn line_at(&self, now: Instant) -> Option<String> {
        let mut last = self.last_line.as_ref()?.lock().ok()?;
        if now.saturating_duration_since(*last) < BETWEEN_LINES {
            return None;
        }
        *last = now;
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
        Some(format!("lockstep: {}{}: {done} of {all} spp", self.bar.prefix(), self.bar.message()))
    }

    /// Adds samples to those that are to be done.
    pub(crate) fn lengthen(&self, samples: u64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_terminal_a_line_is_due_every_ten_seconds() {
        let start = Instant::now();
        let bar = Bar { last_line: Some(Mutex::new(start)), ..Bar::of_step("1 of 2", "cornell", 100) };
        bar.add(30);
        let at = |seconds| bar.line_at(start + Duration::from_secs(seconds));
        assert_eq!(at(9), None);
        assert_eq!(at(10).unwrap(), "lockstep: 1 of 2: cornell: 30 of 100 spp");
        assert_eq!((at(11), at(19)), (None, None));
        assert!(at(20).is_some());
        assert_eq!(Bar::hidden().line_at(start + Duration::from_secs(99)), None);
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
