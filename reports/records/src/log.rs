//! The append-only `records.jsonl`.

use super::{Record, RecordError};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A line that was dropped on resuming because its writing had been cut short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedLine {
    /// Line number, from 1.
    pub line: usize,
    /// How many bytes were cut off the file.
    pub bytes: u64,
}

impl std::fmt::Display for DroppedLine {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(
            f,
            "line {} was cut short ({} bytes); dropped, its point will be measured again",
            self.line, self.bytes
        )
    }
}

/// An open log, what it held, and what had to be dropped.
#[derive(Debug)]
pub struct Resumed {
    /// The log, ready for more.
    pub log: RecordLog,
    /// Every record in the log, in the order written.
    pub records: Vec<Record>,
    /// The torn last line, if there was one.
    pub dropped: Option<DroppedLine>,
}

/// A writer of `records.jsonl`: one JSON object a line, appended and synced to the disk after each point, so
/// that a kill at any moment costs at most the point that was being written.
#[derive(Debug)]
pub struct RecordLog {
    file: File,
    path: PathBuf,
    /// Length of the part that is whole.
    length: u64,
}

impl RecordLog {
    /// Starts a new log.
    ///
    /// # Errors
    /// [`RecordError::Exists`] where there is one already; [`RecordError::Io`] when it cannot be made.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        match OpenOptions::new().append(true).create_new(true).open(path) {
            Ok(file) => Ok(Self { file, path: path.to_owned(), length: 0 }),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(RecordError::Exists { path: path.to_owned() })
            }
            Err(source) => Err(RecordError::Io { action: "create", path: path.to_owned(), source }),
        }
    }

    /// Opens a log to go on with it, making it where there is none. A last line that was cut short by a kill
    /// or a full disk is removed from the file and reported in [`Resumed::dropped`].
    ///
    /// # Errors
    /// [`RecordError::Malformed`] when any other line is not a record; [`RecordError::Io`] when the file
    /// cannot be read or cut.
    pub fn resume(path: &Path) -> Result<Resumed, RecordError> {
        let io = |action| move |source| RecordError::Io { action, path: path.to_owned(), source };
        let mut file =
            OpenOptions::new().append(true).read(true).create(true).open(path).map_err(io("open"))?;
        let bytes = std::fs::read(path).map_err(io("read"))?;
        let parsed = parse(path, &bytes)?;
        let mut length = parsed.good as u64;
        if parsed.dropped.is_some() {
            file.set_len(length).map_err(io("cut the torn last line off"))?;
            file.sync_data().map_err(io("sync"))?;
        } else if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            file.write_all(b"\n").map_err(io("append to"))?;
            length += 1;
        }
        let log = Self { file, path: path.to_owned(), length };
        Ok(Resumed { log, records: parsed.records, dropped: parsed.dropped })
    }

    /// Appends one point, usually several records, in one write, and waits until the disk has it.
    ///
    /// On failure the part that was written is cut off again as far as the disk allows. A later append, once there is
    /// space, then leaves no torn line in the middle.
    ///
    /// # Errors
    /// [`RecordError::Io`] when the disk is full or the file cannot be written.
    pub fn append(&mut self, records: &[Record]) -> Result<(), RecordError> {
        let mut text = String::new();
        for record in records {
            let line = record
                .to_json()
                .map_err(|message| RecordError::Encode { path: self.path.clone(), message })?;
            text.push_str(&line);
            text.push('\n');
        }
        match self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()) {
            Ok(()) => {
                self.length += text.len() as u64;
                Ok(())
            }
            Err(source) => {
                // The first error is the one to report.
                let _ = self.file.set_len(self.length);
                Err(RecordError::Io { action: "append to", path: self.path.clone(), source })
            }
        }
    }

    /// The path of the log's file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads all records of a file. A last line that was cut short is passed over.
///
/// # Errors
/// [`RecordError::Malformed`] with file and line when any other line is not a record; [`RecordError::Io`]
/// when the file cannot be read.
pub fn read_records(path: &Path) -> Result<Vec<Record>, RecordError> {
    let bytes = std::fs::read(path).map_err(|source| RecordError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })?;
    Ok(parse(path, &bytes)?.records)
}

