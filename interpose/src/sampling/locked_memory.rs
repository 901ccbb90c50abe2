//! Memory for samples that the program's user may lock, and how much of it is the recorder's.
//!
//! The kernel locks the buffers of perf events and counts their pages by user. The first pages, up to `kernel.perf_event_mlock_kb` for each core, count
//! together with other uses: io_uring and AF_XDP refuse to register memory if all of these pages exceed RLIMIT_MEMLOCK. So pages within the allowance
//! for perf events are missing there, and the recorder takes only a small share.

use crate::machine::system::perf::PAGE;
use crate::machine::system::process;
use crate::run::launcher;

/// The processes of a host take one page in `SHARE` of those that their user may lock.
const SHARE: u64 = 8;

/// A thread's buffer takes at most one page in `PART` of those left for the process, so that later threads get some.
pub const PART: u64 = 4;

/// The memory that a process may lock for samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockedShare {
    /// Bytes that no thread has yet; `None`: there is no limit that anyone could meet.
    left: Option<u64>,
}

impl LockedShare {
    pub fn of_process() -> Self {
        if process::may_lock_all() {
            return LockedShare { left: None };
        }
        let per_core = std::fs::read_to_string("/proc/sys/kernel/perf_event_mlock_kb").ok();
        let per_core = per_core.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0) << 10;
        // SAFETY: sysconf has no preconditions.
        let cores = u64::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1);
        let processes = launcher::ranks_here().map_or(1, u64::from);
        LockedShare::new(process::resource_limit(libc::RLIMIT_MEMLOCK), per_core.saturating_mul(cores), processes)
    }

    /// Returns the share of one of the host's `processes`, whose user may lock `limit` bytes (RLIMIT_MEMLOCK) and, for perf events alone,
    /// `allowance` bytes.
    pub fn new(limit: u64, allowance: u64, processes: u64) -> Self {
        // Where nothing may be locked no process can register memory, but all can have events.
        let of_user = if limit == 0 { allowance } else { limit };
        LockedShare { left: (limit != libc::RLIM_INFINITY).then(|| of_user / SHARE / processes.max(1)) }
    }

    /// Returns the bytes for samples of one more thread: `wanted`, a power of two, or half of it, or half of that, as there is room for with
    /// `beside` bytes in one page of `part` of those left, or `None` if not even a page fits into all of them.
    pub fn fitting(&self, wanted: usize, beside: u64, part: u64) -> Option<usize> {
        let Some(left) = self.left else { return Some(wanted) };
        let mut bytes = wanted;
        while bytes > PAGE && bytes as u64 + beside > left / part {
            bytes /= 2;
        }
        self.has(bytes as u64 + beside).then_some(bytes)
    }

    /// Returns whether this number of bytes is left.
    pub fn has(&self, bytes: u64) -> bool {
        self.left.is_none_or(|left| bytes <= left)
    }

    pub fn take(&mut self, bytes: u64) {
        self.left = self.left.map(|left| left.saturating_sub(bytes));
    }

    pub fn give_back(&mut self, bytes: u64) {
        self.left = self.left.map(|left| left.saturating_add(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processes_of_a_host_take_an_eighth_at_most() {
        for (limit, allowance, processes) in
            [(8 << 20, 1 << 20, 1), (1100 << 10, 1 << 20, 1), (0, 516 << 10, 2), (8 << 20, 33 << 20, 64)]
        {
            let mut share = LockedShare::new(limit, allowance, processes);
            let (mut taken, mut threads) = (0, 0);
            while let Some(bytes) = share.fitting(128 << 10, PAGE as u64, PART) {
                share.take((bytes + PAGE) as u64);
                (taken, threads) = (taken + bytes + PAGE, threads + 1);
            }
            let of_user = if limit == 0 { allowance } else { limit };
            assert!(
                taken as u64 * processes <= of_user / 8 && threads >= 2,
                "{limit}: {threads} threads, {taken} bytes"
            );
        }
    }
}
