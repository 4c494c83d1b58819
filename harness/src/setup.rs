//! `lockstep setup`: fetches run-time libraries that are missing and need no GPU.
//!
//! Each thing that can be fetched is an [`Item`]: a row in [`items`]. Everything goes through the
//! machine's own package clients as they are configured there (pip, apt), so mirrors and proxies
//! are honoured, and lands in a per-user data folder under a temporary name that is renamed when
//! complete. Two set-ups at once wait for each other; a second one finds everything there.

mod apt;
mod embree;
mod error;
mod host;
mod icd;
mod install;
mod item;
mod nvrtc;
mod opencl;
mod pip;
mod progress;
mod wheel;

#[cfg(unix)]
#[cfg(test)]
mod fixtures;

use std::fmt;
use std::time::{Duration, Instant};

use item::Presence;

pub(crate) use error::SetupError;
pub(crate) use host::Host;
pub(crate) use item::Item;
pub(crate) use progress::Progress;

/// Everything that can be fetched, in the order it is fetched.
fn items() -> Vec<Item> {
    vec![embree::item(), nvrtc::item(), opencl::intel(), opencl::pocl()]
}

/// The items of these names, in their order; those that are not fetched on request only, if no name
/// is given.
///
/// # Errors
///
/// [`SetupError::UnknownItem`] for a name that is no item's.
pub(crate) fn select(names: &[String]) -> Result<Vec<Item>, SetupError> {
    let all = items();
    if names.is_empty() {
        return Ok(all.into_iter().filter(|item| !item.on_request).collect());
    }
    let find = |name: &String| {
        all.iter().find(|item| item.name == name).cloned().ok_or_else(|| SetupError::UnknownItem {
            name: name.clone(),
            known: all.iter().map(|item| item.name).collect(),
        })
    };
    names.iter().map(find).collect()
}

/// What became of one item.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was there before; what and where.
    AlreadyThere(String),
    /// It was fetched; what, where and how long that took.
    Fetched(String, Duration),
    /// It is not there.
    Failed(SetupError),
}

/// One line of the answer: an item and what became of it.
#[derive(Debug)]
pub(crate) struct Row {
    /// The item's name.
    pub(crate) name: &'static str,
    /// What became of it.
    pub(crate) outcome: Outcome,
}

impl Row {
    /// Whether the item can be used now.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self.outcome, Outcome::Failed(_))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::AlreadyThere(what) => write!(f, "{}: there already, {what}", self.name),
            Outcome::Fetched(what, time) => {
                write!(f, "{}: fetched in {:.1} s, {what}", self.name, time.as_secs_f64())
            }
            Outcome::Failed(error) => write!(f, "{}: failed, {error}", self.name),
        }
    }
}

/// Fetches what is missing of `items` and tells `progress`, item by item. An item that fails does
/// not keep the next from being tried.
pub(crate) fn fetch_missing(items: &[Item], host: &Host, progress: &Progress) -> Vec<Row> {
    let fetch = |item: &Item| {
        progress.begin(&format!("{}: looking for it", item.name));
        let outcome = fetch_item(item, host, progress).unwrap_or_else(Outcome::Failed);
        let row = Row { name: item.name, outcome };
        progress.finish(&row.to_string());
        row
    };
    items.iter().map(fetch).collect()
}

fn fetch_item(item: &Item, host: &Host, progress: &Progress) -> Result<Outcome, SetupError> {
    let start = Instant::now();
    if let Presence::There(what) = (item.presence)(host)? {
        return Ok(Outcome::AlreadyThere(what));
    }
    let _lock = install::Lock::take(&host.data, || {
        progress.step(&format!("{}: waiting for another set-up on this machine", item.name));
    })?;
    // Another process may have fetched it while this one waited.
    if let Presence::There(what) = (item.presence)(host)? {
        return Ok(Outcome::AlreadyThere(what));
    }
    let ways = (item.ways)(host);
    if ways.is_empty() {
        return Err(SetupError::NoWay { item: item.name, system: host.system(), remedy: item.by_hand });
    }
    let mut failures = Vec::new();
    for way in &ways {
        progress.step(&format!("{} ({}): {way}", item.name, item.purpose));
        match way.go(host).and_then(|()| (item.presence)(host)) {
            Ok(Presence::There(what)) => {
                let what = format!("{what} ({})", item.purpose);
                return Ok(Outcome::Fetched(what, start.elapsed()));
            }
            Ok(Presence::Missing(reason)) => {
                failures.push(SetupError::StillMissing { item: item.name, way: way.to_string(), reason });
            }
            Err(error) => failures.push(error),
        }
    }
    Err(SetupError::EveryWayFailed { failures, by_hand: item.by_hand })
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
