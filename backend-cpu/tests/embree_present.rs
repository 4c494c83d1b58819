//! Embree found by Lockstep's own search, used through `embree4-rs`.

use embree4_rs::geometry::TriangleMeshGeometry;
use embree4_rs::{Device, Scene, SceneOptions};
use lockstep_conformance::require;
use lockstep_cpu::EMBREE_TARGET;
use lockstep_cpu::embree::library;
use lockstep_embree_sys::RTCRay;

#[test]
fn a_library_that_was_found_traces_a_ray() {
    let Some(loaded) = require::present(EMBREE_TARGET, library::load()) else { return };
    println!("Embree {} at {}", loaded.version, loaded.path.display());
    let device = Device::try_new(None).expect("a device");
    let vertices = [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0)];
    let mesh = TriangleMeshGeometry::try_new(&device, &vertices, &[(0, 1, 2)]).expect("a mesh");
    let scene = Scene::try_new(device, SceneOptions::default()).expect("a scene");
    scene.attach_geometry(&mesh).expect("attached");
    let scene = scene.commit().expect("committed");
    let ray = RTCRay { org_x: 0.25, org_y: 0.5, dir_z: 1.0, ..RTCRay::default() };
    let found = scene.intersect_1(ray, None).expect("a query").expect("a hit");
    // Embree divides by a refined estimate, whose last bits differ from one maker's processors to another's.
    let rounded =
        [found.ray.tfar, found.hit.u, found.hit.v].map(|value| (value * 65_536.0).round() / 65_536.0);
    assert_eq!(rounded, [1.0, 0.25, 0.5]);
}
