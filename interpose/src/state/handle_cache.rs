//! A thread's caches of the facts of handles.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::machine::word::Word;

const ENTRIES: usize = 16;

/// A value that is no handle. Programs pass 0 by mistake, but not this.
const NO_HANDLE: Word = Word::MAX >> 1;

struct CacheEntry<T> {
    handle: Cell<Word>,
    facts: Cell<T>,
}

/// The facts of handles lately used, by a hash of the handles. All zero at first.
pub struct HandleCache<T>([CacheEntry<T>; ENTRIES]);

impl<T: Copy> HandleCache<T> {
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "a remainder is never too large")]
    fn entry(&self, handle: Word) -> &CacheEntry<T> {
        &self.0[(handle >> 4 ^ handle >> 9 ^ handle) % ENTRIES]
    }

    /// Returns the facts of a handle if they are kept.
    #[inline(always)]
    pub fn find(&self, handle: Word) -> Option<T> {
        let entry = self.entry(handle);
        (entry.handle.get() == handle).then(|| entry.facts.get())
    }

    pub fn keep(&self, handle: Word, facts: T) {
        let entry = self.entry(handle);
        entry.handle.set(handle);
        entry.facts.set(facts);
    }

    pub fn clear(&self) {
        for entry in &self.0 {
            entry.handle.set(NO_HANDLE);
        }
    }

    /// Forgets a handle, in the cache of any thread.
    pub fn forget(&self, handle: Word) {
        forget_handle(&self.entry(handle).handle, handle);
    }
}

/// Puts [`NO_HANDLE`] in place of a handle that a thread has used last.
///
/// The thread may be at work on the word, for another handle, whose value stays. The facts beside the handle are the thread's alone and are
/// left as they are.
pub fn forget_handle(used: &Cell<Word>, handle: Word) {
    // SAFETY: aligned as a word is.
    let _ = unsafe { AtomicUsize::from_ptr(used.as_ptr()) }.compare_exchange(handle, NO_HANDLE, Relaxed, Relaxed);
}
