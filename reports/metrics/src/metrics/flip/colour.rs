//! Colour spaces of FLIP: linear RGB, the opponent space Y C_x C_z, and CIELab under D65.

/// Linear RGB with the primaries of sRGB.
pub(super) type Rgb = [f32; 3];

/// Linear sRGB to XYZ, derived from the primaries and D65 white of IEC 61966-2-1 as fractions.
const RGB_TO_XYZ: [[f64; 3]; 3] = [
    [10_135_552.0 / 24_577_794.0, 8_788_810.0 / 24_577_794.0, 4_435_075.0 / 24_577_794.0],
    [2_613_072.0 / 12_288_897.0, 8_788_810.0 / 12_288_897.0, 887_015.0 / 12_288_897.0],
    [1_425_312.0 / 73_733_382.0, 8_788_810.0 / 73_733_382.0, 70_074_185.0 / 73_733_382.0],
];

/// Linear sRGB to XYZ over that of white, so that white is (1, 1, 1).
const RGB_TO_RELATIVE: [[f32; 3]; 3] = relative(RGB_TO_XYZ);

/// The inverse of [`RGB_TO_RELATIVE`].
const RELATIVE_TO_RGB: [[f32; 3]; 3] = inverse(relative_f64(RGB_TO_XYZ));

const fn relative_f64(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut result = m;
    let mut row = 0;
    while row < 3 {
        let white = m[row][0] + m[row][1] + m[row][2];
        result[row] = [m[row][0] / white, m[row][1] / white, m[row][2] / white];
        row += 1;
    }
    result
}

const fn relative(m: [[f64; 3]; 3]) -> [[f32; 3]; 3] {
    rounded(relative_f64(m))
}

const fn rounded(m: [[f64; 3]; 3]) -> [[f32; 3]; 3] {
    let mut result = [[0.0f32; 3]; 3];
    let mut i = 0;
    while i < 9 {
        result[i / 3][i % 3] = m[i / 3][i % 3] as f32;
        i += 1;
    }
    result
}

/// By cofactors.
const fn inverse(m: [[f64; 3]; 3]) -> [[f32; 3]; 3] {
    let mut cofactors = [[0.0f64; 3]; 3];
    let mut i = 0;
    while i < 9 {
        let (r, c) = (i / 3, i % 3);
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        cofactors[c][r] = m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
        i += 1;
    }
    let det = m[0][0] * cofactors[0][0] + m[0][1] * cofactors[1][0] + m[0][2] * cofactors[2][0];
    let mut i = 0;
    while i < 9 {
        cofactors[i / 3][i % 3] /= det;
        i += 1;
    }
    rounded(cofactors)
}

#[inline(always)]
fn times(m: &[[f32; 3]; 3], v: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = *m;
    [
        x[0] * v[0] + x[1] * v[1] + x[2] * v[2],
        y[0] * v[0] + y[1] * v[1] + y[2] * v[2],
        z[0] * v[0] + z[1] * v[1] + z[2] * v[2],
    ]
}

/// The luminance Y of linear RGB.
pub(super) fn luminance(rgb: Rgb) -> f32 {
    let row = RGB_TO_RELATIVE[1];
    row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]
}

/// Linear RGB to Y C_x C_z: luminance, red-green and blue-yellow, a CIELab without its cube root.
#[inline(always)]
pub(super) fn opponent(rgb: Rgb) -> [f32; 3] {
    let [x, y, z] = times(&RGB_TO_RELATIVE, rgb);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The inverse of [`opponent`].
#[inline(always)]
pub(super) fn opponent_to_rgb([y, cx, cz]: [f32; 3]) -> Rgb {
    let y = (y + 16.0) / 116.0;
    times(&RELATIVE_TO_RGB, [y + cx / 500.0, y, y - cz / 200.0])
}

/// Linear RGB to CIELab, with chroma multiplied by `0.01 L` for the effect that Hunt (1952) found: colours
/// look more colourful in brighter light.
#[inline(always)]
pub(super) fn hunt_lab(rgb: Rgb) -> [f32; 3] {
    let [x, y, z] = times(&RGB_TO_RELATIVE, rgb);
    let (x, y, z) = (lab_curve(x), lab_curve(y), lab_curve(z));
    let lightness = 116.0 * y - 16.0;
    [lightness, 0.01 * lightness * 500.0 * (x - y), 0.01 * lightness * 200.0 * (y - z)]
}

/// CIE 15: a cube root, and a straight line below `(6/29)³`.
#[inline(always)]
fn lab_curve(t: f32) -> f32 {
    const DELTA: f32 = 6.0 / 29.0;
    let straight = t / (3.0 * DELTA * DELTA) + 4.0 / 29.0;
    if t > DELTA * DELTA * DELTA { cube_root(t) } else { straight }
}

/// The cube root of a positive normal number to within 4 ulp: a third of its logarithm, read from its bits,
/// and two steps of Halley's method, each of which triples the right digits. Unlike a library's, it fits
/// eight lanes.
#[inline(always)]
fn cube_root(x: f32) -> f32 {
    /// Two thirds of the exponent's bias in place, less what makes the first guess's error even.
    const START: u32 = 0x2A51_19F2;
    halley(halley(f32::from_bits(x.to_bits() / 3 + START), x), x)
}

/// One step of Halley's method from `y` towards the cube root of `x`.
#[inline(always)]
fn halley(y: f32, x: f32) -> f32 {
    let cube = y * y * y;
    y * (cube + 2.0 * x) / (2.0 * cube + x)
}

/// The distance of Abasi, Amani Tehran and Fairchild (2020): city block in lightness, Euclidean in chroma.
pub(super) fn hyab(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] - b[0]).abs() + ((a[1] - b[1]).powi(2) + (a[2] - b[2]).powi(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_opponent_colours_and_back_changes_nothing() {
        for rgb in [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.2, 0.7, 0.05], [1.0, 0.0, 0.4]] {
            let back = opponent_to_rgb(opponent(rgb));
            assert!(back.iter().zip(rgb).all(|(x, y)| (x - y).abs() < 1e-5), "{back:?} {rgb:?}");
        }
    }

    #[test]
    fn cube_roots_are_within_four_ulp() {
        for i in 0..200_000 {
            let x = 0.008 + 1.1 * i as f32 / 200_000.0;
            let expected = f64::from(x).cbrt() as f32;
            let ulps = i64::from(cube_root(x).to_bits()) - i64::from(expected.to_bits());
            assert!(ulps.abs() <= 4, "{x}: {ulps}");
        }
    }

    #[test]
    fn white_is_neutral_and_the_lightest() {
        let [l, a, b] = hunt_lab([1.0; 3]);
        assert!((l - 100.0).abs() < 1e-4 && a.abs() < 1e-3 && b.abs() < 1e-3);
        assert!((luminance([1.0; 3]) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn lightness_of_middle_grey_is_as_published() {
        // CIE: L* of a luminance of 18.4186 % is 50.
        assert!((hunt_lab([0.184_186; 3])[0] - 50.0).abs() < 1e-3);
    }
}
