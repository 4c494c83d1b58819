//! Displacement of meshes by maps: triangles are cut until the displaced surface lies within a bound of them.
//!
//! The displaced surface is the base surface, each point moved by the bilinear interpolation of the map along the unit
//! vector of the interpolated normal, along interpolated tangents, or along the mesh's axes. All arithmetic is in double
//! precision and of operations that give the same bits on all hosts, and so are the triangles.

#[cfg(feature = "direct-displacement")]
pub(crate) mod direct;
mod estimate;
mod finish;
mod map;
mod patch;
mod surface;
mod tolerance;
mod vector;

pub(crate) use map::Map;
pub(crate) use patch::Axes;

use crate::limits::Limits;
use crate::loaded::Notice;
use crate::warning::Warnings;
use finish::{Joints, finish};
use lockstep_core::scene::{Affine, SceneBuilder};
use lockstep_core::{Error, Result};
use patch::Field;
use rayon::prelude::*;
use surface::{STILL, Surface};
use tolerance::{Tolerance, View, ball};
use vector::Norm;

/// Cuts of a triangle of the file beyond which it is left as it is: points around which normals turn over have no bound.
const MOST_CUTS: u32 = 48;

/// Bytes that a triangle takes until the scene is rendered: its share of vertices, while it is made and in the scene, and
/// of a BVH. Measured: 200 to 270; README.md has the command.
const BYTES: u64 = 300;

/// Largest distance between a displaced surface and its triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// In units of the mesh.
    Distance(f32),
    /// A number of pixels of an image with `lines` rows, seen by the scene's camera.
    Pixels { pixels: f32, lines: u32 },
}

/// The displacement of a material's triangles.
#[derive(Clone, Debug)]
pub(crate) struct Displacement {
    /// The material's name, for messages.
    pub(crate) name: String,
    /// Indices of the material in the scene.
    pub(crate) materials: Vec<u32>,
    pub(crate) map: Map,
    pub(crate) axes: Axes,
    pub(crate) bound: Bound,
    pub(crate) max_triangles: u64,
}

/// A mesh whose triangles are to be displaced.
struct Job {
    mesh: u32,
    surface: Surface,
    /// The bound of each displacement on this mesh.
    tolerances: Vec<Tolerance>,
}

/// Displaces the triangles of all placed meshes.
///
/// # Errors
/// [`Error::Scene`] where more triangles than allowed are needed, or texture coordinates are out of range;
/// [`Error::Memory`] where the machine has too little.
pub(crate) fn apply(
    list: &[Displacement],
    builder: &mut SceneBuilder,
    limits: &Limits,
    notice: Option<Notice>,
    warnings: &mut Warnings,
) -> Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let jobs = jobs(list, builder, warnings)?;
    let before: Vec<u64> =
        (0..list.len()).map(|i| jobs.iter().map(|job| count(&job.surface, i)).sum()).collect();
    let (mut all, mut bytes_of_all) = (0u64, 0u64);
    for (i, one) in list.iter().enumerate() {
        if before[i] == 0 {
            warnings.add(place(one), "no triangle has this material, so nothing is displaced");
            continue;
        }
        let estimated = jobs
            .iter()
            .map(|job| estimate::triangles(&job.surface, i as u32, &job.field(one, i)))
            .sum::<f64>();
        let estimated = if estimated < 1e18 { estimated as u64 } else { u64::MAX };
        if estimated > most(one, limits) {
            return Err(beyond(one, limits, "about", estimated, warnings));
        }
        let bytes = estimated.saturating_mul(BYTES);
        if let Some(notice) = notice {
            notice(&format!(
                "{}: {}: displacement makes about {} triangles of {}, with their BVH about {:.2} GB",
                warnings.path(),
                place(one),
                counted(estimated),
                counted(before[i]),
                bytes as f64 * 1e-9
            ));
        }
        all = all.saturating_add(estimated);
        bytes_of_all = bytes_of_all.saturating_add(bytes);
    }
    let what = || format!("displacement into about {} triangles, fewer with a larger `error`,", counted(all));
    lockstep_core::memory::check(what, bytes_of_all)?;
    let mut joints = vec![Joints::default(); list.len()];
    let mut made = vec![0; list.len()];
    for mut job in jobs {
        let coarse = job.refine(list, limits, &mut made, warnings, |_| {})?;
        for (i, coarse) in coarse.into_iter().enumerate() {
            joints[i].coarse += coarse;
        }
        let fields = job.fields(list);
        let spheres = builder.meshes()[job.mesh as usize].spheres.clone();
        let mesh = finish(&job.surface, &fields, spheres, &mut joints);
        builder.replace_mesh(job.mesh, mesh);
    }
    for (i, one) in list.iter().enumerate() {
        joints[i].warn(&place(one), warnings);
        if let Some(notice) = notice.filter(|_| made[i] > 0) {
            notice(&format!("{}: {}: {} displaced triangles", warnings.path(), place(one), made[i]));
        }
    }
    Ok(())
}

