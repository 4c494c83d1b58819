//! The images of a match in memory, layer by layer.

use std::path::{Path, PathBuf};

use lockstep_reports::image_io::{Layer, LayerKind, LinearImage, read_image, read_layers};

use super::inventory::Sources;
use super::matching::Match;
use crate::exit::Failure;

/// All images of one layer of a match.
#[derive(Debug)]
pub(super) struct Stack {
    /// The layer; empty for the image itself.
    pub(super) layer: String,
    /// The contents.
    pub(super) kind: LayerKind,
    /// A's images by seed.
    pub(super) a: Vec<(u64, LinearImage)>,
    /// B's.
    pub(super) b: Vec<(u64, LinearImage)>,
}

/// The layers of a match, and those that one side alone has.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// One stack for each layer that both sides have.
    pub(super) stacks: Vec<Stack>,
    /// Names of layers that one side lacks, and that side.
    pub(super) alone: Vec<(String, char)>,
}

impl Stack {
    /// Whether both sides have the same seeds, and so may share random numbers.
    pub(super) fn is_paired(&self) -> bool {
        let seeds = |side: &[(u64, LinearImage)]| side.iter().map(|(seed, _)| *seed).collect::<Vec<_>>();
        seeds(&self.a) == seeds(&self.b)
    }

    /// Images to show beside each other: those of equal seeds, or, where no seed is on both sides, the first
    /// with the first and so on. The seed is A's.
    pub(super) fn pairs(&self) -> Vec<(u64, (usize, usize))> {
        let of_b = |seed: u64| self.b.iter().position(|(other, _)| *other == seed);
        let any_equal = self.a.iter().any(|(seed, _)| of_b(*seed).is_some());
        let pair = |(i, (seed, _)): (usize, &(u64, LinearImage))| {
            let j = if any_equal { of_b(*seed)? } else { Some(i).filter(|i| *i < self.b.len())? };
            Some((*seed, (i, j)))
        };
        self.a.iter().enumerate().filter_map(pair).collect()
    }
}

/// Reads every image of a match. `wanted` picks one layer by its name, or by the last part of it.
///
/// # Errors
/// [`Failure::Read`], naming the file, and [`Failure::Missing`] where no layer is called `wanted`.
pub(super) fn read(m: &Match, wanted: Option<&str>) -> Result<Layers, Failure> {
    let paths = alike(m);
    let (first_a, first_b) = match (paths.0.first(), paths.1.first()) {
        (Some(a), Some(b)) => (read_layers(&a.1)?, read_layers(&b.1)?),
        _ => return Ok(Layers::default()),
    };
    let mut layers = Layers::default();
    for (i, layer) in first_a.iter().enumerate() {
        let found = find(&first_b, layer, i);
        match found {
            None => layers.alone.push((layer.name.clone(), 'B')),
            Some(other) if is_wanted(wanted, layer) => {
                let name = if i == 0 && first_a.len() == 1 { String::new() } else { shown(layer, i) };
                layers.stacks.push(Stack {
                    layer: name,
                    kind: kind_of(layer, m),
                    a: all(&paths.0, &layer.name, i)?,
                    b: all(&paths.1, &first_b[other].name, other)?,
                });
            }
            Some(_) => {}
        }
    }
    let is_alone = |layer: &&Layer| {
        !first_a
            .iter()
            .enumerate()
            .any(|(i, a)| find(&first_b, a, i).is_some_and(|j| first_b[j].name == layer.name))
    };
    layers.alone.extend(first_b.iter().filter(is_alone).map(|layer| (layer.name.clone(), 'A')));
    if let Some(wanted) = wanted {
        layers.alone.clear();
        if layers.stacks.is_empty() {
            let names: Vec<String> = first_a.iter().enumerate().map(|(i, l)| shown(l, i)).collect();
            return Err(Failure::Missing(format!(
                "both sides of {} have no layer {wanted}; {} has {}",
                m.scene,
                m.a,
                names.join(", ")
            )));
        }
    }
    Ok(layers)
}

/// The images of every seed of either side.
type Paths = Vec<(u64, PathBuf)>;

