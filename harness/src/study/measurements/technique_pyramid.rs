//! `study --techniques`: the images of every technique of bidirectional integrators.

use std::ops::ControlFlow;

use lockstep_core::{Integrator, Scene, Settings};
use lockstep_cpu::{sum_of_weighted, technique_films};
use lockstep_reports::image_io::{ImageMetadata, encode_name, write_hashed_png};
use lockstep_reports::records::{FilmHash, Pyramid, Record};
use lockstep_reports::study::files;

use crate::exit::Failure;
use crate::interrupt;
use crate::study::film_hash;
use crate::study::lab::Lab;
use crate::study::runner::{Key, Measurement};
use crate::study::target_session::TargetSession;
use crate::techniques;

/// Samples of every pixel that do: the last level of no more is taken, else the first.
const ENOUGH_SPP: u32 = 64;

/// Most pixels of a picture's side.
const SIDE: usize = 1280;

/// The techniques of one integrator on one scene, rendered by the reference renderer.
pub(crate) struct TechniquePyramid<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The integrator, which splats.
    pub(crate) integrator: Integrator,
}

impl Measurement for TechniquePyramid<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let key = self.key(lab);
        let is_recorded = lab.folder.has(key.clone());
        let picture = |file: &String| Key::Image { path: lab.folder.root().join(file), film: None };
        let pictures = [&key.weighted, &key.unweighted].map(picture);
        std::iter::once(Key::of(key)).chain(pictures.into_iter().filter(|_| is_recorded)).collect()
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let key = self.key(lab);
        lab.bar.say(&format!("{} technique by technique", self.scene.name));
        let settings = Settings { integrator: self.integrator, ..lab.plan.settings };
        let mut progress = || match interrupt::requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let films = technique_films(self.scene, &settings, 0..key.spp, &lab.plan.options, &mut progress)?;
        if interrupt::requested() {
            return Ok(ControlFlow::Break(()));
        }
        let Some(sum) = sum_of_weighted(&films) else { return Ok(ControlFlow::Continue(Vec::new())) };
        let metadata = ImageMetadata::of_render(&key.scene, &key.integrator, key.spp, key.seed);
        for (file, is_weighted) in [(&key.weighted, true), (&key.unweighted, false)] {
            let picture = techniques::pyramid(&films, SIDE, is_weighted)?;
            write_hashed_png(&lab.folder.root().join(file), &picture, &metadata)?;
        }
        let record = Pyramid {
            adds_up: self.is_recorded(lab, &key, &film_hash(&sum)),
            techniques: techniques::shares(&films, &sum),
            ..key
        };
        Ok(ControlFlow::Continue(vec![record.into()]))
    }
}

impl TechniquePyramid<'_> {
    fn key(&self, lab: &Lab<'_>) -> Pyramid {
        let (scene, integrator) = (self.scene.name.clone(), self.integrator.to_string());
        let file = |kind: &str| {
            format!("{}/{}.{integrator}.techniques.{kind}.png", files::IMAGES, encode_name(&scene))
        };
        Pyramid {
            weighted: file("weighted"),
            unweighted: file("unweighted"),
            spp: self.spp(lab),
            seed: u64::from(lab.plan.settings.seed),
            scene,
            integrator,
            ..Pyramid::default()
        }
    }

    fn spp(&self, lab: &Lab<'_>) -> u32 {
        let levels = lab.levels(&self.scene.name, lab.plan.settings.seed, 0);
        let enough = levels.iter().rev().find(|level| level.to <= ENOUGH_SPP);
        enough.or(levels.first()).map_or(1, |level| level.to)
    }

    /// Whether a film is the one that every exact target of this integrator has recorded at the same samples.
    fn is_recorded(&self, lab: &Lab<'_>, key: &Pyramid, hash: &str) -> bool {
        let is_own = |s: &&TargetSession| s.id.settings(&lab.plan.settings).integrator == self.integrator;
        let exact = lab.sessions().iter().filter(|s| s.info.exact).filter(is_own);
        let films = exact
            .filter_map(|s| lab.folder.film_hash(&FilmHash::new(&key.scene, &s.id, key.spp, key.seed, "")));
        let mut films = films.peekable();
        films.peek().is_some() && films.all(|film| film == hash)
    }
}
