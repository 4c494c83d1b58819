//! Maps of displacement in floats: their bilinear interpolation, and its distance from linear interpolation over a
//! triangle.

use super::vector::{Norm, V3};
use lockstep_core::scene::Wrap;
use lockstep_core::scene::texture::wrap_index;

/// Texels beyond which a triangle is divided without a look at them.
const MOST_TEXELS: f64 = (1 << 22) as f64;

/// Largest coordinate in texels.
const MOST_COORDINATE: f64 = (1 << 30) as f64;

/// Displacement by texture coordinates: one number a texel, or three.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    width: u32,
    height: u32,
    wrap: Wrap,
    /// Repetitions of the map over texture coordinates from 0 to 1.
    tiles: [f64; 2],
    /// Displacements, already scaled, row by row from the top; those of several components follow each other.
    texels: Vec<f32>,
    components: usize,
    /// Lowest and highest displacement by component.
    range: [[f64; 2]; 3],
}

impl Map {
    /// A map of `components` numbers a texel, 1 or 3.
    pub(crate) fn new(
        size: [u32; 2],
        components: usize,
        texels: Vec<f32>,
        wrap: Wrap,
        tiles: [f32; 2],
    ) -> Self {
        let mut range = [[0.0; 2]; 3];
        for (component, [lowest, highest]) in range.iter_mut().enumerate().take(components) {
            let values = texels.iter().skip(component).step_by(components).map(|v| f64::from(*v));
            (*lowest, *highest) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        }
        let [width, height] = size;
        Self { width, height, wrap, tiles: tiles.map(f64::from), texels, components, range }
    }

    /// Lowest and highest displacement by component.
    pub(super) fn range(&self) -> &[[f64; 2]; 3] {
        &self.range
    }

    /// Whether texture coordinates are too large to tell texels apart.
    pub(super) fn is_beyond(&self, uv: [f64; 2]) -> bool {
        self.place(uv).iter().any(|v| !v.is_finite() || v.abs() > MOST_COORDINATE)
    }

    /// Texture coordinates in texels, from the centre of the first.
    fn place(&self, uv: [f64; 2]) -> [f64; 2] {
        [
            uv[0] * self.tiles[0] * f64::from(self.width) - 0.5,
            uv[1] * self.tiles[1] * f64::from(self.height) - 0.5,
        ]
    }

    /// Displacement at texture coordinates; components that the map lacks are zero.
    pub(super) fn at(&self, uv: [f64; 2]) -> V3 {
        let place = self.place(uv);
        if self.components == 1 {
            let [a] = self.bilinear::<1>(place);
            [a, 0.0, 0.0]
        } else {
            self.bilinear::<3>(place)
        }
    }

    /// Displacement at texture coordinates of a map of one component, by the operations of [`Self::at`].
    #[cfg(feature = "direct-displacement")]
    #[inline(always)]
    pub(super) fn height(&self, u: f64, v: f64) -> f64 {
        let x = u * self.tiles[0] * f64::from(self.width) - 0.5;
        let y = v * self.tiles[1] * f64::from(self.height) - 0.5;
        let (column, row) = (x.floor(), y.floor());
        let left = self.inside(column as i32, self.width as i32);
        let top = self.inside(row as i32, self.height as i32);
        if left < 0 || top < 0 || left + 1 >= self.width as i32 || top + 1 >= self.height as i32 {
            return self.height_at_edge(x, y);
        }
        // Four texels side by side
        let at = top as usize * self.width as usize + left as usize;
        let below = at + self.width as usize;
        let (fx, fy) = (x - column, y - row);
        let (a, b) = (f64::from(self.texels[at]), f64::from(self.texels[at + 1]));
        let (c, d) = (f64::from(self.texels[below]), f64::from(self.texels[below + 1]));
        let (upper, lower) = (a + fx * (b - a), c + fx * (d - c));
        upper + fy * (lower - upper)
    }

    #[cfg(feature = "direct-displacement")]
    #[cold]
    fn height_at_edge(&self, x: f64, y: f64) -> f64 {
        let [height] = self.bilinear::<1>([x, y]);
        height
    }

    /// An index, of a map that is repeated brought inside it.
    #[cfg(feature = "direct-displacement")]
    #[inline(always)]
    fn inside(&self, index: i32, size: i32) -> i32 {
        if self.wrap != Wrap::Repeat || (index as u32) < size as u32 {
            index
        } else if size & (size - 1) == 0 {
            index & (size - 1)
        } else {
            index.rem_euclid(size)
        }
    }

