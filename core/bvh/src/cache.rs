//! Built hierarchies kept on disk.
//!
//! An entry is named by a hash of everything that decides a hierarchy: the geometry, the layout with its settings, and the
//! builders' own source. So it cannot be out of date, only missing or damaged. It is used when its checksum holds and
//! every walk of it stays within its arrays ([`is_valid`]); else the hierarchy is built, and written over it.

use crate::metrics::surface_area_cost;
use crate::validate::{Stored, is_valid};
use crate::{Bvh, Bvh2, Bvh8, Layout};
use blake3::{Hash, Hasher};
use bytemuck::{Pod, Zeroable, bytes_of, bytes_of_mut, cast_slice, cast_slice_mut};
use lockstep_core::scene::{Material, SceneData};
use lockstep_core::{BvhOrigin, BvhReport};
use rayon::prelude::*;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Scenes with fewer primitives and instances than this are built within some 20 ms.
const LEAST_PRIMITIVES: usize = 20_000;

/// Bytes that a folder's entries may take in all; those used longest ago go first.
const MOST_BYTES: u64 = 4 << 30;

/// Begins every entry, with the format's version; a number, so that files of the other byte order are foreign.
const MAGIC: u64 = u64::from_be_bytes(*b"lockBVH1");

/// What makes hierarchies. A changed builder makes other entries, not other hierarchies under the same name.
const SOURCES: [&[u8]; 25] = [
    include_bytes!("aabb.rs"),
    include_bytes!("build/binning.rs"),
    include_bytes!("build/build_node.rs"),
    include_bytes!("build/collapse.rs"),
    include_bytes!("build/collapse_leaves.rs"),
    include_bytes!("build/mod.rs"),
    include_bytes!("build/occlusion_order.rs"),
    include_bytes!("build/polygon.rs"),
    include_bytes!("build/presplit.rs"),
    include_bytes!("build/reinsertion.rs"),
    include_bytes!("build/sbvh.rs"),
    include_bytes!("build/wide.rs"),
    include_bytes!("layout/bvh2.rs"),
    include_bytes!("layout/bvh8.rs"),
    include_bytes!("object_ray.rs"),
    include_bytes!("../../src/geometry/clip_box.rs"),
    include_bytes!("../../src/geometry/mod.rs"),
    include_bytes!("../../src/geometry/slab.rs"),
    include_bytes!("../../src/geometry/sphere.rs"),
    include_bytes!("../../src/geometry/triangle.rs"),
    include_bytes!("../../src/geometry/offset.rs"),
    include_bytes!("../../src/math/mod.rs"),
    include_bytes!("../../src/math/transform.rs"),
    include_bytes!("../../src/math/vec3.rs"),
    include_bytes!("../../src/scene/mod.rs"),
];

/// A hierarchy and how it was come by.
#[derive(Clone, Debug)]
pub struct Fetched<T> {
    /// The hierarchy.
    pub bvh: T,
    /// What there is to say of it.
    pub report: BvhReport,
    /// How long it took to read or to build, keeping and judging it not counted.
    pub took: Duration,
}

/// A folder of built hierarchies, or none, which keeps nothing. Any number of processes may use one folder at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BvhCache {
    folder: Option<PathBuf>,
}

impl BvhCache {
    /// The cache in a folder, which is made when first written to.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The binary hierarchy of a scene, as [`Bvh::build`] makes it.
    pub fn bvh2(&self, scene: &SceneData) -> Fetched<Bvh2> {
        self.fetch(scene)
    }

    /// The hierarchy of a scene with eight children a node, as [`Bvh::build`] makes it.
    pub fn bvh8(&self, scene: &SceneData) -> Fetched<Bvh8> {
        self.fetch(scene)
    }

    /// The hierarchy of a scene in a layout, as [`Bvh::build`] makes it.
    pub fn hierarchy(&self, scene: &SceneData, layout: Layout) -> Fetched<Bvh> {
        fn of<T>(fetched: Fetched<T>, wrap: fn(T) -> Bvh) -> Fetched<Bvh> {
            Fetched { bvh: wrap(fetched.bvh), report: fetched.report, took: fetched.took }
        }
        match layout {
            Layout::Bvh2 => of(self.bvh2(scene), Bvh::Bvh2),
            Layout::Bvh8 => of(self.bvh8(scene), Bvh::Bvh8),
        }
    }

