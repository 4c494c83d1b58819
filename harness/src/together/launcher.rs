//! Starts workers as processes of this program.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use lockstep_together::{Launch, Launcher, WorkerProcess};

use super::cores;
use crate::backends::Target;
use crate::exit::Failure;

/// Workers of this program, one process for each target.
pub(super) struct Processes {
    program: PathBuf,
    workers: Vec<Worker>,
}

struct Worker {
    target: String,
    cpus: Vec<usize>,
    threads: Option<usize>,
}

impl Processes {
    /// Shares the processors among targets.
    ///
    /// # Errors
    /// [`Failure::Input`] when the system does not tell where this program lies.
    pub(super) fn new(targets: &[Target], threads: Option<usize>) -> Result<Self, Failure> {
        let program = std::env::current_exe()
            .map_err(|e| Failure::Input(format!("cannot find this program to start workers: {e}")))?;
        let on_host: Vec<bool> =
            targets.iter().map(|t| t.state.as_ref().is_ok_and(|info| info.on_host)).collect();
        let shares = cores::share(&cores::available(), &on_host);
        let workers = targets.iter().zip(shares).map(|(target, cpus)| Worker {
            target: target.id.to_string(),
            threads: threads.or((!cpus.is_empty()).then_some(cpus.len())),
            cpus,
        });
        Ok(Self { program, workers: workers.collect() })
    }
}

impl Launcher for Processes {
    fn launch(&self, target: usize) -> Result<Launch, String> {
        let worker = self.workers.get(target).ok_or("there is no such target")?;
        let (ours, theirs) = UnixStream::pair().map_err(|e| e.to_string())?;
        let mut command = Command::new(&self.program);
        command.arg("worker").arg(&worker.target);
        if !worker.cpus.is_empty() {
            let list: Vec<String> = worker.cpus.iter().map(ToString::to_string).collect();
            command.arg("--cpus").arg(list.join(","));
        }
        if let Some(threads) = worker.threads {
            command.arg("--threads").arg(threads.to_string());
            // PoCL counts the machine's processors, not the process's
            for variable in ["POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"] {
                command.env(variable, threads.to_string());
            }
        }
        // A group of its own: Ctrl-C is the coordinator's to handle
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn().map_err(|e| format!("{}: {e}", self.program.display()))?;
        Ok(Launch { stream: ours, process: Some(WorkerProcess::new(child)) })
    }
}