    /// Bytes of the texels.
    #[cfg(feature = "direct-displacement")]
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.texels[..])
    }

    fn texel<const N: usize>(&self, column: i64, row: i64) -> [f64; N] {
        let column = wrap_index(column as i32, self.width, self.wrap as u32) as usize;
        let row = wrap_index(row as i32, self.height, self.wrap as u32) as usize;
        let first = N * (row * self.width as usize + column);
        std::array::from_fn(|i| f64::from(self.texels[first + i]))
    }

    fn bilinear<const N: usize>(&self, [x, y]: [f64; 2]) -> [f64; N] {
        let (column, row) = (x.floor(), y.floor());
        let (fx, fy) = (x - column, y - row);
        let (column, row) = (column as i64, row as i64);
        let top: [f64; N] = self.texel(column, row);
        let top_right: [f64; N] = self.texel(column + 1, row);
        let bottom: [f64; N] = self.texel(column, row + 1);
        let bottom_right: [f64; N] = self.texel(column + 1, row + 1);
        std::array::from_fn(|i| {
            let upper = top[i] + fx * (top_right[i] - top[i]);
            let lower = bottom[i] + fx * (bottom_right[i] - bottom[i]);
            upper + fy * (lower - upper)
        })
    }

    /// Largest distance, by a norm over components, between the map and its linear interpolation from the corners of a
    /// triangle of texture coordinates; above `enough`, some distance that the triangle reaches.
    ///
    /// Between texel centres the map is bilinear. Its difference from a linear function is then largest at texel
    /// centres within the triangle or on the triangle's edges, where it is a parabola between the lines of centres.
    pub(super) fn distance(&self, uv: [[f64; 2]; 3], norm: Norm, enough: f64) -> f64 {
        if self.components == 1 {
            self.distance_of::<1>(uv, norm, enough)
        } else {
            self.distance_of::<3>(uv, norm, enough)
        }
    }

    fn distance_of<const N: usize>(&self, uv: [[f64; 2]; 3], norm: Norm, enough: f64) -> f64 {
        // Both lie within the map's range.
        let spread = norm.of(std::array::from_fn::<f64, N, _>(|i| self.range[i][1] - self.range[i][0]));
        if spread <= enough {
            return spread;
        }
        let places = uv.map(|uv| self.place(uv));
        let (first, second, third) = (places[0], places[1], places[2]);
        let sides = [sub2(second, first), sub2(third, first)];
        let twice_area = sides[0][0] * sides[1][1] - sides[0][1] * sides[1][0];
        let longest = [sides[0], sides[1], sub2(third, second)]
            .map(|s| s[0].abs() + s[1].abs())
            .iter()
            .fold(0.0, |a: f64, &b| a.max(b));
        if twice_area.abs() > 2.0 * MOST_TEXELS || longest > MOST_TEXELS {
            return f64::INFINITY;
        }
        let values = places.map(|place| self.bilinear::<N>(place));
        let mut largest = 0.0f64;
        for k in 0..3 {
            let next = (k + 1) % 3;
            largest =
                largest.max(self.on_edge([places[k], places[next]], [values[k], values[next]], norm, enough));
            if largest > enough {
                return largest.min(spread);
            }
        }
        if twice_area.abs() > 1e-9 * longest * longest {
            let slope: [[f64; 2]; N] = std::array::from_fn(|i| {
                let (a, b) = (values[1][i] - values[0][i], values[2][i] - values[0][i]);
                [
                    (a * sides[1][1] - b * sides[0][1]) / twice_area,
                    (b * sides[0][0] - a * sides[1][0]) / twice_area,
                ]
            });
            let linear = |x: f64, y: f64| -> [f64; N] {
                let (dx, dy) = (x - first[0], y - first[1]);
                std::array::from_fn(|i| values[0][i] + slope[i][0] * dx + slope[i][1] * dy)
            };
            largest = largest.max(self.within(places, linear, norm, enough));
        }
        // The parabolas along edges may rise above the spread
        largest.min(spread)
    }

    /// Largest distance at the texel centres within a triangle.
    fn within<const N: usize>(
        &self,
        places: [[f64; 2]; 3],
        linear: impl Fn(f64, f64) -> [f64; N],
        norm: Norm,
        enough: f64,
    ) -> f64 {
        let mut largest = 0.0f64;
        let ys = places.map(|p| p[1]);
        let lowest = ys[0].min(ys[1]).min(ys[2]).ceil() as i64;
        let highest = ys[0].max(ys[1]).max(ys[2]).floor() as i64;
        for row in lowest..=highest {
            let y = row as f64;
            let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
            for k in 0..3 {
                let (p, q) = (places[k], places[(k + 1) % 3]);
                if (p[1] - y) * (q[1] - y) <= 0.0 {
                    let ends = if p[1] == q[1] {
                        [p[0], q[0]]
                    } else {
                        [p[0] + (q[0] - p[0]) * ((y - p[1]) / (q[1] - p[1])); 2]
                    };
                    left = left.min(ends[0]).min(ends[1]);
                    right = right.max(ends[0]).max(ends[1]);
                }
            }
            for column in left.ceil() as i64..=right.floor() as i64 {
                let (found, wanted) = (self.texel::<N>(column, row), linear(column as f64, y));
                largest = largest.max(norm.of(std::array::from_fn::<f64, N, _>(|i| found[i] - wanted[i])));
            }
            if largest > enough {
                break;
            }
        }
        largest
    }

    /// Bound of the distance along an edge: that at its crossings with lines of texel centres, and how far the
    /// parabolas between them can rise above.
    fn on_edge<const N: usize>(
        &self,
        [from, to]: [[f64; 2]; 2],
        [start, end]: [[f64; N]; 2],
        norm: Norm,
        enough: f64,
    ) -> f64 {
        let along = sub2(to, from);
        let difference = |t: f64| -> [f64; N] {
            let found = self.bilinear::<N>([from[0] + t * along[0], from[1] + t * along[1]]);
            std::array::from_fn(|i| found[i] - (start[i] + t * (end[i] - start[i])))
        };
        let mut crossings = [0, 1].map(|axis| Crossings::new(from[axis], along[axis]));
        let (mut before, mut at) = ([0.0; N], 0.0f64);
        let mut largest = 0.0f64;
        while at < 1.0 {
            let next = crossings[0].next.min(crossings[1].next).min(1.0);
            for crossing in &mut crossings {
                crossing.pass(next);
            }
            let after = if next < 1.0 { difference(next) } else { [0.0; N] };
            let middle = difference(0.5 * (at + next));
            let rise = std::array::from_fn::<f64, N, _>(|i| middle[i] - 0.5 * (before[i] + after[i]));
            largest = largest.max(norm.of(before).max(norm.of(after)) + norm.of(rise));
            if largest > enough {
                break;
            }
            (before, at) = (after, next);
        }
        largest
    }
}

