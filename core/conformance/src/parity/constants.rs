//! Named constants of the kernels against this crate's.

use crate::parity::mismatch::{Mismatch, compare_words};
use lockstep_bvh::{EMPTY, LEAF_BIT, LEAF_COUNT_SHIFT, LeafPrimitive, NODE_WIDENING, STACK_SIZE};
use lockstep_core::Strategy;
use lockstep_core::error::Result;
use lockstep_core::film::{MAX_SAMPLE_RADIANCE, TILE, UNITS_PER_RADIANCE};
use lockstep_core::geometry::{
    BOX_PADDING, FAR, FAR_WIDENING, MISSED, ORIGIN_OFFSET, SHADOW_CLEARANCE, SMALLEST_DIRECTION,
};
use lockstep_core::math::rng::{
    BLOCKS_PER_BOUNCE, Block, JOINT_BOUNCES, SOBOL_STREAM, XORWOW_RUN, XORWOW_STREAM,
};
use lockstep_core::math::{INV_FOUR_PI, INV_PI, PI, TWO_PI};
use lockstep_core::path_record::{PairRecord, VertexRecord};
use lockstep_core::scene::*;
use lockstep_gpu::MERGED_PASSES;
use lockstep_gpu::probe::ProbeDevice;
use lockstep_transport::bsdf::{LayerLobe, MIN_ALPHA, SPECULAR_ROUGHNESS};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

/// The floats and then the integers that `ls_probe_constants` of `kernels/tests/constants.h` writes, in its order.
const FLOATS: &[(&str, f32)] = &[
    ("MATH_PI", PI),
    ("MATH_FRAC_PI_2", FRAC_PI_2),
    ("MATH_FRAC_PI_4", FRAC_PI_4),
    ("MATH_INV_PI", INV_PI),
    ("MATH_TWO_PI", TWO_PI),
    ("MATH_INV_FOUR_PI", INV_FOUR_PI),
    ("FAR_WIDENING", FAR_WIDENING),
    ("BOX_PADDING", BOX_PADDING),
    ("SMALLEST_DIRECTION", SMALLEST_DIRECTION),
    ("ORIGIN_OFFSET", ORIGIN_OFFSET),
    ("SHADOW_CLEARANCE", SHADOW_CLEARANCE),
    ("FAR", FAR),
    ("MISSED", MISSED),
    ("SPECULAR_ROUGHNESS", SPECULAR_ROUGHNESS),
    ("MIN_ALPHA", MIN_ALPHA),
    ("MATCHED_INDEX", lockstep_transport::bsdf::MATCHED_INDEX),
    ("MATH_LOG2_E", std::f32::consts::LOG2_E),
    ("ALBEDO_MARGIN", lockstep_transport::bsdf::ALBEDO_MARGIN),
    ("MEAN_MARGIN", lockstep_transport::bsdf::MEAN_MARGIN),
    ("LEAST_SHARE", lockstep_transport::bsdf::LEAST_SHARE),
    ("SMOOTHEST_SHEEN", sheen_albedo::SMOOTHEST_SHEEN),
    ("SHEEN_ALBEDO_SCALE", sheen_albedo::SHEEN_ALBEDO_SCALE),
    ("SMOOTHEST_ROUGH", missing_albedo::SMOOTHEST_ROUGH),
    ("MISSING_SCALE", missing_albedo::MISSING_SCALE),
    ("LAYER_SCALE", layer_albedo::LAYER_SCALE),
    ("MIN_COSINE", lockstep_transport::bsdf::MIN_COSINE),
    ("UNITS_PER_RADIANCE", UNITS_PER_RADIANCE),
    ("MAX_SAMPLE_RADIANCE", MAX_SAMPLE_RADIANCE),
    ("MAX_SPLAT_RADIANCE", lockstep_core::splat::MAX_SPLAT_RADIANCE),
    ("MERGE_UNITS_PER_RADIANCE", lockstep_core::splat::MERGE_UNITS_PER_RADIANCE),
    ("MERGE_MAX_CELL", lockstep_core::merging::MAX_CELL),
];

