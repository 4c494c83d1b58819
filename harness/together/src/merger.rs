//! Adds films to the image's, and writes checkpoints, in a thread of its own.

use crate::checkpoint::Checkpoint;
use crate::film_file::write_film_file;
use crate::identity::Identity;
use crate::partial_film::{MergeError, PartialFilm};
use crate::samples::SampleSet;
use crate::shared_film::MOST_PIXELS;
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
pub(crate) type Sums = Vec<[i64; 3]>;

/// Pixels that one thread takes at a time.
pub(crate) const BLOCK: usize = 1 << 14;
/// Buffers that are kept for the next films.
const MOST_SPARE: usize = 8;

/// Buffers of films that have been added: fresh memory costs as much as a copy.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Vec<Sums>>>);

impl Spare {
    /// A buffer for this many pixels, with any contents.
    pub(crate) fn take(&self, pixels: usize) -> Sums {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter().position(|sums| sums.len() == pixels) {
            Some(at) => kept.swap_remove(at),
            None => vec![[0; 3]; pixels],
        }
    }

    /// Touches memory for films of workers, as many at most, so that none waits for it.
    fn warm(&self, pixels: usize, workers: usize) {
        let kept = |sums: &&Sums| sums.len() == pixels;
        let there = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(kept).count();
        for _ in there..workers.min(MOST_SPARE) {
            let mut sums = vec![[0; 3]; pixels];
            touch(&mut sums);
            self.give(sums);
        }
    }

    /// Keeps a buffer for later.
    pub(crate) fn give(&self, sums: Sums) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST_SPARE {
            kept.remove(0);
        }
        kept.push(sums);
    }
}

/// Writes zeros: memory that nobody has touched yet comes page by page, as slowly as a copy.
fn touch(sums: &mut [[i64; 3]]) {
    sums.par_chunks_mut(BLOCK).for_each(|block| block.fill([0; 3]));
}

enum Task {
    Add(Contribution),
    /// Write the checkpoint now, if there is one, and answer when all tasks before are done.
    Settle(Sender<()>),
}

/// The image in the making.
struct Image {
    film: Film,
    samples: SampleSet,
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
    /// Begins with the samples of a film, for this many workers.
    pub(crate) fn new(
        begin: PartialFilm,
        checkpoint: Option<Checkpoint>,
        spare: Spare,
        workers: usize,
    ) -> Self {
        let identity = begin.identity().clone();
        let samples = begin.samples().clone();
        let image = Arc::new(Mutex::new(Image { film: begin.into_film(), samples, fault: None }));
        let (tasks, to_do) = channel();
        let shared = Arc::clone(&image);
        let thread = std::thread::spawn(move || {
            warm(&shared, &spare, workers);
            merge(&to_do, &spare, &shared, &identity, checkpoint.as_ref());
        });
        Self { tasks: Some(tasks), image, thread: Some(thread) }
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
        film.clone_from(&lock(&self.image).film);
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

/// Touches the memory of the image and of its films while workers render.
fn warm(image: &Mutex<Image>, spare: &Spare, workers: usize) {
    let film = &mut lock(image).film;
    if film.sums.len() > MOST_PIXELS {
        return;
    }
    if film.spp == 0 {
        touch(&mut film.sums);
    }
    spare.warm(film.sums.len(), workers);
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
    for task in tasks {
        match task {
            Task::Add(contribution) => {
                spare.give(add(&mut lock(image), contribution));
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

fn add(image: &mut Image, contribution: Contribution) -> Sums {
    let film = &mut image.film;
    film.sums.par_chunks_mut(BLOCK).zip(contribution.sums.par_chunks(BLOCK)).for_each(|(sums, add)| {
        for (sum, add) in sums.as_flattened_mut().iter_mut().zip(add.as_flattened()) {
            *sum = sum.wrapping_add(*add);
        }
    });
    film.spp += contribution.samples.end - contribution.samples.start;
    film.invalid.merge(&contribution.invalid);
    image.samples.insert(contribution.samples);
    contribution.sums
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
