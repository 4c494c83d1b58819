//! Memory check of a scene and its film, before the first byte is copied.

use crate::SceneArray;
use crate::driver::device::{Device, Limits};
use lockstep_core::error::{Error, Result};

/// Memory demand of a load.
pub(super) struct Demand<'a> {
    /// The scene's name.
    pub(super) scene: &'a str,
    /// The arrays.
    pub(super) arrays: &'a [SceneArray<'a>],
    /// Bytes of the film.
    pub(super) film: u64,
    /// Buffers of the paths in flight: contents and bytes.
    pub(super) state: &'a [(&'static str, u64)],
}

/// Compares a demand with the device's memory.
///
/// # Errors
/// [`Error::Device`] with the part that is too large, its size and the device's.
pub(super) fn check<D: Device>(device: &D, demand: &Demand<'_>) -> Result<()> {
    let Limits { largest_allocation: largest, memory, .. } = device.limits();
    let scene = demand.scene;
    let refuse = |what: String, reason: String| {
        let (actor, action) = (device.info().target.to_string(), format!("placing {what}"));
        Err(Error::Device { actor, action, reason: format!("{reason}; {REMEDY}") })
    };
    let sized =
        demand.arrays.iter().map(|a| (format!("the {} of scene {scene}", a.argument.name), a.bytes.len()));
    let state = demand.state.iter().map(|&(what, bytes)| (what.to_owned(), bytes));
    let sized = sized.map(|(what, bytes)| (what, bytes as u64)).chain([("the film".to_owned(), demand.film)]);
    let sized = sized.chain(state);
    for (what, bytes) in sized {
        if bytes > largest {
            let (bytes, largest) = (in_words(bytes), in_words(largest));
            return refuse(
                what,
                format!("it takes {bytes}, and the device's largest allocation is {largest}"),
            );
        }
    }
    let bytes: u64 = demand.arrays.iter().map(|a| a.bytes.len() as u64).sum();
    let state = demand.state.iter().map(|(_, bytes)| bytes).sum();
    if bytes + demand.film + state > memory {
        let [bytes, film, state, memory] = [bytes, demand.film, state, memory].map(in_words);
        let reason = format!(
            "it takes {bytes}, its film {film} and paths or photons in flight {state}; the device has {memory}"
        );
        return refuse(format!("scene {scene}"), reason);
    }
    Ok(())
}

const REMEDY: &str = "use a smaller scene or film, or another target";

/// A size in a readable unit.
fn in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 * 1e-3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 * 1e-6),
        _ => format!("{:.1} GB", bytes as f64 * 1e-9),
    }
}
