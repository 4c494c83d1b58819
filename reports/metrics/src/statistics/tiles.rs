//! Square tiles of an image at every scale, and what is summed in them.
//!
//! Tiles of [`TILE`] pixels a side cover the image; four of them make one of the next scale, up to one that
//! covers the whole. Small tiles find a bias that is local, large ones a bias that is small: the noise of a
//! tile's mean falls with its side. All sums are additive, so a coarser scale costs next to nothing.

/// Side of the finest tiles in pixels.
pub const TILE: u32 = 8;

/// The least number of values that a tile is tested with. The finest tiles at the right and lower edge may
/// have fewer; their pixels count in the coarser tiles.
pub(super) const LEAST_VALUES: f64 = 32.0;

/// Sums over the pixels of a tile, for one channel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sums {
    /// Values summed: pixels, times the pairs of images where differences of pairs are taken.
    pub(super) count: f64,
    /// Differences A − B.
    pub(super) difference: f64,
    /// Squared differences.
    pub(super) square: f64,
    /// Means of `|A|` and `|B|`.
    pub(super) level: f64,
    /// Margins.
    pub(super) margin: f64,
    /// Radiance that A may have lost by clipping and B not.
    pub(super) hidden: f64,
}

impl Sums {
    /// Adds the sums of another part of the tile.
    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.difference += other.difference;
        self.square += other.square;
        self.level += other.level;
        self.margin += other.margin;
        self.hidden += other.hidden;
    }

    /// The mean difference.
    pub(super) fn mean(&self) -> f64 {
        self.difference / self.count
    }

    /// Squared deviations from the mean.
    pub(super) fn spread(&self) -> f64 {
        (self.square - self.difference * self.mean()).max(0.0)
    }
}

/// One scale of tiles.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    /// Side of a tile in pixels.
    pub(super) side: u32,
    /// Tiles a row.
    pub(super) columns: u32,
    /// Rows of tiles.
    pub(super) rows: u32,
    /// Sums per tile and channel, row by row from the top left.
    pub(super) tiles: Vec<[Sums; 3]>,
}

impl Scale {
    fn empty(side: u32, columns: u32, rows: u32) -> Self {
        let tiles = vec![[Sums::default(); 3]; columns as usize * rows as usize];
        Self { side, columns, rows, tiles }
    }

    /// The next scale, or nothing when this is one tile.
    fn coarser(&self) -> Option<Self> {
        if self.tiles.len() <= 1 {
            return None;
        }
        let mut coarse = Self::empty(self.side * 2, self.columns.div_ceil(2), self.rows.div_ceil(2));
        for (index, tile) in self.tiles.iter().enumerate() {
            let (x, y) = (index as u32 % self.columns, index as u32 / self.columns);
            let to = &mut coarse.tiles[(y / 2 * coarse.columns + x / 2) as usize];
            to.iter_mut().zip(tile).for_each(|(sum, part)| sum.add(part));
        }
        Some(coarse)
    }

    /// Left and upper edge of a tile in pixels.
    pub(super) fn corner(&self, index: usize) -> (u32, u32) {
        (index as u32 % self.columns * self.side, index as u32 / self.columns * self.side)
    }
}

/// All scales of an image, the finest first; `sums_of(pixel, channel)` is a pixel's contribution.
pub(super) fn scales((width, height): (usize, usize), sums_of: impl Fn(usize, usize) -> Sums) -> Vec<Scale> {
    let side = TILE as usize;
    let mut finest = Scale::empty(TILE, width.div_ceil(side) as u32, height.div_ceil(side) as u32);
    for y in 0..height {
        for x in 0..width {
            let tile = &mut finest.tiles[y / side * finest.columns as usize + x / side];
            tile.iter_mut().enumerate().for_each(|(channel, sum)| sum.add(&sums_of(y * width + x, channel)));
        }
    }
    let mut scales = vec![finest];
    while let Some(coarse) = scales.last().and_then(Scale::coarser) {
        scales.push(coarse);
    }
    scales
}
