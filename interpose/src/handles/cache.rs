//! The entries of a thread's caches of communicators and datatypes ([`Thread`](crate::state::thread::RecorderThread)).

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::state::thread::CACHE;
use crate::word::Word;

#[inline(always)]
pub fn cache_slot(handle: Word) -> usize {
    (handle >> 4 ^ handle >> 9 ^ handle) & (CACHE - 1)
}

/// A value that is no handle. Programs pass 0 by mistake, but not this.
pub const NO_HANDLE: Word = Word::MAX >> 1;

/// Empties an entry of a thread's cache if it holds `handle`: its handle becomes [`NO_HANDLE`].
///
/// The thread may be at work on the entry, for another handle, whose value stays. The facts beside the handle are the thread's alone and are
/// left as they are.
///
/// # Safety
/// `entry` is in the state of a live thread.
pub unsafe fn forget_cached(entry: *mut Word, handle: Word) {
    // SAFETY: the caller's promise; aligned as a word is.
    let _ = unsafe { AtomicUsize::from_ptr(entry) }.compare_exchange(handle, NO_HANDLE, Relaxed, Relaxed);
}
