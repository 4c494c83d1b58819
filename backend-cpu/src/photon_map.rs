//! The photons of a pass in a hash grid.

use lockstep_core::math::vec3::Vec3;
use lockstep_core::merging::{Merging, buckets};
use lockstep_core::prefetch;
use lockstep_transport::integrators::bidirectional::Photon;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Positions of a row that are asked for ahead, at most.
const FETCHED: u32 = 40;
/// Positions in a cache line of 64 bytes.
const IN_LINE: usize = 64 / size_of::<Vec3>();

/// Photons, sorted by bucket. Their order within a bucket is whatever the threads have made of it.
#[derive(Debug, Default)]
pub(crate) struct PhotonMap {
    photons: Vec<Photon>,
    /// The photons' positions once more: most photons that are looked at lie outside the radius, and nothing else of
    /// them is read.
    positions: Vec<Vec3>,
    /// The position behind the last photon of every bucket.
    ends: Vec<u32>,
}

impl PhotonMap {
    /// Bytes that the map of `light_paths` light sub-paths of up to `vertices` vertices takes while it is built, the given
    /// photons included.
    pub(crate) fn bytes(light_paths: u32, vertices: u32) -> u64 {
        let of_photon = 2 * size_of::<Photon>() + size_of::<Vec3>() + size_of::<u64>();
        let photons = u64::from(light_paths) * u64::from(vertices);
        photons * of_photon as u64 + u64::from(buckets(light_paths)) * size_of::<u32>() as u64
    }

    /// Sorts photons, which are given in parts: counts them by bucket, adds the counts up and scatters.
    pub(crate) fn build(merging: &Merging, parts: &[&[Photon]]) -> Self {
        let bucket = |photon: &Photon| merging.bucket(merging.cell(photon.position)) as usize;
        let mut ends: Vec<AtomicU32> = Vec::new();
        ends.resize_with(merging.bucket_mask as usize + 1, AtomicU32::default);
        parts.par_iter().copied().flatten().for_each(|photon| {
            ends[bucket(photon)].fetch_add(1, Ordering::Relaxed);
        });
        let mut begin = 0;
        for count in &mut ends {
            begin += std::mem::replace(count.get_mut(), begin);
        }

        // A bucket's cursor has moved from its beginning to its end when all its photons are there
        let mut sources: Vec<AtomicU64> = Vec::new();
        sources.resize_with(begin as usize, AtomicU64::default);
        parts.par_iter().enumerate().for_each(|(part, photons)| {
            for (index, photon) in photons.iter().enumerate() {
                let to = ends[bucket(photon)].fetch_add(1, Ordering::Relaxed) as usize;
                sources[to].store((part as u64) << 32 | index as u64, Ordering::Relaxed);
            }
        });
        let photon = |source: &AtomicU64| {
            let source = source.load(Ordering::Relaxed);
            parts[(source >> 32) as usize][source as u32 as usize]
        };
        let photons: Vec<Photon> = sources.par_iter().map(photon).collect();
        let positions = photons.par_iter().map(|photon| photon.position).collect();
        Self { photons, positions, ends: ends.into_iter().map(AtomicU32::into_inner).collect() }
    }

    /// Collects every photon that merges with a vertex at one of the points, once for each. A bucket may hold photons of
    /// several cells, and several visited rows of cells may share it, so a photon counts in the visit of its own row.
    ///
    /// Nearly all time is spent waiting for memory. So all that the points need is asked for at once: the ranges of their
    /// rows, then the first positions of each, then the photons found.
    pub(crate) fn search(&self, merging: &Merging, points: &[Vec3], search: &mut Search) {
        let Search { queries, rows, found } = search;
        queries.clear();
        rows.clear();
        found.clear();
        for &p in points {
            let [first, last] = merging.cells_around(p);
            for z in first[2]..=last[2] {
                for y in first[1]..=last[1] {
                    let [begin, end] = [first[0], last[0]].map(|x| merging.bucket([x, y, z]));
                    let mut push = |begin, end| {
                        self.fetch_range(begin, end);
                        rows.push(Row { y, z, range: [begin, end] });
                    };
                    if last[0] - first[0] > merging.bucket_mask {
                        push(0, merging.bucket_mask);
                    } else if begin <= end {
                        push(begin, end);
                    } else {
                        // The row goes on at the first bucket
                        push(begin, merging.bucket_mask);
                        push(0, end);
                    }
                }
            }
            queries.push(Query { columns: [first[0], last[0]], rows_end: rows.len(), found_end: 0 });
        }
        for row in rows.iter_mut() {
            let [begin, end] = self.range(row.range[0], row.range[1]);
            row.range = [begin, end];
            let ahead = begin..end.min(begin + FETCHED);
            ahead.step_by(IN_LINE).for_each(|index| prefetch(&self.positions, index as usize));
        }
        let mut begin = 0;
        for (&p, query) in points.iter().zip(queries) {
            let [first, last] = query.columns;
            for Row { y, z, range: [begin, end] } in &rows[begin..query.rows_end] {
                for (index, position) in (*begin..).zip(&self.positions[*begin as usize..*end as usize]) {
                    if merging.contains(*position, p) {
                        let cell = merging.cell(*position);
                        if cell[1] == *y && cell[2] == *z && (first..=last).contains(&cell[0]) {
                            prefetch(&self.photons, index as usize);
                            found.push(index);
                        }
                    }
                }
            }
            begin = query.rows_end;
            query.found_end = found.len();
        }
    }

