//! Tables, plots and the report page of Lockstep, all made from records.
//!
//! A study folder holds `records.jsonl`, `environment.json` and `images/`; everything else in it is made from
//! those by [`write_report`], so a report can be remade on a machine without any of the devices.
//!
//! - [`verdict`]: the verdict of a study.
//! - [`tuning`]: kernel configurations, compared.
//! - [`stages`]: stage times, summed.
//! - [`performance`]: a study against an earlier one, and rates by commit.
//! - [`portability`]: performance portability of each application.
//! - [`tables`]: tables as Markdown, CSV and JSON, and the summary for pull requests.
//! - [`plots`]: errors over samples, stage times and ray rates as SVG.
//! - [`page`]: the report as one HTML file.
//! - [`port_markdown`]: the answers of `lockstep port` as Markdown.
//!
//! Below it are `lockstep-metrics` (images, error metrics, statistics), `lockstep-records` (the data model,
//! its log and study folders) and `lockstep-port` (similarity and cost of ports), re-exported here.

mod labels;
mod markup;
pub mod page;
pub mod performance;
pub mod plots;
pub mod port_markdown;
pub mod portability;
mod reference;
mod reference_share;
mod report;
pub mod stages;
pub mod tables;
pub mod tuning;
pub mod verdict;

pub use lockstep_metrics::{efficiency, error_interval, float, format, image_io, maps, metrics, statistics};
pub use lockstep_port as port;
pub use lockstep_records as records;
pub use lockstep_records::study;
pub use report::{ReportError, ReportFiles, report_on, write_report};
