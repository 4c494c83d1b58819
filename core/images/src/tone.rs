//! Tone curves: from linear radiance to what a display shows.
//!
//! A curve takes and gives linear light with the primaries of sRGB. What it gives is encoded by [`super::srgb`] as any
//! other image. Every source is named at its curve.

use super::LinearImage;

/// How radiance beyond the range of a display is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Tone {
    /// As it is: values above 1 are white.
    #[default]
    Srgb,
    /// AgX by Sobotka in Blender's form of 2023, with Rec. 2020 primaries: bright colours fade to white as on film.
    Agx,
    /// The film-like curve of ACES, RRT and ODT for sRGB of 100 cd/m², as fitted by Hill.
    Aces,
    /// Khronos' curve for product photography: colours up to 0.8 are those of the material.
    PbrNeutral,
}

impl Tone {
    /// Every curve, in the order of documentation.
    pub const ALL: [Self; 4] = [Self::Srgb, Self::Agx, Self::Aces, Self::PbrNeutral];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Srgb => "srgb",
            Self::Agx => "agx",
            Self::Aces => "aces",
            Self::PbrNeutral => "pbr-neutral",
        }
    }

    /// An image under the curve; the same image under [`Tone::Srgb`]. NaN becomes 0 under the others.
    #[must_use]
    pub fn apply(self, image: &LinearImage) -> LinearImage {
        let curve = match self {
            Self::Srgb => return image.clone(),
            Self::Agx => agx,
            Self::Aces => aces,
            Self::PbrNeutral => pbr_neutral,
        };
        let pixels = image.pixels();
        LinearImage::from_fn(image.width(), image.height(), |x, y| {
            let pixel = pixels[y as usize * image.width() as usize + x as usize];
            let light = pixel.map(|v| if v.is_nan() { 0.0 } else { f64::from(v.clamp(0.0, f32::MAX)) });
            curve(light).map(|v| v.clamp(0.0, 1.0) as f32)
        })
    }
}

/// Rows that each multiply a colour.
type Matrix = [[f64; 3]; 3];

fn multiply(matrix: &Matrix, [r, g, b]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[x, y, z]| x * r + y * g + z * b)
}

/// From the primaries of sRGB to those of Rec. 2020 (ITU-R BT.2087).
const SRGB_TO_REC2020: Matrix =
    [[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0113], [0.0164, 0.0880, 0.8956]];

/// Back again.
const REC2020_TO_SRGB: Matrix =
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]];

/// Moves the primaries inwards, so that no colour is clipped (Sobotka, AgX; Blender's configuration).
const AGX_INSET: Matrix = [
    [0.856_627_153_315_983, 0.095_121_240_538_158_8, 0.048_251_606_145_858_3],
    [0.137_318_972_929_847, 0.761_241_990_602_591, 0.101_439_036_467_562],
    [0.111_898_212_999_95, 0.076_799_418_603_190_3, 0.811_302_368_396_859],
];

/// Moves them outwards, as far as the look asks for.
const AGX_OUTSET: Matrix = [
    [1.127_100_581_814_436_8, -0.110_606_643_096_603_23, -0.016_493_938_717_834_573],
    [-0.141_329_763_498_438_3, 1.157_823_702_216_272, -0.016_493_938_717_834_257],
    [-0.141_329_763_498_438_26, -0.110_606_643_096_602_94, 1.251_936_406_595_040_5],
];

/// The stops from black to white: 10 below and 6.5 above middle grey of 0.18.
const AGX_STOPS: [f64; 2] = [-12.473_93, 4.026_069];

/// AgX: logarithm, sigmoid and power of 2.2. The sigmoid is Wrensch's polynomial (2023), with a mean square error of
/// 3.7e-6.
fn agx(light: [f64; 3]) -> [f64; 3] {
    let inset = multiply(&AGX_INSET, multiply(&SRGB_TO_REC2020, light));
    let [black, white] = AGX_STOPS;
    let shown = inset.map(|v| agx_sigmoid(((v.max(1e-10).log2() - black) / (white - black)).clamp(0.0, 1.0)));
    let display = multiply(&AGX_OUTSET, shown).map(|v| v.max(0.0).powf(2.2));
    multiply(&REC2020_TO_SRGB, display)
}

fn agx_sigmoid(x: f64) -> f64 {
    let coefficients = [15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.002_32];
    coefficients.into_iter().fold(0.0, |sum, c| sum * x + c)
}

/// From sRGB to the primaries of the rendering transform, desaturated as it does.
const ACES_INPUT: Matrix =
    [[0.597_19, 0.354_58, 0.048_23], [0.076, 0.908_34, 0.015_66], [0.0284, 0.133_83, 0.837_77]];

/// From the output transform to sRGB.
const ACES_OUTPUT: Matrix =
    [[1.604_75, -0.531_08, -0.073_67], [-0.102_08, 1.108_13, -0.006_05], [-0.003_27, -0.072_76, 1.076_02]];

/// ACES (Academy of Motion Picture Arts and Sciences), fitted by Hill for *A Closer Look at Tone Mapping*
/// (BakingLab, 2016).
fn aces(light: [f64; 3]) -> [f64; 3] {
    let fitted = multiply(&ACES_INPUT, light).map(|v| {
        // The quotient of infinities is its limit.
        let v = v.min(1e12);
        (v * (v + 0.024_578_6) - 0.000_090_537) / (v * (0.983_729 * v + 0.432_951) + 0.238_081)
    });
    multiply(&ACES_OUTPUT, fitted)
}

/// Where compression starts: 0.8 without the reflection of 0.04 that is taken away.
const NEUTRAL_START: f64 = 0.8 - 0.04;

