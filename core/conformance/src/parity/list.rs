//! The list of compared functions.

use crate::parity::domain::Domain::{self, *};
use crate::parity::fixtures::Fixture;
use crate::parity::words::{In, Out};
use lockstep_bvh::{LeafPrimitive, Scratch};
use lockstep_core::film::{self, InvalidSamples, quantize};
use lockstep_core::geometry::{self, ClipBox, Hit, Ray, Shear, Slabs};
use lockstep_core::math;
use lockstep_core::math::rng::{self, Block, RayKey, SampleKey};
use lockstep_core::math::sampling;
use lockstep_core::math::vec3::{self, Vec3};
use lockstep_core::merging::{MergeRatios, Merging};
use lockstep_core::scene::missing_albedo::MISSING_METAL;
use lockstep_core::scene::{
    Affine, NONE, SPHERE_BIT, Texture, Vertex, transform_normal, transform_point, transform_vector,
};
use lockstep_core::scene::{environment_radiance, texture};
use lockstep_core::splat::{self, Technique};
use lockstep_core::{Settings, Strategy};
use lockstep_transport::bsdf::{self, LayerAxes, Surface, SurfaceLayers, ThinFilm};
use lockstep_transport::integrators::bidirectional::weights::PartialWeights;
use lockstep_transport::integrators::bidirectional::{
    self, CameraPath, Connection as PairConnection, LightPath, Photon, Vertex as PathVertex,
};
use lockstep_transport::integrators::{Connection, PathState, ao, path};
use lockstep_transport::interior_list::{self, InteriorList};
use lockstep_transport::{camera_importance, emission, lights, media};

/// The host's computation of a result.
#[derive(Clone, Copy)]
pub(super) enum Function {
    /// From the input words alone.
    OfValues(fn(In<'_>, &mut Out<'_>)),
    /// From a scene too.
    OfScene(fn(&Fixture, In<'_>, &mut Out<'_>)),
}

/// One entry: a kernel and its Rust counterpart.
pub(super) struct ParityCase {
    /// The function's name; also the kernel's after `ls_probe_`.
    pub(super) name: &'static str,
    /// The kernel.
    pub(super) kernel: &'static str,
    /// Input domains.
    pub(super) inputs: &'static [Domain],
    /// A letter for each output word: `f` float, `u` integer.
    pub(super) outputs: &'static str,
    pub(super) function: Function,
}

impl ParityCase {
    pub(super) fn input_words(&self) -> usize {
        self.inputs.iter().map(|d| d.words()).sum()
    }

    /// True when the results have the same bits, or NaN in the same places.
    pub(super) fn agree(&self, host: &[u32], device: &[u32]) -> bool {
        let nan = |bits: u32| f32::from_bits(bits).is_nan();
        host.len() == self.outputs.len()
            && device.len() == host.len()
            && self
                .outputs
                .bytes()
                .zip(host.iter().zip(device))
                .all(|(kind, (&a, &b))| a == b || (kind == b'f' && nan(a) && nan(b)))
    }
}

macro_rules! value {
    ($name:literal, $inputs:expr, $outputs:literal, $function:expr) => {
        ParityCase {
            name: $name,
            kernel: concat!("ls_probe_", $name),
            inputs: &$inputs,
            outputs: $outputs,
            function: Function::OfValues($function),
        }
    };
}

macro_rules! scene {
    ($name:literal, $inputs:expr, $outputs:literal, $function:expr) => {
        ParityCase {
            name: $name,
            kernel: concat!("ls_probe_", $name),
            inputs: &$inputs,
            outputs: $outputs,
            function: Function::OfScene($function),
        }
    };
}

/// Radius of a lens, often zero.
const LENS: Domain = Range(0.0, 0.5);
/// Two half floats.
const HALVES: Domain = Word;
/// A film's side less one.
const SIDE: Domain = Below(4096);
/// Kind, base colour, roughness, metallic, index of refraction, transmission, side.
const SURFACE: [Domain; 9] = [
    Below(4),
    Range(0.0, 1.0),
    Range(0.0, 1.0),
    Range(0.0, 1.0),
    Range(0.0, 1.0),
    Range(0.0, 1.0),
    Range(1.0, 2.5),
    Range(0.0, 1.0),
    Word,
];
/// [`SURFACE`] and more.
const fn surface_and<const N: usize, const M: usize>(more: [Domain; N]) -> [Domain; M] {
    let mut all = [Word; M];
    let mut i = 0;
    while i < M {
        all[i] = if i < SURFACE.len() { SURFACE[i] } else { more[i - SURFACE.len()] };
        i += 1;
    }
    all
}

fn surface(x: In<'_>) -> Surface {
    Surface {
        kind: x.u(0),
        base_color: x.v(1),
        roughness: x.f(4),
        metallic: x.f(5),
        ior: x.f(6),
        transmission: x.f(7),
        outside: x.u(8) & 1 != 0,
        multiscatter: false,
    }
}

/// [`surface`] with the flag that keeps the light which scatters more than once.
fn keeping_surface(x: In<'_>) -> Surface {
    Surface { multiscatter: x.u(8) & 2 != 0, ..surface(x) }
}

/// [`SURFACE`] of the principled kind, its layers, a direction in turns, and more.
const fn layered_and<const N: usize, const M: usize>(more: [Domain; N]) -> [Domain; M] {
    let mut all = [Range(0.0, 1.0); M];
    let mut i = 0;
    while i < SURFACE.len() {
        all[i] = SURFACE[i];
        i += 1;
    }
    let mut i = 0;
    while i < N {
        all[M - N + i] = more[i];
        i += 1;
    }
    all
}

/// The layers of [`layered_and`], as `probe_layers` in `kernels/tests/probe.h`, and their axes: the
/// clearcoat's normal from word 31 on, where it is not the surface's, and the geometric one.
fn surface_layers(x: In<'_>) -> (SurfaceLayers, LayerAxes) {
    let layers = SurfaceLayers {
        specular_color: x.v(9),
        specular: x.f(12),
        sheen_color: x.v(13),
        sheen_roughness: x.f(16),
        clearcoat: x.f(17),
        clearcoat_roughness: x.f(18),
        clearcoat_f0: x.f(19),
        iridescence: if x.u(8) & 64 != 0 { 0.0 } else { x.f(21) },
        film: ThinFilm { ior: 1.0 + x.f(22), thickness: 1000.0 * x.f(23) },
        anisotropy: if x.u(8) & 32 != 0 { 0.0 } else { x.f(20) },
        along: Vec3::ZERO,
        coat_normal: Vec3::ZERO,
    };
    let (sin, cos) = math::sin_cos_turns(x.f(24));
    let coat = if x.u(8) & 4 != 0 { x.v(31) } else { vec3::vec3(0.0, 0.0, 1.0) };
    (layers, LayerAxes { along: [cos, sin], coat, geometric: x.v(34) })
}

fn affine(x: In<'_>) -> Affine {
    std::array::from_fn(|row| std::array::from_fn(|column| x.f(4 * row + column)))
}

fn uv_vertex(x: In<'_>, i: usize) -> Vertex {
    Vertex { uv0: [x.f(i), x.f(i + 1)], uv1: [x.f(i + 2), x.f(i + 3)], ..Vertex::PLAIN }
}

