//! Host side of the wavefront, shared by all GPU backends.
//!
//! A backend implements [`Device`] (memory, launches, events) and gets a whole [`lockstep_core::Renderer`] in
//! [`Wavefront`]. Launches are checked against the declarations in [`crate::signatures`], so a wrong argument
//! is an error, not a wrong image.
//!
//! # How a pass runs
//!
//! A pass is cut into [`batch`]es of paths that fit the path state. Each batch is one sequence of launches
//! (generate; extend, shade and connect for every bounce; resolve; tally) whose queue lengths stay on the
//! device. All batches are enqueued back to back; the host waits once, at the end, when it reads the totals.
//! Only a pass of very many batches waits earlier, for an event far behind the newest, so that the number of
//! events alive stays bounded while the device never runs dry.

mod arrays;
pub mod batch;
mod configs;
mod device;
mod fit;
mod launches;
mod path_state;
mod record_paths;
mod renderer;
mod timeline;
mod trace_rays;

pub use device::{Device, DeviceType, KernelArg, Limits, Timestamps};
pub use renderer::Wavefront;

#[cfg(test)]
mod tests;
