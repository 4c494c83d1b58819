//! Similarity and cost of a program's ports, from their source text.
//!
//! - [`sources`]: source files of a folder.
//! - [`lexer`]: a file as tokens; comments and white space are gone.
//! - [`dialect`]: the words of CUDA, OpenCL, C and Rust that mean the same.
//! - [`level`]: tokens as symbols that are compared: raw, in a neutral dialect, or with neutral names.
//! - [`winnow`]: fingerprints, to find pairs of files worth a look.
//! - [`tiling`]: which symbols of two files match.
//! - [`similarity`]: lines matched, by file and by folder.
//! - [`lines`]: lines of code of a file.
//! - [`cost`]: lines by backend and role, and Mooney's degree of portability.
//! - [`history`]: how often a change touched one port and not the other.

pub mod cost;
pub mod dialect;
pub mod history;
pub mod level;
pub mod lexer;
pub mod lines;
pub mod similarity;
pub mod sources;
pub mod tiling;
pub mod winnow;

#[cfg(test)]
mod copies;
