//! Vectors in double precision, whose operations give the same bits on all hosts.

/// A vector or a point.
pub(super) type V3 = [f64; 3];

pub(super) fn add(a: V3, b: V3) -> V3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(super) fn sub(a: V3, b: V3) -> V3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn times(a: V3, s: f64) -> V3 {
    a.map(|v| v * s)
}

pub(super) fn middle(a: V3, b: V3) -> V3 {
    [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])]
}

pub(super) fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn length(a: V3) -> f64 {
    dot(a, a).sqrt()
}

/// The unit vector; zero for zero.
pub(super) fn unit(a: V3) -> V3 {
    let length = length(a);
    if length > 0.0 { times(a, 1.0 / length) } else { [0.0; 3] }
}

pub(super) fn wide(a: [f32; 3]) -> V3 {
    a.map(f64::from)
}

pub(super) fn narrow(a: V3) -> [f32; 3] {
    a.map(|v| v as f32)
}

/// A face's normal at a corner between two edges, weighted so that corners on a sphere have the sphere's (Max, *Weights
/// for Computing Vertex Normals from Facet Normals*, 1999); zero for an edge without length.
pub(super) fn corner_normal(corner: V3, next: V3, last: V3) -> V3 {
    let (a, b) = (sub(next, corner), sub(last, corner));
    let weight = dot(a, a) * dot(b, b);
    if weight > 0.0 { times(cross(a, b), 1.0 / weight) } else { [0.0; 3] }
}

/// A measure of several components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Norm {
    /// Length of a vector along orthonormal axes.
    Euclidean,
    /// Upper bound of the length of a vector along any unit axes.
    Sum,
}

impl Norm {
    pub(super) fn of<const N: usize>(self, v: [f64; N]) -> f64 {
        match self {
            Self::Euclidean => v.iter().map(|v| v * v).sum::<f64>().sqrt(),
            Self::Sum => v.iter().map(|v| v.abs()).sum(),
        }
    }
}
