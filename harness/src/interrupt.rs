//! Ctrl-C and SIGTERM: finish the current step, keep what was done.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::{Exit, Failure};
use crate::external;
use crate::output::say;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on the first signal asks the work to stop after its current pass, and the second ends the program
/// at once; the files of a study are valid at any moment.
///
/// # Errors
/// [`Failure::Input`] when the system refuses a handler.
pub(crate) fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            external::end_running();
            std::process::exit(Exit::Interrupted as i32);
        }
        say("lockstep: stopping after the current pass; once more to stop at once");
    })
    .map_err(|e| Failure::Input(format!("cannot listen for Ctrl-C: {e}")))
}

/// Whether the user asked to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
