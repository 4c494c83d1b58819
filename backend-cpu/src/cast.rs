//! GivenArgument rays, traced by all threads and by nothing else.

use crate::intersector::Intersector;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::{Query, ray_query_key};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Rays of one task: few enough to balance the threads, enough that starting a task costs nothing beside it.
const CHUNK: usize = 4096;

/// How long a pass took.
pub(crate) struct Took {
    /// By the clock.
    pub(crate) wall: Duration,
    /// Processor time of all threads.
    pub(crate) busy: Duration,
}

/// Traces all rays once with the threads of the current rayon pool, into `hits`, of which there are as many.
pub(crate) fn cast<I: Intersector>(intersector: &I, rays: &[Ray], query: Query, hits: &mut [Hit]) -> Took {
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
    Took { wall: start.elapsed(), busy: processor_time().saturating_sub(busy) }
}

/// Processor time of this process so far.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
