//! Ray queries without shading, for `Renderer::trace_rays`: all threads trace the caller's rays and do
//! nothing else.

use crate::intersector::Intersector;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::{Query, ray_query_key};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Rays of one task: small enough to balance the threads, large enough to amortise the start of a task.
const CHUNK: usize = 4096;

/// Duration of a pass over all rays.
pub(crate) struct Elapsed {
    /// Wall-clock time.
    pub(crate) wall: Duration,
    /// Processor time of all threads.
    pub(crate) busy: Duration,
}

/// Traces all rays once with the threads of the current rayon pool. `hits` has one entry per ray.
pub(crate) fn trace_rays<I: Intersector>(
    intersector: &I,
    rays: &[Ray],
    query: Query,
    hits: &mut [Hit],
) -> Elapsed {
    let (start, busy) = (Instant::now(), processor_time());
    rays.par_chunks(CHUNK).zip(hits.par_chunks_mut(CHUNK)).enumerate().for_each_init(
        I::Scratch::default,
        |scratch, (chunk, (rays, hits))| {
            let first = (chunk * CHUNK) as u32;
            let ray = |i: usize| (&rays[i], ray_query_key(query, first + i as u32));
            match query {
                Query::Closest => intersector.closest_hits(rays.len(), ray, scratch, |i, hit| hits[i] = hit),
                Query::Any => intersector.any_hits(rays.len(), ray, scratch, |i, occluded| {
                    hits[i] = if occluded { Hit::OCCLUDED } else { Hit::none(rays[i].t_max) };
                }),
            }
        },
    );
    Elapsed { wall: start.elapsed(), busy: processor_time().saturating_sub(busy) }
}

/// Processor time of this process so far.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
