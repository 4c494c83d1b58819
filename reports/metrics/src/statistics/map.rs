//! The p-value map: where two images part.

use super::correction::sidak_threshold;
use super::family::{Family, share};
use super::test_result::{Region, TestResult};
use super::tiles::TILE;
use crate::image_io::{LinearImage, srgb};

/// Colours as 8-bit sRGB.
const PLAIN: [u8; 3] = [244, 244, 241];
const UNTESTED: [u8; 3] = [150, 150, 150];
const A_BRIGHTER: [u8; 3] = [178, 24, 43];
const B_BRIGHTER: [u8; 3] = [33, 102, 172];
const OUTLINE: [u8; 3] = [24, 24, 24];

/// The colours of a tile where A is brighter, where nothing differs, and where B is brighter, as 8-bit sRGB.
pub const P_COLOURS: [[u8; 3]; 3] = [A_BRIGHTER, PLAIN, B_BRIGHTER];

/// Colour strength, 0 to 1, of a tile whose p-value is just above [`tile_threshold`]; other tiles that do not reject have
/// less, in proportion to the logarithm of their p-value.
pub const ALMOST: f64 = 0.45;

/// The p-value below which a tile rejects at the level `alpha` of all tests together, of `tests` tests of tiles.
pub fn tile_threshold(alpha: f64, tests: usize) -> f64 {
    sidak_threshold(alpha * share(Family::Tiles), tests.max(1))
}

/// The least p-value over the channels of each finest tile, as an image of the size of those compared. Tiles
/// that reject have full colour, red where A is brighter and blue where B is; others fade to white in
/// proportion to the logarithm of their p-value, and those too small to be tested are grey. A larger tile
/// that rejects is shown only where no finer one inside it does. The tiles that decided, those that reject and
/// hold no finer one that does, have dark outlines.
pub fn p_value_map(result: &TestResult) -> LinearImage {
    let map = &result.map;
    LinearImage::from_fn(map.width, map.height, |x, y| {
        if result.deciding.iter().any(|region| is_outline(region, (x, y), (map.width, map.height))) {
            return OUTLINE.map(srgb::decode8);
        }
        let (p, sign) = map.cells[(y / TILE * map.columns + x / TILE) as usize];
        colour(p, sign, map.threshold).map(srgb::decode8)
    })
}

/// Whether a pixel is on the edge of a region, cut off where the image ends.
fn is_outline(region: &Region, (x, y): (u32, u32), (width, height): (u32, u32)) -> bool {
    let (right, below) = ((region.x + region.side).min(width), (region.y + region.side).min(height));
    let inside = (region.x..right).contains(&x) && (region.y..below).contains(&y);
    inside && (x == region.x || y == region.y || x + 1 == right || y + 1 == below)
}

fn colour(p: f64, sign: f64, threshold: f64) -> [u8; 3] {
    if p.is_nan() {
        return UNTESTED;
    }
    let full = if sign < 0.0 { B_BRIGHTER } else { A_BRIGHTER };
    let share = if p < threshold { 1.0 } else { ALMOST * (p.ln() / threshold.ln()) };
    std::array::from_fn(|i| {
        let (from, to) = (f64::from(PLAIN[i]), f64::from(full[i]));
        (from + share * (to - from)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_the_edge_of_a_region_in_the_image() {
        let region = Region { x: 8, y: 8, side: 8, ..Region::NONE };
        let on = |x, y| is_outline(&region, (x, y), (14, 40));
        assert!(on(8, 8) && on(13, 10) && on(10, 15) && !on(10, 10) && !on(7, 8) && !on(10, 16));
    }

    #[test]
    fn rejection_is_a_step_in_colour_and_its_sign_is_seen() {
        assert_eq!(colour(1.0, 1.0, 1e-6), PLAIN);
        assert_eq!(colour(1e-7, 1.0, 1e-6), A_BRIGHTER);
        assert_eq!(colour(0.0, -1.0, 1e-6), B_BRIGHTER);
        let almost = colour(1.1e-6, 1.0, 1e-6);
        assert!(almost[1] > 100 && almost[1] < PLAIN[1], "{almost:?}");
        assert_eq!(colour(f64::NAN, 1.0, 1e-6), UNTESTED);
    }
}
