//! Pairs of sub-paths as people and programs read them.

use super::PairRecord;
use super::compare::{Divergence, Field, Quantity, Value, field_difference, is_equal};
use serde::{Deserialize, Serialize};

/// One step of a pair of sub-paths, in the order in which they are computed. Vectors are in world space; directions and
/// normals have unit length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "step")]
pub enum PairStep {
    /// An extension ray of a sub-path.
    Ray {
        /// Whether the ray is of the light sub-path.
        of_light: bool,
        /// 0 for the ray that leaves the light or the lens.
        bounce: u32,
        /// The origin.
        origin: [f32; 3],
        /// The direction.
        direction: [f32; 3],
        /// Distance to the hit in units of the direction's length; the ray's `t_max` for a miss.
        t: f32,
        /// Instance and primitive hit; `None` for a miss.
        hit: Option<[u32; 2]>,
        /// Second and third barycentric coordinate of the hit.
        barycentrics: [f32; 2],
    },
    /// A vertex of a sub-path.
    Vertex {
        /// Whether the vertex is of the light sub-path.
        of_light: bool,
        /// The bounce of the ray that led to it.
        bounce: u32,
        /// The position.
        position: [f32; 3],
        /// Geometric normal on the front side.
        geometric_normal: [f32; 3],
        /// Shading normal on the front side.
        shading_normal: [f32; 3],
        /// Throughput on arrival.
        throughput: [f32; 3],
        /// Base colour with its texture.
        base_color: [f32; 3],
        /// Roughness and metalness with their texture.
        roughness: [f32; 2],
        /// The part of the weights that the vertex carries: d^VCM and d^VC of Georgiev et al. (2012).
        partial_weights: [f32; 2],
    },
    /// Contribution of a technique to a pixel: a connection, or light that the camera sub-path hit.
    Contribution {
        /// Vertices of the light sub-path: Veach's s.
        light: u32,
        /// Vertices of the camera sub-path, the lens included: Veach's t.
        camera: u32,
        /// The pixel, `y * width + x`.
        pixel: u32,
        /// Radiance of the technique alone.
        value: [f32; 3],
        /// The weight among all techniques; 1 where the integrator has only this one.
        weight: f32,
        /// Origin of the shadow ray, or of the extension ray that hit the light.
        origin: [f32; 3],
        /// Direction of the shadow ray, or of the extension ray that hit the light.
        direction: [f32; 3],
        /// Length of the shadow ray, or of the extension ray that hit the light.
        t: f32,
        /// False for an occluded shadow ray, whose contribution adds nothing.
        reached: bool,
    },
}

impl PairStep {
    /// The steps that a target recorded.
    pub fn pair(records: &[PairRecord]) -> Vec<Self> {
        records.iter().map(Self::of).collect()
    }

    fn of(r: &PairRecord) -> Self {
        let of_light = r.has(PairRecord::OF_LIGHT);
        if r.has(PairRecord::RAY) {
            return Self::Ray {
                of_light,
                bounce: r.light,
                origin: r.origin.to_array(),
                direction: r.direction.to_array(),
                t: r.t,
                hit: r.has(PairRecord::HIT).then_some([r.instance, r.primitive]),
                barycentrics: [r.u, r.v],
            };
        }
        if r.has(PairRecord::VERTEX) {
            return Self::Vertex {
                of_light,
                bounce: r.light,
                position: r.origin.to_array(),
                geometric_normal: r.geometric.to_array(),
                shading_normal: r.shading.to_array(),
                throughput: r.value.to_array(),
                base_color: r.base_color.to_array(),
                roughness: [r.roughness, r.metallic],
                partial_weights: [r.vcm, r.vc],
            };
        }
        Self::Contribution {
            light: r.light,
            camera: r.camera,
            pixel: r.pixel,
            value: r.value.to_array(),
            weight: r.weight,
            origin: r.origin.to_array(),
            direction: r.direction.to_array(),
            t: r.t,
            reached: r.has(PairRecord::REACHED),
        }
    }

