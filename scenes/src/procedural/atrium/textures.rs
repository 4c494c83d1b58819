//! Images made from noise: colours, normals, roughness and cut-outs.

use lockstep_core::math::rng::{pcg4d, uniform};
use lockstep_core::math::{floor_to_i32, saturate, sin_cos_turns};

/// RGBA, 8 bits a channel.
pub(super) struct Image {
    pub(super) size: u32,
    pub(super) rgba: Vec<u8>,
}

impl Image {
    /// From a function of texture coordinates in `[0, 1)` to values in `[0, 1]`.
    fn new(size: u32, texel: impl Fn(f32, f32) -> [f32; 4]) -> Self {
        let mut rgba = Vec::with_capacity((size * size * 4) as usize);
        for y in 0..size {
            for x in 0..size {
                let value = texel((x as f32 + 0.5) / size as f32, (y as f32 + 0.5) / size as f32);
                rgba.extend(value.map(|v| (saturate(v) * 255.0 + 0.5) as u8));
            }
        }
        Self { size, rgba }
    }

    /// A normal map from heights. `slope` is how far white rises above black, in widths of the image. The size is a power
    /// of two, so that coordinates of texels and of their neighbours are exact.
    fn normals(size: u32, slope: f32, height: impl Fn(f32, f32) -> f32) -> Self {
        let step = 1.0 / size as f32;
        // With a border of one texel
        let side = size as usize + 2;
        let at = |i: usize| (i as f32 - 0.5) * step;
        let heights: Vec<f32> = (0..side * side).map(|i| height(at(i % side), at(i / side))).collect();
        Self::new(size, |u, v| {
            let [x, y] = [u, v].map(|coordinate| (coordinate * size as f32) as usize + 1);
            let height = |x: usize, y: usize| heights[y * side + x];
            let dx = (height(x - 1, y) - height(x + 1, y)) * slope / (2.0 * step);
            let dy = (height(x, y + 1) - height(x, y - 1)) * slope / (2.0 * step);
            let length = (dx * dx + dy * dy + 1.0).sqrt();
            [dx / length * 0.5 + 0.5, dy / length * 0.5 + 0.5, 0.5 / length + 0.5, 1.0]
        })
    }
}

/// Noise between 0 and 1 that repeats every `period` cells.
struct Noise {
    period: i32,
    /// The values at the corners of the cells, row by row.
    corners: Vec<f32>,
}

impl Noise {
    fn new(period: i32, seed: u32) -> Self {
        let corner =
            |n: i32| uniform(pcg4d([(n % period) as u32, (n / period) as u32, seed, period as u32])[0]);
        Self { period, corners: (0..period * period).map(corner).collect() }
    }

    fn at(&self, u: f32, v: f32) -> f32 {
        let (x, y) = (u * self.period as f32, v * self.period as f32);
        let (i, j) = (floor_to_i32(x), floor_to_i32(y));
        let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
        let (fx, fy) = (smooth(x - i as f32), smooth(y - j as f32));
        let wrapped = |i: i32| i.rem_euclid(self.period) as usize;
        let (left, right) = (wrapped(i), wrapped(i + 1));
        let (top, bottom) = (wrapped(j), wrapped(j + 1));
        let corner = |column: usize, row: usize| self.corners[row * self.period as usize + column];
        let low = corner(left, top) * (1.0 - fx) + corner(right, top) * fx;
        let high = corner(left, bottom) * (1.0 - fx) + corner(right, bottom) * fx;
        low * (1.0 - fy) + high * fy
    }
}

/// Several octaves of noise between 0 and 1.
struct Clouds(Vec<Noise>);

impl Clouds {
    fn new(period: i32, octaves: u32, seed: u32) -> Self {
        Self((0..octaves).map(|octave| Noise::new(period << octave, seed + octave)).collect())
    }

    fn at(&self, u: f32, v: f32) -> f32 {
        let (mut sum, mut weight, mut total) = (0.0, 1.0, 0.0);
        for noise in &self.0 {
            sum += weight * noise.at(u, v);
            total += weight;
            weight *= 0.5;
        }
        sum / total
    }
}

fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [f32; 3] {
    [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) * t)
}

fn opaque(c: [f32; 3]) -> [f32; 4] {
    [c[0], c[1], c[2], 1.0]
}

fn step(edge: f32, width: f32, x: f32) -> f32 {
    let t = saturate((x - edge) / width);
    t * t * (3.0 - 2.0 * t)
}

/// Position of a point within its block of stone: distance from the joint, and the block's number.
fn block(u: f32, v: f32) -> (f32, u32) {
    let rows = 4.0;
    let y = v * rows;
    let row = floor_to_i32(y);
    let x = u * 2.0 + if row % 2 == 0 { 0.0 } else { 0.5 };
    let column = floor_to_i32(x);
    let (fx, fy) = (x - column as f32, y - row as f32);
    // Blocks are twice as wide as high.
    let inside = (fx.min(1.0 - fx) * 2.0).min(fy.min(1.0 - fy));
    (inside, (row.rem_euclid(4) * 2 + column.rem_euclid(2)) as u32)
}

pub(super) fn stone_color() -> Image {
    let (grain, stains) = (Clouds::new(16, 4, 11), Clouds::new(6, 4, 21));
    Image::new(512, |u, v| {
        let (inside, number) = block(u, v);
        let tone = uniform(pcg4d([number, 3, 1, 4])[0]);
        let face = mix([0.72, 0.64, 0.52], [0.86, 0.79, 0.68], 0.6 * tone + 0.4 * grain.at(u, v));
        let face = mix(face, [0.60, 0.51, 0.40], 0.5 * step(0.55, 0.3, stains.at(u, v)));
        opaque(mix([0.55, 0.49, 0.41], face, step(0.015, 0.03, inside)))
    })
}

