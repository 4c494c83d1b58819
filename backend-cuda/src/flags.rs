//! Compiler flags of the kernels, by mode and block size.

use lockstep_core::{KernelConfig, Mode};

/// Flags of exact mode: IEEE arithmetic as written.
const EXACT_FLAGS: [&str; 4] = ["--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"];

/// Flags of fast mode: contraction, approximate division, roots and functions, denormals flushed.
const FAST_FLAGS: [&str; 1] = ["--use_fast_math"];

/// Makes the assembler log each kernel's resources. It changes no code, so it is no part of a cache key.
pub(crate) const VERBOSE_FLAG: &str = "--ptxas-options=-v";

/// Most threads of a block, unless a kernel configuration sets another size: neighbouring rays differ in
/// length, and a block holds its registers until its last ray ends.
pub(crate) const LARGEST_BLOCK: u32 = 128;

/// Launch bounds of kernels for blocks larger than [`LARGEST_BLOCK`], which get fewer registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockBound {
    /// Up to 512 threads.
    Threads512,
    /// Up to 1,024 threads, the most that any device supports.
    Threads1024,
}

impl BlockBound {
    /// The launch bounds that a kernel configuration's blocks need; `None` for the usual ones.
    pub(crate) fn of(config: &KernelConfig) -> Option<Self> {
        let block = config.group.unwrap_or(LARGEST_BLOCK);
        if block <= LARGEST_BLOCK {
            return None;
        }
        Some(if block <= 512 { Self::Threads512 } else { Self::Threads1024 })
    }

    /// The compiler's flag that sets them.
    fn flag(self) -> &'static str {
        match self {
            Self::Threads512 => "--define-macro=LS_GROUP=512",
            Self::Threads1024 => "--define-macro=LS_GROUP=1024",
        }
    }
}

/// The compiler's flags for a mode, without the architecture.
pub(crate) fn flags(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Exact => &EXACT_FLAGS,
        Mode::Fast => &FAST_FLAGS,
    }
}

/// The compiler's flags for a program, without the architecture.
pub(crate) fn all_flags(mode: Mode, bound: Option<BlockBound>) -> Vec<&'static str> {
    flags(mode).iter().copied().chain(bound.map(BlockBound::flag)).collect()
}
