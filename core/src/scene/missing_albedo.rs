//! The share of light that a rough surface loses by scattering once, as integers, so that it has the same bits
//! everywhere.
//!
//! `LOCKSTEP_MAKE_TABLES=1 cargo test -p lockstep-transport albedos` makes it; without the variable that test holds
//! a sample of its entries to be current.
//!
//! A plane is a surface seen from one side: a dielectric from outside, by its index of refraction, the same from inside,
//! and a metal that reflects everything. Rows of a plane are even in perceptual roughness from [`SMOOTHEST_ROUGH`] to 1.
//! Planes and columns are even in functions of the index and of the cosine that keep the loss of all roughnesses in
//! place. The last column is the cosine-weighted mean of the row over the third power of its roughness.

/// Columns of [`MISSING_ALBEDO`]: cosines from 0 to 1, even in a function of cosine and roughness.
pub const MISSING_COSINES: u32 = 40;
/// Rows of a plane of [`MISSING_ALBEDO`]: roughnesses.
pub const MISSING_ROUGHNESSES: u32 = 24;
/// Planes of [`MISSING_ALBEDO`] for one side of dielectrics: indices of refraction from 1 to 4, even in a function of index
/// and roughness.
pub const MISSING_INDICES: u32 = 28;
/// The plane of metals in [`MISSING_ALBEDO`], after those of dielectrics from outside and from inside.
pub const MISSING_METAL: u32 = 2 * MISSING_INDICES;
/// The smallest perceptual roughness of [`MISSING_ALBEDO`].
pub const SMOOTHEST_ROUGH: f32 = 0.03;
/// Lost share of light per unit of an entry of [`MISSING_ALBEDO`].
pub const MISSING_SCALE: f32 = 1.0 / 4_194_304.0;

/// Entries of a row of [`MISSING_ALBEDO`]: its columns and their mean.
pub const MISSING_ROW: u32 = MISSING_COSINES + 1;

/// Entries of the table.
const ENTRIES: usize = ((MISSING_METAL + 1) * MISSING_ROUGHNESSES * MISSING_ROW) as usize;

/// Share of light that a rough surface loses by scattering once, plane by plane, row by row.
#[rustfmt::skip]
pub static MISSING_ALBEDO: [u32; ENTRIES] = include!("missing_albedo.txt");
