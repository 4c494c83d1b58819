//! The published `embree4-rs` as an independent check of Lockstep's own wrapper.

use super::embree_is_here;
use super::fixtures::{random_direction, random_point};
use crate::embree::device::Device;
use crate::embree::handles::SceneHandle;
use crate::embree::triangle_mesh::triangle_mesh;
use embree4_rs::geometry::TriangleMeshGeometry;
use embree4_rs::{Scene, SceneOptions};
use lockstep_embree_sys::{
    RTC_INVALID_GEOMETRY_ID, RTCBuildQuality, RTCRay, RTCRayHit, RTCSceneFlags, rtcIntersect1,
};
use std::ptr;

const TRIANGLES: u32 = 3_000;
const RAYS: u32 = 50_000;

/// Triangles of about unit size in a cube, three vertices each.
fn vertices() -> Vec<[f32; 3]> {
    let triangle = |i| {
        let center = random_point(i, 0, 8.0);
        [1, 2, 3].map(|corner| (center + random_point(i, corner, 1.0)).to_array())
    };
    (0..TRIANGLES).flat_map(triangle).collect()
}

fn ray(i: u32) -> RTCRay {
    let origin = random_point(i, 21, 12.0);
    let direction = random_direction(i);
    RTCRay {
        org_x: origin.x,
        org_y: origin.y,
        org_z: origin.z,
        dir_x: direction.x,
        dir_y: direction.y,
        dir_z: direction.z,
        ..RTCRay::default()
    }
}

/// Primitive, and the bits of distance and barycentrics.
fn bits(found: &RTCRayHit) -> [u32; 4] {
    [found.hit.primID, found.ray.tfar.to_bits(), found.hit.u.to_bits(), found.hit.v.to_bits()]
}

#[test]
fn embree4_rs_finds_the_same_hits_on_the_same_triangles() {
    if !embree_is_here() {
        return;
    }
    let vertices = vertices();
    let triangles: Vec<[u32; 3]> = (0..TRIANGLES).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let flags = RTCSceneFlags::ROBUST;

    let device = Device::new(2).unwrap();
    let mesh = triangle_mesh(&device, &vertices, &triangles).unwrap();
    let mut ours = SceneHandle::new(&device, flags).unwrap();
    ours.attach(mesh.raw(), 0);
    ours.commit();
    device.check("building the BVH").unwrap();

    let device = embree4_rs::Device::try_new(None).unwrap();
    let vertices: Vec<_> = vertices.iter().map(|&[x, y, z]| (x, y, z)).collect();
    let triangles: Vec<_> = triangles.iter().map(|&[a, b, c]| (a, b, c)).collect();
    let mesh = TriangleMeshGeometry::try_new(&device, &vertices, &triangles).unwrap();
    let options = SceneOptions { build_quality: RTCBuildQuality::default(), flags };
    let theirs = Scene::try_new(device, options).unwrap();
    assert_eq!(theirs.attach_geometry(&mesh).unwrap(), 0);
    let theirs = theirs.commit().unwrap();

    let mut hits = 0;
    for i in 0..RAYS {
        let mut found = RTCRayHit { ray: ray(i), ..RTCRayHit::default() };
        // SAFETY: the scene is committed and the ray is a local.
        unsafe { rtcIntersect1(ours.raw(), &raw mut found, ptr::null_mut()) };
        let found = (found.hit.geomID != RTC_INVALID_GEOMETRY_ID).then_some(found);
        let expected = theirs.intersect_1(ray(i), None).unwrap();
        assert_eq!(found.as_ref().map(bits), expected.as_ref().map(bits), "ray {i}");
        hits += u32::from(found.is_some());
    }
    assert!(hits > RAYS / 4 && hits < RAYS, "{hits} of {RAYS} rays hit");
}
