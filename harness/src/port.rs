//! `lockstep port`: how alike the ports of a program are, and what a port costs.

pub(crate) mod args;
mod changes;
mod cost;
mod into;
mod layout;
mod similarity;

use crate::exit::{Exit, Failure};
use args::PortCommand;

/// Answers one question about ports.
///
/// # Errors
/// [`Failure`] for folders that cannot be read.
pub(crate) fn run(command: &PortCommand) -> Result<Exit, Failure> {
    match command {
        PortCommand::Similarity(args) => similarity::run(args),
        PortCommand::Cost(args) => cost::run(args),
    }
}
