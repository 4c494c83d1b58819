//! Probes: kernels that call single device functions, to compare them with their Rust counterparts.

use crate::signatures::{Argument, ArgumentType, Kernel, Passing};
use crate::{SceneArray, SceneConstants};
use lockstep_bvh::Layout;
use lockstep_core::error::Result;

/// A launch of one probe. Its arguments follow in the order of the fields.
pub struct Call<'a> {
    /// The kernel; [`Kernel::check`] accepts the arguments below in this order.
    pub kernel: Kernel,
    /// The scene constants, by value, if the kernel takes the scene.
    pub scene: Option<(SceneConstants, &'a [SceneArray<'a>])>,
    /// Number of items, by value.
    pub count: u32,
    /// Contents of the input buffer; at least one word.
    pub inputs: &'a [u32],
    /// Words of the output buffer, zero before the launch, which the call returns.
    pub output_words: usize,
}

/// A device with the kernels of [`crate::assemble_probes`].
pub trait ProbeDevice {
    /// Launches a probe with any global size and returns its output words.
    ///
    /// # Errors
    /// Any error of the device.
    fn probe(&mut self, call: &Call<'_>) -> Result<Vec<u32>>;

    /// The layout of the BVH that its probes traverse.
    fn layout(&self) -> Layout {
        Layout::default()
    }
}

const WORD: ArgumentType = ArgumentType { name: "u32", size: 4 };

/// The parameters of every probe beside the scene.
const PROBE_ARGUMENTS: [Argument; 3] = [
    Argument { name: "count", of: WORD, passing: Passing::Value },
    Argument { name: "inputs", of: WORD, passing: Passing::Input },
    Argument { name: "outputs", of: WORD, passing: Passing::Output },
];

/// The declaration of a probe's kernel.
pub const fn probe_kernel(name: &'static str, takes_scene: bool) -> Kernel {
    Kernel { name, takes_scene, traverses: false, own: &PROBE_ARGUMENTS }
}
