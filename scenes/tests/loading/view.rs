//! Views that change a scene's camera and sky.

use lockstep_core::math::vec3::vec3;
use lockstep_core::scene::Camera;
use lockstep_core::{Result, Scene};
use lockstep_scenes::{EnvironmentOverride, LoadOptions, View, load};

/// A square of 2 by 2 about the origin, facing +z.
const SQUARE: &str = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n";

fn square(view: View) -> Result<Scene> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("square.obj");
    std::fs::write(&path, SQUARE).unwrap();
    let loaded = load(path.to_str().unwrap(), &LoadOptions { view, ..LoadOptions::default() })?;
    assert!(loaded.warnings.iter().all(|w| w.to_string().contains("square.obj")));
    Ok(loaded.scene)
}

#[test]
fn an_eye_alone_looks_at_the_middle_of_a_file_without_a_camera() {
    let scene = square(View { eye: Some([0.0, 3.0, 4.0]), ..View::default() }).unwrap();
    assert_eq!((scene.camera.eye, scene.camera.direction), (vec3(0.0, 3.0, 4.0), vec3(0.0, -3.0, -4.0)));
    let view = View { eye: Some([0.0, 0.0, 4.0]), look_at: Some([1.0, 0.0, 0.0]), ..View::default() };
    assert_eq!(square(view).unwrap().camera.direction, vec3(1.0, 0.0, -4.0));
}

#[test]
fn a_view_straight_down_has_an_upward_direction_of_its_own() {
    let above = View { eye: Some([0.0, 5.0, 0.0]), look_at: Some([0.0; 3]), ..View::default() };
    let camera = square(above).unwrap().camera;
    assert_eq!((camera.direction, camera.up), (vec3(0.0, -5.0, 0.0), vec3(0.0, 0.0, -1.0)));
    let aslant = View { eye: Some([0.0, 5.0, 0.1]), look_at: Some([0.0; 3]), ..View::default() };
    assert_eq!(square(aslant).unwrap().camera.up, Camera::default().up);
}

#[test]
fn a_view_changes_only_what_it_names() {
    let plain = square(View::default()).unwrap();
    let wide = square(View { fov: Some(90.0), ..View::default() }).unwrap();
    assert_eq!((wide.camera.eye, wide.camera.direction), (plain.camera.eye, plain.camera.direction));
    assert!((wide.camera.vertical_fov - std::f32::consts::FRAC_PI_2).abs() < 1e-6);
    let lit = square(View { environment: Some(EnvironmentOverride::Radiance([3.0; 3])), ..View::default() })
        .unwrap();
    assert_eq!(lit.camera, plain.camera);
    assert_ne!(lit.hash, plain.hash);
}

#[test]
fn a_view_that_shows_nothing_and_a_sky_that_is_no_image_are_errors() {
    for fov in [0.0, -1.0, 180.0, f32::NAN] {
        assert!(square(View { fov: Some(fov), ..View::default() }).is_err(), "{fov}");
    }
    let at = Some([0.0, 0.0, 4.0]);
    assert!(square(View { eye: at, look_at: at, ..View::default() }).is_err());
    assert!(
        square(View { environment: Some(EnvironmentOverride::Radiance([-1.0; 3])), ..View::default() })
            .is_err()
    );
    let missing =
        View { environment: Some(EnvironmentOverride::File("no-such.hdr".into())), ..View::default() };
    assert!(square(missing).unwrap_err().to_string().contains("no-such.hdr"));
}

#[test]
fn a_built_in_scene_has_another_camera_on_request_but_its_own_light() {
    let of = |view| load("cornell", &LoadOptions { view, ..LoadOptions::default() });
    let plain = of(View::default()).unwrap().scene;
    let moved = of(View { eye: Some([0.1, 0.2, 0.3]), ..View::default() }).unwrap().scene;
    assert_eq!(moved.camera.eye, vec3(0.1, 0.2, 0.3));
    assert_eq!(moved.camera.direction, plain.camera.direction);
    assert_ne!(moved.hash, plain.hash, "a reference or study of the other view is not taken for it");
    let message = of(View { environment: Some(EnvironmentOverride::Radiance([1.0; 3])), ..View::default() })
        .unwrap_err()
        .to_string();
    assert!(message.contains("leave out --sky"), "{message}");
}