    /// The step in words: what it is, and where in the pair.
    pub fn name(&self) -> String {
        let path = |of_light| if of_light { "light" } else { "camera" };
        match *self {
            Self::Ray { of_light, bounce, .. } => format!("{} ray {bounce}", path(of_light)),
            Self::Vertex { of_light, bounce, .. } => format!("{} vertex {bounce}", path(of_light)),
            Self::Contribution { light: 0, camera, .. } => format!("light hit (s=0, t={camera})"),
            Self::Contribution { light: 1, camera, .. } => format!("light sample (s=1, t={camera})"),
            Self::Contribution { light, camera: 1, .. } => format!("connection to the lens (s={light}, t=1)"),
            Self::Contribution { light, camera, .. } => format!("connection (s={light}, t={camera})"),
        }
    }

    /// Radiance that it adds to its pixel, weighted; zero but for contributions that arrive.
    pub fn radiance(&self) -> [f32; 3] {
        match *self {
            Self::Contribution { value, weight, reached: true, .. } => value.map(|v| v * weight),
            _ => [0.0; 3],
        }
    }

    /// The bounce of a ray or vertex; of a contribution, that of its last vertex on the camera sub-path.
    pub fn bounce(&self) -> u32 {
        match *self {
            Self::Ray { bounce, .. } | Self::Vertex { bounce, .. } => bounce,
            Self::Contribution { camera, .. } => camera.saturating_sub(2),
        }
    }

    /// The quantity that a step computes, its weight aside.
    pub fn quantity(&self) -> Quantity {
        match *self {
            Self::Ray { of_light: true, .. } | Self::Vertex { of_light: true, .. } => Quantity::LightSubPath,
            Self::Ray { .. } | Self::Vertex { .. } => Quantity::CameraSubPath,
            Self::Contribution { light: 0, .. } => Quantity::HitLight,
            Self::Contribution { light: 1, .. } => Quantity::LightSample,
            Self::Contribution { camera: 1, .. } => Quantity::LensConnection,
            Self::Contribution { .. } => Quantity::VertexConnection,
        }
    }

    /// The values in the order in which they are computed, with their names.
    pub fn fields(&self) -> Vec<Field> {
        let own = self.quantity();
        let optional = |name, value| Field { name, quantity: own, value };
        let field = |name, value| optional(name, Some(value));
        let weights = |name, value| Field { name, quantity: Quantity::Weights, value: Some(value) };
        match *self {
            Self::Ray { origin, direction, t, hit, barycentrics, .. } => vec![
                field("ray origin", Value::Three(origin)),
                field("ray direction", Value::Three(direction)),
                field("hit", Value::Flag(hit.is_some())),
                optional("instance", hit.map(|[instance, _]| Value::Index(instance))),
                optional("primitive", hit.map(|[_, primitive]| Value::Index(primitive))),
                field("distance", Value::One(t)),
                field("barycentrics", Value::Two(barycentrics)),
            ],
            Self::Vertex {
                position,
                geometric_normal,
                shading_normal,
                throughput,
                base_color,
                roughness,
                partial_weights,
                ..
            } => vec![
                field("position", Value::Three(position)),
                field("geometric normal", Value::Three(geometric_normal)),
                field("shading normal", Value::Three(shading_normal)),
                field("base colour", Value::Three(base_color)),
                field("roughness and metalness", Value::Two(roughness)),
                field("throughput on arrival", Value::Three(throughput)),
                weights("partial weights", Value::Two(partial_weights)),
            ],
            Self::Contribution { pixel, value, weight, origin, direction, t, reached, .. } => vec![
                field("pixel", Value::Index(pixel)),
                field("radiance of the technique", Value::Three(value)),
                weights("weight", Value::One(weight)),
                field("shadow ray origin", Value::Three(origin)),
                field("shadow ray direction", Value::Three(direction)),
                field("shadow ray length", Value::One(t)),
                field("reached", Value::Flag(reached)),
            ],
        }
    }
}

