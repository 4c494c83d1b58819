//! The shape of a `scene.toml`. README.md describes it for users.

use super::Text;
use crate::overrides::MaterialOverride;
use crate::suggest;
use lockstep_core::Result;
use lockstep_core::serde_words::in_words;
use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) name: Option<String>,
    pub(super) file: Option<Spanned<String>>,
    pub(super) clay: Option<Spanned<[f32; 3]>>,
    #[serde(default)]
    pub(super) both_sides: bool,
    #[serde(default)]
    pub(super) multiscatter: bool,
    pub(super) camera: Option<Spanned<CameraTable>>,
    pub(super) sky: Option<Spanned<EnvironmentTable>>,
    pub(super) sun: Option<Spanned<SunTable>>,
    #[serde(default)]
    pub(super) lights: Vec<Spanned<LightTable>>,
    #[serde(default)]
    pub(super) materials: Vec<Spanned<MaterialOverride>>,
    #[serde(default)]
    pub(super) spheres: Vec<Spanned<SphereTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SphereTable {
    pub(super) center: [f32; 3],
    pub(super) radius: f32,
    /// A grey diffuse surface with these changes.
    #[serde(default)]
    pub(super) material: MaterialOverride,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CameraTable {
    pub(super) from_file: Option<String>,
    pub(super) eye: Option<[f32; 3]>,
    pub(super) direction: Option<[f32; 3]>,
    /// The point that it looks at, named as the command line's option or as glTF viewers name it.
    #[serde(alias = "look_at")]
    pub(super) target: Option<[f32; 3]>,
    pub(super) up: Option<[f32; 3]>,
    pub(super) fov: Option<f32>,
    pub(super) lens_radius: Option<f32>,
    pub(super) focus_distance: Option<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EnvironmentTableKind {
    Constant,
    Gradient,
    Image,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct EnvironmentTable {
    pub(super) kind: EnvironmentTableKind,
    pub(super) radiance: Option<[f32; 3]>,
    pub(super) zenith: Option<[f32; 3]>,
    pub(super) horizon: Option<[f32; 3]>,
    pub(super) ground: Option<[f32; 3]>,
    pub(super) file: Option<Spanned<String>>,
    pub(super) scale: Option<[f32; 3]>,
    pub(super) rotation: Option<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SunTable {
    pub(super) towards: [f32; 3],
    pub(super) irradiance: [f32; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LightKind {
    Point,
    Spot,
    Directional,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LightTable {
    pub(super) kind: LightKind,
    pub(super) position: Option<[f32; 3]>,
    pub(super) direction: Option<[f32; 3]>,
    pub(super) intensity: [f32; 3],
    pub(super) inner_angle: Option<f32>,
    pub(super) outer_angle: Option<f32>,
}

/// Reads a document; mistakes come with line and column, unknown keys with the key that was probably meant.
pub(super) fn parse(source: &Text<'_>) -> Result<Document> {
    toml::from_str(source.text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let said = error.message().trim().replace('\n', "; ");
        let mut message = in_words(&said);
        if let Some(near) = suggestion(&said) {
            message.push_str(&format!(" (did you mean `{near}`?)"));
        }
        source.error(offset, message)
    })
}

/// The expected name nearest to the unknown one, from the deserializer's message: "unknown field `a`,
/// expected one of `b`, `c`".
fn suggestion(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("unknown field ").or_else(|| message.strip_prefix("unknown variant "))?;
    let mut names = rest.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    suggest::nearest(unknown, names)
}
