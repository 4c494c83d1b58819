//! Messages between coordinator and workers, over a stream of bytes between two processes of the same program.
//!
//! A message is its length, the length of a payload, JSON, and the payload: sums of a film as they lie in memory.

use crate::shared_film::Place;
use lockstep_core::film::InvalidSamples;
use lockstep_core::{DeviceInfo, LoadReport, PassReport, Settings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::PathBuf;

/// The version of these messages.
pub(crate) const PROTOCOL: u32 = 3;
/// The longest message, without its payload.
const MOST_MESSAGE: u64 = 1 << 20;

/// An order to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Films may go through the shared memory of the greeting.
    ShareFilms,
    /// The film in shared memory is taken; the next one may be written.
    FilmTaken,
    /// Load a packed scene from a file.
    Load {
        /// The file.
        scene: PathBuf,
        /// The scene's hash.
        hash: String,
        /// The settings.
        settings: Settings,
        /// The number of this load.
        load: u64,
    },
    /// Render samples and send what they add to the film.
    Lease {
        /// The lease's number.
        lease: u64,
        /// The first sample.
        start: u32,
        /// The end of the samples.
        end: u32,
        /// The time after which to stop, after at least one sample.
        seconds: Option<f64>,
    },
    /// Render more samples in the lease that is in work, and all of them. Without effect once it is rendered.
    Extend {
        /// The lease.
        lease: u64,
        /// The new end.
        end: u32,
    },
    /// Exit.
    Stop,
}

/// A message from a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The worker is there.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// [`crate::Identity::semantics`].
        semantics: String,
        /// The worker's device.
        device: Box<DeviceInfo>,
        /// The shared memory that films may go through; `None` without such memory.
        films: Option<Place>,
    },
    /// A scene is loaded.
    Loaded {
        /// The number of the load.
        load: u64,
        /// The cost of the load.
        report: LoadReport,
    },
    /// The shared memory has room for films of this many pixels, which may be touched ahead.
    Reserved {
        /// Pixels.
        pixels: usize,
    },
    /// Some samples of a lease are rendered.
    Progress {
        /// The lease.
        lease: u64,
        /// Samples since the last report.
        samples: u32,
    },
    /// A lease is rendered; its film follows.
    Rendered {
        /// The lease.
        lease: u64,
        /// The end of the samples that were rendered.
        end: u32,
        /// The time it took.
        seconds: f64,
        /// Times by stage and ray counts.
        report: PassReport,
    },
    /// A lease's film, as payload or in shared memory.
    Film {
        /// The lease.
        lease: u64,
        /// Pixels a row.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Samples per pixel.
        spp: u32,
        /// Invalid samples among them.
        invalid: InvalidSamples,
        /// Whether the sums lie in shared memory.
        in_memory: bool,
    },
    /// The worker cannot go on.
    Failed {
        /// The error's text.
        reason: String,
        /// Whether the target is absent or lacks what is asked for, so that starting it again would not help.
        lasting: bool,
    },
    /// The worker goes, as its user asked.
    Leave,
}

/// Sends one message.
pub(crate) fn send(stream: &mut impl Write, message: &impl Serialize, payload: &[[i64; 3]]) -> Result<()> {
    let json = serde_json::to_vec(message)?;
    let payload: &[u8] = bytemuck::cast_slice(payload);
    stream.write_all(&(json.len() as u64).to_ne_bytes())?;
    stream.write_all(&(payload.len() as u64).to_ne_bytes())?;
    stream.write_all(&json)?;
    stream.write_all(payload)?;
    stream.flush()
}

/// Receives one message and the length of its payload in bytes, which [`receive_sums`] takes; `None` at the end.
pub(crate) fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> Result<Option<(T, u64)>> {
    let mut lengths = [0; 16];
    match stream.read_exact(&mut lengths[..1]) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    stream.read_exact(&mut lengths[1..])?;
    let [message, payload]: [u64; 2] = bytemuck::cast(lengths);
    if message > MOST_MESSAGE {
        return Err(Error::new(ErrorKind::InvalidData, "a message is too long"));
    }
    let mut json = vec![0; message as usize];
    stream.read_exact(&mut json)?;
    Ok(Some((serde_json::from_slice(&json)?, payload)))
}

/// Receives the payload of a message into sums for exactly as many pixels as there are.
pub(crate) fn receive_sums(stream: &mut impl Read, bytes: u64, sums: &mut [[i64; 3]]) -> Result<()> {
    let into: &mut [u8] = bytemuck::cast_slice_mut(sums);
    if bytes != into.len() as u64 {
        let text = format!("a film of {bytes} bytes was sent; {} were expected", into.len());
        return Err(Error::new(ErrorKind::InvalidData, text));
    }
    stream.read_exact(into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Order::Stop, &[]).unwrap();
        send(&mut bytes, &Report::Leave, &[[1, -2, 3], [4, 5, i64::MAX]]).unwrap();
        let mut stream = bytes.as_slice();
        assert!(matches!(receive(&mut stream).unwrap(), Some((Order::Stop, 0))));
        let (message, length) = receive::<Report>(&mut stream).unwrap().unwrap();
        assert!(matches!(message, Report::Leave));
        let mut sums = [[0; 3]; 2];
        receive_sums(&mut stream, length, &mut sums).unwrap();
        assert_eq!(sums, [[1, -2, 3], [4, 5, i64::MAX]]);
        assert!(receive::<Order>(&mut stream).unwrap().is_none());
    }

    #[test]
    fn messages_that_are_cut_too_long_or_unknown_are_errors() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Order::Stop, &[]).unwrap();
        assert!(receive::<Order>(&mut &bytes[..bytes.len() - 1]).is_err());
        assert!(receive::<Report>(&mut bytes.as_slice()).is_err());
        assert!(receive::<Order>(&mut [0xff; 64].as_slice()).is_err());
        assert!(receive_sums(&mut [0; 24].as_slice(), 24, &mut [[0; 3]; 2]).is_err());
    }
}