    /// The photons that a [`PhotonMap::search`] has found for the point of this index.
    #[inline(always)]
    pub(crate) fn found<'s>(&'s self, search: &'s Search, point: usize) -> impl Iterator<Item = &'s Photon> {
        let begin = if point == 0 { 0 } else { search.queries[point - 1].found_end };
        let indices = &search.found[begin..search.queries[point].found_end];
        indices.iter().map(|&index| &self.photons[index as usize])
    }

    /// Asks for what [`PhotonMap::range`] will read.
    #[inline(always)]
    fn fetch_range(&self, first: u32, last: u32) {
        prefetch(&self.ends, first.saturating_sub(1) as usize);
        prefetch(&self.ends, last as usize);
    }

    /// Positions of the photons of a range of buckets.
    #[inline(always)]
    fn range(&self, first: u32, last: u32) -> [u32; 2] {
        let begin = match first {
            0 => 0,
            _ => self.ends[first as usize - 1],
        };
        [begin, self.ends[last as usize]]
    }
}

/// Working memory of a search.
#[derive(Debug, Default)]
pub(crate) struct Search {
    queries: Vec<Query>,
    rows: Vec<Row>,
    /// Indices of the photons found, point by point.
    found: Vec<u32>,
}

/// A point whose photons are searched for.
#[derive(Debug)]
struct Query {
    /// The first and last cell along the first axis.
    columns: [u32; 2],
    /// The end of its rows.
    rows_end: usize,
    /// The end of the photons found for it.
    found_end: usize,
}

/// A row of cells, and its range of buckets, later that of the photons of these.
#[derive(Debug)]
struct Row {
    y: u32,
    z: u32,
    range: [u32; 2],
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::math::rng::{Block, SampleKey, draw, uniforms};
    use lockstep_core::math::vec3::vec3;
    use lockstep_core::merging::MergeRatios;

    /// Points of a cube of side 2 about the origin.
    fn points(count: u32, seed: u32) -> Vec<Vec3> {
        let point = |pixel| {
            let [x, y, z, _] = uniforms(draw(
                SampleKey { pixel, sample: 0, seed, ..SampleKey::default() },
                Block::Camera,
                0,
            ));
            vec3(2.0 * x - 1.0, 2.0 * y - 1.0, 2.0 * z - 1.0)
        };
        (0..count).map(point).collect()
    }

    fn merging(radius: f32, buckets: u32) -> Merging {
        Merging {
            origin: Vec3::splat(-1.0),
            cells_per_unit: 0.5 / radius,
            radius2: radius * radius,
            reach: radius * 1.000_001,
            normalization: 1.0,
            ratios: MergeRatios { merge: 1.0, connect: 1.0 },
            bucket_mask: buckets - 1,
            first_only: 0,
            reserved: 0,
        }
    }

    #[test]
    fn every_photon_within_the_radius_is_visited_once_however_few_buckets_there_are() {
        let photons: Vec<Photon> = (0..)
            .zip(points(3000, 1))
            .map(|(bounce, position)| Photon { position, bounce, ..Photon::default() })
            .collect();
        let parts: Vec<&[Photon]> = photons.chunks(700).collect();
        for (radius, buckets) in [(0.1, 4096), (0.1, 8), (0.3, 1), (0.02, 64), (3.0, 16)] {
            let merging = merging(radius, buckets);
            let map = PhotonMap::build(&merging, &parts);
            let (mut found_any, mut search) = (false, Search::default());
            let points = points(400, 2);
            map.search(&merging, &points, &mut search);
            for (point, &p) in points.iter().enumerate() {
                let mut found: Vec<u32> = map.found(&search, point).map(|photon| photon.bounce).collect();
                found.sort_unstable();
                let within = photons.iter().filter(|photon| merging.contains(photon.position, p));
                assert_eq!(
                    found,
                    within.map(|photon| photon.bounce).collect::<Vec<_>>(),
                    "{radius}, {buckets}"
                );
                found_any |= !found.is_empty();
            }
            assert!(found_any);
        }
    }

    #[test]
    fn a_map_of_no_photons_visits_none() {
        let merging = merging(0.1, 16);
        let map = PhotonMap::build(&merging, &[]);
        let mut search = Search::default();
        map.search(&merging, &[Vec3::ZERO], &mut search);
        assert_eq!(map.found(&search, 0).count(), 0);
    }
}
