//! Options of `lockstep port`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lockstep_reports::port::cost::{Place, Role};
use lockstep_reports::port::similarity::SHORTEST;

/// `lockstep port`
#[derive(Debug, Subcommand)]
pub(crate) enum PortCommand {
    /// How many lines of one folder of sources are found in another: as written, in a neutral dialect of
    /// CUDA, OpenCL, C and Rust, and with neutral names
    Similarity(SimilarityArgs),
    /// Lines of code by backend and role, the degree of portability, and how often changes touched one
    /// backend alone
    Cost(CostArgs),
}

/// `lockstep port similarity`
#[derive(Debug, Args)]
pub(crate) struct SimilarityArgs {
    /// A source file or a folder of them
    pub(crate) a: PathBuf,
    /// The second folder or backend
    pub(crate) b: PathBuf,
    /// The shortest run of tokens that counts as a match
    #[arg(long, value_name = "N", default_value_t = SHORTEST, value_parser = parse_shortest)]
    pub(crate) min_tokens: usize,
    /// Pairs of files in the table
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) top: usize,
    /// Also add the answer to the study in this folder, whose page shows it
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Print one JSON document with all files and pairs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `lockstep port cost`
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// The project's folder
    #[arg(default_value = ".")]
    pub(crate) root: PathBuf,
    #[allow(rustdoc::broken_intra_doc_links, reason = "help is plain text")]
    /// A TOML file of [[place]] tables with path, backend (`shared` for what all use) and role (`host` or
    /// `device`) [default: src and kernels of core, of every backend-NAME and of the packages inside them]
    #[arg(long, value_name = "FILE")]
    pub(crate) layout: Option<PathBuf>,
    /// One place of a layout: `shared:device=kernels`, `cuda:host=src/cuda`; may be given several times
    #[arg(long = "place", value_name = "BACKEND:ROLE=PATH", value_parser = parse_place)]
    pub(crate) places: Vec<Place>,
    /// Hours that a backend took; may be given several times
    #[arg(long, value_name = "BACKEND=N", value_parser = parse_hours)]
    pub(crate) hours: Vec<(String, f64)>,
    /// Also add the answer to the study in this folder, whose page joins it with the times
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_place(text: &str) -> Result<Place, String> {
    let wrong = || "it must read BACKEND:ROLE=PATH with `host` or `device` for a role".to_owned();
    let (owner, path) = text.split_once('=').ok_or_else(wrong)?;
    let (backend, role) = owner.split_once(':').ok_or_else(wrong)?;
    let role = match role {
        "host" => Role::Host,
        "device" => Role::Device,
        _ => return Err(wrong()),
    };
    if backend.is_empty() || path.is_empty() {
        return Err(wrong());
    }
    Ok(Place { path: path.to_owned(), backend: backend.to_owned(), role })
}

fn parse_hours(text: &str) -> Result<(String, f64), String> {
    let (backend, hours) = text.split_once('=').ok_or("it must read BACKEND=HOURS")?;
    match hours.parse::<f64>() {
        Ok(hours) if hours >= 0.0 && hours.is_finite() => Ok((backend.to_owned(), hours)),
        _ => Err("hours must be a number, zero or more".into()),
    }
}

fn parse_shortest(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 4..=1000) => Ok(n),
        _ => Err("it must be a whole number from 4 to 1000".into()),
    }
}
