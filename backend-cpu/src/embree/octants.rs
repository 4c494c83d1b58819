//! Sorts rays into packets by the octants of their directions.
//!
//! Embree traverses a packet of one octant as one, testing boxes and triangles against all its rays. That
//! pays where the BVH is so small that all rays visit the same nodes anyway.

use lockstep_core::geometry::Ray;

/// The octants in Gray code: neighbours differ in one sign.
const GRAY_CODE: [usize; 8] = [0, 1, 3, 2, 6, 7, 5, 4];

/// A bin of ray indices per octant, each emitted as a packet when it holds `N`.
pub(super) struct Octants<const N: usize> {
    bins: [[usize; N]; 8],
    counts: [usize; 8],
    next: usize,
}

/// The indices of a packet's rays. Copies of the last fill the lanes behind the first `count`.
pub(super) struct RayGroup<const N: usize> {
    pub(super) rays: [usize; N],
    pub(super) count: usize,
    /// Whether all rays are of one octant.
    pub(super) is_one_octant: bool,
}

impl<const N: usize> Octants<N> {
    /// Empty bins.
    pub(super) fn new() -> Self {
        Self { bins: [[0; N]; 8], counts: [0; 8], next: 0 }
    }

    /// The next packet of rays `0..count`; each ray is in one packet. `None` after the last.
    #[inline(always)]
    pub(super) fn next<'r>(&mut self, count: usize, ray: impl Fn(usize) -> &'r Ray) -> Option<RayGroup<N>> {
        // Distribute rays to bins until one is full
        let Self { bins, counts, next } = self;
        while *next < count {
            let octant = octant(ray(*next));
            let slot = counts[octant];
            bins[octant][slot] = *next;
            *next += 1;
            counts[octant] = (slot + 1) % N;
            if slot + 1 == N {
                return Some(RayGroup { rays: bins[octant], count: N, is_one_octant: true });
            }
        }

        // Flush the bins
        self.flush()
    }

    /// The next packet of the rays that are left in bins, neighbouring octants together.
    #[inline(never)]
    fn flush(&mut self) -> Option<RayGroup<N>> {
        let (mut rays, mut count, mut octants) = ([0; N], 0, 0);
        for octant in GRAY_CODE {
            let taken = self.counts[octant].min(N - count);
            self.counts[octant] -= taken;
            let first = self.counts[octant];
            rays[count..count + taken].copy_from_slice(&self.bins[octant][first..first + taken]);
            count += taken;
            octants += usize::from(taken > 0);
        }
        let last = *rays[..count].last()?;
        rays[count..].fill(last);
        Some(RayGroup { rays, count, is_one_octant: octants == 1 })
    }
}

/// The octant of a ray's direction: a bit per negative component.
#[inline(always)]
fn octant(ray: &Ray) -> usize {
    let [x, y, z] = ray.direction.to_array().map(|component| (component.to_bits() >> 31) as usize);
    x | y << 1 | z << 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::geometry::FAR;
    use lockstep_core::math::vec3::{Vec3, vec3};

    fn towards(i: usize) -> Ray {
        let sign = |bit: usize| if (i * i) >> bit & 1 == 0 { 1.0 } else { -1.0 };
        let direction = vec3(sign(1), 2.0 * sign(2), 0.5 * sign(4));
        Ray { origin: Vec3::ZERO, t_min: 0.0, direction, t_max: FAR }
    }

    #[test]
    fn each_ray_is_in_one_packet_and_packets_hold_one_octant() {
        for total in [0, 1, 15, 16, 17, 700] {
            let rays: Vec<Ray> = (0..total).map(towards).collect();
            let (mut octants, mut seen, mut full) = (Octants::<16>::new(), vec![0; total], 0);
            while let Some(RayGroup { rays: numbers, count, is_one_octant }) =
                octants.next(total, |i| &rays[i])
            {
                numbers[..count].iter().for_each(|&i| seen[i] += 1);
                assert!(numbers[count..].iter().all(|&i| i == numbers[count - 1]));
                let first = octant(&rays[numbers[0]]);
                assert_eq!(numbers.iter().all(|&i| octant(&rays[i]) == first), is_one_octant);
                full += usize::from(is_one_octant && count == 16);
            }
            assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
            assert!(full >= total / 16 - total.min(8 * 15) / 16, "{full} of {total}");
        }
    }
}