    fn fetch<T: Stored>(&self, scene: &SceneData) -> Fetched<T> {
        let (bvh, origin, took) = self.read_or_build::<T>(scene);
        let bytes = bvh.arrays().iter().map(|bytes| bytes.len() as u64).sum();
        let sah = surface_area_cost(&bvh, scene);
        Fetched { bvh, report: BvhReport { origin, bytes, sah }, took }
    }

    fn read_or_build<T: Stored>(&self, scene: &SceneData) -> (T, BvhOrigin, Duration) {
        let start = Instant::now();
        let size = scene.triangles.len() + scene.spheres.len() + scene.instances.len();
        let Some(folder) = self.folder.as_deref().filter(|_| size >= LEAST_PRIMITIVES) else {
            let bvh = T::build(scene, &T::SETTINGS);
            return (bvh, BvhOrigin::Built, start.elapsed());
        };
        let key = key::<T>(scene);
        let path = folder.join(format!("{}.bvh", &key.to_hex()[..32]));
        let found = File::open(&path).ok().map(|file| read(file, &key, scene));
        let origin = match found {
            Some(Some(bvh)) => return (bvh, BvhOrigin::Cached, start.elapsed()),
            Some(None) => BvhOrigin::Rebuilt,
            None => BvhOrigin::Built,
        };
        let bvh = T::build(scene, &T::SETTINGS);
        let took = start.elapsed();
        // A cache that cannot be written costs time, nothing else.
        let _ = store(folder, &path, &key, &bvh);
        (bvh, origin, took)
    }
}

/// Hash of everything that decides the hierarchy of a scene.
fn key<T: Stored>(scene: &SceneData) -> Hash {
    let alpha: Vec<u8> = scene.materials.iter().map(|m: &Material| u8::from(m.has_alpha())).collect();
    let made_as = format!("{:?} {:?} {:?}", T::LAYOUT, T::LAYOUT.sizes(), T::SETTINGS);
    let of_scene: [&[u8]; 7] = [
        made_as.as_bytes(),
        cast_slice(&scene.positions),
        cast_slice(&scene.triangles),
        cast_slice(&scene.spheres),
        cast_slice(&scene.meshes),
        cast_slice(&scene.instances),
        &alpha,
    ];
    digest(SOURCES.into_iter().chain(of_scene))
}

/// Bytes that a thread hashes at a time.
const CHUNK: usize = 1 << 20;

/// BLAKE3 of the lengths and the chunks' hashes of several arrays, with all threads.
fn digest<'a>(arrays: impl IntoIterator<Item = &'a [u8]>) -> Hash {
    let mut hasher = Hasher::new();
    for bytes in arrays {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        let chunks: Vec<Hash> = bytes.par_chunks(CHUNK).map(blake3::hash).collect();
        chunks.iter().for_each(|chunk| {
            hasher.update(chunk.as_bytes());
        });
    }
    hasher.finalize()
}

/// What comes before the arrays of an entry.
#[derive(Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: u64,
    /// Hash of what decided the hierarchy.
    key: [u8; 32],
    /// Bytes of each array.
    lengths: [u64; 4],
    root: u64,
    /// Checksum of all the above and the arrays.
    sum: [u8; 32],
}

impl Header {
    fn new(key: &Hash, arrays: &[&[u8]; 4], root: u32) -> Self {
        let mut header = Self {
            magic: MAGIC,
            key: *key.as_bytes(),
            lengths: arrays.map(|bytes| bytes.len() as u64),
            root: u64::from(root),
            sum: [0; 32],
        };
        header.sum = *digest([bytes_of(&header)].into_iter().chain(*arrays)).as_bytes();
        header
    }
}

/// The hierarchy in a file, if that is whole, of this key and sound.
fn read<T: Stored>(mut file: File, key: &Hash, scene: &SceneData) -> Option<T> {
    let mut header = Header::zeroed();
    file.read_exact(bytes_of_mut(&mut header)).ok()?;
    let [nodes, leaves, roots, boxes] = header.lengths;
    let bytes = header.lengths.iter().try_fold(size_of::<Header>() as u64, |sum, n| sum.checked_add(*n))?;
    // Before anything is allocated: lengths are what the file has.
    if header.magic != MAGIC || header.key != *key.as_bytes() || file.metadata().ok()?.len() != bytes {
        return None;
    }
    let bvh = T::of_arrays(
        array(&mut file, nodes)?,
        array(&mut file, leaves)?,
        u32::try_from(header.root).ok()?,
        array(&mut file, roots)?,
        array(&mut file, boxes)?,
    );
    let is_whole = || Header::new(key, &bvh.arrays(), bvh.root()) == header;
    let (is_whole, is_valid) = rayon::join(is_whole, || is_valid(&bvh, scene));
    // For the order in which entries go; one whose time stands still goes too early, no more.
    let _ = file.set_modified(SystemTime::now());
    (is_whole && is_valid).then_some(bvh)
}

