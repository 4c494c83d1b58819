//! Sends films to the coordinator, in a thread of a worker's own.

use crate::shared_film::BLOCK;
use crate::shared_film::{MOST_PIXELS, SharedFilm};
use crate::wire::Report;
use lockstep_core::Film;
use lockstep_core::film::InvalidSamples;
use rayon::prelude::*;
use std::io::Result;
use std::sync::mpsc::{Receiver, Sender};

/// Sends a report with the sums of a film.
pub(crate) type SendReport<'a> = &'a dyn Fn(&Report, &[[i64; 3]]) -> Result<()>;

/// Films that are warmed: one is in the sender's hands while the device's next is read.
const WARM_FILMS: usize = 2;

/// Work for the sender.
pub(crate) enum ToSend {
    /// A scene is loaded, whose films have this size; the device's film is empty.
    Begin {
        /// Pixels a row.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The device's film was emptied.
    Emptied,
    /// A lease and the device's film after it.
    Rendered {
        /// The lease.
        lease: u64,
        /// The film.
        film: Film,
    },
}

/// News of the coordinator for the sender.
pub(crate) enum Notice {
    /// Films may go through this memory.
    Share(SharedFilm),
    /// The coordinator has taken the film out of it.
    Taken,
}

/// Sends what each lease has added: the film now less the film before. Nothing is assumed of films, since a broken
/// renderer may return any; the coordinator checks what it gets.
pub(crate) struct FilmSender<'a> {
    report: SendReport<'a>,
    notices: Receiver<Notice>,
    /// Buffers that are used again: fresh memory costs as much as the copy.
    spare: Sender<Film>,
    shared: Option<SharedFilm>,
    /// Whether a film lies in shared memory that the coordinator has not taken yet.
    occupied: bool,
    /// The film after the lease before; `None` for an empty one.
    before: Option<Film>,
    /// The size of warmed films.
    warm: [u32; 2],
}

impl<'a> FilmSender<'a> {
    pub(crate) fn new(report: SendReport<'a>, notices: Receiver<Notice>, spare: Sender<Film>) -> Self {
        Self { report, notices, spare, shared: None, occupied: false, before: None, warm: [0; 2] }
    }

    /// Sends until there are no more films or the coordinator is gone.
    pub(crate) fn run(&mut self, films: &Receiver<ToSend>) {
        for work in films {
            let sent = match work {
                ToSend::Begin { width, height } => {
                    self.before = None;
                    self.warm(width, height)
                }
                ToSend::Emptied => {
                    self.before = None;
                    Ok(())
                }
                ToSend::Rendered { lease, film } => self.send_difference(lease, film),
            };
            if sent.is_err() {
                return;
            }
        }
    }

    /// Touches the memory that films take, while the device renders: the first film would wait for it.
    fn warm(&mut self, width: u32, height: u32) -> Result<()> {
        let pixels = width as usize * height as usize;
        if self.warm == [width, height] || pixels > MOST_PIXELS {
            return Ok(());
        }
        self.warm = [width, height];
        for _ in 0..WARM_FILMS {
            // The device's films have the same size, so an error shows there
            let Ok(mut film) = Film::new(width, height) else { return Ok(()) };
            film.sums.par_chunks_mut(BLOCK).for_each(|block| block.fill([0; 3]));
            let _ = self.spare.send(film);
        }
        self.take_notices();
        self.shared.take_if(|shared| shared.reserve(pixels).is_err());
        if self.shared.is_none() {
            return Ok(());
        }
        (self.report)(&Report::Reserved { pixels }, &[])
    }

    fn send_difference(&mut self, lease: u64, film: Film) -> Result<()> {
        let mut before = self.before.take().filter(|before| before.sums.len() == film.sums.len());
        let (spp, invalid) = match &before {
            None => (film.spp, film.invalid),
            Some(before) => (film.spp.wrapping_sub(before.spp), difference(&film.invalid, &before.invalid)),
        };
        let in_memory = self.write_to_memory(&film, before.as_ref());
        let (width, height) = (film.width(), film.height());
        let report = Report::Film { lease, width, height, spp, invalid, in_memory };
        if in_memory {
            (self.report)(&report, &[])?;
        } else if let Some(before) = &mut before {
            subtract(before, &film);
            (self.report)(&report, &before.sums)?;
        } else {
            (self.report)(&report, &film.sums)?;
        }
        if let Some(before) = before {
            let _ = self.spare.send(before);
        }
        self.before = Some(film);
        Ok(())
    }

