//! Images of material libraries, and what textures show of them.

use super::mtl::{Entry, Map};
use crate::access::FileAccess;
use crate::limits::{Limits, TexelBudget, WORKING_BYTES};
use crate::pixels::{Header, Pixels, decode, header};
use crate::textures::{Coding, batches, reduced_size, working_bytes};
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::scene::{ImageId, SceneBuilder};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Content of an image of the scene. Materials with equal content share one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    /// The colour of one file with the opacity of another.
    Color(Option<String>, Option<String>),
    /// The colour of a file.
    Emission(String),
    /// Normals, or those of heights whose factor has these bits.
    Normals(String, u32),
}

/// The decoded files that material libraries use, by name.
pub(super) type Files = BTreeMap<String, Pixels>;

/// Decodes every file that the entries use once, several at a time. A missing or damaged one is left out with a
/// warning, as is customary.
///
/// # Errors
/// [`lockstep_core::Error`] where all files together exceed the budget or the memory of the machine.
pub(super) fn read<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    access: &FileAccess<'_>,
    warnings: &mut Warnings,
) -> Result<Files> {
    let limits = access.limits;
    let codings: Vec<(&str, Option<Coding>)> = codings(entries).into_iter().collect();
    let found: Vec<Result<(Vec<u8>, Header), String>> = codings
        .par_iter()
        .map(|(file, _)| {
            let bytes = access.read(&access.folder.join(file)).map_err(|e| e.to_string())?;
            let found = header(&bytes, limits)?;
            Ok((bytes, found))
        })
        .collect();
    let mut budget = TexelBudget::new(limits);
    let mut sources = Vec::new();
    for ((file, coding), found) in codings.into_iter().zip(found) {
        match found {
            Ok((bytes, found)) => {
                let size = reduced_size(found.width, found.height, side_of(coding, limits));
                budget.take(size).map_err(|message| warnings.error(file, message))?;
                let working = working_bytes(&found, side_of(coding, limits));
                sources.push((file, coding, bytes, working));
            }
            Err(message) => warnings.add(file, skipped(&message)),
        }
    }
    let working: Vec<u64> = sources.iter().map(|(.., working)| *working).collect();
    let batches = batches(&working, WORKING_BYTES);
    let together: u64 = batches.iter().map(|run| working[run.clone()].iter().sum()).max().unwrap_or(0);
    // The files stay until every material that shows them has its image in the scene.
    budget.check_memory(together.saturating_add(budget.kept_bytes()))?;
    let mut files = Files::new();
    for run in batches {
        let decode_one = |(_, coding, bytes, _): &(&str, Option<Coding>, Vec<u8>, u64)| {
            let pixels = decode(bytes, limits)?;
            Ok(pixels.reduced(side_of(*coding, limits), coding.unwrap_or(Coding::Linear)))
        };
        let decoded: Vec<Result<Pixels, String>> = sources[run.clone()].par_iter().map(decode_one).collect();
        for ((file, ..), pixels) in sources[run].iter().zip(decoded) {
            match pixels {
                Ok(pixels) => _ = files.insert((*file).to_owned(), pixels),
                Err(message) => warnings.add(*file, skipped(&message)),
            }
        }
    }
    Ok(files)
}

/// The scene's images of decoded files. Materials that show the same share one, and all are within one budget.
pub(super) struct Images<'a> {
    files: &'a Files,
    made: BTreeMap<Content, ImageId>,
    budget: TexelBudget,
    side: u32,
}

/// The map of a statement, with its file.
pub(super) type Present<'a> = (&'a Map, &'a Pixels);

impl<'a> Images<'a> {
    pub(super) fn new(files: &'a Files, limits: &Limits) -> Self {
        Self { files, made: BTreeMap::new(), budget: TexelBudget::new(limits), side: limits.texture_side }
    }

    /// A map whose file could be read.
    pub(super) fn present(&self, map: Option<&'a Map>) -> Option<Present<'a>> {
        let map = map?;
        Some((map, self.files.get(&map.file)?))
    }

    /// Colour from one file, with opacity from another.
    pub(super) fn color(
        &mut self,
        color: Option<Present<'_>>,
        opacity: Option<Present<'_>>,
        scene: &mut SceneBuilder,
        warnings: &Warnings,
    ) -> Result<ImageId> {
        let file = |of: Option<Present<'_>>| of.map(|(map, _)| map.file.clone());
        let content = Content::Color(file(color), file(opacity));
        self.image(content, Coding::Srgb, scene, warnings, || {
            Cow::Owned(with_opacity(color.map(|(_, pixels)| pixels), opacity.map(|(_, pixels)| pixels)))
        })
    }

    /// The colour of a file.
    pub(super) fn emission(
        &mut self,
        (map, pixels): Present<'_>,
        scene: &mut SceneBuilder,
        warnings: &Warnings,
    ) -> Result<ImageId> {
        let content = Content::Emission(map.file.clone());
        self.image(content, Coding::Srgb, scene, warnings, || Cow::Borrowed(pixels))
    }

    /// The normals of a file, or those of its heights.
    pub(super) fn normals(
        &mut self,
        (map, pixels): Present<'_>,
        scene: &mut SceneBuilder,
        warnings: &Warnings,
    ) -> Result<ImageId> {
        let content = Content::Normals(map.file.clone(), map.bump.to_bits());
        self.image(content, Coding::Linear, scene, warnings, || {
            if looks_like_normals(pixels) {
                Cow::Borrowed(pixels)
            } else {
                Cow::Owned(normals_from_heights(pixels, map.bump))
            }
        })
    }

    fn image<'p>(
        &mut self,
        content: Content,
        coding: Coding,
        scene: &mut SceneBuilder,
        warnings: &Warnings,
        pixels: impl FnOnce() -> Cow<'p, Pixels>,
    ) -> Result<ImageId> {
        if let Some(id) = self.made.get(&content) {
            return Ok(*id);
        }
        let pixels = pixels();
        let pixels = match reduced_size(pixels.width, pixels.height, self.side) {
            size if size == (pixels.width, pixels.height) => pixels,
            _ => Cow::Owned(pixels.into_owned().reduced(self.side, coding)),
        };
        let size = (pixels.width, pixels.height);
        self.budget.take(size).map_err(|message| warnings.error(content.place(), message))?;
        let id = scene.image(pixels.width, pixels.height, &pixels.rgba)?;
        self.made.insert(content, id);
        Ok(id)
    }
}

