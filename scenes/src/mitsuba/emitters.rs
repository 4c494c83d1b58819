//! Lamps without a shape, and the environment light.

use super::matrix::{Matrix, normalize, single};
use super::object::{Class, Object, shorten};
use super::textures::{Color, Role, Source, Textures};
use crate::pixels::{RadiancePixels, decode_file};
use crate::warning::Warnings;
use lockstep_core::Result;
use lockstep_core::math::vec3::Vec3;
use lockstep_core::scene::{EnvironmentLight, PunctualLight, SceneBuilder};
use std::f64::consts::{PI, TAU};

/// Adds all emitters that are not part of a shape.
pub(super) fn add(
    source: &Source<'_>,
    textures: &mut Textures,
    builder: &mut SceneBuilder,
    warnings: &mut Warnings,
) -> Result<()> {
    let root = &source.document.objects[source.document.root];
    for (_, index) in source.document.children(root, Class::Emitter, warnings)? {
        let object = &source.document.objects[index];
        object.skip(&["sampling_weight", "cache", "gamma"]);
        let mut reader = Reader { source, textures, object, warnings };
        match object.plugin.as_str() {
            "point" => builder.light(reader.point()?),
            "spot" => builder.light(reader.spot()?),
            "directional" => builder.light(reader.directional()?),
            "constant" => {
                let radiance = reader.light(&["radiance"])?;
                reader.environment(builder, EnvironmentLight::Constant(radiance));
            }
            "envmap" => {
                let environment = reader.image()?;
                reader.environment(builder, environment);
            }
            other => {
                object.skip_all();
                let message = format!(
                    "emitters of the type `{}` are not supported; this one is left out",
                    shorten(other)
                );
                reader.warnings.add(object.place(), message);
            }
        }
        object.warn_of_unread(warnings);
    }
    Ok(())
}

struct Reader<'a> {
    source: &'a Source<'a>,
    textures: &'a mut Textures,
    object: &'a Object,
    warnings: &'a mut Warnings,
}

impl Reader<'_> {
    fn light(&mut self, names: &[&str]) -> Result<Vec3> {
        let color = self.source.color(self.textures, self.object, names, Role::Emission, self.warnings)?;
        if matches!(color, Some(Color::Map(_))) {
            self.warnings.add(self.object.place(), "the texture of the emitter is replaced by its mean");
        }
        Ok(color.map_or(Vec3::ONE, |color| color.mean().into()))
    }

    fn to_world(&self) -> Result<Matrix> {
        Ok(self.object.transform("to_world", self.warnings)?.unwrap_or(Matrix::IDENTITY))
    }

    fn environment(&mut self, builder: &mut SceneBuilder, environment: EnvironmentLight) {
        if builder.environment != EnvironmentLight::default() {
            self.warnings.add(self.object.place(), "a scene has one sky; this one replaces the one before");
        }
        builder.environment = environment;
    }

    fn point(&mut self) -> Result<PunctualLight> {
        let position = match self.object.vector(&["position"], self.warnings)? {
            Some(position) => position,
            None => self.to_world()?.column(3),
        };
        Ok(PunctualLight::Point { position: single(position), intensity: self.light(&["intensity"])? })
    }

    fn directional(&mut self) -> Result<PunctualLight> {
        let direction = match self.object.vector(&["direction"], self.warnings)? {
            Some(direction) => direction,
            None => self.to_world()?.column(2),
        };
        let irradiance = self.light(&["irradiance"])?;
        let direction = normalize(direction)
            .ok_or_else(|| self.object.error(self.warnings, "the light's direction must not be zero"))?;
        Ok(PunctualLight::Directional { direction: single(direction), irradiance })
    }

    fn spot(&mut self) -> Result<PunctualLight> {
        let to_world = self.to_world()?;
        let intensity = self.light(&["intensity"])?;
        let outer = self.object.number(&["cutoff_angle"], self.warnings)?.unwrap_or(20.0);
        let inner = self.object.number(&["beam_width"], self.warnings)?.unwrap_or(outer * 0.75);
        let direction = normalize(to_world.column(2));
        let (Some(direction), true) =
            (direction, 0.0 < outer && outer <= 180.0 && (0.0..=outer).contains(&inner))
        else {
            let message =
                "a spot light needs a direction and angles 0 <= `beam_width` <= `cutoff_angle` <= 180";
            return Err(self.object.error(self.warnings, message));
        };
        if !self.source.document.children(self.object, Class::Texture, self.warnings)?.is_empty() {
            self.warnings.add(self.object.place(), "the texture of the spot light is left out");
        }
        self.warnings.add(
            self.object.place(),
            "a spot light falls off towards the edge of its cone by the cosine's square here, by the angle in Mitsuba",
        );
        let outer_cos = outer.to_radians().cos() as f32;
        // A cone's edge has some width.
        let inner_cos = (inner.to_radians().cos() as f32).max(outer_cos + 1e-4).min(1.0);
        let outer_cos = outer_cos.min(inner_cos - 1e-4).max(-1.0);
        let position = single(to_world.column(3));
        Ok(PunctualLight::Spot { position, direction: single(direction), intensity, inner_cos, outer_cos })
    }

    fn image(&mut self) -> Result<EnvironmentLight> {
        let object = self.object;
        let name = object.text(&["filename"], self.warnings)?.unwrap_or_default();
        if name.is_empty() {
            return Err(object.error(self.warnings, "the sky's image needs `filename`"));
        }
        let path = self.source.document.file(self.source.access, name);
        let bytes = self.source.access.read(&path)?;
        let image = decode_file(&bytes, &path, self.source.access.limits)
            .map_err(|message| object.error(self.warnings, format!("{}: {message}", path.display())))?
            .into_radiance();
        let scale = object.number(&["scale"], self.warnings)?.unwrap_or(1.0).max(0.0) as f32;
        let to_world = self.to_world()?;
        let Some(to_local) = to_world.inverse_linear() else {
            return Err(object.error(self.warnings, "the sky's transform is singular"));
        };
        let (texels, rotation) = match turn_about_y(&to_world) {
            Some(turn) => (level(&image), turn),
            None => {
                self.warnings
                    .add(object.place(), "the sky's image is sampled again, since it is tilted or mirrored");
                (resampled(&image, &to_local), 0.0)
            }
        };
        Ok(EnvironmentLight::Image {
            width: image.width,
            height: image.height,
            texels,
            scale: Vec3::splat(scale),
            // The core's columns begin a quarter turn later.
            rotation: (0.25 + rotation) as f32,
        })
    }
}

