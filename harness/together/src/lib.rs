//! Several devices on one image, exact and fault-proof.
//!
//! A sample index determines what it adds to the film, and films are sums of integers. So any device may render
//! any samples: shares add up to the film of one device, bit by bit; a share that was rendered twice is added
//! once; a share that was lost is rendered again.
//!
//! * [`SampleSet`]: which samples a film holds. [`PartialFilm`]: a film of some of them, its file format, exact
//!   addition.
//! * [`Scheduler`]: which worker renders which samples next. Pure: it neither waits nor measures.
//! * [`serve`]: a worker process; [`Together`]: the coordinator, a [`lockstep_core::Renderer`] like any other.
//!
//! A worker is a process, since a device error such as CUDA's illegal address poisons the process it occurs in.

mod checkpoint;
mod film_file;
mod film_sender;
mod identity;
mod merger;
mod partial_film;
mod pool;
mod samples;
mod schedule;
mod scheduler;
mod shared_film;
mod timeline;
mod together;
mod wire;
mod worker;

pub use checkpoint::Checkpoint;
pub use film_file::{FilmFileError, read_film_file, write_film_file};
pub use identity::{Identity, IdentityMismatch};
pub use partial_film::{MergeError, PartialFilm};
pub use pool::{Launch, Launcher, WorkerProcess};
pub use samples::SampleSet;
pub use schedule::Schedule;
pub use scheduler::{Commit, Extension, Grant, InWork, Scheduler, WorkerId};
pub use timeline::{Interval, Outcome, Timeline};
pub use together::{Ended, Options, Progress, Start, Together, Watch, WorkerNote};
pub use worker::{ServeError, serve};
