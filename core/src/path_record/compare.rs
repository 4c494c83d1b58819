//! The divergence of two paths: their fields in the order in which they are computed.

use crate::geometry::FAR;
use crate::path_record::{PathVertex, ScatterVertex, ShadingVertex, ShadowVertex, SurfaceVertex};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A quantity in which paths are compared, in the order of computation: one of a path's first vertex, everything after it,
/// or one of a pair of sub-paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Origin and direction of the camera ray.
    CameraRay,
    /// Instance and primitive hit.
    PrimitiveIndex,
    /// Distance along the ray.
    Depth,
    /// Barycentric coordinates on the primitive.
    Barycentrics,
    /// The geometric normal.
    GeometricNormal,
    /// Texture coordinates.
    TextureCoordinates,
    /// Alpha (opacity).
    Alpha,
    /// Base colour with its texture.
    Albedo,
    /// Roughness and metalness with their texture.
    Roughness,
    /// The shading normal after the normal map.
    ShadingNormal,
    /// Emission, the light sample and its shadow ray.
    DirectLight,
    /// The next direction and all that follows.
    FullPaths,
    /// Rays and vertices of a light sub-path.
    LightSubPath,
    /// Connections of a light sub-path to the lens.
    LensConnection,
    /// Rays and vertices of a camera sub-path.
    CameraSubPath,
    /// Light that a camera sub-path hits.
    HitLight,
    /// Connections of a camera sub-path to a sampled light.
    LightSample,
    /// Connections of two sub-paths.
    VertexConnection,
    /// Weights of multiple importance sampling.
    Weights,
}

impl Quantity {
    /// Every quantity of a camera path, from the first to be compared.
    pub const OF_PATHS: [Self; 12] = [
        Self::CameraRay,
        Self::PrimitiveIndex,
        Self::Depth,
        Self::Barycentrics,
        Self::GeometricNormal,
        Self::TextureCoordinates,
        Self::Alpha,
        Self::Albedo,
        Self::Roughness,
        Self::ShadingNormal,
        Self::DirectLight,
        Self::FullPaths,
    ];

    /// Every quantity of a pair of a light and a camera sub-path.
    pub const OF_PAIRS: [Self; 7] = [
        Self::LightSubPath,
        Self::LensConnection,
        Self::CameraSubPath,
        Self::HitLight,
        Self::LightSample,
        Self::VertexConnection,
        Self::Weights,
    ];

    /// The name in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::LightSubPath => "light sub-path",
            Self::LensConnection => "connection to the lens",
            Self::CameraSubPath => "camera sub-path",
            Self::HitLight => "light hit",
            Self::LightSample => "light sample",
            Self::VertexConnection => "connection of sub-paths",
            Self::Weights => "weights",
            Self::CameraRay => "camera ray",
            Self::PrimitiveIndex => "primitive index",
            Self::Depth => "depth",
            Self::Barycentrics => "barycentrics",
            Self::GeometricNormal => "geometric normal",
            Self::TextureCoordinates => "texture coordinates",
            Self::Alpha => "alpha",
            Self::Albedo => "albedo",
            Self::Roughness => "roughness",
            Self::ShadingNormal => "shading normal",
            Self::DirectLight => "direct light",
            Self::FullPaths => "full paths",
        }
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// An index.
    Index(u32),
    /// Random words.
    Words([u32; 4]),
    /// A number.
    One(f32),
    /// Two numbers.
    Two([f32; 2]),
    /// A vector or a colour.
    Three([f32; 3]),
}

impl Value {
    fn floats(&self) -> &[f32] {
        match self {
            Self::One(v) => std::slice::from_ref(v),
            Self::Two(v) => v,
            Self::Three(v) => v,
            Self::Flag(_) | Self::Index(_) | Self::Words(_) => &[],
        }
    }

    /// Whether every bit is equal.
    pub fn same(&self, other: &Self) -> bool {
        let (a, b) = (self.floats(), other.floats());
        if a.is_empty() {
            return self == other;
        }
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(yes) => f.write_str(if *yes { "yes" } else { "no" }),
            Self::Index(index) => write!(f, "{index}"),
            Self::Words(words) => {
                let words: Vec<String> = words.iter().map(|w| format!("{w:08x}")).collect();
                f.write_str(&words.join(" "))
            }
            Self::One(_) | Self::Two(_) | Self::Three(_) => {
                let number = |v: &f32| if *v == FAR { "∞".to_owned() } else { v.to_string() };
                let numbers: Vec<String> = self.floats().iter().map(number).collect();
                f.write_str(&numbers.join(" "))
            }
        }
    }
}

