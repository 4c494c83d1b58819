//! Copies a mesh's primitives to Embree geometries.

use super::build_options::{BuildOptions, CallbackKind};
use super::coincident::coincident;
use super::device::Device;
use super::enlarge::enlarge;
use super::geometry::{EmbreeGeometry, Shape, TriangleRecord};
use super::handles::GeometryHandle;
use super::overlap::Corners;
use super::triangle_mesh::triangle_mesh;
use lockstep_bvh::{LeafPrimitive, PreSplit};
use lockstep_core::Result;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{Mesh, Scene, SceneData};
use lockstep_embree_sys::RTCGeometryType;
use rayon::prelude::*;

/// Appends the geometries of a mesh. Each must be registered with its callbacks before it is attached to a
/// scene.
///
/// `instance` is [`lockstep_core::scene::NONE`] unless the mesh belongs to the top-level scene. Triangles are
/// enlarged by `enlargement`, a distance, on all sides.
///
/// # Errors
/// [`lockstep_core::Error::Device`] when Embree runs out of memory.
pub(super) fn add_geometries(
    geometries: &mut Vec<EmbreeGeometry>,
    device: &Device,
    scene: &Scene,
    [mesh, instance]: [u32; 2],
    options: BuildOptions,
    enlargement: f32,
) -> Result<()> {
    let record = scene.meshes[mesh as usize];
    let triangles = record.triangle_count;

    // Separate opaque triangles from those with alpha
    let of = |i: u32| &scene.triangles[(record.first_triangle + i) as usize];
    let has_alpha = |i: u32| scene.materials[of(i).material as usize].has_alpha();
    let (alpha, opaque): (Vec<u32>, Vec<u32>) = if scene.materials.iter().any(|m| m.has_alpha()) {
        (0..triangles).partition(|&i| has_alpha(i))
    } else {
        (Vec::new(), (0..triangles).collect())
    };

    // Find coincident triangles
    let corners: Vec<Corners> = if options.marks_coincident {
        (0..triangles).into_par_iter().map(|i| corners(scene, &record, i)).collect()
    } else {
        Vec::new()
    };
    let cells = coincident(&corners);

    // Copy triangles, with the records that confirm their candidates
    let pre_split = PreSplit::of(scene, &record);
    for (numbers, callback) in [(opaque, CallbackKind::None), (alpha, options.alpha_callback)] {
        if numbers.is_empty() {
            continue;
        }
        let shape = Shape::Triangles(triangle_geometry(device, scene, &record, &numbers, enlargement)?);
        let (mut reference_bounds, mut clip_boxes) = (Vec::new(), Vec::new());
        let triangle = |&i: &u32| {
            let leaf = LeafPrimitive::of(scene, &record, i);
            let first_reference = reference_bounds.len();
            for (bounds, clip_box) in pre_split.boxes(&leaf) {
                reference_bounds.push(bounds);
                clip_boxes.push(clip_box);
            }
            TriangleRecord {
                leaf,
                coincident_cells: cells.get(i as usize).copied().unwrap_or(0),
                first_reference: first_reference as u32,
                reference_count: (reference_bounds.len() - first_reference) as u32,
            }
        };
        let triangles = numbers.iter().map(triangle).collect();
        let scene = scene.clone();
        geometries.push(EmbreeGeometry {
            shape,
            callback,
            scene,
            mesh,
            instance,
            triangles,
            reference_bounds,
            clip_boxes,
        });
    }

    // Add spheres as user geometry
    if record.sphere_count > 0 {
        geometries.push(EmbreeGeometry {
            shape: Shape::Spheres(GeometryHandle::new(device, RTCGeometryType::USER)?),
            callback: CallbackKind::UserGeometry,
            scene: scene.clone(),
            mesh,
            instance,
            triangles: Vec::new(),
            reference_bounds: Vec::new(),
            clip_boxes: Vec::new(),
        });
    }
    device.check(&format!("copying mesh {mesh}"))
}

/// An Embree geometry of some of a mesh's triangles, each enlarged on all sides.
fn triangle_geometry(
    device: &Device,
    scene: &SceneData,
    mesh: &Mesh,
    numbers: &[u32],
    enlargement: f32,
) -> Result<GeometryHandle> {
    let enlarged = |&i: &u32| enlarge(corners(scene, mesh, i), enlargement).map(Vec3::to_array);
    let vertices: Vec<[f32; 3]> = numbers.par_iter().flat_map_iter(enlarged).collect();
    let triangles: Vec<[u32; 3]> = (0..numbers.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    triangle_mesh(device, &vertices, &triangles)
}

fn corners(scene: &SceneData, mesh: &Mesh, triangle: u32) -> Corners {
    let LeafPrimitive { p0, p1, p2, .. } = LeafPrimitive::of(scene, mesh, triangle);
    [p0, p1, p2]
}