fn probe_hit(t: f32, instance: u32, primitive: u32) -> Hit {
    Hit { instance, primitive, ..Hit::none(t) }
}

fn found(out: &mut Out<'_>, values: Option<&[f32]>, absent: usize) {
    out.b(values.is_some());
    match values {
        Some(values) => values.iter().for_each(|&v| out.f(v)),
        None => (0..absent).for_each(|_| out.f(0.0)),
    }
}

/// Every compared function, by the smallest probe that reaches it.
pub(super) const PROBES: &[ParityCase] = &[
    // The dialect's words.
    value!("word_bits", [Bits], "f", |x, out| out.f(x.f(0))),
    value!("word_fma", [Bits, Bits, Bits], "f", |x, out| out.f(x.f(0).mul_add(x.f(1), x.f(2)))),
    value!("word_sqrt", [Bits], "f", |x, out| out.f(x.f(0).sqrt())),
    value!("word_div", [Bits, Bits], "f", |x, out| out.f(x.f(0) / x.f(1))),
    // Either zero may come of zeros of both signs; adding zero makes them one.
    value!("word_min", [Finite, Finite], "f", |x, out| out.f(math::min(x.f(0), x.f(1)) + 0.0)),
    value!("word_max", [Finite, Finite], "f", |x, out| out.f(math::max(x.f(0), x.f(1)) + 0.0)),
    value!("word_abs", [Bits], "f", |x, out| out.f(x.f(0).abs())),
    value!("word_lowest_bit", [Word], "u", |x, out| out.u((x.u(0) | 1 << 31).trailing_zeros())),
    value!(
        "word_f32x8",
        [Bits; 16],
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffuuuffffffff",
        |x, out| {
            let lanes: [(f32, f32); 8] = std::array::from_fn(|i| (x.f(i), x.f(8 + i)));
            let lanewise: [fn(f32, f32) -> f32; 7] = [
                |a, b| a + b,
                |a, b| a - b,
                |a, b| a * b,
                |a, b| a / b,
                math::min,
                math::max,
                |a, _| a.abs(),
            ];
            lanewise.iter().for_each(|f| lanes.iter().for_each(|&(a, b)| out.f(f(a, b))));
            let compare =
                |f: fn(f32, f32) -> bool| (0..8).map(|i| u32::from(f(lanes[i].0, lanes[i].1)) << i).sum();
            out.u(compare(|a, b| a < b));
            out.u(compare(|a, b| a <= b));
            out.u(compare(|a, b| a == b));
            lanes.iter().for_each(|_| out.f(x.f(0)));
        }
    ),
    value!("word_constant", [Word], "u", |x, out| out.u([2, 3, 5, 7][(x.u(0) & 3) as usize])),
    value!("word_arithmetic", [Bits, Bits], "fff", |x, out| {
        let (a, b) = (x.f(0), x.f(1));
        [a + b, a - b, a * b].into_iter().for_each(|v| out.f(v));
    }),
    value!("word_multiply_add", [Finite, Finite, Finite], "ff", |x, out| {
        out.f(x.f(0) * x.f(1) + x.f(2));
        out.f(x.f(2) - x.f(0) * x.f(1));
    }),
    value!("word_comparisons", [Bits, Bits], "u", |x, out| {
        let (a, b) = (x.f(0), x.f(1));
        let bits = [a < b, a <= b, a > b, a >= b, a == b, a != b];
        out.u(bits.iter().enumerate().map(|(i, &set)| u32::from(set) << i).sum());
    }),
    value!("word_integers", [Word, Word], "uuuuuffu", |x, out| {
        let (a, b) = (x.u(0), x.u(1) | 1);
        let (signed, divisor) = (a as i32, (b >> 1 | 1) as i32);
        out.u(((u64::from(a) * u64::from(b)) >> 32) as u32);
        out.u(a / b);
        out.u(a % b);
        out.u((signed / divisor) as u32);
        out.u((signed % divisor) as u32);
        out.f(a as f32);
        out.f(signed as f32);
        out.u(((i64::from(signed) * i64::from(b as i32)) >> 16) as u32);
    }),
    // math
    value!("math_min", [Bits, Bits], "f", |x, out| out.f(math::min(x.f(0), x.f(1)))),
    value!("math_max", [Bits, Bits], "f", |x, out| out.f(math::max(x.f(0), x.f(1)))),
    value!("math_clamp", [Bits, Bits, Bits], "f", |x, out| out.f(math::clamp(x.f(0), x.f(1), x.f(2)))),
    value!("math_saturate", [Bits], "f", |x, out| out.f(math::saturate(x.f(0)))),
    value!("math_clamp_i32", [Word], "u", |x, out| out.u((x.u(0) as i32).clamp(-5, 1000) as u32)),
    value!("math_is_finite", [Bits], "u", |x, out| out.b(x.f(0).is_finite())),
    value!("math_sqr", [Bits], "f", |x, out| out.f(math::sqr(x.f(0)))),
    value!("math_safe_sqrt", [Bits], "f", |x, out| out.f(math::safe_sqrt(x.f(0)))),
    value!("math_with_sign_of", [Bits, Bits], "f", |x, out| out.f(math::with_sign_of(x.f(0), x.f(1)))),
    value!("math_floor_to_i32", [Bits], "u", |x, out| out.u(math::floor_to_i32(x.f(0)) as u32)),
    value!("math_fract", [Bits], "f", |x, out| out.f(math::fract(x.f(0)))),
    value!("math_sin_cos_turns", [Range(-4.0, 4.0)], "ff", |x, out| {
        let (s, c) = math::sin_cos_turns(x.f(0));
        out.f(s);
        out.f(c);
    }),
    value!("math_atan2_turns", [Bits, Bits], "f", |x, out| out.f(math::atan2_turns(x.f(0), x.f(1)))),
    value!("math_acos", [Range(-1.1, 1.1)], "f", |x, out| out.f(math::acos(x.f(0)))),
    value!("math_log2", [Bits], "f", |x, out| out.f(math::log2(x.f(0)))),
    value!("math_exp2", [Bits, Range(-130.0, 130.0)], "ff", |x, out| {
        out.f(math::exp2(x.f(0)));
        out.f(math::exp2(x.f(1)));
    }),
    // vec3 and transform
    value!("vec3_arithmetic", [Point, Point, Bits], "fffffffffffffff", |x, out| {
        let (a, b) = (x.v(0), x.v(3));
        [a + b, a - b, a * b, a * x.f(6), -a].into_iter().for_each(|v| out.v(v));
    }),
    value!("vec3_dot", [Point, Point], "f", |x, out| out.f(vec3::dot(x.v(0), x.v(3)))),
    value!("vec3_cross", [Point, Point], "fff", |x, out| out.v(vec3::cross(x.v(0), x.v(3)))),
    value!("vec3_normalize", [Point], "fff", |x, out| out.v(vec3::normalize(x.v(0)))),
    value!("vec3_components", [Bits, Bits, Bits], "fffu", |x, out| {
        out.f(vec3::max_component(x.v(0)));
        out.f(vec3::max_abs_component(x.v(0)));
        out.f(vec3::luminance(x.v(0)));
        out.b(x.v(0).is_finite());
    }),
    value!("vec3_lerp", [Point, Point, Unit], "fff", |x, out| out.v(vec3::lerp(x.v(0), x.v(3), x.f(6)))),
    value!("vec3_weigh", [Point, Point, Point, Unit, Unit, Unit], "fff", |x, out| {
        out.v(x.v(0) * x.f(9) + x.v(3) * x.f(10) + x.v(6) * x.f(11));
    }),
    value!("transform", [Point, Point, Point, Point, Point], "fffffffff", |x, out| {
        let (m, v) = (affine(x), x.v(12));
        [transform_point(&m, v), transform_vector(&m, v), transform_normal(&m, v)]
            .into_iter()
            .for_each(|v| out.v(v));
    }),
    // rng
    value!("rng_pcg4d", [Word, Word, Word, Word], "uuuu", |x, out| {
        rng::pcg4d([x.u(0), x.u(1), x.u(2), x.u(3)]).into_iter().for_each(|w| out.u(w));
    }),
    value!("rng_draw", [Word, Word, Word, Word], "uuuu", |x, out| {
        rng::draw(x.key(0), Block::Environment, x.u(3) & 255).into_iter().for_each(|w| out.u(w));
    }),
    value!("rng_sobol_draw", [Word, Word, Word, Below(64)], "uuuu", |x, out| {
        rng::sobol_draw(x.key(0), x.u(3)).into_iter().for_each(|w| out.u(w));
    }),
    value!("rng_xorwow_draw", [Word, Word, Word, Word], "uuuu", |x, out| {
        rng::xorwow_draw(x.key(0), x.u(3)).into_iter().for_each(|w| out.u(w));
    }),
    value!("rng_dither", [Word, Word, Word, Word], "uuuu", |x, out| {
        rng::dither(x.key(0), x.u(3) & 0x3_ffff).into_iter().for_each(|w| out.u(w));
    }),
    value!("rng_uniforms", [Word, Word, Word, Word], "ffff", |x, out| {
        (0..4).for_each(|i| out.f(rng::uniform(x.u(i))));
    }),
    value!("rng_index_below", [Word, Word], "u", |x, out| out.u(rng::index_below(x.u(0), x.u(1)))),
    value!("rng_alpha_uniform", [Word, Word, Word, Word, Word, Word], "ff", |x, out| {
        let bounce = x.u(3) & 255;
        out.f(rng::alpha_uniform(RayKey::extension(x.key(0), bounce), x.u(4), x.u(5)));
        out.f(rng::alpha_uniform(RayKey::shadow(x.key(0), bounce), x.u(4), x.u(5)));
    }),
    // sampling and camera
    value!("sampling_uniform_disk", [Unit, Unit], "ff", |x, out| {
        sampling::uniform_disk(x.f(0), x.f(1)).into_iter().for_each(|v| out.f(v));
    }),
    value!("sampling_cosine_hemisphere", [Unit, Unit], "fff", |x, out| {
        out.v(sampling::cosine_hemisphere(x.f(0), x.f(1)));
    }),
    value!("sampling_uniform_cone", [Unit, Unit, Range(0.0, 2.0)], "fff", |x, out| {
        out.v(sampling::uniform_cone(x.f(0), x.f(1), x.f(2)));
    }),
    value!("sampling_uniform_triangle", [Unit, Unit], "ff", |x, out| {
        sampling::uniform_triangle(x.f(0), x.f(1)).into_iter().for_each(|v| out.f(v));
    }),
    value!("sampling_frame", [Unit3], "ffffff", |x, out| {
        let (s, t) = sampling::frame(x.v(0));
        out.v(s);
        out.v(t);
    }),
    scene!("sampling_pick", [Word, Word], "u", |fixture, x, out| {
        out.u(sampling::pick(&fixture.scene.light_alias, x.u(0), x.u(1)));
    }),
    value!("sampling_power_heuristic", [Bits, Bits], "f", |x, out| {
        out.f(sampling::power_heuristic(x.f(0), x.f(1)));
    }),
    value!(
        "camera_frame_ray",
        [
            Point,
            LENS,
            Point,
            Range(0.1, 9.0),
            Point,
            SIDE,
            Unit3,
            SIDE,
            Below(1 << 24),
            Unit,
            Unit,
            Unit,
            Unit
        ],
        "ffffff",
        |x, out| {
            let (origin, direction) = x.camera().ray(x.u(16), [x.f(17), x.f(18), x.f(19), x.f(20)]);
            out.v(origin);
            out.v(direction);
        }
    ),
    value!(
        "camera_importance_connect",
        [Point, LENS, Point, Range(0.1, 9.0), Point, SIDE, Unit3, SIDE, Point, Unit, Unit],
        "ufffff",
        |x, out| {
            let s = camera_importance::connect(&x.camera(), x.v(16), [x.f(19), x.f(20)]);
            out.u(s.map_or(NONE, |s| s.pixel));
            out.v(s.map_or(Vec3::ZERO, |s| s.direction));
            out.f(s.map_or(0.0, |s| s.distance));
            out.f(s.map_or(0.0, |s| s.importance));
        }
    ),
    // texture
    value!("vertex", [HALVES, HALVES], "fffffu", |x, out| {
        let v = Vertex { red_green: x.u(0), blue_alpha: x.u(1), ..Vertex::PLAIN };
        out.v(v.rgb());
        out.f(v.alpha());
        out.f(v.tangent_sign());
        out.b(v.is_white());
    }),
    scene!("texture_texel_rgb", [Word, Word], "fff", |_, x, out| out.v(texture::texel_rgb(x.u(0), x.u(1)))),
    value!("texture_wrap_index", [Word, Below(16_384), Below(3)], "u", |x, out| {
        out.u(texture::wrap_index(x.u(0) as i32 >> 8, x.u(1) + 1, x.u(2)));
    }),
    value!("texture_wrap_coordinate", [Bits, Below(3)], "f", |x, out| {
        out.f(texture::wrap_coordinate(x.f(0), x.u(1)));
    }),
    value!(
        "texture_coordinates",
        [Below(128), Point, Point, Point, Point, Point, Finite, Finite, Finite, Unit, Unit, Unit],
        "ff",
        |x, out| {
            let row = |i: usize| [x.f(i), x.f(i + 1), x.f(i + 2), 0.0];
            let texture =
                Texture { first_texel: 0, width: 1, height: 1, flags: x.u(0), transform: [row(1), row(4)] };
            let vertices = [7, 11, 15].map(|i| uv_vertex(x, i));
            texture::coordinates(&texture, vertices.each_ref(), [x.f(19), x.f(20), x.f(21)])
                .into_iter()
                .for_each(|v| out.f(v));
        }
    ),
    scene!("texture_sample", [Below(3), Bits, Bits], "ffff", |fixture, x, out| {
        let value =
            texture::sample(&fixture.scene, &fixture.scene.textures[x.u(0) as usize], [x.f(1), x.f(2)]);
        out.v(value.rgb);
        out.f(value.a);
    }),
    // intersect
    // The sign of zero is open: adding zero makes it positive.
    value!("intersect_slabs_interval", [Point, Direction, Point, Point], "ff", |x, out| {
        let (entry, exit) = Slabs::new(x.v(0), x.v(3)).interval(x.v(6), x.v(9));
        out.f(entry + 0.0);
        out.f(exit + 0.0);
    }),
    value!("intersect_triangle", [Point, Direction, Point, Point, Point], "ufff", |x, out| {
        let hit = geometry::triangle(x.v(0), &Shear::new(x.v(3)), [x.v(6), x.v(9), x.v(12)]);
        found(out, hit.map(|(t, u, v)| [t, u, v]).as_ref().map(|h| &h[..]), 3);
    }),
    value!("intersect_sphere", [Point, Direction, Point, Range(0.0, 4.0)], "uff", |x, out| {
        let hit = geometry::sphere(x.v(0), x.v(3), x.v(6), x.f(9));
        found(out, hit.map(|(a, b)| [a, b]).as_ref().map(|h| &h[..]), 2);
    }),
    // Every second triangle is whole.
    value!("bvh_leaf_primitive_bounds", [Point, Point, Point, Word, Word, Word], "ffffff", |x, out| {
        let cut = if x.u(10) & 1 == 0 {
            ClipBox::NONE
        } else {
            ClipBox { below: x.u(10) >> 2, above: x.u(11) >> 2 }
        };
        let (p0, p1, p2) = (x.v(0), x.v(3), x.v(6));
        let leaf = LeafPrimitive { p0, p1, p2, primitive: x.u(9), flags: 0, clip_above: 0 }.clipped(cut);
        let (lo, hi) = leaf.bounds();
        out.v(lo + Vec3::ZERO);
        out.v(hi + Vec3::ZERO);
    }),
    value!("intersect_accept", [Point, Direction, Point, Point, Finite, Range(0.0, 1.0)], "uf", |x, out| {
        let slabs = Slabs::new(x.v(0), x.v(3));
        let accepted = geometry::accept(&slabs, (x.v(6), x.v(9)), x.f(12), x.f(13));
        found(out, accepted.map(|t| [t]).as_ref().map(|t| &t[..]), 1);
    }),
    value!(
        "intersect_hit_yields_to",
        [Range(1.0, 1.000_001), Below(2), Below(3), Range(1.0, 1.000_001), Below(2), Below(3)],
        "u",
        |x, out| out.b(probe_hit(x.f(0), x.u(1), x.u(2)).yields_to(&probe_hit(x.f(3), x.u(4), x.u(5))))
    ),
    value!("intersect_triangle_normal", [Point, Point, Point], "fff", |x, out| {
        out.v(geometry::triangle_normal([x.v(0), x.v(3), x.v(6)]));
    }),
    value!("intersect_offset_origin", [Point, Unit3, Unit3, Range(0.0, 100.0)], "fff", |x, out| {
        out.v(geometry::offset_origin(x.v(0), x.v(3), x.v(6), x.f(9)));
    }),
    value!("intersect_coordinate_scale", [Point, Point], "f", |x, out| {
        out.f(geometry::coordinate_scale(x.v(0), x.v(3)));
    }),
    scene!(
        "intersect_passes_alpha_test",
        [Below(3), Word, Unit, Unit, Word, Word, Word, Direction],
        "u",
        |fixture, x, out| {
            let scene = &fixture.scene;
            let mesh = &scene.meshes[scene.instances[x.u(0) as usize].mesh as usize];
            let of_triangle = if mesh.triangle_count > 0 { x.u(1) % mesh.triangle_count } else { SPHERE_BIT };
            let primitive = if x.u(1) & 1024 != 0 && mesh.sphere_count > 0 {
                SPHERE_BIT | (x.u(1) % mesh.sphere_count)
            } else {
                of_triangle
            };
            out.b(geometry::passes_alpha_test(
                scene,
                x.u(0),
                primitive,
                x.f(2),
                x.f(3),
                x.v(7),
                RayKey::shadow(x.key(4), 1),
            ));
        }
    ),
    // bsdf
    value!("bsdf_surface_is_specular", SURFACE, "u", |x, out| out.b(surface(x).is_specular())),
    value!("bsdf_schlick", [Unit, Unit, Unit, Range(-0.5, 1.5)], "fff", |x, out| {
        out.v(bsdf::schlick(x.v(0), x.f(3)));
    }),
    value!("bsdf_fresnel_dielectric", [Range(-0.5, 1.5), Range(0.25, 4.0)], "f", |x, out| {
        out.f(bsdf::fresnel_dielectric(x.f(0), x.f(1)));
    }),
    value!("bsdf_ggx_d", [Upper, Range(0.0009, 1.0)], "f", |x, out| out.f(bsdf::ggx_d(x.v(0), x.f(3)))),
    value!("bsdf_ggx_lambda", [Upper, Range(0.0009, 1.0)], "f", |x, out| out
        .f(bsdf::ggx_lambda(x.v(0), x.f(3)))),
    value!("bsdf_ggx_sample", [Upper, Range(0.0009, 1.0), Unit, Unit], "fff", |x, out| {
        out.v(bsdf::ggx_sample(x.v(0), x.f(3), x.f(4), x.f(5)));
    }),
    value!("bsdf_evaluate", surface_and::<2, 11>([Upper, Unit3]), "ffff", |x, out| {
        let e = bsdf::evaluate(&surface(x), x.v(9), x.v(12));
        out.v(e.value);
        out.f(e.pdf);
    }),
    value!("bsdf_sample", surface_and::<4, 13>([Upper, Unit, Unit, Unit]), "fffffff", |x, out| {
        let s = bsdf::sample(&surface(x), x.v(9), [x.f(12), x.f(13), x.f(14)]);
        out.v(s.wi);
        out.v(s.weight);
        out.f(s.pdf);
    }),
    value!("bsdf_evaluate_bidirectional", surface_and::<3, 12>([Upper, Unit3, Word]), "fffff", |x, out| {
        let e = bsdf::evaluate_bidirectional(&surface(x), x.v(9), x.v(12), x.u(15) & 1 != 0);
        out.v(e.value);
        out.f(e.pdf);
        out.f(e.reverse_pdf);
    }),
    value!("bsdf_shading_normal_correction", [Bits, Bits, Bits, Bits], "f", |x, out| {
        out.f(bsdf::shading_normal_correction([x.f(0), x.f(1)], [x.f(2), x.f(3)]));
    }),
    value!(
        "bsdf_ggx_anisotropic",
        [
            Upper,
            Range(0.0009, 1.0),
            Range(0.0009, 1.0),
            Unit,
            Unit,
            Range(-1.0, 1.0),
            Range(-1.0, 1.0),
            Range(0.0, 1.0)
        ],
        "fffffffff",
        |x, out| {
            let (alpha, along) = ([x.f(3), x.f(4)], [x.f(7), x.f(8)]);
            out.f(bsdf::ggx_d_anisotropic(x.v(0), alpha));
            out.f(bsdf::ggx_lambda_anisotropic(x.v(0), alpha));
            out.v(bsdf::ggx_sample_anisotropic(x.v(0), alpha, x.f(5), x.f(6)));
            out.v(bsdf::turned_back(bsdf::turned(x.v(0), along), along));
            out.f(bsdf::sheen_alpha(x.f(9)));
        }
    ),
    scene!("bsdf_sheen_albedo", [Range(0.0, 1.0), Range(0.0, 1.0)], "f", |_, x, out| {
        out.f(bsdf::sheen_albedo(x.f(0), x.f(1)));
    }),
    scene!(
        "bsdf_missing",
        [Below(MISSING_METAL + 1), Range(0.0, 1.0), Range(1e-4, 1.0)],
        "ff",
        |_, x, out| {
            out.f(bsdf::missing_in_plane(x.u(0), x.f(1), x.f(2)));
            out.f(bsdf::mean_missing_in_plane(x.u(0), x.f(1)));
        }
    ),
    scene!(
        "bsdf_albedo_scaling",
        [Range(0.0, 1.0), Range(1e-4, 1.0), Range(1e-3, 1.0), Upper],
        "ffff",
        |_, x, out| {
            out.f(bsdf::rising_albedo(x.f(0), x.f(1)));
            out.f(bsdf::mean_rising_albedo(x.f(0)));
            out.f(bsdf::charlie_albedo(x.f(0), x.f(1)));
            out.f(bsdf::stretched_missing(x.f(0), x.f(2), [x.f(1), x.f(2)], x.v(3)));
        }
    ),
    scene!(
        "bsdf_multiscatter",
        surface_and::<5, 14>([Upper, Unit3, Unit, Unit, Unit]),
        "ffffffffffff",
        |_, x, out| {
            let s = Surface { multiscatter: true, ..surface(x) };
            let e = bsdf::evaluate_bidirectional(&s, x.v(9), x.v(12), x.u(8) & 4 != 0);
            out.v(e.value);
            out.f(e.pdf);
            out.f(e.reverse_pdf);
            let sampled = bsdf::sample(&s, x.v(9), [x.f(15), x.f(16), x.f(17)]);
            out.v(sampled.wi);
            out.v(sampled.weight);
            out.f(sampled.pdf);
        }
    ),
    value!("bsdf_sheen_value", [Range(0.0, 1.0), Upper, Upper], "f", |x, out| {
        out.f(bsdf::sheen_value(x.f(0), x.v(1), x.v(4)));
    }),
    value!(
        "bsdf_thin_film",
        [Range(1.0, 3.0), Range(0.0, 2000.0), Unit, Unit, Unit, Range(-0.1, 1.1)],
        "ffffff",
        |x, out| {
            let film = ThinFilm { ior: x.f(0), thickness: x.f(1) };
            out.v(bsdf::thin_film(film, x.v(2), x.f(5)));
            out.v(bsdf::film_envelope(film, x.v(2)));
        }
    ),
    scene!(
        "bsdf_evaluate_layered",
        layered_and::<4, 29>([Upper, Unit3, Unit3, Unit3]),
        "ffff",
        |_, x, out| {
            let (layers, axes) = surface_layers(x);
            let e = bsdf::evaluate_layered(&keeping_surface(x), &layers, &axes, x.v(25), x.v(28));
            out.v(e.value);
            out.f(e.pdf);
        }
    ),
    scene!(
        "bsdf_picked_lobe",
        layered_and::<8, 33>([Upper, Unit3, Unit3, Unit3, Unit, Unit, Unit, Unit]),
        "uffffffffffff",
        |_, x, out| {
            let (layers, axes) = surface_layers(x);
            let (s, wo) = (keeping_surface(x), x.v(25));
            let picked = bsdf::PickedLobe::new(&s, &layers, &axes, wo, [x.f(37), x.f(38)]);
            out.u(picked.lobe() as u32);
            out.f(picked.weight());
            let e = picked.evaluate(&s, &layers, &axes, wo, x.v(28));
            out.v(e.value);
            out.f(e.pdf);
            let scattered = picked.sample(&s, &layers, &axes, wo, x.f(39), x.f(40));
            out.v(scattered.wi);
            out.v(scattered.weight);
            out.f(scattered.pdf);
        }
    ),
    scene!(
        "bsdf_sample_layered",
        layered_and::<6, 31>([Upper, Unit, Unit, Unit, Unit3, Unit3]),
        "fffffff",
        |_, x, out| {
            let (layers, axes) = surface_layers(x);
            let u = [x.f(28), x.f(29), x.f(30)];
            let s = bsdf::sample_layered(&keeping_surface(x), &layers, &axes, x.v(25), u);
            out.v(s.wi);
            out.v(s.weight);
            out.f(s.pdf);
        }
    ),
    scene!(
        "bsdf_glass",
        layered_and::<7, 32>([Upper, Unit3, Unit3, Unit3, Unit, Unit, Unit]),
        "fffffffffff",
        |_, x, out| {
            let (mut layers, _) = surface_layers(x);
            layers.clearcoat = if x.u(8) & 8 != 0 { 0.0 } else { layers.clearcoat };
            layers.iridescence = if x.u(8) & 16 != 0 { 0.0 } else { layers.iridescence };
            let s =
                Surface { kind: lockstep_core::scene::MaterialKind::Dielectric as u32, ..keeping_surface(x) };
            let e = bsdf::evaluate_glass(&s, &layers, x.v(25), x.v(28));
            out.v(e.value);
            out.f(e.pdf);
            let scattered = bsdf::sample_glass(&s, &layers, x.v(25), [x.f(37), x.f(38), x.f(39)]);
            out.v(scattered.wi);
            out.v(scattered.weight);
            out.f(scattered.pdf);
        }
    ),
    scene!(
        "media",
        [
            Below(2),
            Word,
            Word,
            Range(0.0, 8.0),
            Range(-1.0, 1.0),
            Range(1.0, 3.0),
            Range(0.0, 20.0),
            Below(3),
            Unit3
        ],
        "fffuufufff",
        |fixture, x, out| {
            let scene = &fixture.scene;
            // As MEDIA_MATERIAL in the kernels' probes
            let material = &scene.materials[if x.u(0) == 0 { 3 } else { 11 }];
            let medium = x.u(1) & (media::CHANNEL_CHOSEN | 1);
            let outside = x.u(2) & 1 != 0;
            out.v(media::transmittance(scene, medium, x.f(3)));
            out.u(media::arriving(material, medium, outside));
            out.u(media::leaving(material, medium, outside, x.f(4)));
            out.f(media::dispersed_ior(x.f(5), x.f(6), x.u(7)));
            out.u(media::dispersed_channel(SampleKey {
                pixel: x.u(1),
                sample: x.u(2),
                seed: 3,
                ..SampleKey::default()
            }));
            out.v(media::one_channel(x.v(8), x.u(7)));
        }
    ),
    scene!("interior_list", [Word, Word, Below(3)], "uuuuuuuuuuff", |fixture, x, out| {
        let scene = &fixture.scene;
        let (list, outside) = (interiors(x.u(0)), x.u(1) & 1 != 0);
        let medium = INTERIORS[1 + x.u(2) as usize];
        let of_list = [
            interior_list::enter(scene, list, medium),
            interior_list::leave(list, medium),
            interior_list::arrive(scene, list, medium, outside),
            interior_list::cross(scene, list, medium, outside),
        ];
        for list in of_list {
            out.u(list as u32);
            out.u((list >> 32) as u32);
        }
        out.u(interior_list::real_medium(list));
        out.u(interior_list::real_layers(scene, list));
        out.f(interior_list::index_of_refraction(scene, interior_list::real_medium(list)));
        out.f(interior_list::dispersion(scene, interior_list::real_medium(list)));
    }),
    // lights
    scene!(
        "lights_sample",
        [Point, Word, Word, Word, Word, Range(0.1, 100.0)],
        "ffffffffuf",
        |fixture, x, out| {
            let s = lights::sample(&fixture.scene, x.v(0), x.f(7), x.key(3), x.u(6) & 255, &mut ());
            out.v(s.direction);
            out.f(s.distance);
            out.v(s.radiance);
            out.f(s.pdf);
            out.b(s.delta);
            out.f(s.shadow_end);
        }
    ),
    scene!("lights_environment", [Unit3], "ffff", |fixture, x, out| {
        let scene = &fixture.scene;
        out.v(environment_radiance(&scene.environment, &scene.environment_texels, x.v(0)));
        out.f(lights::environment_pdf(scene, x.v(0)));
    }),
    scene!(
        "lights_densities",
        [Below(10), Range(-1.0, 1.0), Range(0.01, 100.0), Point, Range(0.1, 4.0), Point, Range(0.0, 1.0)],
        "fff",
        |fixture, x, out| {
            let material = &fixture.scene.materials[x.u(0) as usize];
            out.f(lights::emission_cosine(material, x.f(1)));
            out.f(lights::area_to_solid_angle(material, x.f(2), x.f(1)));
            out.f(lights::sphere_pdf(material, x.v(3), x.f(6), x.v(7), x.f(2), x.f(10)));
        }
    ),
    // emission
    scene!(
        "emission_sample",
        [Word, Word, Word, Word, Word, Word, Word, Word],
        "ufffffffffffffff",
        |fixture, x, out| {
            let words = |i: usize| [x.u(i), x.u(i + 1), x.u(i + 2), x.u(i + 3)];
            let s = emission::sample(&fixture.scene, words(0), words(4));
            out.u(s.light);
            [s.origin, s.direction, s.normal, s.radiance].into_iter().for_each(|v| out.v(v));
            [s.cosine, s.pdf_position, s.pdf_direction].into_iter().for_each(|v| out.f(v));
        }
    ),
    scene!("emission_direction_pdf", [Below(10), Range(-1.0, 1.0)], "f", |fixture, x, out| {
        out.f(emission::direction_pdf(&fixture.scene.materials[x.u(0) as usize], x.f(1)));
    }),
    // Traversal.
    scene!("bvh_closest_hit", RAY, "fffuu", |fixture, x, out| {
        let key = RayKey::extension(x.key(7), 2);
        let hit = fixture.bvh.closest_hit(&fixture.scene, &x.ray(), key, &mut Scratch::default());
        [hit.t, hit.u, hit.v].into_iter().for_each(|v| out.f(v));
        out.u(hit.instance);
        out.u(hit.primitive);
    }),
    scene!("bvh_any_hit", RAY, "u", |fixture, x, out| {
        let key = RayKey::shadow(x.key(7), 2);
        out.b(fixture.bvh.any_hit(&fixture.scene, &x.ray(), key, &mut Scratch::default()));
    }),
    // path and film
    value!(
        "path_generate",
        [Point, LENS, Point, Range(0.1, 9.0), Point, SIDE, Unit3, SIDE, Below(1 << 24), Word, Word],
        "ffffff",
        |x, out| {
            let path = lockstep_transport::integrators::generate(&x.camera(), x.key(16));
            out.v(path.ray.origin);
            out.v(path.ray.direction);
        }
    ),
    scene!(
        "path_shade",
        [
            Point,
            Unit3,
            Range(0.5, 20.0),
            Word,
            Word,
            Word,
            Unit,
            Unit,
            Unit,
            Unit,
            Unit,
            Unit,
            Below(4),
            Below(3),
            Below(4)
        ],
        "ffffffffffffffuuuffffffffffuu",
        shade
    ),
    scene!("ao_shade", RAY, "ufffffff", |fixture, x, out| {
        let key = x.key(7);
        let (throughput, radiance) = (Vec3::ONE, Vec3::ZERO);
        let path =
            PathState { ray: x.ray(), throughput, bsdf_pdf: 0.0, radiance, key, medium: 0, interiors: 0 };
        let hit = fixture.bvh.closest_hit(
            &fixture.scene,
            &path.ray,
            RayKey::extension(key, 0),
            &mut Scratch::default(),
        );
        let connection = ao::shade(&fixture.scene, &path, &hit, &mut ()).connection;
        let (dark, zero) = (Vec3::ZERO, Vec3::ZERO);
        let none =
            Connection { ray: Ray { origin: zero, t_min: 0.0, direction: zero, t_max: 0.0 }, radiance: dark };
        out.b(connection.is_some());
        let ray = connection.unwrap_or(none).ray;
        out.v(ray.origin);
        out.v(ray.direction);
        out.f(ray.t_max);
    }),
    // light and camera sub-paths
    value!(
        "splat_quantize",
        [Bits, Bits, Bits, Word, Word, Word, Below(258), Below(258)],
        "uuuuuuuuu",
        |x, out| {
            let mut invalid = InvalidSamples::default();
            let technique = Technique { light: x.u(6), camera: x.u(7) };
            out.units(splat::quantize(x.v(0), x.key(3), technique, &mut invalid), &invalid);
        }
    ),
    scene!(
        "light_path",
        camera_and::<9, 17>([Below(1 << 24), Word, Word, Below(3), PART, PART, PART, PART, PART]),
        "uffffffffffffffffffufffffffuuffffuffffffffffff",
        light_path
    ),
    scene!(
        "camera_path",
        camera_and::<11, 19>([
            Below(1 << 24),
            Word,
            Word,
            Point,
            Unit3,
            Below(3),
            PART,
            PART,
            PART,
            PART,
            PART
        ]),
        "uffffffffffffffffffufffffffuuffffuffffffffffffffffu",
        camera_path
    ),
    value!("camera_path_start", camera_and::<3, 11>([Below(1 << 24), Word, Word]), "ff", |x, out| {
        let path = CameraPath::start(&x.camera(), x.key(16));
        out.f(path.partial.vcm);
        out.f(path.partial.vc);
    }),
    scene!(
        "connections_join",
        [Point, Unit3, Point, Unit3, Word, Word, Word, PART, PART, PART, PART, PART, PART],
        "ufffffffuuffff",
        connections_join
    ),
    value!("merging_grid", merging_and::<2, 10>([Point, Point]), "uuuuuuuuu", |x, out| {
        let merging = merging_of(x);
        let [first, last] = merging.cells_around(x.v(10));
        first.into_iter().chain(last).for_each(|at| out.u(at));
        out.u(merging.bucket(first));
        out.u(merging.bucket(merging.cell(x.v(13))));
        out.b(merging.contains(x.v(10), x.v(13)));
    }),
    value!(
        "splat_merge_sum",
        [Bits, Bits, Bits, Range(0.0, 3.0), Range(0.0, 3.0), Range(0.0, 2e6), Word, Word, Word, Below(258)],
        "uuuuuuuuu",
        |x, out| {
            let mut invalid = InvalidSamples::default();
            let mut sum = splat::MergeSum::default();
            [0, 0, 3, 0].into_iter().for_each(|i| sum.add(x.v(i), &mut invalid));
            let technique = Technique { light: splat::MERGED, camera: x.u(9) };
            out.units(sum.film_units(x.key(6), technique, &mut invalid), &invalid);
        }
    ),
    scene!(
        "photon_merge",
        merging_and::<14, 22>([
            Point,
            Unit3,
            Point,
            Unit3,
            Word,
            Word,
            Word,
            PART,
            PART,
            PART,
            PART,
            PART,
            PART,
            Below(3)
        ]),
        "fffffffffffuuffff",
        photon_merge
    ),
    value!("film_tiled", [Word, Below(300), Below(300)], "u", |x, out| {
        let (width, height) = (x.u(1) + 1, x.u(2) + 1);
        out.u(film::tiled(x.u(0) % (width * height), width, height));
    }),
    value!("film_quantize", [Bits, Bits, Bits, Word, Word, Word], "uuuuuuuuu", |x, out| {
        let mut invalid = InvalidSamples::default();
        out.units(quantize(x.v(0), [x.u(3), x.u(4), x.u(5), 0], &mut invalid), &invalid);
    }),
];

