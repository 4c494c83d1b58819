//! Device memory that knows its element type's size.

use crate::driver::device::Device;
use bytemuck::Pod;
use lockstep_core::error::Result;

/// A buffer of elements of one type.
pub(super) struct Array<D: Device> {
    pub(super) buffer: D::Buffer,
    /// Bytes of one element.
    pub(super) element: usize,
    /// Name for messages.
    what: &'static str,
    /// Bytes of all elements.
    pub(super) bytes: u64,
}

impl<D: Device> Array<D> {
    /// Memory for `len` elements of `element` bytes. An empty array still has room for one, since APIs know
    /// no empty buffers.
    pub(super) fn of_size(device: &mut D, element: usize, len: usize, what: &'static str) -> Result<Self> {
        let bytes = (element * len) as u64;
        let buffer = device.allocate(bytes.max(element as u64), what)?;
        Ok(Self { buffer, element, what, bytes })
    }

    /// Memory for `len` elements of type `T`.
    pub(super) fn uninitialised<T: Pod>(device: &mut D, len: usize, what: &'static str) -> Result<Self> {
        Self::of_size(device, size_of::<T>(), len, what)
    }

    /// Memory for `len` zeroed elements of type `T`.
    pub(super) fn zeroed<T: Pod>(device: &mut D, len: usize, what: &'static str) -> Result<Self> {
        let array = Self::uninitialised::<T>(device, len, what)?;
        array.clear(device)?;
        Ok(array)
    }

    /// Makes all elements zero.
    pub(super) fn clear(&self, device: &mut D) -> Result<()> {
        self.upload(device, &vec![0; self.bytes as usize])
    }

    /// Copies `bytes`, a whole number of elements, to the array's start.
    pub(super) fn upload(&self, device: &mut D, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        device.upload(&self.buffer, bytes, self.what)
    }

    /// The first `len` elements, once all work before is done.
    pub(super) fn download<T: Pod>(&self, device: &mut D, len: usize) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); len];
        self.download_into(device, &mut values)?;
        Ok(values)
    }

    /// [`Self::download`] into memory that is there.
    pub(super) fn download_into<T: Pod>(&self, device: &mut D, values: &mut [T]) -> Result<()> {
        device.download(&self.buffer, bytemuck::cast_slice_mut(values), self.what)
    }
}
