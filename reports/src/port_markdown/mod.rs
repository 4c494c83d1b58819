//! The answers of `lockstep port` as Markdown.

mod cost;
mod similarity;

pub use cost::{cost_markdown, history_markdown};
pub use similarity::similarity_markdown;