/// A part of weights, or a ratio.
const PART: Domain = Range(0.0, 4.0);

/// The constants of a pass's merges, as [`merging_of`] reads them.
const MERGING: [Domain; 8] =
    [Point, Range(0.01, 100.0), Range(0.0, 100.0), Range(0.0, 10.0), Range(0.0, 100.0), PART, PART, Word];

fn merging_of(x: In<'_>) -> Merging {
    Merging {
        origin: x.v(0),
        cells_per_unit: x.f(3),
        radius2: x.f(4),
        reach: x.f(5),
        normalization: x.f(6),
        ratios: MergeRatios { merge: x.f(7), connect: x.f(8) },
        bucket_mask: x.u(9),
        first_only: 0,
        reserved: 0,
    }
}

/// [`MERGING`] and more.
const fn merging_and<const N: usize, const M: usize>(more: [Domain; N]) -> [Domain; M] {
    let mut all = [Word; M];
    let mut i = 0;
    while i < M {
        all[i] = if i < MERGING.len() { MERGING[i] } else { more[i - MERGING.len()] };
        i += 1;
    }
    all
}

/// A camera, as [`In::camera`] reads it.
const CAMERA: [Domain; 8] = [Point, LENS, Point, Range(0.1, 9.0), Point, SIDE, Unit3, SIDE];

