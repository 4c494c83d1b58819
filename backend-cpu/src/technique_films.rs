//! Films of single techniques: the pyramid of images of bidirectional path tracing (Veach 1997, figure 10.4).

use crate::BVH_TARGET;
use crate::bvh::BuiltIn;
use crate::device;
use crate::intersector::{Built, Intersector};
use crate::splat_film::SplatFilm;
use lockstep_bvh::BvhCache;
use lockstep_core::film::InvalidSamples;
use lockstep_core::geometry::{Hit, Ray};
use lockstep_core::math::rng::{RayKey, SampleKey};
use lockstep_core::merging::Merging;
use lockstep_core::scene::Scene;
use lockstep_core::splat::{Technique, quantize};
use lockstep_core::{Error, Film, OpenOptions, Result, Settings, check_range, memory};
use lockstep_transport::integrators::bidirectional::{
    Connection, PairPass, PairSink, Techniques, Tracer, trace_pair,
};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// The films of one technique.
#[derive(Clone, Debug)]
pub struct TechniqueFilm {
    /// The technique.
    pub technique: Technique,
    /// Contributions of the technique times their weights. These films of all techniques add up to the film, to
    /// the bit.
    pub weighted: Film,
    /// Contributions alone: an estimate of all light of this path length that the technique can find.
    pub unweighted: Film,
}

/// Renders every technique of `settings.integrator` by the reference renderer of pairs of sub-paths, with the
/// threads and the BVH cache of `options`. `progress` is called after every sample per pixel; where it breaks, the
/// films hold the samples until then.
///
/// # Errors
/// [`Error::Unsupported`] for an integrator of camera paths alone; [`Error::Memory`] where the films do not fit;
/// [`Error::Contract`] for settings, a scene or a range that cannot be rendered.
pub fn technique_films(
    scene: &Scene,
    settings: &Settings,
    samples: Range<u32>,
    options: &OpenOptions,
    progress: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Vec<TechniqueFilm>> {
    let what = match Techniques::of(settings.integrator) {
        Some(techniques) if techniques.merge() => Err("whose merges are with photons of other pairs"),
        Some(techniques) => Ok(techniques),
        None => Err("which has one technique"),
    };
    let techniques = what.map_err(|reason| Error::Unsupported {
        actor: BVH_TARGET.into(),
        what: format!("films per technique of `{}`, {reason}", settings.integrator),
    })?;
    settings.validate()?;
    settings.check_scene(scene)?;
    check_range(0, &samples)?;
    let all = all_techniques(techniques, settings.bounces);
    let pixels = u64::from(settings.width) * u64::from(settings.height);
    // Sums while rendering, and the films that are returned, weighted and not
    let bytes = 4 * pixels * Film::PIXEL_BYTES * all.len() as u64;
    let what = || format!("{} films of {}x{} pixels", 2 * all.len(), settings.width, settings.height);
    memory::check(what, bytes)?;

    let pool = device::start_threads(&BVH_TARGET.into(), device::threads(options))?;
    let cache = BvhCache::new(options.bvh_cache.clone());
    let Built { intersector, .. } = pool.install(|| BuiltIn::build(scene, &cache))?;
    let sums = || (SplatFilm::new(pixels as usize), SplatFilm::new(pixels as usize));
    let sums: BTreeMap<Technique, _> = all.into_iter().map(|technique| (technique, sums())).collect();
    let camera = scene.camera.frame(settings.width, settings.height);
    let pass = PairPass { scene, settings, techniques, camera, merging: Merging::NONE };
    let (mut spp, mut invalid) = (0, Invalid::new());
    for sample in samples {
        let sinks = (0..pixels as u32).into_par_iter().fold(
            || Sink::new(&sums),
            |mut sink, pixel| {
                sink.key = settings.key(pixel, sample);
                let mut tracer = Traced { intersector: &intersector, scratch: Default::default() };
                trace_pair(&pass, sink.key, &mut tracer, &mut sink);
                sink
            },
        );
        let of_sample = pool.install(|| sinks.map(|sink| sink.invalid).reduce(Invalid::new, merged));
        invalid = merged(invalid, of_sample);
        spp += 1;
        if progress().is_break() {
            break;
        }
    }

    let film = |sums: &SplatFilm, invalid: InvalidSamples| -> Result<Film> {
        let mut film = Film::new(settings.width, settings.height)?;
        (film.spp, film.sums, film.invalid) = (spp, sums.sums(), invalid);
        Ok(film)
    };
    let films = sums.iter().map(|(technique, (weighted, unweighted))| {
        let [of_weighted, of_unweighted] = invalid.get(technique).copied().unwrap_or_default();
        Ok(TechniqueFilm {
            technique: *technique,
            weighted: film(weighted, of_weighted)?,
            unweighted: film(unweighted, of_unweighted)?,
        })
    });
    films.collect()
}

/// The sum of all weighted films: the film of the integrator. `None` of no films.
pub fn sum_of_weighted(films: &[TechniqueFilm]) -> Option<Film> {
    let (first, others) = films.split_first()?;
    let mut sum = first.weighted.clone();
    for TechniqueFilm { weighted, .. } in others {
        let sums = sum.sums.iter_mut().flatten().zip(weighted.sums.iter().flatten());
        sums.for_each(|(sum, value)| *sum += value);
        sum.invalid.merge(&weighted.invalid);
    }
    Some(sum)
}

/// The techniques of an integrator for paths of at most `bounces`.
fn all_techniques(techniques: Techniques, bounces: u32) -> Vec<Technique> {
    let longest = bounces + 2;
    let every = (0..=longest).flat_map(|light| (1..=longest).map(move |camera| Technique { light, camera }));
    every
        .filter(|&Technique { light, camera }| {
            let is_sampled = camera >= 2 || light >= 2;
            let is_combined = match techniques {
                Techniques::LightTracing => camera == 1 || (light, camera) == (0, 2),
                _ => true,
            };
            is_sampled && is_combined && (2..=longest).contains(&(light + camera))
        })
        .collect()
}

type Invalid = BTreeMap<Technique, [InvalidSamples; 2]>;

fn merged(mut all: Invalid, more: Invalid) -> Invalid {
    for (technique, counts) in more {
        all.entry(technique).or_default().iter_mut().zip(counts).for_each(|(sum, count)| sum.merge(&count));
    }
    all
}

/// Adds the contributions of pairs to the films of their techniques.
struct Sink<'a> {
    sums: &'a BTreeMap<Technique, (SplatFilm, SplatFilm)>,
    key: SampleKey,
    invalid: Invalid,
}

