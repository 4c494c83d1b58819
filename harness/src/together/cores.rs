//! Which processors each worker of a group runs on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The most processors that the system's calls can name.
const MOST: usize = CpuSet::MAX_CPU;

/// The processors that this process may run on; empty where the system does not tell.
pub(super) fn available() -> Vec<usize> {
    sched_getaffinity(None).map(|set| (0..MOST).filter(|&cpu| set.is_set(cpu)).collect()).unwrap_or_default()
}

/// Keeps this process and all threads that it will start on these processors.
///
/// # Errors
/// The system's reason.
pub(super) fn stay_on(cpus: &[usize]) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    cpus.iter().filter(|&&cpu| cpu < MOST).for_each(|&cpu| set.set(cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// The processors of each worker; an empty list means all. Workers whose device is the host's processor get parts of
/// equal size, after one processor for each other worker, whose thread feeds its device. Where there are too few,
/// workers share.
pub(super) fn share(available: &[usize], on_host: &[bool]) -> Vec<Vec<usize>> {
    let hosts = on_host.iter().filter(|&&host| host).count();
    let feeders = on_host.len() - hosts;
    let parts = if available.len() >= feeders + hosts { &available[feeders..] } else { available };
    let mut next = 0;
    let mut part = |host: bool| {
        if !host || hosts == 0 {
            return Vec::new();
        }
        let (from, to) = (parts.len() * next / hosts, parts.len() * (next + 1) / hosts);
        next += 1;
        if from == to { parts.to_vec() } else { parts[from..to].to_vec() }
    };
    on_host.iter().map(|&host| part(host)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_other_device_keeps_a_processor_for_its_thread() {
        let cpus: Vec<usize> = (0..16).collect();
        let shares = share(&cpus, &[false, true, true]);
        assert_eq!(shares[0], [0usize; 0]);
        assert_eq!((shares[1][0], shares[1].len(), shares[2].len()), (1, 7, 8));
        let both: Vec<usize> = shares.concat();
        assert_eq!(both, cpus[1..]);
    }

    #[test]
    fn too_few_processors_are_shared() {
        assert_eq!(share(&[0, 1], &[false, true]), [vec![], vec![1]]);
        assert_eq!(share(&[3], &[false, true]), [vec![], vec![3]]);
        assert_eq!(share(&[3], &[true, true]), [vec![3], vec![3]]);
        assert_eq!(share(&[], &[true]), [Vec::<usize>::new()]);
    }

    #[test]
    fn a_thread_can_be_kept_on_the_processors_that_it_has() {
        let cpus = available();
        assert!(!cpus.is_empty());
        let kept = std::thread::spawn(move || {
            stay_on(&cpus[..1]).unwrap();
            (available(), cpus[0])
        });
        let (now, first) = kept.join().unwrap();
        assert_eq!(now, [first]);
    }
}
