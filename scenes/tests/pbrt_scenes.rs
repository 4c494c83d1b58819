//! A scene of pbrt that others made: the Country Kitchen by Jay-Artist, version 3, in `$LOCKSTEP_SCENES/kitchen`.
//! Without it the test is skipped.

#![allow(clippy::unwrap_used)]

use lockstep_core::scene::{LightKind, MaterialKind};
use lockstep_scenes::{LoadOptions, load};
use std::path::PathBuf;

/// A file or folder of `$LOCKSTEP_SCENES`.
fn data(name: &str) -> Result<PathBuf, String> {
    let folder = std::env::var_os("LOCKSTEP_SCENES").map(PathBuf::from);
    let path = folder.map(|folder| folder.join(name)).filter(|path| path.exists());
    path.ok_or_else(|| format!("$LOCKSTEP_SCENES has no `{name}`. Unpack it there"))
}

#[test]
fn the_kitchen_loads_with_its_lamps_and_view() {
    let Some(path) = lockstep_require::present("kitchen", data("kitchen/scene.pbrt")) else {
        return;
    };
    let loaded = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
    let scene = &loaded.scene;
    assert_eq!(scene.name, "kitchen");
    // The radio's glass, of 960 triangles, lets all rays pass.
    assert_eq!(scene.triangles.len(), 1_443_517 - 960);
    // Four lamps of two triangles, and no sky beside them.
    assert_eq!(scene.lights.len(), 8);
    assert!(scene.lights.iter().all(|light| light.kind == LightKind::Triangle as u32));
    // Every material is one of these models, and all images are there.
    let count = |kind: MaterialKind| scene.materials.iter().filter(|m| m.kind == kind as u32).count();
    assert!(count(MaterialKind::Conductor) > 10 && count(MaterialKind::Principled) > 10);
    assert!(!loaded.warnings.iter().any(|warning| warning.message.contains("left out")));
    let degrees = scene.camera.vertical_fov.to_degrees();
    assert!((degrees - 35.983_4).abs() < 1e-3, "the film is wider than high: {degrees}");
}
