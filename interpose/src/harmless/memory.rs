//! The recorder's memory: a heap of its own, and a reserve for the moment when the process has none left.
//!
//! The heap is not the C library's, for what runs in a signal handler (exit, MPI_Abort, an MPI call) may have interrupted malloc,
//! whose lock the thread then holds; nor does a program that damages its heap damage ours. A handler that has
//! interrupted our own heap gets from the reserve what it needs.
//!
//! Rust ends a process whose allocation fails, and a program near its limit (ulimit -v) would die of us. So what the system
//! refuses comes from a reserve, which takes address space, but no memory until then; it lets the work at hand end. Recording
//! stops there, see [`crate::harmless::guard`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

use dlmalloc::Dlmalloc;

use crate::harmless::signals::HandlerLock;

#[global_allocator]
static MEMORY: RecorderAllocator = RecorderAllocator;

static BEGIN: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
/// Start of the part of the reserve that is not given away yet.
static NEXT: AtomicUsize = AtomicUsize::new(0);
static EXHAUSTED: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Sets the reserve aside, once, for rings of `buffer` bytes; false where there is no room for it.
pub fn reserve(buffer: usize) -> bool {
    // Encoding and compressing a ring take about three times its size.
    let bytes = (1 << 20) + 4 * buffer;
    // SAFETY: a new private mapping that nobody else knows.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return false;
    }
    BEGIN.store(address as usize, Relaxed);
    END.store(address as usize + bytes, Relaxed);
    NEXT.store(address as usize, SeqCst);
    true
}

/// Returns whether the reserve was touched.
pub fn exhausted() -> bool {
    EXHAUSTED.load(Relaxed)
}

/// Returns whether that was because the thread that needed memory was in the heap already: a handler has interrupted it there, or left it.
pub fn was_interrupted() -> bool {
    INTERRUPTED.load(Relaxed)
}

struct RecorderAllocator;

/// A part of the reserve, never given back; null where it does not suffice. Its pages are fresh: all zero.
fn from_reserve(layout: Layout) -> *mut u8 {
    let end = END.load(Relaxed);
    let part = NEXT.fetch_update(SeqCst, SeqCst, |next| {
        let after = next.checked_next_multiple_of(layout.align())?.checked_add(layout.size())?;
        (after <= end).then_some(after)
    });
    match part {
        Ok(next) => {
            EXHAUSTED.store(true, Relaxed);
            next.next_multiple_of(layout.align()) as *mut u8
        }
        Err(_) => std::ptr::null_mut(),
    }
}

fn is_reserve(pointer: *mut u8) -> bool {
    (BEGIN.load(Relaxed)..END.load(Relaxed)).contains(&(pointer as usize))
}

fn or_reserve(pointer: *mut u8, layout: Layout) -> *mut u8 {
    if pointer.is_null() { from_reserve(layout) } else { pointer }
}

/// The heap.
static HEAP: HandlerLock<Dlmalloc> = HandlerLock::new(Dlmalloc::new());

/// True if the process is a fork: another thread may have been in the heap when it was made.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The process is a fork: it leaves the heap as it is, and takes the little that it needs from the C library.
pub fn abandon() {
    FORKED.store(true, Relaxed);
}

/// Memory of the heap; null where there is none.
fn from_heap(layout: Layout) -> *mut u8 {
    if FORKED.load(Relaxed) {
        // SAFETY: the caller's: a layout that is not empty.
        return unsafe { System.alloc(layout) };
    }
    // SAFETY: sizes and alignments of a layout are what the heap expects.
    unsafe {
        match HEAP.lock() {
            Some(mut heap) => heap.malloc(layout.size(), layout.align()),
            None => {
                INTERRUPTED.store(true, Relaxed);
                std::ptr::null_mut()
            }
        }
    }
}

// SAFETY: blocks are the heap's, or disjoint parts of a mapping that is never unmapped.
unsafe impl GlobalAlloc for RecorderAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        or_reserve(from_heap(layout), layout)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !is_reserve(pointer) && !FORKED.load(Relaxed) {
            // SAFETY: the caller's promise; the block is the heap's.
            unsafe {
                if let Some(mut heap) = HEAP.lock() {
                    heap.free(pointer, layout.size(), layout.align());
                }
            }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promises: `pointer` holds `layout.size()` bytes, and `size` with its alignment is a layout.
        unsafe {
            if !is_reserve(pointer) && !FORKED.load(Relaxed) {
                let moved = HEAP.lock().map(|mut heap| heap.realloc(pointer, layout.size(), layout.align(), size));
                if let Some(moved) = moved.filter(|moved| !moved.is_null()) {
                    return moved;
                }
            }
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(pointer, layout.size().min(size));
                self.dealloc(pointer, layout);
            }
            new
        }
    }
}
