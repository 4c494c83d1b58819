//! The published `embree4-rs`, unmodified, over these bindings.

#![allow(clippy::expect_used, reason = "a helper of a test may fail the test")]

mod support;

use embree4_rs::geometry::{TriangleMeshGeometry, UserGeometry, UserGeometryImpl};
use embree4_rs::{CommittedScene, Device, Scene, SceneOptions};
use lockstep_embree_sys::*;
use support::rounded;

/// A ray along z from z = -2.
fn ray_at(x: f32, y: f32) -> RTCRay {
    RTCRay { org_x: x, org_y: y, org_z: -2.0, dir_z: 1.0, ..RTCRay::default() }
}

/// Two triangles that share the diagonal of the unit square in the plane z = 1.
fn committed_square() -> CommittedScene {
    let device = Device::try_new(None).expect("a device");
    let vertices = [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, 1.0, 1.0)];
    let square = TriangleMeshGeometry::try_new(&device, &vertices, &[(0, 1, 2), (0, 2, 3)]).expect("a mesh");
    let options = SceneOptions {
        build_quality: RTCBuildQuality::HIGH,
        flags: RTCSceneFlags::ROBUST | RTCSceneFlags::COMPACT,
    };
    let scene = Scene::try_new(device, options).expect("a scene");
    assert_eq!(scene.attach_geometry(&square).expect("attached"), 0);
    scene.commit().expect("committed")
}

#[test]
fn a_ray_finds_the_right_triangle_distance_and_barycentrics() {
    if !support::embree_is_here() {
        return;
    }
    let scene = committed_square();
    let found = scene.intersect_1(ray_at(0.75, 0.25), None).expect("a query").expect("a hit");
    assert_eq!((found.hit.geomID, found.hit.primID), (0, 0));
    assert_eq!(rounded(found.ray.tfar), 3.0);
    assert_eq!((rounded(found.hit.u), rounded(found.hit.v)), (0.5, 0.25));
    let found = scene.intersect_1(ray_at(0.25, 0.75), None).expect("a query").expect("a hit");
    assert_eq!((found.hit.primID, rounded(found.hit.u), rounded(found.hit.v)), (1, 0.25, 0.5));
    assert_eq!(found.hit.instID, [RTC_INVALID_GEOMETRY_ID]);
    assert_eq!(scene.intersect_1(ray_at(1.5, 0.5), None).expect("a query"), None);
}

#[test]
fn the_bounds_of_a_scene_are_those_of_its_vertices() {
    if !support::embree_is_here() {
        return;
    }
    let bounds = committed_square().bounds().expect("bounds");
    assert_eq!((bounds.lower_x, bounds.lower_y, bounds.lower_z), (0.0, 0.0, 1.0));
    assert_eq!((bounds.upper_x, bounds.upper_y, bounds.upper_z), (1.0, 1.0, 1.0));
}

/// A disc of radius 1 around the z axis in the plane z = 0.
struct Disc;

impl UserGeometryImpl for Disc {
    fn bounds(&self) -> RTCBounds {
        RTCBounds { lower_x: -1.0, lower_y: -1.0, upper_x: 1.0, upper_y: 1.0, ..RTCBounds::default() }
    }

    fn intersect(&self, geom_id: u32, prim_id: u32, _: &RTCRayQueryContext, found: &mut RTCRayHit) {
        let distance = -found.ray.org_z / found.ray.dir_z;
        if found.ray.org_x.hypot(found.ray.org_y) <= 1.0 && distance < found.ray.tfar {
            found.ray.tfar = distance;
            found.hit.primID = prim_id;
            found.hit.geomID = geom_id;
        }
    }
}

#[test]
fn a_user_geometry_is_called_back() {
    if !support::embree_is_here() {
        return;
    }
    let device = Device::try_new(None).expect("a device");
    let disc = UserGeometry::try_new(&device, &Disc).expect("a disc");
    let scene = Scene::try_new(device, SceneOptions::default()).expect("a scene");
    scene.attach_geometry(&disc).expect("attached");
    let scene = scene.commit().expect("committed");
    let found = scene.intersect_1(ray_at(0.5, 0.5), None).expect("a query").expect("a hit");
    assert_eq!(rounded(found.ray.tfar), 2.0);
    assert_eq!(scene.intersect_1(ray_at(0.9, 0.9), None).expect("a query"), None);
}