/// [`CAMERA`] and more.
const fn camera_and<const N: usize, const M: usize>(more: [Domain; N]) -> [Domain; M] {
    let mut all = [Word; M];
    let mut i = 0;
    while i < M {
        all[i] = if i < CAMERA.len() { CAMERA[i] } else { more[i - CAMERA.len()] };
        i += 1;
    }
    all
}

/// Stores the end of a sub-path, as `store_sub_path` in `kernels/tests/probe.h` does.
fn sub_path(out: &mut Out<'_>, wanted: bool, ray: Ray, throughput: Vec3, partial: PartialWeights) {
    out.b(wanted);
    out.v(ray.origin);
    out.v(ray.direction);
    out.v(throughput);
    out.f(partial.vcm);
    out.f(partial.vc);
    out.f(partial.vm);
}

/// Stores a vertex, as `store_probed_vertex` does.
fn path_vertex(out: &mut Out<'_>, vertex: Option<&PathVertex>) {
    out.b(vertex.is_some());
    let zero = Vec3::ZERO;
    let of = |value: fn(&PathVertex) -> Vec3| vertex.map_or(zero, value);
    out.v(of(|v| v.position));
    out.v(of(|v| v.geometric));
    out.v(of(|v| v.shading));
    out.v(of(|v| v.throughput));
    out.v(of(|v| v.surface.base_color));
    out.f(vertex.map_or(0.0, |v| v.partial.vcm));
    out.f(vertex.map_or(0.0, |v| v.partial.vc));
    out.f(vertex.map_or(0.0, |v| v.partial.vm));
}

