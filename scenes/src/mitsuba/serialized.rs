//! Mitsuba's own mesh files, versions 3 and 4: several meshes, each deflated, and a table of their offsets.

use super::mesh::Raw;
use crate::limits::Limits;
use flate2::read::ZlibDecoder;
use std::io::Read;

/// The first two bytes of each mesh.
const MAGIC: u16 = 0x041C;

/// Flags of a mesh.
const HAS_NORMALS: u32 = 0x0001;
const HAS_COORDINATES: u32 = 0x0002;
const HAS_COLORS: u32 = 0x0008;
const FACE_NORMALS: u32 = 0x0010;
const SINGLE: u32 = 0x1000;
const DOUBLE: u32 = 0x2000;

/// Longest name of a mesh.
const LONGEST_NAME: usize = 4096;

/// Triangles that a small file may have, and those for each of its bytes: a grid of triangles is deflated to less
/// than a byte each.
const FEW: u64 = 1 << 16;
const TRIANGLES_PER_BYTE: u64 = 8;

/// Reads the mesh of an index. The error is a sentence.
pub(super) fn read(bytes: &[u8], index: u32, limits: &Limits) -> Result<Raw, String> {
    let (data, version) = section(bytes, index)?;
    let most = limits.triangles.min(FEW + TRIANGLES_PER_BYTE * data.len() as u64);
    let mut reader = Values { reader: ZlibDecoder::new(data) };
    let flags = reader.u32()?;
    if version == 4 {
        reader.skip_name()?;
    }
    let (vertices, triangles) = (reader.u64()?, reader.u64()?);
    if triangles > most || vertices > 3 * most {
        return Err(format!(
            "a mesh of {vertices} vertices and {triangles} triangles is too large for its file"
        ));
    }
    let (vertices, triangles) = (vertices as usize, triangles as usize);
    let double = match flags & (SINGLE | DOUBLE) {
        SINGLE => false,
        DOUBLE => true,
        _ => return Err("the mesh does not say whether its numbers are single or double".into()),
    };
    let positions = reader.floats::<3>(vertices, double)?;
    let has = |flag: u32| flags & flag != 0;
    let normals = if has(HAS_NORMALS) { reader.floats::<3>(vertices, double)? } else { Vec::new() };
    let uv = if has(HAS_COORDINATES) { reader.floats::<2>(vertices, double)? } else { Vec::new() };
    if has(HAS_COLORS) {
        reader.floats::<3>(vertices, double)?;
    }
    let triangles = reader.indices(triangles)?;
    if triangles.iter().flatten().any(|&corner| corner as usize >= vertices) {
        return Err(format!("a triangle of the mesh uses a vertex beyond {vertices}"));
    }
    let numbers = positions.iter().flatten().chain(normals.iter().flatten()).chain(uv.iter().flatten());
    if !numbers.into_iter().all(|v| v.is_finite()) {
        return Err("a number of the mesh is not finite".into());
    }
    let normals = if has(FACE_NORMALS) { Vec::new() } else { normals };
    Ok(Raw { positions, normals, uv, triangles, flat: has(FACE_NORMALS) })
}

/// The deflated bytes of a mesh, and its version.
fn section(bytes: &[u8], index: u32) -> Result<(&[u8], u16), String> {
    let short = || "the file is too short for a serialized mesh".to_string();
    let u16_at = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?));
    let version = u16_at(2).ok_or_else(short)?;
    if u16_at(0) != Some(MAGIC) || !(version == 3 || version == 4) {
        return Err("the file is no serialized mesh of version 3 or 4".into());
    }
    let end = bytes.len().checked_sub(4).ok_or_else(short)?;
    let count = u32::from_le_bytes(bytes[end..].try_into().map_err(|_| short())?);
    if index >= count {
        return Err(format!("the file has {count} meshes; there is none of index {index}"));
    }
    let size = if version == 4 { 8 } else { 4 };
    let table = end.checked_sub(size * count as usize).ok_or_else(short)?;
    let offset = |i: u32| {
        let mut word = [0; 8];
        let at = table + size * i as usize;
        word[..size].copy_from_slice(bytes.get(at..at + size)?);
        usize::try_from(u64::from_le_bytes(word)).ok()
    };
    let begin = offset(index).ok_or_else(short)?;
    let next = if index + 1 < count { offset(index + 1).ok_or_else(short)? } else { table };
    if u16_at(begin) != Some(MAGIC) || u16_at(begin + 2) != Some(version) {
        return Err(format!("the mesh of index {index} has no header"));
    }
    let data = bytes.get(begin + 4..next.min(table)).ok_or_else(short)?;
    Ok((data, version))
}

