//! Images as other renderers take them: linear RGB in floats.

use super::notes::{Feature, Notes};
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{
    AlphaMode, Environment, EnvironmentKind, Material, Texture, Wrap, environment_radiance,
};
use lockstep_core::{Error, Result, Scene};
use lockstep_images::{ImageMetadata, LinearImage, WriteError};
use std::f64::consts::PI;
use std::io;
use std::path::Path;

/// The texels of a texture, converted.
pub(super) fn texels(scene: &Scene, texture: &Texture, value: impl Fn(u32) -> [f32; 3]) -> Vec<[f32; 3]> {
    let first = texture.first_texel as usize;
    let count = texture.width as usize * texture.height as usize;
    scene.texels[first..first + count].iter().map(|&texel| value(texel)).collect()
}

/// The wrap that both directions of a texture get.
pub(super) fn wrap(texture: &Texture, notes: &mut Notes) -> Wrap {
    let (u, v) = (texture.flags & 3, texture.flags >> 2 & 3);
    if u != v {
        notes.add(
            Feature::Texture,
            "textures that repeat one way and not the other are wrapped as they are along u",
        );
    }
    [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror].into_iter().find(|w| *w as u32 == u).unwrap_or(Wrap::Repeat)
}

/// The alpha of a texel.
pub(super) fn texel_alpha(texel: u32) -> f32 {
    (texel >> 24) as f32 / 255.0
}

/// The opacity that a mask makes of an alpha.
pub(super) fn opacity(material: &Material, alpha: f32) -> f32 {
    match material.alpha_mode == AlphaMode::Mask as u32 {
        true => f32::from(u8::from(alpha >= material.alpha_cutoff)),
        false => alpha,
    }
}

/// Writes an OpenEXR image, given row by row from the top.
///
/// # Errors
/// [`Error::Io`], naming the file.
pub(super) fn write_exr(path: &Path, width: usize, pixels: &[[f32; 3]]) -> Result<()> {
    let height = (pixels.len() / width.max(1)) as u32;
    let failed = |source| Error::Io { action: "writing", path: path.to_owned(), source };
    let image = LinearImage::new(width as u32, height, pixels.to_vec());
    let image = image.map_err(|e| failed(io::Error::new(io::ErrorKind::InvalidInput, e)))?;
    lockstep_images::write_exr(path, &image, &ImageMetadata::default()).map_err(|e| match e {
        WriteError::Io { source, .. } => failed(source),
        other => failed(io::Error::other(other)),
    })
}

/// Rows and columns that the image of the environment has at least.
const LEAST_ROWS: usize = 511;

/// Columns of the image of a gradient, which is the same all around.
const GRADIENT_COLUMNS: usize = 8;

/// The environment as an equirectangular image whose rows lie half a row from the poles: width and pixels. `longitude` says, in
/// turns from +x over +z, where a column lies that is given in fractions of the width.
///
/// Rows and columns are multiples of those of the environment's image by which the middles of its texels are middles of texels
/// again: so both images are the same where they are interpolated, all but half a row about the poles.
pub(super) fn environment(scene: &Scene, longitude: impl Fn(f64) -> f64) -> (usize, Vec<[f32; 3]>) {
    let environment: &Environment = &scene.environment;
    let (columns, rows) = match environment.kind == EnvironmentKind::Image as u32 {
        true => (environment.image_width as usize, environment.image_height as usize),
        false => (GRADIENT_COLUMNS, 1),
    };
    let odd = |least: usize, count: usize| least.div_ceil(count.max(1)) | 1;
    let (columns, rows) = match environment.kind == EnvironmentKind::Image as u32 {
        true => (columns * odd(2 * LEAST_ROWS, columns), rows * odd(LEAST_ROWS, rows)),
        false => (columns, odd(2 * LEAST_ROWS, rows)),
    };
    let direction = |column: usize, row: usize| {
        let phi = 2.0 * PI * longitude((column as f64 + 0.5) / columns as f64);
        let theta = PI * (row as f64 + 0.5) / rows as f64;
        vec3((phi.cos() * theta.sin()) as f32, theta.cos() as f32, (phi.sin() * theta.sin()) as f32)
    };
    let at = |i: usize| radiance(scene, direction(i % columns, i / columns)).to_array();
    (columns, (0..columns * rows).map(at).collect())
}

fn radiance(scene: &Scene, direction: Vec3) -> Vec3 {
    environment_radiance(&scene.environment, &scene.environment_texels, direction)
}
