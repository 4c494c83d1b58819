//! Indices of refraction of transparent materials, by name.

/// The index of a material by its name in lower or upper case, such as `water` or `bk7`.
pub(crate) fn index_of(name: &str) -> Option<f32> {
    INDICES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, index)| *index)
}

/// Names of all known materials.
pub(crate) fn index_names() -> impl Iterator<Item = &'static str> {
    INDICES.iter().map(|(name, _)| *name)
}

/// Gases at 0 °C, liquids at 20 °C and solids, for yellow light; the names are those of Mitsuba.
const INDICES: &[(&str, f32)] = &[
    ("vacuum", 1.0),
    ("helium", 1.000_036),
    ("hydrogen", 1.000_132),
    ("air", 1.000_277),
    ("carbon dioxide", 1.000_45),
    ("water", 1.333),
    ("acetone", 1.36),
    ("ethanol", 1.361),
    ("carbon tetrachloride", 1.461),
    ("glycerol", 1.4729),
    ("benzene", 1.501),
    ("silicone oil", 1.520_45),
    ("bromine", 1.661),
    ("water ice", 1.31),
    ("fused quartz", 1.458),
    ("pyrex", 1.47),
    ("acrylic glass", 1.49),
    ("polypropylene", 1.49),
    ("bk7", 1.5046),
    ("sodium chloride", 1.544),
    ("amber", 1.55),
    ("pet", 1.575),
    ("diamond", 2.419),
];
