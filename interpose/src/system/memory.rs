//! Reading memory that may not be there.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::processor::ask_valgrind;

const PAGE: usize = 4096;

/// True if the process is run by Valgrind, which looks at what a system call is given.
static IS_UNDER_VALGRIND: AtomicBool = AtomicBool::new(false);

/// Finds out how the system is to be asked.
pub fn find_out() {
    // RUNNING_ON_VALGRIND of valgrind.h.
    const RUNNING: usize = 0x1001;
    let request = [RUNNING, 0, 0, 0, 0, 0];
    IS_UNDER_VALGRIND.store(ask_valgrind(&request) != 0, Relaxed);
}

/// Reads words. Pages are looked at before, the last one only once.
#[derive(Default)]
pub struct MemoryReader {
    /// Memory that is known to be there.
    known: Range<usize>,
    page: Option<usize>,
}

impl MemoryReader {
    /// Looks at no page of `known`, which is there.
    pub fn with(known: Range<usize>) -> Self {
        MemoryReader { known, page: None }
    }

    /// Returns whether the word at an address is known to be there.
    pub fn is_known(&self, address: usize) -> bool {
        self.known.start <= address && address.saturating_add(size_of::<usize>()) <= self.known.end
    }

    /// The word at an address, which is a multiple of its size; `None` where there is no memory.
    pub fn word(&mut self, address: usize) -> Option<usize> {
        let page = address & !(PAGE - 1);
        if self.page != Some(page) && !self.is_known(address) {
            if !is_readable(page) {
                return None;
            }
            self.page = Some(page);
        }
        // SAFETY: on a page that can be read; another thread may write to it, as to any memory that is not ours.
        Some(unsafe { (address as *const usize).read_volatile() })
    }

    /// Fills the buffer from an address on; false where there is no memory.
    pub fn fill(&mut self, address: usize, buffer: &mut [u8]) -> bool {
        let Some(end) = address.checked_add(buffer.len()) else { return false };
        let is_there = (address & !(PAGE - 1)..end).step_by(PAGE).all(|page| self.word(page).is_some());
        if is_there {
            // SAFETY: on pages that can be read.
            unsafe { (address as *const u8).copy_to_nonoverlapping(buffer.as_mut_ptr(), buffer.len()) };
        }
        is_there
    }
}

/// Returns whether a page can be read.
fn is_readable(page: usize) -> bool {
    // SAFETY: keeps what the functions below change; they look at no address themselves.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let is_readable = if IS_UNDER_VALGRIND.load(Relaxed) { can_be_copied(page) } else { can_be_a_mask(page) };
        *errno = kept;
        is_readable
    }
}

/// Has the system copy a word. A system call filter may not allow that.
fn can_be_copied(page: usize) -> bool {
    let mut word = 0usize;
    let to = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<usize>() };
    let from = libc::iovec { iov_base: page as *mut _, ..to };
    // SAFETY: a word of our own is written; the system looks at the address.
    unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) == size_of::<usize>() as isize }
}

/// Asks the system to read a signal mask there, for a change of the mask that it does not know: it reads first, and then refuses.
fn can_be_a_mask(page: usize) -> bool {
    const NO_CHANGE: usize = usize::MAX;
    // SAFETY: a system call that changes nothing; it looks at the address.
    unsafe {
        let refused = libc::syscall(libc::SYS_rt_sigprocmask, NO_CHANGE, page, 0usize, size_of::<u64>());
        refused == -1 && *libc::__errno_location() != libc::EFAULT
    }
}
