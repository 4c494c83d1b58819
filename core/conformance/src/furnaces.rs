//! Materials of the white furnace. Under an environment of radiance one, surfaces that conserve energy are invisible and
//! lossy ones darker.

use crate::{Checked, Subject, identity, made, mean, render, scenes, tolerances};
use lockstep_core::Settings;
use lockstep_core::scene::Material;

/// The light that a material leaves of a furnace.
#[derive(Clone, Copy)]
pub(crate) enum Left {
    /// All of it.
    All,
    /// All of it, but for the error of a table.
    AllInterpolated,
    /// At least this much, and at most all.
    AtLeast(f64),
}

/// A white material, with the bounces that its light takes.
pub(crate) struct Furnace {
    pub(crate) name: &'static str,
    pub(crate) material: Material,
    pub(crate) bounces: u32,
    pub(crate) left: Left,
}

impl Furnace {
    /// Samples per pixel that leave as little noise as the tolerance asks for: of [`Left::All`], and of the others.
    pub(crate) fn spp(&self, [all, others]: [u32; 2]) -> u32 {
        if matches!(self.left, Left::All) { all } else { others }
    }

    /// Asserts that a furnace of the material is as bright as it must be, where [`Left::All`] and [`Left::AllInterpolated`] are
    /// met within these tolerances.
    pub(crate) fn check(
        &self,
        subject: &Subject<'_>,
        settings: &Settings,
        spp: u32,
        [all, interpolated]: [f64; 2],
    ) -> Checked {
        let scene = made(scenes::furnace(self.material))?;
        let settings = Settings { width: 64, height: 64, bounces: self.bounces, ..*settings };
        if identity::carries_over(subject, &scene, &settings)? {
            return Ok(());
        }
        let (film, _) = render(subject.open()?.as_mut(), &scene, &settings, spp)?;
        let what = format!("furnace, {}, {}", settings.integrator, self.name);
        assert!(film.invalid.is_zero(), "{what}: {:?}", film.invalid);
        let found = mean(&film);
        let [least, most] = match self.left {
            Left::All => [1.0 - all, 1.0 + all],
            Left::AllInterpolated => [1.0 - interpolated, 1.0 + interpolated],
            Left::AtLeast(least) => [least, 1.0 + tolerances::FURNACE_EXCESS],
        };
        assert!((least..=most).contains(&found), "{what}: {found}, expected {least} to {most}");
        Ok(())
    }
}

/// Every kind of material. The first is diffuse, the next three are specular.
pub(crate) fn furnaces() -> Vec<Furnace> {
    let white = [1.0; 3];
    let keeping = |material| Material { flags: Material::MULTISCATTER, ..material };
    let wall = |metallic, roughness| Material {
        transmission: 1.0,
        ..Material::principled(white, metallic, roughness)
    };
    let (all, interpolated) = (Left::All, Left::AllInterpolated);
    let rows = [
        ("diffuse", Material::diffuse(white), 3, all),
        ("smooth conductor", Material::conductor(white, 0.0), 3, all),
        ("smooth dielectric", Material::dielectric(1.5, 0.0), 64, all),
        ("matched dielectric", Material::dielectric(1.0, 0.0), 8, all),
        ("conductor that keeps all light", keeping(Material::conductor(white, 0.4)), 64, interpolated),
        ("rough conductor that keeps all light", keeping(Material::conductor(white, 1.0)), 64, interpolated),
        ("dielectric that keeps all light", keeping(Material::dielectric(1.5, 0.4)), 64, interpolated),
        ("rough dielectric that keeps all light", keeping(Material::dielectric(1.8, 1.0)), 64, interpolated),
        ("metal and thin wall that keep all light", keeping(wall(0.5, 0.9)), 64, interpolated),
        ("rough conductor", Material::conductor(white, 0.5), 8, Left::AtLeast(0.5)),
        ("rough dielectric", Material::dielectric(1.5, 0.4), 32, Left::AtLeast(0.5)),
        ("principled", Material::principled(white, 0.0, 0.5), 8, Left::AtLeast(0.985)),
        ("rough principled", Material::principled(white, 0.0, 1.0), 8, Left::AtLeast(0.985)),
        ("principled metal", Material::principled(white, 1.0, 0.2), 8, Left::AtLeast(0.5)),
        ("thin wall", wall(0.0, 0.3), 16, Left::AtLeast(0.5)),
    ];
    rows.map(|(name, material, bounces, left)| Furnace { name, material, bounces, left }).into()
}
