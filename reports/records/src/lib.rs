//! The data model of a study: its records, their log, and the study folder.
//!
//! A study folder's `records.jsonl` is the only source of every table, plot and page. Records are never
//! changed once written; a point that is measured again is appended again, and the later record of the same
//! [`Record::key`] counts. Fields and kinds that this version does not know are tolerated on reading, so an
//! older program can remake the report of a newer study.

mod crops;
mod csv_export;
mod divergence;
mod efficiency;
mod environment;
mod equal_time;
mod fault;
mod film;
mod first_divergence;
mod host;
mod interruption;
mod kinds;
mod log;
mod map_files;
mod mode;
mod over_seeds;
mod port;
mod pyramid;
mod record;
mod run_failure;
mod scaling;
mod sharing;
mod speedup;
pub mod study;
mod tune;

pub use crops::{Crop, Crops};
pub use csv_export::{records_to_csv, write_records_csv};
pub use divergence::{Divergence, DivergenceScope, FieldCount, QuantityDivergence, WorstPath};
pub use efficiency::Efficiency;
pub use environment::{Environment, Program, StudySettings, TargetInfo, shell_line};
pub use equal_time::EqualTime;
pub use film::FilmHash;
pub use first_divergence::FirstDivergence;
pub use host::{HostInfo, utc_now};
pub use interruption::Interruption;
pub use kinds::{
    Bounce, Convergence, Difference, Errors, Hits, InvalidSamples, Load, Map, Noise, Note, Skip, Tests,
    Timing, mega_per_second,
};
pub use lockstep_core::{DeviceInfo, KernelResources, Mode, StageTime, TargetId};
pub use log::{DroppedLine, RecordLog, Resumed, read_records};
pub use map_files::{MapError, MapOf, write_maps};
pub use mode::pair_mode;
pub use over_seeds::OverSeeds;
pub use port::PortSimilarity;
pub use pyramid::{Pyramid, TechniqueShare};
pub use record::Record;
pub use run_failure::{RunFailure, RunFault};
pub use scaling::Scaling;
pub use sharing::{AA_CONTROL, ALONE, Lease, Sharing};
pub use speedup::Speedup;
pub use tune::Tune;

use std::path::PathBuf;

/// Why records or an environment could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file could not be opened, read, written or synced.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempt, as a verb: `open`, `read`, `append to`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A line of a record file is not a record.
    #[error("{}:{line}: {message}; mend or delete that line and try again", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The defect.
        message: String,
    },
    /// A record could not be turned into JSON or CSV.
    #[error("cannot encode a record for {}: {message}", path.display())]
    Encode {
        /// The file that the record was to be written to.
        path: PathBuf,
        /// The encoder's error.
        message: String,
    },
    /// The log exists already.
    #[error("{} exists already; resume it, or choose another folder", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be replaced in one step.
    #[error(transparent)]
    Write(#[from] lockstep_metrics::image_io::WriteError),
}
