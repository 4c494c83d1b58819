//! Radiance of the environment. The counterpart is `kernels/scene/environment.h`.

use super::{Environment, EnvironmentKind};
use crate::math::vec3::{Vec3, lerp, vec3};
use crate::math::{PI, acos, atan2_turns, floor_to_i32, fract, saturate};

/// Radiance of the environment. An image's columns run from +x over +z; `rotation` turns it.
#[inline(always)]
pub fn environment_radiance(environment: &Environment, texels: &[[f32; 4]], direction: Vec3) -> Vec3 {
    if environment.kind == EnvironmentKind::Constant as u32 {
        return environment.zenith;
    }
    if environment.kind == EnvironmentKind::Gradient as u32 {
        return if direction.y >= 0.0 {
            lerp(environment.horizon, environment.zenith, saturate(direction.y))
        } else {
            lerp(environment.horizon, environment.ground, saturate(-direction.y))
        };
    }
    let (width, height) = (environment.image_width, environment.image_height);
    let u = fract(atan2_turns(direction.z, direction.x) + environment.rotation);
    let v = acos(direction.y) * (1.0 / PI);
    let x = u * width as f32 - 0.5;
    let y = v * height as f32 - 0.5;
    let column = floor_to_i32(x);
    let row = floor_to_i32(y);
    let fx = x - column as f32;
    let fy = y - row as f32;
    let load = |column: i32, row: i32| {
        let column = if column < 0 { column + width as i32 } else { column } as u32 % width;
        let row = row.clamp(0, height as i32 - 1) as u32;
        let t = texels[(row * width + column) as usize];
        vec3(t[0], t[1], t[2])
    };
    let top = lerp(load(column, row), load(column + 1, row), fx);
    let bottom = lerp(load(column, row + 1), load(column + 1, row + 1), fx);
    environment.zenith * lerp(top, bottom, fy)
}