/// The turns by which a map turns about +y, where it does nothing else but scale.
fn turn_about_y(map: &Matrix) -> Option<f64> {
    let scale = map.similarity().filter(|_| map.determinant() > 0.0)?;
    let m = &map.0;
    let is_upright = (m[1][1] / scale - 1.0).abs() < 1e-6;
    is_upright.then(|| m[0][2].atan2(m[0][0]) / TAU)
}

/// The image with rows half a texel off the poles, where the core has them; Mitsuba's outermost rows lie at the
/// poles.
fn level(image: &RadiancePixels) -> Vec<[f32; 3]> {
    let (width, height) = (image.width as usize, image.height as usize);
    (0..width * height)
        .map(|i| {
            let v = ((i / width) as f64 + 0.5) / height as f64;
            lookup(image, (i % width) as f64, v)
        })
        .collect()
}

/// The image as it is seen after a linear map of directions, in columns as Mitsuba has them.
fn resampled(image: &RadiancePixels, to_local: &Matrix) -> Vec<[f32; 3]> {
    let (width, height) = (image.width as usize, image.height as usize);
    (0..width * height)
        .map(|i| {
            let azimuth = TAU * ((i % width) as f64 + 0.5) / width as f64;
            let polar = PI * ((i / width) as f64 + 0.5) / height as f64;
            let direction = [azimuth.sin() * polar.sin(), polar.cos(), -azimuth.cos() * polar.sin()];
            let [x, y, z] = normalize(to_local.vector(direction)).unwrap_or(direction);
            let u = x.atan2(-z) / TAU;
            lookup(image, u * width as f64 - 0.5, y.clamp(-1.0, 1.0).acos() / PI)
        })
        .collect()
}

/// Between texels: `column` counts from the middle of the first, `v` is 0 and 1 at the middles of the outermost rows.
fn lookup(image: &RadiancePixels, column: f64, v: f64) -> [f32; 3] {
    let (width, height) = (i64::from(image.width), i64::from(image.height));
    let row = v * (height - 1) as f64;
    let (left, top) = (column.floor(), row.floor());
    let (fx, fy) = ((column - left) as f32, (row - top) as f32);
    let texel = |column: i64, row: i64| {
        image.rgb[(row.clamp(0, height - 1) * width + column.rem_euclid(width)) as usize]
    };
    let (left, top) = (left as i64, top as i64);
    let corners = [texel(left, top), texel(left + 1, top), texel(left, top + 1), texel(left + 1, top + 1)];
    std::array::from_fn(|i| {
        let [a, b, c, d] = corners.map(|corner| corner[i]);
        let (upper, lower) = (a + (b - a) * fx, c + (d - c) * fx);
        upper + (lower - upper) * fy
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_about_y_is_told_from_other_maps() {
        let turned = Matrix::rotate([0.0, 1.0, 0.0], 90.0).unwrap();
        assert!((turn_about_y(&turned).unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(turn_about_y(&Matrix::IDENTITY), Some(0.0));
        assert!(turn_about_y(&Matrix::scale([-1.0, 1.0, 1.0])).is_none());
        assert!(turn_about_y(&Matrix::rotate([1.0, 0.0, 0.0], 90.0).unwrap()).is_none());
    }

    #[test]
    fn an_image_is_the_same_under_a_map_that_changes_nothing() {
        let rgb: Vec<[f32; 3]> = (0..32).map(|i| [i as f32, (i % 8) as f32, 1.0]).collect();
        let image = RadiancePixels { width: 8, height: 4, rgb };
        for (a, b) in level(&image).iter().zip(resampled(&image, &Matrix::IDENTITY)) {
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4), "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_poles_are_rows_and_columns_wrap() {
        let image = RadiancePixels { width: 2, height: 2, rgb: vec![[1.0; 3], [1.0; 3], [0.0; 3], [4.0; 3]] };
        assert_eq!(lookup(&image, 0.0, 0.0), [1.0; 3]);
        assert_eq!(lookup(&image, -1.0, 1.0), [4.0; 3]);
        assert_eq!(lookup(&image, 1.5, 1.0), [2.0; 3]);
    }
}
