//! Connections of light paths to the camera, and the density of camera rays (Veach 1997, section 8.3.2;
//! Pharr, Jakob and Humphreys, Physically Based Rendering, 4th edition, section 5.4). The counterpart is
//! `kernels/scene/camera_importance.h`.

use lockstep_core::math::floor_to_i32;
use lockstep_core::math::sampling::uniform_disk;
use lockstep_core::math::vec3::{Vec3, dot, normalize};
use lockstep_core::scene::camera::CameraFrame;

/// A sampled point of the lens, seen from a point of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraSample {
    /// The pixel whose sample the connection adds to, `y * width + x`.
    pub pixel: u32,
    /// Unit direction from the point of the scene to the lens.
    pub direction: Vec3,
    /// Distance to the lens.
    pub distance: f32,
    /// Importance of the pixel times the cosine at the lens, over the density of the point on the lens. An
    /// area A that shows radiance L under a cosine adds `L * importance * A * cosine / distance²` to the
    /// pixel.
    ///
    /// Camera rays are sampled in proportion to importance, with the weight one. So this is also the density
    /// per solid angle with which [`CameraFrame::ray`] chooses the opposite direction for this pixel.
    pub importance: f32,
}

/// Area of a pixel on the plane at unit distance from the eye.
#[inline(always)]
fn pixel_area(frame: &CameraFrame) -> f32 {
    let right = dot(frame.right, frame.right);
    let up = dot(frame.up, frame.up);
    4.0 * (right * up).sqrt() / (frame.width as f32 * frame.height as f32)
}

/// Number of pixels of the film, which is also the number of light sub-paths of a sample index.
#[inline(always)]
pub fn pixels(frame: &CameraFrame) -> f32 {
    frame.width as f32 * frame.height as f32
}

/// Density per solid angle with which [`CameraFrame::ray`] chooses this unit direction for its pixel.
#[inline(always)]
pub fn direction_pdf(frame: &CameraFrame, direction: Vec3) -> f32 {
    let cosine = dot(direction, frame.forward);
    1.0 / (pixel_area(frame) * cosine * cosine * cosine)
}

/// Connects a point of the scene to a point of the lens chosen by the draws `u`; `None` for points that the
/// film does not show.
#[inline(always)]
pub fn connect(frame: &CameraFrame, p: Vec3, u: [f32; 2]) -> Option<CameraSample> {
    // Sample the lens
    let mut lens = frame.eye;
    if frame.lens_radius > 0.0 {
        let d = uniform_disk(u[0], u[1]);
        lens = frame.eye + (normalize(frame.right) * d[0] + normalize(frame.up) * d[1]) * frame.lens_radius;
    }
    let to_point = p - lens;
    let depth = dot(to_point, frame.forward);
    if depth.is_nan() || depth <= 0.0 {
        return None;
    }
    // Project onto the plane at unit distance from the eye; through a lens, points in the plane in focus stay
    // in place
    let mut through = to_point * (1.0 / depth);
    if frame.lens_radius > 0.0 {
        let focus = lens + through * frame.focus_distance;
        through = (focus - frame.eye) * (1.0 / frame.focus_distance);
    }
    let x = dot(through, frame.right) / dot(frame.right, frame.right);
    let y = dot(through, frame.up) / dot(frame.up, frame.up);
    // Find the pixel
    let column = 0.5 * (x + 1.0) * frame.width as f32;
    let row = 0.5 * (1.0 - y) * frame.height as f32;
    if !(column >= 0.0 && column < frame.width as f32 && row >= 0.0 && row < frame.height as f32) {
        return None;
    }
    let pixel = floor_to_i32(row) as u32 * frame.width + floor_to_i32(column) as u32;
    // Importance of the pixel: its mean radiance is the integral of importance times radiance
    let distance = dot(to_point, to_point).sqrt();
    let cosine = depth / distance;
    let importance = 1.0 / (pixel_area(frame) * cosine * cosine * cosine);
    Some(CameraSample { pixel, direction: to_point * (-1.0 / distance), distance, importance })
}

#[cfg(test)]
mod tests;
