//! Which maps of differences a page holds.

use super::images::{data_uri, png_bytes};
use super::overview::worst_pair;
use crate::efficiency::{ENDS, FULL_COLOUR};
use crate::image_io::{p_map_name, read_image, read_srgb8, reduce_rgb8, srgb};
use crate::maps::{MAGMA, difference_picture};
use crate::records::TargetId;
use crate::statistics::{ALMOST, P_COLOURS, tile_threshold};
use crate::study::{Study, files};
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// No map is reduced further than this.
const MAX_FACTOR: u32 = 4;

/// The quantity of p-value maps.
const P_VALUE: &str = "p-value";

/// A map of where two targets differ.
#[derive(Debug, Serialize)]
pub(super) struct MapImage {
    scene: String,
    a: TargetId,
    b: TargetId,
    spp: u32,
    quantity: String,
    #[serde(with = "lockstep_metrics::float")]
    scale: f64,
    factor: u32,
    /// Index of its picture.
    picture: usize,
    /// The p-value below which a tile rejects, of maps of p-values whose records tell it.
    threshold: Option<f64>,
}

/// Colours by quantity, from which the script reads values and draws colour bars.
#[derive(Debug, Serialize)]
pub(super) struct Scales {
    /// FLIP from 0 to 1.
    flip: [[u8; 3]; 9],
    /// Where A is brighter, where nothing differs, where B is.
    p: [[u8; 3]; 3],
    /// How far towards full colour a tile goes that only just fails to reject.
    almost: f64,
    /// Where A is the more efficient, where neither, where B is.
    efficiency: [[u8; 3]; 3],
    /// The ratio from which on that has its full colour.
    full: f64,
}

/// The colours of all maps.
pub(super) const SCALES: Scales =
    Scales { flip: MAGMA, p: P_COLOURS, almost: ALMOST, efficiency: ENDS, full: FULL_COLOUR };

/// The maps of a page, and their pictures as data URIs: equal ones once.
#[derive(Debug, Default)]
pub(super) struct Maps {
    pub(super) maps: Vec<MapImage>,
    pub(super) pictures: Vec<String>,
    pub(super) skipped: usize,
    pub(super) bytes: usize,
}

/// A map on disk.
struct MapFile {
    map: MapImage,
    path: PathBuf,
    /// The rank: maps with a lesser one come first.
    rank: (usize, bool, usize),
}

/// Embeds the maps of a study while they fit into `budget` bytes: of every scene the highest level first, at
/// each level p-values before FLIP before differences. Each has an even part of what is left, and is reduced
/// to fit it.
pub(super) fn embed(study: &Study, budget: usize) -> Maps {
    let mut found = find(study);
    found.sort_by_key(|f| f.rank);
    let mut maps = Maps::default();
    let mut seen: HashMap<Vec<u8>, (usize, u32)> = HashMap::new();
    worst_difference(study, &found, budget, &mut maps);
    let tops = found.iter().filter(|f| f.rank.0 == 0).count();
    for (i, MapFile { mut map, path, .. }) in found.into_iter().enumerate() {
        let Ok(file) = std::fs::read(&path) else { continue };
        // Lower levels are seldom viewed, so those of the top need not leave room for them.
        let share = budget.saturating_sub(maps.bytes) / tops.saturating_sub(i).max(1);
        let stored = match seen.get(&file) {
            Some(&known) => Some(known),
            None => picture(&path, &file, share).map(|(uri, factor)| {
                maps.bytes += uri.len();
                maps.pictures.push(uri);
                seen.insert(file, (maps.pictures.len() - 1, factor));
                (maps.pictures.len() - 1, factor)
            }),
        };
        match stored {
            Some((picture, factor)) => {
                (map.picture, map.factor) = (picture, factor);
                maps.maps.push(map);
            }
            None => maps.skipped += 1,
        }
    }
    maps
}

/// Adds the linear difference of the worst pair, which the first screen shows from near, where no record has it.
fn worst_difference(study: &Study, found: &[MapFile], budget: usize, maps: &mut Maps) {
    let Some((_, d)) = worst_pair(study) else { return };
    let mut map = MapImage {
        scene: d.scene.clone(),
        a: d.a.clone(),
        b: d.b.clone(),
        spp: d.spp,
        quantity: "difference".to_owned(),
        scale: 1.0,
        factor: 1,
        picture: maps.pictures.len(),
        threshold: None,
    };
    if found.iter().any(|f| is_same(&f.map, &map)) {
        return;
    }
    let read = |target: &TargetId| {
        let image =
            study.images.iter().find(|i| i.scene == d.scene && i.target == *target && i.spp == d.spp)?;
        read_image(image.exr.as_ref()?).ok()
    };
    let (Some(a), Some(b)) = (read(&d.a), read(&d.b)) else { return };
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return;
    }
    let (difference, gain) = difference_picture(&a, &b);
    map.scale = gain;
    let codes: Vec<u8> = difference.pixels().iter().flatten().map(|&value| srgb::encode8(value)).collect();
    let (width, height) = (difference.width(), difference.height());
    for factor in 1..=MAX_FACTOR {
        let reduced = reduce_rgb8(&codes, (width, height), factor);
        let Ok(png) = png_bytes(&reduced, (width.div_ceil(factor), height.div_ceil(factor))) else { return };
        let uri = data_uri(&png);
        if uri.len() <= budget / 2 {
            map.factor = factor;
            maps.bytes += uri.len();
            maps.pictures.push(uri);
            maps.maps.push(map);
            return;
        }
    }
}