/// The placed meshes with triangles that are displaced.
fn jobs(list: &[Displacement], builder: &SceneBuilder, warnings: &mut Warnings) -> Result<Vec<Job>> {
    let mut field_of = vec![STILL; builder.material_count()];
    for (i, one) in list.iter().enumerate() {
        for &material in &one.materials {
            if let Some(field) = field_of.get_mut(material as usize) {
                *field = i as u32;
            }
        }
    }
    let mut placements: Vec<Vec<Affine>> = vec![Vec::new(); builder.meshes().len()];
    for (mesh, map) in builder.instances() {
        if let Some(maps) = placements.get_mut(*mesh as usize) {
            maps.push(*map);
        }
    }
    let mut out = Vec::new();
    for (index, mesh) in builder.meshes().iter().enumerate().filter(|(i, _)| !placements[*i].is_empty()) {
        let material = |t: usize| mesh.materials.get(if mesh.materials.len() == 1 { 0 } else { t });
        let of = |t: usize| material(t).and_then(|&m| field_of.get(m as usize)).copied().unwrap_or(STILL);
        let fields: Vec<u32> = (0..mesh.triangles.len()).map(of).collect();
        for sphere in &mesh.spheres {
            if let Some(one) = field_of.get(sphere.material as usize).and_then(|&f| list.get(f as usize)) {
                warnings.add(place(one), "spheres have no triangles to displace; they stay as they are");
            }
        }
        // The builder refuses indices out of range and values that are not finite.
        let valid = mesh.triangles.iter().flatten().all(|&v| (v as usize) < mesh.positions.len())
            && mesh.positions.iter().flatten().all(|v| v.is_finite());
        if !valid || fields.iter().all(|&field| field == STILL) {
            continue;
        }
        let used: Vec<&Displacement> = fields.iter().filter_map(|&f| list.get(f as usize)).collect();
        let with_frames = used.iter().any(|one| one.axes == Axes::Tangent);
        let surface = Surface::new(mesh, &fields, with_frames, warnings);
        check_coordinates(&surface, list, warnings)?;
        if surface.cancelled > 0 {
            let message =
                format!("normals cancel out at {} positions, which stay where they are", surface.cancelled);
            warnings.add("displacement", message);
        }
        let tolerances = list
            .iter()
            .map(|one| match one.bound {
                Bound::Distance(distance) => Tolerance::Everywhere(f64::from(distance)),
                Bound::Pixels { pixels, lines } => {
                    let furthest = one.map.range().map(|[low, high]| low.abs().max(high.abs()));
                    let reach = ball(&mesh.positions, Norm::Sum.of(furthest));
                    Tolerance::seen(View::new(&builder.camera, pixels, lines), &placements[index], reach)
                }
            })
            .collect();
        out.push(Job { mesh: index as u32, surface, tolerances });
    }
    Ok(out)
}

/// Refuses texture coordinates that are out of range, and warns where a map is shown at one point only.
fn check_coordinates(surface: &Surface, list: &[Displacement], warnings: &mut Warnings) -> Result<()> {
    let mut first: Vec<Option<[f64; 2]>> = vec![None; list.len()];
    let mut differ = vec![false; list.len()];
    for face in surface.faces.iter().filter(|face| face.field != STILL) {
        let field = face.field as usize;
        for node in face.nodes {
            let uv = surface.nodes[node as usize].uv;
            if list[field].map.is_beyond(uv) {
                let message = format!(
                    "texture coordinates {uv:?} are out of range; at most 2^30 texels are told apart"
                );
                return Err(warnings.error(place(&list[field]), message));
            }
            differ[field] |= *first[field].get_or_insert(uv) != uv;
        }
    }
    for (field, one) in list.iter().enumerate() {
        if first[field].is_some() && !differ[field] {
            let message = "its triangles have no texture coordinates; the map is taken at one point";
            warnings.add(place(one), message);
        }
    }
    Ok(())
}

