//! Media inside dielectrics: attenuation by Beer's law, and dispersion. The counterpart is `kernels/scene/media.h`.
//!
//! A path knows the medium of its ray: it enters one where it crosses the surface of a dielectric with layers, and
//! leaves it where it crosses back. A ray that meets such a surface from inside was in that surface's medium, whatever
//! the path knew; so the outer of two media is found again beyond the inner one. Dielectrics with a priority tell a ray's
//! medium by its [`crate::interior_list`].

use lockstep_core::math::exp2;
use lockstep_core::math::max;
use lockstep_core::math::rng::{Block, SampleKey, draw, index_below};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{Material, MaterialKind, SceneData};

/// Flag bit of a path's medium, set once the path's colour channel has been chosen.
pub const CHANNEL_CHOSEN: u32 = 0x8000_0000;

/// Share of light that a medium, one above an index into the scene's layers, transmits over a distance, by colour channel;
/// one without a medium.
#[inline(always)]
pub fn transmittance(scene: &SceneData, medium: u32, distance: f32) -> Vec3 {
    let index = medium & !CHANNEL_CHOSEN;
    if index == 0 {
        return Vec3::ONE;
    }
    let attenuation = scene.layers[(index - 1) as usize].attenuation;
    let depth = distance * std::f32::consts::LOG2_E;
    vec3(exp2(-(attenuation.x * depth)), exp2(-(attenuation.y * depth)), exp2(-(attenuation.z * depth)))
}

/// The medium of a ray that arrives at a surface from its outside or inside.
#[inline(always)]
pub fn arriving(material: &Material, medium: u32, outside: bool) -> u32 {
    let is_inside = !outside && material.kind == MaterialKind::Dielectric as u32 && material.layers != 0;
    if is_inside { material.layers | (medium & CHANNEL_CHOSEN) } else { medium }
}

/// The medium of a ray that leaves a surface, in the direction of this local z, where the arriving ray had `medium`.
#[inline(always)]
pub fn leaving(material: &Material, medium: u32, outside: bool, z: f32) -> u32 {
    if material.kind != MaterialKind::Dielectric as u32 {
        return medium;
    }
    let chosen = medium & CHANNEL_CHOSEN;
    if outside == (z < 0.0) {
        return material.layers | chosen;
    }
    if outside { medium } else { chosen }
}

/// The colour channel that a sample follows through dispersive media.
#[inline(always)]
pub fn dispersed_channel(key: SampleKey) -> u32 {
    index_below(draw(key, Block::Dispersion, 0)[0], 3)
}

/// The index of refraction of a channel: `dispersion` is 20 over the Abbe number, as in glTF's
/// `KHR_materials_dispersion`.
#[inline(always)]
pub fn dispersed_ior(ior: f32, dispersion: f32, channel: u32) -> f32 {
    let half = (ior - 1.0) * 0.025 * dispersion;
    let offset = if channel == 0 { -half } else { half };
    max(if channel == 1 { ior } else { ior + offset }, 1.0)
}

/// Throughput of a path that follows one channel: three times that channel, nothing of the others.
#[inline(always)]
pub fn one_channel(throughput: Vec3, channel: u32) -> Vec3 {
    let share = |of: u32, value: f32| if channel == of { 3.0 * value } else { 0.0 };
    vec3(share(0, throughput.x), share(1, throughput.y), share(2, throughput.z))
}
