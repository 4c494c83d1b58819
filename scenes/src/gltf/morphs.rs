//! Morph targets: weighted displacements of a primitive's attributes.

use super::Source;
use super::accessors::{Accessor, Component};
use super::json::Item;
use crate::warning::Warnings;
use lockstep_core::Result;

/// The targets of a primitive that have a weight.
pub(super) struct Morphs<'a> {
    targets: Vec<Target<'a>>,
}

struct Target<'a> {
    weight: f64,
    /// Displacements by the attribute's place in [`NAMES`].
    attributes: [Option<Accessor<'a>>; NAMES.len()],
}

/// The attributes that targets displace.
const NAMES: [&str; 6] = ["POSITION", "NORMAL", "TANGENT", "TEXCOORD_0", "TEXCOORD_1", "COLOR_0"];

/// An attribute's place in [`NAMES`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Displaced {
    Position = 0,
    Normal = 1,
    Tangent = 2,
    Uv0 = 3,
    Uv1 = 4,
    Color = 5,
}

impl<'a> Morphs<'a> {
    /// The targets of a primitive under these weights; missing ones are zero.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Scene`] for displacements of a wrong format or number.
    pub(super) fn open(
        item: &Item<'_>,
        source: &'a Source<'_>,
        weights: &[f64],
        count: usize,
        warnings: &mut Warnings,
    ) -> Result<Self> {
        let mut targets = Vec::new();
        for (target, &weight) in item.items("targets").iter().zip(weights).filter(|(_, w)| **w != 0.0) {
            let mut attributes = [const { None }; NAMES.len()];
            for (name, slot) in NAMES.iter().zip(&mut attributes) {
                let Some(index) = target.index(name) else { continue };
                let accessor = Accessor::open(&source.root, &source.buffers, index, warnings)?;
                let width = match *name {
                    "TEXCOORD_0" | "TEXCOORD_1" => 2..=2,
                    "COLOR_0" => 3..=4,
                    _ => 3..=3,
                };
                let is_integer = !matches!(accessor.component, Component::F32 | Component::U32);
                let is_known = accessor.component == Component::F32
                    || (is_integer && (accessor.normalized || source.quantized));
                if !width.contains(&accessor.width()) || !is_known || accessor.count != count {
                    let message =
                        format!("it has another format than {name}, or not the {count} elements of POSITION");
                    return Err(warnings.error(target.pointer(name), message));
                }
                *slot = Some(accessor);
            }
            targets.push(Target { weight, attributes });
        }
        Ok(Self { targets })
    }

    /// An attribute of a vertex, displaced; its own bits where nothing displaces it.
    #[inline]
    pub(super) fn displace<const N: usize>(
        &self,
        attribute: Displaced,
        index: usize,
        own: [f32; N],
    ) -> [f32; N] {
        let mut displaced = None;
        for target in &self.targets {
            if let Some(accessor) = &target.attributes[attribute as usize] {
                let by = accessor.vector::<N>(index);
                let sums = displaced.get_or_insert_with(|| own.map(f64::from));
                for (sum, by) in sums.iter_mut().zip(by) {
                    *sum += target.weight * f64::from(by);
                }
            }
        }
        displaced.map_or(own, |sums| sums.map(|v| v as f32))
    }
}
