//! How many work-items fit the stack of one of PoCL's threads.
//!
//! PoCL runs a work-group on one thread and keeps on its stack what the work-items own. It reports neither how much that is
//! nor the limit, and crashes beyond.

use rustix::process::{Resource, getrlimit};

/// Bytes of a work-item's own that a traversal takes in what PoCL makes of it: two stacks of the BVH8's, with little
/// beside them.
const TRAVERSAL_BYTES: usize = 11 << 10;

/// Bytes of a thread's stack where nothing limits the main thread's: glibc's choice.
const UNLIMITED: u64 = 2 << 20;

/// Bytes of the stack of a thread that starts now: as many as the main thread may have (`ulimit -s`).
pub(crate) fn of_a_thread() -> usize {
    let limit = getrlimit(Resource::Stack).current.unwrap_or(UNLIMITED);
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// The most work-items of a group whose kernel holds so many traversals at once, on a stack of so many bytes, a quarter of
/// which is for everything else; at least one.
pub(crate) fn most_work_items(stack: usize, traversals: usize) -> usize {
    (stack / 4 * 3 / (TRAVERSAL_BYTES * traversals)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_shrink_with_the_stack_and_with_what_a_work_item_owns() {
        assert_eq!(most_work_items(8 << 20, 1), 558);
        assert_eq!(most_work_items(8 << 20, 2), 279);
        assert_eq!(most_work_items(512 << 10, 2), 17);
        assert_eq!(most_work_items(0, 2), 1);
    }

    #[test]
    fn the_stack_of_a_thread_is_that_of_the_main_thread() {
        let limit = std::process::Command::new("sh").args(["-c", "ulimit -s"]).output().unwrap();
        let limit = String::from_utf8(limit.stdout).unwrap();
        match limit.trim().parse::<usize>() {
            Ok(kibibytes) => assert_eq!(of_a_thread(), kibibytes << 10),
            Err(_) => assert_eq!((limit.trim(), of_a_thread()), ("unlimited", 2 << 20)),
        }
    }
}
