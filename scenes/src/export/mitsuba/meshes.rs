//! Geometry: meshes in world space, or groups of shapes where a mesh is placed several times.

use super::{Export, triple};
use crate::export::geometry::{self, Part, Placement};
use crate::export::notes::Feature;
use crate::export::ply;
use lockstep_core::Result;
use lockstep_core::scene::Instance;

impl Export<'_> {
    pub(super) fn meshes(&mut self) -> Result<()> {
        let scene = self.scene;
        // A lamp may be part of no group, and a sphere is simple enough to be written again.
        let groups = geometry::shared_meshes(scene, |mesh| {
            scene.meshes[mesh as usize].sphere_count == 0 && !geometry::has_lamp(scene, mesh)
        });
        for &mesh in &groups {
            self.line(format!("  <shape type=\"shapegroup\" id=\"mesh-{mesh}\">"));
            self.triangles(mesh, &format!("mesh-{mesh}"), &Placement::NONE)?;
            self.line("  </shape>");
        }
        for (index, instance) in scene.instances.iter().enumerate() {
            if groups.contains(&instance.mesh) {
                self.instance(instance);
            } else {
                self.triangles(instance.mesh, &format!("object-{index}"), &Placement::of(instance))?;
                self.spheres(instance)?;
            }
        }
        Ok(())
    }

    /// The triangles of a mesh, one shape for each material.
    fn triangles(&mut self, mesh: u32, name: &str, placement: &Placement) -> Result<()> {
        for part in geometry::parts(self.scene, mesh, placement, &mut self.notes) {
            self.part(&part, name)?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Part, name: &str) -> Result<()> {
        let file = format!("{name}-{}.ply", part.name());
        ply::write(&self.folder.join(&file), &part.mesh, ["u", "v"])?;
        if !part.mesh.colors.is_empty() {
            self.notes.add(Feature::VertexColor, "colours of vertices are left out");
        }
        self.line("  <shape type=\"ply\">");
        self.line(format!("    <string name=\"filename\" value=\"{file}\"/>"));
        if part.mesh.normals.is_empty() {
            self.line("    <boolean name=\"face_normals\" value=\"true\"/>");
        }
        self.surface(part.material)?;
        self.line("  </shape>");
        Ok(())
    }

    /// Material and emission of a shape.
    fn surface(&mut self, material: u32) -> Result<()> {
        self.line(format!("    <ref id=\"material-{material}\"/>"));
        if geometry::emits(self.scene, material) {
            let own = self.scene.materials[material as usize];
            let radiance = self.color(material as usize, "emission", own.emission, own.emission_texture)?;
            self.line("    <emitter type=\"area\">");
            self.line(format!("      {}", radiance.named("radiance")));
            self.line("    </emitter>");
        }
        Ok(())
    }

    fn instance(&mut self, instance: &Instance) {
        let rows =
            instance.object_to_world.iter().flatten().map(|value| value.to_string()).collect::<Vec<_>>();
        self.line("  <shape type=\"instance\">");
        self.line(format!("    <ref id=\"mesh-{}\"/>", instance.mesh));
        self.line("    <transform name=\"to_world\">");
        self.line(format!("      <matrix value=\"{} 0 0 0 1\"/>", rows.join(" ")));
        self.line("    </transform>");
        self.line("  </shape>");
    }

    fn spheres(&mut self, instance: &Instance) -> Result<()> {
        for sphere in geometry::spheres(self.scene, instance) {
            self.line("  <shape type=\"sphere\">");
            self.line(format!("    <point name=\"center\" value=\"{}\"/>", triple(sphere.center)));
            self.line(format!("    <float name=\"radius\" value=\"{}\"/>", sphere.radius));
            let material = &self.scene.materials[sphere.material as usize];
            if geometry::texture_of(self.scene, material, &mut self.notes).is_some() {
                self.notes.add(Feature::Texture, "textures on spheres lie otherwise");
            }
            self.surface(sphere.material)?;
            self.line("  </shape>");
        }
        Ok(())
    }
}
