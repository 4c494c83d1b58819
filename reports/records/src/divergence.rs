//! The divergence of two targets' paths.

use crate::{Mode, TargetId};
use lockstep_metrics::float;
use lockstep_metrics::format::count;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Paths of two targets, compared field by field and classified by the first quantity in which each differs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Divergence {
    /// Scene name.
    pub scene: String,
    /// First target.
    pub a: TargetId,
    /// Second target.
    pub b: TargetId,
    /// Random seed.
    pub seed: u64,
    /// The pixels whose paths were compared.
    pub scope: DivergenceScope,
    /// Samples per pixel at which the images first differ; 0 where the paths were compared for another reason.
    pub spp: u32,
    /// Samples of every pixel whose paths were compared.
    pub samples: u32,
    /// Pixels of the image.
    pub pixels: u64,
    /// Pixels in which the images differ, for [`DivergenceScope::DifferingPixels`].
    pub pixels_differing: u64,
    /// Pixels whose paths were compared.
    pub pixels_compared: u64,
    /// Paths compared.
    pub paths: u64,
    /// Paths that diverge.
    pub diverging: u64,
    /// One row for every quantity, in the order in which a path computes them.
    pub quantities: Vec<QuantityDivergence>,
    /// Why no path was compared; else empty.
    pub reason: String,
    /// The command that shows the paths of a pixel that differs; empty unless all compared paths agree.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// How both targets were compiled; `fast` when either was.
    pub mode: Mode,
}

/// The pixels whose paths are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DivergenceScope {
    /// Every pixel.
    #[default]
    AllPixels,
    /// Pixels in which the images differ, or some of them.
    DifferingPixels,
}

impl DivergenceScope {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllPixels => "all-pixels",
            Self::DifferingPixels => "differing-pixels",
        }
    }
}

/// The divergence of the paths in one quantity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuantityDivergence {
    /// The quantity, such as `depth`.
    pub quantity: String,
    /// Paths in which the quantity differs.
    pub differing: u64,
    /// Paths that diverge here: all quantities before are equal to the bit.
    pub diverging: u64,
    /// Pixels with a path that diverges here.
    pub pixels_diverging: u64,
    /// The largest distance at which a number diverges here, in steps of binary32.
    pub largest_ulps: u64,
    /// The fields at which paths diverge, the most frequent first.
    pub fields: Vec<FieldCount>,
    /// The worst of the paths that diverge here, each of another pixel.
    pub worst: Vec<WorstPath>,
}

/// A path that parts from another target's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorstPath {
    /// The pixel's column, from 0.
    pub x: u32,
    /// The pixel's row, from 0 at the top.
    pub y: u32,
    /// Index of the sample in the pixel.
    pub sample: u32,
    /// The vertex where the paths part; 0 is what the camera ray found.
    pub bounce: u32,
    /// The detail in which the paths part.
    pub quantity: String,
    /// The value on the first target.
    pub a: String,
    /// The value on the second target.
    pub b: String,
    /// Distance of the two values in steps of binary32, where they are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ulps: Option<u64>,
    /// Greatest difference of a channel of the sample's radiance.
    #[serde(with = "float")]
    pub radiance: f64,
    /// The command that shows both paths.
    pub command: String,
}

/// A field of a vertex, and the paths that diverge at it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldCount {
    /// The vertex; 0 is the camera ray's hit.
    pub bounce: u32,
    /// The field, such as `primitive`.
    pub field: String,
    /// Paths that diverge at the field.
    pub paths: u64,
}

impl FieldCount {
    /// Reads its own text, as older records have it; a text in another form is the field.
    pub(crate) fn parse(text: &str) -> Self {
        let parts = || {
            let (bounce, rest) = text.strip_prefix("bounce ")?.split_once(": ")?;
            let (field, paths) = rest.strip_suffix(')')?.rsplit_once(" (")?;
            Some(Self { bounce: bounce.parse().ok()?, field: field.to_owned(), paths: paths.parse().ok()? })
        };
        parts().unwrap_or_else(|| Self { field: text.to_owned(), ..Self::default() })
    }
}

impl fmt::Display for DivergenceScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for FieldCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bounce {}: {} ({})", self.bounce, self.field, self.paths)
    }
}

impl Divergence {
    /// The first quantity in which a path differs.
    pub fn first(&self) -> Option<&QuantityDivergence> {
        self.quantities.iter().find(|row| row.differing > 0)
    }

    /// The quantity at which most paths diverge.
    pub fn main(&self) -> Option<&QuantityDivergence> {
        self.quantities.iter().max_by_key(|row| row.diverging).filter(|row| row.diverging > 0)
    }

    /// The command that shows the worst path of the quantity at which most paths diverge; without divergence, a path of a
    /// pixel that differs. Nothing if no paths were compared.
    pub fn trace_command(&self) -> Option<&str> {
        let rows = self.main().into_iter().chain(&self.quantities);
        let worst = rows.flat_map(|row| &row.worst).map(|path| path.command.as_str());
        worst.chain([self.command.as_str()]).find(|command| !command.is_empty())
    }