/// Stores a connection, as `store_probed_connection` does.
fn pair_connection(out: &mut Out<'_>, connection: Option<PairConnection>) {
    let zero = Vec3::ZERO;
    out.b(connection.is_some());
    out.v(connection.map_or(zero, |c| c.ray.origin));
    out.v(connection.map_or(zero, |c| c.ray.direction));
    out.f(connection.map_or(0.0, |c| c.ray.t_max));
    out.u(connection.map_or(0, |c| c.pixel));
    out.u(connection.map_or(0, |c| c.technique.index()));
    out.v(connection.map_or(zero, |c| c.value));
    out.f(connection.map_or(0.0, |c| c.weight));
}

/// Settings with Russian roulette for every second key.
fn with_roulette(x: In<'_>) -> Settings {
    Settings { roulette_from: (x.u(16) & 1 != 0).then_some(1), ..Settings::default() }
}

fn light_path(fixture: &Fixture, x: In<'_>, out: &mut Out<'_>) {
    let (scene, key, bounce) = (&fixture.scene, x.key(16), x.u(19));
    let partial = PartialWeights { vcm: x.f(20), vc: x.f(21), vm: x.f(22) };
    let ratios = MergeRatios { merge: x.f(23), connect: x.f(24) };
    let (mut vertex, mut lens, mut continues) = (None, None, false);
    let none = Ray { origin: Vec3::ZERO, t_min: 0.0, direction: Vec3::ZERO, t_max: 0.0 };
    let nothing = (none, Vec3::ZERO, PartialWeights { vcm: 0.0, vc: 0.0, vm: 0.0 });
    let mut end = nothing;
    if let Some(mut path) = LightPath::start(scene, key) {
        path.partial = partial;
        let ray_key = RayKey::light_extension(key, bounce);
        let hit = fixture.bvh.closest_hit(scene, &path.ray, ray_key, &mut Scratch::default());
        let mut vertices = Vec::new();
        path.arrive(scene, bounce, &hit, ratios, &mut vertices);
        vertex = vertices.pop();
        if let Some(vertex) = &vertex {
            lens = bidirectional::to_camera(&x.camera(), key, bounce, vertex, ratios);
            continues = path.extend(&with_roulette(x), bounce, vertex, ratios);
        }
        end = (path.ray, path.throughput, path.partial);
    }
    path_vertex(out, vertex.as_ref());
    pair_connection(out, lens);
    sub_path(out, continues, end.0, end.1, end.2);
}

