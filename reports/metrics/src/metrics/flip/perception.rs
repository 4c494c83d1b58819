//! An image as an eye perceives it on a screen: colours after its contrast filter, and edges and points.
//!
//! An image is taken in bands of rows, so that everything between its pixels and the result stays in a core's
//! cache.

use super::super::plane::correlate;
use super::colour;
use super::filters::{Filters, Separable};
use super::screen::Screen;
use crate::image_io::LinearImage;

/// Rows of a band: few enough for a band and its intermediate values to stay in a core's cache, many enough to make the extra
/// filtered rows above and below cheap.
pub(super) const BAND: usize = 32;

/// One band of an image as it is compared, row by row; each list has as many values as the band has pixels.
#[derive(Debug, Clone, Default)]
pub(super) struct Perceived {
    /// CIELab colours with Hunt's adjustment: lightness and the two chroma axes.
    pub(super) lab: [Vec<f32>; 3],
    /// Strengths of edges.
    pub(super) edges: Vec<f32>,
    /// Strengths of points.
    pub(super) points: Vec<f32>,
}

/// Buffers of a task between an image's pixels and [`Perceived`].
#[derive(Default)]
pub(super) struct Scratch {
    /// Y, C_x and C_z of the band's rows and those around them, the border's pixels going on to both sides.
    opponent: [Vec<f32>; 3],
    /// Rows filtered along themselves.
    across: Vec<f32>,
    /// The two derivatives of a feature, or the terms of a sum.
    filtered: [Vec<f32>; 2],
}

/// An image on a screen, before an eye.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) image: &'a LinearImage,
    pub(super) screen: Screen,
    pub(super) filters: &'a Filters,
}

impl View<'_> {
    /// Perceives the band that begins with row `top`.
    pub(super) fn perceive(&self, top: usize, scratch: &mut Scratch) -> Perceived {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was just asked.
            return unsafe { self.perceive_avx2(top, scratch) };
        }
        self.perceive_anywhere(top, scratch)
    }

    /// [`Self::perceive_anywhere`] compiled for eight lanes. It contracts nothing, so its results are the
    /// same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn perceive_avx2(&self, top: usize, scratch: &mut Scratch) -> Perceived {
        self.perceive_anywhere(top, scratch)
    }

    #[inline(always)]
    fn perceive_anywhere(&self, top: usize, scratch: &mut Scratch) -> Perceived {
        let Self { image, filters, .. } = *self;
        let (width, height) = (image.width() as usize, image.height() as usize);
        let shape = Shape { width, rows: BAND.min(height - top), margin: filters.radius() };
        self.fill_opponent(top, &shape, &mut scratch.opponent);
        let Scratch { opponent, across, filtered: [first, second] } = scratch;
        let mut lab = [const { Vec::new() }; 3];
        for ((plane, terms), out) in opponent.iter().zip(&filters.contrast).zip(&mut lab) {
            out.resize(shape.pixels(), 0.0);
            for term in terms {
                filter(plane, &shape, term, across, first);
                out.iter_mut().zip(&*first).for_each(|(sum, value)| *sum += value);
            }
        }
        to_lab(&mut lab);
        let [mut edges, mut points] = [const { Vec::new() }; 2];
        for (pair, strength) in [(&filters.edges, &mut edges), (&filters.points, &mut points)] {
            filter(&opponent[0], &shape, &pair[0], across, first);
            filter(&opponent[0], &shape, &pair[1], across, second);
            lengths(first, second, strength);
        }
        Perceived { lab, edges, points }
    }

    /// Fills the planes with the band's opponent colours, and those of the rows and columns around it.
    #[inline(always)]
    fn fill_opponent(&self, top: usize, shape: &Shape, planes: &mut [Vec<f32>; 3]) {
        let Self { image, screen, .. } = *self;
        let (width, margin, stride) = (shape.width, shape.margin, shape.stride());
        let rows = shape.rows + 2 * margin;
        let last = image.height() as usize - 1;
        planes.iter_mut().for_each(|plane| plane.resize(rows * stride, 0.0));
        for row in 0..rows {
            let y = (top + row).saturating_sub(margin).min(last);
            let pixels = &image.pixels()[y * width..(y + 1) * width];
            let [p0, p1, p2] = planes.each_mut().map(|plane| &mut plane[row * stride..(row + 1) * stride]);
            let inner = p0[margin..].iter_mut().zip(&mut p1[margin..]).zip(&mut p2[margin..]);
            for (pixel, ((o0, o1), o2)) in pixels.iter().zip(inner) {
                let [r, g, b] = *pixel;
                [*o0, *o1, *o2] = colour::opponent([screen.shows(r), screen.shows(g), screen.shows(b)]);
            }
            for plane in [p0, p1, p2] {
                let (first, last) = (plane[margin], plane[margin + width - 1]);
                plane[..margin].fill(first);
                plane[margin + width..].fill(last);
            }
        }
    }
}

/// Features are those of luminance from 0 to 1, `(Y + 16) / 116`; their filters take no notice of what is
/// added.
const LUMINANCE_PER_Y: f32 = 1.0 / 116.0;

/// The sizes of a band.
struct Shape {
    width: usize,
    rows: usize,
    /// Pixels around the band that filters reach.
    margin: usize,
}

impl Shape {
    fn pixels(&self) -> usize {
        self.width * self.rows
    }

