//! Scenes as Mitsuba 3 reads them: `scene.xml`, meshes as PLY, textures and environment as PFM.
//!
//! The document has the parameters `width`, `height`, `spp`, `seed` and `max_depth`. Conventions that differ are matched:
//! a box filter, no Russian roulette, a depth with the camera's vertex, two-sided reflection, first and last row of an environment
//! image at the poles. A feature without a counterpart is named and replaced by the nearest one.

mod environment;
mod materials;
mod meshes;

use super::geometry;
use super::notes::{Feature, Notes};
use super::{Exported, write_error};
use lockstep_core::math::vec3::{Vec3, normalize};
use lockstep_core::scene::{Camera, Light, LightKind};
use lockstep_core::{Result, Scene};
use std::fmt::{Display, Write};
use std::path::Path;

/// Writes a scene for Mitsuba 3 into a folder, which is made where there is none.
///
/// # Errors
/// [`lockstep_core::Error::Io`], naming the file or folder.
pub fn to_mitsuba(scene: &Scene, folder: &Path) -> Result<Exported> {
    std::fs::create_dir_all(folder).map_err(write_error(folder))?;
    let mut export = Export { scene, folder, xml: String::new(), notes: Notes::default() };
    export.line("<scene version=\"3.0.0\">");
    let defaults = [("width", 640), ("height", 360), ("spp", 16), ("seed", 0), ("max_depth", 4)];
    for (name, value) in defaults {
        export.line(format!("  <default name=\"{name}\" value=\"{value}\"/>"));
    }
    export.line("  <integrator type=\"path\">");
    export.line("    <integer name=\"max_depth\" value=\"$max_depth\"/>");
    export.line("    <integer name=\"rr_depth\" value=\"1000000\"/>");
    export.line("  </integrator>");
    export.camera(&scene.camera);
    export.materials()?;
    export.meshes()?;
    for light in &scene.lights {
        export.punctual(light);
    }
    export.environment()?;
    export.line("</scene>");
    let file = folder.join("scene.xml");
    std::fs::write(&file, &export.xml).map_err(write_error(&file))?;
    Ok(Exported { file, differences: export.notes.into_list() })
}

/// A document in the making.
struct Export<'a> {
    scene: &'a Scene,
    folder: &'a Path,
    xml: String,
    notes: Notes,
}

impl Export<'_> {
    fn line(&mut self, line: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.xml, "{line}");
    }

    fn camera(&mut self, camera: &Camera) {
        let is_lens = camera.lens_radius > 0.0;
        let target = camera.eye + normalize(camera.direction);
        // Near and far limits that cut off nothing: the scene's sphere as seen from the eye, and a thousandth of it.
        let reach = geometry::reach(self.scene);
        self.line(format!("  <sensor type=\"{}\">", if is_lens { "thinlens" } else { "perspective" }));
        self.line(format!(
            "    <float name=\"fov\" value=\"{}\"/>",
            f64::from(camera.vertical_fov).to_degrees()
        ));
        self.line("    <string name=\"fov_axis\" value=\"y\"/>");
        self.line(format!("    <float name=\"near_clip\" value=\"{}\"/>", 1e-5 * reach));
        self.line(format!(
            "    <float name=\"far_clip\" value=\"{}\"/>",
            1e4 * reach.max(camera.focus_distance)
        ));
        if is_lens {
            self.line(format!("    <float name=\"aperture_radius\" value=\"{}\"/>", camera.lens_radius));
            self.line(format!("    <float name=\"focus_distance\" value=\"{}\"/>", camera.focus_distance));
        }
        let [origin, target, up] = [camera.eye, target, camera.up].map(triple);
        self.line("    <transform name=\"to_world\">");
        self.line(format!("      <lookat origin=\"{origin}\" target=\"{target}\" up=\"{up}\"/>"));
        self.line("    </transform>");
        self.line("    <sampler type=\"independent\">");
        self.line("      <integer name=\"sample_count\" value=\"$spp\"/>");
        self.line("      <integer name=\"seed\" value=\"$seed\"/>");
        self.line("    </sampler>");
        self.line("    <film type=\"hdrfilm\">");
        self.line("      <integer name=\"width\" value=\"$width\"/>");
        self.line("      <integer name=\"height\" value=\"$height\"/>");
        self.line("      <string name=\"pixel_format\" value=\"rgb\"/>");
        self.line("      <string name=\"component_format\" value=\"float32\"/>");
        self.line("      <rfilter type=\"box\"/>");
        self.line("    </film>");
        self.line("  </sensor>");
    }

    /// A light without extent; others are made of shapes and of the environment.
    fn punctual(&mut self, light: &Light) {
        let intensity = rgb("intensity", light.intensity);
        if light.kind == LightKind::Point as u32 {
            self.line("  <emitter type=\"point\">");
            self.line(format!("    <point name=\"position\" value=\"{}\"/>", triple(light.position)));
            self.line(format!("    {intensity}"));
            self.line("  </emitter>");
        } else if light.kind == LightKind::Directional as u32 {
            self.line("  <emitter type=\"directional\">");
            self.line(format!("    <vector name=\"direction\" value=\"{}\"/>", triple(-light.position)));
            self.line(format!("    {}", rgb("irradiance", light.intensity)));
            self.line("  </emitter>");
        } else if light.kind == LightKind::Spot as u32 {
            self.notes.add(
                Feature::SpotLight,
                "spot lights fall off towards the edge of their cone by the angle in Mitsuba, by the cosine's square here",
            );
            // Scale and offset turn the cosine into 1 at the inner angle and 0 at the outer one.
            let cosine =
                |value: f32| f64::from((value - light.edge2.y) / light.edge2.x).clamp(-1.0, 1.0).acos();
            let target = light.position + light.edge1;
            let up = if light.edge1.y.abs() < 0.9 { "0, 1, 0" } else { "1, 0, 0" };
            let origin = triple(light.position);
            self.line("  <emitter type=\"spot\">");
            self.line("    <transform name=\"to_world\">");
            self.line(format!(
                "      <lookat origin=\"{origin}\" target=\"{}\" up=\"{up}\"/>",
                triple(target)
            ));
            self.line("    </transform>");
            self.line(format!("    {intensity}"));
            self.line(format!("    <float name=\"beam_width\" value=\"{}\"/>", cosine(1.0).to_degrees()));
            self.line(format!("    <float name=\"cutoff_angle\" value=\"{}\"/>", cosine(0.0).to_degrees()));
            self.line("  </emitter>");
        }
    }
}

fn triple(v: Vec3) -> String {
    format!("{}, {}, {}", v.x, v.y, v.z)
}

fn rgb(name: &str, v: Vec3) -> String {
    format!("<rgb name=\"{name}\" value=\"{}\"/>", triple(v))
}
