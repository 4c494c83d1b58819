//! Kernel headers, embedded in the program.

/// A header, and its name in compile errors.
pub(crate) type Header = (&'static str, &'static str);

macro_rules! header {
    ($name:literal) => {
        (
            concat!("core/gpu/kernels/", $name),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $name)),
        )
    };
}
pub(crate) use header;
