//! Which images a page holds, and how they fit into it.
//!
//! Of every level, the first target's image is stored as PNG. Another target's image is stored as its
//! byte-wise difference from the first, modulo 256, where that is smaller, as it is for images that nearly
//! agree; and not at all where it is equal. Nothing is lost by that. Where full size does not fit the page,
//! images are reduced by whole factors, averaging linear radiance over boxes, and the page says so.

use super::linear::LinearImages;
use super::maps::Maps;
use crate::image_io::{ReadError, Srgb8Image, encode_png_rgb8, read_srgb8, reduce_rgb8};
use crate::records::TargetId;
use crate::study::{Study, StudyImage};
use base64::Engine;
use serde::Serialize;

/// No image is reduced further than this.
const MAX_FACTOR: u32 = 8;

/// The images of one scene.
#[derive(Debug, Serialize)]
pub(super) struct SceneImages {
    pub(super) name: String,
    pub(super) levels: Vec<LevelImages>,
}

/// The images of one scene at one level, all of one size.
#[derive(Debug, Serialize)]
pub(super) struct LevelImages {
    pub(super) spp: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    /// How many pixels of the original make one of these, on a side.
    pub(super) factor: u32,
    pub(super) targets: Vec<TargetImage>,
    /// The images in linear values, where there is room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) linear: Option<LinearImages>,
}

/// One image: itself, or what to add to another.
#[derive(Debug, Serialize)]
pub(super) struct TargetImage {
    pub(super) target: TargetId,
    /// Index of the target whose image this one is stored against.
    pub(super) base: Option<usize>,
    /// The PNG as a data URI; nothing when equal to the base.
    pub(super) uri: Option<String>,
}

/// The embedded pictures, with remarks about the rest.
#[derive(Debug)]
pub(super) struct Embedded {
    pub(super) scenes: Vec<SceneImages>,
    pub(super) maps: Maps,
    /// Files that could not be read.
    pub(super) warnings: Vec<String>,
    /// Pictures that the page skips for want of room.
    pub(super) remarks: Vec<String>,
}

/// Images of one level by target, three bytes a pixel: 8-bit sRGB, or one byte of every linear value.
pub(super) struct LevelCodes {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) targets: Vec<(TargetId, Vec<u8>)>,
}

/// Picks and encodes the images of a study so that they take at most `budget` bytes, apart from the top level
/// of every scene, which is always there.
pub(super) fn embed(study: &Study, budget: usize) -> Embedded {
    let mut jobs = jobs(study);
    let empty = |name: &str| SceneImages { name: name.to_owned(), levels: Vec::new() };
    let scenes = study.scenes().into_iter().map(empty).collect();
    let mut embedded = Embedded { scenes, maps: Maps::default(), warnings: Vec::new(), remarks: Vec::new() };
    let mut left = budget;
    let mut weights: usize = jobs.iter().map(|job| job.weight).sum();
    jobs.sort_by_key(|job| std::cmp::Reverse(job.weight));
    for job in jobs {
        let share = left / weights.max(1) * job.weight;
        weights -= job.weight;
        let Some(level) = load(study, &job, &mut embedded.warnings) else { continue };
        match fit(&level, job.spp, share, job.is_top) {
            Ok(Some((images, bytes))) => {
                left = left.saturating_sub(bytes);
                embedded.scenes[job.scene].levels.push(images);
            }
            Ok(None) => {}
            Err(e) => embedded.warnings.push(format!("an image could not be encoded for the page: {e}")),
        }
    }
    for scene in &mut embedded.scenes {
        scene.levels.sort_by_key(|level| level.spp);
    }
    embedded.scenes.retain(|scene| !scene.levels.is_empty());
    embedded
}

/// One level of one scene, and its share of the room.
pub(super) struct Job {
    pub(super) scene: usize,
    pub(super) spp: u32,
    weight: usize,
    pub(super) is_top: bool,
}

