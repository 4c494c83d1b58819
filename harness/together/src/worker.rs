//! A worker: renders leases on one target until it is told to stop.

use crate::film_sender::{FilmSender, Notice, SendReport, ToSend};
use crate::shared_film::SharedFilm;
use crate::wire::{Order, PROTOCOL, Report, receive, send};
use lockstep_core::film::MAX_SPP;
use lockstep_core::{Error, Film, PassReport, Renderer, Scene, Settings};
use std::io::{BufReader, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most seconds of samples between two looks at orders: less than the work that the coordinator keeps before a
/// worker.
const CHUNK: f64 = 0.06;
/// The least part of that at the end of a lease, since each look costs a device a gap.
const LEAST_PART: f64 = 1.0 / 3.0;

/// The time after which an idle worker looks whether it is to leave.
const PATIENCE: Duration = Duration::from_millis(100);

/// Why a worker ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The coordinator cannot be reached.
    #[error("the coordinator is gone: {0}")]
    Stream(#[from] std::io::Error),
    /// The renderer failed. The coordinator knows.
    #[error(transparent)]
    Renderer(#[from] Error),
}

/// Serves a coordinator: loads the scenes and renders the leases that it sends, and sends back what each lease adds
/// to the film. Returns when the coordinator says so or is gone, or `leave` returns true between two chunks.
///
/// # Errors
/// [`ServeError`].
pub fn serve(
    stream: &UnixStream,
    semantics: &str,
    renderer: &mut dyn Renderer,
    leave: &dyn Fn() -> bool,
) -> Result<(), ServeError> {
    let outgoing = Mutex::new(stream.try_clone()?);
    let report = |message: &Report, sums: &[[i64; 3]]| {
        // A panic elsewhere cannot have left a lock that guards no data in a bad state.
        let mut stream = outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        send(&mut *stream, message, sums)
    };
    let device = Box::new(renderer.device().clone());
    let (protocol, semantics) = (PROTOCOL, semantics.to_owned());
    // Without such memory films go by the stream
    let shared = SharedFilm::create().ok();
    let films = shared.as_ref().and_then(|shared| shared.place().ok());
    report(&Report::Hello { protocol, semantics, device, films }, &[])?;
    let (to_self, orders) = channel();
    let (to_sender, notices) = channel();
    let incoming = stream.try_clone()?;
    std::thread::scope(|scope| {
        scope.spawn(move || forward_orders(incoming, &to_self, &to_sender, shared));
        // One film may wait while another is sent
        let (films, to_send) = sync_channel(1);
        let (done, spare) = channel();
        let report = &report;
        let sending = scope.spawn(move || FilmSender::new(report, notices, done).run(&to_send));
        let mut worker = Worker { renderer, report, loaded: None, seconds_per_spp: 0.0, next_order: None };
        let result = worker.run(&orders, &films, &spare, leave);
        // The last film goes before the last word
        drop(films);
        let _ = sending.join();
        let result = match result {
            Ok(Parting::Leave) => report(&Report::Leave, &[]).map_err(ServeError::from),
            Err(ServeError::Renderer(error)) => {
                let lasting = matches!(error, Error::Unavailable { .. } | Error::Unsupported { .. });
                let _ = report(&Report::Failed { reason: error.to_string(), lasting }, &[]);
                Err(error.into())
            }
            // The coordinator needs this worker no more, and has closed the stream
            Err(ServeError::Stream(error)) if is_gone(&error) => Ok(()),
            other => other.map(|_| ()),
        };
        // Ends the thread that waits for orders
        let _ = stream.shutdown(std::net::Shutdown::Read);
        result
    })
}

/// Whether an error says that the other end of the stream is closed.
fn is_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

/// Why a worker ends without an error.
enum Parting {
    /// The coordinator said so, or is gone.
    Stop,
    /// The user of the worker said so.
    Leave,
}

/// Passes on orders, and to the sender of films what concerns it, until the coordinator is gone. `shared` becomes the
/// sender's once the coordinator has opened it.
fn forward_orders(
    stream: UnixStream,
    to: &Sender<Order>,
    to_sender: &Sender<Notice>,
    mut shared: Option<SharedFilm>,
) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some((order, _))) = receive(&mut stream) {
        let is_there = match order {
            Order::ShareFilms => shared.take().is_none_or(|film| to_sender.send(Notice::Share(film)).is_ok()),
            Order::FilmTaken => to_sender.send(Notice::Taken).is_ok(),
            order => to.send(order).is_ok(),
        };
        if !is_there {
            return;
        }
    }
}