struct Parsed {
    records: Vec<Record>,
    dropped: Option<DroppedLine>,
    /// Length of the part that is whole.
    good: usize,
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Parsed, RecordError> {
    let mut parsed = Parsed { records: Vec::new(), dropped: None, good: 0 };
    for (index, raw) in bytes.split_inclusive(|&b| b == b'\n').enumerate() {
        let start = parsed.good;
        parsed.good += raw.len();
        let is_last = parsed.good == bytes.len();
        let line = std::str::from_utf8(raw).map_err(|_| "not UTF-8".to_owned()).map(str::trim);
        match line.and_then(|text| if text.is_empty() { Ok(None) } else { Record::from_json(text).map(Some) })
        {
            Ok(record) => parsed.records.extend(record),
            Err(_) if is_last && is_cut_short(raw) => {
                parsed.dropped = Some(DroppedLine { line: index + 1, bytes: raw.len() as u64 });
                parsed.good = start;
            }
            Err(message) => {
                return Err(RecordError::Malformed { path: path.to_owned(), line: index + 1, message });
            }
        }
    }
    Ok(parsed)
}

/// A line that no program finished: it lacks its end, or holds the zero bytes that a file system leaves where
/// it had grown the file but not yet stored the data.
fn is_cut_short(raw: &[u8]) -> bool {
    !raw.ends_with(b"\n") || raw.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Load, Note};

    fn note(text: &str) -> Record {
        Note { text: text.to_owned(), ..Default::default() }.into()
    }

    #[test]
    fn what_is_appended_is_read_back_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.jsonl");
        let mut log = RecordLog::create(&path).unwrap();
        log.append(&[note("one"), note("two\nlines")]).unwrap();
        log.append(&[note("three")]).unwrap();
        assert_eq!(read_records(&path).unwrap(), [note("one"), note("two\nlines"), note("three")]);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3);
    }

    #[test]
    fn a_new_log_does_not_overwrite_an_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.jsonl");
        RecordLog::create(&path).unwrap().append(&[note("kept")]).unwrap();
        assert!(matches!(RecordLog::create(&path), Err(RecordError::Exists { .. })));
        assert_eq!(read_records(&path).unwrap().len(), 1);
    }

    #[test]
    fn a_cut_at_any_byte_loses_at_most_the_last_record_and_the_log_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.jsonl");
        let whole = format!("{}\n{}\n", note("first").to_json().unwrap(), note("é").to_json().unwrap());
        let first_end = whole.find('\n').unwrap() + 1;
        for cut in first_end..=whole.len() {
            std::fs::write(&path, &whole.as_bytes()[..cut]).unwrap();
            let mut resumed = RecordLog::resume(&path).unwrap();
            let complete = cut >= whole.len() - 1;
            assert_eq!(resumed.records.len(), if complete { 2 } else { 1 }, "cut at {cut}");
            assert_eq!(resumed.dropped.is_some(), !complete && cut > first_end, "cut at {cut}");
            resumed.log.append(&[note("next")]).unwrap();
            let read = read_records(&path).unwrap();
            assert_eq!(read.last(), Some(&note("next")), "cut at {cut}");
            assert_eq!(read.len(), resumed.records.len() + 1);
        }
    }

    #[test]
    fn zero_bytes_after_a_power_cut_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.jsonl");
        let mut bytes = format!("{}\n", note("first").to_json().unwrap()).into_bytes();
        bytes.extend([0; 100]);
        std::fs::write(&path, &bytes).unwrap();
        let resumed = RecordLog::resume(&path).unwrap();
        assert_eq!(resumed.dropped, Some(DroppedLine { line: 2, bytes: 100 }));
    }

    #[test]
    fn a_bad_line_in_the_middle_is_an_error_with_file_and_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.jsonl");
        let good = Record::from(Load::default()).to_json().unwrap();
        std::fs::write(&path, format!("{good}\n{{\"kind\":\n{good}\n")).unwrap();
        let error = read_records(&path).unwrap_err();
        assert!(matches!(&error, RecordError::Malformed { line: 2, .. }));
        assert!(error.to_string().contains("records.jsonl:2: "), "{error}");
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("absent").join("records.jsonl");
        assert!(RecordLog::create(&path).unwrap_err().to_string().contains("absent"));
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_path() {
        let full = Path::new("/dev/full");
        let found = full.exists().then_some(());
        if lockstep_require::present("full-disk", found.ok_or("There is no /dev/full.")).is_none() {
            return;
        }
        let file = OpenOptions::new().append(true).open(full).unwrap();
        let mut log = RecordLog { file, path: PathBuf::from("study/records.jsonl"), length: 0 };
        let error = log.append(&[note("x")]).unwrap_err();
        assert!(
            matches!(&error, RecordError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull)
        );
        assert!(error.to_string().contains("study/records.jsonl"), "{error}");
    }
}
