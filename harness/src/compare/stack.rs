//! The images of a match in memory, layer by layer.

use std::path::PathBuf;

use lockstep_reports::image_io::{Layer, LayerKind, LinearImage, read_layers};

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
    /// B's images by seed.
    pub(super) b: Vec<(u64, LinearImage)>,
    /// The part that is compared, in words, where files do not show the same.
    pub(super) window: Option<String>,
}

/// The layers of a match, and those that one side alone has.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// One stack for each layer that both sides have.
    pub(super) stacks: Vec<Stack>,
    /// Names of layers that one side lacks, and that side.
    pub(super) alone: Vec<(String, char)>,
    /// Names of all layers of A's first image.
    pub(super) names: Vec<String>,
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

/// Reads every image of a match. `wanted` picks one layer by its name, or by the last part of it; of files that hold
/// one layer each, those that are named for it. Without such a layer on either side there are no stacks.
///
/// # Errors
/// [`Failure::Read`], naming the file, and [`Failure::Missing`] where a file lacks a layer that others of its side
/// have, or shows no part that all show.
pub(super) fn read(m: &Match, wanted: Option<&str>) -> Result<Layers, Failure> {
    let paths = alike(m);
    let (mut a, mut b) = (files(paths.0)?, files(paths.1)?);
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return Ok(Layers::default()) };
    let names = first_a.layers.iter().map(|layer| shown(&layer.name).to_owned()).collect();
    let (pairs, mut alone) = paired(&first_a.layers, &first_b.layers);
    let is_only = pairs.len() == 1 && alone.is_empty();
    let mut stacks = Vec::new();
    for pair in &pairs {
        if wanted.is_some_and(|wanted| {
            !(is_called(&pair.name, pair.kind, wanted) || is_only && is_file_of(m, wanted))
        }) {
            continue;
        }
        let layers_a = pair.of(&mut a, &pair.a)?;
        let layers_b = pair.of(&mut b, &pair.b)?;
        let kind = kind_of(pair, m);
        let layer = if pairs.len() == 1 { String::new() } else { pair.name.clone() };
        stacks.push(windowed(layer, kind, layers_a, layers_b)?);
    }
    if let Some(wanted) = wanted {
        alone.retain(|(name, _)| is_called(name, LayerKind::Scalar, wanted));
    }
    Ok(Layers { stacks, alone, names })
}

/// The images of every seed of either side.
pub(super) type Paths = Vec<(u64, PathBuf)>;

