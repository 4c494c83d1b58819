//! `study --integrators --time`: a part of the image by every integrator after equal time, beside the reference.
//!
//! Shown is the part where integrators differ most in their errors as a viewer sees them: squared differences of sRGB
//! values. Images of whole size are kept from their measurement until the crops are made. A picture that is lost or altered
//! afterwards is made again from the recorded samples.

use std::ops::ControlFlow;
use std::path::PathBuf;

use lockstep_core::{Scene, TargetId};
use lockstep_reports::image_io::{ImageMetadata, LinearImage, encode_name, read_image, write_hashed_png};
use lockstep_reports::records::{self, Crop, Record};
use lockstep_reports::study::files;

use crate::chunking::Pass;
use crate::exit::Failure;
use crate::study::folder::Folder;
use crate::study::lab::Lab;
use crate::study::plan::Plan;
use crate::study::reference::Reference;
use crate::study::runner::{Key, Measurement};
use crate::study::target_session::Purpose;

/// A crop's side is this part of the image's.
const PART: u32 = 4;

/// Pixels of a crop's side: no more than these, and no fewer where the image has them.
const SIDES: [u32; 2] = [48, 256];

/// Crops of one target's images by each integrator, on one scene after one time.
pub(crate) struct Crops<'a> {
    scene: &'a Scene,
    /// The target by each of its integrators.
    targets: Vec<TargetId>,
    /// The time.
    seconds: f64,
}

/// The file of an image that waits for its crop.
pub(super) fn kept(folder: &Folder, scene: &str, target: &TargetId) -> PathBuf {
    let name = format!("{}.{}.equal-time.exr", encode_name(scene), encode_name(&target.to_string()));
    folder.root().join(files::IMAGES).join(name)
}

impl<'a> Crops<'a> {
    /// The crops of a scene: after the longest time, of the target that speeds are compared with or else the first;
    /// nothing where that has no two integrators.
    pub(super) fn of(plan: &Plan, scene: &'a Scene, targets: &[TargetId]) -> Option<Self> {
        let seconds = *plan.times.last()?;
        let first = || targets.first().map(TargetId::renderer);
        let renderer = plan.against.clone().or_else(first)?;
        let is_shown = |id: &&TargetId| id.integrator.is_some() && id.renderer() == renderer;
        let targets: Vec<TargetId> = targets.iter().filter(is_shown).cloned().collect();
        (targets.len() > 1).then_some(Self { scene, targets, seconds })
    }

    /// Whether an image is among them.
    pub(super) fn shows(&self, target: &TargetId, seconds: f64) -> bool {
        seconds == self.seconds && self.targets.contains(target)
    }

    fn key(&self, lab: &Lab<'_>) -> records::Crops {
        let target = self.targets.first().map(TargetId::renderer).unwrap_or_default();
        let (scene, seed) = (self.scene.name.clone(), u64::from(lab.plan.settings.seed));
        let name = format!("{}.{}.equal-time.png", encode_name(&scene), encode_name(&target.to_string()));
        let picture = format!("{}/{name}", files::IMAGES);
        records::Crops { scene, target, seconds: self.seconds, seed, picture, ..records::Crops::default() }
    }

    /// The integrators whose images are kept, with their files.
    fn files(&self, lab: &Lab<'_>) -> Vec<(&TargetId, PathBuf)> {
        let file = |target| (target, kept(&lab.folder, &self.scene.name, target));
        self.targets.iter().map(file).filter(|(_, path)| path.is_file()).collect()
    }
}

impl Measurement for Crops<'_> {
    fn keys(&self, lab: &Lab<'_>) -> Vec<Key> {
        let key = self.key(lab);
        if lab.lacks_reference(&self.scene.name) {
            return Vec::new();
        }
        if lab.folder.has(key.clone()) {
            return vec![Key::Image { path: lab.folder.root().join(&key.picture), film: None }];
        }
        if self.files(lab).is_empty() { Vec::new() } else { vec![Key::of(key)] }
    }

    fn prepare(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<()>, Failure> {
        Ok(lab.reference(self.scene)?.map_continue(|_| ()))
    }

    fn run(&self, lab: &mut Lab<'_>) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let Some(reference) = lab.known_reference(&self.scene.name) else {
            return Ok(ControlFlow::Continue(Vec::new()));
        };
        if let Some(recorded) = lab.folder.crops(&self.key(lab)).cloned() {
            return self.make_again(lab, &reference, &recorded);
        }
        let found = self.files(lab);
        let read = |(target, path): &(&TargetId, PathBuf)| Ok(((*target).clone(), read_image(path)?));
        let images = found.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let place = place(&images.iter().map(|(_, image)| image).collect::<Vec<_>>(), &reference.image);
        let record = of_images(self.key(lab), &images, &reference, place);
        write(lab, &record, &images, &reference)?;
        for (_, path) in found {
            std::fs::remove_file(&path).map_err(Failure::io("remove", &path))?;
        }
        Ok(ControlFlow::Continue(vec![record.into()]))
    }
}

