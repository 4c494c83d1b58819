//! Differences of two stacks of images as values in f64, and their local scale.

use super::tiles::TILE;
use crate::image_io::LinearImage;
use rayon::prelude::*;

/// Red, green and blue of every pixel, row by row from the top.
pub(super) type Values = Vec<[f64; 3]>;

/// The differences A − B: one field for each pair of images where both sides have equally many, else one of
/// the sides' means.
#[derive(Debug, Clone)]
pub(super) struct Differences {
    /// Width in pixels.
    pub(super) width: usize,
    /// Height in pixels.
    pub(super) height: usize,
    /// The fields, at least one.
    pub(super) fields: Vec<Values>,
}

impl Differences {
    /// The differences of two stacks of images of one size.
    pub(super) fn of(a: &[LinearImage], b: &[LinearImage]) -> Self {
        let (width, height) = (a[0].width() as usize, a[0].height() as usize);
        let fields = if a.len() == b.len() {
            let pairs: Vec<_> = a.iter().zip(b).collect();
            pairs.into_par_iter().map(|(a, b)| minus(&mean(&[a]), &mean(&[b]))).collect()
        } else {
            vec![minus(&mean_of(a), &mean_of(b))]
        };
        Self { width, height, fields }
    }

    /// The mean of all fields.
    pub(super) fn mean(&self) -> Values {
        let scale = 1.0 / self.fields.len() as f64;
        let mut sum = self.fields[0].clone();
        for field in &self.fields[1..] {
            sum.iter_mut().flatten().zip(field.iter().flatten()).for_each(|(sum, v)| *sum += v);
        }
        sum.iter_mut().flatten().for_each(|v| *v *= scale);
        sum
    }
}

/// The mean of a stack of images of one size.
pub(super) fn mean_of(images: &[LinearImage]) -> Values {
    mean(&images.iter().collect::<Vec<_>>())
}

fn mean(images: &[&LinearImage]) -> Values {
    let scale = 1.0 / images.len() as f64;
    let value = |pixel: usize| {
        let mut sum = [0.0; 3];
        for image in images {
            sum.iter_mut().zip(image.pixels()[pixel]).for_each(|(sum, v)| *sum += f64::from(v));
        }
        sum.map(|v| v * scale)
    };
    (0..images[0].pixels().len()).into_par_iter().map(value).collect()
}

/// `a − b`, value by value.
pub(super) fn minus(a: &Values, b: &Values) -> Values {
    a.iter().zip(b).map(|(a, b)| std::array::from_fn(|c| a[c] - b[c])).collect()
}

/// A number for every tile of 8×8 pixels and channel.
#[derive(Debug, Clone)]
pub(super) struct TileMap {
    columns: usize,
    rows: usize,
    values: Vec<[f64; 3]>,
}

impl TileMap {
    /// The mean of `value(pixel, channel)` over each tile.
    pub(super) fn mean((width, height): (usize, usize), value: impl Fn(usize, usize) -> f64 + Sync) -> Self {
        let side = TILE as usize;
        let (columns, rows) = (width.div_ceil(side), height.div_ceil(side));
        let tile = |index: usize| {
            let (x, y) = (index % columns * side, index / columns * side);
            let (right, below) = ((x + side).min(width), (y + side).min(height));
            let mut sum = [0.0; 3];
            for row in y..below {
                for pixel in row * width + x..row * width + right {
                    sum.iter_mut().enumerate().for_each(|(c, sum)| *sum += value(pixel, c));
                }
            }
            sum.map(|v| v / ((right - x) * (below - y)) as f64)
        };
        let values = (0..columns * rows).into_par_iter().map(tile).collect();
        Self { columns, rows, values }
    }

    /// Every tile replaced by the mean of itself and its neighbours, 24×24 pixels.
    pub(super) fn smoothed(&self) -> Self {
        let tile = |index: usize| {
            let (x, y) = (index % self.columns, index / self.columns);
            let (mut sum, mut count) = ([0.0; 3], 0.0);
            for row in y.saturating_sub(1)..(y + 2).min(self.rows) {
                for column in x.saturating_sub(1)..(x + 2).min(self.columns) {
                    let value = self.values[row * self.columns + column];
                    sum.iter_mut().zip(value).for_each(|(sum, v)| *sum += v);
                    count += 1.0;
                }
            }
            sum.map(|v| v / count)
        };
        Self { values: (0..self.values.len()).into_par_iter().map(tile).collect(), ..self.clone() }
    }

    /// A map made of several, tile by tile.
    pub(super) fn combined<const N: usize>(maps: [&Self; N], value: impl Fn([f64; N]) -> f64) -> Self {
        let first = maps[0];
        let tile = |i: usize| std::array::from_fn(|c| value(maps.map(|map| map.values[i][c])));
        Self { values: (0..first.values.len()).map(tile).collect(), ..first.clone() }
    }

    /// The value of the tile that holds a pixel.
    pub(super) fn at(&self, x: usize, y: usize, channel: usize) -> f64 {
        let side = TILE as usize;
        self.values[y / side * self.columns + x / side][channel]
    }

    /// The mean of a channel over all tiles.
    pub(super) fn mean_over_all(&self, channel: usize) -> f64 {
        self.values.iter().map(|v| v[channel]).sum::<f64>() / self.values.len().max(1) as f64
    }
}

/// How far an outlier may raise the local scale: this many times the median of the absolute values.
const CAP: f64 = 20.0;

/// Standard deviation that a mean absolute value belongs to, for normal values: `√(π/2)`.
const NORMAL: f64 = 1.253_314_137_315_5;

/// The local scale of noise: the mean absolute value over 24×24 pixels, as a standard deviation. Outliers
/// count up to twenty times the median of the image.
pub(super) fn local_scale(values: &Values, size: (usize, usize)) -> TileMap {
    let caps: [f64; 3] = std::array::from_fn(|c| {
        let mut all: Vec<f64> = values.iter().map(|v| v[c].abs()).collect();
        let middle = all.len() / 2;
        let median = *all.select_nth_unstable_by(middle, f64::total_cmp).1;
        if median > 0.0 { CAP * median } else { f64::INFINITY }
    });
    TileMap::mean(size, |pixel, c| NORMAL * values[pixel][c].abs().min(caps[c])).smoothed()
}
