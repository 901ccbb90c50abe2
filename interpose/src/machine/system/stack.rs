//! The calling thread's own stack: memory that stays where it is for as long as the thread runs.
//!
//! The C library keeps the bounds of a stack in its description of the thread, at the thread pointer. None of its functions returns them without a
//! lock, so their offset is searched once, when recording starts. A stack counts only if it holds the stack pointer and the description itself, which
//! lies at its end.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::machine::processor::word_of_thread;
use crate::machine::system::loader::foreign;

/// Offset of the stack's address in a thread's description, in bytes from the thread pointer, and a word later its size; 0: not known.
static BLOCK: AtomicUsize = AtomicUsize::new(0);
/// End of the stack of the process's first thread; 0: not known.
static FIRST_END: AtomicUsize = AtomicUsize::new(0);

/// Nothing else is mapped within these bytes below the end of the first thread's stack: the system keeps at least twice as much free for it.
const FIRST_BYTES: usize = 64 << 20;

/// Bytes of a thread's description that are searched.
const DESCRIPTION: usize = 2048;

const WORD: usize = size_of::<usize>();

/// Finds out where stacks are. May take locks of the C library.
pub fn find_out() {
    // SAFETY: a variable of the loader's, which is constant.
    let end = unsafe { (foreign::visible_definition(c"__libc_stack_end") as *const usize).as_ref() };
    let Some(&end) = end else { return };
    FIRST_END.store(end, Relaxed);
    // SAFETY: plain queries.
    let is_first = unsafe { libc::gettid() == libc::getpid() };
    // The description of the first thread has that end in place of a size, and no address.
    let sought = if is_first { Some((0, end)) } else { own_block() };
    let place = sought.and_then(|_| {
        let mut offsets = (WORD..DESCRIPTION).step_by(WORD);
        offsets.find(|&offset| word_of_thread(offset).zip(word_of_thread(offset + WORD)) == sought)
    });
    BLOCK.store(place.unwrap_or(0), Relaxed);
}

/// Address and size of the stack of the calling thread, which is not the first.
fn own_block() -> Option<(usize, usize)> {
    let (mut address, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the functions fill the structure and the variables, or say that they do not.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return None;
        }
        libc::pthread_attr_getstack(&attributes, &mut address, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
    }
    (size != 0).then_some((address as usize, size))
}

/// The part of the calling thread's stack in use, from a stack pointer on; empty where that is not on the thread's stack, or not known to be.
pub fn in_use(sp: usize) -> Range<usize> {
    let first_end = FIRST_END.load(Relaxed);
    if (first_end.saturating_sub(FIRST_BYTES)..first_end).contains(&sp) {
        return sp..first_end;
    }
    described_stack(sp).unwrap_or(0..0)
}

/// Returns the stack of a thread whose description is known.
fn described_stack(sp: usize) -> Option<Range<usize>> {
    let block = BLOCK.load(Relaxed);
    if block == 0 {
        return None;
    }
    let (begin, description) = (word_of_thread(block)?, word_of_thread(0x10)?);
    let end = begin.saturating_add(word_of_thread(block + WORD)?);
    // For the first thread it is 0.
    let is_there = begin != 0 && begin <= sp && sp < description && description < end;
    is_there.then_some(sp..description)
}
