use crate::cache::entry::{Header, store};
use crate::cache::eviction::evict;
use crate::cache::key::key;
use crate::cache::*;
use crate::layout::bvh2::LEAF_BIT;
use crate::validate::is_valid;
use crate::{BuildSettings, LeafPrimitive};
use lockstep_core::scene::{AlphaMode, Flatten, IDENTITY, Material, MeshData, Scene, SceneBuilder, Sphere};
use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::time::SystemTime;

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
    BvhCache::new(Some(folder.join("bvh")))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(folder.join("bvh")) else { return Vec::new() };
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn the_second_fetch_brings_the_same_bits_from_the_cache() {
    let (dir, scene) = (tempfile::tempdir().unwrap(), big());
    for layout in [Layout::Bvh2, Layout::Bvh8] {
        let fresh = Bvh::build(&scene, layout);
        for origin in [BvhOrigin::Built, BvhOrigin::Cached] {
            let fetched = cache(dir.path()).bvh(&scene, layout);
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
fn a_checksum_does_not_make_an_invalid_bvh_usable() {
    let (dir, scene) = (tempfile::tempdir().unwrap(), big());
    let cache = cache(dir.path());
    let valid = cache.bvh2(&scene).bvh;
    let path = entries(dir.path()).pop().unwrap();
    let top = valid.nodes.iter().position(|n| n.children.iter().all(|c| c & LEAF_BIT == 0)).unwrap();
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
        let mut invalid = valid.clone();
        plant(&mut invalid, top);
        store(path.parent().unwrap(), &path, &key::<Bvh2>(&scene), &invalid).unwrap();
        let fetched = cache.bvh2(&scene);
        assert_eq!(fetched.report.origin, BvhOrigin::Rebuilt, "fault {i}");
        assert_eq!(fetched.bvh.nodes, valid.nodes);
    }
}

#[test]
fn blocks_of_boxes_that_are_not_there_make_a_bvh_invalid() {
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
fn everything_that_decides_a_bvh_decides_its_key() {
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
struct OtherLeafSize(Bvh2);

impl Stored for OtherLeafSize {
    type Node = <Bvh2 as Stored>::Node;
    type Leaf = <Bvh2 as Stored>::Leaf;
    const LAYOUT: Layout = Layout::Bvh2;
    const SETTINGS: BuildSettings = BuildSettings { max_leaf: 2, ..Bvh2::SETTINGS };
    const LEAF_WIDTH: usize = 1;

    fn build(scene: &SceneData, settings: &BuildSettings) -> Self {
        Self(Bvh2::build(scene, settings))
    }
    fn from_arrays(
        nodes: Vec<Self::Node>,
        leaves: Vec<Self::Leaf>,
        root: u32,
        mesh_roots: Vec<u32>,
        instance_boxes: Vec<[lockstep_core::math::vec3::Vec3; 2]>,
    ) -> Self {
        Self(Bvh2::from_arrays(nodes, leaves, root, mesh_roots, instance_boxes))
    }
    fn view(&self) -> crate::validate::BvhArrays<'_, Self::Node, Self::Leaf> {
        self.0.view()
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
    assert_eq!(cache.fetch::<OtherLeafSize>(&scene).report.origin, BvhOrigin::Built);
    assert_eq!(cache.fetch::<OtherLeafSize>(&scene).report.origin, BvhOrigin::Cached);
}

#[test]
fn concurrent_fetches_get_the_same_bvh_and_leave_one_entry() {
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
fn opening_the_folder_removes_what_a_killed_process_left() {
    let (dir, scene) = (tempfile::tempdir().unwrap(), big());
    cache(dir.path()).bvh2(&scene);
    let left = dir.path().join("bvh").join("0123.4294967295-0.tmp");
    let file = File::create(&left).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60)).unwrap();
    assert_eq!(cache(dir.path()).bvh2(&scene).report.origin, BvhOrigin::Cached);
    assert!(!left.exists());
    assert_eq!(entries(dir.path()).len(), 1);
}

#[test]
fn the_entries_used_longest_ago_evict() {
    let dir = tempfile::tempdir().unwrap();
    for (name, age) in [("old", 3), ("older", 4), ("new", 1), ("newer", 0)] {
        let file = File::create(dir.path().join(name)).unwrap();
        file.set_len(10).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60 * age)).unwrap();
    }
    evict(dir.path(), 25).unwrap();
    let mut left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["new", "newer"]);
}

#[test]
fn who_waits_for_a_builder_that_never_ends_builds_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key.lock");
    let first = Building::begin(path.clone(), Duration::ZERO).unwrap();
    assert!(Building::begin(path.clone(), Duration::from_millis(20)).is_none());
    drop(first);
    assert!(Building::begin(path, Duration::ZERO).is_some());
}