/// The maps that records name, and the p-value maps of pairs compared, as far as their files are there.
fn find(study: &Study) -> Vec<MapFile> {
    let Some(folder) = &study.folder else { return Vec::new() };
    let told = study.maps.iter().map(|m| {
        let map = MapImage {
            scene: m.scene.clone(),
            a: m.a.clone(),
            b: m.b.clone(),
            spp: m.spp,
            quantity: m.quantity.clone(),
            scale: m.scale,
            factor: 1,
            picture: 0,
            threshold: None,
        };
        (map, PathBuf::from(&m.file))
    });
    let of_p = study.differences.iter().filter(|d| !d.identical).map(|d| {
        let map = MapImage {
            scene: d.scene.clone(),
            a: d.a.clone(),
            b: d.b.clone(),
            spp: d.spp,
            quantity: P_VALUE.to_owned(),
            scale: 1.0,
            factor: 1,
            picture: 0,
            threshold: d.tests.as_ref().map(|t| tile_threshold(t.alpha, t.tests as usize)),
        };
        let name = p_map_name(&d.scene, &d.a.to_string(), &d.b.to_string(), d.spp);
        (map, Path::new(files::IMAGES).join(name))
    });
    let mut found: Vec<MapFile> = Vec::new();
    for (map, file) in told.chain(of_p) {
        let known = found.iter().any(|f| is_same(&f.map, &map));
        let path = folder.join(&file);
        // Records may come from anywhere; what they name must lie in the study's folder.
        let inside = file.components().all(|part| matches!(part, Component::Normal(_)));
        if !known && inside && path.is_file() {
            let rank = rank(study, &map);
            found.push(MapFile { map, path, rank });
        }
    }
    found
}

fn is_same(one: &MapImage, other: &MapImage) -> bool {
    let key = |m: &MapImage| (m.spp, m.quantity.clone(), m.scene.clone(), m.a.clone(), m.b.clone());
    key(one) == key(other)
}

/// How many levels of the scene lie above, whether it is p-values, and the place of its quantity.
fn rank(study: &Study, map: &MapImage) -> (usize, bool, usize) {
    let mut above: Vec<u32> =
        study.differences.iter().filter(|d| d.scene == map.scene && d.spp > map.spp).map(|d| d.spp).collect();
    above.sort_unstable();
    above.dedup();
    let order = [P_VALUE, "flip", "difference", "flip-hdr"];
    let place = order.iter().position(|quantity| *quantity == map.quantity).unwrap_or(order.len());
    (above.len(), map.quantity != P_VALUE, place)
}

/// The file as it is where that fits, else its picture at the least reduction that does.
fn picture(path: &Path, file: &[u8], share: usize) -> Option<(String, u32)> {
    let whole = data_uri(file);
    if whole.len() <= share {
        return Some((whole, 1));
    }
    let image = read_srgb8(path).ok()?;
    (2..=MAX_FACTOR).find_map(|factor| {
        let codes = reduce_rgb8(&image.codes, (image.width, image.height), factor);
        let size = (image.width.div_ceil(factor), image.height.div_ceil(factor));
        let uri = data_uri(&png_bytes(&codes, size).ok()?);
        (uri.len() <= share).then_some((uri, factor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_io::{ImageMetadata, LinearImage, write_png};
    use crate::records::{Difference, Environment, Map, Record};

    fn study(folder: &Path) -> Study {
        std::fs::create_dir(folder.join(files::IMAGES)).unwrap();
        let mut records: Vec<Record> = Vec::new();
        for spp in [1, 2] {
            let pair =
                Difference { scene: "s".into(), a: "x".into(), b: "y".into(), spp, ..Difference::default() };
            let write = |file: &str, seed: u32| {
                let noise = |x: u32, y: u32| {
                    [((x * 31 + y * 17 + seed).wrapping_mul(2_654_435_761) >> 24) as f32 / 255.0; 3]
                };
                let image = LinearImage::from_fn(40, 30, noise);
                write_png(&folder.join(file), &image, &ImageMetadata::default()).unwrap();
            };
            write(&format!("images/{}", p_map_name("s", "x", "y", spp)), 7);
            let file = format!("images/flip{spp}.png");
            write(&file, spp);
            let map = Map {
                scene: "s".into(),
                a: "x".into(),
                b: "y".into(),
                spp,
                quantity: "flip".into(),
                file,
                ..Map::default()
            };
            let outside = Map { quantity: "difference".into(), file: "../secret.png".into(), ..map.clone() };
            records.extend([pair.into(), map.into(), outside.into()]);
        }
        let mut study = Study::from_records(records, Environment::default());
        study.folder = Some(folder.to_owned());
        study
    }

    #[test]
    fn the_top_level_comes_first_and_equal_pictures_are_stored_once() {
        let dir = tempfile::tempdir().unwrap();
        let maps = embed(&study(dir.path()), usize::MAX);
        let said: Vec<_> = maps.maps.iter().map(|m| (m.spp, m.quantity.as_str(), m.picture)).collect();
        assert_eq!(said, [(2, P_VALUE, 0), (2, "flip", 1), (1, P_VALUE, 0), (1, "flip", 2)]);
        assert_eq!((maps.pictures.len(), maps.skipped), (3, 0));
    }

    #[test]
    fn what_does_not_fit_is_reduced_or_left_out_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        let study = study(dir.path());
        let all = embed(&study, usize::MAX).bytes;
        let some = embed(&study, all / 3);
        assert!(some.bytes <= all / 3 && some.maps.iter().any(|m| m.factor > 1));
        let none = embed(&study, 10);
        assert_eq!((none.maps.len(), none.skipped), (0, 4));
    }
}