    /// Values of a row with its margins.
    fn stride(&self) -> usize {
        self.width + 2 * self.margin
    }
}

/// Filters a plane of rows with margins into the band's rows without.
#[inline(always)]
fn filter(plane: &[f32], shape: &Shape, filter: &Separable, across: &mut Vec<f32>, out: &mut Vec<f32>) {
    let (width, stride) = (shape.width, shape.stride());
    let left = shape.margin - filter.across.len() / 2;
    let above = shape.margin - filter.down.len() / 2;
    let rows = shape.rows + filter.down.len() - 1;
    across.resize(rows * width, 0.0);
    for (row, filtered) in across.chunks_exact_mut(width).enumerate() {
        correlate(&plane[(above + row) * stride + left..], 1, &filter.across, filtered);
    }
    out.resize(shape.pixels(), 0.0);
    for (row, filtered) in out.chunks_exact_mut(width).enumerate() {
        correlate(&across[row * width..], width, &filter.down, filtered);
    }
}

/// The lengths of vectors given by their parts, in terms of luminance.
#[inline(always)]
fn lengths(x: &[f32], y: &[f32], out: &mut Vec<f32>) {
    out.resize(x.len(), 0.0);
    for ((length, x), y) in out.iter_mut().zip(x).zip(y) {
        *length = (x * x + y * y).sqrt() * LUMINANCE_PER_Y;
    }
}

/// Turns filtered Y, C_x and C_z into the colours that they are seen as.
#[inline(always)]
fn to_lab([p0, p1, p2]: &mut [Vec<f32>; 3]) {
    for ((v0, v1), v2) in p0.iter_mut().zip(p1).zip(p2) {
        let [r, g, b] = colour::opponent_to_rgb([*v0, *v1, *v2]);
        [*v0, *v1, *v2] = colour::hunt_lab([r.clamp(0.0, 1.0), g.clamp(0.0, 1.0), b.clamp(0.0, 1.0)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Perceives a grey image in one band, of at most [`BAND`] rows.
    fn perceived(width: u32, height: u32, value: impl Fn(u32, u32) -> f32) -> Perceived {
        let image = LinearImage::from_fn(width, height, |x, y| [value(x, y); 3]);
        View { image: &image, screen: Screen::Clamped, filters: &Filters::new() }
            .perceive(0, &mut Scratch::default())
    }

    #[test]
    fn what_is_flat_keeps_its_colour_and_has_no_features() {
        let found = perceived(40, 30, |_, _| 0.184_186);
        assert!(found.lab[0].iter().all(|v| (v - 50.0).abs() < 1e-3));
        assert!(found.lab[1].iter().chain(&found.lab[2]).all(|v| v.abs() < 1e-3));
        assert!(found.edges.iter().chain(&found.points).all(|v| *v < 1e-6));
    }

    #[test]
    fn a_step_is_an_edge_of_strength_one_and_a_line_a_point() {
        let edges = perceived(60, 30, |x, _| if x < 30 { 0.0 } else { 1.0 }).edges;
        let strongest = edges.iter().fold(0.0f32, |a, &b| a.max(b));
        assert!((strongest - 1.0).abs() < 1e-5, "{strongest}");
        let line = perceived(60, 30, |x, _| if x == 30 { 1.0 } else { 0.0 });
        assert!(line.edges[15 * 60 + 30] < 1e-6 && line.points[15 * 60 + 30] > 0.1);
    }

    #[test]
    fn bands_leave_no_seam() {
        // The lower half repeats the upper one, so that equal rows lie at different places of their bands.
        let (width, period) = (23, 2 * BAND as u32 + 7);
        let image = LinearImage::from_fn(width, 2 * period, |x, y| {
            [((x * 7 + (y % period) * 13) % 29) as f32 / 29.0, (x % 3) as f32 / 3.0, 0.2]
        });
        let filters = Filters::new();
        let view = View { image: &image, screen: Screen::Clamped, filters: &filters };
        let bands: Vec<Perceived> = (0..2 * period as usize)
            .step_by(BAND)
            .map(|top| view.perceive(top, &mut Scratch::default()))
            .collect();
        let lightness: Vec<f32> = bands.iter().flat_map(|band| band.lab[0].clone()).collect();
        let edges: Vec<f32> = bands.iter().flat_map(|band| band.edges.clone()).collect();
        let row = |values: &[f32], y: u32| values[(y * width) as usize..((y + 1) * width) as usize].to_vec();
        let reach = filters.radius() as u32;
        for y in reach..period - reach {
            assert_eq!(row(&lightness, y), row(&lightness, y + period), "{y}");
            assert_eq!(row(&edges, y), row(&edges, y + period), "{y}");
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn eight_lanes_perceive_what_one_does() {
        let found = std::arch::is_x86_feature_detected!("avx2").then_some(());
        if lockstep_require::present("avx2", found.ok_or("The processor has no AVX2.")).is_none() {
            return;
        }
        let image = LinearImage::from_fn(37, 20, |x, y| [x as f32 * 0.1, y as f32 * 0.3, 0.5]);
        let view = View { image: &image, screen: Screen::Exposed(0.7), filters: &Filters::new() };
        let one = view.perceive_anywhere(0, &mut Scratch::default());
        let eight = view.perceive(0, &mut Scratch::default());
        assert_eq!((one.lab, one.edges, one.points), (eight.lab, eight.edges, eight.points));
    }
}