impl Job {
    fn field<'a>(&'a self, one: &'a Displacement, i: usize) -> Field<'a> {
        Field { map: &one.map, axes: one.axes, tolerance: &self.tolerances[i] }
    }

    fn fields<'a>(&'a self, list: &'a [Displacement]) -> Vec<Field<'a>> {
        list.iter().enumerate().map(|(i, one)| self.field(one, i)).collect()
    }

    /// Cuts triangles until all keep their bound. Returns how many of each displacement do not, as many times as they
    /// were cut. `made` counts the triangles of each over all meshes. `on_cut` is told the number of each triangle that
    /// is cut, in order: the first half keeps it, the second takes the next free one.
    fn refine(
        &mut self,
        list: &[Displacement],
        limits: &Limits,
        made: &mut [u64],
        warnings: &Warnings,
        mut on_cut: impl FnMut(u32),
    ) -> Result<Vec<usize>> {
        for face in self.surface.faces.iter().filter(|face| face.field != STILL) {
            made[face.field as usize] += 1;
        }
        let mut coarse = vec![0; list.len()];
        let mut active: Vec<u32> = (0..self.surface.faces.len() as u32).collect();
        while !active.is_empty() {
            let (fields, surface) = (self.fields(list), &self.surface);
            let exceeds = |&&f: &&u32| {
                let field = surface.faces[f as usize].field;
                field != STILL && fields[field as usize].exceeds(&surface.corners(f))
            };
            let flagged: Vec<u32> = active.par_iter().filter(exceeds).copied().collect();
            let depths: Vec<u32> = flagged.iter().map(|&f| surface.faces[f as usize].depth).collect();
            active.clear();
            for (f, depth) in flagged.into_iter().zip(depths) {
                let face = self.surface.faces[f as usize];
                if face.depth >= MOST_CUTS {
                    coarse[face.field as usize] += 1;
                } else if face.depth == depth {
                    let first = active.len();
                    self.surface.cut(f, &mut active);
                    // Of the two halves of each triangle, one is new.
                    for pair in active[first..].chunks_exact(2) {
                        on_cut(pair[0]);
                        let field = self.surface.faces[pair[1] as usize].field as usize;
                        if let (Some(count), Some(one)) = (made.get_mut(field), list.get(field)) {
                            *count += 1;
                            if *count > most(one, limits) {
                                return Err(beyond(one, limits, "more than", most(one, limits), warnings));
                            }
                        }
                    }
                }
            }
            active.sort_unstable();
            active.dedup();
        }
        Ok(coarse)
    }
}

/// Number of a surface's triangles that a displacement moves.
fn count(surface: &Surface, field: usize) -> u64 {
    surface.faces.iter().filter(|face| face.field as usize == field).count() as u64
}

fn place(one: &Displacement) -> String {
    format!("material `{}`", one.name)
}

/// The most triangles that a displacement may make.
fn most(one: &Displacement, limits: &Limits) -> u64 {
    one.max_triangles.min(limits.triangles)
}

/// A number in thousands or millions where it is large.
fn counted(n: u64) -> String {
    match n {
        0..10_000 => format!("{n}"),
        10_000..1_000_000 => format!("{:.0} thousand", n as f64 * 1e-3),
        _ => format!("{:.1} million", n as f64 * 1e-6),
    }
}

fn beyond(one: &Displacement, limits: &Limits, how: &str, needed: u64, warnings: &Warnings) -> Error {
    let most = most(one, limits);
    let gigabytes = |n: u64| n as f64 * BYTES as f64 * 1e-9;
    let message = format!(
        "displacement needs {how} {} triangles ({:.2} GB with their BVH), and {} ({:.2} GB) are allowed. Allow a larger \
         `error`, raise `max_triangles`, or take a smaller map",
        counted(needed),
        gigabytes(needed),
        counted(most),
        gigabytes(most)
    );
    warnings.error(place(one), message)
}

#[cfg(test)]
mod tests;
