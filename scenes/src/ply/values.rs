//! The numbers after the header.

use super::PlyError;
use super::header::{Format, Type};

/// Reads one number after the other.
pub(super) trait Values {
    /// The next number, which is of type `kind`.
    fn next(&mut self, kind: Type) -> Result<f64, PlyError>;

    /// A fault at the number that was read last.
    fn fault(&self, message: String) -> PlyError;

    /// The most numbers of this type that the rest of the file can hold.
    fn room(&self, kind: Type) -> u64;
}

/// Numbers as bytes.
pub(super) struct Binary<'a> {
    bytes: &'a [u8],
    at: usize,
    big: bool,
}

impl<'a> Binary<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize, format: Format) -> Self {
        Self { bytes, at, big: format == Format::BigEndian }
    }

    /// The next bytes, lowest first.
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], PlyError> {
        let end = self.at + N;
        let Some(found) = self.bytes.get(self.at..end).and_then(|b| <[u8; N]>::try_from(b).ok()) else {
            return Err(self.fault("the file ends within its elements".into()));
        };
        self.at = end;
        let mut found = found;
        if self.big {
            found.reverse();
        }
        Ok(found)
    }
}

impl Values for Binary<'_> {
    #[inline]
    fn next(&mut self, kind: Type) -> Result<f64, PlyError> {
        Ok(match kind {
            Type::Int8 => f64::from(i8::from_le_bytes(self.take()?)),
            Type::Uint8 => f64::from(u8::from_le_bytes(self.take()?)),
            Type::Int16 => f64::from(i16::from_le_bytes(self.take()?)),
            Type::Uint16 => f64::from(u16::from_le_bytes(self.take()?)),
            Type::Int32 => f64::from(i32::from_le_bytes(self.take()?)),
            Type::Uint32 => f64::from(u32::from_le_bytes(self.take()?)),
            Type::Float32 => f64::from(f32::from_le_bytes(self.take()?)),
            Type::Float64 => f64::from_le_bytes(self.take()?),
        })
    }

    fn fault(&self, message: String) -> PlyError {
        PlyError { place: format!("byte {}", self.at), message }
    }

    fn room(&self, kind: Type) -> u64 {
        (self.bytes.len() - self.at.min(self.bytes.len())) as u64 / kind.size() as u64
    }
}

/// Numbers as words.
pub(super) struct Ascii<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Ascii<'a> {
    /// Reads from byte `at`, before which there are `lines` lines.
    pub(super) fn new(bytes: &'a [u8], at: usize, lines: usize) -> Self {
        Self { bytes, at, line: lines + 1 }
    }
}

impl Values for Ascii<'_> {
    fn next(&mut self, _kind: Type) -> Result<f64, PlyError> {
        while let Some(byte) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let word = &rest[..length];
        if word.is_empty() {
            return Err(self.fault("the file ends within its elements".into()));
        }
        self.at += length;
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| {
            let shown: String = String::from_utf8_lossy(word).chars().take(40).collect();
            self.fault(format!("`{}` is not a number", shown.escape_debug()))
        })
    }

    fn fault(&self, message: String) -> PlyError {
        PlyError { place: format!("line {}", self.line), message }
    }

    fn room(&self, _kind: Type) -> u64 {
        // A digit and a space each; the last needs no space.
        (self.bytes.len() - self.at.min(self.bytes.len())) as u64 / 2 + 1
    }
}
