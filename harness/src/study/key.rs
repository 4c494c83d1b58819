//! The results by which a study knows what is done.

use std::path::PathBuf;

use lockstep_reports::records::Record;

/// A result in a study's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A record about some point; `None` for kinds of record that are about none.
    Record(Option<String>),
    /// An image that is there and whole.
    Image {
        /// The file.
        path: PathBuf,
        /// The recorded hash of its film.
        film: Option<String>,
    },
    /// A file that is not there any more.
    NoFile(PathBuf),
}

impl Key {
    /// The key of a record, whatever it found.
    pub(crate) fn of(record: impl Into<Record>) -> Self {
        Self::Record(record.into().key())
    }
}
