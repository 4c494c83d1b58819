//! Similarity of ports.

use lockstep_port::similarity::{Pair, Part, Similarity};
use serde::{Deserialize, Serialize};

/// How alike two folders of sources are: [`Similarity`] without the files that are in no pair.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortSimilarity {
    /// Name of the first side.
    pub a: String,
    /// Name of the second side.
    pub b: String,
    /// The shortest run of tokens that counted.
    pub shortest: usize,
    /// Similarity of the whole first side, then of each of its folders.
    pub a_parts: Vec<Part>,
    /// Similarity of the whole second side, then of each of its folders.
    pub b_parts: Vec<Part>,
    /// The pairs of files that share the most lines.
    pub pairs: Vec<Pair>,
    /// Number of further pairs of files that share something.
    pub further_pairs: usize,
}

impl PortSimilarity {
    /// The record of a similarity, with its first `most` pairs.
    pub fn new(similarity: &Similarity, most: usize) -> Self {
        let parts = |side: &lockstep_port::similarity::Side| {
            std::iter::once(&side.whole).chain(&side.folders).cloned().collect()
        };
        Self {
            a: similarity.a.name.clone(),
            b: similarity.b.name.clone(),
            shortest: similarity.shortest,
            a_parts: parts(&similarity.a),
            b_parts: parts(&similarity.b),
            pairs: similarity.pairs.iter().take(most).cloned().collect(),
            further_pairs: similarity.pairs.len().saturating_sub(most),
        }
    }
}
