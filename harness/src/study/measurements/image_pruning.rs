//! Removal of the EXR files of large images, once everything has been compared with them.

use std::ops::ControlFlow;

use lockstep_core::Scene;
use lockstep_reports::records::Record;

use super::convergence::convergence_key;
use crate::exit::Failure;
use crate::study::images;
use crate::study::lab::Lab;
use crate::study::level::Level;
use crate::study::runner::{Key, Measurement};

/// Removal of a scene's EXR files that are of no further use; see [`images`] for those that stay.
pub(crate) struct ImagePruning<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
}

impl Measurement for ImagePruning<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let levels = lab.levels(&self.scene.name, lab.plan.settings.seed, 0);
        let is_converged = |level: &Level<'_>| {
            let mut targets = lab.targets_at(level.scene, level.to).into_iter();
            targets.all(|target| lab.folder.has(convergence_key(level, &target)))
        };
        if !levels.iter().all(is_converged) {
            return Vec::new();
        }
        images::surplus(lab, &self.scene.name).map(Key::NoFile).collect()
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        for path in images::surplus(lab, &self.scene.name) {
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::io("remove", path)(e));
                }
                _ => {}
            }
        }
        Ok(ControlFlow::Continue(Vec::new()))
    }
}