    /// Writes what a film has more than the one before into shared memory; false where that does not work.
    fn write_to_memory(&mut self, film: &Film, before: Option<&Film>) -> bool {
        self.take_notices();
        // The coordinator is gone if it sends no more notices; then the stream says so
        while self.occupied && self.notices.recv().is_ok_and(|notice| self.take(notice)) {}
        let before = before.map(|before| before.sums.as_slice());
        // A film that does not fill its size is for the coordinator to refuse
        let is_whole = film.sums.len() as u64 == u64::from(film.width()) * u64::from(film.height());
        let fails = |shared: &mut SharedFilm| shared.write(&film.sums, before).is_err();
        self.shared.take_if(|shared| self.occupied || !is_whole || fails(shared));
        self.occupied = self.shared.is_some();
        self.occupied
    }

    fn take_notices(&mut self) {
        while self.notices.try_recv().is_ok_and(|notice| self.take(notice)) {}
    }

    /// Takes one notice, and returns true.
    fn take(&mut self, notice: Notice) -> bool {
        match notice {
            Notice::Share(film) => self.shared = Some(film),
            Notice::Taken => self.occupied = false,
        }
        true
    }
}

/// Turns the film of before into what the film of now has more.
fn subtract(before: &mut Film, now: &Film) {
    let pairs = before.sums.par_chunks_mut(BLOCK).zip(now.sums.par_chunks(BLOCK));
    pairs.for_each(|(old, new)| {
        for (old, new) in old.as_flattened_mut().iter_mut().zip(new.as_flattened()) {
            *old = new.wrapping_sub(*old);
        }
    });
}

fn difference(now: &InvalidSamples, before: &InvalidSamples) -> InvalidSamples {
    InvalidSamples {
        non_finite: now.non_finite.saturating_sub(before.non_finite),
        negative: now.negative.saturating_sub(before.negative),
        clamped: now.clamped.saturating_sub(before.clamped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    /// Reports of two films in a row: for each whether it lies in memory, and its payload.
    fn sent(notices: Vec<Notice>) -> Vec<(bool, Vec<[i64; 3]>)> {
        let sent = RefCell::new(Vec::new());
        let report = |report: &Report, payload: &[[i64; 3]]| {
            let Report::Film { in_memory, .. } = report else { return Ok(()) };
            sent.borrow_mut().push((*in_memory, payload.to_vec()));
            Ok(())
        };
        let (to_sender, incoming) = channel();
        notices.into_iter().for_each(|notice| to_sender.send(notice).unwrap());
        drop(to_sender);
        let (to_do, films) = channel();
        to_do.send(ToSend::Begin { width: 2, height: 1 }).unwrap();
        for (lease, sum) in [(1, 5), (2, 7)] {
            let mut film = Film::new(2, 1).unwrap();
            film.sums = vec![[sum; 3]; 2];
            to_do.send(ToSend::Rendered { lease, film }).unwrap();
        }
        drop(to_do);
        let (spare, _warm) = channel();
        FilmSender::new(&report, incoming, spare).run(&films);
        sent.into_inner()
    }

    #[test]
    fn films_go_by_the_stream_where_memory_is_not_shared_or_full() {
        let by_stream = [(false, vec![[5; 3]; 2]), (false, vec![[2; 3]; 2])];
        assert_eq!(sent(vec![]), by_stream);
        assert_eq!(sent(vec![Notice::Share(SharedFilm::full())]), by_stream);
    }

    #[test]
    fn a_film_in_shared_memory_is_not_overwritten_before_it_is_taken() {
        let theirs = SharedFilm::create().unwrap();
        let ours = Arc::new(SharedFilm::open(&theirs.place().unwrap()).unwrap());
        let notice = Notice::Share(theirs);
        // Nobody takes the first film, so the second goes by the stream
        assert_eq!(sent(vec![notice]), [(true, vec![]), (false, vec![[2; 3]; 2])]);
        assert_eq!(ours.read(2), [[5; 3]; 2]);
    }
}
