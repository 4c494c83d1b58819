//! Large blocks of memory in large pages.
//!
//! Scenes, BVHs and films are arrays of megabytes to gigabytes. In pages of 4 KiB the kernel takes longer to
//! hand them out than some passes over them take, and traversals of a BVH miss the processor's table of
//! pages. Linux backs a block by pages of 2 MiB where it is asked to, and where its administrator has not
//! forbidden that.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with large pages for large blocks.
pub(crate) struct LargePages;

/// Bytes of the smallest block that is asked about.
const LEAST: usize = 4 << 20;

/// Bytes of a small page, or of several.
const PAGE: usize = 1 << 16;

/// Asks for large pages below a block, which may be null.
fn advise(block: *mut u8, size: usize) {
    if block.is_null() || size < LEAST {
        return;
    }
    let start = block.addr().next_multiple_of(PAGE);
    let end = (block.addr() + size) / PAGE * PAGE;
    // SAFETY: these pages lie within the block, and the advice changes nothing that they hold. Where it is
    // refused, all stays as it is.
    unsafe { libc::madvise(block.with_addr(start).cast(), end - start, libc::MADV_HUGEPAGE) };
}

// SAFETY: the system's allocator does all the work, by its own contract, which is the caller's.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        let block = unsafe { System.alloc(layout) };
        advise(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let block = unsafe { System.alloc_zeroed(layout) };
        advise(block, layout.size());
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; every block comes from the system's allocator.
        let block = unsafe { System.realloc(block, layout, size) };
        advise(block, size);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    /// A block as large as some large pages, through all that allocates.
    #[test]
    fn large_blocks_hold_what_is_written_and_start_at_zero_where_asked() {
        let mut zeroed = vec![0u64; 3 << 20];
        assert!(zeroed.iter().all(|&x| x == 0));
        zeroed[(3 << 20) - 1] = 7;
        zeroed.resize(5 << 20, 9);
        assert_eq!((zeroed[0], zeroed[(3 << 20) - 1], zeroed[(5 << 20) - 1]), (0, 7, 9));
        zeroed.shrink_to(1 << 18);
        assert_eq!(zeroed.len(), 5 << 20);
        zeroed.truncate(1 << 18);
        zeroed.shrink_to_fit();
        assert!(zeroed.iter().all(|&x| x == 0));
    }

    /// The kernel says which flags a range of addresses has; `hg` is the advice.
    #[test]
    fn the_kernel_is_asked_for_large_pages() {
        let block: Vec<u8> = Vec::with_capacity(64 << 20);
        let middle = block.as_ptr().addr() + (32 << 20);
        let map = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let range = |line: &str| {
            let (lo, hi) = line.split(' ').next()?.split_once('-')?;
            Some(usize::from_str_radix(lo, 16).ok()?..usize::from_str_radix(hi, 16).ok()?)
        };
        let mut lines =
            map.lines().skip_while(|line| !range(line).is_some_and(|range| range.contains(&middle)));
        let Some(flags) = lines.find(|line| line.starts_with("VmFlags:")) else {
            return lockstep_conformance::require::skip(
                &"This kernel does not say which advice it took (VmFlags in /proc/self/smaps).",
            );
        };
        let is_known = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        assert_eq!(flags.split(' ').any(|flag| flag == "hg"), is_known, "{flags}");
    }
}
