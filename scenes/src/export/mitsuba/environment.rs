//! The environment light.

use super::{Export, rgb};
use crate::export::notes::Feature;
use crate::export::pfm;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{EnvironmentKind, environment_radiance};
use std::f64::consts::PI;

/// Columns of the image of a gradient, which is the same all around.
const GRADIENT_COLUMNS: usize = 8;

/// Rows of a gradient's image above and below the horizon. Radiance is linear in the direction's height; between two rows
/// of this many, it is off a straight line by at most 2e-6.
const GRADIENT_ROWS: usize = 512;

impl Export<'_> {
    pub(super) fn environment(&mut self) -> Result<()> {
        let environment = self.scene.environment;
        if environment.kind == EnvironmentKind::Constant as u32 {
            if environment.zenith != Vec3::ZERO {
                self.line("  <emitter type=\"constant\">");
                self.line(format!("    {}", rgb("radiance", environment.zenith)));
                self.line("  </emitter>");
            }
            return Ok(());
        }
        // Our rows lie half a texel from the edge, Mitsuba's at it: twice as many are ours and the middles between them, so
        // that the image is the same between all of them. Columns lie alike, but begin a quarter turn earlier.
        let is_image = environment.kind == EnvironmentKind::Image as u32;
        let (columns, rows) = match is_image {
            true => (environment.image_width as usize, 2 * environment.image_height as usize + 1),
            false => (GRADIENT_COLUMNS, 2 * GRADIENT_ROWS + 1),
        };
        let turned = (f64::from(environment.rotation) + 0.25) * columns as f64;
        if is_image && (turned - turned.round()).abs() > 1e-3 {
            self.notes.add(
                Feature::Environment,
                "the columns of the sky's image lie between those of Mitsuba's, so that it is blurred by up to a texel",
            );
        }
        let direction = |column: usize, row: usize| {
            let phi = 2.0 * PI * (column as f64 + 0.5) / columns as f64;
            let theta = PI * row as f64 / (rows - 1) as f64;
            let (around, y) = (theta.sin(), theta.cos());
            vec3((phi.sin() * around) as f32, y as f32, (-phi.cos() * around) as f32)
        };
        let texels = &self.scene.environment_texels;
        let at = |i: usize| {
            environment_radiance(&environment, texels, direction(i % columns, i / columns)).to_array()
        };
        let pixels: Vec<[f32; 3]> = (0..columns * rows).map(at).collect();
        pfm::write(&self.folder.join("sky.pfm"), columns, &pixels)?;
        self.line("  <emitter type=\"envmap\">");
        self.line("    <string name=\"filename\" value=\"sky.pfm\"/>");
        self.line("  </emitter>");
        Ok(())
    }
}
