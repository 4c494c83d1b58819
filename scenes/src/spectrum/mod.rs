//! Spectra as linear sRGB colours, for scene files that describe light and surfaces by wavelength.
//!
//! A renderer of three channels takes the colour of a spectrum in place of the spectrum. Light is seen as it is;
//! reflectance is seen under illuminant D65, the white of sRGB, so that a grey surface is grey.

mod indices;
mod metals;
mod tables;

pub(crate) use indices::{index_names, index_of};
pub(crate) use metals::{Metal, metal, metal_names};

use tables::{D65, D65_STEP_NM, FIRST_NM, LAST_NM, OBSERVER, OBSERVER_STEP_NM};

/// Most samples of a spectrum that are read; measured ones have some hundreds.
const MOST_SAMPLES: usize = 65_536;

/// A spectrum by its values at some wavelengths, linear in between and zero beyond the first and last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sampled {
    /// Wavelength in nm and value; wavelengths ascend.
    samples: Vec<[f64; 2]>,
}

impl Sampled {
    /// A spectrum of pairs of wavelength in nm and value. The error is a sentence.
    pub(crate) fn new(samples: Vec<[f64; 2]>) -> Result<Self, String> {
        if samples.len() < 2 || samples.len() > MOST_SAMPLES {
            return Err(format!("a spectrum has 2 to {MOST_SAMPLES} samples, not {}", samples.len()));
        }
        // Differences and sums of greater values would not be finite
        if !samples.iter().flatten().all(|v| (*v as f32).is_finite()) {
            return Err("a spectrum's wavelengths and values must be finite".into());
        }
        if samples.windows(2).any(|pair| pair[0][0] >= pair[1][0]) {
            return Err("a spectrum's wavelengths must ascend".into());
        }
        Ok(Self { samples })
    }

    /// A spectrum of one value at all visible wavelengths.
    pub(crate) fn constant(value: f64) -> Self {
        Self { samples: vec![[FIRST_NM, value], [LAST_NM, value]] }
    }

    /// A spectrum as text, `400:0.5, 700:0.8`. The error is a sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let pairs = text.split([',', ' ', '\t', '\r', '\n']).filter(|pair| !pair.is_empty());
        let samples = pairs.take(MOST_SAMPLES + 1).map(|pair| {
            let numbers = pair.split_once(':').and_then(|(nm, value)| {
                Some([nm.trim().parse::<f64>().ok()?, value.trim().parse::<f64>().ok()?])
            });
            let shown: String = pair.chars().take(40).collect();
            numbers
                .ok_or_else(|| format!("`{shown}` is not a wavelength and a value with a colon between them"))
        });
        Self::new(samples.collect::<Result<_, _>>()?)
    }

    /// A spectrum as a file: a wavelength and a value on each line, `#` before comments. The error is a sentence.
    pub(crate) fn parse_file(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the spectrum's file is not UTF-8".to_string())?;
        let mut samples = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let words = line.split([' ', '\t', ',', ':']).filter(|word| !word.is_empty());
            let numbers: Vec<f64> = words.take(3).map_while(|word| word.parse().ok()).collect();
            let &[nm, value] = numbers.as_slice() else {
                return Err(format!(
                    "line {} of the spectrum's file is not a wavelength and a value",
                    index + 1
                ));
            };
            if samples.len() > MOST_SAMPLES {
                break;
            }
            samples.push([nm, value]);
        }
        Self::new(samples)
    }

    /// Radiance of a black body in W/(m² sr nm) (Planck's law).
    pub(crate) fn blackbody(kelvin: f64) -> Self {
        // 2 h c² in W m²/sr and h c / k in m K
        const C1: f64 = 1.191_042_972e-16;
        const C2: f64 = 1.438_776_877e-2;
        let at = |index: usize| {
            let nm = FIRST_NM + OBSERVER_STEP_NM * index as f64;
            let m = nm * 1e-9;
            [nm, 1e-9 * C1 / (m.powi(5) * ((C2 / (m * kelvin)).exp() - 1.0))]
        };
        Self { samples: (0..OBSERVER.len()).map(at).collect() }
    }

    /// The value at a wavelength in nm.
    pub(crate) fn value(&self, nm: f64) -> f64 {
        let after = self.samples.partition_point(|sample| sample[0] < nm);
        match (after.checked_sub(1).map(|before| self.samples[before]), self.samples.get(after)) {
            (Some([n0, v0]), Some([n1, v1])) => v0 + (v1 - v0) * ((nm - n0) / (n1 - n0)),
            (None, Some([first, value])) if *first == nm => *value,
            _ => 0.0,
        }
    }

    /// CIE XYZ, scaled so that Y of a spectrum that is one everywhere is one.
    pub(crate) fn xyz(&self) -> [f64; 3] {
        self.weighted(|_| 1.0)
    }

    /// Linear sRGB without bounds, for indices of refraction.
    pub(crate) fn unbounded(&self) -> [f32; 3] {
        xyz_to_rgb(self.xyz()).map(|v| v as f32)
    }

    /// Light as linear sRGB; what lies outside the gamut is clamped to zero.
    pub(crate) fn emission(&self) -> [f32; 3] {
        self.unbounded().map(|v| v.max(0.0))
    }

    /// Reflectance under illuminant D65 as linear sRGB, within 0 and 1.
    pub(crate) fn reflectance(&self) -> [f32; 3] {
        xyz_to_rgb(self.weighted(d65)).map(|v| v.clamp(0.0, 1.0) as f32)
    }

    /// XYZ under an illuminant; Y is one where the spectrum is.
    fn weighted(&self, illuminant: impl Fn(f64) -> f64) -> [f64; 3] {
        let (mut sum, mut white) = ([0.0; 3], 0.0);
        for nm in (FIRST_NM as u32..=LAST_NM as u32).map(f64::from) {
            let observer = observer(nm);
            let light = illuminant(nm);
            let value = self.value(nm) * light;
            for (total, weight) in sum.iter_mut().zip(observer) {
                *total += weight * value;
            }
            white += observer[1] * light;
        }
        sum.map(|v| v / white)
    }
}

