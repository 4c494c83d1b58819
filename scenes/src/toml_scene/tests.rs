use crate::{LoadOptions, load};
use std::fs;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl grey\nf 1 2 3\n";

fn loaded(toml: &str) -> Result<crate::LoadedScene, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.obj"), TRIANGLE).unwrap();
    let path = folder.path().join("view.toml");
    fs::write(&path, toml).unwrap();
    load(path.to_str().unwrap(), &LoadOptions::default()).map_err(|e| e.to_string())
}

fn refused(toml: &str, words: &str) {
    let message = loaded(toml).unwrap_err();
    assert!(message.contains(words), "{message}");
}

const CAMERA: &str = "file = \"t.obj\"\n[camera]\neye = [0, 0, 5]\ntarget = [0, 0, 0]\nfov = 30\n";

#[test]
fn a_document_adds_camera_and_light() {
    let toml = format!(
        "{CAMERA}[sky]\nkind = \"constant\"\nradiance = [1, 1, 1]\n[sun]\ntowards = [0, 1, 0]\nirradiance = [3, 3, 3]\n"
    );
    let scene = loaded(&toml).unwrap().scene;
    assert_eq!((scene.name.as_str(), scene.camera.eye.z, scene.camera.direction.z), ("view", 5.0, -5.0));
    assert_eq!((scene.lights.len(), scene.environment.zenith.x), (2, 1.0));
    assert!((scene.camera.vertical_fov - 0.523_598_8).abs() < 1e-6);
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    refused("file = \"t.obj\"\n\n[camrea]\neye = [0,0,1]\n", "line 3, column 2: unknown field `camrea`");
    refused("file = \"t.obj\"\n[camrea]\n", "(did you mean `camera`?)");
    refused("file = \"t.obj\"\n[sky]\nkind = \"gradeint\"\n", "(did you mean `gradient`?)");
}

#[test]
fn wrong_values_name_line_and_column() {
    refused("file = \"t.obj\"\n[camera]\neye = [0, 0]\n", "line 3, column 7");
    refused("file = 3\n", "line 1, column 8");
    refused("file = \"t.obj\"\n[camera\n", "line 2");
    refused(&format!("{CAMERA}up = [0, 0, 0]\n"), "line 2, column 1: up must not be zero");
    refused(
        &format!("{CAMERA}[sky]\nkind = \"constant\"\n"),
        "line 6, column 1: a sky of this kind needs `radiance`",
    );
    refused(
        &format!("{CAMERA}[sun]\ntowards = [0,0,0]\nirradiance = [1,1,1]\n"),
        "line 6, column 1: a direction",
    );
}

#[test]
fn missing_files_are_named() {
    refused("file = \"u.obj\"\n", "line 1, column 8: there is no file `u.obj`");
}

#[test]
fn materials_are_changed_by_name() {
    let toml = format!("{CAMERA}[[materials]]\nname = \"grey\"\nkind = \"conductor\"\nroughness = 0.25\n");
    let scene = loaded(&toml).unwrap().scene;
    assert_eq!((scene.materials[0].kind, scene.materials[0].roughness), (1, 0.25));
    refused(&format!("{CAMERA}[[materials]]\nname = \"gray\"\n"), "no material `gray`; did you mean `grey`?");
}
