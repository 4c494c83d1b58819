//! Vertices of sub-paths, gathered into lanes, and their BSDFs.

use crate::bsdf::{MIN_COSINE, Surface, evaluate_reflection};
use crate::integrators::bidirectional::Vertex;
use crate::integrators::bidirectional::weights::PartialWeights;
use crate::simd::{EIGHT, F32xN, LANES, U32xN, Vec3xN};
use lockstep_core::math::sampling::frame;
use lockstep_core::math::simd::F32x8;
use lockstep_core::math::vec3::{Vec3, dot, vec3};
use lockstep_core::math::{INV_PI, max};
use lockstep_core::scene::MaterialKind;

/// The batch that a vertex of a sub-path belongs to. Two vertices belong to the later one of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum VertexBatch {
    /// Diffuse surfaces without layers.
    #[default]
    Diffuse,
    /// Diffuse and principled surfaces without layers, whose light scatters once.
    Principled,
    /// None: the vertex is computed alone.
    Alone,
}

/// Batches of vertices, [`VertexBatch::Alone`] among them.
pub(crate) const BATCHES: usize = 3;

impl VertexBatch {
    /// The batch of a vertex.
    #[inline(always)]
    pub fn of(vertex: &Vertex) -> Self {
        if vertex.is_diffuse() {
            Self::Diffuse
        } else if is_principled(vertex) && vertex.layers.is_none() && !vertex.surface.multiscatter {
            Self::Principled
        } else {
            Self::Alone
        }
    }
}

#[inline(always)]
fn is_principled(vertex: &Vertex) -> bool {
    vertex.surface.kind == MaterialKind::Principled as u32
}

/// Vertices, one per lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct VertexLanes {
    pub(crate) position: Vec3xN,
    pub(crate) scale: F32xN,
    pub(crate) geometric: Vec3xN,
    pub(crate) shading: Vec3xN,
    pub(crate) from: Vec3xN,
    pub(crate) throughput: Vec3xN,
    pub(crate) base_color: Vec3xN,
    pub(crate) partial: Partial,
    /// Not zero for principled surfaces, whose parameters follow.
    is_principled: U32xN,
    roughness: F32xN,
    metallic: F32xN,
    ior: F32xN,
    transmission: F32xN,
}

/// [`PartialWeights`] of all lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partial {
    pub(crate) vcm: F32xN,
    pub(crate) vc: F32xN,
    pub(crate) vm: F32xN,
}

/// [`Vertex::evaluate_both`] of a lane.
#[derive(Clone, Copy)]
pub(crate) struct LaneEvaluation {
    pub(crate) value: Vec3,
    pub(crate) pdf: f32,
    pub(crate) reverse_pdf: f32,
    /// Cosines between the geometric normal and both directions, not negative.
    pub(crate) cosines: [f32; 2],
    /// False where the vertex must be evaluated alone.
    pub(crate) is_valid: bool,
}

impl VertexLanes {
    /// Gathers the vertices of the first `count` lanes. `PRINCIPLED` must hold unless all of them are diffuse.
    #[inline(always)]
    pub(crate) fn look_up<L: F32x8, const PRINCIPLED: bool>(
        &mut self,
        vertices: &[Vertex],
        indices: &U32xN,
        count: usize,
    ) {
        // Pad to a multiple of eight with the first lane, and transpose eight lanes at a time
        for first in (0..count.min(LANES)).step_by(EIGHT) {
            let mut eight = [&vertices[0]; EIGHT];
            for (i, vertex) in eight.iter_mut().enumerate() {
                let lane = first + i;
                *vertex = &vertices[indices.0[if lane < count { lane } else { 0 }] as usize];
                self.scale.0[lane] = vertex.scale;
                let PartialWeights { vcm, vc, vm } = vertex.partial;
                (self.partial.vcm.0[lane], self.partial.vc.0[lane], self.partial.vm.0[lane]) = (vcm, vc, vm);
                if PRINCIPLED {
                    let Surface { roughness, metallic, ior, transmission, .. } = vertex.surface;
                    self.is_principled.0[lane] = u32::from(is_principled(vertex));
                    (self.roughness.0[lane], self.metallic.0[lane]) = (roughness, metallic);
                    (self.ior.0[lane], self.transmission.0[lane]) = (ior, transmission);
                }
            }
            self.position.put_eight::<L>(first, |lane| &eight[lane - first].position);
            self.geometric.put_eight::<L>(first, |lane| &eight[lane - first].geometric);
            self.shading.put_eight::<L>(first, |lane| &eight[lane - first].shading);
            self.from.put_eight::<L>(first, |lane| &eight[lane - first].from);
            self.throughput.put_eight::<L>(first, |lane| &eight[lane - first].throughput);
            self.base_color.put_eight::<L>(first, |lane| &eight[lane - first].surface.base_color);
        }
    }

