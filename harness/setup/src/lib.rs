//! Fetches the run-time libraries of Lockstep's targets: Embree, NVRTC and OpenCL runtimes for CPUs; and other
//! renderers to compare them with.
//!
//! Two calls are the whole interface: [`select`] names what to fetch, and [`fetch_missing`] fetches what is
//! missing of it. Each library is an [`Item`], a row in one table. Downloads go through the machine's own pip
//! and apt as they are configured, so mirrors and proxies are honoured. Files go to a per-user data folder
//! under a temporary name that is renamed when complete. Set-ups that run at once wait for each other.

mod apt;
mod embree;
mod environment;
mod error;
mod host;
mod icd;
mod install;
mod item;
mod nvrtc;
mod opencl;
mod pip;
mod progress;
pub mod renderers;
mod wheel;

#[cfg(unix)]
#[cfg(test)]
mod fixtures;

pub use error::SetupError;
pub use host::Host;
pub use item::Item;
pub use progress::Progress;

use item::Presence;
use std::fmt;
use std::time::{Duration, Instant};

/// Everything that can be fetched, in the order it is fetched.
fn items() -> Vec<Item> {
    let libraries = [embree::item(), nvrtc::item(), opencl::intel(), opencl::pocl()];
    libraries.into_iter().chain(renderers::items()).collect()
}

/// The items of these names, in their order. Without names, all items but those fetched on request only.
///
/// # Errors
/// [`SetupError::UnknownItem`] for a name that is no item's.
pub fn select(names: &[String]) -> Result<Vec<Item>, SetupError> {
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

/// Every item with its purpose, a line each.
pub fn item_table() -> String {
    let line = |item: &Item| {
        let on_request = if item.on_request { "; on request" } else { "" };
        format!("  {:14}{}{on_request}\n", item.name, item.purpose())
    };
    items().iter().map(line).collect()
}

/// The result of fetching one item.
#[derive(Debug)]
pub enum Outcome {
    /// Present before: release and place.
    AlreadyThere(String),
    /// Fetched now: release and place, and the time it took.
    Fetched(String, Duration),
    /// Still missing, with the reason.
    Failed(SetupError),
}

/// An item with its outcome: one line for the user.
#[derive(Debug)]
pub struct Row {
    /// The item's name.
    pub name: &'static str,
    /// The outcome.
    pub outcome: Outcome,
}

impl Row {
    /// Whether the item can be used now.
    pub fn is_there(&self) -> bool {
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

/// Fetches the missing ones of `items`, one after another, and reports each to `progress`. After a failure it
/// goes on with the next item.
pub fn fetch_missing(items: &[Item], host: &Host, progress: &Progress) -> Vec<Row> {
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
    let methods = (item.methods)(host);
    if methods.is_empty() {
        return Err(SetupError::NoMethod { item: item.name, system: host.system(), remedy: item.by_hand });
    }
    let mut failures = Vec::new();
    for method in &methods {
        progress.step(&format!("{} ({}): {method}", item.name, item.purpose()));
        match method.run(host).and_then(|()| (item.presence)(host)) {
            Ok(Presence::There(what)) => {
                let what = format!("{what} ({})", item.purpose());
                return Ok(Outcome::Fetched(what, start.elapsed()));
            }
            Ok(Presence::Missing(reason)) => {
                failures.push(SetupError::StillMissing {
                    item: item.name,
                    method: method.to_string(),
                    reason,
                });
            }
            Err(error) => failures.push(error),
        }
    }
    Err(SetupError::EveryMethodFailed { failures, by_hand: item.by_hand })
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
