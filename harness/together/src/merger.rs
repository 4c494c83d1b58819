//! Adds films to the image's, and writes checkpoints, in a thread of its own.

use crate::checkpoint::Checkpoint;
use crate::film_file::write_film_file;
use crate::identity::Identity;
use crate::partial_film::{MergeError, PartialFilm};
use crate::samples::SampleSet;
use crate::shared_film::{BLOCK, LentFilm, MOST_PIXELS};
use lockstep_core::Film;
use lockstep_core::film::InvalidSamples;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// A lease's contribution to the image.
pub(crate) struct Contribution {
    pub(crate) samples: Range<u32>,
    pub(crate) invalid: InvalidSamples,
    pub(crate) sums: Sums,
}

/// Sums of a film's pixels.
pub(crate) enum Sums {
    /// Sums that came by a stream.
    Received(Vec<[i64; 3]>),
    /// Sums that lie in a worker's shared memory.
    Lent(LentFilm),
}

impl Sums {
    /// Pixels of the film.
    pub(crate) fn pixels(&self) -> usize {
        match self {
            Self::Received(sums) => sums.len(),
            Self::Lent(film) => film.pixels(),
        }
    }

    /// Adds the pixels from `first` on to others, as far as both go.
    fn add_to(&self, first: usize, pixels: &mut [[i64; 3]]) {
        match self {
            Self::Received(sums) => {
                let from = sums.get(first..).unwrap_or_default().as_flattened();
                for (sum, add) in pixels.as_flattened_mut().iter_mut().zip(from) {
                    *sum = sum.wrapping_add(*add);
                }
            }
            Self::Lent(film) => film.add_to(first, pixels),
        }
    }
}

/// Buffers that are kept for the next films.
const MOST_SPARE: usize = 8;

/// Buffers of films that came by streams and have been added: fresh memory costs as much as a copy.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<Vec<[i64; 3]>>>>);

impl Spare {
    /// A buffer for this many pixels, with any contents.
    pub(crate) fn take(&self, pixels: usize) -> Vec<[i64; 3]> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter().position(|sums| sums.len() == pixels) {
            Some(at) => kept.swap_remove(at),
            None => vec![[0; 3]; pixels],
        }
    }

    /// Keeps a buffer for later.
    fn give(&self, sums: Vec<[i64; 3]>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST_SPARE {
            kept.remove(0);
        }
        kept.push(sums);
    }
}

enum Task {
    /// Touch memory for the next copy of the film.
    Warm,
    Add(Contribution),
    /// Write the checkpoint now, if there is one, and answer when all tasks before are done.
    Settle(Sender<()>),
}

/// The image in the making.
struct Image {
    film: Film,
    samples: SampleSet,
    /// A film of this size whose memory is touched, for the next copy.
    copy: Option<Film>,
    /// Why the last checkpoint could not be written.
    fault: Option<String>,
}

/// The thread, and the image that it adds to.
pub(crate) struct Merger {
    tasks: Option<Sender<Task>>,
    image: Arc<Mutex<Image>>,
    thread: Option<JoinHandle<()>>,
}

impl Merger {
    /// Begins with the samples of a film.
    pub(crate) fn new(begin: PartialFilm, checkpoint: Option<Checkpoint>, spare: Spare) -> Self {
        let identity = begin.identity().clone();
        let samples = begin.samples().clone();
        let image = Image { film: begin.into_film(), samples, copy: None, fault: None };
        let image = Arc::new(Mutex::new(image));
        let (tasks, to_do) = channel();
        let shared = Arc::clone(&image);
        let thread = std::thread::spawn(move || {
            touch_empty(&mut lock(&shared).film);
            merge(&to_do, &spare, &shared, &identity, checkpoint.as_ref());
        });
        Self { tasks: Some(tasks), image, thread: Some(thread) }
    }

    /// Touches the memory that [`Self::read`] needs, soon: while workers render, nobody waits for it.
    pub(crate) fn warm(&self) {
        self.send(Task::Warm);
    }

    /// Adds a contribution, soon.
    pub(crate) fn add(&self, contribution: Contribution) {
        self.send(Task::Add(contribution));
    }

    /// Waits until all contributions are added and the checkpoint, if any, holds them.
    pub(crate) fn settle(&self) {
        let (done, wait) = channel();
        self.send(Task::Settle(done));
        // An error means that the thread is gone, and with it its work.
        let _ = wait.recv();
    }

    /// Copies the film.
    pub(crate) fn read(&self, film: &mut Film) {
        let image = &mut *lock(&self.image);
        let sums = &image.film.sums;
        if film.sums.len() != sums.len() || film.width() != image.film.width() {
            let Some(copy) = image.copy.take() else { return film.clone_from(&image.film) };
            *film = copy;
        }
        let blocks = film.sums.par_chunks_mut(BLOCK).zip(sums.par_chunks(BLOCK));
        blocks.for_each(|(to, from)| to.copy_from_slice(from));
        (film.spp, film.invalid) = (image.film.spp, image.film.invalid);
    }

    /// Why the last checkpoint could not be written; asked once.
    pub(crate) fn take_fault(&self) -> Option<String> {
        lock(&self.image).fault.take()
    }

    fn send(&self, task: Task) {
        if let Some(tasks) = &self.tasks {
            let _ = tasks.send(task);
        }
    }
}