    /// The part of weights of a lane.
    #[inline(always)]
    pub(crate) fn partial(&self, lane: usize) -> PartialWeights {
        let Partial { vcm, vc, vm } = &self.partial;
        PartialWeights { vcm: vcm.0[lane], vc: vc.0[lane], vm: vm.0[lane] }
    }

    /// The surface of a lane, as a principled one.
    #[inline(always)]
    pub(crate) fn principled(&self, lane: usize) -> Surface {
        Surface {
            kind: MaterialKind::Principled as u32,
            base_color: self.base_color.at(lane),
            roughness: self.roughness.0[lane],
            metallic: self.metallic.0[lane],
            ior: self.ior.0[lane],
            transmission: self.transmission.0[lane],
            outside: true,
            multiscatter: false,
        }
    }

    /// The sides and normals of a lane that paths see which arrive from one and from another direction.
    #[inline(always)]
    pub(crate) fn facing(&self, lane: usize, from: Vec3, to: Vec3) -> Facings {
        let (geometric, shading) = (self.geometric.at(lane), self.shading.at(lane));
        let cosines = Cosines::new(geometric, shading, from, to);
        let (side, normal) = cosines.facing(geometric, shading);
        let (opposite_side, opposite) = cosines.opposite().facing(geometric, shading);
        let is_same = (side == opposite_side)
            & (normal.x == opposite.x)
            & (normal.y == opposite.y)
            & (normal.z == opposite.z);
        Facings { cosines, side, normal, is_same }
    }

    /// BSDF and densities of both directions of travel, `from` and `to`, as [`Vertex::evaluate_both`] computes them.
    #[inline(always)]
    pub(crate) fn evaluate<const PRINCIPLED: bool>(
        &self,
        lane: usize,
        from: Vec3,
        to: Vec3,
    ) -> LaneEvaluation {
        if !PRINCIPLED {
            return self.evaluate_diffuse(lane, from, to);
        }
        let diffuse = self.evaluate_diffuse(lane, from, to);
        let principled = self.evaluate_principled(lane, from, to);
        let is_principled = self.is_principled.0[lane] != 0;
        let select = |a: f32, b: f32| if is_principled { a } else { b };
        let (a, b) = (principled.value, diffuse.value);
        LaneEvaluation {
            value: vec3(select(a.x, b.x), select(a.y, b.y), select(a.z, b.z)),
            pdf: select(principled.pdf, diffuse.pdf),
            reverse_pdf: select(principled.reverse_pdf, diffuse.reverse_pdf),
            cosines: diffuse.cosines,
            is_valid: principled.is_valid | !is_principled,
        }
    }

    #[inline(always)]
    fn evaluate_diffuse(&self, lane: usize, from: Vec3, to: Vec3) -> LaneEvaluation {
        let cosines = Cosines::new(self.geometric.at(lane), self.shading.at(lane), from, to);
        let pdf = cosines.pdf();
        LaneEvaluation {
            value: self.base_color.at(lane) * pdf,
            pdf,
            reverse_pdf: cosines.opposite().pdf(),
            cosines: cosines.geometric.map(f32::abs),
            is_valid: true,
        }
    }

