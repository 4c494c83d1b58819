//! Ray queries: traces given rays with the integrators' traversal alone.

use crate::Packed;
use crate::driver::arrays::Array;
use crate::driver::device::Device;
use crate::driver::launches::{Argument, SceneOnDevice, launch, plain};
use crate::signatures::{TRACE_ANY, TRACE_CLOSEST, TRACE_COHERENT};
use lockstep_core::Query;
use lockstep_core::error::{Error, Result};
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::vec3::dot;

/// Milliseconds of each pass.
pub(super) struct Elapsed {
    /// Device time.
    pub(super) ms: Vec<f64>,
    /// Processor time; empty where the device does not report it.
    pub(super) busy_ms: Vec<f64>,
}

/// Traces all rays `passes` times over. The first rays are traced once beforehand, since drivers may finish
/// compiling a kernel at its first launch.
pub(super) fn trace_rays<D: Device>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    rays: &[Ray],
    query: Query,
    passes: u32,
    hits: Option<&mut Vec<Hit>>,
) -> Result<Elapsed> {
    let count = u32::try_from(rays.len()).map_err(|_| Error::Contract {
        actor: device.info().target.to_string(),
        message: format!("{} rays are too many for one call; at most {} are possible", rays.len(), u32::MAX),
    })?;
    let given = GivenRays::new(device, rays, passes)?;
    let first = given.launch(device, scene, query, count.min(WARM_UP), passes)?;
    device.wait(&first)?;
    let mut took = Elapsed { ms: Vec::new(), busy_ms: Vec::new() };
    // Processor time is that of one pass only if no other runs meanwhile.
    let mut then = device.processor_time();
    let at_once = if then.is_some() { 1 } else { passes };
    for first in (0..passes).step_by(at_once.max(1) as usize) {
        let launches = (first..passes.min(first + at_once))
            .map(|pass| given.launch(device, scene, query, count, pass))
            .collect::<Result<Vec<_>>>()?;
        device.flush()?;
        for event in &launches {
            took.ms.push(device.wait(event)?.ms());
        }
        let now = device.processor_time();
        took.busy_ms.extend(now.zip(then).map(|(now, then)| (now - then).as_secs_f64() * 1e3));
        then = now;
    }
    if let Some(hits) = hits {
        *hits = given.download(device, rays, query)?;
    }
    Ok(took)
}

/// Number of rays of the untimed launch.
const WARM_UP: u32 = 1024;

/// Smallest cosine of the angle between neighbours among coherent rays.
const COHERENT: f32 = 0.99;

/// True if most rays start where the previous one does, in nearly the same direction, as camera rays do.
/// Neighbouring GPU lanes then visit the same nodes, and are faster in step.
fn are_coherent(rays: &[Ray]) -> bool {
    let alike = |a: &Ray, b: &Ray| {
        let lengths = (dot(a.direction, a.direction) * dot(b.direction, b.direction)).sqrt();
        a.origin == b.origin && dot(a.direction, b.direction) > COHERENT * lengths
    };
    let pairs = rays.windows(2).filter(|pair| alike(&pair[0], &pair[1])).count();
    2 * pairs > rays.len()
}

/// Rays and results on the device.
struct GivenRays<D: Device> {
    origins: Array<D>,
    directions: Array<D>,
    hits: Array<D>,
    /// Primitives of the hits, or for [`Query::Any`] whether the ray is occluded.
    words: Array<D>,
    /// Fetch counters of each pass, and one of the untimed launch.
    heads: Array<D>,
    are_coherent: bool,
}

impl<D: Device> GivenRays<D> {
    fn new(device: &mut D, rays: &[Ray], passes: u32) -> Result<Self> {
        let origins = rays.iter().map(|ray| Packed { v: ray.origin, w: ray.t_min.to_bits() });
        let directions = rays.iter().map(|ray| Packed { v: ray.direction, w: ray.t_max.to_bits() });
        Ok(Self {
            origins: uploaded(device, &origins.collect::<Vec<_>>(), "ray origins")?,
            directions: uploaded(device, &directions.collect::<Vec<_>>(), "ray directions")?,
            hits: Array::uninitialised::<Packed>(device, rays.len(), "hits")?,
            words: Array::uninitialised::<u32>(device, rays.len(), "hit primitives")?,
            heads: Array::zeroed::<u32>(device, passes as usize + 1, "ray counters")?,
            are_coherent: are_coherent(rays),
        })
    }

    /// Enqueues the first `count` rays. `head` is the index of the launch's fetch counter.
    fn launch(
        &self,
        device: &mut D,
        scene: &SceneOnDevice<D>,
        query: Query,
        count: u32,
        head: u32,
    ) -> Result<D::Event> {
        let rays = [plain(&count), Argument::Array(&self.origins), Argument::Array(&self.directions)];
        let [hits, words, heads] = [&self.hits, &self.words, &self.heads].map(Argument::Array);
        let (kernel, rest) = match query {
            Query::Closest => {
                let kernel = if self.are_coherent { &TRACE_COHERENT } else { &TRACE_CLOSEST };
                (kernel, vec![hits, words, plain(&head), heads])
            }
            Query::Any => (&TRACE_ANY, vec![words, plain(&head), heads]),
        };
        launch(device, kernel, count, &scene.with(rays.into_iter().chain(rest)))
    }

    fn download(&self, device: &mut D, rays: &[Ray], query: Query) -> Result<Vec<Hit>> {
        let words = self.words.download::<u32>(device, rays.len())?;
        if query == Query::Any {
            let answer = |(&occluded, ray): (&u32, &Ray)| {
                if occluded != 0 { Hit::OCCLUDED } else { Hit::none(ray.t_max) }
            };
            return Ok(words.iter().zip(rays).map(answer).collect());
        }
        let hits = self.hits.download::<Packed>(device, rays.len())?;
        let hit = |(packed, &primitive): (&Packed, &u32)| {
            let Packed { v, w } = *packed;
            Hit { t: v.x, u: v.y, v: v.z, instance: w, primitive }
        };
        Ok(hits.iter().zip(&words).map(hit).collect())
    }
}

fn uploaded<D: Device>(device: &mut D, records: &[Packed], what: &'static str) -> Result<Array<D>> {
    let array = Array::uninitialised::<Packed>(device, records.len(), what)?;
    array.upload(device, bytemuck::cast_slice(records))?;
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::geometry::FAR;
    use lockstep_core::math::vec3::vec3;

    /// Rays that turn by `spread` radians from one to the next, their origins `apart`.
    fn fan(spread: f32, apart: f32) -> Vec<Ray> {
        let ray = |i: u16| {
            let (sin, cos) = (f32::from(i) * spread).sin_cos();
            Ray {
                origin: vec3(f32::from(i) * apart, 0.0, 0.0),
                t_min: 0.0,
                direction: vec3(2.0 * sin, 0.0, 2.0 * cos),
                t_max: FAR,
            }
        };
        (0..100).map(ray).collect()
    }

    #[test]
    fn rays_of_a_camera_are_coherent_and_others_are_not() {
        assert!(are_coherent(&fan(0.01, 0.0)));
        assert!(!are_coherent(&fan(0.5, 0.0)), "directions differ");
        assert!(!are_coherent(&fan(0.01, 0.1)), "they begin elsewhere");
        assert!(!are_coherent(&[]));
    }
}
