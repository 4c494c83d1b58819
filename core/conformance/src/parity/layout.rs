//! Sizes and offsets of the records that host and device exchange.

use crate::parity::mismatch::{Mismatch, compare_words};
use lockstep_bvh::{Block8, LeafPrimitive, Node, Node8};
use lockstep_core::error::Result;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::vec3::Vec3;
use lockstep_core::merging::{MergeRatios, Merging};
use lockstep_core::path_record::{PairRecord, VertexRecord};
use lockstep_core::scene::camera::CameraFrame;
use lockstep_core::scene::{
    AliasEntry, BoundingSphere, Environment, Instance, Layers, Light, Material, Mesh, Sphere, Texture,
    Triangle, Vertex,
};
use lockstep_gpu::probe::ProbeDevice;
use lockstep_gpu::{BounceCounters, Packed, Pass, SceneConstants};
use lockstep_transport::integrators::bidirectional::Photon;
use std::mem::offset_of;

macro_rules! layouts {
    ($($record:ident { $($field:ident),* })*) => {
        /// The records with their fields, in the order of `ls_probe_layout` in `kernels/tests/layout.h`.
        #[cfg(test)]
        pub(super) const NAMES: &[(&str, &[&str])] = &[$((stringify!($record), &[$(stringify!($field)),*])),*];

        /// Each record's size, then its fields' offsets.
        fn expected() -> Vec<u32> {
            let mut words = Vec::new();
            $(
                words.push(size_of::<$record>() as u32);
                $(words.push(offset_of!($record, $field) as u32);)*
            )*
            words
        }
    };
}

layouts! {
    Vec3 { x, y, z }
    Packed { v, w }
    Vertex { normal, red_green, tangent, blue_alpha, uv0, uv1 }
    Triangle { vertices, material }
    Sphere { center, radius, material, reserved }
    Mesh { first_triangle, triangle_count, first_sphere, sphere_count }
    Instance { object_to_world, world_to_object, mesh, flags, scale, reserved }
    Material {
        base_color, alpha, emission, kind, roughness, metallic, ior, transmission, base_color_texture,
        metallic_roughness_texture, normal_texture, emission_texture, normal_scale, alpha_cutoff, alpha_mode, flags,
        transmission_texture, light_pdf_area, layers, priority
    }
    Layers {
        specular_color, specular, sheen_color, sheen_roughness, clearcoat, clearcoat_roughness, clearcoat_f0,
        anisotropy, anisotropy_rotation, specular_texture, specular_color_texture, clearcoat_texture,
        clearcoat_roughness_texture, sheen_color_texture, sheen_roughness_texture, anisotropy_texture,
        iridescence_texture, iridescence_thickness_texture, iridescence, iridescence_ior, iridescence_thickness, dispersion,
        attenuation, clearcoat_normal_texture, clearcoat_normal_scale, reserved
    }
    Texture { first_texel, width, height, flags, transform }
    Light { position, kind, edge1, material, edge2, triangle, intensity, pmf }
    AliasEntry { threshold, alias, pmf, reserved }
    Environment {
        zenith, kind, horizon, image_width, ground, image_height, grid_width, grid_height, rotation, pmf
    }
    CameraFrame { eye, lens_radius, right, focus_distance, up, width, forward, height }
    Node { xy0, xy1, z, children, reserved }
    LeafPrimitive { p0, primitive, p1, flags, p2, clip_above }
    Node8 { planes, children }
    Block8 { points, primitives, all, alpha, spheres, presplit, boxes, reserved }
    Ray { origin, t_min, direction, t_max }
    Hit { t, u, v, instance, primitive }
    MergeRatios { merge, connect }
    Merging { origin, cells_per_unit, radius2, reach, normalization, ratios, bucket_mask, first_only, reserved }
    Photon { position, bounce, from, vcm, throughput, vm }
    Pass {
        camera, pixels, samples, first_sample, seed, bounces, strategy, roulette_from, first_pixel, merging
    }
    BoundingSphere { center, radius }
    SceneConstants { environment, bounds, light_count, environment_cells, root, reserved }
    BounceCounters { extension_rays, hits, shadow_rays, unoccluded }
    VertexRecord {
        origin, flags, direction, instance, throughput, primitive, t, u, v, alpha, geometric, material, coordinates,
        roughness, metallic, base_color, light, normal, light_distance, gathered, light_pdf, light_words,
        light_direction, light_bsdf_pdf, light_radiance, shadow_t_max, light_bsdf, scatter_pdf, shadow_origin,
        reserved0, shadow_radiance, reserved1, scatter_words, scatter_direction, reserved2, scatter_throughput,
        reserved3, radiance, reserved4
    }
    PairRecord {
        origin, flags, direction, light, value, camera, geometric, pixel, shading, instance, base_color, primitive, t, u,
        v, weight, vcm, vc, scale, roughness, metallic, ior, transmission, kind, outside, reserved
    }
}

/// Compares every size and offset.
pub(super) fn compare(device: &mut dyn ProbeDevice) -> Result<Option<Mismatch>> {
    let mut words = expected();
    // A box is two corners, which this crate keeps as an array; an affine map is three rows of four.
    words.extend([size_of::<[Vec3; 2]>() as u32, 0, size_of::<Vec3>() as u32]);
    words.push(size_of::<lockstep_core::scene::Affine>() as u32);
    compare_words(device, "layout", "ls_probe_layout", &words)
}
