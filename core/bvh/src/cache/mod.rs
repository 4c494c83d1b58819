//! A folder of built BVHs on disk.
//!
//! An entry is named by a hash of everything that decides a BVH: the geometry, the layout with its settings,
//! and the builders' own source. So it cannot be out of date, only missing or damaged. It is used when its
//! checksum holds and every traversal of it stays within its arrays ([`crate::validate::is_valid`]);
//! otherwise the BVH is built and the entry replaced.

mod entry;
mod eviction;
mod key;

use crate::metrics::surface_area_cost;
use crate::validate::Stored;
use crate::{Bvh, Bvh2, Bvh8, Layout};
use entry::{read, store};
use key::key;
use lockstep_core::scene::SceneData;
use lockstep_core::{BvhOrigin, BvhReport, leftovers};
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Scenes with fewer primitives and instances are not cached: they build within 20 ms.
const LEAST_PRIMITIVES: usize = 20_000;

/// Limit on the size of a folder in bytes; least recently used entries go first.
const MOST_BYTES: u64 = 4 << 30;

/// The longest wait for a process that builds the same BVH: one that was stopped must not stop others.
const PATIENCE: Duration = Duration::from_secs(60);

/// A BVH, and whether it was built or read from the cache.
#[derive(Clone, Debug)]
pub struct Fetched<T> {
    /// The BVH.
    pub bvh: T,
    /// Origin, size and quality.
    pub report: BvhReport,
    /// Time taken to read or to build it, without writing the entry and computing the report.
    pub elapsed: Duration,
}

/// A folder in which built BVHs are cached, or no folder, so that every BVH is built anew. Any number of processes may
/// share a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BvhCache {
    folder: Option<PathBuf>,
}

impl BvhCache {
    /// The cache in a folder, which is created by the first write.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Reads or builds the binary BVH of a scene, equal to [`Bvh::build`]'s.
    pub fn bvh2(&self, scene: &SceneData) -> Fetched<Bvh2> {
        self.fetch(scene)
    }

    /// Reads or builds the 8-wide BVH of a scene, equal to [`Bvh::build`]'s.
    pub fn bvh8(&self, scene: &SceneData) -> Fetched<Bvh8> {
        self.fetch(scene)
    }

    /// Reads or builds the BVH of a scene in a layout, equal to [`Bvh::build`]'s.
    pub fn bvh(&self, scene: &SceneData, layout: Layout) -> Fetched<Bvh> {
        fn of<T>(fetched: Fetched<T>, wrap: fn(T) -> Bvh) -> Fetched<Bvh> {
            Fetched { bvh: wrap(fetched.bvh), report: fetched.report, elapsed: fetched.elapsed }
        }
        match layout {
            Layout::Bvh2 => of(self.bvh2(scene), Bvh::Bvh2),
            Layout::Bvh8 => of(self.bvh8(scene), Bvh::Bvh8),
        }
    }

    fn fetch<T: Stored>(&self, scene: &SceneData) -> Fetched<T> {
        let (bvh, origin, elapsed) = self.read_or_build::<T>(scene);
        let bytes = bvh.arrays().iter().map(|bytes| bytes.len() as u64).sum();
        let sah = surface_area_cost(&bvh, scene);
        Fetched { bvh, report: BvhReport { origin, bytes, sah }, elapsed }
    }

    fn read_or_build<T: Stored>(&self, scene: &SceneData) -> (T, BvhOrigin, Duration) {
        let start = Instant::now();
        let size = scene.triangles.len() + scene.spheres.len() + scene.instances.len();
        let Some(folder) = self.folder.as_deref().filter(|_| size >= LEAST_PRIMITIVES) else {
            let bvh = T::build(scene, &T::SETTINGS);
            return (bvh, BvhOrigin::Built, start.elapsed());
        };
        leftovers::sweep(folder);
        // Look the entry up
        let key = key::<T>(scene);
        let path = folder.join(format!("{}.bvh", &key.to_hex()[..32]));
        // Processes that want the same BVH at the same time wait for the one that builds it
        let building =
            if path.exists() { None } else { Building::begin(path.with_extension("lock"), PATIENCE) };
        let found = File::open(&path).ok().map(|file| read(file, &key, scene));
        let origin = match found {
            Some(Some(bvh)) => return (bvh, BvhOrigin::Cached, start.elapsed()),
            Some(None) => BvhOrigin::Rebuilt,
            None => BvhOrigin::Built,
        };
        // Build, and write the entry
        let bvh = T::build(scene, &T::SETTINGS);
        let elapsed = start.elapsed();
        // A cache that cannot be written costs time, nothing else.
        let _ = store(folder, &path, &key, &bvh);
        drop(building);
        (bvh, origin, elapsed)
    }
}

/// The lock of a BVH that is being built. Whoever finds its file gone builds again, which costs time, nothing else.
struct Building {
    path: PathBuf,
    _file: File,
}

impl Building {
    /// Waits until nobody else builds it, though no longer than `patience`; `None` where there can be no lock.
    fn begin(path: PathBuf, patience: Duration) -> Option<Self> {
        std::fs::create_dir_all(path.parent()?).ok()?;
        let file = File::create(&path).ok()?;
        let start = Instant::now();
        while file.try_lock().is_err() {
            if start.elapsed() > patience {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(Self { path, _file: file })
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests;
