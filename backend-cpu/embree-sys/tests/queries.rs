//! The functions called directly: single rays, packets, instances, filters, errors.

#![allow(clippy::expect_used, reason = "a helper of a test may fail the test")]

mod support;

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_embree_sys::*;
use support::rounded;

const NEVER: f32 = f32::NEG_INFINITY;

/// All lanes of a packet, aligned as packets are.
#[repr(align(64))]
struct F32x8<const N: usize>([i32; N]);

/// A device, and scenes that are released with it.
struct TestScene {
    device: RTCDevice,
    scenes: Vec<RTCScene>,
}

impl TestScene {
    fn new() -> Self {
        // SAFETY: null asks for the defaults.
        let device = unsafe { rtcNewDevice(ptr::null()) };
        assert!(!device.is_null());
        Self { device, scenes: Vec::new() }
    }

    fn scene(&mut self, flags: RTCSceneFlags, geometries: &[RTCGeometry]) -> RTCScene {
        // SAFETY: the device is live; each geometry's reference passes to the scene.
        let scene = unsafe {
            let scene = rtcNewScene(self.device);
            rtcSetSceneFlags(scene, flags);
            for &geometry in geometries {
                rtcCommitGeometry(geometry);
                rtcAttachGeometry(scene, geometry);
                rtcReleaseGeometry(geometry);
            }
            rtcCommitScene(scene);
            scene
        };
        self.scenes.push(scene);
        self.assert_no_error();
        scene
    }

    /// Triangles with the right angle at (0, 0, z) and legs of length 1 along x and y.
    fn triangles(&self, heights: &[f32]) -> RTCGeometry {
        let corners = |&z: &f32| [0.0, 0.0, z, 1.0, 0.0, z, 0.0, 1.0, z];
        let vertices: Vec<f32> = heights.iter().flat_map(corners).collect();
        let indices: Vec<u32> = (0..3 * heights.len() as u32).collect();
        // SAFETY: the device is live, and the buffers are as long as their contents.
        unsafe {
            let geometry = rtcNewGeometry(self.device, RTCGeometryType::TRIANGLE);
            let vertex = RTCBufferType::VERTEX;
            let buffer =
                rtcSetNewGeometryBuffer(geometry, vertex, 0, RTCFormat::FLOAT3, 12, vertices.len() / 3);
            buffer.cast::<f32>().copy_from_nonoverlapping(vertices.as_ptr(), vertices.len());
            let index = RTCBufferType::INDEX;
            let buffer = rtcSetNewGeometryBuffer(geometry, index, 0, RTCFormat::UINT3, 12, heights.len());
            buffer.cast::<u32>().copy_from_nonoverlapping(indices.as_ptr(), indices.len());
            geometry
        }
    }

    /// A scene shown `offset` further along x.
    fn instance(&self, scene: RTCScene, offset: f32) -> RTCGeometry {
        let transform: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, offset, 0.0, 0.0];
        // SAFETY: both handles are live, the matrix is of the format's size.
        unsafe {
            let geometry = rtcNewGeometry(self.device, RTCGeometryType::INSTANCE);
            rtcSetGeometryInstancedScene(geometry, scene);
            let format = RTCFormat::FLOAT3X4_COLUMN_MAJOR;
            rtcSetGeometryTransform(geometry, 0, format, transform.as_ptr().cast());
            geometry
        }
    }

    fn assert_no_error(&self) {
        // SAFETY: the device is live.
        assert_eq!(unsafe { rtcGetDeviceError(self.device) }, RTCError::NONE);
    }
}

impl Drop for TestScene {
    fn drop(&mut self) {
        // SAFETY: made by this world, released once, scenes before their device.
        unsafe {
            self.scenes.iter().for_each(|&scene| rtcReleaseScene(scene));
            rtcReleaseDevice(self.device);
        }
    }
}

/// A ray along z from z = -1.
fn ray_at(x: f32, y: f32) -> RTCRay {
    RTCRay { org_x: x, org_y: y, org_z: -1.0, dir_z: 1.0, ..RTCRay::default() }
}

fn closest(scene: RTCScene, ray: RTCRay, arguments: &mut RTCIntersectArguments) -> RTCRayHit {
    let mut rayhit = RTCRayHit { ray, ..RTCRayHit::default() };
    // SAFETY: the scene is committed.
    unsafe { rtcIntersect1(scene, &raw mut rayhit, arguments) };
    rayhit
}

