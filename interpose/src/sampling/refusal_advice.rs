//! Why the system does not let threads be sampled, by the number of its error, and what helps.

use std::io;

use lbprof_collector::words::SystemError;

/// The highest value of kernel.perf_event_paranoid with which users may sample their own threads.
const MAX_PARANOID: i64 = 2;

/// Explains an error of perf_event_open(2). `paranoid` is the value of kernel.perf_event_paranoid.
pub fn explain_event(error: &io::Error, paranoid: Option<i64>) -> String {
    let advice = match (error.raw_os_error(), paranoid) {
        (Some(libc::ENOSYS), _) => {
            "what runs the program (an emulator, a sandbox, a kernel without perf events) does not have it: run on a system that does"
        }
        (Some(libc::EACCES | libc::EPERM), Some(value)) if value > MAX_PARANOID => {
            let forbids = "kernel.perf_event_paranoid is";
            return format!(
                "perf_event_open: {forbids} {value}; an administrator can allow it: sysctl kernel.perf_event_paranoid=2"
            );
        }
        (Some(libc::EACCES | libc::EPERM), _) => {
            "a container or a security module forbids it: start the container with the capability PERFMON, or with a seccomp profile that allows it"
        }
        (Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::EINVAL), _) => {
            "this kernel does not have the event of a thread's CPU time, or not with what is asked of it"
        }
        (Some(libc::EMFILE), _) => "too many files are open in the process: raise ulimit -n",
        _ => return format!("perf_event_open: {}", SystemError(error)),
    };
    format!("perf_event_open: {advice}")
}

/// Explains an error in mapping the memory for samples. `mlock_kb` is the value of kernel.perf_event_mlock_kb.
pub fn explain_memory(error: &io::Error, mlock_kb: Option<i64>) -> String {
    match (error.raw_os_error(), mlock_kb) {
        (Some(libc::EPERM | libc::EAGAIN), Some(kb)) => {
            let limit = "the memory that users may lock is used up";
            format!(
                "memory for samples: {limit} (kernel.perf_event_mlock_kb is {kb}): an administrator can raise it, or ulimit -l"
            )
        }
        _ => format!("memory for samples: {}", SystemError(error)),
    }
}
