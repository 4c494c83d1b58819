//! Pinhole and thin-lens cameras with a box pixel filter.
//!
//! The counterpart of [`CameraFrame::ray`] is `kernels/scene/camera.h`.

use crate::error::{Error, Result};
use crate::math;
use crate::math::sampling::uniform_disk;
use crate::math::vec3::{Vec3, cross, dot, length, normalize, vec3};
use bytemuck::{Pod, Zeroable};

/// A view of a scene, independent of the film's size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the eye (centre of the lens).
    pub eye: Vec3,
    /// Viewing direction; any length but zero.
    pub direction: Vec3,
    /// Up direction; not parallel to `direction`.
    pub up: Vec3,
    /// Vertical field of view in radians, above 0 and below pi.
    pub vertical_fov: f32,
    /// Radius of the thin lens; zero for a pinhole.
    pub lens_radius: f32,
    /// Distance along `direction` of the plane in focus; positive.
    pub focus_distance: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            eye: vec3(0.0, 0.0, 4.0),
            direction: vec3(0.0, 0.0, -1.0),
            up: vec3(0.0, 1.0, 0.0),
            vertical_fov: std::f32::consts::FRAC_PI_4,
            lens_radius: 0.0,
            focus_distance: 1.0,
        }
    }
}

/// A camera fitted to a film, as devices receive it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct CameraFrame {
    /// Position of the eye.
    pub eye: Vec3,
    /// Radius of the thin lens.
    pub lens_radius: f32,
    /// Vector from the image's centre to its right edge, at unit distance.
    pub right: Vec3,
    /// Distance of the plane in focus.
    pub focus_distance: f32,
    /// Vector from the image's centre to its top edge, at unit distance.
    pub up: Vec3,
    /// Film width in pixels.
    pub width: u32,
    /// Unit viewing direction.
    pub forward: Vec3,
    /// Film height in pixels.
    pub height: u32,
}

impl Camera {
    /// Checks that the view is well defined.
    ///
    /// # Errors
    /// [`Error::Scene`] naming the invalid field.
    pub fn validate(&self, scene: &str) -> Result<()> {
        let wrong = |message: &str| Err(Error::scene(scene, "camera", message));
        if !(self.eye.is_finite() && self.direction.is_finite() && self.up.is_finite()) {
            return wrong("eye, direction and up must be finite");
        }
        if length(self.direction) == 0.0 {
            return wrong("direction must not be zero");
        }
        if length(cross(normalize(self.direction), normalize(self.up))) < 1e-4 {
            return wrong("up must not be zero or parallel to direction");
        }
        if !(self.vertical_fov > 1e-4 && self.vertical_fov < math::PI - 1e-4) {
            return wrong("the vertical field of view must lie between 0 and 180 degrees");
        }
        if !(self.lens_radius >= 0.0 && self.lens_radius.is_finite()) {
            return wrong("the lens radius must be zero or positive");
        }
        if !(self.focus_distance > 0.0 && self.focus_distance.is_finite()) {
            return wrong("the focus distance must be positive");
        }
        Ok(())
    }

    /// The camera for a film of `width` by `height` pixels.
    pub fn frame(&self, width: u32, height: u32) -> CameraFrame {
        let forward = normalize(self.direction);
        let right = normalize(cross(forward, self.up));
        let up = cross(right, forward);
        let half_height = math::tan(0.5 * self.vertical_fov);
        let half_width = half_height * (width as f32 / height as f32);
        CameraFrame {
            eye: self.eye,
            lens_radius: self.lens_radius,
            right: right * half_width,
            focus_distance: self.focus_distance,
            up: up * half_height,
            width,
            forward,
            height,
        }
    }

    /// The camera whose [`Camera::hash_bytes`] are these fields; `None` for another number of them.
    pub(crate) fn from_fields(fields: &[f32]) -> Option<Self> {
        let &[ex, ey, ez, dx, dy, dz, ux, uy, uz, vertical_fov, lens_radius, focus_distance] = fields else {
            return None;
        };
        let (eye, direction, up) = (vec3(ex, ey, ez), vec3(dx, dy, dz), vec3(ux, uy, uz));
        Some(Self { eye, direction, up, vertical_fov, lens_radius, focus_distance })
    }

