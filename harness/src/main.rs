//! Lockstep's command line.

mod setup;

use std::process::ExitCode;

use setup::{Host, Progress, Row, SetupError};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.split_first() {
        Some((command, names)) if command == "setup" => set_up(names),
        _ => ExitCode::from(2),
    }
}

/// `lockstep setup [ITEM…]`; 4 if anything could not be fetched.
fn set_up(names: &[String]) -> ExitCode {
    let (items, host) = match setup::select(names).and_then(|items| Ok((items, Host::here()?))) {
        Ok(chosen) => chosen,
        Err(error) => {
            eprintln!("lockstep setup: {error}");
            return ExitCode::from(if matches!(error, SetupError::UnknownItem { .. }) { 2 } else { 4 });
        }
    };
    let rows = setup::fetch_missing(&items, &host, &Progress::on_stderr());
    if rows.iter().all(Row::is_there) { ExitCode::SUCCESS } else { ExitCode::from(4) }
}
