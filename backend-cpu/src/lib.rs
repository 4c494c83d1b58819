//! Lockstep's CPU backend: the built-in BVH (`cpu-bvh`) and Embree 4 (`cpu-embree`).
//!
//! Both targets run the reference integrators of `lockstep-transport`; they differ only in the intersector.

mod bvh;
mod device;
pub mod embree;
mod intersector;
mod pair_renderer;
mod photon_map;
mod renderer;
mod splat_film;
mod tally;
mod technique_films;
mod tile_renderer;
mod tiling;
mod trace_rays;

use bvh::BuiltIn;
use lockstep_bvh::BvhCache;
use lockstep_core::math::canary;
use lockstep_core::{Backend, Error, Integrator, OpenOptions, Renderer, Result, TargetStatus};
use renderer::CpuRenderer;
pub use technique_films::{TechniqueFilm, sum_of_weighted, technique_films};

/// Name of the target that runs the built-in BVH.
pub const BVH_TARGET: &str = "cpu-bvh";

/// Name of the target that runs Embree 4; it is present where Embree's library is found.
pub const EMBREE_TARGET: &str = embree::TARGET;

/// The CPU backend, with targets [`BVH_TARGET`] and [`EMBREE_TARGET`].
#[derive(Debug)]
pub struct Cpu;

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn integrators(&self) -> &'static [Integrator] {
        &Integrator::ALL
    }

    fn targets(&self) -> Vec<TargetStatus> {
        let threads = device::hardware_threads();
        let built_in = device::describe(BVH_TARGET, threads, BUILT_IN_DRIVER.into(), true);
        vec![TargetStatus { name: BVH_TARGET.into(), state: Ok(built_in) }, embree::target::status(threads)]
    }

    fn open(&self, target: &str, options: &OpenOptions) -> Result<Box<dyn Renderer>> {
        let threads = device::threads(options);
        match target {
            BVH_TARGET => {
                canary::check_host(target)?;
                let info = device::describe(target, threads, BUILT_IN_DRIVER.into(), true);
                Ok(Box::new(CpuRenderer::<BuiltIn>::new(info, BvhCache::new(options.bvh_cache.clone()))?))
            }
            EMBREE_TARGET => embree::target::open(threads),
            _ => Err(Error::Unavailable {
                what: format!("the CPU backend has no target `{target}`"),
                remedy: "`lockstep devices` lists all targets.".into(),
            }),
        }
    }
}

/// Embree called from a plain loop: a baseline for benchmarks that answers ray queries and does not render.
///
/// It is a backend of its own, so that the list of [`Cpu`]'s targets does not contain it.
#[derive(Debug)]
pub struct PlainEmbree;

impl Backend for PlainEmbree {
    fn name(&self) -> &'static str {
        embree::PLAIN_TARGET
    }

    fn targets(&self) -> Vec<TargetStatus> {
        vec![embree::target::plain_status(device::hardware_threads())]
    }

    fn open(&self, _: &str, options: &OpenOptions) -> Result<Box<dyn Renderer>> {
        embree::target::open_plain(device::threads(options))
    }
}

/// The driver field of [`BVH_TARGET`]: the intersector and its version.
const BUILT_IN_DRIVER: &str = concat!("built-in BVH8 ", env!("CARGO_PKG_VERSION"));