/// One field of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// The name in words.
    pub name: &'static str,
    /// The quantity that it belongs to at the first vertex; at later vertices all belong to
    /// [`Quantity::FullPaths`].
    pub quantity: Quantity,
    /// The value; `None` where the path did not compute it.
    pub value: Option<Value>,
}

/// The number of fields of a vertex.
pub const FIELDS: usize = 36;

/// The fields of a vertex in the order in which they are computed.
pub fn fields(vertex: &PathVertex) -> [Field; FIELDS] {
    let surface = |get: fn(SurfaceVertex) -> Value| vertex.surface.map(get);
    let shading = |get: fn(ShadingVertex) -> Value| vertex.surface.and_then(|s| s.shading).map(get);
    let light = |get: fn(crate::path_record::LightVertex) -> Value| vertex.light.map(get);
    let shadow = |get: fn(ShadowVertex) -> Value| vertex.light.and_then(|l| l.shadow).map(get);
    let scatter = |get: fn(ScatterVertex) -> Value| vertex.scatter.map(get);
    let always = |value: Value| Some(value);
    let false_hit = vertex.surface.filter(|s| s.false_hit).map(|s| Value::Flag(s.false_hit));
    let rows: [(&'static str, Quantity, Option<Value>); FIELDS] = [
        ("ray origin", Quantity::CameraRay, always(Value::Three(vertex.origin))),
        ("ray direction", Quantity::CameraRay, always(Value::Three(vertex.direction))),
        ("throughput on arrival", Quantity::CameraRay, always(Value::Three(vertex.throughput))),
        ("hit", Quantity::PrimitiveIndex, always(Value::Flag(vertex.surface.is_some()))),
        ("instance", Quantity::PrimitiveIndex, surface(|s| Value::Index(s.instance))),
        ("primitive", Quantity::PrimitiveIndex, surface(|s| Value::Index(s.primitive))),
        ("distance", Quantity::Depth, always(Value::One(vertex.t))),
        ("barycentrics", Quantity::Barycentrics, surface(|s| Value::Two(s.barycentrics))),
        ("geometric normal", Quantity::GeometricNormal, surface(|s| Value::Three(s.geometric_normal))),
        ("texture coordinates", Quantity::TextureCoordinates, surface(|s| Value::Two(s.texture_coordinates))),
        ("alpha", Quantity::Alpha, surface(|s| Value::One(s.alpha))),
        ("material", Quantity::Albedo, surface(|s| Value::Index(s.material))),
        ("false hit", Quantity::Albedo, false_hit),
        ("base colour", Quantity::Albedo, shading(|s| Value::Three(s.base_color))),
        ("roughness", Quantity::Roughness, shading(|s| Value::One(s.roughness))),
        ("metalness", Quantity::Roughness, shading(|s| Value::One(s.metallic))),
        ("shading normal", Quantity::ShadingNormal, shading(|s| Value::Three(s.normal))),
        ("radiance with emission", Quantity::DirectLight, always(Value::Three(vertex.gathered))),
        ("light draw", Quantity::DirectLight, light(|l| Value::Words(l.words))),
        ("light index", Quantity::DirectLight, light(|l| Value::Index(l.index))),
        ("light direction", Quantity::DirectLight, light(|l| Value::Three(l.direction))),
        ("light distance", Quantity::DirectLight, light(|l| Value::One(l.distance))),
        ("light radiance", Quantity::DirectLight, light(|l| Value::Three(l.radiance))),
        ("light pdf", Quantity::DirectLight, light(|l| Value::One(l.pdf))),
        ("BSDF towards the light", Quantity::DirectLight, light(|l| Value::Three(l.bsdf))),
        ("BSDF pdf towards the light", Quantity::DirectLight, light(|l| Value::One(l.bsdf_pdf))),
        ("shadow ray origin", Quantity::DirectLight, shadow(|s| Value::Three(s.origin))),
        ("shadow ray length", Quantity::DirectLight, shadow(|s| Value::One(s.t_max))),
        ("light sample's share", Quantity::DirectLight, shadow(|s| Value::Three(s.radiance))),
        ("light reached", Quantity::DirectLight, shadow(|s| Value::Flag(s.reached))),
        ("radiance", Quantity::DirectLight, always(Value::Three(vertex.radiance))),
        ("BSDF draw", Quantity::FullPaths, scatter(|s| Value::Words(s.words))),
        ("next direction", Quantity::FullPaths, scatter(|s| Value::Three(s.direction))),
        ("next direction's pdf", Quantity::FullPaths, scatter(|s| Value::One(s.pdf))),
        ("next throughput", Quantity::FullPaths, scatter(|s| Value::Three(s.throughput))),
        ("path goes on", Quantity::FullPaths, scatter(|s| Value::Flag(s.continues))),
    ];
    rows.map(|(name, quantity, value)| {
        let quantity = if vertex.bounce == 0 { quantity } else { Quantity::FullPaths };
        Field { name, quantity, value }
    })
}

/// The first field in which two paths differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Divergence {
    /// Bounce of the vertex, or of the step of a pair of sub-paths, counted from 0.
    pub bounce: u32,
    /// The field's quantity.
    pub quantity: Quantity,
    /// The field's name.
    pub field: &'static str,
    /// The value on the first path; `None` where that path did not compute it.
    pub a: Option<Value>,
    /// The value on the second path; `None` where that path did not compute it.
    pub b: Option<Value>,
    /// Distance between the two values, where both are numbers.
    pub distance: Option<Distance>,
}