/// Little-endian values of a deflated stream.
struct Values<'a> {
    reader: ZlibDecoder<&'a [u8]>,
}

impl Values<'_> {
    /// Reads `count` bytes. Memory grows with the bytes that are present, not with the number asked for.
    fn bytes(&mut self, count: usize) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let read = self.reader.by_ref().take(count as u64).read_to_end(&mut out);
        read.map_err(|error| format!("the mesh is damaged: {error}"))?;
        if out.len() == count { Ok(out) } else { Err("the mesh is cut off".into()) }
    }

    fn u32(&mut self) -> Result<u32, String> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from(self.u32()?) | u64::from(self.u32()?) << 32)
    }

    fn skip_name(&mut self) -> Result<(), String> {
        for _ in 0..LONGEST_NAME {
            if self.bytes(1)? == [0] {
                return Ok(());
            }
        }
        Err("the mesh's name has no end".into())
    }

    fn floats<const N: usize>(&mut self, count: usize, double: bool) -> Result<Vec<[f32; N]>, String> {
        let size = if double { 8 } else { 4 };
        let bytes = self.bytes(count * N * size)?;
        let number = |b: &[u8]| match *b {
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32,
            _ => f32::NAN,
        };
        let vector = |v: &[u8]| std::array::from_fn(|i| number(&v[i * size..(i + 1) * size]));
        Ok(bytes.chunks_exact(N * size).map(vector).collect())
    }

    fn indices(&mut self, count: usize) -> Result<Vec<[u32; 3]>, String> {
        let bytes = self.bytes(count * 12)?;
        let index = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        Ok(bytes.chunks_exact(12).map(|t| [index(t), index(&t[4..]), index(&t[8..])]).collect())
    }
}

