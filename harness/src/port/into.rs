//! Answers kept with a study, for its page.

use std::path::Path;

use lockstep_reports::records::Record;
use lockstep_reports::study::files;

use crate::exit::Failure;
use crate::output::say;
use crate::study::append_to_study;

/// Adds records to a study and makes its report again.
///
/// # Errors
/// [`Failure`] where the folder holds no study, another program writes to it, or a file cannot be written.
pub(super) fn keep(folder: &Path, records: &[Record]) -> Result<(), Failure> {
    append_to_study(folder, records)?;
    let made = lockstep_reports::write_report(folder)?;
    made.warnings.iter().for_each(|warning| say(&format!("lockstep: {warning}")));
    say(&format!("lockstep: kept in {}", folder.join(files::PAGE).display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_reports::port::cost::Cost;
    use lockstep_reports::records::RecordLog;
    use lockstep_reports::study::Study;

    #[test]
    fn records_go_to_a_study_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let record = || Record::PortCost(Cost { not_counted: 7, ..Cost::default() });
        let failure = keep(dir.path(), &[record()]).unwrap_err();
        assert!(failure.to_string().contains("holds no study"), "{failure}");
        assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none(), "and nothing is left there");
        RecordLog::create(&dir.path().join(files::RECORDS)).unwrap();
        keep(dir.path(), &[record()]).unwrap();
        keep(dir.path(), &[record()]).unwrap();
        assert_eq!(Study::load(dir.path()).unwrap().cost.unwrap().not_counted, 7);
        assert!(dir.path().join(files::PAGE).exists());
    }
}
