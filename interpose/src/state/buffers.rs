//! Arrays that a thread keeps for calls that complete several requests.

use crate::state::thread::RecorderThread;

/// Makes room for `count` kept requests.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn grow_requests(thread: *mut RecorderThread, count: usize) {
    // SAFETY: the thread's own buffer, by the C allocator; where it has none left the old one stays.
    unsafe {
        let room = count.next_power_of_two().max(64);
        let new = libc::realloc((*thread).requests.cast(), room * size_of::<usize>());
        if !new.is_null() {
            ((*thread).requests, (*thread).requests_room) = (new.cast(), room);
        }
    }
}

/// Makes room for `bytes` of statuses.
///
/// # Safety
/// `thread` is the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn grow_statuses(thread: *mut RecorderThread, bytes: usize) {
    // SAFETY: as above.
    unsafe {
        let room = bytes.next_power_of_two().max(2048);
        let new = libc::realloc((*thread).statuses.cast(), room);
        if !new.is_null() {
            ((*thread).statuses, (*thread).statuses_bytes) = (new.cast(), room);
        }
    }
}

/// Frees both arrays at the thread's end.
///
/// # Safety
/// `thread` is the calling thread's state.
pub unsafe fn free_buffers(thread: *mut RecorderThread) {
    // SAFETY: the thread's own buffers, by the C allocator, or null.
    unsafe {
        libc::free((*thread).requests.cast());
        libc::free((*thread).statuses.cast());
        ((*thread).requests, (*thread).requests_room) = (std::ptr::null_mut(), 0);
        ((*thread).statuses, (*thread).statuses_bytes) = (std::ptr::null_mut(), 0);
    }
}