/// The steps of two pairs side by side, in their order; `None` where a pair lacks one.
pub fn aligned<'a>(a: &'a [PairStep], b: &'a [PairStep]) -> Vec<[Option<&'a PairStep>; 2]> {
    let (mut rows, mut a, mut b) = (Vec::new(), a.iter().peekable(), b.iter().peekable());
    loop {
        let (from_a, from_b) = match (a.peek(), b.peek()) {
            (None, None) => return rows,
            (Some(x), Some(y)) => (x.order() <= y.order(), y.order() <= x.order()),
            (x, y) => (x.is_some(), y.is_some()),
        };
        rows.push([a.next_if(|_| from_a), b.next_if(|_| from_b)]);
    }
}

/// The first divergence of two pairs; `None` when they are equal to the bit. Where the steps themselves are not the
/// same, the field is the step that only one of them has.
pub fn first_pair_difference(a: &[PairStep], b: &[PairStep]) -> Option<Divergence> {
    aligned(a, b).into_iter().find_map(|row| match row {
        [Some(a), Some(b)] => step_difference(a, b),
        [Some(a), None] => Some(only_one(a, true)),
        [None, Some(b)] => Some(only_one(b, false)),
        [None, None] => None,
    })
}

impl PairStep {
    /// Where the step stands in a pair: sub-path, bounce, and steps of one bounce in their order.
    fn order(&self) -> (bool, u32, u32, u32) {
        match *self {
            Self::Ray { of_light, bounce, .. } => (!of_light, bounce, 0, 0),
            Self::Vertex { of_light, bounce, .. } => (!of_light, bounce, 2, 0),
            Self::Contribution { light, camera: 1, .. } => (false, light.saturating_sub(2), 3, 0),
            Self::Contribution { light: 0, .. } => (true, self.bounce(), 1, 0),
            Self::Contribution { light, .. } => (true, self.bounce(), 3, light),
        }
    }
}

/// The divergence where one side has a step that the other lacks.
fn only_one(step: &PairStep, is_of_a: bool) -> Divergence {
    let field = match step {
        PairStep::Ray { .. } => "the ray",
        PairStep::Vertex { .. } => "the vertex",
        PairStep::Contribution { .. } => "the contribution",
    };
    let (yes, no) = (Some(Value::Flag(true)), Some(Value::Flag(false)));
    let (a, b) = if is_of_a { (yes, no) } else { (no, yes) };
    Divergence { bounce: step.bounce(), quantity: step.quantity(), field, a, b, distance: None }
}

/// The first field in which two steps of one kind differ.
fn step_difference(a: &PairStep, b: &PairStep) -> Option<Divergence> {
    a.fields().iter().zip(&b.fields()).find_map(|(x, y)| field_difference(a.bounce(), x, y))
}

/// The quantities in which two pairs differ, in order, each once.
pub(super) fn pair_quantities_differing(a: &[PairStep], b: &[PairStep]) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = first_pair_difference(a, b).map(|d| d.quantity).into_iter().collect();
    for row in aligned(a, b) {
        let [Some(a), Some(b)] = row else { continue };
        let (a, b) = (a.fields(), b.fields());
        let differing = a.iter().zip(&b).filter(|(x, y)| !is_equal(&x.value, &y.value));
        found.extend(differing.map(|(field, _)| field.quantity));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Greatest difference of a channel of two pairs' weighted contributions in all; infinite where one is not a number.
pub(super) fn pair_radiance_difference(a: &[PairStep], b: &[PairStep]) -> f32 {
    let sum = |steps: &[PairStep]| {
        steps
            .iter()
            .map(PairStep::radiance)
            .fold([0.0; 3], |sum, r| [sum[0] + r[0], sum[1] + r[1], sum[2] + r[2]])
    };
    let differences = sum(a).into_iter().zip(sum(b)).map(|(x, y): (f32, f32)| (x - y).abs());
    differences.fold(0.0, |most, d| if d.is_nan() { f32::INFINITY } else { d.max(most) })
}