impl Crops<'_> {
    /// Renders the recorded samples again and writes the picture that they made. Where reference or errors are others
    /// than recorded, it stays as it is.
    fn make_again(
        &self,
        lab: &mut Lab<'_>,
        reference: &Reference,
        recorded: &records::Crops,
    ) -> Result<ControlFlow<(), Vec<Record>>, Failure> {
        let names: Vec<&str> = recorded.cells.iter().map(|cell| cell.integrator.as_str()).collect();
        let is_shown = |target: &&TargetId| names.contains(&integrator(target).as_str());
        let mut images = Vec::new();
        for target in self.targets.iter().filter(is_shown) {
            match self.rendered_again(lab, target)? {
                ControlFlow::Continue(image) => images.extend(image.map(|image| (target.clone(), image))),
                ControlFlow::Break(()) => return Ok(ControlFlow::Break(())),
            }
        }
        let &records::Crops { x, y, width, height, .. } = recorded;
        let found = of_images(self.key(lab), &images, reference, Place { x, y, width, height });
        if is_same(&found, recorded) {
            write(lab, recorded, &images, reference)?;
        } else {
            lab.bar.line(&format!(
                "lockstep: {} stays as it is: what it shows is not rendered as recorded any more, against {}; --fresh \
                 starts over",
                recorded.picture, recorded.against
            ));
        }
        Ok(ControlFlow::Continue(Vec::new()))
    }

    /// The image of as many samples as a target reached; `None` where that is not recorded. Breaks where the user stops
    /// it.
    fn rendered_again(
        &self,
        lab: &mut Lab<'_>,
        target: &TargetId,
    ) -> Result<ControlFlow<(), Option<LinearImage>>, Failure> {
        let (scene, seed) = (&self.scene.name, lab.plan.settings.seed);
        let of_target = |t: &&records::EqualTime| {
            (&t.scene, &t.target, t.seed, t.seconds) == (scene, target, u64::from(seed), self.seconds)
        };
        let Some(spp) = lab.folder.equal_times().iter().find(of_target).map(|t| t.spp) else {
            return Ok(ControlFlow::Continue(None));
        };
        lab.load_on(std::slice::from_ref(target), self.scene, seed, Purpose::EqualTime)?;
        lab.bar.say(&format!("{scene} {spp} spp on {target}"));
        lab.bar.lengthen(u64::from(spp));
        let Some((session, bar)) = lab.session_and_bar(target) else {
            return Ok(ControlFlow::Continue(None));
        };
        if session.spp() > spp {
            session.reload(self.scene)?;
        }
        match session.advance(spp, &mut |n| bar.add(n))? {
            Pass::Done(_) => Ok(ControlFlow::Continue(Some(session.rendered()?.image()?))),
            Pass::Stopped => Ok(ControlFlow::Break(())),
        }
    }
}

/// The integrator's name.
fn integrator(target: &TargetId) -> String {
    target.integrator.map_or_else(String::new, |integrator| integrator.to_string())
}

/// The record of one part of these images.
fn of_images(
    key: records::Crops,
    images: &[(TargetId, LinearImage)],
    reference: &Reference,
    place: Place,
) -> records::Crops {
    let cell = |(target, image): &(TargetId, LinearImage)| Crop {
        integrator: integrator(target),
        rmse_linear: rmse(image, &reference.image, place),
    };
    let cells = images.iter().map(cell).collect();
    let Place { x, y, width, height } = place;
    records::Crops { x, y, width, height, cells, against: reference.against.clone(), ..key }
}

/// Whether two records are of the same images: their errors are equal, as far as text keeps them.
fn is_same(a: &records::Crops, b: &records::Crops) -> bool {
    let is_near = |a: &Crop, b: &Crop| {
        a.integrator == b.integrator && (a.rmse_linear - b.rmse_linear).abs() <= 1e-12 * b.rmse_linear
    };
    a.against == b.against
        && a.cells.len() == b.cells.len()
        && a.cells.iter().zip(&b.cells).all(|(a, b)| is_near(a, b))
}

/// Writes the picture of a record.
fn write(
    lab: &Lab<'_>,
    crops: &records::Crops,
    images: &[(TargetId, LinearImage)],
    reference: &Reference,
) -> Result<(), Failure> {
    let &records::Crops { x, y, width, height, .. } = crops;
    let all: Vec<&LinearImage> =
        std::iter::once(&reference.image).chain(images.iter().map(|(_, image)| image)).collect();
    let metadata = ImageMetadata::of_render(&crops.scene, &crops.target.to_string(), 0, crops.seed)
        .with("shows", "the reference and every integrator after equal time, side by side");
    let picture = strip(&all, Place { x, y, width, height });
    Ok(write_hashed_png(&lab.folder.root().join(&crops.picture), &picture, &metadata)?)
}

