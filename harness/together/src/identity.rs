//! Which render a film belongs to.

use lockstep_core::{DeviceInfo, Scene, Settings};
use serde::{Deserialize, Serialize};

/// The name of all exact targets, whose films are the same.
const EXACT: &str = "exact";

/// Everything that determines a film apart from the samples in it. Films of equal identity may be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The scene's name, for people.
    pub scene: String,
    /// Hash of the scene, as of [`lockstep_core::scene::SceneData::hash`].
    pub scene_hash: String,
    /// Size, integrator, bounces, seed, mode, estimator.
    pub settings: Settings,
    /// BLAKE3 of the kernels' source, which films may change with.
    pub semantics: String,
    /// `exact` for films that all exact targets share, else the name of the one target that renders them.
    pub films_of: String,
}

/// The first field in which two identities differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} differs: {ours} here, {theirs} there")]
pub struct IdentityMismatch {
    /// The field.
    pub field: &'static str,
    /// The value in the film that others are added to.
    pub ours: String,
    /// The value in the other film.
    pub theirs: String,
}

impl Identity {
    /// The identity of films that a device renders.
    pub fn of(scene: &Scene, settings: &Settings, semantics: &str, device: &DeviceInfo) -> Self {
        Self::of_named(&scene.name, &scene.hash, settings, semantics, device)
    }

    /// The identity of films of a scene that is known by its name and hash alone.
    pub fn of_named(
        scene: &str,
        scene_hash: &str,
        settings: &Settings,
        semantics: &str,
        device: &DeviceInfo,
    ) -> Self {
        Self {
            scene: scene.to_owned(),
            scene_hash: scene_hash.to_owned(),
            settings: *settings,
            semantics: semantics.to_owned(),
            films_of: if device.exact { EXACT.to_owned() } else { device.target.to_string() },
        }
    }

    /// Checks that films of both identities may be added. Scenes may have other names.
    ///
    /// # Errors
    /// [`IdentityMismatch`] with the first field that differs.
    pub fn check(&self, other: &Self) -> Result<(), IdentityMismatch> {
        let settings = |identity: &Self| format!("{:?}", identity.settings);
        let fields = [
            ("the scene", &self.scene_hash, &other.scene_hash),
            ("the version of the kernels", &self.semantics, &other.semantics),
            ("the kind of target", &self.films_of, &other.films_of),
        ];
        for (field, ours, theirs) in fields {
            if ours != theirs {
                return Err(IdentityMismatch { field, ours: ours.clone(), theirs: theirs.clone() });
            }
        }
        if self.settings != other.settings {
            let (field, ours, theirs) = ("a setting", settings(self), settings(other));
            return Err(IdentityMismatch { field, ours, theirs });
        }
        Ok(())
    }
}