/// The table's value at a position between two entries.
fn between<const N: usize>(at: f64, entry: impl Fn(usize) -> [f64; N], count: usize) -> [f64; N] {
    let first = (at as usize).min(count - 2);
    let (a, b) = (entry(first), entry(first + 1));
    let t = at - first as f64;
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
}

fn observer(nm: f64) -> [f64; 3] {
    between((nm - FIRST_NM) / OBSERVER_STEP_NM, |i| OBSERVER[i], OBSERVER.len())
}

fn d65(nm: f64) -> f64 {
    between((nm - FIRST_NM) / D65_STEP_NM, |i| [D65[i]], D65.len())[0]
}

/// XYZ as linear sRGB (IEC 61966-2-1); components may be negative.
pub(crate) fn xyz_to_rgb([x, y, z]: [f64; 3]) -> [f64; 3] {
    [
        3.240_479 * x - 1.537_150 * y - 0.498_535 * z,
        -0.969_256 * x + 1.875_991 * y + 0.041_556 * z,
        0.055_648 * x - 0.204_043 * y + 1.057_311 * z,
    ]
}

/// A component that is sRGB-encoded, 0 to 1, as a linear one.
pub(crate) fn srgb_to_linear(c: f32) -> f32 {
    let c = f64::from(c);
    (if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }) as f32
}

