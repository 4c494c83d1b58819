//! Rays in packets by the octants of their directions.
//!
//! A packet whose rays go the same way Embree can take through its tree as one, testing boxes and triangles against all of
//! them. That pays where the tree is so small that they visit the same nodes anyway.

use lockstep_core::geometry::Ray;

/// The octants so that of two in a row one sign differs.
const IN_TURN: [usize; 8] = [0, 1, 3, 2, 6, 7, 5, 4];

/// Rays that wait until `N` of their octant have come.
pub(super) struct Octants<const N: usize> {
    waiting: [[usize; N]; 8],
    counts: [usize; 8],
    next: usize,
}

/// The numbers of `N` rays. Behind the first `count` stand copies of the last.
pub(super) struct Grouped<const N: usize> {
    pub(super) rays: [usize; N],
    pub(super) count: usize,
    /// Whether all are of one octant.
    pub(super) is_one_octant: bool,
}

impl<const N: usize> Octants<N> {
    /// No rays yet.
    pub(super) fn new() -> Self {
        Self { waiting: [[0; N]; 8], counts: [0; 8], next: 0 }
    }

    /// The next of rays `0..count`, each of which comes once; `None` after the last.
    #[inline(always)]
    pub(super) fn next<'r>(&mut self, count: usize, ray: impl Fn(usize) -> &'r Ray) -> Option<Grouped<N>> {
        let Self { waiting, counts, next } = self;
        while *next < count {
            let octant = octant(ray(*next));
            let place = counts[octant];
            waiting[octant][place] = *next;
            *next += 1;
            counts[octant] = (place + 1) % N;
            if place + 1 == N {
                return Some(Grouped { rays: waiting[octant], count: N, is_one_octant: true });
            }
        }
        self.rest()
    }

    /// The next of the rays for which no more of their octant will come.
    #[inline(never)]
    fn rest(&mut self) -> Option<Grouped<N>> {
        let (mut rays, mut count, mut octants) = ([0; N], 0, 0);
        for octant in IN_TURN {
            let taken = self.counts[octant].min(N - count);
            self.counts[octant] -= taken;
            let first = self.counts[octant];
            rays[count..count + taken].copy_from_slice(&self.waiting[octant][first..first + taken]);
            count += taken;
            octants += usize::from(taken > 0);
        }
        let last = *rays[..count].last()?;
        rays[count..].fill(last);
        Some(Grouped { rays, count, is_one_octant: octants == 1 })
    }
}

/// Which of eight a ray's direction lies in.
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
    fn each_ray_comes_once_and_those_of_one_octant_together() {
        for total in [0, 1, 15, 16, 17, 700] {
            let rays: Vec<Ray> = (0..total).map(towards).collect();
            let (mut octants, mut seen, mut pure) = (Octants::<16>::new(), vec![0; total], 0);
            while let Some(Grouped { rays: numbers, count, is_one_octant }) =
                octants.next(total, |i| &rays[i])
            {
                numbers[..count].iter().for_each(|&i| seen[i] += 1);
                assert!(numbers[count..].iter().all(|&i| i == numbers[count - 1]));
                let first = octant(&rays[numbers[0]]);
                assert_eq!(numbers.iter().all(|&i| octant(&rays[i]) == first), is_one_octant);
                pure += usize::from(is_one_octant && count == 16);
            }
            assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
            assert!(pure >= total / 16 - total.min(8 * 15) / 16, "{pure} of {total}");
        }
    }
}
