//! Work-items that fit the stack of one of PoCL's threads.
//!
//! PoCL runs a work-group on one thread and keeps the work-items' private memory on its stack. It reports
//! neither its size nor the limit, and crashes beyond it.

use rustix::process::{Resource, getrlimit};

/// Private memory of a traversal as PoCL compiles it, in bytes: two stacks of the BVH8's, with little beside
/// them.
const TRAVERSAL_BYTES: usize = 11 << 10;

/// Stack of a thread in bytes where nothing limits the main thread's: glibc's choice.
const UNLIMITED: u64 = 2 << 20;

/// Stack of a thread that starts now, in bytes: the limit of the main thread's (`ulimit -s`).
pub(crate) fn thread_stack_bytes() -> usize {
    let limit = getrlimit(Resource::Stack).current.unwrap_or(UNLIMITED);
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Most work-items of a group, at least one, whose kernel holds `traversals` traversals at once, on a stack
/// of `stack` bytes. A quarter of the stack is kept for everything else.
pub(crate) fn max_work_items(stack: usize, traversals: usize) -> usize {
    (stack / 4 * 3 / (TRAVERSAL_BYTES * traversals)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_shrink_with_the_stack_and_with_private_memory() {
        assert_eq!(max_work_items(8 << 20, 1), 558);
        assert_eq!(max_work_items(8 << 20, 2), 279);
        assert_eq!(max_work_items(512 << 10, 2), 17);
        assert_eq!(max_work_items(0, 2), 1);
    }

    #[test]
    fn the_stack_of_a_thread_is_that_of_the_main_thread() {
        let limit = std::process::Command::new("sh").args(["-c", "ulimit -s"]).output().unwrap();
        let limit = String::from_utf8(limit.stdout).unwrap();
        match limit.trim().parse::<usize>() {
            Ok(kibibytes) => assert_eq!(thread_stack_bytes(), kibibytes << 10),
            Err(_) => assert_eq!((limit.trim(), thread_stack_bytes()), ("unlimited", 2 << 20)),
        }
    }
}
