//! Settings of a render, apart from the scene.

use crate::error::{Error, Result};
use crate::film::Film;
use crate::math::rng::SampleKey;
use crate::merge_radius::MergeRadius;
use crate::mode::Mode;
use crate::sampler::Sampler;
use crate::scene::{Material, Scene};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A light transport algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Integrator {
    /// Path tracing from the camera with next-event estimation (Kajiya 1986; Veach 1997).
    #[default]
    Path,
    /// Ambient occlusion: the share of cosine-weighted directions that leave the scene from the first hit, 0
    /// to 1; black where the camera ray escapes.
    Ao,
    /// Light tracing: paths from lights, connected to the camera at every vertex (Dutré, Lafortune and
    /// Willems 1993). Light that a camera ray hits is added, but nothing is seen by way of a mirror or glass.
    Light,
    /// Bidirectional path tracing: all connections of a light sub-path and a camera sub-path (Lafortune and
    /// Willems 1993; Veach and Guibas 1994), weighted by the balance heuristic.
    Bpt,
    /// Bidirectional photon mapping: photons merge with every vertex of a camera sub-path, weighted by the
    /// balance heuristic (Vorba 2011).
    Bpm,
    /// Progressive photon mapping: photons merge with the first vertex of a camera sub-path that is not specular
    /// (Hachisuka, Ogaki and Jensen 2008; Hachisuka and Jensen 2009).
    Ppm,
    /// Vertex connection and merging: the connections of [`Integrator::Bpt`] and the merges of
    /// [`Integrator::Bpm`], weighted by the balance heuristic (Georgiev, Křivánek, Davidovič and Slusallek 2012).
    Vcm,
}

impl Integrator {
    /// Every integrator, the default first.
    pub const ALL: [Self; 7] =
        [Self::Path, Self::Ao, Self::Light, Self::Bpt, Self::Bpm, Self::Ppm, Self::Vcm];

    /// The name on the command line and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Ao => "ao",
            Self::Light => "light",
            Self::Bpt => "bpt",
            Self::Bpm => "bpm",
            Self::Ppm => "ppm",
            Self::Vcm => "vcm",
        }
    }

    /// The name in full, with the limit of an integrator that does not find all light.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Path => "path tracing",
            Self::Ao => "ambient occlusion",
            Self::Light => "light tracing; sees nothing by way of mirrors and clear glass",
            Self::Bpt => "bidirectional path tracing",
            Self::Bpm => "bidirectional photon mapping",
            Self::Ppm => "progressive photon mapping",
            Self::Vcm => "vertex connection and merging",
        }
    }

    /// Rounds of extend, shade and connect that a sample of `bounces` bounces takes.
    pub const fn rounds(self, bounces: u32) -> u32 {
        match self {
            Self::Ao => 1,
            _ => bounces + 1,
        }
    }

    /// Whether samples add to pixels other than their own, by [`crate::splat`].
    pub const fn splats(self) -> bool {
        matches!(self, Self::Light | Self::Bpt | Self::Bpm | Self::Ppm | Self::Vcm)
    }

    /// Whether camera sub-paths merge with the photons of all light sub-paths of the sample index
    /// ([`crate::merging`]).
    pub const fn merges(self) -> bool {
        matches!(self, Self::Bpm | Self::Ppm | Self::Vcm)
    }

    /// Whether camera sub-paths are connected to lights and to light sub-paths.
    pub const fn connects(self) -> bool {
        matches!(self, Self::Bpt | Self::Vcm)
    }
}

impl fmt::Display for Integrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Integrator {
    type Err = Error;

    /// # Errors
    /// [`Error::Contract`] with the names that there are.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|integrator| integrator.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Error::Contract {
                actor: "settings".into(),
                message: format!("there is no integrator {name:?}; choose one of {names}"),
            }
        })
    }
}

/// How a path scatters on a surface with layers. Both have the same mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerSampling {
    /// All lobes are evaluated together.
    #[default]
    Together,
    /// One lobe is picked by a walk down the tree of layers (Harada 2014), and stands for all at this vertex, towards
    /// lights as along the path.
    Tree,
}

impl LayerSampling {
    /// All ways to sample layers, the default first.
    pub const ALL: [Self; 2] = [Self::Together, Self::Tree];

    /// The name on the command line and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Tree => "tree",
        }
    }

    /// Whether this way is the default, which records leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for LayerSampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LayerSampling {
    type Err = Error;

    /// # Errors
    /// [`Error::Contract`] with the names that there are.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|layers| layers.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            Error::Contract {
                actor: "settings".into(),
                message: format!("layers are not sampled by {name:?}; choose one of {names}"),
            }
        })
    }
}

/// Estimator of direct light. All three have the same mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Strategy {
    /// Light and BSDF sampling combined by the power heuristic (Veach 1997).
    #[default]
    Mis = 0,
    /// Next-event estimation only.
    LightOnly = 1,
    /// BSDF sampling only; punctual lights, which it cannot hit, are still sampled.
    BsdfOnly = 2,
}

