//! Settings of a render, apart from the scene.

use crate::error::{Error, Result};
use crate::film::Film;
use crate::mode::Mode;
use serde::{Deserialize, Serialize};

/// Which estimator of direct light runs. All three have the same mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Strategy {
    /// Light and BSDF sampling combined by the power heuristic (Veach 1997).
    #[default]
    Mis = 0,
    /// Next-event estimation only.
    LightOnly = 1,
    /// BSDF sampling only; punctual lights, which it cannot hit, are still sampled.
    BsdfOnly = 2,
}

/// What to render, apart from the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Film width in pixels, 1 to 65,535.
    pub width: u32,
    /// Film height in pixels, 1 to 65,535.
    pub height: u32,
    /// Scattering events along a path: 0 shows emission only, 1 direct light. At most [`MAX_BOUNCES`].
    pub bounces: u32,
    /// Selects the random numbers. Studies that share a seed share every draw.
    pub seed: u32,
    /// The arithmetic.
    pub mode: Mode,
    /// The estimator.
    pub strategy: Strategy,
    /// The first bounce after which Russian roulette may end a path; `None` leaves it off.
    pub roulette_from: Option<u32>,
}

/// The most bounces a path may have.
pub const MAX_BOUNCES: u32 = 255;

impl Default for Settings {
    fn default() -> Self {
        Self {
            width: 640,
            height: 360,
            bounces: 3,
            seed: 0,
            mode: Mode::Exact,
            strategy: Strategy::Mis,
            roulette_from: None,
        }
    }
}

impl Settings {
    /// Checks ranges once, so that backends need not.
    ///
    /// # Errors
    /// [`Error::Contract`] naming the setting out of range.
    pub fn validate(&self) -> Result<()> {
        Film::new(self.width, self.height)?;
        if self.bounces > MAX_BOUNCES {
            return Err(Error::Contract {
                actor: "settings".into(),
                message: format!(
                    "{} bounces were asked for; at most {MAX_BOUNCES} are possible",
                    self.bounces
                ),
            });
        }
        Ok(())
    }
}