/// All levels of all scenes; the top level of a scene has the largest share of room, the lowest comes next.
pub(super) fn jobs(study: &Study) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (index, scene) in study.scenes().into_iter().enumerate() {
        let mut levels: Vec<u32> = study.images.iter().filter(|i| i.scene == scene).map(|i| i.spp).collect();
        levels.sort_unstable();
        levels.dedup();
        for (i, &spp) in levels.iter().enumerate() {
            let is_top = i + 1 == levels.len();
            let weight = if is_top {
                12
            } else if i == 0 {
                2
            } else {
                1
            };
            jobs.push(Job { scene: index, spp, weight, is_top });
        }
    }
    jobs
}

/// Reads the images of a level. Those that cannot be read, or have another size than the first, are left out
/// with a warning.
fn load(study: &Study, job: &Job, warnings: &mut Vec<String>) -> Option<LevelCodes> {
    let scenes = study.scenes();
    let scene = scenes.get(job.scene)?;
    let mut level: Option<LevelCodes> = None;
    for target in study.targets() {
        let found =
            study.images.iter().find(|i| i.scene == *scene && i.target == *target && i.spp == job.spp);
        let Some(read) = found.and_then(read_any) else { continue };
        match (read, &mut level) {
            (Err(e), _) => warnings.push(e.to_string()),
            (Ok(Srgb8Image { width, height, codes }), None) => {
                level = Some(LevelCodes { width, height, targets: vec![(target.clone(), codes)] });
            }
            (Ok(Srgb8Image { width, height, codes }), Some(level))
                if (width, height) == (level.width, level.height) =>
            {
                level.targets.push((target.clone(), codes));
            }
            (Ok(Srgb8Image { width, height, .. }), Some(level)) => warnings.push(format!(
                "{scene} at {} spp: the image of {target} is {width}×{height}, that of {} is {}×{}; left out",
                job.spp, level.targets[0].0, level.width, level.height
            )),
        }
    }
    level
}

fn read_any(image: &StudyImage) -> Option<Result<Srgb8Image, ReadError>> {
    let path = image.png.as_ref().or(image.exr.as_ref())?;
    Some(read_srgb8(path))
}

/// Encodes a level at the least reduction with which it takes at most `share` bytes; nothing when none does,
/// unless it `must` be there.
fn fit(
    level: &LevelCodes,
    spp: u32,
    share: usize,
    must: bool,
) -> std::io::Result<Option<(LevelImages, usize)>> {
    let mut factor = 1;
    loop {
        let images = encode(level, spp, factor)?;
        let bytes = bytes_of(&images.targets);
        if bytes <= share || (must && factor >= MAX_FACTOR) {
            return Ok(Some((images, bytes)));
        }
        if factor >= MAX_FACTOR {
            return Ok(None);
        }
        // Bytes fall with the square of the factor.
        let wanted = (f64::from(factor) * (bytes as f64 / share.max(1) as f64).sqrt()).ceil();
        factor = (wanted as u32).clamp(factor + 1, MAX_FACTOR);
    }
}

/// Bytes that stored images take.
pub(super) fn bytes_of(images: &[TargetImage]) -> usize {
    images.iter().filter_map(|t| t.uri.as_ref()).map(String::len).sum()
}

fn encode(level: &LevelCodes, spp: u32, factor: u32) -> std::io::Result<LevelImages> {
    let (width, height) = (level.width.div_ceil(factor), level.height.div_ceil(factor));
    let targets = store(level, factor)?;
    Ok(LevelImages { spp, width, height, factor, targets, linear: None })
}

/// Each image whole, or as its difference from the first, or not at all.
pub(super) fn store(level: &LevelCodes, factor: u32) -> std::io::Result<Vec<TargetImage>> {
    let (width, height) = (level.width.div_ceil(factor), level.height.div_ceil(factor));
    let mut first: Option<Vec<u8>> = None;
    let mut targets = Vec::new();
    for (i, (target, codes)) in level.targets.iter().enumerate() {
        let equal = level.targets[..i].iter().position(|(_, earlier)| earlier == codes);
        let (base, uri) = match equal {
            Some(equal) => (Some(equal), None),
            None => {
                let codes = reduce_rgb8(codes, (level.width, level.height), factor);
                let stored = smaller_of_two(&codes, first.as_ref(), (width, height))?;
                first.get_or_insert(codes);
                stored
            }
        };
        targets.push(TargetImage { target: target.clone(), base, uri });
    }
    Ok(targets)
}

