//! Images and textures as scene builders take them.

use crate::math::sin_cos_turns;
use crate::scene::types::{Texture, Wrap};

/// An image registered with a [`crate::scene::SceneBuilder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageId(pub(crate) u32);

/// Position of an image's texels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageRegion {
    pub(crate) first_texel: u32,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Sampler: addressing and filtering of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Addressing beyond the left and right edge.
    pub wrap_u: Wrap,
    /// Addressing beyond the top and bottom edge.
    pub wrap_v: Wrap,
    /// Nearest texel instead of bilinear interpolation.
    pub nearest: bool,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { wrap_u: Wrap::Repeat, wrap_v: Wrap::Repeat, nearest: false }
    }
}

/// KHR_texture_transform: scale, then rotate counter-clockwise, then offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureTransform {
    /// Offset, added after rotation.
    pub offset: [f32; 2],
    /// Radians, counter-clockwise in the glTF uv plane.
    pub rotation: f32,
    /// Scale, applied before rotation.
    pub scale: [f32; 2],
}

impl Default for TextureTransform {
    fn default() -> Self {
        Self { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2] }
    }
}

impl TextureTransform {
    fn matrix(&self) -> [[f32; 4]; 2] {
        if self.rotation == 0.0 {
            return [[self.scale[0], 0.0, self.offset[0], 0.0], [0.0, self.scale[1], self.offset[1], 0.0]];
        }
        let turns = self.rotation / std::f32::consts::TAU;
        let (sin, cos) = sin_cos_turns(crate::math::fract(turns));
        [
            [cos * self.scale[0], sin * self.scale[1], self.offset[0], 0.0],
            [-sin * self.scale[0], cos * self.scale[1], self.offset[1], 0.0],
        ]
    }
}

impl Texture {
    pub(crate) fn new(
        region: ImageRegion,
        srgb: bool,
        sampler: Sampler,
        uv_set_1: bool,
        transform: TextureTransform,
    ) -> Self {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        Self {
            first_texel: region.first_texel,
            width: region.width,
            height: region.height,
            flags: Self::wrap(sampler.wrap_u, sampler.wrap_v)
                | flag(sampler.nearest, Self::NEAREST)
                | flag(srgb, Self::SRGB)
                | flag(uv_set_1, Self::UV_SET_1),
            transform: transform.matrix(),
        }
    }
}
