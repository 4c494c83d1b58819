//! A study on many machines: its work in units, the units of one shard, and the merge of all.
//!
//! A [`work_plan::WorkPlan`] is a function of the command line alone, so every machine makes the same one and none asks another. A
//! unit is some samples of one scene under one seed, on every target in turn. Films are sums of integers, so the films of
//! the units add up to those of the study on one machine, to the bit. Times do not add up over unlike machines; since a
//! unit times all its targets in one process, its ratios compare them on one machine.
//!
//! A merge is an ordinary study whose targets take their films from the units ([`UnitFilms`]) instead of rendering them.

mod array;
mod assignment;
#[cfg(test)]
mod fuzz;
mod gather;
mod merge;
mod plan_command;
mod render;
mod tracer;
mod unit;
mod unit_files;
mod unit_films;
mod work_plan;

pub(crate) use array::Share;
pub(super) use gather::Units;
pub(crate) use merge::{merge, reference};
pub(super) use plan_command::print_plan;
pub(super) use render::run as run_shard;
pub(super) use unit_films::UnitFilms;