impl Drop for Merger {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(image: &Mutex<Image>) -> std::sync::MutexGuard<'_, Image> {
    image.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes zeros into an empty film that is worth it: memory that nobody has touched yet comes page by page, as slowly as
/// a copy.
fn touch_empty(film: &mut Film) {
    if film.spp == 0 && film.sums.len() <= MOST_PIXELS {
        film.sums.par_chunks_mut(BLOCK).for_each(|block| block.fill([0; 3]));
    }
}

/// Touches memory for a copy of the film, if there is none yet.
fn warm(image: &Mutex<Image>) {
    let (width, height) = {
        let image = lock(image);
        if image.copy.is_some() || image.film.sums.len() > MOST_PIXELS {
            return;
        }
        (image.film.width(), image.film.height())
    };
    // Without memory for it, the copy is made when it is asked for
    let Ok(mut copy) = Film::new(width, height) else { return };
    touch_empty(&mut copy);
    lock(image).copy = Some(copy);
}

fn merge(
    tasks: &Receiver<Task>,
    spare: &Spare,
    image: &Mutex<Image>,
    identity: &Identity,
    checkpoint: Option<&Checkpoint>,
) {
    let mut written = Instant::now();
    let mut unwritten = false;
    let mut next = None;
    while let Some(task) = next.take().or_else(|| tasks.recv().ok()) {
        match task {
            Task::Warm => warm(image),
            Task::Add(contribution) => {
                // Contributions that are waiting are added in the same pass over the image
                let mut contributions = vec![contribution];
                while let Ok(task) = tasks.try_recv() {
                    let Task::Add(contribution) = task else {
                        next = Some(task);
                        break;
                    };
                    contributions.push(contribution);
                }
                add(&mut lock(image), &contributions);
                for contribution in contributions {
                    if let Sums::Received(sums) = contribution.sums {
                        spare.give(sums);
                    }
                }
                unwritten = true;
                if checkpoint.is_some_and(|checkpoint| written.elapsed() >= checkpoint.every) {
                    write(image, identity, checkpoint);
                    (written, unwritten) = (Instant::now(), false);
                }
            }
            Task::Settle(done) => {
                if std::mem::take(&mut unwritten) {
                    write(image, identity, checkpoint);
                    written = Instant::now();
                }
                let _ = done.send(());
            }
        }
    }
}

fn add(image: &mut Image, contributions: &[Contribution]) {
    let film = &mut image.film;
    film.sums.par_chunks_mut(BLOCK).enumerate().for_each(|(i, block)| {
        contributions.iter().for_each(|contribution| contribution.sums.add_to(i * BLOCK, block));
    });
    for Contribution { samples, invalid, .. } in contributions {
        film.spp += samples.end - samples.start;
        film.invalid.merge(invalid);
        image.samples.insert(samples.clone());
    }
}

/// Writes the image as it is; a fault is kept for whoever asks, since the render can go on without.
fn write(image: &Mutex<Image>, identity: &Identity, checkpoint: Option<&Checkpoint>) {
    let Some(checkpoint) = checkpoint else { return };
    let (film, samples) = {
        let image = lock(image);
        (image.film.clone(), image.samples.clone())
    };
    let written = part(identity, samples, film).map_err(|e| e.to_string()).and_then(|part| {
        write_film_file(&checkpoint.path, &part, &checkpoint.note).map_err(|e| e.to_string())
    });
    lock(image).fault = written.err();
}

fn part(identity: &Identity, samples: SampleSet, film: Film) -> Result<PartialFilm, MergeError> {
    PartialFilm::new(identity.clone(), samples, film)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_film::SharedFilm;
    use lockstep_core::Settings;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    const SETTINGS: Settings = Settings { width: 200, height: 200, ..Settings::DEFAULT };
    const PIXELS: usize = 40_000;

    fn identity() -> Identity {
        Identity {
            scene: "s".into(),
            scene_hash: "h".into(),
            settings: SETTINGS,
            semantics: "k".into(),
            films_of: "exact".into(),
        }
    }

    #[test]
    fn films_of_memory_and_stream_are_added_and_memory_is_given_back_after_that() {
        let mut theirs = SharedFilm::create().unwrap();
        let sums: Vec<[i64; 3]> = (0..PIXELS as i64).map(|i| [i, 2 * i, 3]).collect();
        theirs.write(&sums, None).unwrap();
        let shared = Arc::new(theirs);
        let given_back = Arc::new(AtomicUsize::new(0));
        let merger = Merger::new(PartialFilm::empty(identity()).unwrap(), None, Spare::default());
        merger.warm();
        for first in 0..3 {
            let count = Arc::clone(&given_back);
            let lent = LentFilm::new(&shared, PIXELS, move || {
                count.fetch_add(1, SeqCst);
            });
            let invalid = InvalidSamples { clamped: 1, ..InvalidSamples::default() };
            for (first, sums) in
                [(first, Sums::Lent(lent.unwrap())), (first + 3, Sums::Received(sums.clone()))]
            {
                merger.add(Contribution { samples: first..first + 1, invalid, sums });
            }
        }
        merger.settle();
        assert_eq!(given_back.load(SeqCst), 3);
        // Into memory that is warm, then into a film that is there, then into memory of its own
        let mut film = Film::new(1, 1).unwrap();
        for _ in 0..2 {
            merger.read(&mut film);
            assert_eq!((film.width(), film.height(), film.spp, film.invalid.clamped), (200, 200, 6, 6));
            assert!(film.sums.iter().zip(&sums).all(|(sum, one)| *sum == one.map(|v| 6 * v)));
        }
        let mut other = Film::new(100, 400).unwrap();
        merger.read(&mut other);
        assert_eq!(other, film);
    }
}