fn camera_path(fixture: &Fixture, x: In<'_>, out: &mut Out<'_>) {
    let (scene, key, bounce) = (&fixture.scene, x.key(16), x.u(25));
    let mut path = CameraPath::start(&x.camera(), key);
    path.ray = Ray { origin: x.v(19), t_min: 0.0, direction: x.v(22), t_max: geometry::FAR };
    path.partial = PartialWeights { vcm: x.f(26), vc: x.f(27), vm: x.f(28) };
    let ratios = MergeRatios { merge: x.f(29), connect: x.f(30) };
    let ray_key = RayKey::extension(key, bounce);
    let hit = fixture.bvh.closest_hit(scene, &path.ray, ray_key, &mut Scratch::default());
    let mut vertices = Vec::new();
    let (emitted, _) = path.arrive(scene, bounce, x.u(17) & 7 == 0, &hit, &mut vertices);
    let vertex = vertices.pop();
    let (mut light, mut continues) = (None, false);
    if let Some(vertex) = &vertex {
        light = bidirectional::to_light(scene, key, bounce, vertex, ratios);
        continues = path.extend(&with_roulette(x), bounce, vertex, ratios);
    }
    path_vertex(out, vertex.as_ref());
    pair_connection(out, light);
    sub_path(out, continues, path.ray, path.throughput, path.partial);
    out.v(emitted.value);
    out.f(emitted.weight);
    out.b(path.specular);
}

