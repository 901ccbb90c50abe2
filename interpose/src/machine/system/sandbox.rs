//! Checks whether the program has put itself under a system call filter (seccomp) since recording started.
//!
//! A filter may end the process for a call that it does not list, and it lists the program's calls, not a recorder's. Nearly every
//! filter allows the calls that a flush needs (fstat, rt_sigprocmask, rt_sigaction, write; mmap where the heap grows). Under a filter all others are
//! left out: resource usage, removing rings, recording further threads. A process cannot ask safely whether it has a filter, because
//! that is a system call, too; reading a file that is open already (pread64) is the call that filters are most likely to allow.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::machine::system::files::kept_file::KeptFile;

/// This thread's status in /proc.
static STATUS: KeptFile = KeptFile::new();
/// Filters when recording started, as [`read_filters`] gives them.
static BEFORE: AtomicU64 = AtomicU64::new(0);
/// True if one was added since. No filter is ever taken away.
static FILTERED: AtomicBool = AtomicBool::new(false);

/// Notes which filters there are when recording starts. The calling thread is watched: others inherit its filters.
pub fn remember_filters() {
    if let Ok(filters) = open_status().and_then(read_filters) {
        BEFORE.store(filters, Relaxed);
    }
}

/// Returns whether the process had a filter when recording started; also where that is not known.
pub fn was_filtered() -> bool {
    !STATUS.is_open() || BEFORE.load(Relaxed) != 0
}

/// Returns whether a filter has been installed since [`remember_filters`]. Allocates nothing and takes no lock: it may run in a signal handler.
pub fn is_filtered() -> bool {
    if FILTERED.load(Relaxed) {
        return true;
    }
    let now = match STATUS.number().map_or_else(open_status, Ok).and_then(read_filters) {
        Ok(now) => now,
        // The filter refuses to answer.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES | libc::ENOSYS)) => u64::MAX,
        Err(_) => return false,
    };
    let filtered = now != BEFORE.load(Relaxed);
    FILTERED.fetch_or(filtered, Relaxed);
    filtered
}

fn open_status() -> io::Result<c_int> {
    STATUS.keep(File::open("/proc/thread-self/status")?)
}

/// Reads mode and number of filters of the thread whose status `number` is, as one number (proc_pid_status(5)).
fn read_filters(number: c_int) -> io::Result<u64> {
    // Fields that are long on large machines come after these.
    let mut text = [0u8; 2048];
    // SAFETY: a system call that fills at most the buffer. Without moving the file's position, should it be the program's after all.
    let length = unsafe { libc::pread(number, text.as_mut_ptr().cast(), text.len(), 0) };
    let Ok(length) = usize::try_from(length) else { return Err(io::Error::last_os_error()) };
    Ok(parse_filters(text.get(..length).unwrap_or_default()))
}

/// Returns mode and number of filters in the text of /proc/PID/status, as one number.
pub fn parse_filters(status: &[u8]) -> u64 {
    let [mode, n_filters] = ["Seccomp:", "Seccomp_filters:"].map(|name| {
        let line = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name.as_bytes()))?;
        str::from_utf8(line).ok()?.trim().parse::<u32>().ok()
    });
    u64::from(mode.unwrap_or(0)) << 32 | u64::from(n_filters.unwrap_or(0))
}
