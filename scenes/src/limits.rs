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
    /// Maximum texels of all images of a scene together; they take 4 bytes each.
    pub scene_texels: u64,
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

/// Budget of accessor elements that are looked at one by one.
///
/// An accessor without a view has any count it says and no bytes, and several can be of the same bytes.
#[derive(Debug)]
pub(crate) struct ElementBudget {
    left: u64,
    total: u64,
}

impl ElementBudget {
    /// The budget of a file with this many bytes in its buffers: every byte is in at most 8 accessors.
    pub(crate) fn new(data_bytes: u64) -> Self {
        let total = (1u64 << 24).saturating_add(data_bytes.saturating_mul(8));
        Self { left: total, total }
    }

    /// Takes elements out of the budget.
    pub(crate) fn take(&mut self, elements: usize, place: &str, warnings: &Warnings) -> Result<()> {
        match self.left.checked_sub(elements as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let total = self.total;
                let message =
                    format!("the accessors hold more than {total} elements, too many for the file's size");
                Err(warnings.error(place, message))
            }
        }
    }
}

/// Budget of decoded geometry.
///
/// A small file can refer to the same bytes thousands of times; its decoded size is therefore limited by its
/// own size as well as by [`Limits::triangles`].
#[derive(Debug)]
pub(crate) struct GeometryBudget {
    triangles_left: u64,
    total: u64,
}

impl GeometryBudget {
    /// The budget of a file with this many bytes of geometry.
    pub(crate) fn new(limits: &Limits, data_bytes: u64) -> Self {
        let by_size = (1u64 << 22).saturating_add(data_bytes);
        let total = limits.triangles.min(by_size);
        Self { triangles_left: total, total }
    }

    /// Takes triangles out of the budget.
    pub(crate) fn take(&mut self, triangles: usize, place: &str, warnings: &Warnings) -> Result<()> {
        match self.triangles_left.checked_sub(triangles as u64) {
            Some(left) => {
                self.triangles_left = left;
                Ok(())
            }
            None => {
                Err(warnings.error(place, format!("the file unfolds to more than {} triangles", self.total)))
            }
        }
    }
}
