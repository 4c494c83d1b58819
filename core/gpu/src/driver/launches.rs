//! The launches of one batch, with every argument in its place.

use crate::driver::arrays::Array;
use crate::driver::device::{Device, KernelArg};
use crate::driver::path_state::PathState;
use crate::driver::timeline::Stage;
use crate::signatures::{
    CONNECT, EXTEND, EXTEND_COHERENT, GENERATE, GivenArgument, Kernel, MEGAKERNEL, RESOLVE, SHADE, TALLY,
    TRACE,
};
use crate::{Pass, SceneArray, SceneConstants};
use lockstep_core::Structure;
use lockstep_core::error::{Error, Result};

/// An argument whose type can be compared with the declaration.
pub(super) enum Argument<'a, D: Device> {
    Plain(&'a [u8]),
    Array(&'a Array<D>),
}

pub(super) fn plain<T: bytemuck::Pod, D: Device>(value: &T) -> Argument<'_, D> {
    Argument::Plain(bytemuck::bytes_of(value))
}

pub(super) fn launch<D: Device>(
    device: &mut D,
    kernel: &Kernel,
    items: u32,
    arguments: &[Argument<'_, D>],
) -> Result<D::Event> {
    let given = arguments.iter().map(|argument| match argument {
        Argument::Plain(bytes) => GivenArgument::Value(bytes.len()),
        Argument::Array(array) => GivenArgument::Buffer(array.element),
    });
    kernel
        .check(device.limits().kind.layout(), &given.collect::<Vec<_>>())
        .map_err(|e| Error::Contract { actor: device.info().target.clone(), message: e.to_string() })?;
    let values = arguments.iter().map(|argument| match argument {
        Argument::Plain(bytes) => KernelArg::Plain(bytes),
        Argument::Array(array) => KernelArg::Buffer(&array.buffer),
    });
    device.launch(kernel, items.max(1), &values.collect::<Vec<_>>())
}

/// The scene's arrays on the device.
pub(super) struct SceneOnDevice<D: Device> {
    constants: SceneConstants,
    arrays: Vec<Array<D>>,
}

impl<D: Device> SceneOnDevice<D> {
    /// Copies a scene, whose `arrays` are [`crate::scene_arrays`].
    pub(super) fn upload(
        device: &mut D,
        constants: SceneConstants,
        arrays: &[SceneArray<'_>],
    ) -> Result<Self> {
        let copy = |array: &SceneArray<'_>| {
            let element = array.argument.of.size;
            let on_device =
                Array::of_size(device, element, array.bytes.len() / element, array.argument.name)?;
            on_device.upload(device, array.bytes)?;
            Ok(on_device)
        };
        Ok(Self { constants, arrays: arrays.iter().map(copy).collect::<Result<_>>()? })
    }

    /// Bytes of all arrays.
    pub(super) fn bytes(&self) -> u64 {
        self.arrays.iter().map(|array| array.bytes).sum()
    }

    /// The scene's arguments followed by a kernel's own.
    pub(super) fn with<'a>(&'a self, own: impl IntoIterator<Item = Argument<'a, D>>) -> Vec<Argument<'a, D>> {
        let arrays = self.arrays.iter().map(Argument::Array);
        std::iter::once(plain(&self.constants)).chain(arrays).chain(own).collect()
    }
}

/// Traces `count` requests into records, which are zero. `arrays` are requests, records and lengths.
pub(super) fn trace<D: Device>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    pass: &Pass,
    count: u32,
    arrays: [&Array<D>; 3],
) -> Result<D::Event> {
    let own = [plain(pass), plain(&count)].into_iter().chain(arrays.map(Argument::Array));
    launch(device, &TRACE, count, &scene.with(own))
}

/// What the launches of a batch need.
pub(super) struct Launches<'a, D: Device> {
    pub(super) device: &'a mut D,
    pub(super) scene: &'a SceneOnDevice<D>,
    pub(super) state: &'a PathState<D>,
    pub(super) pass: Pass,
    /// The kernels that a path goes through.
    pub(super) structure: Structure,
    /// Work-items of each launch: as many as paths, as far as results go any number.
    pub(super) items: u32,
}