/// The image itself or its difference from the first, whichever is smaller.
fn smaller_of_two(
    codes: &[u8],
    first: Option<&Vec<u8>>,
    size: (u32, u32),
) -> std::io::Result<(Option<usize>, Option<String>)> {
    let whole = png_bytes(codes, size)?;
    let Some(first) = first else {
        return Ok((None, Some(data_uri(&whole))));
    };
    let delta: Vec<u8> = codes.iter().zip(first).map(|(a, b)| a.wrapping_sub(*b)).collect();
    let delta = png_bytes(&delta, size)?;
    Ok(if delta.len() < whole.len() {
        (Some(0), Some(data_uri(&delta)))
    } else {
        (None, Some(data_uri(&whole)))
    })
}

pub(super) fn png_bytes(codes: &[u8], (width, height): (u32, u32)) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Noise hardly compresses, so the fast way gives nearly as small a page.
    encode_png_rgb8(codes, (width, height), png::Compression::Fast, &Default::default(), &mut bytes)?;
    Ok(bytes)
}

pub(super) fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(png))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(width: u32, height: u32, seed: u32) -> Vec<u8> {
        (0..width * height * 3)
            .map(|i| {
                let x = (i ^ seed.wrapping_mul(0x9e37_79b1)).wrapping_mul(0x85eb_ca6b);
                ((x ^ (x >> 15)).wrapping_mul(0xc2b2_ae35) >> 24) as u8
            })
            .collect()
    }

    fn decode(uri: &str) -> Vec<u8> {
        let png =
            base64::engine::general_purpose::STANDARD.decode(&uri["data:image/png;base64,".len()..]).unwrap();
        image::load_from_memory(&png).unwrap().into_rgb8().into_raw()
    }

    #[test]
    fn images_come_back_from_their_differences_to_the_bit() {
        let first = noise(40, 30, 1);
        let mut near = first.clone();
        near[100] = near[100].wrapping_add(200);
        let other = noise(40, 30, 2);
        let named = [("a", &first), ("b", &near), ("c", &first), ("d", &other)];
        let targets = named.map(|(name, codes)| (name.into(), codes.clone())).to_vec();
        let images = encode(&LevelCodes { width: 40, height: 30, targets }, 1, 1).unwrap();
        let t = &images.targets;
        assert_eq!((t[0].base, t[1].base, t[2].base), (None, Some(0), Some(0)));
        assert!(t[2].uri.is_none(), "an equal image is not stored again");
        assert!(t[1].uri.as_ref().unwrap().len() * 10 < t[0].uri.as_ref().unwrap().len());
        assert_eq!(decode(t[0].uri.as_ref().unwrap()), first);
        let delta = decode(t[1].uri.as_ref().unwrap());
        let sum: Vec<u8> = first.iter().zip(&delta).map(|(a, b)| a.wrapping_add(*b)).collect();
        assert_eq!(sum, near);
    }

    #[test]
    fn images_are_reduced_until_they_fit_and_left_out_if_they_never_do() {
        let level = LevelCodes { width: 64, height: 50, targets: vec![("a".into(), noise(64, 50, 1))] };
        let (full, bytes) = fit(&level, 1, usize::MAX, false).unwrap().unwrap();
        assert_eq!((full.factor, full.width, full.height), (1, 64, 50));
        let (small, less) = fit(&level, 1, bytes / 3, false).unwrap().unwrap();
        assert!(small.factor >= 2 && less <= bytes / 3);
        assert_eq!(small.height, 50u32.div_ceil(small.factor));
        assert!(fit(&level, 1, 10, false).unwrap().is_none());
        assert_eq!(fit(&level, 1, 10, true).unwrap().unwrap().0.factor, MAX_FACTOR);
    }
}
