//! Progress bars on standard error: on a terminal only, in colour unless `NO_COLOR` is set.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar that counts samples per pixel. Where standard error is no terminal it shows nothing.
#[derive(Debug)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar of `samples` in all.
    pub(crate) fn new(message: &str, samples: u64) -> Self {
        let bar = ProgressBar::new(samples);
        let template = "{msg:32} {bar:32.cyan} {pos:>6}/{len} spp  {elapsed:.dim} left {eta:.dim}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(message.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// A bar that shows nothing.
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Counts samples as done.
    pub(crate) fn add(&self, samples: u64) {
        self.0.inc(samples);
    }

    /// Adds samples to those that are to be done.
    pub(crate) fn lengthen(&self, samples: u64) {
        self.0.inc_length(samples);
    }

    /// The message before the bar.
    pub(crate) fn message(&self) -> String {
        self.0.message()
    }

    /// Shows a message before the bar.
    pub(crate) fn say(&self, message: &str) {
        self.0.set_message(message.to_owned());
    }

    /// Prints a line above the bar.
    pub(crate) fn line(&self, text: &str) {
        self.0.suspend(|| crate::output::say(text));
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
