//! The image of a target: a film of Lockstep's sums, or the means that a program wrote.

use lockstep_core::Film;
use lockstep_core::film::InvalidSamples;
use lockstep_reports::image_io::LinearImage;

use crate::exit::Failure;
use crate::render::image_of;

/// The film or image that a target has rendered.
#[derive(Clone, Debug)]
pub(crate) enum Rendered {
    /// A renderer's film.
    Film(Film),
    /// A program's image.
    Means {
        /// Mean radiance.
        image: LinearImage,
        /// Samples of every pixel.
        spp: u32,
    },
}

impl Rendered {
    /// The mean radiance.
    ///
    /// # Errors
    /// [`Failure::Input`] for a film whose sums do not fill its size.
    pub(crate) fn image(&self) -> Result<LinearImage, Failure> {
        match self {
            Self::Film(film) => image_of(film),
            Self::Means { image, .. } => Ok(image.clone()),
        }
    }

    /// The film; `None` for a program's image.
    pub(crate) fn film(&self) -> Option<&Film> {
        match self {
            Self::Film(film) => Some(film),
            Self::Means { .. } => None,
        }
    }

    /// Samples of every pixel.
    pub(crate) fn spp(&self) -> u32 {
        match self {
            Self::Film(film) => film.spp,
            Self::Means { spp, .. } => *spp,
        }
    }

    /// Pixels.
    pub(crate) fn pixels(&self) -> usize {
        match self {
            Self::Film(film) => film.sums.len(),
            Self::Means { image, .. } => image.pixels().len(),
        }
    }

    /// Samples that were invalid; of a program's image none are known.
    pub(crate) fn invalid(&self) -> InvalidSamples {
        self.film().map(|film| film.invalid).unwrap_or_default()
    }

    /// BLAKE3 of the size, the sample count and a film's integers or an image's floats, in hexadecimal.
    pub(crate) fn hash(&self) -> String {
        match self {
            Self::Film(film) => film_hash(film),
            Self::Means { image, spp } => {
                hash(image.width(), image.height(), *spp, bytemuck::cast_slice(image.pixels()))
            }
        }
    }
}

/// Takes the samples of an earlier state of a film away, so that those added since then are left.
pub(super) fn take_away(film: &mut Film, before: &Film) {
    for (now, then) in film.sums.as_flattened_mut().iter_mut().zip(before.sums.as_flattened()) {
        *now = now.wrapping_sub(*then);
    }
    film.spp = film.spp.saturating_sub(before.spp);
    let (now, then) = (&mut film.invalid, &before.invalid);
    now.non_finite = now.non_finite.saturating_sub(then.non_finite);
    now.negative = now.negative.saturating_sub(then.negative);
    now.clamped = now.clamped.saturating_sub(then.clamped);
}

/// BLAKE3 of a film's size, sample count and integers, in hexadecimal.
pub(crate) fn film_hash(film: &Film) -> String {
    hash(film.width(), film.height(), film.spp, bytemuck::cast_slice(&film.sums))
}

fn hash(width: u32, height: u32, spp: u32, values: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    for number in [width, height, spp] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(values);
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_without_its_earlier_state_is_the_film_of_the_samples_since() {
        let mut before = Film::new(2, 1).unwrap();
        before.spp = 3;
        before.sums = vec![[1, 2, 3], [4, 5, 6]];
        before.invalid.clamped = 1;
        let mut added = Film::new(2, 1).unwrap();
        added.spp = 2;
        added.sums = vec![[7, 0, 1], [1, 1, i64::MAX - 9]];
        added.invalid.clamped = 4;
        let mut film = before.clone();
        film.merge(&added).unwrap();
        take_away(&mut film, &before);
        assert_eq!(film, added);
    }
}