/// The next so many bytes of a file as an array.
fn array<T: Pod>(file: &mut File, bytes: u64) -> Option<Vec<T>> {
    let bytes = usize::try_from(bytes).ok().filter(|bytes| bytes.is_multiple_of(size_of::<T>()))?;
    let mut values = vec![T::zeroed(); bytes / size_of::<T>()];
    file.read_exact(cast_slice_mut(&mut values)).ok()?;
    Some(values)
}

/// Writes an entry under a name of its own and renames it, so that readers meet whole files only.
fn store<T: Stored>(folder: &Path, path: &Path, key: &Hash, bvh: &T) -> io::Result<()> {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let arrays = bvh.arrays();
    if arrays.iter().map(|bytes| bytes.len() as u64).sum::<u64>() > MOST_BYTES / 2 {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    let header = Header::new(key, &arrays, bvh.root());
    let write = || -> io::Result<()> {
        let mut file = File::create_new(&temporary)?;
        file.write_all(bytes_of(&header))?;
        arrays.iter().try_for_each(|bytes| file.write_all(bytes))?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        // The reason for the failure is the one to report.
        let _ = fs::remove_file(&temporary);
    })?;
    make_room(folder, MOST_BYTES)
}

/// Removes the entries used longest ago until the rest take at most `most` bytes.
fn make_room(folder: &Path, most: u64) -> io::Result<()> {
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let Ok(about) = entry.metadata() else { continue };
        entries.push((about.modified()?, about.len(), entry.path()));
    }
    entries.sort_by(|a, b| b.cmp(a));
    let mut taken = 0;
    for (_, bytes, path) in entries {
        taken += bytes;
        if taken > most {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::bvh2::LEAF_BIT;
    use crate::{BuildSettings, LeafPrimitive};
    use lockstep_core::scene::{AlphaMode, Flatten, IDENTITY, MeshData, Scene, SceneBuilder, Sphere};
    use std::sync::Barrier;

    /// A grid of bumps, a ball and two instances.
    fn scene(side: u32, alpha: f32) -> Scene {
        let mut b = SceneBuilder::new("bumps");
        b.flatten = Flatten::Never;
        let mode = if alpha < 1.0 { AlphaMode::Blend } else { AlphaMode::Opaque };
        let material = b.material(Material { alpha, alpha_mode: mode as u32, ..Material::diffuse([0.5; 3]) });
        let mut data = MeshData { materials: vec![material], ..MeshData::default() };
        for i in 0..(side + 1) * (side + 1) {
            let (x, z) = ((i % (side + 1)) as f32, (i / (side + 1)) as f32);
            data.positions.push([x, (i * 7 % 13) as f32 * 0.1, z]);
        }
        for i in 0..side * side {
            let corner = i / side * (side + 1) + i % side;
            data.triangles.push([corner, corner + 1, corner + side + 1]);
            data.triangles.push([corner + 1, corner + side + 2, corner + side + 1]);
        }
        let mesh = b.mesh(data);
        let mut moved = IDENTITY;
        moved[0][3] = 1000.0;
        b.instance(mesh, IDENTITY);
        b.instance(mesh, moved);
        let ball = Sphere { radius: 1.0, material, ..Sphere::default() };
        let ball = b.mesh(MeshData { spheres: vec![ball], ..MeshData::default() });
        b.instance(ball, IDENTITY);
        b.build().unwrap()
    }

    fn big() -> Scene {
        scene(104, 1.0)
    }

    fn cache(folder: &Path) -> BvhCache {
        BvhCache::new(Some(folder.join("hierarchies")))
    }

    fn entries(folder: &Path) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(folder.join("hierarchies")) else { return Vec::new() };
        files.map(|file| file.unwrap().path()).collect()
    }

    #[test]
    fn the_second_fetch_brings_the_same_bits_from_the_cache() {
        let (dir, scene) = (tempfile::tempdir().unwrap(), big());
        for layout in [Layout::Bvh2, Layout::Bvh8] {
            let fresh = Bvh::build(&scene, layout);
            for origin in [BvhOrigin::Built, BvhOrigin::Cached] {
                let fetched = cache(dir.path()).hierarchy(&scene, layout);
                assert_eq!(fetched.report.origin, origin);
                assert_eq!(fetched.bvh.arrays(), fresh.arrays());
                assert_eq!(fetched.bvh.root(), fresh.root());
            }
        }
        assert_eq!(entries(dir.path()).len(), 2);
    }

    #[test]
    fn small_scenes_and_caches_without_a_folder_keep_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(cache(dir.path()).bvh2(&scene(20, 1.0)).report.origin, BvhOrigin::Built);
        assert!(entries(dir.path()).is_empty());
        let nowhere = BvhCache::default();
        assert_eq!(
            [nowhere.bvh2(&big()).report.origin, nowhere.bvh2(&big()).report.origin],
            [BvhOrigin::Built; 2]
        );
    }

    #[test]
    fn damaged_and_foreign_entries_are_rebuilt() {
        let (dir, scene) = (tempfile::tempdir().unwrap(), big());
        let cache = cache(dir.path());
        let fresh = cache.bvh8(&scene).bvh;
        let path = entries(dir.path()).pop().unwrap();
        let whole = fs::read(&path).unwrap();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        // Each field of the header, then the arrays' first, middle and last byte.
        let places = [0, 8, 40, 72, 76, 80, 111, size_of::<Header>(), whole.len() / 2, whole.len() - 1];
        let mut damaged: Vec<Vec<u8>> = places.map(flipped).to_vec();
        let cuts = [0, 1, size_of::<Header>() - 1, size_of::<Header>(), whole.len() / 2, whole.len() - 1];
        damaged.extend(cuts.map(|cut| whole[..cut].to_vec()));
        damaged.push([&whole[..], b"more"].concat());
        // An entry of another scene under this one's name.
        let other = tempfile::tempdir().unwrap();
        self::cache(other.path()).bvh8(&self::scene(105, 1.0));
        damaged.push(fs::read(entries(other.path()).pop().unwrap()).unwrap());
        for (i, bytes) in damaged.iter().enumerate() {
            fs::write(&path, bytes).unwrap();
            let fetched = cache.bvh8(&scene);
            assert_eq!(fetched.report.origin, BvhOrigin::Rebuilt, "damage {i}");
            assert_eq!(fetched.bvh, fresh);
            assert_eq!(cache.bvh8(&scene).report.origin, BvhOrigin::Cached, "after damage {i}");
        }
    }

    #[test]
    fn a_checksum_does_not_make_an_unsound_hierarchy_usable() {
        let (dir, scene) = (tempfile::tempdir().unwrap(), big());
        let cache = cache(dir.path());
        let sound = cache.bvh2(&scene).bvh;
        let path = entries(dir.path()).pop().unwrap();
        let top = sound.nodes.iter().position(|n| n.children.iter().all(|c| c & LEAF_BIT == 0)).unwrap();
        let faults: [fn(&mut Bvh2, usize); 8] = [
            |bvh, top| bvh.nodes[top].children[0] = bvh.nodes.len() as u32,
            |bvh, top| bvh.nodes[top].children[1] = top as u32,
            |bvh, top| bvh.nodes[top].children[0] = LEAF_BIT | (1 << 27),
            |bvh, _| bvh.primitives[77].primitive = 2 * 104 * 104,
            |bvh, _| bvh.root = bvh.nodes.len() as u32,
            |bvh, _| bvh.mesh_roots[0] = LEAF_BIT | bvh.primitives.len() as u32,
            |bvh, _| bvh.mesh_roots.truncate(1),
            |bvh, _| bvh.instance_boxes.truncate(2),
        ];
        for (i, plant) in faults.iter().enumerate() {
            let mut unsound = sound.clone();
            plant(&mut unsound, top);
            store(path.parent().unwrap(), &path, &key::<Bvh2>(&scene), &unsound).unwrap();
            let fetched = cache.bvh2(&scene);
            assert_eq!(fetched.report.origin, BvhOrigin::Rebuilt, "fault {i}");
            assert_eq!(fetched.bvh.nodes, sound.nodes);
        }
    }

    #[test]
    fn blocks_of_boxes_that_are_not_there_make_a_hierarchy_unsound() {
        let scene = big();
        let mut bvh = Bvh8::build(&scene, &Bvh8::SETTINGS);
        assert!(is_valid(&bvh, &scene));
        let behind = bvh.blocks.len() as u32;
        bvh.blocks[7].boxes = behind;
        assert!(!is_valid(&bvh, &scene));
        bvh.blocks[7].boxes = behind - 8;
        assert!(!is_valid(&bvh, &scene), "blocks of primitives are no boxes");
    }

    #[test]
    fn whatever_decides_a_hierarchy_decides_its_name() {
        let keys = [
            key::<Bvh2>(&scene(20, 1.0)),
            key::<Bvh8>(&scene(20, 1.0)),
            key::<Bvh2>(&scene(21, 1.0)),
            key::<Bvh2>(&scene(20, 0.5)),
        ];
        for (i, a) in keys.iter().enumerate() {
            assert!(keys[..i].iter().all(|b| a != b), "key {i}");
        }
        // The camera and colours decide nothing.
        let mut other = SceneData::clone(&scene(20, 1.0));
        other.camera.eye.x += 1.0;
        other.materials[0].base_color.x = 0.25;
        assert_eq!(key::<Bvh2>(&other), keys[0]);
        other.positions[5][1] += 0.01;
        assert_ne!(key::<Bvh2>(&other), keys[0]);
    }

    /// The default of a layout with a leaf of another size.
    #[derive(Debug, Clone)]
    struct Otherwise(Bvh2);

    impl Stored for Otherwise {
        type Node = <Bvh2 as Stored>::Node;
        type Leaf = <Bvh2 as Stored>::Leaf;
        const LAYOUT: Layout = Layout::Bvh2;
        const SETTINGS: BuildSettings = BuildSettings { max_leaf: 2, ..Bvh2::SETTINGS };
        const TESTED_TOGETHER: usize = 1;

        fn build(scene: &SceneData, settings: &BuildSettings) -> Self {
            Self(Bvh2::build(scene, settings))
        }
        fn of_arrays(
            nodes: Vec<Self::Node>,
            leaves: Vec<Self::Leaf>,
            root: u32,
            mesh_roots: Vec<u32>,
            instance_boxes: Vec<[lockstep_core::math::vec3::Vec3; 2]>,
        ) -> Self {
            Self(Bvh2::of_arrays(nodes, leaves, root, mesh_roots, instance_boxes))
        }
        fn parts(&self) -> crate::validate::Parts<'_, Self::Node, Self::Leaf> {
            self.0.parts()
        }
        fn children(node: &Self::Node) -> impl Iterator<Item = (u32, [lockstep_core::math::vec3::Vec3; 2])> {
            Bvh2::children(node)
        }
        fn primitives(&self, leaf: u32) -> Option<impl Iterator<Item = LeafPrimitive>> {
            self.0.primitives(leaf)
        }
    }

    #[test]
    fn other_settings_are_another_entry() {
        let (dir, scene) = (tempfile::tempdir().unwrap(), big());
        let cache = cache(dir.path());
        assert_eq!(cache.bvh2(&scene).report.origin, BvhOrigin::Built);
        assert_eq!(cache.fetch::<Otherwise>(&scene).report.origin, BvhOrigin::Built);
        assert_eq!(cache.fetch::<Otherwise>(&scene).report.origin, BvhOrigin::Cached);
    }

    #[test]
    fn many_who_fetch_at_once_all_get_the_hierarchy_and_leave_one_entry() {
        let (dir, scene) = (tempfile::tempdir().unwrap(), big());
        let fresh = Bvh2::build(&scene, &Bvh2::SETTINGS);
        let start = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    start.wait();
                    let fetched = cache(dir.path()).bvh2(&scene);
                    assert_ne!(fetched.report.origin, BvhOrigin::Rebuilt);
                    assert_eq!(fetched.bvh.nodes, fresh.nodes);
                });
            }
        });
        assert_eq!(entries(dir.path()).len(), 1);
        assert_eq!(cache(dir.path()).bvh2(&scene).report.origin, BvhOrigin::Cached);
    }

    #[test]
    fn the_entries_used_longest_ago_make_room() {
        let dir = tempfile::tempdir().unwrap();
        for (name, age) in [("old", 3), ("older", 4), ("new", 1), ("newer", 0)] {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_len(10).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60 * age)).unwrap();
        }
        make_room(dir.path(), 25).unwrap();
        let mut left: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["new", "newer"]);
    }
}
