//! `study --diagnose`: the divergence of two targets' paths over the whole image.

use std::ops::ControlFlow;

use lockstep_core::path_record::divergence::all_paths;
use lockstep_core::{Scene, TargetId};
use lockstep_reports::records::{Divergence, DivergenceScope, Record};

use crate::exit::Failure;
use crate::study::divergence::Pair;
use crate::study::lab::Lab;
use crate::study::runner::{Key, Measurement};
use crate::study::target_session::Purpose;

/// About this many paths are recorded on each target: several of every pixel of a small image, one of each of
/// a large one.
const PATHS: u32 = 1 << 18;

/// Comparison of the paths of two targets on one scene.
pub(crate) struct PathDivergence<'a> {
    /// The scene.
    pub(crate) scene: &'a Scene,
    /// The scene as command lines name it.
    pub(crate) spec: &'a str,
    /// The first target.
    pub(crate) a: TargetId,
    /// The second target.
    pub(crate) b: TargetId,
}

impl Measurement for PathDivergence<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        if [&self.a, &self.b].into_iter().any(|id| lab.refuses(id, &self.scene.name) || lab.is_program(id)) {
            return Vec::new();
        }
        vec![Key::of(self.pair(lab).key(DivergenceScope::AllPixels))]
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        lab.load(self.scene, lab.plan.settings.seed, Purpose::Levels { repeat: 0 })?;
        Ok(ControlFlow::Continue(()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        lab.bar.say(&format!("{} path by path", self.scene.name));
        let pair = self.pair(lab);
        let pixels = pair.settings.width.saturating_mul(pair.settings.height);
        let samples = samples(pixels, lab.plan.diagnose.most_samples()).min(lab.top(&self.scene.name));
        let Some((a, b)) = lab.pair(&self.a, &self.b) else {
            return Ok(ControlFlow::Continue(Vec::new()));
        };
        let paths = all_paths(0..pixels, 0..samples);
        let found = pair.compare(DivergenceScope::AllPixels, &paths, (a.renderer()?, b.renderer()?))?;
        let pixels = u64::from(pixels);
        let record = Divergence { samples, pixels, pixels_compared: pixels, ..found };
        Ok(ControlFlow::Continue(vec![record.into()]))
    }
}

impl PathDivergence<'_> {
    fn pair(&self, lab: &Lab<'_>) -> Pair<'_> {
        Pair {
            scene: &self.scene.name,
            spec: self.spec,
            settings: lab.plan.settings,
            targets: [&self.a, &self.b],
        }
    }
}

/// Samples of every pixel: as many as fit, at least one.
fn samples(pixels: u32, most: u32) -> u32 {
    (PATHS / pixels.max(1)).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::samples;
    use crate::study::plan::Diagnosis;

    #[test]
    fn a_study_that_was_asked_for_a_diagnosis_compares_several_paths_of_a_pixel() {
        let of = |diagnosis: Diagnosis, pixels| samples(pixels, diagnosis.most_samples());
        assert_eq!(of(Diagnosis::FastBuilds, 320 * 240), 1);
        assert_eq!([16, 320 * 240, u32::MAX].map(|pixels| of(Diagnosis::All, pixels)), [16, 3, 1]);
    }
}
