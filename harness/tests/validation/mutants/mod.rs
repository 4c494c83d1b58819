//! Mutation tests of the verdict. Every mutant is killed, by the verdict `biased` or `broken` on images at 64 spp, and
//! the classification of path divergence names the quantity that is wrong.
//!
//! A mutant is the kernels' source with one mistake, built for an OpenCL CPU runtime in place of the kernels and
//! compared with `cpu-bvh`, in a process for each list of mutants. `reports/recorded/mutants.md` holds the table that this prints:
//!
//! ```sh
//! cargo test -p lockstep --all-features --test validation -- --nocapture mutants
//! ```

mod list;
mod merges;
mod pairs;
mod scene;

use list::{MUTANTS, Mutant};
use lockstep_bvh::Layout;
use lockstep_conformance::scenes::nested;
use lockstep_conformance::{in_own_process, present_targets, render, require};
use lockstep_core::merging::MergeRadius;
use lockstep_core::path_record::divergence::{self, FieldCount, QuantityDivergence};
use lockstep_core::{Backend, Integrator, OpenOptions, Renderer, Scene, Settings};
use lockstep_cpu::{BVH_TARGET, Cpu};
use lockstep_gpu::SourcePatch;
use lockstep_opencl::{Opencl, open_patched};
use lockstep_reports::image_io::LinearImage;
use lockstep_reports::statistics::{Agreement, DecisionRule, ImageComparison, Pairing, compare_images};
use lockstep_scenes::LoadOptions;
use merges::MERGE_MUTANTS;
use pairs::PAIR_MUTANTS;
use scene::mutant_scene;

const SETTINGS: Settings = Settings { width: 64, height: 48, bounces: 3, seed: 11, ..Settings::DEFAULT };
const SPP: u32 = 64;

/// Samples per pixel and first radius, in millionths, of the renders that show mutants of merges. The second has few passes,
/// whose radii differ most, with many photons in a radius.
const MERGE_STAGES: [(u32, u32); 2] = [(SPP, 3_000), (8, 20_000)];

/// The compiler decides on inner loops too, which spares mutants, each a program of its own, much of PoCL's compilation.
const COMPILED_FAST: SourcePatch = SourcePatch {
    file: "backend-opencl/kernels/compat.h",
    from: "#if defined(LS_PROBES) || defined(LS_RECORDS) || defined(cl_intel_vec_len_hint)",
    to: "#if 1",
};

/// The verdict on one mutant, and its divergence.
struct Found {
    comparison: ImageComparison,
    quantities: Vec<QuantityDivergence>,
}

/// Whether the verdict says that an image is wrong.
fn is_killed(comparison: &ImageComparison) -> bool {
    matches!(comparison.agreement, Agreement::Biased | Agreement::Broken)
}

/// The p-value of a comparison as text.
fn p_value(comparison: &ImageComparison) -> String {
    comparison.test.as_ref().map_or_else(|| "–".to_owned(), |test| format!("{:.1e}", test.p))
}

impl Found {
    /// The first quantity that differs, and the field at which most of the paths that diverge there do.
    fn first(&self) -> Option<(&QuantityDivergence, &FieldCount)> {
        let row = divergence::first(&self.quantities)?;
        Some((row, row.fields.first()?))
    }

    fn names(&self, mutant: &Mutant) -> bool {
        self.first()
            .is_some_and(|(row, top)| row.quantity == mutant.quantity && mutant.fields.contains(&top.name))
    }

    fn row(&self, mutant: &Mutant) -> String {
        let p = p_value(&self.comparison);
        let (quantity, field) = self.first().map_or(("none".to_owned(), String::new()), |(row, top)| {
            let share = format!("{} of {}", row.diverging, row.paths);
            (format!("{} ({share})", row.quantity.name()), format!("bounce {}: {}", top.bounce, top.name))
        });
        let named = if self.names(mutant) { "yes" } else { "no" };
        format!("| {} | {} | {p} | {quantity} | {field} | {named} |", mutant.name, self.comparison.agreement)
    }
}

/// The OpenCL CPU runtime that is here; the one that compiles such functions faster where there are several.
fn runtime() -> Option<String> {
    let names = present_targets(&Opencl);
    let wanted = ["opencl@pocl", "opencl@intel"];
    let found = wanted.iter().find_map(|wanted| names.iter().find(|name| name.starts_with(wanted)));
    require::present("opencl", found.cloned().ok_or("No OpenCL CPU runtime is here. Run `lockstep setup`."))
}

fn image(renderer: &mut dyn Renderer, scene: &Scene, settings: &Settings, spp: u32) -> LinearImage {
    let (film, _) = render(renderer, scene, settings, spp).unwrap();
    LinearImage::new(film.width(), film.height(), film.mean()).unwrap()
}

/// A scene with the reference target that holds it, and its image.
struct Stage {
    scene: Scene,
    settings: Settings,
    spp: u32,
    reference: Box<dyn Renderer>,
    truth: LinearImage,
}

impl Stage {
    fn set(scene: Scene, settings: Settings, spp: u32) -> Self {
        let mut reference = Cpu.open(BVH_TARGET, &OpenOptions::default()).unwrap();
        let truth = image(reference.as_mut(), &scene, &settings, spp);
        Self { scene, settings, spp, reference, truth }
    }

