//! Portable float maps.

use super::write_error;
use lockstep_core::Result;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes an RGB image, given row by row from the top.
///
/// # Errors
/// [`lockstep_core::Error::Io`], naming the file.
pub(super) fn write(path: &Path, width: usize, pixels: &[[f32; 3]]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        write!(file, "PF\n{width} {}\n-1.0\n", pixels.len() / width.max(1))?;
        // Rows of the format go upwards.
        for row in pixels.chunks(width.max(1)).rev() {
            for value in row.iter().flatten() {
                file.write_all(&value.to_le_bytes())?;
            }
        }
        file.flush()
    };
    write().map_err(write_error(path))
}