    /// Reflections alone, where both directions see the same frame. Where nothing is scattered, densities are zero too: no
    /// connection needs them.
    #[inline(always)]
    fn evaluate_principled(&self, lane: usize, from: Vec3, to: Vec3) -> LaneEvaluation {
        let Facings { cosines, side, normal, is_same } = self.facing(lane, from, to);
        let (s, t) = frame(normal);
        let cosine = dot(from, normal);
        let wo = vec3(dot(from, s), dot(from, t), max(cosine, MIN_COSINE));
        let wi = vec3(dot(to, s), dot(to, t), dot(to, normal));
        let is_seen =
            (cosines.geometric[1] * side * wi.z > 0.0) & ((wi.z > 0.0) | (self.transmission.0[lane] != 0.0));
        let is_reflected = is_same
            & (wi.z > MIN_COSINE)
            & (cosine > MIN_COSINE)
            & (cosines.geometric[0] * side * wo.z > 0.0);
        let both = evaluate_reflection(&self.principled(lane), wo, wi);
        let seen = |value: f32| if is_seen { value } else { 0.0 };
        LaneEvaluation {
            value: vec3(seen(both.value.x), seen(both.value.y), seen(both.value.z)),
            pdf: seen(both.pdf),
            reverse_pdf: seen(both.reverse_pdf),
            cosines: cosines.geometric.map(f32::abs),
            is_valid: is_reflected | !is_seen,
        }
    }
}

/// The sides and normals of a vertex that paths see which arrive from two directions.
#[derive(Clone, Copy)]
pub(crate) struct Facings {
    pub(crate) cosines: Cosines,
    /// One on the front side, else minus one, for the first direction.
    pub(crate) side: f32,
    /// Unit shading normal on that side; the geometric one where the path could not see it.
    pub(crate) normal: Vec3,
    /// Whether both see the same.
    pub(crate) is_same: bool,
}

/// A diffuse vertex as [`Vertex::evaluate_both`] needs it: cosines of its geometric and its shading normal, each to the two
/// directions between which light travels.
#[derive(Clone, Copy)]
pub(crate) struct Cosines {
    pub(crate) geometric: [f32; 2],
    pub(crate) shading: [f32; 2],
}

impl Cosines {
    /// The cosines to `from` and `to`.
    #[inline(always)]
    pub(crate) fn new(geometric: Vec3, shading: Vec3, from: Vec3, to: Vec3) -> Self {
        Self {
            geometric: [dot(geometric, from), dot(geometric, to)],
            shading: [dot(shading, from), dot(shading, to)],
        }
    }

    /// The side and the normal that a path sees which arrives from the first direction.
    #[inline(always)]
    pub(crate) fn facing(self, geometric: Vec3, shading: Vec3) -> (f32, Vec3) {
        let side = if self.geometric[0] > 0.0 { 1.0 } else { -1.0 };
        let sees_shading = self.shading[0] * side > MIN_COSINE;
        let select = |a: f32, b: f32| if sees_shading { a } else { b } * side;
        let normal = vec3(
            select(shading.x, geometric.x),
            select(shading.y, geometric.y),
            select(shading.z, geometric.z),
        );
        (side, normal)
    }

    /// Density with which a path that arrives from the first direction chooses the second; the BSDF times cosine over the
    /// base colour.
    #[inline(always)]
    pub(crate) fn pdf(self) -> f32 {
        let Self { geometric, shading } = self;
        let side = if geometric[0] > 0.0 { 1.0 } else { -1.0 };
        let cosine = if shading[0] * side > MIN_COSINE { shading[1] } else { geometric[1] } * side;
        let is_seen = (geometric[1] * side * cosine > 0.0) & (cosine > 0.0);
        INV_PI * if is_seen { cosine } else { 0.0 }
    }

    /// The cosines for light that travels the opposite way.
    #[inline(always)]
    pub(crate) fn opposite(self) -> Self {
        let Self { geometric: [a, b], shading: [c, d] } = self;
        Self { geometric: [b, a], shading: [d, c] }
    }
}