/// A part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl Place {
    /// The values of an image there.
    fn of(self, image: &LinearImage) -> impl Iterator<Item = [f32; 3]> + '_ {
        let row = image.width() as usize;
        let rows = (self.y..self.y + self.height).map(move |y| y as usize * row + self.x as usize);
        rows.flat_map(move |start| image.pixels()[start..start + self.width as usize].iter().copied())
    }
}

/// The part of these images in which the greatest and the least of their errors differ most, as a viewer sees them.
fn place(images: &[&LinearImage], reference: &LinearImage) -> Place {
    let (width, height) = (reference.width(), reference.height());
    let side = |whole: u32| (whole / PART).clamp(SIDES[0].min(whole), SIDES[1]);
    let (w, h) = (side(width), side(height));
    let shown = reference.to_srgb8();
    let errors: Vec<Vec<u64>> = images.iter().map(|image| sums(&image.to_srgb8(), &shown, width)).collect();
    let starts = |whole: u32, side: u32| (0..=whole - side).step_by((side / PART).max(1) as usize);
    let spread = |place: &Place| {
        let of = errors.iter().map(|sums| sum_in(sums, width, *place));
        of.clone().max().unwrap_or(0) - of.min().unwrap_or(0)
    };
    let all =
        starts(height, h).flat_map(|y| starts(width, w).map(move |x| Place { x, y, width: w, height: h }));
    all.max_by_key(spread).unwrap_or(Place { x: 0, y: 0, width: w, height: h })
}

/// Sums of squared differences over all pixels left of and above a corner, row by row of corners.
fn sums(a: &[u8], b: &[u8], width: u32) -> Vec<u64> {
    let row = width as usize;
    let squares: Vec<u64> = a.iter().zip(b).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).collect();
    let mut sums = vec![0; row + 1];
    for pixels in squares.chunks(3 * row) {
        let mut left = 0;
        let above = sums.len() - row - 1;
        sums.push(0);
        for (x, pixel) in pixels.chunks(3).enumerate() {
            left += pixel.iter().sum::<u64>();
            sums.push(left + sums[above + x + 1]);
        }
    }
    sums
}

/// The sum over a part of an image.
fn sum_in(sums: &[u64], width: u32, place: Place) -> u64 {
    let at = |x: u32, y: u32| sums[y as usize * (width as usize + 1) + x as usize];
    let (right, bottom) = (place.x + place.width, place.y + place.height);
    at(right, bottom) + at(place.x, place.y) - at(right, place.y) - at(place.x, bottom)
}

/// Parts of these images side by side.
fn strip(images: &[&LinearImage], place: Place) -> LinearImage {
    let width = place.width * images.len() as u32;
    LinearImage::from_fn(width, place.height, |x, y| {
        let image = images[(x / place.width) as usize];
        let at = (place.y + y) as usize * image.width() as usize + (place.x + x % place.width) as usize;
        image.pixels()[at]
    })
}

fn rmse(a: &LinearImage, b: &LinearImage, place: Place) -> f64 {
    let square = |(a, b): ([f32; 3], [f32; 3])| -> f64 {
        a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(b)).powi(2)).sum()
    };
    let sum: f64 = place.of(a).zip(place.of(b)).map(square).sum();
    (sum / (3.0 * f64::from(place.width) * f64::from(place.height))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_shown_is_where_one_integrator_misses_what_another_sees() {
        let at = |bright: bool| {
            LinearImage::from_fn(256, 192, move |x, y| {
                let spot = (160..200).contains(&x) && (96..120).contains(&y);
                if spot && bright { [0.8, 0.4, 0.2] } else { [0.1; 3] }
            })
        };
        let (reference, dark) = (at(true), at(false));
        let found = place(&[&reference, &dark], &reference);
        assert_eq!((found.width, found.height), (64, 48));
        assert!((136..=160).contains(&found.x) && (72..=96).contains(&found.y), "{found:?}");
        let strip = strip(&[&reference, &dark], found);
        assert_eq!((strip.width(), strip.height()), (128, 48));
        let (x, y) = (170 - found.x, 100 - found.y);
        let pixel = |x: u32| strip.pixels()[(y * 128 + x) as usize];
        assert_eq!((pixel(x), pixel(64 + x)), ([0.8, 0.4, 0.2], [0.1; 3]));
        assert!(rmse(&reference, &reference, found) == 0.0 && rmse(&dark, &reference, found) > 0.1);
    }
}