/// The files of one kind where both sides have one for every seed: linear first, then 8-bit.
pub(super) fn alike(m: &Match) -> (Paths, Paths) {
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

/// The layers of one file that are not taken yet.
struct File {
    seed: u64,
    path: PathBuf,
    layers: Vec<Layer>,
    /// Width, height and first pixel of its image.
    size: (u32, u32),
    origin: (i32, i32),
}

impl File {
    fn of(seed: u64, path: PathBuf, layers: Vec<Layer>) -> Self {
        let first = layers.first();
        let size = first.map_or((0, 0), |layer| (layer.image.width(), layer.image.height()));
        let origin = first.map_or((0, 0), |layer| layer.origin);
        Self { seed, path, layers, size, origin }
    }

    /// The alpha of a file that has none.
    fn opaque(&self) -> Layer {
        let image = LinearImage::from_fn(self.size.0, self.size.1, |_, _| [1.0; 3]);
        Layer { name: String::new(), kind: LayerKind::Alpha, origin: self.origin, image }
    }
}

fn files(paths: Paths) -> Result<Vec<File>, Failure> {
    paths.into_iter().map(|(seed, path)| Ok(File::of(seed, path.clone(), read_layers(&path)?))).collect()
}

/// A layer of both sides.
#[derive(Debug, PartialEq)]
struct Pair {
    /// The name that is shown.
    name: String,
    kind: LayerKind,
    /// The name in A's files; nothing for an alpha of 1.
    a: Option<String>,
    /// The name in B's.
    b: Option<String>,
}

impl Pair {
    /// The layer of this name of every file, with its seed.
    fn of(&self, files: &mut [File], name: &Option<String>) -> Result<Vec<(u64, Layer)>, Failure> {
        let alpha = |layer: &Layer| layer.kind == LayerKind::Alpha;
        let take = |file: &mut File| {
            let wanted = |layer: &Layer| {
                Some(&layer.name) == name.as_ref() && alpha(layer) == (self.kind == LayerKind::Alpha)
            };
            match file.layers.iter().position(wanted) {
                Some(at) => Ok((file.seed, file.layers.remove(at))),
                None if self.kind == LayerKind::Alpha => Ok((file.seed, file.opaque())),
                None => Err(Failure::Missing(format!(
                    "{} has no layer {}, as others of its side do",
                    file.path.display(),
                    shown(name.as_deref().unwrap_or_default())
                ))),
            }
        };
        files.iter_mut().map(take).collect()
    }
}

/// The layers of two files that belong together, and those that one side lacks, with that side: by name, else by the
/// last part of it, else the image with the image. An alpha belongs to its layer, and is 1 where a file has none.
fn paired(a: &[Layer], b: &[Layer]) -> (Vec<Pair>, Vec<(String, char)>) {
    let plain = |layers: &[Layer]| -> Vec<usize> {
        (0..layers.len()).filter(|i| layers[*i].kind != LayerKind::Alpha).collect()
    };
    let (of_a, of_b) = (plain(a), plain(b));
    let mut partner: Vec<Option<usize>> = vec![None; a.len()];
    let mut pair_up = |is_pair: &dyn Fn(usize, usize) -> bool| {
        for &i in &of_a {
            let free = |j: &&usize| !partner.contains(&Some(**j));
            if partner[i].is_none() {
                partner[i] = of_b.iter().filter(free).find(|j| is_pair(i, **j)).copied();
            }
        }
    };
    pair_up(&|i, j| a[i].name == b[j].name);
    pair_up(&|i, j| last_part(&a[i].name) == last_part(&b[j].name));
    let is_image = |layers: &[Layer], own: &[usize], i: usize| {
        own.first() == Some(&i) && (own.len() == 1 || layers[i].is_named_as_image())
    };
    pair_up(&|i, j| {
        let (image_a, image_b) = (is_image(a, &of_a, i), is_image(b, &of_b, j));
        // The first layer of a file is its image where the other side's is known.
        (image_a && of_b.first() == Some(&j)) || (image_b && of_a.first() == Some(&i))
    });
    let alpha = |layers: &[Layer], base: &str| -> Option<String> {
        layers.iter().find(|layer| layer.base_of_alpha() == Some(base)).map(|layer| layer.name.clone())
    };
    let (mut pairs, mut alphas, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for &i in &of_a {
        let Some(j) = partner[i] else {
            alone.push((shown(&a[i].name).to_owned(), 'B'));
            continue;
        };
        let names = (a[i].name.clone(), b[j].name.clone());
        let (alpha_a, alpha_b) = (alpha(a, &names.0), alpha(b, &names.1));
        if let Some(name) = alpha_a.clone().or_else(|| alpha_b.clone()) {
            alphas.push(Pair { name, kind: LayerKind::Alpha, a: alpha_a, b: alpha_b });
        }
        let name = shown(&names.0).to_owned();
        pairs.push(Pair { name, kind: a[i].kind, a: Some(names.0), b: Some(names.1) });
    }
    let lonely = of_b.iter().filter(|j| !partner.contains(&Some(**j)));
    alone.extend(lonely.map(|j| (shown(&b[*j].name).to_owned(), 'A')));
    pairs.extend(alphas);
    (pairs, alone)
}

/// One layer of all files of both sides, cut to the window that all show.
fn windowed(
    layer: String,
    kind: LayerKind,
    a: Vec<(u64, Layer)>,
    b: Vec<(u64, Layer)>,
) -> Result<Stack, Failure> {
    let all = || a.iter().chain(&b).map(|(_, layer)| layer);
    let origin = a.first().map_or((0, 0), |(_, layer)| layer.origin);
    if all().all(|layer| layer.origin == origin) {
        let images = |side: Vec<(u64, Layer)>| side.into_iter().map(|(seed, l)| (seed, l.image)).collect();
        return Ok(Stack { layer, kind, a: images(a), b: images(b), window: None });
    }
    let end = |layer: &Layer| {
        let (x, y) = (i64::from(layer.origin.0), i64::from(layer.origin.1));
        (x + i64::from(layer.image.width()), y + i64::from(layer.image.height()))
    };
    let left = all().map(|l| i64::from(l.origin.0)).max().unwrap_or(0);
    let top = all().map(|l| i64::from(l.origin.1)).max().unwrap_or(0);
    let right = all().map(|l| end(l).0).min().unwrap_or(0);
    let below = all().map(|l| end(l).1).min().unwrap_or(0);
    if right <= left || below <= top {
        return Err(Failure::Missing("the data windows of the files have no pixel in common".to_owned()));
    }
    let size = ((right - left) as u32, (below - top) as u32);
    let cut = |side: Vec<(u64, Layer)>| {
        side.into_iter()
            .map(|(seed, layer)| {
                let (x, y) = (left - i64::from(layer.origin.0), top - i64::from(layer.origin.1));
                (seed, layer.image.cut((x as u32, y as u32), size))
            })
            .collect()
    };
    let window = format!(
        "data windows differ; the {}×{} pixels from ({left}, {top}) that all files show are compared",
        size.0, size.1
    );
    Ok(Stack { layer, kind, a: cut(a), b: cut(b), window: Some(window) })
}

fn last_part(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase()
}

fn shown(name: &str) -> &str {
    if name.is_empty() { "image" } else { name }
}

/// Whether a layer is the one that was asked for.
fn is_called(name: &str, kind: LayerKind, wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted)
        || last_part(name) == wanted.to_ascii_lowercase()
        || (kind == LayerKind::Alpha && wanted.eq_ignore_ascii_case("alpha"))
}

/// Whether files that hold one layer are named for it.
fn is_file_of(m: &Match, wanted: &str) -> bool {
    let last = m.scene.rsplit(['.', '_', '-', ' ']).next().unwrap_or(&m.scene);
    last.eq_ignore_ascii_case(wanted)
}

/// The contents of a layer; a file of one layer may say so by its own name.
fn kind_of(pair: &Pair, m: &Match) -> LayerKind {
    let named = m.scene.to_ascii_lowercase();
    match pair.kind {
        LayerKind::Colour if pair.a.as_ref().is_some_and(|name| !name.is_empty()) => LayerKind::Colour,
        LayerKind::Colour if named.contains("normal") => LayerKind::Direction,
        LayerKind::Colour if ["depth", "alpha"].iter().any(|word| named.contains(word)) => LayerKind::Scalar,
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(a: &[u64], b: &[u64]) -> Stack {
        let side = |seeds: &[u64]| {
            seeds.iter().map(|&seed| (seed, LinearImage::from_fn(1, 1, |_, _| [0.0; 3]))).collect()
        };
        Stack { layer: String::new(), kind: LayerKind::Colour, a: side(a), b: side(b), window: None }
    }

    #[test]
    fn images_of_equal_seeds_are_shown_together_and_else_those_of_equal_rank() {
        let seeds =
            |a: &[u64], b: &[u64]| stack(a, b).pairs().into_iter().map(|(s, _)| s).collect::<Vec<_>>();
        assert_eq!(seeds(&[0, 1, 2], &[1, 2, 3]), [1, 2]);
        assert_eq!(seeds(&[0, 1, 2], &[7, 8]), [0, 1]);
        assert!(stack(&[3, 4], &[3, 4]).is_paired() && !stack(&[3, 4], &[3]).is_paired());
    }

    fn layer(name: &str, kind: LayerKind) -> Layer {
        let image = LinearImage::from_fn(4, 3, |x, _| [x as f32; 3]);
        Layer { name: name.into(), kind, origin: (0, 0), image }
    }

    fn names(a: &[&str], b: &[&str]) -> (Vec<String>, Vec<(String, char)>) {
        let layers = |names: &[&str]| -> Vec<Layer> {
            let kind = |n: &str| if n.ends_with('A') { LayerKind::Alpha } else { LayerKind::Colour };
            names.iter().map(|name| layer(name, kind(name))).collect()
        };
        let (pairs, alone) = paired(&layers(a), &layers(b));
        let shown = |name: Option<String>| name.unwrap_or_else(|| "1".to_owned());
        (pairs.into_iter().map(|p| format!("{}:{}", shown(p.a), shown(p.b))).collect(), alone)
    }

    #[test]
    fn layers_are_paired_by_name_then_by_its_last_part_then_as_the_image() {
        let (pairs, alone) = names(&["diffuse", "x"], &["albedo", "diffuse"]);
        assert_eq!(pairs, ["diffuse:diffuse"]);
        assert_eq!(alone, [("x".to_owned(), 'B'), ("albedo".to_owned(), 'A')]);
        let (pairs, alone) = names(&["View.Combined", "View.Depth", "Albedo"], &["", "depth"]);
        assert_eq!(pairs, ["View.Combined:", "View.Depth:depth"]);
        assert_eq!(alone, [("Albedo".to_owned(), 'B')]);
        assert_eq!(names(&["diffuse"], &[""]).0, ["diffuse:"], "files of one layer each");
    }

    #[test]
    fn an_alpha_that_a_file_lacks_is_one() {
        assert_eq!(names(&["", "A"], &[""]).0, [":", "A:1"]);
        assert_eq!(names(&["x"], &["x", "y", "x.A", "y.A"]).0, ["x:x", "1:x.A"]);
        let pair = Pair { name: "A".into(), kind: LayerKind::Alpha, a: None, b: None };
        let mut files = [File::of(3, PathBuf::new(), vec![layer("", LayerKind::Colour)])];
        assert_eq!(pair.of(&mut files, &None).unwrap()[0].1.image.pixels(), [[1.0; 3]; 12]);
    }

    #[test]
    fn one_layer_is_picked_by_its_name_or_that_of_its_file() {
        let is_depth = |name| is_called(name, LayerKind::Scalar, "depth");
        assert!(is_depth("View.Depth") && is_depth("DEPTH") && !is_depth("Albedo"));
        assert!(is_called("image", LayerKind::Colour, "image") && is_called("A", LayerKind::Alpha, "alpha"));
        let m = |scene: &str| Match {
            scene: scene.into(),
            a: "a".into(),
            b: "b".into(),
            spp: 0,
            of_a: Vec::new(),
            of_b: Vec::new(),
        };
        assert!(is_file_of(&m("depth"), "depth") && is_file_of(&m("hall_Depth"), "depth"));
        assert!(!is_file_of(&m("depths"), "depth"));
    }

    #[test]
    fn data_windows_are_compared_where_all_have_pixels() {
        let at = |x: i32, y: i32| Layer { origin: (x, y), ..layer("", LayerKind::Colour) };
        let cut =
            windowed(String::new(), LayerKind::Colour, vec![(0, at(0, 0))], vec![(0, at(1, -1))]).unwrap();
        assert!(cut.window.unwrap().contains("3×2 pixels from (1, 0)"));
        let columns = |image: &LinearImage| image.pixels()[..3].iter().map(|p| p[0]).collect::<Vec<_>>();
        assert_eq!(columns(&cut.a[0].1), [1.0, 2.0, 3.0]);
        assert_eq!(columns(&cut.b[0].1), [0.0, 1.0, 2.0]);
        let far = windowed(String::new(), LayerKind::Colour, vec![(0, at(0, 0))], vec![(0, at(9, 0))]);
        assert!(far.unwrap_err().to_string().contains("no pixel in common"));
    }
}