    /// The fields as bytes, for hashing and packing.
    pub(crate) fn hash_bytes(&self) -> Vec<u8> {
        let fields: [f32; 12] = [
            self.eye.x,
            self.eye.y,
            self.eye.z,
            self.direction.x,
            self.direction.y,
            self.direction.z,
            self.up.x,
            self.up.y,
            self.up.z,
            self.vertical_fov,
            self.lens_radius,
            self.focus_distance,
        ];
        bytemuck::cast_slice(&fields).to_vec()
    }
}

impl CameraFrame {
    /// The camera ray through `pixel` (`y * width + x`) for the draws `u` (film x, film y, lens u, lens v):
    /// origin and unit direction.
    #[inline(always)]
    pub fn ray(&self, pixel: u32, u: [f32; 4]) -> (Vec3, Vec3) {
        self.ray_through(self.column_and_row(pixel), u)
    }

    /// The position of a pixel on the film.
    #[inline(always)]
    pub fn column_and_row(&self, pixel: u32) -> [f32; 2] {
        let row = pixel / self.width;
        [(pixel - row * self.width) as f32, row as f32]
    }

    /// The camera ray through the pixel in a column and row.
    #[inline(always)]
    pub fn ray_through(&self, [column, row]: [f32; 2], u: [f32; 4]) -> (Vec3, Vec3) {
        let x = 2.0 * ((column + u[0]) / self.width as f32) - 1.0;
        let y = 1.0 - 2.0 * ((row + u[1]) / self.height as f32);
        let through = self.right * x + self.up * y + self.forward;
        if self.lens_radius == 0.0 {
            return (self.eye, normalize(through));
        }
        // Rays from all points of the lens meet in the plane in focus.
        let on_lens = uniform_disk(u[2], u[3]);
        let right = normalize(self.right);
        let up = normalize(self.up);
        let origin = self.eye + (right * on_lens[0] + up * on_lens[1]) * self.lens_radius;
        let focus = self.eye + through * self.focus_distance;
        (origin, normalize(focus - origin))
    }

    /// Depth of `p` along the viewing direction.
    pub fn depth(&self, p: Vec3) -> f32 {
        dot(p - self.eye, self.forward)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_centre_of_the_film_looks_forward() {
        let frame = Camera::default().frame(3, 3);
        let (o, d) = frame.ray(4, [0.5, 0.5, 0.0, 0.0]);
        assert_eq!(o, Camera::default().eye);
        assert!(length(d - vec3(0.0, 0.0, -1.0)) < 1e-6);
    }

    #[test]
    fn the_top_left_pixel_looks_up_and_left() {
        let frame = Camera { vertical_fov: math::PI / 2.0, ..Camera::default() }.frame(200, 100);
        let (_, d) = frame.ray(0, [0.0; 4]);
        // At unit distance the corner lies 2 to the left and 1 up.
        assert!((d.x / -d.z + 2.0).abs() < 1e-5 && (d.y / -d.z - 1.0).abs() < 1e-5, "{d:?}");
    }

    #[test]
    fn all_lens_points_agree_in_the_focal_plane() {
        let camera = Camera { lens_radius: 0.5, focus_distance: 3.0, ..Camera::default() };
        let frame = camera.frame(64, 64);
        let at_focus = |u: [f32; 4]| {
            let (o, d) = frame.ray(100, u);
            o + d * (3.0 / dot(d, frame.forward))
        };
        let reference = at_focus([0.3, 0.7, 0.0, 0.0]);
        for i in 0..64 {
            let p = at_focus([0.3, 0.7, i as f32 / 64.0, (i * 7 % 64) as f32 / 64.0]);
            assert!(length(p - reference) < 1e-5);
        }
    }

    #[test]
    fn ill_defined_views_are_refused() {
        let good = Camera::default();
        assert!(good.validate("s").is_ok());
        for bad in [
            Camera { direction: Vec3::ZERO, ..good },
            Camera { up: good.direction, ..good },
            Camera { vertical_fov: 0.0, ..good },
            Camera { vertical_fov: f32::NAN, ..good },
            Camera { focus_distance: -1.0, ..good },
            Camera { eye: vec3(f32::INFINITY, 0.0, 0.0), ..good },
        ] {
            assert!(bad.validate("s").is_err(), "{bad:?}");
        }
    }
}
