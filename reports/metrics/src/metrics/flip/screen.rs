//! Linear radiance on a screen.

use super::exposure::aces;

/// A screen, whose values are linear and from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Screen {
    /// Values are clamped.
    Clamped,
    /// Values are multiplied by an exposure and sent through the ACES curve, negative ones as they are: the curve
    /// shows them bright.
    Exposed(f32),
}

impl Screen {
    /// The value of one channel on the screen.
    #[inline(always)]
    pub(super) fn shows(self, value: f32) -> f32 {
        match self {
            Self::Clamped => value.clamp(0.0, 1.0),
            Self::Exposed(scale) => aces(value * scale),
        }
    }
}