impl Content {
    /// The file for messages.
    fn place(&self) -> &str {
        match self {
            Self::Color(color, opacity) => color.as_deref().or(opacity.as_deref()).unwrap_or_default(),
            Self::Emission(file) | Self::Normals(file, _) => file,
        }
    }
}

fn skipped(message: &str) -> String {
    format!("the texture is left out: {message}")
}

/// Every file that the entries use with the coding by which it may be reduced when it is read; `None` for heights,
/// which become normals at their full size first. A file that is a colour anywhere is reduced as one.
fn codings<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<&'a str, Option<Coding>> {
    let mut out = BTreeMap::new();
    let mut heights = Vec::new();
    for entry in entries {
        for map in [&entry.diffuse_map, &entry.emission_map].into_iter().flatten() {
            out.insert(map.file.as_str(), Some(Coding::Srgb));
        }
        for map in entry.opacity_map.iter() {
            out.entry(map.file.as_str()).or_insert(Some(Coding::Linear));
        }
        for map in [&entry.bump_map, &entry.normal_map].into_iter().flatten() {
            heights.push(map.file.as_str());
        }
    }
    out.extend(heights.into_iter().map(|file| (file, None)));
    out
}

fn side_of(coding: Option<Coding>, limits: &Limits) -> u32 {
    coding.map_or(u32::MAX, |_| limits.texture_side)
}

/// Colour from one image, opacity from another: from its alpha where it has any, else from its brightness.
fn with_opacity(color: Option<&Pixels>, opacity: Option<&Pixels>) -> Pixels {
    let Some(base) = color.or(opacity) else {
        return Pixels { width: 1, height: 1, rgba: vec![255; 4] };
    };
    let mut out = base.clone();
    let uses_alpha = opacity.is_some_and(|o| o.rgba.chunks_exact(4).any(|t| t[3] < 255));
    for (i, texel) in out.rgba.chunks_exact_mut(4).enumerate() {
        if color.is_none() {
            texel[..3].fill(255);
        }
        texel[3] = match opacity {
            None => 255,
            Some(o) => {
                let (x, y) = (i as u64 % u64::from(base.width), i as u64 / u64::from(base.width));
                let column = x * u64::from(o.width) / u64::from(base.width);
                let row = y * u64::from(o.height) / u64::from(base.height);
                let at = ((row * u64::from(o.width) + column) * 4) as usize;
                if uses_alpha { o.rgba[at + 3] } else { o.rgba[at] }
            }
        };
    }
    out
}

/// Exporters write normal maps under `map_Bump` too; those are blue on average.
fn looks_like_normals(pixels: &Pixels) -> bool {
    let mut sum = [0u64; 3];
    for texel in pixels.rgba.chunks_exact(4) {
        for (total, &channel) in sum.iter_mut().zip(texel) {
            *total += u64::from(channel);
        }
    }
    let count = pixels.rgba.len() as u64 / 4;
    sum[2] > 180 * count && sum[0] < 170 * count && sum[1] < 170 * count
}

/// A normal map from heights by central differences. `bump` is the height of white in texels.
fn normals_from_heights(heights: &Pixels, bump: f32) -> Pixels {
    let (w, h) = (heights.width as usize, heights.height as usize);
    let height = |x: usize, y: usize| f32::from(heights.rgba[(y % h * w + x % w) * 4]) / 255.0;
    let mut out = heights.clone();
    for y in 0..h {
        for x in 0..w {
            let dx = (height(x + w - 1, y) - height(x + 1, y)) * 0.5 * bump;
            let dy = (height(x, y + 1) - height(x, y + h - 1)) * 0.5 * bump;
            let length = (dx * dx + dy * dy + 1.0).sqrt();
            let encode = |v: f32| ((v / length * 0.5 + 0.5) * 255.0 + 0.5) as u8;
            let at = (y * w + x) * 4;
            out.rgba[at..at + 4].copy_from_slice(&[encode(dx), encode(dy), encode(1.0), 255]);
        }
    }
    out
}