fn distance(scene: RTCScene, ray: RTCRay) -> f32 {
    closest(scene, ray, &mut RTCIntersectArguments::default()).ray.tfar
}

fn is_occluded(scene: RTCScene, mut ray: RTCRay) -> bool {
    // SAFETY: the scene is committed, null asks for the defaults.
    unsafe { rtcOccluded1(scene, &raw mut ray, ptr::null_mut()) };
    ray.tfar == NEVER
}

#[test]
fn the_loaded_library_tells_its_path_and_release() {
    if !support::embree_is_here() {
        return;
    }
    let loaded = loaded().expect("loaded above");
    assert_eq!(loaded.version.major, 4);
    assert!(loaded.path.to_string_lossy().contains("embree4"), "{}", loaded.path.display());
    let elsewhere = load(Some("/no/such/library".as_ref())).expect("the first success holds");
    assert_eq!(elsewhere, loaded);
    let world = TestScene::new();
    // SAFETY: the device is live.
    let number = unsafe { rtcGetDeviceProperty(world.device, RTCDeviceProperty::VERSION) };
    let version = loaded.version;
    assert_eq!(number, (version.major * 10_000 + version.minor * 100 + version.patch) as isize);
}

#[test]
fn the_nearest_of_three_triangles_is_hit_first() {
    if !support::embree_is_here() {
        return;
    }
    let mut world = TestScene::new();
    let mesh = world.triangles(&[4.0, 1.0, 2.0]);
    let scene = world.scene(RTCSceneFlags::ROBUST, &[mesh]);
    let found = closest(scene, ray_at(0.25, 0.5), &mut RTCIntersectArguments::default());
    assert_eq!((found.hit.geomID, found.hit.primID, rounded(found.ray.tfar)), (0, 1, 2.0));
    assert_eq!((rounded(found.hit.u), rounded(found.hit.v)), (0.25, 0.5));
    assert_eq!(distance(scene, ray_at(0.75, 0.75)), f32::INFINITY);
    world.assert_no_error();
}

#[test]
fn occlusion_looks_between_the_rays_ends_only() {
    if !support::embree_is_here() {
        return;
    }
    let mut world = TestScene::new();
    let mesh = world.triangles(&[1.0]);
    let scene = world.scene(RTCSceneFlags::NONE, &[mesh]);
    let ray = ray_at(0.25, 0.25);
    assert!(is_occluded(scene, ray));
    assert!(!is_occluded(scene, RTCRay { tfar: 1.5, ..ray }));
    assert!(!is_occluded(scene, RTCRay { tnear: 2.5, ..ray }));
    assert!(!is_occluded(scene, ray_at(0.75, 0.75)));
}

#[test]
fn a_packet_finds_what_single_rays_find() {
    if !support::embree_is_here() {
        return;
    }
    a_packet_of_finds::<8>(rtcIntersect8, rtcOccluded8);
    a_packet_of_finds::<16>(rtcIntersect16, rtcOccluded16);
}

/// Asks about a packet of closest hits.
type Closest<const N: usize> =
    unsafe fn(*const i32, RTCScene, *mut RTCRayHitNt<N>, *mut RTCIntersectArguments);

/// Asks about a packet of shadow rays.
type Any<const N: usize> = unsafe fn(*const i32, RTCScene, *mut RTCRayNt<N>, *mut RTCOccludedArguments);

