//! Arrays that a thread keeps for calls that complete several requests.

use std::cell::Cell;

/// An array by the C allocator, which grows. All zero: there is none.
pub struct GrowingArray {
    start: Cell<*mut u8>,
    bytes: Cell<usize>,
}

impl GrowingArray {
    pub fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.bytes.get()
    }

    /// Returns its address, of as many bytes as [`GrowingArray::has_room`] says.
    pub fn start(&self) -> *mut u8 {
        self.start.get()
    }

    /// Makes room. If no memory is left the old array stays.
    #[cold]
    #[inline(never)]
    pub fn grow(&self, bytes: usize) {
        let room = bytes.next_power_of_two().max(512);
        // SAFETY: the array itself, by this allocator.
        let new = unsafe { libc::realloc(self.start.get().cast(), room) };
        if !new.is_null() {
            self.start.set(new.cast());
            self.bytes.set(room);
        }
    }

    pub fn free(&self) {
        self.bytes.set(0);
        // SAFETY: the array itself, or null.
        unsafe { libc::free(self.start.replace(std::ptr::null_mut()).cast()) };
    }
}
