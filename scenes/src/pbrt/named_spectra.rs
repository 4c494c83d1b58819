//! Spectra that version 4 knows by name.

use super::params::Color;
use crate::spectrum::{metal, xyz_to_rgb};

/// The colour of a named spectrum: indices of metals and glasses, and illuminants of unit luminance.
pub(super) fn named_spectrum(name: &str) -> Option<Color> {
    let plain = |rgb: [f32; 3]| Some(Color { rgb, luminance: 1.0 });
    if let Some(rest) = name.strip_prefix("metal-") {
        let (element, part) = rest.rsplit_once('-')?;
        if element == "CuZn" {
            return plain(if part == "eta" { BRASS[0] } else { BRASS[1] });
        }
        let found = metal(element)?;
        return plain(match part {
            "eta" => found.eta,
            "k" => found.k,
            _ => return None,
        });
    }
    if let Some(glass) = name.strip_prefix("glass-") {
        let (_, index) = GLASSES.iter().find(|(known, _)| *known == glass)?;
        return plain([*index; 3]);
    }
    let (_, [x, y]) = ILLUMINANTS.iter().find(|(known, _)| *known == name)?;
    plain(xyz_to_rgb([x / y, 1.0, (1.0 - x - y) / y]).map(|v| v.max(0.0) as f32))
}

/// Complex index of refraction of brass, linear RGB (Palik 1985).
const BRASS: [[f32; 3]; 2] = [[0.444, 0.527, 1.094], [3.695, 2.765, 1.829]];

/// Indices of refraction at 587.6 nm (Schott's data sheets).
const GLASSES: &[(&str, f32)] = &[
    ("BK7", 1.5168),
    ("BAF10", 1.6700),
    ("FK51A", 1.4866),
    ("LASF9", 1.8503),
    ("F5", 1.6034),
    ("SF5", 1.6727),
    ("SF10", 1.7283),
    ("SF11", 1.7847),
];

/// Chromaticities of illuminants for the observer of 1931 (CIE 15:2018; SMPTE ST 2065-1).
const ILLUMINANTS: &[(&str, [f64; 2])] = &[
    ("stdillum-A", [0.44758, 0.40745]),
    ("stdillum-D50", [0.34567, 0.35851]),
    ("stdillum-D65", [0.31272, 0.32903]),
    ("illum-acesD60", [0.32168, 0.33767]),
    ("stdillum-F2", [0.37208, 0.37529]),
    ("stdillum-F7", [0.31292, 0.32933]),
    ("stdillum-F11", [0.38052, 0.37713]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metals_glasses_and_illuminants_are_known() {
        let copper = named_spectrum("metal-Cu-eta").unwrap();
        assert_eq!(copper.rgb, metal("Cu").unwrap().eta);
        assert_eq!(named_spectrum("glass-BK7").unwrap().rgb, [1.5168; 3]);
        let white = named_spectrum("stdillum-D65").unwrap().rgb;
        assert!(white.iter().all(|v| (v - 1.0).abs() < 2e-3), "{white:?}");
        let warm = named_spectrum("stdillum-A").unwrap().rgb;
        assert!(warm[0] > 1.5 && warm[2] < 0.4, "{warm:?}");
        for name in ["metal-Xx-eta", "metal-Cu-x", "glass-BK8", "spds/Cu.eta.spd"] {
            assert!(named_spectrum(name).is_none(), "{name}");
        }
    }
}