/// The share of light that a conductor reflects at normal incidence, from its complex index of refraction and the
/// index outside.
pub(crate) fn conductor_reflectance(metal: &Metal, outside: f32) -> [f32; 3] {
    std::array::from_fn(|i| {
        let (eta, k) = (metal.eta[i] / outside, metal.k[i] / outside);
        let (low, high) = (eta - 1.0, eta + 1.0);
        ((low * low + k * k) / (high * high + k * k)).clamp(0.0, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: [f32; 3], wanted: [f32; 3], tolerance: f32) {
        let close = found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= tolerance);
        assert!(close, "{found:?} is not {wanted:?}");
    }

    #[test]
    fn colors_of_spectra_are_those_of_mitsuba_3() {
        // Values of Mitsuba 3.9.1, scalar_rgb, which sums at 1,000 wavelengths.
        let of = |text| Sampled::parse(text).unwrap();
        near(of("400:0.5, 700:0.5").reflectance(), [0.497671, 0.499878, 0.497455], 2e-3);
        near(of("400:0.1 500:0.2 600:0.9 700:0.8").reflectance(), [1.0, 0.490208, 0.0992466], 2e-3);
        near(of("400:0, 500:8, 600:15.6, 700:18.4").emission(), [20.7108, 10.8546, 2.77115], 3e-2);
        near(Sampled::constant(5.0).emission(), [6.02397, 4.74146, 4.54458], 1e-2);
    }

    #[test]
    fn grey_reflects_grey_and_equal_energy_is_reddish() {
        near(Sampled::constant(0.5).reflectance(), [0.5; 3], 1e-3);
        let [r, g, b] = Sampled::constant(1.0).emission();
        assert!(r > 1.15 && g < 0.97 && b < 0.93, "{r} {g} {b}");
    }

    #[test]
    fn a_black_body_has_the_chromaticity_of_its_temperature() {
        // The Planckian locus at 3,000 K and 6,500 K (Wyszecki and Stiles 1982).
        for (kelvin, wanted) in [(3000.0, [0.4369, 0.4041]), (6500.0, [0.3135, 0.3237])] {
            let [x, y, z] = Sampled::blackbody(kelvin).xyz();
            let found = [x / (x + y + z), y / (x + y + z)];
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 5e-4), "{found:?}");
        }
        // Planck's law at 555 nm and 5,000 K.
        assert!((Sampled::blackbody(5000.0).value(555.0) / 12_740.307 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn values_are_linear_between_samples_and_zero_beyond() {
        let s = Sampled::parse("400:1, 500:3").unwrap();
        assert_eq!([399.9, 400.0, 450.0, 500.0, 500.1].map(|nm| s.value(nm)), [0.0, 1.0, 2.0, 3.0, 0.0]);
    }

    #[test]
    fn files_have_a_pair_on_a_line() {
        let s = Sampled::parse_file(b"# Cr\n400 0.5\n\n500.5\t1.5 # end\n").unwrap();
        assert_eq!(s, Sampled::parse("400:0.5,500.5:1.5").unwrap());
        let error = Sampled::parse_file(b"400 0.5\n500\n").unwrap_err();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn what_is_no_spectrum_is_refused() {
        for text in ["", "400:1", "400:1, 300:1", "400:1, 400:1", "400:nan, 500:1", "400, 500", "a:1, 5:1"] {
            assert!(Sampled::parse(text).is_err(), "{text}");
        }
        assert!(Sampled::parse_file(b"\xff\xfe").is_err());
    }

    #[test]
    fn metals_have_their_known_colors() {
        // Normal reflectance; gold and copper absorb blue, silver and aluminium hardly anything.
        let of = |name| conductor_reflectance(&metal(name).unwrap(), 1.0);
        near(of("Al"), [0.9280, 0.9178, 0.9189], 1e-3);
        near(of("Au"), [0.966, 0.795, 0.328], 2e-2);
        assert!(of("Cu")[0] > 0.93 && of("Cu")[2] < 0.55 && of("Ag").iter().all(|v| *v > 0.9));
        assert_eq!(metal("Cu_palik"), metal("Cu"));
        assert_eq!(metal("Na_palik"), metal("Na"));
        assert!(metal("unobtainium").is_none() && metal_names().count() > 35);
    }

    #[test]
    fn materials_have_their_index() {
        assert_eq!(
            (index_of("bk7"), index_of("Water"), index_of("diamond")),
            (Some(1.5046), Some(1.333), Some(2.419))
        );
        assert!(index_of("").is_none() && index_names().all(|name| index_of(name).is_some()));
    }

    #[test]
    fn srgb_is_decoded() {
        let table = &lockstep_core::scene::texture::SRGB_TO_LINEAR;
        for (byte, wanted) in table.iter().enumerate() {
            assert!((srgb_to_linear(byte as f32 / 255.0) - wanted).abs() < 1e-6);
        }
    }

    #[test]
    fn files_of_spectra_are_survived() {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/spectrum");
        let seeds = [
            "# gold\n400 1.65\n500.5\t0.97 # nm\n\n600,0.24\n830:0.2\n",
            "360 0\n830 1\n",
            "1 1e-3\n1e4 2\n",
            "400:0.5, 500:0.25, 700:5",
        ];
        let seeds = seeds.map(|text| text.as_bytes().to_vec());
        let words = [
            "400 ", "830 ", "-1", "1e38", "1e-45", "1e308", "inf", "nan", "#", "\n", "\t", ":", ",",
            "\u{feff}",
        ];
        let outcome = |read: Result<Sampled, String>| match read {
            Ok(spectrum) => {
                let colors = [spectrum.unbounded(), spectrum.emission(), spectrum.reflectance()];
                let [_, light, surface] = colors;
                assert!(!colors.iter().flatten().any(|value| value.is_nan()), "{colors:?}");
                assert!(light.iter().all(|value| *value >= 0.0), "{light:?}");
                assert!(surface.iter().all(|value| (0.0..=1.0).contains(value)), "{surface:?}");
                let is_finite = colors.map(|rgb| rgb.iter().all(|value| value.is_finite()));
                format!("finite: {is_finite:?}")
            }
            Err(message) => message,
        };
        let fuzz = lockstep_fuzz::Fuzz { name: "spectrum", seeds: &seeds, corpus: &corpus, words: &words };
        let report = fuzz.run_part(4, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            format!("{}; {}", outcome(Sampled::parse_file(bytes)), outcome(Sampled::parse(&text)))
        });
        assert!(report.outcomes > 1, "{report:?}");
    }
}
