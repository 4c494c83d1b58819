//! Lights without shapes.

use super::Context;
use super::description::{Description, LightDefinition, Version};
use super::environment::{self, EnvironmentMap};
use super::matrix::{Matrix, sub, unit};
use super::params::{Color, Params, Role, shorten};
use crate::pixels::decode_file;
use lockstep_core::Result;
use lockstep_core::math::vec3::{Vec3, vec3};
use lockstep_core::scene::{EnvironmentLight, PunctualLight, SceneBuilder};
use std::f64::consts::PI;

/// Adds all lights of a file; `world` maps from pbrt's world to the scene's.
pub(super) fn add(
    description: &Description,
    world: &Matrix,
    builder: &mut SceneBuilder,
    context: &mut Context<'_, '_>,
) -> Result<()> {
    for light in &description.lights {
        let to_world = world.then(&light.to_world);
        match light.class.as_str() {
            "point" | "goniometric" => point(light, &to_world, builder, context)?,
            "spot" => spot(light, &to_world, builder, context)?,
            "distant" => distant(light, &to_world, builder, context)?,
            "infinite" | "exinfinite" => infinite(light, &to_world, builder, context)?,
            "projection" => {
                light.params.use_all();
                let message = "the light `projection` is not rendered and left out";
                context.warnings.add(&light.params.place, message);
            }
            other => {
                let message = format!("there is no light `{}`", shorten(other));
                return Err(context.warnings.error(&light.params.place, message));
            }
        }
        let unused: Vec<String> = light.params.unused().map(shorten).collect();
        for name in unused {
            let message = format!("the parameter `{name}` of the light `{}` is not used", light.class);
            context.warnings.add(&light.params.place, message);
        }
    }
    Ok(())
}

/// The colour that lights of this name have, with the factor `scale`. In version 4, light that is not given as
/// RGB has unit luminance.
pub(super) fn emitted(params: &Params, name: &str, context: &mut Context<'_, '_>) -> Result<Vec3> {
    let color = params.color(name, Role::Light, context)?.unwrap_or(Color { rgb: [1.0; 3], luminance: 1.0 });
    let mut factor = match params.get("scale") {
        // Version 3 takes colours too.
        Some(_) => params.color("scale", Role::Light, context)?.map_or([1.0; 3], |c| c.rgb),
        None => [1.0; 3],
    };
    if context.version == Version::Four && color.luminance > 0.0 {
        factor = factor.map(|f| f / color.luminance);
    }
    let out: [f32; 3] = std::array::from_fn(|i| color.rgb[i] * factor[i]);
    if out.iter().all(|v| v.is_finite() && *v >= 0.0) {
        return Ok(out.into());
    }
    Err(context.warnings.error(&params.place, "light must be finite and not negative"))
}

/// The factor on light by which its power, or illuminance, is the one that a parameter asks for.
fn wanted(params: &Params, name: &str, of_one: f64, context: &Context<'_, '_>) -> Result<f32> {
    let wanted = params.float(name, -1.0, context)?;
    Ok(if wanted > 0.0 { (wanted / of_one) as f32 } else { 1.0 })
}

fn of(v: [f64; 3]) -> Vec3 {
    vec3(v[0] as f32, v[1] as f32, v[2] as f32)
}

fn point(
    light: &LightDefinition,
    to_world: &Matrix,
    builder: &mut SceneBuilder,
    context: &mut Context<'_, '_>,
) -> Result<()> {
    let params = &light.params;
    let from = params.triple("from", context)?.unwrap_or([0.0; 3]);
    let intensity = emitted(params, "I", context)? * wanted(params, "power", 4.0 * PI, context)?;
    if light.class == "goniometric" {
        for name in ["filename", "mapname"] {
            params.get(name);
        }
        let message = "the light `goniometric` shines the same in all directions";
        context.warnings.add(&params.place, message);
    }
    builder.light(PunctualLight::Point { position: of(to_world.point(from)), intensity });
    Ok(())
}

