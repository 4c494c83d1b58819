//! The verdict of a check of one golden on one target.

use std::path::PathBuf;

use lockstep_reports::metrics::Metrics;

use crate::exit::Exit;

/// The result of rendering a golden's scene again.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// Every bit is equal.
    Identical,
    /// Different, but by no more than this target may be, and why that is allowed.
    Tolerated(Box<Metrics>, String),
    /// Different, and in how far that matters.
    Differs(Box<Metrics>, String),
    /// The scene is not the one that the golden shows.
    SceneChanged,
    /// The golden is missing; where it should be.
    Missing(PathBuf),
    /// Samples had to be altered.
    InvalidSamples,
}

impl Verdict {
    /// Exit code of a check with this verdict.
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Identical | Self::Tolerated(..) => Exit::Fine,
            Self::Missing(_) => Exit::Missing,
            Self::Differs(..) | Self::SceneChanged | Self::InvalidSamples => Exit::Differs,
        }
    }

    /// The verdict in a word, as reports have it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Tolerated(..) => "tolerated",
            Self::Differs(..) => "differs",
            Self::SceneChanged => "scene changed",
            Self::Missing(_) => "missing",
            Self::InvalidSamples => "invalid",
        }
    }

    /// The numbers, where there are any.
    pub(super) fn metrics(&self) -> Option<&Metrics> {
        match self {
            Self::Tolerated(metrics, _) | Self::Differs(metrics, _) => Some(metrics),
            _ => None,
        }
    }

    /// The finding in words; empty for identical images.
    pub(super) fn detail(&self) -> String {
        match self {
            Self::Tolerated(m, reason) => format!("{}; allowed: {reason}", numbers(m)),
            Self::Differs(m, reason) => format!("{}; {reason}", numbers(m)),
            Self::Missing(path) => {
                format!("{} is not there; make it with `lockstep golden bless SCENE`", path.display())
            }
            Self::SceneChanged => "its scene is no longer the one that was blessed".into(),
            Self::InvalidSamples => "samples were not finite, negative or clamped".into(),
            Self::Identical => String::new(),
        }
    }
}

fn numbers(m: &Metrics) -> String {
    format!(
        "{} pixels, 8-bit MSE {:.6}, SSIM {:.6}, FLIP {:.6}",
        m.pixels_differing, m.mse, m.ssim, m.float.flip
    )
}
