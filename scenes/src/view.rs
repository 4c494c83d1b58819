//! The parts of a view that a user gives in place of the scene's own.

use crate::limits::Limits;
use crate::pixels::decode_file;
use lockstep_core::math::vec3::{Vec3, cross, length, normalize, vec3};
use lockstep_core::scene::{Camera, EnvironmentLight};
use lockstep_core::{Error, Result, Scene};
use std::path::PathBuf;

/// Camera and environment light in place of the scene's; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Position of the eye.
    pub eye: Option<[f32; 3]>,
    /// A point in the middle of the image.
    pub look_at: Option<[f32; 3]>,
    /// Vertical field of view in degrees, above 0 and below 180.
    pub fov: Option<f32>,
    /// The environment.
    pub environment: Option<EnvironmentOverride>,
}

/// An environment light in place of the scene's own.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvironmentOverride {
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
        match &self.environment {
            None => Ok(None),
            Some(EnvironmentOverride::Radiance(radiance))
                if radiance.iter().all(|v| v.is_finite() && *v >= 0.0) =>
            {
                Ok(Some(EnvironmentLight::Constant((*radiance).into())))
            }
            Some(EnvironmentOverride::Radiance(_)) => {
                Err(Error::scene("sky", "radiance", "it must be finite and not negative"))
            }
            Some(EnvironmentOverride::File(path)) => {
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
        if self.environment.is_some() {
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
