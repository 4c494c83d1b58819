//! One source text from a backend's compat header and the shared kernels.

use super::content::Content;
use super::part::{Build, Part};
use crate::bvh::Layout;
#[cfg(feature = "conformance")]
use crate::error::{Error, Result};
use crate::variant::{Order, Structure, Threads};

/// A header and the name that compile errors give it.
type Header = (&'static str, &'static str);

macro_rules! header {
    ($name:literal) => {
        (concat!("core/kernels/", $name), include_str!(concat!("../../kernels/", $name)))
    };
}

/// The path tracer, each header after those it needs.
const HEADERS: [Header; 15] = [
    header!("abi.h"),
    header!("scene.h"),
    header!("math.h"),
    header!("vec3.h"),
    header!("transform.h"),
    header!("rng.h"),
    header!("sampling.h"),
    header!("camera.h"),
    header!("texture.h"),
    header!("intersect.h"),
    header!("bsdf.h"),
    header!("lights.h"),
    header!("hit.h"),
    header!("path.h"),
    header!("film.h"),
];

/// The traversals, of which a source has one.
const BINARY: [Header; 1] = [header!("traverse.h")];
const WIDE: [Header; 2] = [header!("wide_boxes.h"), header!("wide.h")];

/// What renders and casts launch.
const RENDER: [Header; 6] = [
    header!("queues.h"),
    header!("ends.h"),
    header!("stages.h"),
    header!("compacted.h"),
    header!("entry.h"),
    header!("cast.h"),
];

/// The stages of the wavefront, with what a pass launches besides.
const WAVEFRONT: [Header; 5] =
    [header!("queues.h"), header!("ends.h"), header!("stages.h"), header!("compacted.h"), header!("entry.h")];

/// The same without compaction.
const IN_PLACE: [Header; 5] =
    [header!("queues.h"), header!("ends.h"), header!("stages.h"), header!("in_place.h"), header!("entry.h")];

/// Whole paths in one kernel.
const MEGAKERNEL: [Header; 3] = [header!("queues.h"), header!("ends.h"), header!("megakernel.h")];

const TRACE: [Header; 1] = [header!("trace.h")];

#[cfg(any(test, feature = "conformance"))]
const PROBES: [Header; 2] = [header!("probe.h"), header!("layout.h")];

/// Neighbouring items that a work-item takes at once where [`Options::group_compaction`] is off: whole cache lines of a
/// queue. With one item at once 16 threads made less than a quarter of the samples of `cornell`, since all add to the same
/// counters; 16 to 64 are alike.
pub const ITEMS_IN_TURN: u32 = 64;

/// What to build from the one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Leave contraction and approximations to the compiler: the named second build, never the default.
    pub fast: bool,
    /// Reserve queue slots once per work-group, by local memory and barriers. For GPUs; CPU devices are faster without.
    pub group_compaction: bool,
    /// The layout of the BVH, by which hits are found.
    pub layout: Layout,
    /// What the kernels can deal with.
    pub content: Content,
}

/// An assembled source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The whole text: option defines, compat header, shared kernels.
    pub text: String,
    /// BLAKE3 of the text, in hexadecimal.
    pub hash: String,
    /// The parts as file name and text, for writing them out.
    pub files: Vec<(String, String)>,
}

/// Puts a program's source together. `compat` is the backend's header, `compat_name` what compile errors call it.
pub fn assemble(compat_name: &str, compat: &str, options: &Options, part: Part) -> Source {
    let Build { structure, threads, order } = part.build();
    let last: &[Header] = match (part, structure) {
        (Part::Render, _) => &RENDER,
        (Part::Trace, _) => &TRACE,
        (Part::Other(_), Structure::Wavefront) => &WAVEFRONT,
        (Part::Other(_), Structure::InPlace) => &IN_PLACE,
        (Part::Other(_), Structure::Megakernel) => &MEGAKERNEL,
    };
    // Lanes in lockstep, of which each has a ray of its own, are a GPU's.
    let refills = options.group_compaction && options.layout == Layout::Bvh2 && threads == Threads::Own;
    let of_build = [
        ("LS_FETCH", threads == Threads::Persistent),
        ("LS_REFILL", refills),
        ("LS_SCANLINE", order == Order::Scanline),
        ("LS_OCTANTS", order == Order::Octants),
    ];
    assemble_with(compat_name, compat, options, &of_build, last)
}

