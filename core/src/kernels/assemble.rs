//! One source text from a backend's compat header and the shared kernels.

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
    header!("traverse.h"),
    header!("path.h"),
    header!("film.h"),
];

const ENTRY: Header = header!("entry.h");

#[cfg(any(test, feature = "conformance"))]
const PROBES: [Header; 2] = [header!("probe.h"), header!("layout.h")];

/// What to build from the one source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Leave contraction and approximations to the compiler: the named second build, never the default.
    pub fast: bool,
    /// Reserve queue slots once per work-group, by local memory and barriers. For GPUs; CPU devices are faster without.
    pub group_compaction: bool,
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

/// Puts the source together. `compat` is the backend's header, `compat_name` what compile errors call it.
pub fn assemble(compat_name: &str, compat: &str, options: &Options) -> Source {
    assemble_with(compat_name, compat, options, &[ENTRY])
}

/// The same with the probes of [`crate::parity`] in place of the entry kernels.
#[cfg(feature = "conformance")]
pub fn assemble_probes(compat_name: &str, compat: &str, options: &Options) -> Source {
    assemble_with(compat_name, compat, options, &PROBES)
}

fn assemble_with(compat_name: &str, compat: &str, options: &Options, last: &[Header]) -> Source {
    let mut files =
        vec![("options.h".to_owned(), defines(options)), (compat_name.to_owned(), compat.to_owned())];
    files.extend(HEADERS.iter().chain(last).map(|&(name, text)| (name.to_owned(), text.to_owned())));
    let text: String = files.iter().map(|(name, part)| format!("#line 1 \"{name}\"\n{part}\n")).collect();
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    Source { text, hash, files }
}

fn defines(options: &Options) -> String {
    let flags = [("LS_FAST", options.fast), ("LS_GROUP_COMPACTION", options.group_compaction)];
    flags.iter().filter(|(_, on)| *on).map(|(name, _)| format!("#define {name} 1\n")).collect()
}

/// The headers with their names, entry kernels and probes included.
#[cfg(test)]
pub(crate) fn header_texts() -> Vec<Header> {
    HEADERS.into_iter().chain([ENTRY]).chain(PROBES).collect()
}