/// A file of meshes, for tests.
#[cfg(test)]
pub(super) fn write(meshes: &[&Raw], version: u16, double: bool) -> Vec<u8> {
    use std::io::Write;
    let (mut out, mut offsets) = (Vec::new(), Vec::new());
    for mesh in meshes {
        offsets.push(out.len() as u64);
        out.extend(MAGIC.to_le_bytes());
        out.extend(version.to_le_bytes());
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        let mut data = Vec::new();
        let flags = flag(!mesh.normals.is_empty(), HAS_NORMALS)
            | flag(!mesh.uv.is_empty(), HAS_COORDINATES)
            | flag(mesh.flat, FACE_NORMALS)
            | if double { DOUBLE } else { SINGLE };
        data.extend(flags.to_le_bytes());
        if version == 4 {
            data.extend(b"name\0");
        }
        data.extend((mesh.positions.len() as u64).to_le_bytes());
        data.extend((mesh.triangles.len() as u64).to_le_bytes());
        let numbers = mesh
            .positions
            .iter()
            .flatten()
            .chain(mesh.normals.iter().flatten())
            .chain(mesh.uv.iter().flatten());
        for &number in numbers {
            if double {
                data.extend(f64::from(number).to_le_bytes())
            } else {
                data.extend(number.to_le_bytes())
            }
        }
        data.extend(mesh.triangles.iter().flatten().flat_map(|corner| corner.to_le_bytes()));
        let mut encoder = flate2::write::ZlibEncoder::new(&mut out, flate2::Compression::default());
        encoder.write_all(&data).unwrap();
        encoder.finish().unwrap();
    }
    for offset in &offsets {
        if version == 4 {
            out.extend(offset.to_le_bytes())
        } else {
            out.extend((*offset as u32).to_le_bytes())
        }
    }
    out.extend((offsets.len() as u32).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle(x: f32) -> Raw {
        Raw {
            positions: vec![[x, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            normals: vec![[0.0, 0.0, 1.0]; 3],
            uv: vec![[0.0, 0.5]; 3],
            triangles: vec![[0, 1, 2]],
            flat: false,
        }
    }

    #[test]
    fn meshes_of_both_versions_and_precisions_are_read() {
        let plain = Raw { normals: vec![], uv: vec![], ..triangle(9.0) };
        for version in [3, 4] {
            for double in [false, true] {
                let bytes = write(&[&triangle(2.0), &plain, &triangle(3.0)], version, double);
                let of = |index| read(&bytes, index, &Limits::default());
                assert_eq!((of(0), of(1), of(2)), (Ok(triangle(2.0)), Ok(plain.clone()), Ok(triangle(3.0))));
                assert!(of(3).unwrap_err().contains("3 meshes"));
            }
        }
    }

    #[test]
    fn damage_is_refused() {
        let bytes = write(&[&triangle(0.0)], 4, false);
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length], 0, &Limits::default()).is_err());
        }
        let wrong = Raw { triangles: vec![[0, 1, 3]], ..triangle(0.0) };
        assert!(read(&write(&[&wrong], 4, false), 0, &Limits::default()).unwrap_err().contains("beyond 3"));
        let infinite = triangle(f32::INFINITY);
        assert!(
            read(&write(&[&infinite], 3, false), 0, &Limits::default()).unwrap_err().contains("not finite")
        );
        let small = Limits { triangles: 0, ..Limits::default() };
        assert!(read(&bytes, 0, &small).unwrap_err().contains("too large"));
    }

    /// A file of one mesh whose deflated content is this.
    fn of_content(version: u16, content: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut out = [MAGIC.to_le_bytes(), version.to_le_bytes()].concat();
        let mut encoder = flate2::write::ZlibEncoder::new(&mut out, flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap();
        let offset = if version == 4 { &[0; 8][..] } else { &[0; 4] };
        out.extend([offset, &1u32.to_le_bytes()].concat());
        out
    }

    /// The mesh in words.
    fn outcome(bytes: &[u8], index: u32) -> String {
        match read(bytes, index, &Limits { triangles: 1 << 16, ..Limits::default() }) {
            Ok(mesh) => {
                let beyond = |corner: &u32| *corner as usize >= mesh.positions.len();
                assert!(!mesh.triangles.iter().flatten().any(beyond), "a corner without a vertex");
                let has = [&mesh.normals.is_empty(), &mesh.uv.is_empty(), &mesh.flat];
                format!("{} triangles, {has:?}", mesh.triangles.len())
            }
            Err(message) => message,
        }
    }

    #[test]
    fn files_of_meshes_are_survived() {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/serialized");
        let flat = Raw { flat: true, ..triangle(1.0) };
        let files = [(3, false), (3, true), (4, false), (4, true)]
            .map(|(version, double)| write(&[&triangle(2.0), &flat], version, double));
        // The content alone, which mutations of a deflated one would seldom leave whole.
        let contents = [(3, false), (4, false), (4, true)].map(|(version, double)| {
            let mut content = Vec::new();
            let bytes = write(&[&triangle(2.0)], version, double);
            let (data, _) = section(&bytes, 0).unwrap();
            ZlibDecoder::new(data).read_to_end(&mut content).unwrap();
            content
        });
        let seeds: Vec<Vec<u8>> = files.into_iter().chain(contents).collect();
        let words = ["\u{1c}\u{4}", "\u{3}\0", "\u{4}\0", "\u{1}\u{10}\0\0", "name\0", "\u{1}\0\0\0\0\0\0\0"];
        let fuzz = lockstep_fuzz::Fuzz { name: "serialized", seeds: &seeds, corpus: &corpus, words: &words };
        let report = fuzz.run_part(2, |bytes| {
            let contents = [3, 4].map(|version| outcome(&of_content(version, bytes), 0));
            format!("{}; {}; {}", outcome(bytes, 0), outcome(bytes, 1), contents.join("; "))
        });
        assert!(report.outcomes > 1, "{report:?}");
    }
}