struct Loaded {
    scene: Scene,
    settings: Settings,
    /// [`lockstep_core::LoadReport::samples_at_once`].
    at_once: Option<u32>,
    /// Samples per pixel in the renderer's film.
    spp: u32,
}

struct Worker<'a> {
    renderer: &'a mut dyn Renderer,
    report: SendReport<'a>,
    loaded: Option<Loaded>,
    seconds_per_spp: f64,
    /// An order that came while a lease was in work.
    next_order: Option<Order>,
}

impl Worker<'_> {
    fn run(
        &mut self,
        orders: &Receiver<Order>,
        films: &SyncSender<ToSend>,
        spare: &Receiver<Film>,
        leave: &dyn Fn() -> bool,
    ) -> Result<Parting, ServeError> {
        while !leave() {
            match self.wait_for_order(orders) {
                Err(RecvTimeoutError::Timeout)
                | Ok(Order::Extend { .. } | Order::ShareFilms | Order::FilmTaken) => {}
                Err(RecvTimeoutError::Disconnected) | Ok(Order::Stop) => return Ok(Parting::Stop),
                Ok(Order::Load { scene, hash, settings, load }) => {
                    self.load(&scene, &hash, settings, load)?;
                    let _ = films.send(ToSend::Begin { width: settings.width, height: settings.height });
                }
                Ok(Order::Lease { lease, start, end, seconds }) => {
                    if self.make_room(end.saturating_sub(start))? {
                        let _ = films.send(ToSend::Emptied);
                    }
                    let work = Lease { lease, start, end, seconds };
                    if self.render(work, orders, leave)?.is_none() {
                        return Ok(Parting::Stop);
                    }
                    let mut film = spare.try_recv().or_else(|_| Film::new(1, 1))?;
                    self.renderer.read(&mut film)?;
                    let _ = films.send(ToSend::Rendered { lease, film });
                }
            }
        }
        Ok(Parting::Leave)
    }

    /// The next order, if one comes soon.
    fn wait_for_order(&mut self, orders: &Receiver<Order>) -> Result<Order, RecvTimeoutError> {
        self.next_order.take().map_or_else(|| orders.recv_timeout(PATIENCE), Ok)
    }

    fn load(&mut self, path: &Path, hash: &str, settings: Settings, load: u64) -> Result<(), ServeError> {
        let bytes = std::fs::read(path).map_err(|source| Error::Io {
            action: "reading",
            path: path.to_owned(),
            source,
        })?;
        let scene = Scene::unpack(&bytes)?;
        if scene.hash != hash {
            let message = format!("the scene {} has another hash than the coordinator's", scene.name);
            return Err(Error::Contract { actor: "worker".into(), message }.into());
        }
        let report = self.renderer.load(&scene, &settings)?;
        self.loaded = Some(Loaded { scene, settings, at_once: report.samples_at_once, spp: 0 });
        self.seconds_per_spp = 0.0;
        (self.report)(&Report::Loaded { load, report }, &[])?;
        Ok(())
    }

    /// Clears the film if it has no room for as many samples; true if it was cleared.
    fn make_room(&mut self, samples: u32) -> Result<bool, Error> {
        let loaded = self.loaded.as_mut().ok_or_else(lockstep_core::nothing_loaded)?;
        if loaded.spp.saturating_add(samples) <= MAX_SPP {
            return Ok(false);
        }
        self.renderer.load(&loaded.scene, &loaded.settings)?;
        loaded.spp = 0;
        Ok(true)
    }

    /// Renders a lease in chunks, up to its end or the time that it has; `None` if the worker is to stop at once.
    fn render(
        &mut self,
        mut lease: Lease,
        orders: &Receiver<Order>,
        leave: &dyn Fn() -> bool,
    ) -> Result<Option<()>, ServeError> {
        let start = Instant::now();
        let mut sum = PassReport::default();
        let mut next = lease.start;
        let at_once = self.loaded.as_ref().and_then(|loaded| loaded.at_once);
        let room = MAX_SPP - self.loaded.as_ref().map_or(0, |loaded| loaded.spp).min(MAX_SPP);
        while self.take_orders(&mut lease, room, orders).is_some() {
            let is_late = lease.seconds.is_some_and(|limit| start.elapsed().as_secs_f64() >= limit);
            let has_some = next > lease.start;
            if next >= lease.end || (has_some && (is_late || self.next_order.is_some() || leave())) {
                if let Some(loaded) = &mut self.loaded {
                    loaded.spp += next - lease.start;
                }
                let seconds = start.elapsed().as_secs_f64();
                let rendered = Report::Rendered { lease: lease.lease, end: next, seconds, report: sum };
                (self.report)(&rendered, &[])?;
                return Ok(Some(()));
            }
            let chunk = next..next + chunk(self.seconds_per_spp, lease.end - next, at_once);
            let count = chunk.end - chunk.start;
            let chunk_start = Instant::now();
            sum.merge(self.renderer.accumulate(chunk)?);
            self.seconds_per_spp = chunk_start.elapsed().as_secs_f64() / f64::from(count);
            next += count;
            (self.report)(&Report::Progress { lease: lease.lease, samples: count }, &[])?;
        }
        Ok(None)
    }

    /// Takes the orders that came while a lease is in work; `None` if the worker is to stop at once.
    fn take_orders(&mut self, lease: &mut Lease, room: u32, orders: &Receiver<Order>) -> Option<()> {
        loop {
            match orders.try_recv() {
                Ok(Order::Stop) | Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => return Some(()),
                Ok(Order::Extend { lease: longer, end }) => {
                    if longer == lease.lease {
                        lease.end = lease.end.max(end).min(lease.start.saturating_add(room));
                        lease.seconds = None;
                    }
                }
                // Nobody waits for this lease any more
                Ok(order) => self.next_order = Some(order),
            }
        }
    }
}

