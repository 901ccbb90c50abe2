//! A log that MPI_Finalize has closed: the process may add small blocks to it when it exits.
//!
//! Programs call exit() from signal handlers, too. So this only makes system calls that POSIX allows there: nothing is allocated, no lock
//! is taken.

use std::ffi::{CString, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lbprof_collector::definition::Definition;
use lbprof_collector::node::frame::{FRAME_HEAD_BYTES, FrameHead};
use lbprof_collector::writer::block_of;

use crate::system::descriptors::write_quietly;
use crate::system::sandbox;

/// The log that MPI_Finalize has closed.
struct ClosedLog {
    path: CString,
    /// The process that recorded it.
    process: u32,
    /// In a node's file: the run's id and the rank.
    in_node: Option<(u64, u32)>,
}

static CLOSED: OnceLock<ClosedLog> = OnceLock::new();

/// In a node's file: bytes of the rank's log so far.
static LENGTH: AtomicU64 = AtomicU64::new(0);

/// MPI_Finalize has closed the log at `path`: what comes later is appended to it. `end_in_node`: as [`LogFile::end_in_node`] gives it.
///
/// [`LogFile::end_in_node`]: crate::log::file::LogFile::end_in_node
pub fn closed(path: &Path, end_in_node: Option<(u64, u32, u64)>) {
    if let Ok(path) = CString::new(path.as_os_str().as_bytes()) {
        LENGTH.store(end_in_node.map_or(0, |(.., length)| length), Relaxed);
        let in_node = end_in_node.map(|(run_id, rank, _)| (run_id, rank));
        CLOSED.set(ClosedLog { path, process: std::process::id(), in_node }).ok();
    }
}

/// Appends a small definition to the log that MPI_Finalize has closed.
pub fn append(definition: &Definition) {
    // A child of a fork ends with a status of its own.
    let Some(closed) = CLOSED.get().filter(|closed| closed.process == std::process::id()) else { return };
    if sandbox::is_filtered() {
        return;
    }
    let mut memory = [0; FRAME_HEAD_BYTES + 64];
    let Some((head, payload)) = memory.split_first_chunk_mut::<FRAME_HEAD_BYTES>() else { return };
    let Some(length) = block_of(definition, payload) else { return };
    let begin = match (closed.in_node, payload.get(..length)) {
        (Some((run_id, rank)), Some(block)) => {
            let offset = LENGTH.fetch_add(length as u64, Relaxed);
            let Some(frame) = FrameHead::for_payload(run_id, rank, offset, block) else { return };
            *head = frame.to_bytes();
            0
        }
        _ => FRAME_HEAD_BYTES,
    };
    let Some(bytes) = memory.get(begin..FRAME_HEAD_BYTES + length) else { return };
    // SAFETY: system calls on a path that lives as long as the process, and on the descriptor that they give.
    unsafe {
        let file = libc::open(
            closed.path.as_ptr(),
            libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK,
        );
        if file < 0 {
            return;
        }
        write_whole(file, bytes, closed.in_node.is_some());
        libc::close(file);
    }
}

/// Writes all of `block` or nothing: half a block would be reported as damage. `shared`: others write into the file, too, so what was written stays.
///
/// # Safety
/// `file` is open for writing.
unsafe fn write_whole(file: c_int, block: &[u8], shared: bool) {
    let mut stat = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the structure is filled where the call succeeds; the block lives.
    unsafe {
        if libc::fstat(file, stat.as_mut_ptr()) != 0 {
            return;
        }
        let before = stat.assume_init().st_size;
        let written = write_quietly(file, block);
        if !shared && written.is_ok_and(|written| written != block.len()) {
            libc::ftruncate(file, before);
        }
    }
}
