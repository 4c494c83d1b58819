//! Films of two studies, by their hashes.

use super::common::Common;
use crate::records::{FilmHash, TargetId};
use crate::study::{Study, push_new};
use serde::Serialize;

/// The films of one target on one scene in the earlier and in the later study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilmDiff {
    /// Scene name.
    pub scene: String,
    /// The target.
    pub target: TargetId,
    /// Films of the same samples per pixel and seed in both studies.
    pub compared: usize,
    /// Number of films that differ in a bit between the studies.
    pub changed: usize,
    /// Samples per pixel of the first film that differs between the studies.
    pub first_changed_spp: Option<u32>,
}

/// The films that both studies rendered, target by target.
pub(super) fn films(before: &Study, after: &Study, common: &Common) -> Vec<FilmDiff> {
    let mut keys = Vec::new();
    after.films.iter().for_each(|f| push_new(&mut keys, (f.scene.as_str(), &f.target)));
    let of = |(scene, target): (&str, &TargetId)| {
        let own = |study: &'_ Study| -> Vec<FilmHash> {
            let own = study.films.iter().filter(|f| f.scene == scene && f.target == *target);
            own.cloned().collect()
        };
        let old = own(before);
        let pairs: Vec<(FilmHash, bool)> = own(after)
            .into_iter()
            .filter_map(|new| {
                let known = old.iter().find(|f| (f.spp, f.seed) == (new.spp, new.seed))?;
                let equal = known.hash == new.hash;
                Some((new, equal))
            })
            .collect();
        let changed = || pairs.iter().filter(|(_, equal)| !equal);
        let row = FilmDiff {
            scene: scene.to_owned(),
            target: target.clone(),
            compared: pairs.len(),
            changed: changed().count(),
            first_changed_spp: changed().map(|(film, _)| film.spp).min(),
        };
        (row.compared > 0).then_some(row)
    };
    keys.into_iter().filter(|(scene, _)| common.has_scene(scene)).filter_map(of).collect()
}
