//! The precision with which a file stored an image.

use super::srgb;

/// How values were stored, and so how far rounding may have moved them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precision {
    /// f32: exact for our purposes.
    #[default]
    Float,
    /// 16-bit floating point, with ten bits of mantissa.
    Half,
    /// 8-bit sRGB codes.
    Code8,
    /// 16-bit sRGB codes.
    Code16,
    /// 8-bit codes of linear values, as of alpha.
    Linear8,
    /// Radiance RGBE: 8-bit mantissas that share the exponent of the greatest channel.
    Rgbe,
}

impl Precision {
    /// How far rounding may have moved a channel of a pixel, as linear radiance.
    pub fn rounding(self, pixel: [f32; 3], channel: usize) -> f64 {
        let value = f64::from(pixel[channel]);
        let code = |steps: f64| {
            let code = srgb::encode(value.clamp(0.0, 1.0)) * steps;
            0.5 * (srgb::decode(((code + 0.5) / steps).min(1.0))
                - srgb::decode(((code - 0.5) / steps).max(0.0)))
        };
        match self {
            Precision::Float => 0.0,
            Precision::Half => value.abs() * 2f64.powi(-11) + 2f64.powi(-25),
            Precision::Code8 => code(255.0),
            Precision::Code16 => code(65_535.0),
            Precision::Linear8 => 0.5 / 255.0,
            // Writers cut off and readers do not all add the half that is lost on average.
            Precision::Rgbe => f64::from(pixel.iter().fold(0.0f32, |m, v| m.max(v.abs()))) * 2f64.powi(-7),
        }
    }

    /// The precision of the alpha of an image of this precision.
    pub fn of_alpha(self) -> Self {
        match self {
            Precision::Code8 => Precision::Linear8,
            Precision::Code16 => Precision::Float,
            other => other,
        }
    }

    /// Whether values beyond 0 to 1 are cut off.
    pub fn clips(self) -> bool {
        matches!(self, Precision::Code8 | Precision::Code16)
    }

    /// Whether rounding errors average out under noise or a gradient of more than one step, as they do where values are
    /// rounded to the nearest of evenly spaced ones.
    pub fn is_dithered_by_noise(self) -> bool {
        self.clips()
    }

    /// The name in texts; nothing for f32.
    pub fn in_words(self) -> Option<&'static str> {
        match self {
            Precision::Float => None,
            Precision::Half => Some("half float"),
            Precision::Code8 => Some("8-bit codes"),
            Precision::Code16 => Some("16-bit codes"),
            Precision::Linear8 => Some("8-bit linear codes"),
            Precision::Rgbe => Some("RGBE"),
        }
    }

    /// The precision with this name in texts.
    pub fn from_words(words: &str) -> Option<Self> {
        [Self::Half, Self::Code8, Self::Code16, Self::Linear8, Self::Rgbe]
            .into_iter()
            .find(|p| p.in_words() == Some(words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_half_a_step_of_what_the_file_holds() {
        let pixel = [0.5f32, 0.1, 0.25];
        assert_eq!(Precision::Float.rounding(pixel, 0), 0.0);
        assert!((Precision::Half.rounding(pixel, 0) - 0.5 / 2048.0).abs() < 1e-7);
        let code = srgb::encode8(0.1);
        let step = f64::from(srgb::decode8(code + 1)) - f64::from(srgb::decode8(code));
        let found = Precision::Code8.rounding(pixel, 1);
        assert!((found / (0.5 * step) - 1.0).abs() < 0.05, "{found} {step}");
        assert_eq!(Precision::Rgbe.rounding(pixel, 1), 0.5 / 128.0);
    }
}