    /// The image with these changes of the kernels against the reference's.
    fn compare_images(&self, target: &str, edits: &[SourcePatch]) -> (ImageComparison, Box<dyn Renderer>) {
        let edits: Vec<SourcePatch> = edits.iter().copied().chain([COMPILED_FAST]).collect();
        let mut renderer = open_patched(target, &edits).unwrap();
        let image = image(renderer.as_mut(), &self.scene, &self.settings, self.spp);
        let truth = std::slice::from_ref(&self.truth);
        let comparison = compare_images(truth, &[image], Pairing::Paired, &DecisionRule::of_films()).unwrap();
        (comparison, renderer)
    }

    /// Renders with these changes of the kernels, and compares images and paths with the reference's.
    fn compare(&mut self, target: &str, edits: &[SourcePatch]) -> Found {
        let (comparison, mut renderer) = self.compare_images(target, edits);
        let pixels = 0..SETTINGS.width * SETTINGS.height;
        let paths = divergence::all_paths(pixels, 0..1);
        let compare = match self.settings.integrator.splats() {
            true => divergence::compare_pairs,
            false => divergence::compare_paths,
        };
        let quantities = compare(self.reference.as_mut(), renderer.as_mut(), &paths).unwrap();
        Found { comparison, quantities }
    }
}

#[test]
fn mutants_are_killed_and_the_wrong_quantity_is_named() {
    in_own_process(|| {
        let scenes = [|| mutant_scene(false), || mutant_scene(true), nested];
        kill(&MUTANTS, &scenes.map(|scene| move || Stage::set(scene().unwrap(), SETTINGS, SPP)));
    });
}

#[test]
fn mutants_of_bidirectional_path_tracing_are_killed_and_the_wrong_quantity_is_named() {
    in_own_process(|| {
        let caustic = || lockstep_scenes::load("caustic", &LoadOptions::default()).unwrap().scene;
        let stages = [false, true].map(|specular| {
            move || {
                let scene = if specular { caustic() } else { mutant_scene(false).unwrap() };
                Stage::set(scene, Settings { integrator: Integrator::Bpt, ..SETTINGS }, SPP)
            }
        });
        kill(&PAIR_MUTANTS, &stages);
    });
}

/// Prints the table of mutants, each on the stage that it names, and asserts that all are killed and named.
fn kill(mutants: &[Mutant], stages: &[impl Fn() -> Stage]) {
    let Some(target) = runtime() else { return };
    let mut stages: Vec<Stage> = stages.iter().map(|set| set()).collect();
    for stage in &mut stages {
        let sound = stage.compare(&target, &[]);
        assert_eq!(sound.comparison.agreement, Agreement::Identical, "without a mistake");
        assert_eq!(divergence::first(&sound.quantities), None, "without a mistake");
    }
    println!(
        "| mistake | verdict at {SPP} spp | p | first quantity that differs | most diverge at | right |"
    );
    println!("|---|---|---|---|---|---|");
    let (mut missed, mut unnamed) = (Vec::new(), Vec::new());
    for mutant in mutants {
        let found = stages[mutant.stage].compare(&target, mutant.edits);
        println!("{}", found.row(mutant));
        if !is_killed(&found.comparison) {
            missed.push(mutant.name);
        }
        if !found.names(mutant) {
            unnamed.push(mutant.name);
        }
    }
    assert!(missed.is_empty(), "called sound at {SPP} spp: {missed:?}");
    assert!(unnamed.is_empty(), "another quantity is named: {unnamed:?}");
}

/// One of the mistakes changes less than the noise of these images, so it is found by the bits of the film alone.
#[test]
fn mutants_of_photon_mapping_leave_another_film() {
    in_own_process(|| {
        let Some(target) = runtime() else { return };
        let stages = MERGE_STAGES.map(|(spp, millionths)| {
            let merge_radius = MergeRadius::from_millionths(millionths).unwrap();
            let settings = Settings { merge_radius, integrator: Integrator::Bpm, ..SETTINGS };
            Stage::set(mutant_scene(false).unwrap(), settings, spp)
        });
        for stage in &stages {
            let sound = stage.compare_images(&target, &[]).0;
            assert_eq!(sound.agreement, Agreement::Identical, "without a mistake");
        }
        println!("| mistake | samples per pixel | verdict | p |");
        println!("|---|---|---|---|");
        let mut missed = Vec::new();
        for mutant in &MERGE_MUTANTS {
            let stage = &stages[mutant.stage];
            let (comparison, _) = stage.compare_images(&target, &[mutant.edit]);
            println!(
                "| {} | {} | {} | {} |",
                mutant.name,
                stage.spp,
                comparison.agreement,
                p_value(&comparison)
            );
            let found = comparison.agreement != Agreement::Identical;
            if !found || is_killed(&comparison) != mutant.beyond_noise {
                missed.push(mutant.name);
            }
        }
        assert!(missed.is_empty(), "not found as expected: {missed:?}");
    });
}

#[test]
fn every_mutant_fits_the_source() {
    use lockstep_gpu::{KernelFeatures, Options, ProgramKind};
    // The runtime is asked for nothing but its name: an edit that does not fit is refused before any compiler
    // runs.
    for layout in [Layout::Bvh2, Layout::Bvh8] {
        for (integrator, mutants) in [(Integrator::Path, &MUTANTS[..]), (Integrator::Bpt, &PAIR_MUTANTS)] {
            let options = Options { layout, features: KernelFeatures::all(integrator), ..Options::default() };
            let source = lockstep_gpu::assemble("compat.h", "", &options, ProgramKind::recording(integrator));
            for mutant in mutants {
                let changed = mutant.edits.iter().try_fold(source.clone(), lockstep_gpu::patched).unwrap();
                assert_ne!(changed.hash, source.hash, "{}", mutant.name);
            }
        }
    }
}
