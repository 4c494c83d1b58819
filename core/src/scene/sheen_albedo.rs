//! The directional albedo of sheen as integers, so that it has the same bits everywhere.
//!
//! `LOCKSTEP_MAKE_TABLES=1 cargo test -p lockstep-transport albedos` makes it; without the variable that test holds
//! the table to be current.

/// Columns of [`SHEEN_ALBEDO`]: the square root of the cosine to the normal, evenly from 0 to 1.
pub const SHEEN_COSINES: u32 = 32;
/// Rows of [`SHEEN_ALBEDO`]: perceptual roughness, evenly from [`SMOOTHEST_SHEEN`] to 1.
pub const SHEEN_ROUGHNESSES: u32 = 32;
/// The smallest perceptual roughness of sheen.
pub const SMOOTHEST_SHEEN: f32 = 0.07;
/// Albedo per unit of an entry of [`SHEEN_ALBEDO`].
pub const SHEEN_ALBEDO_SCALE: f32 = 1.0 / 16384.0;

/// Directional albedo of sheen, row by row, the smoothest first.
#[rustfmt::skip]
pub static SHEEN_ALBEDO: [u32; (SHEEN_COSINES * SHEEN_ROUGHNESSES) as usize] = include!("sheen_albedo.txt");
