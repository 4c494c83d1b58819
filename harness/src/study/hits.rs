//! Why two targets' films differ: their paths, traced and compared vertex by vertex.

use lockstep_core::path_record::{PathRequest, PathVertex, compare};
use lockstep_core::{Error, Film, Renderer};
use lockstep_reports::records::{Hits, pair_mode};

use super::step::Step;
use crate::exit::Failure;

/// At most this many differing pixels are looked into, spread evenly over all of them.
const MAX_PIXELS: usize = 256;
/// At most this many paths are traced on each target.
const MAX_PATHS: usize = 4096;

/// The first thing in which two paths of the same sample differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// One ray hit a surface and the other none.
    HitOrMiss,
    /// The rays hit other primitives.
    Primitive,
    /// The same primitive, at another distance or other barycentrics.
    Distance,
    /// One shadow ray reached its light and the other did not.
    Shadow,
    /// The same hits, but other rays, throughput or radiance.
    Shading,
}

/// How often each cause was the first.
#[derive(Clone, Debug, Default)]
struct Tally {
    rays: u64,
    hit_or_miss: u64,
    primitive: u64,
    distance: u64,
    shadow: u64,
    shading: u64,
    pixels: usize,
    pixels_unexplained: usize,
}

/// Looks into the pixels in which two films differ, by tracing the samples of the step on both targets.
///
/// # Errors
/// What a renderer says, except that it cannot trace single paths: then the record says so.
pub(crate) fn explain(
    step: &Step<'_>,
    names: (&str, &str),
    renderers: (&mut dyn Renderer, &mut dyn Renderer),
    films: (&Film, &Film),
) -> Result<Hits, Failure> {
    let pixels = differing_pixels(films.0, films.1);
    let looked_into = spread(&pixels, MAX_PIXELS);
    let (why, tally) = match trace_all(step, renderers, &looked_into) {
        Ok(tally) => (sentence(&tally), tally),
        Err(Error::Unsupported { actor, .. }) => {
            (format!("not looked into: {actor} cannot trace single paths"), Tally::default())
        }
        Err(other) => return Err(other.into()),
    };
    let all = films.0.sums.len();
    Ok(Hits {
        scene: step.scene.to_owned(),
        a: names.0.to_owned(),
        b: names.1.to_owned(),
        spp: step.to,
        seed: u64::from(step.seed),
        rays: tally.rays,
        primitive_differs: tally.primitive + tally.hit_or_miss,
        hit_or_miss_differs: tally.hit_or_miss,
        distance_differs: tally.distance,
        pixels: all as u64,
        pixels_differing: pixels.len() as u64,
        share: pixels.len() as f64 / all as f64,
        why,
        mode: pair_mode(names.0, names.1),
    })
}

fn differing_pixels(a: &Film, b: &Film) -> Vec<usize> {
    a.sums.iter().zip(&b.sums).enumerate().filter(|(_, (a, b))| a != b).map(|(pixel, _)| pixel).collect()
}

/// At most `count` of the items, evenly spaced.
fn spread(items: &[usize], count: usize) -> Vec<usize> {
    let taken = items.len().min(count);
    (0..taken).map(|i| items[i * items.len() / taken]).collect()
}

fn trace_all(
    step: &Step<'_>,
    (a, b): (&mut dyn Renderer, &mut dyn Renderer),
    pixels: &[usize],
) -> Result<Tally, Error> {
    let samples = || step.from..step.to;
    let requests = pixels.iter().flat_map(|&pixel| samples().map(move |sample| (pixel as u32, sample)));
    let requests: Vec<PathRequest> =
        requests.take(MAX_PATHS).map(|(pixel, sample)| PathRequest { pixel, sample }).collect();
    let (paths_a, paths_b) = (a.record_paths(&requests)?, b.record_paths(&requests)?);
    let mut tally = Tally::default();
    let pairs = paths_a.chunks(samples().len()).zip(paths_b.chunks(samples().len()));
    for (of_pixel_a, of_pixel_b) in pairs {
        let mut explained = false;
        for (vertices_a, vertices_b) in of_pixel_a.iter().zip(of_pixel_b) {
            let (compared, cause) = first_difference(vertices_a, vertices_b);
            tally.rays += compared;
            explained |= cause.is_some();
            match cause {
                Some(Cause::HitOrMiss) => tally.hit_or_miss += 1,
                Some(Cause::Primitive) => tally.primitive += 1,
                Some(Cause::Distance) => tally.distance += 1,
                Some(Cause::Shadow) => tally.shadow += 1,
                Some(Cause::Shading) => tally.shading += 1,
                None => {}
            }
        }
        tally.pixels += 1;
        tally.pixels_unexplained += usize::from(!explained);
    }
    Ok(tally)
}