impl<D: Device> Launches<'_, D> {
    /// All launches of the batch, in order.
    pub(super) fn all(&mut self, film: &Array<D>, totals: &Array<D>) -> Result<Vec<(Stage, D::Event)>> {
        let mut sequence = match self.structure {
            Structure::Wavefront | Structure::NoCompaction => self.stages()?,
            Structure::Megakernel => vec![self.megakernel()?],
        };
        sequence.push(self.resolve(film)?);
        sequence.push(self.tally(totals)?);
        Ok(sequence)
    }

    /// The paths of the batch, stage by stage.
    fn stages(&mut self) -> Result<Vec<(Stage, D::Event)>> {
        let bounces = self.pass.bounces;
        let mut sequence = vec![self.generate()?];
        for bounce in 0..=bounces {
            sequence.push(self.extend(bounce)?);
            sequence.push(self.shade(bounce)?);
            // The last bounce only adds emission, so it has no shadow rays.
            if bounce < bounces {
                sequence.push(self.connect(bounce)?);
            }
        }
        Ok(sequence)
    }

    /// The paths of the batch, from end to end.
    fn megakernel(&mut self) -> Result<(Stage, D::Event)> {
        let (items, s) = (self.items, self.state);
        let arguments = self.scene.with([
            plain(&self.pass),
            Argument::Array(&s.path_radiance),
            Argument::Array(&s.counters),
        ]);
        Ok((Stage::None, launch(self.device, &MEGAKERNEL, items, &arguments)?))
    }

    /// Starts the batch's paths.
    fn generate(&mut self) -> Result<(Stage, D::Event)> {
        let (items, s) = (self.items, self.state);
        let arguments = [
            plain(&self.pass),
            Argument::Array(&s.path_origin),
            Argument::Array(&s.path_direction),
            Argument::Array(&s.path_throughput),
            Argument::Array(&s.path_radiance),
            Argument::Array(&s.queues[0]),
            Argument::Array(&s.counters),
        ];
        Ok((Stage::Generate, launch(self.device, &GENERATE, items, &arguments)?))
    }

    /// Finds the hits of a bounce.
    fn extend(&mut self, bounce: u32) -> Result<(Stage, D::Event)> {
        let (items, s) = (self.items, self.state);
        let arguments = self.scene.with([
            plain(&self.pass),
            plain(&bounce),
            Argument::Array(&s.path_origin),
            Argument::Array(&s.path_direction),
            Argument::Array(&s.queues[bounce as usize % 2]),
            Argument::Array(&s.hits),
            Argument::Array(&s.hit_primitives),
            Argument::Array(&s.counters),
        ]);
        let kernel = if bounce == 0 { &EXTEND_COHERENT } else { &EXTEND };
        Ok((Stage::Extend, launch(self.device, kernel, items, &arguments)?))
    }

    /// Shades the hits of a bounce.
    fn shade(&mut self, bounce: u32) -> Result<(Stage, D::Event)> {
        let (items, s) = (self.items, self.state);
        let (queue, next) = (bounce as usize % 2, (bounce as usize + 1) % 2);
        let arguments = self.scene.with([
            plain(&self.pass),
            plain(&bounce),
            Argument::Array(&s.path_origin),
            Argument::Array(&s.path_direction),
            Argument::Array(&s.path_throughput),
            Argument::Array(&s.path_radiance),
            Argument::Array(&s.hits),
            Argument::Array(&s.hit_primitives),
            Argument::Array(&s.queues[queue]),
            Argument::Array(&s.queues[next]),
            Argument::Array(&s.shadow_origin),
            Argument::Array(&s.shadow_direction),
            Argument::Array(&s.shadow_radiance),
            Argument::Array(&s.counters),
        ]);
        Ok((Stage::Shade, launch(self.device, &SHADE, items, &arguments)?))
    }

    /// Traces the shadow rays of a bounce.
    fn connect(&mut self, bounce: u32) -> Result<(Stage, D::Event)> {
        let (items, s) = (self.items, self.state);
        let arguments = self.scene.with([
            plain(&self.pass),
            plain(&bounce),
            Argument::Array(&s.shadow_origin),
            Argument::Array(&s.shadow_direction),
            Argument::Array(&s.shadow_radiance),
            Argument::Array(&s.path_radiance),
            Argument::Array(&s.counters),
        ]);
        Ok((Stage::Connect, launch(self.device, &CONNECT, items, &arguments)?))
    }

    /// Adds the finished paths to the film.
    fn resolve(&mut self, film: &Array<D>) -> Result<(Stage, D::Event)> {
        let (items, s) = (self.items, self.state);
        let arguments = [
            plain(&self.pass),
            Argument::Array(&s.path_radiance),
            Argument::Array(film),
            Argument::Array(&s.invalid),
        ];
        Ok((Stage::None, launch(self.device, &RESOLVE, items, &arguments)?))
    }

    /// Adds the batch's counts to the totals and clears them.
    fn tally(&mut self, totals: &Array<D>) -> Result<(Stage, D::Event)> {
        let s = self.state;
        let arguments = [
            plain(&self.pass),
            Argument::Array(&s.counters),
            Argument::Array(&s.invalid),
            Argument::Array(totals),
        ];
        Ok((Stage::None, launch(self.device, &TALLY, 1, &arguments)?))
    }
}