/// Files of one kind where both sides have one for every seed: linear first, then 8-bit.
fn alike(m: &Match) -> (Paths, Paths) {
    let of = |side: &[(u64, Sources)], pick: fn(&Sources) -> Option<&PathBuf>| -> Option<Paths> {
        side.iter().map(|(seed, sources)| Some((*seed, pick(sources)?.clone()))).collect()
    };
    let both = |pick: fn(&Sources) -> Option<&PathBuf>| Some((of(&m.of_a, pick)?, of(&m.of_b, pick)?));
    let any = |s: &Sources| s.linear.clone().or_else(|| s.coded.clone()).unwrap_or_default();
    let all = |side: &[(u64, Sources)]| side.iter().map(|(seed, s)| (*seed, any(s))).collect();
    both(|s| s.linear.as_ref())
        .or_else(|| both(|s| s.coded.as_ref()))
        .unwrap_or_else(|| (all(&m.of_a), all(&m.of_b)))
}

/// The position of a layer's counterpart: the one of its name, or of the last part of it; the image itself for
/// the image itself.
fn find(layers: &[Layer], layer: &Layer, at: usize) -> Option<usize> {
    if at == 0 {
        return Some(0).filter(|_| !layers.is_empty());
    }
    let others = || layers.iter().enumerate().skip(1);
    let exact = others().find(|(_, l)| l.name == layer.name);
    exact.or_else(|| others().find(|(_, l)| last_part(&l.name) == last_part(&layer.name))).map(|(i, _)| i)
}

fn last_part(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase()
}

fn shown(layer: &Layer, at: usize) -> String {
    if at == 0 && layer.name.is_empty() { "image".to_owned() } else { layer.name.clone() }
}

fn is_wanted(wanted: Option<&str>, layer: &Layer) -> bool {
    wanted.is_none_or(|wanted| {
        let name = if layer.name.is_empty() { "image" } else { &layer.name };
        name.eq_ignore_ascii_case(wanted) || last_part(name) == wanted.to_ascii_lowercase()
    })
}

/// The contents of a layer; a file of one layer may say so by its own name.
fn kind_of(layer: &Layer, m: &Match) -> LayerKind {
    let named = m.scene.to_ascii_lowercase();
    match layer.kind {
        LayerKind::Colour if !layer.name.is_empty() => LayerKind::Colour,
        LayerKind::Colour if named.contains("normal") => LayerKind::Direction,
        LayerKind::Colour if ["depth", "alpha"].iter().any(|word| named.contains(word)) => LayerKind::Scalar,
        kind => kind,
    }
}

/// One layer of all files of a side.
fn all(paths: &Paths, name: &str, at: usize) -> Result<Vec<(u64, LinearImage)>, Failure> {
    paths.iter().map(|(seed, path)| Ok((*seed, one(path, name, at)?))).collect()
}

fn one(path: &Path, name: &str, at: usize) -> Result<LinearImage, Failure> {
    if at == 0 {
        return Ok(read_image(path)?);
    }
    let layers = read_layers(path)?;
    let missing =
        || Failure::Missing(format!("{} has no layer {name}, as others of its side do", path.display()));
    layers.into_iter().find(|layer| layer.name == name).map(|layer| layer.image).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(a: &[u64], b: &[u64]) -> Stack {
        let side = |seeds: &[u64]| {
            seeds.iter().map(|&seed| (seed, LinearImage::from_fn(1, 1, |_, _| [0.0; 3]))).collect()
        };
        Stack { layer: String::new(), kind: LayerKind::Colour, a: side(a), b: side(b) }
    }

    #[test]
    fn images_of_equal_seeds_are_shown_together_and_else_those_of_equal_rank() {
        let seeds =
            |a: &[u64], b: &[u64]| stack(a, b).pairs().into_iter().map(|(s, _)| s).collect::<Vec<_>>();
        assert_eq!(seeds(&[0, 1, 2], &[1, 2, 3]), [1, 2]);
        assert_eq!(seeds(&[0, 1, 2], &[7, 8]), [0, 1]);
        assert!(stack(&[3, 4], &[3, 4]).is_paired() && !stack(&[3, 4], &[3]).is_paired());
    }

    #[test]
    fn layers_are_found_by_their_whole_name_or_its_last_part() {
        let image = || LinearImage::from_fn(1, 1, |_, _| [0.0; 3]);
        let layer = |name: &str| Layer { name: name.into(), kind: LayerKind::Colour, image: image() };
        let all = [layer("View.Combined"), layer("View.Depth"), layer("Albedo")];
        assert_eq!(find(&all, &layer("beauty"), 0), Some(0), "the image itself");
        assert_eq!(find(&all, &layer("depth"), 1), Some(1));
        assert_eq!(find(&all, &layer("Normal"), 1), None);
        assert!(is_wanted(Some("depth"), &all[1]) && !is_wanted(Some("depth"), &all[2]));
        assert!(is_wanted(Some("image"), &layer("")));
    }
}
