//! A log that MPI_Finalize has closed: the process may add small blocks to it when it exits.
//!
//! Programs call exit() from signal handlers, too. So this only makes system calls that POSIX allows there: nothing is allocated, no lock
//! is taken.

use std::ffi::{CString, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use lbprof_collector::definition::Definition;
use lbprof_collector::writer::block_of;

use crate::machine::system::files::descriptors::write_quietly;
use crate::machine::system::sandbox;

struct ClosedLog {
    path: CString,
    process: u32,
}

static CLOSED: OnceLock<ClosedLog> = OnceLock::new();

/// MPI_Finalize has closed the log at `path`: definitions that come later are appended to it.
pub fn note_closed_log(path: &Path) {
    if let Ok(path) = CString::new(path.as_os_str().as_bytes()) {
        CLOSED.set(ClosedLog { path, process: std::process::id() }).ok();
    }
}

/// Appends a small definition to the log that MPI_Finalize has closed.
pub fn append_definition(definition: &Definition) {
    // A child of a fork ends with a status of its own.
    let Some(closed) = CLOSED.get().filter(|closed| closed.process == std::process::id()) else { return };
    if sandbox::is_filtered() {
        return;
    }
    let mut memory = [0; 64];
    let Some(block) = block_of(definition, &mut memory).and_then(|length| memory.get(..length)) else { return };
    // SAFETY: system calls on a path that lives as long as the process, and on the descriptor that they give.
    unsafe {
        let file = libc::open(
            closed.path.as_ptr(),
            libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK,
        );
        if file < 0 {
            return;
        }
        write_whole(file, block);
        libc::close(file);
    }
}

/// Writes all of `block` or nothing: half a block would be reported as damage.
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
