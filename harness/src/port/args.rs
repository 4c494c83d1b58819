//! Options of `lockstep port`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lockstep_reports::port::similarity::SHORTEST;

/// `lockstep port`
#[derive(Debug, Subcommand)]
pub(crate) enum PortCommand {
    /// How many lines of one folder of sources are found in another: as written, in a neutral dialect of CUDA, OpenCL, C
    /// and Rust, and with neutral names
    Similarity(SimilarityArgs),
}

/// `lockstep port similarity`
#[derive(Debug, Args)]
pub(crate) struct SimilarityArgs {
    /// A source file or a folder of them
    pub(crate) a: PathBuf,
    /// The other one
    pub(crate) b: PathBuf,
    /// The shortest run of tokens that counts as a match
    #[arg(long, value_name = "N", default_value_t = SHORTEST, value_parser = parse_shortest)]
    pub(crate) min_tokens: usize,
    /// Pairs of files in the table
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) top: usize,
    /// Print one JSON document with all files and pairs
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_shortest(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 4..=1000) => Ok(n),
        _ => Err("it must be a whole number from 4 to 1000".into()),
    }
}
