//! The environment light.

use super::{Export, triple};
use crate::export::images;
use crate::export::notes::Feature;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{EnvironmentKind, environment_radiance};
use std::f64::consts::FRAC_PI_4;

/// Rows and columns of an octahedral image.
const SIDE: usize = 1024;

impl Export<'_> {
    pub(super) fn environment(&mut self) -> Result<()> {
        let environment = &self.scene.environment;
        if environment.kind == EnvironmentKind::Constant as u32 {
            if environment.zenith != Vec3::ZERO {
                self.line(format_args!(
                    "LightSource \"infinite\" \"rgb L\" [ {} ]",
                    triple(environment.zenith)
                ));
            }
            return Ok(());
        }
        self.notes.add(
            Feature::Environment,
            format!("the sky is sampled anew, into an octahedral image of {SIDE}×{SIDE} pixels"),
        );
        let radiance = |i: usize| {
            let at = |k: usize| (k as f64 + 0.5) / SIDE as f64;
            let [x, y, z] = equal_area_square_to_sphere([at(i % SIDE), at(i / SIDE)]);
            // Its axis is z: the rotation below turns that to y.
            let direction = vec3(x as f32, z as f32, -y as f32);
            environment_radiance(environment, &self.scene.environment_texels, direction).to_array()
        };
        let pixels: Vec<[f32; 3]> = (0..SIDE * SIDE).map(radiance).collect();
        images::write_exr(&self.folder.join("sky.exr"), SIDE, &pixels)?;
        self.line("AttributeBegin");
        self.line("    Rotate -90 1 0 0");
        self.line("    LightSource \"infinite\" \"string filename\" [ \"sky.exr\" ]");
        self.line("AttributeEnd");
        Ok(())
    }
}

/// The direction of a point of the unit square, by which areas are in proportion (Clarberg 2008).
fn equal_area_square_to_sphere([x, y]: [f64; 2]) -> [f64; 3] {
    let (u, v) = (2.0 * x - 1.0, 2.0 * y - 1.0);
    // Radius in the square's diamond: 1 on the equator.
    let signed = 1.0 - (u.abs() + v.abs());
    let r = 1.0 - signed.abs();
    let phi = if r == 0.0 { FRAC_PI_4 } else { ((v.abs() - u.abs()) / r + 1.0) * FRAC_PI_4 };
    let z = (1.0 - r * r).copysign(signed);
    let ring = r * (2.0 - r * r).sqrt();
    let (sin, cos) = phi.sin_cos();
    [cos.copysign(u) * ring, sin.copysign(v) * ring, z]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_1_SQRT_2;

    #[test]
    fn the_square_covers_the_sphere_evenly() {
        let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near(equal_area_square_to_sphere([0.5, 0.5]), [0.0, 0.0, 1.0]));
        assert!(near(equal_area_square_to_sphere([0.75, 0.75]), [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0]));
        assert!(near(equal_area_square_to_sphere([1.0, 0.5]), [1.0, 0.0, 0.0]));
        assert!(near(equal_area_square_to_sphere([1.0, 1.0]), [0.0, 0.0, -1.0]));
        // Moments of an even density: means are 0, and means of squares a third.
        let n = 256;
        let all = (0..n * n).map(|i| [(i % n) as f64 + 0.5, (i / n) as f64 + 0.5].map(|k| k / n as f64));
        let mut squares = [0.0; 3];
        for d in all.map(equal_area_square_to_sphere) {
            assert!((d.iter().map(|c| c * c).sum::<f64>() - 1.0).abs() < 1e-9);
            squares.iter_mut().zip(d).for_each(|(sum, c)| *sum += c * c / (n * n) as f64);
        }
        assert!(squares.iter().all(|s| (s - 1.0 / 3.0).abs() < 1e-4), "{squares:?}");
    }
}