const INTEGERS: &[(&str, u32)] = &[
    ("NONE", NONE),
    ("SPHERE_BIT", SPHERE_BIT),
    ("INSTANCE_IDENTITY", Instance::IDENTITY),
    ("INSTANCE_MIRRORED", Instance::MIRRORED),
    ("MATERIAL_DIFFUSE", MaterialKind::Diffuse as u32),
    ("MATERIAL_CONDUCTOR", MaterialKind::Conductor as u32),
    ("MATERIAL_DIELECTRIC", MaterialKind::Dielectric as u32),
    ("MATERIAL_PRINCIPLED", MaterialKind::Principled as u32),
    ("SHEEN_COSINES", sheen_albedo::SHEEN_COSINES),
    ("SHEEN_ROUGHNESSES", sheen_albedo::SHEEN_ROUGHNESSES),
    ("MISSING_COSINES", missing_albedo::MISSING_COSINES),
    ("MISSING_ROUGHNESSES", missing_albedo::MISSING_ROUGHNESSES),
    ("MISSING_INDICES", missing_albedo::MISSING_INDICES),
    ("MISSING_METAL", missing_albedo::MISSING_METAL),
    ("MISSING_ROW", missing_albedo::MISSING_ROW),
    ("MISSING_FIRST", albedos::MISSING_FIRST),
    ("RISING_ROUGHNESSES", layer_albedo::RISING_ROUGHNESSES),
    ("RISING_COSINES", layer_albedo::RISING_COSINES),
    ("RISING_ROW", layer_albedo::RISING_ROW),
    ("RISING_FIRST", albedos::RISING_FIRST),
    ("CHARLIE_ROUGHNESSES", layer_albedo::CHARLIE_ROUGHNESSES),
    ("CHARLIE_COSINES", layer_albedo::CHARLIE_COSINES),
    ("CHARLIE_FIRST", albedos::CHARLIE_FIRST),
    ("STRETCHED_ROUGHNESSES", layer_albedo::STRETCHED_ROUGHNESSES),
    ("STRETCHED_STRENGTHS", layer_albedo::STRETCHED_STRENGTHS),
    ("STRETCHED_AZIMUTHS", layer_albedo::STRETCHED_AZIMUTHS),
    ("STRETCHED_COSINES", layer_albedo::STRETCHED_COSINES),
    ("STRETCHED_BLOCK", layer_albedo::STRETCHED_BLOCK),
    ("STRETCHED_FIRST", albedos::STRETCHED_FIRST),
    ("ALPHA_OPAQUE", AlphaMode::Opaque as u32),
    ("ALPHA_MASK", AlphaMode::Mask as u32),
    ("ALPHA_BLEND", AlphaMode::Blend as u32),
    ("MATERIAL_TWO_SIDED_EMISSION", Material::TWO_SIDED_EMISSION),
    ("MATERIAL_SINGLE_SIDED", Material::SINGLE_SIDED),
    ("MATERIAL_UNLIT", Material::UNLIT),
    ("MATERIAL_MULTISCATTER", Material::MULTISCATTER),
    ("WRAP_REPEAT", Wrap::Repeat as u32),
    ("WRAP_CLAMP", Wrap::Clamp as u32),
    ("WRAP_MIRROR", Wrap::Mirror as u32),
    ("TEXTURE_NEAREST", Texture::NEAREST),
    ("TEXTURE_SRGB", Texture::SRGB),
    ("TEXTURE_UV_SET_1", Texture::UV_SET_1),
    ("LIGHT_TRIANGLE", LightKind::Triangle as u32),
    ("LIGHT_SPHERE", LightKind::Sphere as u32),
    ("LIGHT_POINT", LightKind::Point as u32),
    ("LIGHT_SPOT", LightKind::Spot as u32),
    ("LIGHT_DIRECTIONAL", LightKind::Directional as u32),
    ("LIGHT_ENVIRONMENT", LightKind::Environment as u32),
    ("ENVIRONMENT_CONSTANT", EnvironmentKind::Constant as u32),
    ("ENVIRONMENT_GRADIENT", EnvironmentKind::Gradient as u32),
    ("ENVIRONMENT_IMAGE", EnvironmentKind::Image as u32),
    ("LEAF_BIT", LEAF_BIT),
    ("LEAF_COUNT_SHIFT", LEAF_COUNT_SHIFT),
    ("EMPTY", EMPTY),
    ("STACK_SIZE", STACK_SIZE as u32),
    ("NODE_WIDENING", NODE_WIDENING),
    ("LEAF_ALPHA", LeafPrimitive::ALPHA),
    ("LEAF_CLIP_SHIFT", LeafPrimitive::CLIP_SHIFT),
    ("STRATEGY_MIS", Strategy::Mis as u32),
    ("STRATEGY_LIGHT_ONLY", Strategy::LightOnly as u32),
    ("STRATEGY_BSDF_ONLY", Strategy::BsdfOnly as u32),
    ("BLOCK_CAMERA", Block::Camera as u32),
    ("BLOCK_LIGHT", Block::Light as u32),
    ("BLOCK_BSDF", Block::Bsdf as u32),
    ("BLOCK_EXTENSION_ALPHA", Block::ExtensionAlpha as u32),
    ("BLOCK_SHADOW_ALPHA", Block::ShadowAlpha as u32),
    ("BLOCK_ENVIRONMENT", Block::Environment as u32),
    ("SPLAT_STRIDE", lockstep_core::splat::STRIDE),
    ("SPLAT_MERGED", lockstep_core::splat::MERGED),
    ("MERGE_MAX_SUM_BITS", lockstep_core::splat::MAX_MERGE_SUM_BITS),
    ("MERGE_EXTRA_BITS", lockstep_core::splat::MERGE_EXTRA_BITS),
    ("BLOCK_FILM", Block::Film as u32),
    ("SOBOL_STREAM", SOBOL_STREAM),
    ("XORWOW_STREAM", XORWOW_STREAM),
    ("XORWOW_RUN", XORWOW_RUN),
    ("JOINT_BOUNCES", JOINT_BOUNCES),
    ("BLOCK_EMISSION_POSITION", Block::EmissionPosition as u32),
    ("BLOCK_EMISSION_DIRECTION", Block::EmissionDirection as u32),
    ("BLOCK_LIGHT_BSDF", Block::LightBsdf as u32),
    ("BLOCK_LIGHT_EXTENSION_ALPHA", Block::LightExtensionAlpha as u32),
    ("BLOCK_LENS", Block::Lens as u32),
    ("BLOCK_CONNECTION_ALPHA", Block::ConnectionAlpha as u32),
    ("BLOCK_DISPERSION", Block::Dispersion as u32),
    ("BLOCK_LAYER", Block::Layer as u32),
    ("MERGED_PASSES", MERGED_PASSES),
    ("LOBE_COAT", LayerLobe::Coat as u32),
    ("LOBE_SHEEN", LayerLobe::Sheen as u32),
    ("LOBE_SPECULAR", LayerLobe::Specular as u32),
    ("LOBE_DIFFUSE", LayerLobe::Diffuse as u32),
    ("LOBE_TRANSMITTED", LayerLobe::Transmitted as u32),
    ("LOBE_RECOVERED_REFLECTED", LayerLobe::RecoveredReflected as u32),
    ("LOBE_RECOVERED_TRANSMITTED", LayerLobe::RecoveredTransmitted as u32),
    ("CHANNEL_CHOSEN", lockstep_transport::media::CHANNEL_CHOSEN),
    ("ENTRY_BITS", lockstep_transport::interior_list::ENTRY_BITS),
    ("LIST_BITS", lockstep_transport::interior_list::LIST_BITS),
    ("BLOCKS_PER_BOUNCE", BLOCKS_PER_BOUNCE),
    ("TILE_WIDTH", TILE[0]),
    ("TILE_HEIGHT", TILE[1]),
    ("VERTEX_HIT", VertexRecord::HIT),
    ("VERTEX_SHADED", VertexRecord::SHADED),
    ("VERTEX_LIGHT", VertexRecord::LIGHT),
    ("VERTEX_SHADOW", VertexRecord::SHADOW),
    ("VERTEX_REACHED", VertexRecord::REACHED),
    ("VERTEX_SCATTER", VertexRecord::SCATTER),
    ("VERTEX_CONTINUES", VertexRecord::CONTINUES),
    ("VERTEX_FALSE_HIT", VertexRecord::FALSE_HIT),
    ("PAIR_RAY", PairRecord::RAY),
    ("PAIR_VERTEX", PairRecord::VERTEX),
    ("PAIR_CONTRIBUTION", PairRecord::CONTRIBUTION),
    ("PAIR_OF_LIGHT", PairRecord::OF_LIGHT),
    ("PAIR_HIT", PairRecord::HIT),
    ("PAIR_REACHED", PairRecord::REACHED),
];

/// The names in the order of the kernel.
#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    FLOATS.iter().map(|(name, _)| *name).chain(INTEGERS.iter().map(|(name, _)| *name)).collect()
}

/// Compares every constant.
pub(super) fn compare(device: &mut dyn ProbeDevice) -> Result<Option<Mismatch>> {
    let floats = FLOATS.iter().map(|(_, value)| value.to_bits());
    let words: Vec<u32> = floats.chain(INTEGERS.iter().map(|(_, value)| *value)).collect();
    compare_words(device, "constants", "ls_probe_constants", &words)
}
