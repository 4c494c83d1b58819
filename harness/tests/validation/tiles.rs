//! The light of tiles of an image under many seeds, and Welch's tests of it.

use lockstep_conformance::statistics::welch_t;

/// Film units of every square tile of an image, and of the image as a whole, under each seed.
#[derive(Clone)]
pub(crate) struct Tiles {
    width: u32,
    side: u32,
    values: Vec<Vec<f64>>,
}

impl Tiles {
    /// Tiles of a square image, without a seed.
    pub(crate) fn new(width: u32, side: u32) -> Self {
        let count = (width / side).pow(2) + 1;
        Self { width, side, values: vec![Vec::new(); count as usize] }
    }

    /// Adds the sums of a film as one more seed.
    pub(crate) fn push(&mut self, sums: &[[i64; 3]]) {
        let mut of_seed = vec![0; self.values.len()];
        let last = of_seed.len() - 1;
        for (pixel, sum) in (0..).zip(sums) {
            let [row, column] = [pixel / self.width, pixel % self.width].map(|place| place / self.side);
            let light: i64 = sum.iter().sum();
            of_seed[(row * (self.width / self.side) + column) as usize] += light;
            of_seed[last] += light;
        }
        self.values.iter_mut().zip(of_seed).for_each(|(tile, sum)| tile.push(sum as f64));
    }

    /// How many tests a comparison makes.
    pub(crate) fn tests(&self) -> usize {
        self.values.len()
    }

    /// The largest of Welch's statistics against other seeds, whose light is multiplied by a factor.
    pub(crate) fn largest_t(&self, others: &Self, brighter: f64) -> f64 {
        let t = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            welch_t(&a.iter().map(|v| v * brighter).collect::<Vec<_>>(), b).abs()
        };
        self.values.iter().zip(&others.values).map(t).fold(0.0, f64::max)
    }
}
