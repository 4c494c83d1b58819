//! `lockstep worker`: one target of a render that another process coordinates.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use lockstep_core::Mode;
use lockstep_together::{ServeError, serve};

use super::cores;
use crate::backends;
use crate::bvh_cache;
use crate::cli::WorkerArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::semantics;

/// Serves a coordinator until it is done or gone.
///
/// # Errors
/// [`Failure`] for a target that cannot be opened, a socket that is not there, and errors of the renderer.
pub(crate) fn work(args: &WorkerArgs) -> Result<Exit, Failure> {
    // Before any thread is started
    if !args.cpus.is_empty() {
        cores::stay_on(&args.cpus)
            .map_err(|e| Failure::Input(format!("cannot stay on the processors {:?}: {e}", args.cpus)))?;
    }
    let stream = match &args.join {
        Some(socket) => UnixStream::connect(socket).map_err(Failure::io("connect to", socket))?,
        None => standard_input()?,
    };
    let target = backends::one(&args.target, Mode::Exact)?;
    let mut renderer = target.open(&bvh_cache::options(args.threads))?;
    interrupt::listen()?;
    match serve(&stream, semantics::hash(), renderer.as_mut(), &interrupt::requested) {
        Ok(()) => Ok(Exit::Fine),
        Err(ServeError::Renderer(error)) => Err(error.into()),
        Err(error) => Err(Failure::Input(error.to_string())),
    }
}

/// Standard input as the socket that a coordinator made it.
fn standard_input() -> Result<UnixStream, Failure> {
    let input = std::io::stdin();
    let owned = input.as_fd().try_clone_to_owned().map(UnixStream::from);
    let is_socket = owned.as_ref().is_ok_and(|stream| stream.peer_addr().is_ok());
    match owned {
        Ok(stream) if is_socket => Ok(stream),
        _ => Err(Failure::Usage(
            "standard input is no socket; `lockstep render --together` starts workers, or name the socket of a render \
             with --join"
                .into(),
        )),
    }
}