/// Samples of every pixel in the next chunk of a lease with `left` samples to go: one while the time of a sample is
/// unknown (zero), and half of the rest towards the end, so that the lease can be made longer before it ends. A multiple of
/// the samples that the device renders `at_once`, where it is more.
pub(crate) fn chunk(seconds_per_spp: f64, left: u32, at_once: Option<u32>) -> u32 {
    if seconds_per_spp <= 0.0 {
        return left.min(1);
    }
    let most = CHUNK / seconds_per_spp;
    let half = f64::from(left.div_ceil(2)).max(most * LEAST_PART);
    let chunk = most.min(half).max(1.0) as u32;
    let whole = at_once.filter(|&n| 0 < n && n < chunk).map_or(chunk, |n| chunk - chunk % n);
    whole.min(left)
}

/// A lease in work.
struct Lease {
    lease: u64,
    start: u32,
    end: u32,
    /// The time after which to stop.
    seconds: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::chunk;

    #[test]
    fn chunks_are_multiples_of_what_a_device_renders_at_once_until_the_lease_ends() {
        // Twelve samples fit the time of a chunk
        let chunk = |left, at_once| chunk(0.005, left, at_once);
        assert_eq!([chunk(500, None), chunk(500, Some(8)), chunk(500, Some(5))], [12, 8, 10]);
        assert_eq!([chunk(500, Some(12)), chunk(500, Some(20)), chunk(500, Some(0))], [12; 3]);
        assert_eq!([chunk(12, Some(8)), chunk(3, Some(8))], [6, 3]);
    }
}
