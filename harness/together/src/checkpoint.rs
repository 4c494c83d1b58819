//! Where and how often a render's state is kept on disk.

use std::path::PathBuf;
use std::time::Duration;

/// A file that holds a render's film so far, and when it is written.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The file, a film file.
    pub path: PathBuf,
    /// The time between two writes.
    pub every: Duration,
    /// The note in the file: how to go on.
    pub note: serde_json::Value,
}