pub(super) fn stone_normals() -> Image {
    let grain = Clouds::new(24, 3, 31);
    Image::normals(512, 0.012, |u, v| {
        let (inside, _) = block(u, v);
        step(0.0, 0.07, inside) + 0.35 * grain.at(u, v)
    })
}

/// Distance from the joint of a square tile, and whether the tile is dark: two tiles each way.
fn tile(u: f32, v: f32) -> (f32, bool) {
    let (x, y) = (u * 2.0, v * 2.0);
    let (i, j) = (floor_to_i32(x), floor_to_i32(y));
    let (fx, fy) = (x - i as f32, y - j as f32);
    (fx.min(1.0 - fx).min(fy.min(1.0 - fy)), (i + j).rem_euclid(2) == 1)
}

/// Thin veins: where warped noise crosses its middle.
struct Veins {
    warp: Clouds,
    warped: Clouds,
}

impl Veins {
    fn new(seed: u32) -> Self {
        Self { warp: Clouds::new(4, 4, seed), warped: Clouds::new(3, 5, seed + 40) }
    }

    fn at(&self, u: f32, v: f32) -> f32 {
        let warp = self.warp.at(u, v) - 0.5;
        let n = self.warped.at(u + 0.3 * warp, v + 0.2 * warp);
        1.0 - step(0.0, 0.09, (n - 0.5).abs())
    }
}

pub(super) fn floor_color() -> Image {
    let (of_dark, of_light) = (Veins::new(5), Veins::new(9));
    Image::new(512, |u, v| {
        let (inside, dark) = tile(u, v);
        let face = if dark {
            mix([0.34, 0.26, 0.23], [0.62, 0.54, 0.50], of_dark.at(u, v) * 0.7)
        } else {
            mix([0.84, 0.80, 0.74], [0.55, 0.52, 0.50], of_light.at(u, v) * 0.6)
        };
        opaque(mix([0.42, 0.39, 0.35], face, step(0.006, 0.01, inside)))
    })
}

/// Green is roughness, blue is metalness: polished tiles, rough joints.
pub(super) fn floor_roughness() -> Image {
    let wear = Clouds::new(5, 4, 51);
    Image::new(256, |u, v| {
        let (inside, _) = tile(u, v);
        let worn = 0.16 + 0.24 * wear.at(u, v);
        [1.0, 0.9 + (worn - 0.9) * step(0.006, 0.012, inside), 0.0, 1.0]
    })
}

pub(super) fn floor_normals() -> Image {
    Image::normals(512, 0.004, |u, v| step(0.0, 0.02, tile(u, v).0))
}

pub(super) fn marble_color() -> Image {
    let (shades, veins) = (Clouds::new(4, 4, 61), Veins::new(71));
    Image::new(256, |u, v| {
        let base = mix([0.88, 0.85, 0.80], [0.80, 0.76, 0.70], shades.at(u, v));
        opaque(mix(base, [0.62, 0.59, 0.57], 0.45 * veins.at(u, v)))
    })
}

/// A pointed leaf with veins; u runs across, v from tip to stem. Outside it is cut away.
pub(super) fn leaf_color(tint: [f32; 3]) -> Image {
    let shades = Clouds::new(4, 3, 81);
    Image::new(128, |u, v| {
        let along = 1.0 - v;
        let across = (u - 0.5).abs() * 2.0;
        // Widest at a third of its length, with small teeth.
        let (teeth, _) = sin_cos_turns(along * 9.0);
        let width = 2.6 * (along * (1.0 - along)).max(0.0).sqrt() * (1.15 - along) + 0.025 * teeth;
        let stem = along < 0.08 && across < 0.08;
        let inside = across < width.min(0.96) || stem;
        let (ribs, _) = sin_cos_turns((along + across * 0.35) * 8.0);
        let rib = if across < 0.05 { 0.9 } else { 0.25 * step(0.75, 0.25, ribs) };
        let shade = 0.75 + 0.35 * shades.at(u, v);
        let face = tint.map(|c| c * shade);
        let c = mix(face, [0.62, 0.72, 0.38], rib * 0.5);
        [c[0], c[1], c[2], if inside { 1.0 } else { 0.0 }]
    })
}

/// A banner: a gold border and ring on a colour, its lower edge cut into points with a fringe.
pub(super) fn banner_color(cloth: [f32; 3]) -> Image {
    let threads = Clouds::new(64, 2, 91);
    Image::new(256, |u, v| {
        let weave = 0.88 + 0.12 * threads.at(u, v);
        let gold = [0.83, 0.66, 0.30];
        // Three points at the lower edge.
        let x = u * 3.0;
        let point = (x - floor_to_i32(x) as f32 - 0.5).abs() * 2.0;
        let hem = 0.9 - 0.1 * point;
        let strand = (u * 96.0) - floor_to_i32(u * 96.0) as f32;
        let fringe = v > hem && v < hem + 0.06 && strand < 0.6;
        let (dx, dy) = ((u - 0.5) / 0.44, (v - 0.42) / 0.19);
        let r = (dx * dx + dy * dy).sqrt();
        let diamond = dx.abs() + dy.abs();
        let border = !(0.06..=0.94).contains(&u) || v < 0.03 || (hem - v).abs() < 0.025;
        let ring = (r - 0.78).abs() < 0.09 || diamond < 0.45;
        let c = if border || ring || fringe { gold } else { cloth };
        let c = c.map(|channel| channel * weave);
        [c[0], c[1], c[2], if v <= hem || fringe { 1.0 } else { 0.0 }]
    })
}