/// Parameters at which an edge crosses whole numbers of one axis, in rising order.
#[derive(Clone, Copy, Debug)]
struct Crossings {
    from: f64,
    along: f64,
    whole: f64,
    /// The next parameter; infinite where there is none.
    next: f64,
}

impl Crossings {
    fn new(from: f64, along: f64) -> Self {
        let whole = if along > 0.0 { from.floor() } else { from.ceil() };
        let mut out = Self { from, along, whole, next: f64::INFINITY };
        out.step();
        out
    }

    fn step(&mut self) {
        self.whole += if self.along > 0.0 { 1.0 } else { -1.0 };
        let next = (self.whole - self.from) / self.along;
        self.next = if self.along != 0.0 && next.is_finite() { next } else { f64::INFINITY };
    }

    /// Leaves crossings up to a parameter behind.
    fn pass(&mut self, parameter: f64) {
        while self.next <= parameter {
            self.step();
        }
    }
}

fn sub2(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No point of a triangle is further away than the bound, and the bound is no looser than its parabolas.
        #[test]
        fn the_distance_bounds_every_point_of_a_triangle(
            texels in prop::collection::vec(-1f32..1.0, 20),
            uv in prop::array::uniform3(prop::array::uniform2(-0.7f64..1.6)),
            wrap in prop_oneof![Just(Wrap::Repeat), Just(Wrap::Clamp), Just(Wrap::Mirror)],
        ) {
            let map = Map::new([5, 4], 1, texels, wrap, [1.0, 1.0]);
            let bound = map.distance(uv, Norm::Euclidean, 1e9);
            let exact = map.distance_of::<1>(uv, Norm::Euclidean, 1.9);
            prop_assert!(exact <= bound + 1e-12);
            let corners = uv.map(|uv| map.at(uv)[0]);
            let mut found = 0.0f64;
            for i in 0..=40 {
                for j in 0..=40 - i {
                    let b = [f64::from(40 - i - j) / 40.0, f64::from(i) / 40.0, f64::from(j) / 40.0];
                    let mix = |of: [f64; 3]| b[0] * of[0] + b[1] * of[1] + b[2] * of[2];
                    let at = [mix(uv.map(|uv| uv[0])), mix(uv.map(|uv| uv[1]))];
                    found = found.max((map.at(at)[0] - mix(corners)).abs());
                }
            }
            prop_assert!(found <= exact + 1e-9, "{found} above {exact}");
            prop_assert!(exact <= 1.0 + 3.0 * found.max(0.5), "{exact} for {found}");
        }
    }

    #[test]
    fn a_ramp_is_linear_and_a_step_is_not() {
        let ramp: Vec<f32> = (0..64).map(|i| (i % 8) as f32).collect();
        let map = Map::new([8, 8], 1, ramp, Wrap::Clamp, [1.0, 1.0]);
        let inside = [[0.1, 0.1], [0.9, 0.2], [0.3, 0.9]];
        assert!(map.distance(inside, Norm::Euclidean, 0.5) < 1e-12);
        // From the last centre on, a clamped ramp is flat.
        let beyond = [[0.1, 0.1], [1.0, 0.2], [0.3, 0.9]];
        assert!(map.distance(beyond, Norm::Euclidean, 0.5) > 0.4);
        assert_eq!(map.at([0.5, 0.3]), [3.5, 0.0, 0.0]);
    }
}
