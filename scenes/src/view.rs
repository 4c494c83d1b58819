//! The parts of a view that a user gives in place of the scene's own.

use crate::limits::Limits;
use crate::pixels::decode_file;
use lockstep_core::math::vec3::{Vec3, cross, length, normalize, vec3};
use lockstep_core::scene::{Camera, EnvironmentLight};
use lockstep_core::{Error, Result, Scene};
use std::path::PathBuf;

/// Camera and sky in place of the scene's; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Position of the eye.
    pub eye: Option<[f32; 3]>,
    /// A point in the middle of the image.
    pub look_at: Option<[f32; 3]>,
    /// Vertical field of view in degrees, above 0 and below 180.
    pub fov: Option<f32>,
    /// The environment.
    pub sky: Option<Sky>,
}

/// An environment light.
#[derive(Clone, Debug, PartialEq)]
pub enum Sky {
    /// Radiance that is the same in all directions.
    Radiance([f32; 3]),
    /// An equirectangular image, `.hdr`, `.exr` or `.pfm`, as in a `scene.toml`.
    File(PathBuf),
}

impl View {
    /// Whether the view places the eye, so that no camera has to be found.
    pub(crate) fn is_placed(&self) -> bool {
        self.eye.is_some()
    }

    /// The view from a scene's own camera. An eye without a point to look at looks at `middle` where there is
    /// one, else where the camera looks.
    pub(crate) fn camera(&self, own: Camera, middle: Option<Vec3>) -> Camera {
        let mut camera = own;
        camera.eye = self.eye.map_or(own.eye, Vec3::from);
        let looked_at = self.look_at.map(Vec3::from).or(middle.filter(|_| self.eye.is_some()));
        if let Some(point) = looked_at {
            camera.direction = point - camera.eye;
            camera.up = upright(camera.direction, camera.up);
        }
        if let Some(degrees) = self.fov {
            camera.vertical_fov = degrees * (std::f32::consts::PI / 180.0);
        }
        camera
    }

    /// The environment, read from its file where it is one.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that cannot be read, [`Error::Scene`] for one that is no such image, and for
    /// radiance that is negative or not finite.
    pub(crate) fn environment(&self, limits: &Limits) -> Result<Option<EnvironmentLight>> {
        match &self.sky {
            None => Ok(None),
            Some(Sky::Radiance(radiance)) if radiance.iter().all(|v| v.is_finite() && *v >= 0.0) => {
                Ok(Some(EnvironmentLight::Constant((*radiance).into())))
            }
            Some(Sky::Radiance(_)) => {
                Err(Error::scene("sky", "radiance", "it must be finite and not negative"))
            }
            Some(Sky::File(path)) => {
                // The file that a user names may lie anywhere.
                let bytes = limits.read(path)?;
                let image = decode_file(&bytes, path, limits)
                    .map_err(|message| Error::scene(path.to_string_lossy(), "image", message))?
                    .into_radiance();
                Ok(Some(EnvironmentLight::Image {
                    width: image.width,
                    height: image.height,
                    texels: image.rgb,
                    scale: Vec3::splat(1.0),
                    rotation: 0.0,
                }))
            }
        }
    }

    /// A built-in scene in this view.
    ///
    /// # Errors
    /// [`Error::Scene`] for a sky, since built-in scenes have their light, and for a view that is not well
    /// defined.
    pub(crate) fn of_built(&self, scene: Scene) -> Result<Scene> {
        if self.sky.is_some() {
            return Err(Error::scene(&scene.name, "sky", "a built-in scene has its light; leave out --sky"));
        }
        if *self == Self::default() {
            return Ok(scene);
        }
        scene.with_camera(self.camera(scene.camera, None))
    }
}

/// The upward direction of a view: `up` where that is not along the view, else the axis that `up` has least of. Straight down
/// or up, -z is at the top, as north is on maps.
fn upright(direction: Vec3, up: Vec3) -> Vec3 {
    let is_along = length(direction) > 0.0 && length(cross(normalize(direction), normalize(up))) < 1e-4;
    if !is_along {
        return up;
    }
    let axes = [(up.z, vec3(0.0, 0.0, -1.0)), (up.x, vec3(1.0, 0.0, 0.0)), (up.y, vec3(0.0, 1.0, 0.0))];
    axes.into_iter().min_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).map_or(up, |(_, axis)| axis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, load};

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
        let lit = square(View { sky: Some(Sky::Radiance([3.0; 3])), ..View::default() }).unwrap();
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
        assert!(square(View { sky: Some(Sky::Radiance([-1.0; 3])), ..View::default() }).is_err());
        let missing = View { sky: Some(Sky::File("no-such.hdr".into())), ..View::default() };
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
        let message =
            of(View { sky: Some(Sky::Radiance([1.0; 3])), ..View::default() }).unwrap_err().to_string();
        assert!(message.contains("leave out --sky"), "{message}");
    }
}
