//! Has the kernel ready for samples before the program asks for them.
//!
//! The first perf event on a host makes the kernel change its own code and wait until every core has seen that: about 10 ms, nearly all of them
//! asleep, which `MPI_Init` would take longer. It stays so for a second after the last event was closed. So a process of its own opens an event
//! and ends, while the program is loaded. The program never meets it: it is no child of the program's, and has no file open.

use std::ffi::OsString;
use std::mem::MaybeUninit;

use crate::is_zero;
use crate::perf_descriptor::{Attributes, Descriptor, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, TASK_CLOCK, TYPE_SOFTWARE};

/// Variables in which launchers say which rank of its host this one is.
const LOCAL_RANK: [&str; 7] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "FLUX_TASK_LOCAL_ID",
    "SLURM_LOCALID",
    "JSM_NAMESPACE_LOCAL_RANK",
];

/// Opens a perf event in a process apart, on the first rank of each host, if threads are to be sampled. `settings`: those that lb-run sets.
pub fn warm_up(settings: &[(OsString, OsString)]) {
    // A system call filter may end whoever forks.
    if is_zero(&LOCAL_RANK) && is_sampling(|name| value(settings, name)) && is_unfiltered() {
        apart(open_event);
    }
}

/// Whether this process may make any system call.
fn is_unfiltered() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter_map(|line| line.strip_prefix("Seccomp:")).any(|mode| mode.trim() == "0")
}

/// A setting's value for the program.
fn value(settings: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    let set = settings.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone());
    set.or_else(|| std::env::var_os(name))
}

/// Whether threads are sampled, by the program's settings.
fn is_sampling(value: impl Fn(&str) -> Option<OsString>) -> bool {
    let is = |name: &str, off: &str| value(name).is_some_and(|value| value == off);
    !is("LBPROF_SAMPLE", "0") && !is("LBPROF_MODE", "off")
}

/// As the recorder's own events; it is closed as the process ends.
fn open_event() {
    let _ = Descriptor::open(
        0,
        None,
        Attributes {
            kind: TYPE_SOFTWARE,
            config: TASK_CLOCK,
            flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..Attributes::default()
        },
    );
}

/// Runs `work` in a process that belongs to nobody. Where there may be no further process it is not run.
fn apart(work: fn()) {
    // SAFETY: lb-run has one thread, so that its children may do anything. The action on SIGCHLD is put back as it was; while the signal is
    // ignored, a child leaves neither a signal, nor itself, nor its times, which the program would find.
    unsafe {
        let mut before = MaybeUninit::uninit();
        let mut ignored: libc::sigaction = std::mem::zeroed();
        ignored.sa_sigaction = libc::SIG_IGN;
        if libc::sigaction(libc::SIGCHLD, &raw const ignored, before.as_mut_ptr()) != 0 {
            return;
        }
        let child = libc::fork();
        if child == 0 {
            if libc::fork() == 0 {
                // Nobody waits for the end of a pipe because of it.
                libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
                work();
            }
            libc::_exit(0);
        }
        if child > 0 {
            // Until it has ended.
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        libc::sigaction(libc::SIGCHLD, before.as_ptr(), std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_nothing_to_do_where_nothing_is_sampled() {
        let with = |set: &'static [(&str, &str)]| {
            is_sampling(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert!(with(&[]));
        assert!(with(&[("LBPROF_SAMPLE", "200"), ("LBPROF_MODE", "profile")]));
        assert!(!with(&[("LBPROF_SAMPLE", "0")]));
        assert!(!with(&[("LBPROF_MODE", "off")]));
    }

    #[test]
    fn what_lb_run_sets_comes_before_what_it_inherits() {
        let settings = [("PATH".into(), "none".into())];
        assert_eq!(value(&settings, "PATH"), Some("none".into()));
        assert_eq!(value(&[], "PATH"), std::env::var_os("PATH"));
    }
}
