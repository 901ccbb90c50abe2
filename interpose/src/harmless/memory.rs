//! The recorder's memory: a heap of its own, and a reserve for the moment when the process has none left.
//!
//! The heap is not the C library's, because code that runs in a signal handler (exit, MPI_Abort, an MPI call) may have interrupted malloc,
//! whose lock the thread then holds; nor does a program that damages its heap damage ours. A handler that has
//! interrupted our own heap gets memory from the reserve.
//!
//! Rust ends a process whose allocation fails, and a program near its limit (ulimit -v) would die of us. So memory that the system
//! refuses comes from a reserve, which takes address space, but no memory until then; it lets the work at hand end. Recording
//! stops there, see [`crate::harmless::guard`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use dlmalloc::Dlmalloc;

use crate::harmless::signals::HandlerLock;

#[cfg_attr(not(test), global_allocator)]
static MEMORY: RecorderAllocator = RecorderAllocator;

static BEGIN: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
/// Start of the part of the reserve that is not given away yet.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// True if the reserve was touched.
pub static EXHAUSTED: AtomicBool = AtomicBool::new(false);
/// True if that was because the thread that needed memory was in the heap already: a handler has interrupted it there, or left it.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Sets the reserve aside, once, for rings of `buffer` bytes. Returns false if there is no room for it.
pub fn reserve_memory(buffer: usize) -> bool {
    // Encoding and compressing a ring take about three times its size.
    let bytes = (1 << 20) + 4 * buffer;
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a new private mapping, ours alone.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
    if address == libc::MAP_FAILED {
        return false;
    }
    BEGIN.store(address as usize, Relaxed);
    END.store(address as usize + bytes, Relaxed);
    NEXT.store(address as usize, SeqCst);
    true
}

struct RecorderAllocator;

/// Returns a part of the reserve, never given back, or null if it does not suffice. Its pages are fresh: all zero.
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

static HEAP: HandlerLock<Dlmalloc> = HandlerLock::new(Dlmalloc::new());

/// True if the process is a fork: another thread may have been in the heap when it was made.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Leaves the heap as it is in a fork, which takes the little memory that it needs from the C library.
pub fn abandon_heap() {
    FORKED.store(true, Relaxed);
}

/// Returns memory of the heap, or null if there is none.
fn from_heap(layout: Layout) -> *mut u8 {
    if FORKED.load(Relaxed) {
        // SAFETY: the caller's promise: a layout that is not empty.
        return unsafe { System.alloc(layout) };
    }
    let Some(mut heap) = HEAP.lock() else {
        INTERRUPTED.store(true, Relaxed);
        return std::ptr::null_mut();
    };
    // SAFETY: sizes and alignments of a layout are what the heap expects.
    unsafe { heap.malloc(layout.size(), layout.align()) }
}

// SAFETY: blocks are the heap's, or disjoint parts of a mapping that is never unmapped.
unsafe impl GlobalAlloc for RecorderAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = from_heap(layout);
        if block.is_null() { from_reserve(layout) } else { block }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !is_reserve(pointer) && !FORKED.load(Relaxed) {
            let Some(mut heap) = HEAP.lock() else { return };
            // SAFETY: the caller's promise; the block is the heap's.
            unsafe { heap.free(pointer, layout.size(), layout.align()) };
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