/// The same with the probes of [`crate::parity`] in place of the entry kernels.
#[cfg(feature = "conformance")]
pub fn assemble_probes(compat_name: &str, compat: &str, options: &Options) -> Source {
    assemble_with(compat_name, compat, options, &[], &PROBES)
}

fn assemble_with(
    compat_name: &str,
    compat: &str,
    options: &Options,
    of_build: &[(&str, bool)],
    last: &[Header],
) -> Source {
    let of_options = [
        ("LS_FAST", options.fast),
        ("LS_GROUP_COMPACTION", options.group_compaction),
        ("LS_WIDE", options.layout == Layout::Bvh8),
        ("LS_INSTANCES", options.content.instances),
        ("LS_SPHERES", options.content.spheres),
        ("LS_COVERAGE", options.content.coverage),
    ];
    let mut defines = defines(&of_options) + &defines(of_build);
    if !options.group_compaction {
        defines.push_str(&format!("#define LS_ROUND {ITEMS_IN_TURN}u\n"));
    }
    let mut files = vec![("options.h".to_owned(), defines), (compat_name.to_owned(), compat.to_owned())];
    let traversal: &[Header] = match options.layout {
        Layout::Bvh2 => &BINARY,
        Layout::Bvh8 => &WIDE,
    };
    let headers = HEADERS.iter().chain(traversal).chain(last);
    files.extend(headers.map(|&(name, text)| (name.to_owned(), text.to_owned())));
    Source::of(files)
}

impl Source {
    fn of(files: Vec<(String, String)>) -> Self {
        let text: String = files.iter().map(|(name, part)| format!("#line 1 \"{name}\"\n{part}\n")).collect();
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        Self { text, hash, files }
    }

    /// The source with a piece of a file's text replaced, for proofs that a mistake would be found. A file that this
    /// source lacks is passed over.
    ///
    /// # Errors
    /// [`Error::Contract`] unless the file contains the piece exactly once.
    #[cfg(feature = "conformance")]
    pub fn edited(mut self, edit: &Edit) -> Result<Self> {
        let Some((_, text)) = self.files.iter_mut().find(|(name, _)| name == edit.file) else {
            return Ok(self);
        };
        let found = text.matches(edit.from).count();
        if found != 1 {
            return Err(Error::Contract {
                actor: "the kernels' source".into(),
                message: format!("{} has {:?} {found} times; an edit needs it once", edit.file, edit.from),
            });
        }
        *text = text.replace(edit.from, edit.to);
        Ok(Self::of(self.files))
    }
}

/// A change of the kernels' source, for proofs that a mistake would be found.
#[cfg(feature = "conformance")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file, such as `core/kernels/path.h`.
    pub file: &'static str,
    /// What it has exactly once.
    pub from: &'static str,
    /// What takes its place.
    pub to: &'static str,
}

/// A define for each flag that is on.
fn defines(flags: &[(&str, bool)]) -> String {
    flags.iter().filter(|(_, on)| *on).map(|(name, _)| format!("#define {name} 1\n")).collect()
}

/// The headers with their names, entry kernels and probes included.
#[cfg(test)]
pub(crate) fn header_texts() -> Vec<Header> {
    let ([.., in_place, _], [.., megakernel]) = (IN_PLACE, MEGAKERNEL);
    let traversals = BINARY.into_iter().chain(WIDE);
    HEADERS
        .into_iter()
        .chain(traversals)
        .chain(RENDER)
        .chain([in_place, megakernel])
        .chain(TRACE)
        .chain(PROBES)
        .collect()
}
