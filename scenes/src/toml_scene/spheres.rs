//! Spheres of a document.

use super::Text;
use super::document::SphereTable;
use crate::finish::LAMP;
use lockstep_core::Result;
use lockstep_core::math::vec3::max_component;
use lockstep_core::scene::{IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use toml::Spanned;

/// Adds the spheres to the scene. Returns whether one is a lamp.
pub(super) fn place(
    tables: &[Spanned<SphereTable>],
    source: &Text<'_>,
    builder: &mut SceneBuilder,
) -> Result<bool> {
    let mut has_lamp = false;
    for table in tables {
        let wrong = |message: &str| Err(source.error(table.span().start, message));
        let SphereTable { center, radius, material: change } = table.get_ref();
        if !(*radius > 0.0 && radius.is_finite() && center.iter().all(|v| v.is_finite())) {
            return wrong("a sphere needs a finite centre and a positive radius");
        }
        if !change.name.is_empty() {
            return wrong("the material of a sphere is its own and has no `name`");
        }
        if change.displacement.is_some() {
            return wrong("a sphere has no triangles to displace; give it as a mesh in `file`");
        }
        if let Some(fault) = change.fault() {
            return wrong(fault);
        }
        let mut material = Material::diffuse([0.8; 3]);
        change.apply(&mut material, builder);
        has_lamp |= max_component(material.emission) > LAMP;
        let material = builder.material(material);
        builder
            .check_surface(material)
            .map_err(|error| source.at(table, "the material of the sphere", error))?;
        let sphere = Sphere { center: (*center).into(), radius: *radius, material, ..Sphere::default() };
        let mesh = builder.mesh(MeshData { spheres: vec![sphere], ..MeshData::default() });
        builder.instance(mesh, IDENTITY);
    }
    Ok(has_lamp)
}
