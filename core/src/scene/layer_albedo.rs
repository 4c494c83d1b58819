//! Directional albedos of single lobes, which scale what lies below layers on surfaces that keep all light. They are
//! integers, so that they have the same bits everywhere.
//!
//! `LOCKSTEP_MAKE_TABLES=1 cargo test -p lockstep-transport albedos` makes them; without the variable that test holds a
//! sample of their entries to be current.

/// Albedo per unit of an entry of the tables of single lobes.
pub const LAYER_SCALE: f32 = 1.0 / 65536.0;

/// Rows of [`RISING_ALBEDO`]: evenly in the square root of the perceptual roughness above
/// [`SMOOTHEST_ROUGH`](super::missing_albedo::SMOOTHEST_ROUGH).
pub const RISING_ROUGHNESSES: u32 = 24;
/// Columns of [`RISING_ALBEDO`]: the square root of the cosine to the normal, evenly from 0 to 1.
pub const RISING_COSINES: u32 = 32;
/// Entries of a row of [`RISING_ALBEDO`]: its columns and their cosine-weighted mean.
pub const RISING_ROW: u32 = RISING_COSINES + 1;

/// The albedo of GGX microfacets whose reflectance is the fifth power of one minus the cosine, by which Schlick's Fresnel
/// term rises towards the horizon. Row by row, the smoothest first.
#[rustfmt::skip]
pub static RISING_ALBEDO: [u32; (RISING_ROUGHNESSES * RISING_ROW) as usize] = include!("rising_albedo.txt");

/// Rows of [`CHARLIE_ALBEDO`]: evenly in the square root of the perceptual roughness above
/// [`SMOOTHEST_SHEEN`](super::sheen_albedo::SMOOTHEST_SHEEN).
pub const CHARLIE_ROUGHNESSES: u32 = 32;
/// Columns of [`CHARLIE_ALBEDO`]: the square root of the cosine to the normal, evenly from 0 to 1.
pub const CHARLIE_COSINES: u32 = 48;

/// The directional albedo of sheen for albedo scaling on surfaces that keep all light, row by row, the smoothest first.
/// Entries of [`SHEEN_ALBEDO`](super::sheen_albedo::SHEEN_ALBEDO) bound it from above, these do not.
#[rustfmt::skip]
pub static CHARLIE_ALBEDO: [u32; (CHARLIE_ROUGHNESSES * CHARLIE_COSINES) as usize] = include!("charlie_albedo.txt");

/// Perceptual roughnesses of [`STRETCHED_ALBEDO`], evenly from
/// [`SMOOTHEST_ROUGH`](super::missing_albedo::SMOOTHEST_ROUGH) to 1.
pub const STRETCHED_ROUGHNESSES: u32 = 16;
/// Strengths of anisotropy of [`STRETCHED_ALBEDO`], evenly from 0 to 1.
pub const STRETCHED_STRENGTHS: u32 = 10;
/// Rows of [`STRETCHED_ALBEDO`] for one strength: evenly in the cosine between a direction's azimuth and that of anisotropy.
pub const STRETCHED_AZIMUTHS: u32 = 7;
/// Columns of a row of [`STRETCHED_ALBEDO`], even in a function of the cosine to the normal.
pub const STRETCHED_COSINES: u32 = 16;
/// Entries of [`STRETCHED_ALBEDO`] for one strength.
pub const STRETCHED_BLOCK: u32 = STRETCHED_AZIMUTHS * STRETCHED_COSINES;

/// The share of light that anisotropic white microfacets lose by scattering once. Roughness by roughness, strength by
/// strength.
#[rustfmt::skip]
pub static STRETCHED_ALBEDO: [u32; (STRETCHED_ROUGHNESSES * STRETCHED_STRENGTHS * STRETCHED_BLOCK) as usize] =
    include!("stretched_albedo.txt");
