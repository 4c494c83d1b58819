//! Everything in a study folder that is made from its records.

use crate::image_io::{WriteError, atomic_write_text};
use crate::page::page;
use crate::plots::{Plot, PlotError, all_plots};
use crate::records::{Record, RecordError, write_records_csv};
use crate::study::{Study, StudyError, files};
use crate::tables::{Table, all_tables, summary_markdown};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The files of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportFiles {
    /// `records.csv`
    pub records_csv: PathBuf,
    /// `summary.md`
    pub summary: PathBuf,
    /// `tables.json`
    pub tables_json: PathBuf,
    /// `report.html`
    pub page: PathBuf,
    /// `tables/*.csv`
    pub tables: Vec<PathBuf>,
    /// `plots/*.svg`
    pub plots: Vec<PathBuf>,
    /// Images that could not be shown, and why: damaged or missing ones.
    pub warnings: Vec<String>,
}

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The study could not be read.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The records could not be written as CSV.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A folder could not be made.
    #[error("cannot make folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A plot could not be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A table could not be encoded.
    #[error("cannot encode {}: {message}", path.display())]
    Encode {
        /// The file that the table was to be written to.
        path: PathBuf,
        /// The encoder's error.
        message: String,
    },
}

/// Makes the report of a folder as [`write_report`] does, and returns the study that it is about.
///
/// # Errors
/// As [`write_report`].
pub fn report_on(folder: &Path) -> Result<(Study, ReportFiles), ReportError> {
    let records = Study::records(folder)?;
    let study = Study::with_records(folder, records.clone())?;
    let made = write_files(folder, &study, &records)?;
    Ok((study, made))
}

/// Remakes `records.csv`, `summary.md`, `tables.json`, `tables/*.csv`, `plots/*.svg` and `report.html` in a
/// study folder from its `records.jsonl`, `environment.json` and `images/`. Works on the folder of a study
/// that was interrupted; needs no device. Every file is replaced in one step.
///
/// # Errors
/// [`ReportError`], naming the file. Images that cannot be read are warnings, not errors.
pub fn write_report(folder: &Path) -> Result<ReportFiles, ReportError> {
    report_on(folder).map(|(_, made)| made)
}

fn write_files(folder: &Path, study: &Study, records: &[Record]) -> Result<ReportFiles, ReportError> {
    let mut made = ReportFiles {
        records_csv: folder.join(files::RECORDS_CSV),
        summary: folder.join(files::SUMMARY),
        tables_json: folder.join(files::TABLES_JSON),
        page: folder.join(files::PAGE),
        ..Default::default()
    };
    write_records_csv(&made.records_csv, records)?;
    atomic_write_text(&made.summary, &summary_markdown(study))?;
    let tables = all_tables(study);
    write_tables_json(&made.tables_json, &tables)?;
    made.tables = write_tables_csv(&folder.join(files::TABLES), &tables)?;
    let plots = all_plots(study)?;
    made.plots = write_plots(&folder.join(files::PLOTS), &plots)?;
    let page = page(study, &tables, &plots)
        .map_err(|e| ReportError::Encode { path: made.page.clone(), message: e.to_string() })?;
    atomic_write_text(&made.page, &page.html)?;
    made.warnings = page.warnings;
    Ok(made)
}

fn write_tables_json(path: &Path, tables: &[Table]) -> Result<(), ReportError> {
    let document = Value::Array(tables.iter().map(Table::to_json).collect());
    let encode = |e: serde_json::Error| ReportError::Encode { path: path.to_owned(), message: e.to_string() };
    let text = serde_json::to_string_pretty(&document).map_err(encode)?;
    Ok(atomic_write_text(path, &(text + "\n"))?)
}

fn write_tables_csv(folder: &Path, tables: &[Table]) -> Result<Vec<PathBuf>, ReportError> {
    make_folder(folder)?;
    let mut paths = Vec::new();
    for table in tables {
        let path = folder.join(format!("{}.csv", table.id));
        let text =
            table.to_csv().map_err(|e| ReportError::Encode { path: path.clone(), message: e.to_string() })?;
        atomic_write_text(&path, &text)?;
        paths.push(path);
    }
    Ok(paths)
}

fn write_plots(folder: &Path, plots: &[Plot]) -> Result<Vec<PathBuf>, ReportError> {
    make_folder(folder)?;
    let mut paths = Vec::new();
    for plot in plots {
        let path = folder.join(&plot.file_name);
        atomic_write_text(&path, &plot.svg)?;
        paths.push(path);
    }
    Ok(paths)
}

fn make_folder(path: &Path) -> Result<(), ReportError> {
    std::fs::create_dir_all(path).map_err(|source| ReportError::Folder { path: path.to_owned(), source })
}
