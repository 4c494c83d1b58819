//! Connections, one per lane.

use crate::integrators::bidirectional::Connection;
use crate::simd::{F32xN, LANES, U32xN, Vec3xN};
use lockstep_core::geometry::Ray;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::splat::Technique;

/// The state of a lane's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing is added.
    Dark,
    /// The connection is computed.
    Lit,
    /// The connection must be computed alone.
    Alone,
}

/// [`Connection`] of all lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionLanes {
    outcome: U32xN,
    origin: Vec3xN,
    direction: Vec3xN,
    t_max: F32xN,
    value: Vec3xN,
    weight: F32xN,
}

impl ConnectionLanes {
    /// Whether the connection of a lane `adds` anything, and whether it `is_valid`.
    #[inline(always)]
    pub(crate) fn put_outcome(&mut self, lane: usize, adds: bool, is_valid: bool) {
        self.outcome.0[lane] = if is_valid { u32::from(adds) } else { Outcome::Alone as u32 };
    }

    /// Stores the shadow ray of a lane.
    #[inline(always)]
    pub(crate) fn put_ray(&mut self, lane: usize, origin: Vec3, direction: Vec3, t_max: f32) {
        self.origin.put(lane, origin);
        self.direction.put(lane, direction);
        self.t_max.0[lane] = t_max;
    }

    /// Stores the radiance of a lane and its weight.
    #[inline(always)]
    pub(crate) fn put_value(&mut self, lane: usize, value: Vec3, weight: f32) {
        self.value.put(lane, value);
        self.weight.0[lane] = weight;
    }

    /// The state of a lane.
    #[inline(always)]
    pub(crate) fn outcome(&self, lane: usize) -> Outcome {
        match self.outcome.0[lane % LANES] {
            0 => Outcome::Dark,
            1 => Outcome::Lit,
            _ => Outcome::Alone,
        }
    }

    /// The connection of a lane that is [`Outcome::Lit`].
    #[inline(always)]
    pub(crate) fn at(&self, lane: usize, pixel: u32, technique: Technique) -> Connection {
        let lane = lane % LANES;
        let (origin, direction) = (self.origin.at(lane), self.direction.at(lane));
        Connection {
            ray: Ray { origin, t_min: 0.0, direction, t_max: self.t_max.0[lane] },
            pixel,
            technique,
            value: self.value.at(lane),
            weight: self.weight.0[lane],
        }
    }
}
