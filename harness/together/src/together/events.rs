//! What happens to a coordinator: reports of workers, ends of their streams, workers that join.

use crate::merger::{BLOCK, Spare, Sums};
use crate::scheduler::WorkerId;
use crate::shared_film::SharedFilm;
use crate::wire::{Report, receive, receive_sums};
use lockstep_core::Film;
use lockstep_core::film::InvalidSamples;
use rayon::prelude::*;
use std::io::BufReader;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
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
    /// A worker's stream has ended.
    Closed {
        /// The worker.
        worker: WorkerId,
        /// How.
        reason: String,
    },
}

/// Passes on what a worker sends, until its stream ends.
pub(super) fn read_reports(worker: WorkerId, stream: UnixStream, spare: &Spare, to: &Sender<Event>) {
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    let mut shared: Option<SharedFilm> = None;
    let reason = loop {
        let event = match receive::<Report>(&mut stream) {
            Ok(None) => break "it ended".to_owned(),
            Err(e) => break format!("its messages cannot be read: {e}"),
            Ok(Some((Report::Film { lease, width, height, spp, invalid, in_memory }, bytes))) => {
                // The size is checked before memory is taken for it
                if let Err(e) = Film::check_size(width, height) {
                    break format!("it sent a film that cannot be: {e}");
                }
                let mut sums = spare.take(width as usize * height as usize);
                let received = match shared.as_ref().filter(|_| in_memory) {
                    Some(shared) => shared.read(&mut sums),
                    None => receive_sums(&mut stream, bytes, &mut sums),
                };
                if let Err(e) = received {
                    break format!("its film cannot be read: {e}");
                }
                if sums.par_chunks(BLOCK).any(|block| block.as_flattened().iter().any(|&sum| sum < 0)) {
                    break "it sent a film with negative sums, which no samples have".to_owned();
                }
                Event::Film { worker, lease, spp, size: [width, height], invalid, sums }
            }
            Ok(Some((mut report, _))) => {
                if let Report::Hello { films, .. } = &mut report {
                    shared = films.as_deref().and_then(|folder| SharedFilm::open(folder).ok());
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
