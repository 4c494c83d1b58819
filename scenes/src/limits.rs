//! Limits on scene files.

use crate::warning::Warnings;
use lockstep_core::{Error, Result};
use std::path::Path;

/// Upper bounds that keep a hostile or damaged file from exhausting the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest file that is read, in bytes.
    pub file_bytes: u64,
    /// Largest side of an image, in texels.
    pub image_side: u32,
    /// Maximum texels of one image; decoding takes up to 16 bytes each.
    pub image_texels: u64,
    /// Maximum texels of all images of a scene together, as they are in memory; they take 4 bytes each.
    pub scene_texels: u64,
    /// Longest side of a texture in memory: larger images are halved until none is longer.
    pub texture_side: u32,
    /// Maximum triangles of all meshes of a file together, before instancing.
    pub triangles: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 8 << 30,
            image_side: 16_384,
            image_texels: 1 << 27,
            scene_texels: 1 << 29,
            texture_side: u32::MAX,
            triangles: 1 << 28,
        }
    }
}

impl Limits {
    /// Reads a whole regular file, unless it is too large.
    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let failed = |source| Error::Io { action: "reading", path: path.to_path_buf(), source };
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(std::io::Error::other("it is not a regular file")));
        }
        if metadata.len() > self.file_bytes {
            let message = format!("it has {} bytes; at most {} are read", metadata.len(), self.file_bytes);
            return Err(failed(std::io::Error::other(message)));
        }
        std::fs::read(path).map_err(failed)
    }
}

/// A budget of what a file unfolds to.
///
/// A small file can refer to the same bytes thousands of times, and an accessor without a view has any count it
/// says and no bytes. What is made of a file is therefore limited by the file's own size.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
    total: u64,
    unit: &'static str,
}

impl Budget {
    /// Triangles of a file with this many bytes of geometry, at most [`Limits::triangles`].
    pub(crate) fn of_triangles(limits: &Limits, data_bytes: u64) -> Self {
        Self::new(limits.triangles.min((1u64 << 22).saturating_add(data_bytes)), "triangles")
    }

    /// Elements of all accessors of a file with this many bytes in its buffers: every byte is in at most 8.
    pub(crate) fn of_elements(data_bytes: u64) -> Self {
        Self::new((1u64 << 24).saturating_add(data_bytes.saturating_mul(8)), "elements of accessors")
    }

    /// Texels of all images of a scene, each decoded and at most twice more in another form.
    pub(crate) fn of_texels(limits: &Limits) -> Self {
        Self::new(limits.scene_texels, "texels")
    }

    /// Elements of an XML scene with all files that it includes.
    pub(crate) fn of_scene_elements() -> Self {
        Self::new(1 << 22, "elements")
    }

    fn new(total: u64, unit: &'static str) -> Self {
        Self { left: total, total, unit }
    }

    /// Takes `count` units out of the budget.
    pub(crate) fn take(&mut self, count: usize, place: &str, warnings: &Warnings) -> Result<()> {
        let left = self.left.checked_sub(count as u64).ok_or_else(|| {
            warnings.error(place, format!("the file unfolds to more than {} {}", self.total, self.unit))
        })?;
        self.left = left;
        Ok(())
    }
}

/// A budget of the texels that a scene's textures have in memory.
#[derive(Debug)]
pub(crate) struct TexelBudget {
    taken: u64,
    total: u64,
}

impl TexelBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { taken: 0, total: limits.scene_texels }
    }

    /// Takes an image out of the budget. The error is a sentence.
    pub(crate) fn take(&mut self, (width, height): (u32, u32)) -> Result<(), String> {
        self.taken = self.taken.saturating_add(u64::from(width) * u64::from(height));
        if self.taken > self.total {
            let total = self.total;
            return Err(format!(
                "all images together exceed {total} texels; `--texture-size N` halves those with longer sides"
            ));
        }
        Ok(())
    }

    /// Refuses textures that the machine has no memory for, with this many bytes at most beside those that are kept.
    pub(crate) fn check_memory(&self, working: u64) -> Result<()> {
        lockstep_core::memory::check(|| format!("{} texels of textures", self.taken), self.bytes(working))
    }

    fn bytes(&self, working: u64) -> u64 {
        self.taken.saturating_mul(TEXEL_BYTES).saturating_add(working)
    }

    /// Bytes of all texels that were taken.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.bytes(0)
    }
}

/// Bytes of a texel in memory.
pub(crate) const TEXEL_BYTES: u64 = 4;

/// Bytes of a texel of four channels as floats.
pub(crate) const FLOAT_TEXEL_BYTES: u64 = 16;

/// Bytes that images decoded together take at most beside their texels, where one alone does not take more.
pub(crate) const WORKING_BYTES: u64 = 1 << 30;
