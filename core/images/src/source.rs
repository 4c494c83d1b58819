//! Files that are being read, within limits.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How large an image may be. A file that asks for more is refused before memory is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Greatest width and height in pixels.
    pub max_side: u32,
    /// Greatest number of pixels.
    pub max_pixels: u64,
}

impl Default for ReadLimits {
    /// Sides up to 32768 and as many pixels as 8192 × 4320, which take 425 MB as linear RGB.
    fn default() -> Self {
        Self { max_side: 32_768, max_pixels: 8192 * 4320 }
    }
}

/// Pixels that a byte of a file can hold: no format stores an honest image in less: deflate, the best of
/// them, reaches 1030 to 1 on bytes and a pixel has at least one. So a file of a hundred bytes cannot ask for
/// a gigabyte.
const MAX_PIXELS_PER_BYTE: u64 = 1100;

/// Why an image could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("cannot read image {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The content is none of the formats that are read.
    #[error("cannot read image {}: neither EXR, PNG, Radiance HDR nor PFM", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The image is larger than the limits allow, or than its file can hold.
    #[error("image {} claims {width}×{height} pixels, {why}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Width it claims.
        width: u32,
        /// Height it claims.
        height: u32,
        /// The limit that the image breaks.
        why: String,
    },
    /// The content is damaged, or uses a variant that is not read.
    #[error("cannot decode {format} image {}: {message}", path.display())]
    Decode {
        /// The file.
        path: PathBuf,
        /// `EXR`, `PNG`, `HDR` or `PFM`.
        format: &'static str,
        /// The decoder's error.
        message: String,
    },
}

/// A file that is being read.
pub(super) struct Source<'a> {
    pub(super) path: &'a Path,
    pub(super) bytes: u64,
    pub(super) limits: ReadLimits,
    /// The first bytes.
    pub(super) start: Vec<u8>,
    pub(super) reader: BufReader<File>,
}

impl<'a> Source<'a> {
    pub(super) fn open(path: &'a Path, limits: ReadLimits) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut start = Vec::with_capacity(12);
        file.by_ref().take(12).read_to_end(&mut start).map_err(io)?;
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        Ok(Self { path, bytes, limits, start, reader: BufReader::new(file) })
    }

    pub(super) fn is_exr(&self) -> bool {
        self.start.starts_with(&[0x76, 0x2f, 0x31, 0x01])
    }

    pub(super) fn decode_error(&self, format: &'static str, message: String) -> ReadError {
        ReadError::Decode { path: self.path.to_owned(), format, message }
    }

    /// Refuses a size beyond the limits, or beyond what the file can hold.
    pub(super) fn check_size(&self, width: usize, height: usize) -> Result<(), ReadError> {
        let side = |v: usize| u32::try_from(v).unwrap_or(u32::MAX);
        check_size(self.path, side(width), side(height), self.bytes, self.limits)
    }

    /// Refuses more values than the greatest image has, four to a pixel and of eight layers.
    pub(super) fn check_values(&self, values: u64) -> Result<(), ReadError> {
        let most = self.limits.max_pixels.saturating_mul(32);
        let message = || format!("its layers have {values} values, more than {most} in all");
        if values > most { Err(self.decode_error("EXR", message())) } else { Ok(()) }
    }
}

/// Refuses a size beyond the limits, or beyond what a file of that length can hold.
pub(super) fn check_size(
    path: &Path,
    width: u32,
    height: u32,
    bytes: u64,
    limits: ReadLimits,
) -> Result<(), ReadError> {
    let pixels = u64::from(width) * u64::from(height);
    let refuse = |why| Err(ReadError::TooLarge { path: path.to_owned(), width, height, why });
    if pixels == 0 {
        refuse("and an image has at least one".to_owned())
    } else if width > limits.max_side || height > limits.max_side {
        refuse(format!("more than {} on a side", limits.max_side))
    } else if pixels > limits.max_pixels {
        refuse(format!("more than {} in all", limits.max_pixels))
    } else if pixels > bytes.saturating_mul(MAX_PIXELS_PER_BYTE) {
        refuse(format!("more than its {bytes} bytes can hold"))
    } else {
        Ok(())
    }
}
