//! A scene as Embree holds it, and the way back from Embree's numbers.
//!
//! Every mesh is an Embree scene of its own that the top-level scene instances, under the instance's number. A mesh
//! that is placed once and untransformed needs no instance: its geometries belong to the top-level scene, which saves
//! rays a level.

use super::device::Device;
use super::geometry::{Asks, Part, add_parts};
use super::handles::{GeometryHandle, SceneHandle};
use embree4_sys::{
    RTC_INVALID_GEOMETRY_ID, RTCFormat, RTCGeometryType, RTCHit, RTCSceneFlags, rtcSetGeometryInstancedScene,
    rtcSetGeometryTransform,
};
use lockstep_bvh::instance_boxes;
use lockstep_core::Result;
use lockstep_core::geometry::{Hit, coordinate_scale};
use lockstep_core::math::vec3::{Vec3, max_abs_component};
use lockstep_core::scene::{Instance, NONE, Scene};

/// Everything that rays are traced in. Fields are dropped in order, the device last.
pub(super) struct World {
    /// The top-level scene.
    pub(super) top: SceneHandle,
    /// The scene of every mesh that is instanced; they live as long as the instances.
    _instanced: Vec<SceneHandle>,
    /// The parts of all meshes. Geometries point at them, so they stay where they are.
    parts: Box<[Part]>,
    /// Where those of every mesh begin, and the end.
    first_part: Vec<u32>,
    /// In the top-level scene the numbers below this are instances, and parts follow.
    first_direct: u32,
    /// Whether any triangle has partial coverage.
    pub(super) has_partial: bool,
    /// Whether there are spheres.
    pub(super) has_spheres: bool,
    /// Whether any mesh is placed by a map.
    pub(super) is_placed: bool,
    /// Whether there are so few triangles that rays which go the same way visit the same nodes.
    pub(super) is_small: bool,
    /// The scene that this is.
    pub(super) scene: Scene,
    /// World boxes of the instances.
    pub(super) boxes: Vec<[Vec3; 2]>,
    /// What all of it was made with.
    pub(super) device: Device,
}

/// A primitive that Embree finds, with Embree's numbers.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// Distance.
    pub(super) t: f32,
    /// Barycentric coordinates.
    pub(super) u: f32,
    pub(super) v: f32,
    /// Instance.
    pub(super) instance: u32,
    /// The geometry.
    pub(super) part: &'a Part,
    /// The primitive's number within it.
    pub(super) number: u32,
}

impl Candidate<'_> {
    /// Asks for what judging it will read.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        self.part.prefetch(self.number);
    }

    /// As a hit.
    #[inline(always)]
    pub(super) fn hit(&self) -> Hit {
        let Self { t, u, v, instance, part, number } = *self;
        Hit { t, u, v, instance, primitive: part.primitive(number) }
    }
}

/// The most triangles of a small world. In rooms of boxes, where rays go everywhere, finding closest hits by octant takes
/// 0.78 of the time with 48 triangles, 0.97 with 72 and 96, 0.9 to 1.05 with 144 to 384 and 1.2 with 768.
const SMALL: usize = 64;

/// How a world is made.
#[derive(Clone, Copy)]
pub(super) struct Making {
    /// Of all of Embree's scenes.
    pub(super) flags: RTCSceneFlags,
    /// What Embree asks about triangles with partial coverage.
    pub(super) partial_asks: Asks,
    /// By what share of their mesh's [`reach`] triangles grow on all sides.
    pub(super) growth: f32,
    /// Whether triangles are marked that others lie on.
    pub(super) marks_coincident: bool,
}

impl World {
    /// Copies a scene's geometry to Embree and builds its trees with this many threads.
    ///
    /// # Errors
    /// [`lockstep_core::Error::Device`] with Embree's reason.
    pub(super) fn build(scene: &Scene, threads: usize, making: Making) -> Result<Self> {
        let Making { flags, partial_asks, .. } = making;
        let device = Device::new(threads)?;
        let mut top = SceneHandle::new(&device, flags)?;
        let boxes = instance_boxes(scene);
        let farthest = farthest_start(scene, &boxes);
        let placements = placements(scene);
        let (mut parts, mut first_part) = (Vec::new(), Vec::new());
        for (mesh, placements) in (0u32..).zip(&placements) {
            let overlap = making.growth * reach(scene, placements, farthest);
            first_part.push(parts.len() as u32);
            add_parts(&mut parts, &device, scene, [mesh, lone(scene, placements)], making, overlap)?;
        }
        first_part.push(parts.len() as u32);
        let parts = parts.into_boxed_slice();
        parts.iter().for_each(Part::register);
        device.check("adding geometry")?;

        let first_direct = scene.instances.len() as u32;
        let mut instanced = Vec::new();
        for (mesh, placements) in placements.into_iter().enumerate() {
            let (first, end) = (first_part[mesh], first_part[mesh + 1]);
            let numbered = (first..).zip(&parts[first as usize..end as usize]);
            if lone(scene, &placements) != NONE {
                numbered.for_each(|(number, part)| top.attach(part.raw(), first_direct + number));
                continue;
            }
            let mut inner = SceneHandle::new(&device, flags)?;
            numbered.for_each(|(number, part)| inner.attach(part.raw(), number - first));
            inner.commit();
            device.check(&format!("building the tree of mesh {mesh}"))?;
            for instance in placements {
                place(&device, &mut top, &inner, instance, &scene.instances[instance as usize])?;
            }
            instanced.push(inner);
        }
        top.commit();
        device.check("building the top-level tree")?;
        let any = |asks| parts.iter().any(|part| part.asks == asks);
        Ok(Self {
            has_partial: any(partial_asks),
            has_spheres: any(Asks::Spheres),
            is_placed: !instanced.is_empty(),
            is_small: instanced.is_empty() && scene.triangles.len() <= SMALL,
            top,
            _instanced: instanced,
            parts,
            first_part,
            first_direct,
            scene: scene.clone(),
            boxes,
            device,
        })
    }

