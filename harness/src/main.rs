//! Lockstep's command line.

mod setup;

use std::process::ExitCode;

use setup::{Host, Progress, Row};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("setup") => set_up(),
        _ => ExitCode::from(2),
    }
}

/// `lockstep setup`; 4 if anything could not be fetched.
fn set_up() -> ExitCode {
    let host = match Host::here() {
        Ok(host) => host,
        Err(error) => {
            eprintln!("lockstep setup: {error}");
            return ExitCode::from(4);
        }
    };
    let rows = setup::fetch_missing(&setup::items(), &host, &Progress::on_stderr());
    if rows.iter().all(Row::is_there) { ExitCode::SUCCESS } else { ExitCode::from(4) }
}
