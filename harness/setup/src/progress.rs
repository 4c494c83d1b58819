//! Progress on standard error: a spinner on a terminal, and one line for each item anywhere.

use std::cell::RefCell;
use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Reports progress to the user.
pub struct Progress {
    /// Whether standard error is a terminal that people look at.
    spins: bool,
    spinner: RefCell<ProgressBar>,
    /// Receives the line of each item.
    print: fn(&str),
}

impl Progress {
    /// Progress on standard error. Colours follow `NO_COLOR` and `CLICOLOR`.
    pub fn on_stderr() -> Self {
        let print = |line: &str| eprintln!("{line}");
        Self { spins: stderr().is_terminal(), spinner: RefCell::new(ProgressBar::hidden()), print }
    }

    /// Without any output.
    #[cfg(unix)]
    #[cfg(test)]
    pub(super) fn silent() -> Self {
        Self { spins: false, spinner: RefCell::new(ProgressBar::hidden()), print: |_| () }
    }

    /// Begins an item.
    pub(super) fn begin(&self, message: &str) {
        if !self.spins {
            return;
        }
        let spinner = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {wide_msg} {elapsed:.dim}") {
            spinner.set_style(style);
        }
        spinner.set_message(message.to_owned());
        spinner.enable_steady_tick(Duration::from_millis(100));
        self.spinner.replace(spinner);
    }

    /// Shows the current step of the item.
    pub(super) fn step(&self, message: &str) {
        self.spinner.borrow().set_message(message.to_owned());
    }

    /// Ends an item with its line.
    pub(super) fn finish(&self, line: &str) {
        self.spinner.borrow().finish_and_clear();
        (self.print)(line);
    }
}
