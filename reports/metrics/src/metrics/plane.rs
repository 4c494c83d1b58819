//! Planes of numbers and separable filters over them, row-parallel.

use rayon::prelude::*;

/// One number for every pixel, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) data: Vec<f32>,
}

impl Plane {
    /// A plane whose element `i` is `value(i)`.
    pub(super) fn from_index(width: usize, height: usize, value: impl Fn(usize) -> f32 + Sync) -> Self {
        let mut data = vec![0.0; width * height];
        if width > 0 {
            data.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
                row.iter_mut().enumerate().for_each(|(x, out)| *out = value(y * width + x));
            });
        }
        Self { width, height, data }
    }

    /// Correlates rows with `across` and columns with `down`, whose middle elements fall on the pixel; beyond
    /// the border the outermost pixel goes on. Numbers of taps are odd.
    pub(super) fn filtered(&self, across: &[f32], down: &[f32]) -> Self {
        let mut data = vec![0.0; self.data.len()];
        if !data.is_empty() {
            data.par_chunks_mut(self.width * BAND).enumerate().for_each_init(
                Scratch::default,
                |scratch, (i, out)| {
                    self.filter_band(across, down, i * BAND, scratch, out);
                },
            );
        }
        Self { data, ..*self }
    }

    /// Fills `out` with the filtered rows from `top` on.
    fn filter_band(&self, across: &[f32], down: &[f32], top: usize, scratch: &mut Scratch, out: &mut [f32]) {
        let (width, radius) = (self.width, down.len() / 2);
        let rows = out.len() / width + 2 * radius;
        scratch.rows.resize(rows * width, 0.0);
        for (i, filtered) in scratch.rows.chunks_exact_mut(width).enumerate() {
            let y = (top + i).saturating_sub(radius).min(self.height - 1);
            let row = &self.data[y * width..(y + 1) * width];
            scratch.padded.clear();
            scratch.padded.extend(std::iter::repeat_n(row[0], across.len() / 2));
            scratch.padded.extend_from_slice(row);
            scratch.padded.extend(std::iter::repeat_n(row[width - 1], across.len() / 2));
            correlate(&scratch.padded, 1, across, filtered);
        }
        for (i, filtered) in out.chunks_exact_mut(width).enumerate() {
            correlate(&scratch.rows[i * width..], width, down, filtered);
        }
    }
}

/// Rows that one task filters: few enough to stay in a core's cache, many enough to make the rows filtered twice, above and
/// below, cheap.
const BAND: usize = 48;

/// Buffers of a task that filters.
#[derive(Default)]
struct Scratch {
    rows: Vec<f32>,
    padded: Vec<f32>,
}

/// Sets `out[i]` to the sum over `k` of `taps[k] · input[i + k · stride]`.
#[inline(always)]
pub(super) fn correlate(input: &[f32], stride: usize, taps: &[f32], out: &mut [f32]) {
    out.fill(0.0);
    let length = out.len();
    // Four taps at once, since loading and storing the sums takes longer than adding to them.
    let (fours, rest) = taps.as_chunks::<4>();
    for (k, [t0, t1, t2, t3]) in fours.iter().enumerate() {
        let from = &input[4 * k * stride..];
        let (in0, in1) = (&from[..length], &from[stride..stride + length]);
        let (in2, in3) = (&from[2 * stride..2 * stride + length], &from[3 * stride..3 * stride + length]);
        for ((((sum, a), b), c), d) in out.iter_mut().zip(in0).zip(in1).zip(in2).zip(in3) {
            *sum += (t0 * a + t1 * b) + (t2 * c + t3 * d);
        }
    }
    for (k, tap) in rest.iter().enumerate() {
        let from = (4 * fours.len() + k) * stride;
        for (sum, value) in out.iter_mut().zip(&input[from..from + length]) {
            *sum += tap * value;
        }
    }
}

/// The mean in f64.
pub(super) fn mean(values: &[f32]) -> f64 {
    values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(width: usize, height: usize, data: &[f32]) -> Plane {
        Plane { width, height, data: data.to_vec() }
    }

    #[test]
    fn a_filter_is_a_correlation_whose_border_goes_on() {
        let p = plane(4, 1, &[1.0, 2.0, 4.0, 8.0]);
        assert_eq!(p.filtered(&[1.0, 0.0, 0.0], &[1.0]).data, [1.0, 1.0, 2.0, 4.0]);
        assert_eq!(p.filtered(&[0.0, 1.0, 10.0], &[1.0]).data, [21.0, 42.0, 84.0, 88.0]);
        let column = plane(1, 4, &p.data);
        assert_eq!(column.filtered(&[1.0], &[0.0, 1.0, 10.0]).data, [21.0, 42.0, 84.0, 88.0]);
        assert_eq!(column.filtered(&[1.0], &[1.0, 0.0, 0.0]).data, [1.0, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn taps_that_reach_beyond_the_whole_image_see_its_border() {
        let p = plane(2, 2, &[1.0, 3.0, 5.0, 7.0]);
        assert_eq!(p.filtered(&[1.0; 9], &[1.0]).data, [17.0, 19.0, 53.0, 55.0]);
        assert_eq!(p.filtered(&[1.0], &[1.0; 9]).data, [25.0, 43.0, 29.0, 47.0]);
    }

    #[test]
    fn bands_leave_no_seam() {
        let (width, height) = (53, 2 * BAND + 7);
        let p = Plane::from_index(width, height, |i| ((i * 7919) % 101) as f32);
        let (across, down) = ([0.5, 1.0, 2.0, 1.0, 0.25], [1.0, 3.0, 2.0]);
        let filtered = p.filtered(&across, &down);
        let at = |x: isize, y: isize| {
            let (x, y) = (x.clamp(0, width as isize - 1), y.clamp(0, height as isize - 1));
            p.data[y as usize * width + x as usize]
        };
        for (i, &value) in filtered.data.iter().enumerate() {
            let (x, y) = ((i % width) as isize, (i / width) as isize);
            let expected: f32 = (0..5)
                .flat_map(|k| (0..3).map(move |l| (k, l)))
                .map(|(k, l)| across[k] * down[l] * at(x + k as isize - 2, y + l as isize - 1))
                .sum();
            assert!((value - expected).abs() < 1e-2, "{x} {y}: {value} {expected}");
        }
    }
}