    /// The fields at which paths diverge over all bounces, most paths first.
    pub fn fields(&self) -> Vec<(&str, u64)> {
        let mut fields: Vec<(&str, u64)> = Vec::new();
        for count in self.quantities.iter().flat_map(|row| &row.fields) {
            match fields.iter_mut().find(|(field, _)| *field == count.field) {
                Some((_, paths)) => *paths += count.paths,
                None => fields.push((&count.field, count.paths)),
            }
        }
        fields.sort_by_key(|&(_, paths)| std::cmp::Reverse(paths));
        fields
    }
}

impl Divergence {
    /// The finding in words.
    pub fn sentence(&self) -> String {
        if !self.reason.is_empty() {
            return format!("paths were not compared: {}", self.reason);
        }
        match self.scope {
            DivergenceScope::AllPixels => self.sentence_of_all(),
            DivergenceScope::DifferingPixels => self.sentence_of_some(),
        }
    }

    fn sentence_of_all(&self) -> String {
        let Some(first) = self.first() else {
            return format!("all {} paths are equal to the bit, quantity by quantity", count(self.paths));
        };
        let mut text = format!(
            "the first quantity that differs is {} ({} of {} paths: {})",
            first.quantity,
            count(first.differing),
            count(self.paths),
            most(first)
        );
        if let Some(main) = self.main().filter(|main| main.quantity != first.quantity) {
            text.push_str(&format!(
                "; most paths diverge at {} ({}: {})",
                main.quantity,
                count(main.diverging),
                most(main)
            ));
        }
        text
    }

    fn sentence_of_some(&self) -> String {
        let noun = if self.pixels_compared == 1 { "pixel" } else { "pixels" };
        let fields: Vec<String> =
            self.fields().iter().map(|(field, paths)| format!("{field} ({})", count(*paths))).collect();
        if fields.is_empty() {
            return format!("at {} spp no path of {} {noun} diverges", self.spp, count(self.pixels_compared));
        }
        format!(
            "at {} spp {} of {} paths of {} {noun} that differ diverge, at {}",
            self.spp,
            count(self.diverging),
            count(self.paths),
            count(self.pixels_compared),
            fields.join(", ")
        )
    }
}

/// The field at which most paths diverge in a quantity.
fn most(row: &QuantityDivergence) -> String {
    row.fields.first().map_or_else(|| "as a consequence".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(bounce: u32, field: &str, paths: u64) -> FieldCount {
        FieldCount { bounce, field: field.to_owned(), paths }
    }

    #[test]
    fn counts_read_back_as_written_and_other_texts_are_kept() {
        let one = field(2, "light sample's share", 7);
        assert_eq!(FieldCount::parse(&one.to_string()), one);
        assert_eq!(FieldCount::parse("depth"), field(0, "depth", 0));
    }

    #[test]
    fn the_command_is_of_the_quantity_at_which_most_paths_diverge() {
        let row = |diverging, command: &str| QuantityDivergence {
            diverging,
            worst: vec![WorstPath { command: command.to_owned(), ..WorstPath::default() }],
            ..QuantityDivergence::default()
        };
        let of = |quantities| Divergence { quantities, command: "any".into(), ..Divergence::default() };
        assert_eq!(of(vec![row(1, "few"), row(5, "most")]).trace_command(), Some("most"));
        assert_eq!(of(vec![row(1, "few"), row(5, "")]).trace_command(), Some("few"));
        assert_eq!(of(Vec::new()).trace_command(), Some("any"));
        assert_eq!(Divergence::default().trace_command(), None);
    }

    #[test]
    fn fields_are_counted_over_all_bounces() {
        let row = |fields| QuantityDivergence { fields, ..QuantityDivergence::default() };
        let quantities = vec![
            row(vec![field(0, "primitive", 1)]),
            row(vec![field(1, "hit", 3), field(2, "primitive", 4)]),
        ];
        let divergence = Divergence { quantities, ..Divergence::default() };
        assert_eq!(divergence.fields(), [("primitive", 5), ("hit", 3)]);
    }

    #[test]
    fn the_paths_of_differing_pixels_are_classified_by_field_over_all_bounces() {
        let fields = vec![
            FieldCount { bounce: 1, field: "primitive".into(), paths: 11 },
            FieldCount { bounce: 2, field: "light reached".into(), paths: 1 },
        ];
        let row =
            QuantityDivergence { fields, diverging: 12, differing: 12, ..QuantityDivergence::default() };
        let scope = DivergenceScope::DifferingPixels;
        let found = Divergence {
            scope,
            spp: 4,
            paths: 24,
            diverging: 12,
            pixels_compared: 12,
            quantities: vec![row],
            ..Divergence::default()
        };
        assert_eq!(
            found.sentence(),
            "at 4 spp 12 of 24 paths of 12 pixels that differ diverge, at primitive (11), light reached (1)"
        );
        let none = Divergence { scope, spp: 4, pixels_compared: 1, ..Divergence::default() };
        assert_eq!(none.sentence(), "at 4 spp no path of 1 pixel diverges");
        let refused = Divergence { scope, reason: "x cannot record paths".into(), ..Divergence::default() };
        assert_eq!(refused.sentence(), "paths were not compared: x cannot record paths");
    }
}
