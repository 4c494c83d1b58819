//! Launches of one batch, with their arguments.

use crate::driver::arrays::Array;
use crate::driver::device::{Device, DeviceType, KernelArg};
use crate::driver::path_state::{PathState, unbound};
use crate::driver::timeline::Stage;
use crate::integrators::{self, Step};
use crate::signatures::{self, GivenArgument, Kernel};
use crate::{Pass, SceneArray, SceneConstants};
use lockstep_core::error::{Error, Result};

/// An argument with its type, to compare with the declaration.
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
        .map_err(|e| Error::Contract { actor: device.info().target.to_string(), message: e.to_string() })?;
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

/// Records the paths of `count` requests. `arrays` are requests, records (zero before) and lengths.
pub(super) fn launch_recording<D: Device>(
    device: &mut D,
    scene: &SceneOnDevice<D>,
    pass: &Pass,
    kernel: &Kernel,
    count: u32,
    arrays: [&Array<D>; 3],
) -> Result<D::Event> {
    let own = [plain(pass), plain(&count)].into_iter().chain(arrays.map(Argument::Array));
    launch(device, kernel, count, &scene.with(own))
}

/// The launches of a batch.
pub(super) struct Launches<'a, D: Device> {
    pub(super) device: &'a mut D,
    pub(super) scene: &'a SceneOnDevice<D>,
    pub(super) state: &'a PathState<D>,
    pub(super) film: &'a Array<D>,
    pub(super) totals: &'a Array<D>,
    pub(super) pass: Pass,
    /// The integrator's launches in the kernel structure of the configuration.
    pub(super) schedule: &'static [Step],
    /// The most bounces of a path.
    pub(super) bounces: u32,
    /// Work-items of each launch: one per path, though any number gives the same result.
    pub(super) items: u32,
}

impl<D: Device> Launches<'_, D> {
    /// Enqueues all launches of the batch, in order.
    pub(super) fn all(&mut self) -> Result<Vec<(Stage, D::Event)>> {
        let mut sequence = Vec::new();
        for step in self.schedule {
            match step {
                Step::Launch(stage) => sequence.push(self.launch(stage, 0)?),
                Step::Rounds(stages, number) => {
                    let rounds = number(self.bounces);
                    for round in 0..rounds {
                        let last = round + 1 == rounds;
                        for stage in stages.iter().filter(|stage| stage.in_last_round || !last) {
                            sequence.push(self.launch(stage, round)?);
                        }
                    }
                }
            }
        }
        Ok(sequence)
    }

    /// Enqueues one stage, its parameters bound by name.
    fn launch(&mut self, stage: &integrators::Stage, round: u32) -> Result<(Stage, D::Event)> {
        // On processors the kernel of the first round is the same code, which one compilation serves
        let may_differ = self.device.limits().kind == DeviceType::Gpu;
        let kernel = stage.first.filter(|_| round == 0 && may_differ).unwrap_or(stage.kernel);
        let bind = |parameter: &signatures::Argument| match parameter.name {
            signatures::PASS_NAME => Ok(plain(&self.pass)),
            signatures::BOUNCE_NAME => Ok(plain(&round)),
            "film" => Ok(Argument::Array(self.film)),
            "totals" => Ok(Argument::Array(self.totals)),
            name => self
                .state
                .get(name, round)
                .map(Argument::Array)
                .ok_or_else(|| unbound(&self.device.info().target.to_string(), kernel.name, name)),
        };
        let own: Vec<Argument<'_, D>> = kernel.own.iter().map(bind).collect::<Result<_>>()?;
        let arguments = if kernel.takes_scene { self.scene.with(own) } else { own };
        let items = if stage.single { 1 } else { self.items };
        Ok((stage.name, launch(self.device, kernel, items, &arguments)?))
    }
}
