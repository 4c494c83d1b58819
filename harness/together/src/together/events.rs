//! Events of a coordinator: reports of workers, ends of their streams, workers that join.

use crate::merger::{Spare, Sums};
use crate::scheduler::WorkerId;
use crate::shared_film::{LentFilm, SharedFilm};
use crate::wire::{Report, receive, receive_sums};
use lockstep_core::Film;
use lockstep_core::film::{self, InvalidSamples};
use std::io::{BufReader, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// One event.
pub(super) enum Event {
    /// A worker joins by itself.
    Joined(UnixStream),
    /// A worker reports.
    Report {
        /// The worker.
        worker: WorkerId,
        /// The report; never a film.
        report: Report,
    },
    /// A worker sent a lease's film.
    Film {
        /// The worker.
        worker: WorkerId,
        /// The lease.
        lease: u64,
        /// Samples per pixel.
        spp: u32,
        /// Pixels a row, and rows.
        size: [u32; 2],
        /// Invalid samples.
        invalid: InvalidSamples,
        /// Sums of pixels.
        sums: Sums,
    },
    /// A film has been taken out of a worker's shared memory.
    FilmTaken {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker's stream has ended.
    Closed {
        /// The worker.
        worker: WorkerId,
        /// The way in which the worker was lost.
        reason: String,
    },
}

/// The reason to drop a worker whose film has negative sums.
const NEGATIVE: &str = "it sent a film with negative sums, which no samples have";

/// Passes on what a worker sends, until its stream ends.
pub(super) fn read_reports(worker: WorkerId, stream: UnixStream, spare: &Spare, to: &Sender<Event>) {
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    let mut shared: Option<Arc<SharedFilm>> = None;
    let reason = loop {
        let event = match receive::<Report>(&mut stream) {
            Ok(None) => break "it ended".to_owned(),
            Err(e) => break format!("its messages cannot be read: {e}"),
            Ok(Some((Report::Film { lease, width, height, spp, invalid, in_memory }, bytes))) => {
                // The size is checked before memory is taken for it
                if let Err(e) = Film::check_size(width, height) {
                    break format!("it sent a film that cannot be: {e}");
                }
                let pixels = width as usize * height as usize;
                let received = match shared.as_ref().filter(|_| in_memory) {
                    Some(shared) => lent_film(worker, shared, pixels, to),
                    None => received_film(&mut stream, bytes, pixels, spare),
                };
                match received {
                    Ok(sums) => Event::Film { worker, lease, spp, size: [width, height], invalid, sums },
                    Err(reason) => break reason,
                }
            }
            Ok(Some((Report::Reserved { pixels }, _))) => {
                shared.iter().for_each(|shared| shared.touch(pixels));
                continue;
            }
            Ok(Some((mut report, _))) => {
                if let Report::Hello { films, .. } = &mut report {
                    shared = films.as_ref().and_then(|place| SharedFilm::open(place).ok()).map(Arc::new);
                    films.take_if(|_| shared.is_none());
                }
                Event::Report { worker, report }
            }
        };
        if to.send(event).is_err() {
            return;
        }
    };
    let _ = to.send(Event::Closed { worker, reason });
}

/// The film that lies in a worker's shared memory, or the reason to drop the worker. A worker that changes it after
/// this check could as well have sent wrong sums before.
fn lent_film(
    worker: WorkerId,
    shared: &Arc<SharedFilm>,
    pixels: usize,
    to: &Sender<Event>,
) -> Result<Sums, String> {
    let to = to.clone();
    // An error means that the coordinator is gone
    let give_back = move || drop(to.send(Event::FilmTaken { worker }));
    let film = LentFilm::new(shared, pixels, give_back)
        .ok_or_else(|| format!("it sent a film of {pixels} pixels in memory that has no room for it"))?;
    if film.has_negative() { Err(NEGATIVE.to_owned()) } else { Ok(Sums::Lent(film)) }
}

/// The film that comes by a worker's stream, or the reason to drop the worker.
fn received_film(stream: &mut impl Read, bytes: u64, pixels: usize, spare: &Spare) -> Result<Sums, String> {
    // The bytes that come are counted before memory is taken for them, too
    let expected = pixels as u64 * size_of::<[i64; 3]>() as u64;
    if bytes != expected {
        return Err(format!("its film cannot be read: {bytes} bytes were sent; {expected} were expected"));
    }
    let mut sums = spare.take(pixels);
    receive_sums(stream, bytes, &mut sums).map_err(|e| format!("its film cannot be read: {e}"))?;
    if film::has_negative(&sums) { Err(NEGATIVE.to_owned()) } else { Ok(Sums::Received(sums)) }
}

/// Listens for workers that join, in a thread of its own.
///
/// # Errors
/// The system's reason, where there can be no such socket.
pub(super) fn listen(path: &Path, to: Sender<Event>) -> std::io::Result<()> {
    let listener = UnixListener::bind(path)?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if to.send(Event::Joined(stream)).is_err() {
                return;
            }
        }
    });
    Ok(())
}