/// How far apart two values are: the largest over their components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// Distance in ULPs: numbers of binary32 that lie between the values, plus one; 0 for equal values.
    pub ulps: u64,
    /// Difference over the larger magnitude, 0 to 2.
    pub relative: f32,
}

/// How far apart two values are; `None` unless both are numbers of the same kind without NaN.
pub fn distance(a: &Value, b: &Value) -> Option<Distance> {
    let (a, b) = (a.floats(), b.floats());
    if a.is_empty() || a.len() != b.len() || a.iter().chain(b).any(|v| v.is_nan()) {
        return None;
    }
    let pairs = || a.iter().zip(b);
    let ulps = pairs().map(|(&x, &y)| ulps(x, y)).max()?;
    let share = |(&x, &y): (&f32, &f32)| if x == y { 0.0 } else { (x - y).abs() / x.abs().max(y.abs()) };
    Some(Distance { ulps, relative: pairs().map(share).fold(0.0, f32::max) })
}

/// Steps of binary32 from one number to another; both zeroes are one step apart.
fn ulps(a: f32, b: f32) -> u64 {
    let place = |v: f32| {
        let magnitude = i64::from(v.to_bits() & 0x7fff_ffff);
        if v.is_sign_negative() { -magnitude - 1 } else { magnitude }
    };
    place(a).abs_diff(place(b))
}

/// The first divergence of two paths; `None` when they are equal to the bit.
pub fn first_difference(a: &[PathVertex], b: &[PathVertex]) -> Option<Divergence> {
    a.iter().zip(b).find_map(|(a, b)| vertex_difference(a, b))
}

/// The first field in which two vertices differ.
pub fn vertex_difference(a: &PathVertex, b: &PathVertex) -> Option<Divergence> {
    fields(a).iter().zip(&fields(b)).find_map(|(x, y)| field_difference(a.bounce, x, y))
}

/// Whether two values are equal to the bit, or both absent.
pub(super) fn is_equal(a: &Option<Value>, b: &Option<Value>) -> bool {
    match (a, b) {
        (Some(x), Some(y)) => x.same(y),
        (None, None) => true,
        _ => false,
    }
}

/// The divergence of two fields of one name, if any.
pub(super) fn field_difference(bounce: u32, a: &Field, b: &Field) -> Option<Divergence> {
    let same = is_equal(&a.value, &b.value);
    let far = || a.value.zip(b.value).and_then(|(x, y)| distance(&x, &y));
    (!same).then(|| Divergence {
        bounce,
        quantity: a.quantity,
        field: a.name,
        a: a.value,
        b: b.value,
        distance: far(),
    })
}

/// The quantities in which two paths differ, in order, each once.
pub fn quantities_differing(a: &[PathVertex], b: &[PathVertex]) -> Vec<Quantity> {
    let mut quantities: Vec<Quantity> = Vec::new();
    for (a, b) in a.iter().zip(b) {
        for (x, y) in fields(a).iter().zip(&fields(b)) {
            if field_difference(a.bounce, x, y).is_some() && !quantities.contains(&x.quantity) {
                quantities.push(x.quantity);
            }
        }
    }
    quantities.sort_unstable();
    quantities
}
