//! `KHR_materials_variants`: other materials for the same meshes.

use super::json::{Item, whole};
use crate::suggest;
use crate::warning::Warnings;
use lockstep_core::Result;

/// The index of the variant of this name; nothing where none is asked for.
///
/// # Errors
/// [`lockstep_core::Error::Scene`] with the file's names where it has no such variant.
pub(super) fn find(root: &Item<'_>, wanted: Option<&str>, warnings: &Warnings) -> Result<Option<u64>> {
    let Some(wanted) = wanted else { return Ok(None) };
    let list = root.extension("KHR_materials_variants").map(|e| e.items("variants")).unwrap_or_default();
    match list.iter().position(|variant| variant.text("name") == Some(wanted)) {
        Some(index) => Ok(Some(index as u64)),
        None => {
            let names = suggest::list(list.iter().filter_map(|variant| variant.text("name")));
            let message = format!("there is no variant `{wanted}`; the file's are {names}");
            Err(warnings.error("/extensions/KHR_materials_variants", message))
        }
    }
}

/// The material of a primitive under a variant; its own where the variant does not change it.
pub(super) fn material(primitive: &Item<'_>, variant: Option<u64>) -> Option<usize> {
    let mapped = || {
        let mappings = primitive.extension("KHR_materials_variants")?.items("mappings");
        let own = |mapping: &&Item<'_>| mapping.items("variants").iter().any(|v| whole(v.value) == variant);
        mappings.iter().find(own)?.index("material")
    };
    variant.and_then(|_| mapped()).or_else(|| primitive.index("material"))
}
