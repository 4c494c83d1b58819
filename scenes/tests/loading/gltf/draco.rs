//! `KHR_draco_mesh_compression`, with data of the encoder in the same crate as the decoder.

use super::{accessor, data, with};
use draco_core::{
    DataType, EncoderBuffer, EncoderOptions, FaceIndex, GeometryAttributeType, Mesh, MeshEncoder,
    PointAttribute, PointIndex,
};
use lockstep_core::math::vec3::{Vec3, dot, length};
use serde_json::{Value, json};

/// Rows and columns of the mesh.
const SIDE: u32 = 9;

/// A wavy sheet of 9 by 9 vertices.
fn position(i: u32) -> [f32; 3] {
    let (x, y) = (i % SIDE, i / SIDE);
    [x as f32, y as f32, (x * x + 2 * y) as f32 * 0.125]
}

fn sheet(level: i32) -> Vec<u8> {
    let mut mesh = Mesh::new();
    let count = (SIDE * SIDE) as usize;
    let mut add = |kind, width: u8, of: &dyn Fn(u32) -> Vec<f32>| {
        let mut attribute = PointAttribute::new();
        attribute.init(kind, width, DataType::Float32, false, count);
        for i in 0..count {
            let bytes: Vec<u8> = of(i as u32).iter().flat_map(|v| v.to_le_bytes()).collect();
            attribute.buffer_mut().write(i * usize::from(width) * 4, &bytes);
        }
        mesh.add_attribute(attribute)
    };
    add(GeometryAttributeType::Position, 3, &|i| position(i).to_vec());
    add(GeometryAttributeType::Normal, 3, &|_| vec![0.0, 0.0, 1.0]);
    let corners = (0..(SIDE - 1) * (SIDE - 1)).flat_map(|cell| {
        let first = cell / (SIDE - 1) * SIDE + cell % (SIDE - 1);
        [[first, first + 1, first + SIDE], [first + 1, first + SIDE + 1, first + SIDE]]
    });
    let corners: Vec<[u32; 3]> = corners.collect();
    mesh.set_num_faces(corners.len());
    for (i, corners) in corners.iter().enumerate() {
        mesh.set_face(FaceIndex(i as u32), corners.map(PointIndex));
    }
    let mut encoder = MeshEncoder::new();
    encoder.set_mesh(mesh);
    let mut options = EncoderOptions::new();
    options.set_compression_level(level);
    let mut out = EncoderBuffer::new();
    encoder.encode(&options, &mut out).unwrap();
    out.data().to_vec()
}

/// The file's triangle becomes a compressed sheet.
fn compressed(d: &mut Value, bytes: &[u8]) {
    let name = "KHR_draco_mesh_compression";
    let held = accessor(d, bytes, 5121, bytes.len(), "SCALAR", false);
    let view = d["accessors"][held]["bufferView"].clone();
    d["extensionsUsed"] = json!([name]);
    d["extensionsRequired"] = json!([name]);
    let (vertices, corners) = (SIDE * SIDE, 6 * (SIDE - 1) * (SIDE - 1));
    d["accessors"] = json!([
        {"componentType": 5126, "count": vertices, "type": "VEC3", "min": [0, 0, 0], "max": [8, 8, 10]},
        {"componentType": 5126, "count": vertices, "type": "VEC3"},
        {"componentType": 5123, "count": corners, "type": "SCALAR"},
    ]);
    d["meshes"][0]["primitives"][0] = json!({
        "attributes": {"POSITION": 0, "NORMAL": 1},
        "indices": 2,
        "extensions": {name: {"bufferView": view, "attributes": {"POSITION": 0, "NORMAL": 1}}},
    });
}

#[test]
fn compressed_meshes_are_read_at_every_level_of_compression() {
    for level in [0, 5, 7, 10] {
        let scene = with(|d| compressed(d, &sheet(level))).unwrap().scene;
        assert_eq!(scene.triangles.len(), 128, "level {level}");
        // Draco orders vertices anew: every one of the sheet's is there, within the quantisation.
        for i in 0..SIDE * SIDE {
            let wanted = Vec3::from(position(i));
            let nearest = scene.positions.iter().map(|p| length(Vec3::from(*p) - wanted));
            assert!(nearest.fold(f32::INFINITY, f32::min) < 0.02, "level {level}: vertex {i} is missing");
        }
        for triangle in &scene.triangles {
            let [a, b, c] = triangle.vertices.map(|v| Vec3::from(scene.positions[v as usize]));
            let area = lockstep_core::math::vec3::cross(b - a, c - a).z;
            assert!((area - 1.0).abs() < 0.05, "level {level}: a cell's half faces up, not {area}");
        }
        let up = Vec3::from([0.0, 0.0, 1.0]);
        assert!(scene.vertices.iter().all(|v| dot(v.normal, up) > 0.999), "level {level}");
    }
}

#[test]
fn damaged_and_contradictory_data_is_refused_with_its_pointer() {
    let at = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression";
    let refused = |change: &dyn Fn(&mut Value), words: &str| {
        let error = with(|d| {
            compressed(d, &sheet(7));
            change(d);
        });
        let error = error.unwrap_err();
        assert!(error.contains(words), "{error}");
    };
    refused(
        &|d| {
            let buffers = d["buffers"].as_array().unwrap().len();
            let mut bytes = sheet(7);
            bytes.truncate(40);
            bytes.resize(sheet(7).len(), 0);
            d["buffers"][buffers - 1]["uri"] = json!(data(&bytes));
        },
        &format!("{at}/bufferView: the compressed data cannot be read"),
    );
    refused(&|d| d["accessors"][0]["count"] = json!(80), "has 81 elements, accessor 0 80");
    refused(
        &|d| {
            let extension = "KHR_draco_mesh_compression";
            d["meshes"][0]["primitives"][0]["extensions"][extension]["attributes"]["NORMAL"] = json!(9);
        },
        &format!("{at}/attributes/NORMAL: the compressed data has no attribute 9"),
    );
    refused(
        &|d| d["accessors"][1]["componentType"] = json!(5121),
        "the compressed values are Float32, those of accessor 1 Uint8",
    );
}
