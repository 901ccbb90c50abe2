//! The status with which the process ends: what the program gave to exit(), or returned from main.
//!
//! exit() hands it to the functions that were registered by on_exit(), then runs `.fini_array`, where the log is ended
//! ([`crate::lifecycle`]). A log that MPI_Finalize has closed gets it as one more block, and only where it says something: a
//! status other than 0.
//!
//! Programs call exit() from signal handlers, too. So what runs then stores a number, or makes system calls that POSIX allows
//! there: nothing is allocated, no lock is taken.

use std::ffi::{CString, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use lbprof_collector::definition::Definition;
use lbprof_collector::writer::block_of;

use crate::forward::symbol;
use crate::log::file::write_quietly;
use crate::system::sandbox;

/// What [`STATUS`] is while the process has not begun to exit.
const UNKNOWN: i64 = i64::MAX;

/// The status, once exit() was called.
static STATUS: AtomicI64 = AtomicI64::new(UNKNOWN);

/// The log that MPI_Finalize has closed, and the process that recorded it.
static CLOSED: OnceLock<(CString, u32)> = OnceLock::new();

/// From now on exit() tells its status. Without on_exit(), as in musl, it is never known.
pub fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    type OnExit = unsafe extern "C" fn(extern "C" fn(c_int, *mut c_void), *mut c_void) -> c_int;
    let address = symbol(c"on_exit");
    if address == 0 || WATCHED.swap(true, Relaxed) {
        return;
    }
    // SAFETY: on_exit(3) has this signature wherever there is one. This library is never unloaded: it was preloaded.
    unsafe { std::mem::transmute::<usize, OnExit>(address)(note, std::ptr::null_mut()) };
}

extern "C" fn note(status: c_int, _: *mut c_void) {
    STATUS.store(i64::from(status), Relaxed);
}

/// The status with which the process is ending; `None` where it does not end by exit().
pub fn known() -> Option<i32> {
    i32::try_from(STATUS.load(Relaxed)).ok()
}

/// MPI_Finalize has closed the log at `path`: a status is appended to it.
pub fn follows(path: &Path) {
    if let Ok(path) = CString::new(path.as_os_str().as_bytes()) {
        CLOSED.set((path, std::process::id())).ok();
    }
}

/// The process exits: appends a status other than 0 to the log that MPI_Finalize has closed.
pub fn append() {
    if let Some(status) = known().filter(|&status| status != 0) {
        append_to_closed(&Definition::ExitStatus(status));
    }
}

/// Appends a small definition to the log that MPI_Finalize has closed.
pub fn append_to_closed(definition: &Definition) {
    // A child of a fork ends with a status of its own.
    let Some((path, _)) = CLOSED.get().filter(|(_, pid)| *pid == std::process::id()) else { return };
    if sandbox::is_filtered() {
        return;
    }
    let mut memory = [0; 64];
    let block = block_of(definition, &mut memory).and_then(|length| memory.get(..length));
    // SAFETY: system calls on a path that lives as long as the process, and on the descriptor that they give.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC);
        if file < 0 {
            return;
        }
        if let Some(block) = block {
            write_whole(file, block);
        }
        libc::close(file);
    }
}

/// Writes all of `block` or nothing: half a block would be told as damage.
///
/// # Safety
/// `file` is open for writing.
unsafe fn write_whole(file: c_int, block: &[u8]) {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the structure is filled where the call succeeds; the block lives.
    unsafe {
        if libc::fstat(file, stat.as_mut_ptr()) != 0 {
            return;
        }
        let before = stat.assume_init().st_size;
        let written = write_quietly(file, block);
        if written.is_ok_and(|written| written != block.len()) {
            libc::ftruncate(file, before);
        }
    }
}