/// How fast bright colours fade to white.
const NEUTRAL_DESATURATION: f64 = 0.15;

/// Khronos, *PBR Neutral Tone Mapper* (2024).
fn pbr_neutral(light: [f64; 3]) -> [f64; 3] {
    let least = light.into_iter().fold(f64::INFINITY, f64::min);
    let offset = if least < 0.08 { least - 6.25 * least * least } else { 0.04 };
    let color = light.map(|v| v - offset);
    let peak = color.into_iter().fold(0.0, f64::max);
    if peak < NEUTRAL_START {
        return color;
    }
    let room = 1.0 - NEUTRAL_START;
    let compressed = 1.0 - room * room / (peak + room - NEUTRAL_START);
    let white = 1.0 - 1.0 / (NEUTRAL_DESATURATION * (peak - compressed) + 1.0);
    color.map(|v| v * (compressed / peak) * (1.0 - white) + compressed * white)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: [f64; 3], b: [f64; 3], limit: f64) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= limit)
    }

    #[test]
    fn greys_stay_grey_and_brighter_light_is_never_darker() {
        for curve in [agx, aces, pbr_neutral] {
            let mut last = 0.0;
            for step in -80..80 {
                let [r, g, b] = curve([2f64.powf(f64::from(step) / 8.0); 3]).map(|v| v.clamp(0.0, 1.0));
                assert!((r - g).abs() < 2e-3 && (g - b).abs() < 2e-3, "{r} {g} {b}");
                assert!(r >= last - 1e-9, "{r} after {last}");
                last = r;
            }
            assert!(last > 0.97, "{last}");
        }
    }

    /// Sobotka's AgX puts middle grey, 10 of the 16.5 stops, at a code of 0.5, which 2.2 decodes. The polynomial's
    /// published error is 0.0019 in the mean.
    #[test]
    fn agx_shows_middle_grey_as_published() {
        let [grey, ..] = agx([0.18; 3]);
        assert!((grey.powf(1.0 / 2.2) - 0.5).abs() < 0.006, "{}", grey.powf(1.0 / 2.2));
        assert!((agx_sigmoid(0.0)).abs() < 3e-3 && (agx_sigmoid(1.0) - 1.0).abs() < 2e-3);
        // Black and white lie at the published stops.
        assert!(agx([2f64.powf(AGX_STOPS[0]); 3])[0] < 1e-4);
        assert!(agx([2f64.powf(AGX_STOPS[1]); 3])[0] > 0.99);
        // A bright saturated blue fades instead of turning purple: every channel rises.
        assert!(agx([0.0, 0.0, 50.0]).iter().all(|v| *v > 0.3), "{:?}", agx([0.0, 0.0, 50.0]));
    }

    /// The output transform for 100 cd/m² shows middle grey at 10 cd/m².
    #[test]
    fn aces_shows_middle_grey_at_a_tenth_of_white() {
        let [grey, ..] = aces([0.18; 3]);
        assert!((grey - 0.1).abs() < 0.007, "{grey}");
        for matrix in [ACES_INPUT, ACES_OUTPUT] {
            assert!(matrix.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 2e-5));
        }
        assert!(near(aces([f64::from(f32::MAX); 3]), [1.0 / 0.983_729; 3], 1e-4));
    }

    /// The inverse that Khronos publishes beside the curve.
    fn pbr_neutral_inverse(shown: [f64; 3]) -> [f64; 3] {
        let mut color = shown;
        let peak = color.into_iter().fold(0.0, f64::max);
        if peak > NEUTRAL_START {
            let room = 1.0 - NEUTRAL_START;
            let old = room * room / (1.0 - peak) - room + NEUTRAL_START;
            let factor = NEUTRAL_DESATURATION * (old - peak) + 1.0;
            color = color.map(|v| (v + (1.0 / factor - 1.0) * peak) * factor * (old / peak));
        }
        let least = color.into_iter().fold(f64::INFINITY, f64::min);
        let offset = if least < 0.04 { (least / 6.25).sqrt() - least } else { 0.04 };
        color.map(|v| v + offset)
    }

    #[test]
    fn pbr_neutral_is_undone_by_its_published_inverse() {
        for r in 0..12 {
            for g in 0..12 {
                for b in 0..12 {
                    let light = [r, g, b].map(|i| f64::from(i) * f64::from(i) * 0.05 + 0.001);
                    let back = pbr_neutral_inverse(pbr_neutral(light));
                    assert!(near(back, light, 1e-9 * 36.0), "{light:?}: {back:?}");
                }
            }
        }
    }

    #[test]
    fn pbr_neutral_shows_a_material_under_white_light_in_its_own_color() {
        // A dielectric reflects its colour and 0.04 of the light.
        for color in [[0.6, 0.2, 0.1], [0.05, 0.7, 0.75], [0.3; 3]] {
            assert!(near(pbr_neutral(color.map(|v| v + 0.04)), color, 1e-12), "{color:?}");
        }
    }

    #[test]
    fn values_beyond_all_bounds_are_shown() {
        let wild = [f32::INFINITY, f32::NAN, -3.0];
        let image = LinearImage::from_fn(2, 1, |x, _| if x == 0 { wild } else { [f32::MAX; 3] });
        for tone in Tone::ALL.into_iter().filter(|tone| *tone != Tone::Srgb) {
            let shown = tone.apply(&image);
            let is_shown = |v: &f32| (0.0..=1.0).contains(v);
            assert!(shown.pixels().iter().flatten().all(is_shown), "{tone:?}: {shown:?}");
        }
        assert_eq!(Tone::Srgb.apply(&image).pixels()[1], [f32::MAX; 3]);
    }
}
