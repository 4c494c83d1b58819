//! Tiling: the film as rectangles of pixels, each rendered by one thread at a time.
//!
//! A tile is small enough for its queues to stay in cache and large enough for the clock readings between
//! stages to cost nothing.

use lockstep_core::{KernelConfig, Order};

/// Side of a tile in pixels, unless a kernel configuration sets it.
const DEFAULT_TILE_SIDE: u32 = 32;

/// A rectangle of pixels with its film sums.
#[derive(Debug)]
pub(crate) struct Tile {
    /// Film indices (`y * width + x`) of the tile's pixels.
    pub(crate) pixels: Vec<u32>,
    /// Film sums of these pixels.
    pub(crate) sums: Vec<[i64; 3]>,
}

/// Width and height of a configuration's tiles, in pixels, on a film of this width.
pub(crate) fn tile_size(config: &KernelConfig, width: u32) -> [u32; 2] {
    let side = config.tile.unwrap_or(DEFAULT_TILE_SIDE).max(1);
    match config.order {
        Order::Tiles | Order::Octants => [side; 2],
        // Whole rows, together about as many pixels as a tile.
        Order::Scanline => [width, (side.saturating_mul(side) / width.max(1)).max(1)],
    }
}

/// Splits a film into tiles of this size; those at the right and bottom edges may be smaller.
pub(crate) fn split_into_tiles(width: u32, height: u32, [tile_width, tile_height]: [u32; 2]) -> Vec<Tile> {
    let starts = |size: u32, step: u32| (0..size).step_by(step as usize);
    let mut tiles = Vec::new();
    for y0 in starts(height, tile_height) {
        for x0 in starts(width, tile_width) {
            let rows = y0..(y0 + tile_height).min(height);
            let columns = x0..(x0 + tile_width).min(width);
            let pixels: Vec<u32> = rows.flat_map(|y| columns.clone().map(move |x| y * width + x)).collect();
            let sums = vec![[0; 3]; pixels.len()];
            tiles.push(Tile { pixels, sums });
        }
    }
    tiles
}
