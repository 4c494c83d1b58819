//! Acceleration structures of targets: layout, time to build, size and expected costs.

use lockstep_bvh::{Bvh, Layout};
use lockstep_core::LoadReport;
use lockstep_core::TargetId;
use lockstep_core::scene::Scene;
use serde::Serialize;

use crate::terminal;

/// The acceleration structure of a target over a scene.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Structure {
    pub(crate) scene: String,
    /// Triangles over all instances.
    pub(crate) triangles: u64,
    pub(crate) target: String,
    pub(crate) layout: String,
    /// Time to build the structure, in milliseconds.
    pub(crate) build_ms: f64,
    /// Bytes of a built-in BVH.
    pub(crate) bytes: Option<u64>,
    /// The expected cost by the surface area heuristic, see [`Bvh::surface_area_cost`].
    pub(crate) sah: Option<f64>,
    /// The end-point overlap where asked for, see [`Bvh::end_point_overlap`].
    pub(crate) epo: Option<f64>,
}

impl Structure {
    /// The structure of a scene on a target, from the report of loading it.
    pub(crate) fn new(scene: &Scene, target: &TargetId, layout: &str, report: &LoadReport) -> Self {
        Self {
            scene: scene.name.clone(),
            triangles: scene.instanced_triangles(),
            target: target.to_string(),
            layout: layout.to_owned(),
            build_ms: report.build_ms,
            bytes: report.bvh.map(|bvh| bvh.bytes),
            sah: report.bvh.map(|bvh| bvh.sah),
            epo: None,
        }
    }
}

/// Fills in the end-point overlap of built-in BVHs over a scene, each layout's once: builders make the same
/// BVH for every target.
pub(crate) fn add_overlap(structures: &mut [Structure], scene: &Scene) {
    for layout in [Layout::Bvh2, Layout::Bvh8] {
        let mut alike =
            structures.iter_mut().filter(|s| s.sah.is_some() && s.layout == layout.name()).peekable();
        if alike.peek().is_some() {
            let epo = Bvh::build(scene, layout).end_point_overlap(scene);
            alike.for_each(|structure| structure.epo = Some(epo));
        }
    }
}

/// A Markdown table of structures for a terminal of this width.
pub(crate) fn table(structures: &[Structure], width: Option<usize>) -> String {
    let header = ["scene", "triangles", "target", "layout", "build ms", "MB", "SAH", "EPO"];
    let mut cells = vec![header.map(str::to_owned)];
    let cost = |cost: Option<f64>| cost.map_or_else(String::new, |cost| format!("{cost:.2}"));
    for s in structures {
        cells.push([
            s.scene.clone(),
            s.triangles.to_string(),
            s.target.clone(),
            s.layout.clone(),
            format!("{:.1}", s.build_ms),
            s.bytes.map_or_else(String::new, |bytes| format!("{:.1}", bytes as f64 * 1e-6)),
            cost(s.sah),
            cost(s.epo),
        ]);
    }
    terminal::table(&cells, &["EPO", "SAH", "MB", "layout", "triangles"], width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::OpenOptions;
    use lockstep_core::{Query, Settings};

    #[test]
    fn what_a_target_reports_is_what_its_layout_is_built_to() {
        let scene = lockstep_scenes::load("weekend", &lockstep_scenes::LoadOptions::default()).unwrap().scene;
        let target = &crate::backends::select(&["cpu-bvh".to_owned()]).unwrap()[0];
        let mut renderer = target.open(&OpenOptions::default()).unwrap();
        let report = renderer.load(&scene, &Settings { width: 8, height: 8, ..Settings::default() }).unwrap();
        let layout = renderer.trace_rays(&[], Query::Closest, 0, None).unwrap().layout;
        let mut structures = [Structure::new(&scene, &target.id, &layout, &report)];
        add_overlap(&mut structures, &scene);
        let built = Bvh::build(&scene, Layout::Bvh8);
        assert_eq!(structures[0].sah, Some(built.surface_area_cost(&scene)));
        assert_eq!(structures[0].epo, Some(built.end_point_overlap(&scene)));
        assert!(table(&structures, None).contains("BVH8"));
    }
}