/// Settings of a render: size, integrator, estimator and random numbers. With the scene they determine the
/// film.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Film width in pixels, 1 to 65,535.
    pub width: u32,
    /// Film height in pixels, 1 to 65,535.
    pub height: u32,
    /// Scattering events along a path: 0 shows emission only, 1 direct light. At most [`MAX_BOUNCES`]. Light that
    /// scatters more often is left out: 5.6 % of the Cornell box's image at 3, 0.5 % at 7. False hits count as well
    /// ([`Material::priority`]).
    pub bounces: u32,
    /// Selects the random numbers. Studies that share a seed share every draw.
    pub seed: u32,
    /// The sampler that makes the random numbers.
    #[serde(default, skip_serializing_if = "Sampler::is_default")]
    pub sampler: Sampler,
    /// How a path scatters on surfaces with layers; [`Integrator::Path`] alone knows another way than the default.
    #[serde(default, skip_serializing_if = "LayerSampling::is_default")]
    pub layers: LayerSampling,
    /// Arithmetic mode.
    pub mode: Mode,
    /// Light transport algorithm.
    #[serde(default)]
    pub integrator: Integrator,
    /// The estimator of direct light.
    pub strategy: Strategy,
    /// The first bounce after which Russian roulette may end a path; `None` leaves it off.
    pub roulette_from: Option<u32>,
    /// The radius of the first pass of integrators that merge photons.
    #[serde(default)]
    pub merge_radius: MergeRadius,
}

/// The most photons of a pass; their positions are 32-bit integers.
const MAX_PHOTONS: u64 = 1 << 31;

/// The most bounces a path may have.
pub const MAX_BOUNCES: u32 = 255;

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Settings {
    /// 640×360 pixels, path tracing with three bounces, MIS, no Russian roulette, exact.
    pub const DEFAULT: Self = Self {
        width: 640,
        height: 360,
        bounces: 3,
        seed: 0,
        sampler: Sampler::Pcg,
        layers: LayerSampling::Together,
        mode: Mode::Exact,
        integrator: Integrator::Path,
        strategy: Strategy::Mis,
        roulette_from: None,
        merge_radius: MergeRadius::DEFAULT,
    };

    /// The key of a sample's draws.
    #[inline(always)]
    pub const fn key(&self, pixel: u32, sample: u32) -> SampleKey {
        SampleKey { pixel, sample, seed: self.seed, sampler: self.sampler }
    }

    /// Checks that the integrator renders a scene as path tracing does. Rays from lights meet a single-sided surface
    /// from the other side than camera rays do, and would be culled where those are not.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for sub-paths from lights in a scene with single-sided surfaces, with media, with
    /// layers over glass or with priorities of dielectrics, and for a tree of layers by another integrator than path tracing.
    pub fn check_scene(&self, scene: &Scene) -> Result<()> {
        if self.layers == LayerSampling::Tree && self.integrator != Integrator::Path {
            let what =
                "one lobe picked from the tree of layers (render it with --layers together, or with path)";
            return Err(Error::Unsupported { actor: self.integrator.to_string(), what: what.to_owned() });
        }
        if self.integrator.splats() && scene.materials.iter().any(|m| m.flags & Material::SINGLE_SIDED != 0) {
            let what = format!(
                "culling of single-sided surfaces, which {} has, with paths from lights (render it with --both-sides)",
                scene.name
            );
            return Err(Error::Unsupported { actor: self.integrator.to_string(), what });
        }
        if self.integrator.splats() && scene.has_media() {
            let what = format!(
                "attenuation and dispersion in media, which {} has, with paths from lights (render it with path)",
                scene.name
            );
            return Err(Error::Unsupported { actor: self.integrator.to_string(), what });
        }
        if self.integrator.splats() && scene.has_layered_glass() {
            let what = format!(
                "clearcoats and thin films over glass, which {} has, with paths from lights (render it with path)",
                scene.name
            );
            return Err(Error::Unsupported { actor: self.integrator.to_string(), what });
        }
        if self.integrator.splats() && scene.has_priorities() {
            let what = format!(
                "priorities of dielectrics, which {} has, with paths from lights (render it with path)",
                scene.name
            );
            return Err(Error::Unsupported { actor: self.integrator.to_string(), what });
        }
        Ok(())
    }

    /// Checks ranges once, so that backends need not.
    ///
    /// # Errors
    /// [`Error::Contract`] naming the setting out of range.
    pub fn validate(&self) -> Result<()> {
        Film::check_size(self.width, self.height)?;
        if self.bounces > MAX_BOUNCES {
            return Err(Error::Contract {
                actor: "settings".into(),
                message: format!(
                    "{} bounces were asked for; at most {MAX_BOUNCES} are possible",
                    self.bounces
                ),
            });
        }
        self.merge_radius.validate()?;
        let photons = u64::from(self.width) * u64::from(self.height) * u64::from(self.bounces);
        if self.integrator.merges() && photons > MAX_PHOTONS {
            return Err(Error::Contract {
                actor: "settings".into(),
                message: format!(
                    "{}x{} light sub-paths of {} bounces make up to {photons} photons; at most {MAX_PHOTONS} are \
                     possible: choose a smaller film or fewer bounces",
                    self.width, self.height, self.bounces
                ),
            });
        }
        Ok(())
    }
}
