//! Parsing of vertices and faces.

use super::{lines, number, shorten};
use crate::limits::{Budget, Limits};
use crate::warning::Warnings;
use lockstep_core::Result;
use std::collections::HashMap;

/// "No index".
const ABSENT: u32 = u32::MAX;

/// Indices of a corner's position, texture coordinates and normal.
pub(super) type Corner = [u32; 3];

/// A file's content before materials are known.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) colors: Vec<[f32; 3]>,
    pub(super) coordinates: Vec<[f32; 2]>,
    pub(super) normals: Vec<[f32; 3]>,
    /// Distinct corners.
    pub(super) corners: Vec<Corner>,
    /// Triangles as indices into `corners`.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Index into `materials` of each triangle.
    pub(super) triangle_materials: Vec<u32>,
    /// Material names in order of first use, with the line; the empty name stands for none.
    pub(super) materials: Vec<(usize, String)>,
    /// Names of material libraries, with the line.
    pub(super) libraries: Vec<(usize, String)>,
}

/// Reads a whole file.
pub(super) fn parse(bytes: &[u8], limits: &Limits, warnings: &mut Warnings) -> Result<Parsed> {
    let mut budget = Budget::of_triangles(limits, bytes.len() as u64);
    let mut reader =
        Reader { out: Parsed::default(), known: HashMap::new(), material: ABSENT, warnings: &mut *warnings };
    for (line, text) in lines(bytes) {
        let Some((keyword, rest)) = split_keyword(&text) else {
            continue;
        };
        reader.statement(keyword, rest, line, &mut budget)?;
    }
    let parsed = reader.out;
    if parsed.triangles.is_empty() {
        return Err(warnings.error("file", "it has no face, so there is nothing to render"));
    }
    Ok(parsed)
}

fn split_keyword(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    Some(text.split_once(char::is_whitespace).unwrap_or((text, "")))
}

struct Reader<'a> {
    out: Parsed,
    known: HashMap<Corner, u32>,
    material: u32,
    warnings: &'a mut Warnings,
}

impl Reader<'_> {
    fn statement(&mut self, keyword: &str, rest: &str, line: usize, budget: &mut Budget) -> Result<()> {
        match keyword {
            "v" => self.position(rest, line),
            "vt" => {
                let [u, v] = self.numbers::<2>(rest, 1, line)?;
                // OBJ counts v upwards, the scene downwards.
                self.out.coordinates.push([u, 1.0 - v]);
                Ok(())
            }
            "vn" => {
                let normal = self.numbers::<3>(rest, 3, line)?;
                self.out.normals.push(normal);
                Ok(())
            }
            "f" => self.face(rest, line, budget),
            "usemtl" => {
                self.use_material(rest.trim(), line);
                Ok(())
            }
            "mtllib" => {
                self.out.libraries.push((line, rest.trim().to_string()));
                Ok(())
            }
            "o" | "g" | "s" | "vp" => Ok(()),
            "l" | "p" => {
                self.warnings.add(format!("line {line}"), "points and lines are not rendered");
                Ok(())
            }
            other => {
                self.warnings
                    .add(format!("line {line}"), format!("the keyword `{}` is ignored", shorten(other)));
                Ok(())
            }
        }
    }

    /// Up to `N` numbers; the first `needed` are required, and the others default to zero.
    fn numbers<const N: usize>(&self, rest: &str, needed: usize, line: usize) -> Result<[f32; N]> {
        let mut out = [0.0; N];
        let mut found = 0;
        for (slot, word) in out.iter_mut().zip(rest.split_whitespace()) {
            *slot = number(word, line, self.warnings)?;
            found += 1;
        }
        if found < needed {
            let message = format!("{needed} numbers are expected here, not {found}");
            return Err(self.warnings.error(format!("line {line}"), message));
        }
        Ok(out)
    }

    /// `v x y z`, `v x y z w` or `v x y z r g b`.
    fn position(&mut self, rest: &str, line: usize) -> Result<()> {
        let [x, y, z, r, g, b] = self.numbers::<6>(rest, 3, line)?;
        let has_color = rest.split_whitespace().nth(5).is_some();
        self.out.positions.push([x, y, z]);
        self.out.colors.push(if has_color { [r, g, b] } else { [1.0; 3] });
        Ok(())
    }

    fn use_material(&mut self, name: &str, line: usize) {
        let known = self.out.materials.iter().position(|(_, n)| n == name);
        let index = known.unwrap_or_else(|| {
            self.out.materials.push((line, name.to_string()));
            self.out.materials.len() - 1
        });
        self.material = index as u32;
    }

    /// A polygon, as a fan around its first corner.
    fn face(&mut self, rest: &str, line: usize, budget: &mut Budget) -> Result<()> {
        let mut fan: [u32; 2] = [0; 2];
        let mut count = 0usize;
        for word in rest.split_whitespace() {
            let corner = self.corner(word, line)?;
            if count >= 2 {
                if self.material == ABSENT {
                    self.use_material("", line);
                }
                budget.take(1, &format!("line {line}"), self.warnings)?;
                self.out.triangles.push([fan[0], fan[1], corner]);
                self.out.triangle_materials.push(self.material);
            }
            fan[count.min(1)] = corner;
            count += 1;
        }
        if count < 3 {
            self.warnings.add(format!("line {line}"), format!("a face of {count} corners is not rendered"));
        }
        Ok(())
    }

    /// The number of a corner `position/coordinates/normal`.
    fn corner(&mut self, word: &str, line: usize) -> Result<u32> {
        let mut parts = word.split('/');
        let counts = [self.out.positions.len(), self.out.coordinates.len(), self.out.normals.len()];
        let mut corner = [ABSENT; 3];
        for (k, (slot, count)) in corner.iter_mut().zip(counts).enumerate() {
            let Some(part) = parts.next().filter(|part| k == 0 || !part.is_empty()) else { continue };
            match self.index(part, count, line) {
                Ok(index) => *slot = index,
                // Exporters name coordinates and normals that they leave out; positions are needed.
                Err(error) if k > 0 && part.parse::<i64>().is_ok() => self.warnings.add_error(error),
                Err(error) => return Err(error),
            }
        }
        let next = self.out.corners.len() as u32;
        let index = *self.known.entry(corner).or_insert(next);
        if index == next {
            self.out.corners.push(corner);
        }
        Ok(index)
    }

    /// An index counted from 1, or from the end when negative.
    fn index(&self, word: &str, count: usize, line: usize) -> Result<u32> {
        let fail = |message: String| Err(self.warnings.error(format!("line {line}"), message));
        let Ok(number) = word.parse::<i64>() else {
            return fail(format!("`{}` is not an index", shorten(word)));
        };
        let index = if number < 0 { count as i64 + number } else { number - 1 };
        match u32::try_from(index) {
            Ok(index) if (index as usize) < count && number != 0 => Ok(index),
            _ => fail(format!("index {number} is out of range; {count} elements are known here")),
        }
    }
}
