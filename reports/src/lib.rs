//! Metrics, tables, plots and the report page of Lockstep, all made from records.
//!
//! A study folder holds `records.jsonl`, `environment.json` and `images/`; everything else in it is made from
//! those by [`write_report`], so a report can be remade on a machine without any of the devices.
//!
//! - [`records`]: what was measured, one JSON object a line, and how it is kept through a kill.
//! - [`image_io`]: linear images from and to files, and files that are whole or absent.
//! - [`metrics`]: the numbers between two images.
//! - [`maps`]: pictures of where they differ.
//! - [`statistics`]: telling bias from noise.
//! - [`study`]: a study folder, read.
//! - [`sweep`]: what a sweep over variants found.
//! - [`verdict`]: what a study found, in words.
//! - [`tables`]: tables as Markdown, CSV and JSON, and the summary for pull requests.
//! - [`plots`]: errors over samples, stage times and ray rates as SVG.
//! - [`page`]: the report as one HTML file.
//! - [`port`]: how alike ports are and what one costs, from their source text.
//! - [`portability`]: how near one application comes to the best on every device.

pub mod image_io;
pub mod maps;
pub mod metrics;
pub mod page;
pub mod plots;
pub mod port;
pub mod portability;
pub mod records;
mod report;
pub mod statistics;
pub mod study;
pub mod sweep;
pub mod tables;
pub mod verdict;

pub use report::{ReportError, ReportFiles, write_report};
