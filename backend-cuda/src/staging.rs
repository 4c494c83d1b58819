//! Large downloads through page-locked memory. To other memory the driver copies in one thread, at a fraction of the bus's
//! rate; here the device writes one part while threads of the host copy the part before.

use cust::context::{Context, CurrentContext};
use cust::error::CudaResult;
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceSlice, DeviceSliceIndex, LockedBuffer};
use cust::stream::Stream;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of a part.
const PART: usize = 8 << 20;
/// Bytes that one thread copies at a time.
const BLOCK: usize = 1 << 18;
/// Bytes of the least download that is worth the threads.
pub(crate) const LEAST: usize = 4 << 20;

/// Page-locked memory for two parts of a download.
pub(crate) struct Staging {
    parts: [LockedBuffer<u8>; 2],
    /// The device has written a part.
    written: [Event; 2],
    context: &'static Context,
}

impl Staging {
    /// Takes memory of the context, which is current.
    ///
    /// # Errors
    /// The driver's, such as too little memory.
    pub(crate) fn new(context: &'static Context) -> CudaResult<Self> {
        // SAFETY: a part is read only up to where the device has written it.
        let part = || unsafe { LockedBuffer::uninitialized(PART) };
        let event = || Event::new(EventFlags::DISABLE_TIMING);
        Ok(Self { parts: [part()?, part()?], written: [event()?, event()?], context })
    }

    /// Copies device memory to the host once all work before it on the stream has ended; both have the same length.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn download(
        &mut self,
        from: &DeviceSlice<u8>,
        into: &mut [u8],
        stream: &Stream,
    ) -> CudaResult<()> {
        let parts = into.len().div_ceil(PART);
        for next in 0..=parts {
            if next < parts {
                self.start(from, next, range_of(next, into.len()), stream)?;
            }
            if let Some(part) = next.checked_sub(1) {
                let range = range_of(part, into.len());
                self.finish(part, &mut into[range])?;
            }
        }
        Ok(())
    }

    /// Tells the device to write a part. The part two before it, which lay in the same memory, is finished.
    fn start(
        &mut self,
        from: &DeviceSlice<u8>,
        part: usize,
        range: Range<usize>,
        stream: &Stream,
    ) -> CudaResult<()> {
        let memory = &mut self.parts[part % 2][..range.len()];
        // SAFETY: the memory is read, used again and freed only after the event that follows.
        unsafe { range.index(from).async_copy_to(memory, stream)? };
        self.written[part % 2].record(stream)
    }

    /// Waits for a part and copies it to its place.
    fn finish(&self, part: usize, into: &mut [u8]) -> CudaResult<()> {
        self.written[part % 2].synchronize()?;
        let from = &self.parts[part % 2][..into.len()];
        let blocks = into.par_chunks_mut(BLOCK).zip(from.par_chunks(BLOCK));
        blocks.for_each(|(into, from)| into.copy_from_slice(from));
        Ok(())
    }
}

/// The bytes of a part of a download of `length` bytes.
fn range_of(part: usize, length: usize) -> Range<usize> {
    part * PART..length.min((part + 1) * PART)
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The memory is freed right after. A lost context has nothing left to free.
        let _ = CurrentContext::set_current(self.context);
        // A download that failed may have left a copy to the memory under way
        for event in &self.written {
            let _ = event.synchronize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_download_without_a_gap() {
        for length in [1, PART - 1, PART, PART + 1, 3 * PART, 3 * PART + 7] {
            let parts = (0..length.div_ceil(PART)).map(|part| range_of(part, length));
            let end = parts.fold(0, |end, range| {
                assert!(range.start == end && !range.is_empty() && range.len() <= PART, "{range:?}");
                range.end
            });
            assert_eq!(end, length);
        }
    }
}
