//! All tables of albedos one after another, as devices read them.

use crate::scene::layer_albedo::{CHARLIE_ALBEDO, RISING_ALBEDO, STRETCHED_ALBEDO};
use crate::scene::missing_albedo::MISSING_ALBEDO;
use crate::scene::sheen_albedo::SHEEN_ALBEDO;

/// The place of [`MISSING_ALBEDO`] in [`ALBEDOS`].
pub const MISSING_FIRST: u32 = SHEEN_ALBEDO.len() as u32;
/// The place of [`RISING_ALBEDO`] in [`ALBEDOS`].
pub const RISING_FIRST: u32 = MISSING_FIRST + MISSING_ALBEDO.len() as u32;
/// The place of [`CHARLIE_ALBEDO`] in [`ALBEDOS`].
pub const CHARLIE_FIRST: u32 = RISING_FIRST + RISING_ALBEDO.len() as u32;
/// The place of [`STRETCHED_ALBEDO`] in [`ALBEDOS`].
pub const STRETCHED_FIRST: u32 = CHARLIE_FIRST + CHARLIE_ALBEDO.len() as u32;

/// Entries of all tables.
const ENTRIES: usize = STRETCHED_FIRST as usize + STRETCHED_ALBEDO.len();

/// All albedo tables, one after another.
pub static ALBEDOS: [u32; ENTRIES] = {
    let mut all = [0; ENTRIES];
    copy(&SHEEN_ALBEDO, &mut all, 0);
    copy(&MISSING_ALBEDO, &mut all, MISSING_FIRST);
    copy(&RISING_ALBEDO, &mut all, RISING_FIRST);
    copy(&CHARLIE_ALBEDO, &mut all, CHARLIE_FIRST);
    copy(&STRETCHED_ALBEDO, &mut all, STRETCHED_FIRST);
    all
};

/// Copies a table to its place.
const fn copy(table: &[u32], all: &mut [u32; ENTRIES], first: u32) {
    let mut i = 0;
    while i < table.len() {
        all[first as usize + i] = table[i];
        i += 1;
    }
}