/// The last ray of the packet is inactive. Rays keep clear of edges, where processors round differently.
fn a_packet_of_finds<const N: usize>(packet_closest: Closest<N>, packet_any: Any<N>) {
    let mut world = TestScene::new();
    let mesh = world.triangles(&[3.0, 1.0]);
    let inner = world.scene(RTCSceneFlags::ROBUST, &[mesh]);
    let instances = [world.instance(inner, 0.0), world.instance(inner, 2.0)];
    let scene = world.scene(RTCSceneFlags::ROBUST, &instances);
    let rays: [RTCRay; N] = std::array::from_fn(|lane| ray_at(0.375 * lane as f32 + 0.0625, 0.25));
    let mut packet = RTCRayHitNt::<N>::default();
    for (lane, ray) in rays.iter().enumerate() {
        packet.ray.org_x[lane] = ray.org_x;
        packet.ray.org_y[lane] = ray.org_y;
        packet.ray.org_z[lane] = ray.org_z;
        packet.ray.dir_z[lane] = ray.dir_z;
    }
    let mut shadow = packet.ray;
    let valid = F32x8::<N>(std::array::from_fn(|lane| if lane + 1 < N { -1 } else { 0 }));
    // SAFETY: the scene is committed, the lanes aligned, null asks for the defaults.
    unsafe {
        packet_closest(valid.0.as_ptr(), scene, &raw mut packet, ptr::null_mut());
        packet_any(valid.0.as_ptr(), scene, &raw mut shadow, ptr::null_mut());
    }
    let hits = (0..N - 1).filter(|&lane| {
        let single = closest(scene, rays[lane], &mut RTCIntersectArguments::default());
        assert_eq!(packet.ray.tfar[lane], single.ray.tfar, "lane {lane}");
        assert_eq!(packet.hit.primID[lane], single.hit.primID, "lane {lane}");
        assert_eq!(packet.hit.geomID[lane], single.hit.geomID, "lane {lane}");
        assert_eq!(packet.hit.instID[0][lane], single.hit.instID[0], "lane {lane}");
        assert_eq!((packet.hit.u[lane], packet.hit.v[lane]), (single.hit.u, single.hit.v), "lane {lane}");
        let hit = single.hit.geomID != RTC_INVALID_GEOMETRY_ID;
        assert_eq!(shadow.tfar[lane] == NEVER, hit, "lane {lane}");
        hit
    });
    let expected: Vec<usize> = [0, 1, 6, 7].into_iter().filter(|&lane| lane + 1 < N).collect();
    assert_eq!(hits.collect::<Vec<_>>(), expected);
    assert_eq!(packet.hit.instID[0][6], 1);
    assert_eq!((packet.ray.tfar[N - 1], packet.hit.geomID[N - 1]), (f32::INFINITY, RTC_INVALID_GEOMETRY_ID));
    world.assert_no_error();
}

#[test]
fn a_ray_skips_geometries_that_its_mask_excludes() {
    if !support::embree_is_here() {
        return;
    }
    let mut world = TestScene::new();
    let (near, far) = (world.triangles(&[1.0]), world.triangles(&[2.0]));
    // SAFETY: the geometry is live.
    unsafe { rtcSetGeometryMask(near, 0b01) };
    // SAFETY: the geometry is live.
    unsafe { rtcSetGeometryMask(far, 0b10) };
    let scene = world.scene(RTCSceneFlags::NONE, &[near, far]);
    assert_eq!(rounded(distance(scene, ray_at(0.25, 0.25))), 2.0);
    assert_eq!(rounded(distance(scene, RTCRay { mask: 0b10, ..ray_at(0.25, 0.25) })), 3.0);
}

/// Refuses candidates whose primitive is the number behind the user pointer.
unsafe extern "C" fn refuse_one_primitive(arguments: *const RTCFilterFunctionNArguments) {
    // SAFETY: Embree passes valid arguments; the words of `valid` and `hit` are `N` each, the sixth
    // array of hits being the primitives; the user pointer is the test's.
    unsafe {
        let arguments = &*arguments;
        let refused = *arguments.geometryUserPtr.cast::<u32>();
        let lanes = arguments.N as usize;
        for lane in 0..lanes {
            let primitive = *arguments.hit.cast::<u32>().add(5 * lanes + lane);
            if *arguments.valid.add(lane) == -1 && primitive == refused {
                *arguments.valid.add(lane) = 0;
            }
        }
    }
}

#[test]
fn a_geometrys_filter_refuses_hits_of_both_kinds_of_query() {
    if !support::embree_is_here() {
        return;
    }
    let mut world = TestScene::new();
    let mut refused = 0_u32;
    let mesh = world.triangles(&[1.0, 2.0]);
    // SAFETY: the geometry is live, and `refused` outlives the scene.
    unsafe {
        rtcSetGeometryUserData(mesh, (&raw mut refused).cast());
        rtcSetGeometryIntersectFilterFunction(mesh, Some(refuse_one_primitive));
        rtcSetGeometryOccludedFilterFunction(mesh, Some(refuse_one_primitive));
    }
    let scene = world.scene(RTCSceneFlags::NONE, &[mesh]);
    let ray = ray_at(0.25, 0.25);
    let found = closest(scene, ray, &mut RTCIntersectArguments::default());
    assert_eq!((found.hit.primID, rounded(found.ray.tfar)), (1, 3.0));
    assert!(!is_occluded(scene, RTCRay { tfar: 2.5, ..ray }));
    assert!(is_occluded(scene, ray));
}