    /// What Embree has found at a distance.
    #[inline(always)]
    pub(super) fn name(&self, t: f32, hit: &RTCHit) -> Option<Candidate<'_>> {
        (hit.geomID != RTC_INVALID_GEOMETRY_ID).then(|| self.look_up(t, hit))
    }

    /// The same without asking whether anything is found, in a world that is not empty: if not, some primitive.
    #[inline(always)]
    pub(super) fn look_up(&self, t: f32, hit: &RTCHit) -> Candidate<'_> {
        let (u, v, placed) = (hit.u, hit.v, hit.instID[0]);
        let number = if hit.geomID == RTC_INVALID_GEOMETRY_ID { 0 } else { hit.primID };
        if placed == RTC_INVALID_GEOMETRY_ID {
            let last = self.parts.len() - 1;
            let part = &self.parts[(hit.geomID.wrapping_sub(self.first_direct) as usize).min(last)];
            return Candidate { t, u, v, instance: part.instance, part, number };
        }
        let mesh = self.scene.instances[placed as usize].mesh;
        let part = &self.parts[(self.first_part[mesh as usize] + hit.geomID) as usize];
        Candidate { t, u, v, instance: placed, part, number }
    }

    /// What stands where nothing is proposed yet, some primitive; `None` in a world that is empty.
    pub(super) fn placeholder(&self) -> Option<Candidate<'_>> {
        let part = self.parts.first()?;
        Some(Candidate { t: 0.0, u: 0.0, v: 0.0, instance: part.instance, part, number: 0 })
    }
}

/// The instances of every mesh.
fn placements(scene: &Scene) -> Vec<Vec<u32>> {
    let mut placements = vec![Vec::new(); scene.meshes.len()];
    for (number, instance) in scene.instances.iter().enumerate() {
        placements[instance.mesh as usize].push(number as u32);
    }
    placements
}

/// The one instance of a mesh that belongs to the world itself, else [`NONE`].
fn lone(scene: &Scene, placements: &[u32]) -> u32 {
    match placements {
        [only] if scene.instances[*only as usize].flags & Instance::IDENTITY != 0 => *only,
        _ => NONE,
    }
}

/// The largest coordinate at which rays start that come from the camera or from a surface.
fn farthest_start(scene: &Scene, boxes: &[[Vec3; 2]]) -> f32 {
    let of_surfaces = boxes.iter().map(|&[lo, hi]| coordinate_scale(lo, hi)).filter(|c| c.is_finite());
    of_surfaces.fold(max_abs_component(scene.camera.eye) + scene.camera.lens_radius, f32::max)
}

/// The largest number from which rounding arises where Embree takes such rays to the space of a mesh and finds which side
/// of an edge they pass.
fn reach(scene: &Scene, placements: &[u32], farthest: f32) -> f32 {
    let of_instance = |&instance: &u32| {
        let map = &scene.instances[instance as usize].world_to_object;
        let row = |r: &[f32; 4]| (r[0].abs() + r[1].abs() + r[2].abs()) * farthest + r[3].abs();
        map.iter().map(row).fold(0.0, f32::max)
    };
    placements.iter().map(of_instance).fold(0.0, f32::max)
}

/// Adds an instance of a committed scene to the top-level scene.
fn place(
    device: &Device,
    top: &mut SceneHandle,
    inner: &SceneHandle,
    number: u32,
    instance: &Instance,
) -> Result<()> {
    let geometry = GeometryHandle::new(device, RTCGeometryType::INSTANCE)?;
    let map = (&raw const instance.object_to_world).cast();
    // SAFETY: the geometry and the scene are live, and the map is three rows of four floats, which Embree copies.
    unsafe {
        rtcSetGeometryInstancedScene(geometry.raw(), inner.raw());
        rtcSetGeometryTransform(geometry.raw(), 0, RTCFormat::FLOAT3X4_ROW_MAJOR, map);
    }
    geometry.commit();
    top.attach(geometry.raw(), number);
    device.check(&format!("placing instance {number}"))
}