/// How many rays of two paths were compared until the first difference, and what that is.
fn first_difference(a: &[PathVertex], b: &[PathVertex]) -> (u64, Option<Cause>) {
    let shared = a.len().min(b.len()) as u64;
    compare::first_difference(a, b).map_or((shared, None), |divergence| {
        let cause = match divergence.field {
            "hit" => Cause::HitOrMiss,
            "instance" | "primitive" => Cause::Primitive,
            "distance" | "barycentrics" => Cause::Distance,
            "light reached" => Cause::Shadow,
            // Where the ray itself is another one, what came before it was shaded differently.
            _ => Cause::Shading,
        };
        (u64::from(divergence.bounce) + 1, Some(cause))
    })
}

/// The tally in words.
fn sentence(tally: &Tally) -> String {
    let causes = [
        (tally.primitive, "the primitive chosen"),
        (tally.hit_or_miss, "whether anything was hit"),
        (tally.distance, "where the same primitive was hit"),
        (tally.shadow, "whether a shadow ray was blocked"),
        (tally.shading, "shading after equal hits"),
    ];
    let found: Vec<String> =
        causes.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} ({n})")).collect();
    let noun = if tally.pixels == 1 { "pixel" } else { "pixels" };
    let mut text = match found.as_slice() {
        [] => format!("no path differs in the {} {noun} looked into", tally.pixels),
        _ => format!("what differs first along the paths of {} {noun}: {}", tally.pixels, found.join(", ")),
    };
    if tally.pixels_unexplained > 0 && !found.is_empty() {
        text.push_str(&format!("; nothing in {}", tally.pixels_unexplained));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_core::path_record::{LightVertex, ShadowVertex, SurfaceVertex};

    const SURFACE: SurfaceVertex = SurfaceVertex {
        instance: 0,
        primitive: 5,
        material: 0,
        barycentrics: [0.25, 0.5],
        geometric_normal: [0.0, 0.0, 1.0],
        texture_coordinates: [0.0; 2],
        alpha: 1.0,
        shading: None,
    };

    fn path(length: u32, last: PathVertex) -> Vec<PathVertex> {
        let vertex = |bounce| PathVertex { bounce, ..if bounce + 1 == length { last } else { plain() } };
        (0..length).map(vertex).collect()
    }

    fn plain() -> PathVertex {
        let shadow = Some(ShadowVertex { reached: true, ..ShadowVertex::default() });
        let light = Some(LightVertex { shadow, ..LightVertex::default() });
        PathVertex { surface: Some(SURFACE), light, t: 1.5, ..PathVertex::default() }
    }

    #[test]
    fn equal_paths_differ_in_nothing() {
        assert_eq!(first_difference(&path(3, plain()), &path(3, plain())), (3, None));
    }

    #[test]
    fn the_first_cause_is_the_one_that_counts() {
        let hit = |primitive| Some(SurfaceVertex { primitive, ..SURFACE });
        let shadowed =
            plain().light.map(|light| LightVertex { shadow: Some(ShadowVertex::default()), ..light });
        let other = [
            (PathVertex { surface: hit(6), t: 1.6, ..plain() }, Cause::Primitive),
            (PathVertex { surface: None, ..plain() }, Cause::HitOrMiss),
            (PathVertex { t: 1.500_000_1, light: shadowed, ..plain() }, Cause::Distance),
            (PathVertex { light: shadowed, radiance: [1.0; 3], ..plain() }, Cause::Shadow),
            (PathVertex { radiance: [1.0; 3], ..plain() }, Cause::Shading),
            (PathVertex { origin: [1.0; 3], surface: hit(6), ..plain() }, Cause::Shading),
        ];
        for (vertex, cause) in other {
            assert_eq!(first_difference(&path(2, plain()), &path(2, vertex)), (2, Some(cause)));
        }
    }

    #[test]
    fn few_pixels_are_all_looked_into_and_many_are_spread() {
        assert_eq!(spread(&[3, 4], 256), [3, 4]);
        assert_eq!(spread(&(0..1000).collect::<Vec<_>>(), 4), [0, 250, 500, 750]);
        assert!(spread(&[], 4).is_empty());
    }

    #[test]
    fn the_sentence_names_every_cause_found() {
        let tally = Tally { primitive: 11, shadow: 1, pixels: 12, ..Tally::default() };
        insta::assert_snapshot!(
            sentence(&tally),
            @"what differs first along the paths of 12 pixels: the primitive chosen (11), whether a shadow ray was blocked (1)"
        );
        insta::assert_snapshot!(
            sentence(&Tally { pixels: 1, ..Tally::default() }),
            @"no path differs in the 1 pixel looked into"
        );
    }
}