impl<'a> Sink<'a> {
    fn new(sums: &'a BTreeMap<Technique, (SplatFilm, SplatFilm)>) -> Self {
        Self { sums, key: SampleKey::default(), invalid: BTreeMap::new() }
    }
}

impl PairSink for Sink<'_> {
    fn contribution(&mut self, connection: &Connection, reached: bool) {
        let Connection { pixel, technique, value, weight, .. } = *connection;
        if let (true, Some((weighted, unweighted))) = (reached, self.sums.get(&technique)) {
            let mut invalid = [InvalidSamples::default(); 2];
            let [of_weighted, of_unweighted] = &mut invalid;
            weighted.add(pixel, quantize(value * weight, self.key, technique, of_weighted));
            unweighted.add(pixel, quantize(value, self.key, technique, of_unweighted));
            if invalid.iter().any(|counts| !counts.is_zero()) {
                self.invalid = merged(std::mem::take(&mut self.invalid), [(technique, invalid)].into());
            }
        }
    }
}

/// The built-in BVH, one ray after the other.
struct Traced<'a> {
    intersector: &'a BuiltIn,
    scratch: <BuiltIn as Intersector>::Scratch,
}

impl Tracer for Traced<'_> {
    fn closest_hit(&mut self, ray: &Ray, key: RayKey) -> Hit {
        self.intersector.closest_hit(ray, key, &mut self.scratch)
    }

    fn any_hit(&mut self, ray: &Ray, key: RayKey) -> bool {
        self.intersector.any_hit(ray, key, &mut self.scratch)
    }
}
