//! The white furnace test: white objects in an environment of radiance one. A surface that conserves energy
//! is invisible, so every pixel is 1.

use super::shapes::icosphere;
use super::unknown_parameter;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{Camera, EnvironmentLight, IDENTITY, Material, MeshData, SceneBuilder, Sphere};
use lockstep_core::{Result, Scene};

/// Parameters, for messages.
pub(super) const PARAMETERS: &str = "a material, on a sphere or, with -mesh behind it, on a mesh: diffuse, mirror, \
                                     rough-metal, glass, rough-glass, plastic, metal";

/// Materials by name. The rough ones lose the light that scatters more than once between microfacets and stay
/// below 1, `plastic` by less than a hundredth; `scenes/README.md` has their albedos.
const MATERIALS: [(&str, Material); 7] = [
    ("diffuse", Material::diffuse([1.0; 3])),
    ("mirror", Material::conductor([1.0; 3], 0.0)),
    ("rough-metal", Material::conductor([1.0; 3], 0.5)),
    ("glass", Material::dielectric(1.5, 0.0)),
    ("rough-glass", Material::dielectric(1.5, 0.5)),
    ("plastic", Material::principled([1.0; 3], 0.0, 0.5)),
    ("metal", Material::principled([1.0; 3], 1.0, 0.5)),
];

/// Builds the scene: three objects that lose nothing, or one of a chosen material.
pub(super) fn build(parameter: Option<&str>) -> Result<Scene> {
    let name = parameter.map_or("furnace".to_string(), |p| format!("furnace-{p}"));
    let mut b = SceneBuilder::new(name);
    b.environment = EnvironmentLight::Constant(Vec3::ONE);
    b.camera = Camera { eye: vec3(0.0, 0.0, 4.0), ..Camera::default() };
    match parameter {
        Some(parameter) => {
            let (base, is_mesh) =
                parameter.strip_suffix("-mesh").map_or((parameter, false), |base| (base, true));
            let Some((_, material)) = MATERIALS.iter().find(|(name, _)| *name == base) else {
                let known: Vec<String> = MATERIALS
                    .iter()
                    .flat_map(|(name, _)| [name.to_string(), format!("{name}-mesh")])
                    .collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(unknown_parameter("furnace", parameter, &known));
            };
            let material = b.material(*material);
            add(&mut b, if is_mesh { icosphere(4, material) } else { sphere(material) }, Vec3::ZERO);
        }
        None => {
            // So far apart that light hardly ever visits more than two of them before it escapes.
            b.camera.eye = vec3(0.0, 0.0, 12.0);
            let diffuse = b.material(MATERIALS[0].1);
            let mirror = b.material(MATERIALS[1].1);
            add(&mut b, sphere(diffuse), vec3(-4.5, 0.0, 0.0));
            add(&mut b, sphere(mirror), Vec3::ZERO);
            add(&mut b, icosphere(3, diffuse), vec3(4.5, 0.0, 0.0));
        }
    }
    b.build()
}

fn sphere(material: u32) -> MeshData {
    MeshData {
        spheres: vec![Sphere { center: Vec3::ZERO, radius: 1.0, material, ..Sphere::default() }],
        ..MeshData::default()
    }
}

fn add(b: &mut SceneBuilder, mesh: MeshData, at: Vec3) {
    let mesh = b.mesh(mesh);
    let mut map = IDENTITY;
    (map[0][3], map[1][3], map[2][3]) = (at.x, at.y, at.z);
    b.instance(mesh, map);
}