fn spot(
    light: &LightDefinition,
    to_world: &Matrix,
    builder: &mut SceneBuilder,
    context: &mut Context<'_, '_>,
) -> Result<()> {
    let params = &light.params;
    let from = params.triple("from", context)?.unwrap_or([0.0; 3]);
    let to = params.triple("to", context)?.unwrap_or([0.0, 0.0, 1.0]);
    let (outer, delta) =
        (params.float("coneangle", 30.0, context)?, params.float("conedeltaangle", 5.0, context)?);
    let inner = (outer - delta).max(0.0);
    if outer <= 0.0 || outer > 180.0 || delta < 0.0 {
        return Err(context
            .warnings
            .error(&params.place, "the angles of a spot light must be 0 to 180 degrees"));
    }
    let cosine = |degrees: f64| degrees.to_radians().cos();
    let (inner_cos, outer_cos) = (cosine(inner), cosine(outer));
    let of_one = 2.0 * PI * (1.0 - inner_cos + 0.5 * (inner_cos - outer_cos));
    let intensity = emitted(params, "I", context)? * wanted(params, "power", of_one, context)?;
    let direction = unit(to_world.vector(sub(to, from)));
    let Some(direction) = direction else {
        return Err(context.warnings.error(&params.place, "`from` and `to` must not be the same point"));
    };
    context.warnings.add(
        &params.place,
        "a spot light falls off towards the edge of its cone by the cosine's square, not by pbrt's polynomial",
    );
    // An edge without a penumbra has a narrow one.
    let outer_cos = (outer_cos as f32).min(inner_cos as f32 - 1e-4);
    builder.light(PunctualLight::Spot {
        position: of(to_world.point(from)),
        direction: of(direction),
        intensity,
        inner_cos: inner_cos as f32,
        outer_cos: outer_cos.max(-1.0),
    });
    Ok(())
}

fn distant(
    light: &LightDefinition,
    to_world: &Matrix,
    builder: &mut SceneBuilder,
    context: &mut Context<'_, '_>,
) -> Result<()> {
    let params = &light.params;
    let from = params.triple("from", context)?.unwrap_or([0.0; 3]);
    let to = params.triple("to", context)?.unwrap_or([0.0, 0.0, 1.0]);
    let irradiance = emitted(params, "L", context)? * wanted(params, "illuminance", 1.0, context)?;
    let Some(direction) = unit(to_world.vector(sub(to, from))) else {
        return Err(context.warnings.error(&params.place, "`from` and `to` must not be the same point"));
    };
    builder.light(PunctualLight::Directional { direction: of(direction), irradiance });
    Ok(())
}

fn infinite(
    light: &LightDefinition,
    to_world: &Matrix,
    builder: &mut SceneBuilder,
    context: &mut Context<'_, '_>,
) -> Result<()> {
    let params = &light.params;
    params.get("samples");
    params.get("nsamples");
    if params.get("portal").is_some() {
        context
            .warnings
            .add(&params.place, "the portal of an infinite light is left out: it shines from everywhere");
    }
    let factor = emitted(params, "L", context)?;
    let name = match params.string("filename", context)? {
        Some(name) => Some(name),
        None => params.string("mapname", context)?,
    };
    let Some(name) = name else {
        let radiance = factor * wanted(params, "illuminance", PI, context)?;
        add_constant(&mut builder.environment, radiance);
        return Ok(());
    };
    let path = context.access.folder.join(name);
    let failed = |message: String| context.warnings.error(&params.place, message);
    let bytes = context.access.read(&path).map_err(|error| failed(format!("the light's image: {error}")))?;
    let image = decode_file(&bytes, &path, context.access.limits)
        .map_err(|message| failed(format!("the image `{}`: {message}", shorten(name))))?
        .into_radiance();
    if context.version == Version::Four && image.width != image.height {
        return Err(failed("an infinite light's image is square in version 4".into()));
    }
    context.take_texels(3 * image.rgb.len() as u64, &params.place)?;
    let Some(from_world) = to_world.inverse() else {
        return Err(context.warnings.error(&params.place, "the light's transform cannot be undone"));
    };
    let factor = factor * wanted(params, "illuminance", environment::illuminance(&image), context)?;
    let EnvironmentMap { width, height, mut texels, rotation } =
        environment::read(image, context.version, &from_world);
    match &builder.environment {
        EnvironmentLight::Constant(radiance) => {
            let added = radiance.to_array();
            let factor = factor.to_array();
            for texel in &mut texels {
                *texel = std::array::from_fn(|i| (texel[i] * factor[i] + added[i]).min(MAX_RADIANCE));
            }
        }
        _ => {
            let message = "one infinite light has an image already; this one is left out";
            context.warnings.add(&params.place, message);
            return Ok(());
        }
    }
    let scale = Vec3::splat(1.0);
    builder.environment = EnvironmentLight::Image { width, height, texels, scale, rotation };
    Ok(())
}

/// Largest radiance of an image's texels, a half float's.
const MAX_RADIANCE: f32 = 65_504.0;

/// Adds a radiance from everywhere to what there is.
fn add_constant(environment: &mut EnvironmentLight, radiance: Vec3) {
    match environment {
        EnvironmentLight::Constant(other) => *other = *other + radiance,
        EnvironmentLight::Image { texels, .. } => {
            let added = radiance.to_array();
            for texel in texels {
                *texel = std::array::from_fn(|i| (texel[i] + added[i]).min(MAX_RADIANCE));
            }
        }
        EnvironmentLight::Gradient { .. } => {}
    }
}
