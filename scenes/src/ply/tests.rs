use super::*;
use proptest::prelude::*;

const LIMIT: u64 = 1 << 20;

const HEADER: &str = "ply\nformat FORMAT 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty float y\n\
                      property float z\nproperty double nx\nproperty double ny\nproperty double nz\nproperty uchar quality\n\
                      property float s\nproperty float t\nelement face 2\nproperty list uchar int vertex_indices\n\
                      property short material\nelement edge 1\nproperty list ushort uint ends\nend_header\n";

/// A square of a quad and a triangle over it, and an element that nothing reads.
fn square() -> PlyMesh {
    PlyMesh {
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
        normals: vec![[0.0, 0.0, 1.0]; 4],
        uv: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 1, 3]],
        notes: Vec::new(),
    }
}

fn ascii() -> Vec<u8> {
    let mut text = HEADER.replace("FORMAT", "ascii");
    for (p, t) in square().positions.iter().zip(square().uv) {
        text += &format!("{} {} {} 0 0 2.5 7 {} {}\n", p[0], p[1], p[2], t[0], t[1]);
    }
    (text + "4 0 1 2 3 -1\n3 0 1 3 5\n2 0 1\n").into_bytes()
}

fn binary(big: bool) -> Vec<u8> {
    let name = if big { "binary_big_endian" } else { "binary_little_endian" };
    let mut out = HEADER.replace("FORMAT", name).into_bytes();
    let mut put = |little: &[u8]| {
        let mut bytes = little.to_vec();
        if big {
            bytes.reverse();
        }
        out.extend(bytes);
    };
    for (p, t) in square().positions.iter().zip(square().uv) {
        p.iter().for_each(|v| put(&v.to_le_bytes()));
        [0.0f64, 0.0, 2.5].iter().for_each(|v| put(&v.to_le_bytes()));
        put(&[7]);
        t.iter().for_each(|v| put(&v.to_le_bytes()));
    }
    for (corners, material) in [(&[0i32, 1, 2, 3][..], -1i16), (&[0, 1, 3], 5)] {
        put(&[corners.len() as u8]);
        corners.iter().for_each(|v| put(&v.to_le_bytes()));
        put(&material.to_le_bytes());
    }
    put(&2u16.to_le_bytes());
    [0u32, 1].iter().for_each(|v| put(&v.to_le_bytes()));
    out
}

#[test]
fn all_three_formats_hold_the_same_mesh() {
    assert_eq!(read(&ascii(), LIMIT).unwrap(), square());
    assert_eq!(read(&binary(false), LIMIT).unwrap(), square());
    assert_eq!(read(&binary(true), LIMIT).unwrap(), square());
}

/// A file of the corners of a fan, with this list of faces.
fn fan(faces: &str) -> Result<PlyMesh, PlyError> {
    let count = faces.lines().count();
    let vertices = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n-1 0.5 0\n";
    let header =
        "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n";
    let text = format!(
        "{header}element face {count}\nproperty list int int vertex_index\nend_header\n{vertices}{faces}"
    );
    read(text.as_bytes(), 4)
}

#[test]
fn polygons_are_fans_and_what_is_no_face_is_noted() {
    let mesh = fan("5 0 1 2 3 4\n2 0 1\n").unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    assert_eq!(mesh.notes.len(), 2, "{:?}", mesh.notes);
    assert!(mesh.normals.is_empty() && mesh.uv.is_empty());
}

#[test]
fn faults_name_their_line_or_byte() {
    let refused = |faces: &str, words: &str| {
        let error = fan(faces).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("3 0 1 5\n", "triangle 0 is beyond the 5 vertices");
    refused("3 0 1 -1\n", "line 15: -1 is no count or index");
    refused("3 0 1 0.5\n", "0.5 is no count or index");
    refused("3 0 one 2\n", "line 15: `one` is not a number");
    refused("3 0 1\n", "the file ends within its elements");
    refused("5 0 1 2 3 4\n4 0 1 2 3\n", "more than 4 triangles");
    let error = read(&binary(false)[..HEADER.len() + 30], LIMIT).unwrap_err();
    assert!(error.place.starts_with("byte "), "{error}");
    for (text, words) in [
        ("obj\n", "begins with `ply`"),
        ("ply\nformat ascii 1.0\n", "the header has no end"),
        ("ply\nend_header\n", "names no format"),
        ("ply\nformat ascii 1.0\nproperty float x\n", "needs an element"),
        ("ply\nformat ascii 1.0\nend_header\n", "no element `vertex`"),
        ("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "`x`, `y` and `z`"),
    ] {
        let error = read(text.as_bytes(), LIMIT).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn counts_that_the_file_cannot_hold_are_refused_before_they_are_allocated() {
    for count in ["18446744073709551615", "1000000000000", "40"] {
        for element in ["element vertex 4", "element face 2", "element edge 1"] {
            let (name, _) = element.rsplit_once(' ').unwrap();
            for bytes in [ascii(), binary(false)] {
                let at = bytes.windows(element.len()).position(|w| w == element.as_bytes()).unwrap();
                let mut changed = bytes[..at].to_vec();
                changed.extend(format!("{name} {count}").bytes());
                changed.extend(&bytes[at + element.len()..]);
                assert!(read(&changed, LIMIT).is_err());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_survived(
        which in 0usize..3,
        cut in prop::option::weighted(0.3, any::<usize>()),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..6),
    ) {
        let mut bytes = if which == 0 { ascii() } else { binary(which == 2) };
        for (at, change) in changes {
            let length = bytes.len();
            bytes[at % length] ^= change;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut % bytes.len());
        }
        if let Ok(mesh) = read(&bytes, LIMIT) {
            prop_assert!(mesh.triangles.iter().flatten().all(|&v| (v as usize) < mesh.positions.len()));
            prop_assert!(mesh.positions.iter().flatten().all(|v| v.is_finite()));
        }
    }
}
