//! A watch over inputs that take too long.

use crate::{LONGEST, write_found};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The input that is being parsed, and since when.
type Current = Mutex<Option<(Instant, Vec<u8>)>>;

/// Ends the process where an input takes longer than [`LONGEST`]: a parser that hangs cannot be stopped otherwise.
pub(crate) struct Watch {
    current: Arc<Current>,
}

impl Watch {
    pub(crate) fn new(name: &str) -> Self {
        let current = Arc::new(Current::default());
        let (name, watched) = (name.to_owned(), Arc::downgrade(&current));
        std::thread::spawn(move || watch(&name, &watched));
        Self { current }
    }

    pub(crate) fn begin(&self, input: &[u8]) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), input.to_vec()));
    }

    pub(crate) fn end(&self) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn watch(name: &str, watched: &Weak<Current>) {
    while let Some(current) = watched.upgrade() {
        let current = current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((since, input)) = current
            && since.elapsed() > LONGEST
        {
            let path = write_found(name, &input);
            eprintln!("the parser of {name} has taken {LONGEST:?} for the input in {}", path.display());
            std::process::abort();
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}