/// The query's context with room for what a callback needs.
#[repr(C)]
struct CountingContext {
    embree: RTCRayQueryContext,
    calls: AtomicUsize,
}

/// Counts candidates and accepts them.
unsafe extern "C" fn count_candidates(arguments: *const RTCFilterFunctionNArguments) {
    // SAFETY: the test passes a `CountingContext`, which begins with Embree's.
    let context = unsafe { &*(*arguments).context.cast::<CountingContext>() };
    context.calls.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_querys_own_filter_sees_the_callers_context() {
    if !support::embree_is_here() {
        return;
    }
    let mut world = TestScene::new();
    let mesh = world.triangles(&[1.0]);
    let scene = world.scene(RTCSceneFlags::FILTER_FUNCTION_IN_ARGUMENTS, &[mesh]);
    let mut context = CountingContext { embree: RTCRayQueryContext::default(), calls: AtomicUsize::new(0) };
    let mut arguments = RTCIntersectArguments {
        flags: RTCRayQueryFlags::INVOKE_ARGUMENT_FILTER,
        context: (&raw mut context).cast(),
        filter: Some(count_candidates),
        ..RTCIntersectArguments::default()
    };
    assert_eq!(rounded(closest(scene, ray_at(0.25, 0.25), &mut arguments).ray.tfar), 2.0);
    assert_eq!(closest(scene, ray_at(0.75, 0.75), &mut arguments).ray.tfar, f32::INFINITY);
    assert_eq!(context.calls.load(Ordering::Relaxed), 1);
}

/// Keeps every error a device reports.
unsafe extern "C" fn keep_error(kept: *mut c_void, code: RTCError, message: *const c_char) {
    // SAFETY: the test passes its list; Embree passes a NUL-terminated message.
    let (kept, message) =
        unsafe { (&*kept.cast::<Mutex<Vec<(RTCError, String)>>>(), CStr::from_ptr(message)) };
    kept.lock().expect("no panic inside").push((code, message.to_string_lossy().into_owned()));
}

#[test]
fn an_error_reaches_both_the_callback_and_the_question() {
    if !support::embree_is_here() {
        return;
    }
    let kept: Mutex<Vec<(RTCError, String)>> = Mutex::new(Vec::new());
    let world = TestScene::new();
    // SAFETY: the device is live and outlived by the list; a null scene is the error wanted.
    unsafe {
        rtcSetDeviceErrorFunction(world.device, Some(keep_error), (&raw const kept).cast_mut().cast());
        let geometry = rtcNewGeometry(world.device, RTCGeometryType(9999));
        assert!(geometry.is_null());
        assert_ne!(rtcGetDeviceError(world.device), RTCError::NONE);
    }
    drop(world);
    let kept = kept.into_inner().expect("no panic inside");
    assert_eq!(kept.len(), 1);
    assert!(!kept[0].1.is_empty());
}

/// Adds up the bytes that a device allocates and releases.
unsafe extern "C" fn add_bytes(total: *mut c_void, bytes: isize, _post: bool) -> bool {
    // SAFETY: the test passes its counter.
    unsafe { &*total.cast::<std::sync::atomic::AtomicIsize>() }.fetch_add(bytes, Ordering::Relaxed);
    true
}

#[test]
fn the_memory_monitor_sees_a_scenes_bytes_come_and_go() {
    if !support::embree_is_here() {
        return;
    }
    let total = std::sync::atomic::AtomicIsize::new(0);
    let mut world = TestScene::new();
    // SAFETY: the device is live and outlived by the counter.
    unsafe {
        let pointer = (&raw const total).cast_mut().cast();
        rtcSetDeviceMemoryMonitorFunction(world.device, Some(add_bytes), pointer);
    }
    let mesh = world.triangles(&[1.0; 1000]);
    world.scene(RTCSceneFlags::NONE, &[mesh]);
    assert!(total.load(Ordering::Relaxed) > 1000 * 48);
    drop(world);
    assert_eq!(total.load(Ordering::Relaxed), 0);
}
