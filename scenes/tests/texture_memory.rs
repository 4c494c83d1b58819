//! The memory that textures take while they are loaded: their texels as the scene keeps them, and little else.

#![allow(clippy::unwrap_used)]

use lockstep_scenes::{LoadOptions, load};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with the bytes that are taken now and at most.
struct Counted;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counted = Counted;

// SAFETY: the system's allocator does all the work, by its own contract, which is the caller's.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above; every block comes from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

const SIDE: u32 = 1024;

fn png(path: &Path, color: png::ColorType, depth: png::BitDepth) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).unwrap(), SIDE, SIDE);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let bytes = color.samples() * if depth == png::BitDepth::Sixteen { 2 } else { 1 };
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![77; bytes * (SIDE * SIDE) as usize]).unwrap();
    writer.finish().unwrap();
}

/// A glTF file with a triangle of each of `count` images.
fn document(count: usize) -> String {
    let list = |item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"asset":{{"version":"2.0"}},"images":[{}],"textures":[{}],"materials":[{}],
"accessors":[{{"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[0,0,0]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"nodes":[{{"mesh":0}}],"scenes":[{{"nodes":[0]}}]}}"#,
        list(&|i| format!(r#"{{"uri":"{i}.png"}}"#)),
        list(&|i| format!(r#"{{"source":{i}}}"#)),
        list(&|i| format!(r#"{{"pbrMetallicRoughness":{{"baseColorTexture":{{"index":{i}}}}}}}"#)),
    )
}

#[test]
fn images_of_a_gltf_file_take_the_memory_of_their_texels_once() {
    use png::{BitDepth, ColorType};
    let folder = tempfile::tempdir().unwrap();
    let kinds = [
        (ColorType::Rgb, BitDepth::Eight),
        (ColorType::Rgba, BitDepth::Eight),
        (ColorType::Grayscale, BitDepth::Eight),
        (ColorType::Rgba, BitDepth::Sixteen),
    ];
    for (i, (color, depth)) in kinds.into_iter().enumerate() {
        png(&folder.path().join(format!("{i}.png")), color, depth);
    }
    let path = folder.path().join("t.gltf");
    std::fs::write(&path, document(kinds.len())).unwrap();
    MOST.store(NOW.load(Relaxed), Relaxed);
    let before = NOW.load(Relaxed);
    let loaded = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
    let (kept, most) = (4 * loaded.scene.texels.len(), MOST.load(Relaxed) - before);
    assert_eq!(kept, kinds.len() * 4 * (SIDE * SIDE) as usize);
    // A copy of one image alone would be 4 MiB more.
    assert!(most < kept + (2 << 20), "{most} bytes at most for {kept} bytes of texels");
}
