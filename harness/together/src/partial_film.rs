//! Films of some of an image's samples.

use crate::identity::{Identity, IdentityMismatch};
use crate::samples::SampleSet;
use lockstep_core::{Error, Film};

/// A film, the samples in it, and the render that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialFilm {
    identity: Identity,
    samples: SampleSet,
    film: Film,
}

/// Why two partial films cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The films belong to different renders.
    #[error("the films belong to different renders: {0}")]
    Identity(#[from] IdentityMismatch),
    /// Samples that both films hold would count twice.
    #[error("both films hold the samples {0}; leave one of them out")]
    Overlap(SampleSet),
    /// A film holds another number of samples than its set says.
    #[error("a film of {spp} samples per pixel cannot hold the {set} samples {samples}")]
    Count {
        /// Samples per pixel that the film holds.
        spp: u32,
        /// Number of samples in the film's set.
        set: u64,
        /// The film's set of samples.
        samples: SampleSet,
    },
    /// The films cannot be added because of their sizes or sums.
    #[error(transparent)]
    Film(#[from] Error),
}

impl PartialFilm {
    /// A film that holds these samples.
    ///
    /// # Errors
    /// [`MergeError::Count`] where the film's count is not the set's; [`MergeError::Film`] where its size is not
    /// that of the settings.
    pub fn new(identity: Identity, samples: SampleSet, film: Film) -> Result<Self, MergeError> {
        if u64::from(film.spp) != samples.len() {
            return Err(MergeError::Count { spp: film.spp, set: samples.len(), samples });
        }
        let settings = &identity.settings;
        if (film.width(), film.height()) != (settings.width, settings.height) {
            let message = format!(
                "a film of {}x{} pixels was given for a render of {}x{}",
                film.width(),
                film.height(),
                settings.width,
                settings.height
            );
            return Err(Error::Contract { actor: "partial film".into(), message }.into());
        }
        Ok(Self { identity, samples, film })
    }

    /// A film without samples.
    ///
    /// # Errors
    /// [`MergeError::Film`] for a size that no film has.
    pub fn empty(identity: Identity) -> Result<Self, MergeError> {
        let film = Film::new(identity.settings.width, identity.settings.height)?;
        Ok(Self { identity, samples: SampleSet::default(), film })
    }

    /// The render that the film is part of.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The samples in the film.
    pub fn samples(&self) -> &SampleSet {
        &self.samples
    }

    /// The film's sums.
    pub fn film(&self) -> &Film {
        &self.film
    }

    /// The film's sums, without its identity and samples.
    pub fn into_film(self) -> Film {
        self.film
    }

    /// Adds another film of the same render. Exact: the sum is the film of one device that rendered the samples of
    /// both. On an error this film is as it was.
    ///
    /// # Errors
    /// [`MergeError`].
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.identity.check(&other.identity)?;
        let twice = self.samples.intersection(&other.samples);
        if !twice.is_empty() {
            return Err(MergeError::Overlap(twice));
        }
        self.film.merge(&other.film)?;
        self.samples.union(&other.samples);
        Ok(())
    }
}
