//! Workers as processes: how they are started, and how they end.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::thread::JoinHandle;

/// The most characters of a worker's last words that are kept.
const LAST_WORDS: usize = 400;

/// Starts workers.
pub trait Launcher {
    /// Starts a worker for one of the targets, by its place in the list of targets.
    ///
    /// # Errors
    /// A text for people, naming the remedy.
    fn launch(&self, target: usize) -> Result<Launch, String>;
}

/// A worker that has been started.
#[derive(Debug)]
pub struct Launch {
    /// The stream to the worker, at whose other end [`crate::serve`] runs.
    pub stream: UnixStream,
    /// The process; `None` for a worker within this process.
    pub process: Option<WorkerProcess>,
}

/// A worker's process. Dropping it ends it.
#[derive(Debug)]
pub struct WorkerProcess {
    child: Child,
    words: Option<JoinHandle<String>>,
}

impl WorkerProcess {
    /// Watches over a child, and listens to its standard error if that is piped.
    pub fn new(mut child: Child) -> Self {
        let words = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                // Bytes read before an error are still worth showing.
                let _ = stderr.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).trim().to_owned()
            })
        });
        Self { child, words }
    }

    /// Ends the process if it still runs, and tells how it ended.
    pub(crate) fn end(mut self) -> String {
        self.kill()
    }

    fn kill(&mut self) -> String {
        // Give a process that has closed its stream the time to end by itself
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let how = match self.child.wait() {
            Ok(status) => format!("its process ended ({status})"),
            Err(e) => format!("its process is gone ({e})"),
        };
        let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
        match words.lines().last() {
            Some(last) => format!("{how}: {}", last.chars().take(LAST_WORDS).collect::<String>()),
            None => how,
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}
