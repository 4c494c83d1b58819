//! Displaced surfaces without their triangles.

use lockstep_bvh::{Bvh8, Scratch8};
use lockstep_core::Result;
use lockstep_core::geometry::{FAR, Ray};
use lockstep_core::math::rng::{RayKey, pcg4d, uniforms};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_scenes::{Direct, LoadOptions, Scratch, load};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const SQUARE: &str = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nvt 0 1\nvt 1 1\nvt 1 0\nvt 0 0\nusemtl skin\n\
                      f 4/4 3/3 2/2\nf 4/4 2/2 1/1\n";

/// Four triangles, like a tent, with the normals of a sphere.
const TENT: &str = "v 0 1 0\nv 1 0 0\nv 0 0 -1\nv -1 0 0\nv 0 0 1\nvn 0 1 0\nvn 1 0 0\nvn 0 0 -1\nvn -1 0 0\nvn 0 0 1\n\
                    vt 0 0\nvt 1 0\nvt 0 -1\nvt -1 0\nvt 0 1\nusemtl skin\nf 1/1/1 2/2/2 3/3/3\nf 1/1/1 3/3/3 4/4/4\n\
                    f 1/1/1 4/4/4 5/5/5\nf 1/1/1 5/5/5 2/2/2\n";

/// A scene of one mesh, displaced by random numbers.
fn scene(obj: &str, keys: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.obj"), obj).unwrap();
    let mut map = b"Pf\n12 10\n-1\n".to_vec();
    (0..120).for_each(|i| map.extend(uniforms(pcg4d([i, 5, 6, 7]))[0].to_le_bytes()));
    fs::write(folder.path().join("map.pfm"), map).unwrap();
    let path = folder.path().join("t.toml");
    let text = format!(
        "file = \"t.obj\"\n[camera]\neye = [0, 2, 4]\ntarget = [0, 0, 0]\n[[materials]]\nname = \"skin\"\n\
         displacement = {{ texture = \"map.pfm\", {keys} }}\n"
    );
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// Rays from a ball around the scene to points near its middle.
fn rays() -> Vec<Ray> {
    let point = |i: u32, n: u32| {
        let [x, y, z, _] = uniforms(pcg4d([i, n, 1, 2]));
        vec3(x, y, z) * 2.0 - Vec3::ONE
    };
    let ray = |i| {
        let origin = point(i, 0) * 3.0;
        Ray { origin, t_min: 0.0, direction: point(i, 1) - origin, t_max: FAR }
    };
    (0..2000).map(ray).collect()
}

/// The number of hits, after each distance of both forms was found equal.
fn equal_hits<const G: usize>(obj: &str, keys: &str, kept: usize) -> usize {
    let (_folder, path) = scene(obj, keys);
    let tessellated = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap().scene;
    let (direct, camera) = Direct::<G>::load(&path, &LoadOptions::default()).unwrap();
    assert_eq!(direct.triangles(), tessellated.triangles.len());
    assert_eq!(camera, tessellated.camera);
    let bvh = Bvh8::build(&tessellated, &Bvh8::SETTINGS);
    let (mut of_bvh, mut scratch) = (Scratch8::default(), Scratch::new(kept));
    let mut hits = 0;
    for ray in rays() {
        let expected = bvh.closest_hit(&tessellated, &ray, RayKey::default(), &mut of_bvh);
        assert_eq!(direct.closest_hit(&ray, &mut scratch), expected.t, "{ray:?}");
        assert_eq!(direct.closest_hit_portable(&ray, &mut scratch), expected.t);
        hits += usize::from(expected.is_some());
    }
    assert!(scratch.expansions > 0 && scratch.expansions < scratch.lookups);
    hits
}

#[test]
fn a_field_is_hit_where_its_triangles_are() {
    let keys = "scale = 0.4, wrap = \"clamp\", error = 0.01";
    assert!(equal_hits::<1>(SQUARE, keys, 16) > 300);
    assert!(equal_hits::<8>(SQUARE, keys, 1) > 300);
}

#[test]
fn a_map_that_is_repeated_and_mirrored_along_normals_that_turn_is_hit_where_its_triangles_are() {
    let keys = "scale = 0.1, tiles = [2, 3], error = 0.02";
    assert!(equal_hits::<2>(TENT, keys, 4) > 300);
    assert!(equal_hits::<4>(TENT, &format!("{keys}, wrap = \"mirror\""), 4) > 300);
}

#[test]
fn a_direct_form_refuses_scenes_that_it_would_show_otherwise() {
    let refused = |obj: &str, keys: &str| {
        let (_folder, path) = scene(obj, keys);
        let made: Result<_> = Direct::<4>::load(&path, &LoadOptions::default());
        made.unwrap_err().to_string()
    };
    let vector = refused(SQUARE, "scale = 0.1, vector = \"object\"");
    assert!(vector.contains("heights along normals"), "{vector}");
    let bare = refused(&format!("{SQUARE}usemtl other\nf 1 2 3\n"), "scale = 0.1");
    assert!(bare.contains("all surfaces displaced"), "{bare}");
}