fn connections_join(fixture: &Fixture, x: In<'_>, out: &mut Out<'_>) {
    let (scene, key) = (&fixture.scene, x.key(12));
    let ratios = MergeRatios { merge: x.f(19), connect: x.f(20) };
    let of_light = PartialWeights { vcm: x.f(15), vc: x.f(16), vm: 0.0 };
    let of_camera = PartialWeights { vcm: x.f(17), vc: x.f(18), vm: 0.0 };
    let (light, camera) = two_vertices(fixture, x, 0, key, [of_light, of_camera], ratios);
    let technique = Technique { light: 3, camera: 3 };
    let join = light.zip(camera).and_then(|(light, camera)| {
        let join = bidirectional::join(key, technique, &light, &camera, ratios)?;
        let ray_key = RayKey::connection(key, technique.index());
        (!fixture.bvh.any_hit(scene, &join.ray, ray_key, &mut Scratch::default())).then_some(join)
    });
    pair_connection(out, join);
}

fn photon_merge(fixture: &Fixture, x: In<'_>, out: &mut Out<'_>) {
    let merging = merging_of(x);
    let partial = |i: usize| PartialWeights { vcm: x.f(i), vc: x.f(i + 1), vm: x.f(i + 2) };
    let (light, camera) = two_vertices(fixture, x, 10, x.key(22), [partial(25), partial(28)], merging.ratios);
    let pair = light.zip(camera).filter(|(_, camera)| !camera.is_specular());
    let found = pair.and_then(|(light, camera)| Some((Photon::new(&light, x.u(31))?, camera)));
    let photon = found.as_ref().map(|(photon, _)| *photon).unwrap_or_default();
    let merge = found.and_then(|(photon, camera)| photon.merge(&camera, &merging));
    [photon.position, photon.from, photon.throughput].into_iter().for_each(|v| out.v(v));
    out.f(photon.vcm);
    out.f(photon.vm);
    out.b(photon.is_within(1, 2));
    out.b(merge.is_some());
    out.v(merge.map_or(Vec3::ZERO, |merge| merge.value));
    out.f(merge.map_or(0.0, |merge| merge.weight));
}

/// The vertices at the hits of a ray of a light sub-path and of one of a camera sub-path; the rays are 12 words
/// from `at` on.
fn two_vertices(
    fixture: &Fixture,
    x: In<'_>,
    at: usize,
    key: SampleKey,
    [of_light, of_camera]: [PartialWeights; 2],
    ratios: MergeRatios,
) -> (Option<PathVertex>, Option<PathVertex>) {
    let scene = &fixture.scene;
    let ray = |i: usize| Ray { origin: x.v(i), t_min: 0.0, direction: x.v(i + 3), t_max: geometry::FAR };
    let of_light = LightPath {
        ray: ray(at),
        throughput: Vec3::ONE,
        partial: of_light,
        light: 0,
        cosine: 0.0,
        pdf_direction: 0.0,
        pdf: 0.0,
        key,
    };
    let of_camera =
        CameraPath { ray: ray(at + 6), throughput: Vec3::ONE, partial: of_camera, specular: false, key };
    let scratch = &mut Scratch::default();
    let light_key = RayKey::light_extension(key, 1);
    let light_hit = fixture.bvh.closest_hit(scene, &of_light.ray, light_key, scratch);
    let camera_key = RayKey::extension(key, 1);
    let camera_hit = fixture.bvh.closest_hit(scene, &of_camera.ray, camera_key, scratch);
    let (mut light, mut camera) = (Vec::new(), Vec::new());
    of_light.arrive(scene, 1, &light_hit, ratios, &mut light);
    of_camera.arrive(scene, 1, false, &camera_hit, &mut camera);
    let (light, camera) = (light.pop(), camera.pop());
    (light, camera)
}

/// Ray and sample key.
const RAY: [Domain; 6] = [Point, Direction, Range(0.5, 20.0), Word, Word, Word];

/// Traces the ray first, so that the shaded hit is a possible one.
fn shade(fixture: &Fixture, x: In<'_>, out: &mut Out<'_>) {
    let scene = &fixture.scene;
    let strategy = [Strategy::Mis, Strategy::LightOnly, Strategy::BsdfOnly][x.u(17) as usize];
    let roulette_from = (x.u(18) < 2).then_some(x.u(18));
    let settings = Settings { strategy, bounces: 3, roulette_from, ..Settings::default() };
    let bounce = x.u(16);
    let mut path = PathState {
        ray: x.ray(),
        throughput: x.v(10),
        bsdf_pdf: if x.u(7) & 1 != 0 { x.f(10) } else { 0.0 },
        radiance: x.v(13),
        key: x.key(7),
        medium: x.u(8) & (media::CHANNEL_CHOSEN | 1),
        interiors: interiors(x.u(9)),
    };
    let key = RayKey::extension(path.key, bounce);
    let hit = fixture.bvh.closest_hit(scene, &path.ray, key, &mut Scratch::default());
    let shaded = path::shade::<false>(scene, &settings, bounce, &mut path, &hit, &mut ());
    out.v(path.ray.origin);
    out.v(path.ray.direction);
    out.f(path.ray.t_max);
    out.v(path.throughput);
    out.f(path.bsdf_pdf);
    out.v(path.radiance);
    out.u(path.medium);
    out.b(shaded.continues);
    out.b(shaded.connection.is_some());
    let (origin, direction, t_max, radiance) =
        shaded.connection.map_or((Vec3::ZERO, Vec3::ZERO, 0.0, Vec3::ZERO), |c| {
            (c.ray.origin, c.ray.direction, c.ray.t_max, c.radiance)
        });
    out.v(origin);
    out.v(direction);
    out.f(t_max);
    out.v(radiance);
    out.u(path.interiors as u32);
    out.u((path.interiors >> 32) as u32);
}

/// No medium and the fixtures' dielectrics, as entries of an interior list: as `probe_interior` in the kernels' probes.
const INTERIORS: [u32; 4] = [0, 4, 5, 12];

/// An interior list of any four of [`INTERIORS`].
fn interiors(word: u32) -> InteriorList {
    (0..4).map(|i| u64::from(INTERIORS[(word >> (2 * i) & 3) as usize]) << (16 * i)).sum()
}
